// What is chosen, as one small JSON: a link, a widget's dict and an entry of undo are the same thing.
export const FIRST = {
  feature: 0, second: null, rule: [], row: null, values: {}, pinned: null, model: 0, output: 0, scale: null,
  shown: {spread: true, ghost: true, row: true, ale: false, observed: false, centred: false, audit: false, both: false},
  regions: null, cohorts: [], against: null, across: null, up: null, sort: "movement",
};
const copy = (value) => JSON.parse(JSON.stringify(value));

export class Store {
  constructor(changed) { Object.assign(this, {state: copy(FIRST), past: [], future: [], changed}); this.committed = copy(this.state); }
  // A change of view while a gesture lasts.
  set(change) { this.state = {...this.state, ...change}; }
  // What no gesture chose is part of the first state.
  first(change) { this.set(change); this.committed = copy(this.state); }
  // A gesture has ended: one entry of undo.
  commit(change = {}, why = "") {
    this.set(change);
    if (JSON.stringify(this.state) === JSON.stringify(this.committed)) return;
    this.past.push(this.committed);
    if (this.past.length > 100) this.past.shift();
    this.future = [];
    this.committed = copy(this.state);
    this.changed(why);
  }
  move(from, to) {
    if (!from.length) return null;
    const before = this.committed;
    to.push(before);
    this.committed = from.pop();
    this.state = copy(this.committed);
    this.changed("undo");
    return before;
  }
  undo() { return this.move(this.past, this.future); }
  redo() { return this.move(this.future, this.past); }
  restore(given, about) { this.first(known(given, about)); }
}
// A state from a link or a dict: only what is known, of the right kind.
export function known(given, about) {
  const found = copy(FIRST), n = about.features.length, isFeature = (v) => Number.isInteger(v) && v >= 0 && v < n;
  if (!given || typeof given !== "object") given = {};
  if (isFeature(given.feature)) found.feature = given.feature;
  if (isFeature(given.second) && given.second !== found.feature) found.second = given.second;
  if (Array.isArray(given.rule)) found.rule = given.rule;
  if (about.rows && Number.isInteger(given.row)) found.row = given.row;
  if (given.values && typeof given.values === "object" && !Array.isArray(given.values)) found.values = given.values;
  if (given.pinned && typeof given.pinned === "object") found.pinned = given.pinned;
  if (Number.isInteger(given.model) && given.model >= 0 && given.model < about.models.length) found.model = given.model;
  if (Number.isInteger(given.output) && given.output >= 0 && given.output < about.outputs.length) found.output = given.output;
  if (about.scales.includes(given.scale)) found.scale = given.scale;
  for (const name of Object.keys(found.shown)) if (given.shown && typeof given.shown[name] === "boolean") found.shown[name] = given.shown[name];
  if (Array.isArray(given.regions) && (given.regions.length === 0 || given.regions.length === 2)) found.regions = given.regions.map(Number);
  if (Array.isArray(given.cohorts)) found.cohorts = given.cohorts.filter((c) => c && typeof c.name === "string" && Array.isArray(c.rule)).slice(0, 8);
  if (Number.isInteger(given.against) && found.cohorts[given.against]) found.against = given.against;
  for (const axis of ["across", "up"]) if (isFeature(given[axis]) || about.beside.includes(given[axis])) found[axis] = given[axis];
  if (["movement", "strength", "disagreement", "name", "order"].includes(given.sort)) found.sort = given.sort;
  return found;
}
