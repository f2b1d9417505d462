"""New frames from columns, in the library that a caller uses."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any, cast

import narwhals as nw
import numpy as np

from icefield.data.columns import library_named, missing_as_none
from icefield.data.zones import instants, zone_info
from icefield.errors import MissingDependencyError
from icefield.typing import Array


def frame_of(columns: Mapping[str, Any], library: str, zones: Mapping[str, str] | None = None) -> Any:
    """A new frame in the caller's library; for array callers, in the first one installed.

    Columns of times that are named in `zones` hold what clocks show there.
    """
    if library in ("numpy", "sparse"):
        library = next((n for n in ("pandas", "polars", "pyarrow") if importlib.util.find_spec(n)), "")
        if not library:
            raise MissingDependencyError(
                "A table needs a frame library. Hint: pip install pandas (or polars, or pyarrow)."
            )
    prepared = {str(name): _list_or_array(np.asarray(values), library) for name, values in columns.items()}
    zoned = {name: zone for name, zone in (zones or {}).items() if _is_times(prepared.get(name))}
    for name, zone in zoned.items():
        prepared[name] = instants(prepared[name], zone)
    if library == "pandas":
        frame = library_named("pandas").DataFrame(prepared)
        for name, zone in zoned.items():
            frame[name] = frame[name].dt.tz_localize("UTC").dt.tz_convert(zone_info(zone))
        return frame
    found = nw.from_dict(prepared, backend=cast(Any, library))
    for name, zone in zoned.items():
        own = nw.col(name).cast(nw.Datetime("us")).dt
        found = found.with_columns(own.replace_time_zone("UTC").dt.convert_time_zone(zone))
    return found.to_native()


def _is_times(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind == "M"


def frame_as_csv(frame: Any, path: str | None) -> str | None:
    """A frame of any library as CSV, in a file or as text."""
    return nw.from_native(frame, eager_only=True).write_csv(path)


def frame_as_parquet(frame: Any, path: str) -> None:
    """A frame of any library as a Parquet file."""
    try:
        nw.from_native(frame, eager_only=True).write_parquet(path)
    except ImportError as error:
        raise MissingDependencyError(
            "Writing Parquet needs pyarrow or polars. Hint: pip install pyarrow."
        ) from error


def with_constants(frame: Any, values: Mapping[str, str]) -> Any:
    """A frame with further columns, each of one text; a column of that name that is there keeps it."""
    table = nw.from_native(frame, eager_only=True)
    for name, value in values.items():
        while name in table.columns:
            name += "_"
        table = table.with_columns(nw.lit(value).alias(name))
    return table.to_native()


def _list_or_array(values: Array, library: str) -> Any:
    """Values in a form the library reads without losing their kind."""
    if values.dtype.kind in "mM" and np.datetime_data(values.dtype)[0] not in ("D", "ms", "us", "ns"):
        values = values.astype(f"{values.dtype.kind}8[us]")
    if values.dtype.kind == "m" and np.datetime_data(values.dtype)[0] == "D":
        values = values.astype("m8[us]")
    if values.dtype != object:
        return values
    items = missing_as_none(values)
    if library == "pandas" and None in items:
        types = {type(item) for item in items} - {type(None)}
        # Whole numbers and flags beside missing values would become floats and objects.
        dtype = {frozenset({int}): "Int64", frozenset({bool}): "boolean"}.get(frozenset(types))
        if dtype is not None:
            return library_named("pandas").array(items, dtype=dtype)
    return items
