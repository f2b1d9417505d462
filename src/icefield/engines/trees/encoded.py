"""Rows in the form the forest routes on, encoded once where there is room to keep them.

Encoding reads every column through its own library; for a frame of categories and dates that takes longer than
walking the trees does, and every question needs the same rows again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from icefield.forest.encode import Encoder
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.core.rows import Block
    from icefield.data.frame import Table
    from icefield.forest.tree_model import TreeModel

KEPT_SHARE = 4  # matrices of up to this part of the memory budget are kept


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Rows that are encoded already, with as much of a `Table` as an engine needs of its rows."""

    matrix: Float

    @property
    def n_rows(self) -> int:
        return len(self.matrix)

    def slice(self, start: int, stop: int) -> EncodedRows:
        return EncodedRows(self.matrix[start:stop])

    def take(self, positions: NDArray[np.intp]) -> EncodedRows:
        return EncodedRows(self.matrix[positions])


class EncodeOnce:
    """A model's encoding, which remembers the tables it was asked to keep for as long as they live."""

    def __init__(self, model: TreeModel) -> None:
        self._encode: Callable[[Table], Float] = model.encode
        self._width = model.forest.n_columns
        self._kept: WeakKeyDictionary[Table, EncodedRows] = WeakKeyDictionary()
        self._as_is: WeakKeyDictionary[Table, NDArray[Any] | None] = WeakKeyDictionary()

    def __call__(self, table: Table | EncodedRows) -> Float:
        if isinstance(table, EncodedRows):
            return table.matrix
        return np.asarray(self._encode(table), np.float64)

    def as_is(self, table: Table | EncodedRows) -> NDArray[Any] | None:
        """The matrix itself, of float64 or float32, where encoding would only copy it; else None."""
        if isinstance(table, EncodedRows):
            return table.matrix
        if not isinstance(self._encode, Encoder):
            return None
        if table not in self._as_is:  # a frame is asked about all of its columns
            self._as_is[table] = self._encode.as_is(table)
        return self._as_is[table]

    def points(self, table: Table, points: Mapping[Any, NDArray[Any]]) -> Float:
        """Any one row of the table at each of some points, whose values its moving columns take."""
        found = self._encode.points(table, points) if isinstance(self._encode, Encoder) else None
        return self(table.take(np.zeros(1, np.intp)).crossed(points)) if found is None else found

    def kept(self, table: Table, memory: int) -> Table | EncodedRows:
        """The table's rows encoded, or the table itself where these would not fit the budget."""
        found = self._kept.get(table)
        if found is None:
            if 8 * table.n_rows * self._width > memory // KEPT_SHARE:
                return table
            found = EncodedRows(self(table))
            self._kept[table] = found
        return found

    def sample(self, sample: Block, memory: int) -> Block:
        """The same rows, weights and groups, encoded where they fit."""
        return replace(sample, table=cast(Any, self.kept(sample.table, memory)))
