"""XGBoost's files: JSON and UBJSON models, whether their trees are trees, and the categories they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from icefield.libraries.category_types import KnownLevels, categorised, holds_numbers
from icefield.libraries.native_files import LoadError, NativeFormat, needed
from icefield.libraries.soundness import (
    Links,
    check_count,
    check_finite,
    check_links,
    check_within,
    tried_rows,
    try_rows,
)
from icefield.libraries.xgboost.format import Learner, booster_of, is_model, saved

LARGEST_CATEGORY = 2**24  # what XGBoost takes for the number of a category


def _is_ubjson(head: bytes) -> bool:
    return head.startswith(b"{")


FORMATS = {
    ".json": NativeFormat("an XGBoost", "Booster.save_model", is_model),
    ".ubj": NativeFormat("an XGBoost UBJSON", "Booster.save_model", _is_ubjson),
}


def load(file: Path) -> Any:
    """The Booster in a file."""
    booster = needed("xgboost").Booster()
    booster.load_model(str(file))
    return booster


def check(model: Any, file: Path) -> None:
    """XGBoost reads both formats into the same trees, which it gives back as JSON."""
    learner = saved(model)
    check_links(_trees(model))
    if learner.gbtree is not None:
        _check_trees(learner, learner.gbtree)
    try_rows(partial(_predict, model), tried_rows(model.num_features()))


def with_categories(model: Any, frame: Any) -> Any:
    """Text columns as the categories the model was trained on."""
    booster = booster_of(model)
    if not getattr(booster, "feature_types", None):
        return frame
    return categorised(frame, _levels(booster, frame))


def known_levels(model: Any, frame: Any) -> dict[Any, KnownLevels]:
    """The levels a file holds; XGBoost refuses others."""
    booster = booster_of(model)
    categories = {
        name for name, kind in zip(booster.feature_names or [], booster.feature_types or []) if kind == "c"
    }
    return {
        name: KnownLevels(tuple(levels), unseen="refused")
        for name, levels in _stored_levels(booster).items()
        if name in categories
    }


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
    for tree in (saved(booster).gbtree or {}).get("trees", ()):
        left = np.array(tree["left_children"], dtype=np.int64)
        right = np.array(tree["right_children"], dtype=np.int64)
        columns = np.array(tree["split_indices"], dtype=np.int64)
        if len(columns) == len(left):  # what a leaf says of columns means nothing
            columns = np.where(left == -1, 0, columns)
        yield left, right, 0, columns, n_columns


def _predict(booster: Any, rows: Any) -> Any:
    kinds = booster.feature_types
    data = needed("xgboost").DMatrix(rows, feature_names=booster.feature_names, feature_types=kinds, enable_categorical=True, nthread=1)  # fmt: skip
    return booster.predict(data)


def _check_levels(stored: dict[str, Any]) -> None:
    """Levels of all columns, one after another, and where each column's begin; XGBoost reads them as they are."""
    bounds = np.array(stored["feature_segments"], dtype=np.int64)
    count = len(stored["sorted_idx"])
    if len(bounds) and (bounds[0] != 0 or (np.diff(bounds) < 0).any() or bounds[-1] != count):
        raise LoadError("feature_segments do not follow each other through the levels")
    check_within(np.array(stored["sorted_idx"], dtype=np.int64), max(count, 1), "sorted_idx")
    check_count(bounds, len(stored["enc"]) + 1 if stored["enc"] else len(bounds), "feature_segments")
    for own, size in zip(stored["enc"], np.diff(bounds)):
        starts = np.array(own.get("offsets", ()), dtype=np.int64)
        if len(starts):
            check_count(starts, size + 1, "offsets")
            if starts[0] != 0 or (np.diff(starts) < 0).any() or starts[-1] > len(own["values"]):
                raise LoadError("offsets do not follow each other through values")
        else:
            check_count(own["values"], size, "values")


def _check_trees(learner: Learner, model: dict[str, Any]) -> None:
    """Which output trees belong to, their kinds of splits, sets of categories and values."""
    trees = model["trees"]
    groups = max(1, learner.n_classes) * max(1, learner.n_targets)
    check_count(model["tree_info"], len(trees), "tree_info")
    check_within(np.array(model["tree_info"], dtype=np.int64), groups, "tree_info")
    check_finite(
        np.array(str(learner.sizes["base_score"]).strip("[]").split(","), dtype=np.float64), "base_score"
    )
    if learner.tree_weights is not None:
        check_count(learner.tree_weights, len(trees), "weight_drop")
        check_finite(learner.tree_weights, "weight_drop")
    if model.get("cats"):
        _check_levels(model["cats"])
    for tree in trees:
        nodes = len(tree["left_children"])
        for name in ("split_conditions", "split_indices", "default_left", "split_type", "right_children"):
            check_count(tree[name], nodes, name)
        check_finite(tree["split_conditions"], "split_conditions")
        check_finite(tree["base_weights"], "base_weights")
        kinds = np.array(tree["split_type"], dtype=np.int64)
        check_within(kinds, 2, "split_type")
        at = np.array(tree["categories_nodes"], dtype=np.int64)
        starts, sizes = (
            np.array(tree[f"categories_{name}"], dtype=np.int64) for name in ("segments", "sizes")
        )
        check_count(starts, len(at), "categories_segments")
        check_count(sizes, len(at), "categories_sizes")
        check_within(at, nodes, "categories_nodes")
        check_within(starts, len(tree["categories"]) + 1, "categories_segments")
        check_within(sizes, len(tree["categories"]) + 1, "categories_sizes")
        check_within(starts + sizes, len(tree["categories"]) + 1, "categories_segments")
        check_within(np.array(tree["categories"], dtype=np.int64), LARGEST_CATEGORY, "categories")
        inner = np.array(tree["left_children"], dtype=np.int64) != -1
        if set(np.flatnonzero((kinds == 1) & inner).tolist()) != set(at.tolist()):
            raise LoadError("categories_nodes are not those that split by categories")


def _levels(model: Any, frame: Any) -> dict[str, list[Any]]:
    names = model.feature_names or []
    wanted = [name for name, kind in zip(names, model.feature_types) if kind == "c" and name in frame.columns]
    if not wanted:
        return {}
    stored = _stored_levels(model)
    out: dict[str, list[Any]] = {}
    for name in wanted:
        if name in stored:
            out[name] = stored[name]
        elif holds_numbers(frame[name]):
            largest = frame[name].max()
            out[name] = list(range(int(largest) + 1 if largest >= 0 else 0))  # codes themselves
        elif str(frame[name].dtype) != "category":
            raise LoadError(
                f"Column {name!r} is categorical in the model, whose file does not hold its levels, and text in the "
                "data. Hint: store the data as Parquet with the training's categorical column, or save the model "
                "with XGBoost 3.1 or later."
            )
    return out


def _stored_levels(booster: Any) -> dict[str, list[Any]]:
    """Levels by column, as XGBoost stores them since 3.1."""
    if not hasattr(booster, "get_categories"):
        return {}
    try:
        found = booster.get_categories(export_to_arrow=True).to_arrow()
    except (ImportError, ValueError, AttributeError):
        return {}
    return {name: levels.to_pylist() for name, levels in found if levels is not None}
