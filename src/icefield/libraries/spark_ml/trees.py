"""Reading Spark ML: from what stands in for a model to a `TreeModel` over the rows' own columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from icefield.data.frame import Table, table_of
from icefield.forest.tree_model import CannotRead, TreeModel
from icefield.libraries.class_path import is_own_class
from icefield.libraries.reading import read
from icefield.libraries.spark_ml.predictors import Booster, TreePredictor
from icefield.libraries.spark_ml.stages import NotKnown
from icefield.libraries.spark_ml.stand_ins import NAMES, SparkMLModel, SparkMLTransforms
from icefield.typing import Float


@dataclass(frozen=True)
class Encoded:
    """Rows as the matrix that trees compare."""

    model: SparkMLModel
    inner: Callable[[Table], Float] | None = None

    def __call__(self, table: Table) -> Float:
        matrix = self.model.matrix(table)
        if self.inner is None:
            predictor = self.model.predictor
            return predictor.encode(matrix) if isinstance(predictor, TreePredictor) else matrix
        return self.inner(table_of(matrix))


def tree_reader(model: Any) -> Callable[[Any, Table], TreeModel] | None:
    """The reader of what stands in for a model."""
    return read_spark if is_own_class(model, "icefield.libraries.spark_ml", NAMES) else None


def read_spark(model: SparkMLModel | SparkMLTransforms, table: Table) -> TreeModel:
    """Read a Spark ML model whose last stage is made of trees."""
    if isinstance(model, SparkMLTransforms):
        raise CannotRead(model.why)
    predictor = model.predictor
    try:
        drives = model.drives(table)
    except NotKnown as reason:
        raise CannotRead(str(reason)) from reason
    if isinstance(predictor, TreePredictor):
        return TreeModel(
            forest=predictor.forest, encode=Encoded(model), drives=drives, link=predictor.link, source="spark", raw_link=predictor.raw_link,
            no_training_weights="they are not read from Spark",
        )  # fmt: skip
    if isinstance(predictor, Booster):
        inner = read(predictor.native, table_of(model.matrix(table.slice(0, min(table.n_rows, 100)))))
        return replace(inner, encode=Encoded(model, inner.encode), drives=drives)
    raise CannotRead(f"{model.name} is linear in its vector, not a sum of trees")
