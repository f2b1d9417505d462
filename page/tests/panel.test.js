import assert from "node:assert/strict";
import test from "node:test";
import {colourer, stops} from "../source/colours.js";
import {decode} from "../source/decode.js";
import {firstTick, valueRange, visibleFeatures, visibleValues} from "../source/range.js";

test("arrays come out of base64 in their shapes, shared ones once", () => {
  const sent = {v: 1, arrays: [["f8", [2], "AAAAAAAAAAAAAAAAAADwPw=="], ["f4", [2, 1], "AAAAQAAAQEA="], ["b1", [2], "AAE="]],
    picture: {panels: [{marks: [{kind: "line", x: {a: 0}, y: {a: 0}}, {kind: "curves", x: {a: 0}, y: {a: 1}, faded: {a: 2}}]}]}};
  const [line, curves] = decode(sent).panels[0].marks;
  assert.deepEqual(line, {kind: "line", x: [0, 1], y: [0, 1]});
  assert.deepEqual([curves.y, curves.faded], [[[2], [3]], [0, 1]]);
});
test("another version is refused, not guessed at", () => {
  assert.throws(() => decode({v: 2, arrays: [], picture: {}}), /version 2/);
});
test("axes run as Python's panels say", () => {
  const panel = {x: {low: 0, high: 10}, y: {low: 0, high: 100}, marks: [{kind: "line", x: [0, 10], y: [0, 100]}]};
  assert.deepEqual(visibleValues(panel), [-5, 105]);
  assert.deepEqual(visibleFeatures(panel), [-0.3, 10.3]);
  panel.marks.push({kind: "strip"});
  assert.deepEqual(visibleValues(panel), [-16, 105]);
  assert.equal(firstTick(panel), -4);
  assert.deepEqual(visibleValues({...panel, look: "square"}), [0, 100]);
  assert.deepEqual(valueRange([{kind: "line", y: [1, null, NaN, 3]}, {kind: "band", low: [-2], high: [0]}, {kind: "strip", counts: [99]}]), [-2, 3]);
  assert.equal(valueRange([{kind: "line", y: [null]}]), null);
});
test("colours move away from the ground on both sides of zero", () => {
  for (const paper of ["#ffffff", "#13161a"]) {
    const ink = () => paper, list = stops({low: -1, high: 1, diverging: true}, ink);
    assert.equal(list[2], paper);
    assert.equal(colourer({low: -1, high: 1, diverging: true}, ink)(0), `rgb(${[1, 3, 5].map((i) => parseInt(paper.slice(i, i + 2), 16)).join(",")})`);
  }
});
