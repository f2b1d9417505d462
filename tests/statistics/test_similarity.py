"""The order of levels: recovered where there is one, and the same whatever the levels are called."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icefield.data.frame import table_of
from icefield.statistics.similarity import similarity_order


def order(level, others, weights=None):
    table = table_of(pd.DataFrame({"level": level, **others}))
    column = table.column("level")
    known = ~column.missing
    own = np.ones(len(level)) if weights is None else weights
    occurring = np.unique(column.codes[known])
    found, _ = similarity_order(
        column.codes[known], occurring, [table.column(c) for c in others], known, own[known]
    )
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
