"""Grids: where the model is asked, in the column's own kind."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icefield.data.columns import Column, column_of_array, is_missing_value, object_array
from icefield.data.frame import table_of
from icefield.data.grid import MOST_AUTO, Grid, grid_points, planned, specifications, with_steps
from icefield.errors import EngineError, InputError, InputTypeError


def column(values, dtype=None) -> Column:
    return table_of(pd.DataFrame({"x": pd.Series(values, dtype=dtype)})).column("x")


def points(specification, of: Column, n_features: int = 1, steps=None, **more) -> np.ndarray:
    found = grid_points(specification, of, n_features, **more)
    return with_steps(planned(specification, n_features), found, steps).values


def points_and_note(specification, of: Column, n_features: int) -> tuple[np.ndarray, str]:
    found = grid_points(specification, of, n_features)
    return found.values, found.note


# --- how many ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_features", "expected"), [(1, 66), (2, 25), (3, 10), (4, 10)])
def test_default_number_of_points(n_features, expected):
    many = column(np.random.default_rng(0).normal(size=500))
    assert len(points(None, many, n_features)) == expected


def test_all_distinct_values_when_there_are_fewer():
    assert points(None, column([5.0, 1.0, 5.0, 2.0])).tolist() == [1.0, 2.0, 5.0]
    exactly = column(np.arange(100.0))
    assert np.array_equal(points(Grid(), exactly), np.arange(100.0))
    assert len(points(Grid(), column(np.arange(101.0)))) == 100
    assert np.array_equal(points(None, column(np.arange(68.0))), np.arange(68.0))
    assert len(points(None, column(np.arange(69.0)))) < 69


@pytest.mark.parametrize(
    "values",
    [[3.0] * 50, [0.0, 1.0] * 50, [0.0] * 999 + [7.0], [0.0] * 950 + list(range(1, 200)), [1.0], [-0.0, 0.0],
     [np.inf, 1.0, -np.inf], [5e-324, 1e-323, 1.0], [1e308, -1e308] * 60 + list(range(200))],
    ids=["constant", "two values", "almost constant", "skewed", "one row", "signed zero", "infinite", "denormal", "huge"],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["uniform", "quantile", "distinct"])
@pytest.mark.parametrize("count", [1, 2, 3, 100])
def test_no_column_is_too_skewed(values, kind, count):
    grid = points(Grid(kind, points=count), column(values))
    assert 1 <= len(grid) <= count
    assert np.isfinite(grid).all()
    assert (grid[1:] > grid[:-1]).all()


def test_uniform_points_span_the_trimmed_range():
    grid, note = points_and_note(11, column(np.arange(1001.0)), 1)
    assert np.allclose(grid, np.linspace(50, 950, 11), rtol=0, atol=1e-9)
    assert note == ""
    whole = points(Grid(points=11, trim=(0, 1)), column(np.arange(1001.0)))
    assert np.allclose(whole, np.linspace(0, 1000, 11), rtol=0, atol=1e-9)


def test_log_points_lie_by_equal_factors():
    values = np.random.default_rng(0).lognormal(8, 1.5, 4000)
    found, note = points_and_note(Grid("log", points=40), column_of_array("pay", values), 1)
    np.testing.assert_allclose(np.diff(np.log(found)), np.diff(np.log(found))[0], rtol=1e-6)
    np.testing.assert_allclose(found[[0, -1]], np.quantile(values, [0.05, 0.95]), rtol=2e-2)
    assert note == ""
    # An even grid has a sixth of its points below the median; here it is half of them.
    assert abs((found < np.median(values)).mean() - 0.5) < 0.05


def test_log_points_of_whole_numbers_are_whole():
    values = np.random.default_rng(0).lognormal(5, 1.5, 4000).astype(np.int64) + 1
    found, _ = points_and_note(Grid("log", points=30), column_of_array("pay", values), 1)
    assert found.dtype == np.int64
    assert (np.diff(found) > 0).all()
    assert np.diff(found)[-1] > 10 * np.diff(found)[0]


def test_what_has_no_logarithm_is_placed_evenly_and_says_so():
    values = np.random.default_rng(0).normal(size=500)
    found, note = points_and_note(Grid("log", points=9), column_of_array("x", values), 1)
    np.testing.assert_allclose(np.diff(found), np.diff(found)[0])
    assert note == "points are evenly spaced, not by factors, because its values reach 0 or below"
    days = np.datetime64("2020-01-01") + np.arange(500)
    _, note = points_and_note(Grid("log", points=9), column_of_array("day", days), 1)
    assert note.endswith("because its values are times")


def test_a_trimmed_range_of_one_point_falls_back_to_all_and_says_so():
    values = [0.0] * 990 + list(np.linspace(1, 500, 200))
    grid, note = points_and_note(Grid(points=5, trim=(0.05, 0.5)), column(values), 1)
    assert grid[0] == 0.0
    assert grid[-1] == 500.0
    assert "coincide" in note


def test_quantile_points_are_values_of_the_data():
    values = np.random.default_rng(1).lognormal(size=2_000)
    grid = points(Grid("quantile", points=20), column(values))
    assert np.isin(grid, values).all()
    assert np.array_equal(grid, np.quantile(values, np.linspace(0.05, 0.95, 20), method="inverted_cdf"))


def test_distinct_is_every_value_that_occurs():
    values = np.random.default_rng(1).normal(size=300)
    assert np.array_equal(points(Grid("distinct"), column(values)), np.sort(values))
    some, note = points_and_note(Grid("distinct", points=10), column(values), 1)
    assert len(some) == 10
    assert np.isin(some, values).all()
    assert "of 300" in note


def test_infinite_values_are_no_grid_points_but_may_be_given():
    data = column([1.0, np.inf, 2.0, -np.inf])
    assert points(None, data).tolist() == [1.0, 2.0]
    assert points([np.inf, 0.0], data).tolist() == [np.inf, 0.0]
    with pytest.raises(InputError, match="no value to build a grid from"):
        points(None, column([np.inf, -np.inf]))


@given(st.lists(st.integers(0, 3), min_size=3, max_size=12).filter(any), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_a_weight_of_two_is_a_duplicated_row(weights, random):
    values = np.array([random.choice([1.0, 2.5, 3.0, 7.0, 11.0]) for _ in weights])
    counts = np.array(weights)
    weighted, repeated = column(values), column(np.repeat(values, counts))
    letters = column([f"l{v}" for v in values]), column([f"l{v}" for v in np.repeat(values, counts)])
    for plan in (3, Grid("quantile", points=3), Grid("distinct"), Grid(points=2, trim=(0.2, 0.7))):
        assert np.array_equal(points(plan, weighted, weights=counts.astype(float)), points(plan, repeated))
    for plan in (2, None):
        assert (
            points(plan, letters[0], weights=counts.astype(float)).tolist()
            == points(plan, letters[1]).tolist()
        )


# --- kinds -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "Int64", "int32[pyarrow]"])
def test_integers_stay_integers(dtype):
    data = column(list(range(0, 127)), dtype)
    grid = points(10, data)
    assert grid.dtype.kind in "iu"
    assert grid.dtype == data.dtype
    assert len(grid) == 10


def test_integers_stay_integers_with_missing_values():
    values = [*range(150), None]
    for data in (
        column(values, "Int64"),
        table_of(pl.DataFrame({"x": values})).column("x"),
        table_of(pa.table({"x": values})).column("x"),
    ):
        grid = points(5, data)
        assert grid[-1] is None
        assert all(type(v) is int for v in grid[:-1])
        assert len(points(Grid(points=5, missing="hide"), data)) == 5


def test_a_missing_point_is_last_and_given_values_never_gain_one():
    data = column([1.0, None, 3.0])
    assert np.array_equal(points(None, data), [1.0, 3.0, np.nan], equal_nan=True)
    assert points([3.0, 1.0], data).tolist() == [3.0, 1.0]
    assert np.array_equal(points([3.0, None, 1.0], data), [3.0, 1.0, np.nan], equal_nan=True)
    assert np.array_equal(points([None], data), [np.nan], equal_nan=True)
    with pytest.raises(InputError, match="missing or infinite in every row"):
        points(Grid(missing="hide"), column([None, None], "float64"))


def test_times_keep_their_unit():
    for unit in ("s", "ms", "us", "ns"):
        data = column(pd.date_range("2020", periods=400), f"datetime64[{unit}]")
        grid = points(7, data)
        assert grid.dtype == np.dtype(f"datetime64[{unit}]")
        assert len(grid) == 7
        assert (np.diff(grid) > np.timedelta64(0, "ns")).all()
    days = table_of(
        pl.DataFrame({"x": pl.date_range(dt.date(2020, 1, 1), dt.date(2021, 1, 1), eager=True)})
    ).column("x")
    assert points(7, days).dtype == np.dtype("datetime64[D]")
    spans = column(pd.to_timedelta(np.arange(200), unit="h"))
    assert points(7, spans).dtype.kind == "m"


def test_centuries_in_nanoseconds_do_not_overflow():
    values = np.array(["1700-01-01", "2250-01-01"], dtype="datetime64[ns]")
    many = np.concatenate([values, values[0] + np.arange(200).astype("timedelta64[D]")])
    grid = points(Grid(points=11, trim=(0, 1)), column_of_array("x", many))
    assert grid[0] == values[0]
    assert grid[-1] == values[1]
    assert (grid[1:] > grid[:-1]).all()


def test_levels_come_in_level_order_and_the_most_frequent_when_too_many():
    data = column(pd.Categorical(["b"] * 3 + ["a"] * 2 + ["c"], ["c", "b", "a", "unseen"]))
    assert points(None, data).tolist() == ["c", "b", "a"]
    some, note = points_and_note(2, data, 1)
    assert some.tolist() == ["b", "a"]
    assert "most frequent" in note
    assert points(None, column([True, False, True])).tolist() == [False, True]


def test_rows_without_weight_do_not_count():
    weights = np.array([1.0, 1.0, 0.0])
    assert points(None, column(["a", "b", "c"]), weights=weights).tolist() == ["a", "b"]
    assert points(None, column([1.0, 2.0, 3.0]), weights=weights).tolist() == [1.0, 2.0]
    assert points(None, column(["a", None, "c"]), weights=weights).tolist() == ["a", None]


# --- given values ------------------------------------------------------------------------------------


def test_given_values_are_taken_as_they_are():
    data = column([1.0, 2.0])
    for values in ([5, 1, 1, 9], (5, 1, 1, 9), np.array([5, 1, 1, 9]), pd.Series([5, 1, 1, 9]), pl.Series([5, 1, 1, 9]),
                   pa.array([5, 1, 1, 9]), iter([5, 1, 1, 9])):  # fmt: skip
        assert points(values, data).tolist() == [5.0, 1.0, 1.0, 9.0]
    assert points(range(3), column([1, 2])).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "value",
    [dt.date(2021, 3, 4), dt.datetime(2021, 3, 4), pd.Timestamp("2021-03-04"), "2021-03-04", np.datetime64("2021-03-04"),
     pd.Timestamp("2021-03-04", tz="UTC"), "2021-03-04T00:00:00+00:00", "2021-03-04T01:00:00+01:00", "2021-03-04T00:00Z"],
    ids=str,
)  # fmt: skip
def test_dates_as_dates(value):
    for data in (
        column(pd.date_range("2020", periods=3)),
        column(pd.date_range("2020", periods=3), "datetime64[s]"),
        table_of(pl.DataFrame({"x": [dt.date(2020, 1, 1)]})).column("x"),
    ):
        grid = points([value, None], data)
        assert grid.dtype == data.dtype
        assert grid[0] == np.datetime64("2021-03-04")
        assert np.isnat(grid[1])


def test_durations_as_durations():
    data = column(pd.to_timedelta([1, 2], unit="D"))
    for value in (dt.timedelta(hours=12), pd.Timedelta("12h"), np.timedelta64(12, "h")):
        assert points([value], data)[0] == np.timedelta64(12, "h")


def test_booleans_and_categories_as_such():
    assert points([1, False], column([True, False])).tolist() == [True, False]
    assert points([True, None], column([True, False])).tolist() == [True, None]
    numbers = column(pd.Categorical([1, 2, 1], [2, 1, 3]))
    assert points([3.0, 1], numbers).tolist() == [3, 1]
    assert points(["new", "a"], column(["a", "b"])).tolist() == ["new", "a"]
    enum = table_of(pl.DataFrame({"x": pl.Series(["a"], dtype=pl.Enum(["a", "b"]))})).column("x")
    assert points(["b", None], enum).tolist() == ["b", None]


CLOSED = pd.Categorical(["a", "b"], ["a", "b"])
BAD_VALUES = [
    ([1.0, 2.0], ["x"], InputTypeError, "float column"),
    ([1.0, 2.0], [b"1"], InputTypeError, "float column"),
    ([1.0, 2.0], [[1, 2]], InputTypeError, "float column"),
    ([1, 2], ["1"], InputTypeError, "integer column"),
    ([1, 2], [np.inf], InputTypeError, "integer column"),
    (np.array([1, 2], np.float32), [1e300], InputError, "float32"),
    ([True, False], [2], InputError, "True or False"),
    ([True, False], ["yes"], InputTypeError, "boolean column"),
    (CLOSED, ["c"], InputError, "not a level"),
    (CLOSED, [["a"]], InputTypeError, "categorical column"),
    (pd.Categorical([1, 2]), [1.5], InputError, "not a level"),
    (["a", "b"], [1], InputTypeError, "categorical column"),
    (pd.date_range("2020", periods=2), [5], InputTypeError, "datetime column"),
    (pd.date_range("2020", periods=2), ["soon"], InputTypeError, "datetime column"),
    (pd.date_range("2020", periods=2).astype("datetime64[ns]"), ["9999-01-01"], InputError, "can hold"),
    (
        pd.date_range("2020", periods=2).astype("datetime64[s]"),
        ["2020-01-01T00:00:00.5"],
        InputError,
        "can hold",
    ),
    ([dt.date(2020, 1, 1)], [dt.datetime(2020, 1, 1, 12)], InputError, "can hold"),
    (pd.to_timedelta([1, 2], unit="D"), [5], InputTypeError, "duration column"),
    (pd.to_timedelta([1, 2], unit="D"), ["5"], InputTypeError, "duration column"),
    ([1.0, 2.0], [], InputError, "no values"),
    ([1.0, 2.0], "quantile", InputTypeError, "must be a Grid"),
    ([1.0, 2.0], 2.5, InputTypeError, "must be a Grid"),
    ([1.0, 2.0], True, InputTypeError, "must be a Grid"),
    ([1.0, 2.0], 0, InputError, "at least 1"),
    ([1.0, 2.0], -3, InputError, "at least 1"),
]


@pytest.mark.parametrize(("data", "values", "error", "words"), BAD_VALUES, ids=lambda v: repr(v)[:30])
def test_values_that_do_not_fit_the_column(data, values, error, words):
    with pytest.raises(error, match=words) as raised:
        points(values, column(data))
    assert "grid" in str(raised.value) or "points" in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"kind": "unform"}, InputError, "did you mean 'uniform'"),
        ({"points": 0}, InputError, "at least 1"),
        ({"points": 2.5}, InputTypeError, "whole number"),
        ({"points": True}, InputTypeError, "whole number"),
        ({"trim": (0.9, 0.1)}, InputError, "increasing"),
        ({"trim": (0.5, 0.5)}, InputError, "increasing"),
        ({"trim": (-0.1, 1)}, InputError, "increasing"),
        ({"trim": (0, 1.1)}, InputError, "increasing"),
        ({"trim": (np.nan, 1)}, InputError, "increasing"),
        ({"trim": 0.05}, InputError, "increasing"),
        ({"trim": "ab"}, InputError, "increasing"),
        ({"missing": "maybe"}, InputError, "'show' or 'hide'"),
    ],
    ids=str,
)
def test_a_grid_checks_its_arguments(arguments, error, words):
    with pytest.raises(error, match=words):
        Grid(**arguments)


def test_objects_that_are_no_feature():
    with pytest.raises(InputTypeError, match="list objects"):
        points(None, column_of_array("x", object_array([None, [1], [2]])))


# --- one specification per feature -------------------------------------------------------------------


def test_specifications():
    assert specifications(None, ["a", "b"]) == [None, None]
    assert specifications(7, ["a", "b"]) == [7, 7]
    assert specifications([5, 7], ["a", "b"]) == [5, 7]
    assert specifications([5, 7], ["a"]) == [[5, 7]]
    assert specifications({"b": [1]}, ["a", "b"]) == [None, [1]]
    assert specifications(((1, 2), Grid("quantile")), ["a", "b"]) == [(1, 2), Grid("quantile")]


@pytest.mark.parametrize(
    ("grid", "error", "words"),
    [
        ("quantile", InputTypeError, r"Grid\('quantile'\)"),
        ({"c": [1]}, InputError, "not one of the features"),
        ([1, 2, 3], InputError, "each of the 2 features"),
        (2.5, InputError, "each of the 2 features"),
    ],
)
def test_specifications_that_do_not_fit(grid, error, words):
    with pytest.raises(error, match=words):
        specifications(grid, ["a", "b"])


# --- the model's own thresholds ----------------------------------------------------------------------


def thresholds(values, data, **options) -> np.ndarray:
    found = points(
        Grid("thresholds", **options), column_of_array("x", data), thresholds=lambda: np.array(values)
    )
    assert found.dtype == data.dtype
    return found


@given(
    st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=8),
    st.sampled_from([np.float64, np.float32, np.float16, np.int64, np.int8, np.uint8]),
)
@settings(max_examples=200, deadline=None)
def test_one_point_in_every_interval_the_column_can_reach(cuts, dtype):
    data = np.array([0, 100], dtype=dtype)
    grid = thresholds(cuts, data)
    inside = np.searchsorted(np.unique(cuts), grid.astype(np.float64), side="left")
    # No interval twice, unless the last threshold is out of the dtype's reach.
    assert len(np.unique(inside)) >= len(grid) - 1
    reachable = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else np.finfo(dtype)
    step = 1 if np.dtype(dtype).kind in "iu" else 0
    for interval, cut in enumerate(np.unique(cuts)):
        below = np.unique(cuts)[interval - 1] if interval else -np.inf
        has_value = max(float(reachable.min), below) + step <= min(cut, float(reachable.max)) and (
            not step or np.floor(cut) > below
        )
        if has_value and np.dtype(dtype) == np.float64:
            assert interval in inside


def test_thresholds_are_the_last_values_on_the_left():
    assert thresholds([0.5, 2.0], np.array([0.0, 9.0])).tolist() == [0.5, 2.0, 9.0]
    assert thresholds([2.0, 0.5], np.array([0.0, 1.0])).tolist() == [0.5, 2.0, np.nextafter(2.0, 3.0)]
    assert thresholds([0.5, 2.0, 2.9], np.array([0, 9])).tolist() == [0, 2, 9]
    tenth = thresholds([0.1], np.array([0.0, 9.0], np.float32))
    assert float(tenth[0]) <= 0.1 < float(np.nextafter(tenth[0], np.float32(1)))
    assert thresholds([-0.5, 300.5, 3.5], np.array([0, 9], np.uint8)).tolist() == [3, 255]
    assert thresholds([1e300, -1e300, np.inf, np.nan], np.array([0.0], np.float32)).tolist() == (
        [float(np.finfo(np.float32).max)]
    )


def test_thresholds_in_small_number_and_in_want_of_trees():
    assert thresholds([], np.array([1.0, 5.0])).tolist() == [5.0]
    assert len(thresholds(np.arange(50.0), np.array([0.0, 99.0]), points=5)) == 5
    with pytest.raises(EngineError, match="trees"):
        points(Grid("thresholds"), column([1.0]))
    with pytest.raises(InputTypeError, match="numeric"):
        points(Grid("thresholds"), column(["a"]), thresholds=lambda: np.array([1.0]))
    with_missing = points(Grid("thresholds"), column([1.0, None]), thresholds=lambda: np.array([0.5]))
    assert is_missing_value(with_missing[-1])


def test_the_usual_grid_has_points_in_the_tails():
    rng = np.random.default_rng(0)
    values = np.append(rng.normal(size=5000), [40.0, 60.0, 100.0])
    found = points(Grid("auto"), column(values))
    assert (found[0], found[-1]) == (values.min(), 100.0)
    assert np.isin(found, values).all()  # every point is a value of the data
    assert np.isin([40.0, 60.0], found).all()
    assert len(found) <= 68


def test_the_usual_grid_of_few_values_has_all_of_them():
    np.testing.assert_array_equal(points(Grid("auto"), column(np.repeat(np.arange(68), 3))), np.arange(68))


@pytest.mark.parametrize("dtype", ["datetime64[s]", "int64", "float32"])
def test_the_usual_grid_keeps_the_columns_own_kind(dtype):
    values = np.arange(0, 40_000, 7).astype(dtype)
    found = points(Grid("auto"), column(values))
    assert found.dtype.kind == np.dtype(dtype).kind
    assert (found[0], found[-1]) == (values[0], values[-1])
    assert len(np.unique(found)) == len(found)


def stepped(values, thresholds, moved, specification=None):
    """The usual grid of a column for a model that moves so far at some thresholds."""
    return points(
        specification, column(values), steps=(np.asarray(thresholds, float), np.asarray(moved, float))
    )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_usual_grid_misses_nothing_between_thresholds(dtype):
    values = np.random.default_rng(0).normal(size=5000).astype(dtype)
    usual = points(None, column(values))
    gap = np.argmax(np.diff(usual[20:40])) + 20
    low, high = float(usual[gap]), float(usual[gap + 1])
    up, down = low + (high - low) / 3, low + 2 * (high - low) / 3
    found = stepped(values, [up, down], [1.0, 1.0])
    assert found.dtype == dtype
    (between,) = set(found.tolist()) - set(usual.tolist())
    assert up < between <= down


def test_thresholds_at_which_little_moves_have_no_points():
    values = np.random.default_rng(0).normal(size=5000)
    usual = points(None, column(values))
    thresholds = np.linspace(-2.5, 2.5, 5000)
    np.testing.assert_array_equal(stepped(values, thresholds, np.ones(5000)), usual)
    far = np.append(np.linspace(50, 60, 5), np.linspace(-60, -50, 5))
    np.testing.assert_array_equal(stepped(values, np.sort(far), np.ones(10)), usual)  # no data is there


def test_the_usual_grid_has_at_most_so_many_points():
    values = np.random.default_rng(0).normal(size=5000)
    thresholds = np.concatenate([np.linspace(0.001, 0.02, 90), np.linspace(1.8, 1.9, 90)])
    moved = np.where(np.arange(180) % 4 == 0, 1.0, 1e-6)
    assert 68 < len(stepped(values, thresholds, moved)) <= MOST_AUTO
    assert len(stepped(values, thresholds, moved, Grid("auto", points=30))) <= 30


def test_whole_numbers_and_missing_ones_have_points_beside_thresholds_too():
    values = np.random.default_rng(0).integers(0, 100_000, 3000)
    usual = points(None, column(values))
    low = int(usual[30])
    found = stepped(values, [low + 1.5, low + 4.5], [1.0, 1.0])
    assert found.dtype == values.dtype
    assert set(found.tolist()) - set(usual.tolist()) == {low + 4}
    found = stepped([*values.tolist(), None], [low + 1.5, low + 4.5], [1.0, 1.0])
    assert set(found[:-1].tolist()) - set(usual.tolist()) == {low + 4.5}
    assert np.isnan(found[-1])


def test_all_values_of_a_column_need_no_points_between_them():
    values = np.repeat(np.arange(5.0), 10)
    np.testing.assert_array_equal(stepped(values, [1.2, 1.7], [1.0, 1.0]), np.arange(5.0))


def test_several_features_have_evenly_spaced_points():
    values = np.random.default_rng(0).exponential(size=500)
    for asked in (None, Grid("auto")):
        np.testing.assert_array_equal(
            points(asked, column(values), n_features=2), points(Grid(), column(values), n_features=2)
        )


def test_whole_numbers_beyond_a_column_widen_it():
    narrow = column(np.array([1, 2], np.uint8))
    assert points([300, -1], narrow).dtype == np.int64
    assert points([2**63], narrow).tolist() == [2**63]
    assert points([-1, None], narrow).tolist() == [-1, None]
    assert points([10**30, None], narrow)[0] == 1e30
    with pytest.raises(InputTypeError, match="integer column"):
        points([np.inf], narrow)
