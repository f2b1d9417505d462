"""What a model's own library says to rows, on either scale, asked as its users ask it and in no other way."""

from __future__ import annotations

import json
from typing import Any

import catboost
import lightgbm as lgb
import numpy as np
import xgboost as xgb

from model_recipes.rows import Fitted


def own_response(found: Fitted, rows: Any) -> np.ndarray:
    """What ``predict_proba``, or else ``predict``, returns; an outlier detector's ``decision_function``."""
    model = found.model
    if found.response is not None:
        return columns(found.response(rows))
    if isinstance(model, (lgb.Booster, xgb.Booster)):
        return _of_a_booster(model, rows)
    if hasattr(model, "predict_proba"):
        return columns(model.predict_proba(rows))
    if getattr(model, "_estimator_type", None) == "outlier_detector" or hasattr(model, "score_samples"):
        return columns(model.decision_function(rows))
    return columns(model.predict(rows))


def own_margin(found: Fitted, rows: Any) -> np.ndarray:
    """The number before the link, as the library itself gives it."""
    model = found.model
    if found.margin is not None:
        return columns(found.margin(rows))
    if isinstance(model, xgb.Booster):
        return columns(model.predict(matrix(model, rows), output_margin=True))
    if isinstance(model, catboost.CatBoostRanker):
        return columns(model.predict(rows))
    if isinstance(model, catboost.CatBoost):
        return columns(model.predict(rows, prediction_type="RawFormulaVal"))
    if isinstance(model, (lgb.Booster, lgb.LGBMModel)):
        return columns(model.predict(rows, raw_score=True))
    if isinstance(model, xgb.XGBModel):
        return columns(model.predict(rows, output_margin=True))
    if hasattr(model, "decision_function"):
        return columns(model.decision_function(rows))
    if getattr(model, "loss", None) in ("poisson", "gamma"):
        return columns(np.log(model.predict(rows)))
    return columns(model.predict(rows))


def _of_a_booster(model: Any, rows: Any) -> np.ndarray:
    """A binary booster gives one column; icefield names both classes (decision 005)."""
    if isinstance(model, lgb.Booster):
        answer, binary = model.predict(rows), model.params.get("objective") == "binary"
        return np.column_stack([1 - answer, answer]) if binary else columns(answer)
    answer = model.predict(matrix(model, rows))
    objective = json.loads(model.save_config())["learner"]["objective"]["name"]
    if objective == "binary:logistic":
        return np.column_stack([1 - answer, answer])
    if objective == "multi:softmax":  # labels; the probabilities are those of multi:softprob
        margins = model.predict(matrix(model, rows), output_margin=True)
        powers = np.exp(margins - margins.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)
    return columns(answer)


def matrix(model: Any, rows: Any) -> xgb.DMatrix:
    names = model.feature_names if isinstance(rows, np.ndarray) else None
    return xgb.DMatrix(rows, enable_categorical=True, feature_names=names)


def columns(answer: Any) -> np.ndarray:
    """An answer with one column per output; several classifiers' probabilities side by side."""
    if isinstance(answer, list):
        return np.hstack(answer)
    answer = np.asarray(answer, float)
    return answer[:, None] if answer.ndim == 1 else answer
