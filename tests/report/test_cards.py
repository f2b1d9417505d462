"""Each card's own controls: they change that card alone, and words, table and files follow."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from handling import (
    CARD,
    FADED,
    average,
    axis,
    choose,
    drawn,
    label_of,
    own_control,
    point_at,
    point_at_curve,
    resettable,
    saved,
    saved_words,
    settled,
    table_of,
    text_of,
    tick,
    traces,
    value_title,
)

from browser import Browser
from icefield import Explainer
from icefield.report import ReportPage, write_report


def test_a_card_has_an_output_of_its_own(opened: Browser, built: ReportPage) -> None:
    for i in (0, 1):
        drawn(opened, i)
    others, readings = average(opened, 1), [card.panel.readings for card in built.features]
    choose(opened, own_control(0, "output"), "2")
    assert average(opened, 0) == built.features[0].panel.average[2]
    assert text_of(opened, ".reading", 0) == readings[0][2]
    assert readings[0][2] in label_of(opened, 0)
    assert built.outputs[2] in value_title(opened, 0)
    assert average(opened, 1) == others
    assert text_of(opened, ".reading", 1) == readings[1][0]
    assert opened.run("document.getElementById('output').value") == "0"
    assert [resettable(opened, i) for i in (0, 1)] == [True, False]
    assert opened.problems == []
    assert len(opened.requests) == 1


def test_a_card_has_subgroups_of_its_own(opened: Browser, built: ReportPage) -> None:
    for i in (0, 1):
        drawn(opened, i)
    alone = [traces(opened, i) for i in (0, 1)]
    card, panel = f"{CARD}[0]", built.features[0].panel
    height = opened.run(f"{card}.offsetHeight")
    assert opened.run(f"{card}.querySelector('.legend').offsetHeight") == 0
    choose(opened, own_control(0, "group"), "each")
    assert [traces(opened, i) for i in (0, 1)] == [alone[0] + 2, alone[1]]
    assert opened.run(f"{card}.querySelector('.legend').offsetHeight") > 0
    assert opened.run(f"{card}.offsetHeight") == height
    chips = f"{card}.querySelectorAll('.legend .group')"
    assert opened.run(f"Array.from({chips}, (c) => c.textContent)") == built.groups
    point_at(opened, f"{chips}[1]")
    assert opened.run(FADED.format(0)) == [0]
    point_at(opened, "document.body")
    assert opened.run(FADED.format(0)) == []
    opened.run(f"{chips}[0].focus()")
    opened.press("Tab")
    settled(opened)
    assert opened.run(FADED.format(0)) == [0]
    tick(opened, ".card .legend .group")  # its name singles it out
    shown = f"{card}.querySelector('.plot').drawing.panel.marks.filter((m) => m.layer === 'group')"
    assert opened.run(f"{shown}.map((t) => t.y)") == [panel.groups[0].average[0]]
    assert opened.run(f"{card}.querySelector('[data-key=group]').value") == "0"
    assert text_of(opened, ".reading") == f"hill: {panel.groups[0].readings[0]}"
    assert "by place: hill" in label_of(opened)
    tick(opened, ".card .legend .group")
    assert opened.run(f"{shown}.length") == 2
    choose(opened, own_control(0, "group"), "none")
    assert traces(opened) == alone[0]
    assert not resettable(opened)


def test_a_card_is_centred_alone(opened: Browser, built: ReportPage) -> None:
    for i in (0, 1):
        drawn(opened, i)
    panel, others = built.features[0].panel, average(opened, 1)
    tick(opened, own_control(0, "centre"))
    expected = [v - panel.mean[0] for v in panel.average[0]]
    assert average(opened, 0) == pytest.approx(expected, abs=1e-9)
    assert "change in" in value_title(opened, 0)
    assert "centred" in label_of(opened, 0)
    assert average(opened, 1) == others
    assert "change in" not in value_title(opened, 1)


def test_shared_axes_agree_whichever_group_is_shown(opened: Browser) -> None:
    for i in (0, 1):
        drawn(opened, i)
    own = [axis(opened, "y.range", i) for i in (0, 1)]
    narrow, other = sorted((0, 1), key=lambda i: own[i][1] - own[i][0])
    tick(opened, own_control(narrow, "shared"))
    assert axis(opened, "y.range", other) == own[other]
    wide = axis(opened, "y.range", narrow)
    assert wide != own[narrow]
    assert all(wide[0] <= low and high <= wide[1] for low, high in own)
    choose(opened, own_control(other, "group"), "1")
    tick(opened, own_control(other, "shared"))
    assert axis(opened, "y.range", other) == wide


def test_a_shared_axis_has_room_for_groups_shown_elsewhere(browser: Browser, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": np.tile(np.linspace(0, 1, 40), 2), "side": np.repeat(["up", "down"], 40)})
    explainer = Explainer(lambda f: np.where(f["side"] == "up", f["x"], -f["x"]), frame, by="side")
    browser.look()
    browser.open(write_report(explainer.study, tmp_path / "sides.html", features=["x"]))
    drawn(browser, 0)
    for box in ("#bands", "#ale"):
        tick(browser, box)
    low, high = axis(browser, "y.range")
    assert high - low < 0.6  # the sides cancel out
    tick(browser, own_control(0, "shared"))
    low, high = axis(browser, "y.range")
    assert low < -0.9
    assert high > 0.9


@pytest.fixture(scope="module")
def long_tailed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`a` spans three powers of ten, `b` holds a zero, `c` is positive but narrow."""
    x = np.logspace(0, 3, 60)
    rows = np.column_stack([x, x[::-1] - 1, np.linspace(10, 30, 60)])
    path = tmp_path_factory.mktemp("tails") / "report.html"
    return write_report(Explainer(lambda r: np.log(r[:, 0]) + r[:, 1] / 1e3 + r[:, 2] / 9, rows).study, path)


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
    assert axis(browser, "x.log", a) is True
    low, high = axis(browser, "x.range", a)
    assert 0.7 < low < high < 1500
    assert {"1", "10", "100"} < set(axis(browser, "x.ticks", a))
    assert "log axis" in label_of(browser, a)
    tick(browser, own_control(a, "log"))
    assert axis(browser, "x.log", a) is False
    tick(browser, "#log")
    drawn(browser, b)
    assert [axis(browser, "x.log", i) for i in (a, b)] == [True, False]
    assert browser.problems == []


def test_without_classes_groups_or_tails_a_card_offers_only_its_scale(
    browser: Browser, tmp_path: Path
) -> None:
    rows = np.random.default_rng(0).normal(size=(60, 2))
    browser.look()
    browser.open(write_report(Explainer(lambda r: r[:, 0], rows).study, tmp_path / "plain.html"))
    drawn(browser, 0)
    keys = (
        "Array.from(document.querySelectorAll('.card:first-child .tools [data-key]'), (e) => e.dataset.key)"
    )
    assert browser.run(keys) == ["centre", "shared"]
    assert browser.run("document.querySelector('.legend')") is None


def test_the_toolbar_overrides_cards_and_leaves_their_other_choices(
    opened: Browser, built: ReportPage
) -> None:
    drawn(opened, 0)
    choose(opened, own_control(0, "output"), "2")
    tick(opened, own_control(0, "centre"))
    choose(opened, "#output", "1")
    panel = built.features[0].panel
    expected = [v - panel.mean[1] for v in panel.average[1]]
    assert average(opened) == pytest.approx(expected, abs=1e-9)
    assert opened.run(f"document.querySelector('{own_control(0, 'output')}').value") == "1"
    assert resettable(opened)
    tick(opened, "#centre")  # what the card had chosen already
    assert not resettable(opened)
    tick(opened, "#centre")
    assert average(opened) == panel.average[1]


def test_reset_takes_the_toolbars_view_again(opened: Browser, built: ReportPage) -> None:
    drawn(opened, 0)
    before = opened.run(f"{CARD}[0].offsetHeight"), axis(opened, "x.range"), average(opened)
    assert not resettable(opened)
    for key, value in (("output", "2"), ("group", "each")):
        choose(opened, own_control(0, key), value)
    for key in ("centre", "shared"):
        tick(opened, own_control(0, key))
    assert resettable(opened)
    assert opened.run(f"{CARD}[0].querySelector('.shown').textContent") == (
        f"Shown: {built.outputs[2]}, centred, shared axis, by place"
    )
    tick(opened, ".card .reset")
    assert not resettable(opened)
    assert (opened.run(f"{CARD}[0].offsetHeight"), axis(opened, "x.range"), average(opened)) == before
    assert text_of(opened, ".reading") == built.features[0].panel.readings[0]
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


def test_a_cards_view_survives_sorting_and_scrolling_away(opened: Browser, built: ReportPage) -> None:
    drawn(opened, 0)
    choose(opened, own_control(0, "output"), "2")
    choose(opened, "#sort", "name")
    opened.run("window.scrollTo(0, document.body.scrollHeight)")
    settled(opened)
    at = opened.run(f"Array.from({CARD}).findIndex((c) => c.dataset.feature === '0')")
    drawn(opened, at)
    assert average(opened, at) == built.features[0].panel.average[2]


def test_table_and_csv_follow_the_cards_view(opened: Browser, built: ReportPage) -> None:
    drawn(opened, 0)
    assert table_of(opened)[0][:3] == ["value", "average", "5 %"]
    choose(opened, own_control(0, "output"), "1")
    choose(opened, own_control(0, "group"), "each")
    panel = built.features[0].panel
    head, first, *_ = table_of(opened)
    assert head[:5] == ["value", "average", "hill", "shore", "5 %"]
    assert float(first[1]) == pytest.approx(panel.average[1][0], rel=1e-3)
    assert float(first[3]) == pytest.approx(panel.groups[1].average[1][0], rel=1e-3)
    choose(opened, own_control(0, "group"), "1")
    tick(opened, own_control(0, "centre"))
    head, first, *_ = table_of(opened)
    assert head[:4] == ["value", "change in average", "shore", "5 %"]
    assert float(first[3].replace("−", "-")) == pytest.approx(panel.bands[1][0][0], rel=1e-3)
    tick(opened, ".card .csv")
    path = saved(opened, ".csv")
    lines = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    path.unlink()
    assert path.stem == f"{panel.name}_{built.outputs[1]}_centred_by_place_shore"
    assert {(n["output"], n["scale"]) for n in lines} == {(built.outputs[1], "change")}
    assert {n["group"] for n in lines} == {"", "shore"}
    shore = [float(n["average"]) for n in lines if n["group"] == "shore"]
    own = panel.groups[1]
    assert shore == pytest.approx([v - own.mean[1] for v in own.average[1]], abs=1e-7)
    assert opened.problems == []


def test_a_picture_saved_alone_has_legend_and_caption(opened: Browser, built: ReportPage) -> None:
    drawn(opened, 0)
    choose(opened, own_control(0, "group"), "each")
    bands = ["90 % of rows, around their means", "middle half of rows", "ALE"]
    assert saved_words(opened, ".card")["legend"] == [*bands, "hill", "shore", "all rows"]
    choose(opened, own_control(0, "group"), "none")
    words = saved_words(opened, ".card")
    assert words["legend"] == [*bands, "average (partial dependence)"]
    assert words["caption"] == built.features[0].panel.readings[0]


def test_a_row_is_lit_as_each_card_shows_it(opened: Browser, built: ReportPage) -> None:
    for i in (0, 1):
        drawn(opened, i)
    choose(opened, own_control(1, "output"), "2")
    first, second = (card.panel for card in built.features[:2])
    # The row that is farthest from the others somewhere is the one pointed at there.
    curves = np.array(first.curves[0], dtype=float)
    own, point = np.unravel_index(np.nanargmax(curves), curves.shape)
    lit = f"{CARD}[0].querySelector('.plot').drawing.pointer.above.length > 0"
    point_at_curve(opened, 0, first.x[point], curves[own, point], until=lit)
    row = second.rows.index(first.rows[own])
    for index, curve in ((0, first.curves[0][own]), (1, second.curves[2][row])):
        lit = opened.run(f"{CARD}[{index}].querySelector('.plot').drawing.pointer.above[0].y")
        assert lit == curve[: len(lit)]
        assert len(lit) > 1
    opened.point(1, 1)
