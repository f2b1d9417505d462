import assert from "node:assert/strict";
import test from "node:test";
import {standIn} from "./document.js";

const number = {name: "age", axis: {label: "age", kind: "number", ticks: [], named: [], missing: 9}, x: [0, 1, 2, 9], points: ["0", "1", "2", "missing"], average: [[1, 2, 3, 7]], mean: [2], weight: [1, 1, 1, 0], low: [2], histogram: {edges: [0, 1, 2], share: [0.9, 0.1], missing: 0.5},
  groups: [{average: {places: 1, whole: [[5, 15, 25, 65]]}, mean: [1.5]}], bands: {places: 0, whole: [[[-2, -2, -2, -2], [-1, -1, -1, -1], [0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]]]},
  ale: {x: [0, 1, 2, 3], y: [[0, 1, 2, 3]], mean: [1.5]}, observed: {x: [0.5, 1.5], points: ["low", "high"], truth: [[1, 3]], predicted: [[1.5, 2.5]], missing: [[8], [7]], mean: [[2], [2]]}};
const pair = {names: ["a", "b"], axes: [{label: "a", kind: "number", ticks: []}, {label: "b", kind: "number", ticks: []}], x: [0, 1], y: [0, 1, 2], points: [["0", "1"], ["0", "1", "2"]], level: [[[1, 2, 3], [4, 5, 6]]], pure: [[[0, 0, 0], [0, 0, -1]]], low: [[0, 0, 1], [0, 0, 0]], share: [[1, 0, 0], [0, 0, 0]]};
standIn({data: JSON.stringify({v: 2, what: "price", bounds: [0, null], outputs: ["y"], groups: ["hill"], by: "place", features: [number], matrix: null, surfaces: [pair], regions: [], shares: null, models: 1})});
const {cardPanel, cellWords, pointWords, surfacePanel} = await import("../source/report/compose.js");
const {pairOf, panelOf} = await import("../source/report/page.js"), feature = panelOf({dataset: {feature: 0}}), {state} = await import("../source/report/view.js");
const view = {output: 0, group: "none", centre: false, shared: false, log: false, bands: true, ale: true, data: true, observed: true, curves: false};
const of = (panel, layer) => panel.marks.find((mark) => mark.layer === layer);

test("packed lists are divided, and the missing point stands apart from the others", () => {
  assert.deepEqual(feature.groups[0].average, [[0.5, 1.5, 2.5, 6.5]]);
  const panel = cardPanel(feature, view), gone = panel.x.missing;
  assert.ok(gone > 2);
  assert.deepEqual([of(panel, "average").x, of(panel, "average").y], [[0, 1, 2], [1, 2, 3]]);
  assert.deepEqual([of(panel, "missing average").x, of(panel, "missing average").y], [[gone], [7]]);
  assert.equal(of(panel, "group"), undefined);
});
test("bands stay where predictions can be, and ALE is at the average's level within the axis", () => {
  const panel = cardPanel(feature, view);
  assert.deepEqual(of(panel, "band").low, [0, 0, 0]);
  assert.deepEqual([of(panel, "ale").x, of(panel, "ale").y], [[0, 1, 2], [0.5, 1.5, 2.5]]);
  assert.deepEqual([of(panel, "low").lefts, of(panel, "low").rights], [[1.5], [2]]);
});
test("a large share of missing rows does not flatten the other bars", () => {
  const {counts} = of(cardPanel(feature, view), "data");
  assert.deepEqual(counts, [0.9, 0.1, 0.5]);
  const [one] = [structuredClone(feature)];
  one.histogram = {edges: [0, 1, 2], share: [0.1, 0.1], missing: 0.8};
  assert.deepEqual(of(cardPanel(one, view), "data").counts, [0.1, 0.1, 0.1]);
});
test("centred curves, groups and means are around their own means", () => {
  const panel = cardPanel(feature, {...view, centre: true, group: "each"});
  assert.deepEqual(of(panel, "average").y, [-1, 0, 1]);
  assert.deepEqual(of(panel, "group").y, [-1, 0, 1]);
  assert.deepEqual(of(panel, "observed").y, [-1, 1]);
  assert.equal(panel.y.label, "change in price");
});
test("a point is told with what is known of it", () => {
  assert.deepEqual(pointWords(feature, {...view, group: "each"}, 1), ["1", "average 2", "half of the rows 1 to 3", "90 % of them 0 to 4", "observed 1, predicted 1.5 (low)", "hill 1.5"]);
});
test("cells without data are blank and crossed out", () => {
  Object.assign(state, {view: "level", mask: true, output: 0});
  const panel = surfacePanel(pairOf({dataset: {surface: 0}}));
  assert.deepEqual(panel.marks[0].z, [[1, 4], [2, 5], [null, 6]]);
  assert.deepEqual([panel.marks[1].x, panel.marks[1].y], [[0], [2]]);
  assert.deepEqual(panel.marks[0].x, [-0.5, 0.5, 1.5]);
  assert.equal(cellWords(pairOf({dataset: {surface: 0}}), 1, 2)[2], "average 6");
});
