"""LightGBM's files: text models, whether their trees are trees, and the categories they were trained with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from icefield.libraries.category_types import KnownLevels, as_category, holds_numbers
from icefield.libraries.lightgbm.format import (
    CATEGORICAL,
    blocks,
    booster_of,
    categorical_positions,
    header_of,
    numbers,
    parse,
)
from icefield.libraries.native_files import LoadError, NativeFormat, cut, require
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

PARAMETER = re.compile(r"\[\w+: .*\]")
LARGEST_TREE = 2**24  # leaves
OF_LEAVES = ("leaf_weight", "leaf_count")  # lists that predictions do not need, and LightGBM reads
OF_SPLITS = ("split_gain", "internal_value", "internal_weight", "internal_count")


FORMATS = {
    ".txt": NativeFormat(
        "a LightGBM text", "Booster.save_model", lambda head: head.lstrip().startswith(b"tree")
    )
}


def load(file: Path) -> Any:
    """The Booster in a text file."""
    return require("lightgbm").Booster(model_file=str(file))


def check_before_loading(file: Path) -> None:
    """Counts and links, which LightGBM follows as they are: some that are wrong make it loop for ever or end its process."""
    text = file.read_bytes().decode()
    if "\0" in text:
        raise LoadError("it holds a zero byte, at which LightGBM looks for the next line for ever")
    _check_parameters(text)
    n_columns = int(parse(text).header.get("max_feature_idx", "")) + 1
    check_links(_links(fields, n_columns) for fields in blocks(text) if fields.get("left_child"))
    for fields in blocks(text):
        if "num_leaves" in fields:
            _check_tree(fields)


def _check_parameters(text: str) -> None:
    """Raise where a line of a text's parameters is malformed: LightGBM reads what follows its colon, be there one or not."""
    _, begun, rest = text.partition("\nparameters:")
    lines, ended, _ = rest.partition("\nend of parameters")
    if begun and not ended:
        raise LoadError("its parameters have no end")
    for line in filter(None, map(str.strip, lines.split("\n"))):
        if not PARAMETER.fullmatch(line):
            raise LoadError(f"its parameters hold {cut(line, 60)!r}")


def check(model: Any, file: Path) -> None:
    """Levels and columns of what was loaded, and some rows."""
    levels = model.pandas_categorical or []
    if not isinstance(levels, list) or not all(isinstance(column, list) for column in levels):
        raise LoadError("pandas_categorical holds no lists of levels")
    if any(isinstance(level, (list, dict)) for column in levels for level in column):
        raise LoadError("pandas_categorical holds levels that are none")
    check_within(categorical_positions(model), model.num_feature(), "categorical_feature")
    try_rows(model.predict, trial_rows(model.num_feature()))


def with_categories(model: Any, frame: Any) -> Any:
    """Text columns as the categories the model was trained on."""
    booster = getattr(model, "booster_", model)
    return (
        as_category(frame, _levels(booster, frame)) if getattr(booster, "pandas_categorical", None) else frame
    )


def known_levels(model: Any, frame: Any) -> dict[Any, KnownLevels]:
    """The levels of columns that were pandas categories; a value LightGBM has not seen is missing to it."""
    booster = booster_of(model)
    if not getattr(booster, "pandas_categorical", None):
        return {}
    return {name: KnownLevels(tuple(levels)) for name, levels in _levels(booster, frame).items()}


def text_columns(model: Any, names: Sequence[Any]) -> list[Any]:
    """None: its categories are known by their levels."""
    return []


def number_columns(model: Any, names: Sequence[Any]) -> list[Any]:
    """Categories have a type of their own by now, so that every other column is numbers."""
    return list(names)


def _links(fields: Mapping[str, str], n_columns: int) -> Links:
    """Children of a tree that splits; a negative number stands for a leaf, counted from -1 down."""

    def values(name: str, dtype: Any = np.int64) -> Any:
        return numbers([fields.get(name, "")], dtype)

    columns = values("split_feature")
    # A split on categories keeps the number of its set where others keep their threshold.
    by_set = values("decision_type") & CATEGORICAL > 0
    sets = values("threshold", np.float64)
    if by_set.shape == sets.shape and by_set.any():
        outside = by_set & ~((sets >= 0) & (sets < int(fields.get("num_cat", "0"))))
        columns = np.where(outside, -1, columns)
    return values("left_child"), values("right_child"), int(fields.get("num_leaves", "0")), columns, n_columns


def _check_tree(fields: Mapping[str, str]) -> None:
    """Counts, sets of categories and values of one tree, which LightGBM takes as they are."""
    leaves, sets = int(fields["num_leaves"]), int(fields.get("num_cat", "0"))
    check_within([leaves - 1], LARGEST_TREE, "num_leaves")
    check_count(numbers([fields.get("leaf_value", "")], np.float64), leaves, "leaf_value")
    for name in ("leaf_value", "shrinkage", "leaf_const", "leaf_coeff"):
        check_finite(np.array(fields.get(name, "").split(), dtype=np.float64), name)
    for name in ("split_feature", "threshold", "decision_type", "left_child", "right_child"):
        check_count(_words(fields, name), leaves - 1, name)
    for name in OF_LEAVES + OF_SPLITS:
        if fields.get(name):
            check_count(_words(fields, name), leaves - (name in OF_SPLITS), name)
            numbers([fields[name]], np.float64)
    if np.isnan(numbers([fields.get("threshold", "")], np.float64)).any():
        raise LoadError("threshold holds nan")
    if sets:
        bounds = numbers([fields.get("cat_boundaries", "")], np.int64)
        check_count(bounds, sets + 1, "cat_boundaries")
        check_steps(bounds, len(_words(fields, "cat_threshold")), "cat_boundaries", "cat_threshold")


def _words(fields: Mapping[str, str], name: str) -> list[str]:
    """The entries of a list; between two spaces LightGBM looks for one without end."""
    text = fields.get(name, "")
    return text.split(" ") if text else []


def _levels(model: Any, frame: Any) -> dict[str, list[Any]]:
    """Columns that were categories, in order; the file lists their levels but not their names."""
    names, levels = model.feature_name(), model.pandas_categorical
    positions = categorical_positions(model)
    if len(positions) == len(levels):
        return {names[position]: known for position, known in zip(positions, levels)}
    infos = header_of(model).get("feature_infos", "").split()
    chosen = [name for name, info in zip(names, infos) if not info.startswith("[") and info != "none"]
    if len(chosen) != len(levels):
        # A column without a split has no description; texts can only have been categories.
        data = {name: frame[name] for name in names if name in frame.columns}
        chosen = [
            n for n in data if n in chosen or not holds_numbers(data[n]) or str(data[n].dtype) == "category"
        ]
    if len(chosen) != len(levels):
        raise LoadError(
            f"The model was trained with {len(levels)} categorical columns, but its file does not say which: "
            f"{len(chosen)} of the data's columns could be meant ({cut(', '.join(map(str, chosen)))}). "
            "Hint: store the data as Parquet or Feather with categorical columns."
        )
    return dict(zip(chosen, levels))
