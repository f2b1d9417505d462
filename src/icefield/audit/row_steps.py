"""How every given row's curve steps along each feature: at every threshold of the model where it is made of trees.

A row's curve along a number is a step function that can change at the thresholds only, so asking at one value between each two
decides exactly whether it rises, falls, or does both. Models that are not read as trees are asked on a grid, and the
answer says so. Categories have no order: their levels are compared pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.question import Question
from icefield.core.rows import Block
from icefield.core.step_extremes import StepExtremes, extremes_of_curves
from icefield.data.columns import ORDERED_KINDS, is_missing_value
from icefield.data.features import Feature
from icefield.data.grid import Grid
from icefield.errors import EngineError, ModelError
from icefield.typing import Float, Positions

if TYPE_CHECKING:
    from icefield.core.study import Study

SMALLEST, LARGEST, FALL, RISE = range(4)
EVERY_THRESHOLD = "every threshold"
SAME = 1e-12  # of a prediction's size: differences below it are rounding, where predictions themselves are compared
SAME_SINGLE = 2e-6  # the same of models that add up in float32
MOST_LEVELS = 60


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


@dataclass
class FeatureSteps:
    """What was found along one feature.

    Attributes
    ----------
    feature : which
    values : the grid, in rising order, a missing value last
    numbers : how many of its points are numbers; 0 for levels
    method : how it was decided, for people
    segments : by output, over all rows and then by group
    worst : by output, the rows with the largest falls and the largest rises, in this order
    pairs : for levels, by output, ``(levels, levels)``: the share of rows with a larger prediction at the column's level than at the row's
    gaps : for levels, likewise, the largest such difference
    """

    feature: Feature
    values: NDArray[Any]
    numbers: int
    method: str
    segments: list[list[Segment]]
    worst: list[tuple[list[Example], list[Example]]]
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
    found = [_unseen(study, feature, points, block.n_groups) for feature in features]
    _check_predictions(study, block)
    swept = [one for one in found if one.is_ordered and one.method == EVERY_THRESHOLD]
    left = [one for one in found if one not in swept]
    if swept and not _swept(study, swept, block, positions, worst):
        left = found
    for one in left:
        for start, curves in _curves(study, one, block):
            part = block.take(np.arange(start, start + curves.shape[1]))
            if not one.is_ordered:
                _add_levels(one, curves, part, start, positions, worst)
            else:
                extremes = extremes_of_curves(curves, one.numbers, start, tolerance_of(study))
                _add(one, extremes, 0, part, positions, worst)
        if not one.is_ordered:
            total = one.segments[0][0].weight
            one.pairs = [share / total if total else share for share in one.pairs]
    return found


def tolerance_of(study: Study) -> float:
    """Relative differences below this are rounding: models that predict in float32 differ by more."""
    return SAME if study.plan.trees is not None else SAME_SINGLE


def _check_predictions(study: Study, block: Block) -> None:
    predicted = study.predictions(None) if study.plan.engine.costs_predictions else None
    if predicted is not None and not np.isfinite(predicted).all():
        row = int(np.flatnonzero(~np.isfinite(predicted).all(axis=1))[0])
        raise ModelError(
            f"The model predicts {predicted[row].tolist()} for row {row}: steps between numbers that are none cannot be audited. "
            "Hint: leave such rows out, or mend the model."
        )


def _unseen(study: Study, feature: Feature, points: int, n_groups: int) -> FeatureSteps:
    """The grid of a feature, with nothing counted yet."""
    plan, statistics = study.plan, study.rows.statistics
    outputs = len(study.model.outputs)
    segments = [[Segment() for _ in range(1 + n_groups)] for _ in range(outputs)]
    worst: list[tuple[list[Example], list[Example]]] = [([], []) for _ in range(outputs)]

    def thresholds(one: Feature) -> Float:
        return plan.thresholds(one, study.rows.head)

    if feature.is_group or feature.kind not in ORDERED_KINDS:
        (values,), _ = statistics.grids((feature,), Grid("distinct", points=MOST_LEVELS), thresholds)
        size = len(values)
        pairs = [np.zeros((size, size)) for _ in range(outputs)]
        gaps = [np.zeros((size, size)) for _ in range(outputs)]
        return FeatureSteps(feature, values, 0, "every level", segments, worst, pairs, gaps)
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


def _swept(
    study: Study, found: Sequence[FeatureSteps], block: Block, positions: Positions, worst: int
) -> bool:
    """Fill in what one walk over the rows finds; False where the engine has none."""
    axes = [one.feature.axis(one.values, block.table) for one in found]
    engine, table = study.plans.checked().engine, block.table.select(study.model.columns)
    walk = engine.step_extremes(axes, [one.numbers for one in found], Block(table), study.resources)
    if walk is None:
        return False
    for part in walk:
        rows = (
            block.take(np.arange(part.start, part.stop)) if block.n_rows != part.stop - part.start else block
        )
        for number, one in enumerate(found):
            _add(one, part, number, rows, positions, worst)
    return True


def _curves(study: Study, one: FeatureSteps, block: Block) -> Iterator[tuple[int, Float]]:
    """Curves ``(outputs, rows, points)`` of some rows at a time, with the number of the first."""
    size = block.n_rows
    if not study.model.across_rows:
        per_row = 8 * 6 * len(study.model.outputs) * len(one.values)
        size = max(1, min(size, study.resources.memory // max(1, per_row)))
    axis = one.feature.axis(one.values, block.table)
    for start in range(0, block.n_rows, size):
        part = block.take(np.arange(start, min(start + size, block.n_rows))) if size < block.n_rows else block
        question = Question((axis,), spread=False, rows=np.arange(part.n_rows), averaged=False)
        (answer,) = study.answers([question], Block(part.table))
        yield start, np.asarray(answer.curves)


def _add(
    one: FeatureSteps, found: StepExtremes, number: int, block: Block, positions: Positions, worst: int
) -> None:
    weights = block.row_weights()
    for output, segments in enumerate(one.segments):
        sizes, places = found.sizes[number, output], found.places[number, output]
        rises, falls = sizes[LARGEST] > 0, sizes[SMALLEST] < 0
        missing, spread = found.missing[number, output]
        slack = SAME * (np.abs(missing) + spread)
        for code, segment in enumerate(segments):
            own = weights if code == 0 else weights * (block.codes == code - 1)
            if not own.any():
                continue
            segment.weight += float(own.sum())
            segment.rises += float(own @ (rises & ~falls))
            segment.falls += float(own @ (falls & ~rises))
            segment.both += float(own @ (rises & falls))
            segment.sums += sizes @ own
            counts = own > 0
            extreme = np.abs(sizes[:, counts]).max(axis=1, initial=0.0)
            segment.largest = np.maximum(segment.largest, extreme)
            if one.has_missing:
                above, below = missing > spread + slack, missing < -slack
                segment.missing_above += float(own @ above)
                segment.missing_below += float(own @ below)
                beyond = np.maximum(missing - spread, -missing)[counts].max(initial=0.0)
                segment.missing_most = max(segment.missing_most, float(beyond))
        for which, (kept, size) in enumerate(zip(one.worst[output], (sizes[SMALLEST], sizes[LARGEST]))):
            _keep_worst(one, kept, size, places[which], found.start, positions, worst)


def _keep_worst(
    one: FeatureSteps,
    kept: list[Example],
    sizes: Float,
    places: NDArray[np.int32],
    start: int,
    positions: Positions,
    worst: int,
) -> None:
    """Let the rows with the largest steps stand for all; of steps of one size, the first row does."""
    bound = abs(kept[-1].size) if len(kept) == worst else 0.0
    candidates = np.flatnonzero(np.abs(sizes) > bound)
    if not len(candidates):
        return
    order = candidates[np.argsort(-np.abs(sizes[candidates]), kind="stable")[:worst]]
    kept += [
        Example(
            int(positions[start + row]),
            float(sizes[row]),
            one.values[max(0, places[row] - 1)],
            one.values[places[row]],
        )
        for row in order.tolist()
    ]
    kept.sort(key=lambda example: (-abs(example.size), example.row))
    del kept[worst:]


def _add_levels(
    one: FeatureSteps, curves: Float, block: Block, start: int, positions: Positions, worst: int
) -> None:
    """Levels have no order: each is compared with each."""
    weights = block.row_weights()
    for output, segments in enumerate(one.segments):
        own = curves[output]
        slack = SAME_SINGLE * 1e-3 * np.abs(own).max(axis=1, initial=0.0)
        for a in range(own.shape[1]):
            difference = own - own[:, a : a + 1]
            one.pairs[output][a] += weights @ (difference > slack[:, None])
            one.gaps[output][a] = np.maximum(
                one.gaps[output][a], difference[weights > 0].max(axis=0, initial=0.0)
            )
        low, high = own.argmin(axis=1), own.argmax(axis=1)
        spread = own.max(axis=1, initial=-np.inf) - own.min(axis=1, initial=np.inf)
        spread = np.where(spread > slack, spread, 0.0)
        for code, segment in enumerate(segments):
            counted = weights if code == 0 else weights * (block.codes == code - 1)
            if not counted.any():
                continue
            segment.weight += float(counted.sum())
            segment.both += float(counted @ (spread > 0))
            segment.sums[LARGEST] += float(counted @ spread)
            segment.largest[LARGEST] = max(
                segment.largest[LARGEST], float(spread[counted > 0].max(initial=0.0))
            )
        kept = one.worst[output][1]
        kept += [
            Example(int(positions[start + r]), float(spread[r]), one.values[low[r]], one.values[high[r]])
            for r in np.argsort(-spread, kind="stable")[:worst].tolist()
            if spread[r] > 0
        ]
        kept.sort(key=lambda example: (-abs(example.size), example.row))
        del kept[worst:]
