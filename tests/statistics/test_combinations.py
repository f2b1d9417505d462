"""What no two columns tell: surfaces in three dimensions, levels that exclude each other, gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer, Grid
from icefield.statistics.combinations import in_gaps, joint_partners


def first(rows: Any) -> Any:
    return np.asarray(rows)[:, 0].astype(float)


def supported(X: Any, feature: Any, model: Any = first, **given: Any) -> Any:
    return Explainer(model, X, **given).partial_dependence(feature, grid=Grid(), support=True).support


def sphere(rng: np.random.Generator, rows: int) -> np.ndarray:
    points = rng.normal(size=(rows, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


def modulo(rng: np.random.Generator, rows: int) -> np.ndarray:
    X = rng.uniform(size=(rows, 3))
    X[:, 2] = (X[:, 0] + X[:, 1]) % 1
    return X


@pytest.mark.parametrize("rows", [500, 3_000])
@pytest.mark.parametrize("draw", [sphere, modulo])
def test_points_on_a_surface_are_seen_though_no_pair_tells(rng, draw, rows):
    X = np.column_stack([draw(rng, rows), rng.normal(size=(rows, 5))])
    for feature in range(3):
        found = supported(X, feature)
        assert found.doubtful, (feature, found.outside)
        assert {name for name, _ in found.related[:2]} == {0, 1, 2} - {feature}
        assert found.stretch > 0.5
    for feature in (3, 7):
        assert supported(X, feature).outside < 0.05


def test_no_pair_of_a_sum_modulo_one_goes_together(rng):
    """The premise: without the third column, each pair is spread evenly."""
    X = modulo(rng, 3_000)
    assert not supported(X[:, :2], 0).doubtful
    assert not supported(X[:, 1:], 0).doubtful


@pytest.mark.parametrize("rows", [200, 600, 2_000])
def test_many_unrelated_columns_raise_no_alarm(rows):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.normal(size=(rows, 10)), rng.integers(0, 4, size=(rows, 6))])
        for feature in (0, 12):
            assert supported(X, feature).outside < 0.1, (seed, feature)


def calendar(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    weekday = rng.integers(0, 7, rows)
    holiday = rng.random(rows) < 0.04
    working = (weekday < 5) & ~holiday
    return pd.DataFrame(
        {"holiday": holiday.astype(int), "working": working.astype(int), "t": rng.normal(size=rows)}
    )


def temperature(frame: Any) -> Any:
    return frame["t"].to_numpy()


@pytest.mark.parametrize("kind", ["numbers", "booleans", "text"])
def test_a_holiday_is_no_working_day(rng, kind):
    frame = calendar(rng, 1_500)
    if kind != "numbers":
        frame["holiday"], frame["working"] = (
            frame[c].astype(bool) if kind == "booleans" else frame[c].map({0: "no", 1: "yes"})
            for c in ("holiday", "working")
        )
    found = supported(frame, "holiday", temperature)
    assert found.doubtful
    assert found.share[0] > 0.9
    assert found.share[1] == pytest.approx((1 - frame["working"].isin([True, "yes"]).mean()), abs=0.08)
    assert found.low.tolist() == [False, True]
    assert found.related[0][0] == "working"
    assert not supported(frame, "t", temperature).doubtful


def test_two_levels_together_exclude_a_third(rng):
    """Each two occur together in every way; of the three, an even number is never 1."""
    a, b = rng.integers(0, 2, 1_000), rng.integers(0, 2, 1_000)
    frame = pd.DataFrame({"a": a, "b": b, "c": 1 - (a ^ b), "t": rng.normal(size=1_000)})
    for feature in "abc":
        found = supported(frame, feature, temperature)
        assert found.outside == pytest.approx(0.5, abs=0.08)
    free = frame.assign(c=rng.integers(0, 2, 1_000))
    assert all(supported(free, feature, temperature).outside < 0.02 for feature in "abc")


def test_a_gap_is_no_place_for_rows(rng):
    x = np.where(rng.random(600) < 0.5, rng.uniform(0, 1, 600), rng.uniform(3, 4, 600))
    effect = Explainer(first, np.column_stack([x, rng.normal(size=600)])).partial_dependence(
        0, grid=81, support=True
    )
    grid, support = effect.grid[0], effect.support
    assert support.low[(grid > 1.2) & (grid < 2.8)].all()
    assert not support.low[(grid < 0.95) | (grid > 3.05)].any()
    assert support.doubtful
    # What is said and what is shaded are the same stretch.
    assert support.stretch == pytest.approx(0.5, abs=0.06)
    assert support.outside == pytest.approx(support.stretch, abs=0.02)
    assert support.warning.startswith(f"{100 * support.stretch:.0f} % of this curve")
    assert "(shaded)" in support.warning


@pytest.mark.parametrize("draw", ["exponential", "lognormal", "standard_cauchy", "integers"])
def test_tails_and_whole_numbers_have_no_gaps(rng, draw):
    x = rng.integers(0, 40, 500) * 1.0 if draw == "integers" else getattr(rng, draw)(size=500)
    assert supported(np.column_stack([x, rng.normal(size=500)]), 0).outside < 0.05


def test_dates_have_gaps_too(rng):
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.r_[np.arange(200), np.arange(600, 800)], "D")
    frame = pd.DataFrame({"day": day, "x": rng.normal(size=400)})
    found = supported(frame, "day", lambda f: f["x"].to_numpy())
    assert found.stretch == pytest.approx(0.5, abs=0.1)


def test_what_is_shaded_is_where_rows_lie_outside(rng):
    for rho in (0.6, 0.8, 0.9):
        X = rng.normal(size=(600, 3))
        X[:, 1] = rho * X[:, 0] + np.sqrt(1 - rho**2) * X[:, 1]
        found = supported(X, 0)
        unlike = 1 - found.share
        if found.doubtful:
            assert found.low.any()
            assert unlike[found.low].sum() > 0.6 * unlike.sum()
        assert (unlike[~found.low] <= 0.2 + 1e-12).all()


def test_joint_partners_are_none_where_one_column_says_it_all(rng):
    codes = rng.integers(0, 8, size=(6, 1_000))
    assert joint_partners(codes[0], dict(enumerate(codes[1:])), 0.1) is None
    assert joint_partners(codes[0], {0: codes[0], 1: codes[1]}, 0.1) is None
    found = joint_partners((codes[1] + codes[2]) % 8, dict(enumerate(codes)), 0.1)
    assert found is not None
    assert set(found[:2]) == {1, 2}


def test_joint_coefficients_are_those_of_the_table_of_two_columns_together(rng):
    own, others = rng.integers(0, 4, 500), [rng.integers(0, 4, 500), rng.integers(0, 3, 500)]
    others.append((own + others[0]) % 4)
    found = joint_partners(own, dict(enumerate(others)), 0.1)
    together = others[0] * 4 + others[2]
    table = np.array([[np.sum((own == a) & (together == b)) for b in np.unique(together)] for a in range(4)])
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / 500
    squared = (np.square(table - expected) / expected).sum() / 500 - 3 * (table.shape[1] - 1) / 499
    assert found is not None
    assert found[:2] == (0, 2)
    assert found[2] == pytest.approx(squared / (1 + squared), rel=1e-12)


def test_gaps_of_nothing():
    assert in_gaps(np.zeros(0), np.array([1.0])).tolist() == [False]
    assert in_gaps(np.arange(100.0), np.array([np.nan, np.inf, -5.0, 50.5])).tolist() == [False] * 4


@pytest.mark.parametrize("rows", [30, 60, 150])
@pytest.mark.parametrize("kind", ["normal", "gamma", "lognormal", "student"])
def test_what_chance_leaves_empty_between_few_values_is_no_gap(rows, kind):
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        known = {
            "normal": rng.normal(size=rows), "gamma": rng.gamma(2, size=rows), "lognormal": rng.lognormal(0, 1.5, rows),
            "student": rng.standard_t(2, rows),
        }[kind]  # fmt: skip
        found += in_gaps(np.sort(known), np.linspace(known.min(), known.max(), 60)).any()
    assert found <= 2


@pytest.mark.parametrize(("rows", "share"), [(30, 0.5), (60, 0.2), (150, 0.1)])
def test_a_gap_between_few_values_is_one(rows, share):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        left = round(share * rows)
        known = np.sort(np.concatenate([rng.uniform(0, 1, left), rng.uniform(4, 5, rows - left)]))
        assert in_gaps(known, np.array([2.5])).all()
        assert not in_gaps(known, np.quantile(known, [0.05, 0.95])).any()
