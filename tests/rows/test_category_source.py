"""Text columns of a stream meet the categories a booster was trained on, as CSV does on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from icefield import Explainer

RNG = np.random.default_rng(1)
FRAME = pd.DataFrame({"a": RNG.normal(size=300), "c": RNG.choice(list("xyz"), 300)})
FRAME.loc[::17, "c"] = None
Y = FRAME["a"] + 2.0 * (FRAME["c"] == "x") - (FRAME["c"] == "z")


def model(library: str) -> Any:
    typed = FRAME.assign(c=FRAME["c"].astype("category"))
    if library == "lightgbm":
        return (
            pytest.importorskip("lightgbm").LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(typed, Y)
        )
    boosters = pytest.importorskip("xgboost")
    return boosters.XGBRegressor(n_estimators=5, enable_categorical=True, n_jobs=1).fit(typed, Y)


def source(kind: str, folder: Path) -> Any:
    if kind == "csv":
        FRAME.to_csv(folder / "rows.csv", index=False)
        return folder / "rows.csv"
    table = pa.Table.from_pandas(FRAME)
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        return duckdb.connect().from_arrow(table)
    if kind == "polars":
        return pytest.importorskip("polars").from_arrow(table).lazy()
    pq.write_table(table, folder / "rows.parquet")
    return folder / "rows.parquet"


@pytest.mark.parametrize("kind", ["csv", "duckdb", "parquet", "polars"])
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_texts_are_the_model_s_categories(library: str, kind: str, tmp_path: Path) -> None:
    fitted = model(library)
    whole = Explainer(fitted, FRAME.assign(c=FRAME["c"].astype("category")))
    streamed = Explainer(fitted, source(kind, tmp_path))
    for feature, grid in (("c", ["z", "x", "y", None]), ("a", [-1.0, 0.0, 1.0])):
        wanted = whole.partial_dependence(feature, grid=grid).average
        found = streamed.partial_dependence(feature, grid=grid)
        np.testing.assert_allclose(found.average, wanted, rtol=1e-6)
    assert set(streamed.partial_dependence("c").grid[0]) == {"x", "y", "z", None}


def test_texts_that_no_model_knows_stay_texts(tmp_path: Path) -> None:
    def by_text(rows: Any) -> np.ndarray:
        assert pa.types.is_string(rows["c"].type) or pa.types.is_large_string(rows["c"].type)
        return np.array([float(v == "x") for v in rows["c"].to_pylist()])

    effect = Explainer(by_text, source("parquet", tmp_path), row_by_row=True).partial_dependence(
        "c", grid=["x", "y"]
    )
    assert effect.average[0].tolist() == [1.0, 0.0]
