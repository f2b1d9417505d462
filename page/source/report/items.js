// Pictures, each drawn when it scrolls into view and given back when it is far from it.
import {draw as drawPanel} from "../draw.js";
import {cardPanel, cellWords, fit, litMarks, pointWords, regionPanel, regionWords, surfacePanel} from "./compose.js";
import {ITEMS, all, allPanels, byId, cards, data, inside, ofKind, panelOf, pairOf, regionOf, several} from "./page.js";
import {drawStill} from "./stills.js";
import {onlyGroup, state, viewOf} from "./view.js";

const DRAWN_AT_MOST = 40;
const plotOf = (item) => inside(item, ".plot");
const drawingOf = (item) => plotOf(item).drawing;

// --- room, before anything is drawn ---------------------------------------------------------------

const narrow = window.matchMedia("screen and (max-width: 52rem)");
export const onPaper = () => document.documentElement.classList.contains("paper");
function pictureWidth() {
  const wide = byId("cards").clientWidth;
  return onPaper() ? wide - 262 : narrow.matches ? wide : wide - 315;
}
// Levels whose names do not fit side by side stand one above the other.
const isLying = ({kind, ticks}, wide) => kind === "category" && !fit(ticks, wide);
// Pictures with many levels are taller; said before they are drawn, so that nothing moves then.
export function makeRoom() {
  const wide = pictureWidth();
  const room = (item, panel, lying) => { item.classList.toggle("lying", lying); item.style.setProperty("--levels", panel.axis.ticks.length); };
  cards.forEach((card) => { const panel = panelOf(card); if (panel.axis.kind === "category") room(card, panel, isLying(panel.axis, wide)); });
  all(".region").forEach((part) => { const panel = regionOf(part); if (panel.axis.kind === "category") room(part, panel, isLying(panel.axis, plotOf(part).clientWidth)); });
  data.surfaces.forEach((pair, i) => { if (pair.axes[1].kind === "category") byId("s" + i).style.setProperty("--levels", pair.y.length); });
  document.documentElement.style.setProperty("--step", `${onPaper() ? 16 : 17 + Math.min(10, data.groups.length)}px`);
}

// --- the shared axis -----------------------------------------------------------------------------

// It holds every feature with all of its groups, so that cards of one output stay comparable whichever group each shows.
// Outputs, and levels and changes, have axes of their own: their units may differ.
let version = 0;  // rises with every change for all: a picture with an older number is drawn again
const commonRanges = new Map();
function commonRange(view, {group = "each", small = false} = {}) {
  const key = `${view.output} ${view.centre} ${small} ${version}`;
  if (!commonRanges.has(key)) {
    const axes = allPanels().map((panel) => cardPanel(panel, {...view, group, log: false}, {small}).y);
    commonRanges.set(key, [Math.min(...axes.map((y) => y.low)), Math.max(...axes.map((y) => y.high))]);
  }
  return commonRanges.get(key);
}

// --- drawing -------------------------------------------------------------------------------------

function drawCard(card) {
  const own = panelOf(card), view = viewOf(card), place = plotOf(card), legend = inside(card, ".legend"), lying = card.classList.contains("lying");
  // The names of the groups lie on the picture's upper edge, so that showing a few moves nothing on the page.
  const named = legend ? legend.offsetHeight : 0;
  card.style.setProperty("--named", `${Math.max(0, named - (onPaper() ? 0 : 56))}px`);
  const panel = cardPanel(own, view, {lying, wide: place.clientWidth || 600});
  if (view.shared) [panel.y.low, panel.y.high] = commonRange(view);
  const drawing = drawPanel(place, panel, {
    legend: false, top: named, at: panel.at, tell: (i) => pointWords(own, view, i),
    onRow: own.curves ? (found) => lightRow(found && own.rows[found.row], found && {card, at: found.at}) : null,
  });
  drawing.light(lighted(view));
  drawing.over(litMarks(own, view, panel.at, state.row, null));
}
const lighted = (view) => onlyGroup(view) === null ? state.lit : null;
function drawSurface(figure) {
  const pair = pairOf(figure);
  drawPanel(plotOf(figure), surfacePanel(pair), {legend: false, tell: (i, j) => cellWords(pair, i, j)});
}
function drawRegion(article) {
  const own = regionOf(article), panel = regionPanel(own, {lying: article.classList.contains("lying"), wide: plotOf(article).clientWidth || 500});
  drawPanel(plotOf(article), panel, {legend: false, at: panel.at, tell: (i) => regionWords(own, i)});
}
// A card's picture in small, on one scale with all others, so that a weak effect looks weak.
function drawSmall(place) {
  const view = {...state, log: false, ale: false, observed: false, curves: false, centre: false, group: several ? "each" : "none"};
  const panel = cardPanel(panelOf(place), view, {small: true, wide: place.clientWidth});
  [panel.y.low, panel.y.high] = commonRange(view, {group: view.group, small: true});
  drawPanel(plotOf(place), panel, {legend: false, still: true});
}

export const items = all(ITEMS);
const others = all(".mini, [data-still]");
const drawn = new Set(), visible = new Set(), made = new WeakMap();
let equip = () => {};
export function draw(item) {
  if (item.hidden || made.get(item) === version) return;
  made.set(item, version);
  if (item.matches("[data-still]")) return drawStill(item);
  if (item.matches(".mini")) return drawSmall(item);
  if (item.matches(".card")) equip(item);
  drawn.delete(item);
  drawn.add(item);
  ofKind(item, drawCard, drawSurface, drawRegion);
}
// Pictures far out of view are given back, so that hundreds of features stay light.
export function tidy() {
  for (const item of drawn) {
    if (drawn.size <= DRAWN_AT_MOST) return;
    if (visible.has(item)) continue;
    drawingOf(item).destroy();
    drawn.delete(item);
    made.delete(item);
  }
}
// One card was changed, or without one everything.
let waiting = false;
export function changed(card) {
  if (card) made.delete(card); else version++;
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; visible.forEach(draw); });
}
export function drawAll(most) {
  version++;
  [...others, ...items.slice(0, most)].forEach(draw);
}
export function watch(equipment) {
  equip = equipment;
  makeRoom();
  others.forEach((place) => { if (place.drawing) made.set(place, version); });  // before the page was there
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) { visible.add(entry.target); draw(entry.target); } else visible.delete(entry.target);
    }
    tidy();
  }, {rootMargin: "500px 0px"});
  [...items, ...others].forEach((item) => watcher.observe(item));
}

// --- what is pointed at, on every card ------------------------------------------------------------

function lightRow(row, pointed) {
  if (state.row === row && (state.pointed && state.pointed.at) === (pointed && pointed.at)) return;
  const same = state.row === row;
  Object.assign(state, {row, pointed});
  // Of the same row, what was pointed at may have ended in nothing: its card is drawn once more then.
  for (const card of same && pointed ? [pointed.card] : drawn) {
    if (!card.matches(".card")) continue;
    const drawing = drawingOf(card);
    drawing.over(litMarks(panelOf(card), viewOf(card), drawing.panel.at, row, pointed && pointed.card === card ? pointed.at : null));
  }
}
// Pointing at a group's name lifts its curve out of the others, on every card that shows them.
export function lightGroup(group) {
  if (state.lit === group) return;
  state.lit = group;
  for (const card of drawn) if (card.matches(".card")) drawingOf(card).light(lighted(viewOf(card)));
}
