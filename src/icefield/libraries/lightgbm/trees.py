"""Reading LightGBM: from the text of ``model_to_string`` to a `Forest`.

LightGBM compares in float64 with ``<=``. What happens to NaN and to zeros is said by each split's
``decision_type``: bit 0 categorical, bit 1 missing goes left, bits 2 and 3 the missing type (none:
NaN counts as 0; zero: NaN and near zeros are missing; NaN: NaN is missing). Category numbers are
cut to whole numbers, and what is in no set, NaN included, goes right. Categories of a pandas frame
are taken by level, in the order of the model's own ``pandas_categorical``.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Table
from icefield.forest import links
from icefield.forest.build import Nodes, members_of, tree_model
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
from icefield.forest.form import ZERO_THRESHOLD
from icefield.forest.tree_model import CannotRead, Link, TreeModel
from icefield.libraries.class_path import class_path
from icefield.libraries.lightgbm import CLASSES
from icefield.libraries.lightgbm.format import (
    CATEGORICAL,
    DEFAULT_LEFT,
    LOG_OBJECTIVES,
    ModelText,
    booster_of,
    is_booster,
    model_text,
    numbers,
)

IDENTITY_OBJECTIVES = (
    "regression", "regression_l1", "huber", "fair", "quantile", "mape", "lambdarank", "rank_xendcg",
)  # fmt: skip
HEADER_KEYS = {
    "version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx", "objective",
    "average_output", "feature_names", "monotone_constraints", "feature_infos", "tree_sizes",
}  # fmt: skip
TREE_KEYS = {
    "num_leaves", "num_cat", "split_feature", "split_gain", "threshold", "decision_type", "left_child",
    "right_child", "leaf_value", "leaf_weight", "leaf_count", "internal_value", "internal_weight",
    "internal_count", "cat_boundaries", "cat_threshold", "is_linear", "shrinkage",
}  # fmt: skip
LINEAR_KEYS = {"leaf_const", "num_features", "leaf_features", "leaf_coeff"}
# Parameters that make a wrapper's predict do something else than add up all trees.
PREDICT_SWITCHES = {
    "pred_early_stop", "predict_raw_score", "is_predict_raw_score", "predict_rawscore", "raw_score",
    "predict_leaf_index", "is_predict_leaf_index", "leaf_index", "predict_contrib", "is_predict_contrib",
    "contrib", "start_iteration_predict", "num_iteration_predict",
}  # fmt: skip
MISSING_NONE, MISSING_ZERO, MISSING_NAN = 0, 1, 2


def tree_reader(model: Any) -> Callable[[Any, Table], TreeModel] | None:
    """The reader of LightGBM's own classes; a subclass may predict in another way."""
    return read_booster if class_path(model) in CLASSES else None


def read_booster(model: Any, table: Table) -> TreeModel:
    """Read a LightGBM ``Booster`` or scikit-learn style wrapper."""
    booster = booster_of(model)
    if booster is not model:
        _check_predict_parameters(model)
    text = model_text(booster)
    _check_header(text)
    header = text.header
    check_width(table, int(header["max_feature_idx"]) + 1)
    parsed = _TreesText(list(text.trees()))
    n_outputs = int(header["num_tree_per_iteration"])
    link = _link(header.get("objective", ""))
    if "average_output" in header:
        # The raw score stays the sum; only the response is of the average.
        n_iterations = max(1, parsed.n_trees // n_outputs)
        link = links.then(links.scaled(1.0 / n_iterations), link.name, link.apply)
    if _has_both_columns(model, header.get("objective", "")) and n_outputs == 1:
        link = links.two_columns(link)

    encode = _encoder(table, parsed, booster.pandas_categorical)
    # Arrow data reach the trees as they are, unless categories make them pass through pandas.
    takes_arrow = table.library in ("polars", "pyarrow") and not booster.pandas_categorical
    nodes, root = parsed.nodes(tiny_is_zero=not takes_arrow)
    outputs, base = np.arange(parsed.n_trees) % n_outputs, np.zeros(n_outputs)
    return tree_model(
        nodes, encode, link, "lightgbm", tree_root=root, tree_output=outputs, base=base, sets=parsed.sets
    )


def _has_both_columns(model: Any, objective: str) -> bool:
    """Whether the response has a column for the negative class too."""
    if hasattr(model, "predict_proba"):
        return objective != ""
    return is_booster(model) and objective.split()[:1] == ["binary"]


def _check_predict_parameters(model: Any) -> None:
    parameters = model.get_params()
    switches = [name for name in sorted(PREDICT_SWITCHES & set(parameters)) if parameters[name]]
    if switches:
        raise CannotRead(f"the model was given {switches[0]}, which changes what predict adds up")


def _check_header(text: ModelText) -> None:
    """Raise `CannotRead` where a text's header is not of the format known here."""
    if text.first_line != "tree":
        raise CannotRead(f"the LightGBM model text starts with {text.first_line!r}, not with 'tree'")
    unknown = set(text.header) - HEADER_KEYS - {""}
    if unknown:
        raise CannotRead(f"the LightGBM model has an unknown header field {sorted(unknown)[0]!r}")
    if text.header.get("version") != "v4":
        raise CannotRead(f"LightGBM model format {text.header.get('version')!r} is not known")
    if text.body and not text.ended:
        raise CannotRead("the LightGBM model text has no end of trees")


def _link(objective: str) -> Link:
    if objective == "":  # a function of the caller's: predict returns the raw score
        return links.identity()
    name, *settings = objective.split()
    options = dict(setting.partition(":")[::2] for setting in settings)
    if name in IDENTITY_OBJECTIVES:
        return links.signed_square() if "sqrt" in options else links.identity()
    if name in LOG_OBJECTIVES:
        return links.exponential()
    if name in ("binary", "multiclassova"):
        return links.logistic(float(options["sigmoid"]))
    if name == "cross_entropy":
        return links.logistic()
    if name == "cross_entropy_lambda":
        return links.softplus()
    if name == "multiclass":
        return links.softmax()
    raise CannotRead(f"LightGBM objective {name!r} is not known")


def _check_fields(trees: list[dict[str, str]]) -> None:
    for tree in trees:
        unknown = tree.keys() - TREE_KEYS
        if unknown & LINEAR_KEYS or tree.get("is_linear") == "1":
            raise CannotRead("LightGBM linear trees hold linear models in their leaves")
        if unknown:
            raise CannotRead(f"a LightGBM tree has an unknown field {sorted(unknown)[0]!r}")


class _TreesText:
    """The numbers of all trees' text, each field as one array over the trees."""

    def __init__(self, trees: list[dict[str, str]]) -> None:
        _check_fields(trees)

        def field(name: str, dtype: Any) -> NDArray:
            return numbers((tree[name] for tree in trees if name in tree), dtype)

        self.n_trees = len(trees)
        self.n_leaves = field("num_leaves", np.int64)
        self.n_splits = self.n_leaves - 1
        if len(self.n_leaves) != self.n_trees or (self.n_splits < 0).any():
            raise CannotRead("a LightGBM tree has no leaves")
        whole = ("split_feature", "decision_type", "left_child", "right_child")
        self.column, self.decision, self.left, self.right = (field(name, np.int64) for name in whole)
        self.threshold, self.leaf_value = field("threshold", np.float64), field("leaf_value", np.float64)
        self.leaf_count, self.split_count = (
            field("leaf_count", np.float64),
            field("internal_count", np.float64),
        )
        per_split = (self.column, self.threshold, self.decision, self.left, self.right)
        is_whole = all(len(array) == self.n_splits.sum() for array in per_split)
        if not is_whole or len(self.leaf_value) != self.n_leaves.sum():
            raise CannotRead("a LightGBM tree has fields of different lengths")
        self.tree_of_split = np.repeat(np.arange(self.n_trees), self.n_splits)
        self.is_set = (self.decision & CATEGORICAL) > 0
        self.missing_type = (self.decision >> 2) & 3
        if (self.decision >> 4).any() or (self.missing_type == 3).any():
            raise CannotRead(f"LightGBM decision_type {int(self.decision.max())} is not known")
        self.sets, self.set_number = self._read_sets(trees)

    def _read_sets(self, trees: list[dict[str, str]]) -> tuple[list[NDArray], NDArray[np.int64]]:
        """Every tree's bitsets, and for each categorical split the number of its set."""
        sets: list[NDArray] = []
        first = np.zeros(self.n_trees, np.int64)
        for tree, fields in enumerate(trees):
            if "cat_boundaries" not in fields:
                continue
            first[tree] = len(sets)
            bounds = numbers([fields["cat_boundaries"]], np.int64)
            words = numbers([fields["cat_threshold"]], np.uint32)
            sets += [members_of(words[start:stop]) for start, stop in pairwise(bounds.tolist())]
        number = np.full(len(self.decision), -1, np.int64)
        tree_of_set = self.tree_of_split[self.is_set]
        number[self.is_set] = first[tree_of_set] + self.threshold[self.is_set].astype(np.int64)
        if number.size and number.max() >= len(sets):
            raise CannotRead("a LightGBM split refers to a category set that is not there")
        return sets, number

    def nodes(self, tiny_is_zero: bool) -> tuple[Nodes, NDArray[np.int64]]:
        """All nodes and each tree's root. Splits first, then leaves, tree by tree: LightGBM numbers leaves as ``~leaf``."""
        n_splits = self.n_splits
        root = np.concatenate([[0], np.cumsum(n_splits + self.n_leaves)])
        splits = _places(root[:-1], n_splits)
        leaves = _places(root[:-1] + n_splits, self.n_leaves)

        def absolute(child: NDArray[np.int64]) -> NDArray[np.int64]:
            of_leaves = (root[:-1] + n_splits)[self.tree_of_split]
            return np.where(child >= 0, root[self.tree_of_split] + child, of_leaves + ~child)

        def spread(values: NDArray, positions: NDArray[np.int64] = splits, fill: float = 0) -> NDArray:
            out = np.full(root[-1], fill, values.dtype)
            out[positions] = values
            return out

        weight = np.full(root[-1], np.nan)
        for positions, counts in ((splits, self.split_count), (leaves, self.leaf_count)):
            if len(counts) == len(positions):
                weight[positions] = counts
        nodes = Nodes(
            column=spread(self.column),
            threshold=spread(self._thresholds(tiny_is_zero)),
            missing_left=spread(self._missing_left()),
            zero_missing=spread(~self.is_set & (self.missing_type == MISSING_ZERO)),
            set_number=spread(self.set_number, fill=-1),
            left=spread(absolute(self.left), fill=-1),
            right=spread(absolute(self.right), fill=-1),
            value=spread(self.leaf_value, leaves),
            weight=weight,
        )
        return nodes, root[:-1]

    def _thresholds(self, tiny_is_zero: bool) -> NDArray[np.float64]:
        """Thresholds of all splits, for matrices in which numbers as small as 1e-35 become 0 before any comparison.

        All of them then go where 0 goes, which moves a threshold in their midst to their edge.
        """
        if not tiny_is_zero:
            return self.threshold
        below = np.nextafter(-ZERO_THRESHOLD, -np.inf)
        tiny = (self.threshold >= -ZERO_THRESHOLD) & (self.threshold < ZERO_THRESHOLD)
        edge = np.where(self.threshold >= 0.0, ZERO_THRESHOLD, below)
        return np.where(tiny, edge, self.threshold)

    def _missing_left(self) -> NDArray[np.bool_]:
        default_left = (self.decision & DEFAULT_LEFT) > 0
        return ~self.is_set & np.where(self.missing_type == MISSING_NONE, self.threshold >= 0.0, default_left)


def _places(start: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """``start[t], start[t] + 1, ...`` of each tree, one after another."""
    before = np.cumsum(count) - count
    return np.arange(int(count.sum())) + np.repeat(start - before, count)


def _encoder(table: Table, trees: _TreesText, pandas_categorical: Any) -> Encoder:
    plain = Numbers(largest_plain_integer=2**24)
    rules: list[Rule] = [plain] * len(table.names)
    category_columns = set(np.unique(trees.column[trees.is_set]).tolist())
    both = category_columns & set(np.unique(trees.column[~trees.is_set]).tolist())
    if both:
        raise CannotRead(f"column {table.names[min(both)]!r} is split both as a number and as a category")
    for position in category_columns:
        rules[position] = CategoryNumbers(plain, negative_fraction_is_zero=True)

    head = table.slice(0, min(table.n_rows, HEAD))
    with_levels = [i for i, name in enumerate(table.names) if head.column(name).kind == "categorical"]
    if with_levels:
        categories = pandas_categorical or []
        if len(categories) != len(with_levels):
            problem = f"the table has {len(with_levels)} categorical columns"
            raise CannotRead(f"{problem}, the LightGBM model was trained on {len(categories)}")
        for position, levels in zip(with_levels, categories):
            rules[position] = levels_in_order(levels, unknown_is_missing=True)
    check_numeric(head, set(range(len(table.names))) - set(with_levels))
    return Encoder(table.names, tuple(rules))
