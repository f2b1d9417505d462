"""Tables: the only module, with `columns`, that touches data frames.

A `Table` is rows of labelled columns in whatever library the caller uses: pandas (numpy,
nullable or Arrow dtypes), polars, pyarrow, numpy arrays or scipy sparse matrices. It hides how each library
selects, repeats and rewrites columns, and promises three things:

* the caller's frame is never changed;
* a rewritten column keeps its dtype and its category levels, so that models which check them
  accept the frame (only fractional values the user asked for turn an integer column to float);
* `Column` (from `icefield.data.columns`) shows every library's data in one form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import (
    NUMERIC_KINDS,
    ORDERED_KINDS,
    TIME_KINDS,
    Column,
    column_of_array,
    column_of_series,
    frame_of,
    is_missing_value,
    library_named,
    object_array,
)
from icefield.data.replacement import (
    UNSET,
    array_values,
    arrow_array,
    common_dtype,
    own_missing,
    pandas_values,
    polars_series,
)
from icefield.errors import Argument, InputError, InputTypeError, complaint, did_you_mean, worded

__all__ = [
    "NUMERIC_KINDS",
    "ORDERED_KINDS",
    "TIME_KINDS",
    "ArrayTable",
    "Column",
    "FrameTable",
    "SparseTable",
    "Table",
    "frame_of",
    "is_missing_value",
    "object_array",
    "table_of",
]


class Table(ABC):
    """Rows of labelled columns. Build one with `table_of`."""

    library: str
    names: tuple[Any, ...]
    named: bool
    native: Any

    @property
    @abstractmethod
    def n_rows(self) -> int: ...

    @abstractmethod
    def select(self, columns: Sequence[Any]) -> Table:
        """Only these columns, in this order."""

    @abstractmethod
    def take(self, positions: NDArray[np.intp]) -> Table:
        """The rows at these positions, repeats allowed."""

    @abstractmethod
    def slice(self, start: int, stop: int) -> Table:
        """Consecutive rows, without copying where the library can."""

    @abstractmethod
    def _read(self, name: Any) -> Column: ...

    @abstractmethod
    def _repeated(self, times: int, points: Mapping[Any, NDArray[Any]]) -> Table:
        """All rows `times` times over, the k-th copy with its columns rewritten to their k-th value."""

    @abstractmethod
    def to(self, library: str) -> Table:
        """The same rows in another library."""

    @abstractmethod
    def to_numpy(self, dtype: Any = None) -> NDArray[Any]: ...

    @property
    @abstractmethod
    def row_bytes(self) -> int:
        """About how many bytes a row takes when rows are repeated for prediction."""

    def column(self, name: Any) -> Column:
        """One column in library-independent form (read once, then kept)."""
        self.check(name)
        if name not in self._columns:
            self._columns[name] = self._read(name)
        return self._columns[name]

    @cached_property
    def _columns(self) -> dict[Any, Column]:
        return {}

    def check(self, name: Any, parameter: str = "features") -> None:
        if name not in self.names:
            raise InputError(
                complaint(
                    parameter,
                    worded("names a column that ", Argument("X"), " does not have"),
                    name,
                    did_you_mean(name, self.names),
                )
            )

    def crossed(self, points: Mapping[Any, NDArray[Any]]) -> Table:
        """Every row at every grid point: the K grid points' copies of all rows, one after another.

        ``points`` maps each moving column to its K values.
        """
        size = len(next(iter(points.values())))
        return self._repeated(size, {name: np.asarray(values) for name, values in points.items()})


def table_of(data: Any, parameter: str = "X") -> Table:
    """Wrap any supported data as a `Table`.

    Examples
    --------
    >>> table_of(np.zeros((3, 2))).names
    (0, 1)
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, np.ndarray):
        return _array_table(data, parameter)
    if type(data).__module__.split(".")[0] == "scipy" and hasattr(data, "tocsr"):
        return SparseTable(data.tocsr())
    try:
        frame = nw.from_native(data, eager_only=True, allow_series=False)
    except nw.exceptions.DuplicateError as error:
        raise _same_name(list(getattr(data, "column_names", data.columns)), parameter) from error
    except TypeError:
        return _table_of_other(data, parameter)
    library = frame.implementation.value
    if library not in ("pandas", "polars", "pyarrow"):
        return table_of(frame.to_arrow(), parameter)
    native = frame.to_native()
    return FrameTable(_takeable(native) if library == "pyarrow" else native, library, parameter)


def _same_name(names: list[Any], parameter: str) -> InputError:
    twice = next(n for n in names if names.count(n) > 1)
    return InputError(complaint(parameter, "has two columns of the same name", twice, "rename one of them"))


def _takeable(table: Any) -> Any:
    """An arrow table whose rows can be repeated: arrow itself cannot for its string views."""
    arrow = library_named("pyarrow")
    for i, field in enumerate(table.schema):
        if field.type == arrow.string_view():
            table = table.set_column(i, field.name, table.column(i).cast(arrow.large_string()))
    return table


def _table_of_other(data: Any, parameter: str) -> Table:
    if type(data).__module__.startswith("pyarrow") and type(data).__name__ == "RecordBatch":
        return table_of(library_named("pyarrow").Table.from_batches([data]), parameter)
    if isinstance(data, (list, tuple)) and len(data) and isinstance(data[0], (list, tuple, np.ndarray)):
        return _array_table(_matrix_of_rows(data, parameter), parameter)
    hint = "pass a pandas or polars DataFrame, a pyarrow Table or a 2-D numpy array"
    if hasattr(data, "collect"):
        hint = "call .collect() first: a lazy frame has no rows yet"
    elif hasattr(data, "compute"):
        hint = "call .compute() first: a lazy frame has no rows yet"
    elif hasattr(data, "to_frame"):
        hint = "a single column is not a table of features: pass a data frame"
    elif isinstance(data, Mapping):
        hint = "turn the mapping into a frame, for example pandas.DataFrame(X)"
    raise InputTypeError(complaint(parameter, "must be a table of rows and columns", data, hint))


def _matrix_of_rows(rows: Sequence[Any], parameter: str) -> NDArray[Any]:
    if len({len(row) for row in rows}) > 1:
        raise InputError(complaint(parameter, "must have rows of equal length", rows))
    cells = [value for row in rows for value in row]
    # Numbers beside text would all be turned to text.
    mixed = any(isinstance(v, str) for v in cells) and not all(isinstance(v, str) for v in cells)
    return np.array(rows, dtype=object if mixed else None)


def _array_table(data: NDArray[Any], parameter: str) -> Table:
    if isinstance(data, np.ma.MaskedArray):
        raise InputTypeError(
            complaint(parameter, "is a masked array, whose mask models do not see", f"an array of shape {data.shape}",
                      "write X.filled(numpy.nan)")
        )  # fmt: skip
    if data.dtype.names:
        # Columns of their own types have no 2-D form: a frame keeps integers integers.
        return table_of(frame_of({name: data[name] for name in data.dtype.names}, "numpy"), parameter)
    if data.ndim != 2:
        raise InputError(
            complaint(
                parameter,
                "must have two dimensions (rows, columns)",
                f"an array of shape {data.shape}",
                "reshape one row with X.reshape(1, -1), one column with X.reshape(-1, 1)",
            )
        )
    return ArrayTable(np.asarray(data))


class ArrayTable(Table):
    """A 2-D numpy array; columns are positions unless names are known."""

    library = "numpy"

    def __init__(
        self, array: NDArray[Any], names: Sequence[Any] | None = None, marks: Mapping[Any, Any] | None = None
    ) -> None:
        self.native = array
        self.names = tuple(range(array.shape[1])) if names is None else tuple(names)
        self.named = names is not None
        if marks is None:
            marks = own_missing(zip(self.names, array.T) if array.dtype == object else (), "numpy")
        self._marks = marks

    @property
    def n_rows(self) -> int:
        return int(self.native.shape[0])

    @property
    def row_bytes(self) -> int:
        return max(1, self.native.shape[1]) * (32 if self.native.dtype == object else self.native.itemsize)

    def renamed(self, names: Sequence[Any]) -> ArrayTable:
        """The same array with names, when the model knows them."""
        return ArrayTable(self.native, names)

    def _position(self, name: Any) -> int:
        return self.names.index(name)

    def select(self, columns: Sequence[Any]) -> ArrayTable:
        if tuple(columns) == self.names:
            return self
        array = self.native[:, [self._position(c) for c in columns]]
        named = self.named or tuple(columns) != tuple(range(len(columns)))
        return ArrayTable(array, tuple(columns) if named else None, self._marks)

    def _with(self, array: NDArray[Any]) -> ArrayTable:
        return ArrayTable(array, self.names if self.named else None, self._marks)

    def take(self, positions: NDArray[np.intp]) -> ArrayTable:
        return self._with(self.native[positions])

    def slice(self, start: int, stop: int) -> ArrayTable:
        return self._with(self.native[start:stop])

    def _read(self, name: Any) -> Column:
        return column_of_array(name, self.native[:, self._position(name)])

    def _repeated(self, times: int, points: Mapping[Any, NDArray[Any]]) -> ArrayTable:
        moved = {
            name: array_values(values, self.native.dtype, self._marks.get(name, UNSET))
            for name, values in points.items()
        }
        rows, width = self.native.shape
        # A matrix of several hundred copies is written once, in the model's usual row order.
        out = np.empty((times, rows, width), dtype=common_dtype(self.native.dtype, list(moved.values())))
        out[:] = self.native
        for name, values in moved.items():
            out[:, :, self._position(name)] = values[:, None]
        return self._with(out.reshape(times * rows, width))

    def to(self, library: str) -> Table:
        if library == "numpy":
            return self
        if library == "pandas":
            # A copy: what a model does to its rows must not reach the caller's array.
            frame = library_named("pandas").DataFrame(self.native.copy(), columns=list(self.names))
            return FrameTable(frame.infer_objects() if self.native.dtype == object else frame, "pandas")
        return FrameTable(frame_of(dict(zip(self.names, self.native.T)), library), library)

    def to_numpy(self, dtype: Any = None) -> NDArray[Any]:
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
        return int(self.native.shape[0])

    @property
    def row_bytes(self) -> int:
        return 16 + int(12 * (self.native.nnz / max(1, self.n_rows) + 1))

    def select(self, columns: Sequence[Any]) -> SparseTable:
        if tuple(columns) == self.names:
            return self
        return SparseTable(self.native[:, [self.names.index(c) for c in columns]], columns)

    def take(self, positions: NDArray[np.intp]) -> SparseTable:
        return SparseTable(self.native[positions], self.names)

    def slice(self, start: int, stop: int) -> SparseTable:
        return SparseTable(self.native[start:stop], self.names)

    def _read(self, name: Any) -> Column:
        return column_of_array(name, self.native[:, [self.names.index(name)]].toarray().ravel())

    def _repeated(self, times: int, points: Mapping[Any, NDArray[Any]]) -> SparseTable:
        sparse = library_named("scipy.sparse")
        moved = {self.names.index(n): array_values(v, self.native.dtype) for n, v in points.items()}
        dtype = common_dtype(self.native.dtype, list(moved.values()))
        # The entries that stay, once over; then every copy of them beside its own moved entries.
        entries = self.native.tocoo()
        stays = ~np.isin(entries.col, list(moved))
        n_rows = self.n_rows
        rows = [np.tile(entries.row[stays], times) + np.repeat(np.arange(times) * n_rows, int(stays.sum()))]
        columns, data = (
            [np.tile(entries.col[stays], times)],
            [np.tile(entries.data[stays].astype(dtype), times)],
        )
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

    def to_numpy(self, dtype: Any = None) -> NDArray[Any]:
        dense = self.native.toarray()
        return dense if dtype is None else dense.astype(dtype, copy=False)


class FrameTable(Table):
    """A pandas, polars or pyarrow frame."""

    named = True

    def __init__(
        self, frame: Any, library: str, parameter: str = "X", marks: Mapping[Any, Any] | None = None
    ) -> None:
        self.native, self.library = frame, library
        names = list(frame.column_names) if library == "pyarrow" else list(frame.columns)
        if len(set(names)) != len(names):
            raise _same_name(names, parameter)
        self.names = tuple(names)
        # Found once on all rows and handed down, so that every block of rows is written alike.
        if marks is None:
            marks = own_missing(((name, self._native(name)) for name in names), library)
        self._marks = marks

    def _native(self, name: Any) -> Any:
        return self.native.column(self.names.index(name)) if self.library == "pyarrow" else self.native[name]

    @property
    def n_rows(self) -> int:
        return int(self.native.num_rows if self.library == "pyarrow" else len(self.native))

    @cached_property
    def row_bytes(self) -> int:
        if self.n_rows == 0:
            return 1
        head = self.slice(0, min(self.n_rows, 256))
        if self.library == "pandas":
            total = int(head.native.memory_usage(index=False, deep=True).sum())
        elif self.library == "polars":
            total = int(head.native.estimated_size())
        else:
            total = int(head.native.nbytes)
        return max(1, total // head.n_rows)

    def _with(self, frame: Any) -> FrameTable:
        return FrameTable(frame, self.library, marks=self._marks)

    def select(self, columns: Sequence[Any]) -> FrameTable:
        if tuple(columns) == self.names:
            return self
        if self.library == "pandas":
            return self._with(self.native.iloc[:, [self.names.index(c) for c in columns]])
        return self._with(self.native.select(list(columns)))

    def take(self, positions: NDArray[np.intp]) -> FrameTable:
        if self.library == "pandas":
            return self._with(_fresh_index(self.native.take(positions)))
        if self.library == "polars":
            return self._with(self.native[np.asarray(positions)])
        return self._with(self.native.take(np.asarray(positions, dtype=np.int64)))

    def slice(self, start: int, stop: int) -> FrameTable:
        if self.library == "pandas":
            return self._with(_fresh_index(self.native.iloc[start:stop]))
        return self._with(self.native.slice(start, max(0, stop - start)))

    def _repeated(self, times: int, points: Mapping[Any, NDArray[Any]]) -> FrameTable:
        positions = np.tile(np.arange(self.n_rows), times)
        # The new values are few: make them once in the column's dtype, then repeat them natively.
        spread = np.repeat(np.arange(times), self.n_rows)
        if self.library == "pandas":
            pandas = library_named("pandas")
            frame = _fresh_index(self.native.take(positions))
            for name, values in points.items():
                new = pandas_values(values, self.native[name], self._marks.get(name, UNSET)).take(spread)
                frame[name] = pandas.Series(new, index=frame.index, dtype=new.dtype)
            return self._with(frame)
        if self.library == "polars":
            moved = [
                polars_series(n, v, self.native.schema[n], self._marks.get(n, UNSET))[spread]
                for n, v in points.items()
            ]
            return self._with(self.native[positions].with_columns(moved))
        frame = self.native.take(positions)
        for name, values in points.items():
            at = self.names.index(name)
            column = self.native.column(at)
            new = arrow_array(values, column.type, column, self._marks.get(name, UNSET)).take(spread)
            frame = frame.set_column(at, name, new)
        return self._with(frame)

    def _read(self, name: Any) -> Column:
        native = self._native(name)
        if isinstance(getattr(native, "dtype", None), np.dtype) and native.dtype.kind in "fiub":
            return column_of_array(name, native.to_numpy())  # numbers of pandas are arrays already
        return column_of_series(name, nw.from_native(native, series_only=True))

    def to(self, library: str) -> Table:
        if library == self.library:
            return self
        if library == "numpy":
            return ArrayTable(self.to_numpy(), self.names)
        frame = nw.from_native(self.native, eager_only=True)
        if library == "pandas":
            library_named("pandas")
            return FrameTable(frame.to_pandas(), "pandas")
        if library == "polars":
            return FrameTable(frame.to_polars(), "polars")
        return FrameTable(frame.to_arrow(), "pyarrow")

    def to_numpy(self, dtype: Any = None) -> NDArray[Any]:
        """A plain matrix: numbers with NaN for missing, or objects where there are categories."""
        columns = [self.column(name) for name in self.names]
        if all(c.kind in (*NUMERIC_KINDS, "boolean") for c in columns):
            common = np.result_type(
                *(np.float64 if c.any_missing and c.kind != "float" else c.dtype for c in columns)
            )
            out = np.empty((self.n_rows, len(columns)), dtype=common)
            for i, c in enumerate(columns):
                out[:, i] = c.values
                if c.any_missing:
                    out[c.missing, i] = np.nan
        else:
            out = np.empty((self.n_rows, len(columns)), dtype=object)
            for i, c in enumerate(columns):
                # As a list, because numpy turns times in nanoseconds to bare integers.
                out[:, i] = object_array(list(c.values)) if c.dtype.kind in "mM" else c.values
                if c.any_missing:
                    own = self._marks.get(c.name, UNSET)
                    other = np.nan if c.kind in NUMERIC_KINDS else None
                    out[c.missing, i] = other if own is UNSET else own
        return out if dtype is None else out.astype(dtype, copy=False)


def _fresh_index(frame: Any) -> Any:
    """Row labels are the caller's business; repeated rows get plain numbers."""
    return frame.reset_index(drop=True)
