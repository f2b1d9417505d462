"""Wrappers that hand every question on: pipelines, fitted searches, frozen estimators."""

from __future__ import annotations

from typing import Any

from icefield.libraries.adapter import comes_from, type_name


def is_pipeline(model: Any) -> bool:
    return comes_from(model, "sklearn") and hasattr(model, "steps") and hasattr(model, "named_steps")


def handed_on_to(model: Any) -> Any | None:
    """The one estimator a wrapper forwards rows to unchanged, or None when it is no such wrapper."""
    if not comes_from(model, "sklearn"):
        return None
    if hasattr(model, "best_estimator_"):
        return model.best_estimator_
    if type_name(model) == "FrozenEstimator":
        return model.estimator
    return None


def unwrapped(model: Any) -> Any:
    """The model inside fitted searches and frozen wrappers, which may be a pipeline."""
    while (inner := handed_on_to(model)) is not None:
        model = inner
    return model


def core(model: Any) -> Any:
    """The estimator that decides in the end, inside any nesting of wrappers and pipelines."""
    while True:
        inner = model.steps[-1][1] if is_pipeline(model) else handed_on_to(model)
        if inner is None or isinstance(inner, str):
            return model
        model = inner
