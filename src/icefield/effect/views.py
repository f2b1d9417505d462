"""Other views of an Effect's numbers: every curve minus its value somewhere, and every curve's slope.

Both are linear changes of the curves, so one function applies them to the average, the kept curves and the
groups alike; the spread is recomputed where the kept curves allow it and dropped where they do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import TIME_KINDS, is_missing_value
from icefield.data.given_values import time_value
from icefield.effect.parts import Spread
from icefield.errors import InputError, InputTypeError, brief
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.effect.effect import Effect

Change = Callable[[Float], Float]  # of curves whose last axes are the grid's


def centered(effect: Effect, at: Any) -> Effect:
    """The change from a base value; see `Effect.center`."""
    if effect.view == "derivative":
        raise InputError("A derivative cannot be centred. Hint: center() before derivative().")
    axes = tuple(range(-effect.n_features, 0))
    if isinstance(at, str) and at == "mean" and not _is_level(effect, at):
        present = tuple(
            slice(0, -1) if ends_missing and len(g) > 1 else slice(None)
            for ends_missing, g in zip(effect.missing_last, effect.grid)
        )

        def base(values: Float) -> Float:
            return values[(..., *present)].mean(axis=axes, keepdims=True)

        reference: Any = "mean"
    else:
        values = _reference_values(effect, at)
        zones = [effect.naming.zones.get(feature) for feature in effect.features]
        parts = zip(effect.grid, values, effect.ordered, zones)
        weights = [_interpolation(*part) for part in parts]

        def base(values: Float) -> Float:
            for axis, weight in zip(axes, weights):
                # Only the points that count, so that a NaN elsewhere on the curve stays there.
                used = np.flatnonzero(weight)
                near = np.moveaxis(np.take(values, used, axis=axis), axis, -1)
                values = np.expand_dims(near @ weight[used], axis)
            return values

        reference = values[0] if effect.n_features == 1 else tuple(values)
    return _apply(effect, lambda v: v - base(v), "centered", reference)


def derivative(effect: Effect, along: Any) -> Effect:
    """The slope of the curves; see `Effect.derivative`."""
    if along is None:
        if effect.n_features > 1:
            raise InputError.about("along", "is needed for an effect of several features", None,
                                   f"write derivative(along={effect.features[0]!r})")  # fmt: skip
        along = effect.features[0]
    if along not in effect.features:
        raise InputError.about("along", f"must be one of {list(effect.features)}", along)
    axis_number = effect.features.index(along)
    if not effect.ordered[axis_number]:
        raise InputTypeError(
            f"Feature {along!r} is {effect.kinds[axis_number]}: it has no slope. Hint: use center() to compare levels."
        )
    positions = _as_float(_without_missing(effect.grid[axis_number]))
    order = np.argsort(positions, kind="stable")
    x = positions[order]
    distinct = np.concatenate([[True], np.diff(x) > 0]) if len(x) else np.zeros(0, dtype=bool)
    if distinct.sum() < 2:
        raise InputError(f"The grid of {along!r} has fewer than two distinct values: no slope can be taken.")
    points = order[distinct]
    axis = axis_number - effect.n_features

    def slope(v: Float) -> Float:
        return np.gradient(np.take(v, points, axis=axis), x[distinct], axis=axis)

    return _apply(effect, slope, "derivative", along, subset=(axis_number, points))


def is_time(kind: str) -> bool:
    """Whether a column kind is a date, a time or a duration: slopes are then per day."""
    return kind in TIME_KINDS


def _apply(
    effect: Effect,
    change: Change,
    view: str,
    reference: Any,
    subset: tuple[int, NDArray[np.intp]] | None = None,
) -> Effect:
    """Apply a linear change to every curve; spread is recomputed from kept curves or dropped.

    `subset` are the axis and the points of it that the change keeps.
    """
    kept, spread = effect.kept, Spread()
    if kept is not None and kept.individual is not None:
        kept = replace(kept, individual=change(kept.individual))
        if _keeps_all_curves(effect) and kept.individual is not None:
            sampled_from, quantiles = effect.sampled_from, tuple(effect.quantiles or ())
            spread = Spread.of(
                kept.individual, kept.row_weights, effect.over, quantiles, clusters=kept.row_clusters, sampled_from=sampled_from
            )  # fmt: skip
    average = change(effect.average)
    if effect.interval is not None:
        spread = replace(spread, interval=effect.interval.changed(average, change))
    groups = {key: _apply(group, change, view, reference, subset) for key, group in effect.groups.items()}
    changed = replace(
        effect, average=average, spread=spread, kept=kept, groups=groups, view=view, reference=reference
    )
    return changed if subset is None else _on_points(changed, *subset)


def _on_points(effect: Effect, at: int, points: NDArray[np.intp]) -> Effect:
    """An effect whose curves lost grid points of one axis, with everything else on those points too."""
    weight = None if effect.weight is None else np.take(effect.weight, points, axis=at)
    grid = tuple(_without_missing(g)[points] if i == at else g for i, g in enumerate(effect.grid))
    backing = replace(effect.backing, weight=weight, support=None)
    return replace(effect, grid=grid, steps=False, backing=backing)


def _keeps_all_curves(effect: Effect) -> bool:
    """Whether the kept curves are those the average was taken over: they then reproduce it."""
    if effect.individual is None or effect.individual.shape[1] != effect.n_rows:
        return False
    mean = np.average(effect.individual, axis=1, weights=effect.row_weights)
    finite = np.isfinite(mean)
    size = np.abs(effect.individual).max(axis=1)[finite]
    same = np.abs(mean[finite] - effect.average[finite]) <= 1e-9 * size
    return bool(same.all()) and np.array_equal(finite, np.isfinite(effect.average))


# --- the base value ----------------------------------------------------------------------------------


def _is_level(effect: Effect, value: Any) -> bool:
    return effect.n_features == 1 and not effect.ordered[0] and value in effect.grid[0].tolist()


def _reference_values(effect: Effect, at: Any) -> tuple[Any, ...]:
    if isinstance(at, str) and at == "first" and not _is_level(effect, at):
        return tuple(g[0] for g in effect.grid)
    values = at if effect.n_features > 1 else (at,)
    if not isinstance(values, (tuple, list)) or len(values) != effect.n_features:
        raise InputError.about("at", f"must give one value for each of {list(effect.features)}", at,
                               'write center("first") or center("mean")')  # fmt: skip
    return tuple(values)


def _without_missing(grid: NDArray[Any]) -> NDArray[Any]:
    """The grid without its missing point, and without the object dtype that point may have forced."""
    if len(grid) == 0 or not is_missing_value(grid[-1]):
        return grid
    return np.array(grid[:-1].tolist()) if grid.dtype == object and len(grid) > 1 else grid[:-1]


def _as_float(values: NDArray[Any]) -> Float:
    """Grid values as floats; times in days since the first."""
    if values.dtype.kind in "mM":
        return np.asarray((values - values[:1]) / np.timedelta64(1, "D"), dtype=np.float64)
    return values.astype(np.float64)


def _interpolation(grid: NDArray[Any], value: Any, ordered: bool, zone: str | None) -> Float:
    """Weights w with ``curve @ w`` = the curve at `value` (linear between neighbouring points)."""
    weights = np.zeros(len(grid))
    if is_missing_value(value):
        if is_missing_value(grid[-1]):
            weights[-1] = 1.0
            return weights
        raise InputError.about("at", "is missing, and the grid has no missing point", value)
    points = _without_missing(grid)
    if not ordered or len(points) == 0:
        levels = grid.tolist()
        same = [i for i, level in enumerate(levels) if type(value) is not np.ndarray and level == value]
        if not same:
            raise InputError.about("at", f"must be one of the grid's values {levels[:10]}", value)
        weights[same[0]] = 1.0
        return weights
    x, v = _on_one_scale(points, value, zone)
    same_place = np.flatnonzero(x == v)
    if len(same_place):
        weights[same_place[0]] = 1.0
        return weights
    order = np.argsort(x, kind="stable")
    right = int(np.searchsorted(x[order], v))
    if not 0 < right < len(x):
        raise InputError.about("at", f"lies outside the grid, which runs from {points.min()} to {points.max()}", value,
                               "choose a value inside, or compute the effect with a grid that holds it")  # fmt: skip
    a, b = order[right - 1], order[right]
    share = (v - x[a]) / (x[b] - x[a])
    weights[a], weights[b] = 1.0 - share, share
    return weights


def _on_one_scale(points: NDArray[Any], value: Any, zone: str | None) -> tuple[NDArray[Any], Any]:
    """The grid and a value on one scale, in which equal values stay equal."""
    try:
        if points.dtype.kind not in "mM":
            if isinstance(value, (str, bytes)):
                raise TypeError("text for a number")
            exact = points.dtype.kind in "iu" and isinstance(value, (int, np.integer))
            return (points.astype(object), int(value)) if exact else (points.astype(np.float64), float(value))
        time = time_value(value, duration=points.dtype.kind == "m", zone=zone)
        return _as_float(points), float((time - points[0]) / np.timedelta64(1, "D"))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputTypeError.about(
            "at", "must be a value of the feature's kind", value, f"for example {brief(points[0])}"
        ) from error
