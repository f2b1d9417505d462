"""What people call things: names and units of columns, names of levels, and the name of what is predicted.

A `Naming` holds what a user said, and what a column gives away by itself: whole numbers from 1 to 12 in a column
called month are months. It travels with every Effect; `icefield.wording` makes texts of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from icefield.data.columns import NUMERIC_KINDS
from icefield.data.features import column_name
from icefield.data.table import Table
from icefield.data.zones import zone_name
from icefield.errors import InputError, InputTypeError
from icefield.typing import Float

CODE = "code"  # a number that stands for something and has no order
MONTH = "month"
# Monday is 0, 1; Sunday is 0.
WEEKDAY, ISO_WEEKDAY, SUNDAY_FIRST = "weekday", "ISO weekday", "weekday from Sunday"
TIME_OF_DAY, HHMM = "time of day", "HHMM"
CALENDAR = (MONTH, WEEKDAY, ISO_WEEKDAY, SUNDAY_FIRST, TIME_OF_DAY, HHMM)
SPECIAL = (CODE, *CALENDAR)
# Column names that say by themselves what their whole numbers are. "weekday" does not: some count from Sunday.
TELLING = {"month": (MONTH, 1, 12), "mnth": (MONTH, 1, 12), "dayofweek": (WEEKDAY, 0, 6)}
RANGES = {
    MONTH: (1, 12), WEEKDAY: (0, 6), ISO_WEEKDAY: (1, 7), SUNDAY_FIRST: (0, 6), TIME_OF_DAY: (0, 24), HHMM: (0, 2400),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Naming:
    """Display names.

    Attributes
    ----------
    names : column -> what it is called
    units : column -> its unit, or one of `SPECIAL`, which says how its numbers are meant
    levels : column -> value -> what that is called
    target : what is predicted, or None
    target_unit : its unit, or ""
    zones : column -> the zone whose clock times it holds
    """

    names: Mapping[Any, str] = field(default_factory=dict)
    units: Mapping[Any, str] = field(default_factory=dict)
    levels: Mapping[Any, Mapping[Any, str]] = field(default_factory=dict)
    target: str | None = None
    target_unit: str = ""
    zones: Mapping[Any, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything is called by another name than its own."""
        return bool(self.names or self.units or self.levels or self.target or self.zones)

    def name(self, feature: Any) -> Any:
        """What a feature is called; its own label where nothing else was said."""
        return self.names.get(feature, feature)

    def unit(self, feature: Any) -> str:
        """The unit its numbers are written with, or the zone of its times; empty where there is none."""
        unit = self.units.get(feature, "") or self.zones.get(feature, "")
        return "" if unit in SPECIAL else unit

    def meaning(self, feature: Any) -> str:
        """How its numbers are meant where they are months, weekdays or times of day, else empty."""
        unit = self.units.get(feature, "")
        return unit if unit in CALENDAR else ""

    def level(self, feature: Any, value: Any) -> str | None:
        """The name of one value; None where none was given."""
        known = self.levels.get(feature)
        if not known:
            return None
        try:
            return known.get(value)
        except TypeError:  # a value that no mapping can hold
            return None

    def coded(self, feature: Any) -> bool:
        """Whether its numbers are codes without an order: said so, or given names one by one."""
        return self.units.get(feature) == CODE or (feature in self.levels and not self.meaning(feature))


PLAIN = Naming()


def naming_of(table: Table, names: Any = None, units: Any = None, target_name: Any = None) -> Naming:
    """Names and units of a table's columns: those given, checked, and those the columns carry.

    Parameters
    ----------
    table : the data
    names : column -> its name, a mapping of its values to names, or a pair of both
    units : column, or `target_name`, -> a unit or one of `SPECIAL`
    target_name : what is predicted
    """
    if target_name is not None and not isinstance(target_name, str):
        raise InputTypeError.about("target_name", "must be a text", target_name, 'write "delay"')
    own: dict[Any, str] = {}
    levels: dict[Any, dict[Any, str]] = {}
    for key, given in _mapping("names", names, '{"hr": "hour"}').items():
        column = column_name(key, table, "names")
        text, values = _name_and_levels(given)
        if text is not None:
            own[column] = text
        if values is not None:
            levels[column] = {_plain(value): name for value, name in values.items()}
    _check_distinct(own, levels, table)
    measured: dict[Any, str] = {}
    target_unit = ""
    for key, unit in _mapping("units", units, '{"temp": "°C"}').items():
        if not isinstance(unit, str):
            raise InputTypeError.about("units", f"must be a text for {key!r}", unit, 'write "km"')
        if target_name is not None and key == target_name and key not in table.names:
            target_unit = unit
        else:
            column = column_name(key, table, "units")
            measured[column] = _checked_unit(column, unit, table)
    for column in table.names:
        unit = "" if column in measured or column in levels else _told_by_itself(column, table)
        if unit:
            measured[column] = unit
    zones = {column: zone_name(zone) for column, zone in table.zones.items() if zone_name(zone)}
    return Naming(own, measured, levels, target_name, target_unit, zones)


def _check_distinct(own: Mapping[Any, str], levels: Mapping[Any, Mapping[Any, str]], table: Table) -> None:
    """Refuse names that two columns, or two values of one column, would share."""
    called: dict[str, Any] = {}
    for column in table.names:
        name = own.get(column, str(column))
        if name in called and (column in own or called[name] in own):
            raise InputError.about("names", f"calls the columns {called[name]!r} and {column!r} the same", name, "give each a name of its own")  # fmt: skip
        called[name] = column
    for column, named in levels.items():
        by_name: dict[str, Any] = {}
        for value, name in named.items():
            if name in by_name:
                raise InputError.about("names", f"calls the values {by_name[name]!r} and {value!r} of {column!r} the same", name,
                                       "give each a name of its own")  # fmt: skip
            by_name[name] = value


def _mapping(parameter: str, given: Any, example: str) -> Mapping[Any, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputTypeError.about(parameter, "must be a mapping by column", given, f"write {example}")
    return given


def _name_and_levels(given: Any) -> tuple[str | None, Mapping[Any, str] | None]:
    text, values = given if isinstance(given, (tuple, list)) and len(given) == 2 else (None, None)
    if isinstance(given, str):
        text = given
    elif isinstance(given, Mapping):
        values = given
    named = values is None or (
        isinstance(values, Mapping) and all(isinstance(name, str) for name in values.values())
    )
    if (text is None and values is None) or not isinstance(text, (str, type(None))) or not named:
        raise InputTypeError.about("names", "must be a text, a mapping of values to texts, or a pair of both", given,
                                   'write {"season": {1: "spring", 2: "summer"}}')  # fmt: skip
    return text, values


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value


def _checked_unit(column: Any, unit: str, table: Table) -> str:
    """The unit; an error where a column's numbers cannot be what they are said to be."""
    if unit not in CALENDAR:
        return unit
    values, kind = _numbers(column, table)
    wanted = f"says {unit!r} of a column whose values are none of that in X"
    if kind not in NUMERIC_KINDS:
        raise InputError.about("units", wanted, f"{column!r}, a {kind} column")
    low, high = RANGES[unit]
    if len(values) and (values.min() < low or values.max() > high):
        raise InputError.about("units", wanted, f"{column!r} from {values.min():g} to {values.max():g}", f"{unit!r} goes from {low} to {high}")  # fmt: skip
    return unit


def _numbers(column: Any, table: Table) -> tuple[Float, str]:
    """A column's finite numbers, none where it holds other values, and its kind."""
    found = table.column(column)
    values = found.to_float() if found.kind in NUMERIC_KINDS else np.zeros(0)
    return values[np.isfinite(values)], found.kind


def _told_by_itself(column: Any, table: Table) -> str:
    """What whole numbers in a column of this name mean (months, weekdays); empty where the name does not say."""
    if not isinstance(column, str):
        return ""
    unit, low, high = TELLING.get(column.casefold().replace("_", ""), ("", 0, 0))
    if not unit:
        return ""
    values, _ = _numbers(column, table)
    whole = len(values) > 0 and bool((values == np.round(values)).all())
    return unit if whole and values.min() >= low and values.max() <= high else ""
