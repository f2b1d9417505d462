"""XGBoost's files: JSON and UBJSON models, whether their trees are trees, and the categories they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.libraries.category_types import KnownLevels, as_category, holds_numbers
from icefield.libraries.native_files import LoadError, NativeFormat, require
from icefield.libraries.validation import (
    Links,
    check_count,
    check_finite,
    check_links,
    check_steps,
    check_within,
    trial_rows,
    try_rows,
)
from icefield.libraries.xgboost.format import Learner, booster_of, is_model, saved_learner

LARGEST_CATEGORY = 2**24  # what XGBoost takes for the number of a category


FORMATS = {
    ".json": NativeFormat("an XGBoost", "Booster.save_model", is_model),
    ".ubj": NativeFormat("an XGBoost UBJSON", "Booster.save_model", lambda head: head.startswith(b"{")),
}


def load(file: Path) -> Any:
    """The Booster in a file."""
    booster = require("xgboost").Booster()
    booster.load_model(str(file))
    return booster


def check(model: Any, file: Path) -> None:
    """Raise where a loaded model's trees, levels or sizes are damaged; both formats load into the same trees."""
    learner = saved_learner(model)
    check_links(_trees(model))
    if learner.gbtree is not None:
        _check_trees(learner, learner.gbtree)
    try_rows(partial(_predict, model), trial_rows(model.num_features()))


def with_categories(model: Any, frame: Any) -> Any:
    """Text columns as the categories the model was trained on."""
    booster = booster_of(model)
    return as_category(frame, _levels(booster, frame)) if getattr(booster, "feature_types", None) else frame


def known_levels(model: Any, frame: Any) -> dict[Any, KnownLevels]:
    """The levels a file holds; XGBoost refuses others."""
    booster = booster_of(model)
    categories, stored = _categories(booster), _stored_levels(booster)
    return {n: KnownLevels(tuple(stored[n]), unseen="refused") for n in stored if n in categories}


def text_columns(model: Any, names: Sequence[Any]) -> list[Any]:
    """None: its categories are known by their levels, or are whole numbers."""
    return []


def number_columns(model: Any, names: Sequence[Any]) -> list[Any]:
    """All but the categories, which a model knows by position."""
    kinds = booster_of(model).feature_types or ["float"] * len(names)
    return [name for name, kind in zip(names, kinds) if kind != "c"]


def _trees(booster: Any) -> Iterator[Links]:
    """Children of each tree; leaves are nodes whose children are both -1."""
    n_columns = booster.num_features()
    for tree in (saved_learner(booster).gbtree or {}).get("trees", ()):
        left, right, columns = (
            _whole(tree[name]) for name in ("left_children", "right_children", "split_indices")
        )
        if len(columns) == len(left):  # what a leaf says of columns means nothing
            columns = np.where(left == -1, 0, columns)
        yield left, right, 0, columns, n_columns


def _predict(booster: Any, rows: Any) -> Any:
    names, kinds = booster.feature_names, booster.feature_types
    matrix = require("xgboost").DMatrix
    return booster.predict(
        matrix(rows, feature_names=names, feature_types=kinds, enable_categorical=True, nthread=1)
    )


def _check_levels(stored: dict[str, Any]) -> None:
    """Raise where the stored levels, or the offsets of each column's, are damaged: XGBoost reads them as they are."""
    bounds, order = _whole(stored["feature_segments"]), _whole(stored["sorted_idx"])
    check_steps(bounds, len(order), "feature_segments", "the levels")
    check_within(order, max(len(order), 1), "sorted_idx")
    check_count(bounds, len(stored["enc"]) + 1 if stored["enc"] else len(bounds), "feature_segments")
    for levels, size in zip(stored["enc"], np.diff(bounds)):
        starts = _whole(levels.get("offsets", ()))
        if len(starts):
            check_count(starts, size + 1, "offsets")
            if starts[0] != 0 or (np.diff(starts) < 0).any() or starts[-1] > len(levels["values"]):
                raise LoadError("offsets do not follow each other through values")
        else:
            check_count(levels["values"], size, "values")


def _check_trees(learner: Learner, model: dict[str, Any]) -> None:
    """Raise where outputs of trees, kinds of splits, sets of categories or values are damaged."""
    trees = model["trees"]
    groups = max(1, learner.n_classes) * max(1, learner.n_targets)
    check_count(model["tree_info"], len(trees), "tree_info")
    check_within(_whole(model["tree_info"]), groups, "tree_info")
    check_finite(str(learner.sizes["base_score"]).strip("[]").split(","), "base_score")
    if learner.tree_weights is not None:
        check_count(learner.tree_weights, len(trees), "weight_drop")
        check_finite(learner.tree_weights, "weight_drop")
    if model.get("cats"):
        _check_levels(model["cats"])
    for tree in trees:
        nodes = len(tree["left_children"])
        for name in ("split_conditions", "split_indices", "default_left", "split_type", "right_children"):
            check_count(tree[name], nodes, name)
        for name in ("split_conditions", "base_weights"):
            check_finite(tree[name], name)
        kinds = _whole(tree["split_type"])
        check_within(kinds, 2, "split_type")
        split_nodes, categories = _whole(tree["categories_nodes"]), _whole(tree["categories"])
        parts = {name: _whole(tree[name]) for name in ("categories_segments", "categories_sizes")}
        for name, values in parts.items():
            check_count(values, len(split_nodes), name)
        check_within(split_nodes, nodes, "categories_nodes")
        for name, values in parts.items():
            check_within(values, len(categories) + 1, name)
        check_within(sum(parts.values()), len(categories) + 1, "categories_segments")
        check_within(categories, LARGEST_CATEGORY, "categories")
        inner = _whole(tree["left_children"]) != -1
        if set(np.flatnonzero((kinds == 1) & inner).tolist()) != set(split_nodes.tolist()):
            raise LoadError("categories_nodes are not those that split by categories")


def _whole(values: Any) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def _categories(booster: Any) -> list[str]:
    kinds = zip(booster.feature_names or [], booster.feature_types or [])
    return [name for name, kind in kinds if kind == "c"]


def _levels(model: Any, frame: Any) -> dict[str, list[Any]]:
    names = [name for name in _categories(model) if name in frame.columns]
    stored = _stored_levels(model) if names else {}
    levels: dict[str, list[Any]] = {}
    for name in names:
        if name in stored:
            levels[name] = stored[name]
        elif holds_numbers(frame[name]):
            largest = frame[name].max()
            levels[name] = list(range(int(largest) + 1 if largest >= 0 else 0))  # codes themselves
        elif str(frame[name].dtype) != "category":
            raise LoadError(
                f"Column {name!r} is categorical in the model, whose file does not hold its levels, and text in the "
                "data. Hint: store the data as Parquet with the training's categorical column, or save the model "
                "with XGBoost 3.1 or later."
            )
    return levels


def _stored_levels(booster: Any) -> dict[str, list[Any]]:
    """Levels by column, as XGBoost stores them since 3.1."""
    if not hasattr(booster, "get_categories"):
        return {}
    try:
        categories = booster.get_categories(export_to_arrow=True).to_arrow()
    except (ImportError, ValueError, AttributeError):
        return {}
    return {name: levels.to_pylist() for name, levels in categories if levels is not None}
