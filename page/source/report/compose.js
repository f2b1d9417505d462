// From what the page holds of a feature, a pair or a set of regions, and the view chosen, to the panel that is drawn.
import {edgesOf, lowStretches, meanMarks} from "../pieces.js";
import {valueRange} from "../range.js";
import {isNumber, percent, said, short} from "../words.js";
import {data, several} from "./page.js";
import {isShown, minus, onlyGroup, placed, shownCurves, state} from "./view.js";

const HOVERED_GROUPS = 12;
const TICK_LETTER = 6.7;  // pixels
const APART = 48;  // pixels from the last value to the missing point, whose name needs them
// There are eight colours; further groups have them again, dashed or hollow.
const rounds = (g) => Math.floor(g / 8) % 3;
const lineLook = (g) => ({colour: g % 8, dashed: rounds(g)});
const dotLook = (g) => ({colour: g % 8, hollow: rounds(g) > 0, pattern: rounds(g) === 2 ? 1 : 0});

// Whether levels' names fit side by side.
export const fit = (ticks, wide) => ticks.length * (2 + Math.max(0, ...ticks.map((name) => name.length))) * TICK_LETTER <= wide - 70;
// The feature's axis, and all its points' places on it: the missing one stands apart, far enough for its name.
function featureAxis(panel, view, wide) {
  const n = placed(panel), {label, kind, ticks, named, unit} = panel.axis, known = panel.x.slice(0, n).filter(isNumber);
  if (kind === "category") return {axis: {label, kind, ticks, low: -0.6, high: ticks.length - 0.4}, at: panel.x};
  const low = Math.min(...known), high = Math.max(...known), share = Math.max(0.1, APART / Math.max(120, wide - 130));
  const missing = n === panel.x.length ? null : view.log ? high * (high / low) ** share : high + share * (high - low || 1);
  const axis = {label, kind, named: view.log ? [] : named, unit, low, high: missing ?? high, missing, last: high, log: view.log};
  // A single value has an axis around it.
  if (low === high) Object.assign(axis, {low: low - 0.5, high: missing ?? high + 0.5});
  return {axis, at: missing === null ? panel.x : [...panel.x.slice(0, n), missing], first: low, last: high};
}

// `lying`: levels stand one above the other. `wide`: pixels of the picture. `small`: without what only a large picture has room for.
export function cardPanel(panel, view, {lying = false, wide = 600, small = false} = {}) {
  const now = shownCurves(panel, view), levels = panel.axis.kind === "category", n = placed(panel), {axis, at, first, last} = featureAxis(panel, view, wide);
  const x = at.slice(0, n), cut = (list) => list.slice(0, n), gone = n < at.length ? at[n] : null, marks = [];
  const add = (kind, layer, rest) => marks.push({kind, layer, ...rest});
  // Beside groups, all rows stand back.
  const [main, strength] = view.group === "none" ? ["accent", 1] : ["muted", 0.5];
  if (panel.low.length && !small) add("stretch", "low", lowStretches((i) => panel.low.includes(i), at, levels ? at.length : n, levels));
  if (view.data && panel.histogram) marks.push(...dataBars(panel, axis, view.log));
  if (view.bands && now.bands) {
    for (const [a, b, alpha, thick, label] of [[0, 4, levels ? 0.2 : 0.11, 5, "90 % of rows, around their means"], [1, 3, levels ? 0.34 : 0.17, 13, "middle half of rows"]]) {
      if (small && !a) continue;
      const look = {colour: "accent", alpha: strength * alpha, thick};
      add("band", "band", {x, low: cut(now.bands[a]), high: cut(now.bands[b]), label, ...look});
      if (gone !== null) add("band", "missing band", {x: [gone], low: [now.bands[a][n]], high: [now.bands[b][n]], ...look, alpha: strength * (a ? 0.34 : 0.2)});
    }
  }
  if (now.curves && !small) add("curves", "curves", {x, y: now.curves.map(cut), colour: "text", alpha: strength * 0.14, width: 0.5});
  if (now.error && !levels && !small) add("band", "error", {x, low: cut(now.average).map((v, i) => v - 1.96 * now.error[i]), high: cut(now.average).map((v, i) => v + 1.96 * now.error[i]), colour: main, alpha: 0.28});
  if (now.interval && !small) {
    const [low, high, bandLow, bandHigh] = now.interval, [each, whole] = panel.interval.labels;
    if (levels) add("dots", "interval", {x, y: x.map(() => null), low: cut(low), high: cut(high), colour: main, label: each});
    else for (const [a, b, dashed, label] of [[low, high, 1, each], [bandLow, bandHigh, 2, whole]]) {
      add("line", "interval", {x, y: cut(a), colour: main, width: 0.7, dashed, label});
      add("line", "interval", {x, y: cut(b), colour: main, width: 0.7, dashed});
    }
  }
  if (gone !== null) add("rule", "apart", {x: axis.log ? Math.sqrt(last * gone) : (last + gone) / 2, dashed: true});
  if (view.ale && now.ale) marks.push(...aleMarks(panel, now, levels, first, last));
  if (now.observed && !small) marks.push(...observedMarks(panel, now, levels, first, last));
  if (now.observedMissing && gone !== null && !small) marks.push(...meanMarks([gone + (levels ? 0 : 0.16 * (gone - last))], ...now.observedMissing.map((v) => [v])));
  now.groups.forEach((curve, g) => { if (isShown(view, g)) marks.push(...groupMarks(panel, now, view, g, {x, n, gone, last, levels, cut})); });
  if (!several) {
    const label = view.group === "none" ? "average (partial dependence)" : "all rows";
    if (levels) add("dots", "average", {x, y: cut(now.average), colour: main, size: 1.25, label});
    else add("line", "average", {x, y: cut(now.average), colour: main, width: 1.25, markers: n < 3, label});
    if (gone !== null) add("dots", "missing average", {x: [gone], y: [now.average[n]], colour: main, size: 1.25});
  }
  const [low, high] = valueRange(marks.filter((m) => m.layer !== "apart")) || [0, 1];
  // In small, levels of whose names not even some letters fit are counted.
  const crowded = small && levels && !fit(axis.ticks, wide) && !fit(axis.ticks.map(() => "abc"), wide);
  return {x: {...axis, ticks: crowded ? axis.ticks.map(() => "") : axis.ticks, label: crowded ? `${axis.ticks.length} levels` : lying || small ? "" : axis.label}, y: {label: small ? "" : valueLabel(view), kind: "number", low, high}, marks, flip: lying, at};
}
export const valueLabel = (view) => (view.centre ? "change in " : "") + data.what + (data.outputs.length > 1 ? " of " + data.outputs[view.output] : "");

function aleMarks(panel, now, levels, first, last) {
  const {x} = panel.ale, inside = x.map((_, i) => i).filter((i) => levels || (x[i] >= first && x[i] <= last)), pick = (list) => inside.map((i) => list[i]);
  const own = {colour: "ale", label: "ALE", layer: "ale", y: pick(now.ale)};
  return [levels ? {...own, kind: "dots", x: pick(x).map((v) => v + 0.16), pattern: 3, hollow: true} : {...own, kind: "line", x: pick(x), width: 0.85, dashed: 1}];
}
function groupMarks(panel, now, view, g, {x, n, gone, last, levels, cut}) {
  const alone = onlyGroup(view) !== null, count = now.groups.length, own = {group: g, layer: "group"}, out = [];
  // Groups of a level stand beside its average, not on it.
  const aside = alone ? 0.16 : 0.16 + Math.min(0.1, 0.3 / count) * (count - 1 - g);
  if (levels) out.push({...own, kind: "dots", x: x.map((v) => v - aside), y: cut(now.groups[g]), label: data.groups[g], size: count > 4 && !alone ? 0.8 : 0.95, ...dotLook(g)});
  else out.push({...own, kind: "line", x, y: cut(now.groups[g]), label: data.groups[g], width: alone ? 1.5 : 0.95, ...lineLook(g)});
  if (gone !== null) out.push({...own, layer: "missing group", kind: "dots", x: [gone - (0.12 + Math.min(0.06, 0.4 / count) * (count - 1 - g)) * (gone - last)], y: [now.groups[g][n]], size: 0.8, ...dotLook(g)});
  return out;
}
// Where the data is, against the tallest bar; a large share of missing rows does not flatten the others.
function dataBars(panel, axis, log) {
  const share = panel.histogram.share, edges = panel.histogram.edges, missing = panel.histogram.missing;
  if (axis.kind === "category") return [{kind: "strip", layer: "data", lefts: panel.x.map((v) => v - 0.35), rights: panel.x.map((v) => v + 0.35), counts: share}];
  const {low} = axis, high = axis.missing === null ? axis.high : Math.max(...panel.x.slice(0, placed(panel))), lefts = [], rights = [], counts = [];
  share.forEach((v, i) => {
    if (!(edges[i + 1] > low && edges[i] < high)) return;
    // On a logarithmic axis bins are of unequal width; a bar's area still is its share.
    counts.push(log ? v / Math.log(edges[i + 1] / edges[i]) : v);
    lefts.push(Math.max(low, edges[i]));
    rights.push(Math.min(high, edges[i + 1]));
  });
  if (axis.missing !== null && missing && counts.length) {
    const half = log ? (axis.missing / high) ** 0.25 : 0.22 * (axis.missing - high);
    lefts.push(log ? axis.missing / half : axis.missing - half);
    rights.push(log ? axis.missing * half : axis.missing + half);
    counts.push(Math.min(missing, Math.max(...counts)));
  }
  return counts.length ? [{kind: "strip", layer: "data", lefts, rights, counts}] : [];
}
function observedMarks(panel, now, levels, first, last) {
  const {x} = panel.observed, kept = x.map((_, i) => i).filter((i) => levels ? x[i] !== null : x[i] >= first && x[i] <= last), pick = (list) => kept.map((i) => list[i]);
  return meanMarks(pick(x).map((v) => levels ? v + 0.28 : v), ...now.observed.map(pick));
}
// One row's curve, with its number and value written on it: at the point pointed at, or at its end elsewhere.
export function litMarks(panel, view, x, row, pointed) {
  const now = shownCurves(panel, view), known = row !== null && now.curves && panel.rows ? panel.rows.indexOf(row) : -1;
  if (known < 0) return [];
  const n = placed(panel), y = now.curves[known].slice(0, n), at = pointed ?? n - 1;
  return [{kind: "line", layer: "lit", x: x.slice(0, n), y, colour: "text", width: 1.3, halo: true},
    {kind: "note", layer: "lit", x: x[at], y: y[at], text: `row ${row}: ${said(y[at])}`, end: at >= n / 2}];
}
// What is told of a point.
export function pointWords(panel, view, i) {
  const now = shownCurves(panel, view), words = [panel.points[i]];
  if (!several) words.push(`average ${said(now.average[i])}${now.error ? " ± " + said(1.96 * now.error[i]) : ""}`);
  if (now.interval) words.push(`${panel.interval.labels[0]}: ${said(now.interval[0][i])} to ${said(now.interval[1][i])}`);
  if (now.bands) words.push(`half of the rows ${said(now.bands[1][i])} to ${said(now.bands[3][i])}`, `90 % of them ${said(now.bands[0][i])} to ${said(now.bands[4][i])}`);
  if (now.observed && panel.observed.x.length) words.push(...observedNear(panel, now, i));
  if (panel.support) words.push(`${percent(panel.support[i])} of the rows could be here`);
  const shown = now.groups.flatMap((curve, g) => isShown(view, g) ? [`${short(data.groups[g], 40)} ${said(curve[i])}`] : []);
  words.push(...shown.slice(0, HOVERED_GROUPS));
  if (shown.length > HOVERED_GROUPS) words.push(`and ${shown.length - HOVERED_GROUPS} more`);
  return words;
}
// The group of rows whose mean lies nearest to a point; of levels, that level's own.
function observedNear(panel, now, i) {
  const {x, points} = panel.observed, far = (k) => x[k] === null ? Infinity : Math.abs(x[k] - panel.x[i]), k = x.reduce((best, _, j) => far(j) < far(best) ? j : best, 0);
  if (i >= placed(panel) || (panel.axis.kind === "category" && far(k) > 0)) return [];
  return [`observed ${said(now.observed[0][k])}, predicted ${said(now.observed[1][k])} (${points[k]})`];
}

// --- surfaces and regions ------------------------------------------------------------------------

export function surfacePanel(pair) {
  const pure = state.view === "pure", values = (pure ? pair.pure : pair.level)[state.output], hidden = (i, j) => state.mask && pair.low.length && pair.low[i][j];
  const z = pair.y.map((_, j) => pair.x.map((_, i) => values[i][j] === null || hidden(i, j) ? null : values[i][j])), known = z.flat().filter(isNumber);
  const [low, high] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 1], far = Math.max(Math.abs(low), Math.abs(high));
  const scale = pure ? {low: -far, high: far, diverging: true} : {low, high}, [x, y] = [edgesOf(pair.x), edgesOf(pair.y)], crossed = {x: [], y: []};
  // Cells without data are crossed out: an empty one could be taken for nothing happening there.
  pair.x.forEach((a, i) => pair.y.forEach((b, j) => { if (hidden(i, j)) { crossed.x.push(a); crossed.y.push(b); } }));
  const axis = (own, edges) => ({label: own.label, kind: own.kind, ticks: own.ticks, named: own.named, low: edges[0], high: edges.at(-1)});
  const marks = [{kind: "field", layer: "surface", x, y, z, scale, style: "cells"}, {kind: "dots", layer: "hidden", ...crossed, colour: "muted", pattern: 4, thin: true, size: 0.7}];
  return {x: axis(pair.axes[0], x), y: axis(pair.axes[1], y), marks, scale, flip: false};
}
export function cellWords(pair, i, j) {
  const pure = state.view === "pure", values = (pure ? pair.pure : pair.level)[state.output];
  return [`${short(pair.names[0], 30)}: ${pair.points[0][i]}`, `${short(pair.names[1], 30)}: ${pair.points[1][j]}`, `${pure ? "interaction" : "average"} ${said(values[i][j])}`, `${percent(pair.share[i][j])} of the data`];
}
export function regionCurves(panel) {
  const o = state.output, centred = (g) => minus(g.average[o], g.mean[o]);
  return [{name: "all rows", values: centred(panel)}, ...panel.groups.map((g, i) => ({name: panel.rules[i], values: centred(g)}))];
}
export function regionPanel(panel, {lying = false, wide = 500} = {}) {
  const levels = panel.axis.kind === "category", n = placed(panel), {axis, at, last} = featureAxis(panel, {log: false}, wide), marks = [];
  if (at.length > n) marks.push({kind: "rule", layer: "apart", x: (last + at[n]) / 2, dashed: true});
  regionCurves(panel).forEach(({name, values}, i) => {
    const own = {layer: "rule", label: name, x: at.slice(0, n), y: values.slice(0, n)}, look = i ? (levels ? dotLook : lineLook)(i - 1) : {colour: "muted", dashed: 1};
    marks.push(levels ? {...own, kind: "dots", size: 1.1, ...look} : {...own, kind: "line", width: i ? 1.2 : 0.85, ...look});
    if (at.length > n) marks.push({kind: "dots", layer: "missing", x: [at[n]], y: [values[n]], ...(i ? dotLook(i - 1) : {colour: "muted"})});
  });
  const [low, high] = valueRange(marks) || [0, 1];
  return {x: {...axis, label: lying ? "" : axis.label}, y: {label: valueLabel({...state, centre: true}), kind: "number", low, high}, marks, flip: lying, at};
}
export function regionWords(panel, i) {
  return [panel.points[i], ...regionCurves(panel).map(({name, values}) => `${short(name, 60)}: ${said(values[i])}`)];
}
