"""Rows moved to both ends of their own steps, all features in one walk: the sums of a plain loop over rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from forest_walk import raw
from icefield import Explainer
from icefield.core.placement import Placement, PlaceSums
from icefield.core.question import Axis, Resources
from icefield.data.frame import table_of
from icefield.engines.trees import TreesEngine, leaf_masks
from icefield.engines.trees import ale_sums as local_moves
from icefield.forest import links
from icefield.forest.tree_model import Link
from icefield.statistics.ale import ales
from strategies import IDENTITY, random_forest

LINKS = {
    "identity": IDENTITY,
    "logistic": links.logistic(),
    "steep": links.logistic(2.5),
    "two columns": links.two_columns(links.logistic()),
    "softmax": links.softmax(),
    "exp": links.exponential(),
}


def standing(
    rng: np.random.Generator, drawn: Any, matrix: np.ndarray, weights: np.ndarray, segments: int
) -> Placement:
    """An axis for every column; rows stand anywhere between its points, or at the point that is their value."""
    axes, on_levels, place = [], [], []
    for j, column in enumerate(drawn.columns):
        levels = rng.random() < 0.5
        points = column.values(rng, int(rng.integers(1, 40)))
        at = rng.integers(-1, max(1, len(points) - (0 if levels else 1)), len(matrix))
        if levels or len(points) == 1:
            levels = True
            at = np.where(at >= len(points), -1, at)
            matrix[at >= 0, j] = points[at[at >= 0]]
        axes.append(Axis(j, {j: points}))
        on_levels.append(levels)
        place.append(np.where(weights > 0, at, -1))
    places = np.array(place, np.int32)
    return Placement(
        axes, on_levels, table_of(matrix), lambda a, b: np.ascontiguousarray(places[:, a:b]), weights,
        np.square(weights), rng.integers(0, segments, len(matrix)).astype(np.int32), segments,
    )  # fmt: skip


def loop(drawn: Any, matrix: np.ndarray, of: Placement, link: Link, selected: list[int]) -> PlaceSums:
    """The same sums, row by row."""
    found = PlaceSums.none([a.size for a in of.axes], of.n_segments, len(selected))
    changes: dict[Any, list[Any]] = {}
    place = of.places(0, len(matrix))
    for a, axis in enumerate(of.axes):
        ((column, points),) = axis.points.items()
        at = []
        for value in points:
            moved = matrix.copy()
            moved[:, column] = value
            at.append(link.apply(raw(drawn.forest, moved))[:, selected])
        for r in np.flatnonzero(place[a] >= 0):
            p, last = place[a, r], len(points) - 1
            nothing = np.zeros(len(selected))
            if of.on_levels[a]:
                before = at[p][r] - at[p - 1][r] if p > 0 else nothing
                pair = (before, at[p + 1][r] - at[p][r] if p < last else nothing)
            else:
                pair = (at[p + 1][r] - at[p][r], nothing)
            key = (of.segments[r], found.start[a] + p)
            changes.setdefault(key, []).append((of.weights[r], of.squares[r], np.array(pair)))
    for key, own in changes.items():
        w, q, d = (np.array(values) for values in zip(*own))
        mean = np.tensordot(q, d, (0, 0)) / q.sum()
        found.counts[key] = len(w), w.sum(), q.sum()
        found.changes[key][:, :2] = np.tensordot(w, d, (0, 0)).T
        found.changes[key][:, 2:4] = mean.T
        found.changes[key][:, 4:6] = np.tensordot(q, np.square(d - mean), (0, 0)).T
        found.changes[key][:, 6] = np.tensordot(q, (d - mean)[:, 0] * (d - mean)[:, 1], (0, 0))
    return found


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("seed", range(8))
def test_sums_are_those_of_a_plain_loop(seed: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_moves, "MOST_ROWS", 64 if seed % 2 else 8192)
    monkeypatch.setattr(local_moves, "LEAST_ROWS", 64)
    rng, link = np.random.default_rng([seed, 31]), LINKS[name]
    outputs = 1 if name == "two columns" else int(rng.integers(1, 4))
    # More leaves than a piece has, now and then.
    drawn = random_forest(rng, leaves=int(rng.integers(2, 40 if seed % 3 else 150)), n_outputs=outputs)
    n = int(rng.choice([1, 63, 64, 130]))
    matrix = drawn.matrix(rng, n)
    n_response = link.apply(np.zeros((1, outputs))).shape[-1]
    selected = sorted(rng.choice(n_response, int(rng.integers(1, n_response + 1)), replace=False).tolist())
    weights = np.ones(n) if seed % 3 == 0 else rng.choice([0.0, 0.5, 2.0], n)
    of = standing(rng, drawn, matrix, weights, segments=1 + 2 * (seed % 2))
    engine = TreesEngine(drawn.model(link), "response", selected)
    found = engine.local_sums(of, Resources(threads=2))
    assert found is not None
    expected = loop(drawn, matrix, of, link, selected)
    np.testing.assert_allclose(found.counts, expected.counts, rtol=1e-12)
    size = max(1.0, np.abs(expected.changes[..., :4]).max())
    np.testing.assert_allclose(found.changes[..., :4], expected.changes[..., :4], rtol=0, atol=1e-11 * size)
    np.testing.assert_allclose(
        found.changes[..., 4:], expected.changes[..., 4:], rtol=0, atol=1e-10 * size**2
    )


def test_the_same_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(4)
    drawn = random_forest(rng, leaves=30, n_outputs=2)
    matrix = drawn.matrix(rng, 1000)
    of = standing(rng, drawn, matrix, np.ones(1000), segments=2)
    engine = TreesEngine(drawn.model(links.softmax()), "response", [0, 1])
    one, other = (engine.local_sums(of, Resources(threads=threads)) for threads in (1, 3))
    assert one is not None
    assert other is not None
    assert np.array_equal(one.changes, other.changes)
    assert np.array_equal(one.counts, other.counts)


def test_what_it_declines() -> None:
    rng = np.random.default_rng(5)
    drawn = random_forest(rng, leaves=30, n_outputs=1)
    matrix = drawn.matrix(rng, 100)
    of = standing(rng, drawn, matrix, np.ones(100), segments=1)
    unknown = Link("own", np.tanh)
    assert TreesEngine(drawn.model(unknown), "response", [0]).local_sums(of, Resources()) is None
    engine = TreesEngine(drawn.model(IDENTITY), "response", [0])
    assert engine.local_sums(of, Resources()) is not None
    assert engine.local_sums(of, Resources(memory=2**10)) is None
    twice = Placement(
        [of.axes[0], of.axes[0]], [of.on_levels[0]] * 2, of.table, lambda a, b: of.places(a, b)[[0, 0]],
        of.weights, of.squares, of.segments, 1,
    )  # fmt: skip
    assert engine.local_sums(twice, Resources()) is None


def test_a_value_that_is_not_its_levels_own_is_moved_feature_by_feature() -> None:
    rng = np.random.default_rng(6)
    drawn = random_forest(rng, leaves=60, n_outputs=1, n_columns=2)
    matrix = drawn.matrix(rng, 200)
    points = np.unique(drawn.columns[0].values(rng, 30))
    points = points[np.isfinite(points)]
    of = Placement(
        [Axis(0, {0: points})], [True], table_of(matrix), lambda a, b: np.zeros((1, b - a), np.int32),
        np.ones(200), np.ones(200), np.zeros(200, np.int32), 1,
    )  # fmt: skip
    assert TreesEngine(drawn.model(IDENTITY), "response", [0]).local_sums(of, Resources()) is None


def test_large_trees_are_walked_feature_by_feature(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(600, 3))
    forest = RandomForestRegressor(n_estimators=5, random_state=0).fit(X, X[:, 0] * X[:, 1])
    together = ales(Explainer(forest, X).study, [0, 1, 2])
    monkeypatch.setattr(leaf_masks, "MOST_ENTRIES", 10)
    apart = ales(Explainer(forest, X).study, [0, 1, 2])
    for one, other in zip(together, apart):
        np.testing.assert_allclose(one.average, other.average, rtol=0, atol=1e-12)
        np.testing.assert_allclose(one.se, other.se, rtol=1e-9, atol=1e-12)
