// The explorer: one page over one link. `mount(element, link, options)` builds it; every gesture changes the state, and the state asks.
import {isNumber, said} from "../words.js";
import {Asker} from "./ask.js";
import {CurveView} from "./curve.js";
import {button, counted, el, select} from "./elements.js";
import {FilterView} from "./filter.js";
import {few} from "./numbers.js";
import {Store, known} from "./store.js";
import {ListView, PlaneView, RowView} from "./views.js";
import style from "./explore.css";

const SHOWN = [["spread", "spread"], ["ghost", "all rows"], ["row", "this row"], ["ale", "ALE"], ["observed", "observed"], ["centred", "centred"], ["audit", "audit"]];
const ALONE = ["spread", "ghost", "ale", "observed"];  // of one model
const STALE = 120, REST = 400, SOON = 600, SILENT = 5000, AFTER = 100;  // milliseconds

export function mount(element, link, options = {}) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  const root = options.shadow ? element.attachShadow({mode: "open"}) : document;
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  const home = el("div", {class: "icefield-explorer"});
  (options.shadow ? root : element).append(home);
  return new App(home, root, link, options);
}

class App {
  constructor(home, root, link, options) {
    Object.assign(this, {home, root, link, options, data: {}, timers: {}});
    this.store = new Store((why) => this.committed(why));
    this.asker = new Asker(link, (head) => this.heard(head));
    link.onstate = (state) => this.linked(state);
    // A notebook that was saved, or converted, has no Python that answers: the picture stays.
    const first = el("p", {class: "first"}, "Reading the model and the data …");
    home.addEventListener("keydown", (event) => { if (this.about) this.key(event); });
    new ResizeObserver(() => { if (this.about) this.soon("resize", () => this.drawAll(), 60); }).observe(home);
    home.append(first, ...(options.picture ? [el("img", {class: "still", src: `data:image/png;base64,${options.picture}`, alt: "Curves of the features that move predictions most, over all rows"})] : []));
    if (options.picture) this.soon("first", () => { first.textContent = "Python does not answer. This is a picture of all rows' curves; run the cell for the live explorer."; }, SILENT);
    link.start();
  }
  get state() { return this.store.state; }
  get sideBySide() { return this.state.shown.both && this.about.models.length > 1; }
  wide() { return this.home.clientWidth || 1200; }

  // --- the link ----------------------------------------------------------------------------------
  linked(state) {
    this.linkState = state;
    if (state === "open") {
      this.asker.reset();
      this.asker.ask("open", "view");
      if (this.about) { this.banner.hidden = true; this.home.classList.remove("lostlink"); this.live.textContent = "live"; this.live.className = "live"; }
      return;
    }
    if (!this.about) {
      if (state === "refused") this.home.replaceChildren(el("p", {class: "first"}, "This address does not open the explorer: use the whole one that Python printed, with what follows #."));
      return;
    }
    const say = {lost: "Python does not answer. What you see stays; trying again …", waiting: "Python does not answer. Trying again …", refused: "Python has been started anew, with another address: use the one it printed.", idle: "The connection was closed because nothing happened for a while."}[state];
    this.home.classList.add("lostlink");
    this.live.textContent = "not connected";
    this.live.className = "live lost";
    this.banner.hidden = false;
    this.banner.replaceChildren(el("span", {}, say), button("Try now", () => this.link.again()));
    this.say(say);
  }
  heard(head) {
    if (head.error) { this.failed(head); return; }
    const handler = this[`on_${head.part}`];
    if (handler) handler.call(this, head);
    if (head.slot === "filter") this.progress(head);
    this.home.dataset.heard = String(1 + Number(this.home.dataset.heard || 0));
  }
  failed({error, slot}) {
    if (error.kind === "stopped") return;
    this.errorLine.textContent = error.say;
    if (slot === "filter") { this.settle(); this.settled(); }
    if (slot === "view") this.nextView();
    this.home.dataset.error = error.kind;
  }
  request() {
    const {feature, rule, model, output, scale} = this.state;
    return {feature, rule, model, output, ...(scale ? {scale} : {})};
  }

  // --- what was found ----------------------------------------------------------------------------
  on_about(head) {
    clearTimeout(this.timers.first);
    const same = (one) => JSON.stringify([one.title, one.n_rows, one.seed, one.models, one.outputs, one.scales, one.rows, one.features]);
    if (this.about && same(this.about) === same(head)) { this.refresh(); return; }  // connected again
    if (this.about) { this.options.state = this.state; this.data = {}; this.store.past = []; this.store.future = []; }  // to other data or models
    this.about = head;
    this.starts = [];
    head.features.reduce((at, feature) => { this.starts.push(at); return at + feature.n; }, 0);
    this.barStarts = [];
    head.features.reduce((at, feature) => { this.barStarts.push(at); return at + feature.bars; }, 0);
    this.data.x = head.arrays.x;
    this.data.bars = this.data.barsNow = head.arrays.bars;
    this.store.restore(this.options.state, head);
    this.view = [this.state.model, this.state.output, this.state.scale].join();
    this.build();
    this.refresh();
    this.home.dataset.ready = "yes";
  }
  on_count(head) {
    Object.assign(this.data, {count: head.rows, words: head.words, conditions: head.conditions, kept: head.arrays.kept, weight: head.weight, empty: head.empty || null});
    this.drawRule(head.took);
    this.unlessSoon("scatter", () => this.filterView.drawScatter(), AFTER);  // thousands of points: the curve comes first
    if (head.empty) {  // what was found of other rows is not theirs
      Object.assign(this.data, {curve: null, curves: null, band: null, low: null, summary: null, sentence: head.empty.say, compared_words: ""});
      this.settle();
      this.say(head.empty.say);
      this.listView.draw();
      this.drawCurve();
      this.words();
    }
    this.errorLine.textContent = "";
  }
  on_curve(head) {
    const n = this.about.features[head.feature].n, o = this.outputOf(head.arrays.y, n);
    Object.assign(this.data, {sentence: head.sentence, compared_words: head.compared, curveFeature: head.feature, curve: o, ghostCurve: this.outputOf(head.arrays.ghost, n)});
    if (head.feature === this.state.feature) { this.drawCurve(); this.words(); }
  }
  on_bars(head) {
    this.data.barsNow = head.arrays.bars;
    this.filterView.drawHistograms();
    if (head.done) this.drawCurve();  // its strip; more parts draw it again anyway
  }
  on_curves(head) {
    this.data.curves = head.arrays.y;
    if (this.ghostFirst || !this.state.rule.length) this.data.ghosts = head.arrays.y;
    this.data.curve = null;
    this.listView.draw();
    this.drawCurve();
  }
  on_band(head) {
    const n = this.about.features[head.feature].n, {q, low} = head.arrays, outputs = q.length / 4 / n;
    Object.assign(this.data, {bandFeature: head.feature, band: [0, 1, 2, 3].map((k) => q.slice((k * outputs + this.state.output) * n, (k * outputs + this.state.output + 1) * n)), low});
    this.drawCurve();
  }
  on_plane(head) {
    const {strength, heterogeneity, movement} = head.arrays;
    this.data.plane = {strength, heterogeneity, movement};
    if (this.ghostFirst || !this.state.rule.length) this.data.planeAll = this.data.plane;
    this.planeView.draw();
    this.listView.draw();
    this.words();
    this.drawHeading();
  }
  on_summary(head) {
    this.data.summary = head.features;
    this.data.warnings = head.warnings;
    this.words();
    this.settle();
    const named = this.about.features[this.state.feature].label;
    this.say(`${counted(this.data.count)} rows. ${named}: ${this.data.sentence || ""}`);
  }
  on_row(head) {
    this.data.rowPlaces = head.places;
    this.data.rowObserved = head.observed;
    if (this.state.row === null) this.store.first({row: head.row});  // chosen by nobody: nothing to undo
    else this.store.commit({row: head.row, values: head.values}, "row");
  }
  on_whatif(head) {
    if (head.slot === "pinned") { this.data.pinnedCurves = head.arrays.y; this.drawCurve(); return; }
    this.data.whatif = {row: head.row, predicted: head.predicted, before: head.before, texts: head.texts, y: head.arrays.y};
    this.data.points_per_output = head.arrays.y.length / head.predicted.length;
    if (head.done) this.data.badge = null;
    this.drawCurve();
    this.rowView.draw();
    this.bottom.textContent = few(head.predicted[this.state.output]);
    this.whatIfTook = head.took;
    this.home.dataset.predicted = String(head.predicted[this.state.output]);
    this.soon("say", () => this.say(this.curveView.dot.getAttribute("aria-valuetext") || ""), REST);
  }
  on_inside(head) { if (head.slot === "pinned") return; this.data.badge = {inside: head.inside, say: head.say}; this.rowView.draw(); }
  on_points(head) { this.data.points = {x: head.x, y: head.y, px: head.arrays.px, py: head.arrays.py, row: head.arrays.row}; this.filterView.drawScatter(); }
  on_surface(head) { this.data.surface = {feature: head.feature, second: head.second, x: head.arrays.x, z: head.arrays.z, y: head.arrays.y, texts: head.texts}; this.drawCurve(); this.settle(); }
  on_ale(head) { this.data.ale = {feature: head.feature, x: head.arrays.x, y: this.outputOf(head.arrays.y, head.arrays.x.length)}; this.drawCurve(); this.nextView(); }
  on_observed(head) { const {x, observed, predicted} = head.arrays, n = x.length; this.data.observed = {feature: head.feature, x, observed: observed && this.outputOf(observed, n), predicted: predicted && this.outputOf(predicted, n)}; this.drawCurve(); this.nextView(); }
  on_compared(head) {
    const n = this.about.features[head.feature].n, outputs = this.about.outputs.length, many = head.arrays.y.length / n / outputs;
    const curves = Array.from({length: many}, (_, i) => head.arrays.y.slice((i * outputs + this.state.output) * n, (i * outputs + this.state.output + 1) * n));
    if (head.names) this.data.compared = {feature: head.feature, curves}; else this.data.cohort = {feature: head.feature, curve: curves[0], rows: head.rows[0]};
    this.drawCurve();
    this.nextView();
  }
  on_regions(head) {
    this.regions.hidden = false;
    const list = head.rules.length ? head.rules.map((rule, i) => el("li", {}, `${rule}${head.share[i] ? ` — ${Math.round(100 * head.share[i])} % of rows` : ""}`)) : [el("li", {}, "No rule tells the rows apart here.")];
    this.regions.replaceChildren(el("b", {}, "Rows respond alike where:"), el("ul", {}, list), el("div", {class: "muted small"}, head.note));
    this.say(`${head.rules.length} regions: ${head.rules.join("; ")}`);
    this.nextView();
  }
  on_audit(head) {
    this.audit.hidden = false;
    this.audit.replaceChildren(...head.say.map((text) => el("div", {}, text)));
    this.say(head.say.join(" "));
    this.nextView();
  }
  on_code(head) { this.code.textContent = head.lines.join("\n"); }

  // --- arrays ------------------------------------------------------------------------------------
  slice(list, i, output = this.state.output) {
    const {x} = this.data;
    return list ? list.slice(output * x.length + this.starts[i], output * x.length + this.starts[i] + this.about.features[i].n) : null;
  }
  outputOf(list, n) { return list.slice(this.state.output * n, (this.state.output + 1) * n); }
  gridOf(i) { return this.data.x.slice(this.starts[i], this.starts[i] + this.about.features[i].n); }
  barsOf(i, now) { return (now ? this.data.barsNow : this.data.bars).slice(this.barStarts[i], this.barStarts[i] + this.about.features[i].bars); }
  curveOf(i) { return this.data.curve && this.data.curveFeature === i ? this.data.curve : this.slice(this.data.curves, i); }
  ghostOf(i) { return this.data.ghostCurve && this.data.curveFeature === i ? this.data.ghostCurve : this.slice(this.data.ghosts, i); }
  whatifCurve(i) { return this.slice(this.data.whatif && this.data.whatif.y, i); }
  meanLevel(curve, n) { const known = Array.from(curve || []).slice(0, n).filter(isNumber), bars = this.barsOf(this.state.feature, true); void bars; return known.reduce((a, b) => a + b, 0) / (known.length || 1); }
  rowPlace(i) { return String(i) in this.state.values ? this.state.values[String(i)] : this.data.rowPlaces ? this.data.rowPlaces[i] : null; }
  placeText(i, place) {
    const {axis} = this.about.features[i];
    if (place === null) return "missing";
    if (axis.kind === "category") return axis.ticks[Math.round(place)];
    if (axis.kind === "time") return new Date(place * 86400000).toISOString().slice(0, 16).replace("T", " ").replace(" 00:00", "");
    const clock = axis.named.length && /^\d{1,2}:\d\d$/.test(axis.named[0][1]) && this.gridOf(i).every((v) => !(v > 24));
    if (clock) { const minutes = Math.round(60 * place); return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`; }
    const near = axis.named.find(([at]) => at === place);
    return near ? near[1] : said(place) + (axis.unit ? ` ${axis.unit}` : "");
  }
  inputText(i) { const place = this.rowPlace(i), {axis} = this.about.features[i]; return place === null ? "missing" : axis.kind === "time" || /:/.test(this.placeText(i, place)) ? this.placeText(i, place) : String(+place.toPrecision(7)); }
  conditionText(one) { const at = this.state.rule.indexOf(one); return (this.data.conditions && this.data.conditions[at]) || "a range"; }
  valueLabel() { return this.about.value + (this.about.outputs.length > 1 ? ` of ${this.about.outputs[this.state.output]}` : ""); }

  // --- what is asked -----------------------------------------------------------------------------
  refresh() {
    if (this.data.ghosts || !this.state.rule.length) this.askRows(["curve", "curves", "band", "plane", "summary"]);
    else { this.ghostFirst = true; this.asker.ask("rows", "filter", {...this.request(), rule: [], want: ["curves", "plane"]}); }  // all rows come first
    if (this.about.rows) {
      this.asker.ask("points", "points", {x: this.across(), y: this.up()});
      if (this.state.row === null && !this.options.norow) this.asker.ask("row", "row", {...this.request(), how: "typical"});
      else if (this.state.row !== null) this.asker.ask("row", "row", {...this.request(), rule: [], how: this.state.row, values: this.state.values});
      this.askPinned();
    }
    this.extras();
    this.askCode();
  }
  askPinned() {
    const {pinned} = this.state;
    if (pinned) this.asker.ask("whatif", "pinned", {...this.request(), ...pinned}); else this.data.pinnedCurves = null;
  }
  askRows(want) {
    // A drag shows all curves of each filter on its way; bands, plane and summary are of the one it rests at.
    this.asker.pull("rows", "filter", {...this.request(), want}, want.includes("curves") ? "curves" : "count");
    this.soon("stale", () => this.home.classList.add("stale"), STALE);
  }
  // What the switches show besides, one after another.
  extras() {
    const {shown, second, against, cohorts, regions} = this.state, {data} = this;
    this.queue = [];
    if (second !== null) this.queue.push(["surface", {second}]);
    else {
      if (this.sideBySide) this.queue.push(["compare", {}]);
      if (shown.ale && !this.sideBySide) this.queue.push(["ale", {}]);
      if (shown.observed && !this.sideBySide) this.queue.push(["observed", {}]);
      if (against !== null) this.queue.push(["compare", {rules: [cohorts[against].rule]}]);
      if (shown.audit) this.queue.push(["audit", {}]);
      if (regions) this.queue.push(["regions", regions.length ? {from: regions[0], to: regions[1]} : {}]);
    }
    if (!regions || second !== null) this.regions.hidden = true;
    if (!shown.audit || second !== null) this.audit.hidden = true;
    if (!shown.ale) data.ale = null;
    if (!shown.observed) data.observed = null;
    this.nextView();
  }
  nextView() { const next = this.queue && this.queue.shift(); if (next) this.asker.ask(next[0], "view", {...this.request(), ...next[1]}); }
  askCode() {
    const {second, regions, row, values, pinned, cohorts, against} = this.state, {rows} = this.about, shown = {...this.state.shown};
    if (this.sideBySide) for (const name of ALONE) shown[name] = false;
    this.asker.ask("code", "code", {state: {...this.request(), second, shown, regions, row: rows ? row : null, values, pinned: rows ? pinned : null, cohort: against === null ? null : cohorts[against].rule}});
  }
  across() { return this.state.across ?? this.state.feature; }
  up() { const {up, feature} = this.state; if (up !== null) return up; const other = this.about.features.findIndex((f, i) => i !== feature && f.n > 2); return other < 0 ? "predicted" : other; }

  // --- gestures ----------------------------------------------------------------------------------
  choose(feature) { this.commit({feature, second: null, regions: null}, "feature"); }
  commit(change, why = "") { this.store.commit(change, why); }
  show(given) { if (this.about) this.commit(known(given, this.about), "undo"); else this.options.state = given; }
  commitSoon(why) { this.soon("commit", () => this.commit({}, why), SOON); }
  filter(column, condition, done) { this.filterMany([[column, condition]]); if (done) this.commit({}, "filter"); }
  filterMany(pairs) {
    let {rule} = this.state;
    for (const [column, condition] of pairs) {
      const clean = condition && Object.fromEntries(Object.entries({column, ...condition, ...(condition.column === undefined ? {column} : {})}).filter(([, v]) => v !== undefined && v !== null));
      const at = rule.findIndex((one) => one.column === column), rest = rule.filter((one) => one.column !== column);
      rule = clean ? at < 0 ? [...rest, clean] : rule.map((one, k) => k === at ? clean : one) : rest;
    }
    this.store.set({rule});
    this.data.curve = null;
    this.askRows(["curve", "curves", "band", "plane", "summary"]);
    for (const [column] of pairs) this.filterView.histograms[column]?.draw();  // the others follow with their bars
    this.filterView.placeBrush();
  }
  whatIf(column, place) {
    if (this.state.row === null) return;
    const same = this.data.rowPlaces && this.data.rowPlaces[column] === place, values = {...this.state.values};
    if (same) delete values[String(column)]; else values[String(column)] = place;
    this.store.set({values});
    this.asker.pull("whatif", "row", {...this.request(), row: this.state.row, values}, "whatif");
    this.curveView.placeDot();
  }
  change(column, place) { this.whatIf(column, place); this.commit({}, "what if"); }
  pick(how) { this.asker.ask("row", "row", {...this.request(), ...(typeof how === "number" ? {rule: []} : {}), how}); }
  back() { this.store.set({values: {}}); this.asker.pull("whatif", "row", {...this.request(), row: this.state.row, values: {}}, "whatif"); this.commit({}, "what if"); }
  pin() {
    if (!this.data.whatif) return;
    this.commit({pinned: this.state.pinned ? null : {row: this.state.row, values: {...this.state.values}}}, "pin");
  }
  stretch(brush) {
    const {curveView} = this;
    curveView.brush = brush;
    curveView.placeBrush();
    this.stretchTools.hidden = !brush;
    if (!brush) return;
    const [a, b] = brush, place = (v) => this.placeText(this.state.feature, v);
    this.stretchTools.replaceChildren(el("span", {class: "muted"}, `${place(a)} to ${place(b)}`), button("Why do rows differ here?", () => this.commit({regions: [a, b]})),
      button("Keep only these rows", () => { this.stretch(null); this.filter(this.state.feature, {ge: +a.toPrecision(5), le: +b.toPrecision(5)}, true); }), button("✕", () => { this.stretch(null); if (this.state.regions) this.commit({regions: null}); }, {"aria-label": "Drop the stretch"}));
  }
  keepCohort() {
    const name = this.cohortName.value.trim() || this.data.words || "cohort";
    this.cohortName.value = "";
    this.commit({cohorts: [...this.state.cohorts, {name: name.slice(0, 60), rule: this.state.rule}].slice(-8)}, "cohort");
  }

  // After a gesture: undo, the link, the dict, the code, and what the change needs.
  committed(why) {
    const {state} = this;
    if (this.options.save) this.options.save(state);
    this.errorLine.textContent = "";
    this.undoButton.disabled = !this.store.past.length;
    this.redoButton.disabled = !this.store.future.length;
    this.askCode();
    if (why === "feature") {
      Object.assign(this.data, {curve: null, surface: null});
      this.curveView.range = null;
      this.stretch(null);
      this.listView.draw();
      this.rowView.draw();
      this.planeView.draw();
      this.askRows(["curve", "band"].concat(this.data.summary ? [] : ["curves", "plane", "summary"]));
      if (state.across === null || state.up === null) this.asker.ask("points", "points", {x: this.across(), y: this.up()});
      this.extras();
    } else if (why === "points") { this.asker.ask("points", "points", {x: this.across(), y: this.up()}); } else if (why === "filter") this.extras();
    else if (why === "sort") this.listView.draw();
    else if (why === "undo") {
      this.data.curve = null;
      const view = [state.model, state.output, state.scale].join();
      if (this.view !== view) Object.assign(this.data, {ghosts: null, curves: null, plane: null, planeAll: null, summary: null, whatif: null, pinnedCurves: null, badge: null});
      this.view = view;
      this.stretch(state.regions && state.regions.length ? state.regions : null);
      this.refreshAll();
    } else if (why === "row" || why === "what if" || why === "pin") { if (why === "pin") this.askPinned(); this.drawCurve(); this.rowView.draw(); this.filterView.drawScatter(); } else this.extras();
    this.drawChecks();
    this.drawCohorts();
    this.drawCurve();
    this.listView.order();
  }
  refreshAll() {
    this.refresh();
    this.rowView.draw();
    this.filterView.draw();
    this.listView.draw();
  }

  // --- what is drawn -----------------------------------------------------------------------------
  build() {
    const {about} = this;
    this.curveView = new CurveView(this);
    this.planeView = new PlaneView(this);
    this.listView = new ListView(this);
    this.rowView = new RowView(this);
    this.filterView = new FilterView(this);
    this.home.classList.toggle("norows", !about.rows);
    this.live = el("span", {class: "live"}, "live");
    this.region = el("div", {class: "hiddentext", "aria-live": "polite", role: "status"});
    this.undoButton = button("Undo", () => this.store.undo(), {disabled: true, title: "Ctrl+Z"});
    this.redoButton = button("Redo", () => this.store.redo(), {disabled: true, title: "Ctrl+Shift+Z"});
    const tools = el("div", {class: "tools"}, this.undoButton, this.redoButton, this.options.link ? button("Copy link", () => this.copy(this.options.link(this.state))) : null,
      button("PNG", () => this.savePng(), {class: "wide"}), button("SVG", () => this.saveSvg(), {class: "wide"}), button("CSV", () => this.saveCsv(), {class: "wide"}), this.themeButton = button(matchMedia("(prefers-color-scheme: dark)").matches ? "Light" : "Dark", () => this.theme()));
    const switches = el("div", {class: "switches"});
    if (about.models.length > 1) switches.append(this.modelSwitch = select(about.models.map((name, i) => [String(i), name]), "0", (value) => this.commit({model: Number(value)}, "undo"), {"aria-label": "Model"}), this.bothBox = this.check("both", "side by side"));
    if (about.outputs.length > 1) switches.append(this.outputSwitch = select(about.outputs.map((name, i) => [String(i), name]), "0", (value) => this.commit({output: Number(value)}, "undo"), {"aria-label": "Output"}));
    if (about.scales.length > 1) switches.append(this.scaleSwitch = select(about.scales.map((name) => [name, `${name} scale`]), about.scale, (value) => this.commit({scale: value}, "undo"), {"aria-label": "Scale"}));
    this.banner = el("div", {class: "banner", hidden: true, role: "alert"});
    this.chips = el("span", {class: "chips"});
    this.countText = el("span", {class: "count"});
    this.shareBar = el("i");
    this.cohortName = el("input", {type: "text", placeholder: "name", size: 9, "aria-label": "Name of the cohort"});
    this.cohorts = el("span", {class: "cohorts"});
    this.allRows = button("All rows", () => { this.store.set({rule: []}); this.filterMany([]); this.commit({}, "filter"); });
    this.keep = el("span", {}, this.cohortName, " ", button("Keep as cohort", () => this.keepCohort()));
    this.ruleLine = el("div", {class: "rule"}, el("span", {class: "rulehead"}, "Rows where"), this.chips, el("span", {class: "share"}, this.shareBar), this.countText, el("span", {class: "end"}, this.cohorts, this.keep, this.allRows));
    this.progressBar = el("i");
    this.errorLine = el("div", {class: "error", role: "status"});
    this.heading = el("h2", {class: "feature"});
    this.place = el("small");
    this.reading = el("p", {class: "reading"});
    this.readoutLine = el("div", {class: "readout"});
    this.checks = el("div", {class: "checks"});
    this.withSelect = select([["", "with …"], ...about.features.map((f, i) => [String(i), `with ${f.label}`])], "", (value) => this.commit({second: value === "" || Number(value) === this.state.feature ? null : Number(value)}), {"aria-label": "Second feature of a surface"});
    this.why = button("Why do rows differ?", () => this.commit({regions: this.state.regions && !this.state.regions.length ? null : []}));
    this.stretchTools = el("div", {class: "actions", hidden: true});
    this.regions = el("div", {class: "regions", hidden: true, role: "status"});
    this.audit = el("div", {class: "audited", hidden: true, role: "status"});
    this.keysLine = el("div", {class: "keys"});
    this.code = el("pre", {});
    const curve = el("section", {class: "curve", "aria-label": "Curve"}, el("div", {class: "curvehead"}, this.heading, this.place, el("span", {class: "steps"}, button("←", () => this.listView.step(-1), {"aria-label": "Previous feature", title: "K"}), button("→", () => this.listView.step(1), {"aria-label": "Next feature", title: "J"}))), this.reading,
      el("div", {class: "actions controls"}, this.checks, this.withSelect, this.why), this.stretchTools, this.readoutLine, this.errorLine, this.curveView.stage, this.keysLine, this.audit, this.regions, el("div", {class: "code"}, button("Copy code", () => this.copy(this.code.textContent)), this.code));
    const plane = el("section", {class: "pane plane chosen", "aria-label": "Features"}, el("h2", {}, "Which features matter", el("small", {}, "in SD")), this.planeView.box, this.listView.box);
    this.bottom = el("b");
    const panes = [["Features", plane], ["What if", this.rowView.box], ["Filter", this.filterView.box]];
    if (!about.rows) panes.splice(1, 1);
    const bottombar = el("nav", {class: "bottombar", "aria-label": "Panes"}, panes.map(([name, pane], k) => button(name, (event) => { panes.forEach(([, other]) => other.classList.toggle("chosen", other === pane)); bottombar.querySelectorAll("button").forEach((b) => b.setAttribute("aria-pressed", String(b === event.currentTarget))); this.drawAll(); }, {"aria-pressed": String(k === 0)})), this.bottom);
    const detail = `${about.model}; ${counted(about.n_rows)} rows, ${about.features.length} features; ${about.exact ? "exact, over every row" : "by asking the model"}`;
    this.home.replaceChildren(el("div", {class: "head"}, el("span", {class: "brand"}, "icefield explorer"), this.live, tools), el("div", {class: "title"}, el("h1", {}, about.title), el("span", {class: "muted"}, detail), switches), this.banner, this.ruleLine, el("div", {class: "bar"}, this.progressBar),
      el("main", {}, plane, curve, about.rows ? this.rowView.box : null, this.filterView.box), el("p", {class: "foot"}, [about.note, about.rows ? "" : "Single rows stay in Python.", about.weighted ? "Rows are weighted: counts are of rows, bars of weights." : "", `Keys: J and K next and last feature, / find, ${about.rows ? "B back, P pin, " : ""}Ctrl+Z undo; ${about.rows ? "arrows move the dot; " : ""}on a histogram Enter brushes, arrows move, Escape drops.`].filter(Boolean).join(" ")), this.region, bottombar);
    this.listView.build();
    this.rowView.build();
    this.filterView.build();
    this.drawChecks();
    this.drawCohorts();
    this.drawRule(0);
    this.listView.draw();
    this.filterView.draw();
    this.rowView.draw();
    if (this.state.regions && this.state.regions.length) this.stretch(this.state.regions);
    this.drawCurve();
  }
  drawAll() { this.drawCurve(); this.planeView.draw(); this.listView.draw(); this.filterView.draw(); this.rowView.draw(); }
  drawHeading() {
    const {state, about} = this, feature = about.features[state.feature];
    this.heading.textContent = state.second === null ? feature.label : `${feature.label} × ${about.features[state.second].label}`;
    const {plane} = this.data, place = plane ? 1 + Array.from(plane.movement).filter((v) => v > plane.movement[state.feature]).length : 0;
    this.place.textContent = plane && state.second === null ? `${place} of ${about.features.length}, moves predictions by ${plane.movement[state.feature].toFixed(2)} SD` : "";
    this.place.className = "muted small";
  }
  drawCurve() {
    this.drawHeading();
    if (!this.home.clientWidth) return;
    this.curveView.draw();
    this.drawKeys();
    this.readout(this.curveView.pointed ?? null);
  }
  drawKeys() {
    const panel = this.curveView.panelShown, seen = new Map();
    if (!panel || this.state.second !== null) { this.keysLine.replaceChildren(); return; }
    for (const mark of panel.marks) if (mark.label && !seen.has(mark.label)) seen.set(mark.label, mark);
    this.keysLine.replaceChildren(...Array.from(seen, ([label, mark]) => {
      const name = typeof mark.colour === "number" ? `g${mark.colour % 8}` : mark.colour === "text" ? "ink" : mark.colour || "ghost", swatch = el("i", {style: {display: "inline-block", width: "1.6rem", marginRight: ".4rem", verticalAlign: "middle"}});
      if (mark.kind === "line") Object.assign(swatch.style, {borderTop: `${mark.width < 1 ? 1.5 : 2.5}px ${mark.dashed ? (mark.dashed === 2 ? "dotted" : "dashed") : "solid"} var(--${name})`});
      else if (mark.kind === "band") Object.assign(swatch.style, {height: ".8rem", background: `var(--${name})`, opacity: String(2 * mark.alpha)});
      else if (mark.kind === "difference") Object.assign(swatch.style, {height: ".8rem", background: `repeating-linear-gradient(90deg, var(--${name === "ghost" ? "accent" : name}) 0 1px, transparent 1px 5px)`});
      else if (mark.kind === "stretch") Object.assign(swatch.style, {height: ".8rem", background: "repeating-linear-gradient(135deg, var(--low) 0 4px, var(--ghost) 4px 5px)"});
      else Object.assign(swatch.style, {width: ".6rem", height: ".6rem", borderRadius: "50%", border: `2px solid var(--${name})`, background: mark.hollow ? "none" : `var(--${name})`});
      return el("span", {}, swatch, label);
    }));
  }
  words() {
    const {data, state} = this, own = data.summary && data.summary[state.feature], parts = [data.sentence, state.rule.length ? data.compared_words : "", own && own.partner ? `How much depends on ${own.partner}.` : ""];
    this.reading.textContent = state.second === null ? parts.filter(Boolean).join(" ") : "The average for every combination of the two.";
    this.reading.title = own && own.warning ? own.warning : "";
  }
  readout(place) {
    const {state, data} = this;
    if (state.second !== null || !this.curveView.laid) { this.readoutLine.textContent = ""; return; }
    const at = place ?? (state.row !== null && data.whatif ? this.rowPlace(state.feature) : undefined);
    if (at === undefined) { this.readoutLine.textContent = ""; return; }
    const {here, all, row} = this.curveView.valuesAt(at), exact = place === null || place === undefined, text = this.placeText(state.feature, at);
    this.readoutLine.replaceChildren(`at ${text}: `, el("b", {}, isNumber(here) ? said(here) : ""), state.rule.length ? ` all rows ${said(all)}` : "", state.row !== null && data.whatif && state.shown.row ? el("i", {}, ` this row ${said(exact ? data.whatif.predicted[state.output] : row)}`) : "");
  }
  drawChecks() {
    const {about, state} = this;
    const wanted = SHOWN.filter(([name]) => (name !== "row" || about.rows));
    if (this.checks.children.length !== wanted.length) this.checks.replaceChildren(...wanted.map(([name, text]) => this.check(name, text)));
    wanted.forEach(([name], i) => { const box = this.checks.children[i].firstChild; box.checked = state.shown[name]; box.disabled = this.sideBySide && ALONE.includes(name); box.title = box.disabled ? "Of one model: not while two are side by side" : ""; });
    if (this.bothBox) this.bothBox.firstChild.checked = state.shown.both;
    this.withSelect.value = state.second === null ? "" : String(state.second);
    if (this.modelSwitch) this.modelSwitch.value = String(state.model);
    if (this.outputSwitch) this.outputSwitch.value = String(state.output);
    if (this.scaleSwitch) this.scaleSwitch.value = state.scale || about.scale;
    this.why.hidden = this.checks.hidden = state.second !== null;
    this.words();
  }
  check(name, text) { const box = el("input", {type: "checkbox", "data-shown": name, onchange: () => this.commit({shown: {...this.state.shown, [name]: box.checked}}, "shown")}); return el("label", {}, box, text); }
  drawRule(took) {
    const {state, data, about} = this, rule = state.rule;
    this.chips.replaceChildren(...rule.map((one, k) => el("span", {class: "chip"}, el("span", {title: this.conditionText(one)}, (data.conditions && data.conditions[k]) || "…"), button("✕", () => this.filter(one.column, null, true), {"aria-label": `Drop ${this.conditionText(one)}`}))));
    this.ruleLine.firstChild.textContent = rule.length ? "Rows where" : "All rows";
    this.keep.hidden = this.allRows.hidden = !rule.length;
    const total = about.sample_rows, count = rule.length ? data.count ?? 0 : total;
    this.shareBar.style.width = `${100 * count / total}%`;
    this.countText.replaceChildren(el("b", {}, counted(count)), ` of ${counted(total)} ${total < about.n_rows ? "sampled rows" : "rows"}`, took ? el("span", {class: "muted"}, `, ${Math.round(took)} ms`) : "");
    if (data.empty) this.countText.append(" ", button(`Drop "${data.conditions[data.empty.condition]}": ${counted(data.empty.rows)} rows`, () => this.filter(rule[data.empty.condition].column, null, true)));
  }
  drawCohorts() {
    const {cohorts, against} = this.state;
    this.cohorts.replaceChildren(...cohorts.map((one, i) => el("span", {class: "chip"}, button(one.name, () => { this.store.set({rule: one.rule}); this.filterMany([]); this.commit({}, "filter"); }, {title: "Show these rows"}), button(against === i ? "✓ compared" : "compare", () => this.commit({against: against === i ? null : i}), {"aria-pressed": String(against === i)}), button("✕", () => this.commit({cohorts: cohorts.filter((_, k) => k !== i), against: null}), {"aria-label": `Forget ${one.name}`}))));
  }
  progress(head) {
    const order = ["count", "curve", "bars", "curves", "band", "plane", "summary"], share = head.done ? 1 : (order.indexOf(head.part) + 1) / order.length;
    this.progressBar.style.width = share === 1 ? "0" : `${100 * share}%`;
    if (["curve", "curves"].includes(head.part) || head.done) this.settle();
    if (head.done && this.ghostFirst) { this.ghostFirst = false; this.askRows(["curve", "curves", "band", "plane", "summary"]); return; }
    if (head.done) this.settled();
  }
  settled() { this.home.dataset.settled = String(1 + Number(this.home.dataset.settled || 0)); }
  settle() { clearTimeout(this.timers.stale); this.home.classList.remove("stale"); }
  soon(name, act, after) { clearTimeout(this.timers[name]); this.timers[name] = setTimeout(act, after); }
  // As `soon`, but what is on its way is not put off: a long drag still sees it now and then.
  unlessSoon(name, act, after) { this.timers[name] ??= setTimeout(() => { delete this.timers[name]; act(); }, after); }
  say(text) { this.region.textContent = text; }
  theme() {
    const dark = this.home.dataset.theme ? this.home.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    this.home.dataset.theme = dark ? "light" : "dark";
    this.themeButton.textContent = dark ? "Dark" : "Light";
    this.drawAll();
  }

  // --- keys and files ----------------------------------------------------------------------------
  key(event) {
    if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); event.stopPropagation(); if (event.shiftKey) this.store.redo(); else this.store.undo(); return; }
    const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) && event.target.type !== "checkbox";
    if (typing || event.ctrlKey || event.metaKey || event.altKey || this.options.letters === false) return;
    const act = {j: () => this.listView.step(1), k: () => this.listView.step(-1), b: () => this.state.row !== null && this.back(), p: () => this.pin(), "/": () => this.listView.find.focus()}[event.key];
    if (act) { event.preventDefault(); event.stopPropagation(); act(); }
  }
  async copy(text) {
    try { await navigator.clipboard.writeText(text); this.say("Copied."); } catch {
      const field = el("textarea", {class: "hiddentext"}, text);
      this.home.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    this.home.dataset.copied = text;
  }
  save(name, text, kind) {
    const address = text.startsWith("data:") ? text : URL.createObjectURL(new Blob([text], {type: kind})), link = el("a", {href: address, download: name});
    this.home.append(link);
    link.click();
    link.remove();
  }
  fileName() { return this.about.features[this.state.feature].label.replace(/[^\p{L}\p{N}_-]+/gu, "_").slice(0, 60) || "curve"; }
  caption() { return `${this.data.words || "all rows"}; ${counted(this.data.count ?? this.about.sample_rows)} rows. ${this.data.sentence || ""}`; }
  saveSvg() { this.save(`${this.fileName()}.svg`, this.curveView.drawing.file({title: this.heading.textContent, caption: this.caption()}), "image/svg+xml"); }
  async savePng() { this.save(`${this.fileName()}.png`, await this.curveView.drawing.image({title: this.heading.textContent, caption: this.caption()})); }
  saveCsv() {
    const i = this.state.feature, feature = this.about.features[i], lists = [["average", this.curveOf(i)], ["all_rows", this.ghostOf(i)], ["this_row", this.whatifCurve(i)]].filter(([, list]) => list);
    const cell = (v) => { const text = String(v); return /^[=+\-@\t]/.test(text) && Number.isNaN(Number(text)) ? `"'${text.replaceAll('"', '""')}"` : /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; };
    const rows = feature.texts.map((text, k) => [feature.axis.kind === "category" || !isNumber(this.gridOf(i)[k]) ? text : this.gridOf(i)[k], ...lists.map(([, list]) => list[k])]);
    this.save(`${this.fileName()}.csv`, [[feature.name, ...lists.map(([name]) => name)], ...rows].map((line) => line.map(cell).join(",")).join("\n") + "\n", "text/csv");
  }
  destroy() { Object.values(this.timers).forEach(clearTimeout); this.link.close(); this.home.remove(); }
}
