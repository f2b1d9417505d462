"""Averages from counts over rows that come in parts: bit for bit what all rows at once would give.

Counts do not depend on the grid, and whole numbers add up the same in any order and any parts. So the programs of all
questions are laid out first, parts of the rows are counted as they come, and only at the end the
counts become averages, by the very steps that averages over one table take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from icefield.core.engine import Context
from icefield.core.question import Answer, Moments, Moving, Question, QuestionAccumulator
from icefield.core.rows import Block, State
from icefield.core.weight_totals import WeightTotals
from icefield.engines.trees.averages import Counted, Counting, averages_of
from icefield.engines.trees.axes import EncodedAxis, forest_columns
from icefield.engines.trees.engine import BLOCK, TreesEngine
from icefield.engines.trees.packed_rows import MOST_POSITIONS, NO_WEIGHT, WORD, PackedRows, WholeWeights
from icefield.engines.trees.program import Program
from icefield.progress import Progress
from icefield.threads import PerThread, ThreadCrew
from icefield.typing import Float, Int64, Positions


def whole_weights(totals: WeightTotals, weights: Float, codes: Positions | None) -> WholeWeights:
    """Some rows' weights as whole numbers, in units that all parts of the rows share."""
    segment, some = totals.segments(codes, len(weights)), totals.totals > 0
    shift = np.where(some, 61 - np.frexp(totals.totals)[1], 0).astype(np.int64)
    spare = np.where(some, np.maximum(0, shift + np.minimum(totals.finest, 2**15)), 0)
    whole = np.rint(np.ldexp(weights, shift[segment])).astype(np.int64) >> spare[segment]
    exponents = np.where(some, spare - shift, NO_WEIGHT)
    most = np.rint(np.ldexp(totals.largest, shift)).astype(np.int64) >> spare
    planes = max(1, *(int(value).bit_length() for value in most))
    return WholeWeights(whole, np.ldexp(1.0, exponents - exponents.max()), planes)


class _PartRows(PackedRows):
    """The part of the rows that is being counted; what all parts have in common stays."""

    def __init__(self, engine: TreesEngine, n_groups: int, totals: WeightTotals | None) -> None:
        self.model, self._totals, self.moved = engine.model, totals, None
        self.n_segments = n_groups + 1
        self.block = min(BLOCK, MOST_POSITIONS - WORD * (n_groups + 2))
        self.words = -(-self.block // WORD) + (self.n_segments if self.n_segments > 1 else 0)
        self._codes = np.zeros(0, np.intp) if n_groups else None
        none = np.zeros(0)
        self.weights = (
            WholeWeights(None, np.ones(self.n_segments), 0)
            if totals is None
            else whole_weights(totals, none, self._codes)
        )
        self.counted = np.zeros(self.n_segments, np.int64)

    def hold(self, sample: Block) -> None:
        """Take these rows as the next part."""
        self.sample = sample
        if self._totals is not None and sample.weights is not None:
            self.weights = whole_weights(self._totals, sample.weights, sample.codes)
        self.counted += super().totals()

    def totals(self) -> Int64:
        return self.counted


@dataclass(frozen=True, eq=False)
class _Replayed(Counted):
    """Stands in for counting: shows each program once to `counts_of` and takes what that gives."""

    counts_of: Callable[[Program], Int64]

    def counts(self, program: Program, meanwhile: Callable[[], object] | None = None) -> Int64:
        if meanwhile is not None:
            meanwhile()
        return self.counts_of(program)


class CountAccumulator(QuestionAccumulator):
    """Counts of rows at leaves, from which averages derive whatever the grids; the engine's scale is additive.

    `moving` are, for each question, the columns of each of its axes.
    """

    title = "walking the trees"

    def __init__(self, engine: TreesEngine, moving: Moving, context: Context) -> None:
        self._engine, self._resources, self._moving = engine, context.resources, moving
        n_groups, known = context.rows.n_groups, context.rows.weight_totals
        self._head = context.rows.head.take(np.zeros(1, np.intp))
        self._rows = _PartRows(engine, n_groups, known)
        self._weighs = known is not None
        self._totals = WeightTotals(n_groups + 1) if known is None else known
        self._programs: list[Program] = []

        def laid_out(program: Program) -> Int64:
            self._programs.append(program)
            return np.zeros((program.slots.n, self._rows.n_segments), np.int64)

        # Nothing is counted yet: it only shows which programs there will be, and these depend on no grid.
        somewhere = np.asarray(engine.model.encode(self._head), np.float64)
        self._averages([[self._anywhere(names, somewhere) for names in axes] for axes in moving], laid_out)
        n_segments = self._rows.n_segments
        self.counters = [np.zeros((p.n_counters, n_segments), np.int64) for p in self._programs]

    def _anywhere(self, names: Sequence[Any], row: Float) -> EncodedAxis:
        """An axis of one point, which stands for any grid of these columns."""
        return EncodedAxis.of_matrix(forest_columns(self._engine.model, names), row)

    @property
    def about(self) -> dict[str, Any]:
        moving = [[[str(name) for name in axis] for axis in axes] for axes in self._moving]
        return {"counts": moving, "engine": self._engine.name, "groups": self._rows.n_segments - 1}

    def check(self, questions: Sequence[Question]) -> None:
        """An error where a grid holds a value that the trees cannot read: before any row is read."""
        self._encoded(questions)

    def _encoded(self, questions: Sequence[Question]) -> list[list[EncodedAxis]]:
        """The questions' grids as the trees see them."""
        axes = [axis for question in questions for axis in question.axes]
        found = iter(EncodedAxis.of_each(self._engine.model, self._head, axes))
        return [[next(found) for _ in q.axes] for q in questions]

    def _averages(
        self, axes: list[list[EncodedAxis]], counts_of: Callable[[Program], Int64]
    ) -> list[list[Float]]:
        engine, rows = self._engine, self._rows
        counted = _Replayed(
            engine.sums, rows, self._resources.crew(), self._resources.memory, Progress("", 1), counts_of
        )
        return averages_of(counted, axes)

    def add(self, block: Block, threads: ThreadCrew) -> None:
        if not self._weighs:
            self._totals.add(block)
        self._rows.hold(self._engine.encoder.sample(block, self._resources))
        for program, counters in zip(self._programs, self.counters):
            lent = PerThread(partial(Counting, program, self._rows, threads))

            def work(block: tuple[int, int], lent: PerThread[Counting] = lent) -> None:
                with lent.borrowed() as mine:
                    mine.add(*block)

            threads.each(work, self._rows.blocks)
            for mine in lent.made:
                counters += mine.counters[0]

    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        axes = self._encoded(questions)
        known = iter(zip(self._programs, self.counters))

        def resolved(_: Program) -> Int64:
            program, counters = next(known)
            return program.slots.counts(counters, self._rows.totals())

        return [Answer(*self._moments(values)) for values in self._averages(axes, resolved)]

    def _moments(self, averages: list[Float]) -> tuple[Moments, tuple[Moments, ...]]:
        of = self._totals

        def moments(mean: Float, segment: Any) -> Moments:
            weight = float(of.totals[segment].sum())
            count = int(of.counts[segment].sum())
            if weight == 0.0:
                return Moments(count, 0.0, 0.0, np.zeros_like(mean))
            return Moments(count, weight, float(of.squares[segment].sum()), mean)

        groups = range(self._rows.n_segments - 1)
        return moments(averages[0], slice(None)), tuple(moments(averages[g + 1], g) for g in groups)

    def state(self) -> State:
        found: State = {f"counters {i}": c for i, c in enumerate(self.counters)}
        return found | {"counted": self._rows.counted} | self._totals.state()

    def restore(self, state: State) -> None:
        self.counters = [state[f"counters {i}"].copy() for i in range(len(self.counters))]
        self._rows.counted = state["counted"].copy()
        self._totals.restore(state)

    def merge(self, state: State) -> None:
        for number, counters in enumerate(self.counters):
            counters += state[f"counters {number}"]
        self._rows.counted = self._rows.counted + state["counted"]
        if not self._weighs:  # what is known of all weights is known everywhere
            self._totals.merge(state)
