"""LightGBM: Boosters, their scikit-learn wrappers, and the text they are saved as."""

from __future__ import annotations

from typing import Any

from icefield.libraries.adapter import comes_from

# Each of these, as it is, predicts each row by itself; what derives from them may predict in another way.
CLASSES = (
    "lightgbm.basic.Booster", "lightgbm.sklearn.LGBMModel", "lightgbm.sklearn.LGBMRegressor",
    "lightgbm.sklearn.LGBMClassifier", "lightgbm.sklearn.LGBMRanker",
)  # fmt: skip


def recognises(model: Any) -> bool:
    return comes_from(model, "lightgbm")
