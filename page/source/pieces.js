// Pieces that the report's pictures and the explorer's share.

// Cells' edges, half way between their centres.
export const edgesOf = (list) => list.length < 2 ? [list[0] - 0.5, list[0] + 0.5] : [1.5 * list[0] - 0.5 * list[1], ...list.slice(1).map((v, i) => (list[i] + v) / 2), 1.5 * list.at(-1) - 0.5 * list.at(-2)];
// Runs of the first `n` places where `isLow`, each from half way to its neighbours; levels by themselves.
export function lowStretches(isLow, at, n, levels) {
  const lefts = [], rights = [];
  for (let i = 0; i < n; i++) {
    if (!isLow(i)) continue;
    let j = i;
    if (!levels) while (j + 1 < n && isLow(j + 1)) j++;
    lefts.push(levels ? at[i] - 0.5 : i ? (at[i - 1] + at[i]) / 2 : at[0]);
    rights.push(levels ? at[j] + 0.5 : j + 1 < n ? (at[j] + at[j + 1]) / 2 : at[n - 1]);
    i = j;
  }
  return {lefts, rights};
}
// What was observed and what was predicted of the rows near a place: a ring and a dash, joined where they are apart.
export function meanMarks(x, truth, predicted) {
  const own = {kind: "dots", x, colour: "text"}, marks = [];
  if (predicted) marks.push({...own, layer: "predicted", y: predicted, pattern: 5, size: 0.85, label: "mean predicted", ...(truth ? {low: truth.map((v, i) => Math.min(v, predicted[i])), high: truth.map((v, i) => Math.max(v, predicted[i])), thick: 1} : {})});
  if (truth) marks.push({...own, layer: "observed", y: truth, hollow: true, size: 0.9, label: "mean observed"});
  return marks;
}
