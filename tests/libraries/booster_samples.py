"""Rows with gaps, blanks in names and categories, targets of every kind, and boosters trained on them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from icefield.data.frame import table_of
from icefield.models.model import read_model

RNG = np.random.default_rng(5)
N = 200
FRAME = pd.DataFrame(
    {
        "x": RNG.normal(size=N),
        "two words": RNG.normal(size=N),
        "level": pd.Categorical(RNG.choice(list("zyxw"), N), categories=list("zyxw")),
    }
)
FRAME.loc[:9, "x"] = np.nan
NUMBERS = FRAME[["x", "two words"]]
SCORE = FRAME["x"].fillna(0).to_numpy() + 2 * (FRAME["level"] == "z").to_numpy() + RNG.normal(size=N) * 0.3
BINARY = np.where(SCORE > 0.5, "yes", "no")
CODED = (SCORE > 0.5).astype(int)
THREE = np.digitize(SCORE, [0.0, 1.0])
COUNTS = np.maximum(np.round(np.exp(SCORE / 2)), 0.0)
LABEL_SETS = np.column_stack([SCORE > 0.5, FRAME["two words"] > 0]).astype(int)
LIGHT = {"n_estimators": 5, "verbose": -1, "num_threads": 1}
EXTREME = {"n_estimators": 5, "n_jobs": 1}
CAT = {"iterations": 5, "verbose": 0, "allow_writing_files": False, "thread_count": 1}


def read(model, data=FRAME, **options):
    table = table_of(data)
    read_in = read_model(model, table, **options)
    return read_in, read_in.predict(table)


def same(actual, expected, atol=0.0):
    np.testing.assert_allclose(
        actual, np.asarray(expected, dtype=float).reshape(len(actual), -1), rtol=0, atol=atol
    )


def converted(library):
    return {
        "pandas": FRAME,
        "polars": pl.from_pandas(FRAME),
        "pyarrow": pa.Table.from_pandas(FRAME, preserve_index=False),
    }[library]


def light_booster(y, data=FRAME, **parameters):
    import lightgbm

    parameters = {"verbose": -1, "num_threads": 1, **parameters}
    return lightgbm.train(parameters, lightgbm.Dataset(data, y), 5)


def extreme_booster(y, data=FRAME, **parameters):
    import xgboost

    matrix = xgboost.DMatrix(data, y, enable_categorical=True)
    return xgboost.train({"nthread": 1, **parameters}, matrix, 5)


def extreme_predict(booster, data=FRAME, **options):
    import xgboost

    return booster.predict(xgboost.DMatrix(data, enable_categorical=True), **options)
