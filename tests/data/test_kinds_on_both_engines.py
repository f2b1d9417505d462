"""Kinds of index, zone, integer and nullable columns: trees and brute force against a plain loop over floats.

The model takes numbers, so that whatever a column is stored as, the model at a value is the model at that number: also at values that
the column could not hold, beside fractions and beside a missing one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from test_rows_as_given import INDEXES
from test_rows_as_given import N as N_LABELS

from icefield import Explainer

N = 48
RNG = np.random.default_rng(3)
X, B = RNG.integers(0, 100, N), RNG.normal(size=N).round(2)
Y = np.sin(X / 20.0) + (B > 0) * X / 50.0
GRIDS = (
    [-1, 0.5, 40],
    [-1],
    [300, 0.5],
    [1e30, 0.5],
    [1e30],
    [2**40, 20],
    [40, 3, 77],
    [300, None, 0.5],
    [20, None],
)


def holes(values: Any) -> list[Any]:
    return [None if at % 7 == 0 else v for at, v in enumerate(values.tolist())]


def pandas_of(make: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: pd.DataFrame({"x": make(), "b": B})


def matrix(dtype: str) -> Any:
    return np.column_stack([X, (10 * B).astype(int) + 40]).astype(dtype)


WIDTHS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
KINDS: dict[str, Callable[[], Any]] = {}
for width in WIDTHS:
    nullable = width.replace("ui", "UI") if width.startswith("u") else width.capitalize()
    arrow_type = pa.from_numpy_dtype(np.dtype(width))
    KINDS |= {
        f"pandas {width}": pandas_of(lambda w=width: X.astype(w)),
        f"pandas {nullable}": pandas_of(lambda t=nullable: pd.array(holes(X), dtype=t)),
        f"polars {nullable}": lambda t=nullable: pl.DataFrame({"x": pl.Series(holes(X), dtype=getattr(pl, t)), "b": B}),
        f"arrow {width}": lambda t=arrow_type: pa.table({"x": pa.array(holes(X), type=t), "b": B}),
    }  # fmt: skip
KINDS |= {f"a matrix of {width}": lambda w=width: matrix(w) for width in ("int8", "uint8", "int64", "uint64")}
KINDS |= {
    "pandas Float64": pandas_of(lambda: pd.array(holes(X.astype(float)), dtype="Float64")),
    "pandas Float32": pandas_of(lambda: pd.array(holes(X.astype(float)), dtype="Float32")),
    "pandas of arrow int8": pandas_of(lambda: pd.Series(holes(X), dtype=pd.ArrowDtype(pa.int8()))),
    "pandas of arrow double": pandas_of(lambda: pd.Series(holes(X * 1.0), dtype=pd.ArrowDtype(pa.float64()))),
    "pandas objects": pandas_of(lambda: pd.Series(X.tolist(), dtype=object)),
    "polars without gaps": lambda: pl.DataFrame({"x": X.astype("uint8"), "b": B}),
}


def floats(frame: Any) -> np.ndarray:
    if isinstance(frame, np.ndarray):
        return frame.astype(float)
    columns = (
        frame.to_pydict() if isinstance(frame, pa.Table) else {name: list(frame[name]) for name in ("x", "b")}
    )
    gone = (None, pd.NA)
    return np.array(
        [[np.nan if any(v is g for g in gone) else float(v) for v in columns[n]] for n in ("x", "b")]
    ).T


def test_there_are_thirty_kinds() -> None:
    assert len(KINDS) + len(INDEXES) + len(ZONES) >= 30


@pytest.mark.sampled(5)
@pytest.mark.parametrize("engine", ["trees", "brute"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_right_at_every_value(kind: str, engine: str) -> None:
    frame = KINDS[kind]()
    plain = floats(frame)
    # Fitted on floats: what is tested is how rows and values reach the model.
    model = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=4).fit(plain, Y)

    def predict(rows: Any) -> np.ndarray:
        return model.predict(floats(rows))

    if engine == "brute":
        explainers = [Explainer(predict, frame), Explainer(predict, frame, row_by_row=True)]
    else:
        if isinstance(frame, np.ndarray):
            named = model
        else:
            named = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=4)
            named.fit(pd.DataFrame(plain, columns=["x", "b"]), Y)
        explainers = [Explainer(named, frame, engine="trees")]
    feature = 0 if isinstance(frame, np.ndarray) else "x"
    for grid in GRIDS:
        wanted = []
        for value in grid:
            moved = plain.copy()
            moved[:, 0] = np.nan if value is None else value
            wanted.append(model.predict(moved).mean())
        order = [w for w, v in zip(wanted, grid) if v is not None] + [
            w for w, v in zip(wanted, grid) if v is None
        ]
        for explainer in explainers:
            np.testing.assert_allclose(
                explainer.partial_dependence(feature, grid=grid).average[0],
                order,
                rtol=1e-9,
                err_msg=f"{grid}",
            )


@pytest.mark.sampled(5)
@pytest.mark.parametrize("engine", ["trees", "brute"])
@pytest.mark.parametrize("index", INDEXES.values(), ids=list(INDEXES))
def test_an_index_changes_no_number(index: pd.Index, engine: str) -> None:
    plain = pd.DataFrame({"x": X[:N_LABELS], "b": B[:N_LABELS]})
    model = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=4).fit(plain, Y[:N_LABELS])
    labelled = plain.set_axis(index, axis=0)
    found = Explainer(model, labelled, engine=engine).ice("x", grid=[3, 40, 77])
    wanted = np.array([model.predict(plain.assign(x=value)) for value in (3, 40, 77)]).T
    np.testing.assert_allclose(found.individual[0], wanted, rtol=1e-12)


ZONES = ("UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "+05:30", "dateutil/Europe/Berlin")


def _hours(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(when=frame["when"].dt.hour + frame["when"].dt.minute / 60.0)


@pytest.mark.parametrize("engine", ["auto", "brute"])
@pytest.mark.parametrize("zone", ZONES)
def test_a_zone_beside_trees(zone: str, engine: str) -> None:
    times = pd.date_range("2024-03-01", periods=N, freq="11h", tz="UTC").tz_convert(zone)
    frame = pd.DataFrame({"when": times, "x": X, "b": B})
    first = make_column_transformer((FunctionTransformer(_hours), ["when"]), remainder="passthrough")
    model = make_pipeline(first, HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=4)).fit(frame, Y)
    explainer = Explainer(model, frame, engine=engine)
    clock = ["2024-03-05 12:00", "2024-07-01 23:30"]
    wanted = [model.predict(frame.assign(when=pd.Timestamp(at).tz_localize(times.tz))).mean() for at in clock]
    np.testing.assert_allclose(
        explainer.partial_dependence("when", grid=clock).average[0], wanted, rtol=1e-12
    )
    wanted = [model.predict(frame.assign(x=value)).mean() for value in (3, 40)]
    np.testing.assert_allclose(explainer.partial_dependence("x", grid=[3, 40]).average[0], wanted, rtol=1e-12)


@pytest.mark.parametrize("row_by_row", [False, True])
@pytest.mark.parametrize("kind", ["pandas", "matrix", "Int64", "polars", "arrow", "objects"])
def test_large_whole_numbers_keep_their_digits_beside_a_missing_point(kind: str, row_by_row: bool) -> None:
    large = 2**60 + np.arange(20)
    b = np.arange(20) * 2
    frame = {
        "pandas": lambda: pd.DataFrame({"x": large, "b": b}),
        "matrix": lambda: np.column_stack([large, b]),
        "Int64": lambda: pd.DataFrame({"x": pd.array([None, *large[1:].tolist()], dtype="Int64"), "b": b}),
        "polars": lambda: pl.DataFrame({"x": [None, *large[1:].tolist()], "b": b}),
        "arrow": lambda: pa.table({"x": pa.array([None, *large[1:].tolist()]), "b": b}),
        "objects": lambda: pd.DataFrame({"x": pd.Series([None, *large[1:].tolist()], dtype=object), "b": b}),
    }[kind]()

    def last_digits(rows: Any) -> np.ndarray:
        values = rows[:, 0].tolist() if isinstance(rows, np.ndarray) else rows["x"].to_pylist() if isinstance(rows, pa.Table) else list(rows["x"])  # fmt: skip
        return np.array(
            [-7.0 if v is None or v is pd.NA or v != v else float(int(v) - 2**60) for v in values]
        )

    explainer = Explainer(last_digits, frame, row_by_row=row_by_row)
    feature = 0 if kind == "matrix" else "x"
    found = explainer.partial_dependence(feature, grid=[2**60 + 1, 2**60 + 3, None])
    assert found.average[0].tolist() == [1.0, 3.0, -7.0]
    assert list(found.grid[0])[:2] == [2**60 + 1, 2**60 + 3]
    both = explainer.partial_dependence(
        feature, 1 if kind == "matrix" else "b", grid=[[2**60 + 5, None], [0, 2]]
    )
    assert both.average[0].tolist() == [[5.0, 5.0], [-7.0, -7.0]]
