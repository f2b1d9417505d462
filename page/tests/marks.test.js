import assert from "node:assert/strict";
import test from "node:test";
import {every, frame, standIn} from "./document.js";

standIn();
const {drawMark} = await import("../source/marks.js");
const {Pointer, mainMark} = await import("../source/pointer.js");
const on = frame({x: {kind: "number"}, y: {}, marks: []});
const paths = (mark, onto = on) => every(drawMark(onto, mark), "path").map((one) => one.attributes.d);

test("a line breaks where a value is missing, and steps hold back to the point before", () => {
  assert.deepEqual(paths({kind: "line", x: [0, 1, 2, 3], y: [0, 1, null, 3]}), ["M0.0 100.0L10.0 90.0M30.0 70.0"]);
  assert.deepEqual(paths({kind: "line", x: [0, 1], y: [0, 5], step: true}), ["M0.0 100.0L0.0 50.0L10.0 50.0"]);
});
test("a band goes up one side and down the other; of levels it is strokes", () => {
  assert.deepEqual(paths({kind: "band", x: [0, 1], low: [0, 0], high: [1, 2]}), ["M0.0 90.0L10.0 80.0L10.0 100.0L0.0 100.0Z"]);
  assert.deepEqual(paths({kind: "band", x: [0, 1], low: [0, 0], high: [1, NaN]}, frame({x: {kind: "category"}, y: {}, marks: []})), ["M0.0 100.0L0.0 90.0"]);
});
test("dots are circles or signs, hollow ones filled with paper, and none where a value is missing", () => {
  const dots = drawMark(on, {kind: "dots", layer: "own one", x: [0, 1, 2], y: [1, NaN, 2], hollow: true, colour: 3});
  const circles = every(dots, "circle");
  assert.equal(circles.length, 2);
  assert.deepEqual([circles[0].attributes.cx, circles[0].attributes.cy, circles[0].style.fill, circles[0].style.stroke], [0, 90, "ink-paper", "ink-3"]);
  assert.equal(dots.attributes.class, "mark layer-own-one");
  assert.equal(every(drawMark(on, {kind: "dots", x: [0], y: [1], pattern: 3}), "path").length, 1);
});
test("what is no mark is not drawn", () => assert.equal(drawMark(on, {kind: "script"}), null));

test("a pointer tells of the average's nearest point, and keys go from one to the next", () => {
  const panel = {x: {kind: "number", label: "age"}, y: {label: "price"}, marks: [{kind: "line", layer: "group", x: [0, 1, 2, 3], y: [5, 5, 5, 5]}, {kind: "line", layer: "average", x: [0, 2, 4], y: [1, 2, 3], label: "average"}]};
  assert.equal(mainMark(panel).layer, "average");
  const element = document.createElement("div"), pointer = new Pointer(element);
  pointer.set({svg: document.createElement("svg"), on: frame(panel)}, panel, {});
  element.listeners.pointermove({clientX: 27, clientY: 50});
  assert.equal(pointer.at, 1);
  assert.deepEqual(pointer.tip.children.map((line) => line.textContent), ["age 2", "average 2"]);
  assert.equal(pointer.step(1)[0], "age 4");
  assert.equal(pointer.step(1)[0], "age 4");
  element.listeners.pointermove({clientX: 300, clientY: 50});
  assert.equal(pointer.at, null);
  assert.equal(pointer.tip.hidden, true);
});
test("a row's curve is meant within a few pixels of it", () => {
  const panel = {x: {}, y: {}, marks: [{kind: "curves", x: [0, 1], y: [[0, 0], [5, 5]]}]}, pointer = new Pointer(document.createElement("div"));
  pointer.set({svg: document.createElement("svg"), on: frame(panel)}, panel, {});
  assert.deepEqual(pointer.rowAt(9, 52), {row: 1, at: 1});
  assert.equal(pointer.rowAt(9, 75), null);
});
