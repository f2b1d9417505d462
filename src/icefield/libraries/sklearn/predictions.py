"""Estimators: objects with ``predict``, ``predict_proba`` or ``decision_function``.

This hides how the scikit-learn way of speaking differs between classifiers (with and without
probabilities), regressors, outlier detectors, multi-output models, pipelines and wrappers. The
raw scale, where each family keeps its margin in another place, is read in `margins`.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from icefield.data.frame import Table
from icefield.errors import ModelError
from icefield.libraries.adapter import (
    Adapter,
    ByClass,
    Naming,
    SingleOrNumbered,
    comes_from,
    plain_labels,
    type_name,
)
from icefield.libraries.sklearn.few_rows import with_few_threads
from icefield.libraries.sklearn.margins import has_log_link, raw_answer
from icefield.libraries.sklearn.nesting import core
from icefield.libraries.sklearn.threads import gains_by_threads


def adapt(model: Any, scale: str) -> Adapter:
    """The adapter of any object that predicts the scikit-learn way."""
    kind = estimator_kind(model)
    if kind == "outlier detector":
        answer, naming, label = _outlier_score(model)
    elif scale == "raw":
        answer, label = raw_answer(model, kind)
        naming = _margin_naming(model, kind)
    elif kind == "classifier":
        answer, naming, label = _class_answer(model)
    elif hasattr(model, "predict_proba") and kind != "regressor":
        labels = getattr(model, "classes_", None)
        naming = ByClass(labels) if labels is not None else SingleOrNumbered("prediction", stem="component ")
        answer, label = model.predict_proba, "probability"
    elif kind == "clusterer":
        problem = f"is a clusterer ({type_name(model)}): cluster numbers are names, not quantities"
        hint = "pass a function, for example lambda X: model.transform(X)[:, 0]"
        raise ModelError.about("model", problem, hint=hint)
    elif hasattr(model, "predict"):
        answer, naming, label = model.predict, _naming(model, kind), "prediction"
    else:
        raise _cannot_predict(model)
    columns, n_columns = fitted_columns(model)
    return Adapter(
        kind=kind,
        scale_label=label,
        answer=with_few_threads(model, answer),
        naming=naming,
        columns=columns,
        n_columns=n_columns,
        avoid=partial(_misread_library, model),
        parallel=gains_by_threads(model),
        positive=scale == "response" and has_log_link(model),
    )


def estimator_kind(model: Any) -> str:
    """``"classifier"``, ``"regressor"``, ``"outlier detector"``, ``"clusterer"`` or ``"estimator"``."""
    declared = None
    tags = getattr(model, "__sklearn_tags__", None)
    if callable(tags):
        with suppress(
            Exception
        ):  # a custom estimator may inherit tags it cannot answer; its methods still speak
            declared = tags().estimator_type
    declared = declared or getattr(model, "_estimator_type", None)
    if declared == "outlier_detector":
        return "outlier detector"
    if declared in ("classifier", "regressor", "clusterer"):
        return str(declared)
    return "classifier" if hasattr(model, "predict_proba") and hasattr(model, "classes_") else "estimator"


def fitted_columns(model: Any) -> tuple[tuple[Any, ...] | None, int | None]:
    """Names (or None) and number (or None) of the columns an estimator was fitted on."""
    names, count = _quiet(model, "feature_names_in_"), _quiet(model, "n_features_in_")
    if names is not None:
        return plain_labels(names), len(plain_labels(names))
    return None, int(count) if isinstance(count, (int, np.integer)) else None


def _quiet(model: Any, attribute: str) -> Any:
    """An attribute that may be a property raising whatever it likes on an unfitted model."""
    try:
        return getattr(model, attribute, None)
    except Exception:
        return None


def _misread_library(model: Any, table: Table) -> str | None:
    if table.library == "pyarrow" and comes_from(model, "sklearn"):
        return "scikit-learn takes a missing category of an Arrow table for a level of its own"
    return None


def _outlier_score(model: Any) -> tuple[Any, Naming, str]:
    if not hasattr(model, "decision_function"):
        novelty = hasattr(model, "novelty")
        hint = "build it with novelty=True" if novelty else "pass a function that scores rows"
        problem = f"is an outlier detector ({type_name(model)}) that cannot score new rows"
        raise ModelError.about("model", problem, hint=hint)
    return model.decision_function, SingleOrNumbered("score"), "anomaly score (higher is more normal)"


def _class_answer(model: Any) -> tuple[Any, Naming, str]:
    """Probabilities, or else the decision function, or else labels that are numbers."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba, _naming(model, "classifier"), "probability"
    if hasattr(model, "decision_function"):
        return model.decision_function, _margin_naming(model, "classifier"), "decision function"
    if not hasattr(model, "predict"):
        raise _cannot_predict(model)
    labels = getattr(model, "classes_", None)
    if labels is not None and np.asarray(labels, dtype=object).dtype.kind == "O":
        parts = labels if isinstance(labels, list) else [labels]
        flat = [label for part in parts for label in plain_labels(part)]
        if any(not isinstance(label, (bool, int, float)) for label in flat):
            problem = f"is a classifier ({type_name(model)}) that only predicts labels ({flat[0]!r}, ...), which cannot be averaged"
            function = f"lambda X: model.predict(X) == {flat[-1]!r}"
            hint = f"use a classifier with predict_proba, or pass a function such as {function}"
            raise ModelError.about("model", problem, hint=hint)
    return model.predict, SingleOrNumbered("prediction"), "predicted class"


def _naming(model: Any, kind: str) -> Naming:
    labels = _quiet(model, "classes_")
    if kind != "classifier" or labels is None:
        return SingleOrNumbered("prediction")
    return ByClass(labels, exclusive=not _labels_are_independent(core(model)))


def _margin_naming(model: Any, kind: str) -> Naming:
    """By class, except that SVC can give a number per pair of classes (as many as classes when three)."""
    labels = plain_labels(_quiet(model, "classes_"))
    if getattr(core(model), "decision_function_shape", None) == "ovo" and len(labels) > 2:
        pairs = [f"{a} vs {b}" for i, a in enumerate(labels) for b in labels[i + 1 :]]
        return SingleOrNumbered("prediction", pairs)
    return _naming(model, kind)


def _labels_are_independent(model: Any) -> bool:
    """Whether two columns are two labels that may both hold, and not the two sides of one question."""
    logistic = getattr(model, "out_activation_", None) == "logistic"
    return bool(getattr(model, "multilabel_", False) or (logistic and getattr(model, "n_outputs_", 1) > 1))


def _cannot_predict(model: Any) -> ModelError:
    what = "only transforms" if hasattr(model, "transform") else "has no predict"
    problem = f"{what}: {type_name(model)} gives no predictions"
    return ModelError.about(
        "model", problem, hint="pass a fitted model with predict, or a function from rows to numbers"
    )
