"""TreesEngine: sorts questions by what they need, and hands them to `averages` or `curves`."""

# Modules that only some questions need are imported where they are: a first curve loads nothing else.
from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import numpy as np

from icefield.core.engine import Offer, TreeReading
from icefield.core.question import Answer, Moments, Question, Resources, block_moments
from icefield.core.rows import Block
from icefield.engines.kept_curves import check_fits, lane_quantiles
from icefield.engines.trees.axes import EncodedAxis, last_values_left, steps_of
from icefield.engines.trees.boxes import boxes, put
from icefield.engines.trees.encoded import EncodeOnce
from icefield.engines.trees.moving_columns import moved_columns
from icefield.engines.trees.packed_rows import MOST_POSITIONS, WORD, Moved, PackedRows
from icefield.engines.trees.program import TreeSums
from icefield.forest.form import validate
from icefield.forest.tree_model import LinkForm, TreeModel
from icefield.progress import Progress
from icefield.typing import Float, Mask, Positions

if TYPE_CHECKING:
    from icefield.core.engine import Context
    from icefield.core.placement import Placement, PlaceSums
    from icefield.core.question import Axes, Axis, ColumnSets, Moves, Moving, QuestionAccumulator
    from icefield.core.step_extremes import StepExtremes
    from icefield.data.frame import Table
    from icefield.engines.trees.averages import Counted
    from icefield.engines.trees.linked_scale import LinkedScale
    from icefield.threads import ThreadCrew

BLOCK = 8192  # rows a mask holds when counting
MOST_GROUPS = 512  # of rows, in one walk


def offer(reading: TreeReading) -> Offer:
    """The exact engine, for a model that was read as trees."""
    from icefield.models.tree_reading import tree_scale

    trees, model = reading.trees, reading.model
    if trees is None:
        return Offer(None, reading.reason)
    engine = TreesEngine(trees, tree_scale(model, trees), model.selected)
    return Offer(engine, f"exact, from the {trees.source} trees", trees)


@dataclass(frozen=True, eq=False)
class Walking:
    """The rows of a walk over the trees, and what it may use."""

    sample: Block
    memory: int
    crew: ThreadCrew
    progress: Progress


class TreesEngine:
    """Answers questions about a model that was read as trees.

    Parameters
    ----------
    model : TreeModel
        The forest, how rows become its input, and its link.
    scale : {"raw", "response"}
        Whether answers are the trees' sums or what the link makes of them.
    selected : sequence of int
        The outputs wanted, among those on that scale.
    """

    name = travels_as = "trees"
    costs_predictions = False
    needs_rows = True

    def __init__(self, model: TreeModel, scale: str, selected: Sequence[int]) -> None:
        validate(model.forest)
        self.encoder = EncodeOnce(model)
        self.model, self.selected = replace(model, encode=self.encoder), tuple(int(s) for s in selected)
        self.additive = scale == "raw" or model.link.additive
        # A link may need every raw output; without one, only those asked for are summed.
        raw = self.selected if self.additive else tuple(range(model.forest.n_outputs))
        self.sums = TreeSums(model.forest, raw)
        self._unmoved: WeakKeyDictionary[Table, tuple[Any, Any, list[Moments]]] = WeakKeyDictionary()

    @property
    def parts(self) -> dict[str, object]:
        return {"tree model": self.model}

    def accumulator(self, moving: Moving, context: Context) -> QuestionAccumulator | None:
        """Counts, where the scale is additive: averages on any grid derive from them."""
        if not self.additive:
            return None
        from icefield.engines.trees.count_accumulator import CountAccumulator

        return CountAccumulator(self, moving, context)

    def thresholds(self, column: Any, table: Table) -> Float:
        return last_values_left(self.model, column, table)

    def steps(self, table: Table) -> dict[Any, tuple[Float, Float]]:
        return steps_of(self.model, table)

    @cached_property
    def _linked(self) -> LinkedScale | None:
        if self.additive:
            return None
        from icefield.engines.trees.linked_scale import LinkedScale

        return LinkedScale.of(self.model, self.sums, self.selected)

    def _shared(self, questions: Sequence[Question]) -> LinkedScale | None:
        """What gives one-way curves of several questions in one walk over the rows."""
        if not self.additive:
            return self._linked
        if sum((q.spread or not q.averaged) and len(q.axes) == 1 for q in questions) < 2:
            return None
        return self._unlinked

    @cached_property
    def _unlinked(self) -> LinkedScale:
        from icefield.engines.trees.linked_scale import LinkedScale

        return LinkedScale(self.model, self.sums, range(len(self.sums.outputs)), LinkForm("identity"))

    def answer(self, questions: Sequence[Question], sample: Block, resources: Resources) -> list[Answer]:
        for question in questions:
            check_fits(question, sample.n_rows, len(self.selected), resources.memory)
        if sample.n_rows == 0:
            return [self._empty(question, sample) for question in questions]
        encoded = self._encoded(questions, sample)
        sample = self.encoder.sample(sample, resources, to_count=all(map(self._by_counts, questions)))
        work = sample.n_rows * self.sums.trees.size * len(questions)
        answers: list[Answer | None] = [None] * len(questions)
        with Progress("walking the trees", total=work) as progress, resources.crew() as crew, crew:
            walking = Walking(sample, resources.memory, crew, progress)
            counted = [i for i, q in enumerate(questions) if self._by_counts(q)]
            averages = self._averages([encoded[i] for i in counted], walking)
            for i, values in zip(counted, averages):
                answers[i] = Answer(*_without_spread(values, sample))
            shared = self._shared(questions)
            if shared is not None:
                for i, linked in shared.answers(questions, encoded, walking):
                    answers[i] = linked
            for i, question in enumerate(questions):
                answer = answers[i]
                if answer is None and _keeps_every_prediction(question, sample):
                    answer = self._predictions(question, walking)
                if answer is None and not question.averaged:
                    answer = Answer(*self._no_moments(question, sample))
                if answer is None:
                    answer = self._by_curves(question, encoded[i], walking)
                if question.rows is not None and answer.curves is None:
                    answer.curves = self._kept(question.rows, encoded[i], walking)
                answers[i] = answer
        return [a for a in answers if a is not None]

    def _encoded(self, questions: Sequence[Question], sample: Block) -> list[list[EncodedAxis]]:
        """The questions' axes, those that share their values encoded once."""

        def key(axis: Axis) -> Any:
            return axis.columns, tuple(id(values) for values in axis.points.values())

        known = {key(axis): axis for question in questions for axis in question.axes}
        found = dict(zip(known, EncodedAxis.of_each(self.model, sample.table, list(known.values()))))
        return [[found[key(axis)] for axis in question.axes] for question in questions]

    def _by_counts(self, question: Question) -> bool:
        wanted = question.averaged and not question.spread and not question.quantiles
        return self.additive and bool(question.axes) and wanted

    def _empty(self, question: Question, sample: Block) -> Answer:
        shape = (len(self.selected), *question.shape)
        answer = Answer(*self._no_moments(question, sample))
        if question.quantiles:
            answer.quantiles = np.full((len(question.quantiles), *shape), np.nan)
            answer.group_quantiles = tuple(answer.quantiles.copy() for _ in range(sample.n_groups))
        if question.rows is not None:
            answer.curves = np.empty((len(self.selected), 0, *question.shape))
        return answer

    def _no_moments(self, question: Question, sample: Block) -> tuple[Moments, tuple[Moments, ...]]:
        empty = Moments.empty((len(self.selected), *question.shape), question.spread)
        return empty, (empty,) * sample.n_groups

    def own_averages(self, sets: ColumnSets, sample: Block, resources: Resources) -> Generator[Float] | None:
        """As `Engine` says; None where the scale is not additive over the trees and the rows are not few, or their places
        among the thresholds would not fit the budget."""
        from icefield.engines.trees.h_statistic import AveragesAtRows

        if not self.additive:
            return None if self._linked is None else self._linked.own_averages(sets, sample, resources)
        if not AveragesAtRows.fits(sets, sample.n_rows, resources.memory):
            return None
        sample = self.encoder.sample(Block(sample.table, sample.weights), resources)
        return self._own_averages(sets, sample, resources)

    def _own_averages(self, sets: ColumnSets, sample: Block, resources: Resources) -> Generator[Float]:
        from icefield.engines.trees.averages import Counted
        from icefield.engines.trees.h_statistic import AveragesAtRows

        work = sample.n_rows * self.sums.trees.size
        with Progress("walking the trees", total=work) as progress, resources.crew() as crew, crew:
            rows = PackedRows(self.model, sample, BLOCK)
            counted = Counted(self.sums, rows, crew, resources.memory, progress)
            yield from AveragesAtRows(self.model, counted).averages(sets)

    def moved_means(self, moves: Moves, sample: Block, resources: Resources) -> list[list[Moments]] | None:
        """As `Engine` says; None where there are too many groups for one walk, or no room to keep the rows as the forest sees them."""
        rows = self._to_move(sample, resources)
        if rows is None or sample.n_groups > MOST_GROUPS:
            return None
        moving = [axes for axes in moves if axes]
        unmoved = self._unmoved.get(sample.table)
        if unmoved is not None and (unmoved[0] is not sample.weights or unmoved[1] is not sample.codes):
            unmoved = None
        work = sample.n_rows * self.sums.trees.size * len(moves)
        with Progress("walking the trees", total=work) as progress, resources.crew() as crew, crew:
            walking = Walking(rows, resources.memory, crew, progress)
            if len(moving) < len(moves) and unmoved is None:
                (own,) = self._means(None, walking)
                unmoved = self._unmoved[sample.table] = (sample.weights, sample.codes, own)
            found: Iterator[list[Moments]] = iter(())
            if moving:
                moved = self._moved(moving, sample, rows)
                found = iter(self._means(moved, walking))
        kept = [] if unmoved is None else unmoved[2]
        return [next(found) if axes else kept for axes in moves]

    def moved_predictions(self, moves: Moves, table: Table, resources: Resources) -> Float | None:
        """As `Engine` says; None where there is no room to keep the rows as the forest sees them."""
        from icefield.engines.trees.predictions import raw_predictions

        sample = Block(table)
        rows = self._to_move(sample, resources)
        if rows is None:
            return None
        with resources.crew() as crew, crew:
            moved = self._moved(moves, sample, rows)
            raw = raw_predictions(self.model, self.sums, rows, crew, resources.memory, moved)
        return raw if self.additive else np.stack([self._link(one) for one in raw])

    def _to_move(self, sample: Block, resources: Resources) -> Block | None:
        """Rows as the forest sees them, which do not have to be made again when some columns move."""
        rows = self.encoder.moving(sample, resources)
        return None if not sample.n_rows or rows.table is sample.table else rows

    def _moved(self, moves: Moves, sample: Block, rows: Block) -> Moved:
        return moved_columns(self.model, self.encoder, sample.table, cast(Any, rows.table), moves)

    def _means(self, moved: Moved | None, walking: Walking) -> list[list[Moments]]:
        """Mean predictions for every way in which rows move: over all rows, then by group."""
        from icefield.engines.trees.averages import moved_averages
        from icefield.engines.trees.predictions import raw_predictions

        sample = walking.sample
        if self.additive:
            averages = moved_averages(self._counted(walking, moved))
            return [[total, *groups] for total, groups in (_without_spread(one, sample) for one in averages)]
        raw = raw_predictions(self.model, self.sums, sample, walking.crew, walking.memory, moved)
        return [block_moments(self._link(one), sample, 0, sample.n_rows, False) for one in raw]

    def differences(
        self, axes: Axes, table: Table, rows: Positions, steps: Sequence[Positions], resources: Resources
    ) -> Float:
        """As `Engine` says."""
        from icefield.engines.trees.ale_differences import StepDifferences

        encoded = tuple(EncodedAxis.of(self.model, table, axis) for axis in axes)
        with resources.crew() as crew, crew:
            link = None if self.additive else self._link
            moves = StepDifferences(self.model, self.sums, encoded, link, crew, resources.memory)
            return moves.differences(self.encoder.kept(table, resources), rows, np.array(steps, np.int32))

    def local_sums(self, standing: Placement, resources: Resources) -> PlaceSums | None:
        """What moving rows to the points about their places adds up to; None where each axis needs a walk of its own."""
        from icefield.engines.trees.ale_sums import LocalSums, Unlike

        if not self.additive and self._linked is None:
            return None
        encoded = EncodedAxis.of_each(self.model, standing.table, standing.axes)
        form = None if self._linked is None else self._linked.form
        with resources.crew() as crew, crew:
            moves = LocalSums(self.model, self.sums, self.selected, form, encoded, standing, crew)
            if not moves.possible or not moves.fits(resources.memory):
                return None
            try:
                return moves.found(self.encoder.kept(standing.table, resources))
            except Unlike:
                return None

    def step_extremes(
        self, axes: Axes, numbers: Sequence[int], block: Block, resources: Resources
    ) -> Generator[StepExtremes] | None:
        """How every row's curve steps along each axis, from one walk; None where the masks are too many or the link is unknown."""
        form = LinkForm("identity")
        if not self.additive:
            if self._linked is None:
                return None
            form = self._linked.form
        encoded = EncodedAxis.of_each(self.model, block.table, axes)
        columns = [column for axis in encoded for column in axis.columns]
        if len(set(columns)) != len(columns):
            return None
        from icefield.engines.trees.step_audit import StepAudit

        selected = range(len(self.selected)) if self.additive else self.selected
        sample = self.encoder.sample(Block(block.table), resources)
        crew = resources.crew()
        progress = Progress("auditing rows", total=sample.n_rows * self.sums.trees.size)
        audit = StepAudit(self.model, self.sums, encoded, numbers, form, selected, crew, progress)
        if not audit.possible:
            return None

        def walked() -> Generator[StepExtremes]:
            with progress, crew, crew:
                yield from audit.found(sample)

        return walked()

    def _link(self, raw: Float) -> Float:
        return self.model.link.selected(raw, self.selected)

    # --- averages --------------------------------------------------------------------------------

    def _averages(self, questions: list[list[EncodedAxis]], walking: Walking) -> list[list[Float]]:
        """For each question the averages over all rows, then for each group of rows."""
        if not questions:
            return []
        from icefield.engines.trees.averages import averages_of

        if walking.sample.n_groups > MOST_GROUPS:
            return self._many_groups(questions, walking)
        return averages_of(self._counted(walking), questions)

    def _counted(self, walking: Walking, moved: Moved | None = None) -> Counted:
        from icefield.engines.trees.averages import Counted

        block = min(BLOCK, MOST_POSITIONS - WORD * (walking.sample.n_groups + 2))
        rows = PackedRows(self.model, walking.sample, block, moved)
        return Counted(self.sums, rows, walking.crew, walking.memory, walking.progress)

    def _many_groups(self, questions: list[list[EncodedAxis]], walking: Walking) -> list[list[Float]]:
        found: list[list[Float]] = [[] for _ in questions]
        sample, codes = walking.sample, walking.sample.codes
        for first in range(0, sample.n_groups, MOST_GROUPS):
            n = min(MOST_GROUPS, sample.n_groups - first)
            inside = codes
            if codes is not None:
                inside = np.where((codes >= first) & (codes < first + n), codes - first, -1)
            part = replace(walking, sample=Block(sample.table, sample.weights, inside, n))
            for number, values in enumerate(self._averages(questions, part)):
                found[number] += values[1:] if found[number] else values
        return found

    # --- curves ----------------------------------------------------------------------------------

    def _response(self, raw: Float) -> Float:
        """Raw values ``(rows, grid, outputs)`` on the asked scale, as ``(rows, outputs, grid)``."""
        return (raw if self.additive else self._link(raw)).transpose(0, 2, 1)

    def _by_curves(self, question: Question, axes: list[EncodedAxis], walking: Walking) -> Answer:
        if not question.quantiles:
            return self._reduced(question, axes, walking, None)
        # Quantiles need all rows of a grid point at once: as many points as fit half the budget.
        sample, shape = walking.sample, (len(self.selected), *question.shape)
        whole = Answer(
            Moments.empty(shape, question.spread),
            tuple(Moments.empty(shape, question.spread) for _ in range(sample.n_groups)),
            np.empty((len(question.quantiles), *shape)),
            tuple(np.empty((len(question.quantiles), *shape)) for _ in range(sample.n_groups)),
        )
        fitting = max(1, walking.memory // (16 * sample.n_rows * len(self.selected)))
        for box in boxes(question.shape, fitting):
            part = [axis.part(b.start, b.stop) for axis, b in zip(axes, box)]
            size = int(np.prod([a.size for a in part]))
            kept = np.empty((len(self.selected), size, sample.n_rows))
            put(whole, self._reduced(question, part, walking, kept), (..., *box))
        return whole

    def _reduced(
        self, question: Question, axes: list[EncodedAxis], walking: Walking, kept: Float | None
    ) -> Answer:
        """Moments over all rows on the axes given; with `kept`, quantiles too."""
        from icefield.engines.trees.curves import ForestCurves

        sample, spread, crew = walking.sample, question.spread, walking.crew
        shape = (len(self.selected), *[a.size for a in axes])
        flat = (shape[0], int(np.prod(shape[1:])))
        moments = [Moments.empty(flat, spread) for _ in range(sample.n_groups + 1)]

        def reduce(start: int, stop: int, raw: Float) -> list[Moments]:
            values = self._response(raw)
            if kept is not None:
                kept[:, :, start:stop] = values.transpose(1, 2, 0)
            return block_moments(values, sample, start, stop, spread)

        curves = ForestCurves(self.model, self.sums, axes, crew, walking.memory)
        share = self.sums.trees.size * flat[1] / max(1, int(np.prod(question.shape)))
        for start, stop, parts in curves.reduced(sample, reduce):
            walking.progress.advance((stop - start) * share)
            moments = [m.merge(part) for m, part in zip(moments, parts)]
        total, *groups = (m.changed(lambda values: values.reshape(shape)) for m in moments)
        answer = Answer(total, tuple(groups))
        if kept is not None:
            weights, codes, wanted = sample.weights, sample.codes, question.quantiles
            answer.quantiles = lane_quantiles(kept, wanted, weights, crew).reshape(-1, *shape)
            answer.group_quantiles = tuple(
                lane_quantiles(kept[..., own], wanted, None if weights is None else weights[own], crew)
                .reshape(-1, *shape)
                for own in (codes == g for g in range(sample.n_groups))
            )  # fmt: skip
        return answer

    def _predictions(self, question: Question, walking: Walking) -> Answer:
        """Every row's own prediction, and the moments of these: one walk gives both."""
        from icefield.engines.trees.predictions import raw_predictions

        sample = walking.sample
        (raw,) = raw_predictions(self.model, self.sums, sample, walking.crew, walking.memory)
        values = self._response(raw[:, None, :])[:, :, 0]
        total, *groups = block_moments(values, sample, 0, sample.n_rows, question.spread)
        return Answer(total, tuple(groups), curves=np.ascontiguousarray(values.T))

    def _kept(self, rows: Positions, axes: list[EncodedAxis], walking: Walking) -> Float:
        """The individual curves of some rows."""
        from icefield.engines.trees.curves import ForestCurves

        sample, shape = walking.sample, [a.size for a in axes]
        out = np.empty((len(self.selected), len(rows), int(np.prod(shape))))
        if len(rows):
            curves = ForestCurves(self.model, self.sums, axes, walking.crew, walking.memory)
            chosen = Block(sample.table if _is_every_row(rows, sample) else sample.table.take(rows))
            for start, stop, values in curves.reduced(chosen, lambda *block: self._response(block[2])):
                out[:, start:stop] = values.transpose(1, 0, 2)
        return out.reshape(len(self.selected), len(rows), *shape)


def _keeps_every_prediction(question: Question, sample: Block) -> bool:
    """Whether nothing moves, and every row's curve, which is one number then, is asked for as well."""
    asked = not question.axes and not question.quantiles
    return asked and question.rows is not None and _is_every_row(question.rows, sample)


def _is_every_row(rows: Positions, sample: Block) -> bool:
    return len(rows) == sample.n_rows and bool((rows == np.arange(len(rows))).all())


def _without_spread(averages: list[Float], sample: Block) -> tuple[Moments, tuple[Moments, ...]]:
    """Moments that know their mean and weights but no spread."""
    weights = sample.weights

    def moments(mean: Float, chosen: Mask | slice, count: int) -> Moments:
        own = None if weights is None else weights[chosen]
        weight = float(count) if own is None else float(own.sum())
        squared = float(count) if own is None else float(np.square(own).sum())
        if weight == 0.0:
            return Moments(count, 0.0, 0.0, np.zeros_like(mean), None)
        return Moments(count, weight, squared, mean, None)

    total = moments(averages[0], slice(None), sample.n_rows)
    if sample.codes is None:
        return total, ()
    members = [sample.codes == g for g in range(sample.n_groups)]
    return total, tuple(moments(averages[g + 1], m, int(m.sum())) for g, m in enumerate(members))
