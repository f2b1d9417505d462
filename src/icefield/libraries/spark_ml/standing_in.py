"""What icefield uses for a Spark ML model: the model read, which needs no Spark, or else Spark's own transforms.

The first is checked against Spark once, on the first rows it is asked about. The second is for what is not read: each call makes
one frame of all its rows, however many points of a grid they are, and transforms it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.data.columns import library_named
from icefield.errors import InputError, ModelError, complaint
from icefield.libraries.adapter import type_name
from icefield.libraries.spark_ml.predictors import Predictor, predictor_of
from icefield.libraries.spark_ml.stages import (
    Assembled,
    NotKnown,
    Step,
    inputs_of,
    needed,
    outputs_of,
    rows_columns,
    run,
    slots_of,
    step_of,
)
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.data.frame import Table

CHECKED = 50  # rows
PLACE = "icefield_row"
NAMES = ("SparkMLModel", "SparkMLTransforms")


@dataclass(frozen=True, eq=False)
class SparkMLModel:
    """A Spark ML model that was read.

    Attributes
    ----------
    name : of the model's class
    steps : from the rows' columns to the vector
    vector : the column that holds the vector; without steps the rows' columns, in their order, are its slots
    predictor : the last stage
    labels : of the classes, where a stage indexed them
    """

    name: str
    steps: tuple[Step, ...]
    vector: str
    predictor: Predictor
    labels: tuple[Any, ...] = ()
    unchecked: list[Any] = field(
        default_factory=list, repr=False
    )  # Spark's transforms, until they were compared

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "unchecked": []}

    @cached_property
    def columns(self) -> tuple[str, ...] | None:
        """The rows' columns it reads; None where it is the rows that say."""
        return rows_columns(self.steps, self.vector) if self.steps else None

    @property
    def n_columns(self) -> int:
        return self.predictor.n_columns if self.columns is None else len(self.columns)

    def matrix(self, table: Table) -> Float:
        """The vectors of some rows."""
        if self.steps:
            return run(self.steps, self._named(table), self.vector)
        return run((Assembled(table.names, (self.vector,), keep=True),), table, self.vector)

    def drives(self, table: Table) -> dict[Any, tuple[int, ...]]:
        """By column of the rows that alone decides slots of the vector, these; `NotKnown` names slots that several decide."""
        steps = self.steps or (Assembled(table.names, (self.vector,)),)
        found: dict[Any, tuple[int, ...]] = {}
        looked_at = self.predictor.looked_at
        for slot, sources in enumerate(slots_of(steps, self.vector)):
            if len(sources) != 1 and slot in looked_at:
                raise NotKnown(f"a stage mixes the columns {', '.join(map(repr, sorted(sources)))}")
            for source in sources:
                found[source] = (*found.get(source, ()), slot)
        return found

    def predict(self, table: Table, scale: str) -> Float:
        predicted = self.predictor.predict(self.matrix(table), scale)
        if self.unchecked and scale == "response":
            self._check(table.slice(0, min(CHECKED, table.n_rows)), predicted[:CHECKED])
        return predicted

    def _check(self, table: Table, predicted: Float) -> None:
        spark = self.unchecked.pop()
        try:
            there = spark.predict(self._named(table), "response")
        except ModelError:  # of stages beside the way to the prediction, such as of the target
            return
        if there.shape != predicted.shape or not np.allclose(
            there, predicted, rtol=1e-9, atol=1e-9, equal_nan=True
        ):
            raise ModelError(
                complaint("model", "was read, but predicts otherwise than Spark does", self.name,
                          "pass a function that asks Spark, and report this with the versions you use")
            )  # fmt: skip

    def _named(self, table: Table) -> Table:
        """Rows without names are the columns it reads, in their order."""
        return table if table.named or self.columns is None else table.renamed(self.columns)  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False)
class SparkMLTransforms:
    """A Spark ML model that is asked in Spark, on the driver's machine.

    Attributes
    ----------
    native : the model
    why : why it was not read
    transforms : how many were made, in a list of one
    """

    native: Any
    why: str = ""
    vector: tuple[str, ...] = ()
    transforms: list[int] = field(default_factory=lambda: [0], repr=False)

    def __getstate__(self) -> dict[str, Any]:
        raise InputError(
            complaint("model", f"is asked in Spark itself, on its driver, and cannot be sent to workers: {self.why}", self.name,
                      "pass rows as a pandas frame, for example X.sample(0.01).toPandas()")
        )  # fmt: skip

    @property
    def name(self) -> str:
        return type_name(self.native)

    @cached_property
    def columns(self) -> tuple[str, ...] | None:
        stages = stages_of(self.native)
        made = {name for stage in stages for name in outputs_of(stage)}
        read = [
            name
            for stage in stages
            for name in inputs_of(stage)
            if name not in made and not _is_label(stage, stages)
        ]
        return tuple(dict.fromkeys(read)) if made and read else None

    @cached_property
    def n_classes(self) -> int:
        return int(getattr(stages_of(self.native)[-1], "numClasses", 0) or 0)

    @property
    def has_probability(self) -> bool:
        return bool(_last(self.native).hasParam("probabilityCol"))

    def predict(self, table: Table, scale: str) -> Float:
        session = library_named("pyspark.sql").SparkSession.getActiveSession()
        if session is None:
            raise ModelError(
                complaint("model", "needs the Spark session it was fitted in, and there is none", self.name)
            )
        last = _last(self.native)
        frame = table.to("pandas").native.assign(**{PLACE: np.arange(table.n_rows)})
        rows = session.createDataFrame(frame)
        for vector in self.vector:  # a model without its assembler
            assembler = library_named("pyspark.ml.feature").VectorAssembler
            rows = assembler(
                inputCols=[str(n) for n in table.names], outputCol=vector, handleInvalid="keep"
            ).transform(rows)
        self.transforms[0] += 1
        wanted = last.getOrDefault("probabilityCol" if self.has_probability else "predictionCol")
        as_array = library_named("pyspark.ml.functions").vector_to_array
        column = (
            as_array(wanted) if self.has_probability else library_named("pyspark.sql.functions").col(wanted)
        )
        try:
            found = self.native.transform(rows).select(PLACE, column.alias("answer")).toPandas()
        except Exception as error:
            problem = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
            raise ModelError(
                complaint(
                    "model", f"could not transform {table.n_rows} rows in Spark ({problem[:200]})", self.name
                )
            ) from error
        if len(found) != table.n_rows:
            raise ModelError(
                complaint("model", f"dropped {table.n_rows - len(found)} of {table.n_rows} rows", self.name,
                          'set handleInvalid="keep" in its stages, or leave such rows out')
            )  # fmt: skip
        return np.array(found.sort_values(PLACE)["answer"].tolist(), np.float64).reshape(len(found), -1)


def stand_in(model: Any, vectors: Mapping[str, tuple[str, ...]] | None = None) -> Any:
    """What is asked in the place of a Spark ML model.

    `vectors` are columns of the rows that hold vectors, with the names of their slots, for a model without its assembler.
    """
    if isinstance(model, (SparkMLModel, SparkMLTransforms)):
        return model
    if not hasattr(model, "transform"):
        raise ModelError(
            complaint("model", f"is not fitted ({type_name(model)})", hint="pass what fit(frame) returns")
        )
    stages = stages_of(model)
    last = _last(model)
    vector = last.getOrDefault("featuresCol")
    bare = () if any(vector in outputs_of(stage) for stage in stages) else (vector,)
    try:
        steps = _steps(stages, vector, dict(vectors or {}))
        spark = SparkMLTransforms(model, vector=bare)
        return SparkMLModel(
            type_name(model), steps, vector, predictor_of(last), _labels(stages, last), [spark]
        )
    except NotKnown as reason:
        return SparkMLTransforms(model, str(reason), bare)


def _steps(stages: list[Any], vector: str, vectors: Mapping[str, tuple[str, ...]]) -> tuple[Step, ...]:
    """The steps from the rows' columns to the vector."""
    names = _features_cols(stages[-1]) or vectors.get(vector, ())
    on_the_way, wanted = [], {vector}
    for stage in reversed(stages[:-1]):
        if wanted & set(outputs_of(stage)):
            on_the_way.append(step_of(stage))
            wanted |= set(on_the_way[-1].inputs)
    steps = needed(on_the_way[::-1], vector)
    return steps if steps or not names else (Assembled(tuple(names), (vector,), keep=True),)


def _features_cols(last: Any) -> tuple[str, ...]:
    """Columns that XGBoost takes without a vector."""
    given = (
        last.hasParam("features_cols")
        and last.isDefined("features_cols")
        and last.getOrDefault("features_cols")
    )
    return tuple(given or ())


def stages_of(model: Any) -> list[Any]:
    """The stages of a model up to the one that predicts, those of pipelines within it and of the best of a search included."""
    flat = _flat(model)
    while len(flat) > 1 and not flat[-1].hasParam(
        "predictionCol"
    ):  # such as IndexToString, of the prediction
        flat.pop()
    return flat


def _flat(model: Any) -> list[Any]:
    if hasattr(model, "bestModel"):
        return _flat(model.bestModel)
    if type_name(model) == "PipelineModel":
        return [stage for one in model.stages for stage in _flat(one)]
    return [model]


def _last(model: Any) -> Any:
    last = stages_of(model)[-1]
    if not (last.hasParam("predictionCol") and last.hasParam("featuresCol")):
        raise ModelError(
            complaint("model", f"ends in {type_name(last)}, which predicts nothing", hint="pass a pipeline that ends in a predictor")
        )  # fmt: skip
    return last


def _is_label(stage: Any, stages: list[Any]) -> bool:
    last = stages[-1]
    return last.hasParam("labelCol") and last.getOrDefault("labelCol") in outputs_of(stage)


def _labels(stages: list[Any], last: Any) -> tuple[Any, ...]:
    """The texts of the classes, where a stage indexed the target."""
    for stage in stages[:-1]:
        if type_name(stage) == "StringIndexerModel" and _is_label(stage, stages):
            return tuple(stage.labelsArray[outputs_of(stage).index(last.getOrDefault("labelCol"))])
    return ()
