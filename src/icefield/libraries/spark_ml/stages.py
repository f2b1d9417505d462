"""What the stages of a Spark ML pipeline do with columns, as steps that need no Spark.

A `Step` makes columns of columns: numbers, or vectors as matrices. Each says which columns of the rows decide each slot of what
it makes, so that trees over a vector are trees over the rows' own columns. Values on which Spark raises, or whose row it would
drop, are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from icefield.data.columns import Column
from icefield.data.frame import Table
from icefield.errors import ModelError
from icefield.forest.encode import RefusedValue
from icefield.libraries.adapter import type_name
from icefield.typing import Float

Names = tuple[str, ...]
Sources = tuple[frozenset[Any], ...]
"""By slot of a column, the columns of the rows that decide it."""


class NotKnown(Exception):
    """A stage or model of Spark ML that is not read; the message is the reason, for people."""


class MadeColumns:
    """The columns of some rows by name, and those that steps computed from them."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._computed: dict[str, Float] = {}

    def row_column(self, name: str) -> Column | None:
        """A column of the rows themselves; None for one that a step made."""
        return None if name in self._computed else self._table.column(name)

    def __getitem__(self, name: str) -> Float:
        if name in self._computed:
            return self._computed[name]
        column = self._table.column(name)
        if column.kind not in ("float", "integer", "boolean"):
            raise ModelError.about(
                "X", f"has a column {name!r} of kind {column.kind}, which the Spark model takes as a number"
            )
        return column.to_float()

    def __setitem__(self, name: str, values: Float) -> None:
        self._computed[name] = values


@dataclass(frozen=True, eq=False)
class Step:
    """One stage: the columns it reads, those it makes, and how.

    Attributes
    ----------
    of : makes one output, of the number and name of its input and of the columns
    sources : what decides the slots of each output, from the same of each input; by default slot by slot
    """

    inputs: Names
    outputs: Names
    of: Callable[[int, str, MadeColumns], Float]
    sources: Callable[[Sequence[Sources]], list[Sources]] = list

    def run(self, columns: MadeColumns) -> None:
        """Make the outputs."""
        for i, (name, output) in enumerate(zip(self.inputs, self.outputs)):
            columns[output] = self.of(i, name, columns)


def assembler_step(inputs: Names, vector: str, keep: bool) -> Step:
    """Columns and vectors side by side (`VectorAssembler`)."""
    return Step(inputs, (vector,), partial(_assemble, inputs=inputs, keep=keep), _all_slots)


def _assemble(number: int, name: str, columns: MadeColumns, *, inputs: Names, keep: bool) -> Float:
    parts = []
    for source in inputs:
        values = columns[source]
        if not keep and values.ndim == 1 and np.isnan(values).any():
            raise RefusedValue(source, "a missing value")
        parts.append(values[:, None] if values.ndim == 1 else values)
    return np.hstack(parts)


def _all_slots(inputs: Sequence[Sources]) -> list[Sources]:
    return [tuple(slot for sources in inputs for slot in sources)]


def _index_labels(
    number: int, name: str, columns: MadeColumns, *, labels: Sequence[Sequence[str]], keep: bool
) -> Float:
    """Texts as the numbers of their labels (`StringIndexerModel`); numbers are taken by the text Spark writes for them."""
    column, code = columns.row_column(name), {label: float(i) for i, label in enumerate(labels[number])}
    if column is None:
        raise ModelError.about(
            "model", f"indexes {name!r}, which another stage makes", hint="index the column itself"
        )
    unknown = float(len(code)) if keep else np.nan
    codes = [code.get(_text(level, column), unknown) for level in column.levels.tolist()]
    indexed = np.array([*codes, unknown])[column.codes]
    if np.isnan(indexed).any():
        raise RefusedValue(name, "a category the Spark model does not know, or a missing value")
    return np.asarray(indexed, np.float64)


def _text(level: Any, column: Column) -> str:
    """A value as Spark casts it to a text."""
    if isinstance(level, str):
        return level
    if isinstance(level, (bool, np.bool_)):
        return "true" if level else "false"
    if column.kind == "integer" or isinstance(level, (int, np.integer)):
        return str(int(level))
    if column.kind == "float" or isinstance(level, (float, np.floating)):
        return _java_text(
            column.values.dtype.type(level) if column.values.dtype.kind == "f" else np.float64(level)
        )
    raise ModelError.about(
        "X", f"has a column {column.name!r} of kind {column.kind}, which the Spark model takes as texts", level,
        "cast it to texts before",
    )  # fmt: skip


def _java_text(number: Any) -> str:
    """A float as Java writes it: digits with a point between 1e-3 and 1e7, else with E."""
    if not np.isfinite(number):
        return "NaN" if np.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return str(np.format_float_positional(number, unique=True, trim="0"))
    digits, _, power = np.format_float_scientific(number, unique=True, trim="0").partition("e")
    return f"{digits}E{int(power)}"


def _one_hot(
    number: int, name: str, columns: MadeColumns, *, sizes: Sequence[int], widths: Sequence[int], keep: bool
) -> Float:
    """Category numbers as rows of 0 and a single 1 (`OneHotEncoderModel`)."""
    values, size = columns[name], sizes[number]
    with np.errstate(invalid="ignore"):
        is_category = (values >= 0) & (values < size)
    if not keep and not is_category.all():
        raise RefusedValue(name, "a category the Spark model does not know")
    place = np.where(is_category, values, size).astype(np.int64)
    return np.asarray(place[:, None] == np.arange(widths[number]), np.float64)


def _repeat_sources(inputs: Sequence[Sources], widths: Sequence[int]) -> list[Sources]:
    return [sources * width for sources, width in zip(inputs, widths)]


def _scale(number: int, name: str, columns: MadeColumns, *, shift: Float, scale: Float, add: Float) -> Float:
    """Every slot shifted, scaled and shifted again (Spark's scalers)."""
    return (columns[name] - shift) * scale + add


def _fill_missing(number: int, name: str, columns: MadeColumns, *, fills: Sequence[float]) -> Float:
    """Missing values replaced (`ImputerModel`)."""
    values, fill, column = columns[name], np.float64(fills[number]), columns.row_column(name)
    if column is not None and column.kind == "integer":  # Spark casts to the column's type
        fill = np.trunc(fill)
    elif column is not None and column.values.dtype == np.float32:
        fill = np.float64(np.float32(fill))
    return np.where(np.isnan(values), fill, values)


def _bucket(number: int, name: str, columns: MadeColumns, *, splits: Sequence[Float], keep: bool) -> Float:
    """Numbers as the numbers of their intervals (`Bucketizer`)."""
    values, bounds = columns[name], splits[number]
    missing = np.isnan(values)
    with np.errstate(invalid="ignore"):
        outside = (values < bounds[0]) | (values > bounds[-1])
    if outside.any() or (missing.any() and not keep):
        raise RefusedValue(name, "a value outside of the Spark model's buckets, or a missing one")
    bucket = np.minimum(np.searchsorted(bounds, values, side="right") - 1, len(bounds) - 2)
    return np.where(missing, len(bounds) - 1.0, bucket.astype(np.float64))


def _is_above(number: int, name: str, columns: MadeColumns, *, thresholds: Sequence[float]) -> Float:
    """Whether numbers are above a threshold (`Binarizer`)."""
    return np.asarray(columns[name] > thresholds[number], np.float64)


def _index_slots(
    number: int, name: str, columns: MadeColumns, *, codes: Mapping[int, Mapping[float, float]], keep: bool
) -> Float:
    """A vector whose slots with few values hold these values' numbers (`VectorIndexerModel`)."""
    out = columns[name].copy()
    for slot, code_of in codes.items():
        unknown = float(len(code_of)) if keep else np.nan
        distinct, position = np.unique(out[:, slot], return_inverse=True)
        coded = np.array([code_of.get(value, unknown) for value in distinct.tolist()])
        if np.isnan(coded).any():
            raise RefusedValue(name, "a category the Spark model does not know")
        out[:, slot] = coded[position]
    return out


def _select_slots(number: int, name: str, columns: MadeColumns, *, slots: Sequence[int]) -> Float:
    """Some slots of a vector (`VectorSlicer`, selectors)."""
    return columns[name][:, slots]


def _select_sources(inputs: Sequence[Sources], slots: Sequence[int]) -> list[Sources]:
    return [tuple(inputs[0][slot] for slot in slots)]


# --- from Spark's stages -----------------------------------------------------------------------------------


def step_of(stage: Any) -> Step:
    """A fitted stage as a step; `NotKnown` for what is not read."""
    reader = STAGES.get(type_name(stage)) if type(stage).__module__ == "pyspark.ml.feature" else None
    if reader is None:
        raise NotKnown(f"the stage {type_name(stage)} of Spark ML is not read")
    return reader(stage, inputs_of(stage), outputs_of(stage))


def inputs_of(stage: Any) -> Names:
    """The columns a stage reads, as far as its parameters say."""
    return _column_names(stage, "inputCols", "inputCol", "featuresCol")


def outputs_of(stage: Any) -> Names:
    return _column_names(stage, "outputCols", "outputCol")


def _column_names(stage: Any, *parameters: str) -> Names:
    for name in parameters:
        if stage.hasParam(name) and stage.isDefined(name):
            value = stage.getOrDefault(name)
            if value:
                return (value,) if isinstance(value, str) else tuple(value)
    return ()


def _keeps(stage: Any) -> bool:
    return bool(stage.getOrDefault("handleInvalid") == "keep")


def _vector(values: Any) -> Float:
    return np.asarray(values.toArray(), np.float64)


def _affine(inputs: Names, outputs: Names, shift: Float, scale: Float, add: Float | None = None) -> Step:
    offset = np.zeros(len(shift)) if add is None else add
    return Step(inputs, outputs, partial(_scale, shift=shift, scale=scale, add=offset))


def _inverse(values: Float, at_zero: float) -> Float:
    return np.divide(1.0, values, out=np.full(len(values), at_zero), where=values != 0)


def _centring_scaler(
    stage: Any, inputs: Names, outputs: Names, *, centre: str, spread: str, shifts: str, scales: str
) -> Step:
    middle, size = _vector(getattr(stage, centre)), _vector(getattr(stage, spread))
    shift = middle if stage.getOrDefault(shifts) else np.zeros(len(middle))
    scale = _inverse(size, 0.0) if stage.getOrDefault(scales) else np.ones(len(size))
    return _affine(inputs, outputs, shift, scale)


def _min_max(stage: Any, inputs: Names, outputs: Names) -> Step:
    lowest, highest = _vector(stage.originalMin), _vector(stage.originalMax)
    low, high = stage.getOrDefault("min"), stage.getOrDefault("max")
    scale = (high - low) * _inverse(highest - lowest, 0.0)
    return _affine(inputs, outputs, lowest, scale, np.where(highest > lowest, low, (low + high) / 2))


def _max_abs(stage: Any, inputs: Names, outputs: Names) -> Step:
    largest = _vector(stage.maxAbs)
    return _affine(inputs, outputs, np.zeros(len(largest)), _inverse(largest, 1.0))


def _indexer(stage: Any, inputs: Names, outputs: Names) -> Step:
    labels = tuple(map(tuple, stage.labelsArray))
    return Step(inputs, outputs, partial(_index_labels, labels=labels, keep=_keeps(stage)))


def _encoder(stage: Any, inputs: Names, outputs: Names) -> Step:
    keep, sizes = _keeps(stage), tuple(stage.categorySizes)
    widths = [size + keep - stage.getOrDefault("dropLast") for size in sizes]
    one_hot = partial(_one_hot, sizes=sizes, widths=widths, keep=keep)
    return Step(inputs, outputs, one_hot, partial(_repeat_sources, widths=widths))


def _imputer(stage: Any, inputs: Names, outputs: Names) -> Step:
    if not np.isnan(stage.getOrDefault("missingValue")):
        raise NotKnown("an ImputerModel of Spark ML with a missingValue of its own is not read")
    surrogates = stage.surrogateDF.first()
    return Step(inputs, outputs, partial(_fill_missing, fills=[float(surrogates[name]) for name in inputs]))


def _bucketizer(stage: Any, inputs: Names, outputs: Names) -> Step:
    several = stage.isDefined("splitsArray") and stage.getOrDefault("splitsArray")
    splits = [np.array(bounds, np.float64) for bounds in several or [stage.getOrDefault("splits")]]
    return Step(inputs, outputs, partial(_bucket, splits=splits, keep=_keeps(stage)))


def _binarizer(stage: Any, inputs: Names, outputs: Names) -> Step:
    several = stage.isDefined("thresholds") and stage.getOrDefault("thresholds")
    thresholds = several or [stage.getOrDefault("threshold")] * len(inputs)
    return Step(inputs, outputs, partial(_is_above, thresholds=list(map(float, thresholds))))


def _vector_indexer(stage: Any, inputs: Names, outputs: Names) -> Step:
    maps: Mapping[int, Mapping[float, int]] = stage.categoryMaps
    codes = {
        int(slot): {float(value): float(code) for value, code in pairs.items()}
        for slot, pairs in maps.items()
    }
    return Step(inputs, outputs, partial(_index_slots, codes=codes, keep=_keeps(stage)))


def _slicer(stage: Any, inputs: Names, outputs: Names) -> Step:
    if stage.getOrDefault("names"):
        raise NotKnown("a VectorSlicer of Spark ML that chooses by names is not read")
    return _selector(inputs, outputs, stage.getOrDefault("indices"))


def _selector(inputs: Names, outputs: Names, slots: Sequence[int]) -> Step:
    slots = list(slots)
    return Step(inputs, outputs, partial(_select_slots, slots=slots), partial(_select_sources, slots=slots))


STAGES: dict[str, Callable[[Any, Names, Names], Step]] = {
    "VectorAssembler": lambda stage, inputs, outputs: assembler_step(inputs, outputs[0], _keeps(stage)),
    "StringIndexerModel": _indexer,
    "OneHotEncoderModel": _encoder,
    "StandardScalerModel": partial(
        _centring_scaler, centre="mean", spread="std", shifts="withMean", scales="withStd"
    ),
    "MinMaxScalerModel": _min_max,
    "MaxAbsScalerModel": _max_abs,
    "RobustScalerModel": partial(
        _centring_scaler, centre="median", spread="range", shifts="withCentering", scales="withScaling"
    ),
    "ImputerModel": _imputer,
    "Bucketizer": _bucketizer,
    "Binarizer": _binarizer,
    "VectorIndexerModel": _vector_indexer,
    "VectorSlicer": _slicer,
    **dict.fromkeys(
        ("ChiSqSelectorModel", "UnivariateFeatureSelectorModel", "VarianceThresholdSelectorModel"),
        lambda stage, inputs, outputs: _selector(inputs, outputs, sorted(stage.selectedFeatures)),
    ),
}


def run(steps: Sequence[Step], table: Table, name: str) -> Float:
    """A vector column of some rows, as a matrix."""
    columns = MadeColumns(table)
    for step in steps:
        step.run(columns)
    vector = columns[name]
    return vector[:, None] if vector.ndim == 1 else vector


def slots_of(steps: Sequence[Step], column: str) -> Sources:
    """For each slot of a column that steps compute, the columns of the rows that decide it."""
    known: dict[str, Sources] = {}
    for step in steps:
        outputs = step.sources([known.get(name, (frozenset((name,)),)) for name in step.inputs])
        known.update(zip(step.outputs, outputs))
    return known.get(column, (frozenset((column,)),))


def rows_columns(steps: Sequence[Step], column: str) -> tuple[str, ...]:
    """The columns of the rows that steps read to compute a column, in the order of the slots they decide."""
    computed = {name for step in steps for name in step.outputs}
    inputs = (name for step in steps for name in step.inputs if name not in computed)
    slots = (name for slot in slots_of(steps, column) for name in sorted(slot))
    return tuple(dict.fromkeys([*slots, *inputs]))
