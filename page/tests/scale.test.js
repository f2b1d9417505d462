import assert from "node:assert/strict";
import test from "node:test";
import {logTicks, niceTicks, scale, ticksOf, timeTicks} from "../source/scale.js";

const day = (text) => Date.parse(text + "T00:00:00Z") / 86400000;

test("places and values belong together, on factors too", () => {
  for (const log of [false, true]) {
    const place = scale(1, 1000, 50, 350, log);
    assert.ok(Math.abs(place(1) - 50) < 1e-9 && Math.abs(place(1000) - 350) < 1e-9);
    for (const v of [1, 7, 400]) assert.ok(Math.abs(place.invert(place(v)) / v - 1) < 1e-9);
  }
});
test("ticks are round and inside", () => {
  assert.deepEqual(niceTicks(0.03, 0.52, 5), [0.1, 0.2, 0.3, 0.4, 0.5]);
  assert.deepEqual(niceTicks(1, 4, 9, true), [1, 2, 3, 4]);
  for (const [low, high] of [[0, 3e-7], [-5, 1234], [1e9, 3e9]]) assert.ok(niceTicks(low, high, 5).every((t) => t >= low && t <= high));
  assert.deepEqual(logTicks(1, 1000, 8), [1, 3, 10, 30, 100, 300, 1000]);
});
test("times have starts of months and years", () => {
  assert.deepEqual(timeTicks(day("2023-11-15"), day("2024-03-10"), 5).map((t) => t.text), ["Dec 2023", "Jan 2024", "Feb", "Mar"]);
  assert.deepEqual(timeTicks(day("1999-06-01"), day("2003-06-01"), 5).map((t) => [t.at, t.text])[0], [day("2000-01-01"), "2000"]);
  assert.deepEqual(timeTicks(day("2024-05-01"), day("2024-05-02"), 5).map((t) => t.text), ["00:00 1 May", "06:00", "12:00", "18:00", "00:00 2 May"]);
});
test("texts of an axis do not touch, and the missing one has its place", () => {
  const room = (text) => 6.5 * text.length;
  for (const length of [90, 160, 300, 600]) {
    const ticks = ticksOf({kind: "number", missing: 95000}, 5000, 97000, length, room), place = scale(5000, 97000, 0, length);
    assert.equal(ticks.at(-1).text, "missing");
    ticks.slice(1).forEach((t, i) => assert.ok(place(t.at) - place(ticks[i].at) >= (room(t.text) + room(ticks[i].text)) / 2, `${length}`));
  }
});
test("many levels leave some names out rather than write them on each other", () => {
  const ticks = ticksOf({kind: "category", ticks: Array.from({length: 100}, String)}, -0.5, 99.5, 500, () => 20, 40);
  assert.equal(ticks.length, 50);
});
