"""Spark ML's models transform each row by itself, and so does what stands in their place; stages of others may not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from icefield.libraries.class_path import is_own_class
from icefield.libraries.spark_ml.stand_ins import NAMES, SparkMLModel


def is_row_by_row(model: Any, is_known: Callable[[Any], bool]) -> bool:
    """Whether this stands in for a model whose stages are all Spark ML's own or XGBoost's."""
    if not is_own_class(model, "icefield.libraries.spark_ml", NAMES):
        return False
    return isinstance(model, SparkMLModel) or bool(model.known)
