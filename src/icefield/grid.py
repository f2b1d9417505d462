"""Grids: at which values of a feature the model is asked.

`Grid` says how points are placed; `grid_values` turns a specification (a Grid, a number of
points, or the values themselves) and a column into an array in the column's own dtype:
integers stay integers, dates stay dates, categories come in level order, and a missing
point, when the data has missing values, comes last. A skewed, constant or two-valued column is
never an error: it simply has fewer points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.distribution import weighted_quantiles
from icefield.errors import EngineError, InputError, InputTypeError, complaint, did_you_mean
from icefield.frame import ORDERED_KINDS, TIME_KINDS, Column, is_missing_value, object_array

KINDS = ("uniform", "quantile", "distinct", "thresholds")
DEFAULT_POINTS = {1: 100, 2: 25}
POINTS_BEYOND = 10


@dataclass(frozen=True)
class Grid:
    """How to place grid points.

    Parameters
    ----------
    kind : ``"uniform"`` (evenly spaced), ``"quantile"`` (evenly many rows between points),
        ``"distinct"`` (the values that occur), ``"thresholds"`` (where a tree model itself changes)
    points : how many, at most; None for the default (100 one-way, 25 two-way, 10 beyond;
        no limit for ``distinct`` and ``thresholds``)
    trim : the quantiles between which the points lie
    missing : ``"show"`` adds a missing point, last, when the data has missing values; ``"hide"`` never

    Examples
    --------
    >>> Grid("quantile", points=10)
    Grid(kind='quantile', points=10, trim=(0.05, 0.95), missing='show')
    """

    kind: str = "uniform"
    points: int | None = None
    trim: tuple[float, float] = (0.05, 0.95)
    missing: str = "show"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(
                complaint("kind", f"must be one of {', '.join(map(repr, KINDS))}", self.kind, did_you_mean(self.kind, KINDS))
            )  # fmt: skip
        if self.points is not None:
            _check_points(self.points)
        try:
            low, high = (float(t) for t in self.trim)
        except (TypeError, ValueError):
            low, high = np.nan, np.nan
        if not 0.0 <= low < high <= 1.0:
            raise InputError(
                complaint("trim", "must be two increasing shares between 0 and 1", self.trim, "write trim=(0.05, 0.95)")
            )  # fmt: skip
        object.__setattr__(self, "trim", (low, high))
        if self.missing not in ("show", "hide"):
            raise InputError(complaint("missing", "must be 'show' or 'hide'", self.missing))


def _check_points(points: Any) -> None:
    if isinstance(points, bool) or not isinstance(points, (int, np.integer)):
        raise InputTypeError(complaint("points", "must be a whole number", points, "write points=100"))
    if points < 1:
        raise InputError(complaint("points", "must be at least 1", points, "write points=100"))


def specifications(grid: Any, features: Sequence[Any]) -> list[Any]:
    """One specification per feature from what the user passed as ``grid=``."""
    count = len(features)
    if grid is None or isinstance(grid, Grid) or _is_whole(grid):
        return [grid] * count
    if isinstance(grid, str):
        raise InputTypeError(
            complaint(
                "grid", "must be a Grid, a number of points or the values", grid, f"write grid=Grid({grid!r})"
            )
        )
    if isinstance(grid, Mapping):
        unknown = [name for name in grid if name not in features]
        if unknown:
            raise InputError(
                complaint("grid", "names a feature that was not asked for", unknown[0], did_you_mean(unknown[0], features))
            )  # fmt: skip
        return [grid.get(name) for name in features]
    if count == 1:
        return [grid]
    if isinstance(grid, (str, bytes)) or not hasattr(grid, "__len__") or len(grid) != count:
        raise InputError(
            complaint("grid", f"must give one specification for each of the {count} features {list(features)}", grid,
                      "pass a sequence or a mapping of feature -> values, number of points or Grid")
        )  # fmt: skip
    return list(grid)


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def grid_values(
    specification: Any,
    column: Column,
    n_features: int,
    weights: NDArray[np.float64] | None = None,
    thresholds: Callable[[], NDArray[np.float64]] | None = None,
) -> tuple[NDArray[Any], str]:
    """The grid of one column and a note about it (empty when there is nothing to say).

    `thresholds` gives the model's own split values, for the grid kind of that name.
    """
    if column.kind == "other":
        raise InputTypeError(
            f"Column {column.name!r} holds {type(column.values[0]).__name__} objects, which cannot be a feature. "
            "Hint: use a column of numbers, booleans, strings, categories, dates or durations."
        )
    if specification is not None and not isinstance(specification, Grid) and not _is_whole(specification):
        return given_values(specification, column), ""
    if _is_whole(specification):
        _check_points(specification)
        specification = Grid(points=int(specification))
    plan = specification if isinstance(specification, Grid) else Grid()
    points = plan.points
    if points is None and plan.kind in ("uniform", "quantile"):
        points = DEFAULT_POINTS.get(n_features, POINTS_BEYOND)
    present, kept = _present(column, weights)
    if plan.kind == "thresholds":
        if thresholds is None:
            raise EngineError(
                "Grid('thresholds') needs a model read as trees. Hint: use Grid('quantile'), or see Effect.why for "
                "the reason this model is not read as trees."
            )
        values, note = _threshold_points(thresholds(), column, present), ""
    elif column.kind not in ORDERED_KINDS:
        values, note = _levels(column, points, kept)
    elif len(present) == 0:
        values, note = present[:0], f"{column.name!r} has no finite values"
    else:
        values, note = _ordered_points(plan, points, column.kind, present, kept)
    if plan.missing == "show" and column.any_missing:
        values = with_missing_last(values)
    if len(values) == 0:
        raise InputError(
            f"Column {column.name!r} has no value to ask the model at: it is empty or missing in every row. "
            "Hint: pass the values with grid=[...]."
        )
    return values, note


def with_missing_last(values: NDArray[Any]) -> NDArray[Any]:
    """Append the missing value of the array's own dtype, or None in an object array."""
    if values.dtype.kind == "f":
        return np.append(values, np.array([np.nan], dtype=values.dtype))
    if values.dtype.kind in "mM":
        return np.append(values, np.array(["NaT"], dtype=values.dtype))
    return object_array([*values.tolist(), None])


def _present(
    column: Column, weights: NDArray[np.float64] | None
) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """The known, finite values that carry weight."""
    keep = ~column.missing
    if column.kind == "float":
        keep &= np.isfinite(column.values)
    if weights is not None:
        keep &= weights > 0
    if keep.all():
        return column.values, weights
    return column.values[keep], None if weights is None else weights[keep]


def _ordered_points(
    plan: Grid, points: int | None, kind: str, present: NDArray[Any], kept: NDArray[np.float64] | None
) -> tuple[NDArray[Any], str]:
    if points is None:
        return np.unique(present), ""
    distinct = _few_distinct(present, points)
    if distinct is not None:
        return distinct, ""
    if plan.kind == "distinct":
        ranks = np.linspace(0, 1, points)
        distinct = np.unique(present)
        return np.unique(
            weighted_quantiles(distinct, ranks, None)
        ), f"{points} of {len(distinct)} distinct values"
    if plan.kind == "quantile":
        return np.unique(weighted_quantiles(present, np.linspace(*plan.trim, points), kept)), ""
    low, high = weighted_quantiles(present, np.array(plan.trim), kept)
    note = ""
    if low == high:
        # Most rows share one value: the trimmed range is a point, so the whole range is shown.
        low, high = present.min(), present.max()
        note = f"the {plan.trim[0]:g} and {plan.trim[1]:g} quantiles coincide; the whole range is used"
    return _evenly(low, high, points, kind, present.dtype), note


def _few_distinct(present: NDArray[Any], limit: int) -> NDArray[Any] | None:
    """The distinct values if there are at most `limit`; a prefix settles most columns at once."""
    if len(present) > 4 * limit and len(np.unique(present[: 4 * limit])) > limit:
        return None
    distinct = np.unique(present)
    return distinct if len(distinct) <= limit else None


def _evenly(low: Any, high: Any, points: int, kind: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    if kind in TIME_KINDS:
        span = int((high - low).astype(np.int64))
        offsets = np.round(np.linspace(0, span, points)).astype(np.int64)
        unit = np.datetime_data(dtype)[0]
        return np.unique(low + offsets.astype(f"timedelta64[{unit}]")).astype(dtype)
    if kind == "integer":
        # Through exact Python integers: float spacing would lose digits beyond 2**53.
        low, high = int(low), int(high)
        steps = [low + (high - low) * i // max(1, points - 1) for i in range(points)]
        return np.unique(np.array(steps, dtype=dtype))
    with np.errstate(over="ignore"):
        values = np.linspace(float(low), float(high), points)
        if not np.isfinite(values).all():
            share = np.linspace(0.0, 1.0, points)
            values = (1 - share) * float(low) + share * float(high)
    return np.unique(values.astype(dtype))


def _levels(column: Column, points: int | None, kept: NDArray[np.float64] | None) -> tuple[NDArray[Any], str]:
    """The levels that occur, in level order; the most frequent ones when there are too many."""
    codes = column.codes[column.codes >= 0]
    if kept is not None and len(kept) != len(codes):
        kept = None
    counts = np.bincount(codes, kept, minlength=len(column.levels))
    occurring = np.flatnonzero(counts > 0)
    if points is None or len(occurring) <= points:
        return column.levels[occurring], ""
    frequent = np.sort(occurring[np.argsort(-counts[occurring], kind="stable")[:points]])
    note = f"the {points} most frequent of {len(occurring)} levels are shown; pass grid= for others"
    return column.levels[frequent], note


def _threshold_points(thresholds: NDArray[np.float64], column: Column, present: NDArray[Any]) -> NDArray[Any]:
    """One point in each interval on which the model is constant: every threshold (the last value
    on its left side) and one beyond the last."""
    if column.kind not in ("float", "integer"):
        raise InputTypeError(
            f"Grid('thresholds') needs a numeric feature; {column.name!r} is {column.kind}. "
            "Hint: its levels are the natural grid, leave grid out."
        )
    finite = thresholds[np.isfinite(thresholds)]
    top = float(present.max()) if len(present) else 0.0
    if column.kind == "integer":
        steps = np.unique(np.floor(finite))
        top_step = max(np.floor(top), steps[-1] + 1) if len(steps) else np.floor(top)
        return np.unique(np.append(steps, top_step)).astype(column.dtype)
    if not len(finite):
        return np.array([top], dtype=column.dtype)
    beyond = max(top, float(np.nextafter(finite[-1], np.inf)))
    narrow = column.dtype != np.float64
    values = np.append(finite, beyond)
    return np.unique(values if not narrow else values.astype(np.float64))


def given_values(values: Any, column: Column) -> NDArray[Any]:
    """The user's own grid values in the column's form: any length, any order, as given."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise InputTypeError(
            complaint("grid", f"must be a Grid, a number of points or the values for {column.name!r}", values,
                      "write grid=[...] with values of the feature")
        )  # fmt: skip
    items = list(
        values.tolist() if isinstance(values, np.ndarray) and values.dtype.kind not in "mM" else values
    )
    if not items:
        raise InputError(
            complaint("grid", f"holds no values for {column.name!r}", values, "give at least one value")
        )
    missing = [is_missing_value(v) for v in items]
    known = [v for v, gone in zip(items, missing) if not gone]
    try:
        return _in_column_form(items, known, any(missing), column)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, (InputError, InputTypeError)):
            raise
        example = column.values[0] if len(column.values) else None
        raise InputTypeError(
            complaint("grid", f"must hold values of the {column.kind} column {column.name!r}", values,
                      f"values look like {example!r}")
        ) from error  # fmt: skip


def _in_column_form(items: list[Any], known: list[Any], any_missing: bool, column: Column) -> NDArray[Any]:
    if column.kind in NUMBER_LIKE and any(isinstance(v, str) for v in known):
        raise TypeError("text for a number")
    if column.kind == "float":
        numbers = np.array([np.nan if is_missing_value(v) else float(v) for v in items])
        return numbers.astype(column.dtype) if column.dtype.kind == "f" else numbers
    if column.kind == "integer":
        if any(float(v) != int(v) for v in known):
            return np.array([np.nan if is_missing_value(v) else float(v) for v in items])
        whole: list[Any] = [None if is_missing_value(v) else int(v) for v in items]
        return object_array(whole) if any_missing else np.array(whole, dtype=column.dtype)
    if column.kind == "boolean":
        if any(v not in (0, 1) for v in known):
            raise InputError(
                complaint("grid", f"must be True or False for the boolean column {column.name!r}", items)
            )
        flags: list[Any] = [None if is_missing_value(v) else bool(v) for v in items]
        return object_array(flags) if any_missing else np.array(flags, dtype=bool)
    if column.kind in TIME_KINDS:
        make = np.timedelta64 if column.kind == "duration" else np.datetime64
        times = [make("NaT") if is_missing_value(v) else make(_plain_time(v)) for v in items]
        return np.array([np.asarray(t).astype(column.dtype) for t in times], dtype=column.dtype)
    levels = object_array([None if is_missing_value(v) else v for v in items])
    if not any_missing and column.levels.dtype != object:
        return np.asarray(items, dtype=column.levels.dtype)
    return levels


NUMBER_LIKE = ("float", "integer", "boolean")


def _plain_time(value: Any) -> Any:
    """Library timestamps as something numpy reads; zoned times as UTC, as columns are."""
    if hasattr(value, "tz_convert") and getattr(value, "tzinfo", None) is not None:
        return value.tz_convert("UTC").tz_localize(None).to_datetime64()
    if hasattr(value, "to_numpy"):
        return value.to_numpy()
    if getattr(value, "tzinfo", None) is not None:
        from datetime import UTC

        return value.astimezone(UTC).replace(tzinfo=None)
    return value
