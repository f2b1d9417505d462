"""LightGBM models read as trees route and predict as LightGBM does."""

import re
from functools import partial

import lightgbm as lgb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from icefield.data.frame import table_of
from icefield.forest import CannotRead
from icefield.forest.form import ZERO_THRESHOLD
from icefield.libraries.reading import read
from tree_reading import error, read_and_compare, response, same_leaves

SMALL = {"verbose": -1, "num_leaves": 6, "min_data_in_leaf": 5, "num_threads": 1}
INFINITE = (np.inf, -np.inf, np.nan, 1e300, -1e300)


@pytest.fixture(scope="module")
def numbers():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(400, 4))
    X[:, 1] = draw.poisson(0.7, 400)  # many exact zeros
    X[::9, 0] = np.nan
    X[::7, 2] = np.nan
    score = np.nan_to_num(X[:, 0], nan=2.0) + X[:, 1] - np.nan_to_num(X[:, 2])
    return X, score


@pytest.fixture(scope="module")
def mixed():
    draw = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "x": draw.normal(size=500),
            "text": pd.Categorical(draw.choice(list("abcdefgh"), 500)),
            "number": pd.Categorical(draw.choice([10, 20, 30, 40], 500)),
            "rank": pd.Categorical(draw.choice(["lo", "mid", "hi"], 500), ["lo", "mid", "hi"], ordered=True),
            "count": draw.integers(0, 5, 500),
            "flag": draw.random(500) < 0.5,
        }
    )
    frame.loc[::11, "text"] = None
    frame.loc[::13, "x"] = np.nan
    y = (
        frame["text"].isin(["a", "c", "f"]) * 3.0
        + (frame["number"] == 20).astype(float) * 2
        + frame["rank"].cat.codes
        + frame["x"].fillna(-2)
        + frame["flag"] * frame["count"]
    )
    return frame, y.to_numpy()


def trained(X, y, rounds=8, dataset=None, **parameters):
    return lgb.train({**SMALL, **parameters}, lgb.Dataset(X, y, **(dataset or {})), rounds)


def leaves_of(model):
    return partial(model.predict, pred_leaf=True)


IDENTITY = ["regression", "regression_l1", "huber", "fair", "quantile", "mape"]
LINKED = ["poisson", "gamma", "tweedie", "cross_entropy", "cross_entropy_lambda"]


@pytest.mark.parametrize("objective", IDENTITY + LINKED)
def test_objectives_of_one_output(numbers, objective):
    X, score = numbers
    y = score if objective in IDENTITY else 1 / (1 + np.exp(-score))
    model = trained(X, y, objective=objective)
    read_model = read_and_compare(
        model, X, model.predict, leaves_of(model), raw=partial(model.predict, raw_score=True), extra=INFINITE
    )
    assert read_model.link.additive == (objective in IDENTITY)


@pytest.mark.parametrize("objective", ["regression", "regression_l1"])
def test_square_root_targets_are_squared_back_with_their_sign(numbers, objective):
    X, score = numbers
    model = trained(X, score, objective=objective, reg_sqrt=True)
    predicted = model.predict(X)
    assert (predicted < 0).any()
    read_and_compare(model, X, model.predict, leaves_of(model))


@pytest.mark.parametrize("sigmoid", [1.0, 2.5])
def test_binary_boosters_have_a_column_for_each_class(numbers, sigmoid):
    X, score = numbers
    model = trained(X, score > 0, objective="binary", sigmoid=sigmoid)

    def both(rows):
        positive = model.predict(rows)
        return np.column_stack([1 - positive, positive])

    read_and_compare(
        model, X, both, leaves_of(model), raw=partial(model.predict, raw_score=True), extra=INFINITE
    )


@pytest.mark.parametrize("objective", ["multiclass", "multiclassova"])
def test_several_classes(numbers, objective):
    X, score = numbers
    model = trained(X, np.digitize(score, [-1, 1]), objective=objective, num_class=3)
    read_model = read_and_compare(
        model, X, model.predict, leaves_of(model), raw=partial(model.predict, raw_score=True)
    )
    assert read_model.forest.n_outputs == 3


@pytest.mark.parametrize("objective", ["lambdarank", "rank_xendcg"])
def test_rankers(numbers, objective):
    X, score = numbers
    model = trained(X, score > 0, objective=objective, dataset={"group": [100] * 4})
    read_and_compare(model, X, model.predict, leaves_of(model))


def test_an_objective_of_the_users_own_has_no_link(numbers):
    X, score = numbers

    def squared(predicted, data):
        return predicted - data.get_label(), np.ones_like(predicted)

    model = trained(X, score, objective=squared)
    assert read_and_compare(model, X, model.predict, leaves_of(model)).link.additive


@pytest.mark.parametrize(
    "parameters",
    [
        {"use_missing": False},
        {"zero_as_missing": True},
        {"zero_as_missing": True, "extra_trees": True},
        {"extra_trees": True},
    ],
)
def test_missing_types_and_directions(numbers, parameters):
    X, score = numbers
    tiny = (
        ZERO_THRESHOLD,
        -ZERO_THRESHOLD,
        np.nextafter(ZERO_THRESHOLD, 1),
        np.nextafter(-ZERO_THRESHOLD, -1),
    )
    model = trained(X, score, rounds=20, **parameters)
    read_and_compare(model, X, model.predict, leaves_of(model), extra=(*INFINITE, *tiny))


@pytest.mark.parametrize("decision_type", [0, 2, 4, 6, 8, 10])
@pytest.mark.parametrize("threshold", ["0.25", "-0.25", "0", "1e-40", "-1e-40", "-1.0000000180025095e-35"])
def test_every_numeric_decision_type(numbers, decision_type, threshold):
    X, score = numbers
    text = trained(X, score, rounds=1, num_leaves=2).model_to_string()
    text = re.sub(r"split_feature=\d+", "split_feature=0", text)
    text = re.sub(r"threshold=\S+", f"threshold={threshold}", text)
    text = re.sub(r"decision_type=\d+", f"decision_type={decision_type}", text)
    model = lgb.Booster(model_str=text)
    edge = (
        ZERO_THRESHOLD,
        -ZERO_THRESHOLD,
        np.nextafter(ZERO_THRESHOLD, 1),
        np.nextafter(-ZERO_THRESHOLD, -1),
    )
    read_and_compare(model, X, model.predict, leaves_of(model), extra=(*INFINITE, *edge))


@pytest.mark.parametrize("threshold", ["1e-40", "-1e-40"])
def test_arrow_tables_keep_numbers_near_zero(numbers, threshold):
    X, score = numbers
    text = trained(X[:, :1], score, rounds=1, num_leaves=2).model_to_string()
    model = lgb.Booster(model_str=re.sub(r"threshold=\S+", f"threshold={threshold}", text))
    arrow = pa.table({"Column_0": [1e-36, -1e-36, 0.0, 1e-41, -1e-41, 1e-39, -1e-39, 1.0, -1.0]})
    table = table_of(arrow)
    assert same_leaves(read(model, table), table, model.predict(arrow, pred_leaf=True))


@pytest.mark.parametrize("change", [("decision_type", "12"), ("decision_type", "16")])
def test_unknown_decision_types_are_refused(numbers, change):
    X, score = numbers
    text = trained(X, score, rounds=1, num_leaves=2).model_to_string()
    model = lgb.Booster(model_str=re.sub(rf"{change[0]}=\d+", f"{change[0]}={change[1]}", text))
    with pytest.raises(CannotRead, match="decision_type"):
        read(model, table_of(X))


def test_dart(numbers):
    X, score = numbers
    model = trained(X, score, boosting="dart", drop_rate=0.8)
    assert read_and_compare(model, X, model.predict, leaves_of(model)).link.additive


@pytest.mark.parametrize("objective", ["regression", "poisson", "binary"])
def test_averaged_forests_keep_the_sum_as_raw_score(numbers, objective):
    X, score = numbers
    bagged = {"bagging_freq": 1, "bagging_fraction": 0.6}
    model = trained(X, score > 0, boosting="rf", objective=objective, **bagged)

    def answered(rows):
        answer = model.predict(rows)
        return np.column_stack([1 - answer, answer]) if objective == "binary" else answer

    read_and_compare(
        model, X, answered, leaves_of(model), raw=partial(model.predict, raw_score=True), extra=INFINITE
    )


def test_categories_by_level(mixed):
    X, y = mixed
    model = lgb.LGBMRegressor(n_estimators=25, min_data_per_group=5, cat_smooth=1, cat_l2=1, **SMALL).fit(
        X, y
    )
    read_model = read_and_compare(model, X, model.predict, leaves_of(model), extra=INFINITE)
    assert (read_model.forest.condition_set >= 0).any()

    shuffled = X.copy()
    shuffled["text"] = shuffled["text"].cat.set_categories(list("hgfedcbaz"))
    table = table_of(shuffled)
    assert error(read_model, table, model.predict(X)) == 0.0

    unseen = X.copy()
    unseen["text"] = pd.Categorical(["never"] * len(X))
    assert same_leaves(read_model, table_of(unseen), model.predict(unseen, pred_leaf=True))


def test_categories_from_other_frames_are_taken_by_level(mixed):
    import polars as pl

    X, y = mixed
    X = X[["x", "text", "count"]]
    model = lgb.LGBMRegressor(n_estimators=25, min_data_per_group=5, cat_smooth=1, **SMALL).fit(X, y)
    other = pl.DataFrame(
        {"x": X["x"].to_numpy(), "text": X["text"].astype(object).where(X["text"].notna(), None).tolist(),
         "count": X["count"].to_numpy()},
        schema_overrides={"text": pl.Enum(list("hgfedcba"))},
    )  # fmt: skip
    table = table_of(other)
    assert error(read(model, table), table, model.predict(X)) == 0.0


def test_category_numbers_are_truncated_and_the_rest_goes_right():
    draw = np.random.default_rng(2)
    X = np.column_stack([draw.integers(0, 70, 600).astype(float), draw.normal(size=600)])
    y = np.isin(X[:, 0], [0, 1, 5, 33, 64]) * 4.0 + X[:, 1]
    model = lgb.train(
        {**SMALL, "min_data_per_group": 2, "cat_smooth": 0.1, "max_cat_to_onehot": 100},
        lgb.Dataset(X, y, categorical_feature=[0]), 30,
    )  # fmt: skip
    awkward = [-1, -0.5, -0.0, 0.5, 0.999, 1.999, 5.5, 33.2, 64, 69, 70, 1000, 2.0**31, 2.0**31 - 1, 1e18]
    extra = (*awkward, np.nan, np.inf, -np.inf, -(2.0**31), -1e18)
    read_and_compare(model, X, model.predict, leaves_of(model), extra=extra)


def test_early_stopping_uses_the_best_iteration_of_the_given_object(numbers):
    X, score = numbers
    noisy = score + np.random.default_rng(3).normal(size=len(score)) * 3
    model = lgb.LGBMRegressor(n_estimators=30, **SMALL)
    model.fit(
        X[:200], noisy[:200], eval_X=X[200:], eval_y=noisy[200:],
        callbacks=[lgb.early_stopping(3, verbose=False)],
    )  # fmt: skip
    assert 0 < model.best_iteration_ < 30
    assert len(read_and_compare(model, X, model.predict).forest.tree_root) == model.best_iteration_

    booster = trained(X, score, rounds=9)
    booster.best_iteration = 4
    assert len(read_and_compare(booster, X, booster.predict).forest.tree_root) == 4
    everything = lgb.Booster(model_str=booster.model_to_string(num_iteration=-1))
    assert len(read_and_compare(everything, X, everything.predict).forest.tree_root) == 9


@pytest.mark.parametrize("kind", ["LGBMRegressor", "LGBMClassifier", "LGBMRanker", "LGBMModel"])
def test_wrappers(numbers, kind):
    X, score = numbers
    parameters = {"objective": "poisson"} if kind == "LGBMModel" else {}
    model = getattr(lgb, kind)(n_estimators=8, **SMALL, **parameters)
    fitting = {"group": [100] * 4} if kind == "LGBMRanker" else {}
    y = {"LGBMRegressor": score, "LGBMModel": np.exp(score / 3)}.get(kind, score > 0)
    model.fit(X, y, **fitting)
    predict = getattr(model, "predict_proba", model.predict)
    read_and_compare(model, X, predict, leaves_of(model), raw=partial(model.predict, raw_score=True))


def test_several_classes_of_a_wrapper_with_labels(numbers):
    X, score = numbers
    labels = np.array(["low", "mid", "top"])[np.digitize(score, [-1, 1])]
    model = lgb.LGBMClassifier(n_estimators=5, **SMALL).fit(X, labels)
    read_and_compare(model, X, model.predict_proba, leaves_of(model))


def test_a_tree_that_is_one_leaf(numbers):
    X, score = numbers
    model = trained(X, score, min_data_in_leaf=1000)
    read_model = read_and_compare(model, X, model.predict)
    assert len(read_model.forest.condition_column) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int32, bool])
def test_other_number_types(dtype):
    draw = np.random.default_rng(4)
    X = draw.integers(-50, 50, (300, 3)).astype(dtype)
    y = X.astype(float).sum(axis=1)
    model = trained(X, y)
    read_and_compare(model, X, model.predict, leaves_of(model))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    read_and_compare(model, frame, model.predict, leaves_of(model))


def test_integers_that_a_matrix_would_round_are_refused():
    X = np.array([[2**24 + 1, 0], [5, 1]] * 50)
    model = trained(X, X[:, 1])
    with pytest.raises(CannotRead, match="integers beyond"):
        read(model, table_of(X)).encode(table_of(X))


def test_linear_trees_are_refused_by_name(numbers):
    X, score = numbers
    model = trained(np.nan_to_num(X), score, linear_tree=True)
    with pytest.raises(CannotRead, match="linear trees"):
        read(model, table_of(X))


def test_early_stopping_of_predictions_is_refused_by_name(numbers):
    X, score = numbers
    model = lgb.LGBMClassifier(n_estimators=5, pred_early_stop=True, **SMALL).fit(X, score > 0)
    with pytest.raises(CannotRead, match="pred_early_stop"):
        read(model, table_of(X))


@pytest.mark.parametrize(
    ("pattern", "replacement", "reason"),
    [
        (r"objective=regression", "objective=surprise", "surprise"),
        (r"version=v4", "version=v9", "v9"),
        (r"num_class=1", "num_class=1\nnew_header=1", "new_header"),
        (r"shrinkage=1\n", "shrinkage=1\nnew_field=3\n", "new_field"),
        (r"leaf_value=\S+ ", "leaf_value=", "lengths"),
    ],
)
def test_what_is_not_known_is_refused_by_name(numbers, monkeypatch, pattern, replacement, reason):
    X, score = numbers
    model = trained(X, score, objective="regression")
    text, count = re.subn(pattern, replacement, model.model_to_string())
    assert count
    monkeypatch.setattr(model, "model_to_string", lambda **_: text)
    with pytest.raises(CannotRead, match=reason):
        read(model, table_of(X))


def test_subclasses_are_refused(numbers):
    class Doubled(lgb.LGBMRegressor):
        def predict(self, X, **options):
            return 2 * super().predict(X, **options)

    X, score = numbers
    with pytest.raises(CannotRead, match="Doubled"):
        read(Doubled(n_estimators=2, **SMALL).fit(X, score), table_of(X))


def test_training_weights_are_the_counts(numbers):
    X, score = numbers
    forest = read(trained(X, score), table_of(X)).forest
    split = forest.node_left >= 0
    children = forest.node_weight[forest.node_left[split]] + forest.node_weight[forest.node_right[split]]
    assert np.array_equal(forest.node_weight[split], children)
    assert np.all(forest.node_weight[forest.tree_root] == len(X))


def test_a_read_model_can_be_pickled(numbers):
    import pickle

    X, score = numbers
    table = table_of(X)
    read_model = read(trained(X, score > 0, objective="binary"), table)
    again = pickle.loads(pickle.dumps(read_model))
    assert np.array_equal(response(again, table), response(read_model, table))
