// A tree model evaluated in the page, by the routing rule that icefield's own engine has.
const TYPES = {f8: Float64Array, f4: Float32Array, u1: Uint8Array, u2: Uint16Array, i2: Int16Array, u4: Uint32Array};

function decoded([kind, text]) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new TYPES[kind](bytes.buffer);
}

export class Forest {
  constructor(given) {
    if (given.v !== 1) throw new Error(`This page reads version 1 of a model, not ${given.v}.`);
    Object.assign(this, {columns: given.columns, outputs: given.outputs, width: given.width, zero: given.zero, float32: given.float32, link: given.link, base: given.base, rules: given.encode});
    const leaf = decoded(given.leaf), condition = decoded(given.condition), n = given.nodes;
    Object.assign(this, {value: decoded(given.value), column: decoded(given.column), threshold: decoded(given.threshold), set: given.set && decoded(given.set), words: given.words && decoded(given.words), flags: decoded(given.flags), treeOutput: decoded(given.trees)});
    // -1 for leaves; where the right child begins, and which leaf it is.
    this.node = new Int32Array(n);
    this.right = new Int32Array(n);
    this.roots = new Int32Array(this.treeOutput.length);
    let splits = 0, leaves = 0;
    const open = [];  // splits whose right child is still to come
    for (let i = 0, tree = 0, root = true; i < n; i++) {
      if (root) { this.roots[tree++] = i; root = false; }
      if (leaf[i >> 3] >> (i & 7) & 1) {
        this.node[i] = -1;
        this.right[i] = leaves++;
        // What follows a leaf is the right child of the nearest split that has none yet, or another tree.
        if (open.length) this.right[open.pop()] = i + 1; else root = true;
      } else { this.node[i] = condition[splits++]; open.push(i); }
    }
  }
  // The raw sums of one encoded row, into `out`.
  raw(row, out) {
    const {node, right, column, threshold, set, words, flags, value, width, treeOutput, roots, zero, float32, outputs} = this, round = float32 ? Math.fround : (v) => v;
    for (let o = 0; o < outputs; o++) out[o] = this.base[o];
    for (let t = 0; t < roots.length; t++) {
      let n = roots[t], c;
      while ((c = node[n]) >= 0) {
        const x = row[column[c]];
        let left;
        if (x !== x || ((flags[c] & 2) && Math.abs(x) <= zero)) left = flags[c] & 1;
        else if (!set || set[c] < 0) left = x <= threshold[c];
        else left = x >= 0 && x === Math.floor(x) && x < 32 * words[set[c]] && words[set[c] + 1 + (x >>> 5)] >>> (x & 31) & 1;
        n = left ? n + 1 : right[n];
      }
      const at = right[n] * width;
      if (treeOutput[t] >= 0) out[treeOutput[t]] = round(out[treeOutput[t]] + value[at]);
      else for (let o = 0; o < width; o++) out[o] = round(out[o] + value[at + o]);
    }
    return out;
  }
  // Raw sums as the model's response.
  respond(raw) {
    const {kind, factor, complement} = this.link;
    let found = Array.from(raw);
    if (kind === "logistic") found = found.map((v) => 1 / (1 + Math.exp(-factor * v)));
    else if (kind === "exp") found = found.map(Math.exp);
    else if (kind === "softmax") { const top = Math.max(...found), e = found.map((v) => Math.exp(v - top)), sum = e.reduce((a, b) => a + b, 0); found = e.map((v) => v / sum); }
    return complement ? [1 - found[0], found[0]] : found;
  }
  predict(row) { return this.respond(this.raw(row, new Float64Array(this.outputs))); }
  // A row as the forest routes it, from values by column name: numbers, level texts, null for missing.
  encode(values) {
    return Float64Array.from(this.rules, (rule) => encoded(rule, values[rule.name]));
  }
  // One column of an encoded row over many values: an ICE curve.
  curve(values, name, grid) {
    const row = this.encode(values), places = this.rules.map((rule, i) => rule.name === name ? i : -1).filter((i) => i >= 0), out = new Float64Array(this.outputs);
    return grid.map((value) => { for (const i of places) row[i] = encoded(this.rules[i], value); return this.respond(this.raw(row, out)); });
  }
}
function encoded(rule, value) {
  if (rule.kind === "unused") return 0;
  if (rule.kind === "level") {
    if (value === null || value === undefined) return NaN;
    if (!rule.known) rule.known = new Map(rule.codes.map(([level, code]) => [String(level), code]));
    const found = rule.known.get(String(value));
    return found === undefined ? NaN : found;
  }
  let x = value === null || value === undefined ? NaN : value === "True" ? 1 : value === "False" ? 0 : Number(value);
  if (rule.float32) x = Math.fround(x);
  if (rule.missing !== null && rule.missing !== undefined && x === (rule.float32 ? Math.fround(rule.missing) : rule.missing)) x = NaN;
  if (rule.kind === "number" || x !== x) return x;
  const whole = Math.trunc(x), valid = (rule.truncate ? whole > -1 : x >= 0) && whole < rule.limit;
  return valid ? Math.abs(whole) : -1;
}
