"""How every given row's curve steps along each feature: at every threshold of the model where it is made of trees.

A row's curve along a number is a step function that can change at the thresholds only, so asking at one value between each two
decides exactly whether it rises, falls, or does both. Models that are not read as trees are asked on a grid, and the
answer says so. Categories have no order: their levels are compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.question import Question
from icefield.core.rows import Block
from icefield.core.step_extremes import StepExtremes, extremes_of_curves
from icefield.data.columns import ORDERED_KINDS, Column, is_missing_value, object_array
from icefield.data.features import Feature, column_name
from icefield.data.grid import Grid
from icefield.errors import EngineError, InputError, ModelError, did_you_mean
from icefield.typing import Float, Positions

if TYPE_CHECKING:
    from icefield.core.study import Study

SMALLEST, LARGEST, FALL, RISE = range(4)
EVERY_THRESHOLD, BOTH_VALUES, EVERY_LEVEL = "every threshold", "both values", "every level"
EXACT = (EVERY_THRESHOLD, BOTH_VALUES)  # nothing lies between what was looked at
SAME = 1e-12  # of a prediction's size: differences below it are rounding, where predictions themselves are compared
SAME_SINGLE = 2e-6  # the same of models that add up in float32
MOST_LEVELS = 256


def has_order(feature: Feature) -> bool:
    """Whether values are in an order, so that predictions rise or fall along them: of False and True, too."""
    return not feature.is_group and feature.kind in (*ORDERED_KINDS, "boolean")


def model_column(study: Study, name: Any, parameter: str) -> Any:
    """The model's column that a caller means; an error names the parameter."""
    label = column_name(name, study.rows.head, parameter)
    if label not in study.model.columns:
        hint = did_you_mean(name, study.model.columns)
        raise InputError.about(parameter, "names a column the model does not use", name, hint)
    return label


@dataclass(frozen=True)
class Example:
    """A row whose prediction steps when only one feature changes.

    Attributes
    ----------
    row : its position among the given rows
    size : the step, on the asked scale
    before, after : the feature's values on either side
    """

    row: int
    size: float
    before: Any
    after: Any


@dataclass
class MissingStep:
    """Steps between a value and missing: their weight, sum and largest absolute size."""

    weight: float = 0.0
    total: float = 0.0
    largest: float = 0.0

    def add(self, weights: Float, steps: Float) -> None:
        self.weight += float(weights.sum())
        self.total += float(weights @ steps)
        self.largest = max(self.largest, float(np.abs(steps[weights > 0]).max(initial=0.0)))

    @property
    def mean(self) -> float:
        return self.total / self.weight if self.weight else np.nan

    @property
    def most(self) -> float:
        return self.largest if self.weight else np.nan


@dataclass
class Segment:
    """Totals over the rows of a segment (all rows, or one group), for one feature and output."""

    weight: float = 0.0
    rises: float = 0.0
    falls: float = 0.0
    both: float = 0.0
    sums: Float = field(default_factory=lambda: np.zeros(4))
    largest: Float = field(default_factory=lambda: np.zeros(4))
    missing_above: float = 0.0
    missing_below: float = 0.0
    missing_most: float = 0.0
    to_missing: MissingStep = field(default_factory=MissingStep)
    from_missing: MissingStep = field(default_factory=MissingStep)


@dataclass
class FeatureSteps:
    """Steps of rows' predictions along one feature.

    Attributes
    ----------
    feature : which
    values : the grid, in rising order, a missing value last
    numbers : how many of its points are numbers; 0 for levels
    method : how it was decided, for people
    segments : by output, over all rows and then by group
    worst : by output, the rows with the largest falls and the largest rises, in this order
    worst_missing : by output, the rows whose predictions change most where a value goes missing, or comes
    pairs : for levels, by output, ``(segments, levels, levels)``: the share of rows with a larger prediction at the column's level than at the row's
    gaps : for levels, likewise, the largest such difference
    """

    feature: Feature
    values: NDArray[Any]
    numbers: int
    method: str
    segments: list[list[Segment]]
    worst: list[tuple[list[Example], list[Example]]]
    worst_missing: list[list[Example]] = field(default_factory=list)
    pairs: list[Float] = field(default_factory=list)
    gaps: list[Float] = field(default_factory=list)

    @property
    def is_ordered(self) -> bool:
        return self.numbers > 0

    @property
    def has_missing(self) -> bool:
        return self.is_ordered and len(self.values) > self.numbers


def audit_rows(
    study: Study, features: Sequence[Feature], points: int, worst: int, rows: Positions | None
) -> list[FeatureSteps]:
    """How the rows' curves step along each feature.

    Parameters
    ----------
    study : the model and its rows
    features : along which
    points : of the grid, where thresholds are not known
    worst : how many rows to name, for each direction
    rows : which rows of the sample; None for all
    """
    block = study.sample if rows is None else study.sample.take(rows)
    positions = np.arange(block.n_rows) if rows is None else np.asarray(rows)
    every = [_empty_steps(study, feature, points, block.n_groups) for feature in features]
    _check_predictions(study)
    swept = [steps for steps in every if steps.method in EXACT and study.plan.trees is not None]
    left = [steps for steps in every if steps not in swept]
    if swept and not _sweep(study, swept, block, positions, worst):
        left = every
    for steps in left:
        axis = steps.feature.axis(steps.values, block.table)
        for start, part in _parts(study, block, len(steps.values)):
            question = Question((axis,), spread=False, rows=np.arange(part.n_rows), averaged=False)
            curves = np.asarray(study.answers([question], Block(part.table))[0].curves)
            if not steps.is_ordered:
                _add_levels(steps, curves, part, start, positions, worst)
            else:
                extremes = extremes_of_curves(curves, steps.numbers, start, tolerance_of(study))
                _add(steps, extremes, 0, part, positions, worst)
        if not steps.is_ordered:
            for output, segments in enumerate(steps.segments):
                totals = np.array([segment.weight or 1.0 for segment in segments])
                steps.pairs[output] /= totals[:, None, None]
    _add_missing(study, [steps for steps in every if steps.has_missing], block, positions, worst)
    return every


def tolerance_of(study: Study) -> float:
    """The relative difference below which predictions count as equal: those in float32 differ by more."""
    return SAME if study.plan.trees is not None else SAME_SINGLE


def _check_predictions(study: Study) -> None:
    predicted = study.predictions(None) if study.plan.engine.costs_predictions else None
    if predicted is not None and not np.isfinite(predicted).all():
        row = int(np.flatnonzero(~np.isfinite(predicted).all(axis=1))[0])
        raise ModelError(
            f"The model predicts {predicted[row].tolist()} for row {row}: steps between values that are not finite cannot be audited. "
            "Hint: leave such rows out, or fix the model."
        )


def _empty_steps(study: Study, feature: Feature, points: int, n_groups: int) -> FeatureSteps:
    """The grid of a feature, with nothing counted yet."""
    plan, statistics = study.plan, study.rows.statistics
    outputs = len(study.model.outputs)
    segments = [[Segment() for _ in range(1 + n_groups)] for _ in range(outputs)]
    worst: list[tuple[list[Example], list[Example]]] = [([], []) for _ in range(outputs)]

    def thresholds(f: Feature) -> Float:
        return plan.thresholds(f, study.rows.head)

    if not has_order(feature):
        (values,), _ = statistics.grids((feature,), Grid("distinct", points=MOST_LEVELS), thresholds)
        size, column = len(values), study.column(feature)
        present = len(np.unique(column.codes[column.codes >= 0]))
        method = EVERY_LEVEL if size >= present else f"the {size} most frequent of {present} levels"
        pairs, gaps = ([np.zeros((1 + n_groups, size, size)) for _ in range(outputs)] for _ in range(2))
        return FeatureSteps(feature, values, 0, method, segments, worst, [], pairs, gaps)
    if feature.kind == "boolean":
        missing = [None] if study.column(feature).any_missing else []
        values = object_array([False, True, *missing]) if missing else np.array([False, True])
        return FeatureSteps(feature, values, 2, BOTH_VALUES, segments, worst)
    method = EVERY_THRESHOLD
    try:
        if plan.trees is None:
            raise EngineError(plan.why)
        (values,), _ = statistics.grids((feature,), Grid("thresholds"), thresholds)
    except (EngineError, TypeError):  # transformed before the trees see it, split by sets, or no trees at all
        (values,), _ = statistics.grids((feature,), Grid("quantile", points=points), thresholds)
        method = f"a grid of {len(values)} values"
    numbers = sum(not is_missing_value(v) for v in values.tolist())
    return FeatureSteps(feature, values, numbers, method, segments, worst)


def _sweep(
    study: Study, every: Sequence[FeatureSteps], block: Block, positions: Positions, worst: int
) -> bool:
    """Fill in what one walk over the rows finds; False where the engine has none."""
    axes = [steps.feature.axis(steps.values, block.table) for steps in every]
    engine, table = study.plans.checked().engine, block.table.select(study.model.columns)
    walk = engine.step_extremes(axes, [steps.numbers for steps in every], Block(table), study.resources)
    if walk is None:
        return False
    for part in walk:
        whole = part.stop - part.start == block.n_rows
        rows = block if whole else block.take(np.arange(part.start, part.stop))
        for number, steps in enumerate(every):
            _add(steps, part, number, rows, positions, worst)
    return True


def _parts(study: Study, block: Block, points: int) -> Iterator[tuple[int, Block]]:
    """Rows whose curves of so many points fit the memory, each part with the number of its first row."""
    size = block.n_rows
    if not study.model.across_rows:
        per_row = 8 * 6 * len(study.model.outputs) * points
        size = max(1, min(size, study.resources.memory // max(1, per_row)))
    for start in range(0, block.n_rows, size):
        stop = min(start + size, block.n_rows)
        yield start, block if size == block.n_rows else block.take(np.arange(start, stop))


def _add(
    steps: FeatureSteps, extremes: StepExtremes, number: int, block: Block, positions: Positions, worst: int
) -> None:
    weights = block.row_weights()
    for output, segments in enumerate(steps.segments):
        sizes, places = extremes.sizes[number, output], extremes.places[number, output]
        rises, falls = sizes[LARGEST] > 0, sizes[SMALLEST] < 0
        missing, spread = extremes.missing[number, output]
        slack = SAME * (np.abs(missing) + spread)
        for code, segment in enumerate(segments):
            mass = weights if code == 0 else weights * (block.codes == code - 1)
            if not mass.any():
                continue
            segment.weight += float(mass.sum())
            segment.rises += float(mass @ (rises & ~falls))
            segment.falls += float(mass @ (falls & ~rises))
            segment.both += float(mass @ (rises & falls))
            segment.sums += sizes @ mass
            counts = mass > 0
            extreme = np.abs(sizes[:, counts]).max(axis=1, initial=0.0)
            segment.largest = np.maximum(segment.largest, extreme)
            if steps.has_missing:
                above, below = missing > spread + slack, missing < -slack
                segment.missing_above += float(mass @ above)
                segment.missing_below += float(mass @ below)
                beyond = np.maximum(missing - spread, -missing)[counts].max(initial=0.0)
                segment.missing_most = max(segment.missing_most, float(beyond))
        for which, examples in zip((SMALLEST, LARGEST), steps.worst[output]):
            ends = partial(_between, steps.values, np.maximum(places[which] - 1, 0), places[which])
            _keep(examples, sizes[which], ends, positions[extremes.start :], worst)


def _between(values: NDArray[Any], starts: Positions, stops: Positions, row: int) -> tuple[Any, Any]:
    """The grid values between which a row's prediction steps."""
    return values[starts[row]], values[stops[row]]


def _add_levels(
    steps: FeatureSteps, curves: Float, block: Block, start: int, positions: Positions, worst: int
) -> None:
    """Add a block's curves over levels, which have no order: each level is compared with each."""
    weights = block.row_weights()
    for output, segments in enumerate(steps.segments):
        predicted = curves[output]
        slack = SAME_SINGLE * 1e-3 * np.abs(predicted).max(axis=1, initial=0.0)
        shared = np.stack([weights, *(weights * (block.codes == code) for code in range(len(segments) - 1))])
        for a in range(predicted.shape[1]):
            difference = predicted - predicted[:, a : a + 1]
            steps.pairs[output][:, a] += shared @ (difference > slack[:, None])
            for segment_gaps, counted in zip(steps.gaps[output], shared):
                most = difference[counted > 0].max(axis=0, initial=0.0)
                segment_gaps[a] = np.maximum(segment_gaps[a], most)
        low, high = predicted.argmin(axis=1), predicted.argmax(axis=1)
        spread = predicted.max(axis=1, initial=-np.inf) - predicted.min(axis=1, initial=np.inf)
        spread = np.where(spread > slack, spread, 0.0)
        for counted, segment in zip(shared, segments):
            if not counted.any():
                continue
            segment.weight += float(counted.sum())
            segment.both += float(counted @ (spread > 0))
            segment.sums[LARGEST] += float(counted @ spread)
            segment.largest[LARGEST] = max(
                segment.largest[LARGEST], float(spread[counted > 0].max(initial=0.0))
            )
        ends = partial(_between, steps.values, low, high)
        _keep(steps.worst[output][1], spread, ends, positions[start:], worst)


def _keep(
    examples: list[Example], sizes: Float, ends: Callable[[int], tuple[Any, Any]], rows: Positions, worst: int
) -> None:
    """Keep the `worst` rows with the largest steps as examples; of steps of one size, the first row."""
    bound = abs(examples[-1].size) if len(examples) == worst else 0.0
    larger = np.flatnonzero(np.abs(sizes) > bound)
    order = larger[np.argsort(-np.abs(sizes[larger]), kind="stable")[:worst]]
    examples += [Example(int(rows[row]), float(sizes[row]), *ends(row)) for row in order.tolist()]
    examples.sort(key=lambda example: (-abs(example.size), example.row))
    del examples[worst:]


def _add_missing(
    study: Study, every_steps: Sequence[FeatureSteps], block: Block, positions: Positions, worst: int
) -> None:
    """Steps to missing from rows' own values, and from missing to the value nearest to the column's median."""
    if not every_steps:
        return
    outputs, middle = len(study.model.outputs), {}
    for steps in every_steps:
        column = study.column(steps.feature)
        numbers = column.values[~column.missing]
        middle[steps.feature.label] = np.sort(numbers)[(len(numbers) - 1) // 2]
    for start, part in _parts(study, block, 1 + 2 * len(every_steps)):
        every, axes = np.arange(part.n_rows), []
        for steps in every_steps:
            ends = object_array([middle[steps.feature.label], steps.values[-1]])
            values = ends if steps.values.dtype == object else ends.astype(steps.values.dtype)
            axes.append(steps.feature.axis(values, part.table))
        sets = [(), *((axis,) for axis in axes)]
        questions = [Question(moving, spread=False, rows=every, averaged=False) for moving in sets]
        first, *moved = study.answers(questions, Block(part.table))
        now = np.asarray(first.curves).reshape(outputs, -1)
        for steps, answer in zip(every_steps, moved):
            steps.worst_missing = steps.worst_missing or [[] for _ in range(outputs)]
            column = part.table.column(steps.feature.label)
            for output, examples in enumerate(steps.worst_missing):
                at_middle, at_missing = np.asarray(answer.curves)[output].T
                sizes = np.where(column.missing, at_middle - at_missing, at_missing - now[output])
                sizes[np.abs(sizes) <= tolerance_of(study) * (np.abs(now[output]) + np.abs(at_missing))] = 0.0
                _add_missing_steps(steps.segments[output], part, column.missing, sizes)
                _keep(examples, sizes, partial(_ends, column, steps, middle), positions[start:], worst)


def _ends(column: Column, steps: FeatureSteps, middle: Mapping[Any, Any], row: int) -> tuple[Any, Any]:
    """The values between which a row's prediction steps, of which one is missing."""
    if column.missing[row]:
        return steps.values[-1], middle[steps.feature.label]
    return column.values[row], steps.values[-1]


def _add_missing_steps(
    segments: Sequence[Segment], block: Block, gone: NDArray[np.bool_], steps: Float
) -> None:
    weights = block.row_weights()
    for code, segment in enumerate(segments):
        counted = weights if code == 0 else weights * (block.codes == code - 1)
        segment.to_missing.add(counted * ~gone, steps)
        segment.from_missing.add(counted * gone, steps)
