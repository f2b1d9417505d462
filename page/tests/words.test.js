import assert from "node:assert/strict";
import test from "node:test";
import {cutApart, inLines, percent, said, tickTexts, wrapped} from "../source/words.js";

test("numbers have a true minus sign, and thousands apart from 10,000 on", () => {
  assert.deepEqual([0, -2.5, 9999, 12345.678, 0.00001234, 3.2e9, NaN, null].map(said), ["0", "−2.5", "9999", "12,346", "1.234e−05", "3.2e+09", "–", "–"]);
});
test("shares under one percent are said as such", () => {
  assert.deepEqual([0, 0.004, 0.014, 1].map(percent), ["0 %", "under 1 %", "1 %", "100 %"]);
});
test("numbers of an axis have the decimals of their step", () => {
  assert.deepEqual(tickTexts([0, 0.25, 0.5]), ["0.00", "0.25", "0.50"]);
  assert.deepEqual(tickTexts([-20, 0, 20]), ["−20", "0", "20"]);
  assert.deepEqual(tickTexts([0, 20000]), ["0", "20,000"]);
  assert.deepEqual(tickTexts([2016, 2018]), ["2016", "2018"]);
  assert.deepEqual(tickTexts([-2e-6, 0, 2e-6]), ["−2×10⁻⁶", "0", "2×10⁻⁶"]);
  assert.deepEqual(tickTexts([1e6, 1.5e6]), ["10⁶", "1.5×10⁶"]);
});
test("names that are cut stay apart", () => {
  const names = Array.from({length: 40}, (_, i) => `City of ${i % 2 ? "North" : "Upper"}haven ${String(i).padStart(2, "0")}`);
  for (const limit of [8, 12, 16]) {
    const cut = cutApart(names, limit);
    assert.equal(new Set(cut).size, 40);
    assert.ok(cut.every((name) => name.length <= limit));
  }
  assert.deepEqual(cutApart(["a", "b"], 5), ["a", "b"]);
});
test("titles break before 'of', texts between words", () => {
  assert.deepEqual(inLines("change in predicted probability of survived", 32), ["change in predicted probability", "of survived"]);
  assert.deepEqual(wrapped("one two three", 7), ["one two", "three"]);
});
