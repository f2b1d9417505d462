"""What a study says of predictions: by the trees where that is cheap, and the model's own numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.core.prediction_level import prediction_level


def fitted(name: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    score = X[:, 0] * X[:, 1] + X[:, 2]
    classes = np.digitize(score, [-0.5, 0.5])
    if name.startswith("lightgbm"):
        lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
        settings = {"n_estimators": 15, "verbose": -1, "min_child_samples": 5}
        if name.endswith("classes"):
            return lightgbm.LGBMClassifier(**settings).fit(X, classes), X
        return lightgbm.LGBMRegressor(**settings).fit(X, score), X
    if name == "xgboost":
        xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
        return xgboost.XGBClassifier(n_estimators=15).fit(X, score > 0), X
    if name == "catboost":
        catboost = pytest.importorskip("catboost", reason="CatBoost is not installed")
        return catboost.CatBoostRegressor(iterations=15, verbose=0).fit(X, score), X
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
    from sklearn.linear_model import LinearRegression

    if name == "histogram boosting":
        frame = pd.DataFrame(X, columns=list("abcd"))
        frame["e"] = pd.Categorical(np.where(X[:, 3] > 0, "up", "down"))
        frame.loc[::7, "a"] = np.nan
        model = HistGradientBoostingClassifier(max_iter=15, categorical_features="from_dtype")
        return model.fit(frame, score > 0), frame
    if name == "forest, two outputs":
        return RandomForestRegressor(5, random_state=0).fit(X, np.column_stack([score, X[:, 3]])), X
    return LinearRegression().fit(X, score), X


NAMES = [
    "lightgbm", "lightgbm, three classes", "xgboost", "catboost", "histogram boosting", "forest, two outputs", "linear",
]  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_moments_of_predictions_are_those_of_the_models_own(name: str, weighted: bool) -> None:
    model, X = fitted(name)
    weights = np.random.default_rng(1).integers(1, 4, 400).astype(float) if weighted else None
    study = Explainer(model, X, weights=weights, target="all").study
    level = prediction_level(study)
    own = study.predictions()
    mean = np.average(own, axis=0, weights=weights)
    np.testing.assert_allclose(level.baseline, mean, rtol=0, atol=1e-6)
    spread = np.sqrt(np.average(np.square(own - mean), axis=0, weights=weights))
    np.testing.assert_allclose(level.std, spread, rtol=0, atol=1e-6)


def test_trees_are_not_asked_for_predictions_to_describe_them(monkeypatch: pytest.MonkeyPatch) -> None:
    model, X = fitted("lightgbm")
    study = Explainer(model, np.tile(X, (3, 1))).study
    study.plan  # noqa: B018  (which checks a few rows against the model's own)

    def refuse(*_: Any) -> None:
        raise AssertionError("the model was asked")

    monkeypatch.setattr(type(study), "predictions", refuse)
    assert np.isfinite(prediction_level(study).std).all()
