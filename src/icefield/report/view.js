// What the page knows and what is chosen: the JSON block, the toolbar's choices for all cards, each card's
// own choices, and both in words. Nothing here draws.
const byId = (id) => document.getElementById(id);
const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
const data = JSON.parse(byId("data").textContent);
// Long lists come as whole numbers, which are short.
const divided = (value, by) => Array.isArray(value) ? value.map((one) => divided(one, by)) : value === null ? null : value / by;
function unpack(part) {
  for (const [key, value] of Object.entries(part)) if (value && value.whole) part[key] = divided(value.whole, 10 ** value.places);
}
data.features.forEach((panel) => { unpack(panel); panel.groups.forEach(unpack); });
data.surfaces.forEach(unpack);
const cards = all(".card");
// The three kinds of thing that have a picture, a table and files.
const ITEMS = ".card, .pair, .region";
const ofKind = (item, card, pair, region) => (item.matches(".card") ? card : item.matches(".pair") ? pair : region)(item);
const state = {
  output: 0, group: data.models ? "each" : "none", centre: false, shared: false, log: false,
  bands: true, ale: true, data: true, curves: true, observed: true, view: "level", mask: true, lit: null, row: null,
};

// --- the view of one card ------------------------------------------------------------------------

const PER_CARD = ["output", "group", "centre", "shared", "log"];
const own = new Map();  // a card's choices that differ from the toolbar's
const panelOf = (card) => data.features[+card.dataset.feature];
const differs = (card) => own.has(card);
function viewOf(card) {
  const view = {...state, ...own.get(card)};
  view.log = view.log && panelOf(card).log;
  return view;
}
function chooseOn(card, key, value) {
  const choices = {...own.get(card), [key]: value};
  if (value === state[key]) delete choices[key];
  if (Object.keys(choices).length) own.set(card, choices); else own.delete(card);
}
function chooseForAll(key, value) {
  state[key] = value;
  cards.filter(differs).forEach((card) => chooseOn(card, key, value));
}
const onlyGroup = (view) => view.group === "none" || view.group === "each" ? null : +view.group;
const isShown = (view, g) => view.group === "each" || onlyGroup(view) === g;
// How a view differs from the one the page opens with.
function viewWords(view) {
  const one = onlyGroup(view);
  return [
    view.output ? data.outputs[view.output] : "",
    view.centre ? "centred" : "",
    view.shared ? "shared axis" : "",
    view.log ? "log axis" : "",
    view.group === "none" || (data.models && view.group === "each") ? "" : `by ${data.by}` + (one === null ? "" : `: ${data.groups[one]}`),
  ].filter(Boolean).join(", ");
}
function readingOf(panel, view) {
  const one = onlyGroup(view);
  return one === null ? panel.readings[view.output] : `${data.groups[one]}: ${panel.groups[one].readings[view.output]}`;
}

// Strength and differences of the output shown.
const sizeOf = (panel, o) => ({strength: `${panel.strengths[o].toFixed(2)} SD, ${panel.strength_words[o]}`, differences: `${panel.heterogeneities[o].toFixed(2)} SD`});
const pairSize = (pair, o) => `interaction ${pair.strengths[o].toFixed(2)} SD, H ${pair.hs[o].toFixed(2)}`;

// The curves a view shows, centred or not.
function shownCurves(panel, view) {
  const o = view.output, base = view.centre ? panel.mean[o] : 0, seen = panel.observed;
  return {
    average: minus(panel.average[o], base),
    error: panel.error ? panel.error[o] : null,
    // Of curves around their own means: where rows stand is not the feature's doing.
    bands: panel.bands ? panel.bands[o].map((q) => minus(q, view.centre ? 0 : -panel.mean[o])) : null,
    ale: panel.ale ? minus(panel.ale.y[o], panel.ale.mean[o] - (view.centre ? 0 : panel.mean[o])) : null,
    groups: panel.groups.map((g) => minus(g.average[o], view.centre ? g.mean[o] : 0)),
    observed: seen && seen.x.length && view.observed ? [minus(seen.truth[o], view.centre ? seen.mean[0][o] : 0), minus(seen.predicted[o], view.centre ? seen.mean[1][o] : 0)] : null,
    observedMissing: seen && seen.missing && view.observed ? [seen.missing[0][o] - (view.centre ? seen.mean[0][o] : 0), seen.missing[1][o] - (view.centre ? seen.mean[1][o] : 0)] : null,
    curves: panel.curves && view.curves ? panel.curves[o].map((c) => minus(c, view.centre ? ownMean(c, panel.weight) : 0)) : null,
  };
}
const minus = (list, base) => list.map((v) => v === null ? null : v - base);
function ownMean(curve, weight) {
  let sum = 0;
  curve.forEach((v, i) => { if (v !== null && weight[i]) sum += v * weight[i]; });
  return sum;
}
// Points with a place on the axis: a number's missing point stands apart.
const placed = (panel) => panel.x.length - (panel.axis.missing !== null && panel.axis.kind !== "category" ? 1 : 0);

// --- texts and numbers ---------------------------------------------------------------------------

const short = (text, limit) => text.length <= limit ? text : text.slice(0, Math.ceil(limit / 2) - 1) + "…" + text.slice(-Math.floor(limit / 2));
function said(value) {
  if (value === null || value === undefined || !isFinite(value)) return "–";
  const size = Math.abs(value);
  // The same rules as everywhere: a true minus sign, thousands separated from 10,000 on.
  const text = size !== 0 && (size < 1e-3 || size >= 1e7) ? size.toExponential(2)
    : size.toLocaleString("en", {maximumSignificantDigits: size >= 1000 ? 6 : 4, useGrouping: size >= 10000});
  return (value < 0 ? "−" : "") + text.replace("e-", "e−");
}
// Cut where names do not differ: what all long ones start with goes first, then the middle, else one end.
function cutApart(names, limit) {
  const long = names.filter((name) => name.length > limit);
  if (!long.length) return names;
  let shared = long.length > 1 ? long.reduce((a, b) => { let i = 0; while (i < a.length && a[i] === b[i]) i++; return a.slice(0, i); }) : "";
  shared = shared.slice(0, 1 + Math.max(...[" ", "_", "-", ".", "/"].map((mark) => shared.lastIndexOf(mark))));
  const bare = (name) => shared.length > 3 && name.startsWith(shared) ? "…" + name.slice(shared.length) : name;
  const ways = [(name) => short(bare(name), limit), (name) => "…" + name.slice(1 - limit), (name) => name.slice(0, limit - 1) + "…"]
    .map((cut, way) => names.map((name) => way === 0 || name.length > limit ? cut(name) : name));
  return ways.find((cut) => new Set(cut).size === new Set(names).size) || ways[0];
}
// At most two lines of so many letters.
function inLines(text, letters) {
  if (text.length <= letters) return [text];
  const breaks = [...text.matchAll(/ /g)].map((m) => m.index).filter((i) => i <= letters);
  if (!breaks.length) return [short(text, letters)];
  const before = text.lastIndexOf(" of ", letters), at = before > 0 && text.length - before <= letters ? before : breaks.at(-1);
  return [text.slice(0, at), short(text.slice(at + 1), letters)];
}
const percent = (share) => share > 0 && share < 0.01 ? "under 1 %" : Math.round(100 * share) + " %";
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
