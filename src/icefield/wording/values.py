"""Values as text: one value, one number, one range, one duration, as people write them.

Every number passes through `number_text`: a true minus sign, thousands separated from 10,000 on, and rounded once,
from the number itself. The caller says how many digits it gets: significant ones (`digits`), or as
many decimals as the range it belongs to needs (`range_decimals`), so that two numbers of one effect agree.

Two readers want different texts. In a picture or on a page (`shown_value`) room is short and anything may be
in the data, so a value becomes one harmless line with few digits. In a console, a table or a rule
(`printed_value`) it keeps its whole text and the digits asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.counts import counted
from icefield.data.columns import is_missing_value
from icefield.data.naming import HHMM, MONTH, TIME_OF_DAY, WEEKDAY, Naming
from icefield.wording.names import MISSING, name_text

LEVEL_LIMIT = 40  # letters of a level
MINUS = "−"
SIGNS = ("£", "$", "€", "¥")  # written before their number
WRITTEN_CLOSE = (*SIGNS, "°")  # without a space
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def number_text(value: float, digits: int = 3, decimals: int | None = None) -> str:
    """A number as people write it: few digits, a true minus sign, thousands separated from 10,000 on.

    Parameters
    ----------
    value : the number, not rounded before
    digits : how many digits matter; a whole part is never cut
    decimals : this many decimals instead

    Examples
    --------
    >>> [number_text(v) for v in (0.123456, -22.0, 1234.5, 1234567.8, 1e-7, 3.1e12)]
    ['0.123', '−22', '1234', '1,234,568', '1e−07', '3.1e+12']
    >>> number_text(-3.642, decimals=1), number_text(-0.004, decimals=2)
    ('−3.6', '0.00')
    """
    value = float(value)
    if not math.isfinite(value):
        return str(value).replace("-", MINUS)
    size = abs(value)
    if size >= 1e9 or (size != 0 and size < 1e-4 and decimals is None):
        return f"{value:.{digits}g}".replace("-", MINUS)
    if decimals is None:
        whole = size >= 10.0 ** (digits - 1) or value == round(value)
        decimals = 0 if whole else digits - 1 - math.floor(math.log10(size))
        text = f"{size:,.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if decimals else text
    else:
        text = f"{size:,.{decimals}f}"
    if len(text.split(".")[0]) <= len("9,999"):
        text = text.replace(",", "")
    return text if value >= 0 or not text.strip("0.") else MINUS + text


def sd_text(size: float) -> str:
    """A size in standard deviations of the predictions: two decimals, the same wherever it stands.

    Examples
    --------
    >>> sd_text(0.3049), sd_text(1.2)
    ('0.30', '1.20')
    """
    return number_text(size, decimals=2)


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
    if isinstance(value, (int, np.integer)):
        return counted(int(value))
    if isinstance(value, (float, np.floating)):
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
    return number_text(count, decimals=0) if count >= 100 else number_text(count)


def printed_value(value: Any, digits: int = 6) -> str:
    """A value as consoles, tables and rules show it: its whole text, numbers with this many digits.

    Examples
    --------
    >>> printed_value(15.86437, 4), printed_value(123456.7, 4), printed_value(-1e-7), printed_value(None)
    ('15.86', '123,457', '−1e−07', 'missing')
    """
    if is_missing_value(value):
        return MISSING
    if isinstance(value, np.datetime64):
        text = str(value)
        # Trailing zeros of a unit finer than the data needs say nothing.
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return text.removesuffix("T00:00:00").replace("T", " ")
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64)):
        return counted(int(value))
    return number_text(float(value), digits) if isinstance(value, (float, np.floating)) else str(value)


def range_decimals(low: float, high: float) -> int:
    """Decimals that tell the values of a range apart: two digits of its width.

    Examples
    --------
    >>> range_decimals(-3.6, 18.1), range_decimals(0.30164, 0.67312), range_decimals(8314.2, 27945.0)
    (0, 2, 0)
    """
    apart = abs(high - low)
    if not np.isfinite(apart) or apart == 0:
        return 2
    return int(np.clip(1 - np.floor(np.log10(apart)), 0, 6))


def range_texts(low: float, high: float) -> tuple[str, str]:
    """Both ends of a range, with as many digits as tell them apart well.

    Examples
    --------
    >>> range_texts(0.30164, 0.67312), range_texts(8314.2, 27945.0), range_texts(-4.77e-7, 2.868e-7)
    (('0.30', '0.67'), ('8314', '27,945'), ('−4.77e−07', '2.87e−07'))
    >>> range_texts(3.0, 3.0), range_texts(float("nan"), 1.0)
    (('3', '3'), ('nan', '1'))
    """
    apart = abs(high - low)
    largest = max(abs(low), abs(high))
    if not np.isfinite(apart) or apart == 0 or largest >= 1e9 or largest < 1e-3:
        return number_text(low), number_text(high)
    decimals = range_decimals(low, high)
    return number_text(low, decimals=decimals), number_text(high, decimals=decimals)


def place_text(value: float, low: float, high: float) -> str:
    """A place within a range, with one digit more than tells the range's values apart.

    Examples
    --------
    >>> place_text(29.52, 8.2, 32.8), place_text(12.0, 8.2, 32.8), place_text(0.345678, 0.2, 0.8)
    ('29.5', '12', '0.346')
    """
    if abs(value) >= 1e9 or max(abs(low), abs(high)) < 1e-3:
        return number_text(value, 4)
    text = number_text(value, decimals=range_decimals(low, high) + 1)
    return text.rstrip("0").rstrip(".") if "." in text else text


# --- with what people call them ---------------------------------------------------------------------


def named_value(
    value: Any, naming: Naming, feature: Any, text: Callable[[Any], str] = shown_value, unit: bool = True
) -> str:
    """A feature's value with its level's name, as a month or a time of day, or with its unit.

    `text` writes what has no name of its own.

    Examples
    --------
    >>> said = Naming(units={"hr": "time of day", "m": "month", "t": "°C"}, levels={"s": {1: "spring"}})
    >>> named_value(18.5, said, "hr"), named_value(7, said, "m"), named_value(-3.0, said, "t"), named_value(1, said, "s")
    ('18:30', 'July', '−3 °C', 'spring')
    """
    if is_missing_value(value):
        return MISSING
    level = naming.level(feature, value)
    if level is not None:
        return name_text(level, LEVEL_LIMIT)
    if isinstance(value, np.datetime64) and unit and naming.zones.get(feature):
        return f"{text(value)} {name_text(naming.zones[feature], 40)}"
    if isinstance(value, (bool, np.bool_, np.timedelta64)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        return text(value)
    meaning = naming.meaning(feature)
    if meaning and np.isfinite(value):
        return calendar_text(float(value), meaning)
    written = naming.unit(feature) if unit else ""
    return amount_text(text(value), name_text(written, 20)) if written else text(value)


def amount_text(text: str, unit: str) -> str:
    """A number, as text, with its unit where people write it: a currency's sign in front, a degree sign close behind.

    Examples
    --------
    >>> amount_text("26.5", "km"), amount_text("26.5", "£"), amount_text("−3", "$"), amount_text("38.2", "°"), amount_text("7", "")
    ('26.5 km', '£26.5', '−$3', '38.2°', '7')
    """
    if unit in SIGNS:
        return MINUS + unit + text[1:] if text.startswith(MINUS) else unit + text
    return text + unit if unit in ("", "°") else f"{text} {unit}"


def calendar_text(value: float, meaning: str, short: bool = False) -> str:
    """A number as the month, weekday or time of day it means; what lies between two is said to.

    Examples
    --------
    >>> calendar_text(8.25, "time of day"), calendar_text(1830, "HHMM"), calendar_text(4.5, "month")
    ('8:15', '18:30', 'between April and May')
    >>> calendar_text(0, "weekday"), calendar_text(0, "weekday from Sunday", short=True)
    ('Monday', 'Sun')
    """
    if meaning in (TIME_OF_DAY, HHMM):
        hours = value if meaning == TIME_OF_DAY else value // 100 + (value % 100) / 60
        minutes = round(60 * hours)
        return f"{minutes // 60}:{minutes % 60:02d}"
    # Sunday: 0 or 7.
    names, first = (MONTHS, 1) if meaning == MONTH else (WEEKDAYS, 0 if meaning == WEEKDAY else 1)

    def label(number: int) -> str:
        name = names[(number - first) % len(names)]
        return name[:3] if short else name

    if value == round(value):
        return label(int(value))
    below = int(np.floor(value))
    return f"between {label(below)} and {label(below + 1)}"


def few_digits(value: float) -> str:
    """A number in a sentence: three digits, also of its whole part.

    Examples
    --------
    >>> few_digits(104_935.3), few_digits(0.002), few_digits(18.28), few_digits(-3.0)
    ('105,000', '0.002', '18.3', '−3')
    """
    value = float(value)
    if value != 0 and np.isfinite(value) and 1000.0 <= abs(value) < 1e9:
        value = round(value, 2 - int(np.floor(np.log10(abs(value)))))
    return number_text(value)


def named_range(low: float, high: float, naming: Naming) -> tuple[str, str]:
    """Both ends of a range of predictions, with the unit of what is predicted; three digits where they tell them apart."""
    unit = name_text(naming.target_unit, 20) if naming.target_unit else ""
    first, second = range_texts(low, high)
    if max(abs(low), abs(high)) >= 1000:
        short = few_digits(low), few_digits(high)
        first, second = short if short[0] != short[1] else (first, second)
    return amount_text(first, unit), amount_text(second, unit)


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
