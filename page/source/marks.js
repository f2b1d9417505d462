// Each mark of a panel as SVG. `on` is the frame it is drawn into: `at(feature, value)` gives a pixel's x and y whichever way the panel
// lies, `ink` colours, `box` the frame's edges.
import {contours} from "d3-contour";
import {colourer, isDark} from "./colours.js";
import {placeLabels} from "./labels.js";
import {h, newId, raster, textWidth} from "./svg.js";
import {cutApart, isNumber, tickTexts} from "./words.js";

const LINE = 1.9, MARKER = 3.7, CONTOURS = 12;  // pixels of a line of width 1 and of a point's radius
export const DASHES = ["", "6 3", "2 2.5", "8 3 2 3", "8 3 2 3 2 3 2 3"];

export function drawMark(on, mark) {
  const made = (MARKS[mark.kind] || nothing)(on, mark);
  if (!made) return null;
  const group = h("g", {class: `mark layer-${(mark.layer || mark.kind).replaceAll(" ", "-")}`, "data-group": mark.group ?? null});
  group.append(...[].concat(made).filter(Boolean));
  return group;
}
const nothing = () => null;
const path = (d, style) => d ? h("path", {d, style}) : null;
const point = ([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
// The runs of known points between gaps.
function runs(x, known) {
  const out = [];
  let run = null;
  for (let i = 0; i < x.length; i++) {
    if (!known(i)) { run = null; continue; }
    if (!run) out.push(run = []);
    run.push(i);
  }
  return out;
}
// Corners of a curve whose value at x holds back to the previous x.
const stepped = (points, step) => step ? points.flatMap((p, i) => i ? [[points[i - 1][0], p[1]], p] : [p]) : points;
function curvePath(on, x, y, step) {
  return runs(x, (i) => isNumber(x[i]) && isNumber(y[i])).map((run) => "M" + stepped(run.map((i) => [x[i], y[i]]), step).map(([a, b]) => point(on.at(a, b))).join("L")).join("");
}
function line(on, mark) {
  const {x, y, faded} = mark, width = LINE * (mark.width ?? 1), out = [];
  const style = {fill: "none", stroke: on.ink(mark.colour ?? 0), strokeWidth: width, strokeLinejoin: "round", strokeDasharray: DASHES[mark.dashed || 0], opacity: mark.alpha ?? 1};
  if (mark.halo) out.push(path(curvePath(on, x, y, mark.step), {...style, stroke: on.ink("paper"), strokeWidth: width + 3, strokeDasharray: ""}));
  if (faded && Array.from(faded).some(Boolean)) {
    const weak = (i) => faded[i] || faded[i + 1];
    for (let i = 0; i + 1 < x.length;) {
      let j = i + 1;
      while (j + 1 < x.length && weak(j) == weak(i)) j++;
      out.push(path(curvePath(on, x.slice(i, j + 1), y.slice(i, j + 1), mark.step), weak(i) ? {...style, opacity: 0.3} : style));
      i = j;
    }
  } else out.push(path(curvePath(on, x, y, mark.step), style));
  if (mark.markers) out.push(...symbols(on, {...mark, size: 0.8}, style.stroke));
  return out;
}
function band(on, mark) {
  const {x, low, high} = mark, fill = on.ink(mark.colour ?? 0), known = (i) => isNumber(x[i]) && isNumber(low[i]) && isNumber(high[i]);
  if (on.panel.x.kind === "category" || x.length === 1) {
    const d = Array.from(x, (v, i) => known(i) ? `M${point(on.at(v, low[i]))}L${point(on.at(v, high[i]))}` : "").join("");
    return path(d, {fill: "none", stroke: fill, strokeWidth: mark.thick ?? 9, opacity: mark.alpha ?? 0.18});
  }
  const d = runs(x, known).map((run) => {
    const up = stepped(run.map((i) => [x[i], high[i]]), mark.step), down = stepped(run.map((i) => [x[i], low[i]]), mark.step).reverse();
    return "M" + [...up, ...down].map(([a, b]) => point(on.at(a, b))).join("L") + "Z";
  }).join("");
  return path(d, {fill, opacity: mark.alpha ?? 0.18});
}
function curves(on, mark) {
  const colour = mark.values && mark.scale ? colourer(mark.scale, on.real) : null;
  return raster(on.box, (pen) => {
    pen.globalAlpha = mark.alpha ?? 0.2;
    pen.lineWidth = Math.max(0.8, LINE * (mark.width ?? 0.5));
    Array.from(mark.y).forEach((y, row) => {
      pen.strokeStyle = colour && isNumber(mark.values[row]) ? colour(mark.values[row]) : on.real(mark.slots ? mark.slots[row] : colour ? "muted" : mark.colour ?? "muted");
      pen.beginPath();
      runs(mark.x, (i) => isNumber(mark.x[i]) && isNumber(y[i])).forEach((run) => stepped(run.map((i) => [mark.x[i], y[i]]), mark.step).forEach(([a, b], i) => pen[i ? "lineTo" : "moveTo"](...on.at(a, b))));
      pen.stroke();
    });
  }, on.sharpness);
}
const SYMBOLS = [
  null,
  (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
  (x, y, r) => `M${x} ${y - 1.2 * r}L${x + 1.1 * r} ${y + 0.8 * r}H${x - 1.1 * r}z`,
  (x, y, r) => `M${x} ${y - 1.3 * r}L${x + 1.1 * r} ${y}L${x} ${y + 1.3 * r}L${x - 1.1 * r} ${y}z`,
  (x, y, r) => `M${x - r} ${y - r}l${2 * r} ${2 * r}M${x + r} ${y - r}l${-2 * r} ${2 * r}`,
  (x, y, r) => `M${x - 1.4 * r} ${y}h${2.8 * r}`,
];
export function symbol(x, y, r, pattern, style) {
  [x, y, r] = [x, y, r].map((v) => +v.toFixed(1));
  return SYMBOLS[pattern || 0] ? h("path", {d: SYMBOLS[pattern](x, y, r), style}) : h("circle", {cx: x, cy: y, r, style});
}
function symbols(on, mark, colour) {
  const r = MARKER * (mark.size ?? 1), open = mark.pattern >= 4;
  const colours = mark.values && mark.scale ? colourer(mark.scale, on.real) : null;
  return Array.from(mark.x, (v, i) => {
    if (!isNumber(v) || !isNumber(mark.y[i])) return null;
    const own = colours && isNumber(mark.values[i]) ? colours(mark.values[i]) : mark.slots ? on.ink(mark.slots[i]) : colour, [x, y] = on.at(v, mark.y[i]);
    return symbol(x, y, r, mark.pattern, {fill: open ? "none" : mark.hollow ? on.ink("paper") : own, stroke: mark.hollow || open ? own : "none", strokeWidth: open && mark.thin ? 1 : 1.6, opacity: (mark.alpha ?? 1) * (mark.faded && mark.faded[i] ? 0.3 : 1)});
  });
}
function intervals(on, mark, colour) {
  if (!mark.low || !mark.high) return null;
  const d = Array.from(mark.x, (v, i) => isNumber(mark.low[i]) && isNumber(mark.high[i]) ? `M${point(on.at(v, mark.low[i]))}L${point(on.at(v, mark.high[i]))}` : "").join("");
  return path(d, {fill: "none", stroke: colour, strokeWidth: mark.thick ?? 1.6, opacity: 0.45});
}
function dots(on, mark) {
  const colour = on.ink(mark.colour ?? 0);
  return [intervals(on, mark, colour), ...symbols(on, mark, colour)];
}
function bars(on, mark) {
  const width = mark.width ?? 0.7, out = [];
  Array.from(mark.x).forEach((v, i) => {
    if (!isNumber(mark.y[i])) return;
    const fill = on.ink(mark.slots ? mark.slots[i] : mark.colour ?? 0);
    out.push(box(on.at(v - width / 2, Math.min(0, mark.y[i])), on.at(v + width / 2, Math.max(0, mark.y[i])), {fill, opacity: mark.faded && mark.faded[i] ? 0.3 : 1}));
  });
  return [...out, intervals(on, mark, on.ink("ink"))];
}
const box = ([ax, ay], [bx, by], style) => h("rect", {x: Math.min(ax, bx), y: Math.min(ay, by), width: Math.abs(bx - ax), height: Math.abs(by - ay), style});
// Where the data is: bars along the foot, the tallest of which fills the strip.
function strip(on, mark) {
  const most = Math.max(...Array.from(mark.counts).filter(isNumber), 0);
  if (!(most > 0)) return null;
  const {left, bottom, width, height} = on.box, [a, b] = on.lying ? [left, 1] : [bottom, -1], long = (mark.height ?? 0.11) * (on.lying ? width : height);
  return Array.from(mark.lefts, (v, i) => {
    const [from, to] = [on.along(v), on.along(mark.rights[i])].sort((p, q) => p - q), tall = long * mark.counts[i] / most, room = Math.min(0.5, 0.06 * (to - from));
    if (!(tall > 0)) return null;
    const style = {fill: on.ink(mark.colour ?? "bar")};
    return on.lying ? h("rect", {x: a, y: from + room, width: tall, height: to - from - 2 * room, style}) : h("rect", {x: from + room, y: a + b * tall, width: Math.max(0.5, to - from - 2 * room), height: tall, style});
  });
}
function rug(on, mark) {
  const {left, bottom, width, height} = on.box, long = (mark.height ?? 0.03) * (on.lying ? width : height);
  const d = Array.from(mark.x, (v) => { const p = on.along(v).toFixed(1); return on.lying ? `M${left} ${p}h${long}` : `M${p} ${bottom}v${-long}`; }).join("");
  return path(d, {stroke: on.ink("ink"), strokeWidth: 1, opacity: mark.alpha ?? 0.35});
}
function margin(on, mark) {
  const most = Math.max(...mark.counts, 0), {right, top} = on.box, upward = mark.side === "top", style = {fill: on.ink("bar")};
  if (!(most > 0)) return null;
  return Array.from(mark.lefts, (v, i) => {
    const tall = 30 * mark.counts[i] / most, [from, to] = (upward ? [on.along(v), on.along(mark.rights[i])] : [on.across(v), on.across(mark.rights[i])]).sort((p, q) => p - q);
    return upward ? h("rect", {x: from, y: top - 5 - tall, width: Math.max(0.5, to - from - 0.6), height: tall, style}) : h("rect", {x: right + 5, y: from, width: tall, height: Math.max(0.5, to - from - 0.6), style});
  });
}
function field(on, mark) {
  return mark.style === "contour" || mark.style === "surface" ? contoured(on, mark) : cells(on, mark);
}
function cells(on, mark) {
  const colour = colourer(mark.scale, on.real), {x, y, z} = mark, edges = (list, place) => Array.from(list, (v) => Math.round(on.sharpness * place(v)) / on.sharpness), px = edges(x, on.along), py = edges(y, on.across);
  const picture = raster(on.box, (pen) => {
    z.forEach((row, j) => Array.from(row).forEach((v, i) => {
      if (!isNumber(v)) return;
      pen.fillStyle = colour(v);
      // Edges lie on whole pixels, or the ground shows between cells.
      pen.fillRect(Math.min(px[i], px[i + 1]), Math.min(py[j], py[j + 1]), Math.abs(px[i + 1] - px[i]), Math.abs(py[j + 1] - py[j]));
    }));
  }, on.sharpness);
  if (!mark.values) return picture;
  const known = z.flatMap((row) => Array.from(row)).filter(isNumber), texts = tickTexts([Math.max(...known, 0) / 100]).length;
  const numbers = texts ? z.flatMap((row, j) => Array.from(row, (v, i) => isNumber(v) ? h("text", {x: (px[i] + px[i + 1]) / 2, y: (py[j] + py[j + 1]) / 2 + 4, "text-anchor": "middle", style: {fontSize: "11px", fill: isDark(colour(v)) ? "#fff" : "#111"}}, number(v, known)) : null)) : [];
  return [picture, ...numbers];
}
function number(v, all) {
  const most = Math.max(...all.map(Math.abs), 1e-300), decimals = Math.max(0, Math.min(6, 1 - Math.floor(Math.log10(most))));
  return (v < 0 ? "−" : "") + Math.abs(v).toFixed(decimals);
}
function contoured(on, mark) {
  const {x, y, z, scale} = mark, wide = x.length, high = y.length, values = z.flatMap((row) => Array.from(row, (v) => isNumber(v) ? v : NaN)), colour = colourer(scale, on.real);
  const levels = Array.from({length: CONTOURS}, (_, i) => scale.low + i / CONTOURS * (scale.high - scale.low) - (i ? 0 : 1e-9 + Math.abs(scale.low)));
  // Contours are in cells of the grid, whose points are at half cells.
  const between = (list, at) => { const k = Math.min(list.length - 1, Math.max(0, at - 0.5)), i = Math.min(list.length - 2, Math.floor(k)); return list.length < 2 ? list[0] : list[i] + (k - i) * (list[i + 1] - list[i]); };
  const paths = contours().size([wide, high]).thresholds(levels)(values).map((shape, i) => h("path", {
    d: shape.coordinates.map((polygon) => polygon.map((ring) => "M" + ring.map(([a, b]) => point(on.at(between(x, a), between(y, b)))).join("L") + "Z").join("")).join(""),
    style: {fill: colour(scale.low + (i + 0.5) / CONTOURS * (scale.high - scale.low)), stroke: "none"},
  }));
  if (!mark.hull) return paths;
  const id = newId(), hull = h("clipPath", {id}, h("path", {d: "M" + mark.hull.map(([a, b]) => point(on.at(a, b))).join("L") + "Z"}));
  return [hull, h("g", {"clip-path": `url(#${id})`}, ...paths)];
}
function shade(on, mark) {
  const px = Array.from(mark.x, on.along), py = Array.from(mark.y, on.across);
  return raster(on.box, (pen) => {
    pen.fillStyle = on.real(mark.colour ?? 0);
    mark.z.forEach((row, j) => Array.from(row).forEach((v, i) => {
      pen.globalAlpha = (isNumber(v) ? v : 0) * (mark.alpha ?? 0.4);
      if (v > 0) pen.fillRect(px[i], Math.min(py[j], py[j + 1]), px[i + 1] - px[i], Math.abs(py[j + 1] - py[j]));
    }));
  });
}
function rule(on, mark) {
  const {left, right, top, bottom} = on.box, style = {stroke: on.ink("muted"), strokeWidth: 1, strokeDasharray: mark.dashed ? "3 3" : "", opacity: 0.7};
  const where = mark.x != null ? on.along(mark.x) : on.across(mark.y), upright = (mark.x != null) !== on.lying;
  return upright ? h("path", {d: `M${where.toFixed(1)} ${top}V${bottom}`, style}) : h("path", {d: `M${left} ${where.toFixed(1)}H${right}`, style});
}
// Stretches of the feature with little data.
function stretch(on, mark) {
  const {left, top, width, height} = on.box;
  return Array.from(mark.lefts, (v, i) => {
    const [from, to] = [on.along(v), on.along(mark.rights[i])].sort((p, q) => p - q), style = {fill: mark.hatched ? hatch(on) : on.ink("low")};
    return on.lying ? h("rect", {x: left, y: from, width, height: to - from, style}) : h("rect", {x: from, y: top, width: to - from, height, style});
  });
}
// Diagonal lines, one pattern for a picture.
function hatch(on) {
  if (!on.hatch) {
    on.hatch = newId();
    on.defs = h("pattern", {id: on.hatch, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"},
      h("rect", {width: 7, height: 7, style: {fill: on.ink("low")}}), h("path", {d: "M0 0V7", style: {stroke: on.ink("ghost"), strokeWidth: 1, opacity: 0.55}}));
  }
  return `url(#${on.hatch})`;
}
// How far two curves are apart: upright rules between them, which stay readable over bands.
function difference(on, mark) {
  const {x, y, to} = mark, every = 5, d = [];
  if (on.panel.x.kind === "category" || x.length < 2) Array.from(x).forEach((v, i) => { if (isNumber(y[i]) && isNumber(to[i])) d.push(`M${point(on.at(v, y[i]))}L${point(on.at(v, to[i]))}`); });
  else {
    const first = on.along(x[0]), last = on.along(x[x.length - 1]), step = Math.sign(last - first) * every;
    let k = 0;
    for (let p = first; (last - p) * step > 0; p += step) {
      while (k + 2 < x.length && (on.along(x[k + 1]) - p) * step < 0) k++;
      const [a, b] = [on.along(x[k]), on.along(x[k + 1])], t = b === a ? 0 : (p - a) / (b - a), at = (list) => on.across(list[k] + t * (list[k + 1] - list[k]));
      if (isNumber(y[k]) && isNumber(y[k + 1]) && isNumber(to[k]) && isNumber(to[k + 1])) d.push(on.lying ? `M${at(y).toFixed(1)} ${p.toFixed(1)}H${at(to).toFixed(1)}` : `M${p.toFixed(1)} ${at(y).toFixed(1)}V${at(to).toFixed(1)}`);
    }
  }
  return path(d.join(""), {fill: "none", stroke: on.ink(mark.colour ?? "accent"), strokeWidth: 1, opacity: 0.55});
}
function edgeText(on, mark) {
  const {right, top} = on.box, style = {fontSize: "11px", fill: on.ink("muted")};
  return [mark.header ? h("text", {x: right + 8, y: top - 6, style}, mark.header) : null, ...Array.from(mark.at, (v, i) => h("text", {x: right + 8, y: on.along(v) + 4, style}, mark.texts[i]))];
}
function sparks(on, mark) {
  const {right, top} = on.box, style = {fontSize: "11px", fill: on.ink("muted")};
  return [mark.header ? h("text", {x: right + 12, y: top - 6, style}, mark.header) : null, ...mark.curves.map(([x, y], k) => {
    const known = Array.from(x).filter(isNumber), low = Math.min(...known), span = Math.max(...known) - low || 1, middle = on.along(mark.at[k]);
    const d = runs(x, (i) => isNumber(x[i]) && isNumber(y[i])).map((run) => "M" + run.map((i) => point([right + 12 + 64 * (x[i] - low) / span, middle + 8 - 16 * y[i]])).join("L")).join("");
    return path(d, {fill: "none", stroke: on.ink(mark.slots ? mark.slots[k] : 0), strokeWidth: 1.5});
  })];
}
// Distances from the corner.
function rings(on, mark) {
  const [x, y] = on.at(0, 0);
  return Array.from(mark.radii, (r) => { const [a, b] = on.at(r, r); return h("ellipse", {cx: x, cy: y, rx: Math.abs(a - x), ry: Math.abs(b - y), style: {fill: "none", stroke: on.ink("faint")}}); });
}
function arrow([x, y], [toX, toY], on) {
  const long = Math.hypot(toX - x, toY - y), [a, b] = [(toX - x) / long, (toY - y) / long], head = (side) => `M${point([toX, toY])}L${point([toX - 7 * a + side * 3.5 * b, toY - 7 * b - side * 3.5 * a])}`;
  return long < 8 ? null : path(`M${point([x + 7 * a, y + 7 * b])}L${point([toX, toY])}${head(1)}${head(-1)}`, {fill: "none", stroke: on.ink("muted"), strokeWidth: 1.2, opacity: 0.7});
}
// Points with names and, where they have them, links.
function named(on, mark) {
  const places = Array.from(mark.x, (v, i) => on.at(v, mark.y[i])), texts = cutApart(mark.texts, on.box.width < 440 ? 16 : 26);
  const ends = Array.from(mark.to_x || [], (v, i) => isNumber(v) && isNumber(mark.to_y[i]) ? on.at(v, mark.to_y[i]) : null);
  const lines = ends.flatMap((to, i) => to ? [{x: places[i][0], y: places[i][1], toX: to[0], toY: to[1]}] : []);
  const labels = placeLabels(places.map(([x, y], i) => ({x, y, text: texts[i], wide: textWidth(texts[i], 12) + 4})), {left: on.box.left - 2, right: on.size.width - 2, top: 2, bottom: on.box.bottom + 1}, mark.most ?? 14, lines);
  const leaders = labels.map((label) => label && label.line ? h("path", {class: "leader", d: `M${point([label.line.x, label.line.y])}L${point([label.line.toX, label.line.toY])}`, style: {stroke: on.ink("rule"), fill: "none"}}) : null);
  const arrows = ends.map((to, i) => to && arrow(places[i], to, on));
  const order = places.map((_, i) => i).reverse();
  const parts = order.map((i) => {
    const [x, y] = places[i], label = labels[i], inner = [
      h("title", {}, mark.told[i]), h("circle", {class: "hit", cx: x, cy: y, r: 12, style: {fill: "transparent"}}),
      h("circle", {class: "point", cx: x, cy: y, r: 4.5, style: {fill: on.ink(mark.slots[i]), stroke: on.ink("paper"), strokeWidth: 1.2}}),
      label ? h("text", {class: "name", x: label.x, y: label.y, "text-anchor": label.anchor, style: {fontSize: "12px", fill: on.ink("ink")}}, label.text) : null];
    return mark.links[i] ? h("a", {href: mark.links[i], "aria-label": mark.told[i]}, ...inner) : h("g", {}, ...inner);
  });
  return [...arrows, ...leaders, ...parts];
}
// Numbers at their heights beyond the edge, one above the other also where those are near.
function ends(on, mark) {
  const at = Array.from(mark.y, (v) => on.across(v) + 4);
  if (at.length === 2 && Math.abs(at[1] - at[0]) < 12) { const middle = (at[0] + at[1]) / 2, up = at[0] < at[1] ? -6 : 6; at[0] = middle + up; at[1] = middle - up; }
  return at.map((y, i) => h("text", {x: on.box.right + 7, y, style: {fontSize: "11px", fill: on.ink("muted")}}, mark.texts[i]));
}
// A word at a point, on the side where there is more room.
function note(on, mark) {
  const [x, y] = on.at(mark.x, mark.y), style = {fontSize: "12px", fill: on.ink("ink"), paintOrder: "stroke", stroke: on.ink("paper"), strokeWidth: 3, strokeLinejoin: "round"};
  return h("text", {x, y: y - 8, "text-anchor": mark.end ? "end" : "start", style}, mark.text);
}
const MARKS = {line, difference, band, curves, dots, bars, strip, rug, margin, field, shade, rule, stretch, edgetext: edgeText, sparks, rings, named, note, ends};
