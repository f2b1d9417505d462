"""What the options --name, --unit and --with say: names and units as an Explainer takes them, and models by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from icefield.data.columns import is_missing_value
from icefield.data.frame import Table
from icefield.errors import InputError
from icefield.wording.values import printed_value


def given_names(texts: Sequence[str], table: Table) -> dict[Any, Any] | None:
    """COLUMN=TEXT and COLUMN[VALUE]=TEXT as a mapping of columns to names, names of values, or both."""
    names: dict[Any, str] = {}
    levels: dict[Any, dict[Any, str]] = {}
    for text in texts:
        key, name = _key_and_text("--name", text)
        column, value = key, None
        if not table.has(key) and key.endswith("]") and "[" in key:
            column, value = key[:-1].split("[", 1)
        table.check(column, "--name")
        if value is None:
            names[column] = name
        else:
            levels.setdefault(column, {})[_spelled_value(column, value, table)] = name
    both = {column: (names[column], levels[column]) for column in names.keys() & levels.keys()}
    combined: dict[Any, Any] = {**names, **levels, **both}
    return combined or None


def given_units(texts: Sequence[str]) -> dict[str, str] | None:
    """COLUMN=UNIT as a mapping."""
    return dict(_key_and_text("--unit", text) for text in texts) or None


def named_models(model: str, other_models: Sequence[str]) -> dict[str, str]:
    """MODEL and what --with gives, by the name in NAME=MODEL or else that of the file; nothing without --with.

    Examples
    --------
    >>> named_models("old/forest.txt", ["new/forest.txt", "deep=models/net.onnx"])
    {'forest': 'old/forest.txt', 'new/forest.txt': 'new/forest.txt', 'deep': 'models/net.onnx'}
    """
    paths: dict[str, str] = {}
    for text in (model, *other_models) if other_models else ():
        name, equals, path = text.partition("=")
        if not equals or not name or not path or Path(text).exists():
            name, path = Path(text).stem, text
        name = path if name in paths else name
        if name in paths:
            raise InputError.about("--with", "names the same model twice", text, "write --with NAME=MODEL")
        paths[name] = path
    return paths


def _key_and_text(option: str, text: str) -> tuple[str, str]:
    key, equals, name = text.partition("=")
    if not equals or not key or not name:
        raise InputError.about(option, "must be COLUMN=TEXT", text, f'write {option} "hr=hour"')
    return key, name


def _spelled_value(column: str, text: str, table: Table) -> Any:
    """The value of a column that this text spells; an error where there is none."""
    values = table.column(column).values
    distinct = {v.item() if hasattr(v, "item") else v for v in values if not is_missing_value(v)}
    for value in distinct:
        alike = isinstance(value, float) and _number(text) == value
        if alike or text in (str(value), printed_value(value)):
            return value
    raise InputError.about("--name", f"names a value that {column!r} does not have", text)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
