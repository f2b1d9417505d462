"""XGBoost models read as trees route and predict as XGBoost does."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xgboost as xgb

from icefield.data.frame import table_of
from icefield.forest import CannotRead
from icefield.libraries.reading import read
from tree_reading import error, on_the_thresholds, read_and_compare, same_leaves

SMALL = {"max_depth": 3, "nthread": 1}
INFINITE = (np.inf, -np.inf, np.nan, 1e300, -1e300)


@pytest.fixture(scope="module")
def numbers():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(400, 4))
    X[:, 1] = draw.poisson(0.7, 400)
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
            "text": pd.Categorical(draw.choice(["a", "bb", "cc", "d", "eee", "f"], 500)),
            "number": pd.Categorical(draw.choice([10, 20, 30, 40], 500)),
            "count": draw.integers(0, 5, 500),
            "flag": draw.random(500) < 0.5,
        }
    )
    frame.loc[::11, "text"] = None
    frame.loc[::13, "x"] = np.nan
    y = (
        frame["text"].isin(["a", "cc", "f"]) * 3.0
        + (frame["number"] == 20).astype(float) * 2
        + frame["x"].fillna(-2)
        + frame["flag"] * frame["count"]
    )
    return frame, y.to_numpy()


def trained(X, y, rounds=6, data=None, **parameters):
    return xgb.train({**SMALL, **parameters}, xgb.DMatrix(X, y, **(data or {})), rounds)


def asked(booster, **options):
    return lambda rows: booster.predict(xgb.DMatrix(rows), **options)


def leaves_of(booster):
    return asked(booster, pred_leaf=True)


def compare_booster(booster, X, predict=None, extra=(np.nan,)):
    return read_and_compare(
        booster, X, predict or asked(booster), leaves_of(booster), raw=asked(booster, output_margin=True),
        extra=extra,
    )  # fmt: skip


OBJECTIVES = [
    "reg:squarederror", "reg:squaredlogerror", "reg:pseudohubererror", "reg:absoluteerror",
    "reg:quantileerror", "reg:logistic", "count:poisson", "reg:gamma", "reg:tweedie", "survival:cox",
    "binary:logitraw",
]  # fmt: skip


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("base_score", [None, 0.3])
def test_objectives_of_one_output(numbers, objective, base_score):
    X, score = numbers
    y = 1 / (1 + np.exp(-score))
    given = {} if base_score is None else {"base_score": base_score}
    if objective == "reg:quantileerror":
        given["quantile_alpha"] = 0.4
    compare_booster(trained(X, y, objective=objective, **given), X)


def test_survival_times(numbers):
    X, score = numbers
    data = xgb.DMatrix(X)
    data.set_float_info("label_lower_bound", np.exp(score / 4))
    data.set_float_info("label_upper_bound", np.exp(score / 4) + 0.2)
    compare_booster(xgb.train({**SMALL, "objective": "survival:aft"}, data, 6), X)


@pytest.mark.parametrize("objective", ["rank:pairwise", "rank:ndcg", "rank:map"])
def test_rankers(numbers, objective):
    X, score = numbers
    compare_booster(trained(X, score > 0, objective=objective, data={"group": [100] * 4}), X)


@pytest.mark.parametrize("base_score", [None, 0.2])
def test_binary_boosters_have_a_column_for_each_class(numbers, base_score):
    X, score = numbers
    given = {} if base_score is None else {"base_score": base_score}
    booster = trained(X, score > 0, objective="binary:logistic", **given)

    def both(rows):
        positive = asked(booster)(rows)
        return np.column_stack([1 - positive, positive])

    compare_booster(booster, X, both)


@pytest.mark.parametrize("parameters", [{}, {"base_score": 0.3}, {"num_parallel_tree": 3, "subsample": 0.6}])
def test_several_classes(numbers, parameters):
    X, score = numbers
    labels = np.digitize(score, [-1, 1])
    booster = trained(X, labels, objective="multi:softprob", num_class=3, **parameters)
    assert compare_booster(booster, X).forest.n_outputs == 3


def test_several_quantiles(numbers):
    X, score = numbers
    booster = trained(X, score, objective="reg:quantileerror", quantile_alpha=[0.2, 0.5, 0.8])
    assert compare_booster(booster, X).forest.n_outputs == 3


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_several_targets(numbers, strategy):
    X, score = numbers
    Y = np.column_stack([score, 1 - 2 * score, X[:, 1]])
    booster = trained(X, Y, multi_strategy=strategy, tree_method="hist")
    read_model = compare_booster(booster, X)
    assert read_model.forest.leaf_value.shape[1] == (3 if strategy == "multi_output_tree" else 1)


@pytest.mark.parametrize("parameters", [{"rate_drop": 0.5}, {"rate_drop": 0.5, "normalize_type": "forest"}])
def test_dart_weighs_its_trees(numbers, parameters):
    X, score = numbers
    compare_booster(trained(X, score, rounds=12, booster="dart", **parameters), X)


def test_trees_with_pruned_nodes(numbers):
    X, score = numbers
    booster = trained(X, score, tree_method="exact", gamma=40.0, max_depth=6)
    trees = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]["model"]["trees"]
    assert any(int(tree["tree_param"]["num_deleted"]) > 0 for tree in trees)
    compare_booster(booster, X)


def test_wrappers_take_infinities_and_matrices_of_boosters_refuse_them(numbers):
    X, score = numbers
    model = xgb.XGBRegressor(n_estimators=6, **SMALL).fit(X, score)
    read_and_compare(model, X, model.predict, extra=INFINITE)
    rows = np.array([[np.inf, 0.0, 0.0, 0.0]])
    booster = model.get_booster()
    with pytest.raises(xgb.core.XGBoostError, match="inf"):
        asked(booster)(rows)
    with pytest.raises(ValueError, match="infinity"):
        read(booster, table_of(X)).encode(table_of(rows))


@pytest.mark.parametrize("missing", [-1.0, 0.0, 0.1, np.nan])
def test_the_number_that_stands_for_missing(numbers, missing):
    X, score = numbers
    X = np.where(np.isnan(X), missing, X)
    model = xgb.XGBRegressor(n_estimators=6, missing=missing, **SMALL).fit(X, score)
    extra = (missing, np.nextafter(missing, 1), float(np.float32(0.1)), np.nan)
    read_and_compare(model, X, model.predict, extra=extra)


def test_absent_entries_of_sparse_rows_are_missing_and_dense_zeros_are_not(numbers):
    X, score = numbers
    zeros = np.nan_to_num(X)
    zeros[:, 0] = np.where(zeros[:, 0] < 0, 0, zeros[:, 0])
    sparse = scipy.sparse.csr_matrix(zeros)
    model = xgb.XGBRegressor(n_estimators=6, **SMALL).fit(sparse, score)
    assert np.abs(model.predict(sparse) - model.predict(zeros)).max() > 0.1
    for rows in (sparse, zeros):
        table = table_of(rows)
        read_model = read(model, table)
        assert error(read_model, table, model.predict(rows)) <= read_model.tolerance


def test_early_stopping_truncates_wrappers_and_not_boosters(numbers):
    X, score = numbers
    noisy = score + np.random.default_rng(3).normal(size=len(score)) * 3
    model = xgb.XGBRegressor(n_estimators=100, early_stopping_rounds=3, num_parallel_tree=2, **SMALL)
    model.fit(X[:200], noisy[:200], eval_set=[(X[200:], noisy[200:])], verbose=False)
    booster = model.get_booster()
    assert model.best_iteration + 1 < booster.num_boosted_rounds()
    of_wrapper = read_and_compare(model, X, model.predict)
    assert len(of_wrapper.forest.tree_root) == 2 * (model.best_iteration + 1)
    of_booster = compare_booster(booster, X)
    assert len(of_booster.forest.tree_root) == 2 * booster.num_boosted_rounds()


@pytest.mark.parametrize(
    "kind", ["XGBRegressor", "XGBClassifier", "XGBRanker", "XGBRFRegressor", "XGBRFClassifier"]
)
def test_wrappers(numbers, kind):
    X, score = numbers
    model = getattr(xgb, kind)(n_estimators=6, **SMALL)
    fitting = {"group": [100] * 4} if kind == "XGBRanker" else {}
    model.fit(X, score if "Regressor" in kind else (score > 0).astype(int), **fitting)
    predict = getattr(model, "predict_proba", model.predict)
    read_and_compare(model, X, predict, raw=partial(model.predict, output_margin=True), extra=INFINITE)


def test_a_regressor_of_probabilities_has_one_column(numbers):
    X, score = numbers
    model = xgb.XGBRegressor(n_estimators=6, objective="binary:logistic", **SMALL).fit(X, score > 0)
    read_and_compare(model, X, model.predict)


@pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax"])
def test_several_classes_of_a_wrapper(numbers, objective):
    X, score = numbers
    model = xgb.XGBClassifier(n_estimators=4, objective=objective, **SMALL).fit(
        X, np.digitize(score, [-1, 1])
    )
    read_and_compare(model, X, model.predict_proba, model.apply)


def test_several_labels_of_a_wrapper(numbers):
    X, score = numbers
    labels = np.column_stack([score > 0, score > 1, X[:, 1] > 0]).astype(int)
    model = xgb.XGBClassifier(n_estimators=4, **SMALL).fit(X, labels)
    read_and_compare(model, X, model.predict_proba)


@pytest.mark.parametrize("onehot", [1, 100])
def test_categories_by_level(mixed, onehot):
    X, y = mixed
    model = xgb.XGBRegressor(n_estimators=10, enable_categorical=True, max_cat_to_onehot=onehot, **SMALL).fit(
        X, y
    )
    read_model = read_and_compare(model, X, model.predict, model.apply, extra=(np.nan,))
    assert (read_model.forest.condition_set >= 0).any()

    shuffled = X.copy()
    shuffled["text"] = shuffled["text"].cat.set_categories(["f", "eee", "d", "cc", "bb", "a"])
    shuffled["number"] = shuffled["number"].cat.set_categories([40, 10, 30, 20])
    table = table_of(shuffled)
    assert same_leaves(read_model, table, model.apply(X))
    assert same_leaves(read_model, table, model.apply(shuffled))


def test_categories_beyond_ascii_are_refused_since_xgboost_stores_them_cut(mixed):
    X, y = mixed
    X = X.assign(text=X["text"].cat.rename_categories({"bb": "bé"}))
    model = xgb.XGBRegressor(n_estimators=4, enable_categorical=True, **SMALL).fit(X, y)
    with pytest.raises(CannotRead, match="ASCII"):
        read(model, table_of(X))


def test_a_category_the_model_never_saw_is_refused(mixed):
    X, y = mixed
    model = xgb.XGBRegressor(n_estimators=4, enable_categorical=True, **SMALL).fit(X, y)
    read_model = read(model, table_of(X))
    unseen = X.copy()
    unseen["text"] = pd.Categorical(["never"] * len(X))
    with pytest.raises(CannotRead, match="not trained on"):
        read_model.encode(table_of(unseen))
    unused = X.copy()
    unused["text"] = unused["text"].cat.add_categories("never")
    assert same_leaves(read_model, table_of(unused), model.apply(X))


def test_category_numbers_in_the_set_go_right_and_invalid_ones_left():
    draw = np.random.default_rng(2)
    X = np.column_stack([draw.integers(0, 40, 600).astype(float), draw.normal(size=600)])
    y = np.isin(X[:, 0], [0, 1, 5, 33]) * 4.0 + X[:, 1]
    model = xgb.XGBRegressor(
        n_estimators=8, enable_categorical=True, feature_types=["c", "q"], max_cat_to_onehot=1, **SMALL
    ).fit(X, y)
    awkward = [-1, -0.5, -0.0, 0.5, 1.999, 5.5, 33.2, 39, 40, 1000, 2.0**24 - 1, 2.0**24, 1e9]
    extra = (*awkward, np.nan, np.inf, -np.inf)
    read_model = read(model, table_of(X))
    rows = on_the_thresholds(read_model, X, extra)
    table = table_of(rows)
    assert (read_model.forest.condition_set >= 0).any()
    finite = rows[~np.isinf(rows).any(axis=1)]
    assert same_leaves(read_model, table_of(finite), model.apply(finite))
    assert error(read_model, table, model.predict(rows)) <= read_model.tolerance


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
def test_other_number_types(dtype):
    draw = np.random.default_rng(4)
    X = draw.integers(-50, 50, (300, 3)).astype(dtype)
    model = xgb.XGBRegressor(n_estimators=6, **SMALL).fit(X, X.astype(float).sum(axis=1))
    read_and_compare(model, X, model.predict, model.apply)


def test_linear_boosters_are_refused_by_name(numbers):
    X, score = numbers
    booster = xgb.train({"booster": "gblinear", "nthread": 1}, xgb.DMatrix(np.nan_to_num(X), score), 3)
    with pytest.raises(CannotRead, match="gblinear"):
        read(booster, table_of(X))


def test_hinge_classifiers_are_refused_by_name(numbers):
    X, score = numbers
    with pytest.raises(CannotRead, match="binary:hinge"):
        read(trained(X, score > 0, objective="binary:hinge"), table_of(X))


def rewritten(booster, change):
    """The booster with its JSON rewritten on the way out."""
    learner = json.loads(bytes(booster.save_raw("json")))
    change(learner["learner"])
    text = json.dumps(learner).encode()
    booster.save_raw = lambda form: bytearray(text)
    return booster


def unknown_objective(learner):
    learner["objective"]["name"] = "reg:surprise"


def unknown_split_type(learner):
    learner["gradient_booster"]["model"]["trees"][0]["split_type"][0] = 2


def unknown_field(learner):
    learner["gradient_booster"]["model"]["trees"][0]["new_field"] = []


def infinite_threshold(learner):
    learner["gradient_booster"]["model"]["trees"][0]["split_conditions"][0] = float("-inf")


def misfitting_base_score(learner):
    learner["learner_model_param"]["base_score"] = "[1E0,2E0]"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (unknown_objective, "reg:surprise"),
        (unknown_split_type, "split_type 2"),
        (unknown_field, "new_field"),
        (infinite_threshold, "minus infinity"),
        (misfitting_base_score, "base_score"),
    ],
)
def test_what_is_not_known_is_refused_by_name(numbers, change, reason):
    X, score = numbers
    with pytest.raises(CannotRead, match=reason):
        read(rewritten(trained(X, score), change), table_of(X))


def test_a_scalar_base_score_of_older_models_is_read(numbers):
    X, score = numbers
    booster = trained(X, score, base_score=0.25)

    def to_scalar(learner):
        learner["learner_model_param"]["base_score"] = "2.5E-1"

    assert read(rewritten(booster, to_scalar), table_of(X)).forest.base.tolist() == [0.25]


def test_training_weights_are_the_cover(numbers):
    X, score = numbers
    forest = read(trained(X, score), table_of(X)).forest
    assert np.all(forest.node_weight[forest.tree_root] == len(X))
