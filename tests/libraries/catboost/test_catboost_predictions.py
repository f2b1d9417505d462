"""CatBoost's plain objects and losses against their own predict."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.errors import ModelError
from libraries.booster_samples import (
    BINARY,
    CAT,
    COUNTS,
    NUMBERS,
    SCORE,
    read,
    same,
)
from model_recipes.catboosts import OWN_OBJECTIVE, LogisticByHand

catboost = pytest.importorskip("catboost", reason="CatBoost is not installed")


def test_a_variance_beside_the_mean_is_what_predict_gives():
    native = catboost.CatBoostRegressor(loss_function="RMSEWithUncertainty", **CAT).fit(NUMBERS, SCORE)
    same(read(native, NUMBERS)[1], native.predict(NUMBERS))
    same(read(native, NUMBERS, scale="raw")[1], native.predict(NUMBERS, prediction_type="RawFormulaVal"))


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


# --- the response is what the given class answers --------------------------------------------------

FOCAL = "Focal:focal_alpha=0.4;focal_gamma=1.5"


@pytest.mark.parametrize("loss", [FOCAL, "Logloss", LogisticByHand()], ids=["Focal", "Logloss", "own"])
def test_focal_and_custom_losses_have_probabilities_and_class_names(loss):
    own = {} if isinstance(loss, str) else {"eval_metric": "Logloss", **OWN_OBJECTIVE}
    native = catboost.CatBoostClassifier(loss_function=loss, **CAT, **own).fit(NUMBERS, BINARY)
    model, answer = read(native, NUMBERS, target="all")
    assert (model.kind, model.scale_label, model.outputs) == ("classifier", "probability", ("no", "yes"))
    same(answer, native.predict_proba(NUMBERS))
    raw, margin = read(native, NUMBERS, scale="raw")
    assert raw.outputs == ("yes",)
    same(margin, native.predict(NUMBERS, prediction_type="RawFormulaVal"))
    assert Explainer(native, NUMBERS).partial_dependence(0, grid=3).engine == "trees"


def test_loglinquantile_gives_what_predict_gives_and_says_so():
    positive = np.exp(SCORE / 4)
    loss = "LogLinQuantile:alpha=0.4"
    for native in (
        catboost.CatBoostRegressor(loss_function=loss, **CAT).fit(NUMBERS, positive),
        catboost.CatBoost({"loss_function": loss, **CAT}).fit(NUMBERS, positive),
    ):
        model, answer = read(native, NUMBERS)
        same(answer, native.predict(NUMBERS))
        assert "logarithm" in model.notes[0]


@pytest.mark.parametrize(
    ("loss", "target", "asked"),
    [
        ("Poisson", COUNTS, "Exponent"),
        ("Tweedie:variance_power=1.5", COUNTS, "Exponent"),
        ("Logloss", BINARY, "Probability"),
        ("CrossEntropy", (SCORE > 0).astype(float), "Probability"),
        ("RMSEWithUncertainty", SCORE, "RMSEWithUncertainty"),
    ],
)
def test_the_plain_class_says_where_its_response_is_not_its_predict(loss, target, asked):
    native = catboost.CatBoost({"loss_function": loss, **CAT}).fit(NUMBERS, target)
    same(read(native, NUMBERS, target="all")[1], native.predict(NUMBERS, prediction_type=asked))
    effect = Explainer(native, NUMBERS).partial_dependence(0, grid=3)
    assert f"prediction_type={asked!r}" in effect.why
    assert "predict() of the plain CatBoost class gives scale='raw'" in effect.why
    raw = Explainer(native, NUMBERS, scale="raw")
    same(raw.model.predict(raw.table), native.predict(NUMBERS))
    assert "prediction_type" not in raw.partial_dependence(0, grid=3).why


def test_a_sum_of_models_answers_by_the_loss_its_members_share():
    members = [catboost.CatBoostClassifier(**CAT, random_seed=s).fit(NUMBERS, BINARY) for s in (0, 1)]
    total = catboost.sum_models(members, weights=[0.3, 0.7])
    model, answer = read(total, NUMBERS, target="all")
    assert (model.kind, model.outputs) == ("classifier", ("no", "yes"))
    same(answer, total.predict(NUMBERS, prediction_type="Probability"))
    assert Explainer(total, NUMBERS).partial_dependence(0, grid=3).engine == "trees"


def test_a_sum_of_models_of_several_losses_says_that_it_has_none():
    members = [
        catboost.CatBoostRegressor(loss_function=loss, **CAT).fit(NUMBERS, COUNTS)
        for loss in ("RMSE", "Poisson")
    ]
    total = catboost.sum_models(members)
    same(read(total, NUMBERS)[1], total.predict(NUMBERS))
    effect = Explainer(total, NUMBERS).partial_dependence(0, grid=3)
    assert effect.engine == "brute"
    assert effect.why.count("CatBoost does not say which loss this model has") == 1
    assert "raw scores" in effect.why


def test_columns_named_by_numbers_are_found_by_their_names_as_catboost_finds_them():
    frame = NUMBERS.set_axis([0, 1], axis=1)
    native = catboost.CatBoostRegressor(**CAT).fit(frame, SCORE)
    turned = frame[list(frame.columns)[::-1]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        effect = Explainer(native, turned).partial_dependence(0, grid=[0.5])
    assert (effect.engine, effect.why) == ("trees", "exact, from the catboost trees")
    moved = turned.copy()
    moved[0] = 0.5
    assert np.allclose(effect.average, native.predict(moved).mean(), rtol=0, atol=1e-12)


def test_what_catboost_refuses_on_the_grid_is_the_projects_own_error():
    frame = pd.DataFrame({"c": ["a", "b"] * 40, "x": np.arange(80.0)})
    native = catboost.CatBoostRegressor(cat_features=["c"], **CAT).fit(
        frame, frame["x"] + (frame["c"] == "a")
    )
    for engine in ("auto", "brute"):
        with pytest.raises(ModelError, match=r"could not predict rows with 'c' set to values of the grid \("):
            Explainer(native, frame, engine=engine).partial_dependence("c", grid=["a", None])
