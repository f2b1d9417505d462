"""Summaries of columns of numbers, of one and of several together: ranks and counts against sorting, whatever the values look like."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from icefield import kernels
from icefield.data import column_statistics
from icefield.data import column_summary as module
from icefield.data.column_statistics import MemoryStatistics
from icefield.data.column_summary import (
    FEW,
    ColumnSummary,
    GridPlaces,
    NeighbourSummaries,
    can_be_together,
    places_of,
    rug_rows,
    side_by_side,
)
from icefield.data.columns import column_of_array
from icefield.data.distribution import RUG, marginal_of, weighted_quantiles
from icefield.data.features import Feature, nearest_counts, nearest_points, resolve
from icefield.data.frame import table_of
from icefield.data.grid import AUTO, Grid, grid_points, planned, with_steps

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
    summary = ColumnSummary.of(values)
    assert summary is not None
    assert (summary.low, summary.high, summary.finite) == (ordered[0], ordered[-1], len(ordered))
    if how == "expected":
        summary.expect(rng.integers(0, len(ordered), 20), rng.choice(ordered, 20))
    for _ in range(2):  # what was gathered serves the next question
        ranks = rng.integers(0, len(ordered), 60)
        np.testing.assert_array_equal(summary.at_ranks(ranks), ordered[ranks])
        limits = np.concatenate(
            [rng.choice(ordered, 60), rng.uniform(ordered[0] / 2, ordered[-1] / 2, 60), [-np.inf, np.inf]]
        )
        limits = np.concatenate([limits, np.nextafter(limits, np.inf), np.nextafter(limits, -np.inf)])
        np.testing.assert_array_equal(summary.at_most(limits), np.searchsorted(ordered, limits, side="right"))


def test_what_is_expected_is_gathered_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).normal(size=N)
    summary = ColumnSummary.of(values)
    assert summary is not None
    ranks, limits = np.array([50, N // 2]), np.array([-1.0, 0.3])
    passes = []
    gather = kernels.gather
    monkeypatch.setattr(kernels, "gather", lambda **given: passes.append(1) or gather(**given))
    summary.expect(ranks, limits)
    np.testing.assert_array_equal(summary.at_ranks(ranks), np.sort(values)[ranks])
    np.testing.assert_array_equal(summary.at_most(limits), [np.count_nonzero(values <= x) for x in limits])
    assert len(passes) == 1


@pytest.mark.parametrize("distinct", [1, 5, 6, 400])
def test_few_values_differ_for_sure_only_if_they_do(distinct: int) -> None:
    summary = ColumnSummary.of(np.resize(np.arange(float(distinct)), 5_000))
    assert summary is not None
    assert summary.certainly_differ(5) == (distinct > 5)


def test_long_columns_are_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HELD", 1000)
    values = np.exp(np.random.default_rng(0).normal(size=N)).astype(np.float32)
    summary = ColumnSummary.of(values)
    assert summary is not None
    ranks = np.arange(0, N, 37)
    np.testing.assert_array_equal(summary.at_ranks(ranks), np.sort(values)[ranks])
    np.testing.assert_array_equal(summary.at_most(np.array([1.0])), [np.count_nonzero(values <= 1.0)])


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
def test_what_cannot_be_summarised_is_declined(values: NDArray[Any]) -> None:
    assert ColumnSummary.of(values) is None


@pytest.mark.parametrize("kind", ["uniform", "quantile"])
@pytest.mark.parametrize("name", list(samples()))
def test_grids_and_nearest_rows_are_the_same_with_a_summary_and_without(name: str, kind: Any) -> None:
    column = column_of_array("x", samples()[name])
    summary = ColumnSummary.of(column.values)
    assert summary is not None
    without = grid_points(Grid(kind), column, 1).values
    points = grid_points(Grid(kind), column, 1, summary=summary).values
    np.testing.assert_array_equal(points, without)
    if len(points) == 1:
        return
    nearest, has = nearest_points(points, column)
    counts = nearest_counts(points, column, summary)
    assert counts is not None
    assert counts.sum() == has.sum()
    expected = np.bincount(nearest[has], minlength=len(points))
    # A row midway between two points may go to either, by rounding.
    assert np.abs(np.cumsum(counts - expected)).max() <= 0.02 * N


# --- several columns together ------------------------------------------------------------------------


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
    places = GridPlaces((0.0, 1.0), 20, beside=tuple(probabilities[:200].tolist()))
    blocks = list(side_by_side(list(X.T), 2))
    assert [len(b) for b in blocks] == ([8, 8] if order == "C" else [1] * X.shape[1])
    for block in blocks:
        summaries = NeighbourSummaries([X[:, j] for j in block], drawn, places)
        for i, j in enumerate(block):
            np.testing.assert_array_equal(np.sort(summaries.kept[i]), np.sort(X[:, j].astype(np.float64)))
            np.testing.assert_array_equal(summaries.drawn[i], X[drawn, j])
            assert summaries.known[i] or j >= PLAIN
            assert not summaries.known[i] or not np.isinf(X[:, j]).any()
            if summaries.known[i]:
                there = X[~np.isnan(X[:, j]), j]
                assert summaries.missing[i] == N - len(there)
                np.testing.assert_array_equal(
                    summaries.quantiles[i], weighted_quantiles(there, probabilities, None)
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
    together = NeighbourSummaries([column.values for _, column in columns], rug_rows(N, 3), places)
    found = [together.column(i, *one) for i, one in enumerate(columns)]
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
        expected = grid_points(wanted, column, 1)
        points = expected.values
        assert expected.note == ""
        assert known.grid.dtype == points.dtype
        shown = points[~np.isnan(points)]
        np.testing.assert_array_equal(known.grid, shown)
        summary = ColumnSummary.of(column.values)
        assert summary is not None
        np.testing.assert_array_equal(known.nearest, nearest_counts(shown, column, summary))


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
        without = grid_points(None, column, 1)
        expected = with_steps(AUTO, without, known[feature.label]).values
        np.testing.assert_array_equal(found, expected)
        more += len(found) > len(without.values)
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
    summarised = MemoryStatistics.summarise_together

    def together(self: MemoryStatistics, *given: Any) -> Any:
        names.append(threading.current_thread().name)
        if names.count(threading.current_thread().name) == 1:
            both.wait()  # nobody gets past it alone
        return summarised(self, *given)

    monkeypatch.setattr(MemoryStatistics, "summarise_together", together)
    summarise(MemoryStatistics(table_of(X), None, 0), [((f,), None) for f in features_of(X)])
    assert len(names) == len(list(side_by_side(list(X.T), 2)))
    assert threading.current_thread().name in names
    assert len(set(names)) == 2


def test_columns_are_shared_out_among_threads() -> None:
    X = np.zeros((100, 40))
    assert [len(b) for b in side_by_side(list(X.T), 2)] == [10] * 4
    assert [len(b) for b in side_by_side(list(X.T), 1)] == [14, 14, 12]
    assert [len(b) for b in side_by_side(list(X.T[:30]), 2)] == [15, 15]
    assert [len(b) for b in side_by_side(list(X.T), 40)] == [1] * 40


@pytest.mark.parametrize("room", [None, 10, 10**6])
def test_memory_is_used_where_it_is_enough(room: int | None) -> None:
    X = matrix()[:, :4]
    given = None if room is None else np.empty(room)
    summaries = NeighbourSummaries(list(X.T), np.zeros(1, np.int64), GridPlaces((0.0, 1.0), 5), given)
    np.testing.assert_array_equal(summaries.quantiles[:, 0], X.min(axis=0))
    assert given is None or np.shares_memory(summaries.kept, given) == (room == 10**6)


@pytest.mark.parametrize(
    "values", [np.zeros(FEW), np.zeros(N, int), np.zeros(N, ">f8"), np.zeros(N, np.float16)]
)
def test_what_cannot_be_summarised_together_is_declined(values: NDArray[Any]) -> None:
    assert not can_be_together([values])
    assert can_be_together([np.zeros(FEW + 1)])


@pytest.mark.parametrize("wanted", [True, 1, Grid("quantile"), Grid("log"), Grid("thresholds"), [1.0, 2.0]])
def test_other_grids_are_not_found_together(wanted: Any) -> None:
    assert places_of(wanted if isinstance(wanted, (bool, list)) else planned(wanted, 1), 1) is None
    assert places_of(planned(None, 2), 2) == GridPlaces((0.05, 0.95), 25)


def test_a_rug_is_drawn_as_of_one_column() -> None:
    assert len(rug_rows(N, 0)) == RUG
