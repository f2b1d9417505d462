"""The constraints (monotone, interaction) a model was fitted with, as its library stores them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np

from icefield.data.frame import Table
from icefield.libraries.adapter import type_name
from icefield.libraries.registry import library_of
from icefield.libraries.sklearn.column_ways import passes_through
from icefield.libraries.sklearn.nesting import is_pipeline, unwrapped
from icefield.libraries.sklearn.pipelines import NoSplit, SplitPipeline, split_pipeline

PARAMETERS = ("monotonic_cst", "interaction_cst", "monotone_constraints", "interaction_constraints")
FOLLOWED = 200  # values of a column by which a pipeline's direction is told


@dataclass(frozen=True)
class Declared:
    """Constraints declared at fitting.

    Attributes
    ----------
    monotone : by the position or name of a column, 1 (never falls) or -1 (never rises)
    together : sets of columns, by position or name, that alone may interact; empty where none were declared
    source : where they were read, for people
    unread : constraints that are there and could not be read, and why, for people
    """

    monotone: Mapping[Any, int] = field(default_factory=dict)
    together: tuple[tuple[Any, ...], ...] = ()
    source: str = ""
    unread: tuple[str, ...] = ()


def declared_constraints(model: Any, table: Table) -> Declared:
    """The constraints a fitted model was given, by its own columns; none where its library does not keep them.

    Parameters
    ----------
    model : any fitted model
    table : rows with exactly the model's columns; a pipeline's are followed to its last step by them
    """
    model = unwrapped(model)
    if is_pipeline(model):
        return _through_pipeline(model, table)
    constraints = _of_estimator(model)
    if constraints.monotone or constraints.together:
        return constraints
    return replace(constraints, unread=_unread_inside(model))


def _unread_inside(model: Any) -> tuple[str, ...]:
    """Constraints among the parameters of estimators that a model is made of, which say nothing of its own columns."""
    if not hasattr(model, "get_params"):
        return ()
    try:
        parameters = model.get_params()
    except Exception:  # of classes that only look like scikit-learn's
        return ()
    return tuple(
        f"{name} of {type_name(model)}: it may combine or change what that estimator predicts"
        for name, value in parameters.items()
        if "__" in name and name.rpartition("__")[2] in PARAMETERS and value is not None
    )


def _through_pipeline(pipeline: Any, table: Table) -> Declared:
    """Constraints of a pipeline's last step, by the columns that its transformers make these of."""
    last = pipeline.steps[-1][1]
    if all(passes_through(step) for _, step in pipeline.steps[:-1]):
        return declared_constraints(last, table)
    head = table.slice(0, min(table.n_rows, FOLLOWED))
    try:
        split = split_pipeline(pipeline, head)
        transformed = None if isinstance(split, NoSplit) else split.transform(head)
    except Exception as error:  # whatever its transformers say of these rows
        split, transformed = NoSplit(" ".join(str(error).split())), None
    constraints = _of_estimator(unwrapped(last))
    if not (constraints.monotone or constraints.together):
        return Declared(unread=constraints.unread)
    if isinstance(split, NoSplit):
        return Declared(unread=(*constraints.unread, f"those of {type_name(last)}: {split.reason}"))
    names = list(getattr(transformed, "columns", range(len(split.levels[-1]))))
    position_of = {name: i for i, name in enumerate(names)} | {i: i for i in range(len(names))}
    monotone: dict[Any, int] = {}
    unread = list(constraints.unread)
    for key, sign in constraints.monotone.items():
        column, direction = _follow(split, position_of.get(key, -1), table)
        if direction:
            monotone[column] = sign * direction
        else:
            unread.append(f"monotone constraint {sign:+d} on transformed column {key}: {column}")
    together: list[tuple[Any, ...]] = []
    for group in constraints.together:
        positions = {position_of[key] for key in group if key in position_of}
        sources = [split.sources(i) for i in positions]
        owners = {columns[0] for columns in sources if len(columns) == 1}
        whole = all(set(split.drives(name)) <= positions for name in owners)
        if not whole or any(len(columns) != 1 for columns in sources):
            unread.append(
                f"interaction constraints, whose columns {list(group)} are not those of whole columns of X"
            )
            together = []
            break
        together.append(tuple(name for name in split.columns if name in owners))
    return Declared(
        monotone,
        tuple(together),
        f"{constraints.source}, followed through the pipeline".lstrip(", "),
        tuple(unread),
    )


def _of_estimator(model: Any) -> Declared:
    """The constraints of an estimator that is no pipeline, from its library's `constraints`."""
    library = library_of(model)
    role = None if library is None else library.constraints
    return Declared() if role is None else role.declared(model)


def _follow(split: SplitPipeline, position: int, table: Table) -> tuple[Any, int]:
    """The raw column that alone decides a transformed one, and its direction: 1 rises, -1 falls; or the reason and 0."""
    if position < 0:
        return "it is not among the transformed columns", 0
    sources = split.sources(position)
    if len(sources) != 1:
        return "several columns decide it", 0
    (name,) = sources
    if len(split.drives(name)) > 1:
        return f"{name!r} decides other transformed columns, too", 0
    column = table.column(name)
    present = np.flatnonzero(~column.missing)
    if column.values.dtype == object:
        present = present[:0]
    _, first = np.unique(column.values[present], return_index=True)
    rows = present[first][:: max(1, len(first) // FOLLOWED)]
    if len(rows) < 2:
        return f"{name!r} has no order", 0
    matrix = split.transform(table.take(rows))
    matrix = matrix.to_numpy() if hasattr(matrix, "to_numpy") else matrix
    values = matrix[:, [position]].todense() if hasattr(matrix, "todense") else matrix[:, position]
    values = np.asarray(values, np.float64).ravel()
    directions = set(np.sign(np.diff(values)).tolist()) - {0.0}
    if directions in ({1.0}, {-1.0}):
        return name, int(directions.pop())
    return f"it does not rise or fall with {name!r}", 0


def signs(values: Any) -> dict[Any, int]:
    """Signs by column from what libraries take: a sequence in the columns' order, its text, or a mapping; zeros are left out."""
    if isinstance(values, str):
        values = [int(part) for part in values.strip("() ").split(",") if part.strip()]
    pairs: Iterable[tuple[Any, Any]] = values.items() if isinstance(values, Mapping) else enumerate(values)
    pairs = ((int(key) if isinstance(key, str) and key.isdigit() else key, int(sign)) for key, sign in pairs)
    return {key: sign for key, sign in pairs if sign in (-1, 1)}


def sets(values: Any) -> tuple[tuple[Any, ...], ...]:
    """Sets of columns from a sequence of sequences; nothing for anything else."""
    if isinstance(values, str) or not isinstance(values, Sequence | set | frozenset):
        return ()
    return tuple(
        tuple(int(key) if isinstance(key, Integral) else key for key in group)
        for group in values
        if not isinstance(group, str)
    )
