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
        return _through(model, table)
    found = _own(model)
    if found.monotone or found.together:
        return found
    return replace(found, unread=_inside(model))


def _inside(model: Any) -> tuple[str, ...]:
    """Constraints among the parameters of estimators that a model is made of, which say nothing of its own columns."""
    if not hasattr(model, "get_params"):
        return ()
    try:
        given = model.get_params()
    except Exception:  # of classes that only look like scikit-learn's
        return ()
    return tuple(
        f"{name} of {type_name(model)}: it may combine or change what that estimator predicts"
        for name, value in given.items()
        if "__" in name and name.rpartition("__")[2] in PARAMETERS and value is not None
    )


def _through(pipeline: Any, table: Table) -> Declared:
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
    found = _own(unwrapped(last))
    if not (found.monotone or found.together):
        return Declared(unread=found.unread)
    if isinstance(split, NoSplit):
        return Declared(unread=(*found.unread, f"those of {type_name(last)}: {split.reason}"))
    names = list(getattr(transformed, "columns", range(len(split.levels[-1]))))
    places = {name: i for i, name in enumerate(names)} | {i: i for i in range(len(names))}
    monotone: dict[Any, int] = {}
    unread = list(found.unread)
    for key, sign in found.monotone.items():
        column, turned = _followed(split, places.get(key, -1), table)
        if turned:
            monotone[column] = sign * turned
        else:
            unread.append(f"monotone constraint {sign:+d} on transformed column {key}: {column}")
    together: list[tuple[Any, ...]] = []
    for one in found.together:
        inside = {places[key] for key in one if key in places}
        sources = [split.sources(i) for i in inside]
        owners = {several[0] for several in sources if len(several) == 1}
        whole = all(set(split.drives(name)) <= inside for name in owners)
        if not whole or any(len(several) != 1 for several in sources):
            unread.append(
                f"interaction constraints, whose columns {list(one)} are not those of whole columns of X"
            )
            together = []
            break
        together.append(tuple(name for name in split.columns if name in owners))
    return Declared(
        monotone,
        tuple(together),
        f"{found.source}, followed through the pipeline".lstrip(", "),
        tuple(unread),
    )


def _own(model: Any) -> Declared:
    """What an estimator, no pipeline, was fitted with."""
    library = library_of(model)
    role = None if library is None else library.constraints
    return Declared() if role is None else role.declared(model)


def _followed(split: SplitPipeline, place: int, table: Table) -> tuple[Any, int]:
    """The column that alone decides a transformed one, and whether that rises (1) or falls (-1) with it; 0 with the reason."""
    if place < 0:
        return "it is not among the transformed columns", 0
    sources = split.sources(place)
    if len(sources) != 1:
        return "several columns decide it", 0
    (name,) = sources
    if len(split.drives(name)) > 1:
        return f"{name!r} decides other transformed columns, too", 0
    column = table.column(name)
    known = np.flatnonzero(~column.missing)
    if column.values.dtype == object:
        known = known[:0]
    _, first = np.unique(column.values[known], return_index=True)
    chosen = known[first][:: max(1, len(first) // FOLLOWED)]
    if len(chosen) < 2:
        return f"{name!r} has no order", 0
    made = split.transform(table.take(chosen))
    made = made.to_numpy() if hasattr(made, "to_numpy") else made
    own = np.asarray(
        made[:, [place]].todense() if hasattr(made, "todense") else made[:, place], np.float64
    ).ravel()
    turns = set(np.sign(np.diff(own)).tolist()) - {0.0}
    if turns in ({1.0}, {-1.0}):
        return name, int(turns.pop())
    return f"it does not rise or fall with {name!r}", 0


def signs(values: Any) -> dict[Any, int]:
    """Signs by column from what libraries take: a sequence in the columns' order, its text, or a mapping; zeros are left out."""
    if isinstance(values, str):
        values = [int(part) for part in values.strip("() ").split(",") if part.strip()]
    pairs: Iterable[tuple[Any, Any]] = values.items() if isinstance(values, Mapping) else enumerate(values)
    found = {(int(key) if isinstance(key, str) and key.isdigit() else key): int(sign) for key, sign in pairs}
    return {key: sign for key, sign in found.items() if sign in (-1, 1)}


def sets(values: Any) -> tuple[tuple[Any, ...], ...]:
    """Sets of columns from a sequence of sequences; nothing for anything else."""
    if isinstance(values, str) or not isinstance(values, Sequence | set | frozenset):
        return ()
    return tuple(
        tuple(int(key) if isinstance(key, Integral) else key for key in one)
        for one in values
        if not isinstance(one, str)
    )
