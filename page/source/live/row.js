// The live row of a report: choose a row, change any value, and its prediction and all its curves are computed in the page.
import {draw} from "../draw.js";
import {valueRange} from "../range.js";
import {button, el, select} from "../explore/elements.js";
import {isNumber, said} from "../words.js";
import {Forest} from "./forest.js";

// Sentences are Python's; the page puts numbers into them.
const filled = (template, numbers) => template.replace(/\{(\w+)\}/g, (_, name) => said(numbers[name]));

export class LiveRow {
  constructor(element, given) {
    Object.assign(this, {element, given, forest: new Forest(given.model), output: 0});
    this.prediction = el("output", {class: "live-prediction", "aria-live": "polite"});
    this.items = given.features.map((feature) => this.item(feature));
    const rows = select(given.rows.map((row, i) => [String(i), row.said]), "0", (value) => this.choose(Number(value)), {"aria-label": "Row"});
    const outputs = given.words.length > 1 ? select(given.words.map(({output}, i) => [String(i), output]), "0", (value) => { this.output = Number(value); this.draw(); }, {"aria-label": "Output"}) : null;
    element.append(el("p", {class: "live-head"}, rows, outputs, button("Back", () => this.choose(Number(rows.value))), this.prediction), el("div", {class: "live-grid"}, ...this.items.map((item) => item.box)));
    this.choose(0);
  }
  item(feature) {
    const plot = el("div", {class: "plot live-plot"}), levels = feature.axis.kind === "category";
    const input = levels ? select(feature.texts.map((text, i) => [String(i), text]), "0", (value) => this.set(feature, feature.values[Number(value)]), {"aria-label": feature.name})
      : el("input", {type: "text", inputmode: "decimal", "aria-label": feature.name, onchange: () => this.typed(feature, input)});
    const slide = (event) => {
      const drawing = plot.drawing, box = plot.getBoundingClientRect(), n = feature.values.length, place = drawing.on.along.invert(event.clientX - box.left);
      let best = 0;
      for (let i = 1; i < n; i++) if (Math.abs(item.at[i] - place) < Math.abs(item.at[best] - place)) best = i;
      if (levels || feature.axis.kind === "time" || best >= item.known || !isNumber(feature.values[best])) return this.set(feature, feature.values[best]);
      const whole = feature.axis.kind === "integer" ? Math.round(place) : +place.toPrecision(5);
      return this.set(feature, Math.min(item.high, Math.max(item.low, whole)));
    };
    plot.addEventListener("pointerdown", (event) => { plot.setPointerCapture(event.pointerId); slide(event); plot.onpointermove = slide; });
    plot.addEventListener("pointerup", () => { plot.onpointermove = null; });
    const item = {feature, plot, input, box: el("div", {class: "live-item"}, el("label", {}, el("span", {}, feature.name), input), plot)};
    return item;
  }
  choose(i) { this.row = this.given.rows[i]; this.values = {...this.row.values}; this.draw(); }
  typed(feature, input) {
    const text = input.value.trim().replace("−", "-");
    if (text === "" || text === "missing") return this.set(feature, null);
    const value = Number(text);
    return Number.isFinite(value) ? this.set(feature, value) : this.draw();
  }
  set(feature, value) { this.values[feature.key] = value; this.draw(); }
  predict(values = this.values) { return this.pick(this.forest.predict(this.forest.encode(values))); }
  pick(response) { return this.given.selected.map((o) => response[Math.min(o, response.length - 1)]); }
  draw() {
    const value = this.predict()[this.output], before = this.predict(this.row.values)[this.output], words = this.given.words[this.output], round = (v, digits) => +v.toPrecision(digits);
    this.prediction.textContent = filled(value === before ? words.same : value > before ? words.more : words.less, {value: round(value, 4), before: round(before, 4), difference: round(Math.abs(value - before), 3)});
    const curves = this.items.map(({feature}) => this.forest.curve(this.values, feature.key, feature.values).map((one) => this.pick(one)[this.output]));
    const range = valueRange(curves.map((y) => ({kind: "line", x: Array.from(y.keys()), y}))) || [0, 1];
    this.items.forEach((item, k) => this.drawItem(item, curves[k], value, range));
    this.element.dataset.predicted = String(value);
  }
  drawItem(item, y, value, [low, high]) {
    const {feature, plot, input} = item, levels = feature.axis.kind === "category", own = this.values[feature.key];
    const gone = feature.values.at(-1) === null && !levels, n = feature.values.length - (gone ? 1 : 0), known = feature.x.slice(0, n).filter(isNumber);
    const place = levels ? feature.values.findIndex((v) => String(v) === String(own)) : own === null ? null : feature.axis.kind === "time" ? Date.parse(`${own}${String(own).includes("T") ? "Z" : ""}`) / 86400000 : Number(own);
    let first = levels ? -0.6 : Math.min(...known), last = levels ? feature.values.length - 0.4 : Math.max(...known);
    if (!levels && isNumber(place)) { first = Math.min(first, place); last = Math.max(last, place); }
    if (first === last) { first -= 0.5; last += 0.5; }
    const missing = gone ? last + 0.12 * (last - first) : null, at = gone ? [...feature.x.slice(0, n), missing] : feature.x, marks = [];
    Object.assign(item, {at, known: n, low: first, high: last});
    if (levels) marks.push({kind: "dots", layer: "row", x: at, y, colour: "accent", size: 0.9});
    else { marks.push({kind: "line", layer: "row", x: at.slice(0, n), y: y.slice(0, n), colour: "accent", width: 1}); if (gone) marks.push({kind: "dots", layer: "missing", x: [missing], y: [y[n]], colour: "accent", size: 0.9}); }
    const dot = place === null ? missing : place;
    if (isNumber(dot)) marks.push({kind: "dots", layer: "dot", x: [dot], y: [value], colour: "second", size: 1.6});
    plot.drawing = draw(plot, {x: {...feature.axis, label: "", low: first, high: missing ?? last, missing, last}, y: {label: "", kind: "number", low, high}, marks}, {legend: false, still: true});
    if (levels) input.value = String(place); else if (input !== document.activeElement) input.value = own === null ? "missing" : String(own);
  }
}
