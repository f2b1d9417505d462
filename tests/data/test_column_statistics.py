"""Column statistics: grids and the data's place on them, the same whether kept, recomputed or in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from icefield import Grid
from icefield.data import column_statistics
from icefield.data.column_statistics import MemoryStatistics
from icefield.data.features import Feature, resolve
from icefield.data.frame import table_of
from icefield.data.groups import Groups

N = 500


@pytest.fixture(scope="module")
def table() -> Any:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": draw.normal(size=N),
            "i": draw.integers(0, 9, N),
            "c": pd.Categorical(draw.choice(list("abc"), N)),
            "h_p": (draw.random(N) < 0.3).astype(int),
        }
    )
    frame["h_q"] = ((draw.random(N) < 0.3) & (frame["h_p"] == 0)).astype(int)
    frame.loc[::7, "x"] = np.nan
    frame.loc[3, "x"] = np.inf
    frame.loc[::11, "c"] = None
    return table_of(frame)


def features(table: Any, *asked: Any) -> list[Feature]:
    return [resolve(name, table, table.names) for name in asked]


def grids(here: MemoryStatistics, found: list[Feature], asked: Any = None) -> tuple[np.ndarray, ...]:
    return here.grids(found, asked, None)[0]


def nearest(values: np.ndarray, data: np.ndarray) -> np.ndarray:
    """For every number the nearest grid point, the lower of two; -1 where it has none."""
    known = np.array([v for v in values if not pd.isna(v)], float)
    place = np.full(len(data), -1)
    for row, number in enumerate(data):
        if np.isnan(number):
            place[row] = len(known) if len(known) < len(values) else -1
        elif np.isfinite(number):
            place[row] = np.abs(known - number).argmin()
    return place


def test_grids_are_made_once_and_notes_name_their_feature(table: Any) -> None:
    here = MemoryStatistics(table, None, 0)
    found = features(table, "x", "c")
    first, note = here.grids(found, 7, None)
    again, _ = here.grids(found, 7, None)
    assert note == ""
    assert all(a is b for a, b in zip(first, again))
    assert [len(g) for g in first] == [8, 4]  # the missing point is last
    assert np.isnan(first[0][-1])
    assert first[1][-1] is None
    other, _ = here.grids(found, 6, None)
    assert len(other[0]) == 7
    assert len(grids(here, found[:1], Grid())[0]) == 101
    assert len(grids(here, found)[0]) == 26
    _, note = here.grids(features(table, "c"), 2, None)
    assert note.startswith("c: the 2 most frequent of 3 levels")


def test_true_is_no_number_of_points(table: Any, complains: Any) -> None:
    here = MemoryStatistics(table, None, 0)
    found = features(table, "x")
    assert len(grids(here, found, 1)[0]) == 2
    with complains("grid", "True"):
        grids(here, found, True)


def test_thresholds_are_asked_of_the_feature(table: Any) -> None:
    here = MemoryStatistics(table, None, 0)
    found = features(table, "x", "i")
    asked: list[Any] = []

    def own(feature: Feature) -> np.ndarray:
        asked.append(feature.label)
        return np.array([0.25]) if feature.label == "x" else np.array([3.5])

    values, _ = here.grids(found, Grid("thresholds", missing="hide"), own)
    assert asked == ["x", "i"]
    assert values[0].tolist()[0] == 0.25
    assert values[1].tolist() == [3, 8]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block", [64, 10_000])
def test_weights_of_points_are_the_rows_nearest_to_them(
    table: Any, weighted: bool, block: int, monkeypatch: Any
) -> None:
    monkeypatch.setattr(column_statistics, "BLOCK", block)
    draw = np.random.default_rng(1)
    weights = draw.random(N) if weighted else None
    counted = np.ones(N) if weights is None else weights
    codes = draw.integers(-1, 3, N)
    here = MemoryStatistics(table, weights, 0)
    found = features(table, "x", "i")
    values = grids(here, found, [9, [1, 4, 8]])
    places = [nearest(v, here.column(f).to_float()) for v, f in zip(values, found)]
    every, *groups = here.point_weights(found, values, Groups("g", codes, (0, 1, 2)))
    assert every.shape == (10, 3)
    for group, sums in [(None, every), *enumerate(groups)]:
        expected = np.zeros((10, 3))
        for row in range(N):
            inside = group is None or codes[row] == group
            if inside and places[0][row] >= 0 and places[1][row] >= 0:
                expected[places[0][row], places[1][row]] += counted[row]
        assert np.allclose(sums, expected, rtol=0, atol=1e-12)
    assert 0 < every.sum() < counted.sum()  # the infinite row stands at no point
    turned = here.point_weights(found[::-1], values[::-1], None)[0]
    assert np.allclose(turned, every.T, rtol=0, atol=1e-12)
    (alone,) = here.point_weights(found[1:], values[1:], None)
    assert np.allclose(alone.sum(), counted.sum(), rtol=1e-12)


@pytest.mark.parametrize("block", [64, 10_000])
def test_rows_of_levels_and_of_one_hot_groups(table: Any, block: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(column_statistics, "BLOCK", block)
    here = MemoryStatistics(table, None, 0)
    found = features(table, "c", {"h": ["h_p", "h_q"]})
    letters, hot = grids(here, found)
    frame = table.native
    (weights,) = here.point_weights(found, (letters, hot), None)
    assert hot.tolist() == ["p", "q", "(none)"]
    for i, letter in enumerate(letters):
        rows = frame["c"].isna() if letter is None else frame["c"] == letter
        assert weights[i].tolist() == [
            (rows & (frame["h_p"] == 1)).sum(),
            (rows & (frame["h_q"] == 1)).sum(),
            (rows & (frame["h_p"] == 0) & (frame["h_q"] == 0)).sum(),
        ]
    (some,) = here.point_weights(found[:1], (letters[1:2],), None)
    assert some.tolist() == [(frame["c"] == letters[1]).sum()]


def test_places_are_kept_for_as_many_grids_as_fit(table: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(column_statistics, "KEPT_PLACES", 2)
    here = MemoryStatistics(table, None, 0)
    found = features(table, "i")
    first = [here.point_weights(found, (np.array([k, k + 2]),), None)[0] for k in range(5)]
    again = [here.point_weights(found, (np.array([k, k + 2]),), None)[0] for k in range(5)]
    assert len(here._places) <= 2
    for one, other in zip(first, again):
        assert np.array_equal(one, other)


def test_distributions(table: Any, monkeypatch: Any) -> None:
    here = MemoryStatistics(table, None, 0)
    x, i, c = features(table, "x", "i", "c")
    assert here.distribution([x]).joint is None
    assert here.distribution([x, i, c]).joint is None
    pair = here.distribution([x, i])
    assert pair.joint is not None
    assert [m.feature for m in pair.marginals] == ["x", "i"]
    assert here.distribution([x, i]).joint is pair.joint
    assert here.distribution([i, x]).joint is not pair.joint


def test_joint_distributions_of_many_rows_are_of_a_seeded_sample(table: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(column_statistics, "JOINT_ROWS", 100)
    weights = np.random.default_rng(2).random(N)
    one, same, other = (MemoryStatistics(table, weights, seed) for seed in (0, 0, 1))
    pair = features(table, "x", "i")
    counts = [w.distribution(pair).joint.counts for w in (one, same, other)]
    assert np.array_equal(counts[0], counts[1])
    assert not np.array_equal(counts[0], counts[2])
