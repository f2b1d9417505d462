"""The worked examples of the texts this project grew from, number by number."""

from __future__ import annotations

import numpy as np
import pytest

import icefield

THREE = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]])
INTERACTING = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])


def additive(rows):
    return 10 + 3 * rows[:, 0] + 2 * rows[:, 1]


def interacting(rows):
    return 5 + 2 * rows[:, 0] + 3 * rows[:, 1] + 4 * rows[:, 0] * rows[:, 1]


@pytest.fixture
def plain() -> icefield.Explainer:
    return icefield.Explainer(additive, THREE)


@pytest.fixture
def crossed() -> icefield.Explainer:
    return icefield.Explainer(interacting, INTERACTING)


def test_the_dependence_on_x1_is_28_at_2_and_31_at_3(plain):
    assert plain.partial_dependence(0, grid=[2.0, 3.0]).average.tolist() == [[28.0, 31.0]]


def test_the_three_predictions_behind_each_of_those_means(plain):
    curves = plain.ice(0, grid=[2.0, 3.0]).individual
    assert curves[0, :, 0].tolist() == [26.0, 28.0, 30.0]
    assert curves[0, :, 1].tolist() == [29.0, 31.0, 33.0]


def test_fixing_x1_at_2_gives_119_229_339_and_their_mean_229(crossed):
    effect = crossed.ice(0, grid=[2.0])
    assert effect.individual[0, :, 0].tolist() == [119.0, 229.0, 339.0]
    assert effect.average.tolist() == [[229.0]]


def test_fixing_x2_at_20_gives_147_229_311_and_their_mean_229(crossed):
    effect = crossed.ice(1, grid=[20.0])
    assert effect.individual[0, :, 0].tolist() == [147.0, 229.0, 311.0]
    assert effect.average.tolist() == [[229.0]]


def test_the_surface_is_229_at_2_and_20(crossed):
    surface = crossed.partial_dependence(0, 1, grid=[[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    assert surface.average[0, 1, 1] == 229.0
    # The surface's middle row and column are the two one-way walks of the example.
    assert surface.average[0, 1].tolist() == [119.0, 229.0, 339.0]
    assert surface.average[0, :, 1].tolist() == [147.0, 229.0, 311.0]


def test_the_interaction_makes_the_surface_not_additive(crossed):
    surface = crossed.partial_dependence(0, 1, grid=[[1.0, 3.0], [10.0, 30.0]]).average[0]
    mixed_difference = surface[1, 1] - surface[1, 0] - surface[0, 1] + surface[0, 0]
    assert mixed_difference == 4 * 2 * 20


@pytest.mark.parametrize("feature", [0, 1])
def test_partial_dependence_is_the_mean_of_the_individual_curves(crossed, feature):
    effect = crossed.ice(feature)
    np.testing.assert_allclose(effect.individual.mean(axis=1), effect.average, rtol=1e-15)
    np.testing.assert_allclose(effect.individual.std(axis=1), effect.std, rtol=1e-14)
    assert np.array_equal(effect.average, crossed.partial_dependence(feature).average)


def test_change_from_the_base_value(plain):
    """The axis of one text: distinct values of the feature against the change from the first mean."""
    grid = np.unique(THREE[:, 0])
    means = [additive(np.column_stack([np.full(3, v), THREE[:, 1]])).mean() for v in grid]
    centred = plain.partial_dependence(0, grid=icefield.Grid("distinct")).center()
    assert centred.grid[0].tolist() == grid.tolist()
    assert centred.average[0].tolist() == [mean - means[0] for mean in means] == [0.0, 3.0, 6.0]


def test_classical_dependence_comes_with_the_standard_deviation_of_the_curves(crossed):
    grid = [1.0, 2.0]
    predictions = np.array([interacting(np.column_stack([np.full(3, v), INTERACTING[:, 1]])) for v in grid])
    np.testing.assert_allclose(
        crossed.partial_dependence(0, grid=grid).std[0], predictions.std(axis=1), rtol=1e-14
    )


def test_importance_by_flatness_from_the_curve(plain):
    """sqrt of the sample variance of the curve over its K grid points."""
    curve = plain.partial_dependence(0, grid=[1.0, 2.0, 3.0, 4.0]).average[0]
    flat = plain.partial_dependence(1, grid=[5.0, 5.0, 5.0]).average[0]
    deviations = curve - curve.mean()
    importance = np.sqrt(np.sum(deviations**2) / (len(curve) - 1))
    assert importance == pytest.approx(3 * np.std([1, 2, 3, 4], ddof=1), rel=1e-15)
    assert np.std(flat, ddof=1) == 0.0


def test_a_linear_model_always_shows_a_line(plain):
    slope = plain.partial_dependence(0, grid=np.linspace(-5, 5, 21)).derivative().average
    np.testing.assert_allclose(slope, 3.0, rtol=1e-12)


def test_individual_curves_reveal_what_the_average_hides():
    """Two halves with opposite slopes: a flat average over curves that are anything but."""
    rows = np.array([[0.0, -1.0], [0.0, 1.0]])
    effect = icefield.Explainer(lambda r: r[:, 0] * r[:, 1], rows).ice(0, grid=[0.0, 1.0, 2.0])
    assert effect.average.tolist() == [[0.0, 0.0, 0.0]]
    assert effect.individual[0].tolist() == [[0.0, -1.0, -2.0], [0.0, 1.0, 2.0]]


def test_a_flat_line_for_a_feature_the_model_does_not_use():
    ignores = icefield.Explainer(lambda r: r[:, 1] * 2, THREE).partial_dependence(0)
    assert np.ptp(ignores.average) == 0.0


def test_the_reference_guides_boosted_stumps_and_its_pair():
    """The guide's two one-way curves and one surface of a classifier, against a loop over predict."""
    from sklearn.datasets import make_hastie_10_2
    from sklearn.ensemble import GradientBoostingClassifier

    X, y = make_hastie_10_2(n_samples=400, random_state=0)
    model = GradientBoostingClassifier(n_estimators=20, learning_rate=1.0, max_depth=1, random_state=0)
    model.fit(X, y)
    ex = icefield.Explainer(model, X, engine="brute")
    for features in ((0,), (1,), (0, 1)):
        effect = ex.partial_dependence(*features, grid=4)
        for at in np.ndindex(*effect.average.shape[1:]):
            replaced = X.copy()
            for feature, values, i in zip(features, effect.grid, at):
                replaced[:, feature] = values[i]
            expected = model.predict_proba(replaced)[:, 1].mean()
            assert effect.average[(0, *at)] == pytest.approx(expected, rel=1e-13)


def test_the_reference_guides_iris_with_a_target():
    from sklearn.datasets import load_iris
    from sklearn.ensemble import GradientBoostingClassifier

    iris = load_iris()
    model = GradientBoostingClassifier(n_estimators=10, max_depth=1, random_state=0)
    model.fit(iris.data, iris.target)
    every = icefield.Explainer(model, iris.data, engine="brute")
    first = icefield.Explainer(model, iris.data, target=0, engine="brute")
    assert every.partial_dependence(3).outputs == (0, 1, 2)
    assert first.partial_dependence(3).outputs == (0,)
    assert np.array_equal(first.partial_dependence(3).average[0], every.partial_dependence(3).average[0])
