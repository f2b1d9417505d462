// Data tables and downloads: what a card or a surface shows, as numbers.

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
function surfaceTable(index) {
  const pair = data.surfaces[index], o = state.output, body = [];
  pair.x.forEach((_, i) => pair.y.forEach((_, j) => body.push([pair.points[0][i], pair.points[1][j], pair.level[o][i][j], pair.pure[o][i][j], pair.share[i][j]])));
  return {head: [pair.names[0], pair.names[1], "average", "pure interaction", "data"], body};
}
function fillTable(details) {
  const item = details.closest(".card, .pair"), place = details.querySelector(".scroll");
  const {head, body} = item.classList.contains("card") ? featureTable(item) : surfaceTable(+item.dataset.surface);
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
  if (typeof value === "number") return String(+value.toPrecision(8));  // less a mean, digits beyond the data's own appear
  const text = /^[=+\-@\t\r]/.test(value) && isNaN(Number(value)) ? "'" + value : value;
  return '"' + text.replace(/"/g, '""') + '"';
}
function featureLines(card) {
  const panel = panelOf(card), view = viewOf(card), shown = shownColumns(panel, view);
  const lines = [["feature", "output", "group", "kind", "scale", "value", "average", "q05", "q25", "q50", "q75", "q95", "support"]];
  const add = (group, kind, points, values, rest) => points.forEach((p, i) => lines.push(
    [panel.name, data.outputs[view.output], group, kind, view.centre ? "change" : "level", p, values[i], ...rest.map((r) => r && i in r ? r[i] : "")]));
  const nothing = [null, null, null, null, null, null];
  add("", "pd", panel.points, shown.average, [...shown.bands, panel.support]);
  shown.groups.forEach((g) => add(g.group, "pd", panel.points, g.values, nothing));
  if (shown.ale) add("", "ale", panel.ale.points, shown.ale, nothing);
  return lines;
}
function saveCsv(item) {
  let lines;
  if (item.classList.contains("card")) lines = featureLines(item);
  else { const table = surfaceTable(+item.dataset.surface); lines = [table.head, ...table.body]; }
  const text = "\ufeff" + lines.map((line) => line.map(csvCell).join(",")).join("\r\n") + "\r\n";
  const address = URL.createObjectURL(new Blob([text], {type: "text/csv;charset=utf-8"}));
  save(address, fileName(item) + ".csv");
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
function savePng(item) {
  draw(item);
  const place = item.querySelector(".plot"), groups = place.data.some((t) => t.meta && t.meta.group !== undefined);
  const size = {width: place.clientWidth, height: place.clientHeight, scale: 3, format: "png"};
  // A picture on its own needs a ground, and the names of its groups.
  const layout = {...place.layout, paper_bgcolor: css("--paper"), width: size.width, height: size.height,
    showlegend: groups, legend: {orientation: "h", x: 0, y: 1, xanchor: "left", yanchor: "bottom"}};
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
function fileName(item) {
  const card = item.classList.contains("card");
  const parts = card ? [panelOf(item).name, viewWords(viewOf(item))] : [data.surfaces[+item.dataset.surface].names.join("-")];
  const plain = parts.map((part) => part.replace(/[^\p{L}\p{N}_-]+/gu, "_").replace(/^_+|_+$/g, "").slice(0, 60));
  return plain.filter(Boolean).join("_") || "feature";
}
