"""scikit-learn: its own estimators, pipelines and searches, and whatever speaks as they do."""

from __future__ import annotations

from typing import Any

SPEAKS_BY = ("predict", "predict_proba", "decision_function", "fit")


def recognises(model: Any) -> bool:
    return any(hasattr(model, name) for name in SPEAKS_BY)
