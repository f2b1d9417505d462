"""Brute force: ask the model at every row and grid point. Always right, for any model.

Rows are taken in blocks, and as many grid points per call as the memory budget and about a
second of work allow. Only running moments are kept: nothing of size rows x grid exists unless
individual curves were asked for, or quantiles, which hold one slab of grid points at a time.

How large a call is depends on how quick the model proves to be; what is summed in which order
does not, so the same question has the same answer on a busy machine and on an idle one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

from icefield.core.engine import Engine, Offer, TreeReading
from icefield.core.question import Answer, Axes, Moments, Question, Resources, block_moments
from icefield.core.rows import Block
from icefield.data.frame import Table
from icefield.data.replacement import written_as
from icefield.engines.brute.moved_rows import predict_at
from icefield.engines.brute.pool import CallRows, Pool
from icefield.engines.kept_curves import check_fits, lane_quantiles
from icefield.models.model import Model
from icefield.models.pace import FIRST_ROWS, ROWS_PER_CALL, SECONDS_PER_CALL, Pace
from icefield.progress import Progress
from icefield.typing import Array, Float, Positions

CALLS_PER_WORKER = 8
COPIES = 4  # a repeated block, the model's own copy of it, its validation and its output


def offer(reading: TreeReading) -> Offer:
    """Brute force, for any model."""
    return Offer(BruteEngine(reading.model), "brute force")


class BruteEngine(Engine):
    """Answers questions by predicting on replaced rows; what would take a walk over trees it declines."""

    name = travels_as = "brute"
    additive = False
    costs_predictions = True
    needs_rows = True
    parts: Mapping[str, object] = MappingProxyType({})

    def __init__(self, model: Model) -> None:
        self.model = model

    def differences(
        self, axes: Axes, table: Table, rows: Positions, steps: Sequence[Positions], resources: Resources
    ) -> Float:
        """The model asked at the ends of the rows' own steps."""
        found = np.zeros((len(rows), len(self.model.outputs)))
        corners = list(product((0, 1), repeat=len(steps)))
        with Progress("moving rows", total=len(corners)) as progress:
            for corner in corners:
                at = [step + up for step, up in zip(steps, corner)]
                sign = (-1.0) ** (len(corner) - sum(corner))
                found += sign * predict_at(self.model, table, rows, axes, at)
                progress.advance()
        return found

    def answer(self, questions: Sequence[Question], sample: Block, resources: Resources) -> list[Answer]:
        """One answer per question, in their order."""
        for question in questions:
            check_fits(question, sample.n_rows, len(self.model.outputs), resources.memory)
        predictions = sum(int(np.prod(q.shape)) for q in questions) * sample.n_rows
        with Progress("asking the model", predictions) as progress, Pool(self.model, resources) as pool, pool:
            most = self._largest_call(sample, resources.memory // (2 * pool.workers))
            pace = Pace(FIRST_ROWS, most, SECONDS_PER_CALL, self.model.least_per_call)
            # Blocks depend on the budget alone, since they decide the order of summation; small changes of it change nothing.
            fitting = min(ROWS_PER_CALL, self._largest_call(sample, resources.memory // 2))
            block_rows = sample.n_rows if self.model.across_rows else 1 << (fitting.bit_length() - 1)
            return [
                _QuestionWork(self.model, q, sample, resources.memory, min(block_rows, sample.n_rows), pool, pace)
                .run(progress)
                for q in questions
            ]  # fmt: skip

    def _largest_call(self, sample: Block, memory: int) -> int:
        per_prediction = COPIES * sample.table.row_bytes + 24 * len(self.model.outputs)
        return max(1, min(max(ROWS_PER_CALL, self.model.least_per_call), memory // per_prediction))


@dataclass(frozen=True)
class _Call:
    """Some rows at some grid points; `last` when it completes the rows of its block there."""

    rows: tuple[int, int]
    points: tuple[int, int]
    last: bool


class _QuestionWork:
    """One question on its way to its answer."""

    def __init__(
        self, model: Model, question: Question, sample: Block, memory: int, block_rows: int, pool: Pool, pace: Pace
    ) -> None:  # fmt: skip
        self.question, self.sample, self.memory = question, sample, memory
        self.block_rows, self.pool, self.pace = block_rows, pool, pace
        self.points = flat_points(question)
        self.size = int(np.prod(question.shape))
        self.turns = _turns(self.points, sample.table, self.size)
        self.outputs, self.across_rows = len(model.outputs), model.across_rows
        kept = question.rows
        self.keeps_all = kept is not None and np.array_equal(kept, np.arange(sample.n_rows))

    def run(self, progress: Progress) -> Answer:
        kept = self.question.rows
        # As predictions come, grid point after grid point: written in runs, and turned once complete.
        curves = None if kept is None else np.empty((self.outputs, self.size, len(kept)))
        slab = self.size
        if self.question.quantiles:  # exact: grid points whose predictions for all rows fit half the budget
            slab = max(1, int(self.memory // (16 * self.sample.n_rows * self.outputs)))
        slabs = ((low, min(low + slab, self.size)) for low in range(0, self.size, slab))
        return self._assemble([self._part(*one, curves, progress) for one in slabs], curves)

    # --- asking --------------------------------------------------------------------------------

    def _calls(self, low: int, high: int) -> Iterator[_Call]:
        """Calls for the grid points from `low` to `high`, block by block, as large as the pace allows."""
        if self.across_rows:
            yield from (_Call((0, self.sample.n_rows), (at, at + 1), True) for at in range(low, high))
            return
        n_rows, blocks = self.sample.n_rows, -(-self.sample.n_rows // self.block_rows)
        # A few blocks are cut so that no worker waits long for the last one; many blocks are cut enough.
        shares = max(1, -(-CALLS_PER_WORKER * self.pool.workers // blocks)) if self.pool.workers > 1 else 1
        share = -(-(high - low) // shares)
        for start in range(0, n_rows, self.block_rows):
            stop = min(start + self.block_rows, n_rows)
            point = low
            while point < high:
                fitting = self.pace.predictions // (stop - start)
                if fitting:
                    turn = self.turns[np.searchsorted(self.turns, point, "right")]
                    end = min(point + min(fitting, share), high, turn)
                    yield _Call((start, stop), (point, end), True)
                    point = end
                else:  # a slow model: some of the rows at one point
                    row = start
                    while row < stop:
                        end = min(row + max(1, self.pace.predictions), stop)
                        yield _Call((row, end), (point, point + 1), end == stop)
                        row = end
                    point += 1

    def _answered(self, low: int, high: int, progress: Progress) -> Iterator[tuple[_Call, Float]]:
        """Every block's predictions, shape ``(outputs, points, rows)``, in the order of the calls."""
        asked: list[_Call] = []

        def questions() -> Iterator[tuple[CallRows, dict[Any, Array]]]:
            rows, block = None, None
            for call in self._calls(low, high):
                if block is None or call.rows != rows:
                    rows = call.rows
                    block = CallRows(self.sample.table.slice(*rows), tuple(self.points))
                asked.append(call)
                yield block, {name: v[slice(*call.points)] for name, v in self.points.items()}

        pieces: list[Float] = []
        for values in self.pool.ask(questions(), self.pace):
            call = asked.pop(0)
            progress.advance(values.shape[0] * values.shape[1])
            # Rows last and contiguous: each sum over rows is then the same whatever else is in the call.
            pieces.append(np.ascontiguousarray(values.transpose(2, 0, 1)))
            if call.last:
                whole = pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=-1)
                start = call.rows[1] - whole.shape[-1]
                pieces = []
                yield _Call((start, call.rows[1]), call.points, True), whole

    # --- summing -------------------------------------------------------------------------------

    def _part(self, low: int, high: int, curves: Float | None, progress: Progress) -> Answer:
        """The answer for the grid points from `low` to `high`, the grid flat."""
        asked = self.question.quantiles
        slab = np.empty((self.outputs, high - low, self.sample.n_rows)) if asked else None
        empty = Moments.empty((self.outputs, high - low), self.question.spread)
        totals = [empty] * (1 + self.sample.n_groups)
        chunks: list[list[Moments]] = []
        for call, values in self._answered(low, high, progress):
            (start, stop), (first, last) = call.rows, call.points
            if slab is not None:
                slab[:, first - low : last - low, start:stop] = values
            if curves is not None and self.keeps_all:
                curves[:, first:last, start:stop] = values
            elif curves is not None and self.question.rows is not None:
                inside = np.flatnonzero((self.question.rows >= start) & (self.question.rows < stop))
                curves[:, first:last, inside] = values[:, :, self.question.rows[inside] - start]
            by_row = np.moveaxis(values, -1, 0)
            chunks.append(block_moments(by_row, self.sample, start, stop, self.question.spread))
            if last == high:  # the block is complete
                block = [_side_by_side(list(pieces)) for pieces in zip(*chunks)]
                totals = [total.merge(more) for total, more in zip(totals, block)]
                chunks = []
        if slab is None:
            return Answer(totals[0], tuple(totals[1:]))
        weights, codes = self.sample.weights, self.sample.codes
        groups = [codes == g for g in range(self.sample.n_groups)]
        return Answer(
            totals[0],
            tuple(totals[1:]),
            lane_quantiles(slab, asked, weights),
            tuple(lane_quantiles(slab[..., g], asked, None if weights is None else weights[g]) for g in groups),
        )  # fmt: skip

    def _assemble(self, parts: list[Answer], curves: Float | None) -> Answer:
        shape = self.question.shape

        def shaped(array: Float) -> Float:
            return array.reshape(*array.shape[:-1], *shape)

        def moments(pieces: list[Moments]) -> Moments:
            return _side_by_side(pieces).changed(shaped)

        quantiles = [p.quantiles for p in parts if p.quantiles is not None]
        n_groups = self.sample.n_groups
        return Answer(
            moments([p.total for p in parts]),
            tuple(moments([p.groups[g] for p in parts]) for g in range(n_groups)),
            shaped(np.concatenate(quantiles, axis=-1)) if quantiles else None,
            tuple(shaped(np.concatenate([p.group_quantiles[g] for p in parts], axis=-1)) for g in range(n_groups))
            if quantiles
            else (),
            None if curves is None else shaped(curves.transpose(0, 2, 1)),
        )  # fmt: skip


def _side_by_side(pieces: list[Moments]) -> Moments:
    """Moments of the same rows at neighbouring grid points, as one."""
    if len(pieces) == 1:
        return pieces[0]
    first, m2 = pieces[0], [p.m2 for p in pieces if p.m2 is not None]
    once = [p.squared for p in pieces if p.squared is not None]
    return Moments(
        first.count,
        first.weight,
        first.weight_squared,
        np.concatenate([p.mean for p in pieces], axis=-1),
        np.concatenate(m2, axis=-1) if m2 else None,
        _side_by_side(once) if once else None,
    )


def flat_points(question: Question) -> dict[Any, Array]:
    """Each moving column's value at every point of the product grid, first axis slowest."""
    mesh = np.meshgrid(*[np.arange(n) for n in question.shape], indexing="ij")
    return {
        name: np.asarray(values)[at.ravel()]
        for axis, at in zip(question.axes, mesh)
        for name, values in axis.points.items()
    }


def _turns(points: Mapping[Any, Array], table: Table, size: int) -> Positions:
    """Where grid points are written into rows in another way than those before, and the end of the grid.

    A call has points that are written alike: beside a missing value whole numbers would become floats, and lose digits.
    """
    found = np.zeros(size, bool)
    first = table.slice(0, 1)  # which has the types of all rows
    for name, values in points.items():
        if first.has(name):
            found[1:] |= np.diff(written_as(values, first.column(name))) != 0
    return np.append(np.flatnonzero(found), size)
