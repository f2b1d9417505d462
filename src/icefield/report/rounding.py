"""Steps that values are rounded to: 1, 2 or 5 times a power of ten, and for times those that clocks and calendars have."""

from __future__ import annotations

import numpy as np

from icefield.data.columns import TIME_KINDS, Column
from icefield.typing import Float

SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
DAY = 86_400
FINER = 10.0  # means are rounded to so small a part of their distances


def rounded_means(means: Float, column: Column) -> Float:
    """Means of groups of a column's values to a tenth of their distances, so that none is a single value but by chance."""
    gaps = np.diff(means)
    smallest = float(gaps.min()) if len(gaps) else float(np.abs(means).max(initial=0.0))
    if column.kind in TIME_KINDS:
        step = rounding_step(smallest / FINER, column)
    else:
        step = 10.0 ** np.floor(np.log10(smallest / FINER)) if smallest > 0 else 1.0
    return np.array([float(f"{np.round(value / step) * step:.10g}") for value in means])


def rounding_step(gap: float, column: Column) -> float:
    """What to round a column's values to that lie so far apart, in the column's own unit."""
    if column.kind in TIME_KINDS:
        own, _ = np.datetime_data(column.values.dtype)
        unit = float(np.array(1, "m8[s]") / np.array(1, f"m8[{own}]"))
        if gap >= DAY * unit:
            return DAY * unit * _nice(gap / (DAY * unit))
        known = [one for one in SECONDS if one * unit <= gap]
        if known:
            return float(known[-1] * unit)
    return _nice(gap)


def _nice(size: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is no larger."""
    if not size > 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(size))
    return float(power * max(one for one in (1, 2, 5) if one * power <= size * (1 + 1e-12)))
