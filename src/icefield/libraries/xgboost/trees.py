"""Reading XGBoost: from what ``save_raw`` gives to a `Forest`.

XGBoost rounds to float32 and goes left when ``x < threshold``, strictly, which for float32 numbers
is ``x <=`` the number just below. A category in the split's set goes right, every other number
left. What it calls ``base_score`` is on the scale of the response for some objectives and on the
margin for others. Sums are in float32, so predictions agree to about 1e-5.

Entries that are absent from a *sparse* matrix are missing; zeros of a dense one are not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Table
from icefield.forest import links
from icefield.forest.build import Nodes, assemble
from icefield.forest.encode import (
    HEAD,
    CategoryNumbers,
    Encoder,
    Numbers,
    Rule,
    check_numeric,
    check_width,
    levels_in_order,
)
from icefield.forest.form import Forest
from icefield.forest.tree_model import CannotRead, Link, TreeModel
from icefield.libraries.class_path import class_path
from icefield.libraries.xgboost import CLASSES
from icefield.libraries.xgboost.format import LOG_OBJECTIVES, Learner, booster_of, is_wrapper, saved_learner

TOLERANCE = 1e-5
# XGBoost's first number that is no category any more.
CATEGORY_LIMIT = 2.0**24

IDENTITY_OBJECTIVES = {
    "reg:squarederror", "reg:squaredlogerror", "reg:pseudohubererror", "reg:absoluteerror",
    "reg:quantileerror", "rank:pairwise", "rank:ndcg", "rank:map", "binary:logitraw",
}  # fmt: skip
SOFTMAX_OBJECTIVES = {"multi:softprob", "multi:softmax"}
TREE_FIELDS = {
    "base_weights", "categories", "categories_nodes", "categories_segments", "categories_sizes",
    "default_left", "id", "left_children", "loss_changes", "parents", "right_children",
    "split_conditions", "split_indices", "split_type", "sum_hessian", "tree_param", "leaf_weights",
}  # fmt: skip


SORTS_QUANTILES = (3, 4)  # from this version on, several quantiles are predicted in ascending order


def tree_reader(model: Any) -> Callable[[Any, Table], TreeModel] | None:
    """The reader of XGBoost's own classes; a subclass may predict in another way."""
    return read_booster if class_path(model) in CLASSES else None


def read_booster(model: Any, table: Table) -> TreeModel:
    """Read an XGBoost ``Booster`` or scikit-learn style wrapper."""
    wrapper = model if is_wrapper(model) else None
    learner = saved_learner(booster_of(model))
    check_width(table, learner.n_columns)
    gbtree = learner.gbtree
    if gbtree is None:
        raise CannotRead(f"the XGBoost booster {learner.booster_name!r} is not made of trees")
    if not gbtree["trees"]:
        raise CannotRead("the XGBoost model holds no trees: it predicts the same for every row")
    n_trees = _n_trees(wrapper, gbtree)
    n_outputs = max(1, learner.n_classes, learner.n_targets)

    objective = learner.objective
    to_margin, link = _scales(objective)
    base = to_margin(_base_score(learner.sizes["base_score"], n_outputs))
    _check_classifier(model, objective)
    is_regressor = wrapper is not None and not hasattr(model, "predict_proba")
    if objective == "binary:logistic" and n_outputs == 1 and not is_regressor:
        link = links.two_columns(link)
    if objective == "reg:quantileerror" and n_outputs > 1 and learner.version >= SORTS_QUANTILES:
        link = links.ascending()
    encode = _encoder(wrapper, learner, gbtree, table)
    return TreeModel(
        _forest(gbtree, n_trees, learner.tree_weights, base, learner.n_columns), encode, encode.drives, link, "xgboost",
        missing_number=_missing_number(wrapper), tolerance=TOLERANCE,
    )  # fmt: skip


def _n_trees(wrapper: Any, gbtree: dict[str, Any]) -> int:
    """How many trees predict: a wrapper stops at the best iteration where training stopped early.

    The model says how many trees there are after each iteration.
    """
    try:
        stop = int(wrapper.best_iteration) + 1
    except AttributeError:
        return len(gbtree["trees"])
    iterations = gbtree["iteration_indptr"]
    return iterations[min(stop, len(iterations) - 1)]


def _base_score(text: str, n_outputs: int) -> NDArray[np.float64]:
    """``"5E-1"``, ``"[5E-1]"`` or ``"[1E0,2E0]"``: one number for all outputs, or one for each."""
    numbers = np.array(text.strip("[]").split(","), np.float32).astype(np.float64)
    if len(numbers) not in (1, n_outputs):
        raise CannotRead(f"XGBoost base_score {text!r} does not fit {n_outputs} outputs")
    return np.broadcast_to(numbers, (n_outputs,)).copy()


def _scales(objective: str) -> tuple[Callable[[NDArray], NDArray], Link]:
    """How base_score becomes a margin, and the margin a response."""
    if objective in IDENTITY_OBJECTIVES:
        return np.asarray, links.identity()
    if objective in ("reg:logistic", "binary:logistic"):
        return lambda probability: -np.log(1.0 / probability - 1.0), links.logistic()
    if objective in LOG_OBJECTIVES:
        return np.log, links.exponential()
    if objective in SOFTMAX_OBJECTIVES:
        return np.asarray, links.softmax()
    raise CannotRead(f"XGBoost objective {objective!r} is not known")


def _check_classifier(model: Any, objective: str) -> None:
    """A classifier trained on an objective that gives no probabilities predicts labels only."""
    gives_scores = objective in SOFTMAX_OBJECTIVES or objective in ("binary:logistic", "binary:logitraw")
    if hasattr(model, "predict_proba") and not gives_scores:
        raise CannotRead(f"XGBoost classifiers trained on {objective!r} have no probabilities")


def _forest(
    gbtree: dict[str, Any],
    n_trees: int,
    tree_weights: Sequence[float] | None,
    base: NDArray[np.float64],
    n_columns: int,
) -> Forest:
    trees = gbtree["trees"][:n_trees]
    weights = np.ones(n_trees)
    if tree_weights is not None:
        weights = np.asarray(tree_weights[:n_trees], np.float32).astype(np.float64)
    for tree in trees:
        if unknown := sorted(set(tree) - TREE_FIELDS):
            raise CannotRead(f"an XGBoost tree has an unknown field {unknown[0]!r}")
    n_nodes = np.array([len(tree["left_children"]) for tree in trees], np.int64)
    root = np.cumsum(n_nodes) - n_nodes
    start = np.repeat(root, n_nodes)

    def field(name: str, dtype: Any) -> NDArray:
        return np.concatenate([np.asarray(tree[name]) for tree in trees]).astype(dtype)

    left = field("left_children", np.int64)
    right = field("right_children", np.int64)
    is_split = left >= 0
    kind = field("split_type", np.int64)
    if (kind > 1).any():
        raise CannotRead(f"XGBoost split_type {kind.max()} is not known")
    is_set = is_split & (kind == 1)
    condition = field("split_conditions", np.float32)
    if not (condition[is_split & ~is_set] > -np.inf).all():
        raise CannotRead("an XGBoost threshold is minus infinity or not a number")
    default_left = field("default_left", np.int64) == 1
    cover = field("sum_hessian", np.float64)  # a user's own objective may make it negative
    # x < t is x <= the float32 just below t; a set sends its members right, so its children swap.
    with np.errstate(over="ignore"):  # below the lowest number there is minus infinity
        threshold = np.nextafter(condition, np.float32(-np.inf)).astype(np.float64)
    sets, set_number = _sets(trees, root, is_set)
    value, tree_output = _leaf_values(trees, condition, right, is_split, root, gbtree["tree_info"], len(base))
    nodes = Nodes(
        column=field("split_indices", np.int64),
        threshold=np.where(is_set, 0.0, threshold),
        missing_left=default_left ^ is_set,
        left=np.where(is_split, np.where(is_set, right, left) + start, -1),
        right=np.where(is_split, np.where(is_set, left, right) + start, -1),
        value=value * np.repeat(weights, n_nodes)[:, None],
        weight=np.where(cover >= 0.0, cover, np.nan),
        set_number=set_number,
    )
    return assemble(nodes, tree_root=root, tree_output=tree_output, base=base, n_columns=n_columns, sets=sets)


def _leaf_values(
    trees: list[dict[str, Any]],
    condition: NDArray[np.float32],
    right: NDArray[np.int64],
    is_split: NDArray[np.bool_],
    root: NDArray[np.int64],
    tree_info: list[int],
    n_outputs: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Each node's value (of leaves) and each tree's output."""
    width = {int(tree["tree_param"]["size_leaf_vector"]) for tree in trees}
    if width <= {0, 1}:
        info = np.array(tree_info[: len(trees)], np.int64)
        return condition.astype(np.float64)[:, None], info
    if width != {n_outputs} or not all("leaf_weights" in tree for tree in trees):
        raise CannotRead("XGBoost leaves hold vectors in a form that is not known")
    value = np.zeros((len(condition), n_outputs))
    for tree, begin in zip(trees, root):
        # A leaf's right child is the row of its vector.
        leaf = begin + np.flatnonzero(~is_split[begin : begin + len(tree["left_children"])])
        value[leaf] = np.array(tree["leaf_weights"], np.float32).reshape(-1, n_outputs)[right[leaf]]
    return value, np.full(len(trees), -1, np.int64)


def _sets(
    trees: list[dict[str, Any]], root: NDArray[np.int64], is_set: NDArray[np.bool_]
) -> tuple[list[NDArray], NDArray[np.int64]]:
    """All category sets, and each categorical split's number among them."""
    sets: list[NDArray] = []
    number = np.full(len(is_set), -1, np.int64)
    for tree, begin in zip(trees, root):
        members = np.array(tree["categories"], np.int64)
        fields = (tree[f"categories_{name}"] for name in ("nodes", "segments", "sizes"))
        for node, first, size in zip(*fields):
            number[begin + node] = len(sets)
            sets.append(members[first : first + size])
    if (is_set & (number < 0)).any():
        raise CannotRead("an XGBoost split on categories has no set")
    return sets, np.where(is_set, number, -1)


def _encoder(wrapper: Any, learner: Learner, gbtree: dict[str, Any], table: Table) -> Encoder:
    # A Booster is asked through a DMatrix, which refuses infinities; wrappers take them.
    numbers = Numbers(float32=True, refuse_infinite=wrapper is None, missing=_missing_number(wrapper))
    n_columns = len(table.names)
    types = learner.document["feature_types"] or ["float"] * n_columns
    levels = _stored_levels(gbtree.get("cats", {}), n_columns)
    head = table.slice(0, min(table.n_rows, HEAD))
    rules: list[Rule] = []
    for i, name in enumerate(table.names):
        kind = head.column(name).kind
        if types[i] != "c":
            check_numeric(head, [i])
            if kind == "categorical":
                raise CannotRead(
                    f"column {name!r} holds categories, but the XGBoost model takes numbers there"
                )
            rules.append(numbers)
        elif kind == "categorical":
            if (stored := levels[i]) is None:
                raise CannotRead(
                    f"the XGBoost model does not say which categories column {name!r} had, or not in ASCII"
                )
            rules.append(levels_in_order(stored, unknown_is_missing=False))
        else:
            rules.append(CategoryNumbers(numbers, limit=CATEGORY_LIMIT))
    return Encoder(table.names, tuple(rules), absent_is_missing=True)


def _missing_number(wrapper: Any) -> float | None:
    missing = getattr(wrapper, "missing", None)
    return None if missing is None or np.isnan(missing) else float(missing)


def _stored_levels(cats: dict[str, Any], n_columns: int) -> list[tuple[Any, ...] | None]:
    """Each column's categories in the order of their codes; None where the model stores none.

    XGBoost counts characters where it stores bytes, so texts beyond ASCII are cut in wrong places
    and cannot be told; such a column counts as not stored.
    """
    stored: list[tuple[Any, ...] | None] = [None] * n_columns
    for i, entry in enumerate(cats.get("enc", [])):
        levels: tuple[Any, ...] = tuple(entry["values"])
        if "offsets" in entry:
            if any(not 0 <= byte < 128 for byte in levels):
                continue
            text = bytes(levels).decode("ascii")
            levels = tuple(text[start:stop] for start, stop in pairwise(entry["offsets"]))
        stored[i] = levels or None
    return stored
