"""What a damaged file says of its trees is refused by icefield's own checks, whatever its library would make of it.

The fuzzer (`tests/fuzz`) tries files as they are; here each thing that is checked is damaged by itself.
"""

from __future__ import annotations

import copy
import json
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from icefield.libraries.native_files import LoadError
from icefield.libraries.validation import trial_rows, try_rows
from model_files import people


@pytest.fixture(scope="module")
def typed() -> Any:
    frame, target = people(80)
    return frame.assign(sex=frame["sex"].astype("category")), target


# --- LightGBM ----------------------------------------------------------------------------------------

TREE = {
    "num_leaves": "3", "num_cat": "1", "split_feature": "0 1", "threshold": "0 1.5", "decision_type": "1 2",
    "left_child": "-1 -2", "right_child": "1 -3", "leaf_value": "0.1 0.2 0.3", "cat_boundaries": "0 1", "cat_threshold": "5",
    "shrinkage": "1",
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("num_leaves", "4"), ("num_leaves", "0"), ("num_leaves", "2000000000"), ("num_leaves", "-3"),
        ("leaf_value", "0.1 0.2"), ("leaf_value", "0.1 nan 0.3"), ("leaf_value", "0.1 inf 0.3"), ("leaf_value", ""),
        ("shrinkage", "nan"), ("threshold", "0 nan"), ("threshold", "0"), ("split_feature", "0"), ("decision_type", "1"),
        ("cat_boundaries", "0"), ("cat_boundaries", "0 9"), ("cat_boundaries", "1 1"), ("cat_boundaries", "0 -1"),
        ("cat_boundaries", "0 99999999999"), ("cat_threshold", ""), ("num_cat", "2"),
    ],
)  # fmt: skip
def test_damaged_lightgbm_trees(field: str, text: str) -> None:
    from icefield.libraries.lightgbm.files import _check_tree

    _check_tree(TREE)
    with pytest.raises((LoadError, ValueError)):
        _check_tree(TREE | {field: text})


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("pandas_categorical:[[", "pandas_categorical:[3,["),
        ("pandas_categorical:[[", "pandas_categorical:[[[1],"),
        ("[categorical_feature: 1]", "[categorical_feature: 7]"),
    ],
)
def test_damaged_lists_of_lightgbm_s_categories(typed: Any, tmp_path: Path, was: str, now: str) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    from icefield.libraries.lightgbm import files

    path = tmp_path / "model.txt"
    lightgbm.LGBMRegressor(n_estimators=1, min_child_samples=5, verbose=-1).fit(*typed).booster_.save_model(
        path
    )
    files.check(files.load(path), path)
    text = path.read_text()
    assert was in text
    path.write_text(text.replace(was, now))
    with pytest.raises(LoadError):
        files.check(files.load(path), path)


@pytest.mark.parametrize("text", ["[num_grad_", "[alpha]", "[alpha:0.9]", "alpha: 0.9", "[alpha: 0.9"])
def test_damaged_parameters_of_lightgbm(text: str) -> None:
    """It reads beyond the end of a line without a colon: a crash at times, and at times none."""
    from icefield.libraries.lightgbm.files import _check_parameters

    sound = "tree\n\nend of trees\n\nparameters:\n[boosting: gbdt]\n[label_gain: ]\nend of parameters\n"
    _check_parameters(sound)
    _check_parameters("tree\n\nend of trees\n")
    for damaged in (sound.replace("[label_gain: ]", text), sound.replace("end of parameters\n", "")):
        with pytest.raises(LoadError):
            _check_parameters(damaged)


# --- XGBoost -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def xgboost_document(typed: Any) -> Any:
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBRegressor(n_estimators=2, max_depth=3, enable_categorical=True).fit(*typed)
    return json.loads(bytes(model.get_booster().save_raw("json")))["learner"]


def _set(at: Any, key: Any, value: Any) -> None:
    at[key] = value


@pytest.mark.parametrize(
    "damage",
    [
        lambda learner, model, tree: _set(model["tree_info"], 0, 3),
        lambda learner, model, tree: _set(model["tree_info"], 0, -1),
        lambda learner, model, tree: model["tree_info"].pop(),
        lambda learner, model, tree: _set(tree["split_type"], 0, 7),
        lambda learner, model, tree: _set(tree["split_type"], 0, 1 - tree["split_type"][0]),
        lambda learner, model, tree: tree["split_type"].pop(),
        lambda learner, model, tree: tree["default_left"].pop(),
        lambda learner, model, tree: _set(tree["split_conditions"], 0, float("nan")),
        lambda learner, model, tree: _set(tree["split_conditions"], -1, float("inf")),
        lambda learner, model, tree: _set(tree["base_weights"], 0, float("nan")),
        lambda learner, model, tree: _set(learner["learner_model_param"], "base_score", "nan"),
        lambda learner, model, tree: tree["categories_nodes"].append(10**6),
        lambda learner, model, tree: tree["categories_nodes"].append(-1),
        lambda learner, model, tree: _set(tree, "categories_sizes", [10**9] * len(tree["categories_sizes"])),
        lambda learner, model, tree: _set(
            tree, "categories_segments", [-4] * len(tree["categories_segments"])
        ),
        lambda learner, model, tree: _set(tree, "categories", [2**31] * len(tree["categories"])),
        lambda learner, model, tree: _set(tree, "categories_nodes", []),
        lambda learner, model, tree: _set(model["cats"]["feature_segments"], 1, 255),
        lambda learner, model, tree: _set(model["cats"]["feature_segments"], -1, 255),
        lambda learner, model, tree: _set(model["cats"]["sorted_idx"], 0, 255),
        lambda learner, model, tree: _set(model["cats"]["sorted_idx"], 0, -1),
        lambda learner, model, tree: _set(model["cats"]["enc"][1]["offsets"], -1, 10**6),
        lambda learner, model, tree: _set(model["cats"]["enc"][1]["offsets"], 0, -5),
        lambda learner, model, tree: model["cats"]["enc"][1]["offsets"].pop(),
    ],
)
def test_damaged_xgboost_trees(xgboost_document: Any, damage: Any) -> None:
    from icefield.libraries.xgboost.files import _check_trees
    from icefield.libraries.xgboost.format import Learner

    document = copy.deepcopy(xgboost_document)
    learner = Learner(document)
    assert learner.gbtree is not None
    tree = next(tree for tree in learner.gbtree["trees"] if tree["categories_nodes"])
    _check_trees(learner, learner.gbtree)
    damage(document, learner.gbtree, tree)
    with pytest.raises((LoadError, ValueError)):
        _check_trees(learner, learner.gbtree)


# --- CatBoost ----------------------------------------------------------------------------------------


def catboost_document() -> dict[str, Any]:
    """Two columns and two trees, one of each kind, as CatBoost exports them."""
    split = {"split_type": "FloatFeature", "float_feature_index": 0, "border": 0.5}
    return {
        "features_info": {
            "float_features": [{"feature_index": 0, "flat_feature_index": 0, "borders": [0.5]}],
            "categorical_features": [{"feature_index": 0, "flat_feature_index": 1}],
        },
        "scale_and_bias": [1, [0.0]],
        "oblivious_trees": [{"leaf_values": [1.0, 2.0], "splits": [dict(split)]}],
        "trees": [
            {"split": {"split_type": "OneHotFeature", "cat_feature_index": 0, "value": 3}, "left": {"value": 1.0}, "right": {"value": 2.0}}
        ],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("features_info", "float_features", 0, "flat_feature_index"), 5),
        (("features_info", "float_features", 0, "flat_feature_index"), 1),
        (("features_info", "float_features", 0, "flat_feature_index"), -1),
        (("features_info", "float_features", 0, "flat_feature_index"), 2**40),
        (("features_info", "float_features", 0, "feature_index"), 4),
        (("features_info", "float_features", 0, "borders"), [float("nan")]),
        (("oblivious_trees", 0, "splits", 0, "float_feature_index"), 2**32),
        (("oblivious_trees", 0, "splits", 0, "float_feature_index"), -1),
        (("oblivious_trees", 0, "splits", 0, "border"), float("inf")),
        (("oblivious_trees", 0, "leaf_values"), [1.0, float("nan")]),
        (("oblivious_trees", 0, "leaf_values"), [1.0, 2.0, 3.0]),
        (("oblivious_trees", 0, "leaf_values"), []),
        (("trees", 0, "left", "value"), float("nan")),
        (("trees", 0, "split", "cat_feature_index"), 7),
        (("scale_and_bias",), [float("nan"), [0.0]]),
        (("scale_and_bias",), [1.0, [float("inf")]]),
    ],
)
def test_damaged_catboost_documents(path: tuple[Any, ...], value: Any) -> None:
    from icefield.libraries.catboost.files import check_document

    document: Any = catboost_document()
    check_document(document)
    at = document
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises(LoadError):
        check_document(document)


# --- scikit-learn's trees in skops files -------------------------------------------------------------


def plain_tree(**other: Any) -> Any:
    fields = {
        "children_left": np.array([1, -1, -1]), "children_right": np.array([2, -1, -1]), "feature": np.array([0, -2, -2]),
        "n_features": 2, "threshold": np.array([0.5, -2.0, -2.0]), "value": np.ones((3, 1, 1)),
    }  # fmt: skip
    return types.SimpleNamespace(**fields | other)


@pytest.mark.parametrize(
    "other",
    [
        {"children_left": np.array([9, -1, -1])},
        {"children_left": np.array([0, -1, -1])},
        {"children_right": np.array([1, -1, -1])},
        {"feature": np.array([2, -2, -2])},
        {"feature": np.array([-7, -2, -2])},
        {"threshold": np.array([np.nan, -2.0, -2.0])},
        {"value": np.full((3, 1, 1), np.nan)},
        {"value": np.full((3, 1, 1), np.inf)},
    ],
)
def test_damaged_trees_of_scikit_learn(other: dict[str, Any]) -> None:
    from icefield.libraries.sklearn.skops_files import _check_tree

    _check_tree(plain_tree())
    with pytest.raises(LoadError):
        _check_tree(plain_tree(**other))


def predictor(**other: Any) -> Any:
    names = (
        "value",
        "num_threshold",
        "left",
        "right",
        "feature_idx",
        "is_leaf",
        "is_categorical",
        "bitset_idx",
    )
    kinds = ("f8", "f8", "u4", "u4", "i8", "u1", "u1", "u4")
    nodes = np.zeros(3, dtype=list(zip(names, kinds)))
    nodes["left"], nodes["right"], nodes["is_leaf"] = [1, 0, 0], [2, 0, 0], [0, 1, 1]
    nodes["is_categorical"][0] = 1
    for name, (at, value) in other.items():
        nodes[name][at] = value
    sets = np.zeros((1, 8), np.uint32)
    return types.SimpleNamespace(nodes=nodes, raw_left_cat_bitsets=sets, binned_left_cat_bitsets=sets)


@pytest.mark.parametrize(
    "other",
    [
        {"left": (0, 4_000_000_000)},
        {"left": (0, 2)},
        {"right": (0, 0)},
        {"feature_idx": (0, 2)},
        {"feature_idx": (0, -1)},
        {"value": (1, np.nan)},
        {"num_threshold": (0, np.nan)},
        {"bitset_idx": (0, 1)},
    ],
)
def test_damaged_trees_of_histogram_boosting(other: dict[str, Any]) -> None:
    from icefield.libraries.sklearn.skops_files import _check_predictor

    _check_predictor(predictor(), 2)
    with pytest.raises(LoadError):
        _check_predictor(predictor(**other), 2)


@pytest.mark.slow
def test_forests_of_every_kind_load_without_a_flag(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    from sklearn import ensemble, tree

    from icefield.cli.loading import load_model

    X = np.random.default_rng(0).normal(size=(60, 3))
    kinds = [
        ensemble.RandomForestClassifier(2), ensemble.ExtraTreesRegressor(2), ensemble.GradientBoostingClassifier(n_estimators=2),
        ensemble.HistGradientBoostingRegressor(max_iter=2), tree.DecisionTreeRegressor(), ensemble.IsolationForest(n_estimators=2),
        ensemble.AdaBoostRegressor(n_estimators=2),
    ]  # fmt: skip
    for model in kinds:
        file = tmp_path / "model.skops"
        skops.dump(model.fit(X, X[:, 0] > 0), file)
        np.testing.assert_array_equal(load_model(str(file)).predict(X), model.predict(X))


# --- what is tried -----------------------------------------------------------------------------------


def test_rows_of_all_kinds_are_tried() -> None:
    rows = trial_rows(5)
    assert np.isnan(rows).any()
    assert (rows == np.round(rows)).any()
    assert (np.abs(rows[np.isfinite(rows)]) > 1e20).any()
    assert (rows < 0).any()
    asked = []

    def refuse(given: Any) -> None:
        asked.append(given)
        raise ValueError("not these")

    try_rows(refuse, rows)
    assert len(asked) == 1
