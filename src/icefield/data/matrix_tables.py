"""Tables of numpy arrays and scipy sparse matrices: one dtype for all columns, known by position.

An array may know its columns' names, when the model does; a sparse matrix never does, and its zeros stay
absent however often its rows are repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from icefield.data.columns import Column, column_of_array, library_named
from icefield.data.replacement import UNSET, array_values, common_dtype, own_missing
from icefield.data.table import Table
from icefield.typing import Array, Positions

TOGETHER = 64  # columns of an array that are taken at a time
PLAIN_KINDS = "fiub"  # dtypes of which a part is read as the whole column is


def columns_at(table: Table, names: Sequence[Any], rows: Positions) -> Iterator[tuple[Any, Column]]:
    """Columns at some rows only, by name.

    Of an array that is stored row by row, neighbouring columns are taken together: a row's numbers lie side by
    side, and a column of few rows costs as much to fetch as all of its neighbours.
    """
    if not isinstance(table, ArrayTable) or not table.is_row_by_row:
        for name in names:
            yield name, table.column(name).part(rows)
        return
    for first in range(0, len(names), TOGETHER):
        some = names[first : first + TOGETHER]
        places = np.array([table.position(name) for name in some])
        low, high = places.min(), places.max() + 1
        if high - low <= 2 * TOGETHER:
            taken = table.native[:, low:high][rows][:, places - low]
        else:
            taken = table.native[rows[:, None], places]
        for name, values in zip(some, np.ascontiguousarray(taken.T)):
            yield name, column_of_array(name, values)


class ArrayTable(Table):
    """A 2-D numpy array; columns are positions unless names are known."""

    library = "numpy"

    def __init__(
        self, array: Array, names: Sequence[Any] | None = None, marks: Mapping[Any, Any] | None = None
    ) -> None:
        self.native = array
        self.names = tuple(range(array.shape[1])) if names is None else tuple(names)
        self.named = names is not None
        if marks is None:
            marks = own_missing(zip(self.names, array.T) if array.dtype == object else (), "numpy")
        self._marks = marks

    @property
    def n_rows(self) -> int:
        return int(self.native.shape[0]) if self.origin is None else len(self.origin[1])

    @property
    def row_bytes(self) -> int:
        return max(1, self.native.shape[1]) * (32 if self.native.dtype == object else self.native.itemsize)

    @property
    def is_row_by_row(self) -> bool:
        """Whether it holds plain numbers of which those of a row lie side by side."""
        down, across = self.native.strides
        return self.native.dtype.kind in PLAIN_KINDS and abs(across) < abs(down)

    def renamed(self, names: Sequence[Any]) -> ArrayTable:
        """The same array with names, when the model knows them."""
        return ArrayTable(self.native, names)

    def select(self, columns: Sequence[Any]) -> ArrayTable:
        if tuple(columns) == self.names:
            return self
        array = self.native[:, [self.position(c) for c in columns]]
        named = self.named or tuple(columns) != tuple(range(len(columns)))
        return ArrayTable(array, tuple(columns) if named else None, self._marks)

    def _with(self, array: Array) -> ArrayTable:
        return ArrayTable(array, self.names if self.named else None, self._marks)

    def rows_at(self, positions: Positions) -> Array:
        # Rows that lie in one piece are copied as such, several times as fast as by indexing.
        in_order = self.native.flags.c_contiguous
        return self.native.take(positions, axis=0) if in_order else self.native[positions]

    def slice(self, start: int, stop: int) -> ArrayTable:
        return self._with(self.native[start:stop])

    def with_columns_of(self, columns: Sequence[Any], donor: Table) -> ArrayTable:
        out = np.array(self.native, dtype=np.result_type(self.native, donor.native))
        for i, name in enumerate(columns):
            out[:, self.position(name)] = donor.native[:, i]
        return ArrayTable(out, self.names if self.named else None)

    def _read(self, name: Any) -> Column:
        return column_of_array(name, self.native[:, self.position(name)])

    def _repeated(self, times: int, points: Mapping[Any, Array]) -> ArrayTable:
        moved = {
            name: array_values(values, self.native.dtype, self._marks.get(name, UNSET))
            for name, values in points.items()
        }
        rows, width = self.native.shape
        # A matrix of several hundred copies is written once, in the model's usual row order.
        out = np.empty((times, rows, width), dtype=common_dtype(self.native.dtype, list(moved.values())))
        out[:] = self.native
        for name, values in moved.items():
            out[:, :, self.position(name)] = values[:, None]
        return self._with(out.reshape(times * rows, width))

    def to(self, library: str) -> Table:
        from icefield.data.frame_table import FrameTable  # which becomes a matrix in turn

        if library == "numpy":
            return self
        if library == "pandas":
            # A copy: what a model does to its rows must not reach the caller's array.
            frame = library_named("pandas").DataFrame(self.native.copy(), columns=list(self.names))
            return FrameTable(frame.infer_objects() if self.native.dtype == object else frame, "pandas")
        from icefield.data.new_frames import frame_of

        return FrameTable(frame_of(dict(zip(self.names, self.native.T)), library), library)

    def to_numpy(self, dtype: Any = None) -> Array:
        return self.native if dtype is None else self.native.astype(dtype, copy=False)


class SparseTable(Table):
    """A scipy CSR matrix: zeros are stored by their absence, columns are positions."""

    library = "sparse"
    named = False

    def __init__(self, matrix: Any, names: Sequence[int] | None = None) -> None:
        self.native = matrix
        self.names = tuple(range(matrix.shape[1])) if names is None else tuple(names)

    @property
    def n_rows(self) -> int:
        return int(self.native.shape[0]) if self.origin is None else len(self.origin[1])

    @property
    def row_bytes(self) -> int:
        return 16 + int(12 * (self.native.nnz / max(1, self.n_rows) + 1))

    def select(self, columns: Sequence[Any]) -> SparseTable:
        if tuple(columns) == self.names:
            return self
        return SparseTable(self.native[:, [self.position(c) for c in columns]], columns)

    def rows_at(self, positions: Positions) -> Any:
        return self.native[positions]

    def slice(self, start: int, stop: int) -> SparseTable:
        return SparseTable(self.native[start:stop], self.names)

    def with_columns_of(self, columns: Sequence[Any], donor: Table) -> SparseTable:
        matrix = self.native.tolil(copy=True)
        values = donor.to_numpy()
        for i, name in enumerate(columns):
            matrix[:, self.position(name)] = values[:, [i]]
        return SparseTable(matrix.tocsr(), self.names)

    def _read(self, name: Any) -> Column:
        return column_of_array(name, self.native[:, [self.position(name)]].toarray().ravel())

    def _repeated(self, times: int, points: Mapping[Any, Array]) -> SparseTable:
        sparse = library_named("scipy.sparse")
        moved = {self.position(n): array_values(v, self.native.dtype) for n, v in points.items()}
        dtype = common_dtype(self.native.dtype, list(moved.values()))
        # The entries that stay, once over; then every copy of them beside its own moved entries.
        entries = self.native.tocoo()
        stays = ~np.isin(entries.col, list(moved))
        n_rows = self.n_rows
        rows = [np.tile(entries.row[stays], times) + np.repeat(np.arange(times) * n_rows, int(stays.sum()))]
        columns = [np.tile(entries.col[stays], times)]
        data = [np.tile(entries.data[stays].astype(dtype), times)]
        for column, values in moved.items():
            repeated = np.repeat(values.astype(dtype), n_rows)
            rows.append(np.flatnonzero(repeated))
            columns.append(np.full(len(rows[-1]), column))
            data.append(repeated[rows[-1]])
        # scikit-learn's trees take 32-bit indices only, which sparse arrays do not choose by themselves.
        index = np.int32 if times * n_rows < 2**31 else np.int64
        where = (np.concatenate(rows).astype(index), np.concatenate(columns).astype(index))
        build = sparse.csr_array if isinstance(self.native, sparse.sparray) else sparse.csr_matrix
        crossed = build((np.concatenate(data), where), shape=(times * n_rows, self.native.shape[1]))
        return SparseTable(crossed, self.names)

    def to(self, library: str) -> Table:
        if library == "sparse":
            return self
        return ArrayTable(self.to_numpy()).to(library)

    def to_numpy(self, dtype: Any = None) -> Array:
        dense = self.native.toarray()
        return dense if dtype is None else dense.astype(dtype, copy=False)
