"""Reports that tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import Browser
from icefield import Explainer
from icefield.report import ReportPage, build, page_html


def flowers(rows: int = 300) -> Any:
    """Three classes, two groups, a category, a number with missing values, and features that interact."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "length": rng.normal(5, 1, rows),
            "width": rng.normal(3, 0.5, rows),
            "colour": pd.Categorical(rng.choice(["blue", "red", "white"], rows)),
            "petals": rng.integers(3, 9, rows),
            "seen": pd.Timestamp("2024-05-01") + pd.to_timedelta(rng.integers(0, 90, rows), unit="D"),
            "place": rng.choice(["hill", "shore"], rows),
        }
    )
    frame.loc[:30, "width"] = np.nan
    return frame


def flower_model(frame: Any) -> Any:
    """Three scores, normalised; `length` works in opposite ways at the two sides of six petals."""
    # Arrays: pandas' own arithmetic takes most of a report's time.
    length, width, petals, seen = (frame[name].to_numpy() for name in ("length", "width", "petals", "seen"))
    side = np.where(petals > 5, 1.0, -1.0)
    days = (seen - seen.min()) // np.timedelta64(1, "D") / 90 if seen.dtype.kind == "M" else 0.0
    scores = np.column_stack(
        [
            0.8 * (length - 5) * side + 0.4 * (frame["colour"] == "red").to_numpy(),
            np.where(np.isnan(width), 2.0, width) - 3 + 0.5 * days,
            0.1 * petals - 0.5,
        ]
    )
    shares = np.exp(scores)
    return shares / shares.sum(axis=1, keepdims=True)


def flower_explainer() -> Explainer:
    return Explainer(flower_model, flowers(), by="place")


@pytest.fixture(scope="session")
def built() -> ReportPage:
    """The report's data, with a few rows' own curves."""
    return build(flower_explainer().study, ["length", "width", "colour", "petals", "seen"], individual=True)


@pytest.fixture(scope="session")
def page(built: ReportPage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page_html(built), encoding="utf-8", newline="\n")
    return path


@pytest.fixture
def opened(browser: Browser, page: Path) -> Browser:
    browser.look()
    browser.open(page)
    return browser


def rentals(rows: int = 600) -> tuple[Any, Any]:
    """A table with a leak, a copy, a constant and missing values, and a target that two features share."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "hour": rng.integers(0, 24, rows),
            "temperature": rng.normal(15, 8, rows),
            "workday": rng.choice([0, 1], rows),
            "district": pd.Categorical(
                rng.choice([f"District number {i} of the city" for i in range(9)], rows)
            ),
            "wind": rng.gamma(2.0, 5.0, rows),
        }
    )
    busy = np.where(frame["workday"] == 1, np.abs(frame["hour"] - 12), 12 - np.abs(frame["hour"] - 12))
    y = 20 * busy + 6 * frame["temperature"] + 15 * rng.normal(size=rows)
    frame["wind copied"] = frame["wind"]
    frame["country"] = 1
    frame.loc[:40, "temperature"] = np.nan
    y[:41] = 20 * busy[:41] + 90
    return frame, y.to_numpy()


@pytest.fixture(scope="session")
def rental_explainer() -> Explainer:
    from sklearn.ensemble import HistGradientBoostingRegressor

    X, y = rentals()
    plain = X.assign(district=X["district"].cat.codes)
    model = HistGradientBoostingRegressor(max_iter=40, random_state=0).fit(plain, y)
    return Explainer(
        model, plain, y=y, target_name="rentals", units={"rentals": "bikes"},
        names={"district": dict(enumerate(X["district"].cat.categories))},
    )  # fmt: skip


@pytest.fixture(scope="session")
def rental_report(rental_explainer: Explainer) -> ReportPage:
    return build(rental_explainer.study)


@pytest.fixture(scope="session")
def rental_page(rental_report: ReportPage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rentals") / "report.html"
    path.write_text(page_html(rental_report), encoding="utf-8", newline="\n")
    return path
