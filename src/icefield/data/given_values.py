"""Values the user wrote, in a column's own form.

Grid values, bin edges and reference points arrive as lists, arrays, series, ISO text or library timestamps. Here
they become an array of the column's dtype, in the order given, or are refused with a hint where the column
could not hold them.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np

from icefield.data.columns import NUMERIC_KINDS, TIME_KINDS, Column, is_missing_value, object_array
from icefield.data.replacement import whole_kind
from icefield.data.zones import clock_time
from icefield.errors import InputError, InputTypeError, brief, did_you_mean
from icefield.typing import Array

NUMBER_LIKE = (*NUMERIC_KINDS, "boolean")


def given_values(values: Any, column: Column) -> Array:
    """The user's own grid values in the column's form: any length, in the order given.

    Only a missing value among them goes to the end, where a missing point always is.
    """
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise InputTypeError.about("grid", f"must be a Grid, a number of points or the values for {column.name!r}", values,
                                   "write grid=[...] with values of the feature")  # fmt: skip
    items = _items(values)
    if not items:
        raise InputError.about(
            "grid", f"holds no values for {column.name!r}", values, "give at least one value"
        )
    known = [v for v in items if not is_missing_value(v)]
    items = known if len(known) == len(items) else [*known, None]
    try:
        return _in_column_form(items, known, column)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, (InputError, InputTypeError)):
            raise
        present = column.values[~column.missing]
        example = f"values look like {brief(present[:1].tolist()[0])}" if len(present) else None
        raise InputTypeError.about(
            "grid", f"must hold values of the {column.kind} column {column.name!r}", values, example
        ) from error


def _items(values: Any) -> list[Any]:
    """Plain values from whatever holds them; arrow hands out boxes of its own when iterated."""
    if hasattr(values, "to_pylist"):
        return list(values.to_pylist())
    if isinstance(values, np.ndarray) and values.dtype.kind not in "mM":
        return list(values.tolist())
    return list(values)


def _in_column_form(items: list[Any], known: list[Any], column: Column) -> Array:
    if column.kind in NUMBER_LIKE and any(isinstance(v, (str, bytes)) for v in known):
        raise TypeError("text for a number")
    if column.kind == "float":
        return _given_floats(items, column)
    if column.kind == "integer":
        return _given_integers(items, known, column)
    if column.kind == "boolean":
        if any(v not in (0, 1) for v in known):
            raise InputError.about(
                "grid", f"must be True or False for the boolean column {column.name!r}", items
            )
        flags: list[Any] = [None if is_missing_value(v) else bool(v) for v in items]
        return np.array(flags, dtype=bool) if len(known) == len(items) else object_array(flags)
    if column.kind in TIME_KINDS:
        missing = np.array("NaT", dtype=column.dtype)
        times = [missing if is_missing_value(v) else _given_time(v, column) for v in items]
        return np.array(times, dtype=column.dtype)
    return _given_levels(items, known, column)


def _given_floats(items: list[Any], column: Column) -> Array:
    numbers = np.array([np.nan if is_missing_value(v) else float(v) for v in items])
    with np.errstate(over="ignore"):
        cast = numbers.astype(column.dtype)
    lost = np.isinf(cast) & ~np.isinf(numbers)
    if lost.any():
        raise InputError.about("grid", f"is beyond what the {column.dtype} column {column.name!r} can hold", float(numbers[lost][0]))  # fmt: skip
    return cast


def _given_integers(items: list[Any], known: list[Any], column: Column) -> Array:
    """Whole numbers of the column's dtype, or of 64 bits beyond it; floats where the user asks for fractions, or more than that."""
    if any(not isinstance(v, (int, np.integer)) and v != int(v) for v in known):
        return np.array([np.nan if is_missing_value(v) else float(v) for v in items])
    whole = [int(v) for v in known]
    info = np.iinfo(column.dtype)
    kind = whole_kind(whole, int(info.min), int(info.max)) or column.dtype
    if len(known) == len(items) or kind == "float64":
        return np.array(
            [*map(float, whole), np.nan][: len(items)] if kind == "float64" else whole, dtype=kind
        )
    return object_array([*whole, None])


def _given_time(value: Any, column: Column) -> Any:
    """One time in the column's unit, refused where the unit cannot hold it."""
    time = time_value(value, duration=column.kind == "duration", zone=column.zone)
    try:
        cast = time.astype(column.dtype)
        fits = bool(cast.astype(time.dtype) == time)
    except OverflowError:  # which numpy raises from 2.5 on, where it wrapped around before
        fits = False
    if not fits:
        raise InputError.about("grid", f"is beyond what the {column.kind} column {column.name!r} can hold", value,
                               f"its values are in units of {np.datetime_data(column.dtype)[0]!r}")  # fmt: skip
    return cast


def time_value(value: Any, duration: bool, zone: Any = None) -> Any:
    """A time or duration the user wrote as numpy's; bare numbers have no unit, so they are refused.

    A time that names no zone is one that clocks show in the column's `zone`; one that does becomes that, and is UTC's where the
    column has none.
    """
    if isinstance(value, (bool, int, float, np.number)) and not isinstance(value, np.timedelta64):
        raise TypeError("a bare number for a time")
    if not duration:
        return np.datetime64(_plain_time(value, zone))
    if isinstance(value, (str, bytes)):
        raise TypeError("text for a duration")
    return np.timedelta64(_plain_time(value, zone))


def _plain_time(value: Any, zone: Any) -> Any:
    """Library timestamps and ISO text as something numpy reads; zoned times as what clocks show in a zone."""
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            return value
    if getattr(value, "tzinfo", None) is not None:
        return clock_time(value, dt.UTC if zone is None else zone)
    return value.to_numpy() if hasattr(value, "to_numpy") else value


def _given_levels(items: list[Any], known: list[Any], column: Column) -> Array:
    """Levels of the column; other values only where the column's dtype does not list its levels."""
    levels = list(column.levels)
    if column.closed:
        place = {level: i for i, level in enumerate(levels)}
        for value in known:
            if value not in place:
                raise InputError.about("grid", f"holds a value that is not a level of {column.name!r}", value, did_you_mean(value, levels))  # fmt: skip
        if len(known) == len(items):
            return column.levels[[place[v] for v in known]]
        return object_array([None if is_missing_value(v) else levels[place[v]] for v in items])
    if all(isinstance(level, str) for level in levels) and not all(isinstance(v, str) for v in known):
        raise TypeError("something else for text")
    return object_array([None if is_missing_value(v) else v for v in items])
