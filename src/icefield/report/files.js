// Data tables and downloads: what a card, a surface or a set of regions shows, as numbers. Tables hold
// texts to read, files the values themselves.

// A card's view as named columns along its points.
function shownColumns(panel, view) {
  const now = shownCurves(panel, view), named = now.groups.map((values, g) => ({group: data.groups[g], values}));
  return {average: now.average, groups: named.filter((_, g) => isShown(view, g)), bands: now.bands || [[], [], [], [], []], ale: now.ale};
}
function featureTable(card) {
  const panel = panelOf(card), view = viewOf(card), shown = shownColumns(panel, view);
  const share = panel.histogram && panel.axis.kind === "category" ? panel.histogram.share : panel.weight;
  const columns = [
    ["value", panel.points], [view.centre ? "change in average" : "average", shown.average], ...shown.groups.map((g) => [g.group, g.values]),
    ...["5 %", "25 %", "50 %", "75 %", "95 %"].map((q, i) => [q, shown.bands[i]]), ["data", share], ["support", panel.support || []],
  ];
  return {head: columns.map((c) => c[0]), body: panel.points.map((_, i) => columns.map((c) => i in c[1] ? c[1][i] : ""))};
}
function surfaceTable(figure, points = "points") {
  const pair = data.surfaces[+figure.dataset.surface], o = state.output, [first, second] = pair[points], body = [];
  pair.x.forEach((_, i) => pair.y.forEach((_, j) => body.push([first[i], second[j], pair.level[o][i][j], pair.pure[o][i][j], pair.share[i][j]])));
  return {head: [pair.names[0], pair.names[1], "average", "pure interaction", "data"], body};
}
// Around their own means, as they are drawn.
function regionTable(article, points = "points") {
  const panel = data.regions[+article.dataset.region], curves = regionCurves(panel);
  return {head: [points === "points" ? "value" : panel.name, ...curves.map((c) => c.name)], body: panel[points].map((p, i) => [p, ...curves.map((c) => c.values[i])])};
}
function regionCurves(panel) {
  const o = state.output, centred = (g) => minus(g.average[o], g.mean[o]);
  return [{name: "all rows", values: centred(panel)}, ...panel.groups.map((g, i) => ({name: panel.rules[i], values: centred(g)}))];
}
function fillTable(details) {
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
  add("", "pd", panel.values, shown.average, [...shown.bands, panel.support]);
  shown.groups.forEach((g) => add(g.group, "pd", panel.values, g.values, nothing));
  if (shown.ale) add("", "ale", panel.ale.values, shown.ale, nothing);
  return lines;
}
// Less a mean, digits beyond the data's own appear.
const computed = (list) => list.map((v) => typeof v === "number" ? +v.toPrecision(8) : v);
function surfaceLines(figure) {
  const {head, body} = surfaceTable(figure, "values");
  return [["output", ...head], ...body.map(([a, b, ...rest]) => [data.outputs[state.output], a, b, ...computed(rest)])];
}
function regionLines(article) {
  const {head, body} = regionTable(article, "values");
  return [["output", ...head], ...body.map(([value, ...rest]) => [data.outputs[state.output], value, ...computed(rest)])];
}
function saveCsv(item) {
  const lines = ofKind(item, featureLines, surfaceLines, regionLines);
  const text = "\ufeff" + lines.map((line) => line.map(csvCell).join(",")).join("\r\n") + "\r\n";
  const address = URL.createObjectURL(new Blob([text], {type: "text/csv;charset=utf-8"}));
  save(address, fileName(item) + ".csv");
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
function savePng(item) {
  draw(item);
  const place = item.querySelector(".plot"), groups = place.data.some((t) => t.meta && t.meta.group !== undefined);
  const above = 36, size = {width: place.clientWidth, height: place.clientHeight + above, scale: 3, format: "png"};
  // A picture on its own needs a ground, a title, and the names of its groups.
  const title = {text: safe(short(titleOf(item).filter(Boolean).join(", "), Math.floor(size.width / 8))), font: {size: 15, color: css("--ink")}, x: 0, xanchor: "left", xref: "container",
    y: 1, yref: "container", yanchor: "top", pad: {l: 12, t: 12}};
  const layout = {...place.layout, paper_bgcolor: css("--paper"), width: size.width, height: size.height, title,
    margin: {...place.layout.margin, t: place.layout.margin.t + above}, showlegend: groups, legend: {orientation: "h", x: 0, y: 1, xanchor: "left", yanchor: "bottom"}};
  const traces = place.data.map((t) => ({...t, showlegend: Boolean(t.meta && (t.meta === "average" || t.meta.group !== undefined))}));
  return Plotly.toImage({data: traces, layout}, size).then((address) => save(address, fileName(item) + ".png"));
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
    (figure) => [data.surfaces[+figure.dataset.surface].names.join(" × "), [output, state.view === "pure" ? "pure interaction" : ""].filter(Boolean).join(", ")],
    (article) => [data.regions[+article.dataset.region].name, ["regions", output].filter(Boolean).join(", ")]);
}
function fileName(item) {
  const plain = titleOf(item).map((part) => part.replace(/[^\p{L}\p{N}_-]+/gu, "_").replace(/^_+|_+$/g, "").slice(0, 60));
  return plain.filter(Boolean).join("_") || "feature";
}
