"""A look at a column of numbers: ranks and counts against sorting it, whatever its values look like."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from icefield import kernels
from icefield.data import look as module
from icefield.data.columns import column_of_array
from icefield.data.features import nearest_counts, nearest_points
from icefield.data.grid import Grid, grid_values
from icefield.data.look import FEW, Look

N = 20_000  # more than are sorted at once


def samples() -> dict[str, NDArray[Any]]:
    rng = np.random.default_rng(0)
    normal = rng.normal(size=N)
    return {
        "even": rng.random(N),
        "normal": normal,
        "single precision": normal.astype(np.float32),
        "a column of a matrix": rng.normal(size=(N, 3))[:, 1],
        "backwards": normal[::-1],
        "skewed": np.exp(6 * normal),
        "skewed twice": np.exp(np.exp(np.minimum(2 * np.abs(normal), 6))),
        "rounded": np.round(normal, 1),
        "mostly zero": np.where(rng.random(N) < 0.9, 0.0, normal),
        "two far clusters": np.where(rng.random(N) < 0.5, normal, 1e12 + normal),
        "missing and infinite": np.where(rng.random(N) < 0.1, np.nan, np.where(normal > 2, np.inf, normal)),
        "too wide for a float": normal * 0.4e308,
        "tiny": normal * 5e-320,
        "constant": np.full(N, 2.5),
        "whole": rng.integers(-50, 1000, N),
        "whole and small": rng.integers(0, 7, N).astype(np.uint8),
    }


@pytest.mark.parametrize("how", ["sorted", "in cells", "in more cells", "expected"])
@pytest.mark.parametrize("name", list(samples()))
def test_ranks_and_counts_are_those_of_the_sorted_values(
    name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = samples()[name]
    monkeypatch.setattr(module, "MANY", 10_000 if how == "in more cells" else 10**9)
    if how == "sorted":
        values = values[:5_000]
    ordered = np.sort(values[np.isfinite(values)].astype(np.float64))
    rng = np.random.default_rng(1)
    look = Look.at(values)
    assert look is not None
    assert (look.low, look.high, look.finite) == (ordered[0], ordered[-1], len(ordered))
    if how == "expected":
        look.expect(rng.integers(0, len(ordered), 20), rng.choice(ordered, 20))
    for _ in range(2):  # what was gathered serves the next question
        ranks = rng.integers(0, len(ordered), 60)
        np.testing.assert_array_equal(look.at_ranks(ranks), ordered[ranks])
        limits = np.concatenate(
            [rng.choice(ordered, 60), rng.uniform(ordered[0] / 2, ordered[-1] / 2, 60), [-np.inf, np.inf]]
        )
        limits = np.concatenate([limits, np.nextafter(limits, np.inf), np.nextafter(limits, -np.inf)])
        np.testing.assert_array_equal(look.at_most(limits), np.searchsorted(ordered, limits, side="right"))


def test_what_is_expected_is_gathered_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).normal(size=N)
    look = Look.at(values)
    assert look is not None
    ranks, limits = np.array([50, N // 2]), np.array([-1.0, 0.3])
    passes = []
    gather = kernels.gather
    monkeypatch.setattr(kernels, "gather", lambda **given: passes.append(1) or gather(**given))
    look.expect(ranks, limits)
    np.testing.assert_array_equal(look.at_ranks(ranks), np.sort(values)[ranks])
    np.testing.assert_array_equal(look.at_most(limits), [np.count_nonzero(values <= x) for x in limits])
    assert len(passes) == 1


@pytest.mark.parametrize("distinct", [1, 5, 6, 400])
def test_few_values_differ_for_sure_only_if_they_do(distinct: int) -> None:
    look = Look.at(np.resize(np.arange(float(distinct)), 5_000))
    assert look is not None
    assert look.certainly_differ(5) == (distinct > 5)


def test_long_columns_are_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HELD", 1000)
    values = np.exp(np.random.default_rng(0).normal(size=N)).astype(np.float32)
    look = Look.at(values)
    assert look is not None
    ranks = np.arange(0, N, 37)
    np.testing.assert_array_equal(look.at_ranks(ranks), np.sort(values)[ranks])
    np.testing.assert_array_equal(look.at_most(np.array([1.0])), [np.count_nonzero(values <= 1.0)])


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(FEW),
        np.array(["a"] * N),
        np.array([2**53, 0] * N),
        np.full(N, np.nan),
        np.zeros(N, "datetime64[s]"),
    ],
    ids=["few", "texts", "whole numbers that are no floats", "nothing finite", "times"],
)
def test_what_cannot_be_looked_at_is_declined(values: NDArray[Any]) -> None:
    assert Look.at(values) is None


@pytest.mark.parametrize("kind", ["uniform", "quantile"])
@pytest.mark.parametrize("name", list(samples()))
def test_grids_and_nearest_rows_are_the_same_with_a_look_and_without(name: str, kind: Any) -> None:
    column = column_of_array("x", samples()[name])
    look = Look.at(column.values)
    assert look is not None
    without, _ = grid_values(Grid(kind), column, 1)
    points, _ = grid_values(Grid(kind), column, 1, look=look)
    np.testing.assert_array_equal(points, without)
    if len(points) == 1:
        return
    nearest, has = nearest_points(points, column)
    counts = nearest_counts(points, column, look)
    assert counts is not None
    assert counts.sum() == has.sum()
    expected = np.bincount(nearest[has], minlength=len(points))
    # A row midway between two points may go to either, by rounding.
    assert np.abs(np.cumsum(counts - expected)).max() <= 0.02 * N
