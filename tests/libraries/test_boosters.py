"""What holds for LightGBM, XGBoost and CatBoost alike: classes, columns by name, frames of every library."""

from __future__ import annotations

import numpy as np
import pytest

from icefield.errors import InputError, ModelError
from libraries.booster_samples import (
    BINARY,
    CAT,
    CODED,
    COUNTS,
    EXTREME,
    FRAME,
    LABEL_SETS,
    LIGHT,
    NUMBERS,
    SCORE,
    THREE,
    N,
    converted,
    extreme_booster,
    extreme_predict,
    light_booster,
    read,
    same,
)

lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
catboost = pytest.importorskip("catboost", reason="CatBoost is not installed")


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
    if library == "xgboost":  # which takes any frame, except polars' categories from 3.4 on
        assert all("the model refuses polars" in note for note in model.notes)
    else:
        assert model.notes
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
    positive, response = read(native, NUMBERS)
    model, raw = read(native, NUMBERS, scale="raw")
    assert positive.positive
    assert not model.positive
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


@pytest.mark.parametrize("scale", ["response", "raw"])
@pytest.mark.parametrize(
    "native",
    [lightgbm.LGBMClassifier(), xgboost.XGBClassifier(), catboost.CatBoostClassifier(), catboost.CatBoost()],
    ids=lambda m: type(m).__name__,
)
def test_unfitted_boosters_say_so(native, scale):
    with pytest.raises(ModelError, match=r"is not fitted.*fit it first"):
        read(native, scale=scale)
