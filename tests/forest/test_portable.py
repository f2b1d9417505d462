"""The page's evaluation of a packed model gives the model's own predictions, over every routing case."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.core.portable_model import portable_model
from icefield.errors import ModelError
from icefield.forest.check import raw_by_levels
from icefield.forest.raw_columns import on_raw_columns

ROWS = 400


def _data():
    rng = np.random.default_rng(11)
    X = pd.DataFrame(
        {
            "a": np.where(rng.random(ROWS) < 0.2, np.nan, rng.normal(size=ROWS)),
            "z": rng.choice([0.0, 1e-36, -1.0, 1.0, 2.0, np.nan], ROWS),
            "k": pd.Categorical(rng.choice(["x", "y", "u", "w", "v"], ROWS)),
            "n": rng.integers(0, 40, ROWS).astype(float),
        }
    )
    X.loc[rng.random(ROWS) < 0.1, "k"] = np.nan
    y = X["a"].fillna(2) + X["z"].fillna(-3) * X["k"].cat.codes + np.sin(X["n"]) + 0.1 * rng.normal(size=ROWS)
    return X, y.to_numpy()


def _lightgbm(X, y):
    from lightgbm import LGBMRegressor

    return LGBMRegressor(
        n_estimators=30,
        verbose=-1,
        n_jobs=1,
        min_data_in_leaf=5,
        cat_smooth=1,
        min_data_per_group=5,
        zero_as_missing=False,
    ).fit(X, y)


def _zero_missing(X, y):
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_estimators=15, verbose=-1, n_jobs=1, min_data_in_leaf=5, zero_as_missing=True).fit(
        X, y
    )


def _lightgbm_binary(X, y):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=12, verbose=-1, n_jobs=1).fit(X, y > 0)


def _lightgbm_classes(X, y):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=6, verbose=-1, n_jobs=1).fit(X, np.digitize(y, [-1, 1]))


def _poisson(X, y):
    from lightgbm import LGBMRegressor

    return LGBMRegressor(objective="poisson", n_estimators=10, verbose=-1, n_jobs=1).fit(X, np.abs(y))


def _xgboost(X, y):
    from xgboost import XGBRegressor

    return XGBRegressor(
        n_estimators=40, max_depth=5, n_jobs=1, enable_categorical=True, tree_method="hist"
    ).fit(X, y)


def _xgboost_classes(X, y):
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=6, n_jobs=1, enable_categorical=True).fit(X, np.digitize(y, [-1, 1]))


def _histogram(X, y):
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=15, categorical_features="from_dtype").fit(X, y)


def _forest(X, y):
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=8, max_depth=6, random_state=0).fit(
        X[["a", "z", "n"]], np.digitize(y, [-1, 1])
    )


def _one_tree(X, y):
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_depth=5, random_state=0).fit(X[["n"]], y)


def _xgboost_binary(X, y):
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=12, n_jobs=1, enable_categorical=True).fit(X, (y > 0).astype(int))


def _catboost(X, y):
    from catboost import CatBoostRegressor

    settings = {
        "iterations": 15,
        "depth": 4,
        "thread_count": 1,
        "verbose": False,
        "allow_writing_files": False,
    }
    return CatBoostRegressor(**settings).fit(X[["a", "z", "n"]], y)


def _catboost_binary(X, y):
    from catboost import CatBoostClassifier

    settings = {
        "iterations": 15,
        "depth": 4,
        "thread_count": 1,
        "verbose": False,
        "allow_writing_files": False,
    }
    return CatBoostClassifier(**settings).fit(X[["a", "n"]], y > 0)


def _prepared(final, levels, X, y):
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    steps = [("a", numbers, ["a", "z"]), ("n", MinMaxScaler(), ["n"]), ("k", levels, ["k"])]
    return make_pipeline(ColumnTransformer(steps), final).fit(X, y)


def _pipeline_one_hot(X, y):
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.preprocessing import OneHotEncoder

    return _prepared(
        RandomForestRegressor(n_estimators=8, max_depth=7, random_state=0),
        OneHotEncoder(handle_unknown="ignore"),
        X,
        y,
    )


def _pipeline_ordinal(X, y):
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.preprocessing import OrdinalEncoder

    final = HistGradientBoostingClassifier(max_iter=12, categorical_features=[3], random_state=0)
    return _prepared(final, OrdinalEncoder(), X, y > 0)


MODELS = [
    _lightgbm,
    _zero_missing,
    _lightgbm_binary,
    _lightgbm_classes,
    _poisson,
    _xgboost,
    _xgboost_classes,
    _histogram,
    _forest,
    _one_tree,
    _xgboost_binary,
    _catboost,
    _catboost_binary,
    _pipeline_one_hot,
    _pipeline_ordinal,
]


def _in_node(cases):
    if shutil.which("node") is None:
        pytest.skip("no Node on this machine: install it to run the page's evaluation")
    script = Path(__file__).parent / "portable_check.mjs"
    ran = subprocess.run(
        ["node", str(script)],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return json.loads(ran.stdout)


def _plain(value):
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.item() if isinstance(value, np.generic) else value


@pytest.mark.other_processes
def test_the_page_predicts_as_the_model_does():
    X, y = _data()
    cases, expected = [], []
    for make in MODELS:
        model = make(X, y)
        own = X[list(model.feature_names_in_ if hasattr(model, "feature_names_in_") else X.columns)]
        ex = Explainer(model, own, target="all")
        packed = portable_model(ex.study)
        for rule in packed["encode"]:
            rule["name"] = str(rule["name"])
            if rule["kind"] == "level":
                rule["codes"] = [[str(level), code] for level, code in rule["codes"]]
        matrix = ex.plan.trees.encode(ex.table.select(ex.model.columns))
        if make in (_pipeline_one_hot, _pipeline_ordinal):
            matrix = on_raw_columns(ex.plan.trees, ex.table).encode(ex.table)
        written = [[str(v) if not math.isfinite(v) else v for v in row] for row in matrix.tolist()]
        written = [["NaN" if v == "nan" else v for v in row] for row in written]
        rows = [{str(k): _plain(v) for k, v in row.items()} for row in own.to_dict("records")]
        cases.append({"model": packed, "matrix": written, "rows": rows})
        expected.append(np.asarray(ex.study.predictions()))
    for make, found, own in zip(MODELS, _in_node(cases), expected):
        exact = {"rtol": 0, "atol": 0} if make in (_xgboost,) else {"rtol": 1e-9, "atol": 1e-9}
        exact = (
            {"rtol": 2e-6, "atol": 1e-7} if make in (_xgboost_classes, _xgboost_binary) else exact
        )  # its links are float32
        np.testing.assert_allclose(np.array(found["matrix"]), own, err_msg=make.__name__, **exact)
        np.testing.assert_allclose(np.array(found["rows"]), own, err_msg=make.__name__, **exact)


@pytest.mark.slow
def test_500_trees_of_31_leaves_take_at_most_0_4_megabytes():
    from lightgbm import LGBMRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 15)).round(3)
    y = X @ rng.normal(size=15) + np.sin(3 * X[:, 0])
    model = LGBMRegressor(n_estimators=500, num_leaves=31, verbose=-1, n_jobs=1).fit(X, y)
    packed = portable_model(Explainer(model, X).study)
    assert len(json.dumps(packed)) <= 400_000


def test_a_threshold_before_scaling_is_the_last_number_that_goes_left():
    """On both sides of every threshold, to the next float."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(2)
    X = rng.lognormal(size=(500, 2))
    model = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=6, random_state=0)).fit(
        X, np.sin(X[:, 0]) + X[:, 1]
    )
    ex = Explainer(model, X)
    raw = on_raw_columns(ex.plan.trees, ex.table).forest
    for column, threshold in zip(raw.condition_column, raw.condition_threshold):
        rows = np.repeat(X[:40], 2, axis=0)
        rows[:, column] = np.tile([threshold, np.nextafter(threshold, np.inf)], 40)
        np.testing.assert_array_equal(raw_by_levels(raw, rows)[:, 0], model.predict(rows))


def test_preparations_that_mix_or_fall_are_refused_with_the_reason():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
    from sklearn.tree import DecisionTreeRegressor

    X = np.random.default_rng(0).integers(1, 6, (200, 2)).astype(float)
    for step in (
        FunctionTransformer(np.negative),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    ):
        model = make_pipeline(step, DecisionTreeRegressor(max_depth=3)).fit(X, X[:, 0])
        with pytest.raises(ModelError, match=r"prepared in a way the page does not know.*serve"):
            portable_model(Explainer(model, X).study)


def test_models_that_are_not_trees_are_refused_with_the_reason():
    X = np.arange(20.0)[:, None]
    ex = Explainer(lambda r: r[:, 0], X, row_by_row=True)
    with pytest.raises(ModelError, match=r"read as trees.*serve"):
        portable_model(ex.study)
    with pytest.raises(ModelError, match="read as trees"):
        ex.report(live=True)
