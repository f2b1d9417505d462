// HTML elements without markup: what comes from data is set as text.
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") made.className = value;
    else if (name === "style") Object.assign(made.style, value);
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((c) => c !== null && c !== undefined));
  return made;
}
export const button = (text, act, rest = {}) => el("button", {type: "button", onclick: act, ...rest}, text);
export function select(options, value, act, rest = {}) {
  const made = el("select", {...rest, onchange: () => act(made.value)}, options.map(([key, text]) => el("option", {value: key}, text)));
  made.value = value;
  return made;
}
export const counted = (n) => Math.round(n).toLocaleString("en");
// What a key makes of a brush [from, to] on an axis: a new one, null where it is dropped, undefined where the key is not for it.
export function brushKey({key, shiftKey, altKey}, brush, low, high, step) {
  if (key === "Enter") return brush ? null : [low + (high - low) / 4, high - (high - low) / 4];
  if (!brush) return undefined;
  if (key === "Escape") return null;
  if (key !== "ArrowRight" && key !== "ArrowLeft") return undefined;
  const moved = (v) => Math.min(high, Math.max(low, v + (key === "ArrowRight" ? step : -step))), ends = [altKey ? brush[0] : moved(brush[0]), shiftKey ? brush[1] : moved(brush[1])];
  return ends.sort((a, b) => a - b);
}
