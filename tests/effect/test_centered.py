"""The spread of the centred curves, against every row's curve computed one by one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import icefield
from icefield import Effect
from icefield.sampling import CENTERED_CURVES

RNG = np.random.default_rng(5)
X = RNG.normal(size=(240, 3)).round(2)
WEIGHTS = RNG.integers(1, 4, len(X)).astype(float)
TARGET = X[:, 0] * X[:, 1] + 5 * X[:, 2]
REGRESSOR = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X, TARGET)
CLASSIFIER = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, TARGET > 0)


def by_hand(predict, effect, data, weights=None):
    """Every row's curve minus its own mean over the data, then the standard deviation over rows."""
    column = effect.features[0]
    curves = np.empty((len(data), len(effect.grid[0])))
    for at, value in enumerate(effect.grid[0]):
        moved = data.copy()
        moved[:, column] = value
        curves[:, at] = predict(moved)
    curves -= np.average(curves, axis=1, weights=effect.weight)[:, None]
    mean = np.average(curves, axis=0, weights=weights)
    return np.sqrt(np.average((curves - mean) ** 2, axis=0, weights=weights))


def chance(data):
    return CLASSIFIER.predict_proba(data)[:, 1]


@pytest.mark.parametrize("engine", ["trees", "brute"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
def test_it_is_that_of_the_rows_own_curves(engine, weights):
    for model, predict in ((REGRESSOR, REGRESSOR.predict), (CLASSIFIER, chance)):
        explainer = icefield.Explainer(model, X, weights=weights, engine=engine)
        for feature in range(3):
            effect = explainer.partial_dependence(feature, grid=9)
            wanted = by_hand(predict, effect, X, weights)
            np.testing.assert_allclose(effect.centered_std[-1], wanted, rtol=1e-9, atol=1e-12)
            assert effect.centered_rows == len(X)


def test_parallel_curves_have_none_however_far_apart():
    additive = icefield.Explainer(lambda data: 100 * data[:, 0] + data[:, 1] ** 2, X)
    effect = additive.partial_dependence(1, grid=7)
    assert effect.std.min() > 50
    assert effect.centered_std.max() < 1e-10


def test_all_features_at_once_have_the_same():
    explainer = icefield.Explainer(CLASSIFIER, X)
    together = explainer.effects(spread=True, grid=9)
    for feature in range(3):
        alone = explainer.partial_dependence(feature, grid=9)
        np.testing.assert_allclose(together[feature].centered_std, alone.centered_std, rtol=1e-12)


def test_of_many_rows_a_seeded_sample_stands_for_all():
    many = np.random.default_rng(1).normal(size=(CENTERED_CURVES * 3, 3))
    effect = icefield.Explainer(REGRESSOR, many).partial_dependence(0, grid=9)
    again = icefield.Explainer(REGRESSOR, many, engine="brute").partial_dependence(0, grid=9)
    assert effect.centered_rows == CENTERED_CURVES
    np.testing.assert_allclose(effect.centered_std, again.centered_std, rtol=1e-9)
    wanted = by_hand(REGRESSOR.predict, effect, many)
    assert (np.abs(effect.centered_std[0] / wanted - 1) < 0.15).all()
    assert effect.individual is None


def test_some_rows_only():
    rows = np.arange(40, 100)
    effect = icefield.Explainer(REGRESSOR, X).partial_dependence(0, grid=9, rows=rows)
    np.testing.assert_allclose(effect.centered_std[0], by_hand(REGRESSOR.predict, effect, X[rows]), rtol=1e-9)


def test_where_there_is_none():
    explainer = icefield.Explainer(REGRESSOR, X)
    assert explainer.partial_dependence(0, 1, grid=4).centered_std is None
    assert explainer.partial_dependence(0, spread=False).centered_std is None
    assert explainer.ice(0, rows=[3, 5]).centered_std is None  # a choice, which does not stand for all
    assert explainer.ale(0).centered_std is None
    assert explainer.partial_dependence(0).center().centered_std is None
    groups = icefield.Explainer(REGRESSOR, X, by=2).partial_dependence(0).groups.values()
    assert all(group.centered_std is None for group in groups)
    training = icefield.Explainer(REGRESSOR, X, background="training")
    assert training.partial_dependence(0).centered_std is None
    tight = icefield.Explainer(REGRESSOR, X, memory=200_000)
    assert tight.partial_dependence(0, grid=50).centered_std is None


def test_ice_of_all_rows_has_it_too():
    explainer = icefield.Explainer(REGRESSOR, X)
    np.testing.assert_allclose(
        explainer.ice(0, grid=9, rows=len(X)).centered_std,
        explainer.partial_dependence(0, grid=9).centered_std,
        rtol=1e-9,
    )


def test_it_is_saved(tmp_path):
    effect = icefield.Explainer(REGRESSOR, X).partial_dependence(0, grid=5)
    effect.save(tmp_path / "effect.icefield")
    found = Effect.load(tmp_path / "effect.icefield")
    np.testing.assert_array_equal(found.centered_std, effect.centered_std)
