"""LightGBM, XGBoost and CatBoost, as wrappers and as raw boosters, against their own predict."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from icefield.data.frame import table_of
from icefield.errors import InputError, ModelError
from icefield.models.model import read_model

lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
catboost = pytest.importorskip("catboost", reason="CatBoost is not installed")

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


def classifiers():
    return {
        "lightgbm": lightgbm.LGBMClassifier(**LIGHT),
        "xgboost": xgboost.XGBClassifier(enable_categorical=True, **EXTREME),
        "catboost": catboost.CatBoostClassifier(cat_features=["level"], **CAT),
    }


MARGIN = {
    "lightgbm": {"raw_score": True},
    "xgboost": {"output_margin": True},
    "catboost": {"prediction_type": "RawFormulaVal"},
}


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
@pytest.mark.parametrize("classes", [CODED, THREE], ids=["binary", "three"])
def test_classifier_wrappers(library, classes):
    native = classifiers()[library].fit(FRAME, classes)
    model, answer = read(native, target="all")
    assert (model.kind, model.scale_label) == ("classifier", "probability")
    assert model.outputs == tuple(range(classes.max() + 1))
    same(answer, native.predict_proba(FRAME))
    model, answer = read(native, scale="raw")
    assert model.outputs == ((1,) if classes is CODED else (0, 1, 2))
    assert model.scale_label == ("log-odds" if classes is CODED else "raw score")
    same(answer, native.predict(FRAME, **MARGIN[library]))


@pytest.mark.parametrize("library", ["lightgbm", "catboost"])
def test_class_labels_may_be_words(library):
    native = classifiers()[library].fit(FRAME, BINARY)
    model, answer = read(native, target="no")
    assert model.all_outputs == ("no", "yes")
    same(answer, native.predict_proba(FRAME)[:, 0])
    with pytest.raises(InputError, match=r"one output, for class 'yes'"):
        read(native, target="no", scale="raw")


@pytest.mark.parametrize("frames", ["polars", "pyarrow"])
@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_every_frame_library_gives_the_numbers_of_the_one_used_in_fitting(library, frames, capfd):
    native = classifiers()[library].fit(FRAME, CODED)
    model, answer = read(native, converted(frames), target="all")
    same(answer, native.predict_proba(FRAME))
    assert bool(model.notes) == (library != "xgboost")
    assert "Fatal" not in capfd.readouterr().err  # LightGBM prints what it refuses: it is not asked


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_columns_are_found_by_name_and_reordered(library):
    native = classifiers()[library].fit(FRAME, CODED)
    shuffled = FRAME.assign(extra=1.0)[["extra", "level", "two words", "x"]]
    model, answer = read(native, shuffled, target="all")
    assert model.columns == ("x", "two words", "level")
    same(answer, native.predict_proba(FRAME))
    with pytest.raises(ModelError, match=r"lacks 1 of the 3 columns.*'level'"):
        read(native, NUMBERS)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
@pytest.mark.parametrize("fitted_on", ["names", "no names"])
def test_names_on_one_side_only(library, fitted_on):
    estimator = {
        "lightgbm": lightgbm.LGBMRegressor(**LIGHT),
        "xgboost": xgboost.XGBRegressor(**EXTREME),
        "catboost": catboost.CatBoostRegressor(**CAT),
    }[library]
    native = estimator.fit(NUMBERS if fitted_on == "names" else NUMBERS.to_numpy(), SCORE)
    other = NUMBERS.to_numpy() if fitted_on == "names" else NUMBERS
    model, answer = read(native, other)
    assert (model.kind, model.outputs) == ("regressor", ("prediction",))
    same(answer, native.predict(NUMBERS if fitted_on == "names" else NUMBERS.to_numpy()))


@pytest.mark.parametrize(
    ("native", "margin"),
    [
        (lightgbm.LGBMRegressor(objective="poisson", **LIGHT), "lightgbm"),
        (lightgbm.LGBMRegressor(objective="tweedie", **LIGHT), "lightgbm"),
        (xgboost.XGBRegressor(objective="count:poisson", **EXTREME), "xgboost"),
        (catboost.CatBoostRegressor(loss_function="Poisson", **CAT), "catboost"),
    ],
)
def test_a_log_link_has_both_scales(native, margin):
    native = native.fit(NUMBERS, COUNTS)
    _, response = read(native, NUMBERS)
    model, raw = read(native, NUMBERS, scale="raw")
    same(response, native.predict(NUMBERS))
    same(raw, native.predict(NUMBERS, **MARGIN[margin]))
    same(np.exp(raw), response, atol=1e-5)
    assert model.scale_label == "raw score"


def test_labels_that_may_hold_together():
    native = catboost.CatBoostClassifier(loss_function="MultiLogloss", **CAT).fit(NUMBERS, LABEL_SETS)
    model, answer = read(native, NUMBERS)
    assert len(model.outputs) == 2
    same(answer, native.predict_proba(NUMBERS))
    native = xgboost.XGBClassifier(**EXTREME).fit(NUMBERS, LABEL_SETS)
    model, answer = read(native, NUMBERS)
    assert model.outputs == ("y0", "y1")
    same(answer, native.predict_proba(NUMBERS))


def test_several_regression_targets():
    both = np.column_stack([SCORE, -SCORE])
    for native in (
        xgboost.XGBRegressor(**EXTREME),
        catboost.CatBoostRegressor(loss_function="MultiRMSE", **CAT),
    ):
        native = native.fit(NUMBERS, both)
        model, answer = read(native, NUMBERS)
        assert model.outputs == ("y0", "y1")
        same(answer, native.predict(NUMBERS))


def test_a_variance_beside_the_mean_is_what_predict_gives():
    native = catboost.CatBoostRegressor(loss_function="RMSEWithUncertainty", **CAT).fit(NUMBERS, SCORE)
    same(read(native, NUMBERS)[1], native.predict(NUMBERS))
    same(read(native, NUMBERS, scale="raw")[1], native.predict(NUMBERS, prediction_type="RawFormulaVal"))


def test_rankers():
    groups = [N // 2, N // 2]
    ranks = THREE
    native = lightgbm.LGBMRanker(**LIGHT).fit(NUMBERS, ranks, group=groups)
    model, answer = read(native, NUMBERS)
    assert model.kind == "ranker"
    same(answer, native.predict(NUMBERS))
    native = xgboost.XGBRanker(**EXTREME).fit(NUMBERS, ranks, group=groups)
    model, answer = read(native, NUMBERS)
    assert model.kind == "ranker"
    same(answer, native.predict(NUMBERS))
    native = catboost.CatBoostRanker(**CAT).fit(NUMBERS, ranks, group_id=np.repeat([0, 1], N // 2))
    model, answer = read(native, NUMBERS)
    assert model.kind == "ranker"
    same(answer, native.predict(NUMBERS))


# --- raw boosters --------------------------------------------------------------------------------


def light_booster(y, data=FRAME, **parameters):
    parameters = {"verbose": -1, "num_threads": 1, **parameters}
    return lightgbm.train(parameters, lightgbm.Dataset(data, y), 5)


def extreme_booster(y, data=FRAME, **parameters):
    matrix = xgboost.DMatrix(data, y, enable_categorical=True)
    return xgboost.train({"nthread": 1, **parameters}, matrix, 5)


def extreme_predict(booster, data=FRAME, **options):
    return booster.predict(xgboost.DMatrix(data, enable_categorical=True), **options)


@pytest.mark.parametrize("reloaded", [False, True])
def test_a_binary_lightgbm_booster_has_both_classes(reloaded):
    native = light_booster(CODED, objective="binary")
    if reloaded:
        native = lightgbm.Booster(model_str=native.model_to_string())
    model, answer = read(native)
    assert (model.kind, model.scale_label, model.outputs) == ("classifier", "probability", (1,))
    same(answer, native.predict(FRAME))
    same(read(native, target=0)[1], 1 - native.predict(FRAME))
    model, answer = read(native, scale="raw")
    assert (model.scale_label, model.outputs) == ("log-odds", (1,))
    same(answer, native.predict(FRAME, raw_score=True))


def test_a_margin_that_a_factor_turns_into_log_odds_is_not_called_so():
    native = light_booster(CODED, objective="binary", sigmoid=2.0)
    assert read(native, scale="raw")[0].scale_label == "raw score"


@pytest.mark.parametrize("objective", ["multiclass", "multiclassova"])
def test_a_lightgbm_booster_of_several_classes(objective):
    native = light_booster(THREE, objective=objective, num_class=3)
    model, answer = read(native)
    assert model.outputs == (0, 1, 2)
    same(answer, native.predict(FRAME))
    same(read(native, scale="raw", target=2)[1], native.predict(FRAME, raw_score=True)[:, 2])


def test_a_lightgbm_booster_stops_where_its_predict_stops():
    native = light_booster(SCORE, NUMBERS)
    native.best_iteration = 2
    assert np.abs(native.predict(NUMBERS) - native.predict(NUMBERS, num_iteration=5)).max() > 0.01
    same(read(native, NUMBERS)[1], native.predict(NUMBERS, num_iteration=2))


def test_a_custom_objective_has_only_its_score():
    def squares(predictions, data):
        return predictions - data.get_label(), np.ones_like(predictions)

    native = light_booster(SCORE, objective=squares)
    model, answer = read(native)
    assert model.scale_label == "raw score"
    assert "objective is the user's own" in model.notes[0]
    same(answer, native.predict(FRAME))

    def own(truth, predictions):
        return predictions - truth, np.ones_like(predictions)

    native = lightgbm.LGBMClassifier(objective=own, **LIGHT).fit(FRAME, CODED)
    model, answer = read(native)
    assert (model.scale_label, model.outputs) == ("raw score", (1,))
    same(answer, native.predict(FRAME, raw_score=True))


def test_a_binary_xgboost_booster_has_both_classes():
    native = extreme_booster(CODED, objective="binary:logistic")
    model, answer = read(native)
    assert (model.kind, model.scale_label, model.outputs) == ("classifier", "probability", (1,))
    same(answer, extreme_predict(native))
    same(read(native, target=0)[1], 1 - extreme_predict(native))
    model, answer = read(native, scale="raw")
    assert model.scale_label == "log-odds"
    same(answer, extreme_predict(native, output_margin=True))


@pytest.mark.parametrize("objective", ["multi:softprob", "multi:softmax"])
def test_an_xgboost_booster_of_several_classes_gives_probabilities(objective):
    native = extreme_booster(THREE, objective=objective, num_class=3)
    twin = extreme_booster(THREE, objective="multi:softprob", num_class=3)
    model, answer = read(native)
    assert (model.outputs, model.scale_label) == ((0, 1, 2), "probability")
    same(answer, extreme_predict(twin), atol=1e-6)
    same(read(native, scale="raw")[1], extreme_predict(native, output_margin=True))


@pytest.mark.parametrize(
    ("objective", "y", "label"),
    [
        ("reg:squarederror", SCORE, "prediction"),
        ("count:poisson", COUNTS, "prediction"),
        ("binary:logitraw", CODED, "log-odds"),
        ("binary:hinge", CODED, "predicted class"),
    ],
)
def test_other_xgboost_objectives(objective, y, label):
    native = extreme_booster(y, objective=objective)
    model, answer = read(native)
    assert model.scale_label == label
    same(answer, extreme_predict(native))
    same(read(native, scale="raw")[1], extreme_predict(native, output_margin=True))


@pytest.mark.parametrize("fitted_on", ["names", "no names"])
@pytest.mark.parametrize("asked_with", ["names", "no names"])
def test_boosters_and_names(fitted_on, asked_with):
    train = NUMBERS if fitted_on == "names" else NUMBERS.to_numpy()
    ask = NUMBERS if asked_with == "names" else NUMBERS.to_numpy()
    native = extreme_booster(SCORE, train)
    same(read(native, ask)[1], extreme_predict(native, train))
    native = light_booster(SCORE, train)
    same(read(native, ask)[1], native.predict(train))


@pytest.mark.parametrize("frames", ["polars", "pyarrow"])
def test_boosters_in_every_frame_library(frames):
    native = extreme_booster(CODED, objective="binary:logistic")
    same(read(native, converted(frames))[1], extreme_predict(native))
    native = light_booster(CODED, objective="binary")
    same(read(native, converted(frames))[1], native.predict(FRAME))


def test_xgboost_takes_absent_entries_of_a_sparse_matrix_as_missing():
    from scipy import sparse

    matrix = sparse.random(N, 4, density=0.4, random_state=0, format="csr")
    native = xgboost.train({"nthread": 1}, xgboost.DMatrix(matrix, SCORE), 5)
    same(read(native, matrix)[1], native.predict(xgboost.DMatrix(matrix)))


def test_a_plain_catboost_object_answers_by_its_loss(tmp_path):
    native = catboost.CatBoost({"loss_function": "Logloss", **CAT}).fit(NUMBERS, BINARY)
    native.save_model(str(tmp_path / "model.cbm"))
    loaded = catboost.CatBoost().load_model(str(tmp_path / "model.cbm"))
    for one in (native, loaded):
        model, answer = read(one, NUMBERS, target="all")
        assert (model.kind, model.scale_label, model.outputs) == ("classifier", "probability", ("no", "yes"))
        same(answer, one.predict(NUMBERS, prediction_type="Probability"))
        same(read(one, NUMBERS, scale="raw")[1], one.predict(NUMBERS, prediction_type="RawFormulaVal"))
    native = catboost.CatBoost({"loss_function": "Poisson", **CAT}).fit(NUMBERS, COUNTS)
    same(read(native, NUMBERS)[1], native.predict(NUMBERS, prediction_type="Exponent"))


# --- unfitted and wrapped ------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["response", "raw"])
@pytest.mark.parametrize(
    "native",
    [lightgbm.LGBMClassifier(), xgboost.XGBClassifier(), catboost.CatBoostClassifier(), catboost.CatBoost()],
    ids=lambda m: type(m).__name__,
)
def test_unfitted_boosters_say_so(native, scale):
    with pytest.raises(ModelError, match=r"is not fitted.*fit it first"):
        read(native, scale=scale)


def test_a_search_over_boosters_keeps_both_scales():
    native = GridSearchCV(lightgbm.LGBMClassifier(**LIGHT), {"max_depth": [2]}, cv=2).fit(FRAME, CODED)
    same(read(native, target="all")[1], native.predict_proba(FRAME))
    model, answer = read(native, scale="raw")
    assert (model.outputs, model.scale_label) == ((1,), "log-odds")
    same(answer, native.best_estimator_.predict(FRAME, raw_score=True))


def test_a_pipeline_ending_in_a_booster_keeps_both_scales():
    native = make_pipeline(StandardScaler(), xgboost.XGBClassifier(**EXTREME)).fit(NUMBERS, CODED)
    same(read(native, NUMBERS, target="all")[1], native.predict_proba(NUMBERS))
    model, answer = read(native, NUMBERS, scale="raw")
    assert (model.outputs, model.scale_label) == ((1,), "log-odds")
    same(answer, native.predict(NUMBERS, output_margin=True))
