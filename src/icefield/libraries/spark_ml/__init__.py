"""Spark ML: fitted models and pipelines, and XGBoost's models for Spark.

Such a model lives in Spark's own process, so it is read once (`stand_in`): what its stages do with columns, its trees or
coefficients. What stands in its place predicts without Spark, pickles, and goes to workers as any other model.
"""

from __future__ import annotations

from typing import Any


def recognises(model: Any) -> bool:
    kind = type(model)
    return any(f"{base.__module__}.".startswith(("pyspark.ml.", f"{__name__}.")) for base in kind.__mro__)
