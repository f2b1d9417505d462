"""Spark ML: how what stands in for a model is asked, on either scale."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from icefield.counts import counted
from icefield.data.frame import table_of
from icefield.errors import ModelError
from icefield.libraries.adapter import Adapter, ByClass, Naming, SingleOrNumbered
from icefield.libraries.spark_ml.stand_ins import SparkMLModel, SparkMLTransforms, stand_in
from icefield.typing import Float

__all__ = ["adapt", "stand_in"]

PREDICTIONS_A_TRANSFORM = 200_000


def adapt(model: Any, scale: str) -> Adapter:
    """The adapter of a Spark ML model."""
    model = stand_in(model)
    return _adapt_read(model, scale) if isinstance(model, SparkMLModel) else _adapt_transforms(model, scale)


def _adapt_read(model: SparkMLModel, scale: str) -> Adapter:
    predictor = model.predictor
    classifier = predictor.kind == "classifier"
    if scale == "raw" and not predictor.raw_label:
        problem = "cannot be 'raw': a single tree of Spark's counts its training rows there"
        raise ModelError.about("scale", problem, hint='use scale="response"')
    label = predictor.raw_label if scale == "raw" else "probability" if classifier else "prediction"
    return Adapter(
        kind=predictor.kind,
        scale_label=label,
        answer=partial(_ask, model, scale),
        naming=_naming(model.labels, predictor.n_classes) if classifier else SingleOrNumbered("prediction"),
        columns=model.columns,
        n_columns=model.n_columns,
        positive=scale == "response" and predictor.positive,
    )


def _adapt_transforms(model: SparkMLTransforms, scale: str) -> Adapter:
    if scale == "raw":
        raise ModelError.about("scale", f"cannot be 'raw': {model.why}", model.name, 'use scale="response"')
    classes = model.n_classes
    return Adapter(
        kind="classifier" if classes else "regressor",
        scale_label=model.answers[0],
        answer=partial(_ask, model, scale),
        naming=_naming((), classes) if classes else SingleOrNumbered("prediction"),
        columns=model.columns,
        notes=(
            f"predicted by transforms in Spark, each of up to {counted(PREDICTIONS_A_TRANSFORM)} predictions here, and one for each "
            "pass over a Spark frame",
        ),
        least_per_call=PREDICTIONS_A_TRANSFORM,
    )


def _naming(labels: tuple[Any, ...], n_classes: int) -> Naming:
    return ByClass(np.array(labels) if len(labels) == n_classes else np.arange(n_classes))


def _ask(model: SparkMLModel | SparkMLTransforms, scale: str, rows: Any) -> Float:
    return model.predict(table_of(rows), scale)
