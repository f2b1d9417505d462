"""Text for pictures: any label or value as one line that can be drawn.

Feature names, levels and class labels come from other people's data: empty, hundreds of
characters long, with line breaks, control characters or marks that reverse the reading
direction. Everything drawn passes through here first. What a drawing library would read as markup
(math text, HTML) is that library's business and is escaped where it is drawn.
"""

from __future__ import annotations

import textwrap
import unicodedata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import is_missing_value

MISSING = "missing"
NAME_LIMIT = 60
LEVEL_LIMIT = 40
TITLE_LIMIT = 200

# Marks that reorder the text around them, and would reorder the rest of a label with them.
_REORDERING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def name_text(name: Any, limit: int = NAME_LIMIT) -> str:
    """A name as one drawable line.

    Examples
    --------
    >>> name_text("age\\n(years)"), name_text(""), name_text("a\\0b"), name_text(3)
    ('age (years)', '(empty)', 'a\\\\x00b', '3')
    """
    if is_missing_value(name):
        return MISSING
    if isinstance(name, tuple):
        return shortened(" × ".join(name_text(part, limit) for part in name), limit)
    text = " ".join("".join(_drawable(c) for c in str(name)).split())
    return shortened(text, limit) if text else "(empty)"


def _drawable(character: str) -> str:
    category = unicodedata.category(character)
    if character.isspace():
        return " "
    if category in ("Cc", "Cs", "Cn", "Co") or character in _REORDERING:
        code = ord(character)
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    return character


def title_text(title: Any) -> str:
    """A heading the user wrote, whose line breaks are meant.

    Examples
    --------
    >>> title_text("Bikes\\nby hour"), title_text(None)
    ('Bikes\\nby hour', '')
    """
    if title is None:
        return ""
    return "\n".join(name_text(line, TITLE_LIMIT) if line.strip() else "" for line in str(title).split("\n"))


def shortened(text: str, limit: int) -> str:
    """Cut in the middle, where names that share a prefix or a suffix stay distinguishable.

    Examples
    --------
    >>> shortened("number_of_open_credit_lines", 15)
    'number_…t_lines'
    """
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f"{text[:head].rstrip()}…{text[len(text) - (limit - 1 - head) :].lstrip()}"


def wrapped(text: str, width: int) -> str:
    """Broken into lines of about `width`, at spaces and, failing those, at underscores.

    Examples
    --------
    >>> wrapped("change in probability of survived", 22)
    'change in probability\\nof survived'
    """
    if "\n" in text:
        return "\n".join(wrapped(line, width) for line in text.split("\n"))
    if len(text) <= width:
        return text
    spaced = text if " " in text else text.replace("_", "_\u200b").replace("-", "-\u200b")
    lines = textwrap.wrap(spaced.replace("\u200b", " \u200b"), width) or [text]
    return "\n".join(line.replace(" \u200b", "").replace("\u200b", "").rstrip() for line in lines)


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


def value_text(value: Any, limit: int = LEVEL_LIMIT) -> str:
    """A value of a feature, of whatever kind.

    Examples
    --------
    >>> value_text(np.datetime64("2011-03-04T00:00:00")), value_text(np.timedelta64(90, "m"))
    ('2011-03-04', '1.5 hours')
    >>> value_text(True), value_text(0.5), value_text(None), value_text("Queenstown")
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
