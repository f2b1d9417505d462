"""The zoo: columns and arrays of every type pandas, polars, pyarrow and numpy have, and of some nobody expects.

A `Specimen` is a table of an odd first feature ``x`` and a plain second one ``z``, with the values of ``x`` as plain Python
has them. It is either answered rightly on every effect or refused with the library's own error, as it says here.
"""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sparse

from icefield.data.zones import zone_info

N = 24
Z = np.linspace(-1.0, 1.0, N).round(3)

FLOATS = [1.5, -2.0, 0.25, 4.0, 1.5, 3.5, -0.5, 2.0] * 3
WHOLE = [3, 1, 4, 1, 5, 9, 2, 6] * 3
FLAGS = [True, False, False, True, True, False, True, False] * 3
TEXTS = ["red", "green", "blue", "red", "grey", "green", "red", "blue"] * 3
MOMENTS = [dt.datetime(2020, 1, 1 + 3 * i, 5 * i, 30) for i in (0, 2, 1, 4, 3, 2, 0, 4)] * 3
DAYS = [moment.date() for moment in MOMENTS]
SPANS = [dt.timedelta(hours=5 * i, minutes=7) for i in (0, 2, 1, 4, 3, 2, 0, 4)] * 3
PRICES = [
    decimal.Decimal(text) for text in ("1.25", "3.50", "0.75", "2.00", "1.25", "9.99", "3.50", "0.75")
] * 3
BYTES = [text.encode() for text in TEXTS]
CLOCKS = [moment.time() for moment in MOMENTS]


def holey(values: Sequence[Any]) -> list[Any]:
    """Every fifth value is missing."""
    return [None if i % 5 == 3 else value for i, value in enumerate(values)]


@dataclass(frozen=True)
class Specimen:
    """One odd table.

    Attributes
    ----------
    name : what is odd about it
    make : the table, made anew each time
    values : what ``x`` holds, as plain Python values; None where missing
    refused : whether it must be refused, with one of the library's own errors
    """

    name: str
    make: Callable[[], Any]
    values: Sequence[Any]
    refused: bool = False


def of_pandas(column: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: pd.DataFrame({"x": column(), "z": Z})


def of_polars(column: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: pl.DataFrame({"x": column(), "z": Z})


def of_arrow(column: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: pa.table({"x": column(), "z": Z})


def arrow_in_pandas(column: Callable[[], Any]) -> Callable[[], Any]:
    def made() -> Any:
        array = column()
        chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
        return pd.DataFrame({"x": pd.Series(pd.arrays.ArrowExtensionArray(chunked)), "z": Z})

    return made


def two_columns(values: Sequence[Any], dtype: Any) -> np.ndarray:
    return np.column_stack([np.array(values, dtype=dtype), np.array(Z).astype(dtype)])


def read_only() -> np.ndarray:
    array = two_columns(FLOATS, np.float64)
    array.setflags(write=False)
    return array


def strided() -> np.ndarray:
    wide = np.full((2 * N, 6), np.nan)
    wide[::2, ::3] = two_columns(FLOATS, np.float64)
    return wide[::2, ::3]


def backwards() -> np.ndarray:
    return two_columns(FLOATS, np.float64)[::-1].copy()[::-1]


def structured(x_type: Any, values: Sequence[Any], shape: tuple[int, ...] = (N,)) -> np.ndarray:
    out = np.zeros(N, dtype=[("x", x_type), ("z", np.float64)])
    out["x"], out["z"] = values, Z
    return out.reshape(shape)


def matrix() -> Any:
    return two_columns(FLOATS, np.float64).view(np.matrix)  # which warns when made in any other way


def masked() -> np.ma.MaskedArray:
    return np.ma.masked_greater(two_columns(FLOATS, np.float64), 3.0)


def encoded(indices: Sequence[Any], levels: Any, ordered: bool = False, index: Any = None) -> Any:
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, type=index or pa.int32()), pa.array(levels), ordered=ordered
    )


REPEATED = ["red", "green", "red", "blue"]  # a level listed twice
WITH_NULL = ["red", None, "blue", "green"]
TURNS = [0, 1, 2, 3, 3, 2, 1, 0] * 3


def chosen(levels: Sequence[Any]) -> list[Any]:
    return [levels[i] for i in TURNS]


def chunks_of_two_dictionaries() -> Any:
    first = encoded(TURNS[:10], ["red", "green", "blue", "grey"])
    second = encoded(TURNS[10:], ["grey", "blue", "green", "red"])
    return pa.chunked_array([first, second])


IN_CHUNKS = [["red", "green", "blue", "grey"][i] for i in TURNS[:10]] + [
    ["grey", "blue", "green", "red"][i] for i in TURNS[10:]
]


class Tag(pa.ExtensionType):  # type: ignore[misc]
    """Somebody's own arrow type."""

    def __init__(self) -> None:
        super().__init__(pa.float64(), "zoo.tag")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: Any, serialized: bytes) -> Tag:
        return cls()


def zoned(unit: str, zone: str) -> Any:
    return pd.Series(MOMENTS).dt.as_unit(unit).dt.tz_localize("UTC").dt.tz_convert(zone)


IN_UTC = [moment.replace(tzinfo=dt.UTC) for moment in MOMENTS]


def in_zone(zone: str) -> list[dt.datetime]:
    return [moment.astimezone(zone_info(zone)) for moment in IN_UTC]


def pandas_zoo() -> list[Specimen]:
    found = [
        Specimen(f"pandas {dtype}", of_pandas(lambda d=dtype: pd.Series(WHOLE, dtype=d)), WHOLE)
        for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                      "float32", "float64", "Int8", "Int64", "UInt16", "UInt64", "Float32", "Float64")
    ]  # fmt: skip
    found += [
        Specimen(f"pandas {dtype} with gaps", of_pandas(lambda d=dtype: pd.Series(holey(WHOLE), dtype=d)), holey(WHOLE))
        for dtype in ("Int32", "UInt8", "Float64", "float32", "object", "int64[pyarrow]", "float[pyarrow]",
                      "Sparse[float64]", "category")
    ]  # fmt: skip
    found += [
        Specimen("pandas longdouble", of_pandas(lambda: np.array(FLOATS, dtype=np.longdouble)), FLOATS),
        Specimen("pandas bool", of_pandas(lambda: FLAGS), FLAGS),
        Specimen("pandas boolean with gaps", of_pandas(lambda: pd.array(holey(FLAGS), dtype="boolean")), holey(FLAGS)),
        Specimen("pandas bool[pyarrow]", of_pandas(lambda: pd.array(holey(FLAGS), dtype="bool[pyarrow]")), holey(FLAGS)),
        Specimen("pandas objects true and None", of_pandas(lambda: pd.Series(holey(FLAGS), dtype=object)), holey(FLAGS)),
        Specimen("pandas str", of_pandas(lambda: pd.Series(TEXTS, dtype="str")), TEXTS),
        Specimen("pandas str with gaps", of_pandas(lambda: pd.Series(holey(TEXTS), dtype="str")), holey(TEXTS)),
        Specimen("pandas string", of_pandas(lambda: pd.Series(holey(TEXTS), dtype="string")), holey(TEXTS)),
        Specimen("pandas string[pyarrow]", of_pandas(lambda: pd.Series(holey(TEXTS), dtype="string[pyarrow]")), holey(TEXTS)),
        Specimen("pandas objects of text", of_pandas(lambda: pd.Series(holey(TEXTS), dtype=object)), holey(TEXTS)),
        Specimen("pandas objects of text and NaN", of_pandas(
            lambda: pd.Series([np.nan if v is None else v for v in holey(TEXTS)], dtype=object)), holey(TEXTS)),
        Specimen("pandas objects of whole numbers and text", of_pandas(lambda: pd.Series([1, "a", 2, "1"] * 6, dtype=object)),
                 [1, "a", 2, "1"] * 6),
        Specimen("pandas category", of_pandas(lambda: pd.Categorical(TEXTS)), TEXTS),
        Specimen("pandas category with unused and missing levels", of_pandas(
            lambda: pd.Categorical(holey(TEXTS), categories=["red", "unused", "grey", "green", "blue"], ordered=True)),
            holey(TEXTS)),
        Specimen("pandas category of whole numbers", of_pandas(lambda: pd.Categorical(WHOLE)), WHOLE),
        Specimen("pandas category of times", of_pandas(lambda: pd.Categorical(pd.Series(MOMENTS))), MOMENTS),
        Specimen("pandas category of flags", of_pandas(lambda: pd.Categorical(FLAGS)), FLAGS),
        Specimen("pandas all missing", of_pandas(lambda: [np.nan] * N), [None] * N),
        Specimen("pandas all None", of_pandas(lambda: pd.Series([None] * N, dtype=object)), [None] * N),
        Specimen("pandas constant", of_pandas(lambda: [7.0] * N), [7.0] * N),
        Specimen("pandas infinite", of_pandas(lambda: [np.inf, *FLOATS[1:-1], -np.inf]), [np.inf, *FLOATS[1:-1], -np.inf]),
        Specimen("pandas huge whole numbers", of_pandas(lambda: [2**62 + v for v in WHOLE]), [2**62 + v for v in WHOLE]),
        Specimen("pandas whole numbers beyond 64 bits", of_pandas(lambda: pd.Series([2**70 * v for v in WHOLE], dtype=object)),
                 [2**70 * v for v in WHOLE]),
        Specimen("pandas decimals", of_pandas(lambda: pd.Series(PRICES, dtype=object)), PRICES),
        Specimen("pandas dates", of_pandas(lambda: pd.Series(DAYS, dtype=object)), DAYS),
        Specimen("pandas bytes", of_pandas(lambda: pd.Series(BYTES, dtype=object)), BYTES),
        Specimen("pandas tuples", of_pandas(lambda: pd.Series([(1, 2), (3, 4)] * 12, dtype=object)), [(1, 2), (3, 4)] * 12),
        Specimen("pandas lists", of_pandas(lambda: pd.Series([[1], [2]] * 12, dtype=object)), [[1], [2]] * 12, refused=True),
        Specimen("pandas complex", of_pandas(lambda: np.array(FLOATS) + 1j), FLOATS, refused=True),
        Specimen("pandas periods", of_pandas(lambda: pd.PeriodIndex(DAYS, freq="D")), list(pd.PeriodIndex(DAYS, freq="D"))),
        Specimen("pandas intervals", of_pandas(lambda: pd.arrays.IntervalArray.from_tuples([(v, v + 1) for v in WHOLE])),
                 [pd.Interval(v, v + 1) for v in WHOLE]),
        Specimen("pandas clock times", of_pandas(lambda: pd.Series(CLOCKS, dtype=object)), CLOCKS),
        Specimen("pandas big-endian floats", of_pandas(lambda: np.array(FLOATS, dtype=">f8")), FLOATS),
        Specimen("pandas big-endian whole numbers", of_pandas(lambda: np.array(WHOLE, dtype=">i4")), WHOLE),
        Specimen("pandas timedelta", of_pandas(lambda: pd.Series(SPANS)), SPANS),
        Specimen("pandas timedelta with gaps", of_pandas(lambda: pd.Series(holey(SPANS), dtype="timedelta64[s]")),
                 holey([dt.timedelta(seconds=int(s.total_seconds())) for s in SPANS])),
    ]  # fmt: skip
    found += [
        Specimen(f"pandas datetime64[{unit}]", of_pandas(lambda u=unit: pd.Series(holey(MOMENTS)).astype(f"datetime64[{u}]")),
                 holey(MOMENTS))
        for unit in ("s", "ms", "us", "ns")
    ]  # fmt: skip
    found += [
        Specimen(f"pandas {unit} in {zone}", of_pandas(lambda u=unit, z=zone: zoned(u, z)), in_zone(zone))
        for unit, zone in (("ns", "Europe/Berlin"), ("s", "Asia/Kolkata"), ("us", "UTC"), ("ms", "+05:30"))
    ]
    return found


def polars_zoo() -> list[Specimen]:
    found = [
        Specimen(f"polars {dtype}", of_polars(lambda d=dtype: pl.Series(WHOLE, dtype=d)), WHOLE)
        for dtype in (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64)
    ]  # fmt: skip
    found += [
        Specimen("polars Int128", of_polars(lambda: pl.Series(WHOLE, dtype=pl.Int128)), WHOLE),
        Specimen("polars whole numbers with gaps", of_polars(lambda: pl.Series(holey(WHOLE))), holey(WHOLE)),
        Specimen("polars floats with nulls", of_polars(lambda: pl.Series(holey(FLOATS))), holey(FLOATS)),
        Specimen("polars floats with NaN", of_polars(
            lambda: pl.Series([float("nan") if v is None else v for v in holey(FLOATS)])), holey(FLOATS)),
        Specimen("polars Boolean with gaps", of_polars(lambda: pl.Series(holey(FLAGS))), holey(FLAGS)),
        Specimen("polars String with gaps", of_polars(lambda: pl.Series(holey(TEXTS))), holey(TEXTS)),
        Specimen("polars Categorical with gaps", of_polars(lambda: pl.Series(holey(TEXTS), dtype=pl.Categorical)), holey(TEXTS)),
        Specimen("polars Categorical from a repeated dictionary", of_polars(
            lambda: pl.from_arrow(encoded(TURNS, REPEATED))), chosen(REPEATED)),
        Specimen("polars Categorical from a dictionary with a null", of_polars(
            lambda: pl.from_arrow(encoded(TURNS, WITH_NULL))), chosen(WITH_NULL)),
        Specimen("polars Enum", of_polars(
            lambda: pl.Series(holey(TEXTS), dtype=pl.Enum(["red", "unused", "grey", "green", "blue"]))), holey(TEXTS)),
        Specimen("polars Date", of_polars(lambda: pl.Series(holey(DAYS))), holey(DAYS)),
        Specimen("polars Datetime in ms", of_polars(lambda: pl.Series(holey(MOMENTS), dtype=pl.Datetime("ms"))), holey(MOMENTS)),
        Specimen("polars Datetime in ns", of_polars(lambda: pl.Series(holey(MOMENTS), dtype=pl.Datetime("ns"))), holey(MOMENTS)),
        Specimen("polars zoned Datetime", of_polars(
            lambda: pl.Series(MOMENTS).dt.replace_time_zone("UTC").dt.convert_time_zone("America/New_York")), in_zone("America/New_York")),
        Specimen("polars Duration", of_polars(lambda: pl.Series(holey(SPANS))), holey(SPANS)),
        Specimen("polars Decimal", of_polars(lambda: pl.Series(holey(PRICES), dtype=pl.Decimal(10, 2))), holey(PRICES)),
        Specimen("polars Null", of_polars(lambda: pl.Series([None] * N)), [None] * N),
        Specimen("polars Binary", of_polars(lambda: pl.Series(BYTES)), BYTES),
        Specimen("polars Time", of_polars(lambda: pl.Series(holey(CLOCKS))), holey(CLOCKS)),
        Specimen("polars List", of_polars(lambda: pl.Series([[1], [2]] * 12)), WHOLE, refused=True),
        Specimen("polars Array", of_polars(lambda: pl.Series([[1, 2]] * N, dtype=pl.Array(pl.Int64, 2))), WHOLE, refused=True),
        Specimen("polars Struct", of_polars(lambda: pl.Series([{"a": 1}] * N)), WHOLE, refused=True),
        Specimen("polars Object", of_polars(lambda: pl.Series([1, "a", 2, "1"] * 6, dtype=pl.Object)), [1, "a", 2, "1"] * 6),
    ]  # fmt: skip
    return found


def arrow_zoo() -> list[Specimen]:
    types = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(),
             pa.float16(), pa.float32(), pa.float64()]  # fmt: skip
    found = [
        Specimen(f"arrow {kind}", of_arrow(lambda k=kind: pa.array(np.array(holey(WHOLE), dtype=object), type=k)
                 if not pa.types.is_float16(k) else pa.array(np.array(WHOLE, dtype=np.float16))),
                 WHOLE if pa.types.is_float16(kind) else holey(WHOLE))
        for kind in types
    ]  # fmt: skip
    texts = [pa.string(), pa.large_string(), pa.string_view()]
    found += [
        Specimen(f"arrow {k}", of_arrow(lambda k=k: pa.array(holey(TEXTS), type=k)), holey(TEXTS))
        for k in texts
    ]
    times = [pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns")]
    found += [
        Specimen(f"arrow {k}", of_arrow(lambda k=k: pa.array(holey(MOMENTS), type=k)), holey(MOMENTS))
        for k in times
    ]
    found += [
        Specimen("arrow zoned timestamp", of_arrow(
            lambda: pa.array(IN_UTC, type=pa.timestamp("ms", "Asia/Tokyo"))), in_zone("Asia/Tokyo")),
        Specimen("arrow bool", of_arrow(lambda: pa.array(holey(FLAGS))), holey(FLAGS)),
        Specimen("arrow date32", of_arrow(lambda: pa.array(holey(DAYS), type=pa.date32())), holey(DAYS)),
        Specimen("arrow date64", of_arrow(lambda: pa.array(holey(DAYS), type=pa.date64())), holey(DAYS)),
        Specimen("arrow duration", of_arrow(lambda: pa.array(holey(SPANS), type=pa.duration("s"))), holey(SPANS)),
        Specimen("arrow decimal128", of_arrow(lambda: pa.array(holey(PRICES), type=pa.decimal128(10, 2))), holey(PRICES)),
        Specimen("arrow decimal256", of_arrow(lambda: pa.array(holey(PRICES), type=pa.decimal256(40, 2))), holey(PRICES)),
        Specimen("arrow decimal32", of_arrow(lambda: pa.array(holey(PRICES), type=pa.decimal32(6, 2))), holey(PRICES)),
        Specimen("arrow null", of_arrow(lambda: pa.nulls(N)), [None] * N),
        Specimen("arrow NaN beside nulls", of_arrow(
            lambda: pa.array([float("nan") if i % 7 == 2 else v for i, v in enumerate(holey(FLOATS))])),
            [None if i % 7 == 2 else v for i, v in enumerate(holey(FLOATS))]),
        Specimen("arrow chunks", of_arrow(lambda: pa.chunked_array([FLOATS[:5], [], FLOATS[5:]])), FLOATS),
        Specimen("arrow slice", lambda: pa.table({"x": [9.0, *FLOATS, 8.0], "z": [0.0, *Z, 0.0]}).slice(1, N), FLOATS),
        Specimen("arrow time32", of_arrow(lambda: pa.array(holey(CLOCKS), type=pa.time32("s"))), holey(CLOCKS)),
        Specimen("arrow binary", of_arrow(lambda: pa.array(holey(BYTES))), holey(BYTES)),
        Specimen("arrow fixed binary", of_arrow(lambda: pa.array([b"ab", b"cd"] * 12, type=pa.binary(2))), [b"ab", b"cd"] * 12),
        Specimen("arrow list", of_arrow(lambda: pa.array([[1], [2]] * 12)), WHOLE, refused=True),
        Specimen("arrow struct", of_arrow(lambda: pa.array([{"a": 1}] * N)), WHOLE, refused=True),
        Specimen("arrow map", of_arrow(lambda: pa.array([[("a", 1)]] * N, type=pa.map_(pa.string(), pa.int64()))), WHOLE,
                 refused=True),
        Specimen("arrow union", of_arrow(lambda: pa.UnionArray.from_dense(
            pa.array([0, 1] * 12, type=pa.int8()), pa.array([i // 2 for i in range(N)], type=pa.int32()),
            [pa.array(range(12)), pa.array(["a"] * 12)])), WHOLE, refused=True),
        Specimen("arrow month-day-nano interval", of_arrow(
            lambda: pa.array([pa.MonthDayNano([1, i, 0]) for i in WHOLE])), [pa.MonthDayNano([1, i, 0]) for i in WHOLE]),
        Specimen("arrow extension type", of_arrow(
            lambda: pa.ExtensionArray.from_storage(Tag(), pa.array(FLOATS))), FLOATS),
        Specimen("arrow batch", lambda: pa.record_batch({"x": FLOATS, "z": Z.tolist()}), FLOATS),
    ]  # fmt: skip
    return found


def dictionary_zoo() -> list[Specimen]:
    columns: list[tuple[str, Callable[[], Any], Sequence[Any]]] = [
        ("dictionary", lambda: encoded(TURNS, ["red", "green", "blue", "grey"]), chosen(["red", "green", "blue", "grey"])),
        ("ordered dictionary", lambda: encoded(TURNS, ["red", "green", "blue", "grey"], ordered=True),
         chosen(["red", "green", "blue", "grey"])),
        ("dictionary with a level twice", lambda: encoded(TURNS, REPEATED), chosen(REPEATED)),
        ("dictionary of one level four times", lambda: encoded(TURNS, ["red"] * 4), ["red"] * N),
        ("dictionary with a null", lambda: encoded(TURNS, WITH_NULL), chosen(WITH_NULL)),
        ("dictionary with a null and null rows", lambda: encoded(holey(TURNS), WITH_NULL),
         [None if i is None else WITH_NULL[i] for i in holey(TURNS)]),
        ("dictionary with a level twice and unused ones", lambda: encoded(TURNS, [*REPEATED, "unused", "red", None]),
         chosen(REPEATED)),
        ("dictionary of whole numbers, one twice", lambda: encoded(TURNS, [5, 3, 5, 8]), chosen([5, 3, 5, 8])),
        ("dictionary of floats with a NaN", lambda: encoded(TURNS, [0.5, float("nan"), 2.5, 0.5]),
         chosen([0.5, None, 2.5, 0.5])),
        ("dictionary of times, one twice", lambda: encoded(TURNS, [MOMENTS[0], MOMENTS[1], MOMENTS[0], MOMENTS[2]]),
         chosen([MOMENTS[0], MOMENTS[1], MOMENTS[0], MOMENTS[2]])),
        ("dictionary with small unsigned codes", lambda: encoded(TURNS, REPEATED, index=pa.uint8()), chosen(REPEATED)),
        ("chunks with dictionaries in other orders", chunks_of_two_dictionaries, IN_CHUNKS),
        ("dictionary that is all null", lambda: encoded([None] * N, pa.array([], pa.string())), [None] * N),
        ("run-end-encoded floats", lambda: pc.run_end_encode(pa.array(sorted(FLOATS))), sorted(FLOATS)),
        ("run-end-encoded text with gaps", lambda: pc.run_end_encode(pa.array(holey(TEXTS))), holey(TEXTS)),
        ("string views with gaps", lambda: pa.array(holey(TEXTS), type=pa.string_view()), holey(TEXTS)),
    ]  # fmt: skip
    return [Specimen(f"arrow {name}", of_arrow(make), values) for name, make, values in columns] + [
        Specimen(f"pandas arrow {name}", arrow_in_pandas(make), values) for name, make, values in columns
    ]


def array_zoo() -> list[Specimen]:
    found = [
        Specimen(f"numpy {dtype}", lambda d=dtype: two_columns(FLOATS, d), FLOATS)
        for dtype in ("float16", "float32", "float64", "longdouble", ">f4", ">f8", "<f8", "object")
    ]
    return [
        *found,
        Specimen("numpy read-only", read_only, FLOATS),
        Specimen("numpy strided", strided, FLOATS),
        Specimen("numpy backwards", backwards, FLOATS),
        Specimen("numpy fortran", lambda: np.asfortranarray(two_columns(FLOATS, np.float64)), FLOATS),
        Specimen("numpy with NaN", lambda: two_columns([np.nan if v is None else v for v in holey(FLOATS)], float), holey(FLOATS)),
        Specimen("numpy matrix", matrix, FLOATS),
        Specimen("numpy text", lambda: np.array([[text, "q"] for text in TEXTS]), TEXTS),
        Specimen("numpy StringDType", lambda: np.array([[text, "q"] for text in TEXTS], dtype=np.dtypes.StringDType()), TEXTS),
        Specimen("numpy bytes", lambda: np.array([[text, b"q"] for text in BYTES]), BYTES),
        Specimen("numpy masked", masked, FLOATS, refused=True),
        Specimen("numpy complex", lambda: two_columns(FLOATS, complex), FLOATS, refused=True),
        Specimen("numpy void", lambda: np.zeros((N, 2), dtype="V8"), FLOATS, refused=True),
        Specimen("numpy one dimension", lambda: np.array(FLOATS), FLOATS, refused=True),
        Specimen("numpy three dimensions", lambda: np.zeros((N, 2, 2)), FLOATS, refused=True),
        Specimen("numpy structured", lambda: structured(np.float64, FLOATS), FLOATS),
        Specimen("numpy structured, whole", lambda: structured(">i4", WHOLE), WHOLE),
        Specimen("numpy structured, text", lambda: structured("U8", TEXTS), TEXTS),
        Specimen("numpy structured, two dimensions", lambda: structured(np.float64, FLOATS, (N // 2, 2)), FLOATS, refused=True),
        Specimen("numpy structured, fields of vectors", lambda: np.zeros(N, dtype=[("x", float, 2), ("z", float)]), FLOATS,
                 refused=True),
        Specimen("numpy records", lambda: structured(np.float64, FLOATS).view(np.recarray), FLOATS),
        Specimen("sparse csr", lambda: sparse.csr_matrix(two_columns(FLOATS, np.float64)), FLOATS),
        Specimen("sparse csc array", lambda: sparse.csc_array(two_columns(FLOATS, np.float64)), FLOATS),
        Specimen("sparse coo float32", lambda: sparse.coo_array(two_columns(FLOATS, np.float32)), FLOATS),
        Specimen("sparse dia", lambda: sparse.dia_matrix(two_columns(FLOATS, np.float64)), FLOATS),
        Specimen("sparse one dimension", lambda: sparse.coo_array(np.array(FLOATS)), FLOATS, refused=True),
        Specimen("rows as lists", lambda: two_columns(FLOATS, float).tolist(), FLOATS),
        Specimen("rows of unequal length", lambda: [[1.0, 2.0], [3.0]], FLOATS, refused=True),
    ]  # fmt: skip


SPECIMENS = [*pandas_zoo(), *polars_zoo(), *arrow_zoo(), *dictionary_zoo(), *array_zoo()]
