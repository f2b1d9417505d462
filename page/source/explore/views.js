// The plane of features, the list of them, and the row with all its values.
import {draw} from "../draw.js";
import {h} from "../svg.js";
import {isNumber, said} from "../words.js";
import {featureAxis} from "./axes.js";
import {few} from "./numbers.js";
import {button, el, select} from "./elements.js";

// A curve in little room; levels as points.
export function spark(svg, feature, x, curves, dot = null) {
  const laid = featureAxis(feature, x, []), levels = feature.axis.kind === "category", n = laid.n, known = curves.flatMap(({y}) => y ? Array.from(y).slice(0, n) : []).filter(isNumber);
  if (!known.length) return svg.replaceChildren();
  const low = Math.min(...known), span = (Math.max(...known) - low) || 1, left = laid.at[0], wide = (laid.at[n - 1] - left) || 1;
  const px = (v) => 2 + 96 * (v - left) / wide, py = (v) => 21 - 18 * (v - low) / span;
  svg.setAttribute("viewBox", "0 0 100 24");
  svg.setAttribute("preserveAspectRatio", "none");
  const made = [];
  for (const {y, colour, width = 1.4} of curves) {
    if (!y) continue;
    if (levels) for (let i = 0; i < Math.min(n, 150); i++) { if (isNumber(y[i])) made.push(h("path", {d: `M${px(i).toFixed(1)} ${py(y[i]).toFixed(1)}h.01`, style: {stroke: `var(--${colour})`, strokeWidth: "3px", strokeLinecap: "round", vectorEffect: "non-scaling-stroke"}})); }
    else made.push(h("path", {d: "M" + Array.from({length: n}, (_, i) => `${px(laid.at[i]).toFixed(1)} ${py(y[i]).toFixed(1)}`).join("L"), style: {fill: "none", stroke: `var(--${colour})`, strokeWidth: `${width}px`, vectorEffect: "non-scaling-stroke"}}));
  }
  if (dot && isNumber(dot.at) && isNumber(dot.value)) made.push(h("path", {d: `M${Math.min(98, Math.max(2, px(dot.at))).toFixed(1)} ${Math.min(22, Math.max(2, py(dot.value))).toFixed(1)}h.01`, style: {stroke: "var(--second)", strokeWidth: "7px", strokeLinecap: "round", vectorEffect: "non-scaling-stroke"}}));
  svg.replaceChildren(...made);
}

export class PlaneView {
  constructor(app) {
    this.app = app;
    this.plot = el("div", {class: "plot"});
    this.box = el("div", {class: "planestage"}, this.plot);
    this.plot.addEventListener("click", (event) => {
      const {data} = app;
      if (!this.drawing || !data.plane) return;
      const box = this.plot.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
      let best = -1, far = 18;
      data.plane.strength.forEach((v, i) => { const [a, b] = this.drawing.on.at(v, data.plane.heterogeneity[i]), d = Math.hypot(a - x, b - y); if (d < far) { far = d; best = i; } });
      if (best >= 0) app.choose(best);
    });
  }
  draw() {
    const {plane, planeAll} = this.app.data, {about, state} = this.app;
    if (!plane) return;
    const far = (list) => Math.max(0.05, ...Array.from(list).filter(isNumber)), shown = [plane, ...(planeAll && state.rule.length ? [planeAll] : [])];
    const high = 1.12 * Math.max(...shown.map((p) => far(p.strength))), up = 1.12 * Math.max(...shown.map((p) => far(p.heterogeneity)));
    const order = Array.from(plane.movement.keys()).sort((a, b) => (b === state.feature) - (a === state.feature) || plane.movement[b] - plane.movement[a]), pick = (list) => order.map((i) => list[i]);
    const marks = [{kind: "rings", layer: "rings", radii: [0.25, 0.5, 0.75, 1, 1.5, 2].filter((r) => r < Math.hypot(high, up))}];
    if (shown.length > 1) marks.push({kind: "dots", layer: "ghost", x: planeAll.strength, y: planeAll.heterogeneity, colour: "ghost", hollow: true, size: 0.7});
    marks.push({kind: "named", layer: "features", x: pick(plane.strength), y: pick(plane.heterogeneity), texts: order.map((i) => about.features[i].label), told: order.map((i) => `${about.features[i].label}: average moves ${said(plane.strength[i])} SD, rows differ ${said(plane.heterogeneity[i])} SD`), links: order.map(() => null), slots: order.map((i) => i === state.feature ? "second" : "accent"), most: 6});
    this.drawing = draw(this.plot, {x: {label: "the average moves (SD)", kind: "number", low: 0, high}, y: {label: "rows differ (SD)", kind: "number", low: 0, high: up}, marks, look: "square"}, {legend: false});
  }
}

export class ListView {
  constructor(app) {
    this.app = app;
    this.find = el("input", {type: "search", placeholder: "Find a feature", "aria-label": "Find a feature", oninput: () => this.order()});
    this.sort = select([["movement", "by movement"], ["strength", "by average"], ["disagreement", "by disagreement"], ["name", "by name"], ["order", "as in the data"]], "movement", (value) => app.commit({sort: value}, "sort"), {"aria-label": "Sort features"});
    this.list = el("ol", {class: "features"});
    this.box = el("div", {}, el("div", {class: "listhead"}, this.find, this.sort), this.list);
  }
  build() {
    const {about} = this.app;
    this.items = about.features.map((feature, i) => {
      const number = el("span", {class: "number"}), svg = h("svg", {class: "spark", "aria-hidden": "true"}), meter = el("i"), size = el("span", {class: "size"});
      const own = el("button", {type: "button", "aria-pressed": "false", draggable: "true", title: feature.label, onclick: (event) => event.shiftKey && i !== this.app.state.feature ? this.app.commit({second: i}) : this.app.choose(i),
        ondragstart: (event) => event.dataTransfer.setData("text/x-icefield-feature", String(i))}, number, el("span", {class: "name"}, feature.label), svg, el("span", {class: "meter"}, meter), size);
      return {own, number, svg, meter, size, line: el("li", {}, own)};
    });
    this.list.replaceChildren(...this.items.map((item) => item.line));
  }
  ranked() {
    const {plane} = this.app.data, {sort} = this.app.state, every = this.app.about.features.map((_, i) => i), by = {movement: "movement", strength: "strength", disagreement: "heterogeneity"}[sort];
    if (sort === "name") return every.sort((a, b) => this.app.about.features[a].label.localeCompare(this.app.about.features[b].label));
    return plane && by ? every.sort((a, b) => plane[by][b] - plane[by][a]) : every;
  }
  order() {
    const words = this.find.value.trim().toLowerCase(), ranked = this.ranked(), wanted = ranked.filter((i) => this.app.about.features[i].label.toLowerCase().includes(words));
    this.sort.value = this.app.state.sort;
    ranked.forEach((i, k) => { this.items[i].number.textContent = String(k + 1); });
    const now = Array.from(this.list.children), next = wanted.map((i) => this.items[i].line);
    if (now.length !== next.length || now.some((one, k) => one !== next[k])) this.list.replaceChildren(...next);
  }
  draw() {
    const {app} = this, {plane} = app.data, filtered = app.state.rule.length > 0, most = plane ? Math.max(...plane.movement, 1e-9) : 1;
    this.items.forEach((item, i) => {
      item.own.setAttribute("aria-pressed", String(i === app.state.feature));
      spark(item.svg, app.about.features[i], app.gridOf(i), [...(filtered ? [{y: app.ghostOf(i), colour: "ghost", width: 1}] : []), {y: app.curveOf(i), colour: "accent", width: 1.6}]);
      if (plane) { item.meter.style.width = `${100 * plane.movement[i] / most}%`; item.size.textContent = plane.movement[i].toFixed(2); }
    });
    this.order();
  }
  step(by) {
    const shown = Array.from(this.list.children), at = shown.indexOf(this.items[this.app.state.feature].line), next = shown[Math.min(shown.length - 1, Math.max(0, at + by))];
    if (next) this.app.choose(this.items.findIndex((item) => item.line === next));
  }
}

export class RowView {
  constructor(app) {
    this.app = app;
    this.which = el("small");
    this.prediction = el("div", {class: "prediction"});
    this.change = el("div", {});
    this.badge = el("div", {class: "badge"});
    this.error = el("div", {class: "error"});
    this.find = el("input", {type: "text", placeholder: "row, or name value, …", "aria-label": "Row number or values", size: 18, onkeydown: (event) => { if (event.key === "Enter") this.search(this.find.value.trim()); }});
    this.worst = button("Worst error", () => app.pick("worst"));
    this.pin = button("Pin", () => app.pin(), {title: "P"});
    this.back = button("Back", () => app.back(), {title: "B"});
    this.list = el("ul", {class: "values"});
    this.box = el("section", {class: "pane row", "aria-label": "What if"}, el("h2", {}, "What if", this.which), this.prediction, this.change, this.badge,
      el("div", {class: "actions"}, button("Typical", () => app.pick("typical")), button("Random", () => app.pick("random")), this.worst, this.find), el("div", {class: "actions"}, this.pin, this.back), this.error, this.list);
  }
  build() {
    const {app} = this, {about} = app;
    this.worst.hidden = !about.observed;
    this.items = about.features.map((feature, i) => {
      const levels = feature.axis.kind === "category", svg = h("svg", {class: "spark", "aria-hidden": "true"});
      const input = levels ? select(feature.axis.ticks.map((text, k) => [String(k), text]), "0", (value) => app.change(i, Number(value)), {"aria-label": feature.label})
        : el("input", {type: "text", inputmode: "decimal", "aria-label": feature.label, onchange: () => this.typed(i), onkeydown: (event) => { if (event.key === "Enter") this.typed(i); }});
      const name = button(feature.label, () => app.choose(i), {class: "name", title: feature.label});
      return {svg, input, name, line: el("li", {}, name, svg, input)};
    });
    this.list.replaceChildren(...this.items.map((item) => item.line));
  }
  // The place that a text means on a feature's axis, null for missing, undefined where it means none.
  placeOf(i, given) {
    const text = given.trim().replace("−", "-"), {axis} = this.app.about.features[i], clock = /^(\d{1,2}):(\d\d)$/.exec(text);
    if (axis.kind === "category") { const at = axis.ticks.findIndex((tick) => tick.toLowerCase() === text.toLowerCase()); return at < 0 ? undefined : at; }
    if (text === "" || text.toLowerCase() === "missing") return null;
    const value = axis.kind === "time" ? Date.parse(text + (/[zZ]|[+-]\d\d:?\d\d$/.test(text) || !text.includes(":") ? "" : "Z")) / 86400000 : clock ? Number(clock[1]) + Number(clock[2]) / 60 : Number(text.replaceAll(",", ""));
    return Number.isFinite(value) ? value : undefined;
  }
  wrong(i, text) { const {label, axis} = this.app.about.features[i]; this.error.textContent = `${label} needs ${axis.kind === "category" ? "one of its levels" : "a number"}, not "${text.slice(0, 40)}".`; }
  typed(i) {
    const {input} = this.items[i];
    if (input.value.trim() === this.app.inputText(i)) return;
    const place = this.placeOf(i, input.value);
    if (place !== undefined) { this.error.textContent = ""; this.app.change(i, place); } else { this.wrong(i, input.value); input.value = this.app.inputText(i); }
  }
  // A row by its number, or the one nearest to some values: "age 40, town b".
  search(text) {
    this.error.textContent = "";
    if (/^\d+$/.test(text)) { this.app.pick(Number(text)); return; }
    const near = {}, {features} = this.app.about;
    for (const part of text.split(/[,;]/).map((one) => one.trim()).filter(Boolean)) {
      const lower = part.toLowerCase(), i = features.findIndex(({label}) => lower.startsWith(label.toLowerCase()) && /^[\s=:]/.test(part.slice(label.length)));
      if (i < 0) { this.error.textContent = `"${part.slice(0, 40)}" begins with no feature: write its name, then a value.`; return; }
      const given = part.slice(features[i].label.length).replace(/^[\s=:]+/, ""), place = this.placeOf(i, given);
      if (place === undefined) { this.wrong(i, given); return; }
      near[i] = place;
    }
    if (Object.keys(near).length) this.app.pick({near});
  }
  draw() {
    const {app} = this, {state, data, about} = app, {whatif} = data;
    const has = state.row !== null && whatif;
    this.list.hidden = this.pin.hidden = this.back.hidden = !has;
    if (!has) { this.prediction.replaceChildren(el("small", {}, "Choose a row, then drag its dot along any curve.")); this.which.textContent = ""; this.change.textContent = ""; this.badge.textContent = ""; return; }
    const unit = about.unit ? ` ${about.unit}` : "", value = whatif.predicted[state.output], before = whatif.before[state.output], changed = Object.keys(state.values).length;
    this.which.textContent = `row ${state.row.toLocaleString("en")}${isNumber(data.rowObserved) ? `, observed ${said(data.rowObserved)}` : ""}`;
    this.prediction.replaceChildren(few(value), el("small", {}, `${about.unit || ""} predicted`.trim()));
    this.change.textContent = changed ? `${value >= before ? "+" : "−"}${few(Math.abs(value - before))}${unit} from ${few(before)} as it was; ${changed} value${changed > 1 ? "s" : ""} changed` : "as it is in the data";
    this.badge.className = data.badge && !data.badge.inside ? "badge out" : "badge";
    this.badge.textContent = (data.badge && data.badge.say) || (changed ? "Rows of the data are like this one." : "A row of the data.");
    this.pin.textContent = state.pinned ? "Unpin" : "Pin";
    this.back.disabled = !changed;
    this.items.forEach((item, i) => {
      const place = app.rowPlace(i), levels = about.features[i].axis.kind === "category";
      item.line.className = `${i === state.feature ? "shown" : ""} ${i in state.values ? "changed" : ""}`;
      if (item.input !== app.root.activeElement || levels) { if (levels) item.input.value = place === null ? "" : String(place); else item.input.value = app.inputText(i); }
      spark(item.svg, about.features[i], app.gridOf(i), [{y: app.whatifCurve(i), colour: "second", width: 1.4}], {at: place, value});
    });
  }
}
