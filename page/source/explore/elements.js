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
