"""The page in a real browser: it opens clean, draws what comes into view, and every control works."""

from __future__ import annotations

import csv
import io
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from handling import (
    CARD,
    DRAWN,
    FADED,
    average,
    axis,
    choose,
    drawn,
    label_of,
    own_control,
    point_at,
    point_at_curve,
    saved,
    settled,
    tick,
    traces,
    value_title,
)

from browser import Browser
from icefield.report import ReportPage, page_html


def test_pointing_at_rows_and_at_nothing_is_no_error(opened: Browser) -> None:
    drawn(opened, 0)
    opened.run("""(() => {
      const place = document.querySelector(".card .plot"), box = place.getBoundingClientRect();
      const send = (kind, x, y) => place.dispatchEvent(new PointerEvent(kind, {clientX: box.left + x * box.width, clientY: box.top + y * box.height}));
      send("pointermove", 0.001, 0.001);
      send("pointerleave", 0, 0);
      for (let at = 0; at <= 1; at += 0.1) for (let up = 0; up <= 1; up += 0.1) send("pointermove", at, up);
      send("pointerleave", 0, 0);
    })()""")
    assert opened.problems == []


def test_opens_without_error_or_request(opened: Browser, page: Path) -> None:
    for i in range(5):
        drawn(opened, i)
    opened.run("window.scrollTo(0, document.body.scrollHeight)")
    opened.wait("document.querySelectorAll('.region .drawn').length > 0")
    assert opened.problems == []
    assert opened.requests == [page.resolve().as_uri()]


def test_opens_with_model_data_and_way(opened: Browser, built: ReportPage) -> None:
    strip = "document.querySelector('.lede').nextElementSibling"
    assert opened.run(f"Array.from({strip}.querySelectorAll('dt'), (e) => e.textContent)") == [
        "Model",
        "Data",
        "Computed",
        "Made",
    ]
    texts = [fact.text for fact in built.opening]
    assert opened.run(f"Array.from({strip}.querySelectorAll('dd'), (e) => e.textContent)") == texts
    assert opened.run(f"{strip}.getBoundingClientRect().bottom") < 500


def test_a_long_name_has_room_on_a_phone(browser: Browser, built: ReportPage, tmp_path: Path) -> None:
    names = ("a_name_of_several_words_" * 4, "x" * 78)
    cards = [replace(card, name=name[:78], full=name) for name, card in zip(names, built.features)]
    cards += built.features[len(names) :]
    long = replace(built, features=cards, rows=cards)
    path = tmp_path / "long.html"
    path.write_text(page_html(long), encoding="utf-8", newline="\n")
    browser.look(width=360, height=740, touch=True)
    browser.open(path)
    for row in (0, 1):
        cell = f"document.querySelectorAll('#rows th')[{row}]"
        assert browser.run(f"{cell}.getBoundingClientRect().width") > 250
        assert browser.run(f"{cell}.getBoundingClientRect().height") < 100
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")


def test_partners_and_relatives_are_told_apart(opened: Browser, built: ReportPage) -> None:
    head = opened.run("Array.from(document.querySelectorAll('.ranking thead th'), (e) => e.textContent)")
    assert head[7] == "Interacts with"
    assert "Correlated with" not in head
    for card in built.features:
        terms = opened.run(
            f"Object.fromEntries(Array.from(document.querySelectorAll('#f{card.number} dl div'), (e) => Array.from(e.children, (c) => c.textContent)))"
        )
        assert terms.get("Interacts with") == card.partner
        assert terms.get("Correlated with", "") == card.related
    assert any(card.partner for card in built.features)


def test_a_card_is_drawn_when_scrolled_to(browser: Browser, page: Path) -> None:
    browser.look(height=600)
    browser.open(page)
    assert not browser.run(f"{CARD}[4].querySelector('.drawn') !== null")
    drawn(browser, 4)
    assert browser.run(f"{CARD}[4].querySelector('.plot').drawing.panel.marks.length") > 2
    assert browser.problems == []


def test_output_switch_changes_curves_and_words(opened: Browser, built: ReportPage) -> None:
    drawn(opened, 0)
    before = average(opened)
    choose(opened, "#output", "1")
    assert (
        opened.run(f"{CARD}[0].querySelector('.reading').textContent") == built.features[0].panel.readings[1]
    )
    assert average(opened) != before
    assert built.outputs[1] in value_title(opened)
    assert built.features[0].panel.readings[1] in opened.run(
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
    own = [opened.run(f"{CARD}[{i}].querySelector('.plot').drawing?.axes.y.range") for i in (0, 1)]
    tick(opened, "#shared")
    drawn(opened, 1)
    drawn(opened, 0)
    settled(opened)
    shared = [axis(opened, "y.range", i) for i in (0, 1)]
    assert shared[0] == shared[1]
    assert shared[0] != own[0]
    tick(opened, "#centre")
    assert "change in" in value_title(opened)
    low, high = axis(opened, "y.range")
    assert low < 0 < high
    everything = traces(opened)
    for box, count in (("#bands", 2), ("#ale", 1), ("#data-shown", 1), ("#curves", 1)):
        before = traces(opened)
        tick(opened, box)
        assert before - traces(opened) >= count, box
    for box in ("#bands", "#ale", "#data-shown", "#curves"):
        tick(opened, box)
    assert traces(opened) == everything


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


def test_tables_hold_the_numbers(opened: Browser, built: ReportPage) -> None:
    opened.run(f"{CARD}[0].querySelector('details').open = true")
    opened.wait(f"{CARD}[0].querySelector('details table') !== null")
    rows = opened.run(f"{CARD}[0].querySelectorAll('details tbody tr').length")
    assert rows == len(built.features[0].panel.x)
    opened.run("document.querySelector('.pair details').open = true")
    opened.wait("document.querySelector('.pair details table') !== null")


def test_png_and_csv_are_saved(opened: Browser, built: ReportPage) -> None:
    drawn(opened, 0)
    tick(opened, ".card .csv")
    lines = list(csv.DictReader(io.StringIO(saved(opened, ".csv").read_text(encoding="utf-8-sig"))))
    panel = built.features[0].panel
    plain = [
        line
        for line in lines
        if line["kind"] == "pd" and line["group"] == "" and line["output"] == built.outputs[0]
    ]
    assert [float(line["average"]) for line in plain] == panel.average[0]
    assert {(line["output"], line["group"], line["scale"]) for line in lines} == {
        (built.outputs[0], "", "level")
    }
    tick(opened, ".card .png")
    assert saved(opened, ".png").read_bytes().startswith(b"\x89PNG")
    assert opened.problems == []
    for path in opened.downloads.iterdir():
        path.unlink()


def test_surfaces_have_a_pure_view_and_a_mask(opened: Browser) -> None:
    opened.run("document.querySelector('.pair').scrollIntoView()")
    opened.wait("document.querySelector('.pair .drawn') !== null")
    plot = "document.querySelector('.pair .plot').drawing.panel.marks[0]"
    assert opened.run(f"{plot}.scale.diverging") is None
    tick(opened, "input[name=view][value=pure]")
    assert opened.run(f"{plot}.scale.low + {plot}.scale.high") == 0
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


def test_a_row_is_lit_on_every_card(opened: Browser, built: ReportPage) -> None:
    for i in (0, 1):
        drawn(opened, i)
    lit = f"{CARD}[1].querySelector('.plot').drawing.pointer.above.length"
    assert opened.run(lit) == 0
    panel = built.features[0].panel
    point_at_curve(opened, 0, panel.x[3], panel.curves[0][0][3], until=f"{lit} > 0")
    opened.point(1, 1)
    opened.wait(f"{lit} === 0")


def test_hover_tells_value_average_and_support(opened: Browser) -> None:
    drawn(opened, 0)
    text = " ".join(opened.run(f"{CARD}[0].querySelector('.plot').drawing.view.tell(2)"))
    for word in ("average", "half of the rows", "90 %", "could be here"):
        assert word in text


def test_keyboard_path(opened: Browser) -> None:
    active = "document.activeElement"
    opened.press("Tab")
    assert opened.run(f"{active}.className") == "skip"
    opened.press("/")
    assert opened.run(f"{active}.id") == "search"
    reached = set()
    for _ in range(12):
        opened.press("Tab")
        reached.add(opened.run(f"{active}.id || {active}.name"))
    assert {"sort", "output", "bands", "ale", "centre", "shared", "group"} <= reached
    opened.run(f"{active}.blur()")
    opened.press("j")
    assert opened.run(f"{active}.id") == "n0"
    opened.press("j")
    assert opened.run(f"{active}.id") == "n1"
    opened.press("k")
    assert opened.run(f"{active}.id") == "n0"
    drawn(opened, 0)
    opened.run("document.getElementById('n0').focus()")
    keys = []
    for _ in range(4):
        opened.press("Tab")
        keys.append(opened.run(f"{active}.closest('#f0 .tools') ? {active}.dataset.key : null"))
    assert keys == ["output", "group", "centre", "shared"]
    opened.press(" ")
    settled(opened)
    assert "shared axis" in label_of(opened)
    opened.press("j")  # a box is no place to write
    assert opened.run(f"{active}.id") == "n1"


def test_every_picture_has_words_and_every_control_a_name(opened: Browser, built: ReportPage) -> None:
    drawn(opened, 0)
    choose(opened, own_control(0, "group"), "each")
    names = opened.run(
        "Array.from(document.querySelectorAll('#f0 .tools select, #f0 .tools input, #f0 .tools button'),"
        " (e) => [e.getAttribute('aria-label'), (e.labels?.[0]?.querySelector('span') || e.labels?.[0] || e).textContent.trim()])"
    )
    assert len(names) == 7
    for name, visible in names:
        assert name == f"{visible}, {built.features[0].name}"
    assert opened.run(
        "Array.from(document.querySelectorAll('.plot')).every((p) => p.getAttribute('role') === (p.matches('.plane') ? 'group' : 'img') && p.getAttribute('aria-label').length > 20)"
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
    opened.run(
        "window.media = []; matchMedia('print').addEventListener('change', (e) => window.media.push(e.matches));"
        " window.addEventListener('beforeprint', () => window.media.push(document.documentElement.classList.contains('paper')))"
    )
    opened.pdf(tmp_path / "report.pdf")
    assert opened.run("window.media")[:2] == [True, True]  # made ready for paper, and printed as such
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


def test_hundreds_of_features_stay_light(browser: Browser, built: ReportPage, tmp_path: Path) -> None:
    one = built.features
    cards = [
        replace(one[i % 5], number=i, name=f"feature {i}", full=f"feature {i}", pairs=(), panel=replace(one[i % 5].panel, curves=None))
        for i in range(250)
    ]  # fmt: skip
    many = replace(built, features=cards, rows=cards)
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
    assert browser.run(f"{CARD}[249].querySelector('.reading').textContent") == one[4].panel.readings[1]
    assert browser.problems == []
