// The page's own script: draws each picture when it scrolls into view, from the JSON block alone.
// Names come from other people's data: they are set as text, and escaped where Plotly reads markup.
(() => {
"use strict";
const byId = (id) => document.getElementById(id);
const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
const data = JSON.parse(byId("data").textContent);
const has = typeof Plotly !== "undefined";
const state = {
  output: 0, group: "none", bands: true, ale: true, data: true, curves: true, centre: false, shared: false,
  view: "level", mask: true, lit: null, row: null,
};
let version = 0;  // rises with every change of state: a picture with an older number is drawn again
const QUIET = {displayModeBar: false, responsive: true, doubleClick: false, showTips: false};
const DRAWN_AT_MOST = 40;

// --- texts and numbers ---------------------------------------------------------------------------

const safe = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/\$/g, "&#36;");
const short = (text, limit) => text.length <= limit ? text : text.slice(0, Math.ceil(limit / 2) - 1) + "…" + text.slice(-Math.floor(limit / 2));
function said(value) {
  if (value === null || value === undefined || !isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) return value.toExponential(2);
  return value.toLocaleString("en", {maximumSignificantDigits: size >= 1000 ? 6 : 4});
}
const percent = (share) => share > 0 && share < 0.01 ? "under 1 %" : Math.round(100 * share) + " %";
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
function colours() {
  const names = ["paper", "ink", "muted", "rule", "faint", "accent", "second", "low", "bar"];
  const found = Object.fromEntries(names.map((n) => [n, css("--" + n)]));
  found.groups = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => css("--g" + i));
  return found;
}
function faded(hex, alpha) {
  const part = (i) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  return `rgba(${part(0)},${part(1)},${part(2)},${alpha})`;
}
const minus = (list, base) => list.map((v) => v === null ? null : v - base);

// --- one feature's picture -----------------------------------------------------------------------

// What a card shows now: the curves of the chosen output, centred or not.
function shownCurves(panel) {
  const o = state.output, base = state.centre ? panel.mean[o] : 0;
  const bands = panel.bands ? (state.centre ? panel.change[o] : panel.bands[o]) : null;
  return {
    average: minus(panel.average[o], base),
    error: panel.error ? panel.error[o] : null,
    bands,
    ale: panel.ale ? minus(panel.ale.y[o], panel.ale.mean[o] - (state.centre ? 0 : panel.mean[o])) : null,
    groups: panel.groups.map((g) => minus(g.average[o], state.centre ? g.mean[o] : 0)),
    curves: panel.curves && state.curves ? panel.curves[o].map((c) => minus(c, state.centre ? ownMean(c, panel.weight) : 0)) : null,
  };
}
function ownMean(curve, weight) {
  let sum = 0;
  curve.forEach((v, i) => { if (v !== null && weight[i]) sum += v * weight[i]; });
  return sum;
}
// The stretch of a feature that its curve covers; data and ALE beyond it are not drawn.
function reach(panel) {
  if (panel.axis.kind === "category") return [-0.6, panel.axis.ticks.length - 0.4];
  const x = panel.axis.missing === null ? panel.x : panel.x.slice(0, -1);
  let low = Infinity, high = -Infinity;
  for (const v of x) { if (v < low) low = v; if (v > high) high = v; }
  if (!(low <= high)) return [0, 1];
  const step = x.length > 1 ? (high - low) / (2 * (x.length - 1)) : 0.5;
  const pad = Math.max(Math.min(step, (high - low) * 0.05), (high - low) * 0.015) || 0.5;
  return [low - pad, high + pad];
}
function extent(panel) {
  const now = shownCurves(panel), parts = [now.average];
  if (state.bands && now.bands) parts.push(now.bands[0], now.bands[4]);
  const [first, last] = reach(panel);
  if (state.ale && now.ale) parts.push(now.ale.filter((_, i) => panel.ale.x[i] >= first && panel.ale.x[i] <= last));
  if (state.group === "each") parts.push(...now.groups);
  else if (state.group !== "none") parts.push(now.groups[+state.group]);
  if (now.curves) parts.push(...now.curves);
  let low = Infinity, high = -Infinity;
  for (const part of parts) for (const v of part) if (v !== null) { if (v < low) low = v; if (v > high) high = v; }
  return [low, high];
}
function padded([low, high]) {
  if (!(low <= high)) return [0, 1];
  const pad = 0.06 * (high - low) || Math.max(Math.abs(high) * 0.05, 1e-9);
  return [low - pad, high + pad];
}
let sharedRange = null, sharedAt = -1;
function commonRange() {
  if (sharedAt !== version) {
    sharedRange = data.features.map(extent).reduce((a, b) => [Math.min(a[0], b[0]), Math.max(a[1], b[1])], [Infinity, -Infinity]);
    sharedAt = version;
  }
  return padded(sharedRange);
}

function axisOf(axis, colour, room) {
  const base = {color: colour.muted, gridcolor: colour.faint, zeroline: false, linecolor: colour.rule, fixedrange: true, automargin: true,
    ticks: "outside", ticklen: 3, tickcolor: colour.rule, showgrid: false, title: {text: safe(short(axis.label, 60)), standoff: 6}};
  if (axis.kind === "time") return {...base, type: "date"};
  if (axis.kind !== "category") return {...base, type: "linear", ...(axis.kind === "integer" ? {tickformat: ",d", dtick: null} : {})};
  const every = Math.max(1, Math.ceil(axis.ticks.length / room));
  const limit = axis.ticks.length > 10 ? 14 : 24;
  const at = axis.ticks.map((_, i) => i).filter((i) => i % every === 0);
  return {...base, type: "linear", tickvals: at, ticktext: at.map((i) => safe(short(axis.ticks[i], limit))), range: [-0.6, axis.ticks.length - 0.4]};
}

function drawCard(card) {
  const panel = data.features[+card.dataset.feature];
  const colour = colours(), now = shownCurves(panel), levels = panel.axis.kind === "category";
  const n = panel.x.length - (panel.axis.missing !== null && !levels ? 1 : 0);  // a number's missing point stands apart
  const x = panel.x.slice(0, n), cut = (list) => list.slice(0, n);
  const traces = [];
  const quiet = {hoverinfo: "skip", showlegend: false};
  const one = state.group !== "none" && state.group !== "each" ? +state.group : null;
  const main = one !== null || state.group === "each" ? colour.muted : colour.accent;
  if (state.data && panel.histogram) traces.push(...dataBars(panel, levels, colour, quiet));
  if (state.bands && now.bands) traces.push(...bandTraces(now.bands.map(cut), x, levels, colour, quiet));
  if (now.curves) traces.push(curvesTrace(now.curves.map(cut), x, colour));
  if (now.error && !levels) {
    const up = cut(now.average).map((v, i) => v + 1.96 * now.error[i]), down = cut(now.average).map((v, i) => v - 1.96 * now.error[i]);
    traces.push({...quiet, type: "scatter", mode: "lines", x: x.concat([...x].reverse()), y: up.concat([...down].reverse()),
      fill: "toself", fillcolor: faded(colour.accent, 0.28), line: {width: 0}});
  }
  if (state.ale && now.ale) {
    traces.push({type: "scatter", mode: levels ? "markers" : "lines", x: levels ? panel.ale.x.map((v) => v + 0.16) : panel.ale.x, y: now.ale, name: "ALE", showlegend: false,
      line: {color: colour.second, width: 1.6, dash: "5px,3px"}, marker: {color: colour.second, symbol: "diamond-open", size: 9, line: {width: 1.5}}, hoverinfo: "skip"});
  }
  now.groups.forEach((curve, g) => {
    if (state.group === "none" || (one !== null && one !== g)) return;
    const dim = state.lit !== null && state.lit !== g;
    // Groups of a level stand beside its average, not on it.
    const aside = one !== null ? 0.16 : 0.16 + Math.min(0.1, 0.3 / now.groups.length) * (now.groups.length - 1 - g);
    traces.push({type: "scatter", mode: levels ? "markers" : "lines", x: levels ? x.map((v) => v - aside) : x, y: cut(curve), showlegend: false,
      opacity: dim ? 0.22 : 1, line: {color: colour.groups[g % 8], width: state.lit === g || one === g ? 3 : 1.8}, marker: {color: colour.groups[g % 8], size: state.lit === g ? 10 : 7},
      text: cut(panel.points).map((p, i) => `${safe(data.groups[g])}<br>${safe(p)}: ${said(curve[i])}`), hovertemplate: "%{text}<extra></extra>"});
  });
  const text = panel.points.map((_, i) => hoverText(panel, now, i));
  traces.push({type: "scatter", mode: levels ? "markers" : n < 3 ? "lines+markers" : "lines", x, y: cut(now.average), showlegend: false,
    line: {color: main, width: 2.4}, marker: {color: main, size: levels ? 9 : 7}, text: cut(text), hovertemplate: "%{text}<extra></extra>"});
  if (n < panel.x.length) {
    traces.push({type: "scatter", mode: "markers", x: [0], y: [now.average[n]], xaxis: "x2", showlegend: false,
      marker: {color: main, size: 9}, text: [text[n]], hovertemplate: "%{text}<extra></extra>"});
    if (state.bands && now.bands) traces.push(...missingBand(now.bands, n, colour, quiet));
  }
  traces.push(litTrace(panel, now, x, cut, colour));
  const wide = card.querySelector(".plot").clientWidth || 600;
  const layout = baseLayout(colour, panel, wide, n < panel.x.length);
  layout.xaxis.range = reach(panel);
  layout.yaxis.range = state.shared ? commonRange() : padded(extent(panel));
  layout.shapes = levels ? lowLevels(panel, colour) : lowStretches(panel, n, colour);
  return show(card.querySelector(".plot"), traces, layout);
}

function baseLayout(colour, panel, wide, gap) {
  const words = (state.centre ? "change in " : "") + data.what + (data.outputs.length > 1 ? " of " + data.outputs[state.output] : "");
  const layout = {
    font: {family: css("--sans"), size: 12, color: colour.muted}, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    margin: {l: 56, r: 10, t: 10, b: 44}, hovermode: "closest", hoverdistance: 40, dragmode: false, bargap: 0.06, autosize: true,
    hoverlabel: {bgcolor: colour.paper, bordercolor: colour.rule, font: {color: colour.ink, size: 12, family: css("--sans")}, align: "left"},
    xaxis: {...axisOf(panel.axis, colour, Math.max(4, Math.floor(wide / 60))), anchor: "y2", domain: gap ? [0, wide < 480 ? 0.8 : 0.9] : [0, 1]},
    yaxis: {color: colour.muted, gridcolor: colour.faint, zeroline: false, fixedrange: true, domain: state.data ? [0.15, 1] : [0, 1], nticks: 6,
      automargin: true, title: {text: safe(short(words, 42)), standoff: 8}},
    yaxis2: {domain: [0, 0.12], visible: false, fixedrange: true, rangemode: "tozero"},
  };
  if (!state.data) layout.yaxis2.domain = [0, 0.001];
  if (gap) layout.xaxis2 = {...axisOf({label: "", kind: "category", ticks: ["missing"]}, colour, 9), domain: [wide < 480 ? 0.84 : 0.92, 1], anchor: "y2", range: [-1, 1]};
  return layout;
}
function hoverText(panel, now, i) {
  const lines = [`<b>${safe(panel.points[i])}</b>`, `average ${said(now.average[i])}${now.error ? " ± " + said(1.96 * now.error[i]) : ""}`];
  if (now.bands) lines.push(`half of the rows ${said(now.bands[1][i])} to ${said(now.bands[3][i])}`, `90 % of them ${said(now.bands[0][i])} to ${said(now.bands[4][i])}`);
  if (panel.support) lines.push(`${percent(panel.support[i])} of the rows could be here`);
  return lines.join("<br>");
}
function dataBars(panel, levels, colour, quiet) {
  const bars = {...quiet, type: "bar", yaxis: "y2", marker: {color: colour.bar, line: {width: 0}}};
  const h = panel.histogram, out = [];
  if (levels) return [{...bars, x: panel.x, y: h.share, width: 0.7}];
  if (h.edges && h.edges.length > 1) {
    const mid = h.share.map((_, i) => (h.edges[i] + h.edges[i + 1]) / 2), width = h.share.map((_, i) => h.edges[i + 1] - h.edges[i]);
    out.push({...bars, x: mid, y: h.share, width});
  }
  if (panel.axis.missing !== null && h.missing) out.push({...bars, x: [0], y: [h.missing], width: [0.8], xaxis: "x2"});
  return out;
}
function bandTraces(bands, x, levels, colour, quiet) {
  const pair = (low, high, alpha, width) => {
    if (levels) {
      const xs = [], ys = [];
      x.forEach((v, i) => { xs.push(v, v, null); ys.push(low[i], high[i], null); });
      return {...quiet, type: "scatter", mode: "lines", x: xs, y: ys, line: {color: faded(colour.accent, alpha), width}};
    }
    return {...quiet, type: "scatter", mode: "lines", x: x.concat([...x].reverse()), y: high.concat([...low].reverse()),
      fill: "toself", fillcolor: faded(colour.accent, alpha), line: {width: 0}};
  };
  return [pair(bands[0], bands[4], levels ? 0.2 : 0.11, 5), pair(bands[1], bands[3], levels ? 0.34 : 0.17, 13)];
}
function missingBand(bands, n, colour, quiet) {
  return [[0, 4, 0.2, 5], [1, 3, 0.34, 13]].map(([a, b, alpha, width]) => (
    {...quiet, type: "scatter", mode: "lines", xaxis: "x2", x: [0, 0], y: [bands[a][n], bands[b][n]], line: {color: faded(colour.accent, alpha), width}}));
}
// All rows' curves are one trace with gaps; a point's number tells the row.
function curvesTrace(curves, x, colour) {
  const xs = [], ys = [];
  for (const curve of curves) { for (let i = 0; i < x.length; i++) { xs.push(x[i]); ys.push(curve[i]); } xs.push(null); ys.push(null); }
  return {type: "scatter", mode: "lines", x: xs, y: ys, line: {color: faded(colour.ink, 0.13), width: 1}, showlegend: false, hoverinfo: "none", meta: "curves"};
}
function litTrace(panel, now, x, cut, colour) {
  const known = state.row !== null && now.curves && panel.rows ? panel.rows.indexOf(state.row) : -1;
  return {type: "scatter", mode: "lines", x: known < 0 ? [] : x, y: known < 0 ? [] : cut(now.curves[known]), hoverinfo: "skip", showlegend: false,
    line: {color: colour.second, width: 2.4}, meta: "lit"};
}
function lowStretches(panel, n, colour) {
  const out = [], low = new Set(panel.low), x = panel.x;
  for (let i = 0; i < n; i++) {
    if (!low.has(i)) continue;
    let j = i;
    while (j + 1 < n && low.has(j + 1)) j++;
    out.push(lowBox(i ? (x[i - 1] + x[i]) / 2 : x[0], j + 1 < n ? (x[j] + x[j + 1]) / 2 : x[n - 1], colour));
    i = j;
  }
  return out;
}
const lowLevels = (panel, colour) => panel.low.map((i) => lowBox(panel.x[i] - 0.5, panel.x[i] + 0.5, colour));
const lowBox = (x0, x1, colour) => ({type: "rect", xref: "x", yref: "y domain", x0, x1, y0: 0, y1: 1, fillcolor: colour.low, line: {width: 0}, layer: "below"});

// --- surfaces and regions ------------------------------------------------------------------------

const VIRIDIS = [[0, "#33305f"], [0.2, "#33608d"], [0.4, "#2a8a8c"], [0.6, "#46ac7d"], [0.8, "#9ccb57"], [1, "#f3e35b"]];
const DIVERGING = (middle) => [[0, "#24679f"], [0.25, "#7fb0d3"], [0.5, middle], [0.75, "#e8a07c"], [1, "#b5432a"]];
function drawSurface(figure) {
  const pair = data.surfaces[+figure.dataset.surface], colour = colours(), pure = state.view === "pure";
  const values = (pure ? pair.pure : pair.level)[state.output];
  const hidden = (i, j) => state.mask && pair.low.length && pair.low[i][j];
  let reach = 0;
  const z = pair.y.map((_, j) => pair.x.map((_, i) => {
    const v = values[i][j];
    if (v === null || hidden(i, j)) return null;
    reach = Math.max(reach, Math.abs(v));
    return v;
  }));
  const text = pair.y.map((_, j) => pair.x.map((_, i) => (
    `${safe(short(pair.names[0], 30))}: <b>${safe(pair.points[0][i])}</b><br>${safe(short(pair.names[1], 30))}: <b>${safe(pair.points[1][j])}</b><br>` +
    `${pure ? "interaction" : "average"} ${said(values[i][j])}<br>${percent(pair.share[i][j])} of the data`)));
  const layout = {...baseLayout(colour, {axis: pair.axes[0]}, 420, false), margin: {l: 60, r: 8, t: 10, b: 46}};
  const scale = {thickness: 9, len: 1, outlinewidth: 0, tickfont: {color: colour.muted, size: 11}, nticks: 6};
  layout.xaxis = whole(axisOf(pair.axes[0], colour, 8));
  layout.yaxis = whole(axisOf(pair.axes[1], colour, 12));
  delete layout.yaxis2;
  layout.plot_bgcolor = colour.faint;
  const trace = {type: "heatmap", x: pair.x, y: pair.y, z, text, hovertemplate: "%{text}<extra></extra>", hoverongaps: false, colorbar: scale,
    colorscale: pure ? DIVERGING(colour.paper) : VIRIDIS, ...(pure ? {zmin: -reach, zmax: reach} : {})};
  return show(figure.querySelector(".plot"), [trace], layout);
}
const whole = (axis) => axis.range ? {...axis, range: [axis.range[0] + 0.1, axis.range[1] - 0.1]} : axis;
function drawRegion(article) {
  const panel = data.regions[+article.dataset.region], colour = colours(), levels = panel.axis.kind === "category", o = state.output;
  const n = panel.x.length - (panel.axis.missing !== null && !levels ? 1 : 0), x = panel.x.slice(0, n);
  const curve = (values, mean, name, ink, width, dash) => ({type: "scatter", mode: levels ? "markers" : "lines", x, y: minus(values.slice(0, n), mean), showlegend: false,
    line: {color: ink, width, dash}, marker: {color: ink, size: 9}, text: panel.points.slice(0, n).map((p, i) => `${safe(short(name, 60))}<br>${safe(p)}: ${said(values[i] - mean)}`), hovertemplate: "%{text}<extra></extra>"});
  const traces = [curve(panel.average[o], panel.mean[o], "all rows", colour.muted, 1.6, "4px,3px")];
  panel.groups.forEach((g, i) => traces.push(curve(g.average[o], g.mean[o], panel.rules[i], colour.groups[i % 8], 2.3)));
  const layout = baseLayout(colour, panel, article.clientWidth / 2, false);
  delete layout.yaxis2;
  layout.xaxis.anchor = "y";
  layout.yaxis.domain = [0, 1];
  layout.yaxis.title.text = safe(short("change in " + data.what, 42));
  return show(article.querySelector(".plot"), traces, layout);
}
function show(place, traces, layout) {
  Plotly.react(place, traces, layout, QUIET);
  if (!place.dataset.wired && place.on) { place.dataset.wired = "yes"; wireHover(place); }
}
// Pointing at a row's curve shows the same row on every card drawn.
function wireHover(place) {
  place.on("plotly_hover", (event) => {
    const point = event.points.find((p) => p.data.meta === "curves");
    const card = place.closest(".card");
    if (!point || !card) return;
    const panel = data.features[+card.dataset.feature];
    const n = panel.x.length - (panel.axis.missing !== null && panel.axis.kind !== "category" ? 1 : 0);
    lightRow(panel.rows[Math.floor(point.pointNumber / (n + 1))]);
  });
  place.on("plotly_unhover", () => lightRow(null));
}
function lightRow(row) {
  if (state.row === row) return;
  state.row = row;
  for (const card of drawn) {
    if (!card.classList.contains("card")) continue;
    const place = card.querySelector(".plot"), at = place.data.findIndex((t) => t.meta === "lit");
    const panel = data.features[+card.dataset.feature], now = shownCurves(panel);
    const n = panel.x.length - (panel.axis.missing !== null && panel.axis.kind !== "category" ? 1 : 0);
    const lit = litTrace(panel, now, panel.x.slice(0, n), (l) => l.slice(0, n), colours());
    Plotly.restyle(place, {x: [lit.x], y: [lit.y]}, [at]);
  }
}

// --- drawing what is in view ---------------------------------------------------------------------

const drawn = new Set(), visible = new Set(), made = new WeakMap();
function draw(item) {
  if (!has || item.hidden || made.get(item) === version) return;
  made.set(item, version);
  drawn.delete(item);
  drawn.add(item);
  if (item.classList.contains("card")) drawCard(item);
  else if (item.classList.contains("pair")) drawSurface(item);
  else drawRegion(item);
}
// Pictures far out of view are given back, so that hundreds of features stay light.
function tidy() {
  for (const item of drawn) {
    if (drawn.size <= DRAWN_AT_MOST) return;
    if (visible.has(item)) continue;
    const place = item.querySelector(".plot");
    Plotly.purge(place);
    delete place.dataset.wired;
    drawn.delete(item);
    made.delete(item);
  }
}
let waiting = false;
function changed() {
  version++;
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; visible.forEach(draw); });
}
const items = all(".card, .pair, .region");
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) { visible.add(entry.target); draw(entry.target); } else visible.delete(entry.target);
  }
  tidy();
}, {rootMargin: "500px 0px"});
items.forEach((item) => watcher.observe(item));

// --- finding and sorting -------------------------------------------------------------------------

const cards = all(".card"), rows = all("#rows tr");
function find() {
  const wanted = byId("search").value.trim().toLowerCase();
  let count = 0;
  cards.forEach((card, i) => {
    const keep = card.dataset.name.toLowerCase().includes(wanted);
    card.hidden = !keep;
    if (keep) count++;
  });
  const kept = new Set(cards.filter((c) => !c.hidden).map((c) => c.dataset.feature));
  rows.forEach((row) => { row.hidden = !kept.has(row.dataset.feature); });
  byId("nothing").hidden = count > 0;
  byId("found").textContent = wanted ? `${count} of ${cards.length} features` : `${cards.length} features`;
}
function sort() {
  const how = byId("sort").value;
  const number = (card) => how === "rank" ? -card.dataset.feature : +card.dataset[how];
  const order = [...cards].sort(how === "name" ? (a, b) => a.dataset.name.localeCompare(b.dataset.name) : (a, b) => number(b) - number(a));
  const place = new Map(rows.map((row) => [row.dataset.feature, row]));
  byId("cards").append(...order);
  byId("rows").append(...order.map((card) => place.get(card.dataset.feature)));
}

// --- tables and files ----------------------------------------------------------------------------

function featureTable(index) {
  const panel = data.features[index], o = state.output;
  const head = ["value", "average", "5 %", "25 %", "50 %", "75 %", "95 %", "data", "support"];
  const share = panel.histogram && panel.axis.kind === "category" ? panel.histogram.share : panel.weight;
  const body = panel.points.map((p, i) => [p, panel.average[o][i], ...(panel.bands ? panel.bands[o].map((b) => b[i]) : ["", "", "", "", ""]), share[i], panel.support ? panel.support[i] : ""]);
  return {head, body};
}
function surfaceTable(index) {
  const pair = data.surfaces[index], o = state.output, body = [];
  pair.x.forEach((_, i) => pair.y.forEach((_, j) => body.push([pair.points[0][i], pair.points[1][j], pair.level[o][i][j], pair.pure[o][i][j], pair.share[i][j]])));
  return {head: [pair.names[0], pair.names[1], "average", "pure interaction", "data"], body};
}
function fillTable(details) {
  const item = details.closest(".card, .pair"), place = details.querySelector(".scroll");
  const {head, body} = item.classList.contains("card") ? featureTable(+item.dataset.feature) : surfaceTable(+item.dataset.surface);
  const cell = (kind, text) => { const c = document.createElement(kind); c.textContent = typeof text === "number" ? said(text) : text === null ? "–" : text; return c; };
  const table = document.createElement("table"), top = table.createTHead().insertRow(), rest = table.createTBody();
  head.forEach((h) => { const c = cell("th", h); c.scope = "col"; top.append(c); });
  body.forEach((line) => {
    const row = rest.insertRow();
    line.forEach((v, i) => { const c = cell(i ? "td" : "th", v); if (!i) c.scope = "row"; row.append(c); });
  });
  place.replaceChildren(table);
}
// A spreadsheet runs a text that starts like a formula; a quote keeps it text.
function csvCell(value) {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) && isNaN(Number(value)) ? "'" + value : value;
  return '"' + text.replace(/"/g, '""') + '"';
}
function featureLines(index) {
  const panel = data.features[index], lines = [["feature", "output", "group", "kind", "value", "average", "q05", "q25", "q50", "q75", "q95", "support"]];
  data.outputs.forEach((output, o) => {
    panel.points.forEach((p, i) => lines.push([panel.name, output, "", "pd", p, panel.average[o][i], ...(panel.bands ? panel.bands[o].map((b) => b[i]) : ["", "", "", "", ""]), panel.support ? panel.support[i] : ""]));
    panel.groups.forEach((g, k) => panel.points.forEach((p, i) => lines.push([panel.name, output, data.groups[k], "pd", p, g.average[o][i], "", "", "", "", "", ""])));
    if (panel.ale) panel.ale.points.forEach((p, i) => lines.push([panel.name, output, "", "ale", p, panel.ale.y[o][i], "", "", "", "", "", ""]));
  });
  return lines;
}
function saveCsv(item) {
  let lines;
  if (item.classList.contains("card")) lines = featureLines(+item.dataset.feature);
  else { const table = surfaceTable(+item.dataset.surface); lines = [table.head, ...table.body]; }
  const text = "\ufeff" + lines.map((line) => line.map(csvCell).join(",")).join("\r\n") + "\r\n";
  const address = URL.createObjectURL(new Blob([text], {type: "text/csv;charset=utf-8"}));
  save(address, fileName(item) + ".csv");
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
function savePng(item) {
  draw(item);
  const place = item.querySelector(".plot");
  const size = {width: place.clientWidth, height: place.clientHeight, scale: 3, format: "png"};
  // A picture on its own needs a ground.
  const figure = {data: place.data, layout: {...place.layout, paper_bgcolor: css("--paper"), width: size.width, height: size.height}};
  return Plotly.toImage(figure, size).then((address) => save(address, fileName(item) + ".png"));
}
function save(address, name) {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  byId("tell").textContent = `Saved ${name}`;
}
function fileName(item) {
  const name = item.classList.contains("card") ? data.features[+item.dataset.feature].name : data.surfaces[+item.dataset.surface].names.join("-");
  return name.replace(/[^\p{L}\p{N}_-]+/gu, "_").replace(/^_+|_+$/g, "").slice(0, 60) || "feature";
}

// --- the matrix ----------------------------------------------------------------------------------

function paintMatrix() {
  if (!data.matrix) return;
  const place = new Map(data.matrix.features.map((f, i) => [String(f), i])), values = data.matrix.strength[state.output];
  const largest = Math.max(1e-12, ...values.flat().filter((v) => v !== null));
  const links = new Map(data.surfaces.map((s, i) => [[...s.features].sort((a, b) => a - b).join(), i]));
  for (const cell of all("#matrix td")) {
    const v = values[place.get(cell.dataset.row)][place.get(cell.dataset.column)];
    if (v === null) continue;
    const share = v / largest, surface = links.get([+cell.dataset.row, +cell.dataset.column].sort((a, b) => a - b).join());
    cell.style.setProperty("--v", share.toFixed(3));
    cell.classList.toggle("strong", share > 0.7);
    const text = document.createElement(surface === undefined ? "span" : "a");
    text.textContent = v.toFixed(2);
    if (surface !== undefined) { text.href = "#s" + surface; text.setAttribute("aria-label", `${v.toFixed(2)}, see the surface`); }
    cell.title = `${data.features[+cell.dataset.row].name} × ${data.features[+cell.dataset.column].name}`;
    cell.replaceChildren(text);
  }
}
function lightFeatures(numbers) {
  all(".lit").forEach((e) => e.classList.remove("lit"));
  for (const f of numbers) all(`#rows tr[data-feature="${f}"], #matrix th[data-feature="${f}"]`).forEach((e) => e.classList.add("lit"));
}

// --- controls ------------------------------------------------------------------------------------

function readings() {
  cards.forEach((card) => {
    const text = data.features[+card.dataset.feature].readings[state.output];
    card.querySelector(".reading").textContent = text;
    card.querySelector(".plot").setAttribute("aria-label", `Partial dependence of ${data.features[+card.dataset.feature].name}. ${text}`);
  });
  all("details.table[open]").forEach(fillTable);
}
for (const [id, key] of [["bands", "bands"], ["ale", "ale"], ["data-shown", "data"], ["curves", "curves"], ["centre", "centre"], ["shared", "shared"], ["mask", "mask"]]) {
  const box = byId(id);
  if (!box) continue;
  state[key] = box.checked;  // a browser may restore controls on reload
  box.addEventListener("change", () => { state[key] = box.checked; changed(); });
}
all('input[name="group"]').forEach((radio) => {
  if (radio.checked) state.group = radio.value;
  radio.addEventListener("change", () => { state.group = radio.value; state.lit = null; changed(); });
});
all('input[name="view"]').forEach((radio) => {
  if (radio.checked) state.view = radio.value;
  radio.addEventListener("change", () => { state.view = radio.value; changed(); });
});
// Pointing at a subgroup's name lifts its curve out of the others, on every card.
all(".group").forEach((chip) => {
  const light = (g) => { if (state.group === "each" && state.lit !== g) { state.lit = g; changed(); } };
  chip.addEventListener("pointerenter", () => light(+chip.dataset.group));
  chip.addEventListener("pointerleave", () => light(null));
  chip.addEventListener("focusin", () => light(+chip.dataset.group));
  chip.addEventListener("focusout", () => light(null));
});
if (byId("output")) {
  state.output = +byId("output").value;
  byId("output").addEventListener("change", () => { state.output = +byId("output").value; readings(); paintMatrix(); changed(); });
}
byId("search").addEventListener("input", find);
byId("sort").addEventListener("change", sort);
all("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.png, button.csv");
  if (!button) return;
  const item = button.closest(".card, .pair");
  if (button.classList.contains("csv")) saveCsv(item); else if (has) savePng(item);
});
all("details.table").forEach((details) => details.addEventListener("toggle", () => { if (details.open) fillTable(details); }));
document.addEventListener("pointerover", (event) => {
  const cell = event.target.closest ? event.target.closest("#matrix td") : null;
  const row = event.target.closest ? event.target.closest("#rows tr") : null;
  lightFeatures(cell ? [cell.dataset.row, cell.dataset.column] : row ? [row.dataset.feature] : []);
});
// "/" finds; j and k go from card to card.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === "/") { event.preventDefault(); byId("search").focus(); }
  if (event.key !== "j" && event.key !== "k") return;
  const shown = all(".card").filter((card) => !card.hidden), here = document.activeElement.closest ? document.activeElement.closest(".card") : null;
  const next = shown[here ? shown.indexOf(here) + (event.key === "j" ? 1 : -1) : 0];
  if (next) { next.querySelector("h3").focus({preventScroll: true}); next.scrollIntoView({block: "start"}); }
});
window.addEventListener("hashchange", () => {
  const card = /^#f\d+$/.test(location.hash) && byId(location.hash.slice(1));
  if (card && card.hidden) { byId("search").value = ""; find(); card.scrollIntoView(); }
});

// --- light, dark and paper -----------------------------------------------------------------------

const darkSystem = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme || (darkSystem.matches ? "dark" : "light")) === "dark";
function themeButton() {
  byId("theme").textContent = isDark() ? "Light" : "Dark";
  byId("theme").setAttribute("aria-pressed", String(isDark()));
  byId("theme").setAttribute("aria-label", "Dark theme");
}
byId("theme").addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; themeButton(); changed(); });
darkSystem.addEventListener("change", () => { themeButton(); changed(); });
let before = null;
window.addEventListener("beforeprint", () => {
  before = document.documentElement.dataset.theme || "";
  document.documentElement.dataset.theme = "light";
  version++;
  items.slice(0, 60).forEach(draw);
});
window.addEventListener("afterprint", () => {
  if (before) document.documentElement.dataset.theme = before; else delete document.documentElement.dataset.theme;
  changed();
  tidy();
});

themeButton();
find();
paintMatrix();
document.documentElement.dataset.ready = "yes";
})();
