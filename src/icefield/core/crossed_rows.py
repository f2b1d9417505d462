"""Averages at a sample's own values for engines that have no faster way: each row is combined with the values of each.

Rows that share their values are asked once; a set that holds every column has nothing left to average over, and is the
prediction itself.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.core.engine import Engine
from icefield.core.question import ColumnSets, Question, Resources
from icefield.core.rows import Block
from icefield.data.columns import Column
from icefield.data.features import Axis, Feature
from icefield.data.frame import Table
from icefield.typing import Array, Float, Int64, Positions

if TYPE_CHECKING:
    from icefield.models.model import Model


def moving_columns(features: Sequence[Feature]) -> tuple[Any, ...]:
    """The columns that move with some features."""
    return tuple(column for feature in features for column in feature.columns)


def crossed_averages(
    model: Model, engine: Engine, sets: ColumnSets, sample: Block, resources: Resources
) -> Generator[Float]:
    """Partial dependence of sets of columns at the sample's own values, averaged over the sample itself.

    Single columns are asked together, which an engine may answer in one walk. Several at once make a grid whose
    points jump to and fro along each of them, where a shared walk takes longer than one for each set.
    """
    over = Block(sample.table, sample.weights)
    every, column_bytes = set(model.columns), 8 * max(1, sample.n_rows)
    # Answers wait for their turn; the points of sets asked together are as wide as the rows.
    window = max(1, resources.memory // 8 // (column_bytes * len(model.outputs)))
    at_once = max(1, resources.memory // 8 // (column_bytes * len(every)))
    for begin in range(0, len(sets), window):
        part = sets[begin : begin + window]
        home = _asked_together(part, every, at_once)
        waiting: dict[int, Float] = {}
        for number in range(len(part)):
            if number not in home:
                # A copy: the array may be the model's own.
                yield np.array(model.predict(sample.table).T, dtype=np.float64)
                continue
            if number not in waiting:
                asked = [(i, *_question(sample.table, part[i])) for i in home[number]]
                answers = engine.answer([question for _, question, _ in asked], over, resources)
                waiting |= {i: a.total.average[:, place] for (i, _, place), a in zip(asked, answers)}
            yield waiting.pop(number)


def _asked_together(sets: ColumnSets, every: set[Any], most: int) -> dict[int, list[int]]:
    """For each set of all columns but one, the sets computed together with it: other single columns, or itself."""
    homes: list[list[int]] = []
    found: dict[int, list[int]] = {}
    for number, columns in enumerate(sets):
        if set(columns) >= every:
            continue
        own = [number]
        if len(columns) == 1:
            here = (one for one in homes if len(one) < most and all(sets[i] != columns for i in one))
            own = next(here, [])
            if not own:
                homes.append(own)
            own.append(number)
        found[number] = own
    return found


def _question(table: Table, columns: Sequence[Any]) -> tuple[Question, Positions]:
    """A set's question at the distinct combinations of its values, and each row's combination."""
    first, place = _distinct(table, columns)
    points = {name: _grid_values(table.column(name), first) for name in columns}
    return Question((Axis(tuple(columns), points),), spread=False), place


def _distinct(table: Table, columns: Sequence[Any]) -> tuple[Positions, Positions]:
    """Rows that show each combination of values first, and each row's combination."""
    codes = np.zeros(table.n_rows, dtype=np.int64)
    for name in columns:
        column = table.column(name)
        own = column.codes if column.kind != "float" else _codes_of_floats(column.values)
        codes = np.unique(codes * (int(own.max()) + 2) + own + 1, return_inverse=True)[1]
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    return first.astype(np.intp), place.astype(np.intp)


def _codes_of_floats(values: Array) -> Int64:
    return np.unique(values, return_inverse=True, equal_nan=True)[1].astype(np.int64)


def _grid_values(column: Column, rows: Positions) -> Array:
    """Values of some rows in the form grids have: the dtype's own missing value, or None."""
    values = column.values[rows]
    gone = column.missing[rows]
    if not gone.any() or values.dtype.kind in "fmM":
        return np.asarray(values)
    out = values.astype(object)
    out[gone] = None
    return np.asarray(out)
