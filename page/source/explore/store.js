// What is chosen, as one small JSON: a link, a widget's dict and an entry of undo are the same thing.
export const FIRST = {
  feature: 0, second: null, rule: [], row: null, values: {}, pinned: null, model: 0, output: 0, scale: null,
  shown: {spread: true, ghost: true, row: true, ale: false, observed: false, centred: false, both: false},
  cohorts: [], against: null, across: null, up: null, sort: "movement",
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
  // A state from a link or a dict: only what is known, of the right kind.
  restore(given, about) {
    const known = copy(FIRST), n = about.features.length, isFeature = (v) => Number.isInteger(v) && v >= 0 && v < n;
    if (!given || typeof given !== "object") given = {};
    if (isFeature(given.feature)) known.feature = given.feature;
    if (isFeature(given.second) && given.second !== known.feature) known.second = given.second;
    if (Array.isArray(given.rule)) known.rule = given.rule;
    if (about.rows && Number.isInteger(given.row)) known.row = given.row;
    if (given.values && typeof given.values === "object" && !Array.isArray(given.values)) known.values = given.values;
    if (given.pinned && typeof given.pinned === "object") known.pinned = given.pinned;
    if (Number.isInteger(given.model) && given.model >= 0 && given.model < about.models.length) known.model = given.model;
    if (Number.isInteger(given.output) && given.output >= 0 && given.output < about.outputs.length) known.output = given.output;
    if (about.scales.includes(given.scale)) known.scale = given.scale;
    for (const name of Object.keys(known.shown)) if (given.shown && typeof given.shown[name] === "boolean") known.shown[name] = given.shown[name];
    if (Array.isArray(given.cohorts)) known.cohorts = given.cohorts.filter((c) => c && typeof c.name === "string" && Array.isArray(c.rule)).slice(0, 8);
    if (Number.isInteger(given.against) && known.cohorts[given.against]) known.against = given.against;
    for (const axis of ["across", "up"]) if (isFeature(given[axis]) || about.beside.includes(given[axis])) known[axis] = given[axis];
    if (["movement", "strength", "disagreement", "name", "order"].includes(given.sort)) known.sort = given.sort;
    this.state = known;
    this.committed = copy(known);
  }
}
