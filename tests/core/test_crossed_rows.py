"""Averages at a sample's own values: asked together or alone, in the order they were asked for."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from icefield import Explainer
from icefield.core.crossed_rows import crossed_averages
from icefield.core.question import Resources
from icefield.core.rows import Block
from icefield.engines.trees.layout import laid_out, lay_out
from strategies import random_forest


@pytest.fixture(scope="module")
def study() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(120, 6)), 1)
    X[::9, 2] = np.nan
    model = HistGradientBoostingClassifier(max_iter=12, max_leaf_nodes=8, min_samples_leaf=5)
    return Explainer(model.fit(X, X[:, 0] * X[:, 1] > 0), X).study


@pytest.mark.parametrize("memory", [256 * 2**20, 2**17, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_sets_asked_together_give_what_each_gives_alone(study: Any, memory: int, weighted: bool) -> None:
    columns = study.model.columns
    sets = [*combinations(columns, 1), tuple(columns), *combinations(columns, 2), *combinations(columns, 5)]
    weights = np.random.default_rng(1).random(study.sample.n_rows) if weighted else None
    sample, engine = Block(study.sample.table, weights), study.plan.engine
    assert engine.name == "trees"
    together = list(crossed_averages(study.model, engine, sets, sample, Resources(memory=memory)))
    assert len(together) == len(sets)
    for one, found in zip(sets, together):
        (alone,) = crossed_averages(study.model, engine, [one], sample, Resources())
        np.testing.assert_allclose(found, alone, rtol=0, atol=1e-13)


def test_single_columns_are_asked_together_and_nothing_twice(study: Any) -> None:
    columns = study.model.columns
    asked: list[list[tuple[Any, ...]]] = []

    class Listening:
        def answer(self, questions: Any, sample: Any, resources: Any) -> Any:
            asked.append([question.axes[0].columns for question in questions])
            return study.plan.engine.answer(questions, sample, resources)

    singles, pairs = list(combinations(columns, 1)), list(combinations(columns, 2))
    sets = [*singles, tuple(columns), *pairs, singles[0]]
    found = list(crossed_averages(study.model, Listening(), sets, Block(study.sample.table), Resources()))
    assert asked == [singles, *([pair] for pair in pairs), singles[:1]]
    np.testing.assert_allclose(found[0], found[-1], rtol=0, atol=1e-13)  # alone it is walked by itself
    assert found[0] is not found[-1]


def test_questions_about_the_same_trees_share_a_layout() -> None:
    rng = np.random.default_rng(0)
    forest = random_forest(rng, n_columns=3, trees=6, leaves=20).forest
    every = np.arange(forest.condition_column.size)
    packed = np.ones(every.size, bool)
    first = laid_out(forest, every, packed)
    assert laid_out(forest, every.copy(), packed.copy()) is first
    other = laid_out(forest, every, packed & (rng.random(every.size) < 0.5))
    assert other is not first
    again, fresh = laid_out(forest, every, packed), lay_out(forest, every, packed)
    for mine, new in ((again, fresh), (again.search, fresh.search)):
        for name in set(new.__dataclass_fields__) - {"search"}:
            np.testing.assert_array_equal(getattr(mine, name), getattr(new, name))
