"""CatBoost's plain objects and losses against their own predict."""

from __future__ import annotations

import pytest

from libraries.booster_samples import (
    BINARY,
    CAT,
    COUNTS,
    NUMBERS,
    SCORE,
    read,
    same,
)

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
