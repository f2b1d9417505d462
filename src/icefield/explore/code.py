"""A state of the explorer as the Python lines that reproduce its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from icefield.data.columns import is_missing_value
from icefield.explore.explored_columns import ExploredColumn

QUANTILES = (0.05, 0.25, 0.75, 0.95)


def _condition(condition: Mapping[str, Any], columns: Sequence[ExploredColumn], library: str) -> str:
    column = condition["column"]
    if isinstance(column, str):
        series = "np.asarray(ex.y)" if column == "observed" else "ex.model.predict(ex.table)[:, 0]"
        show: Callable[[float], str] = repr
    else:
        feature = columns[column]
        series = f"np.asarray(X[{feature.name!r}])" if library != "numpy" else f"X[:, {feature.name!r}]"
        show = partial(_place_literal, feature)
        if "in" in condition:
            members = [feature.levels[m] for m in condition["in"]]
            known = [literal(m) for m in members if not is_missing_value(m)]
            parts = [f"np.isin({series}, [{', '.join(known)}])"] if known or not members else []
            if len(known) < len(members):
                parts.append(f"pd.isna({series})")
            return parts[0] if len(parts) == 1 else f"({' | '.join(parts)})"
    parts = []
    if "ge" in condition:
        parts.append(f"({series} >= {show(condition['ge'])})")
    if "le" in condition:
        parts.append(f"({series} <= {show(condition['le'])})")
    if not parts:
        return f"pd.isna({series})"
    text = " & ".join(parts)
    return f"({text} | pd.isna({series}))" if condition.get("missing") else text


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


@dataclass(frozen=True)
class CodeContext:
    """What Python lines refer to: the columns, the data's library (`X` has columns or is an array), and names of Explainers.

    `shown` is the Explainer that the view is of, `first` the one whose grids all share, `made` the line that builds `shown` where
    nobody has it yet; `every` are all of them, for models side by side; `draw` samples rows of regions with its seed.
    """

    columns: Sequence[ExploredColumn]
    library: str
    first: str = "ex"
    shown: str = "ex"
    made: str = ""
    every: Sequence[str] = ()
    most: int = 0
    seed: int = 0


def lines(state: Mapping[str, Any], about: CodeContext) -> list[str]:
    """The lines that give what a state shows: its filter, its curve or surface, and what is switched on beside it.

    `state` is a checked one: ``feature``, ``rule``, ``shown``, and where they are chosen ``second``, ``row`` with ``values``,
    ``pinned``, ``cohort`` (a rule to compare with), ``regions`` (ends of a stretch, or none), ``kept`` (rows that the rule keeps).
    """
    columns, ex = about.columns, about.shown
    feature, shown, second = columns[state["feature"]], state.get("shown", {}), state.get("second")
    name = repr(feature.name)
    masks = {"rows": state["rule"], "cohort": state.get("cohort") if second is None else None}
    calls = []
    for label, rule in masks.items():
        if rule:
            calls.append(f"{label} = {' & '.join(_condition(term, columns, about.library) for term in rule)}")
    chosen = ", rows=rows" if state["rule"] else ""
    if about.made:
        calls.append(about.made)
    if second is not None:
        calls.append(f"{ex}.partial_dependence({name}, {columns[second].name!r}{chosen}).plot()")
        return _imports(calls) + calls
    regions, both = state.get("regions"), bool(shown.get("both") and about.every)
    on_grid = ", grid=grid" if ex != about.first or both else ""
    if on_grid or regions is not None:
        calls.append(f"grid = {about.first}.partial_dependence({name}, spread=False).grid[0]")
    spread = f", quantiles={QUANTILES}" if shown.get("spread", True) else ""
    calls.append(f"{ex}.partial_dependence({name}{chosen}{on_grid}{spread}, support=True).plot()")
    if both:
        calls += [
            f"{e}.partial_dependence({name}{chosen}, grid=grid, spread=False).plot()" for e in about.every
        ]
    if state.get("cohort") is not None:
        rows = ", rows=cohort" if state["cohort"] else ""
        calls.append(f"{ex}.partial_dependence({name}{rows}{on_grid}, spread=False).plot()")
    if shown.get("ale"):
        calls.append(f"{ex}.ale({name}{chosen}).plot()")
    if shown.get("observed"):
        calls.append(f"{ex}.conditional({name}{chosen}).plot()")
    if regions is not None:
        calls.append(_regions(state, about, feature))
    if shown.get("audit"):
        calls.append(
            f"{ex}.audit([{name}], everywhere=False{', rows=np.flatnonzero(rows)' if state['rule'] else ''})"
        )
    for row_state in (state.get("pinned"), state):
        if row_state and row_state.get("row") is not None:
            changed = {
                columns[int(k)].name: columns[int(k)].value(v, "values")
                for k, v in row_state.get("values", {}).items()
            }
            pairs = ", ".join(f"{key!r}: {literal(value)}" for key, value in changed.items())
            extra = f", changed={{{pairs}}}" if pairs else ""
            calls.append(f"{ex}.ice({name}, rows=[{row_state['row']}]{extra}{on_grid}).plot()")
    return _imports(calls) + calls


def _regions(state: Mapping[str, Any], about: CodeContext, feature: ExploredColumn) -> str:
    """Regions over the shared grid or a stretch of it, of as many rows as the explorer takes."""
    grid, rows = "grid", ", rows=np.flatnonzero(rows)" if state["rule"] else ""
    if state["regions"]:
        low, high = (_place_literal(feature, end) for end in state["regions"])
        grid = f"grid[(grid >= {low}) & (grid <= {high})]"
    if state["rule"] and state["kept"] > about.most:
        rows = f", rows=np.sort(np.random.default_rng({about.seed}).choice(np.flatnonzero(rows), {about.most}, replace=False))"
    return f"{about.shown}.regions({feature.name!r}{rows}, grid={grid})"


def _imports(calls: Sequence[str]) -> list[str]:
    needed = {
        "np.": "import numpy as np",
        "pd.": "import pandas as pd",
        "Explainer(": "from icefield import Explainer",
    }
    return [line for used, line in needed.items() if any(used in call for call in calls)]
