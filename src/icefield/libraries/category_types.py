"""Columns of a pandas frame with the categories a model was trained on.

Text formats such as CSV have lost the type of categories, and model files list levels in their
library's own way. Libraries say which levels a column had; here the column gets them back.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from icefield.errors import InputError


@dataclass(frozen=True)
class KnownLevels:
    """The levels a model knows of a column.

    Attributes
    ----------
    levels : in the model's order
    typed : whether the model takes them as a category type, whose codes follow that order
    unseen : what becomes of other values: they are ``"missing"`` to the model, ``"refused"``, or ``"kept"`` for it to judge
    missing : what stands for a missing value
    """

    levels: tuple[Any, ...]
    typed: bool = True
    unseen: str = "missing"
    missing: Any = None


def refuse_text(table: Any, columns: Sequence[Any]) -> None:
    """Raise where columns that a model takes as numbers hold texts, which some libraries would read as numbers in silence.

    Parameters
    ----------
    table : some rows, as a `Table`
    columns : those of them that the model takes as numbers
    """
    for name in columns if table.library in ("pandas", "polars", "pyarrow") else ():
        column = table.column(name)
        if (
            column.kind == "categorical"
            and not column.closed
            and any(isinstance(v, str) for v in column.levels.tolist())
        ):
            raise InputError.about(
                "X", f"holds text in the column {name!r}, which the model takes as numbers",
                next(v for v in column.levels.tolist() if isinstance(v, str)),
                f'write X["{name}"].astype(float), or astype("category") for categories',
            )  # fmt: skip


def as_category(frame: Any, levels: Mapping[str, Sequence[Any]]) -> Any:
    """The frame with these columns as categories of these levels, unless they are categories already."""
    pandas = importlib.import_module("pandas")
    changed = {}
    for name, known in levels.items():
        if name in frame.columns and str(frame[name].dtype) != "category":
            categories = pandas.Index(list(known))
            values = frame[name]
            if not holds_numbers(values) and categories.dtype.kind in "iufb":
                # Levels were numbers, the file gave texts (or the other way round below).
                values = pandas.to_numeric(values, errors="coerce")
            elif holds_numbers(values) and categories.dtype.kind not in "iufb":
                values = values.map(number_as_text, na_action="ignore")
            changed[name] = pandas.Categorical(values, categories=categories)
    return frame.assign(**changed) if changed else frame


def number_as_text(value: Any) -> str:
    """A number as it was written before a missing value beside it made it a fraction."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    return str(value)


def holds_numbers(column: Any) -> bool:
    kind = getattr(column.dtype, "kind", "O")
    return kind in "iufb"
