// A feature's axis as the drawing module takes it, and the places of its grid, the missing point apart.
import {isNumber} from "../words.js";

const APART = 0.09;

// `also`: further places that must be visible, such as a row's own value.
export function featureAxis(feature, x, also = []) {
  const {axis} = feature, levels = axis.kind === "category";
  if (levels) return {axis: {label: axis.label, kind: "category", ticks: axis.ticks, low: -0.6, high: axis.ticks.length - 0.4}, at: Array.from(x), n: x.length, gone: null};
  const n = isNumber(x[x.length - 1]) || !axis.missing ? x.length : x.length - 1, known = [...Array.from(x.slice(0, n)), ...also].filter(isNumber);
  let low = Math.min(...known), high = Math.max(...known);
  if (!known.length) [low, high] = [0, 1];
  if (low === high) { low -= 0.5; high += 0.5; }
  const gone = n < x.length ? high + APART * (high - low) : null;
  const own = {label: axis.label, kind: axis.kind, ticks: [], named: axis.named, unit: axis.unit, low, high: gone ?? high, missing: gone, last: high};
  return {axis: own, at: gone === null ? Array.from(x) : [...Array.from(x.slice(0, n)), gone], n, gone, first: low, last: high};
}
// Bars of a feature as marks' edges; the last bar, of missing values, stands at the missing point.
export function barEdges(feature, laid) {
  if (feature.axis.kind === "category") {
    const bars = feature.bars - 1;
    return {lefts: Array.from({length: bars}, (_, i) => i - 0.38), rights: Array.from({length: bars}, (_, i) => i + 0.38), pick: (counts) => Array.from(counts).slice(0, bars)};
  }
  const {edges} = feature, lefts = [], rights = [], kept = [];
  for (let i = 0; i + 1 < edges.length; i++) {
    if (!(edges[i + 1] > laid.first && edges[i] < laid.last)) continue;
    lefts.push(Math.max(laid.first, edges[i]));
    rights.push(Math.min(laid.last, edges[i + 1]));
    kept.push(i);
  }
  if (laid.gone !== null) {
    const half = 0.2 * (laid.gone - laid.last);
    lefts.push(laid.gone - half);
    rights.push(laid.gone + half);
    kept.push(edges.length - 1);
  }
  return {lefts, rights, pick: (counts) => kept.map((i) => counts[i])};
}
// Between grid points, along straight lines; levels and the missing point exactly.
export function valueAt(laid, y, place, levels) {
  if (place === null) return laid.gone === null ? NaN : y[laid.n];
  if (levels) return y[Math.round(place)];
  const {at, n} = laid;
  if (place <= at[0]) return y[0];
  for (let i = 1; i < n; i++) if (place <= at[i]) return y[i - 1] + (y[i] - y[i - 1]) * (place - at[i - 1]) / ((at[i] - at[i - 1]) || 1);
  return y[n - 1];
}
// The row's own value is a point of its curve, between grid points too.
export function withOwn(laid, y, place, value, levels) {
  const x = laid.at.slice(0, laid.n), out = Array.from(y).slice(0, laid.n);
  if (levels || place === null || !isNumber(place)) return {x, y: out};
  let k = x.findIndex((v) => v >= place);
  if (k < 0) k = x.length;
  if (x[k] === place) out[k] = value; else { x.splice(k, 0, place); out.splice(k, 0, value); }
  return {x, y: out};
}
