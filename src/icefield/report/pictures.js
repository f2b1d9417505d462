// Pictures, each drawn when it scrolls into view. Names come from other people's data, and Plotly reads
// some markup: whatever it is given goes through safe().
const has = typeof Plotly !== "undefined";
const QUIET = {displayModeBar: false, responsive: true, doubleClick: false, showTips: false};
const DRAWN_AT_MOST = 40;
const safe = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/\$/g, "&#36;");
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

// --- one feature's picture -----------------------------------------------------------------------

// The stretch of a feature that its curve covers; data and ALE beyond it are not drawn.
function reach(panel, log) {
  if (panel.axis.kind === "category") return [-0.6, panel.axis.ticks.length - 0.4];
  const scaled = panel.x.slice(0, placed(panel)).map((v) => log ? Math.log10(v) : v);
  let low = Infinity, high = -Infinity;
  for (const v of scaled) { if (v < low) low = v; if (v > high) high = v; }
  if (!(low <= high)) return [0, 1];
  const step = scaled.length > 1 ? (high - low) / (2 * (scaled.length - 1)) : 0.5;
  const pad = Math.max(Math.min(step, (high - low) * 0.05), (high - low) * 0.015) || 0.5;
  return [low - pad, high + pad].map((v) => log ? 10 ** v : v);
}
function extent(panel, view) {
  const now = shownCurves(panel, view), parts = [now.average];
  if (view.bands && now.bands) parts.push(now.bands[0], now.bands[4]);
  const [first, last] = reach(panel, view.log);
  if (view.ale && now.ale) parts.push(now.ale.filter((_, i) => panel.ale.x[i] >= first && panel.ale.x[i] <= last));
  parts.push(...now.groups.filter((_, g) => isShown(view, g)));
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
// The shared axis holds every feature with all of its groups, so that cards of one output stay comparable
// whichever group each shows. Outputs, and levels and changes, have axes of their own: their units may differ.
let commonRanges = new Map(), commonAt = -1;
function commonRange(view) {
  if (commonAt !== version) { commonRanges = new Map(); commonAt = version; }
  const key = `${view.output} ${view.centre}`;
  if (!commonRanges.has(key)) {
    const ranges = data.features.map((panel) => extent(panel, {...view, group: "each", log: false}));
    commonRanges.set(key, ranges.reduce((a, b) => [Math.min(a[0], b[0]), Math.max(a[1], b[1])], [Infinity, -Infinity]));
  }
  return padded(commonRanges.get(key));
}

function axisOf(axis, colour, room) {
  const base = {color: colour.muted, gridcolor: colour.faint, zeroline: false, linecolor: colour.rule, fixedrange: true, automargin: true,
    ticks: "outside", ticklen: 3, tickcolor: colour.rule, showgrid: false, title: {text: safe(short(axis.label, Math.min(60, 8 * room))), standoff: 6, font: {size: 13}}};
  if (axis.kind === "time") return {...base, type: "date"};
  if (axis.kind !== "category") return {...base, type: "linear", ...(axis.kind === "integer" ? {tickformat: ",d", dtick: null} : {})};
  const every = Math.max(1, Math.ceil(axis.ticks.length / room));
  const limit = axis.ticks.length > 10 ? 14 : 24;
  const at = axis.ticks.map((_, i) => i).filter((i) => i % every === 0);
  return {...base, type: "linear", tickvals: at, ticktext: at.map((i) => safe(short(axis.ticks[i], limit))), range: [-0.6, axis.ticks.length - 0.4]};
}
// Ticks at round numbers: 1, 2, 5 within a few powers of ten, the powers alone over many.
function logAxis([low, high], room) {
  const powers = Math.log10(high / low), at = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++) {
    for (const m of powers > 4 ? [1] : powers > 2.2 ? [1, 3] : [1, 2, 5]) at.push(m * 10 ** e);
  }
  const inside = at.filter((v) => v >= low && v <= high), every = Math.max(1, Math.ceil(inside.length / room));
  const tickvals = inside.filter((_, i) => i % every === 0);
  return {type: "log", range: [Math.log10(low), Math.log10(high)], tickvals, ticktext: tickvals.map(said), tickformat: null};
}

function drawCard(card) {
  const panel = panelOf(card), view = viewOf(card);
  const colour = colours(), now = shownCurves(panel, view), levels = panel.axis.kind === "category";
  const n = placed(panel), x = panel.x.slice(0, n), cut = (list) => list.slice(0, n);
  const traces = [];
  const quiet = {hoverinfo: "skip", showlegend: false};
  // Beside groups, all rows stand back.
  const [main, share] = view.group === "none" ? [colour.accent, 1] : [colour.muted, 0.5];
  if (view.data && panel.histogram) traces.push(...dataBars(panel, levels, colour, quiet));
  if (view.bands && now.bands) traces.push(...bandTraces(now.bands.map(cut), x, levels, share, colour, quiet));
  if (now.curves) traces.push(curvesTrace(now.curves.map(cut), x, share, colour));
  if (now.error && !levels) {
    const up = cut(now.average).map((v, i) => v + 1.96 * now.error[i]), down = cut(now.average).map((v, i) => v - 1.96 * now.error[i]);
    traces.push({...quiet, type: "scatter", mode: "lines", x: x.concat([...x].reverse()), y: up.concat([...down].reverse()),
      fill: "toself", fillcolor: faded(main, 0.28), line: {width: 0}});
  }
  if (view.ale && now.ale) {
    traces.push({type: "scatter", mode: levels ? "markers" : "lines", x: levels ? panel.ale.x.map((v) => v + 0.16) : panel.ale.x, y: now.ale, name: "ALE", showlegend: false,
      line: {color: colour.second, width: 1.6, dash: "5px,3px"}, marker: {color: colour.second, symbol: "diamond-open", size: 9, line: {width: 1.5}}, hoverinfo: "skip"});
  }
  now.groups.forEach((curve, g) => {
    if (!isShown(view, g)) return;
    const alone = onlyGroup(view) !== null, {opacity, width} = groupStyle(g, alone);
    // Groups of a level stand beside its average, not on it.
    const aside = alone ? 0.16 : 0.16 + Math.min(0.1, 0.3 / now.groups.length) * (now.groups.length - 1 - g);
    traces.push({type: "scatter", mode: levels ? "markers" : "lines", x: levels ? x.map((v) => v - aside) : x, y: cut(curve), showlegend: false,
      name: safe(short(data.groups[g], 40)), meta: {group: g}, opacity, line: {color: colour.groups[g % 8], width}, marker: {color: colour.groups[g % 8], size: 7},
      text: cut(panel.points).map((p, i) => `${safe(data.groups[g])}<br>${safe(p)}: ${said(curve[i])}`), hovertemplate: "%{text}<extra></extra>"});
  });
  const text = panel.points.map((_, i) => hoverText(panel, now, i));
  traces.push({type: "scatter", mode: levels ? "markers" : n < 3 ? "lines+markers" : "lines", x, y: cut(now.average), showlegend: false, name: "all rows", meta: "average",
    line: {color: main, width: 2.4}, marker: {color: main, size: levels ? 9 : 7}, text: cut(text), hovertemplate: "%{text}<extra></extra>"});
  if (n < panel.x.length) {
    traces.push({type: "scatter", mode: "markers", x: [0], y: [now.average[n]], xaxis: "x2", showlegend: false,
      marker: {color: main, size: 9}, text: [text[n]], hovertemplate: "%{text}<extra></extra>"});
    if (view.bands && now.bands) traces.push(...missingBand(now.bands, n, share, colour, quiet));
  }
  traces.push(litTrace(panel, now, x, cut, colour));
  const place = card.querySelector(".plot"), wide = place.clientWidth || 600, legend = card.querySelector(".legend");
  const layout = baseLayout(colour, panel, view, wide, n < panel.x.length);
  // The names of the groups lie on the picture's upper edge, so that showing them moves nothing on the page.
  if (legend) layout.margin.t += legend.offsetHeight;
  layout.yaxis.title.text = upright(view, place.clientHeight || 320, layout.margin);
  const range = reach(panel, view.log);
  Object.assign(layout.xaxis, view.log ? logAxis(range, Math.max(4, Math.floor(wide / 60))) : {range});
  layout.yaxis.range = view.shared ? commonRange(view) : padded(extent(panel, view));
  layout.shapes = levels ? lowLevels(panel, colour) : lowStretches(panel, n, colour);
  return show(place, traces, layout);
}
// Among several groups, the one pointed at stands out.
function groupStyle(g, alone) {
  const lit = state.lit === g;
  return {opacity: alone || lit || state.lit === null ? 1 : 0.22, width: alone || lit ? 3 : 1.8};
}

// What the upright axis measures, in as many letters as fit beside it.
function upright(view, height, margin) {
  const words = (view.centre ? "change in " : "") + data.what + (data.outputs.length > 1 ? " of " + data.outputs[view.output] : "");
  const middle = margin.t + (view.data ? 0.425 : 0.5) * (height - margin.t - margin.b);
  return safe(short(words, Math.floor(2 * Math.min(middle, height - middle) / 7.2)));
}
function baseLayout(colour, panel, view, wide, gap) {
  const layout = {
    font: {family: css("--sans"), size: 12, color: colour.muted}, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    margin: {l: 56, r: 10, t: 10, b: 44}, hovermode: "closest", hoverdistance: 40, dragmode: false, bargap: 0.06, autosize: true,
    hoverlabel: {bgcolor: colour.paper, bordercolor: colour.rule, font: {color: colour.ink, size: 12, family: css("--sans")}, align: "left"},
    xaxis: {...axisOf(panel.axis, colour, Math.max(4, Math.floor(wide / 60))), anchor: "y2", domain: gap ? [0, wide < 480 ? 0.8 : 0.9] : [0, 1]},
    yaxis: {color: colour.muted, gridcolor: colour.faint, zeroline: false, fixedrange: true, domain: view.data ? [0.15, 1] : [0, 1], nticks: 6,
      automargin: true, title: {standoff: 8, font: {size: 13}}},
    yaxis2: {domain: view.data ? [0, 0.12] : [0, 0.001], visible: false, fixedrange: true, rangemode: "tozero"},
  };
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
function bandTraces(bands, x, levels, share, colour, quiet) {
  const pair = (low, high, alpha, width) => {
    if (levels) {
      const xs = [], ys = [];
      x.forEach((v, i) => { xs.push(v, v, null); ys.push(low[i], high[i], null); });
      return {...quiet, type: "scatter", mode: "lines", x: xs, y: ys, line: {color: faded(colour.accent, share * alpha), width}};
    }
    return {...quiet, type: "scatter", mode: "lines", x: x.concat([...x].reverse()), y: high.concat([...low].reverse()),
      fill: "toself", fillcolor: faded(colour.accent, share * alpha), line: {width: 0}};
  };
  return [pair(bands[0], bands[4], levels ? 0.2 : 0.11, 5), pair(bands[1], bands[3], levels ? 0.34 : 0.17, 13)];
}
function missingBand(bands, n, share, colour, quiet) {
  return [[0, 4, 0.2, 5], [1, 3, 0.34, 13]].map(([a, b, alpha, width]) => (
    {...quiet, type: "scatter", mode: "lines", xaxis: "x2", x: [0, 0], y: [bands[a][n], bands[b][n]], line: {color: faded(colour.accent, share * alpha), width}}));
}
// All rows' curves are one trace with gaps; a point's number tells the row.
function curvesTrace(curves, x, share, colour) {
  const xs = [], ys = [];
  for (const curve of curves) { for (let i = 0; i < x.length; i++) { xs.push(x[i]); ys.push(curve[i]); } xs.push(null); ys.push(null); }
  return {type: "scatter", mode: "lines", x: xs, y: ys, line: {color: faded(colour.ink, share * 0.13), width: 1}, showlegend: false, hoverinfo: "none", meta: "curves"};
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
  const layout = {...baseLayout(colour, {axis: pair.axes[0]}, state, 420, false), margin: {l: 60, r: 8, t: 10, b: 46}};
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
  const n = placed(panel), x = panel.x.slice(0, n);
  const curve = (values, mean, name, ink, width, dash) => ({type: "scatter", mode: levels ? "markers" : "lines", x, y: minus(values.slice(0, n), mean), showlegend: false,
    line: {color: ink, width, dash}, marker: {color: ink, size: 9}, text: panel.points.slice(0, n).map((p, i) => `${safe(short(name, 60))}<br>${safe(p)}: ${said(values[i] - mean)}`), hovertemplate: "%{text}<extra></extra>"});
  const traces = [curve(panel.average[o], panel.mean[o], "all rows", colour.muted, 1.6, "4px,3px")];
  panel.groups.forEach((g, i) => traces.push(curve(g.average[o], g.mean[o], panel.rules[i], colour.groups[i % 8], 2.3)));
  const layout = baseLayout(colour, panel, state, article.clientWidth / 2, false);
  delete layout.yaxis2;
  layout.xaxis.anchor = "y";
  layout.yaxis.domain = [0, 1];
  layout.yaxis.title.text = safe(short("change in " + data.what, 30));
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
    const panel = panelOf(card);
    lightRow(panel.rows[Math.floor(point.pointNumber / (placed(panel) + 1))]);
  });
  place.on("plotly_unhover", () => lightRow(null));
}
function lightRow(row) {
  if (state.row === row) return;
  state.row = row;
  const colour = colours();
  for (const card of drawn) {
    if (!card.classList.contains("card")) continue;
    const place = card.querySelector(".plot"), at = place.data.findIndex((t) => t.meta === "lit");
    const panel = panelOf(card), n = placed(panel);
    const lit = litTrace(panel, shownCurves(panel, viewOf(card)), panel.x.slice(0, n), (l) => l.slice(0, n), colour);
    Plotly.restyle(place, {x: [lit.x], y: [lit.y]}, [at]);
  }
}
// Pointing at a group's name lifts its curve out of the others, on every card that shows them.
function lightGroup(group) {
  if (state.lit === group) return;
  state.lit = group;
  for (const card of drawn) {
    if (!card.classList.contains("card") || viewOf(card).group !== "each") continue;
    if (!visible.has(card)) { made.delete(card); continue; }
    const place = card.querySelector(".plot"), at = place.data.flatMap((t, i) => t.meta && t.meta.group !== undefined ? [i] : []);
    const styles = at.map((i) => groupStyle(place.data[i].meta.group, false));
    if (at.length) Plotly.restyle(place, {opacity: styles.map((s) => s.opacity), "line.width": styles.map((s) => s.width)}, at);
  }
}

// --- drawing what is in view ---------------------------------------------------------------------

const drawn = new Set(), visible = new Set(), made = new WeakMap();
let version = 0;  // rises with every change for all: a picture with an older number is drawn again
function draw(item) {
  if (!has || item.hidden || made.get(item) === version) return;
  made.set(item, version);
  drawn.delete(item);
  drawn.add(item);
  if (item.classList.contains("card")) { equip(item); drawCard(item); }
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
// One card was changed, or without one everything.
let waiting = false;
function changed(card) {
  if (card) made.delete(card); else version++;
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
