"""Every row's own prediction, against the plain walker and as many curves in which nothing moves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from test_trees import assert_close, assert_moments

from forest_walk import raw
from icefield import Explainer
from icefield.core.prediction_level import _quick_predictions
from icefield.core.question import Question, Resources
from icefield.core.rows import Block
from icefield.data.frame import table_of
from icefield.engines.trees import TreesEngine, predictions, program
from strategies import IDENTITY, SIGMOID, SOFTMAX, random_forest


@pytest.mark.parametrize("additive", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_they_are_the_plain_walkers(seed, additive, monkeypatch):
    rng = np.random.default_rng(seed)
    drawn = random_forest(rng, leaves=int(rng.choice([2, 8, 9, 16, 17, 32, 33, 64, 65, 300])))
    n_rows = int(rng.choice([1, 30, 63, 64, 65, 300]))
    matrix = drawn.matrix(rng, n_rows)
    monkeypatch.setattr(program, "FEW_LEAVES", float(rng.choice([0.0, 0.1, 2.0])))
    monkeypatch.setattr(predictions, "BLOCK", int(rng.choice([64, 4096])))
    link = IDENTITY if additive else SOFTMAX if drawn.forest.n_outputs > 1 else SIGMOID
    selected = sorted(
        rng.choice(drawn.forest.n_outputs, int(rng.integers(1, drawn.forest.n_outputs + 1)), False)
    )
    weights = rng.random(n_rows) if seed % 2 else None
    codes = rng.integers(-1, 2, n_rows)
    spread = bool(seed % 3)
    engine = TreesEngine(drawn.model(link), "response", selected)
    resources = Resources(memory=int(rng.choice([2**17, 2**28])))
    question = Question((), spread or not additive, rows=np.arange(n_rows))
    sample = Block(table_of(matrix), weights, codes, 2)
    (answer,) = engine.answer([question], sample, resources)

    expected = link.apply(raw(drawn.forest, matrix))[:, selected]
    assert_close(answer.curves, expected.T, drawn, f"seed {seed}")
    assert_moments(answer.total, expected, weights, drawn, question.spread, f"seed {seed}")
    for group, moments in enumerate(answer.groups):
        own = codes == group
        mine = None if weights is None else weights[own]
        assert_moments(moments, expected[own], mine, drawn, question.spread, f"seed {seed}, group {group}")


@pytest.mark.parametrize("n_rows", [4096, 5000])
@pytest.mark.parametrize("most_leaves", [200, 256, 257, None])
def test_trees_of_any_size_and_blocks_of_rows(n_rows, most_leaves):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32).astype(np.float64)
    y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=n_rows)
    model = RandomForestRegressor(5, max_leaf_nodes=most_leaves, random_state=0, n_jobs=1).fit(X, y)
    study = Explainer(model, X).study
    found = _quick_predictions(study, study.plan, np.arange(n_rows))
    np.testing.assert_allclose(found[:, 0], model.predict(X), rtol=0, atol=1e-12)


def test_leaves_that_hold_a_value_for_each_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 4)).astype(np.float32).astype(np.float64)
    model = RandomForestClassifier(5, max_leaf_nodes=20, random_state=0, n_jobs=1).fit(
        X, rng.integers(0, 3, 700)
    )
    study = Explainer(model, X).study
    found = _quick_predictions(study, study.plan, np.arange(700))
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=1e-12)


def test_they_are_the_curves_in_which_nothing_moves():
    rng = np.random.default_rng(1)
    drawn = random_forest(rng)
    sample = Block(table_of(drawn.matrix(rng, 300)))
    engine = TreesEngine(drawn.model(IDENTITY), "raw", [0])
    backwards = np.arange(300)[::-1]
    (one,) = engine.answer([Question((), True, rows=np.arange(300))], sample, Resources())
    (other,) = engine.answer([Question((), True, rows=backwards)], sample, Resources())
    assert_close(one.curves, other.curves[:, backwards], drawn, "curves")
    assert_close(one.total.mean, other.total.mean, drawn, "mean")
    assert_close(one.total.std, other.total.std, drawn, "std")
