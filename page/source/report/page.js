// What the page holds: its elements, the JSON block with everything that is drawn, and the kinds of thing that have a picture.
export const byId = (id) => document.getElementById(id);
export const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
export const inside = (item, selector) => item.querySelector(selector);
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export const data = JSON.parse(byId("data").textContent);
if (data.v !== 2) throw new Error(`This script draws version 2 of a report, not ${data.v}.`);
export const several = data.models > 1;
// Long lists come as whole numbers, which are short.
const divided = (value, by) => Array.isArray(value) ? value.map((one) => divided(one, by)) : value === null ? null : value / by;
const packed = new Set([...data.features, ...data.surfaces, ...data.regions]);
function unpacked(part) {
  if (!packed.delete(part)) return part;
  for (const one of [part, ...(part.groups || [])]) for (const [key, value] of Object.entries(one)) if (value && value.whole) one[key] = divided(value.whole, 10 ** value.places);
  return part;
}

export const cards = all(".card");
// The three kinds of thing that have a picture, a table and files.
export const ITEMS = ".card, .pair, .region";
export const ofKind = (item, card, pair, region) => (item.matches(".card") ? card : item.matches(".pair") ? pair : region)(item);
export const panelOf = (card) => unpacked(data.features[+card.dataset.feature]);
export const allPanels = () => data.features.map(unpacked);
export const pairOf = (figure) => unpacked(data.surfaces[+figure.dataset.surface]);
export const regionOf = (article) => unpacked(data.regions[+article.dataset.region]);
