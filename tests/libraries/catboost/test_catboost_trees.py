"""CatBoost models read as trees route and predict as CatBoost does."""

from functools import partial
from subprocess import CompletedProcess

import catboost as cb
import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.data.frame import table_of
from icefield.errors import IcefieldError, InputError, ModelError
from icefield.forest import CannotRead
from icefield.libraries.catboost import format
from icefield.libraries.catboost.trees import _Columns, _Splits, _symmetric
from icefield.libraries.native_files import run_in_child
from icefield.libraries.reading import read
from tree_reading import read_and_compare, same_leaves

SMALL = {"iterations": 8, "depth": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
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


def raw_of(model):
    return partial(model.predict, prediction_type="RawFormulaVal")


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "loss", ["RMSE", "MAE", "Quantile:alpha=0.3", "Huber:delta=1", "Lq:q=3", "Expectile:alpha=0.3"]
)
@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
def test_losses_without_a_link(numbers, loss, policy):
    X, score = numbers
    model = cb.CatBoostRegressor(loss_function=loss, grow_policy=policy, **SMALL).fit(X, score)
    read_model = read_and_compare(
        model, X, model.predict, model.calc_leaf_indexes, raw=raw_of(model), extra=INFINITE
    )
    assert read_model.link.additive


@pytest.mark.parametrize("loss", ["Poisson", "Tweedie:variance_power=1.5"])
def test_losses_with_a_logarithm(numbers, loss):
    X, score = numbers
    model = cb.CatBoostRegressor(loss_function=loss, **SMALL).fit(X, np.exp(score / 4))
    read_and_compare(model, X, model.predict, model.calc_leaf_indexes, raw=raw_of(model), extra=INFINITE)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("loss", ["Logloss", "CrossEntropy"])
@pytest.mark.parametrize("policy", ["SymmetricTree", "Lossguide"])
def test_binary_classifiers(numbers, loss, policy):
    X, score = numbers
    model = cb.CatBoostClassifier(loss_function=loss, grow_policy=policy, **SMALL).fit(
        X, (score > 0).astype(int)
    )
    read_and_compare(
        model, X, model.predict_proba, model.calc_leaf_indexes, raw=raw_of(model), extra=INFINITE
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("loss", ["MultiClass", "MultiClassOneVsAll"])
@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise"])
def test_several_classes(numbers, loss, policy):
    X, score = numbers
    labels = np.array(["low", "mid", "top"])[np.digitize(score, [-1, 1])]
    model = cb.CatBoostClassifier(loss_function=loss, grow_policy=policy, **SMALL).fit(X, labels)
    read_and_compare(model, X, model.predict_proba, model.calc_leaf_indexes, raw=raw_of(model))


def test_several_labels_and_several_targets(numbers):
    X, score = numbers
    labels = np.column_stack([score > 0, score > 1]).astype(int)
    model = cb.CatBoostClassifier(loss_function="MultiLogloss", **SMALL).fit(X, labels)
    read_and_compare(model, X, model.predict_proba, model.calc_leaf_indexes)
    model = cb.CatBoostRegressor(loss_function="MultiRMSE", **SMALL).fit(
        X, np.column_stack([score, -2 * score])
    )
    read_and_compare(model, X, model.predict, model.calc_leaf_indexes)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["Min", "Max", "Forbidden"])
@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise"])
def test_ways_with_missing_values(numbers, mode, policy):
    X, score = numbers
    trained_on = np.nan_to_num(X) if mode == "Forbidden" else X
    model = cb.CatBoostRegressor(nan_mode=mode, grow_policy=policy, **SMALL).fit(trained_on, score)
    read_and_compare(model, X, model.predict, model.calc_leaf_indexes, extra=INFINITE)


def test_scale_and_bias(numbers):
    X, score = numbers
    model = cb.CatBoostRegressor(**SMALL).fit(X, score)
    model.set_scale_and_bias(2.5, -3.0)
    read_and_compare(model, X, model.predict, model.calc_leaf_indexes)


def test_early_stopping_keeps_the_best_trees(numbers):
    X, score = numbers
    noisy = score + np.random.default_rng(3).normal(size=len(score)) * 3
    settings = {**SMALL, "iterations": 200, "learning_rate": 0.5, "early_stopping_rounds": 5}
    model = cb.CatBoostRegressor(**settings).fit(X[:200], noisy[:200], eval_set=(X[200:], noisy[200:]))
    assert model.tree_count_ < 200
    assert len(read_and_compare(model, X, model.predict).forest.tree_root) == model.tree_count_


@pytest.mark.parametrize("kind", ["CatBoost", "CatBoostRanker"])
def test_other_classes(numbers, kind):
    X, score = numbers
    if kind == "CatBoost":
        model = cb.CatBoost({"loss_function": "RMSE", **SMALL}).fit(X, score)
    else:
        model = cb.CatBoostRanker(loss_function="QueryRMSE", **SMALL)
        model.fit(X, score, group_id=np.repeat(np.arange(4), 100))
    read_and_compare(model, X, model.predict, model.calc_leaf_indexes)


@pytest.fixture(scope="module")
def mixed():
    draw = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "text": draw.choice(["a", "bé", "cc", "d"], 400),
            "x": draw.normal(size=400),
            "number": draw.choice([10, 20, 30], 400),
            "unused": draw.choice(["p", "q", "r"], 400),
            "level": pd.Categorical(draw.choice(["u", "v", "w"], 400)),
        }
    )
    frame.loc[::13, "x"] = np.nan
    y = (
        frame["text"].isin(["a", "cc"]) * 3.0
        + (frame["number"] == 20) * 2
        + frame["x"].fillna(-2)
        + (frame["level"] == "v").astype(float)
    )
    return frame, y.to_numpy()


CATEGORIES = ["text", "number", "unused", "level"]


@pytest.mark.parametrize("policy", ["SymmetricTree", "Lossguide"])
def test_one_hot_categories(mixed, policy):
    X, y = mixed
    settings = {**SMALL, "iterations": 15, "one_hot_max_size": 10, "grow_policy": policy}
    model = cb.CatBoostRegressor(cat_features=CATEGORIES, **settings).fit(X, y)
    read_model = read_and_compare(model, X, model.predict, model.calc_leaf_indexes, extra=INFINITE)
    assert (read_model.forest.condition_set >= 0).any()

    shuffled = X.copy()
    shuffled["level"] = shuffled["level"].cat.set_categories(["w", "v", "u"])
    assert same_leaves(read_model, table_of(shuffled), model.calc_leaf_indexes(X))


def test_categories_the_model_never_saw_but_the_table_has(mixed):
    X, y = mixed
    model = cb.CatBoostRegressor(cat_features=CATEGORIES, one_hot_max_size=10, **SMALL).fit(X, y)
    strange = X.copy()
    strange.loc[::2, "text"] = "never"
    table = table_of(strange)
    assert same_leaves(read(model, table), table, model.calc_leaf_indexes(strange))
    with pytest.raises(CannotRead, match="'text'"):
        read(model, table_of(X)).encode(table)


def test_target_statistics_are_refused_by_name(mixed):
    X, y = mixed
    model = cb.CatBoostRegressor(cat_features=CATEGORIES, one_hot_max_size=1, **SMALL).fit(X, y)
    with pytest.raises(CannotRead, match="CTR"):
        read(model, table_of(X))


def test_text_features_are_refused_by_name(mixed):
    X, y = mixed
    words = pd.DataFrame({"x": X["x"], "words": [f"{a} {b} word" for a, b in zip(X["text"], X["unused"])]})
    model = cb.CatBoostClassifier(text_features=["words"], **SMALL).fit(words, (y > 1).astype(int))
    with pytest.raises(CannotRead, match="CatBoost"):
        read(model, table_of(words))


def test_uncertainty_is_refused_by_name(numbers):
    X, score = numbers
    model = cb.CatBoostRegressor(loss_function="RMSEWithUncertainty", **SMALL).fit(X, score)
    with pytest.raises(CannotRead, match="RMSEWithUncertainty"):
        read(model, table_of(X))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
def test_other_number_types(dtype):
    draw = np.random.default_rng(4)
    X = draw.integers(-50, 50, (300, 3)).astype(dtype)
    model = cb.CatBoostRegressor(**SMALL).fit(X, X.astype(float).sum(axis=1))
    read_and_compare(model, X, model.predict, model.calc_leaf_indexes)


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise"])
def test_training_weights_add_up(numbers, policy):
    X, score = numbers
    model = cb.CatBoostRegressor(grow_policy=policy, **SMALL).fit(X, score)
    forest = read(model, table_of(X)).forest
    assert np.all(forest.node_weight[forest.tree_root] == len(X))
    split = forest.node_left >= 0
    children = forest.node_weight[forest.node_left[split]] + forest.node_weight[forest.node_right[split]]
    assert np.array_equal(forest.node_weight[split], children)


# --- a grid of what is no category -----------------------------------------------------------------


def mixed_as(frame: pd.DataFrame, kind: str):
    frame = frame[["text", "x", "number", "unused"]]
    if kind == "numpy":
        return frame.to_numpy(object)
    if kind == "polars":
        return pytest.importorskip("polars").from_pandas(frame.assign(unused=frame["unused"].astype(str)))
    kinds = {"object": object, "category": "category"}
    return frame.astype({"text": kinds[kind], "unused": kinds[kind]})


def answered(explainer: Explainer, feature, grid) -> list[float] | str:
    try:
        return np.round(explainer.partial_dependence(feature, grid=grid).average, 9).tolist()
    except IcefieldError as error:
        return "refused" if isinstance(error, (ModelError, InputError)) else f"cannot: {error}"


@pytest.mark.parametrize("kind", ["object", "category", "polars", "numpy"])
@pytest.mark.parametrize("feature", ["text", "number", "unused"])
def test_one_hot_with_a_grid_of_an_unknown_level_or_none_gives_no_number_of_its_own(mixed, kind, feature):
    frame, y = mixed
    X = mixed_as(frame, kind)
    places = {"text": 0, "number": 2, "unused": 3}
    settings = {**SMALL, "one_hot_max_size": 10, "ignored_features": [3]}
    fitted_on = X if kind != "polars" else mixed_as(frame, "object")
    model = cb.CatBoostRegressor(cat_features=list(places.values()), **settings).fit(fitted_on, y)
    label = places[feature] if kind == "numpy" else feature
    known = {"text": "cc", "number": 20, "unused": "q"}[feature]
    auto, brute = (Explainer(model, X, engine=engine) for engine in ("auto", "brute"))
    for strange in (None, np.nan, 10.5, "never", 99):
        grid = [known, strange]
        assert answered(auto, label, grid) == answered(brute, label, grid), strange


# --- models that came from elsewhere ---------------------------------------------------------------


def test_a_model_that_came_from_onnx_does_not_crash_the_interpreter(numbers, tmp_path):
    X, score = numbers
    path = str(tmp_path / "model.onnx")
    cb.CatBoostRegressor(**SMALL).fit(np.nan_to_num(X), score).save_model(path, format="onnx")
    model = cb.CatBoostRegressor().load_model(path, format="onnx")
    effect = Explainer(model, X).partial_dependence(0, grid=[0.0])
    assert effect.engine == "brute"
    assert effect.why.startswith(
        "brute force, because CatBoost does not export this model (it crashes there, signal"
    )
    moved = X.copy()
    moved[:, 0] = 0.0
    assert np.allclose(effect.average, model.predict(moved).mean(), rtol=0, atol=1e-12)


def test_trees_that_are_not_symmetric_are_tried_in_a_child_process_once(numbers, monkeypatch):
    X, score = numbers
    asked = []
    monkeypatch.setattr(format, "run_in_child", lambda *task: asked.append(task) or run_in_child(*task))
    monkeypatch.setattr(format, "_PROBLEMS", {})
    for policy, children in (("SymmetricTree", 0), ("Depthwise", 1)):
        model = cb.CatBoostRegressor(grow_policy=policy, **SMALL).fit(X, score)
        for _ in range(2):
            read(model, table_of(X))
        assert len(asked) == children


def test_a_child_that_says_why_is_quoted(numbers, monkeypatch):
    X, score = numbers
    model = cb.CatBoostRegressor(grow_policy="Depthwise", **SMALL).fit(X, score)
    monkeypatch.setattr(format, "_PROBLEMS", {})
    done = CompletedProcess([], 1, b"", b"Traceback\nCatBoostError: no such thing\n")
    monkeypatch.setattr(format, "run_in_child", lambda *task: done)
    with pytest.raises(CannotRead, match=r"does not export this model .CatBoostError: no such thing"):
        read(model, table_of(X))


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("seed", range(10))
def test_symmetric_trees_of_any_depths_and_weights(seed, width):
    """Every leaf by its number, whose bits say which of the tree's splits hold, the first split's the lowest."""
    draw = np.random.default_rng([seed, width])
    trees = []
    for _ in range(6):
        depth = int(draw.integers(0, 4))
        tests = [
            {"split_type": "FloatFeature", "float_feature_index": int(draw.integers(2)), "border": 0.25 * d}
            if draw.random() < 0.7
            else {"split_type": "OneHotFeature", "cat_feature_index": 0, "value": int(draw.integers(5))}
            for d in range(depth)
        ]
        weights = [draw.integers(0, 9, 2**depth).astype(float).tolist(), [], None][draw.integers(3)]
        values = draw.normal(size=width * 2**depth).tolist()
        trees.append({"splits": tests or None, "leaf_values": values, "leaf_weights": weights})
    splits = _Splits(_Columns({0: 0, 1: 1}, {0: True, 1: False}, {0: 2}))
    nodes, root = _symmetric(trees, splits)
    assert len(root) == len(trees)
    for tree, first in zip(trees, root):
        own = tree["splits"] or []
        for leaf in range(2 ** len(own)):
            node = first
            for split in reversed(range(len(own))):
                column, border, nan_left, code = splits.condition(own[split])
                found = (
                    nodes.column[node],
                    nodes.threshold[node],
                    nodes.missing_left[node],
                    nodes.set_number[node],
                )
                assert found == (column, border, nan_left, code)
                holds = bool(leaf >> split & 1)
                goes_left = holds if code >= 0 else not holds  # a set sends its members left
                if tree["leaf_weights"]:
                    assert (
                        nodes.weight[node] == nodes.weight[nodes.left[node]] + nodes.weight[nodes.right[node]]
                    )
                node = nodes.left[node] if goes_left else nodes.right[node]
            assert (nodes.left[node], nodes.right[node], nodes.set_number[node]) == (-1, -1, -1)
            assert nodes.value[node].tolist() == tree["leaf_values"][leaf * width : (leaf + 1) * width]
            if tree["leaf_weights"]:
                assert nodes.weight[node] == tree["leaf_weights"][leaf]
            else:
                assert np.isnan(nodes.weight[node])
