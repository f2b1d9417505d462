import {colourer} from "./colours.js";

// SVG elements without markup: whatever comes from data is set as text or as a number, never parsed.
const SPACE = "http://www.w3.org/2000/svg";
// Colours by name: a page's CSS variables, with what they are where a page defines none.
const FALLBACK = {
  paper: "#fff", ink: "#1c2126", muted: "#5f666c", rule: "#dedad2", faint: "#ebe8e1", accent: "#0a6496", second: "#b4530a", ale: "#b3123f", low: "#8a857a26", bar: "#b9b4a8", ghost: "#8d8a83",
  g0: "#0072b2", g1: "#d55e00", g2: "#00805d", g3: "#b6568b", g4: "#b37a00", g5: "#3a93c8", g6: "#7a6a00", g7: "#6f42a8",
  sans: "system-ui, sans-serif",
};

export function h(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "style") Object.assign(made.style, value); else made.setAttribute(name, typeof value === "number" ? +value.toFixed(2) : value);
  }
  made.append(...children.filter((c) => c !== null && c !== undefined));
  return made;
}

// The CSS name of a panel's colour: a slot of the palette, the theme's own, or what the user named.
const named = (colour) => typeof colour === "number" ? `g${((colour % 8) + 8) % 8}` : colour === "text" ? "ink" : colour;
// A share of the way along the colours of numbers, which stays off their ends.
const along = (name) => colourer({low: 0, high: 1}, () => "#fff")(0.08 + 0.8 * Number(name.split(":")[1]));
const plain = (name) => typeof name === "string" && name.startsWith("sequential:") ? along(name) : name;
export const live = (colour) => { const name = named(colour); return name in FALLBACK ? `var(--${name}, ${FALLBACK[name]})` : plain(name); };
// The same as they are now, for canvases and files.
export function resolved(element) {
  const style = getComputedStyle(element);
  return (colour) => { const name = named(colour); return name in FALLBACK ? style.getPropertyValue(`--${name}`).trim() || FALLBACK[name] : plain(name); };
}

let pen = null, family = "";
const widths = new Map();  // asking for the same text again is most of all asking
export function textWidth(text, size = 12) {
  if (typeof document === "undefined") return 0.55 * size * text.length;
  if (!pen) {
    pen = document.createElement("canvas").getContext("2d");
    family = getComputedStyle(document.documentElement).getPropertyValue("--sans").trim() || FALLBACK.sans;
  }
  const key = `${size} ${text}`;
  if (!widths.has(key)) {
    pen.font = `${size}px ${family}`;
    if (widths.size > 5000) widths.clear();
    widths.set(key, pen.measureText(text).width);
  }
  return widths.get(key);
}
// What would be thousands of elements, as one picture.
export function raster({left, top, right, bottom}, paint, scale = 2) {
  const box = {left: Math.floor(left), top: Math.floor(top)};
  box.width = Math.ceil(right) - box.left;
  box.height = Math.ceil(bottom) - box.top;
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(box.width * scale));
  canvas.height = Math.max(1, Math.round(box.height * scale));
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.translate(-box.left, -box.top);
  paint(context);
  return h("image", {href: canvas.toDataURL(), x: box.left, y: box.top, width: box.width, height: box.height, preserveAspectRatio: "none"});
}
let last = 0;
export const newId = () => `icefield-${++last}`;
