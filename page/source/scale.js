// Values to pixels, and where an axis carries numbers: linear, logarithmic and time axes; levels stand at 0, 1, 2, ...
import {tickTexts} from "./words.js";

const DAY = 86400000;

// A function from values to places between two pixels, with `invert`.
export function scale(low, high, from, to, log = false) {
  const t = log ? Math.log : (v) => v, a = t(low), factor = (to - from) / ((t(high) - a) || 1);
  const place = (v) => from + (t(v) - a) * factor;
  place.invert = (p) => { const v = a + (p - from) / factor; return log ? Math.exp(v) : v; };
  return place;
}

// About `count` round numbers between two ends.
export function niceTicks(low, high, count = 6, whole = false) {
  if (!(high > low)) return [low];
  const raw = (high - low) / Math.max(1, count), size = 10 ** Math.floor(Math.log10(raw));
  let step = size * [1, 2, 2.5, 5, 10].find((m) => m * size >= raw * 0.85);
  if (whole) step = Math.max(1, Math.ceil(step));
  const out = [];
  for (let n = Math.ceil(low / step - 1e-9); n <= high / step + 1e-9; n++) out.push(+(n * step).toPrecision(12) + 0);
  return out;
}
// Round numbers of a logarithmic axis: 1, 2, 5 within a few powers of ten, the powers alone over many.
export function logTicks(low, high, count = 6) {
  const powers = Math.log10(high / low), at = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++) {
    for (const m of powers > 4 ? [1] : powers > 2.2 ? [1, 3] : [1, 2, 5]) at.push(+(m * 10 ** e).toPrecision(12));
  }
  const inside = at.filter((v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9)), every = Math.max(1, Math.ceil(inside.length / count));
  return inside.filter((_, i) => i % every === 0);
}

// Times are days since 1970, in UTC. Ticks stand at starts of years, months, days or hours.
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const STEPS = [[1 / 1440, "minute"], [5 / 1440, "minute"], [15 / 1440, "minute"], [1 / 24, "hour"], [3 / 24, "hour"], [6 / 24, "hour"], [12 / 24, "hour"],
  [1, "day"], [2, "day"], [7, "day"], [14, "day"], [30.44, "month", 1], [91.3, "month", 3], [182.6, "month", 6], [365.25, "year", 1], [730.5, "year", 2], [1826, "year", 5], [3652, "year", 10], [7305, "year", 20], [18262, "year", 50], [36525, "year", 100]];
export function timeTicks(low, high, count = 5) {
  const [size, unit, every] = STEPS.find(([days]) => (high - low) / days <= count) || STEPS.at(-1), at = [];
  if (unit === "year" || unit === "month") {
    const first = new Date(low * DAY), months = unit === "year" ? 12 * every : every;
    let m = Math.floor((first.getUTCFullYear() * 12 + first.getUTCMonth()) / months) * months;
    for (; at.length < 200; m += months) {
      const day = new Date(0);
      day.setUTCFullYear(Math.floor(m / 12), m % 12, 1);
      if (day / DAY > high) break;
      if (day / DAY >= low - 1e-9) at.push(day / DAY);
    }
  } else {
    for (let v = Math.ceil(low / size - 1e-9) * size; v <= high + 1e-9; v += size) at.push(v);
  }
  return at.map((v, i) => ({at: v, text: timeText(v, unit, i ? at[i - 1] : null)}));
}
// A tick says what changed: the year with the first month, the day with the first hour.
function timeText(at, unit, before) {
  const now = new Date(Math.round(at * 1440) * 60000), last = before === null ? null : new Date(Math.round(before * 1440) * 60000), two = (n) => String(n).padStart(2, "0");
  const year = now.getUTCFullYear(), month = MONTHS[now.getUTCMonth()], day = now.getUTCDate(), newYear = !last || last.getUTCFullYear() !== year;
  if (unit === "year") return String(year);
  if (unit === "month") return newYear ? `${month} ${year}` : month;
  if (unit === "day") return `${day} ${month}${newYear ? " " + year : ""}`;
  const clock = `${two(now.getUTCHours())}:${two(now.getUTCMinutes())}`;
  return !last || last.getUTCDate() !== day ? `${clock} ${day} ${month}` : clock;
}

// The ticks of an axis between two ends, as many as fit: `room(text)` is what a text takes of `length`.
export function ticksOf(axis, low, high, length, room, each = 52) {
  if (axis.kind === "category") return levelTicks(axis, length, each < 50 ? 10 : Math.min(26, 6 + Math.max(0, ...axis.ticks.map(room))));
  const last = axis.missing == null ? high : axis.last ?? (axis.log ? axis.missing * (low / axis.missing) ** 0.06 : axis.missing - 0.06 * (axis.missing - low));
  let found = [];
  for (let count = Math.max(2, Math.min(9, Math.floor(length / each))); count >= 1; count--) {
    found = axis.named && axis.named.length ? axis.named.map(([at, text]) => ({at, text})).filter((t) => t.at >= low && t.at <= last)
      : axis.kind === "time" ? timeTicks(low, last, count) : numbered(axis, low, last, count);
    if (axis.named && axis.named.length && found.length > count) found = found.filter((_, i) => i % Math.ceil(found.length / count) === 0);
    const place = scale(low, high, 0, length, axis.log);
    if (found.every((t, i) => !i || Math.abs(place(t.at) - place(found[i - 1].at)) >= (room(t.text) + room(found[i - 1].text)) / 2 + 8)) break;
  }
  if (axis.missing == null) return found;
  const place = scale(low, high, 0, length, axis.log), apart = {at: axis.missing, text: "missing", missing: true};
  return [...found.filter((t) => place(axis.missing) - place(t.at) >= (room(t.text) + room("missing")) / 2 + 4), apart];
}
function numbered(axis, low, high, count) {
  const at = (axis.log ? logTicks(low, high, count) : niceTicks(low, high, count, axis.kind === "integer")).filter((v) => v >= (axis.first ?? -Infinity));
  const texts = axis.log ? at.map((v) => tickTexts([v])[0]) : tickTexts(at);
  return at.map((v, i) => ({at: v, text: texts[i]}));
}
// Every level where each has as many pixels as it needs, else every other or fewer.
function levelTicks(axis, length, pixels) {
  const every = Math.max(1, Math.ceil(axis.ticks.length * pixels / length));
  return axis.ticks.map((text, at) => ({at, text})).filter((_, i) => i % every === 0);
}
