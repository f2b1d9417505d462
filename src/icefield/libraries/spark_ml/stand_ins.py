"""What icefield uses for a Spark ML model: the model read, which needs no Spark, or else Spark's own transforms.

The first is checked against Spark once, on the first rows it is asked about. The second is for what is not read: each call makes
one frame of all its rows, however many points of a grid they are, and transforms it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from icefield.data.columns import library_named
from icefield.data.frame import Table
from icefield.errors import InputError, ModelError
from icefield.libraries.adapter import type_name
from icefield.libraries.spark_ml.predictors import Predictor, predictor_of
from icefield.libraries.spark_ml.stages import (
    NotKnown,
    Step,
    assembler_step,
    inputs_of,
    outputs_of,
    rows_columns,
    run,
    slots_of,
    step_of,
)
from icefield.typing import Float

CHECKED = 50  # rows
OURS = "icefield_"  # how columns begin that were put beside the model's
PLACE, ANSWER = f"{OURS}row", f"{OURS}answer"
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
    # Spark's transforms, until they were compared
    unchecked: list[Any] = field(default_factory=list, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "unchecked": []}

    @cached_property
    def columns(self) -> tuple[str, ...] | None:
        """The columns of the rows that the model reads; None where it takes all columns that the rows have."""
        return rows_columns(self.steps, self.vector) if self.steps else None

    @property
    def n_columns(self) -> int:
        return self.predictor.n_columns if self.columns is None else len(self.columns)

    def matrix(self, table: Table) -> Float:
        """The vectors of some rows."""
        return run(self._steps_of(table), self._with_names(table), self.vector)

    def _steps_of(self, table: Table) -> tuple[Step, ...]:
        return self.steps or (assembler_step(table.names, self.vector, keep=True),)

    def drives(self, table: Table) -> dict[Any, tuple[int, ...]]:
        """Column of the rows to the slots of the vector that it alone decides; `NotKnown` where several decide a used slot."""
        slots_by_column: dict[Any, tuple[int, ...]] = {}
        used_slots = self.predictor.used_slots
        for slot, sources in enumerate(slots_of(self._steps_of(table), self.vector)):
            if len(sources) != 1 and slot in used_slots:
                raise NotKnown(f"a stage mixes the columns {', '.join(map(repr, sorted(sources)))}")
            for source in sources:
                slots_by_column[source] = (*slots_by_column.get(source, ()), slot)
        return slots_by_column

    def predict(self, table: Table, scale: str) -> Float:
        predicted = self.predictor.predict(self.matrix(table), scale)
        if self.unchecked and scale == "response":
            self._check(table.slice(0, min(CHECKED, table.n_rows)), predicted[:CHECKED])
        return predicted

    def _check(self, table: Table, predicted: Float) -> None:
        spark = self.unchecked.pop()
        try:
            expected = spark.predict(self._with_names(table), "response")
        except ModelError:  # of stages beside the way to the prediction, such as of the target
            return
        if expected.shape != predicted.shape or not np.allclose(
            expected, predicted, rtol=1e-9, atol=1e-9, equal_nan=True
        ):
            raise ModelError.about(
                "model", "was read, but does not predict what Spark does", self.name,
                "pass a function that predicts with Spark, and report this with the versions you use",
            )  # fmt: skip

    def _with_names(self, table: Table) -> Table:
        """Rows with names: an unnamed matrix holds the columns that the model reads, in their order."""
        return table if table.named or self.columns is None else table.renamed(self.columns)  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False)
class SparkMLTransforms:
    """A Spark ML model that is asked in Spark: rows here in a frame for each call, a Spark frame's in one for each pass.

    Attributes
    ----------
    native : the model
    why : why it was not read
    vector : the column of vectors that no stage makes, where there is one
    slots : the columns that vector is made of, where they are known
    transforms : how many were made, in a list of one
    """

    native: Any
    why: str = ""
    vector: str | None = None
    slots: tuple[str, ...] = ()
    transforms: list[int] = field(default_factory=lambda: [0], repr=False)

    def __getstate__(self) -> dict[str, Any]:
        raise InputError.about(
            "model", f"predicts in Spark itself, from the driver, and cannot be sent to workers: {self.why}", self.name,
            "pass rows as a Spark or a pandas frame",
        )  # fmt: skip

    @property
    def name(self) -> str:
        return type_name(self.native)

    @cached_property
    def columns(self) -> tuple[str, ...] | None:
        if self.vector is not None:
            return self.slots or None
        stages = stages_of(self.native) if self.known else []
        computed = {name for stage in stages for name in outputs_of(stage)}
        inputs = [name for stage in stages if not _is_label(stage, stages) for name in inputs_of(stage)]
        columns = [name for name in inputs if name not in computed]
        return tuple(dict.fromkeys(columns)) if computed and columns else None

    @cached_property
    def known(self) -> bool:
        """Whether every stage says which columns it reads, and treats each row by itself."""
        return all(map(_is_known, stages_of(self.native)))

    @cached_property
    def as_numbers(self) -> frozenset[str]:
        """Columns that are read as numbers and nothing else, so that whole ones may be set to fractions."""
        stages = stages_of(self.native) if self.known else []
        assemblers = [s for s in stages if type_name(s) == "VectorAssembler"]
        read = {name for s in stages if s not in assemblers for name in inputs_of(s)}
        return frozenset([*self.slots, *(n for s in assemblers for n in inputs_of(s) if n not in read)])

    @cached_property
    def answers(self) -> tuple[str, str]:
        """What the model answers with, in words, and Spark's column of it: probabilities, else raw predictions, else predictions."""
        last = _last(self.native)
        for name, parameter in (("probability", "probabilityCol"), ("raw prediction", "rawPredictionCol")):
            if last.hasParam(parameter) and last.getOrDefault(parameter):
                return name, last.getOrDefault(parameter)
        return "prediction", last.getOrDefault("predictionCol")

    @cached_property
    def n_classes(self) -> int:
        """The number of a classifier's classes; 0 for other models."""
        last = _last(self.native)
        count = getattr(last, "numClasses", None) or len(getattr(last, "models", ()))
        return 0 if self.answers[0] == "prediction" else int(count or 0)

    def answered(self, frame: Any, into: str) -> Any:
        """A Spark frame with the model's answers, as a column of arrays."""
        if self.vector is not None and self.vector not in frame.columns:
            assembler = library_named("pyspark.ml.feature").VectorAssembler
            names = list(self.slots or (name for name in frame.columns if not name.startswith(OURS)))
            frame = assembler(inputCols=names, outputCol=self.vector, handleInvalid="keep").transform(frame)
        self.transforms[0] += 1
        functions = library_named("pyspark.sql.functions")
        kind, column = self.answers
        as_array = library_named("pyspark.ml.functions").vector_to_array
        try:
            transformed = self.native.transform(frame)
            number = functions.col(column)
            is_number = kind == "prediction"
            return transformed.withColumn(
                into, functions.array(number.cast("double")) if is_number else as_array(column)
            )
        except Exception as error:
            raise self._transform_error("a frame of Spark's", error) from error

    def predict(self, table: Table, scale: str) -> Float:
        session = library_named("pyspark.sql").SparkSession.getActiveSession()
        if session is None:
            raise ModelError.about(
                "model", "needs the Spark session it was fitted in, and there is none", self.name
            )
        answered = self.answered(session.createDataFrame(_row_table(table)), ANSWER).select(PLACE, ANSWER)
        try:
            rows = answered.toArrow()
        except Exception as error:
            raise self._transform_error(f"{table.n_rows} rows", error) from error
        if rows.num_rows != table.n_rows:
            raise ModelError.about(
                "model", f"dropped {table.n_rows - rows.num_rows} of {table.n_rows} rows", self.name,
                'set handleInvalid="keep" in its stages, or leave such rows out',
            )  # fmt: skip
        answers = rows[ANSWER].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        return np.asarray(answers.reshape(table.n_rows, -1)[np.argsort(rows[PLACE].to_numpy())], np.float64)

    def _transform_error(self, what: str, error: Exception) -> ModelError:
        problem = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        return ModelError.about("model", f"could not transform {what} in Spark ({problem[:200]})", self.name)


def _row_table(table: Table) -> Any:
    """Rows as an Arrow table with a column of their row numbers, and categories as plain values."""
    arrow, rows = library_named("pyarrow"), table.to("pyarrow").native
    plain = [
        column.cast(column.type.value_type) if arrow.types.is_dictionary(column.type) else column
        for column in rows.columns[: len(table.names)]  # without pandas' index
    ]
    names = [str(name) for name in table.names]
    return arrow.table([*plain, arrow.array(np.arange(table.n_rows))], [*names, PLACE])


def stand_in(model: Any, vectors: Mapping[str, tuple[str, ...]] | None = None) -> Any:
    """The object that predicts in the place of a Spark ML model: read, or by Spark's own transforms.

    `vectors` are columns of the rows that hold vectors, with the names of their slots, for a model without its assembler.
    """
    if isinstance(model, (SparkMLModel, SparkMLTransforms)):
        return model
    if not hasattr(model, "transform"):
        raise ModelError.about(
            "model", f"is not fitted ({type_name(model)})", hint="pass what fit(frame) returns"
        )
    stages = stages_of(model)
    last = _last(model)
    vector = last.getOrDefault("featuresCol")
    unknown = next((type_name(stage) for stage in stages if not _is_known(stage)), None)
    bare = None if unknown or any(vector in outputs_of(stage) for stage in stages) else vector
    slots = () if bare is None else tuple((vectors or {}).get(vector, ()))
    try:
        if unknown:
            raise NotKnown(f"the stage {unknown} does not say which columns it reads")
        steps = _steps(stages, vector, dict(vectors or {}))
        spark = SparkMLTransforms(model, vector=bare, slots=slots)
        return SparkMLModel(
            type_name(model), steps, vector, predictor_of(last), _labels(stages, last), [spark]
        )
    except NotKnown as reason:
        return SparkMLTransforms(model, str(reason), bare, slots)


def _steps(stages: list[Any], vector: str, vectors: Mapping[str, tuple[str, ...]]) -> tuple[Step, ...]:
    """The steps from the rows' columns to the vector."""
    names = _features_cols(stages[-1]) or vectors.get(vector, ())
    steps: tuple[Step, ...] = ()
    needed = {vector}
    for stage in reversed(stages[:-1]):
        if outputs := needed & set(outputs_of(stage)):
            steps = (step_of(stage), *steps)
            needed = (needed - outputs) | set(steps[0].inputs)
    return steps if steps or not names else (assembler_step(tuple(names), vector, keep=True),)


def _features_cols(last: Any) -> tuple[str, ...]:
    """Columns that XGBoost takes without a vector."""
    is_given = last.hasParam("features_cols") and last.isDefined("features_cols")
    return tuple((last.getOrDefault("features_cols") if is_given else None) or ())


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
        return [stage for inner in model.stages for stage in _flat(inner)]
    return [model]


def _last(model: Any) -> Any:
    last = stages_of(model)[-1]
    if not (last.hasParam("predictionCol") and last.hasParam("featuresCol")):
        raise ModelError.about(
            "model", f"ends in {type_name(last)}, which does not predict from features",
            hint="pass a pipeline that ends in a predictor",
        )  # fmt: skip
    return last


def _is_known(stage: Any) -> bool:
    """Whether a stage is one of Spark's or XGBoost's own that says which columns it reads, and treats each row by itself."""
    is_from_library = type(stage).__module__.startswith(("pyspark.ml.", "xgboost.spark."))
    return is_from_library and type_name(stage) not in ("SQLTransformer", "RFormulaModel")


def _is_label(stage: Any, stages: list[Any]) -> bool:
    last = stages[-1]
    return last.hasParam("labelCol") and last.getOrDefault("labelCol") in outputs_of(stage)


def _labels(stages: list[Any], last: Any) -> tuple[Any, ...]:
    """The texts of the classes, where a stage indexed the target."""
    for stage in stages[:-1]:
        if type_name(stage) == "StringIndexerModel" and _is_label(stage, stages):
            return tuple(stage.labelsArray[outputs_of(stage).index(last.getOrDefault("labelCol"))])
    return ()
