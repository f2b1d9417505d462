"""LightGBM: its scikit-learn wrappers and raw Boosters, on either scale."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from icefield.data.frame import Table
from icefield.libraries.adapter import Adapter, ByClass, Naming, SingleOrNumbered
from icefield.libraries.category_types import refuse_text
from icefield.libraries.lightgbm.format import LOG_OBJECTIVES, booster_of, is_booster, objective_words
from icefield.libraries.row_form import has_categories
from icefield.libraries.sklearn.predictions import adapt as adapt_estimator

FEW_ROWS = 64  # that one thread predicts before several have been woken


def adapt(model: Any, scale: str) -> Adapter:
    """The adapter of a LightGBM model."""
    if not is_booster(model) and not getattr(model, "fitted_", False):
        return adapt_estimator(model, "response")  # the trial prediction will say that it is not fitted
    booster = booster_of(model)
    words, columns = objective_words(booster), tuple(booster.feature_name())
    kind, naming, answer, label = (_of_booster if booster is model else _of_wrapper)(model, words)
    if scale == "raw" or not words:  # a custom objective has no link: LightGBM can only give the score
        answer = _with_few_threads(model.predict, raw_score=True)
        label = "log-odds" if words[:1] == ["binary"] and "sigmoid:1" in words else "raw score"
    note = "the objective is the user's own, so LightGBM knows no link: numbers are raw scores"
    return Adapter(
        kind=kind,
        scale_label=label,
        answer=answer,
        naming=naming,
        columns=columns,
        n_columns=len(columns),
        names_are_made_up=columns == tuple(f"Column_{i}" for i in range(len(columns))),
        avoid=partial(_avoid, booster),
        notes=(note,) if scale == "response" and not words else (),
        positive=scale == "response" and words[:1] != [] and words[0] in LOG_OBJECTIVES,
    )


def _of_wrapper(model: Any, words: list[str]) -> tuple[str, Naming, Any, str]:
    """Kind, names of the outputs, how to ask for the response, and what that is called."""
    if hasattr(model, "predict_proba"):
        return "classifier", ByClass(model.classes_), _with_few_threads(model.predict_proba), "probability"
    kind = "ranker" if words[:1] == ["lambdarank"] else "regressor"
    return kind, SingleOrNumbered("prediction"), _with_few_threads(model.predict), "prediction"


def _of_booster(model: Any, words: list[str]) -> tuple[str, Naming, Any, str]:
    answer = _with_few_threads(model.predict)
    if words[:1] == ["binary"]:
        return "classifier", ByClass(np.arange(2)), partial(_both_classes, answer), "probability"
    if words and words[0] in ("multiclass", "multiclassova"):
        return "classifier", ByClass(np.arange(model.num_model_per_iteration())), answer, "probability"
    return "regressor", SingleOrNumbered("prediction"), answer, "prediction"


def _with_few_threads(method: Any, **options: Any) -> Any:
    """A call of a predict method, with these options, that uses one thread for a few rows: waking several takes milliseconds.

    Each row is predicted by one thread in any case, so the numbers are the same. A class derived from LightGBM's
    may not take its options.
    """
    is_lightgbms = str(getattr(method, "__module__", "")).startswith("lightgbm")
    return partial(_ask, method, options) if is_lightgbms else partial(method, **options)


def _ask(method: Any, options: dict[str, Any], rows: Any) -> Any:
    shape = getattr(rows, "shape", None)
    threads = {"num_threads": 1} if shape is not None and shape[0] <= FEW_ROWS else {}
    return method(rows, **options, **threads)


def _both_classes(ask: Any, rows: Any) -> Any:
    """Probabilities of both classes, in two columns: a binary Booster gives the positive class alone."""
    positive = np.asarray(ask(rows))
    return np.column_stack([1.0 - positive, positive])


def _avoid(booster: Any, table: Table) -> str | None:
    # Categories have a type of their own in pandas, and are known by their levels in other frames.
    has_levels = getattr(booster, "pandas_categorical", None) and table.library != "pandas"
    refuse_text(table, () if has_levels else table.names)
    if table.library in ("polars", "pyarrow") and has_categories(table):
        return "LightGBM takes categories from pandas only"
    return None
