"""Pipelines: raw columns drive the transformed columns, and mixing preprocessing is refused."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.tree import DecisionTreeRegressor

from icefield.data.frame import table_of
from icefield.forest import CannotRead
from icefield.libraries.reading import read
from tree_reading import error


@pytest.fixture(scope="module")
def mixed():
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": draw.normal(size=300),
            "text": draw.choice(["a", "b", "c", "d"], 300),
            "z": draw.normal(size=300),
            "size": draw.choice(["s", "m", "l"], 300),
            "spare": draw.normal(size=300),
        }
    )
    frame.loc[::9, "x"] = np.nan
    y = frame["x"].fillna(1) + frame["text"].isin(["a", "d"]) * 3 + frame["z"] * (frame["size"] == "m")
    return frame, y.to_numpy()


def prepared(**one_hot):
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["x", "z"]),
            ("texts", OneHotEncoder(handle_unknown="ignore", **one_hot), ["text"]),
            ("sizes", OrdinalEncoder(categories=[["s", "m", "l"]]), ["size"]),
        ]
    )


def moved_together(read_model, table, name, value):
    """Moving a raw column changes exactly matrix columns it drives."""
    before = read_model.encode(table)
    after = read_model.encode(table_of(table.native.assign(**{name: value})))
    same = (before == after) | (np.isnan(before) & np.isnan(after))
    return set(np.flatnonzero(~same.all(axis=0)).tolist())


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize(
    "final",
    [
        RandomForestRegressor(n_estimators=4, max_depth=5, random_state=0),
        lgb.LGBMRegressor(n_estimators=6, num_leaves=6, verbose=-1, num_threads=1),
        xgb.XGBRegressor(n_estimators=6, max_depth=3, nthread=1),
    ],
)
def test_one_hot_scaled_imputed_and_ordinal_columns(mixed, sparse, final):
    X, y = mixed
    preparing = prepared(sparse_output=sparse).set_params(sparse_threshold=1.0 if sparse else 0.0)
    model = Pipeline([("prepare", preparing), ("final", final)]).fit(X, y)
    table = table_of(X)
    read_model = read(model, table)
    assert error(read_model, table, model.predict(X)) <= read_model.tolerance
    assert read_model.drives == {"x": (0, 2), "z": (1,), "text": (3, 4, 5, 6), "size": (7,)}
    assert moved_together(read_model, table, "text", "a") == {3, 4, 5, 6}
    assert moved_together(read_model, table, "x", 3.0) == {0, 2}
    assert moved_together(read_model, table, "spare", 3.0) == set()

    strange = X.assign(text="never")
    assert error(read_model, table_of(strange), model.predict(strange)) <= read_model.tolerance


def test_frames_between_the_steps(mixed):
    X, y = mixed
    preparing = prepared(sparse_output=False).set_output(transform="pandas")
    model = make_pipeline(preparing, HistGradientBoostingClassifier(max_iter=4)).fit(X, y > 1)
    table = table_of(X)
    read_model = read(model, table)
    assert error(read_model, table, model.predict_proba(X)) <= 1e-12
    assert set(read_model.drives) == {"x", "z", "text", "size"}


def test_pipelines_inside_searches_and_around_targets(mixed):
    X, y = mixed
    inner = make_pipeline(prepared(), RandomForestRegressor(n_estimators=3, random_state=0))
    search = GridSearchCV(inner, {"randomforestregressor__max_depth": [2, 4]}, cv=2)
    model = TransformedTargetRegressor(search, transformer=StandardScaler()).fit(X, y)
    table = table_of(X)
    assert error(read(model, table), table, model.predict(X)) <= 1e-12


def test_a_pipeline_that_transforms_nothing(mixed):
    X, y = mixed
    numbers = X[["z", "spare"]]
    model = Pipeline([("nothing", "passthrough"), ("final", DecisionTreeRegressor(max_depth=3))]).fit(
        numbers, y
    )
    table = table_of(numbers)
    assert error(read(model, table), table, model.predict(numbers)) <= 1e-12


@pytest.mark.parametrize("mixer", [PCA(2), PolynomialFeatures(2)])
def test_mixing_preprocessing_is_refused_with_the_columns(mixed, mixer):
    X, y = mixed
    numbers = X[["z", "spare"]]
    model = make_pipeline(mixer, RandomForestRegressor(n_estimators=5, random_state=0)).fit(numbers, y)
    with pytest.raises(CannotRead, match=r"mixes columns .*'z', 'spare'"):
        read(model, table_of(numbers))


def standing_out(rows):
    return rows - rows.mean(axis=0)


def test_functions_that_may_look_across_rows_are_refused(mixed):
    X, y = mixed
    numbers = X[["z", "spare"]]
    model = make_pipeline(FunctionTransformer(standing_out), DecisionTreeRegressor(max_depth=2)).fit(
        numbers, y
    )
    with pytest.raises(CannotRead, match="FunctionTransformer"):
        read(model, table_of(numbers))


def test_rows_without_the_names_the_pipeline_checks_are_refused(mixed):
    X, y = mixed
    numbers = X[["z", "spare"]]
    model = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=2)).fit(numbers, y)
    with pytest.raises(CannotRead, match="feature names"):
        read(model, table_of(numbers.to_numpy()))


def test_what_the_final_step_cannot_be_read_for_is_told(mixed):
    from sklearn.linear_model import LinearRegression

    X, y = mixed
    with pytest.raises(CannotRead, match="LinearRegression"):
        read(make_pipeline(StandardScaler(), LinearRegression()).fit(X[["z"]], y), table_of(X[["z"]]))
