"""Which of LightGBM's models predict each row by itself: all of its own classes, each as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from icefield.libraries.class_path import is_own_class

CLASSES = ("Booster", "LGBMClassifier", "LGBMModel", "LGBMRanker", "LGBMRegressor")


def is_row_by_row(model: Any, is_known: Callable[[Any], bool]) -> bool:
    """Whether this is one of LightGBM's own classes: what derives from them may predict in another way."""
    return is_own_class(model, "lightgbm", CLASSES)
