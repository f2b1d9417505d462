// Everything a reader can operate: search and sort, the toolbar, each card's own controls, links between
// pictures and tables, keys, themes and paper.
import {fillTable, saveCsv, saveEverything, savePng, saveSvg} from "./files.js";
import {changed, drawAll, lightGroup, makeRoom, tidy, watch} from "./items.js";
import {ITEMS, all, byId, cards, data, inside, panelOf} from "./page.js";
import {PER_CARD, chooseForAll, chooseOn, differs, isShown, onlyGroup, own, pairSize, readingOf, sizesOf, state, viewOf, viewWords} from "./view.js";

// --- finding and sorting -------------------------------------------------------------------------

const rows = all("#rows tr");
function find() {
  const wanted = byId("search").value.trim().toLowerCase();
  [...cards, ...rows].forEach((item) => { item.hidden = !item.dataset.name.toLowerCase().includes(wanted); });
  const count = cards.filter((card) => !card.hidden).length, what = rows.length > cards.length ? "cards" : "features";
  byId("nothing").hidden = count > 0;
  byId("found").textContent = wanted ? `${count} of ${cards.length} ${what}` : `${cards.length} ${what}`;
}
function sort() {
  const how = byId("sort").value;
  const number = (card) => how === "rank" ? -card.dataset.feature : +card.dataset[how];
  const order = [...cards].sort(how === "name" ? (a, b) => a.dataset.name.localeCompare(b.dataset.name) : (a, b) => number(b) - number(a));
  const place = new Map(rows.map((row) => [row.dataset.feature, row]));
  byId("cards").append(...order);
  byId("rows").prepend(...order.map((card) => place.get(card.dataset.feature)));
}

// --- the matrix ----------------------------------------------------------------------------------

function paintMatrix() {
  if (!data.matrix) return;
  const place = new Map(data.matrix.features.map((f, i) => [String(f), i])), values = data.matrix.strength[state.output];
  const largest = Math.max(1e-12, ...values.flat().filter((v) => v !== null));
  for (const cell of all("#matrix td")) {
    const {row, column} = cell.dataset, v = values[place.get(row)][place.get(column)];
    if (v === null) continue;
    const share = v / largest, surface = data.surfaces.findIndex(({features}) => features.includes(+row) && features.includes(+column));
    cell.style.setProperty("--v", share.toFixed(3));
    cell.classList.toggle("strong", share > 0.5);
    const text = document.createElement(surface < 0 ? "span" : "a");
    text.textContent = v.toFixed(2);
    cell.title = `${data.features[+row].name} × ${data.features[+column].name}`;
    if (surface >= 0) { text.href = "#s" + surface; text.setAttribute("aria-label", `${cell.title}: ${v.toFixed(2)}, see the surface`); }
    cell.replaceChildren(text);
  }
}
function lightFeatures(numbers) {
  all(".lit").forEach((e) => e.classList.remove("lit"));
  for (const f of numbers) all(`#rows tr[data-feature="${f}"], #matrix th[data-feature="${f}"]`).forEach((e) => e.classList.add("lit"));
}

// --- the toolbar and each card's own controls ----------------------------------------------------

// A card gets its controls when it is first drawn, from the template; their names say which feature is meant.
function equip(card) {
  const place = inside(card, ".tools"), name = panelOf(card).name;
  if (place.children.length) return;
  place.append(byId("card-tools").content.cloneNode(true));
  if (!panelOf(card).log) all("[data-key=log]", place).forEach((box) => box.closest("label").remove());
  all("select, input, button", place).forEach((control) => {
    const seen = control.closest("label");
    const words = seen && control.matches("select") ? seen.querySelector("span").textContent : (seen || control).textContent;
    control.setAttribute("aria-label", `${words.trim()}, ${name}`);
  });
  all("[role=group]", place).forEach((part) => part.setAttribute("aria-label", `${part.dataset.what} ${name}`));
  follow(card);
}
// Words, table, controls and legend of a card, after its view; its picture is drawn on its own time.
function follow(card) {
  const panel = panelOf(card), view = viewOf(card), words = viewWords(view), reading = readingOf(panel, view);
  inside(card, ".reading").textContent = reading;
  inside(card, ".plot").setAttribute("aria-label", `Partial dependence of ${panel.name}${words && ", " + words}. ${reading}`);
  inside(card, ".shown").textContent = words && `Shown: ${words}`;
  for (const [kind, size] of Object.entries(sizesOf(panel, view.output))) inside(card, "." + kind).textContent = size;
  card.classList.toggle("own", differs(card));
  const table = inside(card, "details.table[open]");
  if (table) fillTable(table);
  all(".tools [data-key]", card).forEach((control) => {
    const value = view[control.dataset.key];
    if (control.type === "checkbox") control.checked = value; else control.value = String(value);
    control.closest("label").classList.toggle("own", value !== state[control.dataset.key]);
  });
  all(".legend", card).forEach((legend) => { legend.hidden = view.group === "none"; });
  all(".legend .group", card).forEach((chip) => {
    chip.setAttribute("aria-pressed", String(onlyGroup(view) === +chip.dataset.group));
    chip.classList.toggle("off", !isShown(view, +chip.dataset.group));
  });
}
const chosen = (control) => control.type === "checkbox" ? control.checked : control.dataset.key === "output" ? +control.value : control.value;
function choose(card, key, value) {
  chooseOn(card, key, value);
  follow(card);
  changed(card);
}
function chooseEverywhere(key, value) {
  chooseForAll(key, value);
  if (PER_CARD.includes(key)) cards.forEach(follow);
  if (key === "output") { paintMatrix(); followOthers(); }
  changed();
}
// Surfaces, regions and shares of variance are of the toolbar's output.
function followOthers() {
  data.surfaces.forEach((pair, i) => {
    const figure = byId("s" + i), size = pairSize(pair, state.output);
    inside(figure, ".size").textContent = size;
    inside(figure, ".plot").setAttribute("aria-label", `Joint effect of ${pair.names.join(" and ")}${state.output ? " on " + data.outputs[state.output] : ""}; ${size}`);
  });
  all(".pair details.table[open], .region details.table[open]").forEach(fillTable);
  const own = data.shares && data.shares[state.output], shares = document.querySelector(".shares");
  if (!own) return;
  inside(shares, ".of").textContent = own.output;
  for (const part of ["alone", "pairs", "rest"]) {
    inside(shares, `[data-part=${part}]`).style.flexGrow = own[part];
    inside(shares, `[data-percent=${part}]`).textContent = `${own[part]} %`;
  }
  inside(shares, ".stack").setAttribute("aria-label", `Of the variance of the predictions of ${own.output}: single features ${own.alone} %, pairs of features ${own.pairs} %, the rest ${own.rest} %`);
}
// A browser may restore controls on reload.
all("[data-key]").forEach((control) => { if (control.type !== "radio" || control.checked) state[control.dataset.key] = chosen(control); });
if (viewWords(state)) { cards.forEach(follow); followOthers(); }
document.addEventListener("change", (event) => {
  const control = event.target.closest("[data-key]");
  if (!control) return;
  const card = control.closest(".card");
  if (card) choose(card, control.dataset.key, chosen(control)); else chooseEverywhere(control.dataset.key, chosen(control));
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("button"), item = button && button.closest(ITEMS);
  if (!item) return;
  if (button.matches(".csv")) saveCsv(item);
  if (button.matches(".png")) savePng(item);
  if (button.matches(".svg")) saveSvg(item);
  // A group's name shows it alone, and a second time all again.
  if (button.matches(".group")) choose(item, "group", button.getAttribute("aria-pressed") === "true" ? "each" : button.dataset.group);
  if (button.matches(".reset")) {
    own.delete(item);
    follow(item);
    changed(item);
    inside(item, ".tools [data-key]").focus();  // the button goes; its place in the order of keys should not
  }
});
// A group is lit by the pointer, else by the focus: a page that scrolls under a resting pointer darkens nothing.
const lighting = {pointer: null, focus: null};
function lightFrom(source, element) {
  const chip = element && element.closest ? element.closest(".group") : null;
  lighting[source] = chip ? +chip.dataset.group : null;
  lightGroup(lighting.pointer ?? lighting.focus);
}
document.addEventListener("focusin", (event) => lightFrom("focus", event.target));
document.addEventListener("focusout", (event) => { if (!event.relatedTarget) lightFrom("focus", null); });
byId("search").addEventListener("input", find);
byId("sort").addEventListener("change", sort);
all("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
all("details.table").forEach((details) => details.addEventListener("toggle", () => { if (details.open) fillTable(details); }));
document.addEventListener("pointerover", (event) => {
  lightFrom("pointer", event.target);
  const {row, column, feature} = event.target.closest?.("#matrix td, #rows tr")?.dataset ?? {};
  lightFeatures([row, column, feature].filter((one) => one !== undefined));
});
// With the focus on a card's name, the arrows go along its curve and say the numbers there.
function along(event) {
  const plot = event.target.matches(".card h3") && inside(event.target.closest(".card"), ".plot");
  if (!plot?.drawing) return;
  event.preventDefault();
  byId("tell").textContent = plot.drawing.step(event.key === "ArrowRight" ? 1 : -1).join("; ");
}
// "/" finds; j and k go from card to card.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input[type=search]")) return;
  if (event.key === "/") { event.preventDefault(); byId("search").focus(); }
  if (event.key === "ArrowLeft" || event.key === "ArrowRight") along(event);
  if (event.key !== "j" && event.key !== "k") return;
  const shown = all(".card").filter((card) => !card.hidden), here = document.activeElement.closest ? document.activeElement.closest(".card") : null;
  const next = shown[here ? shown.indexOf(here) + (event.key === "j" ? 1 : -1) : 0];
  if (next) { next.querySelector("h3").focus({preventScroll: true}); next.scrollIntoView({block: "start"}); }
});
// A link lands at its heading, also where pictures above it are drawn meanwhile, until the reader moves on.
let landing = 0;
const framed = location.protocol === "about:";  // a notebook's frame has no address of its own
function land(hash = location.hash) {
  const target = hash.length > 1 && byId(decodeURIComponent(hash.slice(1)));
  if (!target) return;
  if (target.hidden) { byId("search").value = ""; find(); }
  const own = ++landing;
  let frames = 0, still = 0, before = null;
  const step = () => {
    if (own !== landing) return;
    target.scrollIntoView({block: "start"});
    const now = target.getBoundingClientRect().top + window.scrollY;
    still = now === before ? still + 1 : 0;
    before = now;
    if (++frames < 90 && still < 12) requestAnimationFrame(step);
  };
  step();
}
["wheel", "touchstart", "keydown", "pointerdown"].forEach((kind) => window.addEventListener(kind, () => { landing++; }, {passive: true}));
window.addEventListener("hashchange", () => land());
// A second click on the same link leads there again.
document.addEventListener("click", (event) => {
  const link = event.target.closest && event.target.closest("a[href^='#']");
  if (!link) return;
  if (framed) { event.preventDefault(); land(link.getAttribute("href")); } else if (link.getAttribute("href") === location.hash) land();
});
byId("everything").addEventListener("click", (event) => saveEverything(event.currentTarget));

// --- light, dark and paper -----------------------------------------------------------------------

const darkSystem = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme || (darkSystem.matches ? "dark" : "light")) === "dark";
function themeButton() {
  byId("theme").textContent = isDark() ? "Light" : "Dark";
  byId("theme").setAttribute("aria-pressed", String(isDark()));
  byId("theme").setAttribute("aria-label", "Dark theme");
}
byId("theme").addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; themeButton(); changed(); });
darkSystem.addEventListener("change", () => { themeButton(); changed(); });
let before = null;
window.addEventListener("beforeprint", () => {
  before = document.documentElement.dataset.theme || "";
  document.documentElement.dataset.theme = "light";
  // The page takes its width on paper first: pictures keep the width they are drawn at.
  document.documentElement.classList.add("paper");
  all(".how:not([open])").forEach((part) => { part.open = true; part.dataset.printed = "yes"; });
  makeRoom();
  drawAll(60);
});
window.addEventListener("afterprint", () => {
  if (before) document.documentElement.dataset.theme = before; else delete document.documentElement.dataset.theme;
  document.documentElement.classList.remove("paper");
  all(".how[data-printed]").forEach((part) => { part.open = false; delete part.dataset.printed; });
  makeRoom();
  changed();
  tidy();
});

// Room for ticks and for the names of groups depends on the width.
let width = window.innerWidth;
window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; makeRoom(); changed(); } });
// What a link or a key brings into view must not end up under the toolbar, nor may the toolbar fill the screen.
new ResizeObserver(([entry]) => {
  const bar = entry.target;
  bar.classList.toggle("still", bar.offsetHeight > 0.3 * window.innerHeight);
  const covered = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
  document.documentElement.style.setProperty("--covered", `${covered}px`);
}).observe(byId("toolbar"));

themeButton();
find();
paintMatrix();
watch(equip);
land();
document.documentElement.dataset.ready = "yes";
