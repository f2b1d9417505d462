"""Rows and models that the tests of sources share: numbers, gaps, levels, dates, weights and groups."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression

FEATURES = ["x0", "x1", "x2", "k", "level"]
NUMBERS = FEATURES[:4]
GRID: dict[str, Any] = {
    "x0": np.linspace(-2.0, 2.0, 9), "x1": [-1.0, 0.0, 0.5, None], "x2": np.linspace(-1.5, 1.5, 5), "k": [0, 1, 2, 3, 4],
    "level": ["a", "b", "c"],
}  # fmt: skip


def frame(n: int = 6_000, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({f"x{i}": rng.normal(size=n) for i in range(3)})
    rows.loc[::7, "x1"] = np.nan
    rows["k"] = rng.integers(0, 5, n)
    rows["level"] = pd.Categorical(rng.choice(["a", "b", "c"], n), categories=["a", "b", "c"])
    rows["w"] = rng.integers(0, 4, n) / 4
    rows["side"] = rng.choice(["north", "south"], n, p=[0.8, 0.2])
    rows["y"] = rows.x0 + rows.x1.fillna(0) * rows.x2 + rows.k + (rows.level == "a")
    return rows


def table(rows: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(rows, preserve_index=False)


def written(folder: Path, rows: pd.DataFrame, files: int = 4) -> Path:
    """The rows as several Parquet files of different sizes."""
    folder.mkdir(parents=True, exist_ok=True)
    cuts = [0, *np.sort(np.random.default_rng(0).integers(1, len(rows), files - 1)).tolist(), len(rows)]
    for number, (start, stop) in enumerate(pairwise(cuts)):
        pq.write_table(table(rows.iloc[start:stop]), folder / f"{number:02d}.parquet", row_group_size=700)
    return folder


def booster(rows: pd.DataFrame, columns: list[str] = FEATURES, **options: Any) -> Any:
    return lgb.LGBMRegressor(n_estimators=12, verbose=-1, n_jobs=1, **options).fit(rows[columns], rows.y)


def classifier(rows: pd.DataFrame, columns: list[str] = FEATURES) -> Any:
    model = lgb.LGBMClassifier(n_estimators=10, verbose=-1, n_jobs=1)
    return model.fit(rows[columns], rows.y > rows.y.median())


def three_classes(rows: pd.DataFrame) -> Any:
    classes = np.digitize(rows.y, rows.y.quantile([0.3, 0.6]))
    return HistGradientBoostingClassifier(max_iter=5).fit(rows[NUMBERS], classes)


def forest(rows: pd.DataFrame) -> Any:
    return RandomForestRegressor(n_estimators=8, max_depth=6, random_state=0).fit(rows[NUMBERS], rows.y)


def linear(rows: pd.DataFrame) -> Any:
    return LinearRegression().fit(rows[["x0", "x2", "k"]], rows.y)


def xgboost(rows: pd.DataFrame) -> Any:
    from xgboost import XGBRegressor

    return XGBRegressor(n_estimators=8, max_depth=4, n_jobs=1).fit(rows[NUMBERS], rows.y)


def catboost(rows: pd.DataFrame) -> Any:
    from catboost import CatBoostRegressor

    model = CatBoostRegressor(iterations=8, depth=4, verbose=0, thread_count=1, allow_writing_files=False)
    return model.fit(rows[NUMBERS], rows.y)


def function(rows: pd.DataFrame) -> Any:
    def predicted(given: Any) -> Any:
        x0, x2, k = (np.asarray(given[name], dtype=np.float64) for name in ("x0", "x2", "k"))
        return x0 * x2 + k

    return predicted


FAMILIES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "lightgbm": booster,
    "lightgbm classifier": classifier,
    "three classes": three_classes,
    "xgboost": xgboost,
    "catboost": catboost,
    "forest": forest,
    "linear": linear,
    "function": function,
}
WITHOUT_GAPS = ("forest", "linear")  # families that take no missing values
