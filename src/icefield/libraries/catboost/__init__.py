"""CatBoost: its classifiers, regressors, rankers and plain models, and the JSON they export."""

from __future__ import annotations

from typing import Any

from icefield.libraries.adapter import comes_from


def recognises(model: Any) -> bool:
    return comes_from(model, "catboost")
