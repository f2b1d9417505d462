"""XGBoost: its scikit-learn wrappers and raw Boosters, on either scale."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from icefield.data.frame import Table
from icefield.libraries.adapter import Adapter, ByClass, Naming, SingleOrNumbered
from icefield.libraries.category_types import refuse_text
from icefield.libraries.sklearn.predictions import adapt as adapt_estimator
from icefield.libraries.xgboost.format import LOG_OBJECTIVES, Learner, booster_of, config_of, is_wrapper

_SOFTMAX = ("multi:softprob", "multi:softmax")
_PROBABILITY = ("binary:logistic", *_SOFTMAX)


def adapt(model: Any, scale: str) -> Adapter:
    """The adapter of an XGBoost model."""
    is_booster = hasattr(model, "save_config") and not is_wrapper(model)
    if not is_booster and not model.__sklearn_is_fitted__():
        return adapt_estimator(model, "response")  # the trial prediction will say that it is not fitted
    booster = booster_of(model)
    learner, names = config_of(booster), booster.feature_names
    objective = learner.objective
    margin = scale == "raw" or objective == "binary:logitraw"
    naming, answer, label = (_of_booster if is_booster else _of_wrapper)(model, learner, margin)
    if margin:
        label = "log-odds" if objective in ("binary:logistic", "binary:logitraw") else "raw score"
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


def _of_wrapper(model: Any, learner: Learner, margin: bool) -> tuple[Naming, Any, str]:
    """Names of the outputs, how to ask, and what a response is called."""
    classifier = hasattr(model, "predict_proba")
    naming: Naming = SingleOrNumbered("prediction")
    if classifier and learner.n_targets == 1:
        naming = ByClass(model.classes_)
    if margin:
        return naming, partial(model.predict, output_margin=True), ""
    if classifier and learner.objective in _PROBABILITY:
        return naming, model.predict_proba, "probability"
    return naming, model.predict, "predicted class" if classifier else "prediction"


def _of_booster(model: Any, learner: Learner, margin: bool) -> tuple[Naming, Any, str]:
    objective = learner.objective
    both_classes = objective == "binary:logistic" and learner.n_targets == 1 and not margin
    softmax = objective in _SOFTMAX and not margin
    naming: Naming = SingleOrNumbered("prediction")
    if learner.n_targets == 1 and objective.startswith(("binary:", "multi:")) and objective != "binary:hinge":
        naming = ByClass(np.arange(max(2, learner.n_classes)))
    labels = {"binary:hinge": "predicted class", **dict.fromkeys(_PROBABILITY, "probability")}
    answer = partial(_ask_booster, model, margin or softmax, both_classes, softmax)
    return naming, answer, labels.get(objective, "prediction")


def _avoid(booster: Any, table: Table) -> None:
    from icefield.libraries.xgboost.files import number_columns

    refuse_text(table, number_columns(booster, table.names))


def _ask_booster(booster: Any, margin: bool, both_classes: bool, softmax: bool, rows: Any) -> Any:
    from xgboost import DMatrix

    description: dict[str, Any] = {}
    if isinstance(rows, np.ndarray) or hasattr(rows, "tocsr"):
        # Rows without names are the Booster's own columns in its order; it only checks labels.
        description = {"feature_names": booster.feature_names, "feature_types": booster.feature_types}
    matrix = DMatrix(rows, enable_categorical=True, **description)
    has_names = booster.feature_names is not None
    answer = booster.predict(matrix, output_margin=margin, validate_features=has_names)
    if softmax:  # multi:softmax answers with labels; its probabilities are those of multi:softprob
        shifted = np.exp(answer - answer.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)
    return np.column_stack([1.0 - answer, answer]) if both_classes else answer


def _kind(objective: str) -> str:
    if objective.startswith("rank:"):
        return "ranker"
    return "classifier" if objective.startswith(("binary:", "multi:")) else "regressor"
