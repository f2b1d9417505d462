"""CatBoost: its classifiers, regressors, rankers and plain models, and the JSON they export."""

from __future__ import annotations

from typing import Any

from icefield.libraries.adapter import comes_from

# Each of these, as it is, predicts each row by itself; what derives from them may predict in another way.
CLASSES = (
    "catboost.core.CatBoost", "catboost.core.CatBoostRegressor", "catboost.core.CatBoostClassifier",
    "catboost.core.CatBoostRanker",
)  # fmt: skip


def recognises(model: Any) -> bool:
    return comes_from(model, "catboost")
