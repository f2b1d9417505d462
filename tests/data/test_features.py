"""Features: columns by name or position, one-hot groups, and rows nearest to grid points."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from icefield.data.columns import column_of_array, object_array
from icefield.data.features import (
    check_levels,
    column_name,
    feature_column,
    level_counts_near,
    nearest_points,
    resolve,
)
from icefield.data.frame import table_of
from icefield.data.grid import grid_points
from icefield.errors import InputError, InputTypeError

FRAME = pd.DataFrame({
    "age": [20.0, 30.0, 40.0, 50.0],
    "port_C": [1, 0, 0, 0],
    "port_Q": [0, 1, 0, 0],
    "port_S": [0, 0, 1, 0],
    "unused": [1, 2, 3, 4],
})  # fmt: skip
PORTS = ["port_C", "port_Q", "port_S"]


def group(frame=FRAME, label="port", members=PORTS):
    table = table_of(frame)
    feature = resolve({label: members}, table, table.names)
    return feature, table, feature_column(feature, table)


# --- names and positions -----------------------------------------------------------------------------


def test_names_come_before_positions():
    table = table_of(pd.DataFrame([[1, 2, 3]], columns=[2, 0, "x"]))
    assert column_name(2, table, "features") == 2
    assert column_name(0, table, "features") == 0
    assert column_name(1, table, "features") == 0
    assert column_name(np.int64(2), table, "features") == 2
    assert column_name("x", table, "features") == "x"
    flags = table_of(pd.DataFrame([[1, 2]], columns=[True, False]))
    assert column_name(0, flags, "features") is True
    assert column_name(False, flags, "features") is False


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ("agee", InputError, "did you mean 'age'"),
        (9, InputError, "positions run from 0 to 4"),
        (-1, InputError, "positions run from 0 to 4"),
        (True, InputTypeError, "column name"),
        (1.5, InputTypeError, "column name"),
        (None, InputTypeError, "column name"),
        (["age"], InputTypeError, "column name"),
        (np.array(["age", "port_C"]), InputTypeError, "column name"),
        (("age", "port_C"), InputError, "does not have"),
        ("unused", InputError, "does not use"),
        ({}, InputError, "one group"),
        ({"a": ["age", "port_C"], "b": []}, InputError, "one group"),
        ({"port": "port_C"}, InputError, "at least two"),
        ({"port": ["port_C"]}, InputError, "at least two"),
        ({"port": 3}, InputError, "at least two"),
        ({"port": ["port_C", "port_C"]}, InputError, "twice"),
        ({"port": ["port_C", "age"]}, InputError, "indicator"),
        ({"port": ["port_C", "port_X"]}, InputError, "did you mean"),
    ],
    ids=str,
)
def test_what_names_no_feature(asked, error, words):
    with pytest.raises(error, match=words) as raised:
        feature_column(resolve(asked, table_of(FRAME), ["age", *PORTS]), table_of(FRAME))
    assert "features" in str(raised.value)


# --- one-hot groups ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", [bool, int, float, np.int8, np.float32, "boolean", "Int64", "bool[pyarrow]"]
)
def test_indicators_of_any_type_move_together(dtype):
    frame = FRAME.astype(dict.fromkeys(PORTS, dtype))
    feature, table, column = group(frame)
    grid = grid_points(None, column, 1).values
    assert grid.tolist() == ["C", "Q", "S", "(none)"]
    crossed = table.crossed(feature.axis(grid, table).points)
    assert (crossed.native.dtypes[PORTS] == frame.dtypes[PORTS]).all()
    assert crossed.native[PORTS].astype(int).to_numpy()[::4].tolist() == [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
        [0, 0, 0],
    ]


@pytest.mark.parametrize("build", [pl.DataFrame, pa.table, lambda d: np.column_stack(list(d.values()))])
def test_groups_in_every_library(build):
    data = {name: FRAME[name].to_numpy() for name in FRAME}
    table = table_of(build(data))
    members = [table.names[i] for i in (1, 2, 3)]
    feature = resolve({"port": members}, table, table.names)
    points = feature.axis(object_array(["(none)", feature.levels[1]]), table).points
    crossed = table.crossed(points)
    assert [crossed.column(m).values[[0, 4]].tolist() for m in members] == [[0, 0], [0, 1], [0, 0]]


def test_rows_without_a_one_are_the_level_that_was_dropped():
    feature, _, column = group()
    assert column.codes.tolist() == [0, 1, 2, 3]
    assert feature.kind == "categorical"
    full = FRAME.iloc[:3]
    assert group(full)[2].levels.tolist() == ["C", "Q", "S"]


def test_two_ones_in_a_row_are_refused():
    frame = FRAME.assign(port_S=[1, 0, 1, 0])
    with pytest.raises(InputError, match="set together in row 0"):
        group(frame)


@pytest.mark.parametrize(
    ("label", "names", "levels"),
    [
        ("port", ["port_C", "port_Q"], ["C", "Q"]),
        ("harbour", ["port_C", "port_Q"], ["C", "Q"]),
        ("port", ["port=C", "port=Q"], ["C", "Q"]),
        ("month", ["month_1", "month_10", "month_11"], ["1", "10", "11"]),
        ("sex", ["male", "maybe"], ["male", "maybe"]),
        ("sex", ["sexmale", "sexfemale"], ["male", "female"]),
        ("a", ["x", "y"], ["x", "y"]),
        ("a", ["a_", "a_b"], ["a_", "a_b"]),
        ("a", ["a_(none)", "a_b"], ["a_(none)", "a_b", "(none)"]),
    ],
    ids=str,
)
def test_levels_are_named_by_what_tells_columns_apart(label, names, levels):
    frame = pd.DataFrame(
        np.eye(len(names) + 1, dtype=int)[: len(levels) if "(none)" in levels else len(names), : len(names)],
        columns=names,
    )
    assert group(frame, label, names)[2].levels.tolist() == levels


def test_given_levels_of_a_group_must_be_its_levels():
    feature, _, column = group()
    check_levels(feature, column, object_array(["S", "C"]))
    with pytest.raises(InputError, match="levels of the group 'port'"):
        check_levels(feature, column, object_array(["X"]))


# --- how much data is near a grid point --------------------------------------------------------------


def places(grid, values):
    column = column_of_array("x", np.asarray(values))
    nearest, has = nearest_points(np.asarray(grid), column)
    return [int(n) if h else None for n, h in zip(nearest, has)]


def test_rows_go_to_the_nearest_point():
    assert places([0.0, 1.0, 5.0], [-9.0, 0.4, 0.6, 2.9, 3.1, 99.0]) == [0, 0, 1, 1, 2, 2]
    assert places([5.0, 0.0, 1.0], [-9.0, 0.4, 0.6, 2.9, 3.1, 99.0]) == [1, 1, 2, 2, 0, 0]
    assert places([1.0], [0.0, 7.0]) == [0, 0]
    # Midway goes down, whether the points are evenly spaced or not.
    assert places([0.0, 1.0, 2.0], [0.5, 1.5]) == [0, 1]
    assert places([0.0, 1.0, 5.0], [0.5, 3.0]) == [0, 1]


def test_rows_that_are_near_nothing():
    assert places([0.0, 1.0], [np.nan, np.inf, -np.inf, 1.0]) == [None, None, None, 1]
    assert places([0.0, np.nan], [np.nan, 0.3]) == [1, 0]
    assert places([np.nan], [np.nan, 0.3]) == [0, None]
    letters = object_array(["a", "b", None])
    assert places(object_array(["b"]), letters) == [None, 0, None]
    assert places(object_array(["b", None]), letters) == [None, 0, 1]


@pytest.mark.parametrize(
    "grid", [[-1e308, 1e308], [-np.inf, 0.0, 1.0, np.inf], [0.0, 0.0, 1.0], [5e-324, 1e308]], ids=str
)
def test_awkward_grids_place_every_finite_row(grid):
    assert None not in places(grid, [-1e308, 0.0, 1.0, 1e308])


def test_integers_with_a_missing_point():
    column = table_of(pd.DataFrame({"x": pd.array([1, None, 9], dtype="Int64")})).column("x")
    nearest, has = nearest_points(object_array([1, 8, None]), column)
    assert nearest.tolist() == [0, 2, 1]
    assert has.all()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_are_placed_like_numbers(unit):
    days = pd.date_range("2020-01-01", periods=5).to_numpy().astype(f"datetime64[{unit}]")
    assert places(days[[0, 4]], days) == [0, 0, 0, 1, 1]


@pytest.mark.parametrize(
    "grid", [["b", "a", None], ["c", "z"], [None], ["a", "b", "a"], [np.nan, "b", None], []]
)
@pytest.mark.parametrize(
    "values", [["a", "b", None, "b", "a", "a"], [None] * 6, ["c"] * 6, [True, False, None] * 2]
)
def test_rows_at_levels_are_counted_as_they_are_placed(values, grid):
    column = table_of(pd.DataFrame({"x": pd.Categorical(values)})).column("x")
    points = object_array(grid)
    nearest, has = nearest_points(points, column)
    expected = np.bincount(nearest[has], minlength=len(points))
    np.testing.assert_array_equal(level_counts_near(points, column), expected)
    weights = np.arange(6.0)
    known = ~column.missing
    by_weight = np.bincount(column.codes[known], weights[known], minlength=len(column.levels))
    np.testing.assert_array_equal(column.level_counts(weights), by_weight)
