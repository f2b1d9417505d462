"""A report for release names no value that fewer than so many rows hold, and is exact at the points that it names."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.ensemble import HistGradientBoostingRegressor

from icefield import Explainer
from icefield.cli.commands import main
from icefield.data.column_statistics import ColumnValues
from icefield.data.frame import table_of
from icefield.report import ReportPage, build, page_html
from icefield.report.release import rounded_points

LEAST = 10
RARE = ("hamlet", "farm", "mill", "castle")


def people(rows: int = 400) -> Any:
    """Incomes and times of one row each, an ID, names, towns of which four have a handful of rows, and codes."""
    rng = np.random.default_rng(3)
    town = rng.choice(["Rome", "Oslo", "Bern"], rows).astype(object)
    town[:16] = np.repeat(RARE, 4)
    alone = rng.choice(["left", "right"], rows).astype(object)
    alone[7] = "neither"
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, rows),
            "income": rng.lognormal(10, 1, rows),
            "id": 100_003 + 970 * rng.permutation(rows),
            "town": pd.Categorical(town),
            "hand": pd.Categorical(alone),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**8, rows), unit="s"),
            "score": np.where(rng.random(rows) < 0.1, np.nan, 1e6 * rng.normal(size=rows)),
            "name": [f"person {i}" for i in range(rows)],
        }
    )


def predict(frame: Any) -> Any:
    side = np.where(frame["age"] > 50, 1.0, -1.0)
    days = (frame["seen"] - pd.Timestamp("2024-01-01")).dt.days / 300
    town = frame["town"].astype(str).str.len() + (frame["hand"].astype(str) == "left")
    names = frame["name"].str.len() / 100
    return (
        side * (np.log(frame["income"]) - 10)
        + days
        + town
        + names
        + frame["score"].fillna(0) / 1e6
        + frame["id"] / 3e5
    ).to_numpy(np.float64)


def numbers_in(value: Any) -> Iterator[float]:
    """Every number of a payload; packed lists as what they unpack to, arrays of pictures as what their bytes are."""
    if isinstance(value, dict):
        if set(value) == {"places", "whole"}:
            yield from (one / 10 ** value["places"] for one in numbers_in(value["whole"]))
        else:
            for one in value.values():
                yield from numbers_in(one)
    elif isinstance(value, list) and value[:1] in (["f8"], ["f4"]):
        yield from np.frombuffer(base64.b64decode(value[2]), dtype=f"<{value[0]}").astype(float).tolist()
    elif isinstance(value, list):
        for one in value:
            yield from numbers_in(one)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield float(value)


def payload(html: str) -> Any:
    found = re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', html, re.S)
    assert len(found) > 2  # pictures of the text, and what the script draws
    return [json.loads(one) for one in found]


def exact_values(frame: Any) -> set[float]:
    """Every value of the columns in which each is one row's, as numbers of a page would show it, to eight digits."""
    days = (frame["seen"] - pd.Timestamp("1970-01-01")) / pd.Timedelta("1D")
    known = [frame["income"], frame["score"].dropna(), frame["id"].astype(float), days]
    return {float(f"{v:.8g}") for column in known for v in column}


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    frame = people()
    y = predict(frame) + np.random.default_rng(0).normal(size=len(frame))
    return Explainer(predict, frame, y=y, by="hand", row_by_row=True)


@pytest.fixture(scope="module")
def released(explainer: Explainer) -> ReportPage:
    return build(explainer.study, release=LEAST)


@pytest.fixture(scope="module")
def page(released: ReportPage) -> str:
    return page_html(released)


def test_no_exact_value_and_no_rare_level_is_in_the_file(explainer: Explainer, page: str) -> None:
    frame = people()
    told = {float(f"{v:.8g}") for v in numbers_in(payload(page))}
    exact = exact_values(frame)
    assert not told & exact
    assert not [level for level in (*RARE, "neither", "person ") if level in page]
    texts = re.sub(r"<script.*?</script>", "", page, flags=re.S)
    for column in ("income", "id", "score"):
        kept = [f"{v:.8g}" for v in frame[column].dropna()]
        assert not [v for v in kept if len(v) > 4 and re.search(rf"(?<![\d.]){re.escape(v)}(?!\d)", texts)]
    # The search would find them: without release they are there.
    whole = page_html(build(explainer.study))
    assert len({float(f"{v:.8g}") for v in numbers_in(payload(whole))} & exact) > 20
    assert all(level in whole for level in (*RARE, "neither"))


@pytest.mark.slow
def test_a_page_without_a_script_tells_no_more(released: ReportPage) -> None:
    html = page_html(released, static=True)
    assert not [level for level in (*RARE, "neither", "person ") if level in html]


def test_extremes_groups_and_regions_are_left_out(released: ReportPage) -> None:
    frame = people()
    cards = {card.name: card.panel for card in released.features}
    assert set(cards) == {"age", "income", "id", "town", "hand", "seen", "score"}
    for name in ("income", "id", "score"):
        shown = [v for v in cards[name].values if v is not None]
        ranked = np.sort(frame[name].dropna())
        # Rounded values may lie a step beyond the tenth from either end, not beyond the ends themselves.
        assert ranked[1] < min(shown) < max(shown) < ranked[-2]
        assert 5 < len(shown) <= 40
        edges = cards[name].histogram.edges
        assert ranked[0] < min(edges) < max(edges) < ranked[-1]
    assert released.groups == ["left", "right"]
    assert released.regions == []
    facts = {fact.term: fact.text for fact in released.facts}
    assert "fewer than 10 rows" in facts["Values"]
    assert facts["Values"].endswith("(name)")


def test_small_counts_are_not_told(released: ReportPage) -> None:
    for card in released.features:
        panel = card.panel
        shares = [v for v in (*panel.histogram.share, panel.histogram.missing) if v]
        assert min(shares) >= LEAST / 400 - 0.0005  # three digits
        assert min(panel.observed.rows) >= LEAST
    for pair in released.surfaces:
        assert min(v for row in pair.share for v in row if v) >= LEAST / 400 - 0.0005
    assert released.surfaces


def test_curves_are_exact_at_the_points_named(explainer: Explainer, released: ReportPage) -> None:
    frame = people()
    for card in released.features:
        panel, name = card.panel, card.name
        values = [v for v in panel.values if v is not None and "other levels" not in str(v)]
        places = [i for i, v in enumerate(panel.values) if v in values]
        grid = pd.to_datetime(values) if name == "seen" else values
        wanted = []
        for value in grid:
            moved = frame.copy()
            moved[name] = pd.Categorical([value] * len(moved)) if name in ("town", "hand") else value
            wanted.append(predict(moved).mean())
        np.testing.assert_allclose(np.array(panel.average[0])[places], wanted, rtol=2e-5)
    town = next(card.panel for card in released.features if card.name == "town")
    assert town.values == ["Bern", "Oslo", "Rome", "4 other levels"]
    rare = explainer.partial_dependence("town", grid=list(RARE)).average[0]
    np.testing.assert_allclose(town.average[0][3], rare.mean(), rtol=2e-5)  # four rows each
    assert town.histogram.share[3] == 0.04
    hand = next(card.panel for card in released.features if card.name == "hand")
    assert hand.values == ["left", "right"]  # a single row joins nobody


def test_trees_and_streams_are_released_alike(tmp_path: Path) -> None:
    frame = people().drop(columns=["name", "hand", "seen"])
    frame["town"] = frame["town"].cat.codes
    model = HistGradientBoostingRegressor(max_iter=20).fit(frame, predict(people()))
    file = tmp_path / "people.parquet"
    frame.to_parquet(file)
    names = {"town": {i: f"the town {i}" for i in range(7)}}
    codes = [i for i in range(7) if (frame["town"] == i).sum() < LEAST]
    for rows in (frame, str(file)):
        page = page_html(build(Explainer(model, rows, names=names).study, release=LEAST))
        told = {float(f"{v:.8g}") for v in numbers_in(payload(page))}
        exact = {float(f"{v:.8g}") for name in ("income", "id", "score") for v in frame[name].dropna()}
        assert not told & exact
        assert len(codes) == 4
        assert not [code for code in codes if f"the town {code}" in page]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (np.arange(100) % 4, [0, 1, 2, 3]),  # ten rows hold each: named as they are
        (np.full(50, 7.25), [7.25]),
        (np.arange(5.0), []),
        (np.append(np.zeros(50), np.linspace(1e6, 2e6, 9)), [0.0]),
        (pd.to_datetime(["2024-02-03"] * 20), [np.datetime64("2024-02-03")]),
    ],
)
def test_values_that_many_rows_hold_are_named_as_they_are(values: Any, wanted: list[Any]) -> None:
    column = table_of(pd.DataFrame({"a": values})).column("a")
    found = rounded_points(ColumnValues(column, np.ones(len(values))), LEAST, 40)
    assert found.tolist() == np.array(wanted, column.values.dtype).tolist()


def test_between_points_are_enough_rows() -> None:
    rng = np.random.default_rng(0)
    for values in (
        rng.normal(size=500),
        rng.integers(0, 10**6, 500),
        rng.lognormal(0, 3, 500).astype(np.float32),
        pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**5, 500), unit="s"),
        pd.to_timedelta(rng.integers(0, 10**4, 500), unit="ms"),
    ):
        column = table_of(pd.DataFrame({"a": values})).column("a")
        found = rounded_points(ColumnValues(column, np.ones(500)), LEAST, 40)
        assert 3 < len(found) <= 40
        assert found.dtype == column.values.dtype
        ranked = np.sort(column.values)
        apart = np.diff(np.searchsorted(ranked, found))
        assert np.median(apart) >= LEAST
        assert ranked[0] < found[0] < found[-1] < ranked[-1]


def test_what_tells_of_single_rows_is_refused(explainer: Explainer, complains: Any) -> None:
    for asked in ({"individual": True}, {"live": True}, {"audit": True}):
        with complains("release", *asked):
            explainer.report(release=5, **asked)
    with complains("release", "at least 2"):
        explainer.report(release=1)
    with complains("release", "leaves no feature"):
        explainer.report(release=100_000)


def test_the_shell_has_it_too(tmp_path: Path) -> None:
    frame = people()[["age", "income"]]
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1).fit(frame, frame["income"])
    model.booster_.save_model(tmp_path / "m.txt")
    frame.to_csv(tmp_path / "d.csv", index=False)
    out = tmp_path / "r.html"
    done = CliRunner().invoke(
        main, ["report", str(tmp_path / "m.txt"), str(tmp_path / "d.csv"), "--release", "10", "-o", str(out)]
    )
    assert done.exit_code == 0, done.output
    assert "fewer than 10 rows have" in out.read_text(encoding="utf-8")
