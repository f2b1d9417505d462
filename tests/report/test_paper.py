"""On paper, and as a file that is sent: cards two to a page, and a year of flights within a megabyte."""

from __future__ import annotations

import importlib.util
import re
from itertools import pairwise
from pathlib import Path

import pytest

from browser import Browser
from icefield import Explainer, datasets

PAGE = (688, 1001)  # pixels of an A4 page within its margins


@pytest.mark.look
def test_two_cards_stand_on_a_printed_page(browser: Browser, tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    frame = datasets.titanic().drop(columns=["name", "ticket", "cabin"])
    y = frame.pop("survived")
    X = frame.assign(sex=frame["sex"].astype("category"), embarked=frame["embarked"].astype("category"))
    model = lightgbm.LGBMClassifier(n_estimators=40, verbose=-1, n_jobs=1).fit(X, y)
    path = Explainer(model, X, y).report(tmp_path / "titanic.html")
    browser.look(paper=True, width=PAGE[0], height=PAGE[1])
    browser.open(path)
    heights = browser.run(
        "Array.from(document.querySelectorAll('.card'), (c) => c.getBoundingClientRect().height)"
    )
    assert len(heights) == X.shape[1]
    assert all(one + next_one <= PAGE[1] for one, next_one in pairwise(heights)), heights
    browser.pdf(tmp_path / "titanic.pdf")
    pages = len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "titanic.pdf").read_bytes()))
    assert 8 <= pages <= 18, pages


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_report_of_all_flights_has_at_most_a_megabyte(record_property: pytest.RecordProperty) -> None:
    from icefield.cli import demo

    if any(importlib.util.find_spec(name) is None for name in demo.NEEDED):
        pytest.skip("the flights, pandas or lightgbm are not installed")
    X, y = demo.flights(None)
    known = y.notna()
    model = demo._fit_model(X[known], y[known], False)
    report = demo._explainer(model, X, y).report(title=demo.TITLE)
    size = len(report.html.encode())
    record_property("printed", f"report of {len(X):,} flights: {size / 1e6:.2f} MB")
    assert size <= 1_000_000
