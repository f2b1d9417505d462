"""Where a report is opened: in a notebook's frame, without scripts, under a strict policy, and from a small file."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handling import CARD, as_json, drawn, settled

from browser import Browser
from icefield import Explainer, compare
from icefield.page import built as built_file
from icefield.report import Report, ReportPage, build, page_html

X = np.random.default_rng(0).normal(size=(200, 3))


def moves(rows: Any) -> Any:
    return rows[:, 0] * rows[:, 1] + rows[:, 2]


@pytest.fixture(scope="module")
def shown() -> Report:
    return Explainer(moves, X, y=moves(X)).report()


def two_models() -> Any:
    models = {"a": moves, "b": lambda r: r[:, 0]}
    return compare({name: Explainer(model, X, row_by_row=True) for name, model in models.items()})


# --- notebooks ---------------------------------------------------------------------------------------


def test_without_a_path_a_report_shows_itself(shown: Report, tmp_path: Path) -> None:
    assert isinstance(shown, Report)
    frame = shown._repr_html_()
    assert frame.startswith("<iframe srcdoc=")
    assert 'sandbox="allow-scripts' in frame
    assert "allow-same-origin" not in frame
    assert "<script" not in frame  # it is all inside one attribute
    assert "save(path)" in repr(shown)
    assert shown.save(tmp_path / "a.html").read_text(encoding="utf-8") == shown.html
    both = two_models().report()
    assert isinstance(both, Report)


@pytest.mark.parametrize("width", [390, 900])
def test_a_frame_draws_pictures_and_follows_links(
    browser: Browser, shown: Report, tmp_path: Path, width: int
) -> None:
    page = tmp_path / "notebook.html"
    page.write_text(f'<!doctype html><html data-ready="yes"><meta charset="utf-8"><body>{shown._repr_html_().replace("allow-scripts", "allow-scripts allow-same-origin")}</body></html>', encoding="utf-8")  # fmt: skip
    browser.look(width=width, height=900)
    browser.open(page)
    inner = "document.querySelector('iframe').contentDocument"
    browser.wait(f"{inner}.documentElement.dataset.ready === 'yes'")
    assert browser.run(f"{inner}.documentElement.scrollWidth <= {inner}.defaultView.innerWidth")
    browser.wait(f"{inner}.querySelectorAll('.plane .name').length > 0")
    browser.run(f"{inner}.querySelector('nav a[href=\"#features\"]').click()")
    browser.wait(f"Math.abs({inner}.querySelector('#features h2').getBoundingClientRect().top) < 60")
    # The link is followed while the page above still moves, so the card is scrolled to until it is drawn.
    browser.wait(
        f"({inner}.getElementById('f0').scrollIntoView(), {inner}.querySelector('#f0 .drawn') !== null)"
    )
    assert browser.run("location.hash") == ""
    # Only this test lets the page around look inside.
    assert [problem for problem in browser.problems if "allow-same-origin" not in problem] == []


@pytest.mark.filterwarnings("ignore:IPython3 lexer unavailable:UserWarning")
def test_the_output_survives_being_converted(shown: Report) -> None:
    nbformat, nbconvert = pytest.importorskip("nbformat"), pytest.importorskip("nbconvert")
    output = nbformat.v4.new_output("display_data", {"text/html": shown._repr_html_()})
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("ex.report()", outputs=[output])])
    try:
        text, _ = nbconvert.HTMLExporter().from_notebook_node(book)
    except ValueError as error:
        pytest.skip(f"nbconvert's templates are not where it looks: {str(error)[:60]}")
    found: list[dict[str, str | None]] = []

    class Frames(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "iframe":
                found.append(dict(attrs))

    Frames().feed(text)
    (frame,) = found
    assert frame["srcdoc"] == shown.html
    assert "allow-scripts" in str(frame["sandbox"])


# --- without a script --------------------------------------------------------------------------------


def test_a_static_page_has_every_picture_and_no_script(
    browser: Browser, rental_report: ReportPage, tmp_path: Path
) -> None:
    text = page_html(rental_report, static=True)
    assert "<script" not in text
    assert "<button" not in text
    assert "script-src &#39;none&#39;" in text
    page = tmp_path / "static.html"
    page.write_text(text.replace("<html ", '<html data-ready="yes" '), encoding="utf-8")
    for width in (390, 1280):
        browser.look(width=width, height=900)
        browser.open(page)
        kinds = browser.run(
            "Array.from(document.querySelectorAll('img'), (i) => [i.className, i.naturalWidth > 0, i.alt.length > 10])"
        )
        assert all(seen and told for _, seen, told in kinds)
        count = {
            kind: sum(name == f"image of-{kind}" for name, _, _ in kinds)
            for kind in ("card", "mini", "pair", "region", "plane", "against")
        }
        cards = len(rental_report.features)
        assert count == {"card": cards, "mini": cards, "pair": len(rental_report.surfaces), "region": len(rental_report.regions), "plane": 1, "against": 1}  # fmt: skip
        assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.problems == []
    assert browser.requests == [page.resolve().as_uri()]
    held = [
        base64.b64decode(found).decode()
        for found in re.findall(r'of-card" src="data:image/svg\+xml;base64,([^"]+)', text)
    ]
    assert all(">mean observed<" in one and ">mean predicted<" in one for one in held)


def test_static_pages_of_several_models_classes_and_times(built: ReportPage) -> None:
    text = page_html(built, static=True)
    pictures = text.count("<img ")
    drawn = len(built.features) + len(built.surfaces) + len(built.regions)
    assert pictures == 3 * drawn + len(built.features) + len(built.plain) + 1
    held = "".join(
        base64.b64decode(found).decode() for found in re.findall(r"data:image/svg\+xml;base64,([^\"]+)", text)
    )
    for said in ("hill", "shore", "all rows", *built.outputs):
        assert f">{said}" in held, said
    both = two_models().report(static=True)
    assert both.html.count("<img ") >= 6
    assert "<script" not in both.html


# --- policies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scripts", ["'unsafe-inline'"])
def test_the_page_needs_no_more_than_inline_scripts(
    browser: Browser, page: Path, tmp_path: Path, scripts: str
) -> None:
    text = page.read_text(encoding="utf-8")
    strict = tmp_path / "strict.html"
    strict.write_text(
        re.sub(r"script-src &#39;[^&]*&#39;", f"script-src {scripts}", text, count=1),
        encoding="utf-8",
        newline="\n",
    )
    browser.look()
    browser.open(strict)
    for i in range(5):
        drawn(browser, i)
    browser.run("document.querySelector('.pair').scrollIntoView()")
    settled(browser)
    assert browser.problems == []
    assert len(browser.requests) == 1


def test_the_script_evaluates_nothing_and_ends_where_it_should() -> None:
    for name in ("draw.js", "report.js", "live.js", "explore.js"):
        text = built_file(name)
        assert not re.search(
            r"\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write", text
        ), name
        assert "</script" not in text.lower()


# --- opening ---------------------------------------------------------------------------------------------

# What has been read of the page when its first picture is drawn, and which pictures are drawn when all of it has.
WATCHED = """
window.order = [];
new MutationObserver(() => {
  const drawn = document.querySelectorAll("svg.drawn").length;
  if (drawn && !order.length) order.push(document.readyState, Boolean(document.getElementById("ranking")), Boolean(document.getElementById("data")));
}).observe(document, {childList: true, subtree: true});
"""


def test_the_first_picture_is_drawn_before_the_rest_of_the_page_is_read(
    browser: Browser, rental_page: Path
) -> None:
    browser.look()
    context = browser._page.context
    shown = context.new_page()
    shown.add_init_script(WATCHED)
    shown.goto(rental_page.as_uri())
    shown.wait_for_function("document.documentElement.dataset.ready")
    assert shown.evaluate("order") == ["loading", False, False]
    in_view = "Array.from(document.querySelectorAll('.card')).filter((c) => c.getBoundingClientRect().top < innerHeight + 500)"
    drawn_cards = "Array.from(document.querySelectorAll('.card')).filter((c) => c.querySelector('.drawn'))"
    assert shown.evaluate(f"{drawn_cards}.length") <= shown.evaluate(f"{in_view}.length")
    shown.close()


# --- size --------------------------------------------------------------------------------------------


def test_a_hundred_features_with_fifty_cards_stay_small() -> None:
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(400, 100))
    weights = 0.97 ** np.arange(100)
    found = build(
        Explainer(lambda r: r @ weights + r[:, 0] * r[:, 1], wide, y=wide[:, 0], row_by_row=True).study
    )
    assert len(found.features) == 50
    assert len(page_html(found).encode()) < 3_000_000


# --- what the page says of its data ------------------------------------------------------------------


def test_the_data_has_a_name_and_both_have_hashes(complains: Any) -> None:
    def facts(model: Any, rows: Any, **options: Any) -> dict[str, str]:
        return {
            fact.term: fact.text
            for fact in build(Explainer(model, rows, row_by_row=True).study, **options).facts
        }

    named = facts(moves, X, data_name="test 2024 <b>")
    assert named["Data"].startswith("test 2024 <b>: 200 rows")
    again, other_rows, other_model = (
        facts(moves, X),
        facts(moves, X[::-1].copy()),
        facts(lambda r: moves(r) + 1, X),
    )

    def hashes(told: dict[str, str]) -> list[str]:
        return re.findall(r"(?:data|model) ([0-9a-f]{12})", told["Hashes"])

    assert hashes(again) == hashes(named)
    assert hashes(other_rows)[0] != hashes(again)[0]
    assert hashes(other_model)[0] == hashes(again)[0]
    assert hashes(other_model)[1] != hashes(again)[1]
    with complains("data_name", "must be text"):
        Explainer(moves, X).report(data_name=3)
    with complains("static"):
        Explainer(moves, X).report(static="yes")


def test_bands_stay_where_predictions_can_be(browser: Browser, page: Path, built: ReportPage) -> None:
    assert built.bounds == [0.0, None]  # three shares of one, which the model does not call probabilities
    browser.look()
    browser.open(page)
    for i in range(5):
        drawn(browser, i)
        lows = browser.run(
            f"{CARD}[{i}].querySelector('.plot').drawing.panel.marks.filter((m) => m.layer === 'band').flatMap((m) => m.low)"
        )
        assert min(lows) >= 0
    assert build(Explainer(lambda r: r[:, 0], X).study).bounds == [None, None]


def test_two_values_are_dots_and_all_curves_stand_side_by_side(
    browser: Browser, rental_page: Path, rental_report: ReportPage
) -> None:
    panels = {card.name: card.panel for card in rental_report.features}
    assert panels["workday"].axis.kind == "category"
    assert panels["workday"].axis.ticks == ["0", "1"]
    assert panels["hour"].axis.kind == "integer"
    browser.look(width=1280)
    browser.open(rental_page)
    browser.run("document.getElementById('grid').scrollIntoView()")
    browser.wait("document.querySelectorAll('.mini .drawn').length >= 4")
    places = browser.run(
        "Array.from(document.querySelectorAll('.mini'), (m) => m.getBoundingClientRect().left)"
    )
    assert len(set(places)) == 2  # columns
    ranges = browser.run(
        "Array.from(document.querySelectorAll('.mini .plot')).filter((p) => p.drawing).map((p) => p.drawing.axes.y.range.join())"
    )
    assert len(set(ranges)) == 1  # one scale


@pytest.mark.parametrize("width", [390, 800])
def test_the_ranking_keeps_and_names_its_columns(browser: Browser, rental_page: Path, width: int) -> None:
    browser.look(width=width, height=900, touch=width < 500)
    browser.open(rental_page)
    row = browser.run(
        "Array.from(document.querySelector('#rows tr').cells, (c) => [c.offsetWidth > 0, getComputedStyle(c, '::before').content])"
    )
    assert sum(seen for seen, _ in row) >= 8
    if width == 390:
        assert (
            sum("Strength" in told or "Disagreement" in told or "Unsupported" in told for _, told in row) == 3
        )
    else:
        assert browser.run("document.querySelector('.ranking thead').offsetHeight") > 0
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")


def test_arrows_go_along_a_card_and_say_its_numbers(browser: Browser, page: Path, built: ReportPage) -> None:
    browser.look()
    browser.open(page)
    drawn(browser, 0)
    browser.run("document.getElementById('n0').focus({preventScroll: true})")
    points = built.features[0].panel.points
    for expected in points[:3]:
        browser.press("ArrowRight")
        assert browser.run("document.getElementById('tell').textContent").startswith(f"{expected}; average ")
    browser.press("ArrowLeft")
    assert browser.run("document.querySelector('#f0 .tip b').textContent") == points[1]


def test_regions_say_what_each_cut_removes(rental_report: ReportPage, rental_page: Path) -> None:
    region = next(part for part in rental_report.regions if part.name == "hour")
    made = [cut for cut in region.ledger if not cut.why_not]
    assert "workday" in made[0].cut
    assert made[0].removed > 0.5
    one, several = region.explained
    assert one < 0.2
    assert several > 0.7
    assert "One curve for all rows explains" in rental_page.read_text(encoding="utf-8")
    assert as_json(rental_report)
