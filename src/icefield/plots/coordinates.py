"""Where a feature's values stand on an axis: any kind of grid as plain floats.

Numbers stay, times become days since 1970, durations a number in a readable unit, levels their
place in the order. The missing point of a number or a time has no place on its scale, so it gets
one of its own beyond the end. Several effects (groups, models) share one set of coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import ORDERED_KINDS, is_missing_value
from icefield.effect import Effect
from icefield.errors import InputError
from icefield.plots.panels import Axis, Float, scaled
from icefield.wording.labels import feature_label
from icefield.wording.names import MISSING, distinct_texts
from icefield.wording.values import LEVEL_LIMIT, duration_unit, named_value, shown_value

# How far beyond the last value the missing point stands, as a share of the axis.
MISSING_GAP = 0.12
UNCUT = 400  # letters of a level before those that are alike are told apart
LEAST_POINTS = 5  # that can show how they are spaced


class Coordinates:
    """The places of one feature's values, over every effect drawn on the axis."""

    def __init__(self, effects: Sequence[Effect], which: int = 0, scale: str = "linear") -> None:
        self.feature, self.naming = effects[0].features[which], effects[0].naming
        kinds = [e.kinds[which] for e in effects]
        # Models may see the same feature as integers and as floats; anything else is drawn as levels.
        mixed = "float" if set(kinds) <= {"integer", "float"} else "categorical"
        self.kind = kinds[0] if len(set(kinds)) == 1 else mixed
        self.ordered = self.kind in ORDERED_KINDS and not self.naming.coded(self.feature)
        grids = [e.grid[which] for e in effects]
        self.unit, self.unit_name = 1.0, ""
        if self.kind == "duration":
            seconds = np.concatenate([_seconds(g) for g in grids])
            self.unit, self.unit_name = duration_unit(seconds[np.isfinite(seconds)])
        if self.ordered:
            known = np.concatenate([self._on_scale(g) for g in grids])
            known = known[np.isfinite(known)]
            self.low, self.high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
            self.log = self._by_factors(scale, [self._on_scale(g) for g in grids])
            any_missing = any(e.missing_last[which] for e in effects)
            self.missing = self.beyond(self.high, MISSING_GAP) if any_missing else None
        else:
            self.log = False
            self.levels = _levels(grids)
            self.low, self.high, self.missing = -0.5, len(self.levels) - 0.5, None

    def beyond(self, at: float, share: float) -> float:
        """The place that lies so much of the axis beyond another."""
        if self.log:
            return scaled(at, share, self.low, self.high)
        return at + share * (self.high - self.low or max(1.0, abs(self.high) * 0.1))

    def _by_factors(self, scale: str, grids: Sequence[Float]) -> bool:
        """Whether the axis is logarithmic: on request, or because that is how all grids are spaced."""
        possible = self.axis_kind in ("number", "integer") and self.low > 0 and self.high > self.low
        if scale == "log" and not possible:
            raise InputError.about("x_scale", f"can be 'log' only where all values are above 0, and not all of {self.feature!r} are", scale,
                                'write x_scale="linear"')  # fmt: skip
        return possible and (scale == "log" or (scale == "auto" and all(map(spaced_by_factors, grids))))

    @property
    def axis_kind(self) -> str:
        if not self.ordered:
            return "category"
        return {"datetime": "time", "date": "time", "integer": "integer"}.get(self.kind, "number")

    def place(self, values: NDArray[Any]) -> Float:
        """The values' places; NaN for a missing number (its place is `missing`) and unknown levels."""
        if self.ordered:
            return self._on_scale(values)
        index = {_key(level): i for i, level in enumerate(self.levels)}
        return np.array([index.get(_key(v), np.nan) for v in _listed(values)], dtype=np.float64)

    def up_to(self, high: float) -> Coordinates:
        """The same feature on an axis that ends earlier."""
        other = copy(self)
        other.high = high
        other.missing = None if self.missing is None else other.beyond(high, MISSING_GAP)
        return other

    def categorical(self, levels: list[Any]) -> Coordinates:
        """The same feature as these levels, in this order."""
        other = copy(self)
        other.kind, other.ordered, other.log = "categorical", False, False
        other.missing, other.unit_name = None, ""
        other.levels, other.low, other.high = levels, -0.5, len(levels) - 0.5
        return other

    def text(self, value: Any, limit: int = LEVEL_LIMIT) -> str:
        """A value as people call it, without its unit, which the axis has."""
        return named_value(value, self.naming, self.feature, lambda v: shown_value(v, limit), unit=False)

    def texts(self, values: Sequence[Any], limit: int = LEVEL_LIMIT) -> list[str]:
        """Values as people call them, cut such that they stay apart."""
        return distinct_texts([self.text(value, UNCUT) for value in values], limit)

    def axis(self, label: str | None = None) -> Axis:
        name = feature_label(self.naming, self.feature) if label is None else label
        if self.unit_name:
            name = f"{name} ({self.unit_name})"
        ticks = () if self.ordered else tuple(self.texts(self.levels))
        high = self.high if self.missing is None else self.missing
        meaning, unit = self.naming.meaning(self.feature), self.naming.unit(self.feature)
        meaning = meaning if self.ordered else ""
        return Axis(name, self.axis_kind, self.low, high, ticks, self.missing, meaning, unit, self.log)

    def _on_scale(self, values: NDArray[Any]) -> Float:
        if self.kind == "duration":
            return _seconds(values) / self.unit
        if values.dtype.kind == "M":
            days = values.astype("datetime64[us]").astype(np.int64) / 86_400e6
            return np.where(np.isnat(values), np.nan, days)
        if values.dtype == object:
            return np.array([np.nan if is_missing_value(v) else float(v) for v in values.tolist()])
        return values.astype(np.float64)


def spaced_by_factors(grid: Float) -> bool:
    """Whether each point lies by about the same factor above the last, and not by the same amount.

    Examples
    --------
    >>> [spaced_by_factors(np.array(grid)) for grid in ([1.0, 2, 4, 8, 16], [1.0, 2, 3, 4, 5], [1.0, 2, 4])]
    [True, False, False]
    """
    known = np.sort(grid[np.isfinite(grid)])
    if len(known) < LEAST_POINTS or known[0] <= 0:
        return False
    steps = np.diff(np.log(known))
    return bool(np.ptp(steps) <= 0.05 * steps.mean() and known[-1] > 2 * known[0])


def in_order(at: Float) -> NDArray[np.intp]:
    """The numbers of the known places, from left to right."""
    order = np.argsort(at, kind="stable")
    return order[np.isfinite(at[order])]


def _seconds(values: NDArray[Any]) -> Float:
    seconds = values.astype("timedelta64[us]").astype(np.int64) / 1e6
    return np.where(np.isnat(values), np.nan, seconds)


def _levels(grids: Sequence[NDArray[Any]]) -> list[Any]:
    """Every level once, in order of appearance, missing last."""
    seen: dict[Any, Any] = {}
    for grid in grids:
        for value in _listed(grid):
            seen.setdefault(_key(value), value)
    return [seen[key] for key in sorted(seen, key=lambda key: key == MISSING_KEY)]


MISSING_KEY = ("", MISSING)


def _key(value: Any) -> Any:
    """Distinguishes True from 1 and a level named "missing" from a missing value."""
    if is_missing_value(value):
        return MISSING_KEY
    return (type(value).__name__ if isinstance(value, bool) else "value", value)


def _listed(values: NDArray[Any]) -> list[Any]:
    return list(values) if values.dtype.kind in "mM" else values.tolist()
