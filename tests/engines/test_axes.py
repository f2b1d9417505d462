"""Grids as the forest sees them: encoded one by one or side by side, each with its own columns only."""

from __future__ import annotations

import numpy as np
import pytest

from icefield.core.question import Axis
from icefield.data.frame import table_of
from icefield.engines.trees.axes import EncodedAxis
from icefield.engines.trees.engine import TreesEngine
from icefield.engines.trees.grid_steps import GridSteps
from icefield.engines.trees.program import SINGLES, Batch, Program
from strategies import random_forest


@pytest.mark.parametrize("seed", range(10))
def test_axes_side_by_side_are_those_encoded_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_forest(rng, n_columns=6).model()
    table = table_of(rng.normal(size=(3, 6)))
    # Two sizes, one column twice, and two columns that move together.
    points = {j: rng.normal(size=4 + 3 * (j % 2)) for j in range(5)}
    axes = [Axis(j, {j: values}) for j, values in points.items()]
    axes += [Axis(1, {1: rng.normal(size=7)}), Axis("both", {4: rng.normal(size=4), 5: rng.normal(size=4)})]
    found = EncodedAxis.of_each(model, table, axes)
    for axis, encoded in zip(axes, found, strict=True):
        alone = EncodedAxis.of(model, table, axis)
        assert encoded.key == alone.key
        assert encoded.matrix.shape == (axis.size, len(axis.columns))
        in_order = encoded.matrix[np.argsort(encoded.order)]
        for place, column in enumerate(encoded.columns):
            np.testing.assert_array_equal(in_order[:, place], axis.points[column])


@pytest.mark.parametrize("seed", range(10))
def test_changes_at_steps_are_summed_along_the_grid_as_it_was_asked_for(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = random_forest(rng, n_columns=3, trees=5, leaves=12, numeric_only=True)
    sums = TreesEngine(drawn.model(), "raw", [0]).sums
    axes = [EncodedAxis.of_values((j,), rng.normal(size=(30, 1))) for j in range(3)]
    batch = Batch.of(sums, sums.trees)
    program = Program.of(batch, np.arange(3, dtype=np.int32), 3, SINGLES, scatter=True)
    steps = GridSteps.of(program, axes)
    for number, axis in enumerate(axes):
        at = steps.at[number]
        assert (np.diff(at) > 0).all()
        assert len(at) == steps.count[number]
        changes = np.zeros(steps.flat)
        changes[steps.start[number] : steps.start[number] + len(at)] = rng.normal(size=len(at))
        expected = np.zeros(axis.size)
        for place, change in zip(at, changes[steps.start[number] :]):
            expected[axis.order[place:]] += change
        np.testing.assert_allclose(steps.summed(number, axis, changes), expected, atol=1e-12)
    # Runs begin and end at steps, or at the grid's end.
    assert (steps.runs[:, 0] < steps.runs[:, 1]).all()
    assert (steps.runs[:, 1] <= steps.count[steps.run_axis]).all()
