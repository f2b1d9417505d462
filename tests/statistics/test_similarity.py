"""The order of levels: recovered where there is one, and the same whatever the levels are called."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icefield.data.distribution import weighted_quantiles
from icefield.data.frame import table_of
from icefield.statistics import similarity
from icefield.statistics.similarity import ComparedLevels, similarity_orders


def order(level, others, weights=None):
    table = table_of(pd.DataFrame({"level": level, **others}))
    column = table.column("level")
    own = np.ones(len(level)) if weights is None else weights
    compared = ComparedLevels(column.codes, ~column.missing & (own > 0), own, ["level"])
    ((found, _),) = similarity_orders([compared], [table.column(c) for c in others])
    return column.levels[found].tolist()


def test_levels_along_a_number(rng):
    rank = rng.integers(0, 5, 1000)
    names = np.array(["d", "a", "e", "b", "c"])[rank]
    found = order(names, {"x": rank + rng.normal(0, 1, 1000), "noise": rng.normal(size=1000)})
    assert found in (["d", "a", "e", "b", "c"], ["c", "b", "e", "a", "d"])


def test_a_weight_of_two_is_a_duplicated_row(rng):
    rank = rng.integers(0, 4, 200)
    names, x = np.array(["b", "d", "a", "c"])[rank], rank + rng.normal(0, 2, 200)
    weights = rng.integers(0, 3, 200)
    assert order(names, {"x": x}, weights.astype(float)) == order(
        np.repeat(names, weights), {"x": np.repeat(x, weights)}
    )


@pytest.mark.parametrize("others", [{}, {"x": np.zeros(6)}])
def test_without_anything_to_judge_by_levels_keep_their_order(others):
    assert order(np.array(["b", "a", "c"] * 2), others) == ["a", "b", "c"]


def by_definition(codes, known, weights, others):
    """Distances of levels as Apley and Zhu have them, number by number, and the order that they give."""
    shown = np.unique(codes[known])
    total = np.zeros((len(shown), len(shown)))
    for column in others:
        if column.kind == "categorical":
            own = np.where(column.missing, len(column.levels), column.codes)
            points = np.arange(len(column.levels) + 1)
        else:
            own = column.to_float()
            there = known & np.isfinite(own)
            if not there.any():
                continue
            points = np.unique(weighted_quantiles(own[there], np.linspace(0, 1, 101)[1:], weights[there]))
            own = np.where(np.isfinite(own), own, np.inf)  # beyond the last
        shares = []
        for level in shown:
            mine = known & (codes == level)
            compare = np.equal if column.kind == "categorical" else np.less_equal
            shares.append([weights[mine & compare(own, p)].sum() / weights[mine].sum() for p in points])
        apart = np.abs(np.array(shares)[:, None] - np.array(shares)[None])
        total += 0.5 * apart.sum(axis=2) if column.kind == "categorical" else apart.max(axis=2)
    return total


@pytest.mark.parametrize("together", [1, 100])
@pytest.mark.parametrize("seed", range(8))
def test_distances_of_several_categories_together_are_those_of_each_by_definition(
    seed, together, monkeypatch
):
    monkeypatch.setattr(similarity, "LEVELS_TOGETHER", together)
    rng, n = np.random.default_rng(seed), 400
    gaps = lambda own, share: np.where(rng.random(n) < share, None, own)  # noqa: E731
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n), "tied": np.round(rng.normal(size=n)), "gone": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            "wide": np.where(rng.random(n) < 0.1, np.inf, rng.normal(size=n)), "whole": rng.integers(0, 200, n),
            "a": pd.Categorical(gaps(rng.choice(list("pqr"), n), 0.1)), "b": pd.Categorical(gaps(rng.choice(list("uvwxyz"), n), 0.4)),
        }
    )  # fmt: skip
    frame["elsewhere"] = np.where(frame["b"].isna(), frame["x"], np.nan)  # says nothing of b's levels
    table = table_of(frame)
    weights = [np.ones(n), rng.integers(0, 3, n).astype(float), rng.random(n), (rng.random(n) < 0.2) * 1.0][
        seed % 4
    ]
    compared = []
    for name in "ab":
        column = table.column(name)
        compared.append(ComparedLevels(column.stored_codes, ~column.missing & (weights > 0), weights, [name]))
    # What orders are made of, with a category's own column among all columns.
    distances = []
    monkeypatch.setattr(similarity, "_in_order", lambda _, distance: distances.append(distance))
    similarity_orders(compared, [table.column(name) for name in frame])
    for one, found in zip(compared, distances, strict=True):
        others = [table.column(name) for name in frame if name not in one.columns]
        np.testing.assert_allclose(
            found, by_definition(one.codes, one.known, weights, others), rtol=0, atol=1e-13
        )
