"""The self-check passes what agrees, names what does not, and looks at rows with missing values."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor

import forest_walk as walk
from icefield.data.frame import table_of
from icefield.forest import self_check
from icefield.forest.check import raw_by_levels
from icefield.libraries.reading import read
from strategies import random_forest


@pytest.fixture(scope="module")
def forest():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(500, 3))
    X[:3, 0] = np.nan
    model = RandomForestRegressor(n_estimators=4, max_depth=4, random_state=0).fit(
        X, draw.normal(size=500) * 100
    )
    table = table_of(X)
    return model, table, read(model, table)


def test_agreement(forest):
    model, table, read_model = forest
    assert self_check(read_model, table, lambda rows: model.predict(rows.native)) is None


@pytest.mark.parametrize("change", [1e-6, -1.0, np.nan])
def test_a_leaf_that_differs_is_told(forest, change):
    model, table, read_model = forest
    wrong = replace(read_model.forest, leaf_value=read_model.forest.leaf_value + change)
    reason = self_check(replace(read_model, forest=wrong), table, lambda rows: model.predict(rows.native))
    assert ("not all finite" if np.isnan(change) else "64 of 64 checked rows differ") in reason


@pytest.mark.parametrize("size", [1e300, 1e308, np.inf])
def test_one_leaf_of_any_size_does_not_make_the_others_right(forest, size):
    """A tolerance that grows with the largest leaf would pass anything."""
    model, table, read_model = forest
    values = read_model.forest.leaf_value.copy()
    values[1:] += 1.0
    values[0] = size
    wrong = replace(read_model, forest=replace(read_model.forest, leaf_value=values))
    assert self_check(wrong, table, lambda rows: model.predict(rows.native)) is not None


def test_a_check_that_is_not_finite_fails(forest):
    _, table, read_model = forest
    huge = replace(read_model.forest, leaf_value=np.full_like(read_model.forest.leaf_value, 1e308))
    read_huge = replace(read_model, forest=huge)
    assert "not all finite" in self_check(read_huge, table, lambda rows: np.full(rows.n_rows, 1e308))
    for answer in (np.inf, np.nan):
        reason = self_check(read_model, table, lambda rows, answer=answer: np.full(rows.n_rows, answer))
        assert "not all finite" in reason


def test_rows_with_missing_values_are_among_the_checked(forest):
    model, table, read_model = forest
    conditions = ~read_model.forest.condition_missing_left
    wrong = replace(read_model, forest=replace(read_model.forest, condition_missing_left=conditions))
    for seed in range(5):
        reason = self_check(wrong, table, lambda rows: model.predict(rows.native), seed=seed)
        assert reason is not None
    seen = []
    self_check(read_model, table, lambda rows: seen.append(rows) or model.predict(rows.native))
    assert seen[0].n_rows == 64
    assert seen[0].column(0).missing.sum() == 3


def test_both_scales_and_the_number_of_outputs():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(200, 2))
    model = HistGradientBoostingClassifier(max_iter=3).fit(X, X[:, 0] > 0)
    table = table_of(X)
    read_model = read(model, table)
    assert self_check(read_model, table, lambda rows: model.predict_proba(rows.native)) is None
    assert (
        self_check(read_model, table, lambda rows: model.decision_function(rows.native), scale="raw") is None
    )
    reason = self_check(read_model, table, lambda rows: model.decision_function(rows.native))
    assert reason == "the trees give 2 outputs, the model 1"


@pytest.mark.parametrize("seed", range(30))
def test_walking_all_trees_at_once_is_walking_them_one_by_one(seed):
    draw = np.random.default_rng(seed)
    drawn = random_forest(draw)
    matrix = drawn.matrix(draw, 40)
    by_levels, one_by_one = raw_by_levels(drawn.forest, matrix), walk.raw(drawn.forest, matrix)
    assert by_levels.shape == one_by_one.shape
    assert np.abs(by_levels - one_by_one).max(initial=0.0) <= 1e-12 * drawn.size


def test_few_rows_are_all_checked(forest):
    model, table, read_model = forest
    few = table.slice(0, 5)
    seen = []
    assert (
        self_check(read_model, few, lambda rows: seen.append(rows.n_rows) or model.predict(rows.native))
        is None
    )
    assert seen == [5]
