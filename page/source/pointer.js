// Pointing at a picture: which point is meant, a crosshair there, and its numbers beside the curve.
import {drawMark} from "./marks.js";
import {h} from "./svg.js";
import {isNumber, said} from "./words.js";

const NEAR = 12;  // pixels from a row's curve within which it is meant

// The mark whose points are told: the one that the page says, else the first with the most points.
export function mainMark(panel) {
  const able = panel.marks.filter((m) => (m.kind === "line" || m.kind === "dots" || m.kind === "bars") && m.x.length);
  return able.find((m) => m.layer === "average") || able.reduce((best, m) => !best || m.x.length > best.x.length ? m : best, null);
}
// What is told of a point where the page has no words of its own.
function plainly(panel, main, i) {
  const at = main.x[i], where = panel.x.kind === "category" ? panel.x.ticks[Math.round(at)] : `${panel.x.label || "value"} ${said(at)}`;
  const same = panel.marks.filter((m) => ["line", "dots", "bars"].includes(m.kind) && m.x[i] === at && isNumber(m.y[i]));
  return [where, ...same.map((m) => `${m.label || panel.y.label || ""} ${said(m.y[i])}`.trim())];
}
const nearest = (list, place, at) => {
  let best = -1, far = Infinity;
  for (let i = 0; i < list.length; i++) if (isNumber(list[i])) { const d = Math.abs(place(list[i]) - at); if (d < far) { far = d; best = i; } }
  return {i: best, far};
};

export class Pointer {
  constructor(element) {
    this.element = element;
    this.tip = document.createElement("div");
    this.tip.className = "tip";
    this.tip.hidden = true;
    this.at = null;
    const listen = (kind, act) => element.addEventListener(kind, act);
    listen("pointermove", (event) => this.moved(event));
    listen("pointerdown", (event) => this.moved(event));
    listen("pointerleave", () => this.clear());
  }
  // A picture was drawn: forget what was pointed at in the last one.
  set(drawn, panel, view) {
    Object.assign(this, {drawn, panel, view});
    this.field = panel.marks.find((m) => m.kind === "field");
    this.main = this.field ? null : mainMark(panel);
    this.places = view.at || (this.main && this.main.x);
    this.cross = h("g", {class: "pointer", "pointer-events": "none"});
    this.over = h("g", {class: "over", "pointer-events": "none"});
    drawn.svg.append(this.over, this.cross);
    this.at = null;
    this.tip.hidden = true;
    this.element.append(this.tip);
  }
  place(event) {
    const box = this.drawn.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
  moved(event) {
    if (!this.drawn || this.panel.look === "word" || this.view.still || this.panel.marks.some((m) => m.kind === "named")) return;
    const [x, y] = this.place(event), {left, right, top, bottom} = this.drawn.on.box;
    if (x < left - NEAR || x > right + NEAR || y < top - NEAR || y > bottom + NEAR) return this.clear();
    if (this.view.onRow) this.view.onRow(this.rowAt(x, y));
    if (this.field) return this.cell(x, y);
    if (!this.places) return;
    const {on} = this.drawn;
    this.show(nearest(this.places, on.along, on.lying ? y : x).i);
  }
  clear() {
    if (!this.drawn) return;
    this.at = null;
    this.cross.replaceChildren();
    this.tip.hidden = true;
    if (this.view.onRow) this.view.onRow(null);
  }
  // The row whose curve passes within a few pixels.
  rowAt(x, y) {
    const mark = this.panel.marks.find((m) => m.kind === "curves"), {on} = this.drawn;
    if (!mark) return null;
    const {i} = nearest(mark.x, on.along, on.lying ? y : x);
    const found = nearest(Array.from(mark.y, (curve) => curve[i]), on.across, on.lying ? x : y);
    return found.far <= NEAR ? {row: found.i, at: i} : null;
  }
  show(i) {
    const {on} = this.drawn, {main, panel} = this;
    if (i < 0 || i === this.at) return;
    this.at = i;
    const where = this.places[i], along = on.along(where), {left, right, top, bottom} = on.box, style = {stroke: on.ink("muted"), strokeWidth: 1, strokeDasharray: "2 2"};
    this.cross.replaceChildren(h("path", {d: on.lying ? `M${left} ${along.toFixed(1)}H${right}` : `M${along.toFixed(1)} ${top}V${bottom}`, style}));
    for (const mark of panel.marks) {
      if (!["line", "dots"].includes(mark.kind)) continue;
      const k = mark.x[i] === where ? i : mark.x.indexOf(where);
      if (k < 0 || !isNumber(mark.y[k])) continue;
      const [cx, cy] = on.at(mark.x[k], mark.y[k]);
      this.cross.append(h("circle", {cx, cy, r: 3.6, style: {fill: on.ink("paper"), stroke: on.ink(mark.colour ?? 0), strokeWidth: 1.8}}));
    }
    const shown = panel.marks.find((m) => (m.kind === "line" || m.kind === "dots") && m.x.includes(where) && isNumber(m.y[m.x.indexOf(where)]));
    const [x, y] = on.at(where, shown ? shown.y[shown.x.indexOf(where)] : (panel.y.low + panel.y.high) / 2);
    this.tell(this.view.tell ? this.view.tell(i) : plainly(panel, main, i), x, y);
  }
  cell(x, y) {
    const {field, drawn: {on}} = this, centres = (edges, count) => Array.from({length: count}, (_, i) => edges.length > count ? (edges[i] + edges[i + 1]) / 2 : edges[i]);
    const count = [field.z[0].length, field.z.length], xs = centres(field.x, count[0]), ys = centres(field.y, count[1]);
    const i = inside(field.x, xs, on.along, x), j = inside(field.y, ys, on.across, y);
    if (i < 0 || j < 0) return this.clear();
    const [cx, cy] = [on.along(xs[i]), on.across(ys[j])];
    this.cross.replaceChildren(h("path", {d: `M${cx.toFixed(1)} ${on.box.top}V${on.box.bottom}M${on.box.left} ${cy.toFixed(1)}H${on.box.right}`, style: {stroke: on.ink("ink"), strokeWidth: 1, strokeDasharray: "2 2", fill: "none", opacity: 0.6}}));
    const text = (axis, v) => axis.kind === "category" ? axis.ticks[Math.round(v)] : said(v);
    this.tell(this.view.tell ? this.view.tell(i, j) : [`${text(this.panel.x, xs[i])}, ${text(this.panel.y, ys[j])}`, said(field.z[j][i])], cx, cy);
  }
  // Beside the point: to the right where there is room, else to the left, and never outside the picture.
  tell(words, x, y) {
    const {tip, element} = this;
    tip.replaceChildren(...words.map((text, i) => { const line = document.createElement(i ? "span" : "b"); line.textContent = text; return line; }));
    tip.hidden = false;
    const wide = element.clientWidth, high = element.clientHeight, own = [tip.offsetWidth, tip.offsetHeight];
    const right = x + 16 + own[0] <= wide, left = x - 16 - own[0] >= 0;
    tip.style.left = `${Math.max(0, right ? x + 16 : left ? x - 16 - own[0] : wide - own[0])}px`;
    tip.style.top = `${Math.max(0, Math.min(high - own[1], right || left ? y - own[1] / 2 : y < high / 2 ? y + 18 : y - own[1] - 18))}px`;
  }
  // One point on or back, for keys; says what is told there.
  step(by) {
    if (!this.places) return [];
    const count = this.places.length;
    this.show(this.at === null ? (by > 0 ? 0 : count - 1) : Math.min(count - 1, Math.max(0, this.at + by)));
    return Array.from(this.tip.children, (line) => line.textContent);
  }
  // Marks above all others that come and go without the picture being drawn again.
  draw(marks) {
    this.above = marks;
    if (this.drawn) this.over.replaceChildren(...marks.map((mark) => drawMark(this.drawn.on, mark)).filter(Boolean));
  }
}
function inside(edges, centres, place, at) {
  if (edges.length === centres.length) return nearest(centres, place, at).i;
  return centres.findIndex((_, i) => (place(edges[i]) - at) * (place(edges[i + 1]) - at) <= 0);
}
