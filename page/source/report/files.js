// Data tables and downloads: what a card, a surface or a set of regions shows, as numbers. Tables hold
// texts to read, files the values themselves.
import {said, short} from "../words.js";
import {regionCurves} from "./compose.js";
import {draw, items, tidy} from "./items.js";
import {ITEMS, all, byId, data, ofKind, pairOf, panelOf, regionOf, several} from "./page.js";
import {isShown, pairSize, readingOf, shownCurves, state, viewOf, viewWords} from "./view.js";
import {zipped} from "./zip.js";

// A card's view as named columns along its points.
function shownColumns(panel, view) {
  const now = shownCurves(panel, view), named = now.groups.map((values, g) => ({group: data.groups[g], values}));
  return {average: now.average, groups: named.filter((_, g) => isShown(view, g)), bands: now.bands || [[], [], [], [], []], ale: now.ale, observed: now.observed};
}
function featureTable(card) {
  const panel = panelOf(card), view = viewOf(card), shown = shownColumns(panel, view);
  const share = panel.histogram && panel.axis.kind === "category" ? panel.histogram.share : panel.weight;
  const columns = [
    ["value", panel.points], ...(several ? [] : [[view.centre ? "change in average" : "average", shown.average]]), ...shown.groups.map((g) => [g.group, g.values]),
    ...(panel.bands ? ["5 %", "25 %", "50 %", "75 %", "95 %"].map((q, i) => [q, shown.bands[i]]) : []), ["data", share], ...(panel.support ? [["support", panel.support]] : []),
  ];
  return {head: columns.map((c) => c[0]), body: panel.points.map((_, i) => columns.map((c) => i in c[1] ? c[1][i] : ""))};
}
function surfaceTable(figure, points = "points") {
  const pair = pairOf(figure), o = state.output, [first, second] = pair[points], body = [];
  pair.x.forEach((_, i) => pair.y.forEach((_, j) => body.push([first[i], second[j], pair.level[o][i][j], pair.pure[o][i][j], pair.share[i][j]])));
  return {head: [pair.names[0], pair.names[1], "average", "pure interaction", "data"], body};
}
// Around their own means, as they are drawn.
function regionTable(article, points = "points") {
  const panel = regionOf(article), curves = regionCurves(panel);
  return {head: [points === "points" ? "value" : panel.name, ...curves.map((c) => c.name)], body: panel[points].map((p, i) => [p, ...curves.map((c) => c.values[i])])};
}
export function fillTable(details) {
  const item = details.closest(ITEMS), place = details.querySelector(".scroll");
  const {head, body} = ofKind(item, featureTable, surfaceTable, regionTable);
  const cell = (kind, text) => { const c = document.createElement(kind); c.textContent = typeof text === "number" ? said(text) : text === null ? "–" : text; return c; };
  const table = document.createElement("table"), top = table.createTHead().insertRow(), rest = table.createTBody();
  head.forEach((h) => { const c = cell("th", h); c.scope = "col"; top.append(c); });
  body.forEach((line) => {
    const row = rest.insertRow();
    line.forEach((v, i) => { const c = cell(i ? "td" : "th", v); if (!i) c.scope = "row"; row.append(c); });
  });
  place.replaceChildren(table);
}
// A spreadsheet runs a text that starts like a formula; a quote keeps it text.
function csvCell(value) {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) && isNaN(Number(value)) ? "'" + value : value;
  return '"' + text.replace(/"/g, '""') + '"';
}
function featureLines(card) {
  const panel = panelOf(card), view = viewOf(card), shown = shownColumns(panel, view);
  const lines = [["feature", "output", "group", "kind", "scale", "value", "average", "q05", "q25", "q50", "q75", "q95", "support"]];
  const add = (group, kind, points, values, rest) => points.forEach((p, i) => lines.push(
    [panel.name, data.outputs[view.output], group, kind, view.centre ? "change" : "level", p, ...computed([values[i]]), ...rest.map((r) => r && i in r ? computed([r[i]])[0] : null)]));
  const nothing = [null, null, null, null, null, null];
  if (!several) add("", "pd", panel.values, shown.average, [...shown.bands, panel.support]);
  shown.groups.forEach((g) => add(g.group, "pd", panel.values, g.values, nothing));
  if (shown.observed) ["observed", "predicted"].forEach((kind, i) => add("", kind, panel.observed.values, shown.observed[i], nothing));
  if (shown.ale) add("", "ale", panel.ale.values, shown.ale, nothing);
  return lines;
}
// Less a mean, digits beyond the data's own appear.
const computed = (list) => list.map((v) => typeof v === "number" ? +v.toPrecision(8) : v);
// A table's lines with the output in front; the first `named` of its columns are places.
const linesOf = ({head, body}, named) => [["output", ...head], ...body.map((line) => [data.outputs[state.output], ...line.slice(0, named), ...computed(line.slice(named))])];
const csvOf = (item) => csvText(ofKind(item, featureLines, (figure) => linesOf(surfaceTable(figure, "values"), 2), (article) => linesOf(regionTable(article, "values"), 1)));
const csvText = (lines) => "\ufeff" + lines.map((line) => line.map(csvCell).join(",")).join("\r\n") + "\r\n";
export const saveCsv = (item) => saveBlob(new Blob([csvOf(item)], {type: "text/csv;charset=utf-8"}), fileName(item) + ".csv");
export const saveSvg = (item) => saveBlob(new Blob([svgOf(item)], {type: "image/svg+xml;charset=utf-8"}), fileName(item) + ".svg");
export const savePng = (item) => pngOf(item).then((address) => save(address, fileName(item) + ".png"));
function saveBlob(blob, name) {
  const address = URL.createObjectURL(blob);
  save(address, name);
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
// A picture on its own needs a title, a legend, and what it says.
function exported(item, how) {
  draw(item);
  return item.querySelector(".plot").drawing[how]({title: short(titleOf(item).filter(Boolean).join(", "), 120), caption: captionOf(item)});
}
const pngOf = (item) => exported(item, "image"), svgOf = (item) => exported(item, "file");
// What a picture says, in words.
function captionOf(item) {
  return ofKind(item,
    (card) => readingOf(panelOf(card), viewOf(card)),
    (figure) => `${pairSize(pairOf(figure), state.output)}${state.mask ? "; crossed out where there is no such data" : ""}`,
    (article) => all(".rules tbody tr", article).map((row) => `${row.querySelector("bdi").textContent}: ${row.querySelector(".size").textContent}`).join("; "));
}
const bytesOf = (address) => Uint8Array.from(atob(address.split(",")[1]), (letter) => letter.charCodeAt(0));
const textOf = (element) => element.textContent.trim().replace(/\s+/g, " ");
const cellsOf = (table) => all("tr", table).map((row) => Array.from(row.cells, textOf));
// Every picture and table as the page shows it now.
export async function saveEverything(button) {
  const files = [], used = new Set(), told = button.textContent;
  button.disabled = true;
  const add = (folder, name, suffix, content) => {
    let own = name;
    for (let n = 2; used.has(folder + own + suffix); n++) own = `${name}_${n}`;
    used.add(folder + own + suffix);
    files.push([`${folder}/${own}${suffix}`, content]);
  };
  files.push(["README.txt", readme()]);
  all("[data-file]").forEach((table) => files.push([`${table.dataset.file}.csv`, csvText(cellsOf(table))]));
  for (const [i, item] of items.entries()) {
    button.textContent = `${i + 1} of ${items.length} …`;
    const rank = item.matches(".card") ? String(+item.dataset.feature + 1).padStart(2, "0") + "_" : "", folder = ofKind(item, () => "features", () => "pairs", () => "regions");
    const hidden = item.hidden;
    item.hidden = false;
    add(folder, rank + fileName(item), ".csv", csvOf(item));
    add(folder, rank + fileName(item), ".png", bytesOf(await pngOf(item)));
    item.hidden = hidden;
    tidy();
  }
  saveBlob(zipped(files), (plainName(document.title) || "report") + ".zip");
  button.textContent = told;
  button.disabled = false;
}
function readme() {
  const facts = all(".facts > div").map((fact) => Array.from(fact.children, textOf).join(": "));
  const findings = all(".plain > li p").map((line, i) => `${i + 1}. ${textOf(line)}`);
  return [document.title, document.querySelector(".lede").textContent, "", ...findings, "", ...facts, ""].join("\r\n");
}
function save(address, name) {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  byId("tell").textContent = `Saved ${name}`;
}
// What a picture shows, and which view of it.
function titleOf(item) {
  const output = state.output ? data.outputs[state.output] : "";
  return ofKind(item,
    (card) => [panelOf(card).name, viewWords(viewOf(card))],
    (figure) => [pairOf(figure).names.join(" × "), [output, state.view === "pure" ? "pure interaction" : ""].filter(Boolean).join(", ")],
    (article) => [regionOf(article).name, ["regions", output].filter(Boolean).join(", ")]);
}
const plainName = (text) => text.replace(/[^\p{L}\p{N}_-]+/gu, "_").replace(/^_+|_+$/g, "").slice(0, 60);
const fileName = (item) => titleOf(item).map(plainName).filter(Boolean).join("_") || "feature";
