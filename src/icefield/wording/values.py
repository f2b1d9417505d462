"""Values as text: one value, one number, one range, one duration, as people write them.

Two readers want different texts. In a picture or on a page (`shown_value`) room is short and anything may be
in the data, so a value becomes one harmless line with few digits. In a console, a table or a rule
(`printed_value`) it keeps its whole text and the digits asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import is_missing_value
from icefield.wording.names import MISSING, name_text

LEVEL_LIMIT = 40  # letters of a level


def number_text(value: float, digits: int = 3) -> str:
    """A number as people write it: few digits, thousands separated.

    Examples
    --------
    >>> [number_text(v) for v in (0.123456, 22.0, 1234567.8, 1e-7, 3.1e12)]
    ['0.123', '22', '1,234,568', '1e-07', '3.1e+12']
    """
    value = float(value)
    if not np.isfinite(value):
        return str(value)
    size = abs(value)
    if size != 0 and (size < 1e-4 or size >= 1e9):
        return f"{value:.{digits}g}"
    if size >= 10.0**digits or size >= 1000 or value == round(value):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def shown_value(value: Any, limit: int = LEVEL_LIMIT) -> str:
    """A value of a feature as pictures and pages show it: one harmless line, of whatever kind.

    Examples
    --------
    >>> shown_value(np.datetime64("2011-03-04T00:00:00")), shown_value(np.timedelta64(90, "m"))
    ('2011-03-04', '1.5 hours')
    >>> shown_value(True), shown_value(0.5), shown_value(None), shown_value("Queenstown")
    ('True', '0.5', 'missing', 'Queenstown')
    """
    if is_missing_value(value):
        return MISSING
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, np.datetime64):
        text = str(value.astype("datetime64[s]")).replace("T", " ")
        return text.removesuffix(" 00:00:00").removesuffix(":00") if " " in text else text
    if isinstance(value, np.timedelta64):
        seconds = value.astype("timedelta64[us]").astype(np.int64) / 1e6
        size, unit = duration_unit(np.array([seconds]))
        return f"{number_text(seconds / size)} {unit}"
    if isinstance(value, (int, float, np.integer, np.floating)):
        if isinstance(value, (int, np.integer)):
            return str(int(value)) if abs(int(value)) < 10_000 else f"{int(value):,}"
        return number_text(float(value), 4)
    return name_text(value, limit)


def duration_unit(seconds: NDArray[np.float64]) -> tuple[float, str]:
    """The unit in which durations read best, and its length in seconds."""
    longest = float(np.nanmax(np.abs(seconds))) if len(seconds) else 0.0
    for size, unit in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds")):
        if longest >= size:
            return size, unit
    return (1e-3, "milliseconds") if longest > 0 else (1.0, "seconds")


def count_text(count: float) -> str:
    """A number of rows, or a sum of weights, in little room.

    Examples
    --------
    >>> [count_text(c) for c in (314, 12345, 1234567, 2.5)]
    ['314', '12,345', '1.2M', '2.5']
    """
    if count >= 1e6:
        return f"{count / 1e6:.1f}M"
    return f"{count:,.0f}" if count >= 100 or count == round(count) else f"{count:.3g}"


def printed_value(value: Any, digits: int = 6) -> str:
    """A value as consoles, tables and rules show it: its whole text, numbers with so many digits.

    Examples
    --------
    >>> printed_value(15.86437, 4), printed_value(123456.7, 4), printed_value(1e-7), printed_value(None)
    ('15.86', '123,457', '1e-07', 'missing')
    """
    if is_missing_value(value):
        return MISSING
    if isinstance(value, np.datetime64):
        text = str(value)
        # Trailing zeros of a unit finer than the data needs say nothing.
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return text.removesuffix("T00:00:00").replace("T", " ")
    if not isinstance(value, (float, np.floating)):
        return str(value)
    number = float(value)
    return f"{number:,.0f}" if 10**digits <= abs(number) < 1e15 else f"{number:.{digits}g}"


def range_texts(low: float, high: float) -> tuple[str, str]:
    """Both ends of a range, with as many digits as tell them apart well.

    Examples
    --------
    >>> range_texts(0.30164, 0.67312), range_texts(8314.2, 27945.0), range_texts(-4.77e-7, 2.868e-7)
    (('0.302', '0.673'), ('8,314', '27,945'), ('-4.77e-07', '2.87e-07'))
    >>> range_texts(3.0, 3.0), range_texts(float("nan"), 1.0)
    (('3', '3'), ('nan', '1'))
    """
    apart = abs(high - low)
    largest = max(abs(low), abs(high))
    if not np.isfinite(apart) or apart == 0 or largest >= 1e9 or largest < 1e-3:
        return f"{low:.3g}", f"{high:.3g}"
    decimals = int(np.clip(2 - np.floor(np.log10(apart)), 0, 6))
    return f"{low:,.{decimals}f}", f"{high:,.{decimals}f}"


def seconds_text(seconds: float) -> str:
    """A duration in little room.

    Examples
    --------
    >>> seconds_text(0.034), seconds_text(4.2), seconds_text(75)
    ('34 ms', '4.2 s', '1 min 15 s')
    """
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"
