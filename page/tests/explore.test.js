import assert from "node:assert/strict";
import test from "node:test";
import {Asker} from "../source/explore/ask.js";
import {brushKey} from "../source/explore/elements.js";
import {unpack, withBuffers} from "../source/explore/link.js";
import {FIRST, Store, known} from "../source/explore/store.js";

const about = {features: [{}, {}, {}], models: ["a", "b"], outputs: ["y"], scales: ["response", "raw"], rows: true, beside: ["predicted"]};

test("a gesture is one entry of undo, however many steps it has, and a new one forgets what was undone", () => {
  const whys = [], store = new Store((why) => whys.push(why));
  store.restore({}, about);
  store.set({values: {0: 1}});
  store.set({values: {0: 2}});
  store.commit({}, "what if");
  store.commit({}, "nothing new");
  store.commit({feature: 1}, "feature");
  assert.equal(store.past.length, 2);
  store.undo();
  assert.deepEqual([store.state.feature, store.state.values], [0, {0: 2}]);
  store.redo();
  assert.equal(store.state.feature, 1);
  store.undo();
  store.commit({feature: 2}, "feature");
  assert.equal(store.future.length, 0);
  assert.deepEqual(whys, ["what if", "feature", "undo", "undo", "undo", "feature"]);
  for (let i = 0; i < 300; i++) store.commit({feature: i % 3, up: i}, "feature");
  assert.ok(store.past.length <= 100);
});
test("of a state from outside only what is known is taken", () => {
  const hostile = {feature: 99, second: -1, rule: "x", row: 1.5, values: [], model: 7, output: 3, scale: "evil", shown: {ale: true, evil: true, ghost: "no"}, cohorts: [{name: 3}, {name: "c", rule: []}], against: 5, across: "observed", up: "predicted", sort: "worst", regions: [1], __proto__: {row: 4}};
  assert.deepEqual(known(hostile, about), {...FIRST, shown: {...FIRST.shown, ale: true}, cohorts: [{name: "c", rule: []}], up: "predicted"});
  assert.deepEqual(known(null, about), FIRST);
  assert.deepEqual(known({feature: 2, regions: [1, 2], row: 5, scale: "raw"}, about), {...FIRST, feature: 2, regions: [1, 2], row: 5, scale: "raw"});
  assert.equal(known({row: 5}, {...about, rows: false}).row, null);
});
function asking() {
  const sent = [], heard = [], link = {send: (message) => sent.push(message)};
  return {sent, heard, link, asker: new Asker(link, (head) => heard.push(head.re))};
}
test("the newest of a slot counts, and slots do not disturb each other", () => {
  const {sent, heard, link, asker} = asking();
  asker.ask("rows", "filter");
  asker.ask("whatif", "row");
  asker.ask("rows", "filter");
  assert.deepEqual(sent.map(({id, slot}) => [id, slot]), [[1, "filter"], [2, "row"], [3, "filter"]]);
  for (const re of [1, 2, 3]) link.onmessage({re, done: true});
  assert.deepEqual(heard, [2, 3]);
  assert.ok(asker.quiet("filter"));
});
test("a drag has one request on its way, and of those that wait only the last is sent", () => {
  const {sent, link, asker} = asking();
  for (const value of [1, 2, 3, 4]) asker.pull("whatif", "row", {value});
  assert.deepEqual(sent.map((one) => one.value), [1]);
  link.onmessage({re: 1, part: "whatif", done: false});
  assert.equal(sent.length, 1);
  link.onmessage({re: 1, part: "inside", done: true});
  assert.deepEqual(sent.map((one) => one.value), [1, 4]);
  asker.pull("rows", "filter", {value: 5}, "curves");
  asker.pull("rows", "filter", {value: 6}, "curves");
  link.onmessage({re: 3, part: "count", done: false});
  assert.equal(sent.length, 3);
  link.onmessage({re: 3, part: "curves", done: false});
  assert.equal(sent.at(-1).value, 6);
});
test("an answer's arrays lie behind its head, from multiples of eight bytes on", () => {
  const head = new TextEncoder().encode(JSON.stringify({re: 1, arrays: {a: ["f8", [2], 0], b: ["u1", [3], 16], c: ["f4", [1, 2], 24]}})), start = Math.ceil((4 + head.length) / 8) * 8, bytes = new ArrayBuffer(start + 32);
  new DataView(bytes).setUint32(0, head.length, true);
  new Uint8Array(bytes, 4, head.length).set(head);
  new Float64Array(bytes, start, 2).set([1.5, -2]);
  new Uint8Array(bytes, start + 16, 3).set([1, 0, 1]);
  new Float32Array(bytes, start + 24, 2).set([3, 4]);
  const {arrays} = unpack(bytes);
  assert.deepEqual([Array.from(arrays.a), Array.from(arrays.b), Array.from(arrays.c)], [[1.5, -2], [1, 0, 1], [3, 4]]);
  const apart = withBuffers({arrays: {a: ["f8", [1], 0]}}, [new DataView(new Float64Array([9, 7]).buffer, 8, 8)]);
  assert.deepEqual(Array.from(apart.arrays.a), [7]);
});
test("keys make, move, widen and drop a brush", () => {
  const key = (name, brush, more = {}) => brushKey({key: name, ...more}, brush, 0, 100, 10);
  assert.deepEqual(key("Enter", null), [25, 75]);
  assert.equal(key("Enter", [1, 2]), null);
  assert.equal(key("Escape", [1, 2]), null);
  assert.equal(key("Escape", null), undefined);
  assert.deepEqual(key("ArrowRight", [20, 95]), [30, 100]);
  assert.deepEqual(key("ArrowLeft", [20, 95], {shiftKey: true}), [10, 95]);
  assert.deepEqual(key("ArrowLeft", [20, 95], {altKey: true}), [20, 85]);
  assert.equal(key("x", [1, 2]), undefined);
});
