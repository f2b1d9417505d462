"""XGBoost: Boosters, their scikit-learn wrappers, and the JSON they are saved as."""

from __future__ import annotations

from typing import Any

from icefield.libraries.adapter import comes_from

# Each of these, as it is, predicts each row by itself; what derives from them may predict in another way.
CLASSES = (
    "xgboost.core.Booster", "xgboost.sklearn.XGBModel", "xgboost.sklearn.XGBRegressor",
    "xgboost.sklearn.XGBClassifier", "xgboost.sklearn.XGBRanker", "xgboost.sklearn.XGBRFRegressor",
    "xgboost.sklearn.XGBRFClassifier",
)  # fmt: skip


def recognises(model: Any) -> bool:
    return comes_from(model, "xgboost")
