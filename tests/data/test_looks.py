"""Several columns looked at together: ranks and counts against sorting, and all that is known against each by itself."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from icefield.data import looks as module
from icefield.data.column_statistics import MemoryStatistics
from icefield.data.distribution import RUG, marginal_of, weighted_quantiles
from icefield.data.features import Feature, nearest_counts, resolve
from icefield.data.frame import table_of
from icefield.data.grid import Grid, grid_values
from icefield.data.look import FEW, Look
from icefield.data.looks import Looks, can_look, side_by_side
from icefield.data.together import even_points, known_together, rug_rows

N = 20_000


def matrix(dtype: Any = np.float64) -> NDArray[Any]:
    """Columns that cells tell apart, and last such that they do not, or that are not complete."""
    rng = np.random.default_rng(0)
    normal = rng.normal(size=N)
    with np.errstate(over="ignore"):
        return np.stack(
            [
                normal,
                rng.random(N),
                np.exp(0.7 * rng.normal(size=N)),
                np.round(rng.normal(size=N), 3),
                np.where(rng.random(N) < 0.05, 0.0, rng.normal(size=N)),
                1e30 * rng.normal(size=N),
                np.where(rng.random(N) < 0.9, 0.0, normal),
                np.full(N, 2.5),
                np.exp(9 * normal),
                rng.integers(0, 50, N),
                np.where(rng.random(N) < 0.1, np.nan, normal),
                np.where(normal > 2, np.inf, normal),
                np.full(N, np.nan),
                np.arange(N) * 5e-324,
                np.where(rng.random(N) < 0.5, 1e308, -1e308),
                1e9 + 1e-6 * rng.random(N),
            ],
            axis=1,
        ).astype(dtype)


PLAIN = 6  # of them


def features_of(X: NDArray[Any]) -> list[Feature]:
    table = table_of(X)
    return [resolve(j, table, dict.fromkeys(range(X.shape[1]))) for j in range(X.shape[1])]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_quantiles_are_those_of_the_sorted_values(dtype: Any, order: Any) -> None:
    X = np.asarray(matrix(dtype), order=order)
    rng = np.random.default_rng(1)
    drawn, probabilities = rng.integers(0, N, 30), np.append(rng.random(200), [0.0, 1.0])
    blocks = list(side_by_side(list(X.T), 1))
    assert [len(b) for b in blocks] == ([8, 8] if order == "C" else [1] * X.shape[1])
    for block in blocks:
        looks = Looks([X[:, j] for j in block], drawn, probabilities, 20)
        for i, j in enumerate(block):
            np.testing.assert_array_equal(np.sort(looks.kept[i]), np.sort(X[:, j].astype(np.float64)))
            np.testing.assert_array_equal(looks.drawn[i], X[drawn, j])
            assert looks.known[i] or j >= PLAIN
            assert not looks.known[i] or np.isfinite(X[:, j]).all()
            if looks.known[i]:
                np.testing.assert_array_equal(
                    looks.quantiles[i], weighted_quantiles(X[:, j], probabilities, None)
                )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("wanted", [None, 2, 30, Grid(trim=(0.0, 1.0)), Grid(points=500, missing="hide")])
def test_what_is_known_together_is_what_is_known_of_each(wanted: Any, dtype: Any) -> None:
    X = matrix(dtype)
    table, features = table_of(X), features_of(X)
    even = even_points(wanted, 1)
    assert even is not None
    columns = [(f.label, table.column(f.label)) for f in features]
    found, _ = known_together(columns, rug_rows(N, 3), even, None)
    assert sum(known is not None for known in found) >= PLAIN - 1
    for (label, column), known in zip(columns, found, strict=True):
        if known is None:
            continue
        expected = marginal_of(label, column, None, np.random.default_rng(3))
        for name in ("edges", "deciles", "rug"):
            mine, own = getattr(known.marginal, name), getattr(expected, name)
            assert mine.dtype == own.dtype
            np.testing.assert_array_equal(mine, own)
        edges = known.marginal.edges
        assert edges is not None
        # A value on an edge belongs to the bin above it, except on the last.
        below = np.searchsorted(np.sort(column.values.astype(np.float64)), edges[1:-1], side="left")
        np.testing.assert_array_equal(known.marginal.counts, np.diff(below, prepend=0, append=N))
        assert (known.marginal.total, known.marginal.missing, known.marginal.kind) == (N, 0.0, "float")
        points, note = grid_values(wanted, column, 1)
        assert note == ""
        assert known.grid.dtype == points.dtype
        np.testing.assert_array_equal(known.grid, points)
        look = Look.at(column.values)
        assert look is not None
        np.testing.assert_array_equal(known.nearest, nearest_counts(points, column, look))


@pytest.mark.parametrize("asked_for", [[None, Grid("quantile")], [Grid("quantile"), 7]])
@pytest.mark.parametrize("weighted", [False, True])
def test_features_summarised_together_are_those_asked_for_one_by_one(
    weighted: bool, asked_for: list[Any]
) -> None:
    X = np.delete(np.concatenate([matrix(), matrix()]), 12, axis=1)  # nothing in it has a grid
    weights = np.linspace(0, 1, len(X)) if weighted else None
    features = features_of(X)
    together, one_by_one = (MemoryStatistics(table_of(X), weights, 0) for _ in range(2))
    summarise(together, [((f,), asked) for f in features for asked in asked_for])
    for feature in features:
        for asked in asked_for:
            (mine,), notes = together.grids((feature,), asked, None)
            (own,), expected = one_by_one.grids((feature,), asked, None)
            np.testing.assert_array_equal(mine, own)
            assert notes == expected
            np.testing.assert_array_equal(
                together.point_weights((feature,), (mine,), None),
                one_by_one.point_weights((feature,), (own,), None),
            )
        (mine,), (own,) = (w.distribution((feature,)).marginals for w in (together, one_by_one))
        for name in ("counts", "edges", "deciles", "rug", "total", "missing"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(own, name))


def summarise(statistics: MemoryStatistics, sets: list[Any]) -> None:
    tasks = statistics.summarised(sets, 2)
    assert tasks is not None
    with tasks, tasks:
        list(tasks.results())


def test_what_nobody_has_begun_is_dropped() -> None:
    X = np.concatenate([matrix()[:, :6]] * 5)
    statistics = MemoryStatistics(table_of(X), None, 0)
    tasks = statistics.summarised([((f,), None) for f in features_of(X)], 1)
    assert tasks is not None
    with pytest.raises(ZeroDivisionError), tasks, tasks:
        raise ZeroDivisionError
    assert not statistics._grids


def test_this_thread_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.concatenate([matrix()[:, :6]] * 5)
    both, names = threading.Barrier(2, timeout=10), []
    summarised = MemoryStatistics._summarise

    def together(self: MemoryStatistics, *given: Any) -> None:
        names.append(threading.current_thread().name)
        if names.count(threading.current_thread().name) == 1:
            both.wait()  # nobody gets past it alone
        summarised(self, *given)

    monkeypatch.setattr(MemoryStatistics, "_summarise", together)
    summarise(MemoryStatistics(table_of(X), None, 0), [((f,), None) for f in features_of(X)])
    assert len(names) == len(list(side_by_side(list(X.T), 2)))
    assert threading.current_thread().name in names
    assert len(set(names)) == 2


def test_columns_are_shared_out_among_threads() -> None:
    X = np.zeros((100, 40))
    assert [len(b) for b in side_by_side(list(X.T), 2)] == [10] * 4
    assert [len(b) for b in side_by_side(list(X.T), 1)] == [module.MOST_BESIDE, module.MOST_BESIDE, 8]
    assert [len(b) for b in side_by_side(list(X.T), 40)] == [1] * 40


@pytest.mark.parametrize("room", [None, 10, 10**6])
def test_memory_is_used_where_it_is_enough(room: int | None) -> None:
    X = matrix()[:, :4]
    given = None if room is None else np.empty(room)
    looks = Looks(list(X.T), np.zeros(1, np.int64), np.array([0.0, 1.0]), 5, given)
    np.testing.assert_array_equal(looks.quantiles[:, 0], X.min(axis=0))
    assert given is None or np.shares_memory(looks.kept, given) == (room == 10**6)


@pytest.mark.parametrize(
    "values", [np.zeros(FEW), np.zeros(N, int), np.zeros(N, ">f8"), np.zeros(N, np.float16)]
)
def test_what_cannot_be_looked_at_together_is_declined(values: NDArray[Any]) -> None:
    assert not can_look([values])
    assert can_look([np.zeros(FEW + 1)])


@pytest.mark.parametrize("wanted", [True, 1, Grid("quantile"), Grid("log"), Grid("thresholds"), [1.0, 2.0]])
def test_other_grids_are_not_even(wanted: Any) -> None:
    assert even_points(wanted, 1) is None
    assert even_points(None, 2) == (25, (0.05, 0.95))


def test_a_rug_is_drawn_as_of_one_column() -> None:
    assert len(rug_rows(N, 0)) == RUG
