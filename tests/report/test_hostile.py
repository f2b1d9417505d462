"""Names and values made to break out of the page: shown as text, never run, nothing fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handling import drawn_item, saved

from browser import Browser
from icefield import Explainer
from icefield.report import write_report
from icefield.report.ranked import CARDS

RUN = "window.intruder=1"
HOSTILE: list[Any] = [
    f"</script><script>{RUN}</script>",
    f"<script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f'"><img src=x onerror="{RUN}">',
    f"'><svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f'<a href="javascript:{RUN}">click</a>',
    "<a href='https://example.invalid/'>link</a>",
    "<img src='https://example.invalid/pixel.png'>",
    "<link rel=stylesheet href=https://example.invalid/a.css>",
    "<style>body{display:none}</style>",
    "<style>@import url(https://example.invalid/a.css)</style>",
    "</style><script>window.intruder=1</script>",
    "</title><script>window.intruder=1</script>",
    "</textarea><script>window.intruder=1</script>",
    "<!-- comment",
    "--> end",
    "<![CDATA[ x ]]>",
    "<plaintext>",
    "<base href=https://example.invalid/>",
    "<meta http-equiv=refresh content='0;url=https://example.invalid/'>",
    "<form action=https://example.invalid/><button>",
    "<object data=https://example.invalid/></object>",
    "{{ 7 * 7 }}",
    "{% for x in range(3) %}",
    "${7*7}",
    "`window.intruder=1`",
    "\\u003cscript\\u003ewindow.intruder=1\\u003c/script\\u003e",
    "%{x}<br>%{customdata}",
    "%{text}",
    "$\\frac{1}{0}$",
    "$$x$$",
    "&lt;b&gt;bold&amp;",
    "&#60;script&#62;",
    "<b>bold</b><br><i>it</i><sup>2</sup>",
    "quote\" and ' apostrophe",
    "back\\slash",
    "line\nbreak\r\nand\ttab",
    "null\0byte",
    "bell\a escape\x1b[31m",
    "line\u2028separator\u2029paragraph",
    "\u202eright to left\u202c",
    "\u2066isolate\u2069 \u200e\u200f",
    "zero\u200bwidth\ufeff",
    "lone \ud800 surrogate",
    "emoji 👩‍👩‍👧‍👦 flag 🇫🇷",
    "combining " + "e" + "\u0301" * 50,
    "مرحبا بالعالم",
    "x" * 10_000,
    "y z " * 2_500,
    "",
    " ",
    "_leading",
    "__proto__",
    "constructor",
    "toString",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "#f3",
    "data-feature",
    "NaN",
    "null",
    "undefined",
    None,
    3,
    2.5,
    True,
    ("a", "<b>"),
    b"bytes<script>",
    float("inf"),
]


def hostile_frame(rows: int = 40) -> Any:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    # pandas cannot look up a column by a lone surrogate or by True; as values it can hold them.
    names = [n for n in HOSTILE if n is not None and n is not True and "\ud800" not in str(n)]
    frame = pd.DataFrame({i: rng.normal(size=rows) for i in range(len(names))})
    frame.columns = pd.Index(names, dtype=object)
    texts = [str(n) for n in HOSTILE]
    frame["levels <b>"] = pd.Series(
        [texts[i % len(texts)] for i in range(2 * len(texts))][:rows], dtype=object
    )
    frame["group <i>"] = pd.Series([HOSTILE[i % 4] for i in range(rows)], dtype=object)
    return frame


def moved(frame: Any) -> Any:
    values = frame.iloc[:, :6].to_numpy(dtype=float)
    return values @ np.arange(6.0) + values[:, 0] * values[:, 1] * 3 + (frame["levels <b>"].str.len() % 7)


def untouched(browser: Browser, page: Path) -> None:
    assert browser.run("window.intruder") is None
    assert browser.problems == []
    assert browser.requests == [page.resolve().as_uri()]
    # One script runs; the others are data: one of each picture of the text, and one of all that is drawn.
    kinds = browser.run("Array.from(document.scripts, (s) => s.type)")
    assert kinds.count("") == 1
    data = 1 + browser.run("document.querySelectorAll('[data-still]').length")
    assert kinds.count("application/json") == data == len(kinds) - 1
    assert (
        browser.run(
            "document.querySelectorAll('img, iframe, object, embed, base, link, form[action], svg a:not(.plane a), .plot:not(.plane) a').length"
        )
        == 0
    )
    assert browser.run(
        "Array.from(document.links).every((link) => /^#[a-z]+[0-9]*$/.test(link.getAttribute('href')))"
    )


def walk(browser: Browser) -> None:
    """Draw every picture, open every table, and switch every switch."""
    count = browser.run("document.querySelectorAll('.card, .pair, .region').length")
    for i in range(count):
        item = f"document.querySelectorAll('.card, .pair, .region')[{i}]"
        drawn_item(browser, item)
        if i % 7 == 0:
            browser.run(f"(() => {{ const d = {item}.querySelector('details'); if (d) d.open = true; }})()")
            browser.run(
                f"(() => {{ const p = {item}.querySelector('.plot'), r = p.getBoundingClientRect();"
                " p.dispatchEvent(new PointerEvent('pointermove', {clientX: r.left + r.width / 2, clientY: r.top + r.height / 2, bubbles: true})); })()"
            )
    browser.run(
        "document.querySelectorAll('.tools select').forEach((e) => { e.selectedIndex = 1; e.dispatchEvent(new Event('change', {bubbles: true})); })"
    )
    browser.run("new Promise((done) => setTimeout(done, 300))")
    browser.run(
        "document.querySelectorAll('input[type=checkbox], input[type=radio], .legend button, button.quiet:not(.png):not(.csv)').forEach((e) => e.click())"
    )
    browser.run("new Promise((done) => setTimeout(done, 300))")
    # One of the buttons saves everything.
    browser.wait("document.getElementById('everything').disabled === false", seconds=300)
    for path in browser.downloads.iterdir():
        path.unlink(missing_ok=True)


def test_hostile_names_values_groups_and_title(browser: Browser, tmp_path: Path) -> None:
    frame = hostile_frame()
    explainer = Explainer(moved, frame, y=moved(frame), by="group <i>")
    features = [name for name in frame.columns if name != "group <i>"]
    page = write_report(
        explainer.study, tmp_path / "report.html", features=features, title=HOSTILE[0], individual=True
    )
    browser.look()
    browser.open(page)
    assert browser.run("document.querySelectorAll('.card').length") == CARDS
    assert browser.run("document.querySelectorAll('#rows tr').length") == len(features) > CARDS
    walk(browser)
    untouched(browser, page)
    assert browser.run("document.title").startswith("</script>")
    widest = browser.run("document.documentElement.scrollWidth - window.innerWidth")
    assert widest <= 0


def test_hostile_classes(browser: Browser, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    labels = np.array([HOSTILE[0], HOSTILE[2], "$\\frac$"], dtype=object)[rng.integers(0, 3, 90)]
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, labels)
    page = write_report(Explainer(model, X, y=labels).study, tmp_path / "report.html")
    browser.look()
    browser.open(page)
    assert browser.run("document.querySelectorAll('#output option').length") == 3
    browser.run(
        "(() => { const s = document.getElementById('output'); s.value = '1'; s.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )
    walk(browser)
    untouched(browser, page)


def test_a_spreadsheet_does_not_run_the_csv(browser: Browser, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"=1+1": ["=cmd", "@x", "+1 x", "-y", "plain"] * 8, "b": np.arange(40.0)})
    explainer = Explainer(lambda f: f["b"] + f["=1+1"].str.len(), frame)
    page = write_report(explainer.study, tmp_path / "report.html")
    browser.look()
    browser.open(page)
    text = browser.run(
        "new Promise((done) => { const make = URL.createObjectURL; URL.createObjectURL = (b) => { b.text().then(done); return make(b); };"
        " document.querySelector('.card[data-name=\"=1+1\"] .csv').click(); })"
    )
    cells = [cell for line in text.splitlines()[1:] for cell in line.split('","')]
    assert not any(cell.strip('"').startswith(("=", "@")) for cell in cells)
    assert "'=1+1" in text
    saved(browser, ".csv").unlink()  # or it might arrive while a later test waits for its own
