// What the page holds: its elements, the JSON block with everything that is drawn, and the kinds of thing that have a picture.
import {decode} from "../decode.js";

export const byId = (id) => document.getElementById(id);
export const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
export const inside = (item, selector) => item.querySelector(selector);
export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export const data = JSON.parse(byId("data").textContent);
if (data.v !== 2) throw new Error(`This script draws version 2 of a report, not ${data.v}.`);
export const several = data.models > 1;
// Long lists come as whole numbers, which are short.
const divided = (value, by) => Array.isArray(value) ? value.map((one) => divided(one, by)) : value === null ? null : value / by;
function unpack(part) {
  for (const [key, value] of Object.entries(part)) if (value && value.whole) part[key] = divided(value.whole, 10 ** value.places);
}
data.features.forEach((panel) => { unpack(panel); panel.groups.forEach(unpack); });
data.surfaces.forEach(unpack);
data.pictures = data.pictures.map(decode);

export const cards = all(".card");
// The three kinds of thing that have a picture, a table and files.
export const ITEMS = ".card, .pair, .region";
export const ofKind = (item, card, pair, region) => (item.matches(".card") ? card : item.matches(".pair") ? pair : region)(item);
export const panelOf = (card) => data.features[+card.dataset.feature];
export const pairOf = (figure) => data.surfaces[+figure.dataset.surface];
export const regionOf = (article) => data.regions[+article.dataset.region];
