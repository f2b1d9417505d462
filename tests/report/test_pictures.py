"""What pictures must not do: hide a level, a group or a letter, repeat a look, or show nothing without a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handling import (
    CARD,
    card_named,
    choose,
    drawn,
    mark,
    own_control,
    point_at_curve,
    settled,
    tick,
    value_title,
)

from browser import Browser
from icefield import Explainer
from icefield.report import ReportPage, build, page_html

LONG = "the average number of outpatient visits per insured household member during the last year"
GROUPS = [f"district number {i:02d} of the county" for i in range(18)]
PLOT = f"{CARD}[{{}}].querySelector('.plot')"
INSIDE = """(() => { const place = {0}, box = place.getBoundingClientRect();
  return Array.from(place.querySelectorAll('.xtitle, .ytitle, .xtick, .ytick')).filter((e) => {
    const r = e.getBoundingClientRect();
    return r.width && (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1);
  }).map((e) => e.textContent); })()"""


def towns(rows: int = 600) -> Any:
    """Forty towns that start alike, eighteen groups, missing values, long and very small."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "town": [
                f"City of {side}haven {i % 40:02d}"
                for i in range(rows)
                for side in [("North", "Upper")[i % 2]]
            ],
            "quarter": [f"quarter of the {'abcdefghijkl'[i % 12] * 3}" for i in range(rows)],
            LONG: rng.gamma(2.0, 2.0, rows),
            "income": np.where(rng.random(rows) < 0.2, np.nan, rng.uniform(5_000, 85_000, rows)),
            "tiny": rng.normal(0, 1e-6, rows),
            "year": rng.integers(2015, 2022, rows),
            "group": rng.choice(GROUPS, rows),
        }
    )


def town_model(frame: Any) -> Any:
    number = frame["town"].str[-2:].astype(float) / 20
    quarter = frame["quarter"].str[-1].map({c: i / 4 for i, c in enumerate("abcdefghijkl")}).astype(float)
    rest = frame["income"].fillna(60_000) / 30_000 + frame["tiny"] * 2e5 + (frame["year"] - 2015) / 20
    return 1e-3 * (number + quarter * frame[LONG] / 3 + rest + 0.02 * frame["group"].str[16:18].astype(float))


@pytest.fixture(scope="module")
def county() -> ReportPage:
    explainer = Explainer(town_model, towns(), by="group")
    return build(explainer.study, ["town", "quarter", LONG, "income", "tiny", "year"], individual=True)


@pytest.fixture(scope="module")
def county_page(county: ReportPage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("county") / "report.html"
    path.write_text(page_html(county), encoding="utf-8", newline="\n")
    return path


@pytest.fixture
def visited(browser: Browser, county_page: Path) -> Browser:
    browser.look()
    browser.open(county_page)
    return browser


def texts(browser: Browser, index: int, selector: str) -> list[str]:
    return list(
        browser.run(f"Array.from({PLOT.format(index)}.querySelectorAll('{selector}'), (e) => e.textContent)")
    )


def seen_surface(browser: Browser, *names: str) -> str:
    """The plot of the first surface that has all these features, drawn."""
    figures = browser.run(
        "Array.from(document.querySelectorAll('.pair'), (p) => p.querySelector('strong').textContent)"
    )
    at = next(i for i, title in enumerate(figures) if all(name in title for name in names))
    plot = f"document.querySelectorAll('.pair')[{at}].querySelector('.plot')"
    browser.run(f"{plot}.scrollIntoView({{behavior: 'instant'}})")
    browser.wait(f"{plot}.querySelector('.drawn') !== null")
    return plot


# --- levels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [360, 1280])
def test_every_level_is_named_apart(browser: Browser, county_page: Path, width: int) -> None:
    browser.look(width=width, height=844, touch=width < 500)
    browser.open(county_page)
    town = card_named(browser, "town")
    drawn(browser, town)
    names = texts(browser, town, ".ytick")
    assert len(names) == len(set(names)) == 40
    assert all(name[-2:].isdigit() for name in names)
    tops = sorted(
        browser.run(
            f"Array.from({PLOT.format(town)}.querySelectorAll('.ytick'), (e) => e.getBoundingClientRect().top)"
        )
    )
    assert np.diff(tops).min() > 9  # one above the other, not on another
    if width > 500:
        assert f"City of Northhaven {0:02d}" in names
    assert browser.problems == []


def test_a_level_that_is_cut_has_its_whole_name_on_hover(browser: Browser, county_page: Path) -> None:
    browser.look(width=360, height=844, touch=True)
    browser.open(county_page)
    town = card_named(browser, "town")
    drawn(browser, town)
    assert any("…" in name for name in texts(browser, town, ".ytick"))
    assert browser.run(f"{PLOT.format(town)}.drawing.view.tell(0)[0]") == "City of Northhaven 00"


def test_levels_lie_as_the_numbers_say(visited: Browser, county: ReportPage) -> None:
    town = card_named(visited, "town")
    drawn(visited, town)
    panel = next(card.panel for card in county.features if card.name == "town")
    found = visited.run(f"(({{x, y}}) => [x, y])({mark(town, 'average')})")
    assert found == [panel.x, panel.average[0]]
    tops = visited.run(f"[0, 39].map((level) => {PLOT.format(town)}.drawing.on.at(level, 0)[1])")
    assert tops[0] < tops[1]  # the first level on top
    height = visited.run(f"{CARD}[{town}].offsetHeight")
    tick(visited, "#data-shown")
    assert visited.run(f"{CARD}[{town}].offsetHeight") == height
    tick(visited, "#data-shown")


def test_a_surface_names_its_levels(visited: Browser) -> None:
    plot = seen_surface(visited, "quarter", LONG[:20])
    names = visited.run(
        f"Array.from({plot}.querySelectorAll('.xtick:not(.missing), .ytick'), (e) => e.textContent)"
    )
    assert sum(name.endswith(("aaa", "ccc", "lll")) for name in names) == 3
    assert sum(name[-3:] in {c * 3 for c in "abcdefghijkl"} for name in names) == 12
    assert visited.run(INSIDE.replace("{0}", plot)) == []


# --- letters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [360, 1280])
def test_no_letter_is_cut_off(browser: Browser, county_page: Path, width: int) -> None:
    browser.look(width=width, height=844, touch=width < 500)
    browser.open(county_page)
    tick(browser, "#centre")
    for index in range(6):
        drawn(browser, index)
        settled(browser)
        assert browser.run(INSIDE.replace("{0}", PLOT.format(index))) == [], index
    assert "change in prediction" in value_title(browser, card_named(browser, "tiny"))
    income = card_named(browser, "income")
    drawn(browser, income)
    ends = browser.run(
        f"[Math.max(...Array.from({PLOT.format(income)}.querySelectorAll('.xtick:not(.missing)'), (e) => e.getBoundingClientRect().right)),"
        f" {PLOT.format(income)}.querySelector('.xtick.missing').getBoundingClientRect().left]"
    )
    assert ends[0] < ends[1]
    assert len(texts(browser, income, ".xtick:not(.missing)")) >= 2


def test_axes_have_plain_numbers(visited: Browser) -> None:
    for name in ("tiny", "income", "year"):
        drawn(visited, card_named(visited, name))
    small = texts(visited, card_named(visited, "tiny"), ".xtick:not(.missing)")
    assert any("10⁻⁶" in tick_text for tick_text in small), small
    assert not any(mark in tick_text for tick_text in small for mark in "µun")
    assert "20,000" in texts(visited, card_named(visited, "income"), ".xtick:not(.missing)")
    assert "2018" in texts(visited, card_named(visited, "year"), ".xtick:not(.missing)")


# --- groups ----------------------------------------------------------------------------------------


def test_no_two_groups_look_alike(visited: Browser) -> None:
    income = card_named(visited, "income")
    drawn(visited, income)
    choose(visited, own_control(income, "group"), "each")
    looks = visited.run(
        f"{PLOT.format(income)}.drawing.panel.marks.filter((m) => m.layer === 'group').map((m) => m.colour + ' ' + m.dashed)"
    )
    assert len(looks) == len(set(looks)) == 18
    dots = visited.run(
        f"Array.from({CARD}[{income}].querySelectorAll('.legend .group .dot'), (e) => {{ const s = getComputedStyle(e);"
        " return [s.backgroundColor, s.borderTopColor, s.borderTopStyle].join(); })"
    )
    assert len(dots) == len(set(dots)) == 18
    quarter = card_named(visited, "quarter")
    drawn(visited, quarter)
    choose(visited, own_control(quarter, "group"), "each")
    marks = visited.run(
        f"{PLOT.format(quarter)}.drawing.panel.marks.filter((m) => m.layer === 'group').map((m) => [m.colour, m.hollow, m.pattern].join())"
    )
    assert len(set(marks)) == 18


@pytest.mark.parametrize("paper", [False, True])
def test_every_group_is_named_above_the_picture(visited: Browser, paper: bool) -> None:
    income = card_named(visited, "income")
    drawn(visited, income)
    choose(visited, own_control(income, "group"), "each")
    visited.look(paper=paper)
    settled(visited)
    legend = f"{CARD}[{income}].querySelector('.legend')"
    assert visited.run(f"{legend}.scrollHeight <= {legend}.clientHeight + 1")
    assert visited.run(f"getComputedStyle({legend}).overflowY") == "visible"
    top, names = visited.run(
        f"[{PLOT.format(income)}.querySelector('.grid').getBoundingClientRect().top,"
        f" Array.from({legend}.children, (e) => e.getBoundingClientRect().bottom)]"
    )
    assert len(names) == 19
    assert max(names) <= top + 4
    visited.look()


def test_groups_stand_at_the_missing_value_too(visited: Browser, county: ReportPage) -> None:
    income = card_named(visited, "income")
    drawn(visited, income)
    apart = f"{PLOT.format(income)}.drawing.panel.marks.filter((m) => m.layer === 'missing group')"
    assert visited.run(f"{apart}.length") == 0
    panel = next(card.panel for card in county.features if card.name == "income")
    choose(visited, own_control(income, "group"), "2")
    assert visited.run(f"{apart}.map((m) => m.y[0])") == [panel.groups[2].average[0][-1]]
    choose(visited, own_control(income, "group"), "each")
    assert visited.run(f"{apart}.map((m) => m.y[0])") == [group.average[0][-1] for group in panel.groups]


def test_a_link_leads_to_a_title_that_is_not_covered(visited: Browser) -> None:
    visited.run("document.documentElement.style.scrollBehavior = 'auto'")
    for index in (3, 1):
        drawn(visited, index)
        visited.run(f"location.hash = '#' + {CARD}[{index}].id")
        settled(visited)
        settled(visited)
        title, bar = visited.run(
            f"[{CARD}[{index}].querySelector('h3').getBoundingClientRect().top, document.getElementById('toolbar').getBoundingClientRect().bottom]"
        )
        assert title >= bar
        assert title < 700


# --- pointing --------------------------------------------------------------------------------------


def test_numbers_show_wherever_the_pointer_is(opened: Browser, built: ReportPage) -> None:
    opened.run("document.documentElement.style.scrollBehavior = 'auto'")
    length = card_named(opened, "length")
    drawn(opened, length)
    opened.run(f"{CARD}[{length}].scrollIntoView({{behavior: 'instant'}})")
    left, top, width = opened.run(
        f"(() => {{ const r = {PLOT.format(length)}.getBoundingClientRect(), b = {PLOT.format(length)}.drawing.on.box; return [r.left + b.left, r.top + b.top, b.width]; }})()"
    )
    panel = next(card.panel for card in built.features if card.name == "length")
    points = []
    for share in (0.1, 0.9):
        opened.point(left + share * width, top + 3)  # above every curve
        opened.wait(f"{PLOT.format(length)}.querySelector('.tip').hidden === false")
        opened.point(left + share * width + 1, top + 3)
        settled(opened)
        shown = opened.run(f"{PLOT.format(length)}.querySelector('.tip').textContent")
        assert "average" in shown
        points.append(next(i for i, point in enumerate(panel.points) if shown.startswith(point)))
        opened.run("new Promise((done) => setTimeout(done, 150))")
    assert points[0] < len(panel.x) / 2 < points[1]
    opened.point(1, 1)


def test_a_row_pointed_at_says_its_number_and_value(opened: Browser, built: ReportPage) -> None:
    at = card_named(opened, "length")
    drawn(opened, at)
    panel = next(card.panel for card in built.features if card.name == "length")
    point, row = 4, 2
    lit = f"{PLOT.format(at)}.drawing.pointer.above"
    point_at_curve(opened, at, panel.x[point], panel.curves[0][row][point], until=f"{lit}.length > 0")
    label = opened.run(f"{lit}[1].text")
    assert label.startswith("row ")
    number, value = label.removeprefix("row ").split(": ")
    curve = panel.curves[0][panel.rows.index(int(number))]
    assert opened.run(f"{lit}[0].y") == curve[: len(panel.x)]
    assert float(value.replace("−", "-")) == pytest.approx(curve[point], rel=1e-3)
    assert abs(curve[point] - panel.curves[0][row][point]) < 0.01  # two rows may lie on each other
    assert opened.run(f"{lit}[0].colour !== {mark(at, 'ale')}.colour")
    opened.point(1, 1)
    opened.wait(f"{lit}.length === 0")


# --- surfaces --------------------------------------------------------------------------------------


def test_hidden_cells_are_crossed_out(visited: Browser) -> None:
    plot = seen_surface(visited)
    count = f"{plot}.drawing.panel.marks.find((m) => m.layer === 'hidden').x.length"
    empty = f"{plot}.drawing.panel.marks[0].z.flat().filter((v) => v === null).length"
    assert visited.run(f"{count} === {empty}")
    tick(visited, "#mask")
    assert visited.run(count) == 0


@pytest.mark.parametrize("dark", [False, True])
def test_what_is_far_from_nothing_stands_out_most(browser: Browser, county_page: Path, dark: bool) -> None:
    browser.look(dark=dark)
    browser.open(county_page)
    plot = seen_surface(browser)
    tick(browser, "input[name=view][value=pure]")
    colours = browser.run(f"{plot}.drawing.colours")
    light = [sum(w * int(c[i : i + 2], 16) for w, i in ((0.3, 1), (0.6, 3), (0.1, 5))) for c in colours]
    away = [abs(value - light[2]) for value in light]
    assert away[0] > away[1] + 20 > 40
    assert away[4] > away[3] + 20 > 40


# --- without a script ------------------------------------------------------------------------------


def test_the_page_says_what_needs_a_script(built: ReportPage) -> None:
    text = page_html(built).split("<noscript>")[1].split("</noscript>")[0]
    assert "data tables" in text
