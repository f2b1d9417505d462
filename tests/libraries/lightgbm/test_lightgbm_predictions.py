"""LightGBM's Boosters and wrappers against their own predict: objectives, scales, classes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from libraries.booster_samples import (
    CODED,
    FRAME,
    LIGHT,
    NUMBERS,
    SCORE,
    THREE,
    light_booster,
    read,
    same,
)

lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")


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


def test_a_search_over_boosters_keeps_both_scales():
    native = GridSearchCV(lightgbm.LGBMClassifier(**LIGHT), {"max_depth": [2]}, cv=2).fit(FRAME, CODED)
    same(read(native, target="all")[1], native.predict_proba(FRAME))
    model, answer = read(native, scale="raw")
    assert (model.outputs, model.scale_label) == ((1,), "log-odds")
    same(answer, native.best_estimator_.predict(FRAME, raw_score=True))


def test_a_few_rows_are_asked_on_one_thread_and_many_on_all(monkeypatch):
    asked = []
    predict = lightgbm.Booster.predict

    def watched(self, data, **options):
        asked.append((len(data), options.get("num_threads")))
        return predict(self, data, **options)

    monkeypatch.setattr(lightgbm.Booster, "predict", watched)
    watched.__module__ = predict.__module__
    native = light_booster(SCORE)
    model, _ = read(native)
    few, many = FRAME.head(5), FRAME.sample(100, replace=True, random_state=0)
    asked.clear()
    answers = [model.answer(few), model.answer(many)]
    assert asked == [(5, 1), (100, None)]
    for rows, answer in zip((few, many), answers):
        np.testing.assert_array_equal(answer, native.predict(rows))


def test_a_derived_class_is_asked_by_what_its_predict_takes():
    class Doubled(lightgbm.LGBMRegressor):
        def predict(self, X):
            return 2 * super().predict(X)

    native = Doubled(n_estimators=3, min_child_samples=2, verbose=-1).fit(FRAME, SCORE)
    same(read(native)[1], native.predict(FRAME))
