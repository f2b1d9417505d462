"""Differences across rows' own steps, against predictions of the plain walker."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from test_trees import assert_close, draw_axes

from forest_walk import raw
from icefield import Explainer
from icefield.core.question import Resources
from icefield.data.frame import table_of
from icefield.engines.trees import TreesEngine, program
from icefield.engines.trees import ale_differences as moves
from strategies import IDENTITY, SIGMOID, SOFTMAX, random_forest


def test_a_smaller_budget_takes_less_memory():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    forest = RandomForestRegressor(n_estimators=30, random_state=0).fit(X, X[:, 0] * X[:, 1])

    def peak(memory, bins):
        ex = Explainer(forest, X, memory=memory)
        ex.ale(0, rows=20)
        tracemalloc.start()
        ex.ale(0, bins=bins, rows=200)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    roomy, narrow = peak(2**28, 40), peak(2**22, 40)
    assert narrow < roomy / 2
    assert peak(2**26, 500) < 2**26


@pytest.mark.parametrize("additive", [True, False])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", range(20))
def test_differences_are_those_of_the_plain_walkers_predictions(seed, order, additive, monkeypatch):
    rng = np.random.default_rng([seed, order])
    drawn = random_forest(rng)
    n_rows = int(rng.choice([30, 64, 300]))
    matrix = drawn.matrix(rng, n_rows)
    monkeypatch.setattr(program, "FEW_LEAVES", float(rng.choice([0.0, 0.4, 2.0])))
    monkeypatch.setattr(moves, "BLOCK", int(rng.choice([64, 4096])))
    monkeypatch.setattr(moves, "ROWS_AT_ONCE", int(rng.choice([50, 65_536])))
    link = IDENTITY if additive else SOFTMAX if drawn.forest.n_outputs > 1 else SIGMOID
    selected = sorted(
        rng.choice(drawn.forest.n_outputs, int(rng.integers(1, drawn.forest.n_outputs + 1)), False)
    )
    axes, points = (), int(rng.choice([6, 6, 200]))
    while not axes:
        axes = tuple(a for a in draw_axes(rng, drawn, order, points) if a.size > 1)
    rows = rng.integers(0, n_rows, 2 * n_rows)  # in any order, some twice
    steps = [rng.integers(0, a.size - 1, len(rows)) for a in axes]

    expected = np.zeros((len(rows), len(selected)))
    for corner in product((0, 1), repeat=len(axes)):
        moved = matrix[rows]
        for axis, step, up in zip(axes, steps, corner):
            for column, values in axis.points.items():
                moved[:, column] = values[step + up]
        sign = (-1) ** (len(axes) - sum(corner))
        expected += sign * link.apply(raw(drawn.forest, moved))[:, selected]
    memory = int(rng.choice([2**14, 2**28]))
    trees = TreesEngine(drawn.model(link), "response", selected)
    found = trees.differences(axes, table_of(matrix), rows, steps, Resources(memory=memory))
    assert_close(found, expected, drawn, f"seed {seed}")
