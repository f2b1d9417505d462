// Numbers as colours: from dark to light, away from the ground on both sides of zero, or deepening from the ground.
const SEQUENTIAL = ["#33305f", "#33608d", "#2a8a8c", "#46ac7d", "#9ccb57", "#f3e35b"];
const DIVERGING = {light: ["#174f80", "#7fb0d3", null, "#e8a07c", "#9c3318"], dark: ["#a8dcff", "#3d79a8", null, "#b0562f", "#ffc3a0"]};

export const channels = (colour) => {
  const hex = /^#([0-9a-f]{3,8})$/i.exec(colour);
  if (hex) { const full = hex[1].length < 6 ? [...hex[1]].map((c) => c + c).join("") : hex[1]; return [0, 2, 4].map((i) => parseInt(full.slice(i, i + 2), 16)); }
  return (colour.match(/[\d.]+/g) || [0, 0, 0]).slice(0, 3).map(Number);
};
export const isDark = (colour) => { const [r, g, b] = channels(colour); return 0.299 * r + 0.587 * g + 0.114 * b < 115; };

// The stops of a scale on a ground, as hex.
export function stops(scale, ink) {
  if (scale.stops) return scale.stops;
  const paper = ink("paper");
  if (scale.diverging) return DIVERGING[isDark(paper) ? "dark" : "light"].map((c) => c ?? paper);
  if (scale.ink !== null && scale.ink !== undefined) return [0.1, 0.4, 0.7, 1].map((share) => mixed(channels(paper), channels(ink(scale.ink)), share));
  return SEQUENTIAL;
}
const mixed = (a, b, share) => "#" + a.map((v, i) => Math.round(v + share * (b[i] - v)).toString(16).padStart(2, "0")).join("");
export function colourer(scale, ink) {
  const list = stops(scale, ink).map(channels), span = scale.high - scale.low || 1;
  return (value) => {
    const at = Math.min(1, Math.max(0, (value - scale.low) / span)) * (list.length - 1), i = Math.min(list.length - 2, Math.floor(at)), share = at - i;
    return `rgb(${list[i].map((v, k) => Math.round(v + share * (list[i + 1][k] - v))).join(",")})`;
  };
}
