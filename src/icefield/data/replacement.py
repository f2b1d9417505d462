"""Replacement values: the few values of a grid made in a column's own dtype.

A model that checks dtypes must not notice that a column was replaced: category levels, time
units and zones, widths and the way a missing value is marked all survive. Three things widen a
column, all only at the user's word: fractional values in a column of whole numbers make it float,
whole numbers beyond what it holds make it one of 64 bits, or float beyond those, and a missing value
in one that cannot hold any makes it float (numbers) or object. `written_as` says which points do, so that
they are not put into one frame with others, whose values would change with theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import (
    Column,
    dictionary_array,
    dictionary_levels,
    is_missing_value,
    library_named,
    missing_as_none,
    object_array,
)
from icefield.data.zones import instants
from icefield.typing import Array, Float

NULLABLE = {"int64": "Int64", "uint64": "UInt64", "float64": "Float64"}  # as pandas and polars call them
UNSET: Any = object()
"""Stands for "this column has no missing value whose form could be kept"."""


def own_missing(columns: Iterable[tuple[Any, Any]], library: str) -> dict[Any, Any]:
    """How columns mark missing values, by name, where the dtype leaves a choice and one was made.

    Object columns may hold None, NaN or NA; polars and arrow floats may hold nulls or NaN. A model
    (an encoder, an expression) can tell them apart, so replaced columns use the column's own.
    """
    marks = ((name, _own_missing(native, library)) for name, native in columns)
    return {name: mark for name, mark in marks if mark is not UNSET}


def _own_missing(native: Any, library: str) -> Any:
    if library == "pandas":
        if native.dtype != object:
            return UNSET
        gone = native.isna().to_numpy()
        return native.iloc[int(gone.argmax())] if gone.any() else UNSET
    if library == "numpy":
        return next((v for v in native.tolist() if is_missing_value(v)), UNSET)
    nulls = native.null_count() if library == "polars" else native.null_count
    return None if nulls else UNSET


def _any_missing(values: Array) -> bool:
    if values.dtype.kind == "f":
        return bool(np.isnan(values).any())
    if values.dtype.kind in "mM":
        return bool(np.isnat(values).any())
    return values.dtype == object and any(is_missing_value(v) for v in values.tolist())


def _fractional(values: Array) -> bool:
    """Whether numbers the user gave do not fit a column of whole numbers."""
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else np.zeros(0)
    return bool((known != np.floor(known)).any())


def whole_kind(values: Iterable[Any], low: int, high: int) -> str:
    """The type that holds whole numbers and some from `low` to `high`; empty where all lie between these.

    Examples
    --------
    >>> whole_kind([3, 255], 0, 255), whole_kind([-1, 3], 0, 255), whole_kind([2**63], 0, 255), whole_kind([1e30], 0, 255)
    ('', 'int64', 'uint64', 'float64')
    """
    known = [v for v in values if not is_missing_value(v)]
    ends = [min(known), max(known)] if known else []
    if all(low <= end <= high for end in ends):
        return ""
    for kind in ("int64", "uint64"):
        info = np.iinfo(kind)
        if all(info.min <= end <= info.max for end in (*ends, low, high)):
            return kind
    return "float64"


def _beyond(values: Array, dtype: Any) -> str:
    """The wider type that numbers need which a dtype of whole numbers, by its name, does not hold; empty for none."""
    name = str(dtype).lower()
    if values.dtype.kind not in "iufO" or not name.removeprefix("u").removeprefix("int").isdigit():
        return ""
    bits = int(name.removeprefix("u").removeprefix("int"))
    signed = not name.startswith("u")
    return whole_kind(values.tolist(), -(2 ** (bits - 1)) if signed else 0, 2 ** (bits - signed) - 1)


def written_as(values: Array, column: Column) -> NDArray[np.int8]:
    """How each value can be written into a column: 0 as the column's own, 1 as missing, 2 by widening the column.

    Columns that hold anything of their kind have only the first.
    """
    found = np.zeros(len(values), np.int8)
    if column.kind not in ("integer", "boolean") or values.dtype == column.dtype:
        return found
    for at, value in enumerate(values.tolist()):
        if is_missing_value(value):
            found[at] = 1
        elif column.kind == "integer" and isinstance(value, (int, float)):  # texts may stand beside numbers
            fits = value == np.floor(value) and not _beyond(values[at : at + 1], column.dtype)
            found[at] = 0 if fits else 2
    return found


def _marked(values: Array, mark: Any) -> Array:
    """Objects with the column's own missing value."""
    items = values if values.dtype.kind in "mM" else values.tolist()
    blank = None if mark is UNSET else mark
    return object_array([blank if is_missing_value(v) else _plain(v) for v in items])


def _plain(value: Any) -> Any:
    """A numpy time as the Python object an object column of times holds; nanoseconds have none."""
    item = value.item() if isinstance(value, (np.datetime64, np.timedelta64)) else value
    return value if isinstance(item, int) else item


def _floats(values: Array) -> Float:
    return np.array([np.nan if is_missing_value(v) else v for v in values.tolist()], dtype=np.float64)


# --- numpy and sparse matrices -------------------------------------------------------------------


def array_values(values: Array, dtype: np.dtype[Any], mark: Any = UNSET) -> Array:
    """Values for a column of a matrix; of a wider dtype where the matrix cannot hold them."""
    if dtype.kind == "O":
        return _marked(values, mark)
    if values.dtype == object:
        if dtype.kind in "US" and not _any_missing(values):
            return np.array(values.tolist(), dtype=dtype.kind)
        if dtype.kind in "fiub":
            return _floats(values) if _any_missing(values) else np.array(values.tolist())
    return values


def common_dtype(dtype: np.dtype[Any], replaced: list[Array]) -> np.dtype[Any]:
    """The matrix dtype that holds its own values and the replaced ones, its own where possible."""
    for values in replaced:
        fits = np.can_cast(values.dtype, dtype, "same_kind") and dtype.kind not in "US"
        beyond = dtype.kind in "iu" and values.dtype.kind in "iu" and _beyond(values, dtype)
        if (not fits or beyond) and dtype.kind != "O":
            dtype = np.promote_types(dtype, values.dtype)
    return dtype


# --- frame libraries -----------------------------------------------------------------------------


def pandas_values(values: Array, column: Any, mark: Any = UNSET) -> Any:
    """Values as a pandas (or numpy) array of a pandas column's dtype."""
    pandas = library_named("pandas")
    dtype = column.dtype
    kind = getattr(dtype, "kind", "O")
    if isinstance(dtype, np.dtype):
        if kind in "iu" and (_fractional(values) or _any_missing(values)):
            return _floats(values)
        if kind == "O" or (kind == "b" and _any_missing(values)):
            return _marked(values, mark)
        return values.astype((kind in "iu" and _beyond(values, dtype)) or dtype)
    if isinstance(dtype, pandas.DatetimeTZDtype):
        naive = instants(values.astype(f"datetime64[{dtype.unit}]"), dtype.tz)
        return pandas.DatetimeIndex(naive).tz_localize("UTC").tz_convert(dtype.tz)
    if hasattr(dtype, "pyarrow_dtype"):
        new = arrow_array(values, dtype.pyarrow_dtype, column.array.__arrow_array__())
        return pandas.arrays.ArrowExtensionArray(library_named("pyarrow").chunked_array([new]))
    if kind in "iu":
        wide = "float64" if _fractional(values) else _beyond(values, dtype)
        dtype = NULLABLE.get(wide, dtype)
    if values.dtype.kind in "mM" or (values.dtype.kind in "fiub" and not _any_missing(values)):
        return pandas.array(values, dtype=dtype)
    return pandas.array(missing_as_none(values), dtype=dtype)


def polars_series(name: Any, values: Array, dtype: Any, mark: Any = UNSET) -> Any:
    """Values as a polars Series of a polars column's dtype."""
    polars = library_named("polars")
    if dtype.is_integer():
        wide = "float64" if _fractional(values) else _beyond(values, dtype)
        dtype = getattr(polars, NULLABLE[wide]) if wide else dtype
    if dtype.is_decimal() and not np.array_equal(np.round(values, dtype.scale), values, equal_nan=True):
        dtype = polars.Float64
    if dtype.is_temporal() and values.dtype.kind in "mM":
        zone = getattr(dtype, "time_zone", None)
        if not zone:
            return polars.Series(name, values).cast(dtype)
        naive = polars.Series(name, instants(values, zone)).cast(polars.Datetime(dtype.time_unit))
        return naive.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    if dtype == polars.Null:
        return polars.Series(name, missing_as_none(values))
    if values.dtype.kind not in "fiub" or dtype == polars.Object:
        return polars.Series(name, missing_as_none(values), dtype=dtype)
    gaps = values.dtype.kind == "f" and (mark is None or not dtype.is_float())
    return polars.Series(name, values, nan_to_null=gaps).cast(dtype)


def arrow_array(values: Array, kind: Any, column: Any, mark: Any = None) -> Any:
    """Values as a pyarrow array of the type `kind` of an arrow column."""
    arrow = library_named("pyarrow")
    types = arrow.types
    if types.is_null(kind):
        return arrow.array(missing_as_none(values))
    if types.is_dictionary(kind):
        return _dictionary_array(values, kind, column)
    if types.is_temporal(kind) and values.dtype.kind in "mM":
        if types.is_date(kind):
            return arrow.array(values.astype("datetime64[D]")).cast(kind)
        letter = "m" if types.is_duration(kind) else "M"
        values = values.astype(f"{letter}8[{kind.unit}]")
        if getattr(kind, "tz", None):
            values = instants(values, kind.tz)
        return arrow.array(values).cast(kind)
    if types.is_integer(kind):
        wide = "float64" if _fractional(values) else _beyond(values, kind)
        kind = getattr(arrow, wide)() if wide else kind
    if values.dtype.kind == "f":
        if types.is_decimal(kind):
            from decimal import Decimal

            if np.array_equal(np.round(values, kind.scale), values, equal_nan=True):
                written = [None if np.isnan(v) else Decimal(f"{v:.{kind.scale}f}") for v in values]
                return arrow.array(written, type=kind)
            kind = arrow.float64()
        keep_nan = mark is UNSET and types.is_floating(kind)
        return arrow.array(values, mask=None if keep_nan else np.isnan(values)).cast(kind)
    if values.dtype.kind in "iub":
        return arrow.array(values).cast(kind)
    return arrow.array(missing_as_none(values), type=kind)


def _dictionary_array(values: Array, kind: Any, column: Any) -> Any:
    """Codes into the column's own dictionary, with values it does not have yet appended."""
    code_of = {level: code for code, level in enumerate(dictionary_levels(column))}
    codes = [-1 if v is None else code_of.setdefault(v, len(code_of)) for v in missing_as_none(values)]
    return dictionary_array(np.array(codes, dtype=np.int64), list(code_of), kind)
