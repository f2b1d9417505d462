"""The page in a real browser: it opens clean, draws what comes into view, and every control works."""

from __future__ import annotations

import copy
import csv
import io
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Browser

from icefield import Explainer
from icefield.report import page_html, write_report

CARD = "document.querySelectorAll('.card')"
FADED = f"{CARD}[{{}}].querySelector('.plot').data.filter((t) => t.opacity < 1).map((t) => t.meta.group)"
DRAWN = f"Array.from({CARD}).filter((c) => c.querySelector('.main-svg')).length"


@pytest.fixture
def opened(browser: Browser, page: Path) -> Browser:
    browser.look()
    browser.open(page)
    return browser


def drawn(browser: Browser, index: int) -> None:
    """Scroll a card into view and wait for its picture."""
    browser.run(f"{CARD}[{index}].scrollIntoView()")
    browser.wait(f"{CARD}[{index}].querySelector('.main-svg') !== null")


def settled(browser: Browser) -> None:
    browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def traces(browser: Browser, index: int = 0) -> int:
    return int(browser.run(f"{CARD}[{index}].querySelector('.plot').data.length"))


def tick(browser: Browser, selector: str) -> None:
    browser.run(f"document.querySelector('{selector}').click()")
    settled(browser)


def choose(browser: Browser, selector: str, value: str) -> None:
    browser.run(
        f"(() => {{ const s = document.querySelector('{selector}'); s.value = '{value}';"
        " s.dispatchEvent(new Event('change', {bubbles: true})); s.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    settled(browser)


def point_at(browser: Browser, element: str) -> None:
    browser.run(f"{element}.dispatchEvent(new PointerEvent('pointerover', {{bubbles: true}}))")
    settled(browser)


def own_control(index: int, key: str) -> str:
    return f".card:nth-of-type({index + 1}) .tools [data-key={key}]"


def average(browser: Browser, index: int = 0) -> list[float]:
    return list(
        browser.run(f"{CARD}[{index}].querySelector('.plot').data.find((t) => t.meta === 'average').y")
    )


def laid_out(browser: Browser, what: str, index: int = 0) -> Any:
    return browser.run(f"{CARD}[{index}].querySelector('.plot').layout.{what}")


def text_of(browser: Browser, selector: str, index: int = 0) -> str:
    return str(browser.run(f"{CARD}[{index}].querySelector('{selector}').textContent"))


def label_of(browser: Browser, index: int = 0) -> str:
    return str(browser.run(f"{CARD}[{index}].querySelector('.plot').getAttribute('aria-label')"))


def table_of(browser: Browser, index: int = 0) -> list[list[str]]:
    """Head and rows of a card's data table, which stays open."""
    details = f"{CARD}[{index}].querySelector('details')"
    browser.run(f"{details}.open = true")
    browser.wait(f"{details}.querySelector('table') !== null")
    return list(
        browser.run(
            f"Array.from({details}.querySelectorAll('tr'), (row) => Array.from(row.cells, (c) => c.textContent))"
        )
    )


def resettable(browser: Browser, index: int = 0) -> bool:
    return browser.run(f"getComputedStyle({CARD}[{index}].querySelector('.reset')).visibility") == "visible"


def test_opens_without_error_or_request(opened: Browser, page: Path) -> None:
    for i in range(5):
        drawn(opened, i)
    opened.run("window.scrollTo(0, document.body.scrollHeight)")
    opened.wait("document.querySelectorAll('.region .main-svg').length > 0")
    assert opened.problems == []
    assert opened.requests == [page.resolve().as_uri()]


def test_a_card_is_drawn_when_scrolled_to(browser: Browser, page: Path) -> None:
    browser.look(height=600)
    browser.open(page)
    assert not browser.run(f"{CARD}[4].querySelector('.main-svg') !== null")
    drawn(browser, 4)
    assert browser.run(f"{CARD}[4].querySelector('.plot').data.length") > 2
    assert browser.problems == []


def test_output_switch_changes_curves_and_words(opened: Browser, built: dict[str, Any]) -> None:
    drawn(opened, 0)
    before = opened.run(f"{CARD}[0].querySelector('.plot').data.at(-2).y[3]")
    choose(opened, "#output", "1")
    assert (
        opened.run(f"{CARD}[0].querySelector('.reading').textContent") == built["features"][0]["readings"][1]
    )
    assert opened.run(f"{CARD}[0].querySelector('.plot').data.at(-2).y[3]") != before
    words = opened.run(f"{CARD}[0].querySelector('.plot').layout.yaxis.title.text")
    assert built["outputs"][1] in words
    assert built["features"][0]["readings"][1] in opened.run(
        f"{CARD}[0].querySelector('.plot').getAttribute('aria-label')"
    )


def test_subgroups_are_added_singled_out_and_highlighted(opened: Browser) -> None:
    drawn(opened, 0)
    alone = traces(opened)
    tick(opened, "input[name=group][value=each]")
    assert traces(opened) == alone + 2
    point_at(opened, "document.querySelector('.group')")
    assert opened.run(FADED.format(0)) == [1]
    point_at(opened, "document.body")
    assert opened.run(FADED.format(0)) == []
    tick(opened, ".group:last-of-type input")
    assert traces(opened) == alone + 1


def test_centre_shared_axis_and_layers(opened: Browser) -> None:
    drawn(opened, 0)
    own = [opened.run(f"{CARD}[{i}].querySelector('.plot').layout?.yaxis.range") for i in (0, 1)]
    tick(opened, "#shared")
    drawn(opened, 1)
    drawn(opened, 0)
    settled(opened)
    shared = [opened.run(f"{CARD}[{i}].querySelector('.plot').layout.yaxis.range") for i in (0, 1)]
    assert shared[0] == shared[1]
    assert shared[0] != own[0]
    tick(opened, "#centre")
    assert "change in" in opened.run(f"{CARD}[0].querySelector('.plot').layout.yaxis.title.text")
    low, high = opened.run(f"{CARD}[0].querySelector('.plot').layout.yaxis.range")
    assert low < 0 < high
    everything = traces(opened)
    for box, count in (("#bands", 2), ("#ale", 1), ("#data-shown", 1), ("#curves", 1)):
        before = traces(opened)
        tick(opened, box)
        assert before - traces(opened) >= count, box
    for box in ("#bands", "#ale", "#data-shown", "#curves"):
        tick(opened, box)
    assert traces(opened) == everything


def test_a_card_has_an_output_of_its_own(opened: Browser, built: dict[str, Any]) -> None:
    for i in (0, 1):
        drawn(opened, i)
    others, readings = average(opened, 1), [card["readings"] for card in built["features"]]
    choose(opened, own_control(0, "output"), "2")
    assert average(opened, 0) == built["features"][0]["panel"]["average"][2]
    assert text_of(opened, ".reading", 0) == readings[0][2]
    assert readings[0][2] in label_of(opened, 0)
    assert built["outputs"][2] in laid_out(opened, "yaxis.title.text", 0)
    assert average(opened, 1) == others
    assert text_of(opened, ".reading", 1) == readings[1][0]
    assert opened.run("document.getElementById('output').value") == "0"
    assert [resettable(opened, i) for i in (0, 1)] == [True, False]
    assert opened.problems == []
    assert len(opened.requests) == 1


def test_a_card_has_subgroups_of_its_own(opened: Browser, built: dict[str, Any]) -> None:
    for i in (0, 1):
        drawn(opened, i)
    alone = [traces(opened, i) for i in (0, 1)]
    card, panel = f"{CARD}[0]", built["features"][0]["panel"]
    height = opened.run(f"{card}.offsetHeight")
    assert opened.run(f"{card}.querySelector('.legend').offsetHeight") == 0
    choose(opened, own_control(0, "group"), "each")
    assert [traces(opened, i) for i in (0, 1)] == [alone[0] + 2, alone[1]]
    assert opened.run(f"{card}.querySelector('.legend').offsetHeight") > 0
    assert opened.run(f"{card}.offsetHeight") == height
    chips = f"{card}.querySelectorAll('.legend .group')"
    assert opened.run(f"Array.from({chips}, (c) => c.textContent)") == built["groups"]
    point_at(opened, f"{chips}[1]")
    assert opened.run(FADED.format(0)) == [0]
    point_at(opened, "document.body")
    assert opened.run(FADED.format(0)) == []
    opened.run(f"{chips}[0].focus()")
    opened.press("Tab", 9)
    settled(opened)
    assert opened.run(FADED.format(0)) == [0]
    tick(opened, ".card .legend .group")  # its name singles it out
    shown = f"{card}.querySelector('.plot').data.filter((t) => t.meta?.group !== undefined)"
    assert opened.run(f"{shown}.map((t) => t.y)") == [panel["groups"][0]["average"][0]]
    assert opened.run(f"{card}.querySelector('[data-key=group]').value") == "0"
    assert text_of(opened, ".reading") == f"hill: {panel['groups'][0]['readings'][0]}"
    assert "by place: hill" in label_of(opened)
    tick(opened, ".card .legend .group")
    assert opened.run(f"{shown}.length") == 2
    choose(opened, own_control(0, "group"), "none")
    assert traces(opened) == alone[0]
    assert not resettable(opened)


def test_a_card_is_centred_alone(opened: Browser, built: dict[str, Any]) -> None:
    for i in (0, 1):
        drawn(opened, i)
    panel, others = built["features"][0]["panel"], average(opened, 1)
    tick(opened, own_control(0, "centre"))
    expected = [v - panel["mean"][0] for v in panel["average"][0]]
    assert average(opened, 0) == pytest.approx(expected, abs=1e-9)
    assert "change in" in laid_out(opened, "yaxis.title.text", 0)
    assert "centred" in label_of(opened, 0)
    assert average(opened, 1) == others
    assert "change in" not in laid_out(opened, "yaxis.title.text", 1)


def test_shared_axes_agree_whichever_group_is_shown(opened: Browser) -> None:
    for i in (0, 1):
        drawn(opened, i)
    own = [laid_out(opened, "yaxis.range", i) for i in (0, 1)]
    tick(opened, own_control(1, "shared"))
    assert laid_out(opened, "yaxis.range", 0) == own[0]
    wide = laid_out(opened, "yaxis.range", 1)
    assert wide != own[1]
    assert all(wide[0] <= low and high <= wide[1] for low, high in own)
    choose(opened, own_control(0, "group"), "1")
    tick(opened, own_control(0, "shared"))
    assert laid_out(opened, "yaxis.range", 0) == wide


def test_a_shared_axis_has_room_for_groups_shown_elsewhere(browser: Browser, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": np.tile(np.linspace(0, 1, 40), 2), "side": np.repeat(["up", "down"], 40)})
    explainer = Explainer(lambda f: np.where(f["side"] == "up", f["x"], -f["x"]), frame, by="side")
    browser.look()
    browser.open(write_report(explainer, tmp_path / "sides.html", features=["x"]))
    drawn(browser, 0)
    for box in ("#bands", "#ale"):
        tick(browser, box)
    low, high = laid_out(browser, "yaxis.range")
    assert high - low < 0.5  # the sides cancel out
    tick(browser, own_control(0, "shared"))
    low, high = laid_out(browser, "yaxis.range")
    assert low < -0.9
    assert high > 0.9


@pytest.fixture(scope="module")
def long_tailed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`a` spans three powers of ten, `b` holds a zero, `c` is positive but narrow."""
    x = np.logspace(0, 3, 60)
    rows = np.column_stack([x, x[::-1] - 1, np.linspace(10, 30, 60)])
    path = tmp_path_factory.mktemp("tails") / "report.html"
    return write_report(Explainer(lambda r: np.log(r[:, 0]) + r[:, 1] / 1e3 + r[:, 2] / 9, rows), path)


def test_a_log_axis_where_values_are_positive_and_span_much(browser: Browser, long_tailed: Path) -> None:
    browser.look()
    browser.open(long_tailed)
    names = browser.run(f"Array.from({CARD}, (c) => c.dataset.name)")
    offered = {}
    for i, name in enumerate(names):
        drawn(browser, i)
        offered[name] = browser.run(f"{CARD}[{i}].querySelector('.tools [data-key=log]') !== null")
    assert offered == {"0": True, "1": False, "2": False}
    a, b = names.index("0"), names.index("1")
    drawn(browser, a)
    tick(browser, own_control(a, "log"))
    assert laid_out(browser, "xaxis.type", a) == "log"
    low, high = laid_out(browser, "xaxis.range", a)
    assert -0.2 < low < high < 3.2
    assert {"1", "10", "100"} < set(laid_out(browser, "xaxis.ticktext", a))
    assert "log axis" in label_of(browser, a)
    tick(browser, own_control(a, "log"))
    assert laid_out(browser, "xaxis.type", a) == "linear"
    tick(browser, "#log")
    drawn(browser, b)
    assert [laid_out(browser, "xaxis.type", i) for i in (a, b)] == ["log", "linear"]
    assert browser.problems == []


def test_without_classes_groups_or_tails_a_card_offers_only_its_scale(
    browser: Browser, tmp_path: Path
) -> None:
    rows = np.random.default_rng(0).normal(size=(60, 2))
    browser.look()
    browser.open(write_report(Explainer(lambda r: r[:, 0], rows), tmp_path / "plain.html"))
    drawn(browser, 0)
    keys = (
        "Array.from(document.querySelectorAll('.card:first-child .tools [data-key]'), (e) => e.dataset.key)"
    )
    assert browser.run(keys) == ["centre", "shared"]
    assert browser.run("document.querySelector('.legend')") is None


def test_the_toolbar_overrides_cards_and_leaves_their_other_choices(
    opened: Browser, built: dict[str, Any]
) -> None:
    drawn(opened, 0)
    choose(opened, own_control(0, "output"), "2")
    tick(opened, own_control(0, "centre"))
    choose(opened, "#output", "1")
    panel = built["features"][0]["panel"]
    expected = [v - panel["mean"][1] for v in panel["average"][1]]
    assert average(opened) == pytest.approx(expected, abs=1e-9)
    assert opened.run(f"document.querySelector('{own_control(0, 'output')}').value") == "1"
    assert resettable(opened)
    tick(opened, "#centre")  # what the card had chosen already
    assert not resettable(opened)
    tick(opened, "#centre")
    assert average(opened) == panel["average"][1]


def test_reset_takes_the_toolbars_view_again(opened: Browser, built: dict[str, Any]) -> None:
    drawn(opened, 0)
    before = opened.run(f"{CARD}[0].offsetHeight"), laid_out(opened, "xaxis.range"), average(opened)
    assert not resettable(opened)
    for key, value in (("output", "2"), ("group", "each")):
        choose(opened, own_control(0, key), value)
    for key in ("centre", "shared"):
        tick(opened, own_control(0, key))
    assert resettable(opened)
    assert opened.run(f"{CARD}[0].querySelector('.shown').textContent") == (
        f"Shown: {built['outputs'][2]}, centred, shared axis, by place"
    )
    tick(opened, ".card .reset")
    assert not resettable(opened)
    assert (opened.run(f"{CARD}[0].offsetHeight"), laid_out(opened, "xaxis.range"), average(opened)) == before
    assert text_of(opened, ".reading") == built["features"][0]["readings"][0]
    assert text_of(opened, ".shown") == ""
    assert opened.run("document.activeElement.closest('#f0') !== null")
    controls = f"Array.from({CARD}[0].querySelectorAll('.tools [data-key]'), (e) => e.type === 'checkbox' ? e.checked : e.value)"
    assert opened.run(controls)[:4] == ["0", "none", False, False]


def test_controls_stay_off_paper_where_words_say_the_view(opened: Browser) -> None:
    drawn(opened, 0)
    tick(opened, own_control(0, "centre"))
    choose(opened, own_control(0, "group"), "0")
    seen = f"['.controls', '.shown', '.legend'].map((s) => {CARD}[0].querySelector(s).offsetHeight > 0)"
    assert opened.run(seen) == [True, False, True]
    opened.look(paper=True)
    assert opened.run(seen) == [False, True, True]
    assert text_of(opened, ".shown") == "Shown: centred, by place: hill"
    opened.look()


def test_a_cards_view_survives_sorting_and_scrolling_away(opened: Browser, built: dict[str, Any]) -> None:
    drawn(opened, 0)
    choose(opened, own_control(0, "output"), "2")
    choose(opened, "#sort", "name")
    opened.run("window.scrollTo(0, document.body.scrollHeight)")
    settled(opened)
    at = opened.run(f"Array.from({CARD}).findIndex((c) => c.dataset.feature === '0')")
    drawn(opened, at)
    assert average(opened, at) == built["features"][0]["panel"]["average"][2]


def test_search_and_sort(opened: Browser) -> None:
    shown = f"Array.from({CARD}).filter((c) => !c.hidden).map((c) => c.dataset.name)"
    choose(opened, "#search", "WID")
    assert opened.run(shown) == ["width"]
    assert (
        opened.run("Array.from(document.querySelectorAll('#rows tr')).filter((r) => !r.hidden).length") == 1
    )
    assert opened.run("document.getElementById('found').textContent") == "1 of 5 features"
    choose(opened, "#search", "no such feature")
    assert opened.run("document.getElementById('nothing').hidden") is False
    choose(opened, "#search", "")
    choose(opened, "#sort", "name")
    assert opened.run(shown) == ["colour", "length", "petals", "seen", "width"]
    choose(opened, "#sort", "rank")
    assert opened.run(f"Array.from({CARD}).map((c) => +c.dataset.feature)") == [0, 1, 2, 3, 4]


def test_a_hidden_card_comes_back_when_linked_to(opened: Browser) -> None:
    choose(opened, "#search", "width")
    opened.run("location.hash = '#f0'")
    opened.wait("document.getElementById('f0').hidden === false")
    assert opened.run("document.getElementById('search').value") == ""


def test_tables_hold_the_numbers(opened: Browser, built: dict[str, Any]) -> None:
    opened.run(f"{CARD}[0].querySelector('details').open = true")
    opened.wait(f"{CARD}[0].querySelector('details table') !== null")
    rows = opened.run(f"{CARD}[0].querySelectorAll('details tbody tr').length")
    assert rows == len(built["features"][0]["panel"]["x"])
    opened.run("document.querySelector('.pair details').open = true")
    opened.wait("document.querySelector('.pair details table') !== null")


def saved(browser: Browser, suffix: str) -> Path:
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        found = [p for p in browser.downloads.iterdir() if p.suffix == suffix and p.stat().st_size]
        if found:
            return found[0]
        browser.run("1")
        time.sleep(0.1)
    raise AssertionError(
        f"no {suffix} file was saved: {list(browser.downloads.iterdir())} {browser.problems}"
    )


def test_png_and_csv_are_saved(opened: Browser, built: dict[str, Any]) -> None:
    drawn(opened, 0)
    tick(opened, ".card .csv")
    lines = list(csv.DictReader(io.StringIO(saved(opened, ".csv").read_text(encoding="utf-8-sig"))))
    panel = built["features"][0]["panel"]
    plain = [
        line
        for line in lines
        if line["kind"] == "pd" and line["group"] == "" and line["output"] == built["outputs"][0]
    ]
    assert [float(line["average"]) for line in plain] == panel["average"][0]
    assert {(line["output"], line["group"], line["scale"]) for line in lines} == {
        (built["outputs"][0], "", "level")
    }
    tick(opened, ".card .png")
    assert saved(opened, ".png").read_bytes().startswith(b"\x89PNG")
    assert opened.problems == []
    for path in opened.downloads.iterdir():
        path.unlink()


def test_table_and_csv_follow_the_cards_view(opened: Browser, built: dict[str, Any]) -> None:
    drawn(opened, 0)
    assert table_of(opened)[0][:3] == ["value", "average", "5 %"]
    choose(opened, own_control(0, "output"), "1")
    choose(opened, own_control(0, "group"), "each")
    panel = built["features"][0]["panel"]
    head, first, *_ = table_of(opened)
    assert head[:5] == ["value", "average", "hill", "shore", "5 %"]
    assert float(first[1]) == pytest.approx(panel["average"][1][0], rel=1e-3)
    assert float(first[3]) == pytest.approx(panel["groups"][1]["average"][1][0], rel=1e-3)
    choose(opened, own_control(0, "group"), "1")
    tick(opened, own_control(0, "centre"))
    head, first, *_ = table_of(opened)
    assert head[:4] == ["value", "change in average", "shore", "5 %"]
    assert float(first[3]) == pytest.approx(panel["change"][1][0][0], rel=1e-3)
    tick(opened, ".card .csv")
    path = saved(opened, ".csv")
    lines = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    path.unlink()
    assert path.stem == f"{panel['name']}_{built['outputs'][1]}_centred_by_place_shore"
    assert {(n["output"], n["scale"]) for n in lines} == {(built["outputs"][1], "change")}
    assert {n["group"] for n in lines} == {"", "shore"}
    shore = [float(n["average"]) for n in lines if n["group"] == "shore"]
    own = panel["groups"][1]
    assert shore == pytest.approx([v - own["mean"][1] for v in own["average"][1]], abs=1e-7)
    assert opened.problems == []


def test_a_picture_saved_alone_names_its_groups(opened: Browser) -> None:
    drawn(opened, 0)
    choose(opened, own_control(0, "group"), "each")
    # The figure is caught on its way to the file.
    opened.run("Plotly.toImage = (figure) => { window.caught = figure; return new Promise(() => {}); }")
    tick(opened, ".card .png")
    assert opened.run("window.caught.data.filter((t) => t.showlegend).map((t) => t.name)") == [
        "hill",
        "shore",
        "all rows",
    ]
    choose(opened, own_control(0, "group"), "none")
    tick(opened, ".card .png")
    assert opened.run("window.caught.layout.showlegend") is False


def test_surfaces_have_a_pure_view_and_a_mask(opened: Browser) -> None:
    opened.run("document.querySelector('.pair').scrollIntoView()")
    opened.wait("document.querySelector('.pair .main-svg') !== null")
    plot = "document.querySelector('.pair .plot').data[0]"
    assert opened.run(f"{plot}.zmin") is None
    tick(opened, "input[name=view][value=pure]")
    assert opened.run(f"{plot}.zmin + {plot}.zmax") == 0
    known = f"{plot}.z.flat().filter((v) => v !== null).length"
    masked = opened.run(known)
    tick(opened, "#mask")
    assert opened.run(known) >= masked
    assert opened.run(known) == opened.run(f"{plot}.z.flat().length")


def test_matrix_links_to_surfaces_and_lights_features(opened: Browser) -> None:
    link = opened.run("document.querySelector('#matrix td a').getAttribute('href')")
    assert opened.run(f"document.querySelector('{link}').classList.contains('pair')")
    opened.run(
        "document.querySelector('#matrix td a').dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))"
    )
    assert opened.run("document.querySelectorAll('#rows tr.lit').length") == 2


def test_a_row_is_lit_on_every_card(opened: Browser) -> None:
    for i in (0, 1):
        drawn(opened, i)
    lit = f"{CARD}[1].querySelector('.plot').data.find((t) => t.meta === 'lit').x.length"
    assert opened.run(lit) == 0
    opened.run(
        f"(() => {{ const p = {CARD}[0].querySelector('.plot'); const d = p.data.find((t) => t.meta === 'curves');"
        " p.emit('plotly_hover', {points: [{data: d, pointNumber: 3}]}); })()"
    )
    assert opened.run(lit) > 0
    opened.run(f"{CARD}[0].querySelector('.plot').emit('plotly_unhover', {{}})")
    assert opened.run(lit) == 0


def test_a_row_is_lit_as_each_card_shows_it(opened: Browser, built: dict[str, Any]) -> None:
    for i in (0, 1):
        drawn(opened, i)
    choose(opened, own_control(1, "output"), "2")
    point = f"{CARD}[0].querySelector('.plot')"
    opened.run(
        f"{point}.emit('plotly_hover', {{points: [{{data: {point}.data.find((t) => t.meta === 'curves'), pointNumber: 3}}]}})"
    )
    first, second = (card["panel"] for card in built["features"][:2])
    row = second["rows"].index(first["rows"][0])
    for index, curve in ((0, first["curves"][0][0]), (1, second["curves"][2][row])):
        lit = opened.run(f"{CARD}[{index}].querySelector('.plot').data.find((t) => t.meta === 'lit').y")
        assert lit == curve[: len(lit)]
        assert len(lit) > 1


def test_hover_tells_value_average_and_support(opened: Browser) -> None:
    drawn(opened, 0)
    text = opened.run(f"{CARD}[0].querySelector('.plot').data.at(-2).text[2]")
    for word in ("average", "half of the rows", "90 %", "could be here"):
        assert word in text


def test_keyboard_path(opened: Browser) -> None:
    active = "document.activeElement"
    opened.press("Tab", 9)
    assert opened.run(f"{active}.className") == "skip"
    opened.press("/", 191, "/")
    assert opened.run(f"{active}.id") == "search"
    reached = set()
    for _ in range(12):
        opened.press("Tab", 9)
        reached.add(opened.run(f"{active}.id || {active}.name"))
    assert {"sort", "output", "bands", "ale", "centre", "shared", "group"} <= reached
    opened.run(f"{active}.blur()")
    opened.press("j", 74, "j")
    assert opened.run(f"{active}.id") == "n0"
    opened.press("j", 74, "j")
    assert opened.run(f"{active}.id") == "n1"
    opened.press("k", 75, "k")
    assert opened.run(f"{active}.id") == "n0"
    drawn(opened, 0)
    opened.run("document.getElementById('n0').focus()")
    keys = []
    for _ in range(4):
        opened.press("Tab", 9)
        keys.append(opened.run(f"{active}.closest('#f0 .tools') ? {active}.dataset.key : null"))
    assert keys == ["output", "group", "centre", "shared"]
    opened.press(" ", 32, " ")
    settled(opened)
    assert "shared axis" in label_of(opened)
    opened.press("j", 74, "j")  # a box is no place to write
    assert opened.run(f"{active}.id") == "n1"


def test_every_picture_has_words_and_every_control_a_name(opened: Browser, built: dict[str, Any]) -> None:
    drawn(opened, 0)
    choose(opened, own_control(0, "group"), "each")
    names = opened.run(
        "Array.from(document.querySelectorAll('#f0 .tools select, #f0 .tools input, #f0 .tools button'),"
        " (e) => [e.getAttribute('aria-label'), (e.labels?.[0]?.querySelector('span') || e.labels?.[0] || e).textContent.trim()])"
    )
    assert len(names) == 7
    for name, visible in names:
        assert name == f"{visible}, {built['features'][0]['name']}"
    assert opened.run(
        "Array.from(document.querySelectorAll('.plot')).every((p) => p.getAttribute('role') === 'img' && p.getAttribute('aria-label').length > 20)"
    )
    assert opened.run(
        "Array.from(document.querySelectorAll('input, select')).every((e) => e.labels.length > 0 && e.labels[0].textContent.trim())"
    )
    assert opened.run("Array.from(document.querySelectorAll('button')).every((e) => e.textContent.trim())")
    assert opened.run(
        "(() => { const ids = Array.from(document.querySelectorAll('[id]')).filter((e) => !e.closest('.plot')).map((e) => e.id);"
        " return new Set(ids).size === ids.length; })()"
    )
    levels = opened.run("Array.from(document.querySelectorAll('h1, h2, h3')).map((h) => +h.tagName[1])")
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_light_and_dark(browser: Browser, page: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.look(dark=True)
    browser.open(page)
    dark = browser.run(ground)
    assert browser.run("document.getElementById('theme').textContent") == "Light"
    tick(browser, "#theme")
    light = browser.run(ground)
    assert light != dark
    browser.look()
    browser.open(page)
    assert browser.run(ground) == light


@pytest.mark.parametrize("width", [320, 360, 390, 768, 1600])
def test_no_sideways_scrolling(browser: Browser, page: Path, width: int) -> None:
    browser.look(width=width, height=844, touch=width < 500)
    browser.open(page)
    drawn(browser, 1)
    choose(browser, own_control(1, "group"), "each")
    tick(browser, own_control(1, "centre"))
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")
    # Every control is on the page, and none on another.
    boxes = browser.run(
        f"Array.from({CARD}[1].querySelectorAll('.controls > *'), (e) => {{ const r = e.getBoundingClientRect(); return [r.left, r.right, r.top, r.bottom]; }})"
    )
    assert all(left >= 0 and right <= width for left, right, _, _ in boxes)
    for i, (left, _, top, bottom) in enumerate(boxes):
        assert all(left >= r - 1 or bottom <= t + 1 or top >= b - 1 for _, r, t, b in boxes[:i])


def test_paper_has_every_picture(opened: Browser, tmp_path: Path) -> None:
    opened.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert opened.run(DRAWN) == 5
    opened.wait("document.documentElement.dataset.theme === undefined")
    assert opened.problems == []


def test_policy_blocks_what_is_not_the_pages_own(opened: Browser) -> None:
    opened.run(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.intruder = 1'; document.body.append(s);"
        " const i = new Image(); i.src = 'https://example.invalid/a.png'; document.body.append(i); })()"
    )
    time.sleep(0.3)
    assert opened.run("window.intruder") is None
    assert any("Content Security Policy" in p for p in opened.problems)


def test_hundreds_of_features_stay_light(browser: Browser, built: dict[str, Any], tmp_path: Path) -> None:
    many = copy.deepcopy(built)
    one = many["features"]
    many["features"] = []
    for i in range(250):
        card = copy.deepcopy(one[i % 5])
        card.update(number=i, name=f"feature {i}", full=f"feature {i}")
        card["panel"].pop("curves", None)
        many["features"].append(card)
    path = tmp_path / "many.html"
    path.write_text(page_html(many), encoding="utf-8", newline="\n")
    browser.look()
    browser.open(path)
    assert browser.run(DRAWN) < 12
    assert browser.run("document.querySelectorAll('.tools .controls').length") < 12
    for share in (0.2, 0.4, 0.6, 0.8, 0.95):
        browser.run(f"window.scrollTo(0, {share} * document.body.scrollHeight)")
        settled(browser)
    choose(browser, "#search", "feature 19")
    assert browser.run(f"Array.from({CARD}).filter((c) => !c.hidden).length") == 11
    choose(browser, "#search", "")
    for i in range(0, 250, 10):
        browser.run(f"{CARD}[{i}].scrollIntoView({{behavior: 'instant'}})")
        settled(browser)
    browser.wait(f"{DRAWN} <= 60")
    choose(browser, "#output", "1")
    assert browser.run(f"{CARD}[249].querySelector('.reading').textContent") == one[4]["readings"][1]
    assert browser.problems == []
