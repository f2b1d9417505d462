"""CatBoost's files: binary and JSON models, whether they hold trees, and how their categories are written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from icefield.libraries.catboost.format import is_export
from icefield.libraries.category_types import KnownLevels, holds_numbers, number_as_text
from icefield.libraries.native_files import LoadError, NativeFormat, needed


def _is_binary(head: bytes) -> bool:
    return head.startswith(b"CBM1")


FORMATS = {
    ".cbm": NativeFormat("a CatBoost", "CatBoost.save_model", _is_binary),
    ".json": NativeFormat("a CatBoost", "CatBoost.save_model(format='json')", is_export),
}


def load(file: Path) -> Any:
    """The model in a file, as a plain `CatBoost` object."""
    model = needed("catboost").CatBoost()
    return model.load_model(str(file), format="json" if file.suffix.lower() == ".json" else "cbm")


def check(model: Any, file: Path) -> None:
    """CatBoost checks its own trees, but takes a file without any."""
    if not model.tree_count_:
        raise LoadError("it holds no trees")


def with_categories(model: Any, frame: Any) -> Any:
    """CatBoost takes categories as text or whole numbers, and a missing one only as the text "nan"."""
    names = [model.feature_names_[i] for i in model.get_cat_feature_indices()]
    changed = {}
    for name in names:
        if name not in frame.columns:
            continue
        values = frame[name]
        gone = values.isna()
        if gone.any() or (holds_numbers(values) and values.dtype.kind == "f"):
            changed[name] = values.astype(object).map(number_as_text, na_action="ignore").where(~gone, "nan")
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
