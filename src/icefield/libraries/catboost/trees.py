"""Reading CatBoost: from its JSON export to a `Forest`.

CatBoost rounds to float32 and a split holds when ``x > border``; its symmetric trees number a leaf
by the bits of their splits. NaN counts as smaller or larger than everything as the model says.
One-hot splits compare hashes of categories, which the model's own export maps to levels. Splits on
target statistics of categories, text and embeddings look at no column alone and are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Column, Table
from icefield.forest import links
from icefield.forest.build import NO_TEST, Nodes, Test, flatten_trees, tree_model
from icefield.forest.encode import Encoder, LevelCodes, Numbers, Rule, Unused, check_numeric, check_width
from icefield.forest.tree_model import CannotRead, Link, TreeModel
from icefield.libraries.catboost import CLASSES
from icefield.libraries.catboost.format import NESTED, SYMMETRIC, ExportError, json_export, stored_loss
from icefield.libraries.catboost.predictions import BINARY, EXPONENT, response_type
from icefield.libraries.class_path import class_path
from icefield.typing import Float

RAW_LOSSES = {
    "RMSE", "MAE", "MAPE", "Quantile", "MultiQuantile", "GroupQuantile", "Expectile", "Lq", "Huber",
    "LogCosh", "MultiRMSE", "MultiRMSEWithMissingValues", "SurvivalAft", "Cox", "YetiRank",
    "YetiRankPairwise", "PairLogit", "PairLogitPairwise", "QueryRMSE", "QuerySoftMax",
    "QueryCrossEntropy", "StochasticRank", "LambdaMart", "LogLinQuantile", "PythonUserDefinedPerObject",
    "PythonUserDefinedMultiTarget", *EXPONENT,
}  # fmt: skip
NO_CATEGORY = "which CatBoost does not take for a category"
USERS_OWN = "PythonUserDefinedPerObject"
NAN_GOES_LEFT = {"AsIs": True, "AsFalse": True, "AsTrue": False}


def tree_reader(model: Any) -> Callable[[Any, Table], TreeModel] | None:
    """The reader of CatBoost's own classes; a subclass may predict in another way."""
    return read_catboost if class_path(model) in CLASSES else None


def read_catboost(model: Any, table: Table) -> TreeModel:
    """Read a CatBoost model of any of its classes."""
    if not model.is_fitted():
        raise CannotRead(f"{type(model).__name__} is not fitted")
    check_width(table, len(model.feature_names_))
    export = _export(model)
    columns = _feature_columns(export["features_info"])
    scale, bias = export["scale_and_bias"]
    base = np.atleast_1d(np.asarray(bias, np.float64))
    splits = _Splits(columns)
    read_trees = _symmetric if SYMMETRIC in export else _nested
    nodes, root = read_trees(export[SYMMETRIC if SYMMETRIC in export else NESTED], splits)
    width = nodes.value.shape[1]
    if len(base) == 1 and width > 1:
        base = np.full(width, base[0])
    encode = _encoder(model, table, columns, splits)
    nodes.value = nodes.value * scale
    outputs, sets = np.full(len(root), -1 if width > 1 else 0), [np.array([n]) for n in range(splits.n_codes)]
    link = _link(model, width)
    return tree_model(
        nodes, encode, link, "catboost", tree_root=root, tree_output=outputs, base=base, sets=sets
    )


def _export(model: Any, pool: Any = None) -> dict[str, Any]:
    try:
        return json_export(model, pool)
    except ExportError as error:
        raise CannotRead(f"CatBoost does not export this model ({error})") from error


def _link(model: Any, n_raw: int) -> Link:
    """From the sum of the trees to what CatBoost answers when asked for the response."""
    loss, response = stored_loss(model), response_type(model)
    if response == "RawFormulaVal" and loss in RAW_LOSSES:
        return links.identity()
    if response == "Exponent" and loss in EXPONENT:
        return links.exponential()
    if response == "Probability":
        if n_raw == 1 and loss in (*BINARY, USERS_OWN):
            return links.two_columns(links.logistic())
        if loss in ("MultiClassOneVsAll", "MultiLogloss", "MultiCrossEntropy"):
            return links.logistic()
        if n_raw > 1 and loss in ("MultiClass", USERS_OWN):
            return links.softmax()
    if not loss:
        raise CannotRead("CatBoost does not say which loss this model has, as for a sum of several")
    raise CannotRead(f"the response of CatBoost's loss {loss!r} is not known to follow from a sum of trees")


@dataclass(frozen=True)
class _Columns:
    """Where CatBoost's numeric and categorical features are in the table."""

    numeric: dict[int, int]
    nan_left: dict[int, bool]
    categorical: dict[int, int]


def _feature_columns(info: dict[str, Any]) -> _Columns:
    known = {"float_features", "categorical_features", "cat_features_hash", "ctrs"}
    unknown = {key for key, value in info.items() if key not in known and value}
    if unknown:
        raise CannotRead(f"the CatBoost model uses {sorted(unknown)[0]}, which are not conditions on columns")
    numeric, nan_left = {}, {}
    for feature in info.get("float_features", []):
        treatment = feature["nan_value_treatment"]
        if treatment not in NAN_GOES_LEFT:
            raise CannotRead(f"CatBoost nan_value_treatment {treatment!r} is not known")
        numeric[feature["feature_index"]] = feature["flat_feature_index"]
        nan_left[feature["feature_index"]] = NAN_GOES_LEFT[treatment]
    categorical = {f["feature_index"]: f["flat_feature_index"] for f in info.get("categorical_features", [])}
    return _Columns(numeric, nan_left, categorical)


class _Splits:
    """CatBoost's splits as conditions; a one-hot split is a set of one code."""

    def __init__(self, columns: _Columns) -> None:
        self.columns = columns
        self.code_of: dict[int, dict[int, int]] = {}
        self.n_codes = 0

    def condition(self, split: dict[str, Any]) -> Test:
        """Column, threshold, whether NaN goes left, and the code of a one-hot split or -1."""
        kind = split["split_type"]
        if kind == "FloatFeature":
            number = split["float_feature_index"]
            border = float(np.float32(split["border"]))
            return self.columns.numeric[number], border, self.columns.nan_left[number], -1
        if kind == "OneHotFeature":
            column = self.columns.categorical[split["cat_feature_index"]]
            codes = self.code_of.setdefault(column, {})
            hashed = split["value"] & 0xFFFFFFFF
            if hashed not in codes:
                codes[hashed] = len(codes)
                self.n_codes = max(self.n_codes, len(codes))
            return column, 0.0, False, codes[hashed]
        if kind == "OnlineCtr":
            raise CannotRead(
                "CatBoost splits on target statistics (CTR) of categories, which no column decides alone"
            )
        raise CannotRead(f"CatBoost split type {kind!r} is not known")


def _symmetric(trees: Sequence[dict[str, Any]], splits: _Splits) -> tuple[Nodes, NDArray[np.int64]]:
    """Symmetric trees as full binary ones: the last split at the root, so leaves stay in order."""
    tests = [[splits.condition(split) for split in reversed(tree["splits"] or [])] for tree in trees]
    depth = np.array([len(splits_of) for splits_of in tests], np.int64)
    sizes = 2 ** (depth + 1) - 1
    root = np.cumsum(sizes) - sizes
    n_nodes = int(sizes.sum())
    width = len(trees[0]["leaf_values"]) // 2 ** len(tests[0]) if len(trees) else 1
    nodes = Nodes(
        column=np.zeros(n_nodes), threshold=np.zeros(n_nodes), missing_left=np.zeros(n_nodes),
        left=np.full(n_nodes, -1), right=np.full(n_nodes, -1), value=np.zeros((n_nodes, width)),
    )  # fmt: skip
    for size in np.unique(depth).tolist():
        group = np.flatnonzero(depth == size).tolist()
        _fill(nodes, root[group], size, [trees[t] for t in group], [tests[t] for t in group])
    return nodes, root


def _fill(
    nodes: Nodes, root: NDArray[np.int64], depth: int, trees: Sequence[dict[str, Any]], tests: Sequence[Any]
) -> None:
    """Write symmetric trees of one depth to their places, all at once."""
    n_splits, n_leaves = 2**depth - 1, 2**depth
    split_at = root[:, None] + np.arange(n_splits)
    leaf_at = root[:, None] + n_splits + np.arange(n_leaves)
    level = np.repeat(np.arange(depth), 2 ** np.arange(depth))
    fields = np.moveaxis(np.array(tests, np.float64).reshape(len(trees), depth, 4)[:, level], -1, 0)
    for values, entries in zip((nodes.column, nodes.threshold, nodes.missing_left, nodes.set_number), fields):
        values[split_at] = entries
    # A one-hot split that holds goes right in CatBoost, and left as a set.
    is_set = fields[3] >= 0
    lower = root[:, None] + 2 * np.arange(n_splits) + 1
    nodes.left[split_at] = np.where(is_set, lower + 1, lower)
    nodes.right[split_at] = np.where(is_set, lower, lower + 1)
    values = np.array([tree["leaf_values"] for tree in trees], np.float64)
    nodes.value[leaf_at] = values.reshape(len(trees), n_leaves, -1)
    known = [i for i, tree in enumerate(trees) if len(tree.get("leaf_weights") or ()) == n_leaves]
    weights = np.array([trees[i]["leaf_weights"] for i in known], np.float64).reshape(len(known), n_leaves)
    for above in range(depth, -1, -1):  # each node's from those below it, in the order of a heap
        nodes.weight[root[known, None] + 2**above - 1 + np.arange(2**above)] = weights
        weights = weights[:, ::2] + weights[:, 1::2] if above else weights


def _nested(trees: Sequence[dict[str, Any]], splits: _Splits) -> tuple[Nodes, NDArray[np.int64]]:
    """Non-symmetric trees, stored node within node."""

    def read(node: dict[str, Any]) -> tuple[Test, Any, float, list[Any]]:
        value, weight = node.get("value", 0.0), node.get("weight", np.nan)
        if "split" not in node:
            return NO_TEST, value, weight, []
        test = splits.condition(node["split"])
        below = [node["left"], node["right"]]
        # As in `_fill`: what holds of a set goes left.
        return test, value, weight, below[::-1] if test[3] >= 0 else below

    nodes, root = flatten_trees(trees, read)
    # Parents come before their children, so sums run from the end.
    for node in np.flatnonzero(nodes.left >= 0)[::-1].tolist():
        nodes.weight[node] = nodes.weight[nodes.left[node]] + nodes.weight[nodes.right[node]]
    return nodes, root


def _encoder(model: Any, table: Table, columns: _Columns, splits: _Splits) -> Encoder:
    numbers = Numbers(float32=True)
    numeric, categorical = set(columns.numeric.values()), sorted(columns.categorical.values())
    check_numeric(table, sorted(numeric))
    hashes = _hashes(model, table, categorical, sorted(splits.code_of)) if splits.code_of else {}
    rules: list[Rule] = []
    for position in range(len(table.names)):
        if position in numeric:
            rules.append(numbers)
        elif position in splits.code_of:
            codes = splits.code_of[position]
            pairs = ((level, float(codes.get(hashed, -1))) for level, hashed in hashes[position].items())
            unlisted = "that no row of X holds, so that CatBoost's hash of it is not known"
            rules.append(LevelCodes(tuple(pairs), unlisted=unlisted, refuse_missing=NO_CATEGORY))
        else:
            rules.append(_UnusedCategory() if position in categorical else Unused())
    return Encoder(table.names, tuple(rules))


@dataclass(frozen=True)
class _UnusedCategory:
    """A category no split looks at: it decides nothing, but CatBoost refuses what is no category at all."""

    def __call__(self, column: Column, library: str) -> Float:
        fractions = column.kind == "float" or (
            column.kind == "categorical" and any(isinstance(level, float) for level in column.levels.tolist())
        )
        if fractions or column.any_missing:
            problem = "a missing value" if column.any_missing else "fractions"
            raise CannotRead(f"column {column.name!r} holds {problem}, {NO_CATEGORY}")
        return np.zeros(len(column.values))


def _hashes(model: Any, table: Table, categorical: list[int], split: list[int]) -> dict[int, dict[Any, int]]:
    """For each column that one-hot splits use, its levels in this table with CatBoost's own hashes of them."""
    from catboost import Pool

    positions = [np.unique(table.column(table.names[i]).codes, return_index=True)[1] for i in split]
    rows = table.take(np.unique(np.concatenate(positions)).astype(np.intp))
    pool = Pool(rows.to("pandas").native, cat_features=categorical)
    stored = _export(model, pool)["features_info"].get("cat_features_hash", [])
    hash_of = {entry["value"]: entry["hash"] & 0xFFFFFFFF for entry in stored}
    hashes: dict[int, dict[Any, int]] = {}
    for column in split:
        values = rows.column(table.names[column])
        present = np.unique(values.codes[values.codes >= 0])
        levels = values.levels[present].tolist()
        unknown = [level for level in levels if str(level) not in hash_of]
        if unknown or any(not isinstance(level, (str, int)) for level in levels):
            raise CannotRead(f"CatBoost's hash of a category of column {table.names[column]!r} is not known")
        hashes[column] = {level: hash_of[str(level)] for level in levels}
    return hashes
