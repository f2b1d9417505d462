// Numbers and names as text, by the rules that Python's `wording` has: a true minus sign, thousands separated from
// 10,000 on, names cut where they do not differ.
const SUPERSCRIPTS = {"-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹"};
export const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

// A number to be read.
export const said = (value) => numberText(value, 4);
// As Python's `number_text` writes it, with so many digits.
export function numberText(value, digits) {
  if (!isNumber(value)) return "–";
  const size = Math.abs(value), sign = value < 0 ? "−" : "";
  if (size >= 1e9 || (size !== 0 && size < 1e-4)) {
    const [front, power] = size.toExponential(digits - 1).split("e");
    return `${sign}${Number(front)}e${power[0].replace("-", "−")}${power.slice(1).padStart(2, "0")}`;
  }
  const decimals = size >= 10 ** (digits - 1) || Number.isInteger(value) ? 0 : digits - 1 - Math.floor(Math.log10(size)), [whole, part = ""] = fixed(size, decimals).split(".");
  const text = (whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole) + (/[1-9]/.test(part) ? "." + part.replace(/0+$/, "") : "");
  return (/[1-9]/.test(text) ? sign : "") + text;
}
// As many decimals; a number exactly between two is rounded to the even one, as Python does.
function fixed(size, decimals) {
  const text = size.toFixed(decimals), cut = size.toFixed(decimals + 1), between = cut.endsWith("5") && /^0*$/.test(size.toFixed(Math.min(100, decimals + 60)).slice(cut.length));
  const below = cut.slice(0, decimals ? -1 : -2);
  return between && Number(below.at(-1)) % 2 === 0 ? below : text;
}
export const percent = (share) => share > 0 && share < 0.01 ? "under 1 %" : `${Math.round(100 * share)} %`;

// Numbers of an axis: as many decimals as their step has; powers of ten where plain digits would be long.
export function tickTexts(values) {
  const largest = Math.max(0, ...values.map(Math.abs)), step = values.length > 1 ? Math.abs(values[1] - values[0]) : largest;
  if (largest && (largest >= 1e6 || largest < 1e-4)) return values.map((v) => powerText(v, step));
  const decimals = Math.min(12, Math.max(0, ...values.map((v) => decimalsOf(v, step))));
  return values.map((v) => (v < 0 ? "−" : "") + Math.abs(v).toLocaleString("en", {minimumFractionDigits: decimals, maximumFractionDigits: decimals, useGrouping: largest >= 10000}));
}
function decimalsOf(value, step) {
  for (let n = 0; n < 12; n++) if (Math.abs(value * 10 ** n - Math.round(value * 10 ** n)) < 1e-6 * Math.abs(step) * 10 ** n) return n;
  return 12;
}
function powerText(value, step) {
  if (value === 0) return "0";
  const power = Math.floor(Math.log10(Math.abs(value)) + 1e-9), own = Math.abs(value) / 10 ** power;
  const digits = Math.max(0, Math.min(4, power - Math.floor(Math.log10(step || 1) + 1e-9)));
  const front = String(+own.toFixed(digits));
  return `${value < 0 ? "−" : ""}${front === "1" ? "" : front + "×"}10${Array.from(String(power), (c) => SUPERSCRIPTS[c]).join("")}`;
}

export const short = (text, limit) => text.length <= limit ? text : text.slice(0, Math.ceil(limit / 2) - 1) + "…" + text.slice(-Math.floor(limit / 2));
// Cut where names do not differ: what all long ones start with goes first, then the middle, else one end.
export function cutApart(names, limit) {
  const long = names.filter((name) => name.length > limit);
  if (!long.length) return names;
  let shared = long.length > 1 ? long.reduce((a, b) => { let i = 0; while (i < a.length && a[i] === b[i]) i++; return a.slice(0, i); }) : "";
  shared = shared.slice(0, 1 + Math.max(...[" ", "_", "-", ".", "/"].map((mark) => shared.lastIndexOf(mark))));
  const bare = (name) => shared.length > 3 && name.startsWith(shared) ? "…" + name.slice(shared.length) : name;
  const ways = [(name) => short(bare(name), limit), (name) => "…" + name.slice(1 - limit), (name) => name.slice(0, limit - 1) + "…"]
    .map((cut, way) => names.map((name) => way === 0 || name.length > limit ? cut(name) : name));
  return ways.find((cut) => new Set(cut).size === new Set(names).size) || ways[0];
}
// At most two lines of so many letters, the second begun at " of " where it can be.
export function inLines(text, letters) {
  if (text.length <= letters) return [text];
  const breaks = [...text.matchAll(/ /g)].map((m) => m.index).filter((i) => i <= letters);
  if (!breaks.length) return [short(text, letters)];
  const before = text.lastIndexOf(" of ", letters), at = before > 0 && text.length - before <= letters ? before : breaks.at(-1);
  return [text.slice(0, at), short(text.slice(at + 1), letters)];
}
// Lines of at most so many letters, broken between words.
export function wrapped(text, letters) {
  const out = [];
  for (const part of text.split("\n")) {
    out.push("");
    for (const word of part.split(" ")) {
      if ((out.at(-1) + " " + word).length > letters && out.at(-1)) out.push(word); else out[out.length - 1] += (out.at(-1) && " ") + word;
    }
  }
  return out;
}
