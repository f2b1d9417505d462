"""What the stages of a Spark ML pipeline do with columns, as steps that need no Spark.

A `Step` makes columns of columns: numbers, or vectors as matrices. Each says which columns of the rows decide each slot of what
it makes, so that trees over a vector are trees over the rows' own columns. Values on which Spark raises, or whose row it would
drop, are refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.errors import ModelError, complaint
from icefield.forest.encode import RefusedValue
from icefield.libraries.adapter import type_name
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.data.columns import Column
    from icefield.data.frame import Table

Sources = tuple[frozenset[Any], ...]
"""By slot of a column, the columns of the rows that decide it."""


class NotKnown(Exception):
    """A stage or model of Spark ML that is not read; the message is the reason, for people."""


class MadeColumns:
    """Columns of some rows, and what steps made of them."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._made: dict[str, Float] = {}

    def given(self, name: str) -> Column | None:
        """A column of the rows themselves; None for one that a step made."""
        return None if name in self._made else self._table.column(name)

    def __getitem__(self, name: str) -> Float:
        if name not in self._made:
            column = self._table.column(name)
            if column.kind not in ("float", "integer", "boolean"):
                raise ModelError(
                    complaint("X", f"has a column {name!r} of kind {column.kind}, which the Spark model takes as a number")
                )  # fmt: skip
            return column.to_float()
        return self._made[name]

    def __setitem__(self, name: str, values: Float) -> None:
        self._made[name] = values


@dataclass(frozen=True)
class Step(ABC):
    """One stage: the columns it reads and those it makes."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def run(self, columns: MadeColumns) -> None:
        """Make the outputs; by default each of its own input."""
        for i, (name, made) in enumerate(zip(self.inputs, self.outputs)):
            columns[made] = self.of(i, name, columns)

    @abstractmethod
    def of(self, number: int, name: str, columns: MadeColumns) -> Float:
        """One output of one input."""

    def sources(self, known: Sequence[Sources]) -> list[Sources]:
        """What decides the slots of each output, from the same of each input; by default slot by slot."""
        return list(known)


@dataclass(frozen=True)
class Assembled(Step):
    """Columns and vectors side by side (`VectorAssembler`)."""

    keep: bool = False

    def run(self, columns: MadeColumns) -> None:
        parts = []
        for name in self.inputs:
            values = columns[name]
            if not self.keep and values.ndim == 1 and np.isnan(values).any():
                raise RefusedValue(name, "a missing value")
            parts.append(values[:, None] if values.ndim == 1 else values)
        columns[self.outputs[0]] = np.hstack(parts)

    def of(self, number: int, name: str, columns: MadeColumns) -> Float:
        raise NotImplementedError

    def sources(self, known: Sequence[Sources]) -> list[Sources]:
        return [tuple(slot for one in known for slot in one)]


@dataclass(frozen=True)
class Indexed(Step):
    """Texts as the numbers of their labels (`StringIndexerModel`); numbers are taken by the text Spark writes for them."""

    labels: tuple[tuple[str, ...], ...] = ()
    keep: bool = False

    def of(self, number: int, name: str, columns: MadeColumns) -> Float:
        column, code = columns.given(name), {label: float(i) for i, label in enumerate(self.labels[number])}
        if column is None:
            raise ModelError(
                complaint(
                    "model", f"indexes {name!r}, which another stage makes", hint="index the column itself"
                )
            )
        other = float(len(code)) if self.keep else np.nan
        found = [code.get(_text(level, column), other) for level in column.levels.tolist()]
        indexed = np.array([*found, other])[column.codes]
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
    raise ModelError(
        complaint("X", f"has a column {column.name!r} of kind {column.kind}, which the Spark model takes as texts",
                  level, "cast it to texts before")
    )  # fmt: skip


def _java_text(number: Any) -> str:
    """A float as Java writes it: digits with a point between 1e-3 and 1e7, else with E."""
    if not np.isfinite(number):
        return "NaN" if np.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        return str(np.format_float_positional(number, unique=True, trim="0"))
    digits, _, power = np.format_float_scientific(number, unique=True, trim="0").partition("e")
    return f"{digits}E{int(power)}"


@dataclass(frozen=True)
class OneHot(Step):
    """A category's number as a vector with a one at its place (`OneHotEncoderModel`)."""

    sizes: tuple[int, ...] = ()
    drop_last: bool = True
    keep: bool = False

    def _width(self, number: int) -> int:
        return self.sizes[number] + self.keep - self.drop_last

    def of(self, number: int, name: str, columns: MadeColumns) -> Float:
        values, size = columns[name], self.sizes[number]
        with np.errstate(invalid="ignore"):
            known = (values >= 0) & (values < size)
        if not self.keep and not known.all():
            raise RefusedValue(name, "a category the Spark model does not know")
        place = np.where(known, values, size).astype(np.int64)
        return np.asarray(place[:, None] == np.arange(self._width(number)), np.float64)

    def sources(self, known: Sequence[Sources]) -> list[Sources]:
        return [one * self._width(i) for i, one in enumerate(known)]


@dataclass(frozen=True)
class Affine(Step):
    """Every slot shifted, scaled and shifted again (Spark's scalers)."""

    shift: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    add: tuple[float, ...] = ()

    def of(self, number: int, name: str, columns: MadeColumns) -> Float:
        return (columns[name] - np.array(self.shift)) * np.array(self.scale) + np.array(self.add)


@dataclass(frozen=True)
class Imputed(Step):
    """Missing values replaced (`ImputerModel`)."""

    values: tuple[float, ...] = ()

    def of(self, number: int, name: str, columns: MadeColumns) -> Float:
        values, fill, column = columns[name], np.float64(self.values[number]), columns.given(name)
        if column is not None and column.kind == "integer":  # Spark casts to the column's type
            fill = np.trunc(fill)
        elif column is not None and column.values.dtype == np.float32:
            fill = np.float64(np.float32(fill))
        return np.where(np.isnan(values), fill, values)


@dataclass(frozen=True)
class Bucketed(Step):
    """Numbers as the numbers of their intervals (`Bucketizer`)."""

    splits: tuple[tuple[float, ...], ...] = ()
    keep: bool = False

    def of(self, number: int, name: str, columns: MadeColumns) -> Float:
        values, splits = columns[name], np.array(self.splits[number])
        missing = np.isnan(values)
        with np.errstate(invalid="ignore"):
            outside = (values < splits[0]) | (values > splits[-1])
        if outside.any() or (missing.any() and not self.keep):
            raise RefusedValue(name, "a value outside of the Spark model's buckets, or a missing one")
        bucket = np.minimum(np.searchsorted(splits, values, side="right") - 1, len(splits) - 2)
        return np.where(missing, len(splits) - 1.0, bucket.astype(np.float64))


@dataclass(frozen=True)
class Binarized(Step):
    """Whether numbers are above a threshold (`Binarizer`)."""

    thresholds: tuple[float, ...] = ()

    def of(self, number: int, name: str, columns: MadeColumns) -> Float:
        return np.asarray(columns[name] > self.thresholds[number], np.float64)


@dataclass(frozen=True)
class SlotsIndexed(Step):
    """Of a vector, the slots with few values as the numbers of these (`VectorIndexerModel`)."""

    codes: tuple[tuple[int, tuple[tuple[float, float], ...]], ...] = ()
    keep: bool = False

    def of(self, number: int, name: str, columns: MadeColumns) -> Float:
        out = columns[name].copy()
        for slot, pairs in self.codes:
            known, other = dict(pairs), float(len(pairs)) if self.keep else np.nan
            distinct, at = np.unique(out[:, slot], return_inverse=True)
            coded = np.array([known.get(value, other) for value in distinct.tolist()])
            if np.isnan(coded).any():
                raise RefusedValue(name, "a category the Spark model does not know")
            out[:, slot] = coded[at]
        return out


@dataclass(frozen=True)
class SlotsChosen(Step):
    """Some slots of a vector (`VectorSlicer`, selectors)."""

    slots: tuple[int, ...] = ()

    def of(self, number: int, name: str, columns: MadeColumns) -> Float:
        return columns[name][:, list(self.slots)]

    def sources(self, known: Sequence[Sources]) -> list[Sources]:
        return [tuple(known[0][slot] for slot in self.slots)]


# --- from Spark's stages -----------------------------------------------------------------------------------


def step_of(stage: Any) -> Step:
    """A fitted stage as a step; `NotKnown` for what is not read."""
    reader = STAGES.get(type_name(stage)) if type(stage).__module__ == "pyspark.ml.feature" else None
    if reader is None:
        raise NotKnown(f"the stage {type_name(stage)} of Spark ML is not read")
    return reader(stage, inputs_of(stage), outputs_of(stage))


def inputs_of(stage: Any) -> tuple[str, ...]:
    """The columns a stage reads, as far as its parameters say."""
    return _named(stage, "inputCols", "inputCol", "featuresCol")


def outputs_of(stage: Any) -> tuple[str, ...]:
    return _named(stage, "outputCols", "outputCol")


def _named(stage: Any, *parameters: str) -> tuple[str, ...]:
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


Names = tuple[str, ...]


def _affine(inputs: Names, outputs: Names, shift: Float, scale: Float, add: Float | None = None) -> Affine:
    added = np.zeros(len(shift)) if add is None else add
    return Affine(inputs, outputs, *(tuple(part.tolist()) for part in (shift, scale, added)))


def _inverse(values: Float, at_zero: float) -> Float:
    return np.divide(1.0, values, out=np.full(len(values), at_zero), where=values != 0)


def _standard(stage: Any, inputs: Names, outputs: Names) -> Step:
    mean, std = _vector(stage.mean), _vector(stage.std)
    shift = mean if stage.getOrDefault("withMean") else np.zeros(len(mean))
    return _affine(
        inputs, outputs, shift, _inverse(std, 0.0) if stage.getOrDefault("withStd") else np.ones(len(std))
    )


def _min_max(stage: Any, inputs: Names, outputs: Names) -> Step:
    lowest, highest = _vector(stage.originalMin), _vector(stage.originalMax)
    low, high = stage.getOrDefault("min"), stage.getOrDefault("max")
    scale = (high - low) * _inverse(highest - lowest, 0.0)
    return _affine(inputs, outputs, lowest, scale, np.where(highest > lowest, low, (low + high) / 2))


def _max_abs(stage: Any, inputs: Names, outputs: Names) -> Step:
    largest = _vector(stage.maxAbs)
    return _affine(inputs, outputs, np.zeros(len(largest)), _inverse(largest, 1.0))


def _robust(stage: Any, inputs: Names, outputs: Names) -> Step:
    median, spread = _vector(stage.median), _vector(stage.range)
    shift = median if stage.getOrDefault("withCentering") else np.zeros(len(median))
    scale = _inverse(spread, 0.0) if stage.getOrDefault("withScaling") else np.ones(len(spread))
    return _affine(inputs, outputs, shift, scale)


def _imputed(stage: Any, inputs: Names, outputs: Names) -> Step:
    if not np.isnan(stage.getOrDefault("missingValue")):
        raise NotKnown("an ImputerModel of Spark ML with a missingValue of its own is not read")
    found = stage.surrogateDF.first()
    return Imputed(inputs, outputs, tuple(float(found[name]) for name in inputs))


def _bucketed(stage: Any, inputs: Names, outputs: Names) -> Step:
    several = stage.isDefined("splitsArray") and stage.getOrDefault("splitsArray")
    splits = several or [stage.getOrDefault("splits")]
    return Bucketed(inputs, outputs, tuple(tuple(map(float, one)) for one in splits), _keeps(stage))


def _binarized(stage: Any, inputs: Names, outputs: Names) -> Step:
    several = stage.isDefined("thresholds") and stage.getOrDefault("thresholds")
    thresholds = several or [stage.getOrDefault("threshold")] * len(inputs)
    return Binarized(inputs, outputs, tuple(map(float, thresholds)))


def _slots_indexed(stage: Any, inputs: Names, outputs: Names) -> Step:
    maps: Mapping[int, Mapping[float, int]] = stage.categoryMaps
    codes = tuple(
        (int(slot), tuple((float(value), float(code)) for value, code in pairs.items()))
        for slot, pairs in maps.items()
    )
    return SlotsIndexed(inputs, outputs, codes, _keeps(stage))


def _sliced(stage: Any, inputs: Names, outputs: Names) -> Step:
    if stage.getOrDefault("names"):
        raise NotKnown("a VectorSlicer of Spark ML that chooses by names is not read")
    return SlotsChosen(inputs, outputs, tuple(stage.getOrDefault("indices")))


def _selected(stage: Any, inputs: Names, outputs: Names) -> Step:
    return SlotsChosen(inputs, outputs, tuple(sorted(stage.selectedFeatures)))


STAGES: dict[str, Callable[[Any, Names, Names], Step]] = {
    "VectorAssembler": lambda stage, inputs, outputs: Assembled(inputs, outputs, _keeps(stage)),
    "StringIndexerModel": lambda stage, inputs, outputs: Indexed(
        inputs, outputs, tuple(map(tuple, stage.labelsArray)), _keeps(stage)
    ),
    "OneHotEncoderModel": lambda stage, inputs, outputs: OneHot(
        inputs, outputs, tuple(stage.categorySizes), stage.getOrDefault("dropLast"), _keeps(stage)
    ),
    "StandardScalerModel": _standard,
    "MinMaxScalerModel": _min_max,
    "MaxAbsScalerModel": _max_abs,
    "RobustScalerModel": _robust,
    "ImputerModel": _imputed,
    "Bucketizer": _bucketed,
    "Binarizer": _binarized,
    "VectorIndexerModel": _slots_indexed,
    "VectorSlicer": _sliced,
    "ChiSqSelectorModel": _selected,
    "UnivariateFeatureSelectorModel": _selected,
    "VarianceThresholdSelectorModel": _selected,
}


def needed(steps: Sequence[Step], wanted: str) -> tuple[Step, ...]:
    """Of the steps, in their order, those on the way to a column."""
    kept, open_names = [], {wanted}
    for step in reversed(steps):
        if open_names & set(step.outputs):
            kept.append(step)
            open_names = (open_names - set(step.outputs)) | set(step.inputs)
    return tuple(reversed(kept))


def run(steps: Sequence[Step], table: Table, wanted: str) -> Float:
    """A vector column of some rows, as a matrix."""
    columns = MadeColumns(table)
    for step in steps:
        step.run(columns)
    made = columns[wanted]
    return made[:, None] if made.ndim == 1 else made


def slots_of(steps: Sequence[Step], wanted: str) -> Sources:
    """By slot of a column that steps make, the rows' own columns that decide it."""
    known: dict[str, Sources] = {}
    for step in steps:
        found = step.sources([known.get(name, (frozenset((name,)),)) for name in step.inputs])
        known.update(zip(step.outputs, found))
    return known.get(wanted, (frozenset((wanted,)),))


def rows_columns(steps: Sequence[Step], wanted: str) -> tuple[str, ...]:
    """The rows' own columns on the way to a column, in the order of the slots they decide."""
    made = {name for step in steps for name in step.outputs}
    read = (name for step in steps for name in step.inputs if name not in made)
    slots = (name for slot in slots_of(steps, wanted) for name in sorted(slot))
    return tuple(dict.fromkeys([*slots, *read]))
