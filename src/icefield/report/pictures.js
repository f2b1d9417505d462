// Pictures, each drawn when it scrolls into view. Names come from other people's data, and Plotly reads
// some markup: whatever it is given goes through safe().
const has = typeof Plotly !== "undefined";
const QUIET = {displayModeBar: false, responsive: true, doubleClick: false, showTips: false};
const DRAWN_AT_MOST = 40;
const TALL = 20;  // levels, beyond which the foot of a picture is out of sight
const HOVERED_GROUPS = 12;
const LETTER = 7.4;  // width of a letter of an axis's title; a tick's is smaller
const TICK_LETTER = 6.7;
// Plain numbers up to six digits, powers of ten beyond: a reader need not know that µ is a millionth.
const NUMBERS = {exponentformat: "power", minexponent: 5};
const safe = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/\$/g, "&#36;");
function colours() {
  const names = ["paper", "ink", "muted", "rule", "faint", "accent", "second", "low", "bar"];
  const found = Object.fromEntries(names.map((n) => [n, css("--" + n)]));
  found.groups = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => css("--g" + i));
  return found;
}
// There are eight colours; further groups have them again, dashed or hollow.
const ROUNDS = [["solid", "circle"], ["6px,3px", "circle-open"], ["2px,2px", "square-open"]];
function groupInk(g, colour) {
  const [dash, symbol] = ROUNDS[Math.floor(g / 8) % 3];
  return {ink: colour.groups[g % 8], dash, symbol};
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
  if (now.observed) parts.push(...now.observed.map((list) => list.filter((_, i) => panel.observed.x[i] >= first && panel.observed.x[i] <= last)));
  if (now.observedMissing && placed(panel) < panel.x.length) parts.push(now.observedMissing);
  if (now.curves) parts.push(...now.curves);
  let low = Infinity, high = -Infinity;
  for (const part of parts) for (const v of part) if (v !== null) { if (v < low) low = v; if (v > high) high = v; }
  // Bands around the average may reach where no probability is; the axis does not.
  return data.probability && !view.centre ? [Math.max(0, low), Math.min(1, high)] : [low, high];
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

// An axis of so many pixels; levels' names get `limit` letters.
function axisOf(axis, colour, along, limit = 24) {
  const base = {color: colour.muted, gridcolor: colour.faint, zeroline: false, linecolor: colour.rule, fixedrange: true, automargin: true, ...NUMBERS,
    ticks: "outside", ticklen: 3, tickcolor: colour.rule, showgrid: false, title: {text: safe(short(axis.label, Math.min(60, Math.floor(along / LETTER)))), standoff: 6, font: {size: 13}}};
  if (axis.kind === "time") return {...base, type: "date", nticks: Math.max(3, Math.floor(along / 80))};
  if (axis.kind !== "category") return {...base, type: "linear"};
  const count = axis.ticks.length, every = Math.max(1, Math.ceil(count * 11 / along)), names = cutApart(axis.ticks, limit);
  const at = axis.ticks.map((_, i) => i).filter((i) => i % every === 0);
  return {...base, type: "linear", tickvals: at, ticktext: at.map((i) => safe(names[i])), range: [-0.6, count - 0.4], ...(along < 14 * count ? {tickfont: {size: 10}} : {})};
}
// As many upright numbers as fit side by side. Whole numbers have whole ticks, and years no comma.
function numberTicks(axis, [low, high], along) {
  if (axis.kind !== "integer" && axis.kind !== "number") return {};
  if (axis.named && axis.named.length) return {tickangle: 0, tickvals: axis.named.map((t) => t[0]), ticktext: axis.named.map((t) => t[1])};
  const largest = Math.max(Math.abs(low), Math.abs(high)), decimals = Math.max(0, -Math.floor(Math.log10((high - low) / 5 || 1)));
  const letters = largest >= 1e6 || largest < 1e-5 ? 8 : Math.round(largest).toLocaleString("en").length + (decimals && decimals + 1) + (low < 0 ? 1 : 0);
  const raw = (high - low) / Math.min(8, Math.max(3, Math.floor(along / ((letters + 2.2) * TICK_LETTER)))) || 1, size = 10 ** Math.floor(Math.log10(raw));
  const step = size * [1, 2, 2.5, 5, 10].find((m) => m * size >= raw * 0.85);
  return axis.kind === "number" ? {tickangle: 0, dtick: step} : {tickangle: 0, dtick: Math.max(1, Math.ceil(step)), tickformat: largest < 10000 ? "d" : ",d"};
}
// Levels whose names do not fit side by side stand one above the other.
const narrow = window.matchMedia("screen and (max-width: 52rem)");
const onPaper = () => document.documentElement.classList.contains("paper");
function pictureWidth() {
  const wide = byId("cards").clientWidth;
  return narrow.matches || onPaper() ? wide : wide - 315;
}
function isLying(panel, wide) {
  const {kind, ticks} = panel.axis;
  return kind === "category" && ticks.length * (2 + Math.max(0, ...ticks.map((name) => name.length))) * TICK_LETTER > wide - 70;
}
// Pictures with many levels are taller; said before they are drawn, so that nothing moves then.
function makeRoom() {
  const wide = pictureWidth();
  const room = (item, panel, lying) => { item.classList.toggle("lying", lying); item.style.setProperty("--levels", panel.axis.ticks.length); };
  cards.forEach((card) => { const panel = panelOf(card); if (panel.axis.kind === "category") room(card, panel, isLying(panel, wide)); });
  all(".region").forEach((part) => { const panel = data.regions[+part.dataset.region]; if (panel.axis.kind === "category") room(part, panel, isLying(panel, part.querySelector(".plot").clientWidth)); });
  data.surfaces.forEach((pair, i) => { if (pair.axes[1].kind === "category") byId("s" + i).style.setProperty("--levels", pair.y.length); });
  document.documentElement.style.setProperty("--step", `${onPaper() ? 16 : 17 + Math.min(10, data.groups.length)}px`);
}
// The same picture with the levels from top to bottom.
function lieDown(traces, layout, wide) {
  const {xaxis: level, yaxis: value, yaxis2: counts} = layout, names = Math.min(44, Math.floor(0.4 * wide / TICK_LETTER));
  const tall = layout.meta.ticks.length > TALL, margin = {...layout.margin, ...(tall ? {t: layout.margin.t + 36, b: 10} : {})};
  const turned = traces.map(({x, y, yaxis, ...rest}) => ({...rest, x: y, y: x, xaxis: yaxis === "y2" ? "x2" : "x", yaxis: "y", ...(rest.type === "bar" ? {orientation: "h"} : {})}));
  const shapes = (layout.shapes || []).map(({x0, x1, ...rest}) => ({...rest, xref: "x domain", yref: "y", x0: 0, x1: 1, y0: x0, y1: x1}));
  const found = {...layout, shapes, margin, xaxis: {...value, domain: counts && counts.domain[1] > 0.01 ? [0, 0.86] : [0, 1], title: {...value.title, standoff: 6}, anchor: "y", showgrid: true,
      side: tall ? "top" : "bottom"},
    yaxis: {...level, domain: [0, 1], anchor: "x", range: [...level.range].reverse(), title: undefined, ticktext: cutApart(layout.meta.ticks, names).map(safe), tickvals: layout.meta.ticks.map((_, i) => i)}};
  delete found.yaxis2;
  if (counts) found.xaxis2 = {...counts, domain: [0.88, 1], anchor: "y"};
  return [turned, found];
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
  const panel = panelOf(card), view = viewOf(card), lying = card.classList.contains("lying");
  const colour = colours(), now = shownCurves(panel, view), levels = panel.axis.kind === "category";
  const n = placed(panel), x = panel.x.slice(0, n), cut = (list) => list.slice(0, n);
  const traces = [];
  const quiet = {hoverinfo: "skip", showlegend: false};
  // Beside groups, all rows stand back.
  const [main, share] = view.group === "none" ? [colour.accent, 1] : [data.models ? "rgba(0,0,0,0)" : colour.muted, 0.5];
  if (view.data && panel.histogram) traces.push(...dataBars(panel, levels, view.log, colour, quiet));
  if (view.bands && now.bands) traces.push(...bandTraces(now.bands.map(cut), x, levels, share, colour, quiet));
  if (now.curves) traces.push(curvesTrace(now.curves.map(cut), x, share, colour));
  if (now.error && !levels) {
    const up = cut(now.average).map((v, i) => v + 1.96 * now.error[i]), down = cut(now.average).map((v, i) => v - 1.96 * now.error[i]);
    traces.push({...quiet, type: "scatter", mode: "lines", x: x.concat([...x].reverse()), y: up.concat([...down].reverse()),
      fill: "toself", fillcolor: faded(main, 0.28), line: {width: 0}});
  }
  if (view.ale && now.ale) {
    traces.push({type: "scatter", mode: levels ? "markers" : "lines", x: levels ? panel.ale.x.map((v) => v + 0.16) : panel.ale.x, y: now.ale, name: "ALE", meta: "ale", showlegend: false,
      line: {color: colour.second, width: 1.6, dash: "5px,3px"}, marker: {color: colour.second, symbol: "diamond-open", size: 9, line: {width: 1.5}}, hoverinfo: "skip"});
  }
  if (now.observed) traces.push(...observedTraces(panel, now, levels, colour));
  now.groups.forEach((curve, g) => {
    if (!isShown(view, g)) return;
    const alone = onlyGroup(view) !== null, {opacity, width} = groupStyle(g, alone), {ink, dash, symbol} = groupInk(g, colour);
    // Groups of a level stand beside its average, not on it.
    const aside = alone ? 0.16 : 0.16 + Math.min(0.1, 0.3 / now.groups.length) * (now.groups.length - 1 - g);
    traces.push({type: "scatter", mode: levels ? "markers" : "lines", x: levels ? x.map((v) => v - aside) : x, y: cut(curve), showlegend: false,
      name: safe(short(data.groups[g], 40)), meta: {group: g}, opacity, line: {color: ink, width, dash}, marker: {color: ink, symbol, size: now.groups.length > 4 && !alone ? 6 : 7, line: {width: 1.5, color: ink}},
      text: cut(panel.points).map((p, i) => `${safe(data.groups[g])}<br>${safe(p)}: ${said(curve[i])}`), hoverinfo: levels ? "text" : "skip"});
  });
  const text = panel.points.map((_, i) => hoverText(panel, view, now, i));
  traces.push({type: "scatter", mode: levels ? "markers" : n < 3 ? "lines+markers" : "lines", x, y: cut(now.average), showlegend: false, name: view.group === "none" ? "average (partial dependence)" : "all rows", meta: "average",
    line: {color: main, width: 2.4}, marker: {color: main, size: levels ? 9 : 7}, text: cut(text), hoverinfo: "text"});
  if (n < panel.x.length) {
    traces.push({type: "scatter", mode: "markers", x: [0], y: [now.average[n]], xaxis: "x2", showlegend: false,
      marker: {color: main, size: 9}, text: [text[n]], hoverinfo: "text"});
    if (view.bands && now.bands) traces.push(...missingBand(now.bands, n, share, colour, quiet));
    if (now.observedMissing) traces.push(...meanMarks([0.28], now.observedMissing.map((v) => [v]), ["missing"], colour, "x2"));
    if (view.group !== "none") traces.push(missingGroups(now.groups, n, view, colour));
  }
  const place = card.querySelector(".plot"), legend = card.querySelector(".legend");
  // The names of the groups lie on the picture's upper edge, so that showing a few moves nothing on the page.
  const named = legend ? legend.offsetHeight : 0;
  card.style.setProperty("--named", `${Math.max(0, named - (onPaper() ? 0 : 56))}px`);
  const wide = place.clientWidth || 600, layout = baseLayout(colour, panel, view, wide, n < panel.x.length);
  layout.margin.t += named;
  layout.yaxis.title.text = upright(view, lying ? wide - 80 : (place.clientHeight || 320) - layout.margin.t - layout.margin.b);
  const range = reach(panel, view.log);
  Object.assign(layout.xaxis, view.log ? logAxis(range, Math.max(4, Math.floor(wide / 60))) : {range, ...numberTicks(panel.axis, range, layout.xaxis.domain[1] * (wide - 66))});
  if (!levels) Object.assign(layout, {hovermode: "x", hoverdistance: -1});
  traces.push(litTrace(card, panel, now, x, colour));
  layout.yaxis.range = view.shared ? commonRange(view) : padded(extent(panel, view));
  layout.shapes = levels ? lowLevels(panel, colour) : lowStretches(panel, n, colour);
  return show(place, ...(lying ? lieDown(traces, {...layout, meta: panel.axis}, wide) : [traces, layout]));
}
// Among several groups, the one pointed at stands out.
function groupStyle(g, alone) {
  const lit = state.lit === g;
  return {opacity: alone || lit || state.lit === null ? 1 : 0.22, width: alone || lit ? 3 : 1.8};
}

// What the prediction's axis measures, in as many letters as fit along it.
function upright(view, along) {
  const words = (view.centre ? "change in " : "") + data.what + (data.outputs.length > 1 ? " of " + data.outputs[view.output] : "");
  return inLines(words, Math.max(8, Math.floor((view.data ? 0.85 : 1) * along / LETTER))).map(safe).join("<br>");
}
function baseLayout(colour, panel, view, wide, gap) {
  // The missing point's name is as wide as ever on a narrow page.
  const [end, start] = !gap ? [1, 1] : wide < 480 ? [0.72, 0.8] : [0.88, 0.91];
  const layout = {
    font: {family: css("--sans"), size: 12, color: colour.muted}, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    margin: {l: 56, r: 10, t: 10, b: 44}, hovermode: "closest", hoverdistance: 40, dragmode: false, bargap: 0.06, autosize: true,
    hoverlabel: {bgcolor: colour.paper, bordercolor: colour.rule, font: {color: colour.ink, size: 12, family: css("--sans")}, align: "left"},
    xaxis: {...axisOf(panel.axis, colour, end * (wide - 66), 60), anchor: "y2", domain: [0, end]},
    yaxis: {color: colour.muted, gridcolor: colour.faint, zeroline: false, fixedrange: true, domain: view.data ? [0.15, 1] : [0, 1], nticks: 6, ...NUMBERS,
      automargin: true, title: {standoff: 8, font: {size: 13}}},
    yaxis2: {domain: view.data ? [0, 0.12] : [0, 0.001], visible: false, fixedrange: true, rangemode: "tozero"},
  };
  if (gap) layout.xaxis2 = {...axisOf({label: "", kind: "category", ticks: ["missing"]}, colour, 60), domain: [start, 1], anchor: "y2", range: [-1, 1]};
  return layout;
}
function hoverText(panel, view, now, i) {
  const lines = [`<b>${safe(panel.points[i])}</b>`];
  if (!data.models) lines.push(`average ${said(now.average[i])}${now.error ? " ± " + said(1.96 * now.error[i]) : ""}`);
  if (now.bands) lines.push(`half of the rows ${said(now.bands[1][i])} to ${said(now.bands[3][i])}`, `90 % of them ${said(now.bands[0][i])} to ${said(now.bands[4][i])}`);
  if (now.observed && panel.axis.kind !== "category" && i < placed(panel)) lines.push(observedNear(panel, now, i));
  if (panel.support) lines.push(`${percent(panel.support[i])} of the rows could be here`);
  const shown = now.groups.flatMap((curve, g) => isShown(view, g) ? [`${safe(short(data.groups[g], 40))} ${said(curve[i])}`] : []);
  lines.push(...shown.slice(0, HOVERED_GROUPS));
  if (shown.length > HOVERED_GROUPS) lines.push(`and ${shown.length - HOVERED_GROUPS} more`);
  return lines.join("<br>");
}
// The group of rows whose mean lies nearest to a point.
function observedNear(panel, now, i) {
  const {x, points} = panel.observed, far = (k) => Math.abs(x[k] - panel.x[i]), k = x.reduce((best, _, j) => far(j) < far(best) ? j : best, 0);
  return `observed ${said(now.observed[0][k])}, predicted ${said(now.observed[1][k])} (${safe(points[k])})`;
}
function dataBars(panel, levels, log, colour, quiet) {
  const bars = {...quiet, type: "bar", yaxis: "y2", marker: {color: colour.bar, line: {width: 0}}};
  const h = panel.histogram, out = [];
  if (levels) return [{...bars, x: panel.x, y: h.share, width: 0.7}];
  if (h.edges && h.edges.length > 1) {
    const mid = h.share.map((_, i) => (h.edges[i] + h.edges[i + 1]) / 2), width = h.share.map((_, i) => h.edges[i + 1] - h.edges[i]);
    // On a logarithmic axis bins are of unequal width; a bar's area still is its share.
    const y = log ? h.share.map((v, i) => v / Math.log(h.edges[i + 1] / h.edges[i])) : h.share;
    out.push({...bars, x: mid, y, width});
  }
  if (panel.axis.missing !== null && h.missing && !log) out.push({...bars, x: [0], y: [h.missing], width: [0.8], xaxis: "x2"});
  return out;
}
function bandTraces(bands, x, levels, share, colour, quiet) {
  const pair = (low, high, alpha, width, name) => {
    quiet = {...quiet, name, meta: "band"};
    if (levels) {
      const xs = [], ys = [];
      x.forEach((v, i) => { xs.push(v, v, null); ys.push(low[i], high[i], null); });
      return {...quiet, type: "scatter", mode: "lines", x: xs, y: ys, line: {color: faded(colour.accent, share * alpha), width}};
    }
    return {...quiet, type: "scatter", mode: "lines", x: x.concat([...x].reverse()), y: high.concat([...low].reverse()),
      fill: "toself", fillcolor: faded(colour.accent, share * alpha), line: {width: 0}};
  };
  return [pair(bands[0], bands[4], levels ? 0.2 : 0.11, 5, "90 % of rows, around their means"), pair(bands[1], bands[3], levels ? 0.34 : 0.17, 13, "middle half of rows")];
}
// What was observed and what was predicted of the rows near a place: a ring and a dash, joined where they are apart.
function observedTraces(panel, now, levels, colour) {
  const {x, points} = panel.observed, [low, high] = reach(panel, false), inside = x.map((_, i) => i).filter((i) => x[i] >= low && x[i] <= high);
  const pick = (list) => inside.map((i) => list[i]);
  const marks = meanMarks(pick(x).map((v) => levels ? v + 0.28 : v), now.observed.map(pick), pick(points), colour, "x");
  return levels ? marks : marks.map((mark) => ({...mark, hoverinfo: "skip"}));  // beside a number's own labels there is no room
}
function meanMarks(x, [truth, predicted], points, colour, xaxis) {
  const text = points.map((p, i) => `${safe(p)}<br>observed ${said(truth[i])}<br>predicted ${said(predicted[i])}`);
  const base = {type: "scatter", mode: "markers", x, xaxis, showlegend: false, text, hoverinfo: "text"};
  const joins = {...base, mode: "lines", x: x.flatMap((v) => [v, v, null]), y: truth.flatMap((v, i) => [v, predicted[i], null]), text: undefined, hoverinfo: "skip", line: {color: faded(colour.ink, 0.45), width: 1}};
  return [joins,
    {...base, y: predicted, name: "mean predicted", meta: "predicted", marker: {symbol: "line-ew", size: 9, color: colour.ink, line: {width: 1.6, color: colour.ink}}},
    {...base, y: truth, name: "mean observed", meta: "observed", marker: {symbol: "circle", size: 7, color: colour.paper, line: {width: 1.5, color: colour.ink}}}];
}
function missingBand(bands, n, share, colour, quiet) {
  return [[0, 4, 0.2, 5], [1, 3, 0.34, 13]].map(([a, b, alpha, width]) => (
    {...quiet, type: "scatter", mode: "lines", xaxis: "x2", x: [0, 0], y: [bands[a][n], bands[b][n]], line: {color: faded(colour.accent, share * alpha), width}}));
}
// The groups shown, at the missing value: one trace, so that a group stays one curve.
function missingGroups(groups, n, view, colour) {
  const shown = groups.map((_, g) => g).filter((g) => isShown(view, g)), alone = onlyGroup(view) !== null;
  const inks = shown.map((g) => groupInk(g, colour)), step = Math.min(0.12, 0.9 / shown.length);
  return {type: "scatter", mode: "markers", xaxis: "x2", x: shown.map((_, i) => -0.25 - step * (shown.length - 1 - i) * 0.7), y: shown.map((g) => groups[g][n]), showlegend: false, meta: "missing groups", customdata: shown,
    marker: {size: 6, color: inks.map((s) => s.ink), symbol: inks.map((s) => s.symbol), opacity: shown.map((g) => groupStyle(g, alone).opacity), line: {width: 1.5, color: inks.map((s) => s.ink)}}, hoverinfo: "skip"};
}
// All rows' curves are one trace with gaps.
function curvesTrace(curves, x, share, colour) {
  const xs = [], ys = [];
  for (const curve of curves) { for (let i = 0; i < x.length; i++) { xs.push(x[i]); ys.push(curve[i]); } xs.push(null); ys.push(null); }
  return {type: "scatter", mode: "lines", x: xs, y: ys, line: {color: faded(colour.ink, share * 0.13), width: 1}, showlegend: false, hoverinfo: "skip", meta: "curves"};
}
// One row's curve, with its number and value written on it: at the point pointed at, or at its end elsewhere.
function litTrace(card, panel, now, x, colour) {
  const known = state.row !== null && now.curves && panel.rows ? panel.rows.indexOf(state.row) : -1, base = {type: "scatter", mode: "lines+text", hoverinfo: "skip", showlegend: false,
    line: {color: colour.ink, width: 2.4}, textfont: {color: colour.ink, size: 12}, meta: "lit", cliponaxis: false};
  if (known < 0) return {...base, x: [], y: [], text: []};
  const y = now.curves[known].slice(0, x.length), at = state.pointed && state.pointed.card === card ? state.pointed.at : x.length - 1;
  return {...base, x, y, text: x.map((_, i) => i === at ? `row ${state.row}: ${said(y[i])}` : ""), textposition: at < x.length / 2 ? "top right" : "top left"};
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
// Away from the ground's own colour on both sides, so that what is far from nothing stands out most.
const DIVERGING = {
  light: (middle) => [[0, "#174f80"], [0.25, "#7fb0d3"], [0.5, middle], [0.75, "#e8a07c"], [1, "#9c3318"]],
  dark: (middle) => [[0, "#a8dcff"], [0.25, "#3d79a8"], [0.5, middle], [0.75, "#b0562f"], [1, "#ffc3a0"]],
};
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
  const place = figure.querySelector(".plot"), high = (place.clientHeight || 368) - 60, wide = (place.clientWidth || 420) - (pair.axes[1].kind === "category" ? 180 : 130);
  const layout = {...baseLayout(colour, {axis: pair.axes[0]}, state, 420, false), margin: {l: 60, r: 8, t: 10, b: 46}};
  const scale = {thickness: 9, len: 1, outlinewidth: 0, tickfont: {color: colour.muted, size: 11}, nticks: 6, ...NUMBERS};
  layout.xaxis = {...whole(axisOf(pair.axes[0], colour, wide, 16)), ...numberTicks(pair.axes[0], ends(pair.x), wide)};
  layout.yaxis = {...whole(axisOf(pair.axes[1], colour, high, wide < 260 ? 12 : 18)), ...numberTicks(pair.axes[1], ends(pair.y), high)};
  delete layout.yaxis2;
  layout.plot_bgcolor = colour.faint;
  const trace = {type: "heatmap", x: pair.x, y: pair.y, z, text, hoverinfo: "text", hoverongaps: false, colorbar: scale,
    colorscale: pure ? DIVERGING[isDark() ? "dark" : "light"](colour.paper) : VIRIDIS, ...(pure ? {zmin: -reach, zmax: reach} : {})};
  return show(place, [trace, crosses(pair, hidden, colour)], layout);
}
// Cells without data are crossed out: an empty one could be taken for nothing happening there.
function crosses(pair, hidden, colour) {
  const x = [], y = [];
  pair.x.forEach((a, i) => pair.y.forEach((b, j) => { if (hidden(i, j)) { x.push(a); y.push(b); } }));
  return {type: "scatter", mode: "markers", x, y, hoverinfo: "skip", showlegend: false, meta: "hidden", marker: {symbol: "x-thin", size: 6, line: {width: 1, color: colour.muted}}};
}
const ends = (list) => [Math.min(...list), Math.max(...list)];
const whole = (axis) => axis.range ? {...axis, range: [axis.range[0] + 0.1, axis.range[1] - 0.1]} : axis;
function drawRegion(article) {
  const panel = data.regions[+article.dataset.region], colour = colours(), levels = panel.axis.kind === "category";
  const n = placed(panel), x = panel.x.slice(0, n), place = article.querySelector(".plot"), wide = place.clientWidth || 500;
  const traces = regionCurves(panel).map(({name, values}, i) => {
    const {ink, dash, symbol} = i ? groupInk(i - 1, colour) : {ink: colour.muted, dash: "4px,3px", symbol: "circle"};
    return {type: "scatter", mode: levels ? "markers" : "lines", x, y: values.slice(0, n), showlegend: false, name: safe(short(name, 60)), meta: "rule", line: {color: ink, width: i ? 2.3 : 1.6, dash}, marker: {color: ink, symbol, size: 9, line: {width: 1.5, color: ink}},
      text: panel.points.slice(0, n).map((p, k) => `${safe(short(name, 60))}<br>${safe(p)}: ${said(values[k])}`), hoverinfo: "text"};
  });
  const layout = baseLayout(colour, panel, state, wide, false), lying = article.classList.contains("lying");
  delete layout.yaxis2;
  layout.xaxis.anchor = "y";
  layout.yaxis.domain = [0, 1];
  Object.assign(layout.xaxis, numberTicks(panel.axis, ends(x), wide - 66));
  layout.yaxis.title.text = upright({...state, centre: true, data: false}, lying ? wide - 80 : (place.clientHeight || 256) - 54);
  return show(place, ...(lying ? lieDown(traces, {...layout, meta: panel.axis}, wide) : [traces, layout]));
}
function show(place, traces, layout) {
  Plotly.react(place, traces, layout, QUIET);
  if (!place.dataset.wired && place.on) { place.dataset.wired = "yes"; wireHover(place); }
}
// Pointing at a row's curve shows the same row on every card drawn.
const NEAR = 12;  // pixels
function wireHover(place) {
  const card = place.closest(".card");
  if (!card || !panelOf(card).curves) return;
  place.addEventListener("pointermove", (event) => { const found = rowAt(card, place, event); lightRow(found && found.row, found && {card, at: found.at}); });
  place.addEventListener("pointerleave", () => lightRow(null, null));
}
function rowAt(card, place, event) {
  const panel = panelOf(card), now = shownCurves(panel, viewOf(card)), inner = place._fullLayout, box = place.getBoundingClientRect();
  if (!now.curves || !inner || !inner.xaxis) return null;
  const lying = card.classList.contains("lying"), px = event.clientX - box.left - inner.xaxis._offset, py = event.clientY - box.top - inner.yaxis._offset;
  const [along, across, a, b] = lying ? [inner.yaxis, inner.xaxis, py, px] : [inner.xaxis, inner.yaxis, px, py];
  const nearest = (values, axis, at) => values.reduce((best, v, i) => {
    const far = v === null ? Infinity : Math.abs(axis.d2p(v) - at);
    return far < best.far ? {i, far} : best;
  }, {i: -1, far: Infinity});
  const point = nearest(panel.x.slice(0, placed(panel)), along, a);
  if (point.i < 0 || a < -NEAR || a > along._length + NEAR) return null;
  const row = nearest(now.curves.map((curve) => curve[point.i]), across, b);
  return row.far <= NEAR ? {row: panel.rows[row.i], at: point.i} : null;
}
function lightRow(row, pointed) {
  const before = state.pointed || {}, now = pointed || {}, same = state.row === row;
  if (same && before.at === now.at && before.card === now.card) return;
  Object.assign(state, {row, pointed});
  const colour = colours();
  // Of the same row, only where its value is written changes.
  for (const card of same ? new Set([before.card, now.card].filter(Boolean)) : drawn) {
    if (!card.classList.contains("card")) continue;
    const place = card.querySelector(".plot"), at = place.data.findIndex((t) => t.meta === "lit"), panel = panelOf(card);
    if (at < 0) continue;
    const {x, y, text, textposition} = litTrace(card, panel, shownCurves(panel, viewOf(card)), panel.x.slice(0, placed(panel)), colour);
    const [first, second] = card.classList.contains("lying") ? [y, x] : [x, y];
    Plotly.restyle(place, {x: [first], y: [second], text: [text], textposition: textposition || "top left"}, [at]);
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
    const apart = place.data.findIndex((t) => t.meta === "missing groups");
    if (apart >= 0) Plotly.restyle(place, {"marker.opacity": [place.data[apart].customdata.map((g) => groupStyle(g, false).opacity)]}, [apart]);
  }
}

// --- drawing what is in view ---------------------------------------------------------------------

const drawn = new Set(), visible = new Set(), made = new WeakMap();
let version = 0;  // rises with every change for all: a picture with an older number is drawn again
function draw(item) {
  if (item.hidden || made.get(item) === version) return;
  made.set(item, version);
  if (item.classList.contains("card")) equip(item);
  if (!has) return;
  drawn.delete(item);
  drawn.add(item);
  ofKind(item, drawCard, drawSurface, drawRegion);
}
// Pictures far out of view are given back, so that hundreds of features stay light.
function tidy() {
  for (const item of drawn) {
    if (drawn.size <= DRAWN_AT_MOST) return;
    if (visible.has(item)) continue;
    const place = item.querySelector(".plot");
    Plotly.purge(place);
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
const items = all(ITEMS);
makeRoom();
if (!has) {
  all(".plot").forEach((place) => { place.classList.add("absent"); place.textContent = "This picture needs plotly.js, which could not be loaded from the network. Texts, data tables and CSV work without it."; });
  all("button.png").forEach((button) => { button.disabled = true; });
}
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) { visible.add(entry.target); draw(entry.target); } else visible.delete(entry.target);
  }
  tidy();
}, {rootMargin: "500px 0px"});
items.forEach((item) => watcher.observe(item));
