"""Answers that are plausible and wrong elsewhere, with the right ones.

Each test first shows that the trap is real (or what the wrong reading would give), then that the
trees as read give what asking the model itself gives.
"""

import re

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.inspection import partial_dependence

import forest_walk as walk
from icefield import Explainer
from icefield.data.frame import table_of
from icefield.errors import EngineError
from icefield.forest import CannotRead
from icefield.libraries.reading import read


def brute(predict, X, column, values):
    """The mean prediction with a column replaced by each value."""
    means = []
    for value in values:
        moved = X.copy()
        moved[column] = (
            pd.Categorical([value] * len(X), X[column].cat.categories) if hasattr(X[column], "cat") else value
        )
        means.append(predict(moved).mean(axis=0))
    return np.array(means)


def by_the_trees(read_model):
    return lambda rows: read_model.link.apply(walk.raw(read_model.forest, read_model.encode(table_of(rows))))


def training_weighted(forest, column, code):
    """Mean raw prediction over the training rows that a column's value leaves open, baseline included."""

    def below(node):
        condition = forest.node_condition[node]
        if condition < 0:
            return forest.leaf_value[forest.node_leaf[node], 0]
        left, right = forest.node_left[node], forest.node_right[node]
        if forest.condition_column[condition] == column:
            goes_left = walk.goes_left(forest, condition, np.array([code]))[0]
            return below(left if goes_left else right)
        weights = forest.node_weight[[left, right]]
        return np.dot(weights, [below(left), below(right)]) / weights.sum()

    return forest.base[0] + sum(below(root) for root in forest.tree_root)


@pytest.fixture(scope="module")
def categorical():
    draw = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "x": draw.normal(size=600),
            "kind": pd.Categorical(draw.choice(list("abcdef"), 600)),
        }
    )
    effect = X["kind"].map(dict(zip("abcdef", [5.0, -3.0, 4.0, -2.0, 6.0, -4.0]))).astype(float)
    model = HistGradientBoostingRegressor(max_iter=30, min_samples_leaf=5).fit(X, 50 + effect + X["x"])
    return X, model


def test_categories_of_histogram_boosting_are_sets_and_the_baseline_counts(categorical):
    X, model = categorical
    levels = list("abcdef")
    right = brute(model.predict, X, "kind", levels)
    assert np.ptp(right) > 8
    assert right.mean() == pytest.approx(50, abs=3)

    codes = X.assign(kind=X["kind"].cat.codes.astype(float))
    on_codes = HistGradientBoostingRegressor(max_iter=30, min_samples_leaf=5, categorical_features=["kind"])
    on_codes.fit(codes, model.predict(X))
    elsewhere = partial_dependence(on_codes, codes, ["kind"], method="recursion", kind="average")["average"][
        0
    ]
    truth = partial_dependence(on_codes, codes, ["kind"], method="brute", kind="average")["average"][0]
    assert np.abs(elsewhere - truth).max() > 10

    read_model = read(model, table_of(X))
    ours = brute(by_the_trees(read_model), X, "kind", levels)[:, 0]
    assert np.allclose(ours, right, rtol=0, atol=1e-11)

    effect = Explainer(model, X, engine="trees").partial_dependence("kind")
    assert effect.grid[0].tolist() == levels
    assert np.allclose(effect.average[0], right, rtol=0, atol=1e-11)
    given = Explainer(on_codes, codes).partial_dependence("kind", grid=np.arange(6.0))
    assert given.engine == "trees"
    assert np.allclose(given.average[0], truth, rtol=0, atol=1e-11)

    # the training-weighted quantity has a right answer on categories too: the columns are
    # independent here, so it is close to the mean over the rows
    column = read_model.drives["kind"][0]
    weighted = np.array([training_weighted(read_model.forest, column, code) for code in range(6)])
    assert np.abs(weighted - right).max() < 0.2
    trained = Explainer(model, X, background="training").partial_dependence("kind")
    assert np.allclose(trained.average[0], weighted, rtol=0, atol=1e-11)


def test_training_weights_agree_with_recursion_where_recursion_is_right(categorical):
    X, _ = categorical
    numeric = X[["x"]].assign(z=X["kind"].cat.codes.astype(float))
    model = HistGradientBoostingRegressor(max_iter=20).fit(numeric, numeric["x"] * numeric["z"])
    grid = np.linspace(-1, 1, 7)
    recursion = partial_dependence(
        model, numeric, ["x"], method="recursion", kind="average", custom_values={"x": grid}
    )["average"][0]
    forest = read(model, table_of(numeric)).forest
    ours = np.array([training_weighted(forest, 0, value) for value in grid])
    assert np.allclose(ours - forest.base[0], recursion, rtol=0, atol=1e-12)
    effect = Explainer(model, numeric, background="training").partial_dependence("x", grid=grid)
    assert np.allclose(effect.average[0], ours, rtol=0, atol=1e-12)


def test_linear_leaves_are_not_constants():
    draw = np.random.default_rng(1)
    X = draw.normal(size=(400, 3))
    model = lgb.train(
        {"linear_tree": True, "verbose": -1, "num_leaves": 5, "num_threads": 1},
        lgb.Dataset(X, X[:, 0] * 3 + X[:, 1] ** 2), 10,
    )  # fmt: skip
    # dropping the linear parts gives a file that loads and predicts, something else
    text = re.sub(r"is_linear=1", "is_linear=0", model.model_to_string())
    text = re.sub(r"^(leaf_const|num_features|leaf_features|leaf_coeff)=.*\n", "", text, flags=re.M)
    text = re.sub(r"^tree_sizes=.*\n", "", text, flags=re.M)
    constant = lgb.Booster(model_str=text)
    assert np.abs(constant.predict(X) - model.predict(X)).max() > 0.5

    with pytest.raises(CannotRead, match="linear trees"):
        read(model, table_of(X))
    with pytest.raises(EngineError, match="linear trees"):
        Explainer(model, X, engine="trees")
    grid = np.linspace(-2, 2, 9)
    effect = Explainer(model, X).partial_dependence(0, grid=grid)
    assert effect.engine == "brute"
    assert "LightGBM linear trees hold linear models in their leaves" in effect.why
    moved = np.repeat(X[None], len(grid), axis=0)
    moved[:, :, 0] = grid[:, None]
    right = model.predict(moved.reshape(-1, 3)).reshape(len(grid), -1).mean(axis=1)
    assert np.allclose(effect.average[0], right, rtol=0, atol=1e-12)
    wrong = constant.predict(moved.reshape(-1, 3)).reshape(len(grid), -1).mean(axis=1)
    assert np.abs(wrong - right).max() > 0.1
    read_constant = read(constant, table_of(X))
    assert np.allclose(by_the_trees(read_constant)(X)[:, 0], constant.predict(X), rtol=0, atol=1e-12)


def test_every_class_of_a_forest_has_its_own_curve_and_offset():
    draw = np.random.default_rng(2)
    X = pd.DataFrame(draw.normal(size=(300, 3)), columns=list("abc"))
    labels = np.digitize(X["a"] + 0.3 * X["b"], [-0.5, 0.8])
    model = RandomForestClassifier(n_estimators=10, max_depth=5, random_state=0).fit(X, labels)
    grid = np.linspace(-2, 2, 9)
    right = brute(model.predict_proba, X, "a", grid)
    ours = brute(by_the_trees(read(model, table_of(X))), X, "a", grid)
    assert ours.shape == (9, 3)
    assert np.allclose(ours, right, rtol=0, atol=1e-13)
    assert np.allclose(ours.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    # the classes' curves are far apart, so that one cannot stand for another
    assert np.abs(ours[:, 0] - ours[:, 2]).max() > 0.5

    every = Explainer(model, X, engine="trees").partial_dependence("a", grid=grid)
    assert every.outputs == (0, 1, 2)
    assert np.allclose(every.average.T, right, rtol=0, atol=1e-13)
    for label in (0, 1, 2):
        explainer = Explainer(model, X, engine="trees", target=label)
        one = explainer.partial_dependence("a", grid=grid)
        assert one.outputs == (label,)
        assert np.allclose(one.average[0], right[:, label], rtol=0, atol=1e-13)
        # no offset is lost: a column that no tree uses leaves the mean prediction
        flat = Explainer(
            model.__class__(n_estimators=5, max_depth=3, random_state=0).fit(X.assign(c=0.0), labels),
            X.assign(c=0.0), engine="trees", target=label,
        )  # fmt: skip
        mean = flat.model.predict(flat.table).mean()
        assert np.allclose(flat.partial_dependence("c", grid=[-1.0, 1.0]).average, mean, rtol=0, atol=1e-13)
