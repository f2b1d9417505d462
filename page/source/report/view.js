// What is chosen: the toolbar's choices for all cards, each card's own choices, and both in words. Nothing here draws.
import {data, cards, panelOf, several} from "./page.js";
import {isNumber} from "../words.js";

export const state = {
  output: 0, group: several ? "each" : "none", centre: false, shared: false, log: false,
  bands: true, ale: true, data: true, curves: true, observed: true, view: "level", mask: true, lit: null, row: null, pointed: null,
};

// --- the view of one card ------------------------------------------------------------------------

export const PER_CARD = ["output", "group", "centre", "shared", "log"];
export const own = new Map();  // a card's choices that differ from the toolbar's
export const differs = (card) => own.has(card);
export function viewOf(card) {
  const view = {...state, ...own.get(card)};
  view.log = view.log && panelOf(card).log;
  return view;
}
export function chooseOn(card, key, value) {
  const choices = {...own.get(card), [key]: value};
  if (value === state[key]) delete choices[key];
  if (Object.keys(choices).length) own.set(card, choices); else own.delete(card);
}
export function chooseForAll(key, value) {
  state[key] = value;
  cards.filter(differs).forEach((card) => chooseOn(card, key, value));
}
export const onlyGroup = (view) => view.group === "none" || view.group === "each" ? null : +view.group;
export const isShown = (view, g) => view.group === "each" || onlyGroup(view) === g;
// How a view differs from the one the page opens with.
export function viewWords(view) {
  const one = onlyGroup(view);
  return [
    view.output ? data.outputs[view.output] : "",
    view.centre ? "centred" : "",
    view.shared ? "shared axis" : "",
    view.log ? "log axis" : "",
    view.group === "none" || (several && view.group === "each") ? "" : `by ${data.by}` + (one === null ? "" : `: ${data.groups[one]}`),
  ].filter(Boolean).join(", ");
}
export function readingOf(panel, view) {
  const one = onlyGroup(view);
  return one === null ? panel.readings[view.output] : `${data.groups[one]}: ${panel.groups[one].readings[view.output]}`;
}

// Strength and differences of the output shown.
export const sizesOf = (panel, o) => several ? {} : ({strength: `${panel.strengths[o].toFixed(2)} SD, ${panel.strength_words[o]}`, differences: `${panel.heterogeneities[o].toFixed(2)} SD`});
export const pairSize = (pair, o) => `interaction ${pair.strengths[o].toFixed(2)} SD, H ${pair.hs[o].toFixed(2)}`;

// The curves a view shows, centred or not.
export function shownCurves(panel, view) {
  const o = view.output, base = view.centre ? panel.mean[o] : 0, seen = panel.observed;
  return {
    average: minus(panel.average[o], base),
    error: panel.error && !panel.interval ? panel.error[o] : null,
    // Of levels only: how surely a centred curve is known is not to be had from them.
    interval: panel.interval && !view.centre ? panel.interval.ends[o] : null,
    // Of curves around their own means: where rows stand is not the feature's doing.
    bands: panel.bands ? panel.bands[o].map((q) => within(minus(q, view.centre ? 0 : -panel.mean[o]), view)) : null,
    ale: panel.ale ? minus(panel.ale.y[o], panel.ale.mean[o] - (view.centre ? 0 : panel.mean[o])) : null,
    groups: panel.groups.map((g) => minus(g.average[o], view.centre ? g.mean[o] : 0)),
    observed: seen && seen.x.length && view.observed ? [minus(seen.truth[o], view.centre ? seen.mean[0][o] : 0), minus(seen.predicted[o], view.centre ? seen.mean[1][o] : 0)] : null,
    observedMissing: seen && seen.missing && view.observed ? [seen.missing[0][o] - (view.centre ? seen.mean[0][o] : 0), seen.missing[1][o] - (view.centre ? seen.mean[1][o] : 0)] : null,
    curves: panel.curves && view.curves ? panel.curves[o].map((c) => minus(c, view.centre ? ownMean(c, panel.weight) : 0)) : null,
  };
}
export const minus = (list, base) => list.map((v) => isNumber(v) ? v - base : null);
function ownMean(curve, weight) {
  let sum = 0;
  curve.forEach((v, i) => { if (v !== null && weight[i]) sum += v * weight[i]; });
  return sum;
}
// Points with a place on the axis: a number's missing point stands apart.
export const placed = (panel) => panel.x.length - (panel.axis.missing !== null && panel.axis.kind !== "category" ? 1 : 0);
// No band reaches where no prediction can be: beyond a probability's 0 and 1, or below a count's 0.
function within(list, view) {
  const [low, high] = view.centre ? [null, null] : data.bounds;
  return list.map((v) => v === null ? null : Math.min(high ?? Infinity, Math.max(low ?? -Infinity, v)));
}
