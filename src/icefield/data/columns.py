"""Columns: one column of any frame library, read into one form.

A `Column` shows every library's data alike: numpy values, a missing mask, and codes and levels
for categories. Reading hides how each library stores numbers, times, categories and missing
values; what is written back into a column's own dtype is made in `icefield.data.replacement`.
"""

from __future__ import annotations

import datetime as dt
import importlib
import importlib.util
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.errors import InputTypeError, MissingDependencyError
from icefield.typing import Array, Float, Int64, Mask

if TYPE_CHECKING:
    import narwhals as nw

NUMERIC_KINDS = ("float", "integer")
TIME_KINDS = ("datetime", "date", "duration")
FEW = 4096  # values that are read before a query would be set up
ORDERED_KINDS = (*NUMERIC_KINDS, *TIME_KINDS)


class Column:
    """One column in library-independent form.

    Attributes
    ----------
    name : label
    kind : ``"float" | "integer" | "boolean" | "categorical" | "datetime" | "date" | "duration" | "other"``
    values : numpy array; unspecified (but valid) content where `missing`, except NaN and NaT.
        Times with a zone are its clock times. Use `shown` for values to hand on. Given as None for categories, whose codes say it
    missing : boolean mask; given as None for floats, whose NaN say it
    codes, levels : for categories, level numbers (-1 missing) and level values in level order
    stored_codes : the same numbers, in the type they are stored in
    closed : whether the dtype itself lists the levels, so that no other value can be written
    decimals : for decimal dtypes, how many digits after the point can be written
    zone : the zone of times that have one, by name or as Python's; None for all others
    """

    def __init__(
        self,
        name: Any,
        kind: str,
        values: Array | None,
        missing: Mask | None,
        codes: NDArray[np.integer[Any]] | None = None,
        levels: Array | None = None,
        *,
        closed: bool = False,
        decimals: int | None = None,
        zone: Any = None,
    ) -> None:
        self.name, self.kind = name, kind
        if values is not None:
            self.values = values
        self._missing = missing
        self._codes, self._levels = codes, levels
        self.closed, self.decimals, self.zone = closed, decimals, zone

    def __len__(self) -> int:
        return len(self.values if self._codes is None else self._codes)

    @cached_property
    def values(self) -> Array:
        assert self._codes is not None
        assert self._levels is not None
        # The last entry answers for code -1, a missing value.
        return object_array([*self._levels.tolist(), None])[self._codes]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype

    @cached_property
    def missing(self) -> Mask:
        missing = np.isnan(self.values) if self._missing is None else self._missing
        # A column without missing values needs no mask of its own: one False serves all its rows.
        return missing if missing.any() else np.broadcast_to(np.False_, len(self))

    @cached_property
    def any_missing(self) -> bool:
        return bool(self.missing.any())

    def note_complete(self) -> None:
        """Record that no value is missing, known from a scan of all values."""
        self._missing = np.broadcast_to(np.False_, len(self))
        self.any_missing = False

    def note_missing(self, number: int) -> None:
        """Record how many values are missing, known from a scan of all values."""
        if number:
            self.any_missing = True
        else:
            self.note_complete()

    @cached_property
    def _coded(self) -> tuple[NDArray[np.integer[Any]], Array]:
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
    def codes(self) -> Int64:
        return self.stored_codes.astype(np.int64, copy=False)

    @property
    def stored_codes(self) -> NDArray[np.integer[Any]]:
        return self._coded[0]

    @property
    def levels(self) -> Array:
        return self._coded[1]

    def level_counts(self, weights: Float | None = None) -> Float:
        """How many rows have each level, or their weights' sum."""
        return self._level_counts if weights is None else self._counted(weights)

    @cached_property
    def _level_counts(self) -> Float:
        return self._counted(None)

    def _counted(self, weights: Float | None) -> Float:
        place = np.add(self.stored_codes, 1, dtype=np.intp)  # rows without a level first
        return np.bincount(place, weights, minlength=len(self.levels) + 1)[1:].astype(np.float64)

    def to_float(self) -> Float:
        """Numbers as float64 with NaN for missing; times as their underlying count."""
        if self.kind == "categorical" or self.kind == "other":
            raise InputTypeError(
                f"Column {self.name!r} holds categories, which have no numeric value. "
                "Hint: use a numeric column."
            )
        if self.kind in TIME_KINDS:
            out = self.values.astype(np.int64).astype(np.float64)
        else:
            out = self.values.astype(np.float64)
        if self.any_missing:
            out[self.missing] = np.nan
        return out

    def check_can_move(self) -> None:
        """Refuse what has neither an order nor levels: lists, structures, complex numbers."""
        if self.kind == "other":
            held = {type(value).__name__ for value in self.values[~self.missing][:100]}
            raise InputTypeError(
                f"Column {self.name!r} holds {' and '.join(sorted(held))} objects, which cannot be a feature. "
                "Hint: use a column of numbers, booleans, strings, categories, dates or durations."
            )

    def part(self, rows: Any) -> Column:
        """The same column at some rows only (a slice or positions), on the same levels."""
        if isinstance(rows, slice) and rows == slice(None):
            return self
        missing = None if self._missing is None and "missing" not in self.__dict__ else self.missing[rows]
        if self.kind != "categorical":
            return Column(self.name, self.kind, self.values[rows], missing, zone=self.zone)
        values = self.values[rows] if "values" in self.__dict__ else None
        return Column(self.name, self.kind, values, self.missing[rows], self.stored_codes[rows], self.levels)

    def shown(self, rows: Array | None = None) -> Array:
        """The values at some rows (all by default), with missing ones recognisable as such.

        Floats and integers show NaN, times NaT, everything else None; integers stay integers where
        none of the rows is missing.
        """
        chosen: Any = slice(None) if rows is None else rows
        values, missing = self.values[chosen], self.missing[chosen]
        if not missing.any():
            return values.copy()
        if self.kind in NUMERIC_KINDS:
            out = values.astype(np.float64) if self.kind == "integer" else values.copy()
            out[missing] = np.nan
        elif self.kind in TIME_KINDS:
            out = values.copy()
            out[missing] = np.array("NaT", dtype=values.dtype)
        else:
            out = values.astype(object)
            out[missing] = None
        return out


def object_array(values: Sequence[Any]) -> Array:
    """A 1-D object array, also of tuples and arrays (which `np.array` would stack)."""
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out


def _sorted_mixed(values: Iterable[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:  # mixed types: by type name, then text, so that the order is at least stable
        return sorted(values, key=lambda v: (type(v).__name__, str(v)))


def is_missing_value(value: Any) -> bool:
    """None, NaN, NaT or a library's NA."""
    if value is None:
        return True
    if isinstance(value, (float, np.floating)):
        return bool(value != value)  # only NaN differs from itself
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    kind = type(value).__name__
    return bool(value.is_nan()) if kind == "Decimal" else kind in ("NAType", "NaTType")


def missing_as_none(values: Array) -> list[Any]:
    """Plain Python values, with None wherever something is missing."""
    return [None if is_missing_value(v) else v for v in values.tolist()]


def library_named(name: str) -> Any:
    """Import an optional library, or say how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"This needs {name}, which is not installed. Hint: pip install {name.split('.')[0]}."
        ) from error


# --- reading arrays and lists of objects ---------------------------------------------------------


def column_of_array(name: Any, values: Array) -> Column:
    """Read a 1-D numpy array."""
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    code = values.dtype.kind
    if code == "f":
        return Column(name, "float", values, None)
    if code in "iu":
        return Column(name, "integer", values, np.zeros(len(values), dtype=bool))
    if code == "b":
        return Column(name, "boolean", values, np.zeros(len(values), dtype=bool))
    if code in "mM":
        return Column(name, "datetime" if code == "M" else "duration", values, np.isnat(values))
    if code == "c":
        return Column(name, "other", values, np.isnan(values))
    if code == "V":
        return Column(name, "other", values.astype(object), np.zeros(len(values), dtype=bool))
    if code in "UST":
        values = values.astype(object)
    return _column_of_objects(name, values)


def _column_of_objects(name: Any, values: Array) -> Column:
    """An object column is read by what it holds, as one kind or as ``other``."""
    from decimal import Decimal

    items = values.tolist()
    missing = np.fromiter((is_missing_value(v) for v in items), bool, len(items))
    present = [v for v, gone in zip(items, missing) if not gone]
    types = {type(v) for v in present}

    def all_are(*classes: type) -> bool:
        return all(issubclass(t, classes) and not issubclass(t, bool) for t in types)

    def filled(dtype: Any, filler: Any) -> Array:
        return np.array([filler if gone else v for v, gone in zip(items, missing)], dtype=dtype)

    if not types:
        return Column(name, "float", np.full(len(items), np.nan), missing)
    if types <= {bool, np.bool_}:
        return Column(name, "boolean", filled(bool, False), missing)
    if all_are(int, np.integer):
        dtype = _narrowest_whole(present)
        if dtype is not None:
            return Column(name, "integer", filled(dtype, 0), missing)
    if all_are(int, float, np.integer, np.floating, Decimal):
        return Column(name, "float", filled(np.float64, np.nan), missing)
    zoned = any(getattr(v, "tzinfo", None) is not None for v in present)
    if all_are(dt.datetime) and not zoned:
        return Column(name, "datetime", filled("datetime64[us]", np.datetime64("NaT", "us")), missing)
    if all_are(dt.date) and not any(issubclass(t, dt.datetime) for t in types):
        return Column(name, "date", filled("datetime64[D]", np.datetime64("NaT", "D")), missing)
    if all_are(dt.timedelta):
        return Column(name, "duration", filled("timedelta64[us]", np.timedelta64("NaT", "us")), missing)
    levels = all(t.__hash__ is not None and not issubclass(t, (complex, np.complexfloating)) for t in types)
    kind = "categorical" if levels and not zoned else "other"
    return Column(name, kind, values, missing)


def _narrowest_whole(present: list[Any]) -> type[np.integer[Any]] | None:
    """A numpy type that holds these whole numbers exactly, if there is one."""
    low, high = min(present), max(present)
    for kind in (np.int64, np.uint64):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return kind
    return None


# --- reading columns of frames -------------------------------------------------------------------


def column_of_series(name: Any, series: nw.Series[Any]) -> Column:
    """Read a column of a pandas, polars or pyarrow frame."""
    import narwhals as nw  # a third of the import of icefield, and matrices need none of it

    dtype = series.dtype
    if dtype in (nw.Categorical, nw.Enum):
        return _column_of_categories(name, series)
    if dtype == nw.Object or dtype == nw.Unknown:
        return _column_of_other(name, series.to_native())
    if dtype in (nw.String, nw.Binary, nw.Time):
        return _column_of_objects(name, object_array(series.to_list()))
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if dtype == nw.Boolean:
        return Column(name, "boolean", _filled(series, missing, False).astype(bool), missing)
    if dtype in (nw.Int128, nw.UInt128):
        return _column_of_objects(name, object_array(series.to_list()))
    if dtype.is_integer():
        return Column(name, "integer", _filled(series, missing, 0), missing)
    if dtype == nw.Decimal:
        # Through Python's decimals: the libraries' own casts are a digit off now and then.
        read = _column_of_objects(name, object_array(series.to_list()))
        return Column(name, "float", read.values, read.missing, decimals=_decimal_scale(series.to_native()))
    if dtype.is_float():
        values = _filled(series, missing, 0.0)
        if missing.any():
            values = values.copy()
            values[missing] = np.nan
        return Column(name, "float", values, np.isnan(values))
    if dtype == nw.Datetime:
        zone = getattr(dtype, "time_zone", None)
        if zone:
            series = series.dt.replace_time_zone(None)  # which keeps what clocks show
        return Column(name, "datetime", _times(series, "datetime64[us]"), missing, zone=zone)
    if dtype == nw.Date:
        return Column(name, "date", _times(series, "datetime64[D]").astype("datetime64[D]"), missing)
    if dtype == nw.Duration:
        return Column(name, "duration", _times(series, "timedelta64[us]"), missing)
    return Column(name, "other", object_array(series.to_list()), missing)


def pandas_numbers(name: Any, series: Any) -> Column | None:
    """A pandas column of nullable numbers or booleans, or of Arrow's floats, from what it holds; None for others."""
    dtype = series.dtype
    if hasattr(dtype, "pyarrow_dtype"):
        is_float = dtype.kind == "f" and dtype.itemsize in (4, 8)
        return column_of_array(name, series.array.__arrow_array__().to_numpy()) if is_float else None
    own = getattr(dtype, "numpy_dtype", None)
    if own is None or own.kind not in "fiub":
        return None
    if own.kind == "f":
        return column_of_array(name, series.to_numpy(own, na_value=np.nan))
    kind = "boolean" if own.kind == "b" else "integer"
    return Column(name, kind, series.to_numpy(own, na_value=own.type(0)), series.isna().to_numpy())


def pandas_categories(name: Any, series: Any) -> Column:
    """A pandas column of categories."""
    array = series.array
    return Column(
        name, "categorical", None, array.codes < 0, array.codes, array.categories.to_numpy(), closed=True
    )


def polars_categories(name: Any, native: Any) -> Column:
    """A polars column of an Enum, whose levels are those it lists, or a Categorical, whose levels are those that occur."""
    from icefield.kernels.arrow_buffers import whole_numbers  # which loads what is native

    closed = isinstance(native.dtype, library_named("polars").Enum)
    # Polars' own methods for numbers and gaps are queries, each of which wakes its threads.
    codes: Array
    stored, missing = whole_numbers(native if closed else native.to_physical())
    if closed:
        levels = native.dtype.categories.to_list()
        codes = stored.astype(_narrowest_code(levels)) | -missing.astype(np.int8)  # -1 has all its bits set
    else:
        # It shares its numbering with the whole process: its own order is the alphabet's.
        stored = stored.astype(np.uint32, copy=False) + np.uint32(1)  # 0 is for what is missing
        stored *= ~missing
        row_of = np.full(int(stored.max(initial=0)) + 1, -1)
        parts = [slice(start, start + FEW) for start in range(0, len(stored), FEW)]  # whose copies stay near
        for part in parts:
            row_of[stored[part]] = np.arange(part.start, min(part.stop, len(stored)))
        numbers = np.flatnonzero(row_of[1:] >= 0) + 1
        known = sorted(zip(native.gather(row_of[numbers]).to_list(), numbers.tolist()))
        levels = [level for level, _ in known]
        place_of = np.full(len(row_of), -1, _narrowest_code(levels))
        place_of[[number for _, number in known]] = np.arange(len(known))
        codes = np.empty_like(stored, place_of.dtype)
        for part in parts:
            codes[part] = place_of[stored[part]]
    return Column(name, "categorical", None, missing, codes, object_array(levels), closed=closed)


def _narrowest_code(levels: Sequence[Any]) -> Any:
    """The narrowest type of numbers for the codes of so many levels."""
    return next(kind for kind in (np.int8, np.int16, np.int32, np.int64) if len(levels) <= np.iinfo(kind).max)


def _filled(series: nw.Series[Any], missing: Mask, filler: Any) -> Array:
    """Numbers as a numpy array of the column's own width, with a valid filler where missing."""
    return np.asarray((series.fill_null(filler) if missing.any() else series).to_numpy())


def _times(series: nw.Series[Any], unit: str) -> Array:
    values = np.asarray(series.to_numpy())
    if values.dtype.kind in "mM":
        return values
    missing = np.array("NaT", dtype=unit)
    return np.array([missing if is_missing_value(v) else v for v in series.to_list()], dtype=unit)


def _decimal_scale(native: Any) -> int:
    """Digits after the point of a decimal column, wherever the library keeps that number."""
    dtype = native.type if hasattr(native, "type") else native.dtype
    return int(getattr(dtype, "pyarrow_dtype", dtype).scale)


def _column_of_other(name: Any, native: Any) -> Column:
    """A column narwhals has no name for: some time zones, arrow's rarer types, objects of any kind."""
    import narwhals as nw

    if type(native).__module__.startswith("pyarrow"):
        read = _column_of_objects(name, object_array(native.to_pylist()))
        if library_named("pyarrow").types.is_union(native.type):  # whose types cannot be told from new values
            return Column(name, "other", read.values, read.missing)
        return read
    dtype = native.dtype
    if hasattr(dtype, "pyarrow_dtype"):
        return column_of_series(name, nw.from_native(native.array.__arrow_array__(), series_only=True))
    if getattr(dtype, "tz", None) is not None:
        values = native.dt.tz_localize(None).to_numpy()
        return Column(name, "datetime", values, np.isnat(values), zone=dtype.tz)
    return _column_of_objects(name, object_array(list(native)))


def _column_of_categories(name: Any, series: nw.Series[Any]) -> Column:
    native = series.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "codes"):
        return pandas_categories(name, native)
    if series.implementation.is_polars():
        return polars_categories(name, native)
    dictionary = _arrow_dictionary(native)
    whole = dictionary.indices.cast(library_named("pyarrow").int64())  # unsigned codes have no -1
    codes = whole.fill_null(-1).to_numpy(zero_copy_only=False)
    levels = object_array(dictionary.dictionary.to_pylist())
    return Column(name, "categorical", None, codes < 0, codes, levels)


def _arrow_dictionary(native: Any) -> Any:
    """One dictionary array from pyarrow chunks, or from a pandas column of that Arrow type."""
    chunks = native if type(native).__module__.startswith("pyarrow") else native.array.__arrow_array__()
    return clean_dictionary(chunks)


def clean_dictionary(column: Any) -> Any:
    """A dictionary-encoded arrow column as one array whose dictionary has each level once, and nothing missing.

    Arrow allows more: chunks of different dictionaries, a level listed twice, a null among the levels.
    """
    arrow = library_named("pyarrow")
    chunks = column.chunks if isinstance(column, arrow.ChunkedArray) else [column]
    place = _level_places(chunks)
    codes = [np.zeros(0, dtype=np.int64)]
    for chunk in chunks:
        known = [-1 if is_missing_value(v) else place[v] for v in chunk.dictionary.to_pylist()]
        at = chunk.indices.cast(arrow.int64()).fill_null(len(known)).to_numpy(zero_copy_only=False)
        codes.append(np.array([*known, -1], dtype=np.int64)[at])
    return dictionary_array(np.concatenate(codes), list(place), column.type)


def dictionary_levels(column: Any) -> list[Any]:
    """The levels of a dictionary-encoded arrow column, each once."""
    arrow = library_named("pyarrow")
    return list(_level_places(column.chunks if isinstance(column, arrow.ChunkedArray) else [column]))


def _level_places(chunks: Sequence[Any]) -> dict[Any, int]:
    place: dict[Any, int] = {}
    for chunk in chunks:
        for level in chunk.dictionary.to_pylist():
            if not is_missing_value(level):
                place.setdefault(level, len(place))
    return place


def dictionary_array(codes: Int64, levels: list[Any], kind: Any) -> Any:
    """An arrow array of codes (-1: missing) into levels, of a dictionary type; wider codes where it needs them."""
    arrow = library_named("pyarrow")
    try:
        indices = arrow.array(codes, mask=codes < 0).cast(kind.index_type)
    except arrow.ArrowInvalid:
        indices = arrow.array(codes, mask=codes < 0)
    return arrow.DictionaryArray.from_arrays(
        indices, arrow.array(levels, type=kind.value_type), ordered=kind.ordered
    )
