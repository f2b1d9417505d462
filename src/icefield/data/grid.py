"""Grids: at which values of a feature the model is asked.

`Grid` says how points are placed; `grid_points` turns a specification (a Grid, a number of
points, or the values themselves) and a column into an array in the column's own dtype:
integers stay integers, dates stay dates, categories come in level order, and a missing
point, when the data has missing values, comes last. A skewed, constant or two-valued column is
never an error: it simply has fewer points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield import validate
from icefield.data.columns import NUMERIC_KINDS, ORDERED_KINDS, TIME_KINDS, Column, object_array
from icefield.data.distribution import USUAL_TRIM, looked_up_quantiles, weighted_quantiles
from icefield.data.given_values import given_values
from icefield.errors import EngineError, InputError, InputTypeError, did_you_mean
from icefield.typing import Array, Float

if TYPE_CHECKING:
    from icefield.data.column_summary import ColumnSummary

KINDS = ("auto", "uniform", "log", "quantile", "distinct", "thresholds")
DEFAULT_POINTS = {1: 100, 2: 25}
POINTS_BEYOND = 10
MOST_AUTO = 120  # points of a grid of its own choice
# Of these so many are quantiles and values next to even points; the others are next to the model's own thresholds.
QUANTILES, FURTHER = 51, 17
# Of how far a model moves at all thresholds of a column: what moves less at one needs no point.
WORTH_A_POINT = 0.02

Steps = tuple[Float, Float]  # thresholds of a column, and about how far the model moves at each


@dataclass(frozen=True)
class Grid:
    """How to place grid points.

    Parameters
    ----------
    kind : ``"uniform"`` (evenly spaced), ``"log"`` (each by the same factor above the last), ``"quantile"`` (equally many rows between points),
        ``"distinct"`` (the values that occur), ``"thresholds"`` (where a tree model itself changes), ``"auto"`` (what ``grid=None`` means:
        of one feature the data's quantiles from end to end, values next to evenly spaced ones, and of a tree model points beside the
        thresholds at which it moves most; of several, evenly spaced points)
    points : how many, at most; None for the default (120 for ``auto``; 100 one-way, 25 two-way, 10 beyond;
        no limit for ``distinct`` and ``thresholds``)
    trim : the quantiles between which ``uniform``, ``log`` and ``quantile`` points lie
    missing : ``"show"`` adds a missing point, last, when the data has missing values; ``"hide"`` never
    exact : for streamed rows, find exact quantiles in another pass instead of estimating them from a sketch;
        in memory they are always exact

    Examples
    --------
    >>> Grid("quantile", points=10)
    Grid(kind='quantile', points=10, trim=(0.05, 0.95), missing='show')
    """

    kind: str = "uniform"
    points: int | None = None
    trim: tuple[float, float] = USUAL_TRIM
    missing: str = "show"
    exact: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError.about("kind", f"must be one of {', '.join(map(repr, KINDS))}", self.kind, did_you_mean(self.kind, KINDS))  # fmt: skip
        if self.points is not None:
            _check_points(self.points)
        try:
            low, high = (float(t) for t in self.trim)
        except (TypeError, ValueError):
            low, high = np.nan, np.nan
        if not 0.0 <= low < high <= 1.0:
            raise InputError.about("trim", "must be two increasing shares between 0 and 1", self.trim, "write trim=(0.05, 0.95)")  # fmt: skip
        object.__setattr__(self, "trim", (low, high))
        if self.missing not in ("show", "hide"):
            raise InputError.about("missing", "must be 'show' or 'hide'", self.missing)
        validate.flag("exact", self.exact)

    def probabilities(self, n_features: int) -> Float:
        """The quantiles that decide where the points of an ordered column lie; none for other kinds of grid."""
        if self.kind in ("uniform", "log"):
            return np.array(self.trim)
        if self.kind == "auto":
            return np.linspace(0.0, 1.0, self.parts[0]) if n_features == 1 else np.array(self.trim)
        points = self.points or DEFAULT_POINTS.get(n_features, POINTS_BEYOND)
        return np.linspace(*self.trim, points) if self.kind == "quantile" else np.zeros(0)

    @property
    def parts(self) -> tuple[int, int]:
        """Of an automatic grid: how many quantiles, and how many values next to evenly spaced points, at most."""
        if self.points is None:
            return QUANTILES, FURTHER
        quantiles = max(1, self.points * QUANTILES // MOST_AUTO)
        return quantiles, min(self.points * FURTHER // MOST_AUTO, self.points - quantiles)


AUTO = Grid("auto")
NO_STEPS: Mapping[Any, Steps] = MappingProxyType({})


def planned(asked: Any, n_features: int) -> Any:
    """What was asked as the grid of one of so many features that move together, nothing and numbers of points as a `Grid`."""
    if isinstance(asked, Grid):
        return replace(asked, kind="uniform") if asked.kind == "auto" and n_features > 1 else asked
    if asked is None:
        return AUTO if n_features == 1 else Grid()
    if _is_whole(asked):
        _check_points(asked, "grid")
        return Grid(points=int(asked))
    return asked


def _check_points(points: Any, parameter: str = "points") -> None:
    if isinstance(points, bool) or not isinstance(points, (int, np.integer)):
        raise InputTypeError.about(parameter, "must be a whole number", points, f"write {parameter}=100")
    if points < 1:
        raise InputError.about(parameter, "must be at least 1 point", points, f"write {parameter}=100")


def is_of_thresholds(asked: Any) -> bool:
    """Whether a grid is made of the model's own thresholds."""
    return isinstance(asked, Grid) and asked.kind == "thresholds"


def goes_by_steps(grid: Any, features: Sequence[Any]) -> bool:
    """Whether what was passed as the grid of features that move together has points beside the model's thresholds."""
    plan = planned(specifications(grid, features)[0], len(features))
    return isinstance(plan, Grid) and plan.kind == "auto"


def specifications(grid: Any, features: Sequence[Any]) -> list[Any]:
    """One specification per feature from what the user passed as ``grid=``."""
    count = len(features)
    if grid is None or isinstance(grid, Grid) or _is_whole(grid):
        return [grid] * count
    if isinstance(grid, str):
        raise InputTypeError.about(
            "grid", "must be a Grid, a number of points or the values", grid, f"write grid=Grid({grid!r})"
        )
    if isinstance(grid, Mapping):
        unknown = [name for name in grid if name not in features]
        if unknown:
            raise InputError.about("grid", "names a feature that is not one of the features", unknown[0], did_you_mean(unknown[0], features))  # fmt: skip
        return [grid.get(name) for name in features]
    if count == 1:
        return [_only_entry(grid)]
    if isinstance(grid, (str, bytes)) or not hasattr(grid, "__len__") or len(grid) != count:
        raise InputError.about("grid", f"must give one specification for each of the {count} features {list(features)}", grid,
                      "pass a sequence or a mapping of feature -> values, number of points or Grid")  # fmt: skip
    return list(grid)


def _only_entry(grid: Any) -> Any:
    """What is meant for a single feature: the specification itself, or, as for several, a list of one."""
    if isinstance(grid, (list, tuple)) and len(grid) == 1:
        (inside,) = grid
        # Levels can be looked up; what holds several values and cannot is a list of them.
        if isinstance(inside, Grid) or (hasattr(inside, "__iter__") and not isinstance(inside, Hashable)):
            return inside
    return grid


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def whole_steps(asked: Any) -> bool:
    """Whether every step of the model is among the grid points, so that nothing changes between them."""
    return isinstance(asked, Grid) and asked.kind == "thresholds" and asked.points is None


@dataclass(frozen=True, eq=False)
class Points:
    """The grid of one column.

    Attributes
    ----------
    values : the points, a missing one last where it is shown
    note : what is to be said about them; empty for nothing
    spaced : whether they rise and leave out values that occur, so that others may lie between them
    """

    values: Array
    note: str = ""
    spaced: bool = False


def grid_points(
    specification: Any,
    column: Column,
    n_features: int,
    weights: Float | None = None,
    thresholds: Callable[[], Float] | None = None,
    summary: ColumnSummary | None = None,
) -> Points:
    """The grid of one column, before points beside the model's thresholds are added (`with_steps`).

    `thresholds` gives the model's own split values, for the grid kind of that name; `summary` is that of the column's
    values, where there was one and they have no weights.
    """
    column.check_can_move()
    plan = planned(specification, n_features)
    if not isinstance(plan, Grid):
        return Points(given_values(specification, column))
    points = plan.points
    if points is None and plan.kind in ("auto", "uniform", "log", "quantile"):
        points = DEFAULT_POINTS.get(n_features, POINTS_BEYOND)
    present, kept = np.zeros(0), None
    if column.kind not in ORDERED_KINDS:
        pass
    elif summary is not None and summary.finite == len(column.values):
        present = column.values
    else:
        present, kept = _present(column, weights)
    spaced = False
    if plan.kind == "thresholds":
        if thresholds is None:
            raise EngineError(
                "Grid('thresholds') needs a model read as trees. Hint: use Grid('quantile'), or see Effect.why for "
                "the reason this model is not read as trees."
            )
        values, note = _threshold_points(thresholds(), column, present, points), ""
    elif column.kind not in ORDERED_KINDS:
        values, note = _levels(column, points, weights)
    elif len(present) == 0:
        values, note = present[:0], f"{column.name!r} has no finite values"
    elif plan.kind == "auto":
        values, spaced = _auto_points(plan, present, kept, summary)
        note = ""
    else:
        values, note = _ordered_points(plan, points, column, present, kept, summary)
    if plan.missing == "show" and column.any_missing:
        values = with_missing_last(values)
    if len(values) == 0:
        raise InputError.saying(
            f"Column {column.name!r} has no value to build a grid from: it is empty, missing or infinite in every row.",
            "pass the values with grid=[...]",
        )
    return Points(values, note, spaced and column.kind in NUMERIC_KINDS)


def with_missing_last(values: Array) -> Array:
    """Append the missing value of the array's own dtype, or None in an object array."""
    if values.dtype.kind == "f":
        return np.append(values, np.array([np.nan], dtype=values.dtype))
    if values.dtype.kind in "mM":
        return np.append(values, np.array(["NaT"], dtype=values.dtype))
    return object_array([*values.tolist(), None])


def _present(column: Column, weights: Float | None) -> tuple[Array, Float | None]:
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
    plan: Grid,
    points: int | None,
    column: Column,
    present: Array,
    kept: Float | None,
    summary: ColumnSummary | None,
) -> tuple[Array, str]:
    if points is None:
        return np.unique(present), ""
    if summary is None or not summary.certainly_differ(points):
        distinct = _few_distinct(present, points)
        if distinct is not None:
            return distinct, ""

    def quantiles(probabilities: Float) -> Array:
        if summary is not None:
            return looked_up_quantiles(present, probabilities, summary)
        return weighted_quantiles(present, probabilities, kept)

    if plan.kind == "distinct":
        distinct = np.unique(present)
        chosen = weighted_quantiles(distinct, np.linspace(0, 1, points), None)
        return np.unique(chosen), f"{points} of {len(distinct)} distinct values"
    if plan.kind == "quantile":
        return np.unique(quantiles(np.linspace(*plan.trim, points))), ""
    low, high = quantiles(np.array(plan.trim))
    note = ""
    if low == high:
        # Most rows share one value: the trimmed range is a point, so the whole range is shown.
        low, high = present.min(), present.max()
        note = f"the {plan.trim[0]:g} and {plan.trim[1]:g} quantiles coincide; the whole range is used"
    if plan.kind == "log" and column.kind in NUMERIC_KINDS and low > 0:
        values = _by_factors(float(low), float(high), points, present.dtype)
    else:
        if plan.kind == "log":
            why = "its values reach 0 or below" if column.kind in NUMERIC_KINDS else "its values are times"
            said = f"points are evenly spaced, not by factors, because {why}"
            note = f"{note}; {said}" if note else said
        values = _evenly(low, high, points, column.kind, present.dtype)
    if column.decimals is not None:
        values = np.unique(np.round(values, column.decimals))
    return values, note


def _auto_points(
    plan: Grid, present: Array, weights: Float | None, summary: ColumnSummary | None
) -> tuple[Array, bool]:
    """The data's quantiles, and values evenly apart, so that tails have points of their own; whether that leaves values out.

    A column of no more distinct values than both has all of them.
    """
    n_quantiles, further = plan.parts
    most, probabilities = n_quantiles + further, np.linspace(0.0, 1.0, n_quantiles)
    if summary is not None and summary.certainly_differ(most):
        # Halves first: numbers may span more than a float does.
        even = 2.0 * np.linspace(summary.low / 2.0, summary.high / 2.0, further)
        # As many values as are below; the next one is the first that is not.
        below = np.minimum(summary.at_most(np.nextafter(even, -np.inf)), summary.finite - 1)
        quantiles = looked_up_quantiles(present, probabilities, summary)
        return np.unique(np.concatenate([quantiles, summary.at_ranks(below).astype(present.dtype)])), True
    distinct = _few_distinct(present, most)
    if distinct is not None:
        return distinct, False
    ranked = np.sort(present)
    numbers = ranked.astype(np.int64) if ranked.dtype.kind in "mM" else ranked
    even = 2.0 * np.linspace(float(numbers[0]) / 2.0, float(numbers[-1]) / 2.0, further)
    at = np.minimum(np.searchsorted(numbers, even), len(ranked) - 1)
    quantiles = weighted_quantiles(present, probabilities, weights)
    return np.unique(np.concatenate([quantiles.astype(ranked.dtype), ranked[at]])), True


def with_steps(plan: Grid, grid: Points, steps: Steps | None) -> Points:
    """Spaced points of a grid of its own choice, and such beside thresholds at which the model moves, where none of them is.

    Between two thresholds the model is constant. An interval that holds no point gets its last value as one, where the
    model moves by a noticeable part at either of its ends; those where it moves most, if there are too many.
    """
    if not grid.spaced or steps is None or len(steps[0]) < 2:
        return grid
    values, (last, moved) = grid.values, steps
    known = _without_missing(values)
    seen = known.searchsorted(last, side="right")
    # Beyond the data there is nothing to see.
    empty = (seen[1:] == seen[:-1]) & (seen[1:] > 0) & (seen[1:] < len(known))
    worth = np.maximum(moved[1:], moved[:-1])
    (wanted,) = (empty & (worth > WORTH_A_POINT * moved.sum())).nonzero()
    if not len(wanted):
        return grid
    room = max(0, (MOST_AUTO if plan.points is None else plan.points) - len(known))
    if len(wanted) > room:
        wanted = wanted[np.argsort(-worth[wanted], kind="stable")[:room]]
    found = last_left(last[wanted + 1], known.dtype)
    points = np.concatenate([known, found[found > last[wanted]]])
    points.sort()
    if len(known) < len(values):
        points = with_missing_last(points if values.dtype == known.dtype else points.astype(object))
    return replace(grid, values=points)


def _without_missing(values: Array) -> Array:
    """The numbers among grid values, whose last may be a missing one."""
    if values.dtype == object:
        return np.array([v for v in values.tolist() if v is not None])
    return values[:-1] if values.dtype.kind == "f" and np.isnan(values[-1]) else values


def last_left(thresholds: Float, dtype: np.dtype[Any]) -> Array:
    """The last values of a type that are at most each of some thresholds, which lie between values of it."""
    if dtype.kind in "iu":
        return np.floor(thresholds).astype(dtype)
    below = thresholds.astype(dtype)
    # Rounding to a narrower column may step over the threshold: step back.
    over = below.astype(np.float64) > thresholds
    below[over] = np.nextafter(below[over], dtype.type(-np.inf))
    return below


def _few_distinct(present: Array, limit: int) -> Array | None:
    """The distinct values if there are at most `limit`; a prefix settles most columns at once."""
    if len(present) > 4 * limit and len(np.unique(present[: 4 * limit])) > limit:
        return None
    distinct = np.unique(present)
    return distinct if len(distinct) <= limit else None


def _evenly(low: Any, high: Any, points: int, kind: str, dtype: np.dtype[Any]) -> Array:
    if kind == "integer" or kind in TIME_KINDS:
        # Through exact Python integers: float spacing would lose digits beyond 2**53, and a span of
        # centuries in nanoseconds does not fit 64 bits.
        counts = dtype if kind == "integer" else np.dtype(np.int64)
        first, last = (int(np.asarray(v).astype(counts)) for v in (low, high))
        steps = [first + (last - first) * i // max(1, points - 1) for i in range(points)]
        return np.unique(np.array(steps, dtype=counts).astype(dtype))
    low, high = float(low), float(high)
    if math.isfinite(high - low):
        values = np.linspace(low, high, points)
    else:
        share = np.linspace(0.0, 1.0, points)
        values = (1 - share) * low + share * high
    return np.unique(values.astype(dtype))


def _by_factors(low: float, high: float, points: int, dtype: np.dtype[Any]) -> Array:
    """From low to high, each point by the same factor above the last; of whole numbers the nearest ones."""
    values = np.geomspace(low, high, points)
    values[0], values[-1] = low, high  # whatever rounding made of them
    return np.unique((np.round(values) if dtype.kind in "iu" else values).astype(dtype))


def _levels(column: Column, points: int | None, weights: Float | None) -> tuple[Array, str]:
    """The levels that occur, in level order; the most frequent ones when there are too many."""
    counts = column.level_counts(weights)
    occurring = np.flatnonzero(counts > 0)
    if points is None or len(occurring) <= points:
        return column.levels[occurring], ""
    frequent = np.sort(occurring[np.argsort(-counts[occurring], kind="stable")[:points]])
    note = f"the {points} most frequent of {len(occurring)} levels are shown; pass grid= for others"
    return column.levels[frequent], note


def _threshold_points(thresholds: Float, column: Column, present: Array, points: int | None) -> Array:
    """One point in each interval on which the model is constant: the last value the column can
    hold on the left of every threshold (``x <= t``) and one beyond the last."""
    if column.kind not in NUMERIC_KINDS:
        raise InputTypeError(
            f"Grid('thresholds') needs a numeric feature; {column.name!r} is {column.kind}. "
            "Hint: its levels are the natural grid, leave grid out."
        )
    finite = np.unique(thresholds[np.isfinite(thresholds)])
    if column.kind == "integer":
        values = _whole_below(finite, column.dtype, int(present.max()) if len(present) else 0)
    else:
        values = _floats_below(finite, column.dtype, present.max() if len(present) else 0.0)
    if points is None:
        return values
    return np.unique(weighted_quantiles(values, np.linspace(0, 1, points), None))


def _whole_below(thresholds: Float, dtype: np.dtype[Any], top: int) -> Array:
    steps = {math.floor(t) for t in thresholds.tolist()}
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    beyond = max(top, *(step + 1 for step in steps)) if steps else top
    # A threshold beyond what the dtype holds separates nothing.
    inside = {step for step in steps if low <= step <= high} | {min(beyond, high)}
    return np.array(sorted(inside), dtype=dtype)


def _floats_below(thresholds: Float, dtype: np.dtype[Any], top: Any) -> Array:
    with np.errstate(over="ignore"):
        below = last_left(thresholds, dtype)
    below = below[np.isfinite(below)]
    if not len(below):
        return np.array([top], dtype=dtype)
    with np.errstate(over="ignore"):
        beyond = max(dtype.type(top), np.nextafter(below[-1], dtype.type(np.inf)))
    return np.unique(np.append(below, beyond)) if np.isfinite(beyond) else below
