// Brushes: a histogram of every column, and a scatter of two; what they choose is the rule that governs every view.
import {draw} from "../draw.js";
import {h, resolved} from "../svg.js";
import {cutApart, isNumber, said} from "../words.js";
import {brushKey, button, el, select} from "./elements.js";

const HIGH = 40, FEW_LEVELS = 12, NAME = 12;  // levels whose names stand on an axis; letters of one, where there are more

class Histogram {
  constructor(app, i) {
    const feature = app.about.features[i];
    Object.assign(this, {app, i, feature, levels: feature.axis.kind === "category", at: 0});
    this.svg = h("svg", {viewBox: `0 0 100 ${HIGH}`, preserveAspectRatio: "none", tabindex: "0", role: "group"});
    this.missing = button("missing", () => this.toggleMissing(), {"aria-pressed": "false", hidden: true, title: "Rows whose value is missing"});
    this.ends = el("div", {class: "ends"});
    this.box = el("div", {class: "histogram"}, el("div", {class: "name"}, el("span", {title: feature.label}, feature.label), this.missing), this.svg, this.ends);
    this.svg.addEventListener("pointerdown", (event) => this.down(event));
    this.svg.addEventListener("keydown", (event) => this.key(event));
  }
  get count() { return this.feature.bars - 1; }
  get range() { return this.levels ? [0, this.count] : [this.feature.edges[0], this.feature.edges.at(-1)]; }
  // The range as it is written: of whole numbers, those in it.
  get whole() { const [low, high] = this.range; return this.feature.axis.kind === "integer" && low % 1 ? [Math.ceil(low), Math.floor(high)] : [low, high]; }
  get condition() { return this.app.state.rule.find((one) => one.column === this.i) || null; }
  draw() {
    const {app, count} = this, all = app.barsOf(this.i, false), own = app.barsOf(this.i, true), most = Math.max(...Array.from(all).slice(0, count), 1e-9), wide = 100 / Math.max(1, count), made = [], chosen = this.condition;
    for (let k = 0; k < count; k++) {
      const bar = (value, colour) => value > 0 && made.push(h("rect", {x: k * wide + 0.3, y: HIGH - HIGH * value / most, width: Math.max(0.4, wide - 0.6), height: HIGH * value / most, style: {fill: `var(--${colour})`}}));
      bar(all[k], "faint-bar");
      bar(own[k], chosen && chosen.in && !chosen.in.includes(k) ? "bar" : app.state.rule.length ? "accent" : "bar");
      if (this.levels && k === this.at && app.root.activeElement === this.svg) made.push(h("rect", {x: k * wide, y: 0, width: wide, height: HIGH, style: {fill: "none", stroke: "var(--accent)", vectorEffect: "non-scaling-stroke"}}));
    }
    if (chosen && !chosen.in && (isNumber(chosen.ge) || isNumber(chosen.le))) {
      const [low, high] = this.range, place = (v) => 100 * (v - low) / ((high - low) || 1), a = place(chosen.ge ?? low), b = place(chosen.le ?? high);
      made.push(h("rect", {class: "range", x: a, y: 0, width: Math.max(0.5, b - a), height: HIGH, style: {fill: "var(--accent-soft)", stroke: "var(--accent)", vectorEffect: "non-scaling-stroke"}}));
    }
    this.svg.replaceChildren(...made);
    this.missing.hidden = !(all[all.length - 1] > 0) || this.levels;
    this.missing.setAttribute("aria-pressed", String(Boolean(chosen && chosen.missing)));
    this.missing.textContent = chosen && chosen.missing ? "✓ missing" : "missing";
    const texts = this.levels && count > FEW_LEVELS ? [`${this.feature.axis.ticks.length} levels`, ""] : this.levels ? [this.feature.axis.ticks[0] ?? "", count > 1 ? this.feature.axis.ticks[count - 1] : ""] : chosen && (isNumber(chosen.ge) || isNumber(chosen.le)) ? [chosen.ge ?? this.whole[0], chosen.le ?? this.whole[1]].map((v) => app.placeText(this.i, v)) : this.whole.map((v) => app.placeText(this.i, v));
    this.ends.className = chosen ? "ends on" : "ends";
    this.ends.replaceChildren(...texts.map((text) => el("span", {title: String(text)}, String(text))));
    this.svg.setAttribute("aria-label", `${this.feature.label}: ${chosen ? app.conditionText(chosen) : "all rows"}. ${this.levels ? "Arrows choose a level, Enter keeps or drops it" : "Enter brushes, arrows move the brush, Shift or Alt one end, Escape drops it"}.`);
  }
  share(event) { const box = this.svg.getBoundingClientRect(); return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)); }
  value(share) {
    const [low, high] = this.range, found = low + share * (high - low), digits = Math.max(0, 2 - Math.floor(Math.log10((high - low) || 1)));
    return this.feature.axis.kind === "integer" ? Math.round(found) : +found.toFixed(Math.min(12, digits));
  }
  down(event) {
    if (event.button) return;
    event.preventDefault();
    this.svg.focus();
    if (this.levels) { this.toggle(Math.min(this.count - 1, Math.floor(this.share(event) * this.count))); return; }
    const from = this.share(event), start = event.clientX;
    let moved = false;
    this.svg.setPointerCapture(event.pointerId);
    const move = (e) => {
      if (!moved && Math.abs(e.clientX - start) < 3) return;
      moved = true;
      const [a, b] = [from, this.share(e)].sort((p, q) => p - q);
      this.app.filter(this.i, {ge: this.value(a), le: this.value(b)}, false);
    }, end = () => {
      this.svg.removeEventListener("pointermove", move);
      if (!moved) this.app.filter(this.i, null, false);
      this.app.commit({}, "filter");
    };
    this.svg.addEventListener("pointermove", move);
    this.svg.addEventListener("pointerup", end, {once: true});
    this.svg.addEventListener("pointercancel", end, {once: true});
  }
  toggle(level) {
    this.at = level;
    const now = this.condition && this.condition.in ? this.condition.in : [], next = now.includes(level) ? now.filter((k) => k !== level) : [...now, level].sort((a, b) => a - b);
    this.app.filter(this.i, next.length ? {in: next} : null, true);
  }
  toggleMissing() {
    const now = this.condition;
    if (now && now.missing) { const {missing, column, ...rest} = now; void missing; void column; this.app.filter(this.i, Object.keys(rest).length ? rest : null, true); } else this.app.filter(this.i, {...(now ? {ge: now.ge, le: now.le} : {}), missing: true}, true);
  }
  key(event) {
    const {key} = event, chosen = this.condition;
    if (this.levels) {
      if (key === "Escape" && chosen) { event.preventDefault(); this.app.filter(this.i, null, true); } else if (key === "ArrowRight" || key === "ArrowLeft") { event.preventDefault(); this.at = Math.min(this.count - 1, Math.max(0, this.at + (key === "ArrowRight" ? 1 : -1))); this.draw(); this.app.say(`${this.feature.label} ${this.feature.axis.ticks[this.at]}`); } else if (key === "Enter" || key === " ") { event.preventDefault(); this.toggle(this.at); }
      return;
    }
    const [low, high] = this.range, step = this.feature.axis.kind === "integer" ? Math.max(1, Math.round((high - low) / 50)) : (high - low) / 50;
    const ends = brushKey(event, chosen && [chosen.ge ?? low, chosen.le ?? high], low, high, step), cut = (v) => this.value((v - low) / ((high - low) || 1));
    if (ends === undefined) return;
    event.preventDefault();
    this.app.filter(this.i, ends && {...chosen, column: undefined, ge: cut(ends[0]), le: cut(ends[1])}, false);
    if (key.startsWith("Arrow")) this.app.commitSoon("filter"); else this.app.commit({}, "filter");
  }
}

export class FilterView {
  constructor(app) {
    this.app = app;
    this.grid = el("div", {class: "histograms"});
    this.plot = el("div", {class: "plot", tabindex: "0", role: "application", "aria-label": "Rows as points: arrows go from one to the next, Enter chooses it"});
    this.ring = el("div", {class: "ring", hidden: true});
    this.canvas = el("canvas", {"aria-hidden": "true"});
    this.brushed = el("div", {class: "brushed box", hidden: true});
    this.stage = el("div", {class: "stage"}, this.plot, this.canvas, this.brushed, this.ring);
    this.axes = el("div", {class: "axes"});
    this.note = el("div", {class: "muted small"});
    this.scatter = el("div", {class: "scatter"}, this.axes, this.stage, this.note);
    this.box = el("section", {class: "pane filter below", "aria-label": "Choose rows"}, el("h2", {}, "Choose rows", el("small", {}, `drag over a histogram${app.about.rows ? " or the scatter" : ""}, click a level: every curve follows`)), el("div", {class: "brushes"}, this.scatter, this.grid));
    this.plot.addEventListener("pointerdown", (event) => this.down(event));
    this.plot.addEventListener("keydown", (event) => this.key(event));
    this.plot.addEventListener("blur", () => { this.ring.hidden = true; });
  }
  build() {
    const {app} = this, {about} = app, columns = [...about.features.map((f, i) => [String(i), f.label]), ...about.beside.map((name) => [name, name])];
    this.histograms = about.features.map((_, i) => new Histogram(app, i));
    this.grid.replaceChildren(...this.histograms.map((one) => one.box));
    this.scatter.hidden = !about.rows;
    const key = (value) => about.beside.includes(value) ? value : Number(value);
    this.across = select(columns, "0", (value) => app.commit({across: key(value)}, "points"));
    this.up = select(columns, "0", (value) => app.commit({up: key(value)}, "points"));
    this.axes.replaceChildren(el("label", {}, "Across ", this.across), el("label", {}, "Up ", this.up));
    if (about.observed) this.axes.append(button("Observed against predicted", () => app.commit({across: "predicted", up: "observed"}, "points")));
    this.note.textContent = about.points < about.sample_rows ? `${about.points.toLocaleString("en")} of ${about.sample_rows.toLocaleString("en")} rows, drawn with seed ${about.seed}` : "";
  }
  draw() { this.drawHistograms(); this.drawScatter(); }
  drawHistograms() { this.histograms.forEach((one) => one.draw()); }
  axisOf(column, values, lies) {
    const {about} = this.app;
    if (typeof column === "number" && about.features[column].axis.kind === "category") {
      const {ticks} = about.features[column].axis, ends = {label: about.features[column].label, low: -0.6, high: ticks.length - 0.4, apart: true};
      // Many levels beside each other: as many names as there is room for.
      return lies && ticks.length > FEW_LEVELS ? {...ends, kind: "number", ticks: [], named: cutApart(ticks, NAME).map((text, i) => [i, text])} : {...ends, kind: "category", ticks};
    }
    let low = Infinity, high = -Infinity;
    for (const v of values) if (v === v) { if (v < low) low = v; if (v > high) high = v; }
    if (!(high > low)) { low = (isNumber(low) ? low : 0) - 0.5; high = low + 1; }
    const room = 0.03 * (high - low), own = typeof column === "number" ? about.features[column].axis : {label: `${column}${about.unit ? ` (${about.unit})` : ""}`, kind: "number"};
    return {label: own.label, kind: own.kind, ticks: [], named: own.named, low: low - room, high: high + room};
  }
  drawScatter() {
    const {points, kept} = this.app.data;
    this.across.value = String(this.app.across());
    this.up.value = String(this.app.up());
    if (!points || !this.app.about.rows) return;
    const x = this.axisOf(points.x, points.px, true), y = this.axisOf(points.y, points.py, false);
    this.drawing = draw(this.plot, {x, y, marks: [], look: "square"}, {legend: false, still: true});
    const {on} = this.drawing, {box} = on, sharp = Math.min(2, window.devicePixelRatio || 1), pen = this.canvas.getContext("2d");
    Object.assign(this.canvas.style, {left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px`, height: `${box.height}px`});
    this.canvas.width = Math.max(1, box.width * sharp);
    this.canvas.height = Math.max(1, box.height * sharp);
    pen.scale(sharp, sharp);
    const ink = resolved(this.plot), n = points.px.length, filtered = this.app.state.rule.length > 0, size = n > 5000 ? 1.6 : 2.4, spread = (axis) => axis.apart ? (i) => ((i * 0.618033988749895) % 1 - 0.5) * 0.6 : () => 0, dx = spread(x), dy = spread(y);
    for (const chosen of filtered ? [0, 1] : [1]) {
      pen.fillStyle = ink(chosen && filtered ? "accent" : "bar");
      pen.globalAlpha = n > 5000 ? 0.5 : 0.75;
      for (let i = 0; i < n; i++) {
        if (filtered && kept && kept[i] !== chosen) continue;
        const [a, b] = on.at(points.px[i] + dx(i), points.py[i] + dy(i + 0.5));
        if (a === a && b === b) pen.fillRect(a - box.left - size / 2, b - box.top - size / 2, size, size);
      }
    }
    const place = this.app.state.row !== null && this.app.data.rowPlaces ? [points.x, points.y].map((c) => typeof c === "number" ? this.app.rowPlace(c) : c === "observed" ? this.app.data.rowObserved : this.app.data.whatif ? this.app.data.whatif.predicted[0] : NaN) : null;
    if (place && place.every(isNumber)) { const [a, b] = on.at(...place); pen.globalAlpha = 1; pen.fillStyle = ink("second"); pen.strokeStyle = ink("paper"); pen.lineWidth = 2; pen.beginPath(); pen.arc(a - box.left, b - box.top, 5.5, 0, 7); pen.fill(); pen.stroke(); }
    this.placeBrush();
  }
  placeBrush() {
    const {state, data} = this.app, {points} = data, of = (column) => state.rule.find((one) => one.column === column && !one.in), a = points && of(points.x), b = points && of(points.y);
    this.brushed.hidden = !a || !b || !this.drawing;
    if (this.brushed.hidden) return;
    const {on} = this.drawing, clip = (v, low, high) => Math.min(high, Math.max(low, v)), {box} = on;
    const left = clip(on.along(a.ge ?? -1e300), box.left, box.right), right = clip(on.along(a.le ?? 1e300), box.left, box.right), top = clip(on.across(b.le ?? 1e300), box.top, box.bottom), bottom = clip(on.across(b.ge ?? -1e300), box.top, box.bottom);
    Object.assign(this.brushed.style, {left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px`});
  }
  // A drag is a filter of both columns, a click the nearest row.
  down(event) {
    const {points} = this.app.data;
    if (event.button || !points || !this.drawing) return;
    event.preventDefault();
    const {on} = this.drawing, box = this.plot.getBoundingClientRect(), at = (e) => [e.clientX - box.left, e.clientY - box.top], start = at(event);
    const round = (v, other) => { const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(v - other) || 1))); return +v.toFixed(Math.min(12, digits)); };
    const both = (end) => {
      const pair = (scale, p, q, column) => {
        const [a, b] = [scale.invert(p), scale.invert(q)].sort((s, t) => s - t), levels = typeof column === "number" && this.app.about.features[column].axis.kind === "category";
        if (!levels) return {ge: round(a, b), le: round(b, a)};
        const {ticks} = this.app.about.features[column].axis, members = ticks.map((_, i) => i).filter((i) => i >= a - 0.3 && i <= b + 0.3);
        return members.length ? {in: members} : null;
      };
      return [[points.x, pair(on.along, start[0], end[0], points.x)], [points.y, pair(on.across, start[1], end[1], points.y)]];
    };
    let moved = false;
    const move = (e) => {
      const end = at(e);
      if (!moved && Math.hypot(end[0] - start[0], end[1] - start[1]) < 5) return;
      moved = true;
      this.app.filterMany(both(end));
    }, end = (e) => {
      window.removeEventListener("pointermove", move);
      if (moved) { this.app.commit({}, "filter"); return; }
      const found = this.nearest(at(e), 14);
      if (found >= 0) this.app.pick(points.row[found]);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end, {once: true});
  }
  // The point nearest to a place, among those `wanted` by their offset from it; -1 for none within `far` pixels.
  nearest([x, y], far, wanted = () => true) {
    const {points} = this.app.data, {on} = this.drawing;
    let best = -1;
    for (let i = 0; i < points.px.length; i++) { const [a, b] = on.at(points.px[i], points.py[i]), d = Math.hypot(a - x, b - y); if (d < far && wanted(a - x, b - y)) { far = d; best = i; } }
    return best;
  }
  key(event) {
    const {points} = this.app.data, towards = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (!points || !this.drawing || (!towards && (event.key !== "Enter" || this.ring.hidden))) return;
    event.preventDefault();
    event.stopPropagation();
    if (!towards) { this.app.pick(points.row[this.at]); return; }
    const {on} = this.drawing, {box} = on, from = this.ring.hidden ? [(box.left + box.right) / 2, (box.top + box.bottom) / 2] : on.at(points.px[this.at], points.py[this.at]);
    const next = this.nearest(from, Infinity, this.ring.hidden ? undefined : (dx, dy) => { const along = dx * towards[0] + dy * towards[1], aside = Math.abs(dx * towards[1] + dy * towards[0]); return along > 0.5 && aside <= along; });
    if (next < 0) return;
    this.at = next;
    this.ring.hidden = false;
    const [left, top] = on.at(points.px[next], points.py[next]), text = (column, v) => typeof column === "number" ? `${this.app.about.features[column].label} ${this.app.placeText(column, v)}` : `${column} ${said(v)}`;
    Object.assign(this.ring.style, {left: `${left}px`, top: `${top}px`});
    this.app.say(`Row ${points.row[next]}: ${text(points.x, points.px[next])}, ${text(points.y, points.py[next])}`);
  }
}
