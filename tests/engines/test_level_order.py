"""Levels in an order of few runs: the same points, fewer runs, and the same curves as a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from test_linked import always, compared, every_column, loop  # noqa: F401

from icefield.data.frame import table_of
from icefield.engines import Question, Resources, Sample
from icefield.engines.trees import TreesEngine, level_order
from icefield.engines.trees.axes import EncodedAxis
from icefield.engines.trees.grid_steps import GridSteps
from icefield.engines.trees.level_order import in_few_runs, shortest_way
from icefield.engines.trees.program import SINGLES, Batch, Program
from icefield.forest.links import logistic
from strategies import random_forest


def test_a_way_through_a_line_is_the_line() -> None:
    places = np.random.default_rng(0).permutation(40).astype(float)
    way = shortest_way(np.abs(places[:, None] - places))
    along = places[way]
    assert np.array_equal(np.sort(way), np.arange(40))
    assert np.abs(np.diff(along)).sum() < 0.3 * np.abs(np.diff(places)).sum()
    in_line = np.arange(7.0)
    assert shortest_way(np.abs(in_line[:, None] - in_line)).tolist() == list(range(7))
    assert shortest_way(np.zeros((3, 3))).tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", range(12))
def test_the_same_points_in_fewer_runs(seed: int) -> None:
    rng = np.random.default_rng([seed, 5])
    drawn = random_forest(rng, n_columns=4, trees=12, leaves=25, n_outputs=1)
    sums = TreesEngine(drawn.model(), "raw", [0]).sums
    axes = [EncodedAxis.of_values((j,), drawn.matrix(rng, 12)[:, [j]]) for j in range(4)]
    batch = Batch.of(sums, sums.trees)
    program = Program.of(batch, np.arange(4, dtype=np.int32), 4, SINGLES, scatter=True)
    found = in_few_runs(program, axes)
    forest = sums.forest
    by_sets = set(forest.condition_column[forest.condition_set >= 0].tolist())
    for column, (before, after) in enumerate(zip(axes, found, strict=True)):
        assert after.columns == before.columns
        back, again = np.argsort(before.order), np.argsort(after.order)
        np.testing.assert_array_equal(after.matrix[again], before.matrix[back])
        assert column in by_sets or after is before

    def runs(axes: list[EncodedAxis]) -> int:
        steps = GridSteps.of(program, axes)
        entries = int(program.path_start[-1])
        return int(np.diff(steps.run_start)[steps.path_region[:entries]].sum())

    assert runs(list(found)) <= runs(axes)


@pytest.mark.parametrize("seed", range(8))
def test_curves_on_reordered_levels(
    seed: int,
    always: list[int],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng([seed, 9])
    # Any order will do, and is taken.
    monkeypatch.setattr(level_order, "shortest_way", lambda distance: rng.permutation(len(distance)))
    monkeypatch.setattr(level_order, "LEAST_POINTS", 1)
    drawn = random_forest(rng, n_columns=4, trees=8, leaves=20, n_outputs=1)
    n, link = 90, logistic()
    matrix, kept = drawn.matrix(rng, n), np.arange(0, 90, 7)
    axes = every_column(rng, drawn)
    questions = [Question((axis,), spread=True, rows=kept) for axis in axes]
    answers = TreesEngine(drawn.model(link), "response", [0]).answer(
        questions, Sample(table_of(matrix)), Resources(threads=2)
    )
    assert always
    for axis, answer in zip(axes, answers, strict=True):
        values = loop(drawn, matrix, axis, link)
        compared(answer.total, values, np.ones(n), True)
        np.testing.assert_allclose(answer.curves, values[kept].transpose(1, 0, 2), rtol=0, atol=1e-12)
