"""The page in a real browser against a real server: every gesture, and its numbers beside the Explainer's."""

from __future__ import annotations

import json
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
import pytest
from explored import data, explainer, fitted

from icefield import Explainer
from icefield.explore import Controller

for name in ("starlette", "uvicorn", "websockets"):
    pytest.importorskip(name, reason=f"needs {name}: pip install -e '.[serve]'")

from icefield.explore.server import ExplorerServer  # noqa: E402

APP = "document.body.explorer"


@pytest.fixture(scope="module")
def ex():
    return explainer(target_name="spend", units={"spend": "EUR"})


@pytest.fixture(scope="module")
def server(ex):
    X, y = data()
    beside = Explainer(fitted(X, y, n_estimators=4), X, y, target_name="spend", units={"spend": "EUR"})
    with ExplorerServer(Controller({"large": ex, "small": beside}, title="Spending")) as one:
        yield one


@pytest.fixture
def page(browser, server):
    browser.look(width=1400, height=1300)
    show(browser, server.url)
    yield browser
    assert browser.problems == []
    assert all(url.startswith(f"http://127.0.0.1:{server.port}/") for url in browser.requests)


def show(browser, address):
    browser.visit("about:blank")
    browser.visit(address)
    browser.wait(f"{APP}?.home.dataset.settled && {APP}.data.whatif")


def settled(browser, gesture):
    """Make a gesture, and wait until the filter's last part has come."""
    before = browser.run(f"Number({APP}.home.dataset.settled)")
    gesture()
    browser.wait(f"Number({APP}.home.dataset.settled) > {before} && {APP}.asker.quiet('filter')")


def numbers(browser, code):
    return np.array(
        [np.nan if v is None else v for v in json.loads(browser.run(f"JSON.stringify(Array.from({code}))"))]
    )


def box(browser, selector):
    found = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
    return browser.run(
        f"(() => {{ document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}}); const b = {found}; return [b.left, b.top, b.width, b.height]; }})()"
    )


def drag(browser, start, end):
    mouse = browser._page.mouse
    mouse.move(*start)
    mouse.down()
    for share in (0.3, 0.7, 1.0):
        mouse.move(start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1]))
    mouse.up()


def test_choosing_a_feature_shows_its_curve(page, ex):
    page._page.get_by_role("button", name="income", exact=False).first.click()
    page.wait(f"{APP}.state.feature === 1 && {APP}.data.bandFeature === 1")
    np.testing.assert_allclose(
        numbers(page, f"{APP}.curveOf(1)"), ex.partial_dependence("income").average[0], rtol=1e-12
    )
    assert "income" in page.run("document.querySelector('h2.feature').textContent")
    drawn = page.run("document.querySelectorAll('.curve .layer-average').length")
    assert drawn == 1


def test_brushing_a_histogram_filters_every_view(page, ex):
    X, _ = data()
    left, top, width, height = box(page, ".histogram svg")
    settled(
        page,
        lambda: drag(page, (left + 0.5 * width, top + height / 2), (left + 0.9 * width, top + height / 2)),
    )
    (rule,) = page.run(f"{APP}.state.rule")
    rows = np.asarray((X["age"] >= rule["ge"]) & (X["age"] <= rule["le"]))
    assert page.run(f"{APP}.data.count") == rows.sum()
    assert f"{rows.sum()}" in page.run("document.querySelector('.count').textContent")
    effects = ex.effects(rows=rows)
    np.testing.assert_allclose(
        numbers(page, f"{APP}.data.curves"),
        np.concatenate([e.average[0] for e in effects.values()]),
        rtol=1e-12,
    )
    table = ex.importance(rows=rows, permutation=False)
    at = [list(table["feature"]).index(f) for f in effects]
    np.testing.assert_array_equal(numbers(page, f"{APP}.data.plane.movement"), table["movement"][at])
    assert page.run("document.querySelectorAll('.curve .layer-ghost').length") == 1
    assert page.run("document.querySelectorAll('.curve .layer-difference').length") == 1
    assert "age from" in page.run("document.querySelector('.chip').textContent")
    settled(page, lambda: page._page.get_by_role("button", name="Undo").click())
    assert page.run(f"{APP}.state.rule") == []
    settled(page, lambda: page._page.get_by_role("button", name="Redo").click())
    assert page.run(f"{APP}.state.rule") == [rule]


def test_a_filter_that_keeps_nothing_shows_no_curve_of_other_rows(page):
    for column, condition in (("1", "{ge: 5}"), ("0", "{ge: 1000}")):
        settled(page, lambda c=column, k=condition: page.run(f"void {APP}.filter({c}, {k}, true)"))
    assert page.run(f"{APP}.data.count") == 0
    assert page.run("document.querySelectorAll('.curve .layer-average, .curve .layer-band').length") == 0
    assert page.run("document.querySelectorAll('.curve .layer-ghost').length") == 1
    assert page.run("document.querySelector('.reading').textContent").startswith("No row is income")
    settled(page, lambda: page._page.get_by_role("button", name="Drop", exact=False).last.click())
    assert page.run(f"{APP}.data.count") > 0
    assert page.run("document.querySelectorAll('.curve .layer-average').length") == 1


def test_levels_are_clicked_and_a_cohort_is_kept_and_compared(page, ex):
    X, _ = data()
    left, top, width, height = box(page, ".histogram:nth-child(3) svg")
    settled(page, lambda: page._page.mouse.click(left + width / 6, top + height / 2))
    assert page.run(f"{APP}.state.rule") == [{"column": 2, "in": [0]}]
    assert page.run(f"{APP}.data.count") == (X["town"] == "a").sum()
    page._page.get_by_role("button", name="Keep as cohort").click()
    settled(page, lambda: page._page.get_by_role("button", name="All rows").click())
    page._page.get_by_role("button", name="compare").click()
    page.wait(f"{APP}.data.cohort")
    expected = ex.partial_dependence("age", rows=np.asarray(X["town"] == "a"), spread=False).average[0]
    np.testing.assert_allclose(numbers(page, f"{APP}.data.cohort.curve"), expected, rtol=1e-12)


def test_dragging_the_dot_asks_what_if(page, ex):
    X, _ = data()
    row = page.run(f"{APP}.state.row")
    left, top, width, height = box(page, ".dot")
    centre = (left + width / 2, top + height / 2)
    plot = box(page, ".curve .plot")
    drag(page, centre, (plot[0] + 0.6 * plot[2], centre[1]))
    page.wait(f"{APP}.asker.quiet('row') && Object.keys({APP}.state.values).length")
    value = page.run(f"{APP}.state.values['0']")
    changed = X.iloc[[row]].assign(age=value)
    predicted = ex.model.native.predict(changed)[0]
    assert page.run(f"{APP}.data.whatif.predicted[0]") == pytest.approx(predicted, abs=1e-12)
    curve = ex.ice("income", rows=[row], changed={"age": value}).individual[0, 0]
    np.testing.assert_allclose(numbers(page, f"{APP}.whatifCurve(1)"), curve, rtol=1e-12)
    assert page.run("document.querySelector('.dot').getAttribute('aria-valuetext')").startswith("age ")
    page._page.get_by_role("button", name="Pin").click()
    page._page.get_by_role("button", name="Back").click()
    page.wait(f"{APP}.asker.quiet('row') && !Object.keys({APP}.state.values).length")
    own = ex.model.native.predict(X.iloc[[row]])[0]
    assert page.run(f"{APP}.data.whatif.predicted[0]") == pytest.approx(own, abs=1e-12)
    page.wait("document.querySelectorAll('.curve .layer-pinned').length === 1")


def test_rows_are_picked_typed_and_found(page, ex):
    X, y = data()
    page._page.get_by_role("button", name="Worst error").click()
    worst = int(np.abs(ex.model.native.predict(X) - y).argmax())
    page.wait(f"{APP}.state.row === {worst}")
    page._page.get_by_label("Row number").fill("7")
    page.press("Enter")
    page.wait(f"{APP}.state.row === 7 && {APP}.asker.quiet('row')")
    other = 1 if X["town"][7] == "a" else 0
    page._page.locator("ul.values").get_by_label("town").select_option(label="ab"[other])
    page.wait(f"{APP}.asker.quiet('row') && {APP}.state.values['2'] === {other}")
    changed = X.iloc[[7]].copy()
    changed["town"] = pd.Categorical(["ab"[other]], categories=["a", "b", "c"])
    assert page.run(f"{APP}.data.whatif.predicted[0]") == pytest.approx(
        ex.model.native.predict(changed)[0], abs=1e-12
    )


def test_changed_values_stay_through_undo_a_model_a_link_and_a_new_connection(page, ex, browser):
    """Each of them asks anew, and must ask for the row as it was changed."""
    X, y = data()
    small = fitted(X, y, n_estimators=4)
    row = page.run(f"{APP}.state.row")

    def predicts(model, **changed):
        page.wait(f"{APP}.asker.quiet('row') && {APP}.data.whatif")
        expected = model.predict(X.iloc[[row]].assign(**changed))[0]
        assert page.run(f"{APP}.data.whatif.predicted[0]") == pytest.approx(expected, abs=1e-12)

    page.run(f"{APP}.change(0, 71.5)")
    page.run(f"{APP}.change(3, 4)")
    predicts(ex.model.native, age=71.5, cars=4)
    page._page.get_by_role("button", name="Pin").click()
    settled(page, lambda: page._page.get_by_label("Model").select_option(label="small"))
    predicts(small, age=71.5, cars=4)
    page.run(f"{APP}.link.socket.close()")
    page.wait("!document.querySelector('.banner').hidden")
    settled(page, lambda: page._page.get_by_role("button", name="Try now").click())
    predicts(small, age=71.5, cars=4)
    settled(page, lambda: page._page.get_by_role("button", name="Undo").click())
    predicts(ex.model.native, age=71.5, cars=4)
    page.run(f"{APP}.change(3, 1)")
    show(browser, page.run("location.href"))
    predicts(ex.model.native, age=71.5, cars=1)
    page.wait("document.querySelectorAll('.curve .layer-pinned').length === 1")
    pinned = ex.ice("age", rows=[row], changed={"age": 71.5, "cars": 4}).individual[0, 0]
    np.testing.assert_allclose(numbers(page, f"{APP}.slice({APP}.data.pinnedCurves, 0)"), pinned, rtol=1e-12)


def test_a_row_is_picked_under_a_filter_and_the_scatter_stays(page):
    settled(page, lambda: page.run(f"{APP}.filter(0, {{ge: 40}}, true)"))
    page.wait(f"{APP}.data.points")
    inked = """(() => { const c = document.querySelector('.scatter canvas'), o = new OffscreenCanvas(c.width, c.height).getContext('2d', {willReadFrequently: true});
        o.drawImage(c, 0, 0); const d = o.getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; })()"""
    before = page.run(inked)
    assert before > 1000
    page._page.get_by_role("button", name="Random").click()
    page.wait(f"{APP}.asker.quiet('row') && {APP}.store.past.length === 2")
    page.run(f"{APP}.drawAll()")
    assert page.run(inked) > 0.9 * before


def test_surface_ale_observed_and_regions(page, ex):
    page._page.locator("input[data-shown=ale]").check()
    page.wait(f"{APP}.data.ale")
    np.testing.assert_allclose(numbers(page, f"{APP}.data.ale.y"), ex.ale("age").average[0], rtol=1e-9)
    page._page.locator("input[data-shown=observed]").check()
    page.wait(f"{APP}.data.observed")
    np.testing.assert_allclose(
        numbers(page, f"{APP}.data.observed.observed"), ex.conditional("age")["observed"], rtol=1e-9
    )
    page._page.get_by_role("button", name="Why do rows differ?").click()
    page.wait("!document.querySelector('.regions').hidden")
    assert "town" in page.run("document.querySelector('.regions').textContent")
    page._page.get_by_label("Second feature of a surface").select_option(label="with income")
    page.wait(f"{APP}.data.surface && document.querySelector('.layer-surface')")
    expected = ex.partial_dependence("age", "income").average[0]
    np.testing.assert_allclose(numbers(page, f"{APP}.data.surface.y"), expected.ravel(), rtol=1e-12)


def test_a_scatter_brush_filters_two_columns(page):
    X, _ = data()
    page.wait(f"{APP}.data.points")
    left, top, width, height = box(page, ".scatter .plot")
    settled(
        page,
        lambda: drag(
            page, (left + 0.4 * width, top + 0.2 * height), (left + 0.8 * width, top + 0.7 * height)
        ),
    )
    rule = {one["column"]: one for one in page.run(f"{APP}.state.rule")}
    inside = np.ones(len(X), bool)
    for column, one in rule.items():
        inside &= np.asarray((X.iloc[:, column] >= one["ge"]) & (X.iloc[:, column] <= one["le"]))
    assert len(rule) == 2
    assert page.run(f"{APP}.data.count") == inside.sum() > 0


def test_two_models_are_switched_and_shown_side_by_side(page, ex):
    X, y = data()
    small = Explainer(fitted(X, y, n_estimators=4), X, y)
    grid = ex.partial_dependence("age").grid[0]
    page._page.get_by_label("side by side").check()
    page.wait(f"{APP}.data.compared")
    assert page._page.get_by_label("spread").is_disabled()  # of one model: not drawn now, and not in the code
    page.wait(f"{APP}.asker.quiet('code')")
    assert "quantiles" not in page.run("document.querySelector('.code pre').textContent")
    np.testing.assert_allclose(
        numbers(page, f"{APP}.data.compared.curves[1]"),
        small.partial_dependence("age", grid=grid).average[0],
        rtol=1e-12,
    )
    settled(page, lambda: page._page.get_by_label("Model").select_option(label="small"))
    np.testing.assert_allclose(
        numbers(page, f"{APP}.curveOf(0)"), small.partial_dependence("age", grid=grid).average[0], rtol=1e-12
    )


def test_keys_do_what_the_pointer_does(page):
    page.run("document.querySelector('.features button').focus()")
    shown = page.run(f"{APP}.state.feature")
    page.press("j")
    page.wait(f"{APP}.state.feature !== {shown}")
    page.press("k")
    page.wait(f"{APP}.state.feature === {shown}")
    page.run("document.querySelector('.dot').focus()")
    before = page.run(f"{APP}.rowPlace({APP}.state.feature)")
    page.press("ArrowRight")
    page.wait(f"{APP}.rowPlace({APP}.state.feature) !== {before} && {APP}.asker.quiet('row')")
    assert page.run("document.activeElement === document.querySelector('.dot')")
    page.run("document.querySelector('.histogram svg').focus()")
    settled(page, lambda: page.press("Enter"))
    rule = page.run(f"{APP}.state.rule[0]")
    settled(page, lambda: page.press("ArrowRight"))
    assert page.run(f"{APP}.state.rule[0].ge") > rule["ge"]
    settled(page, lambda: page.press("Escape"))
    assert page.run(f"{APP}.state.rule") == []
    page.press("/")
    assert page.run("document.activeElement.type") == "search"


def test_a_link_gives_the_same_state_and_the_code_is_shown(page, server, browser):
    left, top, width, height = box(page, ".histogram svg")
    settled(
        page,
        lambda: drag(page, (left + 0.3 * width, top + height / 2), (left + 0.6 * width, top + height / 2)),
    )
    state, address = page.run(f"{APP}.state"), page.run("location.href")
    page.wait("document.querySelector('pre').textContent.includes('rows = ')")
    page._page.get_by_role("button", name="Copy link").click()
    page.wait(f"{APP}.home.dataset.copied === location.href")
    show(browser, address)
    page.wait(f"{APP}.state.rule.length")
    assert page.run(f"{APP}.state") == state
    page.wait(f"{APP}.data.count < 600 && {APP}.data.ghosts")
    for kind in ("CSV", "SVG", "PNG"):
        page._page.get_by_role("button", name=kind, exact=True).click()
    for _ in range(100):
        if len(list(browser.downloads.glob("age.*"))) == 3:
            break
        browser._page.wait_for_timeout(100)
    written = (browser.downloads / "age.csv").read_text().splitlines()
    assert written[0].startswith("age,average,all_rows")
    assert len(written) == 1 + len(numbers(page, f"{APP}.gridOf(0)"))


def test_a_server_that_dies_is_told_and_reconnected_to(browser, ex):
    controller = Controller(ex)
    server = ExplorerServer(controller, token="kept").start()
    show(browser, server.url)
    server.close()
    browser.wait("!document.querySelector('.banner').hidden")
    assert "does not answer" in browser.run("document.querySelector('.banner').textContent")
    again = ExplorerServer(controller, port=server.port, token="kept").start()
    try:
        browser.wait("document.querySelector('.banner').hidden")
        settled(browser, lambda: browser.run(f"{APP}.filter(0, {{ge: 50}}, true)"))
        assert browser.run(f"{APP}.data.count") == (data()[0]["age"] >= 50).sum()
    finally:
        browser.visit("about:blank")
        again.close()


def test_what_is_stale_is_faint_and_a_lost_link_shows(page):
    faint = "getComputedStyle(document.querySelector('.curve .layer-average')).opacity"
    assert page.run(faint) == "1"
    page.run(f"void {APP}.home.classList.add('stale')")
    assert page.run(faint) == "0.45"
    page.run(f"void {APP}.home.classList.remove('stale')")
    dot = "getComputedStyle(document.querySelector('.dot')).backgroundImage"
    full = page.run(dot)
    page.run(f"void {APP}.linked('lost')")
    assert page.run(dot) != full
    assert "does not answer" in page.run("document.querySelector('.banner').textContent")


def test_two_windows_filter_by_themselves(page, browser, server):
    X, _ = data()
    first, second = page._page, browser._chromium.new_context().new_page()
    try:
        page._page = second
        show(page, server.url)
        settled(page, lambda: page.run(f"{APP}.filter(0, {{le: 30}}, true)"))
        page._page = first
        settled(page, lambda: page.run(f"{APP}.filter(0, {{ge: 60}}, true)"))
        assert page.run(f"{APP}.data.count") == (X["age"] >= 60).sum()
        page._page = second
        settled(page, lambda: page.run(f"{APP}.filter(2, {{in: [1]}}, true)"))
        assert page.run(f"{APP}.data.count") == ((X["age"] <= 30) & (X["town"] == "b")).sum()
    finally:
        page._page = first
        second.context.close()


FOREIGN = """<!doctype html><html data-ready="yes"><body><script>
window.tried = {};
const socket = new WebSocket("ws://127.0.0.1:%(port)d/live");
socket.onopen = () => { tried.socket = "open"; socket.send("%(token)s"); };
socket.onmessage = () => { tried.socket = "answered"; };
socket.onclose = () => { tried.socket = tried.socket || "refused"; };
fetch("http://127.0.0.1:%(port)d/").then((r) => r.text()).then(() => { tried.page = "read"; }, () => { tried.page = "refused"; });
const frame = document.createElement("iframe");
frame.src = "http://127.0.0.1:%(port)d/#%(token)s";
document.body.append(frame);
</script></body></html>"""


def test_a_page_of_another_origin_gets_nothing_though_it_knows_the_secret(browser, server, tmp_path):
    (tmp_path / "index.html").write_text(FOREIGN % {"port": server.port, "token": server.token})

    class Files(SimpleHTTPRequestHandler):
        def __init__(self, *given):
            super().__init__(*given, directory=str(tmp_path))

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Files) as foreign:
        threading.Thread(target=foreign.serve_forever, daemon=True).start()
        browser.visit(f"http://127.0.0.1:{foreign.server_port}/index.html")
        browser.wait("window.tried.socket && window.tried.page")
        assert browser.run("window.tried") == {"socket": "refused", "page": "refused"}
        browser.wait(
            "document.querySelector('iframe').contentDocument === null"
        )  # an error page of the browser's own
        assert not any("explore.js" in url for url in browser.requests)
        browser.visit("about:blank")
        foreign.shutdown()


def test_hostile_names_are_shown_as_text(browser):
    X, y = data()
    evil = '<img src=x onerror="document.title=1">'
    X = X.rename(columns={"age": evil, "town": "</script><b>t"})
    X["</script><b>t"] = X["</script><b>t"].cat.rename_categories({"a": '"><svg onload=alert(1)>'})
    with ExplorerServer(Controller(Explainer(fitted(X.rename(columns={evil: "p", "</script><b>t": "q"}), y), X.rename(columns={evil: "p", "</script><b>t": "q"}), y,
                                             names={"p": evil, "q": ("</script><b>t", {"a": '"><svg onload=alert(1)>'})}), title=evil)) as server:  # fmt: skip
        show(browser, server.url)
        settled(browser, lambda: browser.run(f"{APP}.filter(2, {{in: [0]}}, true)"))
        assert browser.run("document.querySelectorAll('img, b.t, svg[onload]').length") == 0
        assert "onerror" in browser.run("document.querySelector('h1').textContent")
        assert browser.problems == []
        browser.visit("about:blank")


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (800, False), (390, True)])
def test_nothing_is_wider_than_the_window(browser, server, width, dark):
    browser.look(width=width, height=900, dark=dark)
    show(browser, server.url)
    assert browser.run("document.documentElement.scrollWidth") <= width
    browser.visit("about:blank")
