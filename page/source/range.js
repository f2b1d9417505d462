// From where to where the axes of a panel run: the rules of `plots/panels.py`, so that every drawer shows the same.
import {isNumber} from "./words.js";

const PAD = 0.05, FOOT = 0.16, RUG_FOOT = 0.08;
const has = (panel, ...kinds) => panel.marks.some((mark) => kinds.includes(mark.kind));

export const isSurface = (panel) => has(panel, "field") && !has(panel, "line", "curves");
export function footOf(panel) {
  return panel.foot ?? (has(panel, "strip") ? FOOT : has(panel, "rug") ? RUG_FOOT : PAD);
}
const ends = (axis) => [axis.low ?? 0, axis.high ?? 1];
export function visibleValues(panel) {
  let [low, high] = ends(panel.y);
  if (isSurface(panel) || panel.look === "square") return [low, high];
  if (low === high) { const half = Math.abs(low) * 0.1 || 0.5; low -= half; high += half; }
  const span = high - low, foot = footOf(panel), bars = has(panel, "bars");
  return [bars && low === 0 && foot === PAD ? low : low - foot * span, bars && high === 0 ? high : high + PAD * span];
}
export function visibleFeatures(panel) {
  const [low, high] = ends(panel.x);
  if (panel.x.kind === "category" || isSurface(panel) || panel.look === "square") return [low, high];
  if (panel.x.log) return [low * (high / low) ** -0.03, high * (high / low) ** 0.03];
  const span = high - low || Math.max(1, Math.abs(low) * 0.1);
  return [panel.x.tight ? low : low - 0.03 * span, high + 0.03 * span];
}
// The lowest value that deserves a tick: beside the histogram at the foot there are no values.
export function firstTick(panel) {
  const [low, high] = ends(panel.y);
  return footOf(panel) === FOOT ? low - 0.04 * (high - low) : -Infinity;
}
// The smallest and largest value that marks show, null where they show none.
export function valueRange(marks) {
  let low = Infinity, high = -Infinity;
  const add = (values) => { for (const v of values || []) if (Array.isArray(v) || ArrayBuffer.isView(v)) add(v); else if (isNumber(v)) { if (v < low) low = v; if (v > high) high = v; } };
  for (const mark of marks) {
    if (["line", "curves", "dots", "bars"].includes(mark.kind)) add(mark.y);
    if (["band", "dots", "bars"].includes(mark.kind)) { add(mark.low); add(mark.high); }
    if (mark.kind === "bars") add([0]);
    if (mark.kind === "rule" && mark.y != null) add([mark.y]);
  }
  return low <= high ? [low, high] : null;
}
