"""Brute force: ask the model at every row and grid point. Always right, for any model.

Rows are taken in blocks, and as many grid points per call as the memory budget and about a
second of work allow. Only running moments are kept: nothing of size rows x grid exists unless
individual curves were asked for, or quantiles, which hold one slab of grid points at a time.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.distribution import weighted_quantiles
from icefield.engines import Answer, Moments, Question, Resources, Sample
from icefield.errors import BudgetError
from icefield.progress import Progress

if TYPE_CHECKING:
    from icefield.frame import Table
    from icefield.model import Model

Float = NDArray[np.float64]

ROWS_PER_CALL = 32_768  # enough to drown a call's fixed cost, small enough to stay near the cache
SECONDS_PER_CALL = 0.5  # so that Ctrl-C is answered within a second
COPIES = 4  # a repeated block, the model's own copy of it, its validation and its output


class BruteEngine:
    """Answers questions by predicting on replaced rows."""

    name = "brute"

    def __init__(self, model: Model) -> None:
        self.model = model

    def answer(self, questions: Sequence[Question], sample: Sample, resources: Resources) -> list[Answer]:
        calls = sum(int(np.prod(q.shape)) for q in questions) * sample.n_rows
        with Progress("asking the model", total=calls) as progress, _pool(self.model, resources) as pool:
            return [_Work(self.model, q, sample, resources, pool, progress).run() for q in questions]


@dataclass
class _Pool:
    """Where calls run: here, on threads, or in processes; results come back in order."""

    workers: int
    executor: Executor | None

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        if self.executor is not None:
            self.executor.shutdown(wait=True, cancel_futures=True)

    def map(self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Like `map`, with at most two tasks a worker in flight so that memory stays bounded."""
        if self.executor is None:
            for task in tasks:
                yield function(*task)
            return
        waiting: deque[Future[Any]] = deque()
        try:
            for task in tasks:
                waiting.append(self.executor.submit(function, *task))
                if len(waiting) > 2 * self.workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _pool(model: Model, resources: Resources) -> _Pool:
    if resources.processes is not None and resources.processes > 1:
        return _Pool(resources.processes, ProcessPoolExecutor(resources.processes))
    wanted = resources.threads
    if wanted is None:
        wanted = (os.cpu_count() or 1) if model.parallel else 1
    elif not model.shareable:
        wanted = 1
    return _Pool(wanted, ThreadPoolExecutor(wanted) if wanted > 1 else None)


def predict_crossed(model: Model, block: Table, points: dict[Any, NDArray[Any]]) -> Float:
    """Predictions of all rows of a block at each grid point, shape ``(points, rows, outputs)``."""
    size = len(next(iter(points.values())))
    values = model.predict(block.crossed(points))
    return values.reshape(size, block.n_rows, -1)


class _Work:
    """One question on its way to its answer."""

    def __init__(
        self,
        model: Model,
        question: Question,
        sample: Sample,
        resources: Resources,
        pool: _Pool,
        progress: Progress,
    ) -> None:
        self.model, self.question, self.sample = model, question, sample
        self.resources, self.pool, self.progress = resources, pool, progress
        self.table = sample.table.select(model.columns)
        self.points = flat_points(question)
        self.size = int(np.prod(question.shape))
        self.outputs = len(model.outputs)
        check_curves_fit(question, self.outputs, resources.memory)

    def run(self) -> Answer:
        question, n_rows = self.question, self.sample.n_rows
        block_rows, grid_chunk = self._sizes()
        rows_kept = question.rows
        curves = None if rows_kept is None else np.empty((self.outputs, len(rows_kept), self.size))
        slab = self._slab() if question.quantiles else self.size
        parts: list[Answer] = []
        for low in range(0, self.size, slab):
            high = min(low + slab, self.size)
            kept = np.empty((n_rows, self.outputs, high - low)) if question.quantiles else None
            totals, groups = self._empty(high - low)
            chunks = [(c, min(c + grid_chunk, high)) for c in range(low, high, grid_chunk)]
            blocks = [(r, min(r + block_rows, n_rows)) for r in range(0, n_rows, block_rows)]
            tasks = [(block, chunk) for block in blocks for chunk in chunks]
            arguments = ((self.model, self._block(*block), self._chunk(*chunk)) for block, chunk in tasks)
            # Chunks of one block are joined before merging, so that the sums do not depend on
            # how many grid points went into a call.
            joined: list[Float] = []
            for (block, chunk), values in zip(tasks, self.pool.map(predict_crossed, arguments)):
                self.progress.advance(values.shape[0] * values.shape[1])
                joined.append(values)
                if chunk != chunks[-1]:
                    continue
                whole = np.concatenate(joined) if len(joined) > 1 else joined[0]
                joined = []
                by_row = whole.transpose(1, 2, 0)
                if kept is not None:
                    kept[block[0] : block[1]] = by_row
                if curves is not None and rows_kept is not None:
                    inside = np.flatnonzero((rows_kept >= block[0]) & (rows_kept < block[1]))
                    curves[:, inside, low:high] = by_row[rows_kept[inside] - block[0]].transpose(1, 0, 2)
                totals, groups = self._merge(totals, groups, by_row, block)
            parts.append(self._part(totals, groups, kept))
        return self._assemble(parts, curves)

    # --- sizes ---------------------------------------------------------------------------------

    def _sizes(self) -> tuple[int, int]:
        """Rows per block and grid points per call, within the memory budget and the second."""
        bytes_per_row = COPIES * self.table.row_bytes + 24 * self.outputs
        fitting = max(1, self.resources.memory // (2 * self.pool.workers * bytes_per_row))
        most = max(1, min(ROWS_PER_CALL, fitting, self._rows_in_time()))
        block_rows = min(self.sample.n_rows, most)
        if block_rows < self.sample.n_rows:
            block_rows = 1 << (block_rows.bit_length() - 1)  # a power of two: stable across runs
        chunk = max(1, min(self.size, most // block_rows))
        if self.pool.workers > 1:
            # At least two calls a worker, so that none waits for the other.
            share = -(-self.size // (2 * self.pool.workers))
            chunk = min(chunk, max(1, share))
        return block_rows, chunk

    def _rows_in_time(self) -> int:
        """How many rows a slow model predicts in a call's time; fast models are not limited."""
        probe = self.table.slice(0, min(64, self.sample.n_rows))
        began = time.perf_counter()
        predict_crossed(self.model, probe, self._chunk(0, 1))
        elapsed = time.perf_counter() - began
        if elapsed < 0.05:
            return ROWS_PER_CALL
        return max(16, int(probe.n_rows * SECONDS_PER_CALL / elapsed))

    def _slab(self) -> int:
        """Grid points whose predictions for all rows fit half the budget, for exact quantiles."""
        per_point = 8 * self.sample.n_rows * self.outputs
        return max(1, int(self.resources.memory // (2 * per_point)))

    # --- pieces --------------------------------------------------------------------------------

    def _block(self, start: int, stop: int) -> Table:
        if start == 0 and stop == self.table.n_rows:
            return self.table
        return self.table.slice(start, stop)

    def _chunk(self, start: int, stop: int) -> dict[Any, NDArray[Any]]:
        return {name: values[start:stop] for name, values in self.points.items()}

    def _empty(self, size: int) -> tuple[Moments, list[Moments]]:
        shape = (self.outputs, size)
        spread = self.question.spread
        return Moments.empty(shape, spread), [
            Moments.empty(shape, spread) for _ in range(self.sample.n_groups)
        ]

    def _merge(
        self, totals: Moments, groups: list[Moments], by_row: Float, block: tuple[int, int]
    ) -> tuple[Moments, list[Moments]]:
        weights = self.sample.weights
        inside = None if weights is None else weights[block[0] : block[1]]
        totals = totals.merge(Moments.of(by_row, inside, self.question.spread))
        if self.sample.codes is not None:
            codes = self.sample.codes[block[0] : block[1]]
            for g in range(self.sample.n_groups):
                chosen = codes == g
                if chosen.any():
                    part = None if inside is None else inside[chosen]
                    groups[g] = groups[g].merge(Moments.of(by_row[chosen], part, self.question.spread))
        return totals, groups

    def _part(self, totals: Moments, groups: list[Moments], kept: Float | None) -> Answer:
        if kept is None:
            return Answer(totals, tuple(groups))
        asked, weights, codes = self.question.quantiles, self.sample.weights, self.sample.codes
        by_group = []
        for g in range(self.sample.n_groups):
            chosen = codes == g
            by_group.append(
                column_quantiles(kept[chosen], asked, None if weights is None else weights[chosen])
            )
        return Answer(totals, tuple(groups), column_quantiles(kept, asked, weights), tuple(by_group))

    def _assemble(self, parts: list[Answer], curves: Float | None) -> Answer:
        shape = self.question.shape

        def shaped(arrays: list[Float]) -> Float:
            joined = np.concatenate(arrays, axis=-1)
            return joined.reshape(*joined.shape[:-1], *shape)

        def moments(pieces: list[Moments]) -> Moments:
            m2 = [p.m2 for p in pieces if p.m2 is not None]
            first = pieces[0]
            return Moments(
                first.count,
                first.weight,
                first.weight_squared,
                shaped([p.mean for p in pieces]),
                shaped(m2) if m2 else None,
            )

        quantiles = [p.quantiles for p in parts if p.quantiles is not None]
        return Answer(
            moments([p.total for p in parts]),
            tuple(moments([p.groups[g] for p in parts]) for g in range(self.sample.n_groups)),
            shaped(quantiles) if quantiles else None,
            tuple(shaped([p.group_quantiles[g] for p in parts]) for g in range(self.sample.n_groups))
            if quantiles
            else (),
            None if curves is None else curves.reshape(*curves.shape[:2], *shape),
        )


def flat_points(question: Question) -> dict[Any, NDArray[Any]]:
    """Each moving column's value at every point of the product grid, first axis slowest."""
    mesh = np.meshgrid(*[np.arange(n) for n in question.shape], indexing="ij")
    return {
        name: np.asarray(values)[at.ravel()]
        for axis, at in zip(question.axes, mesh)
        for name, values in axis.points.items()
    }


def column_quantiles(kept: Float, probabilities: tuple[float, ...], weights: Float | None) -> Float:
    """Quantiles over rows of ``(rows, outputs, points)``, shape ``(quantiles, outputs, points)``."""
    out = np.full((len(probabilities), *kept.shape[1:]), np.nan)
    if len(kept) == 0 or (weights is not None and not (weights > 0).any()):
        return out
    for o in range(kept.shape[1]):
        for k in range(kept.shape[2]):
            out[:, o, k] = weighted_quantiles(kept[:, o, k], np.array(probabilities), weights)
    return out


def check_curves_fit(question: Question, outputs: int, memory: int) -> None:
    """Refuse to keep individual curves that would not fit the budget, naming their size."""
    if question.rows is None:
        return
    size = 8 * outputs * len(question.rows) * int(np.prod(question.shape))
    if size > memory:
        fitting = int(memory // (8 * outputs * int(np.prod(question.shape))))
        raise BudgetError(
            f"{len(question.rows):,} individual curves x {int(np.prod(question.shape)):,} grid points would take "
            f"{size / 2**20:,.0f} MB, over the budget of {memory / 2**20:,.0f} MB. Hint: keep a sample of the "
            f"curves with rows={max(fitting, 1)} (averages still use every row), or raise Explainer(memory=...)."
        )
