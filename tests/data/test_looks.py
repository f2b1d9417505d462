"""Several columns looked at together: ranks and counts against sorting, and all that is known against each by itself."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from icefield.data import column_statistics
from icefield.data import looks as module
from icefield.data.column_statistics import MemoryStatistics
from icefield.data.distribution import RUG, marginal_of, weighted_quantiles
from icefield.data.features import Feature, nearest_counts, nearest_points, resolve
from icefield.data.frame import table_of
from icefield.data.grid import Grid, grid_values, planned
from icefield.data.look import FEW, Look
from icefield.data.looks import Looks, can_look, side_by_side
from icefield.data.together import GridPlaces, known_together, places_of, rug_rows

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
        looks = Looks([X[:, j] for j in block], drawn, probabilities, 200, 20)
        for i, j in enumerate(block):
            np.testing.assert_array_equal(np.sort(looks.kept[i]), np.sort(X[:, j].astype(np.float64)))
            np.testing.assert_array_equal(looks.drawn[i], X[drawn, j])
            assert looks.known[i] or j >= PLAIN
            assert not looks.known[i] or not np.isinf(X[:, j]).any()
            if looks.known[i]:
                there = X[~np.isnan(X[:, j]), j]
                assert looks.missing[i] == N - len(there)
                np.testing.assert_array_equal(
                    looks.quantiles[i], weighted_quantiles(there, probabilities, None)
                )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "wanted", [None, Grid("auto", points=90), 2, 30, Grid(trim=(0.0, 1.0)), Grid(points=500, missing="hide")]
)
def test_what_is_known_together_is_what_is_known_of_each(wanted: Any, dtype: Any) -> None:
    X = matrix(dtype)
    table, features = table_of(X), features_of(X)
    places = places_of(planned(wanted, 1), 1)
    assert places is not None
    columns = [(f.label, table.column(f.label)) for f in features]
    found, _ = known_together(columns, rug_rows(N, 3), places, None)
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
        there = np.sort(column.values[~column.missing].astype(np.float64))
        below = np.searchsorted(there, edges[1:-1], side="left")
        np.testing.assert_array_equal(known.marginal.counts, np.diff(below, prepend=0, append=len(there)))
        gone = N - len(there)
        assert (known.marginal.total, known.marginal.missing, known.marginal.kind) == (N, gone, "float")
        assert known.missing == gone
        points, note = grid_values(wanted, column, 1)
        assert note == ""
        assert known.grid.dtype == points.dtype
        shown = points[~np.isnan(points)]
        np.testing.assert_array_equal(known.grid, shown)
        look = Look.at(column.values)
        assert look is not None
        np.testing.assert_array_equal(known.nearest, nearest_counts(shown, column, look))


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


@pytest.mark.parametrize("told", ["before", "late", "never"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_near_points_beside_thresholds_are_counted_whenever_these_are_known(
    dtype: Any, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_statistics, "HELD", 10**6)  # so that some columns wait and others do not
    X = np.concatenate([matrix(dtype)] * 4)
    features, statistics = features_of(X), MemoryStatistics(table_of(X), None, 0)
    # Some have no grid, and the values of the last are neighbours: no float is halfway between them.
    features = [f for f in features[:-1] if np.isfinite(X[:, f.label]).any()]
    rng = np.random.default_rng(0)
    known = {
        f.label: (np.unique(rng.choice(X[np.isfinite(X[:, f.label]), f.label], 30).astype(float) + 1e-9), 0)
        for f in features
    }
    known = {label: (values, rng.random(len(values))) for label, (values, _) in known.items()}

    tasks = statistics.summarised([((f,), None) for f in features], 2)
    assert tasks is not None
    with tasks, tasks:
        if told == "before":
            tasks.tell(known)
        results = tasks.results()
        if told == "late":
            threading.Timer(0.05, tasks.tell, [known]).start()
            tasks._told.wait()
        list(results)
    more = 0
    for feature in features:
        column = statistics.column(feature)
        (found,), _ = statistics.grids((feature,), None, None, known)
        expected, _ = grid_values(None, column, 1, steps=known[feature.label])
        np.testing.assert_array_equal(found, expected)
        more += len(found) > len(grid_values(None, column, 1)[0])
        nearest, has = nearest_points(found, column)
        (weights,) = statistics.point_weights((feature,), (found,), None)
        np.testing.assert_array_equal(weights, np.bincount(nearest[has], minlength=len(found)))
    assert more > 5


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
    summarised = MemoryStatistics.look_together

    def together(self: MemoryStatistics, *given: Any) -> Any:
        names.append(threading.current_thread().name)
        if names.count(threading.current_thread().name) == 1:
            both.wait()  # nobody gets past it alone
        return summarised(self, *given)

    monkeypatch.setattr(MemoryStatistics, "look_together", together)
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
    looks = Looks(list(X.T), np.zeros(1, np.int64), np.array([0.0, 1.0]), 0, 5, room=given)
    np.testing.assert_array_equal(looks.quantiles[:, 0], X.min(axis=0))
    assert given is None or np.shares_memory(looks.kept, given) == (room == 10**6)


@pytest.mark.parametrize(
    "values", [np.zeros(FEW), np.zeros(N, int), np.zeros(N, ">f8"), np.zeros(N, np.float16)]
)
def test_what_cannot_be_looked_at_together_is_declined(values: NDArray[Any]) -> None:
    assert not can_look([values])
    assert can_look([np.zeros(FEW + 1)])


@pytest.mark.parametrize("wanted", [True, 1, Grid("quantile"), Grid("log"), Grid("thresholds"), [1.0, 2.0]])
def test_other_grids_are_not_found_together(wanted: Any) -> None:
    assert places_of(wanted if isinstance(wanted, (bool, list)) else planned(wanted, 1), 1) is None
    assert places_of(planned(None, 2), 2) == GridPlaces((0.05, 0.95), 25)


def test_a_rug_is_drawn_as_of_one_column() -> None:
    assert len(rug_rows(N, 0)) == RUG
