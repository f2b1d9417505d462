// A panel laid out and drawn as one SVG element: frame, axes, marks, colour bar, and for files a title, a legend and a caption.
import {stops} from "./colours.js";
import {DASHES, drawMark, symbol} from "./marks.js";
import {firstTick, isSurface, visibleFeatures, visibleValues} from "./range.js";
import {scale, ticksOf} from "./scale.js";
import {h, live, newId, resolved, textWidth} from "./svg.js";
import {cutApart, inLines, short, wrapped} from "./words.js";

const TICK = 11.5, TITLE = 12.5, LETTER = 6.9;  // pixels of texts, and of a letter of a title
const TALL = 20;  // levels, beyond which the foot of a picture is out of sight
const LEGEND_ROW = 20, CAPTION_ROW = 17;

// The labels of a panel's legend, each with the first mark that has it.
export function legendOf(panel) {
  const seen = new Map();
  for (const mark of panel.marks) if (mark.label && !seen.has(mark.label)) seen.set(mark.label, mark);
  return seen;
}

// `options`: width, height, `top` (room kept free above), `real` (colours as they are), and for files title, caption, legend.
export function render(element, panel, options) {
  const {width, height} = options, real = resolved(element), ink = options.real ? real : live, lying = Boolean(panel.flip), surface = isSurface(panel);
  const features = visibleFeatures(panel), values = visibleValues(panel), legend = options.legend ? laidLegend(panel, width) : {rows: 0};
  const across = lying ? panel.y : panel.x, up = lying ? panel.x : panel.y, acrossEnds = lying ? values : features, upEnds = lying ? features : values;
  const plain = panel.look === "word", tall = lying && panel.x.ticks.length > TALL;
  const edge = (kind) => panel.marks.some((m) => m.kind === kind), margins = panel.marks.filter((m) => m.kind === "margin").map((m) => m.side);
  const title = options.title ? wrapped(options.title, Math.floor(width / 8)) : [], caption = options.caption ? wrapped(options.caption, Math.floor((width - 24) / 6.2)) : [];
  const head = (title.length ? 20 * title.length + 10 : 0) + LEGEND_ROW * legend.rows;
  const scaleWidth = panel.scale ? 22 + Math.max(...barTicks(panel.scale, height).map((t) => textWidth(t.text, TICK))) + (panel.scale.label ? 18 : 0) : 0;
  const acrossLines = plain ? 0 : across.kind === "category" ? Math.max(1, ...across.ticks.map((t) => t.split("\n").length)) : 1;
  const axisRoom = plain ? 0 : 9 + 14 * acrossLines + (across.label ? 19 : 2);
  const foot = caption.length ? CAPTION_ROW * caption.length + 14 : 0;
  const box = {
    top: head + (options.top || 0) + (margins.includes("top") ? 42 : edge("edgetext") || edge("sparks") ? 20 : plain ? 3 : 8) + (tall ? axisRoom : 0),
    bottom: height - foot - (tall ? 6 : axisRoom || 3),
    right: width - (edge("ends") ? 48 : plain ? 2 : 12) - scaleWidth - (margins.includes("right") ? 42 : 0) - (edge("sparks") ? 96 : edge("edgetext") ? 52 : 0),
  };
  box.height = Math.max(20, box.bottom - box.top);
  const upTicks = plain ? [] : ticksOf({...up, first: lying ? undefined : firstTick(panel)}, ...upEnds, box.height, () => 20, 40);
  const upTitle = plain || !up.label ? [] : inLines(up.label, Math.max(8, Math.floor(box.height / LETTER)));
  if (up.kind === "category") cutNames(upTicks, Math.min(44, Math.floor((lying ? 0.4 : 0.26) * width / 6.4)));
  box.left = plain ? 2 : 10 + 15 * upTitle.length + Math.max(12, ...upTicks.map((t) => Math.max(...t.text.split("\n").map((l) => textWidth(l, TICK)))));
  box.width = Math.max(20, box.right - box.left);
  const acrossTicks = plain ? [] : ticksOf({...across, first: lying ? firstTick(panel) : undefined}, ...acrossEnds, box.width, (text) => textWidth(text, TICK));
  if (across.kind === "category") cutNames(acrossTicks, Math.max(3, Math.floor(box.width / acrossTicks.length / 6.4)));
  const upside = lying || (surface && panel.y.kind === "category");
  const onAcross = scale(...acrossEnds, box.left, box.right, across.log), onUp = upside ? scale(...upEnds, box.top, box.bottom, up.log) : scale(...upEnds, box.bottom, box.top, up.log);
  const [along, value] = lying ? [onUp, onAcross] : [onAcross, onUp];
  const on = {panel, box, ink, real, lying, along, across: value, size: {width, height}, sharpness: options.real ? 3 : Math.min(2, window.devicePixelRatio || 1), at: lying ? (f, v) => [value(v), along(f)] : (f, v) => [along(f), value(v)]};
  const svg = h("svg", {class: "drawn", width, height, viewBox: `0 0 ${width} ${height}`, style: {display: "block", overflow: "visible", fontFamily: ink("sans"), fontVariantNumeric: "tabular-nums"}});
  if (options.real) svg.append(h("rect", {width, height, style: {fill: real("paper")}}));
  if (!plain) svg.append(...frame(on, {across, up, acrossTicks, upTicks, upTitle, onAcross, onUp, surface, tall, axisRoom, length: box.width}));
  const clip = newId(), inside = h("g", {"clip-path": `url(#${clip})`}), free = h("g");
  svg.append(h("clipPath", {id: clip}, h("rect", {x: box.left - 1, y: box.top - 1, width: box.width + 2, height: box.height + 2})), inside, free);
  for (const mark of panel.marks) {
    const made = drawMark(on, mark);
    if (made) (["margin", "edgetext", "sparks", "named", "dots", "ends"].includes(mark.kind) ? free : inside).append(made);
  }
  if (on.defs) svg.append(on.defs);
  if (panel.scale) svg.append(...colourBar(on, scaleWidth));
  title.forEach((text, i) => svg.append(h("text", {class: "heading", x: 12, y: 22 + 20 * i, style: {fontSize: "15px", fill: ink("ink")}}, text)));
  if (legend.rows) svg.append(...legend.draw(on, title.length ? 20 * title.length + 10 : 0));
  caption.forEach((text, i) => svg.append(h("text", {class: "caption", x: 12, y: height - foot + 16 + CAPTION_ROW * i, style: {fontSize: "12px", fill: ink("muted")}}, text)));
  const axisOf = (axis, ticks, ends, own) => ({label: axis.label || "", ticks: ticks.map((t) => t.text), at: ticks.map((t) => t.at), range: ends, log: Boolean(axis.log), title: own});
  const x = axisOf(panel.x, lying ? upTicks : acrossTicks, features, lying ? upTitle : [panel.x.label]), y = axisOf(panel.y, lying ? acrossTicks : upTicks, values, lying ? [panel.y.label] : upTitle);
  return {svg, on, axes: {x, y}, colours: panel.scale ? stops(panel.scale, real) : [], legend: [...legendOf(panel).keys()]};
}
function cutNames(ticks, limit) {
  const names = cutApart(ticks.map((t) => t.text), limit);
  ticks.forEach((tick, i) => { tick.text = tick.text.includes("\n") ? tick.text.split("\n").map((part) => short(part, limit)).join("\n") : names[i]; });
}
const lines = (text, x, y, attributes) => text.split("\n").map((part, i) => h("text", {...attributes, x, y: y + 13 * i}, part));

function frame(on, {across, up, acrossTicks, upTicks, upTitle, onAcross, onUp, surface, tall, axisRoom, length}) {
  const {ink, box, lying, panel} = on, {left, right, top, bottom} = box, out = [], small = {fontSize: `${TICK}px`, fill: ink("muted")}, large = {fontSize: `${TITLE}px`, fill: ink("muted")};
  const values = lying ? acrossTicks : upTicks, grid = {stroke: ink("faint"), strokeWidth: 1};
  if (surface) out.push(h("rect", {x: left, y: top, width: box.width, height: box.height, style: {fill: ink("faint")}}));
  else if (panel.look !== "square") for (const tick of values) out.push(lying ? h("path", {class: "grid", d: `M${onAcross(tick.at).toFixed(1)} ${top}V${bottom}`, style: grid}) : h("path", {class: "grid", d: `M${left} ${onUp(tick.at).toFixed(1)}H${right}`, style: grid}));
  const edge = tall ? top : bottom, away = tall ? -1 : 1;
  out.push(h("path", {class: "frame", d: panel.look === "square" ? `M${left} ${top}V${bottom}H${right}` : lying ? `M${left} ${top}V${bottom}` : `M${left} ${bottom}H${right}`, style: {fill: "none", stroke: ink("rule")}}));
  for (const tick of acrossTicks) {
    const x = onAcross(tick.at);
    if (!lying && across.kind !== "category" && !tick.missing) out.push(h("path", {d: `M${x.toFixed(1)} ${edge}v${3 * away}`, style: {stroke: ink("rule")}}));
    // A name at the edge stays inside the picture.
    const half = Math.max(...tick.text.split("\n").map((part) => textWidth(part, TICK))) / 2, at = Math.min(on.size.width - half - 1, Math.max(half + 1, x));
    out.push(...lines(tick.text, at, edge + (tall ? -7 : 16), {class: tick.missing ? "xtick missing" : "xtick", "text-anchor": "middle", style: small}));
  }
  for (const tick of upTicks) {
    const rows = tick.text.split("\n").length;
    const size = up.kind === "category" && box.height < 13 * up.ticks.length ? {...small, fontSize: "9.5px"} : small;
    out.push(...lines(tick.text, left - 6, onUp(tick.at) + 4 - 6.5 * (rows - 1), {class: "ytick", "text-anchor": "end", style: size}));
  }
  if (across.label) {
    const letters = Math.floor(Math.min(on.size.width - 8, Math.max(length, 0.9 * on.size.width)) / LETTER), text = short(across.label, Math.max(8, letters)), half = textWidth(text, TITLE) / 2;
    out.push(h("text", {class: "xtitle", x: Math.min(on.size.width - half - 2, Math.max(half + 2, (left + right) / 2)), y: tall ? edge - axisRoom + 13 : edge + axisRoom - 6, "text-anchor": "middle", style: large}, text));
  }
  upTitle.forEach((text, i) => {
    const x = 12 + 15 * i, middle = (top + bottom) / 2;
    out.push(h("text", {class: "ytitle", x, y: middle, "text-anchor": "middle", transform: `rotate(-90 ${x} ${middle.toFixed(1)})`, style: large}, text));
  });
  return out;
}
const barTicks = (own, length) => ticksOf({kind: own.time ? "time" : "number"}, own.low, own.high, length, () => 22, 44);
function colourBar(on, wide) {
  const {box, panel: {scale: own}, ink, real} = on, id = newId(), list = stops(own, real), x = on.size.width - wide + 2, place = scale(own.low, own.high, box.bottom, box.top);
  const made = [h("linearGradient", {id, x1: 0, x2: 0, y1: 1, y2: 0}, ...list.map((colour, i) => h("stop", {offset: i / (list.length - 1), "stop-color": colour}))),
    h("rect", {x, y: box.top, width: 9, height: box.height, fill: `url(#${id})`})];
  for (const tick of barTicks(own, box.height)) made.push(h("text", {class: "ctick", x: x + 13, y: place(tick.at) + 4, style: {fontSize: `${TICK}px`, fill: ink("muted")}}, tick.text));
  if (own.label) {
    const at = on.size.width - 5, middle = (box.top + box.bottom) / 2;
    made.push(h("text", {class: "ctitle", x: at, y: middle, "text-anchor": "middle", transform: `rotate(-90 ${at.toFixed(1)} ${middle.toFixed(1)})`, style: {fontSize: `${TITLE}px`, fill: ink("muted")}}, short(own.label, Math.max(8, Math.floor(box.height / LETTER)))));
  }
  return made;
}
// The legend in columns as wide as its longest name.
function laidLegend(panel, width) {
  const entries = [...legendOf(panel)].map(([label, mark]) => [short(label, 60), mark]);
  if (!entries.length) return {rows: 0};
  const wide = Math.max(...entries.map(([label]) => textWidth(label, 12))) + 44, columns = Math.max(1, Math.floor((width - 20) / wide));
  return {
    rows: Math.ceil(entries.length / columns),
    draw: (on, top) => entries.map(([label, mark], i) => {
      const x = 12 + wide * (i % columns), y = top + 12 + LEGEND_ROW * Math.floor(i / columns), colour = on.ink(mark.colour ?? 0);
      const key = mark.kind === "line" ? h("path", {d: `M${x} ${y}h24`, style: {stroke: colour, strokeWidth: 2.2, strokeDasharray: DASHES[mark.dashed || 0]}})
        : mark.kind === "dots" ? symbol(x + 12, y, 4, mark.pattern, {fill: mark.pattern >= 4 ? "none" : mark.hollow ? on.ink("paper") : colour, stroke: mark.hollow || mark.pattern >= 4 ? colour : "none", strokeWidth: 1.6})
          : h("rect", {x, y: y - 6, width: 24, height: 12, style: {fill: colour, opacity: mark.kind === "band" ? Math.min(1, 2 * (mark.alpha ?? 0.18)) : 1}});
      return h("g", {class: "key"}, key, h("text", {x: x + 30, y: y + 4, style: {fontSize: "12px", fill: on.ink("ink")}}, label));
    }),
  };
}
