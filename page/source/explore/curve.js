// The large picture: the shown feature's curve with spread, all rows' ghost, the row's own curve and its dot; or a surface.
import {draw} from "../draw.js";
import {edgesOf, lowStretches, meanMarks} from "../pieces.js";
import {valueRange} from "../range.js";
import {isNumber, said} from "../words.js";
import {barEdges, featureAxis, valueAt, withOwn} from "./axes.js";
import {brushKey, el} from "./elements.js";

const MODELS = [7, 4, 6, 5];  // colours of the second model on: none that means a row, a cohort or ALE
const LEVEL_LIST = 14;  // levels beyond which they stand one above the other
const mean = (list) => { const known = Array.from(list).filter(isNumber); return known.reduce((a, b) => a + b, 0) / (known.length || 1); };

export class CurveView {
  constructor(app) {
    this.app = app;
    this.plot = el("div", {class: "plot", role: "application", tabindex: "0"});
    this.dot = el("button", {type: "button", class: "dot", role: "slider", hidden: true, "aria-orientation": "horizontal"});
    this.stem = el("div", {class: "stem", hidden: true});
    this.brushed = el("div", {class: "brushed", hidden: true});
    this.stage = el("div", {class: "stage"}, this.plot, this.brushed, this.stem, this.dot);
    this.range = null;
    this.brush = null;
    this.dot.addEventListener("pointerdown", (event) => this.grab(event));
    this.dot.addEventListener("keydown", (event) => this.key(event));
    this.plot.addEventListener("pointerdown", (event) => this.startBrush(event));
    this.plot.addEventListener("keydown", (event) => this.brushByKey(event));
    this.plot.addEventListener("pointermove", (event) => this.point(event));
    this.plot.addEventListener("pointerleave", () => { this.pointed = null; this.app.readout(null); });
    this.stage.addEventListener("dragover", (event) => { if (event.dataTransfer.types.includes("text/x-icefield-feature")) event.preventDefault(); });
    this.stage.addEventListener("drop", (event) => {
      event.preventDefault();
      const dropped = Number(event.dataTransfer.getData("text/x-icefield-feature"));
      if (dropped !== this.app.state.feature) this.app.commit({second: dropped});
    });
  }
  get levels() { return this.feature.axis.kind === "category"; }

  draw() {
    const {app} = this, {state, data} = app;
    this.feature = app.about.features[state.feature];
    if (state.second !== null) return this.drawSurface();
    const x = app.gridOf(state.feature), place = app.rowPlace(state.feature), row = this.rowShown() ? data.whatif : null;
    const laid = this.laid = featureAxis(this.feature, x, row && isNumber(place) ? [place] : []);
    const panel = this.panel(laid, place, row);
    this.keepRange(panel);
    const lying = this.levels && this.feature.axis.ticks.length > LEVEL_LIST && app.wide() < 700 || (this.levels && this.feature.axis.ticks.length > 30);
    this.plot.style.height = lying ? `${Math.max(320, 19 * this.feature.axis.ticks.length + 70)}px` : "";
    if (lying) Object.assign(panel, {flip: true});
    this.drawing = draw(this.plot, panel, {legend: false, still: true});
    this.panelShown = panel;
    this.plot.setAttribute("aria-label", `${this.feature.label}: ${app.data.sentence || ""}${this.levels ? "" : " Enter chooses a stretch, arrows move it, Shift or Alt one end, Escape drops it."}`);
    this.placeDot();
    this.placeBrush();
  }
  rowShown() { const {app} = this; return app.state.row !== null && app.data.whatif && app.state.shown.row; }

  panel(laid, place, row) {
    const {app, feature, levels} = this, {state, data} = app, {shown} = state, n = laid.n, x = laid.at.slice(0, n), marks = [];
    const curve = app.curveOf(state.feature), all = app.ghostOf(state.feature), filtered = state.rule.length > 0;
    const centre = shown.centred ? mean(Array.from(curve || []).slice(0, n)) : 0, centreAll = shown.centred ? mean(Array.from(all || []).slice(0, n)) : 0;
    const less = (list, by) => Array.from(list, (v) => v - by), cut = (list) => Array.from(list).slice(0, n);
    const add = (kind, layer, rest) => marks.push({kind, layer, ...rest});
    if (data.low && data.bandFeature === state.feature) { const found = lowStretches((i) => data.low[i], laid.at, n, levels); if (found.lefts.length) add("stretch", "low", {...found, hatched: true, label: "few rows like this"}); }
    const edges = barEdges(feature, laid), bars = edges.pick(app.barsOf(state.feature, false)), own = edges.pick(app.barsOf(state.feature, true)), most = Math.max(...bars, 0), mostOwn = Math.max(...own, 0);
    add("strip", "data", {lefts: edges.lefts, rights: edges.rights, counts: bars});
    if (filtered && mostOwn > 0) add("strip", "filtered data", {lefts: edges.lefts, rights: edges.rights, counts: own, height: 0.11 * mostOwn / (most || 1), colour: "accent"});
    if (laid.gone !== null) add("rule", "apart", {x: (laid.last + laid.gone) / 2, dashed: true});
    const models = app.about.models.length > 1 && shown.both && data.compared && data.compared.feature === state.feature;
    if (shown.spread && data.band && data.bandFeature === state.feature && !models) {
      const q = data.band.map((list) => less(list, centre));
      for (const [a, b, alpha, thick, label] of [[0, 3, levels ? 0.2 : 0.11, 5, "90 % of rows"], [1, 2, levels ? 0.34 : 0.17, 13, "middle half of rows"]]) {
        add("band", "band", {x, low: cut(q[a]), high: cut(q[b]), colour: "accent", alpha, thick, label});
        if (laid.gone !== null) add("band", "missing band", {x: [laid.gone], low: [q[a][n]], high: [q[b][n]], colour: "accent", alpha: alpha + 0.1, thick});
      }
    }
    const line = (y, layer, rest) => {
      if (!y) return;
      if (levels) add("dots", layer, {x: x.map((v) => v + (rest.aside || 0)), y: cut(y), size: 1.2, ...rest});
      else add("line", layer, {x, y: cut(y), ...rest});
      if (laid.gone !== null) add("dots", `missing ${layer}`, {x: [laid.gone + (rest.aside || 0) * (laid.gone - laid.last)], y: [y[n]], ...rest, label: null, size: 1.1});
    };
    if (models) {
      data.compared.curves.forEach((y, i) => line(less(y, shown.centred ? mean(cut(y)) : 0), `model ${i}`, {colour: i ? MODELS[(i - 1) % MODELS.length] : "accent", dashed: i % 4, aside: 0.14 * i, width: 1.2, label: app.about.models[i]}));
      if (data.compared.curves.length === 2) add("difference", "difference", {x, y: cut(data.compared.curves[0]), to: cut(data.compared.curves[1]), label: "difference"});
    } else {
      if (shown.ghost && filtered && all) {
        if (curve) add("difference", "difference", {x, y: cut(less(all, centreAll)), to: cut(less(curve, centre)), colour: "accent"});
        line(less(all, centreAll), "ghost", {colour: "ghost", width: 0.7, label: "all rows", hollow: true, aside: -0.12});
      }
      if (state.against !== null && data.cohort && data.cohort.feature === state.feature) line(less(data.cohort.curve, shown.centred ? mean(cut(data.cohort.curve)) : 0), "cohort", {colour: "g2", dashed: 3, width: 1.1, aside: 0.12, label: state.cohorts[state.against].name});
      if (shown.ale && data.ale && data.ale.feature === state.feature) {
        const level = shown.centred ? 0 : app.meanLevel(curve, n);
        const inside = Array.from(data.ale.x.keys()).filter((i) => levels || (data.ale.x[i] >= laid.first && data.ale.x[i] <= laid.last)), pick = (list) => inside.map((i) => list[i]);
        add(levels ? "dots" : "line", "ale", {x: pick(data.ale.x), y: pick(data.ale.y).map((v) => v + level), colour: "g3", dashed: 1, pattern: 3, hollow: true, width: 0.9, label: "ALE"});
      }
      if (shown.observed && data.observed && data.observed.feature === state.feature) {
        const {x: at, observed, predicted} = data.observed, inside = Array.from(at.keys()).filter((i) => levels ? isNumber(at[i]) : at[i] >= laid.first && at[i] <= laid.last), pick = (list, by) => list && inside.map((i) => list[i] - by);
        marks.push(...meanMarks(pick(at, 0), pick(observed, centre), pick(predicted, centre)));
      }
      if (curve) line(less(curve, centre), "average", {colour: "accent", width: 1.3, label: filtered ? "average of these rows" : "average of all rows", markers: n < 3});
    }
    if (row) {
      const by = shown.centred ? mean(cut(app.whatifCurve(state.feature))) : 0, pinned = state.pinned && data.pinnedCurves;
      if (pinned) line(less(app.slice(data.pinnedCurves, state.feature), shown.centred ? mean(cut(app.slice(data.pinnedCurves, state.feature))) : 0), "pinned", {colour: "g2", dashed: 2, width: 0.9, label: "pinned row", aside: -0.2});
      const y = app.whatifCurve(state.feature), joined = withOwn(laid, y, place, row.predicted[state.output], levels);
      this.rowCentre = by;
      if (levels) line(less(y, by), "row", {colour: "second", size: 0.9, aside: 0.2, label: "this row"});
      else {
        add("line", "row", {x: joined.x, y: less(joined.y, by), colour: "second", width: 1, label: "this row"});
        if (laid.gone !== null) add("dots", "missing row", {x: [laid.gone], y: [y[n] - by], colour: "second", size: 1});
      }
    }
    const [low, high] = valueRange(marks.filter((m) => !["apart", "low", "data", "filtered data"].includes(m.layer))) || [0, 1];
    return {x: {...laid.axis}, y: {label: (shown.centred ? "change in " : "") + app.valueLabel(), kind: "number", low, high}, marks};
  }
  // While something is dragged, the range of values only grows.
  keepRange(panel) {
    if (this.dragging && this.range) { panel.y.low = Math.min(panel.y.low, this.range[0]); panel.y.high = Math.max(panel.y.high, this.range[1]); }
    this.range = [panel.y.low, panel.y.high];
  }
  drawSurface() {
    const {app} = this, {surface} = app.data, {state} = app;
    this.dot.hidden = this.stem.hidden = this.brushed.hidden = true;
    this.plot.style.height = "";
    if (!surface || surface.feature !== state.feature || surface.second !== state.second) return;
    const shown = [0, 1].map((k) => { const own = app.about.features[k ? state.second : state.feature], at = Array.from(k ? surface.z : surface.x), keep = at.map((v, i) => i).filter((i) => isNumber(at[i])); return {own, at, keep}; });
    const [a, b] = shown, wide = b.at.length, x = edgesOf(a.keep.map((i) => a.at[i])), y = edgesOf(b.keep.map((i) => b.at[i])), offset = state.output * a.at.length * wide;
    const z = b.keep.map((j) => a.keep.map((i) => surface.y[offset + i * wide + j])), known = z.flat().filter(isNumber), scale = {low: Math.min(...known), high: Math.max(...known), label: app.valueLabel()};
    const axis = ({own}, ends) => ({label: own.axis.label, kind: own.axis.kind, ticks: own.axis.ticks, named: own.axis.named, low: ends[0], high: ends.at(-1)});
    const panel = {x: axis(a, x), y: axis(b, y), marks: [{kind: "field", layer: "surface", x, y, z, scale, style: "cells"}], scale, flip: false};
    this.drawing = draw(this.plot, panel, {legend: false, tell: (i, j) => [`${a.own.label}: ${surface.texts[0][a.keep[i]]}`, `${b.own.label}: ${surface.texts[1][b.keep[j]]}`, `average ${said(z[j][i])}`]});
    this.panelShown = panel;
    this.plot.setAttribute("aria-label", `${a.own.label} and ${b.own.label}: average from ${said(scale.low)} to ${said(scale.high)}`);
  }

  // --- the row's dot -----------------------------------------------------------------------------
  placeDot() {
    const {app, laid} = this, row = this.rowShown() ? app.data.whatif : null, place = app.rowPlace(app.state.feature);
    this.dot.hidden = this.stem.hidden = !row || !this.drawing;
    if (!row) return;
    const at = place === null ? laid.gone : place + (this.levels ? 0.2 : 0);
    if (at === null || !isNumber(at)) { this.dot.hidden = this.stem.hidden = true; return; }
    const value = row.predicted[app.state.output] - (app.state.shown.centred ? this.rowCentre : 0), [px, py] = this.drawing.on.at(at, value), {bottom} = this.drawing.on.box, lying = this.drawing.on.lying;
    Object.assign(this.dot.style, {left: `${px}px`, top: `${py}px`});
    Object.assign(this.stem.style, lying ? {display: "none"} : {display: "", left: `${px}px`, top: `${py}px`, height: `${Math.max(0, bottom - py)}px`});
    const text = app.placeText(app.state.feature, place);
    this.dot.setAttribute("aria-label", this.feature.label);
    this.dot.setAttribute("aria-valuenow", place === null ? "" : String(+place.toPrecision(6)));
    this.dot.setAttribute("aria-valuetext", `${this.feature.label} ${text}: predicted ${said(row.predicted[app.state.output])}${app.about.unit ? " " + app.about.unit : ""}`);
    if (isNumber(laid.first)) { this.dot.setAttribute("aria-valuemin", laid.first); this.dot.setAttribute("aria-valuemax", laid.last); }
    else { this.dot.setAttribute("aria-valuemin", 0); this.dot.setAttribute("aria-valuemax", laid.n - 1); }
  }
  grab(event) {
    event.preventDefault();
    this.dot.focus();
    this.dragging = true;
    this.dot.setPointerCapture(event.pointerId);
    const move = (e) => this.app.whatIf(this.app.state.feature, this.placeAt(e)), end = () => {
      this.dot.removeEventListener("pointermove", move);
      this.dragging = false;
      this.app.commit({}, "what if");
    };
    this.dot.addEventListener("pointermove", move);
    this.dot.addEventListener("pointerup", end, {once: true});
    this.dot.addEventListener("pointercancel", end, {once: true});
  }
  // The place of the feature's axis under the pointer: a level, a whole number, the missing point or a number.
  placeAt(event) {
    const {on} = this.drawing, box = this.plot.getBoundingClientRect(), pixel = on.lying ? event.clientY - box.top : event.clientX - box.left;
    return this.snapped(on.along.invert(pixel));
  }
  snapped(place) {
    const {laid} = this;
    if (this.levels) return Math.min(laid.n - 1, Math.max(0, Math.round(place)));
    if (laid.gone !== null && place > (laid.last + laid.gone) / 2) return null;
    const inside = Math.min(laid.last, Math.max(laid.first, place));
    if (this.feature.axis.kind === "integer") return Math.round(inside);
    const digits = Math.max(0, 3 - Math.floor(Math.log10((laid.last - laid.first) || 1)));
    return digits > 12 ? inside : +inside.toFixed(Math.min(12, digits));
  }
  key(event) {
    const {laid, app} = this, place = app.rowPlace(app.state.feature);
    const span = this.levels ? laid.n - 1 : laid.last - laid.first, step = this.levels ? 1 : this.feature.axis.kind === "integer" ? Math.max(1, Math.round(span / 100)) : span / 100;
    const from = place === null ? (this.levels ? 0 : laid.last) : place, low = this.levels ? 0 : laid.first, high = this.levels ? laid.n - 1 : laid.last;
    const to = {ArrowRight: from + step, ArrowUp: from + step, ArrowLeft: from - step, ArrowDown: from - step, PageUp: from + 10 * step, PageDown: from - 10 * step, Home: low, End: high}[event.key];
    if (to !== undefined) {
      event.preventDefault();
      app.whatIf(app.state.feature, this.snapped(Math.min(high, Math.max(low, to))));
      app.commitSoon("what if");
    } else if (event.key === "m" && laid.gone !== null) { event.preventDefault(); event.stopPropagation(); app.whatIf(app.state.feature, null); app.commit({}, "what if"); }
  }

  // --- a stretch of the axis ---------------------------------------------------------------------
  startBrush(event) {
    if (event.button || this.app.state.second !== null || this.levels || !this.drawing || event.pointerType === "touch") return;
    const {on} = this.drawing, from = on.along.invert(event.clientX - this.plot.getBoundingClientRect().left), start = event.clientX;
    const move = (e) => {
      if (Math.abs(e.clientX - start) < 4 && !this.brush) return;
      const to = on.along.invert(e.clientX - this.plot.getBoundingClientRect().left), ends = [from, to].map((v) => Math.min(this.laid.last, Math.max(this.laid.first, v))).sort((a, b) => a - b);
      this.brush = ends;
      this.placeBrush();
    }, end = (e) => {
      window.removeEventListener("pointermove", move);
      this.app.stretch(Math.abs(e.clientX - start) < 4 ? null : this.brush);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end, {once: true});
  }
  brushByKey(event) {
    const {laid} = this;
    if (this.app.state.second !== null || this.levels || !this.drawing) return;
    const brush = brushKey(event, this.brush, laid.first, laid.last, (laid.last - laid.first) / 50);
    if (brush === undefined) return;
    event.preventDefault();
    this.app.stretch(brush);
    this.app.say(brush ? `Stretch from ${brush.map((v) => this.app.placeText(this.app.state.feature, v)).join(" to ")}` : "No stretch");
  }
  placeBrush() {
    this.brushed.hidden = !this.brush || !this.drawing;
    if (this.brushed.hidden) return;
    const {on} = this.drawing, [a, b] = this.brush.map(on.along);
    Object.assign(this.brushed.style, {left: `${a}px`, width: `${b - a}px`, top: `${on.box.top}px`, height: `${on.box.height}px`});
  }
  // The readout stands above the plot: what is at the pointer.
  point(event) {
    if (!this.drawing || this.app.state.second !== null || !this.laid) return;
    const {on} = this.drawing, box = this.plot.getBoundingClientRect(), pixel = on.lying ? event.clientY - box.top : event.clientX - box.left;
    this.pointed = this.snapped(on.along.invert(pixel));
    this.app.readout(this.pointed);
  }
  valuesAt(place) {
    const {app, laid, levels} = this, at = (y) => y ? valueAt(laid, y, place, levels) : NaN;
    return {here: at(app.curveOf(app.state.feature)), all: at(app.ghostOf(app.state.feature)), row: this.rowShown() ? at(app.whatifCurve(app.state.feature)) : NaN};
  }
  destroy() { if (this.drawing) this.drawing.destroy(); }
}
