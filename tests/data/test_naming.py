"""What columns, levels and the target are called: checked, told by the column itself, or plain."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icefield.data.frame import table_of
from icefield.data.naming import PLAIN, Naming, naming_of
from icefield.errors import InputError, InputTypeError


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return table_of(
        pd.DataFrame(
            {
                "month": rng.integers(1, 13, 50),
                "Day_Of_Week": rng.integers(0, 7, 50),
                "weekday": rng.integers(0, 7, 50),
                "season": rng.integers(1, 5, 50),
                "temp": rng.normal(size=50),
                "place": rng.choice(["a", "b"], 50),
            }
        )
    )


def test_names_units_and_levels(table):
    found = naming_of(
        table,
        names={
            "temp": "temperature",
            "season": ("time of year", {np.int64(1): "spring"}),
            "place": {"a": "Aa"},
        },
        units={"temp": "°C", "delay": "min", "weekday": "weekday from Sunday"},
        target_name="delay",
    )
    assert found.name("temp") == "temperature"
    assert found.name("place") == "place"
    assert found.unit("temp") == "°C"
    assert found.unit("weekday") == ""
    assert found.meaning("weekday") == "weekday from Sunday"
    assert found.level("season", 1) == "spring"
    assert found.level("season", 2) is None
    assert found.level("place", "a") == "Aa"
    assert (found.target, found.target_unit) == ("delay", "min")


def test_columns_say_by_themselves_what_they_are(table):
    found = naming_of(table)
    assert found.meaning("month") == "month"
    assert found.meaning("Day_Of_Week") == "weekday"
    assert found.meaning("weekday") == ""  # some count from Sunday, some from Monday


def test_a_column_called_month_that_holds_none_stays_a_number():
    for values in ([0, 1, 5], [1, 13, 2], [1.5, 2.0, 3.0], [np.nan, np.nan, np.nan]):
        assert naming_of(table_of(pd.DataFrame({"month": values}))).meaning("month") == ""
    assert naming_of(table_of(pd.DataFrame({"month": ["May", "June"]}))).meaning("month") == ""


def test_numbers_with_names_are_codes(table):
    found = naming_of(table, names={"season": {1: "spring"}}, units={"temp": "code"})
    assert found.coded("season")
    assert found.coded("temp")
    assert not found.coded("month")
    assert found.unit("temp") == ""


def test_nothing_said_is_plain(table):
    assert not PLAIN
    assert Naming(target="delay")
    assert PLAIN.name("a") == "a"
    assert PLAIN.level("a", []) is None
    assert Naming(levels={"a": {1: "one"}}).level("a", []) is None


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"names": "temp"}, InputTypeError, "names"),
        ({"names": {"tmp": "x"}}, InputError, "'temp'"),
        ({"names": {"temp": 3}}, InputTypeError, "spring"),
        ({"names": {"season": {1: 2}}}, InputTypeError, "mapping of values to texts"),
        ({"units": {"temp": 3}}, InputTypeError, "units"),
        ({"units": {"delay": "min"}}, InputError, "delay"),
        ({"units": {"temp": "month"}}, InputError, "from 1 to 12"),
        ({"units": {"place": "month"}}, InputError, "'place'"),
        ({"target_name": 3}, InputTypeError, "target_name"),
    ],
)
def test_what_cannot_be_is_refused(table, given, error, words):
    with pytest.raises(error, match=words):
        naming_of(table, **given)
