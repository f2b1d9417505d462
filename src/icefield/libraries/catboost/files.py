"""CatBoost's files: binary and JSON models, whether they hold trees, and how their categories are written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from icefield.libraries.catboost.format import NESTED, SYMMETRIC, ExportError, is_export, json_export
from icefield.libraries.category_types import KnownLevels, holds_numbers, number_as_text
from icefield.libraries.native_files import LoadError, NativeFormat, require
from icefield.libraries.validation import check_finite, check_within, trial_rows, try_rows

FORMATS = {
    ".cbm": NativeFormat("a CatBoost", "CatBoost.save_model", lambda head: head.startswith(b"CBM1")),
    ".json": NativeFormat("a CatBoost", "CatBoost.save_model(format='json')", is_export),
}


def load(file: Path) -> Any:
    """The model in a file, as a plain `CatBoost` object."""
    model = require("catboost").CatBoost()
    return model.load_model(str(file), format="json" if file.suffix.lower() == ".json" else "cbm")


def check(model: Any, file: Path) -> None:
    """Raise where a loaded model has no trees or a damaged export; CatBoost checks the rest itself."""
    if not model.tree_count_:
        raise LoadError("it holds no trees")
    if file.suffix.lower() == ".json":  # CatBoost cuts numbers that are too large for it
        check_document(json.loads(file.read_bytes()))
    rows = trial_rows(len(model.feature_names_)).astype(object)
    for column in {*model.get_cat_feature_indices(), *model.get_text_feature_indices()}:
        rows[:, column] = [("female", "male", "nan", "a", "7")[row % 5] for row in range(len(rows))]
    try_rows(partial(model.predict, thread_count=1), rows.tolist())
    # What cannot be exported is not read as trees either.
    with suppress(ExportError):
        check_document(json_export(model))


def check_document(document: Any) -> None:
    """Raise where an export refers to columns that do not exist, or holds values that are not numbers."""
    info = document["features_info"]
    floats, categories = info.get("float_features") or [], info.get("categorical_features") or []
    columns = [feature["flat_feature_index"] for feature in [*floats, *categories]]
    n_others = len(info.get("text_features") or []) + len(info.get("embedding_features") or [])
    check_within(columns, len(columns) + n_others, "flat_feature_index")
    if len(set(columns)) != len(columns):
        raise LoadError("flat_feature_index names a column twice")
    numeric = {feature["feature_index"]: feature.get("borders") or [] for feature in floats}
    check_within(list(numeric), len(floats), "feature_index")
    for borders in numeric.values():
        check_finite(borders, "borders")
    scale, bias = document["scale_and_bias"]
    check_finite(scale, "scale_and_bias")
    check_finite(bias, "scale_and_bias")
    for tree in document.get(SYMMETRIC) or ():
        check_finite(tree["leaf_values"], "leaf_values")
        leaves = 2 ** len(tree.get("splits") or ())
        if not tree["leaf_values"] or len(tree["leaf_values"]) % leaves:
            raise LoadError(f"leaf_values has {len(tree['leaf_values'])} entries for {leaves} leaves")
        for split in tree.get("splits") or ():
            _check_split(split, numeric, len(categories))
    stack = list(document.get(NESTED) or ())
    while stack:
        node = stack.pop()
        if "split" in node:
            _check_split(node["split"], numeric, len(categories))
            stack += [node["left"], node["right"]]
        else:
            check_finite(node["value"], "value")


def _check_split(split: Any, numeric: dict[int, Any], categories: int) -> None:
    if split.get("split_type") == "FloatFeature" or "float_feature_index" in split:
        if split["float_feature_index"] not in numeric:
            raise LoadError("float_feature_index points at no column")
        check_finite(split["border"], "border")
    elif "cat_feature_index" in split:
        check_within([split["cat_feature_index"]], categories, "cat_feature_index")


def with_categories(model: Any, frame: Any) -> Any:
    """CatBoost takes categories as text or whole numbers, and a missing one only as the text "nan"."""
    names = [model.feature_names_[i] for i in model.get_cat_feature_indices()]
    changed = {}
    for name in (name for name in names if name in frame.columns):
        values = frame[name]
        gaps = values.isna()
        if gaps.any() or (holds_numbers(values) and values.dtype.kind == "f"):
            changed[name] = values.astype(object).map(number_as_text, na_action="ignore").where(~gaps, "nan")
    return frame.assign(**changed) if changed else frame


def known_levels(model: Any, frame: Any) -> dict[Any, KnownLevels]:
    """CatBoost's files hold no levels, only their hashes."""
    return {}


def text_columns(model: Any, names: Sequence[Any]) -> list[Any]:
    """Categories, which CatBoost compares as texts, and texts."""
    texts = {*model.get_cat_feature_indices(), *model.get_text_feature_indices()}
    return [name for i, name in enumerate(names) if i in texts]


def number_columns(model: Any, names: Sequence[Any]) -> list[Any]:
    """All but categories, texts and embeddings, which a model knows by position."""
    other = {*model.get_cat_feature_indices(), *model.get_text_feature_indices(),
             *model.get_embedding_feature_indices()}  # fmt: skip
    return [name for i, name in enumerate(names) if i not in other]
