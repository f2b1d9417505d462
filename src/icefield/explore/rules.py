"""Rules: which rows a filter keeps. A rule is data, never an expression, and a row is kept where all its conditions hold.

A condition names a column by its number and says ``ge`` and ``le`` (places on its axis, both ends included), ``in`` (numbers of
levels) or ``missing``: with a range, missing values are kept too; alone, only they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.explore.explored_columns import ExploredColumn
from icefield.explore.messages import MOST_CONDITIONS, BadMessage, number

KEYS = {"column", "ge", "le", "in", "missing"}
BESIDE = ("observed", "predicted")


def checked(rule: Any, columns: Sequence[ExploredColumn], beside: Sequence[str] = ()) -> list[dict[str, Any]]:
    """A rule in its plain form, or an error that names the condition."""
    if not isinstance(rule, list) or len(rule) > MOST_CONDITIONS:
        raise BadMessage(f"A rule is a list of at most {MOST_CONDITIONS} conditions.", "rule")
    return [_condition(condition, columns, beside, f"rule[{i}]") for i, condition in enumerate(rule)]


def _condition(
    given: Any, columns: Sequence[ExploredColumn], beside: Sequence[str], where: str
) -> dict[str, Any]:
    if not isinstance(given, dict) or set(given) - KEYS:
        raise BadMessage(f"{where} must have a column, and ge, le, in or missing.", where)
    column: Any = given.get("column")
    if isinstance(column, str):
        is_there = column in beside
    else:
        is_there = isinstance(column, int) and not isinstance(column, bool) and 0 <= column < len(columns)
    if not is_there:
        raise BadMessage(f"{where} names a column that is not there.", where)
    levels = 0 if isinstance(column, str) else len(columns[column].levels)
    condition: dict[str, Any] = {"column": column}
    if "in" in given:
        members = given["in"]
        if not levels or not isinstance(members, list) or len(members) > levels:
            raise BadMessage(f"{where}: `in` is for columns of levels, and lists some of them.", where)
        if any(isinstance(m, bool) or not isinstance(m, int) or not 0 <= m < levels for m in members):
            raise BadMessage(f"{where}: `in` holds numbers of levels, 0 to {levels - 1}.", where)
        return {**condition, "in": sorted(set(members))}
    if levels and ("ge" in given or "le" in given):
        raise BadMessage(f"{where}: a column of levels has no order; write `in`.", where)
    for end in ("ge", "le"):
        if given.get(end) is not None:
            condition[end] = number(given[end], f"{where}.{end}")
    missing = given.get("missing", False)
    if not isinstance(missing, bool):
        raise BadMessage(f"{where}.missing must be true or false.", where)
    if missing:
        condition["missing"] = True
    if len(condition) == 1:
        raise BadMessage(f"{where} says nothing: give ge, le, in or missing.", where)
    return condition


def mask_of(places: NDArray[np.float64], condition: dict[str, Any]) -> NDArray[np.bool_]:
    """Whether a condition keeps each row, given the rows' places on its column's axis."""
    if "in" in condition:
        highest = int(np.nanmax(places, initial=0)) + 2
        table = np.zeros(max(highest, *(m + 2 for m in condition["in"]), 2), bool)
        table[condition["in"]] = True
        return np.asarray(table[np.where(np.isfinite(places), places, len(table) - 1).astype(np.intp)])
    if "ge" not in condition and "le" not in condition:
        return np.isnan(places)
    inside = np.ones(len(places), bool)
    if "ge" in condition:
        inside &= places >= condition["ge"]
    if "le" in condition:
        inside &= places <= condition["le"]
    return inside | np.isnan(places) if condition.get("missing") else inside


def in_words(rule: Sequence[dict[str, Any]], columns: Sequence[ExploredColumn]) -> str:
    """The rule as a reader says it: "working day is 1 and temp from 0.5 up"."""
    return " and ".join(condition_words(condition, columns) for condition in rule) or "all rows"


def condition_words(condition: dict[str, Any], columns: Sequence[ExploredColumn]) -> str:
    """One condition as a reader says it."""
    column = condition["column"]
    if isinstance(column, str):
        name, text = column, lambda v: f"{v:.4g}"
    else:
        c = columns[column]
        rounded = c.kind in ("number", "integer")
        name, text = c.label, lambda v: c.text(c.value(float(f"{v:.6g}") if rounded else v, "place"))
    if "in" in condition:
        members = [columns[column].text(columns[column].levels[m]) for m in condition["in"]]
        if not members:
            return f"{name} is none of its levels"
        shown = ", ".join(members[:3]) + (f" or {len(members) - 3} more" if len(members) > 3 else "")
        return f"{name} is {shown}"
    if "ge" in condition and "le" in condition:
        words = f"{name} from {text(condition['ge'])} to {text(condition['le'])}"
    elif "ge" in condition:
        words = f"{name} ≥ {text(condition['ge'])}"
    elif "le" in condition:
        words = f"{name} ≤ {text(condition['le'])}"
    else:
        return f"{name} is missing"
    return f"{words}, or missing" if condition.get("missing") else words
