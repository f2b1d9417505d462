"""Time zones: clock times of a zone, and the instants they stand for.

A column of times with a zone is read as its zone's clock times, which is what people mean by noon; its grid is in clock
times, and they become instants again where they are written into rows for a model. A clock time that occurs twice, when
clocks go back, is the first of the two; one that is skipped, when they go forward, lies as long after the change as it
would have.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d\d):?(\d\d)?")
# Between which Python knows every zone's offsets:
FIRST, LAST = dt.datetime(2, 1, 1), dt.datetime(9998, 12, 31)


def zone_info(zone: Any) -> dt.tzinfo:
    """A zone by its name, its offset from UTC such as "+05:30", or as it is.

    Examples
    --------
    >>> zone_info("+05:30").utcoffset(None)
    datetime.timedelta(seconds=19800)
    """
    from zoneinfo import ZoneInfo  # which few data need, and whose import looks for files

    if isinstance(zone, dt.tzinfo):
        # Zones of pytz go by the first offset they ever had, unless asked in a way of their own.
        name = getattr(zone, "zone", None)
        return ZoneInfo(name) if name else zone
    text = str(zone)
    if text in ("UTC", "Z", "utc"):
        return dt.UTC
    offset = OFFSET.fullmatch(text)
    if offset is None:
        return ZoneInfo(text)
    sign, hours, minutes = offset.groups()
    ahead = dt.timedelta(hours=int(hours), minutes=int(minutes or 0))
    return dt.timezone(ahead if sign == "+" else -ahead)


def zone_name(zone: Any) -> str:
    """What a zone is called, such that `zone_info` finds it again; empty for a zone without such a name."""
    text = str(getattr(zone, "key", None) or getattr(zone, "_filename", None) or zone)
    text = text.rpartition("zoneinfo/")[2]
    try:
        zone_info(text)
    except (ValueError, KeyError, OSError):
        return ""
    return text


def instants(clock: NDArray[Any], zone: Any) -> NDArray[Any]:
    """What a zone's clock times are in UTC, both as numpy's times, in the same unit.

    Examples
    --------
    >>> instants(np.array(["2024-07-01T12:00", "2024-12-01T12:00"], "M8[s]"), "America/New_York").tolist()
    [datetime.datetime(2024, 7, 1, 16, 0), datetime.datetime(2024, 12, 1, 17, 0)]
    """
    info = zone_info(zone)
    distinct, place = np.unique(clock.astype("datetime64[s]"), return_inverse=True)
    ahead = np.array([_seconds_ahead(time, info) for time in distinct], dtype="timedelta64[s]")
    return (clock - ahead[place].astype(f"m8[{np.datetime_data(clock.dtype)[0]}]")).astype(clock.dtype)


def clock_time(value: dt.datetime, zone: Any) -> np.datetime64:
    """A zone's clock time at an instant, whatever zone that was given in; pandas' own keep their nanoseconds."""
    if hasattr(value, "tz_convert"):
        found: np.datetime64 = value.tz_convert(zone_info(zone)).tz_localize(None).to_datetime64()
        return found
    return np.datetime64(value.astimezone(zone_info(zone)).replace(tzinfo=None))


def _seconds_ahead(clock: np.datetime64, info: dt.tzinfo) -> int:
    """Seconds by which a zone is ahead of UTC when its clocks show a time."""
    if np.isnat(clock):
        return 0
    time: Any = clock.item()
    if not isinstance(time, dt.datetime):  # before the year 1 or after 9999
        time = FIRST if clock < np.datetime64(FIRST) else LAST
    offset = min(max(time, FIRST), LAST).replace(tzinfo=info).utcoffset()
    return 0 if offset is None else round(offset.total_seconds())
