"""The same data in any library gives the same numbers, and models accept every replaced frame."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from icefield import Effect, Explainer
from icefield.data.frame import table_of

RNG = np.random.default_rng(11)
N = 60
NAMES = ["age", "fare", "rooms", "size"]
MATRIX = np.column_stack([
    RNG.normal(40, 12, N).round(1),
    RNG.lognormal(3, 1, N),
    RNG.integers(1, 6, N),
    np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N)),
])  # fmt: skip
WEIGHTS = RNG.uniform(0.5, 2.0, N)
GROUP = RNG.choice(["north", "south"], N).tolist()

PANDAS = pd.DataFrame(MATRIX, columns=NAMES)
FORMS = {
    "pandas": lambda: PANDAS,
    "pandas nullable": lambda: PANDAS.astype("Float64"),
    "pandas arrow": lambda: PANDAS.astype("double[pyarrow]"),
    "polars": lambda: pl.from_pandas(PANDAS),
    "polars nan": lambda: pl.DataFrame(dict(zip(NAMES, MATRIX.T)), nan_to_null=False),
    "pyarrow": lambda: pa.Table.from_pandas(PANDAS),
    "pyarrow chunks": lambda: pa.concat_tables(
        [pa.Table.from_pandas(PANDAS[:7]), pa.Table.from_pandas(PANDAS[7:])]
    ),
    "numpy": lambda: MATRIX,
    "numpy fortran": lambda: np.asfortranarray(MATRIX),
    "objects": lambda: MATRIX.astype(object),
    "rows": lambda: MATRIX.tolist(),
}


def model(rows) -> np.ndarray:
    x = table_of(rows).to_numpy().astype(np.float64)
    size = np.nan_to_num(x[:, 3], nan=2.5)
    return np.column_stack([x[:, 0] * size + np.sqrt(x[:, 1]) * x[:, 2], np.cos(x[:, 0]) - size])


def same(a: Effect, b: Effect) -> None:
    assert a.outputs == b.outputs
    assert a.n_rows == b.n_rows
    assert a.kinds == b.kinds
    for one, other in zip(a.grid, b.grid):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other, equal_nan=one.dtype != object)
    for field in ("average", "std", "se", "individual", "rows", "weight", "baseline", "output_std"):
        one, other = getattr(a, field), getattr(b, field)
        assert (one is None) == (other is None), field
        assert one is None or np.array_equal(one, other, equal_nan=True), field
    assert list(a.quantiles or {}) == list(b.quantiles or {})
    for q in a.quantiles or {}:
        assert np.array_equal(a.quantiles[q], b.quantiles[q])
    assert list(a.groups) == list(b.groups)
    for label in a.groups:
        same(a.groups[label], b.groups[label])


def everything(data, **options) -> list[Effect]:
    explainer = Explainer(model, data, row_by_row=True, **options)
    found = [
        explainer.partial_dependence(0),
        explainer.partial_dependence(3, quantiles=[0.1, 0.5]),
        explainer.partial_dependence(2, individual=True),
        explainer.partial_dependence(0, 3, spread=True),
        explainer.partial_dependence(0, 2, 3),
        explainer.partial_dependence(1, rows=20),
        explainer.partial_dependence(1, precision=0.3),
        explainer.ice(1, rows=13, quantiles=[0.9]),
        explainer.ice(0, 2, grid=[[30.0, 40.0], [1.0, 2.5]]),
        explainer.ice(0).center(),
        explainer.ice(0).derivative(),
    ]
    for order in (1, 2):
        found += explainer.effects(order=order, grid=7).values()
    return found


@pytest.mark.parametrize(
    "options",
    [{}, {"weights": WEIGHTS}, {"by": GROUP}, {"weights": WEIGHTS, "by": GROUP, "target": 1}],
    ids=["plain", "weights", "groups", "all"],
)
def test_every_effect_is_the_same_in_every_library(options):
    expected = everything(PANDAS, **options)
    for name, form in FORMS.items():
        if len(options) == 1 and name not in ("polars", "pyarrow", "numpy"):
            continue  # the rarer forms are tried with nothing and with everything
        found = everything(form(), **options)
        assert len(found) == len(expected), name
        for one, other in zip(expected, found):
            same(one, other)


def test_columns_named_for_weights_and_groups():
    extra = PANDAS.assign(w=WEIGHTS, g=GROUP)
    frames = [extra, pl.from_pandas(extra), pa.Table.from_pandas(extra)]
    found = [
        Explainer(lambda rows: model(table_of(rows).select(NAMES).native), f, weights="w", by="g").ice(
            "age", rows=5
        )
        for f in frames
    ]
    for other in found[1:]:
        same(found[0], other)
    assert list(found[0].groups) == ["north", "south"]


# --- kinds beyond numbers ----------------------------------------------------------------------------

KINDS = {
    "letter": [["c", "a", "b", None][i % 4] for i in range(N)],
    "whole": [None if i % 7 == 0 else i % 13 for i in range(N)],
    "flag": [None if i % 9 == 0 else i % 2 == 0 for i in range(N)],
    "day": [pd.Timestamp("2020-01-01") + pd.Timedelta(days=i) for i in range(N)],
    "number": MATRIX[:, 0].tolist(),
}
MIXED = {
    "pandas": lambda: pd.DataFrame(KINDS).astype({"whole": "Int64", "flag": "boolean", "day": "datetime64[us]"}),
    "pandas category": lambda: MIXED["pandas"]().astype({"letter": "category"}),
    "pandas arrow": lambda: MIXED["pandas"]().convert_dtypes(dtype_backend="pyarrow").astype({"day": "timestamp[us][pyarrow]"}),
    "polars": lambda: pl.DataFrame(KINDS).with_columns(pl.col("day").cast(pl.Datetime("us"))),
    "polars category": lambda: MIXED["polars"]().with_columns(pl.col("letter").cast(pl.Categorical)),
    "pyarrow": lambda: MIXED["polars"]().to_arrow(),
}  # fmt: skip


def mixed_model(rows) -> np.ndarray:
    table = table_of(rows)
    total = table.column("number").values * 0.01
    for i, name in enumerate(("letter", "whole", "flag", "day")):
        column = table.column(name)
        if name == "letter":  # also in rows that hold none, which may be all that one call gets
            score = np.array(
                [0.0 if gone else float(ord(v)) for v, gone in zip(column.values, column.missing)]
            )
        else:
            score = np.nan_to_num(column.to_float() / (8.64e10 if name == "day" else 1.0), nan=-3.0)
        total = total + (i + 1) * score
    return total


@pytest.mark.parametrize(
    "features",
    [("letter",), ("whole",), ("flag",), ("day",), ("letter", "whole"), ("day", "flag", "letter")],
    ids=str,
)
def test_kinds_with_missing_values_are_the_same_in_every_library(features):
    # A column of which a call holds nothing but missing values has lost its kind; the model would notice.
    asked = {"by": "letter", "row_by_row": True}
    expected = Explainer(mixed_model, MIXED["pandas"](), **asked).ice(*features, rows=9)
    for form in MIXED.values():
        same(expected, Explainer(mixed_model, form(), **asked).ice(*features, rows=9))


# --- boosters accept every replaced frame ------------------------------------------------------------

TARGET = MATRIX[:, 0] / 10 + np.array(
    [{"c": 3.0, "a": 0.0, "b": 1.0, None: -2.0}[v] for v in KINDS["letter"]]
)
LETTERS = pd.CategoricalDtype(["c", "b", "a"])
PANDAS_KINDS = {
    "categories": lambda f: f.astype({"letter": LETTERS, "whole": "float64", "flag": "float64"}),
    "nullable": lambda f: f.astype({"letter": LETTERS}),
    "narrow": lambda f: f.astype(
        {"letter": LETTERS, "whole": "float32", "flag": "float32", "number": "float32"}
    ),
}


def loop(predict, frame: pd.DataFrame, name: str, values) -> np.ndarray:
    """The textbook loop: one replaced frame and one predict per grid value."""
    out = []
    for value in values:
        moved = frame.copy()
        moved[name] = pd.Series([value] * len(frame), index=frame.index).astype(frame[name].dtype)
        out.append(np.mean(predict(moved)))
    return np.array([out])


def checked(fitted, frame: pd.DataFrame) -> None:
    before = frame.copy(deep=True)
    for engine in ("auto", "brute"):
        explainer = Explainer(fitted, frame, engine=engine)
        for name in frame.columns:
            effect = explainer.partial_dependence(name)
            expected = loop(fitted.predict, frame, name, effect.grid[0].tolist())
            assert np.allclose(effect.average, expected, rtol=1e-6, atol=1e-6), (engine, name)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("kind", PANDAS_KINDS)
def test_lightgbm_takes_replaced_frames(kind):
    lightgbm = pytest.importorskip("lightgbm")
    frame = PANDAS_KINDS[kind](MIXED["pandas"]().drop(columns="day"))
    checked(
        lightgbm.LGBMRegressor(n_estimators=5, min_child_samples=3, verbose=-1, n_jobs=1).fit(frame, TARGET),
        frame,
    )


@pytest.mark.parametrize("kind", PANDAS_KINDS)
def test_xgboost_takes_replaced_frames(kind):
    xgboost = pytest.importorskip("xgboost")
    frame = PANDAS_KINDS[kind](MIXED["pandas"]().drop(columns="day"))
    checked(xgboost.XGBRegressor(n_estimators=5, enable_categorical=True, n_jobs=1).fit(frame, TARGET), frame)


def test_catboost_takes_replaced_frames():
    catboost = pytest.importorskip("catboost")
    frame = PANDAS_KINDS["categories"](MIXED["pandas"]().drop(columns="day"))
    frame["letter"] = frame["letter"].cat.add_categories("?").fillna("?")
    fitted = catboost.CatBoostRegressor(
        iterations=5, cat_features=["letter"], verbose=0, thread_count=1, allow_writing_files=False
    )
    checked(fitted.fit(frame, TARGET), frame)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_boosters_fitted_on_pandas_take_other_libraries(library):
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    frame = PANDAS
    other = pl.from_pandas(frame) if library == "polars" else pa.Table.from_pandas(frame)
    for fitted in (
        lightgbm.LGBMRegressor(n_estimators=5, min_child_samples=3, verbose=-1, n_jobs=1).fit(frame, TARGET),
        xgboost.XGBRegressor(n_estimators=5, n_jobs=1).fit(frame, TARGET),
    ):
        expected = Explainer(fitted, frame, engine="brute").partial_dependence("size")
        for engine in ("auto", "brute"):
            found = Explainer(fitted, other, engine=engine).partial_dependence("size")
            assert np.allclose(found.average, expected.average, rtol=1e-6, atol=1e-6)
