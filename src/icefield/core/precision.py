"""Stopping early: average over more and more random rows until the error is small enough.

A curve's range is its largest value less its smallest, and both were picked because they stood out: of few rows it
comes out too large, and an error compared with it too small. So each round the rows seen so far say where the
curve is largest and smallest, and only the new ones how far apart it is there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from icefield.core.question import Answer, Moments
from icefield.counts import counted
from icefield.sampling import population_factor
from icefield.typing import Float, Positions

FIRST_ROWS = 200


def until_precise(
    ask: Callable[[Positions], Answer], order: Positions, precision: float
) -> tuple[Answer, Positions, str]:
    """Ask about the rows in `order`, twice as many each round, until the standard error is small.

    The standard error is that against all the rows in `order`. Returns the merged answer, the rows used, and a
    sentence that says how far it went.
    """
    used = order[:FIRST_ROWS]
    answer = ask(np.sort(used))
    while len(used) < len(order):
        more = order[len(used) : 2 * len(used)]
        new = ask(np.sort(more))
        extent = _extent(answer.total.average, new.total.average)
        answer, used = answer.merge(new), order[: len(used) + len(more)]
        if len(used) < len(order) and _precise(answer.total, extent, precision, len(order)):
            said = f"{counted(len(used))} of {counted(len(order))} rows gave a standard error within {precision:g} of the range"
            return answer, used, said
    said = f"all {counted(len(used))} rows were used without reaching precision {precision:g} earlier"
    return answer, used, said


def _extent(seen: Float, new: Float) -> Float:
    """Per output, how far apart the new rows' average is where that of the seen ones is largest and smallest."""
    flat, other = seen.reshape(len(seen), -1), new.reshape(len(new), -1)
    if not np.isfinite(flat).all():
        return np.zeros(len(seen))
    at = np.arange(len(flat))
    return np.maximum(other[at, flat.argmax(axis=1)] - other[at, flat.argmin(axis=1)], 0.0)


def _precise(moments: Moments, extent: Float, precision: float, population: int) -> bool:
    """Whether every output's largest standard error is within its share of the curve's range."""
    se = moments.se
    if se is None or np.isnan(se).all():
        return False
    largest = population_factor(moments.count, population) * se.max(axis=tuple(range(1, se.ndim)))
    return bool((largest <= precision * extent).all())
