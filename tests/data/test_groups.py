"""Groups: what ``by=`` means."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from icefield.data.frame import table_of
from icefield.data.groups import groups_of
from icefield.errors import InputError, InputTypeError

N = 6
TABLE = table_of(
    pd.DataFrame({"x": np.arange(6.0), "sex": ["m", "f", None, "f", "m", "m"], ("a", 1): range(6)})
)


def read(by, weights=None, table=TABLE):
    return groups_of(by, table, weights)


def test_no_groups():
    assert read(None) is None


def test_a_column_by_name_or_position():
    for by in ("sex", 1):
        found = read(by)
        assert found.name == "sex"
        assert found.labels == ("f", "m", None)
        assert found.codes.tolist() == [1, 0, 2, 0, 1, 1]
    assert read(("a", 1)).labels == tuple(range(6))


VALUES = ["b", "a", None, "a", "b", "b"]


@pytest.mark.parametrize(
    "by",
    [
        VALUES, np.array(VALUES, dtype=object), pd.Series(VALUES, name="g"), pl.Series("g", VALUES), pa.chunked_array([VALUES]),
        pd.Series(VALUES, dtype="category"), pl.Series(VALUES, dtype=pl.Categorical), ["b", "a", np.nan, "a", "b", "b"],
        pd.Series(VALUES, index=[9] * 6),
    ],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_one_entry_per_row(by):
    found = read(by)
    assert found.labels == ("a", "b", None)
    assert found.codes.tolist() == [1, 0, 2, 0, 1, 1]
    assert found.name == (by.name if getattr(by, "name", None) else "group")


def test_levels_come_in_level_order_without_empty_ones():
    found = read(pd.Series(pd.Categorical(["b", "a", "b", "a", "b", "b"], ["z", "b", "a"])))
    assert found.labels == ("b", "a")


def test_few_numbers_are_levels_and_many_are_quartiles():
    assert read(np.array([3, 1, 3, 1, 2, 2])).labels == (1, 2, 3)
    table = table_of(pd.DataFrame({"x": np.arange(100.0)}))
    found = groups_of("x", table, None)
    assert found.labels == ("x <= 24", "24 < x <= 49", "49 < x <= 74", "x > 74")
    assert np.bincount(found.codes).tolist() == [25, 25, 25, 25]
    skewed = np.concatenate([np.zeros(90), np.arange(1.0, 11.0)])
    labels = groups_of(skewed, table, None).labels
    assert labels == ("group <= 0", "group > 0")


def test_quartiles_are_weighted():
    table = table_of(pd.DataFrame({"x": np.arange(20.0)}))
    weights = np.r_[np.ones(10), np.zeros(10)]
    assert groups_of("x", table, weights).labels[-1] == "x > 7"


def test_booleans_and_times():
    assert read(np.array([True, False] * 3)).labels == (False, True)
    days = pd.Series(pd.to_datetime(["2020-01-02", "2020-01-01"] * 3)).astype("datetime64[ns]")
    assert read(days).labels == (np.datetime64("2020-01-01"), np.datetime64("2020-01-02"))
    assert read(pl.Series([dt.date(2020, 1, 1), None] * 3)).labels[0] == np.datetime64("2020-01-01")


@pytest.mark.parametrize(
    ("by", "error", "words"),
    [
        ("gender", InputError, "does not have"),
        (9, InputError, "position"),
        (["a"] * 5, InputError, "each of the 6 rows"),
        (np.zeros((6, 2)), InputError, "one entry per row"),
        (True, InputTypeError, "one entry per row"),
        (pd.DataFrame({"a": range(6)}), InputError, "one entry per row"),
        ([[1]] * 6, InputTypeError, "numbers, text"),
    ],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_what_is_no_grouping(by, error, words):
    with pytest.raises(error, match=words) as raised:
        read(by)
    assert "by" in str(raised.value)


def test_too_many_groups_are_refused():
    table = table_of(pd.DataFrame({"s": [f"l{i}" for i in range(60)]}))
    with pytest.raises(InputError, match="60 groups"):
        groups_of("s", table, None)
