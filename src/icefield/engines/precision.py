"""Stopping early: average over more and more random rows until the error is small enough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from icefield.counts import counted
from icefield.engines import Answer, Moments

FIRST_ROWS = 200


def until_precise(
    ask: Callable[[NDArray[np.intp]], Answer], order: NDArray[np.intp], precision: float
) -> tuple[Answer, NDArray[np.intp], str]:
    """Ask about the rows in `order`, twice as many each round, until the standard error is small.

    Returns the merged answer, the rows used, and a sentence that says how far it went.
    """
    used = order[:FIRST_ROWS]
    answer = ask(np.sort(used))
    while len(used) < len(order) and not _precise(answer.total, precision):
        more = order[len(used) : 2 * len(used)]
        answer, used = _merged(answer, ask(np.sort(more))), order[: len(used) + len(more)]
    if _precise(answer.total, precision):
        return (
            answer,
            used,
            (
                f"{counted(len(used))} of {counted(len(order))} rows gave a standard error within {precision:g} of the range"
            ),
        )
    return answer, used, f"all {counted(len(used))} rows were used without reaching precision {precision:g}"


def _merged(first: Answer, second: Answer) -> Answer:
    return Answer(
        first.total.merge(second.total),
        tuple(a.merge(b) for a, b in zip(first.groups, second.groups)),
    )


def _precise(moments: Moments, precision: float) -> bool:
    """Whether every output's largest standard error is within its share of the curve's range."""
    se = moments.se
    if se is None or np.isnan(se).all():
        return False
    axes = tuple(range(1, se.ndim))
    spread = moments.average.max(axis=axes) - moments.average.min(axis=axes)
    return bool((se.max(axis=axes) <= precision * spread).all())
