"""XGBoost: its scikit-learn wrappers and raw Boosters, on either scale."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np

from icefield.models.adapter import Adapter, ByClass, Naming, SingleOrNumbered
from icefield.models.estimators import read_estimator

_SOFTMAX = ("multi:softprob", "multi:softmax")
_PROBABILITY = ("binary:logistic", *_SOFTMAX)


def read_xgboost(model: Any, scale: str) -> Adapter:
    """The adapter of an XGBoost model."""
    if hasattr(model, "save_config") and not hasattr(model, "get_booster"):
        return _read_booster(model, scale)
    if not model.__sklearn_is_fitted__():
        return read_estimator(model, "response")  # the trial prediction will say that it is not fitted
    return _read_wrapper(model, scale)


def _read_wrapper(model: Any, scale: str) -> Adapter:
    booster = model.get_booster()
    objective, _, targets = _objective(booster)
    classifier = hasattr(model, "predict_proba")
    naming: Naming = SingleOrNumbered("prediction")
    if classifier and targets == 1:
        naming = ByClass(model.classes_)
    if scale == "raw" or objective == "binary:logitraw":
        answer, label = partial(model.predict, output_margin=True), _raw_label(objective)
    elif classifier and (objective in _PROBABILITY):
        answer, label = model.predict_proba, "probability"
    else:
        answer, label = model.predict, "predicted class" if classifier else "prediction"
    return _adapter(_kind(objective), label, answer, naming, booster)


def _read_booster(model: Any, scale: str) -> Adapter:
    objective, classes, targets = _objective(model)
    margin = scale == "raw" or objective == "binary:logitraw"
    both_sides = objective == "binary:logistic" and targets == 1 and not margin
    softmax = objective in _SOFTMAX and not margin
    naming: Naming = SingleOrNumbered("prediction")
    if targets == 1 and objective.startswith(("binary:", "multi:")) and objective != "binary:hinge":
        naming = ByClass(np.arange(max(2, classes)))
    if margin:
        label = _raw_label(objective)
    elif objective in _PROBABILITY:
        label = "probability"
    else:
        label = "predicted class" if objective == "binary:hinge" else "prediction"
    answer = partial(_ask_booster, model, margin or softmax, both_sides, softmax)
    return _adapter(_kind(objective), label, answer, naming, model)


def _adapter(kind: str, label: str, answer: Any, naming: Naming, booster: Any) -> Adapter:
    names = booster.feature_names
    return Adapter(
        kind=kind,
        scale_label=label,
        answer=answer,
        naming=naming,
        columns=tuple(names) if names is not None else None,
        n_columns=booster.num_features(),
    )


def _ask_booster(booster: Any, margin: bool, both_sides: bool, softmax: bool, rows: Any) -> Any:
    from xgboost import DMatrix

    described: dict[str, Any] = {}
    if isinstance(rows, np.ndarray) or hasattr(rows, "tocsr"):
        # Rows without names are the Booster's own columns in its order; it only checks labels.
        described = {"feature_names": booster.feature_names, "feature_types": booster.feature_types}
    matrix = DMatrix(rows, enable_categorical=True, **described)
    answer = booster.predict(
        matrix, output_margin=margin, validate_features=booster.feature_names is not None
    )
    if softmax:  # multi:softmax answers with labels; its probabilities are those of multi:softprob
        shifted = np.exp(answer - answer.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)
    return np.column_stack([1.0 - answer, answer]) if both_sides else answer


def _objective(booster: Any) -> tuple[str, int, int]:
    """Name of the objective, number of classes and number of targets."""
    learner = json.loads(booster.save_config())["learner"]
    sizes = learner["learner_model_param"]
    return learner["objective"]["name"], int(sizes["num_class"]), int(sizes.get("num_target", "1"))


def _kind(objective: str) -> str:
    if objective.startswith("rank:"):
        return "ranker"
    return "classifier" if objective.startswith(("binary:", "multi:")) else "regressor"


def _raw_label(objective: str) -> str:
    return "log-odds" if objective in ("binary:logistic", "binary:logitraw") else "raw score"
