"""Tables: every column kind of every library is read alike, and keeps its dtype when replaced."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from icefield.data import frame_table
from icefield.data.columns import column_of_array, is_missing_value
from icefield.data.frame import ArrayTable, FrameTable, SparseTable, columns_at, object_array, table_of
from icefield.data.grid import grid_points
from icefield.data.new_frames import frame_of
from icefield.errors import InputError, InputTypeError

DATES = [dt.date(2020, 1, 1), dt.date(2020, 1, 2), None, dt.date(2021, 1, 1), dt.date(2022, 6, 1)]
TIMES = [
    dt.datetime(2020, 1, 1, 3),
    dt.datetime(2020, 1, 2),
    None,
    dt.datetime(2021, 1, 1),
    dt.datetime(2022, 1, 1),
]
SPANS = [dt.timedelta(1), dt.timedelta(2), None, dt.timedelta(3), dt.timedelta(4)]
SAMPLES = {
    "float": [1.5, 2.0, None, 4.0, 5.0],
    "integer": [1, 2, None, 4, 5],
    "boolean": [True, False, None, True, False],
    "categorical": ["a", "b", None, "a", "c"],
    "date": DATES,
    "datetime": TIMES,
    "duration": SPANS,
    "decimal": [Decimal("1.25"), Decimal("2.50"), None, Decimal("3.75"), Decimal("4.00")],
}
LEVELS = ["c", "b", "a", "z"]

PANDAS = {
    "float": ["float64", "float32", "Float64", "Float32", "double[pyarrow]", "float[pyarrow]"],
    "integer": ["Int64", "UInt8", "int64[pyarrow]", "uint16[pyarrow]", "object"],
    "boolean": ["boolean", "bool[pyarrow]", "object"],
    "categorical": [
        "object", "str", "string", "string[pyarrow]", pd.ArrowDtype(pa.large_string()),
        pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())), "category", pd.CategoricalDtype(LEVELS),
        pd.CategoricalDtype(LEVELS, ordered=True),
    ],
    "date": ["object", "date32[pyarrow]"],
    "datetime": [
        "datetime64[ns]", "datetime64[us]", "datetime64[ms]", "datetime64[s]", "datetime64[ns, Europe/Paris]",
        "datetime64[s, Asia/Tokyo]", "timestamp[us][pyarrow]", pd.ArrowDtype(pa.timestamp("ms", "Asia/Tokyo")),
        "object",
    ],
    "duration": ["timedelta64[ns]", "timedelta64[s]", "duration[us][pyarrow]", "object"],
    "decimal": [pd.ArrowDtype(pa.decimal128(10, 2))],
}  # fmt: skip
PANDAS_WITHOUT_MISSING = {
    "integer": ["int64", "int8", "uint64", "int32", "uint8"],
    "boolean": ["bool"],
}
POLARS = {
    "float": [pl.Float64, pl.Float32],
    "integer": [pl.Int64, pl.Int8, pl.UInt64, pl.UInt8, pl.Int128],
    "boolean": [pl.Boolean],
    "categorical": [pl.String, pl.Categorical, pl.Enum(LEVELS)],
    "date": [pl.Date],
    "datetime": [pl.Datetime("ns"), pl.Datetime("us"), pl.Datetime("ms"), pl.Datetime("us", "Europe/Paris")],
    "duration": [pl.Duration("ns"), pl.Duration("us"), pl.Duration("ms")],
    "decimal": [pl.Decimal(10, 2)],
}
ARROW = {
    "float": [pa.float64(), pa.float32(), pa.float16()],
    "integer": [pa.int64(), pa.int8(), pa.uint64()],
    "boolean": [pa.bool_()],
    "categorical": [
        pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int32(), pa.large_string(), ordered=True),
    ],
    "date": [pa.date32(), pa.date64()],
    "datetime": [*(pa.timestamp(u) for u in ("s", "ms", "us", "ns")), pa.timestamp("us", "Europe/Paris")],
    "duration": [pa.duration(u) for u in ("s", "ms", "us", "ns")],
    "decimal": [pa.decimal128(10, 2)],
}  # fmt: skip


def sample(kind: str, missing: bool) -> list:
    values = SAMPLES[kind]
    return list(values) if missing else [values[0] if v is None else v for v in values]


def polars_column(values: list, dtype) -> pl.Series:
    if getattr(dtype, "time_zone", None):
        return pl.Series("x", values).dt.replace_time_zone("UTC").dt.convert_time_zone(dtype.time_zone)
    return pl.Series("x", values, dtype=dtype)


def arrow_column(values: list, kind) -> pa.ChunkedArray:
    def one(part: list) -> pa.Array:
        if not pa.types.is_dictionary(kind):
            return pa.array(part, type=kind)
        return pa.array(part, type=kind.value_type).dictionary_encode().cast(kind)

    # Chunks are encoded apart, so that the chunks of a dictionary column number their levels differently.
    return pa.chunked_array([one(values[3:]), one(values[:3])])


def every_column():
    for missing in (False, True):
        word = "missing" if missing else "complete"
        for kind, dtypes in PANDAS.items():
            for dtype in [*dtypes, *([] if missing else PANDAS_WITHOUT_MISSING.get(kind, []))]:
                column = pd.Series(sample(kind, missing), dtype=dtype)
                frame = pd.DataFrame({"x": column, "other": range(5)})
                yield pytest.param(kind, missing, frame, id=f"pandas-{kind}-{dtype}-{word}")
        for kind, dtypes in POLARS.items():
            for dtype in dtypes:
                frame = pl.DataFrame(
                    [polars_column(sample(kind, missing), dtype), pl.Series("other", range(5))]
                )
                yield pytest.param(kind, missing, frame, id=f"polars-{kind}-{dtype}-{word}")
        for kind, dtypes in ARROW.items():
            for dtype in dtypes:
                frame = pa.table({"x": arrow_column(sample(kind, missing), dtype), "other": range(5)})
                yield pytest.param(kind, missing, frame, id=f"arrow-{kind}-{dtype}-{word}")


def dtype_of(frame, name="x"):
    return frame.schema.field(name).type if isinstance(frame, pa.Table) else frame[name].dtype


def plain(values, missing=None) -> list:
    gone = [is_missing_value(v) for v in values] if missing is None else missing
    return [None if g else v for v, g in zip(values, gone)]


def same_frame(a, b) -> bool:
    return a.equals(b)


def deep(frame):
    return frame.copy(deep=True) if isinstance(frame, pd.DataFrame) else copy.deepcopy(frame)


@pytest.mark.parametrize(("kind", "missing", "frame"), list(every_column()))
def test_replacing_a_column_keeps_its_dtype_and_says_what_was_asked(kind, missing, frame):
    before = deep(frame)
    table = table_of(frame)
    column = table.column("x")
    assert column.kind == ("float" if kind == "decimal" else kind)
    assert column.any_missing == missing

    grid = grid_points(None, column, 1).values
    assert is_missing_value(grid[-1]) == missing
    crossed = table.crossed({"x": grid})

    assert crossed.n_rows == 5 * len(grid)
    assert dtype_of(crossed.native) == dtype_of(frame)
    written = crossed.column("x")
    assert plain(written.values, written.missing) == plain(np.repeat(grid, 5))
    assert crossed.column("other").values.tolist() == list(range(5)) * len(grid)
    assert same_frame(frame, before)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("missing", [False, True])
def test_the_values_read_are_the_values_put_in(library, missing):
    for kind in ("float", "integer", "boolean", "categorical", "date", "datetime", "duration"):
        values = sample(kind, missing)
        if library == "pandas":
            dtype = {"integer": "Int64", "boolean": "boolean", "date": "object"}.get(kind)
            frame = pd.DataFrame({"x": pd.Series(values, dtype=dtype)})
        else:
            frame = (pl.DataFrame if library == "polars" else pa.table)({"x": values})
        column = table_of(frame).column("x")
        read = [
            None if m else (v.item() if isinstance(v, np.generic) else v)
            for v, m in zip(column.values, column.missing)
        ]
        if column.dtype.kind in "mM":
            read = plain(column.values.astype(f"{column.dtype.kind}8[us]").tolist())
            values = [dt.datetime.combine(v, dt.time()) if type(v) is dt.date else v for v in values]
        assert read == values, kind


# --- missing values --------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", [None, np.nan, pd.NA])
def test_an_object_column_keeps_its_own_missing_value(blank):
    values = object_array(["a", blank, "b", "a"])
    for data, cells in [
        (pd.DataFrame({"x": values}, dtype=object), lambda t: t.native["x"]),
        (values.reshape(-1, 1), lambda t: t.native[:, 0]),
    ]:
        table = table_of(data)
        name = table.names[0]
        # Also in a block of rows without a missing value of its own.
        for part in (table, table.slice(2, 4), table.take(np.array([0, 0])), table.select([name])):
            last = list(cells(part.crossed({name: object_array(["a", None])})))[-1]
            assert type(last) is type(blank)


def test_nulls_stay_nulls_and_nan_stays_nan():
    null = pl.DataFrame({"x": [1.0, None, 3.0]})
    nan = pl.DataFrame({"x": [1.0, np.nan, 3.0]})
    grid = np.array([1.0, np.nan])
    assert table_of(null).slice(0, 1).crossed({"x": grid}).native["x"].to_list() == [1.0, None]
    written = table_of(nan).slice(0, 1).crossed({"x": grid}).native["x"]
    assert written.null_count() == 0
    assert np.isnan(written[1])
    arrow = table_of(null.to_arrow()).crossed({"x": grid}).native["x"]
    assert arrow.null_count == 3
    assert table_of(nan.to_arrow()).crossed({"x": grid}).native["x"].null_count == 0


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": [np.nan] * 3}),
        pd.DataFrame({"x": pd.Series([None] * 3, dtype=object)}),
        pd.DataFrame({"x": pd.Series([None] * 3, dtype="Int64")}),
        pd.DataFrame({"x": pd.Series([None] * 3, dtype="category")}),
        pd.DataFrame({"x": pd.Series([None] * 3, dtype=pd.ArrowDtype(pa.null()))}),
        pl.DataFrame({"x": [None] * 3}),
        pl.DataFrame({"x": pl.Series([None] * 3, dtype=pl.Categorical)}),
        pl.DataFrame({"x": pl.Series([None] * 3, dtype=pl.Date)}),
        pa.table({"x": pa.nulls(3)}),
        pa.table({"x": pa.nulls(3, pa.dictionary(pa.int8(), pa.string()))}),
        np.full((3, 1), np.nan),
        np.full((3, 1), None, dtype=object),
    ],
    ids=str,
)
def test_a_column_of_nothing_but_missing_values(frame):
    table = table_of(frame)
    name = table.names[0]
    column = table.column(name)
    assert column.missing.all()
    grid = grid_points(None, column, 1).values
    assert len(grid) == 1
    assert is_missing_value(grid[0])
    assert table.crossed({name: grid}).column(name).missing.all()


def test_shown_marks_what_is_missing():
    frame = pd.DataFrame({
        "i": pd.Series([1, None, 3], dtype="Int64"),
        "b": pd.Series([True, None, False], dtype="boolean"),
        "s": ["a", None, "b"],
        "t": pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
        "f": [1.0, None, 3.0],
    })  # fmt: skip
    table = table_of(frame)
    rows = np.array([2, 1])
    assert np.array_equal(table.column("i").shown(rows), [3.0, np.nan], equal_nan=True)
    assert table.column("b").shown(rows).tolist() == [False, None]
    assert table.column("s").shown(rows).tolist() == ["b", None]
    assert np.isnat(table.column("t").shown(rows)).tolist() == [False, True]
    assert np.isnan(table.column("f").shown()).tolist() == [False, True, False]
    assert table.column("i").shown(np.array([0, 2])).dtype == np.int64


# --- whole numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda v: pd.DataFrame({"x": v}), lambda v: pd.DataFrame({"x": v.astype(object)}),
    lambda v: pl.DataFrame({"x": v}), lambda v: pa.table({"x": v}), lambda v: v.reshape(-1, 1),
    lambda v: pd.DataFrame({"x": pd.array(v, dtype=str(v.dtype).replace("u", "U").replace("i", "I"))}),
])  # fmt: skip
@pytest.mark.parametrize(
    "values",
    [np.array([2**60 + 1, 2**60 + 3, -5]), np.array([2**64 - 1, 2**63, 7], dtype=np.uint64)],
    ids=["int64", "uint64"],
)
def test_integers_beyond_the_floats_are_exact(make, values):
    table = table_of(make(values))
    name = table.names[0]
    assert table.column(name).values.tolist() == values.tolist()
    grid = grid_points(None, table.column(name), 1).values
    assert grid.tolist() == sorted(values.tolist())
    assert table.crossed({name: grid}).column(name).values.tolist() == np.repeat(grid, 3).tolist()
    given = grid_points([int(values[0]) - 2], table.column(name), 1).values
    assert given.tolist() == [int(values[0]) - 2]


@pytest.mark.parametrize(
    "library", ["pandas", "nullable", "arrow dtype", "polars", "pyarrow", "numpy", "sparse"]
)
def test_only_fractions_the_user_gives_turn_integers_to_floats(library):
    values = np.array([1, 2, 3, 4])
    data = {
        "pandas": lambda: pd.DataFrame({"x": values}),
        "nullable": lambda: pd.DataFrame({"x": pd.array(values, dtype="Int64")}),
        "arrow dtype": lambda: pd.DataFrame({"x": pd.array(values, dtype="int64[pyarrow]")}),
        "polars": lambda: pl.DataFrame({"x": values}),
        "pyarrow": lambda: pa.table({"x": values}),
        "numpy": lambda: values.reshape(-1, 1),
        "sparse": lambda: sparse.csr_matrix(values.reshape(-1, 1)),
    }[library]()
    table = table_of(data)
    name = table.names[0]
    column = table.column(name)
    whole = grid_points([1.0, 3.0], column, 1).values
    assert whole.dtype.kind == "i"
    assert table.crossed({name: whole}).column(name).kind == "integer"
    fractions = grid_points([1.5, 3.0], column, 1).values
    written = table.crossed({name: fractions}).column(name)
    assert written.kind == "float"
    assert written.values.tolist() == [1.5] * 4 + [3.0] * 4


def test_a_missing_value_given_for_integers_without_one():
    for data in (np.array([[1, 10], [2, 20]]), pd.DataFrame({0: [1, 2], 1: [10, 20]})):
        table = table_of(data)
        grid = grid_points([2, None], table.column(0), 1).values
        crossed = table.crossed({0: grid})
        assert crossed.column(0).missing.tolist() == [False, False, True, True]
        assert crossed.column(0).values[:2].tolist() == [2.0, 2.0]
        assert crossed.column(1).values.tolist() == [10, 20, 10, 20]
    table = table_of(pl.DataFrame({"x": [1, 2]}))
    grid = grid_points([2, None], table.column("x"), 1).values
    assert table.crossed({"x": grid}).native["x"].to_list() == [2, 2, None, None]


def test_decimals_keep_their_scale_unless_the_user_gives_finer_values():
    values = [Decimal("0.10"), *(Decimal(i) / 100 for i in range(11, 200))]
    for frame in (
        pl.DataFrame({"x": pl.Series(values, dtype=pl.Decimal(10, 2))}),
        pa.table({"x": pa.array(values, pa.decimal128(10, 2))}),
        pd.DataFrame({"x": pd.Series(values, dtype=pd.ArrowDtype(pa.decimal128(10, 2)))}),
    ):
        table = table_of(frame)
        grid = grid_points(7, table.column("x"), 1).values
        assert np.array_equal(grid, np.round(grid, 2))
        crossed = table.crossed({"x": grid})
        assert dtype_of(crossed.native) == dtype_of(frame)
        assert np.array_equal(crossed.column("x").values, np.repeat(grid, len(values)))
        finer = table.crossed({"x": np.array([0.125])})
        assert finer.column("x").values[0] == 0.125


# --- categories ------------------------------------------------------------------------------------


def test_levels_that_no_row_has_survive_and_come_in_level_order():
    for frame in (
        pd.DataFrame({"x": pd.Categorical(["b", "a", "b"], ["z", "b", "a"])}),
        pl.DataFrame({"x": pl.Series(["b", "a", "b"], dtype=pl.Enum(["z", "b", "a"]))}),
        pa.table({"x": pa.DictionaryArray.from_arrays([1, 2, 1], ["z", "b", "a"])}),
    ):
        table = table_of(frame)
        column = table.column("x")
        assert column.levels.tolist() == ["z", "b", "a"]
        assert column.codes.tolist() == [1, 2, 1]
        grid = grid_points(None, column, 1).values
        assert grid.tolist() == ["b", "a"]
        again = table.crossed({"x": grid[:1]}).column("x")
        assert again.levels.tolist() == ["z", "b", "a"]
        assert again.codes.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "levels",
    [[3, 1, 2], [0.5, 1.5], [True, False], list(pd.date_range("2020", periods=2)), list(pd.interval_range(0, 3)),
     [("a", 1), ("b", 2)], [1, "one"]],
    ids=str,
)  # fmt: skip
def test_pandas_categories_of_any_type(levels):
    index = pd.Index(levels, tupleize_cols=False)
    column = pd.Series(pd.Categorical.from_codes([0, 1, 0, -1], index))
    table = table_of(pd.DataFrame({"x": column}))
    grid = grid_points(None, table.column("x"), 1).values
    assert len(grid) == 3
    crossed = table.crossed({"x": grid})
    assert crossed.native["x"].dtype == column.dtype
    assert crossed.native["x"].cat.codes.tolist() == [0] * 4 + [1] * 4 + [-1] * 4


def test_polars_categories_do_not_depend_on_what_the_process_saw_before():
    pl.Series(["zebra", "b", "quagga"], dtype=pl.Categorical)
    column = table_of(pl.DataFrame({"x": pl.Series(["b", "zebra", "a"], dtype=pl.Categorical)})).column("x")
    assert column.levels.tolist() == ["a", "b", "zebra"]
    assert column.codes.tolist() == [1, 2, 0]


# --- times -----------------------------------------------------------------------------------------


def test_zoned_times_are_the_same_clock_times_in_every_library():
    moments = [dt.datetime(2020, 1, 1, 3, tzinfo=dt.UTC), dt.datetime(2020, 7, 1, 3, tzinfo=dt.UTC)]
    frames = [
        pd.DataFrame({"x": pd.Series(moments).dt.tz_convert("America/New_York")}),
        pd.DataFrame({"x": pd.Series(moments, dtype=pd.ArrowDtype(pa.timestamp("us", "America/New_York")))}),
        pl.DataFrame({"x": pl.Series(moments).dt.convert_time_zone("America/New_York")}),
        pa.table({"x": pa.array(moments, pa.timestamp("us", "America/New_York"))}),
    ]
    for frame in frames:
        table = table_of(frame)
        assert table.column("x").values.astype("datetime64[h]").astype(str).tolist() == [
            "2019-12-31T22",
            "2020-06-30T23",
        ]
        time = dt.datetime(2020, 3, 1, 6, tzinfo=dt.timezone(dt.timedelta(hours=1)))
        given = grid_points([time], table.column("x"), 1).values
        crossed = table.crossed({"x": given})
        assert str(crossed.column("x").values[0].astype("datetime64[h]")) == "2020-03-01T00"


def test_times_far_from_now_do_not_wrap_around():
    frame = pd.DataFrame({"x": pd.Series(["0900-01-01", "5000-01-01"], dtype="datetime64[s]")})
    zoned = pd.DataFrame({"x": frame["x"].dt.tz_localize("UTC").dt.tz_convert("Europe/Paris")})
    for table in (table_of(frame), table_of(zoned)):
        grid = grid_points(None, table.column("x"), 1).values
        assert table.crossed({"x": grid}).column("x").values.astype("datetime64[Y]").astype(str).tolist() == (
            ["0900", "0900", "5000", "5000"]
        )


def test_times_in_a_matrix_of_objects_are_times():
    frame = pd.DataFrame(
        {"t": pd.to_datetime(["2020-01-01", None]).astype("datetime64[ns]"), "s": ["a", "b"]}
    )
    matrix = table_of(frame).to_numpy()
    assert matrix[0, 0] == np.datetime64("2020-01-01")
    assert matrix[1, 0] is None


# --- arrays ----------------------------------------------------------------------------------------


def awkward_arrays():
    base = np.arange(24.0).reshape(6, 4)
    read_only = base.copy()
    read_only.flags.writeable = False
    yield "fortran", np.asfortranarray(base)
    yield "strided", np.repeat(base, 2, axis=0)[::2]
    yield "reversed", base[::-1]
    yield "read only", read_only
    yield "float32", base.astype(np.float32)
    yield "big endian", base.astype(">f8")
    yield "integers", base.astype(np.int16)
    yield "matrix", base.view(np.matrix)
    yield "objects", base.astype(object)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize(
    ("label", "array"), list(awkward_arrays()), ids=lambda v: v if isinstance(v, str) else ""
)
def test_arrays_of_any_layout(label, array):
    before = copy.deepcopy(array)
    table = table_of(array)
    assert table.names == (0, 1, 2, 3)
    crossed = table.crossed({1: np.array([100, 101], dtype=table.column(1).dtype)})
    assert crossed.native.dtype == array.dtype.newbyteorder("=")  # models take the machine's own order
    assert crossed.native.flags.c_contiguous
    expected = np.concatenate([np.asarray(array)] * 2)
    expected[:6, 1], expected[6:, 1] = 100, 101
    assert np.array_equal(crossed.native, expected)
    assert np.array_equal(array, before)


def test_text_is_never_cut_to_the_width_of_an_array():
    table = table_of(np.array([["a", "b"], ["c", "d"]]))
    crossed = table.crossed({0: object_array(["much longer"])})
    assert crossed.native[0].tolist() == ["much longer", "b"]
    assert crossed.native.dtype.kind == "U"


def test_boolean_and_complex_arrays():
    assert table_of(np.array([[True], [False]])).column(0).kind == "boolean"
    with pytest.raises(InputTypeError, match="complex"):
        grid_points(None, table_of(np.array([[1j], [2j]])).column(0), 1)


def test_structured_arrays_keep_each_columns_type():
    data = np.array(
        [(1, 0.5, True, b"x"), (2, 1.5, False, b"y")],
        dtype=[("i", "i4"), ("f", "f8"), ("b", "?"), ("s", "S1")],
    )
    table = table_of(data)
    assert table.names == ("i", "f", "b", "s")
    assert [table.column(n).kind for n in table.names] == ["integer", "float", "boolean", "categorical"]


def test_a_record_batch_is_a_table():
    table = table_of(pa.RecordBatch.from_pydict({"x": [1, 2]}))
    assert table.library == "pyarrow"
    assert table.column("x").values.tolist() == [1, 2]


def test_rows_as_lists():
    table = table_of([[1, "a"], [2, "b"]])
    assert [table.column(i).kind for i in (0, 1)] == ["integer", "categorical"]
    assert table_of([[1.0, 2.0], [3.0, 4.0]]).column(1).values.tolist() == [2.0, 4.0]


def test_sparse_matrices():
    dense = np.array([[0.0, 1.0, 0.0], [2.0, np.nan, 3.0], [0.0, 0.0, 4.0]])
    for build in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.coo_array):
        matrix = build(dense)
        table = table_of(matrix)
        assert isinstance(table, SparseTable)
        assert table.column(1).missing.tolist() == [False, True, False]
        crossed = table.crossed({1: np.array([0.0, 7.0, np.nan]), 0: np.array([5.0, 0.0, 6.0])})
        expected = np.concatenate([dense] * 3)
        expected[:, 1] = np.repeat([0.0, 7.0, np.nan], 3)
        expected[:, 0] = np.repeat([5.0, 0.0, 6.0], 3)
        assert np.array_equal(crossed.native.toarray(), expected, equal_nan=True)
        assert isinstance(crossed.native, sparse.sparray) == isinstance(matrix, sparse.sparray)
        assert np.array_equal(matrix.toarray(), dense, equal_nan=True)
        part = table.select([2, 1])
        assert part.names == (2, 1)
        assert np.array_equal(part.crossed({2: np.array([9.0])}).native.toarray()[:, 0], [9.0] * 3)


# --- labels, indices and shapes --------------------------------------------------------------------


def test_labels_of_any_kind():
    frame = pd.DataFrame(
        [[1.0, 2.0, 3.0, 4.0]] * 2,
        columns=pd.Index([7, "", ("a", 1), 0.5], dtype=object, tupleize_cols=False),
    )
    table = table_of(frame)
    assert table.names == (7, "", ("a", 1), 0.5)
    crossed = table.crossed({"": np.array([9.0]), 7: np.array([8.0])})
    assert crossed.to_numpy().tolist() == [[8.0, 9.0, 3.0, 4.0]] * 2
    layered = pd.DataFrame([[1.0, 2.0]] * 2, columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    crossed = table_of(layered).crossed({("a", "y"): np.array([9.0])})
    assert crossed.native[("a", "y")].tolist() == [9.0, 9.0]
    assert crossed.native.columns.equals(layered.columns)


def test_two_columns_of_one_name_are_refused():
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    arrow = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    for data in (frame, arrow):
        with pytest.raises(InputError, match="same name"):
            table_of(data)


@pytest.mark.parametrize(
    "index", [[5, 5, 5], pd.MultiIndex.from_tuples([(1, 1), (1, 1), (2, 1)]), ["a", None, "a"]], ids=str
)
def test_row_labels_do_not_matter(index):
    frame = pd.DataFrame({"x": ["a", "b", "c"], "y": [1, 2, 3]}, index=index)
    crossed = table_of(frame).crossed({"x": object_array(["p", "q"])})
    assert crossed.native["x"].tolist() == ["p"] * 3 + ["q"] * 3
    assert crossed.native["y"].tolist() == [1, 2, 3] * 2
    assert table_of(frame).slice(1, 3).native["y"].tolist() == [2, 3]
    assert table_of(frame).take(np.array([2, 0, 2])).native["y"].tolist() == [3, 1, 3]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numpy", "sparse"])
def test_one_row_one_column_and_none(library):
    def build(values: np.ndarray):
        if library == "numpy":
            return values
        if library == "sparse":
            return sparse.csr_matrix(values)
        columns = {str(i): values[:, i] for i in range(values.shape[1])}
        return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library](columns)

    one = table_of(build(np.array([[3.0]])))
    name = one.names[0]
    assert one.crossed({name: np.array([1.0, 2.0])}).column(name).values.tolist() == [1.0, 2.0]
    empty = table_of(build(np.empty((0, 2))))
    assert empty.n_rows == 0
    assert len(empty.names) == 2
    assert empty.crossed({empty.names[0]: np.array([1.0, 2.0])}).n_rows == 0
    assert empty.column(empty.names[0]).kind == "float"


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (np.zeros(3), InputError, "two dimensions"),
        (np.zeros((2, 2, 2)), InputError, "two dimensions"),
        (np.ma.masked_array([[1.0, 2.0]], mask=[[0, 1]]), InputTypeError, "filled"),
        ([[1, 2], [3]], InputError, "equal length"),
        (pl.DataFrame({"a": [1]}).lazy(), InputTypeError, "collect"),
        (pd.Series([1, 2]), InputTypeError, "single column"),
        ({"a": [1]}, InputTypeError, "pandas.DataFrame"),
        (5, InputTypeError, "table of rows"),
        (None, InputTypeError, "table of rows"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_what_is_no_table_is_refused(data, error, words):
    with pytest.raises(error, match=words):
        table_of(data)


def test_an_unknown_column_is_an_error_that_names_close_ones():
    with pytest.raises(InputError, match="did you mean 'age'"):
        table_of(pd.DataFrame({"age": [1]})).column("agee")


# --- moving between libraries ----------------------------------------------------------------------


def test_conversions_keep_values():
    frame = pd.DataFrame({"i": [1, 2], "f": [0.5, np.nan], "s": ["a", "b"], "c": pd.Categorical(["u", "v"])})
    table = table_of(frame)
    for library in ("polars", "pyarrow", "pandas", "numpy"):
        other = table.to(library)
        assert other.library == library
        assert other.names == table.names
        assert other.column("s").values.tolist() == ["a", "b"]
        assert other.column("i").values.tolist() == [1, 2]
        assert other.column("f").missing.tolist() == [False, True]
    array = ArrayTable(np.array([[1, "a"], [2, None]], dtype=object), ["n", "s"])
    for library in ("polars", "pyarrow", "pandas"):
        assert array.to(library).column("n").kind == "integer"
        assert array.to(library).column("s").missing.tolist() == [False, True]


def test_a_model_that_writes_into_its_rows_cannot_reach_the_callers_array():
    array = np.zeros((2, 2))
    converted = table_of(array).to("pandas").native
    converted.iloc[0, 0] = 5.0
    assert array.sum() == 0.0


def test_to_numpy_widens_only_as_far_as_needed():
    assert (
        table_of(pd.DataFrame({"a": np.zeros(2, np.float32), "b": np.zeros(2, np.float32)})).to_numpy().dtype
        == np.float32
    )
    assert table_of(pd.DataFrame({"a": [1, 2], "b": [True, False]})).to_numpy().dtype == np.int64
    nullable = table_of(pd.DataFrame({"a": pd.array([1, None], dtype="Int64")})).to_numpy()
    assert np.array_equal(nullable, [[1.0], [np.nan]], equal_nan=True)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numpy"])
def test_a_made_frame_keeps_whole_numbers_and_times(library):
    columns = {
        "i": object_array([2**60 + 1, None]),
        "b": object_array([True, None]),
        "s": object_array(["a", None]),
        "d": np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"),
        "h": np.array(["2020-01-01T05", "NaT"], dtype="datetime64[h]"),
        "w": np.array([2, 3], dtype="timedelta64[W]"),
        "x": np.array([1.5, np.nan]),
    }
    table = table_of(frame_of(columns, library))
    assert isinstance(table, FrameTable)
    assert table.library == ("pandas" if library == "numpy" else library)
    assert table.column("i").values[0] == 2**60 + 1
    assert [table.column(n).kind for n in "ibs"] == ["integer", "boolean", "categorical"]
    assert table.column("d").values[0] == np.datetime64("2020-01-01")
    assert table.column("h").values[0] == np.datetime64("2020-01-01T05")
    assert table.column("w").values[0] == np.timedelta64(14, "D")
    for name in "ibsdhx":
        assert table.column(name).missing.tolist() == [False, True]


def test_objects_are_read_by_what_they_hold():
    kinds = {
        "integer": [1, None, np.int32(3)],
        "float": [1, 2.5, None],
        "boolean": [True, None, np.False_],
        "categorical": [1, "one", None],
        "other": [[1], [2], None],
    }
    for kind, values in kinds.items():
        assert column_of_array("x", object_array(values)).kind == kind
    assert column_of_array("x", object_array([Decimal("1.5"), None])).kind == "float"
    assert column_of_array("x", object_array([2**70, 1])).kind == "float"
    zoned = object_array([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)])
    assert column_of_array("x", zoned).kind == "other"


def test_tables_sent_to_another_process_write_alike():
    for frame in (
        pd.DataFrame({"x": [1.0, np.nan], "s": pd.Series(["a", "b"], dtype=object)}),
        pl.DataFrame({"x": [1.0, np.nan], "s": ["a", "b"]}),
        np.array([[1.0, "a"], [2.0, "b"]], dtype=object),
    ):
        table = table_of(frame)
        again = pickle.loads(pickle.dumps(table))
        points = {table.names[0]: np.array([np.nan]), table.names[1]: object_array(["b"])}
        one, other = table.crossed(points).to_numpy(), again.crossed(points).to_numpy()
        assert [[type(v) for v in row] for row in one] == [[type(v) for v in row] for row in other]
        assert one[:, 1].tolist() == other[:, 1].tolist() == ["b", "b"]


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array])
def test_columns_of_a_donor_go_where_their_names_are(make):
    matrix = table_of(make(np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 5.0]]))).select([2, 1])
    moved = matrix.with_columns_of([2], matrix.select([2]).take(np.array([1, 0])))
    assert moved.names == (2, 1)
    np.testing.assert_array_equal(moved.to_numpy(), [[5.0, 1.0], [2.0, 0.0]])


@pytest.mark.parametrize(
    "kind", ["rows", "columns", "slices", "integers", "booleans", "text", "frame", "sparse"]
)
@pytest.mark.parametrize("names", [range(150), [140, 3, 70], [5], [149, 0]])
def test_columns_of_some_rows_are_parts_of_whole_columns(kind, names):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 150)).round(1)
    X[::5, 3] = np.nan
    made = {
        "rows": lambda: X,
        "columns": lambda: np.asfortranarray(X),
        "slices": lambda: np.repeat(X, 2, axis=1)[::-1, ::2],
        "integers": lambda: rng.integers(0, 5, X.shape),
        "booleans": lambda: X > 0,
        "text": lambda: np.char.add("v", np.nan_to_num(X).astype(int).astype(str)),
        "frame": lambda: pytest.importorskip("pandas").DataFrame(X, columns=range(150)),
        "sparse": lambda: pytest.importorskip("scipy.sparse").csr_matrix(np.nan_to_num(X)),
    }
    table = table_of(made[kind]())
    at = np.array([3, 50, 3, 0, 59])
    found = dict(columns_at(table, list(names), at))
    assert list(found) == list(names)
    for name, part in found.items():
        whole = table.column(name)
        assert (part.kind, part.name) == (whole.kind, name)
        np.testing.assert_array_equal(part.values, whole.values[at])
        np.testing.assert_array_equal(part.missing, whole.missing[at])
        if whole.kind == "categorical":
            np.testing.assert_array_equal(part.levels[part.codes], whole.levels[whole.codes[at]])


def test_many_moved_columns_are_those_moved_one_by_one(monkeypatch):
    class Named(pd.DataFrame):
        @property
        def _constructor(self):
            return Named

    rng = np.random.default_rng(0)
    frame = Named(
        {
            "float": rng.normal(size=4), "single": rng.normal(size=4).astype(np.float32), "whole": pd.array([1, None, 3, 4], "Int64"),
            "flag": [True, False, True, True], "text": ["a", "b", "c", "d"], "mixed": pd.Series(["a", 1, None, 2.5], dtype=object, index=list("pqrs")).array,
            "level": pd.Categorical(["u", None, "v", "u"]), "time": pd.date_range("2024-01-01", periods=4, tz="Europe/Berlin"),
            "arrow": pd.array([1.5, None, 2.5, 3.5], "float64[pyarrow]"), "left": [1, 2, 3, 4],
        },
        index=list("pqrs"),
    )  # fmt: skip
    frame.attrs["from"] = "here"
    table = table_of(frame)
    points = {name: table.column(name).shown()[[2, 0, 3]] for name in table.names if name != "left"}
    found = {}
    for many in (1, 100):
        monkeypatch.setattr(frame_table, "MANY_COLUMNS", many)
        found[many] = table.crossed(points).native
    pd.testing.assert_frame_equal(found[1], found[100])
    assert type(found[1]) is type(found[100]) is Named
    assert found[1].attrs == {"from": "here"}
