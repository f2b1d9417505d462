"""Encoders: every row by itself, each column as its library treats it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from icefield.data.frame import table_of
from icefield.forest import CannotRead
from icefield.forest.encode import (
    CategoryNumbers,
    Encoder,
    LevelCodes,
    Numbers,
    Unused,
    check_numeric,
    levels_in_order,
)


def encoded(data, *rules, **settings):
    table = table_of(data)
    return Encoder(table.names, rules, **settings)(table)


def test_numbers_of_every_kind_become_float64():
    frame = pd.DataFrame(
        {
            "f": [1.5, np.nan],
            "i": pd.array([3, None], dtype="Int64"),
            "b": [True, False],
            "c": pd.Categorical([7, None], [9, 7]),
        }
    )
    found = encoded(frame, *[Numbers()] * 4)
    assert found.dtype == np.float64
    assert np.array_equal(found, [[1.5, 3.0, 1.0, 7.0], [np.nan, np.nan, 0.0, np.nan]], equal_nan=True)


def test_a_float_matrix_is_not_copied():
    X = np.random.default_rng(0).normal(size=(5, 2))
    assert np.shares_memory(encoded(X, Numbers(), Numbers()), X)


def test_rounding_to_float32():
    X = np.array([[0.1, 1e39]])
    assert encoded(X, *[Numbers(float32=True)] * 2).tolist() == [[float(np.float32(0.1)), np.inf]]
    with pytest.raises(ValueError, match="infinity"):
        encoded(X, *[Numbers(float32=True, refuse_infinite=True)] * 2)


def test_a_number_may_stand_for_missing():
    X = np.array([[0.1], [0.2], [float(np.float32(0.1))]])
    rounded = encoded(X, Numbers(float32=True, missing=0.1))
    assert np.isnan(rounded[:, 0]).tolist() == [True, False, True]


def test_integers_that_floats_cannot_hold_are_refused():
    with pytest.raises(CannotRead, match="integers beyond"):
        encoded(np.array([[2**53 + 1]]), Numbers())
    with pytest.raises(CannotRead, match="integers beyond"):
        encoded(np.array([[2**24 + 1]]), Numbers(largest_plain_integer=2**24))
    frame = pd.DataFrame({"i": [2**24 + 1]})
    assert encoded(frame, Numbers(largest_plain_integer=2**24)).tolist() == [[2.0**24 + 1]]


def test_category_numbers():
    X = np.array([-1.0, -0.5, -0.0, 0.0, 0.9, 3.0, 3.7, 9.0, 10.0, np.inf, -np.inf, np.nan])[:, None]
    strict = encoded(X, CategoryNumbers(Numbers(), limit=10.0))[:, 0]
    assert np.array_equal(strict, [-1, -1, 0, 0, 0, 3, 3, 9, -1, -1, -1, np.nan], equal_nan=True)
    cut_first = encoded(X, CategoryNumbers(Numbers(), limit=10.0, negative_fraction_is_zero=True))[:, 0]
    assert np.array_equal(cut_first, [-1, 0, 0, 0, 0, 3, 3, 9, -1, -1, -1, np.nan], equal_nan=True)


def test_levels_whatever_the_frame_calls_their_order():
    rule = levels_in_order(["a", "b", "c"], unknown_is_missing=True)
    values = ["b", None, "z", "a"]
    expected = np.array([[1.0], [np.nan], [np.nan], [0.0]])
    frames = [
        pd.DataFrame({"x": pd.Categorical(values, ["z", "b", "a", "q"])}),
        pd.DataFrame({"x": pd.Series(values, dtype=object)}),
        pl.DataFrame({"x": pl.Series(values, dtype=pl.Enum(["z", "q", "b", "a"]))}),
        pl.DataFrame({"x": values}),
        np.array(values, dtype=object)[:, None],
    ]
    for frame in frames:
        assert np.array_equal(encoded(frame, rule), expected, equal_nan=True)


def test_levels_that_are_numbers():
    rule = levels_in_order([10, 2.5, True], unknown_is_missing=True)
    assert np.array_equal(
        encoded(np.array([[10.0], [2.5], [1.0], [4.0]]), rule).ravel(), [0, 1, 2, np.nan], equal_nan=True
    )
    assert encoded(pd.DataFrame({"x": [10, 1]}), rule).ravel().tolist() == [0.0, 2.0]


def test_unlisted_levels_are_refused_only_where_they_occur():
    rule = LevelCodes((("a", 0.0),))
    declared = pd.DataFrame({"x": pd.Categorical(["a", None], ["z", "a"])})
    assert np.array_equal(encoded(declared, rule).ravel(), [0.0, np.nan], equal_nan=True)
    with pytest.raises(CannotRead, match="'x'"):
        encoded(pd.DataFrame({"x": ["a", "z"]}), rule)


def test_columns_that_are_no_numbers_are_refused_by_name():
    frame = pd.DataFrame({"ok": [1.0], "when": [pd.Timestamp("2020-01-01")], "text": ["x"]})
    table = table_of(frame)
    for name in ("when", "text"):
        with pytest.raises(CannotRead, match=name):
            check_numeric(table, [table.names.index(name)])
        with pytest.raises(CannotRead, match=name):
            Encoder((name,), (Numbers(),))(table)
    check_numeric(table, [0])
    with pytest.raises(CannotRead, match="when"):
        Encoder(("when",), (levels_in_order([1], unknown_is_missing=True),))(table)


def test_a_column_may_drive_several_and_none():
    encode = Encoder(("a", "b", "a"), (Numbers(), Unused(), Numbers(float32=True)))
    assert encode.drives == {"a": (0, 2), "b": (1,)}
    frame = pd.DataFrame({"a": [0.1], "b": ["text"]})
    assert encode(table_of(frame)).tolist() == [[0.1, 0.0, float(np.float32(0.1))]]


def test_blocks_of_rows_encode_as_the_whole():
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"x": draw.normal(size=50), "c": draw.choice(["a", "b", "c", None], 50)})
    encode = Encoder(
        ("x", "c"), (Numbers(float32=True), levels_in_order(["c", "a"], unknown_is_missing=True))
    )
    table = table_of(frame)
    blocks = [encode(table.slice(start, start + 7)) for start in range(0, 50, 7)]
    assert np.array_equal(np.concatenate(blocks), encode(table), equal_nan=True)


def test_entries_absent_from_sparse_rows():
    stored = scipy.sparse.csr_matrix(([1.0, 0.0], ([0, 1], [0, 1])), shape=(2, 2))
    as_missing = encoded(stored, Numbers(), Numbers(), absent_is_missing=True)
    assert np.array_equal(as_missing, [[1.0, np.nan], [np.nan, 0.0]], equal_nan=True)
    assert encoded(stored, Numbers(), Numbers()).tolist() == [[1.0, 0.0], [0.0, 0.0]]


RULES = [
    Numbers(),
    Numbers(float32=True),
    Numbers(float32=True, missing=-999.0),
    Numbers(refuse_missing=True, refuse_infinite=True),
]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["numpy", "pandas"])
def test_points_are_what_a_row_at_them_is(kind, rule):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4, 3))
    table = table_of(X if kind == "numpy" else pd.DataFrame(X, columns=["a", "b", "c"]))
    encoder = Encoder(table.names, (rule,) * 3)
    first, last = table.names[0], table.names[2]
    values = np.array([0.1, -999.0, 1e-40, 7.0])
    points = {last: values, first: -values}
    found = encoder.points(table, points)
    expected = encoder(table.take(np.zeros(1, np.intp)).crossed(points))
    np.testing.assert_array_equal(found[:, [0, 2]], expected[:, [0, 2]])


def test_points_that_a_model_refuses_are_refused():
    table = table_of(np.zeros((2, 2)))
    encoder = Encoder(table.names, (Numbers(refuse_missing=True, refuse_infinite=True),) * 2)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="Column 1 holds"):
            encoder.points(table, {1: np.array([0.0, bad])})


LEVELS = levels_in_order(["a", "b"], unknown_is_missing=True)


@pytest.mark.parametrize(
    ("data", "values", "rules"),
    [
        (np.ones((2, 2), np.float32), [0.1], [Numbers()] * 2),
        (np.ones((2, 2), np.int64), [0.0], [Numbers()] * 2),
        (np.ones((2, 2)), [1], [Numbers()] * 2),
        (np.ones((2, 2)), [0.1], [Numbers(float32=True), Numbers()]),
        (np.ones((2, 2)), [0.5], [CategoryNumbers(Numbers())] * 2),
        (np.ones((2, 2), object), [0.5, None], [Numbers()] * 2),
        (pd.DataFrame({0: [1, 2], 1: [1.0, 2.0]}), [3], [Numbers()] * 2),
        (pd.DataFrame({0: [1, 2], 1: [1.0, 2.0]}, dtype="float32"), [0.1], [Numbers(float32=True)] * 2),
        (pd.DataFrame({0: pd.array([1.0, None], dtype="Float64"), 1: 0.0}), [0.5, np.nan], [Numbers()] * 2),
        (pd.DataFrame({0: pd.Categorical(["b", "a"]), 1: ["x", "y"]}), ["a", None, "b"], [LEVELS, Unused()]),
        (
            pd.DataFrame({0: [1.0, 2.0], 1: [0.0, 1.0]}),
            [2.0, np.nan],
            [levels_in_order([2.0], True), Numbers()],
        ),
        (pl.DataFrame({"0": [1.0, None], "1": [1.0, 2.0]}), [0.5, np.nan], [Numbers()] * 2),
        (scipy.sparse.csr_matrix(np.eye(2)), [0.5], [Numbers()] * 2),
    ],
)
def test_points_of_any_column_are_what_a_row_at_them_is(data, values, rules):
    table = table_of(data)
    for names in (table.names, (table.names[0],) * 2):  # one column may decide several
        encoder, points = Encoder(names, tuple(rules)), {table.names[0]: np.array(values)}
        if rules[0] is LEVELS:
            points = {0: np.array(values, object)}
        expected = encoder(table.take(np.zeros(1, np.intp)).crossed(points))
        moving = [place for place, name in enumerate(names) if name == table.names[0]]
        np.testing.assert_array_equal(encoder.points(table, points)[:, moving], expected[:, moving])


def test_points_look_at_no_other_column():
    table = table_of(pd.DataFrame({"x": [0.5], "strange": pd.Categorical(["c"])}))
    encoder = Encoder(table.names, (Numbers(), levels_in_order(["a"], unknown_is_missing=False)))
    assert encoder.points(table, {"x": np.array([0.1, 0.2])})[:, 0].tolist() == [0.1, 0.2]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.float16])
@pytest.mark.parametrize(
    "rule", [Numbers(), Numbers(float32=True), Numbers(missing=-1.0), Numbers(refuse_missing=True), Numbers(refuse_infinite=True)]
)  # fmt: skip
def test_a_matrix_is_taken_as_it_is_only_where_encoding_copies_it(rule, dtype):
    values = np.arange(6).reshape(3, 2).astype(dtype)
    table = table_of(values)
    found = Encoder(table.names, (rule,) * 2).as_is(table)
    as_it_is = {Numbers(): (np.float64, np.float32), Numbers(float32=True): (np.float32,)}
    assert (found is table.native) == (dtype in as_it_is.get(rule, ()))
    assert found is None or found is table.native
    if found is not None:
        np.testing.assert_array_equal(found.astype(np.float64), Encoder(table.names, (rule,) * 2)(table))
    assert Encoder(table.names, (rule, Unused())).as_is(table) is None
    assert Encoder((1, 0), (rule,) * 2).as_is(table) is None
