"""Rows and models of the frozen answers; its own, so that the tests' may change."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

FEATURES = ["x0", "x1", "x2", "k", "level", "flag"]
NUMBERS = ["x0", "x1", "x2", "k"]
WHOLE = ["x0", "x2", "k"]  # numbers without gaps


@cache
def frame(n: int = 1_500, seed: int = 11) -> pd.DataFrame:
    """Numbers, gaps, levels, dates and flags; weights, groups, clusters of rows and observations."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({f"x{i}": rng.normal(size=n) for i in range(3)})
    rows["x2"] += 0.6 * rows.x0
    rows.loc[::7, "x1"] = np.nan
    rows["k"] = rng.integers(0, 6, n)
    rows["level"] = pd.Categorical(rng.choice(["a", "b", "c", "d"], n, p=[0.4, 0.3, 0.2, 0.1]))
    rows["flag"] = rng.random(n) < 0.3
    rows["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, n), unit="D")
    rows["w"] = rng.integers(0, 4, n) / 4 + 0.25
    rows["side"] = rng.choice(["north", "south"], n, p=[0.8, 0.2])
    rows["person"] = rng.integers(0, n // 8, n)
    rows["y"] = (
        rows.x0 + rows.x1.fillna(0.3) * rows.x2 + np.abs(rows.k - 2) + 1.5 * (rows.level == "a") * rows.flag
        + rng.normal(size=n) * 0.3
    )  # fmt: skip
    return rows


def _lgb(kind: str, **options: Any) -> Any:
    import lightgbm as lgb

    return getattr(lgb, kind)(**{"n_estimators": 25, "num_leaves": 12, "verbose": -1, "n_jobs": 1, **options})


@cache
def model(name: str, seed: int = 0) -> Any:
    """A fitted model."""
    rows = frame()
    classes = np.array(["low", "middle", "high"])[np.digitize(rows.y, rows.y.quantile([0.3, 0.6]))]
    above = rows.y > rows.y.median()
    if name == "lightgbm":
        return _lgb("LGBMRegressor", random_state=seed).fit(rows[FEATURES], rows.y)
    if name == "lightgbm refit":
        return _lgb("LGBMRegressor", n_estimators=15).fit(rows[FEATURES][::2], rows.y[::2])
    if name == "lightgbm binary":
        return _lgb("LGBMClassifier").fit(rows[FEATURES], above)
    if name == "lightgbm classes":
        return _lgb("LGBMClassifier", n_estimators=10).fit(rows[FEATURES], classes)
    if name == "lightgbm numbers":
        return _lgb("LGBMRegressor").fit(rows[NUMBERS], rows.y)
    if name == "xgboost":
        from xgboost import XGBRegressor

        return XGBRegressor(n_estimators=15, max_depth=4, n_jobs=1).fit(rows[NUMBERS], rows.y)
    if name == "xgboost binary":
        from xgboost import XGBClassifier

        return XGBClassifier(n_estimators=10, max_depth=3, n_jobs=1).fit(rows[NUMBERS], above)
    if name == "catboost":
        from catboost import CatBoostRegressor

        made = CatBoostRegressor(iterations=15, depth=4, verbose=0, thread_count=1, allow_writing_files=False)
        return made.fit(rows[NUMBERS], rows.y)
    if name == "forest":
        from sklearn.ensemble import RandomForestRegressor

        return RandomForestRegressor(10, max_depth=6, random_state=0).fit(rows[WHOLE], rows.y)
    if name == "hist":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(max_iter=12, random_state=0).fit(rows[NUMBERS], above)
    if name == "boosting":  # of scikit-learn's recursion
        from sklearn.ensemble import GradientBoostingRegressor

        return GradientBoostingRegressor(n_estimators=12, random_state=0).fit(rows[WHOLE], rows.y)
    if name == "pipeline":
        from sklearn.compose import make_column_transformer
        from sklearn.ensemble import RandomForestRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        first = make_column_transformer((StandardScaler(), WHOLE), (OneHotEncoder(), ["level"]))
        made = make_pipeline(first, RandomForestRegressor(5, max_depth=5, random_state=0))
        return made.fit(rows[[*WHOLE, "level"]], rows.y)
    if name == "linear":
        from sklearn.linear_model import LinearRegression

        return LinearRegression().fit(rows[WHOLE], rows.y)
    if name == "logistic":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression().fit(rows[WHOLE], above)
    raise KeyError(name)


def function(rows: Any) -> Any:
    """A model that is a function, of numbers, a date and a flag."""
    x0, x2, k = (np.asarray(rows[name], dtype=np.float64) for name in WHOLE)
    day = np.asarray(rows["day"]).astype("datetime64[D]").astype(np.float64)
    return x0 * x2 + np.sin(k) + (day - 19_800) / 100 * np.asarray(rows["flag"], dtype=np.float64)


def numbers_function(rows: Any) -> Any:
    """A model that is a function, of numbers only."""
    x0, x2, k = (np.asarray(rows[name], dtype=np.float64) for name in WHOLE)
    return x0 * x2 + k


def array_function(rows: Any) -> Any:
    """A function of an array's columns, with two outputs."""
    return np.column_stack([rows[:, 0] * rows[:, 1], rows[:, 2] + np.tanh(rows[:, 0])])
