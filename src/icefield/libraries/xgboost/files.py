"""XGBoost's files: JSON and UBJSON models, whether their trees are trees, and the categories they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from icefield.libraries.category_types import KnownLevels, categorised, holds_numbers
from icefield.libraries.native_files import LoadError, NativeFormat, needed
from icefield.libraries.soundness import Links, check_links
from icefield.libraries.xgboost.format import booster_of, is_model, saved


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
    check_links(_trees(model))


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
