"""XGBoost's Boosters and wrappers against their own predict: objectives, scales, classes."""

from __future__ import annotations

import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from libraries.booster_samples import (
    CODED,
    COUNTS,
    EXTREME,
    NUMBERS,
    SCORE,
    THREE,
    N,
    extreme_booster,
    extreme_predict,
    read,
    same,
)

xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")


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


def test_xgboost_takes_absent_entries_of_a_sparse_matrix_as_missing():
    from scipy import sparse

    matrix = sparse.random(N, 4, density=0.4, random_state=0, format="csr")
    native = xgboost.train({"nthread": 1}, xgboost.DMatrix(matrix, SCORE), 5)
    same(read(native, matrix)[1], native.predict(xgboost.DMatrix(matrix)))


def test_a_pipeline_ending_in_a_booster_keeps_both_scales():
    native = make_pipeline(StandardScaler(), xgboost.XGBClassifier(**EXTREME)).fit(NUMBERS, CODED)
    same(read(native, NUMBERS, target="all")[1], native.predict_proba(NUMBERS))
    model, answer = read(native, NUMBERS, scale="raw")
    assert (model.outputs, model.scale_label) == ((1,), "log-odds")
    same(answer, native.predict(NUMBERS, output_margin=True))
