"""Without a link, curves and spreads of all features in one walk too: the same numbers as a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from test_linked import always, compared, every_column, loop  # noqa: F401

from icefield.core.question import Question, Resources
from icefield.core.rows import Block
from icefield.data.frame import table_of
from icefield.engines.trees import TreesEngine
from icefield.forest.links import softmax, softplus
from icefield.forest.tree_model import Link
from strategies import IDENTITY, random_forest


@pytest.mark.parametrize("seed", range(8))
def test_random_forests(seed: int, always: list[int]) -> None:  # noqa: F811
    rng = np.random.default_rng([seed, 77])
    outputs = int(rng.integers(1, 4))
    drawn = random_forest(
        rng, n_columns=4, leaves=int(rng.integers(2, 40 if seed % 3 else 150)), n_outputs=outputs
    )
    n = int(rng.integers(1, 200))
    matrix = drawn.matrix(rng, n)
    selected = sorted(rng.choice(outputs, int(rng.integers(1, outputs + 1)), replace=False).tolist())
    weights = None if seed % 3 == 0 else rng.choice([0.0, 0.5, 2.0], n)
    codes, n_groups = (rng.integers(-1, 3, n), 3) if seed % 2 else (None, 0)
    kept = np.sort(rng.choice(n, int(rng.integers(1, n + 1)), replace=False))
    axes = every_column(rng, drawn)
    # One is asked for its average alone, which is counted.
    questions = [Question((axis,), spread=i > 0, rows=kept) for i, axis in enumerate(axes)]
    sample = Block(table_of(matrix), weights, codes, n_groups, copies=seed % 4 < 2)
    answers = TreesEngine(drawn.model(IDENTITY), "response", selected).answer(
        questions, sample, Resources(threads=2)
    )
    assert always == [len(axes) - 1]
    own = np.ones(n) if weights is None else weights
    for question, axis, answer in zip(questions, axes, answers):
        values = loop(drawn, matrix, axis, IDENTITY)[:, selected]
        compared(answer.total, values, own, question.spread)
        for g, moments in enumerate(answer.groups):
            compared(moments, values[codes == g], own[codes == g], question.spread)
        expected = values[kept].transpose(1, 0, 2)
        size = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(answer.curves, expected, rtol=0, atol=1e-12 * size)


def test_a_single_question_walks_alone(always: list[int]) -> None:  # noqa: F811
    rng = np.random.default_rng(3)
    drawn = random_forest(rng, n_columns=3, n_outputs=1)
    questions = [Question((axis,), spread=i == 0) for i, axis in enumerate(every_column(rng, drawn))]
    sample = Block(table_of(drawn.matrix(rng, 50)))
    TreesEngine(drawn.model(IDENTITY), "response", [0]).answer(questions, sample, Resources())
    assert always == []


@pytest.mark.parametrize("link", [IDENTITY, softmax(), softplus()], ids=["identity", "softmax", "unknown"])
@pytest.mark.parametrize("features", [1, 4])
def test_curves_alone(features: int, link: Link, always: list[int]) -> None:  # noqa: F811
    rng = np.random.default_rng(features)
    drawn = random_forest(rng, n_columns=4, leaves=20, n_outputs=2)
    matrix, kept = drawn.matrix(rng, 60), np.array([3, 0, 59])
    axes = every_column(rng, drawn)[:features]
    questions = [Question((axis,), spread=False, rows=kept, averaged=False) for axis in axes]
    sample = Block(table_of(matrix), codes=rng.integers(0, 2, 60), n_groups=2)
    answers = TreesEngine(drawn.model(link), "response", [1]).answer(questions, sample, Resources())
    for axis, answer in zip(axes, answers, strict=True):
        expected = loop(drawn, matrix, axis, link)[kept][:, [1]].transpose(1, 0, 2)
        np.testing.assert_allclose(answer.curves, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
        assert [m.weight for m in (answer.total, *answer.groups)] == [0.0, 0.0, 0.0]
