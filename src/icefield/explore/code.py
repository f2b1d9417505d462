"""A state of the explorer as the Python lines that reproduce its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from icefield.data.columns import is_missing_value
from icefield.explore.explored_columns import ExploredColumn

QUANTILES = (0.05, 0.25, 0.75, 0.95)


def rule_code(rule: Sequence[Mapping[str, Any]], columns: Sequence[ExploredColumn], library: str) -> str:
    """An expression for the mask of the rows that a rule keeps; `X` is the data, `ex` the Explainer."""
    return " & ".join(_condition(one, columns, library) for one in rule)


def _condition(one: Mapping[str, Any], columns: Sequence[ExploredColumn], library: str) -> str:
    column = one["column"]
    if isinstance(column, str):
        series = "np.asarray(ex.y)" if column == "observed" else "ex.model.predict(ex.table)[:, 0]"
        show: Callable[[float], str] = repr
    else:
        own = columns[column]
        series = f"np.asarray(X[{own.name!r}])" if library != "numpy" else f"X[:, {own.name!r}]"
        show = partial(_place_literal, own)
        if "in" in one:
            members = [own.levels[m] for m in one["in"]]
            known = [literal(m) for m in members if not is_missing_value(m)]
            parts = [f"np.isin({series}, [{', '.join(known)}])"] if known or not members else []
            if len(known) < len(members):
                parts.append(f"pd.isna({series})")
            return parts[0] if len(parts) == 1 else f"({' | '.join(parts)})"
    parts = []
    if "ge" in one:
        parts.append(f"({series} >= {show(one['ge'])})")
    if "le" in one:
        parts.append(f"({series} <= {show(one['le'])})")
    if not parts:
        return f"pd.isna({series})"
    text = " & ".join(parts)
    return f"({text} | pd.isna({series}))" if one.get("missing") else text


def _place_literal(column: ExploredColumn, place: float) -> str:
    return literal(column.value(place, "rule"))


def literal(value: Any) -> str:
    """A value as Python writes it."""
    if is_missing_value(value):
        return "None"
    if isinstance(value, (np.datetime64, np.timedelta64)):
        unit = np.datetime_data(value.dtype)[0]
        if isinstance(value, np.timedelta64):
            return f"np.timedelta64({int(value.astype(np.int64))}, {unit!r})"
        return f"np.datetime64({str(value)!r})"
    return repr(value.item() if isinstance(value, np.generic) else value)


def lines(
    state: Mapping[str, Any],
    rule: Sequence[Mapping[str, Any]],
    columns: Sequence[ExploredColumn],
    library: str,
    explainer: str = "ex",
) -> list[str]:
    """The lines that give what is shown: the filter, the curve or surface, and what was switched on beside it."""
    found = []
    masked = rule_code(rule, columns, library)
    if "np." in masked:
        found.append("import numpy as np")
    if "pd." in masked:
        found.append("import pandas as pd")
    chosen = ""
    if masked:
        found.append(f"rows = {masked}")
        chosen = ", rows=rows"
    feature = columns[state["feature"]].name
    shown = state.get("shown", {})
    second = state.get("second")
    if second is not None:
        found.append(f"{explainer}.partial_dependence({feature!r}, {columns[second].name!r}{chosen}).plot()")
    else:
        spread = f", quantiles={QUANTILES}" if shown.get("spread", True) else ""
        found.append(f"{explainer}.partial_dependence({feature!r}{chosen}{spread}, support=True).plot()")
    if shown.get("ale") and second is None:
        found.append(f"{explainer}.ale({feature!r}{chosen}).plot()")
    if shown.get("observed") and second is None:
        found.append(f"{explainer}.conditional({feature!r}{chosen}).plot()")
    row = state.get("row")
    if row is not None and second is None:
        changed = {
            columns[int(k)].name: columns[int(k)].value(v, "values")
            for k, v in state.get("values", {}).items()
        }
        said = ", ".join(f"{name!r}: {literal(value)}" for name, value in changed.items())
        extra = f", changed={{{said}}}" if said else ""
        found.append(f"{explainer}.ice({feature!r}, rows=[{row}]{extra}).plot()")
    return found
