"""Ticks of an axis whose numbers are months, weekdays or times of day."""

from __future__ import annotations

import numpy as np

from icefield.data.naming import HHMM, TIME_OF_DAY
from icefield.wording.values import calendar_text

MOST_TICKS = 8
HOURS = (1, 2, 3, 4, 6, 12)  # between two ticks of a day


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
