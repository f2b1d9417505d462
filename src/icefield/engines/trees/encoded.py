"""Rows in the form the forest routes on, encoded once where there is room to keep them.

Encoding reads every column through its own library; for a frame of categories and dates that takes longer than
walking the trees does, and every question needs the same rows again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import numpy as np

from icefield.data.code_counts import row_bits
from icefield.engines.trees.coding import CodedRows, Coding
from icefield.engines.trees.layout import KeptCodes, Layout
from icefield.forest.encode import Encoder
from icefield.typing import Array, Bits, Float, Positions

if TYPE_CHECKING:
    from icefield.core.question import Resources
    from icefield.core.rows import Block
    from icefield.data.frame import Table
    from icefield.forest.tree_model import TreeModel

# Matrices of up to this part of the memory budget are kept; codes, where three such parts hold them.
KEPT_SHARE = 4
FEW_VALUES = 2**20  # of a table that is kept as numbers: making codes would take longer than they save
ROWS_AT_ONCE = 2048  # of a matrix that is made of a table to be coded
MOST_KEPT_CODES = 2**21  # of 32 bits, of one layout
LEAST_CODED, MOST_CODED_AGAIN = 4096, 2**24  # rows that are worth it; values that take little room and time
LEAST_FILTERED = 16  # rows are counted where they lie if they are at least this part of all


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Rows that are encoded already, of float64 or float32, with as much of a `Table` as an engine needs of its rows."""

    matrix: Array

    @property
    def n_rows(self) -> int:
        return len(self.matrix)

    def codes(self, layout: Layout) -> KeptCodes | None:
        """Codes of these rows by a layout, as far as they have been made; None where they would take much room."""
        if layout.n_columns * self.n_rows > MOST_KEPT_CODES:
            return None
        return self._codes.setdefault(layout, KeptCodes.none(layout.n_columns, self.n_rows))

    @cached_property
    def _codes(self) -> WeakKeyDictionary[Layout, KeptCodes]:
        return WeakKeyDictionary()

    def slice(self, start: int, stop: int) -> EncodedRows:
        return EncodedRows(self.matrix[start:stop])

    def take(self, positions: Positions) -> EncodedRows:
        by_column = abs(self.matrix.strides[0]) < abs(self.matrix.strides[1])
        if by_column:
            return EncodedRows(np.take(self.matrix.T, positions, axis=1).T)
        return EncodedRows(np.take(self.matrix, positions, axis=0))


@dataclass(frozen=True, eq=False)
class FilteredRows:
    """Some of the rows that are kept, in their order: counting takes them where they lie, by a bit each; others get a copy."""

    whole: EncodedRows | CodedRows
    positions: Positions

    @classmethod
    def of(cls, whole: EncodedRows | CodedRows, positions: Positions) -> FilteredRows | None:
        """A filter that keeps rows in their order, each once, and enough of them; else None."""
        is_large = len(positions) * LEAST_FILTERED >= whole.n_rows
        in_order = is_large and bool((positions[1:] > positions[:-1]).all()) and positions[0] >= 0
        return cls(whole, positions) if in_order else None

    @property
    def n_rows(self) -> int:
        return len(self.positions)

    @cached_property
    def here(self) -> Bits:
        """One bit for each row of the whole."""
        kept = np.zeros(self.whole.n_rows, bool)
        kept[self.positions] = True
        return row_bits(kept)

    @cached_property
    def taken(self) -> EncodedRows | CodedRows:
        return self.whole.take(self.positions)

    def slice(self, start: int, stop: int) -> EncodedRows | CodedRows:
        return self.taken.slice(start, stop)

    def take(self, positions: Positions) -> EncodedRows | CodedRows:
        return self.whole.take(self.positions[positions])


def stored_rows(model: TreeModel, table: Any) -> Array | CodedRows:
    """Rows as layouts read them: a matrix of float64 or float32, or codes."""
    if isinstance(table, FilteredRows):
        table = table.taken
    if isinstance(table, CodedRows):
        return table
    return table.matrix if isinstance(table, EncodedRows) else model.encode(table)


class EncodeOnce:
    """A model's encoding, which remembers the tables it was asked to keep for as long as they live."""

    def __init__(self, model: TreeModel) -> None:
        self._encode: Callable[[Table], Float] = model.encode
        self._forest = model.forest
        self._kept: WeakKeyDictionary[Table, EncodedRows | CodedRows] = WeakKeyDictionary()

    @cached_property
    def _coding(self) -> Coding | None:
        return Coding.of(self._forest)

    def __call__(self, table: Table | EncodedRows | CodedRows) -> Float:
        if isinstance(table, (EncodedRows, CodedRows)):
            return np.asarray(table.matrix, np.float64)
        return np.asarray(self._encode(table), np.float64)

    def points(self, table: Table, points: Mapping[Any, Array]) -> Float:
        """Any one row of the table at each of some points, whose values its moving columns take."""
        table = table if table.origin is None else table.origin[0]  # taken rows need not be looked at
        if isinstance(self._encode, Encoder):
            return self._encode.points(table, points)
        return self(table.take(np.zeros(1, np.intp)).crossed(points))

    def moved(self, table: Table, points: Mapping[Any, Array], columns: Sequence[int]) -> Iterator[Float]:
        """Some forest columns at each of these points, which decide them."""
        encode = self._encode
        if not isinstance(encode, Encoder) or table.library == "sparse":
            yield from self.points(table, points)[:, list(columns)].T
            return
        moving = table.take(np.zeros(1, np.intp)).select(tuple(points)).crossed(points)
        for column in columns:
            yield np.asarray(encode.column(moving, column), np.float64)

    def kept(self, table: Table, resources: Resources) -> Table | EncodedRows | CodedRows:
        """The table's rows as its own matrix, encoded or coded; or the table itself where these would not fit the budget."""
        found = self._kept.get(table)
        if found is None and table.origin is not None and table.origin[0] in self._kept:
            found = self._kept[table] = self._kept[table.origin[0]].take(table.origin[1])
        if found is None:
            found = self._made(table, resources)
            if found is None:
                return table
            self._kept[table] = found
        return found

    def _made(self, table: Table, resources: Resources) -> EncodedRows | CodedRows | None:
        whole = self._encode.as_is(table) if isinstance(self._encode, Encoder) else None
        if whole is not None:
            return EncodedRows(whole)
        size, part = table.n_rows * self._forest.n_columns, resources.memory // KEPT_SHARE
        coding = self._coding if size > FEW_VALUES else None
        if coding is not None and table.n_rows * coding.columns.size <= (KEPT_SHARE - 1) * part:
            return self._coded(table, coding, resources)
        return EncodedRows(self(table)) if 8 * size <= part else None

    def _coded(self, table: Table, coding: Coding, resources: Resources) -> CodedRows:
        """A table's codes, column by column where each column is by itself, else some rows at a time."""
        codes = np.empty((coding.columns.size, table.n_rows), np.uint8)
        encode = self._encode
        by_column = isinstance(encode, Encoder) and table.library not in ("sparse", "numpy")

        def column(number: int) -> None:
            values = cast(Encoder, encode).column(table, int(coding.columns[number]))
            coding.code(values[:, None], np.zeros(1, np.int32), slice(number, number + 1), codes)

        def rows(start: int) -> None:
            matrix = self(table.slice(start, min(start + ROWS_AT_ONCE, table.n_rows)))
            coding.code(matrix, coding.columns, slice(None), codes, start)

        tasks = range(coding.columns.size) if by_column else range(0, table.n_rows, ROWS_AT_ONCE)
        with resources.crew() as crew, crew:
            crew.each(column if by_column else rows, tasks)
        return CodedRows(codes, coding)

    def moving(self, sample: Block, resources: Resources) -> Block:
        """The same for rows some of whose columns move: asked about again, a matrix is coded, which is packed much faster."""
        found = self.sample(sample, resources)
        rows: Any = found.table
        if not isinstance(rows, EncodedRows) or rows.n_rows < LEAST_CODED or self._coding is None:
            return found
        if rows.n_rows * self._coding.columns.size > min(MOST_CODED_AGAIN, resources.memory // KEPT_SHARE):
            return found
        coded = self._coded_again.get(rows)
        if coded is None:
            if rows not in self._coded_again:
                self._coded_again[rows] = None
                return found
            codes = np.empty((self._coding.columns.size, rows.n_rows), np.uint8)
            self._coding.code(rows.matrix, self._coding.columns, slice(None), codes)
            coded = self._coded_again[rows] = CodedRows(codes, self._coding)
        return replace(found, table=cast(Any, coded))

    @cached_property
    def _coded_again(self) -> WeakKeyDictionary[EncodedRows, CodedRows | None]:
        return WeakKeyDictionary()

    def sample(self, sample: Block, resources: Resources, to_count: bool = False) -> Block:
        """The same rows, weights and groups, as `kept` gives them; `to_count`, chosen rows may stay where they lie."""
        table, found = sample.table, None
        if to_count and table.origin is not None and table not in self._kept and sample.n_groups == 0:
            whole = self.kept(table.origin[0], resources)
            if isinstance(whole, (EncodedRows, CodedRows)) and sample.weights is None:
                found = FilteredRows.of(whole, table.origin[1])
        return replace(sample, table=cast(Any, found or self.kept(table, resources)))
