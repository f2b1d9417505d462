"""`ex.report()` inline in a real JupyterLab and a real marimo: its frame draws pictures and follows its links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import notebooks
from browser import Browser

SOURCE = """import numpy as np
from icefield import Explainer
X = np.random.default_rng(0).normal(size=(200, 3))
ex = Explainer(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], X)
"""


def _frame(browser: Browser) -> Any:
    """The report's own frame, which the page around cannot look into."""
    for _ in range(1200):
        for frame in browser._page.frames:
            if frame.parent_frame is not None and frame.evaluate(
                "document.documentElement?.dataset.ready === 'yes'"
            ):
                return frame
        browser._page.wait_for_timeout(100)
    raise AssertionError(f"no report was shown; problems: {browser.problems}")


def _reads_well(browser: Browser, own: str) -> None:
    frame = _frame(browser)
    browser.problems.clear()
    frame.wait_for_selector(".plane .name")
    assert frame.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    frame.evaluate("document.querySelector('nav a[href=\"#features\"]').click()")
    frame.wait_for_selector("#f0 .drawn", state="attached")
    frame.evaluate("document.getElementById('f0').scrollIntoView()")
    card = frame.locator("#f0 .plot").first
    card.hover()
    frame.wait_for_selector("#f0 .tip")
    assert "average" in frame.locator("#f0 .tip").text_content()
    # marimo preloads pictures for its own page that it then does not use.
    assert [told for told in browser.problems if "was preloaded using link preload" not in told] == []
    assert [url for url in browser.requests if not url.startswith(own)] == []


@pytest.mark.timeout(600)
def test_in_jupyterlab(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with notebooks.jupyterlab(browser, tmp_path, SOURCE + "ex.report()", monkeypatch) as own:
        _reads_well(browser, own)


@pytest.mark.timeout(600)
def test_in_marimo(browser: Browser, tmp_path: Path) -> None:
    with notebooks.marimo(browser, tmp_path, SOURCE + "ex.report()") as own:
        _reads_well(browser, own)
