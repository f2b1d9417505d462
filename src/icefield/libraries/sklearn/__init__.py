"""scikit-learn: its own estimators, pipelines and searches, and whatever speaks as they do."""

from __future__ import annotations

from typing import Any

SPEAKS_BY = ("predict", "predict_proba", "decision_function", "fit")


def recognises(model: Any) -> bool:
    """Whether this is an estimator of scikit-learn's own; those derived from them may be another library's."""
    return type(model).__module__.partition(".")[0] == "sklearn" and takes(model)


def takes(model: Any) -> bool:
    """Whether this can be asked as scikit-learn's estimators are."""
    return any(hasattr(model, name) for name in SPEAKS_BY)
