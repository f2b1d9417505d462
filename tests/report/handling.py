"""What a reader does with a page, and what the page shows then: shared by the tests in a browser."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from browser import Browser
from icefield.report import ReportPage
from icefield.report.view_model import plain

CARD = "document.querySelectorAll('.card')"
FADED = f"Array.from(new Set(Array.from({CARD}[{{}}].querySelectorAll('.drawn .faint'), (e) => +e.dataset.group)))"
DRAWN = f"Array.from({CARD}).filter((c) => c.querySelector('.drawn')).length"


def drawn(browser: Browser, index: int) -> None:
    """Scroll a card into view and wait for its picture."""
    drawn_item(browser, f"{CARD}[{index}]")


def drawn_item(browser: Browser, item: str) -> None:
    """Scroll something into view, again if what is above it grew meanwhile, and wait for its picture."""
    for _ in range(12):
        browser.run(f"{item}.scrollIntoView({{behavior: 'instant'}})")
        with suppress(AssertionError):
            browser.wait(f"{item}.querySelector('.drawn') !== null", seconds=5)
            return
    raise AssertionError(f"{item} was never drawn; problems: {browser.problems}")


def settled(browser: Browser) -> None:
    browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def traces(browser: Browser, index: int = 0) -> int:
    """How many marks the picture of a card has, those of the missing value aside."""
    marks = f"{CARD}[{index}].querySelector('.plot').drawing.panel.marks"
    return int(browser.run(f"{marks}.filter((m) => !m.layer.startsWith('missing')).length"))


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


def point_at_curve(browser: Browser, index: int, x: float, y: float, until: str) -> None:
    """Rest the pointer on a place in a card's own units, trembling as a hand does, until something is true."""
    browser.run("document.documentElement.style.scrollBehavior = 'auto'")
    browser.run(f"{CARD}[{index}].scrollIntoView()")
    settled(browser)
    for attempt in range(60):
        # The picture may still be finding its place: look where it is each time.
        at, down = browser.run(
            f"(() => {{ const p = {CARD}[{index}].querySelector('.plot'), r = p.getBoundingClientRect();"
            f" const [x, y] = p.drawing.on.at({x}, {y}); return [r.left + x, r.top + y]; }})()"
        )
        browser.point(at + attempt % 2, down)
        time.sleep(0.05)
        if browser.run(until):
            return
    raise AssertionError(f"never came true: {until}; problems: {browser.problems}")


def own_control(index: int, key: str) -> str:
    return f".card:nth-of-type({index + 1}) .tools [data-key={key}]"


def average(browser: Browser, index: int = 0) -> list[float]:
    return list(browser.run(f"{mark(index, 'average')}.y"))


def mark(index: int, layer: str) -> str:
    """The mark of a card's picture that shows something."""
    return f"{CARD}[{index}].querySelector('.plot').drawing.panel.marks.find((m) => m.layer === '{layer}')"


def axis(browser: Browser, what: str, index: int = 0) -> Any:
    """What an axis of a card's picture shows, such as ``"y.range"``."""
    return browser.run(f"{CARD}[{index}].querySelector('.plot').drawing.axes.{what}")


def value_title(browser: Browser, index: int = 0) -> str:
    return " ".join(axis(browser, "y.title", index))


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


def saved_words(browser: Browser, item: str) -> dict[str, Any]:
    """Title, legend and caption of the picture that something saves on its own."""
    browser.run(f"document.querySelector('{item} .svg').click()")
    path = saved(browser, ".svg")
    tree = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    path.unlink()

    def texts(kind: str) -> list[str]:
        found = [e for e in tree.iter() if e.get("class") == kind]
        return ["".join(e.itertext()) for e in found]

    return {
        "title": " ".join(texts("heading")),
        "legend": texts("key"),
        "caption": " ".join(texts("caption")),
    }


def as_json(report: ReportPage) -> str:
    """All that a report tells as JSON, pictures included."""
    return json.dumps(plain(report), allow_nan=False)


def card_named(browser: Browser, start: str) -> int:
    """Where the card of the feature whose name starts so stands."""
    at = int(browser.run(f"Array.from({CARD}).findIndex((c) => c.dataset.name.startsWith('{start}'))"))
    assert at >= 0, start
    return at
