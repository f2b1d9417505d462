"""Rows some of whose columns take other values, each row its own, as the forest sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from icefield.engines.trees.axes import forest_columns
from icefield.engines.trees.coding import CodedRows
from icefield.engines.trees.encoded import EncodedRows, EncodeOnce
from icefield.engines.trees.packed_rows import Moved
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.core.question import Moves
    from icefield.data.frame import Table
    from icefield.forest.tree_model import TreeModel


def moved_columns(
    model: TreeModel, encoder: EncodeOnce, table: Table, rows: EncodedRows | CodedRows, moves: Moves
) -> Moved:
    """The forest columns that any of the moves decides, with what they are in each of them.

    `rows` are the table's, encoded. Axes have a value for every row, or one for all; a column that only other moves decide
    stays as it is.
    """
    driven = [[forest_columns(model, axis.columns) for axis in axes] for axes in moves]
    columns = tuple(sorted({column for one in driven for own in one for column in own}))
    values = np.empty((len(moves), len(columns), table.n_rows))
    for axes, decided, room in zip(moves, driven, values):
        stay = set(columns)
        for axis, own in zip(axes, decided):
            for column, moved in zip(own, encoder.moved(table, axis.points, own)):
                room[columns.index(column)] = moved
            stay.difference_update(own)
        for column in stay:
            room[columns.index(column)] = _as_they_are(rows, column)
    return Moved(columns, values)


def _as_they_are(rows: EncodedRows | CodedRows, column: int) -> Float:
    if isinstance(rows, EncodedRows):
        return np.asarray(rows.matrix[:, column], np.float64)
    coding, place = rows.coding, rows.coding.place[column]
    if column not in coding.columns:  # no condition asks about it
        return np.zeros(rows.n_rows)
    return coding.values[place][rows.codes[place]]
