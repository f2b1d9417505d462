"""Where an axis carries numbers: round ones, a few of them, for backends that do not choose well themselves; months, weekdays
and times of day by their names; and how many names it has room for."""

from __future__ import annotations

import numpy as np

from icefield.data.naming import HHMM, TIME_OF_DAY
from icefield.wording.values import calendar_text

LEAST_SIZE = 6.0  # points of the smallest text that is still read
LINE = 1.2  # height of a line of text, in its size
MOST_TICKS = 8
HOURS = (1, 2, 3, 4, 6, 12)  # between two ticks of a day


def nice_ticks(low: float, high: float, count: int = 6, whole: bool = False) -> list[float]:
    """About `count` round numbers between two ends.

    Examples
    --------
    >>> nice_ticks(0.03, 0.52)
    [0.1, 0.2, 0.3, 0.4, 0.5]
    """
    if not high > low:
        return [low]
    raw = (high - low) / count
    size = 10.0 ** np.floor(np.log10(raw))
    step = float(size * next(m for m in (1, 2, 2.5, 5, 10) if m * size >= raw * 0.75))
    step = max(1.0, np.ceil(step)) if whole else step
    numbers = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
    return [float(f"{n * step:.12g}") + 0.0 for n in numbers]


def fitting(room: float, size: float) -> tuple[float, int]:
    """The size of texts that have so much room each, and of how many one is written, so that none touches the next.

    Examples
    --------
    >>> fitting(20.0, 10.0), fitting(9.6, 10.0), fitting(3.0, 10.0)
    ((10.0, 1), (8.0, 1), (6.0, 3))
    """
    if room >= LINE * size:
        return size, 1
    smaller = max(LEAST_SIZE, room / LINE)
    return smaller, max(1, int(np.ceil(LINE * smaller / room - 1e-9)))


def named_ticks(meaning: str, low: float, high: float, most: int = MOST_TICKS) -> list[tuple[float, str]]:
    """Places between two ends, each with its text; at most so many, that they stand side by side.

    Examples
    --------
    >>> named_ticks("time of day", 5.0, 23.5)
    [(6.0, '6:00'), (9.0, '9:00'), (12.0, '12:00'), (15.0, '15:00'), (18.0, '18:00'), (21.0, '21:00')]
    >>> named_ticks("month", 1.0, 12.0)[:2], named_ticks("weekday", 0.0, 6.0)[-1]
    ([(1.0, 'Jan'), (3.0, 'Mar')], (6.0, 'Sun'))
    """
    size = 100.0 if meaning == HHMM else 1.0
    first, last = np.ceil(low / size), np.floor(high / size)
    count = max(last - first + 1, 1)
    if meaning in (TIME_OF_DAY, HHMM):
        step = next((hours for hours in HOURS if count / hours <= most), HOURS[-1])
        first = np.ceil(first / step) * step
    else:
        step = int(np.ceil(count / most))
    places = np.arange(first, last + 1, step) * size
    return [(float(at), calendar_text(float(at), meaning, short=True)) for at in places]
