"""Reading scikit-learn's own trees: single trees, forests, both kinds of boosting, isolation forests.

Single trees, forests and GradientBoosting compare ``<=`` in float32 with a float64 threshold, and
refuse infinities (GradientBoosting NaN as well). HistGradientBoosting compares in float64, takes
its categories through an encoder of its own that also moves them to the front, and sends unknown
ones the way of missing values. Classifiers made of trees average the leaves' class fractions, so
their probabilities are sums over the trees; boosted ones have a link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Table
from icefield.forest import links
from icefield.forest.build import Nodes, members_of, tree_model
from icefield.forest.encode import Encoder, Numbers, check_numeric, check_width, levels_in_order
from icefield.forest.tree_model import CannotRead, Link, TreeModel
from icefield.libraries.class_path import class_path
from icefield.libraries.sklearn.internals import internal

SOURCE = "scikit-learn"
LINKS = {
    **dict.fromkeys(
        ("HalfSquaredError", "AbsoluteError", "PinballLoss", "HuberLoss", "HalfTweedieLossIdentity"), links.identity()
    ),
    **dict.fromkeys(("HalfPoissonLoss", "HalfGammaLoss", "HalfTweedieLoss"), links.exponential()),
    "HalfBinomialLoss": links.two_columns(links.logistic()),
    "ExponentialLoss": links.two_columns(links.logistic(2.0)),  # its raw scale is half the log odds
    "HalfMultinomialLoss": links.softmax(),
}  # fmt: skip
UNWEIGHTED = "HistGradientBoosting was fitted with sample weights and stores how many rows each node saw, not their weight"


def read_tree(model: Any, table: Table) -> TreeModel:
    """Read a DecisionTree or ExtraTree."""
    return _averaged([model], model, table)


def read_forest(model: Any, table: Table) -> TreeModel:
    """Read a RandomForest or ExtraTrees."""
    return _averaged(list(model.estimators_), model, table)


def read_gradient_boosting(model: Any, table: Table) -> TreeModel:
    """Read a GradientBoosting regressor or classifier with a constant start."""
    check_width(table, model.n_features_in_)
    _check_constant_start(model)
    trees = [tree.tree_ for tree in model.estimators_.ravel()]
    n_outputs = model.estimators_.shape[1]
    values = [tree.value[:, 0, :1] * model.learning_rate for tree in trees]
    nodes, root = _nodes(trees, values)
    # The start depends on no row, so any row shows it.
    base = internal(model, "_raw_predict_init")(np.zeros((1, model.n_features_in_), np.float32)).ravel()
    encode = _float32_encoder(table, refuse_missing=True)
    is_classifier = hasattr(model, "classes_")
    link = _loss_link(internal(model, "_loss")) if is_classifier else links.identity()
    outputs = np.arange(len(trees)) % n_outputs
    return tree_model(nodes, encode, link, SOURCE, tree_root=root, tree_output=outputs, base=base)


def read_hist_gradient_boosting(model: Any, table: Table) -> TreeModel:
    """Read a HistGradientBoosting regressor or classifier."""
    check_width(table, model.n_features_in_)
    encode = _hist_encoder(model, table)
    predictors = [predictor for iteration in internal(model, "_predictors") for predictor in iteration]
    n_outputs = model.n_trees_per_iteration_
    sizes = [len(predictor.nodes) for predictor in predictors]
    root = np.cumsum([0, *sizes[:-1]])
    records = _joined([predictor.nodes for predictor in predictors])
    start = np.repeat(root, sizes)
    is_split = records["is_leaf"] == 0
    is_set = is_split & (records["is_categorical"] == 1)

    bitsets = [predictor.raw_left_cat_bitsets for predictor in predictors]
    first_set = np.cumsum([0, *(len(bits) for bits in bitsets[:-1])])
    set_number = np.where(is_set, np.repeat(first_set, sizes) + records["bitset_idx"], -1)
    nodes = Nodes(
        column=records["feature_idx"],
        threshold=np.where(is_set, 0.0, records["num_threshold"]),
        missing_left=records["missing_go_to_left"],
        left=np.where(is_split, start + records["left"], -1),
        right=np.where(is_split, start + records["right"], -1),
        value=records["value"],
        weight=records["count"],
        set_number=set_number,
    )
    result = tree_model(
        nodes, encode, _loss_link(internal(model, "_loss")), SOURCE,
        tree_root=root, tree_output=np.arange(len(predictors)) % n_outputs,
        base=np.asarray(internal(model, "_baseline_prediction")), sets=[members_of(row) for bits in bitsets for row in bits],
    )  # fmt: skip
    return replace(result, no_training_weights=UNWEIGHTED if getattr(model, "_fitted_with_sw", False) else "")


def _joined(records: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Records one after another; of the same type they are moved as they lie, and not field by field."""
    kind = records[0].dtype
    if any(record.dtype != kind or not record.flags.c_contiguous for record in records):
        return np.concatenate(records)
    plain = np.dtype((np.void, kind.itemsize))
    return np.concatenate([record.view(plain) for record in records]).view(kind)


def read_isolation_forest(model: Any, table: Table) -> TreeModel:
    """Read an IsolationForest; the response is its ``decision_function``."""
    from sklearn.ensemble._iforest import _average_path_length

    check_width(table, model.n_features_in_)
    trees = [estimator.tree_ for estimator in model.estimators_]
    steps, extra = internal(model, "_decision_path_lengths"), internal(model, "_average_path_length_per_tree")
    depths = [(depth + more - 1.0)[:, None] for depth, more in zip(steps, extra)]
    of_all = internal(model, "_max_features") == model.n_features_in_
    columns = None if of_all else model.estimators_features_
    nodes, root = _nodes(trees, depths, columns)
    if table.library == "sparse":
        # scikit-learn's walk of sparse rows only compares, so that NaN goes right at every split.
        nodes.missing_left = np.zeros(nodes.size, bool)
    typical = float(_average_path_length([internal(model, "_max_samples")])[0])
    encode = _float32_encoder(table, refuse_infinite=False)
    # An outlier detector's score is its response on both scales; the sum of its trees is a path length.
    score = links.anomaly(len(trees) * typical, float(model.offset_))
    result = tree_model(
        nodes, encode, score, SOURCE, tree_root=root, tree_output=np.zeros(len(trees)), base=np.zeros(1)
    )
    return replace(result, raw_link=score)


def _takes_missing(tree: Any) -> bool:
    if hasattr(tree, "__sklearn_tags__"):
        return tree.__sklearn_tags__().input_tags.allow_nan
    return tree._get_tags()["allow_nan"]  # noqa: SLF001  (scikit-learn 1.5 has no other name for it)


def _averaged(members: list[Any], model: Any, table: Table) -> TreeModel:
    """Trees whose leaves hold the mean target or the class fractions, averaged."""
    check_width(table, model.n_features_in_)
    trees = [member.tree_ for member in members]
    share = 1.0 / len(trees)
    values = [_leaf_vectors(tree, model) * share for tree in trees]
    nodes, root = _nodes(trees, values)
    width = values[0].shape[1]
    accepts_missing = _takes_missing(members[0]) and table.library != "sparse"
    encode = _float32_encoder(table, refuse_missing=not accepts_missing)
    outputs = np.full(len(trees), -1 if width > 1 else 0)
    return tree_model(
        nodes, encode, links.identity(), SOURCE, tree_root=root, tree_output=outputs, base=np.zeros(width)
    )


def _leaf_vectors(tree: Any, model: Any) -> NDArray[np.float64]:
    """What each node adds to the outputs: targets, or class fractions of one target after another."""
    value = tree.value
    if not hasattr(model, "classes_"):
        return value[:, :, 0]
    counts = np.atleast_1d(model.n_classes_)
    total = value.sum(axis=2, keepdims=True)
    # Since scikit-learn 1.3 the nodes hold fractions; before, they held weighted counts.
    if not np.allclose(total, 1.0):
        value = value / np.where(total == 0.0, 1.0, total)
    return np.concatenate([value[:, k, :n] for k, n in enumerate(counts)], axis=1)


def _nodes(
    trees: Sequence[Any], values: Sequence[NDArray], columns: Sequence[NDArray] | None = None
) -> tuple[Nodes, NDArray[np.int64]]:
    """All nodes of several ``tree_`` objects, and their roots."""
    sizes = [tree.node_count for tree in trees]
    root = np.cumsum([0, *sizes[:-1]])
    start = np.repeat(root, sizes)
    left = np.concatenate([tree.children_left for tree in trees])
    right = np.concatenate([tree.children_right for tree in trees])
    is_split = left >= 0
    column = [tree.feature for tree in trees]
    if columns is not None:
        column = [np.asarray(names)[np.maximum(features, 0)] for names, features in zip(columns, column)]
    nodes = Nodes(
        column=np.concatenate(column),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        missing_left=np.concatenate([tree.missing_go_to_left for tree in trees]),
        left=np.where(is_split, left + start, -1),
        right=np.where(is_split, right + start, -1),
        value=np.concatenate(values),
        weight=np.concatenate([tree.weighted_n_node_samples for tree in trees]),
    )
    return nodes, root


def _float32_encoder(table: Table, refuse_missing: bool = False, refuse_infinite: bool = True) -> Encoder:
    check_numeric(table)
    rule = Numbers(float32=True, refuse_missing=refuse_missing, refuse_infinite=refuse_infinite)
    return Encoder(table.names, (rule,) * len(table.names))


def _hist_encoder(model: Any, table: Table) -> Encoder:
    """The model's own preprocessing: categories to codes and to the front, numbers after them."""
    numbers = Numbers()
    if internal(model, "_preprocessor") is None:
        check_numeric(table)
        return Encoder(table.names, (numbers,) * len(table.names))
    is_category = np.asarray(model.is_categorical_)
    codes = internal(model, "_preprocessor").named_transformers_["encoder"].categories_
    first, then = np.flatnonzero(is_category), np.flatnonzero(~is_category)
    check_numeric(table, then)
    rules = [
        levels_in_order(
            [level for level in levels.tolist() if level is not None and level == level],
            unknown_is_missing=True, refuse_infinite=True,
        )
        for levels in codes
    ]  # fmt: skip
    return Encoder(tuple(table.names[i] for i in [*first, *then]), (*rules, *[numbers] * len(then)))


def _check_constant_start(model: Any) -> None:
    """Boosting may start from any estimator; only constant ones leave a plain sum of trees."""
    start = model.init_
    if isinstance(start, str) and start == "zero":
        return
    kind = class_path(start)
    steady = {"sklearn.dummy.DummyRegressor": ("mean", "median", "quantile", "constant"),
              "sklearn.dummy.DummyClassifier": ("prior", "most_frequent", "constant")}  # fmt: skip
    if getattr(start, "strategy", None) not in steady.get(kind, ()):
        raise CannotRead(f"GradientBoosting starts from init={start!r}, which is not a constant")


def _loss_link(loss: Any) -> Link:
    name = type(loss).__name__
    if name not in LINKS:
        raise CannotRead(f"the scikit-learn loss {name} is not known")
    return LINKS[name]
