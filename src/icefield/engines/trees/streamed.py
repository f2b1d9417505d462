"""Averages from counts over rows that come in parts: bit for bit what all rows at once would give.

Counts do not depend on the grid, and whole numbers add up the same in any order and any parts. So the programs of all
questions are laid out first, parts of the rows are counted as they come, and only at the end the
counts become averages, by the very steps that averages over one table take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield import kernels
from icefield.core.question import Answer, Moments, Question, Sample
from icefield.engines.trees.averages import Counted, Counting, family_averages, joint_averages
from icefield.engines.trees.axes import EncodedAxis
from icefield.engines.trees.engine import BLOCK, TreesEngine, families
from icefield.engines.trees.program import Program
from icefield.engines.trees.rows import MOST_POSITIONS, NO_WEIGHT, WORD, Rows, WholeWeights
from icefield.progress import Progress
from icefield.threads import Crew, Lent
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.data.frame import Table


@dataclass
class Weighing:
    """What must be known of all weights before any is counted: by group of rows, their sum and finest digit.

    A row in no group belongs to the last one.
    """

    n_segments: int
    totals: Float = field(init=False)
    squares: Float = field(init=False)
    counts: NDArray[np.int64] = field(init=False)
    largest: Float = field(init=False)
    finest: NDArray[np.int64] = field(init=False)  # the exponent of the lowest bit of any weight

    def __post_init__(self) -> None:
        self.totals, self.squares = np.zeros(self.n_segments), np.zeros(self.n_segments)
        self.counts, self.largest = np.zeros(self.n_segments, np.int64), np.zeros(self.n_segments)
        self.finest = np.full(self.n_segments, 2**20, np.int64)

    def add(self, weights: Float | None, codes: NDArray[np.intp] | None, n_rows: int) -> None:
        """Take in some rows' weights and groups."""
        segment = np.zeros(n_rows, np.intp)
        if codes is not None:
            segment = np.where(codes < 0, self.n_segments - 1, codes)
        counted = np.bincount(segment, minlength=self.n_segments)
        self.counts += counted
        if weights is None:
            self.totals += counted
            self.squares += counted
            return
        self.totals += np.bincount(segment, weights, minlength=self.n_segments)
        self.squares += np.bincount(segment, np.square(weights), minlength=self.n_segments)
        np.maximum.at(self.largest, segment, weights)
        some = weights > 0
        fraction, exponent = np.frexp(weights[some])
        digits = np.ldexp(fraction, 53).astype(np.int64)
        lowest = np.frexp((digits & -digits).astype(np.float64))[1] - 1 + exponent - 53
        np.minimum.at(self.finest, segment[some], lowest)

    def scale(self, weights: Float, codes: NDArray[np.intp] | None) -> WholeWeights:
        """Some rows' weights as whole numbers, in units that all parts of the rows share."""
        segment = np.zeros(len(weights), np.intp)
        if codes is not None:
            segment = np.where(codes < 0, self.n_segments - 1, codes)
        some = self.totals > 0
        shift = np.where(some, 61 - np.frexp(self.totals)[1], 0).astype(np.int64)
        spare = np.where(some, np.maximum(0, shift + np.minimum(self.finest, 2**15)), 0)
        whole = np.rint(np.ldexp(weights, shift[segment])).astype(np.int64) >> spare[segment]
        exponents = np.where(some, spare - shift, NO_WEIGHT)
        most = np.rint(np.ldexp(self.largest, shift)).astype(np.int64) >> spare
        planes = max(1, *(int(value).bit_length() for value in most))
        return WholeWeights(whole, np.ldexp(1.0, exponents - exponents.max()), planes)

    def state(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self, name) for name in ("totals", "squares", "counts", "largest", "finest")}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        for name in self.state():
            setattr(self, name, state[name].copy())

    def merge(self, state: dict[str, NDArray[Any]]) -> None:
        """Take in what is known of other rows."""
        for name in ("totals", "squares", "counts"):
            setattr(self, name, getattr(self, name) + state[name])
        self.largest = np.maximum(self.largest, state["largest"])
        self.finest = np.minimum(self.finest, state["finest"])


class _PartRows(Rows):
    """The part of the rows that is being counted; what all parts have in common stays."""

    def __init__(self, engine: TreesEngine, n_groups: int, weighing: Weighing | None) -> None:
        self.model, self._weighing = engine.model, weighing
        self.n_segments = n_groups + 1
        self.block = min(BLOCK, MOST_POSITIONS - WORD * (n_groups + 2))
        self.words = -(-self.block // WORD) + (self.n_segments if self.n_segments > 1 else 0)
        self._codes = np.zeros(0, np.intp) if n_groups else None
        none = np.zeros(0)
        self.weights = (
            WholeWeights(None, np.ones(self.n_segments), 0)
            if weighing is None
            else weighing.scale(none, self._codes)
        )
        self.counted = np.zeros(self.n_segments, np.int64)

    def hold(self, sample: Sample) -> None:
        """Take these rows as the next part."""
        self.sample = sample
        if self._weighing is not None and sample.weights is not None:
            self.weights = self._weighing.scale(sample.weights, sample.codes)
        self.counted += super().totals()

    def totals(self) -> NDArray[np.int64]:
        return self.counted


@dataclass(frozen=True)
class _Replayed(Counted):
    """Stands in for counting: shows each program once to `counts_of` and takes what that gives."""

    counts_of: Callable[[Program], NDArray[np.int64]]

    def counts(self, program: Program, meanwhile: Callable[[], object] | None = None) -> NDArray[np.int64]:
        if meanwhile is not None:
            meanwhile()
        return self.counts_of(program)


class StreamedAverages:
    """Averages from counts, over parts of the rows, for questions whose grids may come later.

    Parameters
    ----------
    engine : the exact engine, on an additive scale
    moving : for each question the columns of each of its axes
    table : any rows
    n_groups : groups of rows that are averaged apart
    weighing : what is known of all weights; None where rows have none
    memory, threads : what may be used
    """

    def __init__(
        self,
        engine: TreesEngine,
        moving: Sequence[Sequence[Sequence[Any]]],
        table: Table,
        n_groups: int,
        weighing: Weighing | None,
        memory: int,
        threads: int,
    ) -> None:
        self._engine, self._memory, self._table = engine, memory, table
        self._rows = _PartRows(engine, n_groups, weighing)
        self._weighing = weighing if weighing is not None else Weighing(n_groups + 1)
        self._weighs = weighing is not None
        self._crew = Crew(threads)  # only its size matters here: rows are counted by the crew of a pass
        self._programs: list[Program] = []

        def laid_out(program: Program) -> NDArray[np.int64]:
            self._programs.append(program)
            return np.zeros((program.slot_kind.size, self._rows.n_segments), np.int64)

        # Nothing is counted yet: it only shows which programs there will be, and these depend on no grid.
        somewhere = np.asarray(engine.model.encode(table.take(np.zeros(1, np.intp))), np.float64)
        self._averages([[self._anywhere(names, somewhere) for names in axes] for axes in moving], laid_out)
        shape = self._rows.n_segments
        self.counters = [np.zeros((p.n_counters, shape), np.int64) for p in self._programs]

    def _anywhere(self, names: Sequence[Any], row: Float) -> EncodedAxis:
        """An axis of one point, which stands for any grid of these columns."""
        drives = self._engine.model.drives
        return EncodedAxis.of_matrix(tuple(sorted({j for name in names for j in drives.get(name, ())})), row)

    def encoded(self, questions: Sequence[Question]) -> list[list[EncodedAxis]]:
        """The questions' grids as the trees see them; an error where one holds a value they cannot read."""
        found = iter(
            EncodedAxis.of_each(self._engine.model, self._table, [a for q in questions for a in q.axes])
        )
        return [[next(found) for _ in q.axes] for q in questions]

    def _averages(
        self, axes: list[list[EncodedAxis]], counts_of: Callable[[Program], NDArray[np.int64]]
    ) -> list[list[Float]]:
        engine, rows = self._engine, self._rows
        counted = _Replayed(engine.sums, rows, self._crew, self._memory, Progress("", 1), counts_of)
        found: list[list[Float]] = [[] for _ in axes]
        for numbers, family in families(axes):
            if family is None:
                found[numbers[0]] = joint_averages(counted, axes[numbers[0]])
            else:
                for number, values in zip(numbers, family_averages(counted, family)):
                    found[number] = values
        return found

    def add(self, sample: Sample, crew: Crew) -> None:
        """Count another part of the rows."""
        if not self._weighs:
            self._weighing.add(None, sample.codes, sample.n_rows)
        self._rows.hold(self._engine.encoder.sample(sample, self._memory))
        for program, counters in zip(self._programs, self.counters):
            lent = Lent(partial(Counting, program, self._rows, crew))

            def work(block: tuple[int, int], lent: Lent[Counting] = lent) -> None:
                with lent.one() as mine:
                    mine.add(*block)

            for _ in crew.map(work, self._rows.blocks):
                pass
            for mine in lent.made:
                counters += mine.counters

    def answers(self, axes: list[list[EncodedAxis]]) -> list[Answer]:
        """The answers over all parts, on grids as `encoded` gives them."""
        known = iter(zip(self._programs, self.counters))

        def resolved(_: Program) -> NDArray[np.int64]:
            program, counters = next(known)
            counts = np.empty((program.slot_kind.size, self._rows.n_segments), np.int64)
            kernels.resolve(
                slot_origin=program.slot_origin, slot_counter=program.slot_counter, slot_kind=program.slot_kind,
                counters=counters, total=self._rows.totals(), counts=counts,
            )  # fmt: skip
            return counts

        return [Answer(*self._moments(values)) for values in self._averages(axes, resolved)]

    def _moments(self, averages: list[Float]) -> tuple[Moments, tuple[Moments, ...]]:
        of = self._weighing

        def moments(mean: Float, segment: Any) -> Moments:
            weight = float(of.totals[segment].sum())
            none = np.zeros_like(mean) if weight == 0.0 else mean
            return Moments(
                int(of.counts[segment].sum()),
                weight,
                float(of.squares[segment].sum()) if weight else 0.0,
                none,
            )

        groups = range(self._rows.n_segments - 1)
        return moments(averages[0], slice(None)), tuple(moments(averages[g + 1], g) for g in groups)

    def state(self) -> dict[str, NDArray[Any]]:
        """The counts so far, as arrays."""
        found: dict[str, NDArray[Any]] = {f"counters {i}": c for i, c in enumerate(self.counters)}
        return found | {"counted": self._rows.counted} | self._weighing.state()

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from counts that were written down."""
        self.counters = [state[f"counters {i}"].copy() for i in range(len(self.counters))]
        self._rows.counted = state["counted"].copy()
        self._weighing.restore(state)

    def merge(self, state: dict[str, NDArray[Any]]) -> None:
        """Take in the counts of other rows."""
        for number, counters in enumerate(self.counters):
            counters += state[f"counters {number}"]
        self._rows.counted = self._rows.counted + state["counted"]
        if not self._weighs:  # what is known of all weights is known everywhere
            self._weighing.merge(state)
