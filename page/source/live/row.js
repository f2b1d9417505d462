// The live row of a report: choose a row, change any value, and its prediction and all its curves are computed in the page.
import {draw} from "../draw.js";
import {valueRange} from "../range.js";
import {isNumber, said} from "../words.js";
import {Forest} from "./forest.js";

const make = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (name.startsWith("on")) made.addEventListener(name.slice(2), value); else if (value !== null && value !== false) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

export class LiveRow {
  constructor(element, given, page) {
    Object.assign(this, {element, given, page, forest: new Forest(given.model), output: 0});
    this.prediction = make("output", {class: "live-prediction", "aria-live": "polite"});
    this.items = given.features.map((feature) => this.item(feature));
    const rows = make("select", {"aria-label": "Row", onchange: () => this.choose(Number(rows.value))}, ...given.rows.map((row, i) => make("option", {value: String(i)}, `${row.said} prediction`)));
    element.append(make("p", {class: "live-head"}, rows, " ", make("button", {type: "button", onclick: () => this.choose(Number(rows.value))}, "Back"), " ", this.prediction), make("div", {class: "live-grid"}, ...this.items.map((item) => item.box)));
    this.choose(0);
  }
  item(feature) {
    const plot = make("div", {class: "plot live-plot"}), levels = feature.axis.kind === "category";
    const input = levels ? make("select", {"aria-label": feature.name, onchange: () => this.set(feature, feature.values[Number(input.value)])}, ...feature.texts.map((text, i) => make("option", {value: String(i)}, text)))
      : make("input", {type: "text", inputmode: "decimal", "aria-label": feature.name, onchange: () => this.typed(feature, input)});
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
    const item = {feature, plot, input, box: make("div", {class: "live-item"}, make("label", {}, make("span", {}, feature.name), input), plot)};
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
    const value = this.predict()[this.output], before = this.predict(this.row.values)[this.output], unit = this.page.unit ? ` ${this.page.unit}` : "";
    this.prediction.textContent = `${said(+value.toPrecision(4))}${unit} predicted` + (value === before ? "" : `, ${value > before ? "+" : "−"}${said(+Math.abs(value - before).toPrecision(3))} from ${said(+before.toPrecision(4))}`);
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
