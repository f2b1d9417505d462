"""XGBoost: its scikit-learn wrappers and raw Boosters, on either scale."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from icefield.data.frame import Table
from icefield.libraries.adapter import Adapter, ByClass, Naming, SingleOrNumbered
from icefield.libraries.category_types import refuse_text
from icefield.libraries.sklearn.predictions import adapt as adapt_estimator
from icefield.libraries.xgboost.format import LOG_OBJECTIVES, configured, is_wrapper

_SOFTMAX = ("multi:softprob", "multi:softmax")
_PROBABILITY = ("binary:logistic", *_SOFTMAX)


def adapt(model: Any, scale: str) -> Adapter:
    """The adapter of an XGBoost model."""
    if hasattr(model, "save_config") and not is_wrapper(model):
        return _adapt_booster(model, scale)
    if not model.__sklearn_is_fitted__():
        return adapt_estimator(model, "response")  # the trial prediction will say that it is not fitted
    return _adapt_wrapper(model, scale)


def _adapt_wrapper(model: Any, scale: str) -> Adapter:
    booster = model.get_booster()
    learner, classifier = configured(booster), hasattr(model, "predict_proba")
    objective, one = learner.objective, learner.n_targets == 1
    naming: Naming = ByClass(model.classes_) if classifier and one else SingleOrNumbered("prediction")
    if scale == "raw" or objective == "binary:logitraw":
        answer, label = partial(model.predict, output_margin=True), _raw_label(objective)
    elif classifier and objective in _PROBABILITY:
        answer, label = model.predict_proba, "probability"
    else:
        answer, label = model.predict, "predicted class" if classifier else "prediction"
    return _named(objective, label, answer, naming, booster, scale)


def _adapt_booster(model: Any, scale: str) -> Adapter:
    learner = configured(model)
    objective = learner.objective
    margin = scale == "raw" or objective == "binary:logitraw"
    both_sides = objective == "binary:logistic" and learner.n_targets == 1 and not margin
    softmax = objective in _SOFTMAX and not margin
    naming: Naming = SingleOrNumbered("prediction")
    if learner.n_targets == 1 and objective.startswith(("binary:", "multi:")) and objective != "binary:hinge":
        naming = ByClass(np.arange(max(2, learner.n_classes)))
    label = "probability" if objective in _PROBABILITY else "prediction"
    if margin or objective == "binary:hinge":
        label = _raw_label(objective) if margin else "predicted class"
    answer = partial(_ask_booster, model, margin or softmax, both_sides, softmax)
    return _named(objective, label, answer, naming, model, scale)


def _named(objective: str, label: str, answer: Any, naming: Naming, booster: Any, scale: str) -> Adapter:
    names = booster.feature_names
    return Adapter(
        kind=_kind(objective),
        scale_label=label,
        answer=answer,
        naming=naming,
        columns=None if names is None else tuple(names),
        n_columns=booster.num_features(),
        avoid=partial(_avoid, booster),
        positive=scale == "response" and objective in LOG_OBJECTIVES,
    )


def _avoid(booster: Any, table: Table) -> None:
    from icefield.libraries.xgboost.files import number_columns

    refuse_text(table, number_columns(booster, table.names))


def _ask_booster(booster: Any, margin: bool, both_sides: bool, softmax: bool, rows: Any) -> Any:
    from xgboost import DMatrix

    described: dict[str, Any] = {}
    if isinstance(rows, np.ndarray) or hasattr(rows, "tocsr"):
        # Rows without names are the Booster's own columns in its order; it only checks labels.
        described = {"feature_names": booster.feature_names, "feature_types": booster.feature_types}
    matrix = DMatrix(rows, enable_categorical=True, **described)
    named = booster.feature_names is not None
    answer = booster.predict(matrix, output_margin=margin, validate_features=named)
    if softmax:  # multi:softmax answers with labels; its probabilities are those of multi:softprob
        shifted = np.exp(answer - answer.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)
    return np.column_stack([1.0 - answer, answer]) if both_sides else answer


def _kind(objective: str) -> str:
    if objective.startswith("rank:"):
        return "ranker"
    return "classifier" if objective.startswith(("binary:", "multi:")) else "regressor"


def _raw_label(objective: str) -> str:
    return "log-odds" if objective in ("binary:logistic", "binary:logitraw") else "raw score"
