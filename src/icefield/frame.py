"""Tables: the only module that touches data frames.

A `Table` is rows of labelled columns in whatever library the caller uses: pandas (numpy,
nullable or Arrow dtypes), polars, pyarrow, numpy arrays or scipy sparse matrices. It hides how each library
selects, repeats and rewrites columns, and promises three things:

* the caller's frame is never changed;
* a rewritten column keeps its dtype and its category levels, so that models which check them
  accept the frame (only fractional values the user asked for turn an integer column to float);
* `Column` shows every library's data in one form: numpy values, a missing mask, and codes
  and levels for categories.
"""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from icefield.errors import InputError, InputTypeError, MissingDependencyError, complaint, did_you_mean

NUMERIC_KINDS = ("float", "integer")
TIME_KINDS = ("datetime", "date", "duration")
ORDERED_KINDS = (*NUMERIC_KINDS, *TIME_KINDS)


class Column:
    """One column in library-independent form.

    Attributes
    ----------
    name : label
    kind : ``"float" | "integer" | "boolean" | "categorical" | "datetime" | "date" | "duration" | "other"``
    values : numpy array; unspecified (but valid) content where `missing`, except NaN and NaT
    missing : boolean mask
    codes, levels : for categories, level numbers (-1 missing) and level values in level order
    """

    def __init__(
        self,
        name: Any,
        kind: str,
        values: NDArray[Any],
        missing: NDArray[np.bool_],
        codes: NDArray[np.int64] | None = None,
        levels: NDArray[Any] | None = None,
    ) -> None:
        self.name, self.kind, self.values, self.missing = name, kind, values, missing
        self._codes, self._levels = codes, levels

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    @cached_property
    def any_missing(self) -> bool:
        return bool(self.missing.any())

    @cached_property
    def _coded(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Codes and levels; plain strings, booleans and numbers get sorted distinct values as levels."""
        if self._codes is not None and self._levels is not None:
            return self._codes, self._levels
        present = self.values[~self.missing]
        codes = np.full(len(self.values), -1, dtype=np.int64)
        if self.values.dtype == object:
            levels = object_array(_sorted_mixed(set(present.tolist())))
            lookup = {level: code for code, level in enumerate(levels.tolist())}
            codes[~self.missing] = np.fromiter((lookup[v] for v in present.tolist()), np.int64, len(present))
        else:
            levels, codes[~self.missing] = np.unique(present, return_inverse=True)
        return codes, levels

    @property
    def codes(self) -> NDArray[np.int64]:
        return self._coded[0]

    @property
    def levels(self) -> NDArray[Any]:
        return self._coded[1]

    def to_float(self) -> NDArray[np.float64]:
        """Numbers as float64 with NaN for missing; times as their underlying count."""
        if self.kind == "categorical" or self.kind == "other":
            raise InputTypeError(
                f"Column {self.name!r} holds categories, which have no numeric value. "
                "Hint: ask for a numeric column."
            )
        if self.kind in TIME_KINDS:
            out = self.values.astype(np.int64).astype(np.float64)
        else:
            out = self.values.astype(np.float64)
        if self.any_missing:
            out[self.missing] = np.nan
        return out


def object_array(values: Sequence[Any]) -> NDArray[Any]:
    """A 1-D object array, also of tuples and arrays (which `np.array` would stack)."""
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out


def _sorted_mixed(values: set[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:  # mixed types: by type name, then text, so that the order is at least stable
        return sorted(values, key=lambda v: (type(v).__name__, str(v)))


def is_missing_value(value: Any) -> bool:
    """None, NaN, NaT or a library's NA."""
    if value is None:
        return True
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return type(value).__name__ in ("NAType", "NaTType")


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
                    parameter, "names a column that X does not have", name, did_you_mean(name, self.names)
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
    except TypeError:
        return _table_of_other(data, parameter)
    library = frame.implementation.value
    if library not in ("pandas", "polars", "pyarrow"):
        return table_of(frame.to_arrow(), parameter)
    return FrameTable(frame.to_native(), library, parameter)


def _table_of_other(data: Any, parameter: str) -> Table:
    if isinstance(data, (list, tuple)) and len(data) and isinstance(data[0], (list, tuple, np.ndarray)):
        return _array_table(np.asarray(data), parameter)
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


def _array_table(data: NDArray[Any], parameter: str) -> Table:
    if data.dtype.names:
        return _structured(data, parameter)
    if data.ndim != 2:
        raise InputError(
            complaint(
                parameter,
                "must have two dimensions (rows, columns)",
                f"an array of shape {data.shape}",
                "reshape one row with X.reshape(1, -1), one column with X.reshape(-1, 1)",
            )
        )
    return ArrayTable(data)


def _structured(data: NDArray[Any], parameter: str) -> Table:
    """A structured array has names but no 2-D form: hold it as a plain matrix when it is numeric."""
    kinds = {np.dtype(data.dtype[name]).kind for name in data.dtype.names or ()}
    if not kinds <= set("fiub"):
        raise InputTypeError(
            complaint(parameter, "is a structured array with columns that are not numbers", data.dtype,
                      "pass a data frame instead")
        )  # fmt: skip
    names = tuple(data.dtype.names or ())
    return ArrayTable(np.column_stack([data[name] for name in names]), names)


class ArrayTable(Table):
    """A 2-D numpy array; columns are positions unless names are known."""

    library = "numpy"

    def __init__(self, array: NDArray[Any], names: Sequence[Any] | None = None) -> None:
        self.native = array
        self.names = tuple(range(array.shape[1])) if names is None else tuple(names)
        self.named = names is not None

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
        return ArrayTable(
            array, tuple(columns) if self.named or tuple(columns) != tuple(range(len(columns))) else None
        )

    def take(self, positions: NDArray[np.intp]) -> ArrayTable:
        return ArrayTable(self.native[positions], self.names if self.named else None)

    def slice(self, start: int, stop: int) -> ArrayTable:
        return ArrayTable(self.native[start:stop], self.names if self.named else None)

    def _read(self, name: Any) -> Column:
        return _column_of_array(name, self.native[:, self._position(name)])

    def _repeated(self, times: int, points: Mapping[Any, NDArray[Any]]) -> ArrayTable:
        dtype = self.native.dtype
        for values in points.values():
            if not np.can_cast(values.dtype, dtype, "same_kind") and dtype.kind != "O":
                dtype = np.promote_types(dtype, values.dtype)
        rows, width = self.native.shape
        # A matrix of several hundred copies is written once, in the model's usual row order.
        out = np.empty((times, rows, width), dtype=dtype)
        out[:] = self.native
        for name, values in points.items():
            out[:, :, self._position(name)] = values[:, None]
        return ArrayTable(out.reshape(times * rows, width), self.names if self.named else None)

    def to(self, library: str) -> Table:
        if library == "numpy":
            return self
        columns = {str(n): np.ascontiguousarray(self.native[:, i]) for i, n in enumerate(self.names)}
        if library == "pandas":
            pandas = _library("pandas")
            frame = pandas.DataFrame(self.native, columns=list(self.names))
            return FrameTable(frame.infer_objects() if self.native.dtype == object else frame, "pandas")
        return FrameTable(nw.from_dict(columns, backend=library).to_native(), library)

    def to_numpy(self, dtype: Any = None) -> NDArray[Any]:
        return self.native if dtype is None else self.native.astype(dtype, copy=False)


class SparseTable(Table):
    """A scipy CSR matrix: zeros are stored by their absence, columns are positions."""

    library = "sparse"
    named = False

    def __init__(self, matrix: Any) -> None:
        self.native = matrix
        self.names = tuple(range(matrix.shape[1]))

    @property
    def n_rows(self) -> int:
        return int(self.native.shape[0])

    @property
    def row_bytes(self) -> int:
        return 16 + int(12 * (self.native.nnz / max(1, self.n_rows) + 1))

    def select(self, columns: Sequence[Any]) -> SparseTable:
        return self if tuple(columns) == self.names else SparseTable(self.native[:, list(columns)])

    def take(self, positions: NDArray[np.intp]) -> SparseTable:
        return SparseTable(self.native[positions])

    def slice(self, start: int, stop: int) -> SparseTable:
        return SparseTable(self.native[start:stop])

    def _read(self, name: Any) -> Column:
        return _column_of_array(name, self.native[:, [name]].toarray().ravel())

    def _repeated(self, times: int, points: Mapping[Any, NDArray[Any]]) -> SparseTable:
        sparse = _library("scipy.sparse")
        # Drop the moving columns once, then add them back as one sparse matrix of the new values.
        keep = np.ones(self.native.shape[1])
        keep[list(points)] = 0.0
        still = (self.native @ sparse.diags(keep)).tocsr().astype(self.native.dtype, copy=False)
        still.eliminate_zeros()
        tiled = sparse.vstack([still] * times, format="csr")
        for column, values in points.items():
            repeated = np.repeat(values, self.n_rows)
            rows = np.flatnonzero(repeated)
            moved = sparse.csr_matrix(
                (repeated[rows].astype(self.native.dtype), (rows, np.full(len(rows), column))),
                shape=tiled.shape,
            )
            tiled = tiled + moved
        return SparseTable(tiled.tocsr())

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

    def __init__(self, frame: Any, library: str, parameter: str = "X") -> None:
        self.native, self.library = frame, library
        names = list(frame.column_names) if library == "pyarrow" else list(frame.columns)
        if len(set(names)) != len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise InputError(
                complaint(parameter, "has two columns of the same name", twice, "rename one of them")
            )
        self.names = tuple(names)

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
        return FrameTable(frame, self.library)

    def select(self, columns: Sequence[Any]) -> FrameTable:
        if tuple(columns) == self.names:
            return self
        if self.library == "pandas":
            return self._with(self.native[list(columns)])
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
            frame = _fresh_index(self.native.take(positions))
            for name, values in points.items():
                frame[name] = _pandas_values(values, self.native[name].dtype).take(spread)
            return self._with(frame)
        if self.library == "polars":
            moved = [_polars_series(n, v, self.native.schema[n])[spread] for n, v in points.items()]
            return self._with(self.native[positions].with_columns(moved))
        frame = self.native.take(positions)
        for name, values in points.items():
            new = _arrow_array(values, self.native.schema.field(name).type).take(spread)
            frame = frame.set_column(self.names.index(name), name, new)
        return self._with(frame)

    def _read(self, name: Any) -> Column:
        if self.library == "pandas":
            return _column_of_series(name, nw.from_native(self.native[name], series_only=True))
        if self.library == "polars":
            return _column_of_series(name, nw.from_native(self.native.get_column(name), series_only=True))
        return _column_of_series(
            name, nw.from_native(self.native.column(self.names.index(name)), series_only=True)
        )

    def to(self, library: str) -> Table:
        if library == self.library:
            return self
        if library == "numpy":
            return ArrayTable(self.to_numpy(), self.names)
        frame = nw.from_native(self.native, eager_only=True)
        if library == "pandas":
            _library("pandas")
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
                out[:, i] = c.values
                if c.any_missing:
                    out[c.missing, i] = np.nan if c.kind in NUMERIC_KINDS else None
        return out if dtype is None else out.astype(dtype, copy=False)


def _fresh_index(frame: Any) -> Any:
    """Row labels are the caller's business; repeated rows get plain numbers."""
    return frame.reset_index(drop=True)


def _library(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"This needs {name}, which is not installed. Hint: pip install {name.split('.')[0]}."
        ) from error


# --- reading columns -----------------------------------------------------------------------------


def _column_of_array(name: Any, values: NDArray[Any]) -> Column:
    code = values.dtype.kind
    if code in "fc":
        return Column(name, "float", values, np.isnan(values))
    if code in "iu":
        return Column(name, "integer", values, np.zeros(len(values), dtype=bool))
    if code == "b":
        return Column(name, "boolean", values, np.zeros(len(values), dtype=bool))
    if code in "mM":
        return Column(name, "datetime" if code == "M" else "duration", values, np.isnat(values))
    if code in "US":
        return Column(name, "categorical", values.astype(object), np.zeros(len(values), dtype=bool))
    return _column_of_objects(name, values)


def _column_of_objects(name: Any, values: NDArray[Any]) -> Column:
    """An object column is read by what it holds, as one kind or as ``other``."""
    items = values.tolist()
    missing = np.fromiter((is_missing_value(v) for v in items), bool, len(items))
    present = [v for v, gone in zip(items, missing) if not gone]
    types = {type(v) for v in present}

    def filled(dtype: Any, filler: Any) -> NDArray[Any]:
        return np.array([filler if gone else v for v, gone in zip(items, missing)], dtype=dtype)

    if not types:
        return Column(name, "float", np.full(len(items), np.nan), missing)
    if types <= {bool, np.bool_}:
        return Column(name, "boolean", filled(bool, False), missing)
    if all(issubclass(t, (int, np.integer)) and t is not bool for t in types):
        return Column(name, "integer", filled(np.int64, 0), missing)
    if all(issubclass(t, (int, float, np.integer, np.floating)) and t is not bool for t in types):
        return Column(name, "float", filled(np.float64, np.nan), missing)
    if all(issubclass(t, dt.datetime) for t in types):
        return Column(name, "datetime", filled("datetime64[us]", np.datetime64("NaT")), missing)
    if all(issubclass(t, dt.date) for t in types):
        return Column(name, "date", filled("datetime64[D]", np.datetime64("NaT")), missing)
    if all(issubclass(t, dt.timedelta) for t in types):
        return Column(name, "duration", filled("timedelta64[us]", np.timedelta64("NaT")), missing)
    kind = "categorical" if all(t.__hash__ is not None for t in types) else "other"
    return Column(name, kind, values.astype(object), missing)


def _column_of_series(name: Any, series: nw.Series[Any]) -> Column:
    dtype = series.dtype
    if dtype in (nw.Categorical, nw.Enum):
        return _column_of_categories(name, series)
    if dtype == nw.Object or dtype == nw.Unknown:
        return _column_of_objects(name, np.asarray(series.to_numpy(), dtype=object))
    if dtype == nw.String:
        return _column_of_objects(name, object_array(series.to_list()))
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if dtype == nw.Boolean:
        return Column(name, "boolean", _filled(series, missing, False).astype(bool), missing)
    if dtype.is_integer():
        return Column(name, "integer", _filled(series, missing, 0), missing)
    if dtype == nw.Decimal:
        series, dtype = series.cast(nw.Float64), nw.Float64()
    if dtype.is_float():
        values = _filled(series, missing, 0.0)
        if missing.any():
            values = values.copy()
            values[missing] = np.nan
        return Column(name, "float", values, np.isnan(values))
    if dtype == nw.Datetime:
        if getattr(dtype, "time_zone", None):
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return Column(name, "datetime", _times(series, "datetime64[us]"), missing)
    if dtype == nw.Date:
        return Column(name, "date", _times(series, "datetime64[D]").astype("datetime64[D]"), missing)
    if dtype == nw.Duration:
        return Column(name, "duration", _times(series, "timedelta64[us]"), missing)
    return Column(name, "other", object_array(series.to_list()), missing)


def _filled(series: nw.Series[Any], missing: NDArray[np.bool_], filler: Any) -> NDArray[Any]:
    """Numbers as a numpy array of the column's own width, with a valid filler where missing."""
    return np.asarray((series.fill_null(filler) if missing.any() else series).to_numpy())


def _times(series: nw.Series[Any], unit: str) -> NDArray[Any]:
    values = np.asarray(series.to_numpy())
    return values if values.dtype.kind in "mM" else np.array(series.to_list(), dtype=unit)


def _column_of_categories(name: Any, series: nw.Series[Any]) -> Column:
    native = series.to_native()
    if type(native).__module__.startswith("pandas"):
        codes = native.cat.codes.to_numpy().astype(np.int64)
        levels = native.cat.categories.to_numpy()
    else:
        values = series.to_list()
        if series.dtype == nw.Enum:
            declared = list(series.dtype.categories)  # type: ignore[attr-defined]
        else:
            declared = series.cat.get_categories().to_list()
            seen = set(values)
            declared = [level for level in declared if level in seen]
        lookup = {level: code for code, level in enumerate(declared)}
        levels = object_array(declared)
        codes = np.fromiter((-1 if v is None else lookup[v] for v in values), np.int64, len(values))
    missing = codes < 0
    values_out = np.empty(len(codes), dtype=object)
    if len(levels):
        values_out[~missing] = levels[codes[~missing]]
    return Column(name, "categorical", values_out, missing, codes, levels)


# --- writing columns -----------------------------------------------------------------------------


def _fractional(values: NDArray[Any]) -> bool:
    """Whether numbers the user gave do not fit an integer column."""
    if values.dtype.kind == "f":
        finite = values[~np.isnan(values)]
        return bool((finite != np.floor(finite)).any())
    if values.dtype == object:
        return any(
            isinstance(v, (float, np.floating)) and not is_missing_value(v) and v != int(v)
            for v in values.tolist()
        )
    return False


def _without_missing(values: NDArray[Any]) -> list[Any]:
    return [None if is_missing_value(v) else v for v in values.tolist()]


def _pandas_values(values: NDArray[Any], dtype: Any) -> Any:
    pandas = _library("pandas")
    kind = getattr(dtype, "kind", "O")
    if isinstance(dtype, np.dtype):
        if kind in "iu" and (_fractional(values) or _any_missing(values)):
            return np.array([np.nan if is_missing_value(v) else v for v in values.tolist()], dtype=np.float64)
        if kind == "b" and _any_missing(values):
            return object_array(_without_missing(values))
        return values.astype(dtype) if kind != "O" else values.astype(object)
    if isinstance(dtype, pandas.DatetimeTZDtype):
        return (
            pandas.DatetimeIndex(values.astype("datetime64[ns]"))
            .tz_localize("UTC")
            .tz_convert(dtype.tz)
            .astype(dtype)
        )
    if kind in "iu" and _fractional(values):
        dtype = "Float64" if "pyarrow" not in str(dtype) else "double[pyarrow]"
    if values.dtype.kind in "mM" or (values.dtype.kind in "fiub" and not _any_missing(values)):
        return pandas.array(values, dtype=dtype)
    return pandas.array(_without_missing(values), dtype=dtype)


def _any_missing(values: NDArray[Any]) -> bool:
    if values.dtype.kind == "f":
        return bool(np.isnan(values).any())
    return values.dtype == object and any(is_missing_value(v) for v in values.tolist())


def _polars_series(name: Any, values: NDArray[Any], dtype: Any) -> Any:
    polars = _library("polars")
    if dtype.is_integer() and _fractional(values):
        dtype = polars.Float64
    if dtype.is_temporal():
        naive = polars.Series(name, values)
        zone = getattr(dtype, "time_zone", None)
        if zone:
            return (
                naive.cast(polars.Datetime(dtype.time_unit))
                .dt.replace_time_zone("UTC")
                .dt.convert_time_zone(zone)
            )
        return naive.cast(dtype)
    if values.dtype.kind in "fiub" and not (_any_missing(values) and not dtype.is_float()):
        return polars.Series(name, values).cast(dtype)
    return polars.Series(name, _without_missing(values), dtype=dtype)


def _arrow_array(values: NDArray[Any], kind: Any) -> Any:
    arrow = _library("pyarrow")
    if arrow.types.is_dictionary(kind):
        plain = arrow.array(_without_missing(values), type=kind.value_type)
        return plain.dictionary_encode().cast(kind)
    if arrow.types.is_integer(kind) and _fractional(values):
        kind = arrow.float64()
    if arrow.types.is_temporal(kind):
        if values.dtype.kind not in "mM":
            return arrow.array(_without_missing(values), type=kind)
        if arrow.types.is_date(kind):
            return arrow.array(values.astype("datetime64[D]")).cast(kind)
        if arrow.types.is_timestamp(kind):
            return (
                arrow.array(values.astype(f"datetime64[{kind.unit}]"))
                .cast(arrow.timestamp(kind.unit))
                .cast(kind)
                if not kind.tz
                else arrow.array(values.astype(f"datetime64[{kind.unit}]"), type=kind)
            )
        return arrow.array(values).cast(kind)
    if values.dtype.kind in "fiub" and not (_any_missing(values) and not arrow.types.is_floating(kind)):
        return arrow.array(values).cast(kind)
    return arrow.array(_without_missing(values), type=kind)


# --- making frames -------------------------------------------------------------------------------


def frame_of(columns: Mapping[str, Any], library: str) -> Any:
    """A new frame in the caller's library; for array callers, in the first one installed."""
    if library in ("numpy", "sparse"):
        import importlib.util

        library = next((n for n in ("pandas", "polars", "pyarrow") if importlib.util.find_spec(n)), "")
        if not library:
            raise MissingDependencyError(
                "A table needs a frame library. Hint: pip install pandas (or polars, or pyarrow)."
            )
    prepared = {
        str(name): (
            _without_missing(values) if isinstance(values, np.ndarray) and values.dtype == object else values
        )
        for name, values in columns.items()
    }
    if library == "pandas":
        return cast(Any, _library("pandas")).DataFrame(prepared)
    return nw.from_dict(prepared, backend=library).to_native()
