import assert from "node:assert/strict";
import test from "node:test";
import {placeLabels} from "../source/labels.js";

// Numbers that look random and are the same in every run.
function random(seed) { let s = seed + 1; return () => { s = (s * 48271) % 2147483647; return s / 2147483647; }; }

for (const [width, height] of [[600, 352], [348, 330]]) {
  test(`labels never collide on ${width} x ${height}`, () => {
    for (let seed = 0; seed < 12; seed++) {
      const next = random(seed), inside = {left: 42, right: width - 2, top: 2, bottom: height - 39};
      const points = Array.from({length: 40}, (_, i) => {
        const text = `feature_${"long_".repeat(i % 5)}${i}`.slice(0, width < 480 ? 16 : 26);
        return {x: inside.left + (inside.right - inside.left) * Math.min(1, -0.2 * Math.log(next())), y: inside.bottom - inside.bottom * Math.min(1, -0.2 * Math.log(next())), text, wide: 7.2 * text.length + 4};
      });
      const labels = placeLabels(points, inside), boxes = labels.filter(Boolean).map((label) => label.box);
      assert.ok(boxes.length >= (width > 500 ? 5 : 4), `${seed}: ${boxes.length}`);
      assert.ok(labels.slice(14).every((label) => label === null));
      boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top)));
      boxes.forEach((a) => assert.ok(a.left >= inside.left && a.right <= inside.right && a.top >= inside.top && a.bottom <= inside.bottom));
    }
  });
}
