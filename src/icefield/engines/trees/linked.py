"""Every feature's curve on a linked scale (probabilities, say) in one walk over the rows.

A row's curve leaves its own prediction only through trees whose path meets the feature, and changes only at the
thresholds met there. So a row's margin is summed once for all features, and the link is taken at those few
steps: the cost depends on rows and trees, and not on how many features or grid points there are. Rows are swept
along the grids 64 at a time, with a mask for every leaf and feature (the kernels' `sweeps`); where these masks would
be too many, each row walks the trees by itself (`steps`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from icefield import kernels
from icefield.core.question import Moments
from icefield.core.rows import Block
from icefield.engines.trees.axes import EncodedAxis, grid_layout, group_columns
from icefield.engines.trees.encoded import stored_rows
from icefield.engines.trees.grid_steps import GridSteps
from icefield.engines.trees.layout import Layout
from icefield.engines.trees.leaf_masks import MOST_ENTRIES, bytes_of, can_be_masked
from icefield.engines.trees.packed_rows import WORD
from icefield.engines.trees.program import SINGLES, Batch, Program, TreeSums
from icefield.engines.trees.sweeps import laid_for_sweeps
from icefield.forest.tree_model import LinkForm, TreeModel
from icefield.progress import Progress
from icefield.threads import ThreadCrew, unless_stopped
from icefield.typing import Float, Int32, Positions

if TYPE_CHECKING:
    from icefield.data.table import Table
    from icefield.engines.trees.layout import Reader

LINKS = {
    "logistic": kernels.LOGISTIC,
    "exp": kernels.EXPONENTIAL,
    "softmax": kernels.SOFTMAX,
    "identity": kernels.IDENTITY,
}
CODE_BYTES = 2**22  # of a block's codes, which are held twice
LEAST_ROWS, MOST_ROWS = 256, 2048
KEPT_BYTES, KEPT_ROWS = 2**24, 512  # of curves that are found at a time
REFERENCE_ROWS = 1024  # whose mean prediction squares are taken about
LOST = 1e-9  # of a spread, at most, to rounding
# Rough times in nanoseconds, of which only the proportions matter.
OWN_NODE, OWN_CODE = 16.0, 3.0  # a node visited, with what its leaves add; a value encoded
SWEPT_LEAF = 0.7  # a leaf, with its masks and what they change
# Where each feature walks alone: a grid point linked and summed, a tree's leaves added.
CURVE_POINT, CURVE_LEAF = 20.0, 4.0


def pays(sums: TreeSums, axes: Sequence[EncodedAxis]) -> bool:
    """Whether one walk for all axes takes less time than one for each, from counts alone."""
    forest, trees = sums.forest, sums.trees.size
    a_tree = forest.node_left.size / max(1, forest.tree_root.size)
    depth = float(np.log2(1.0 + a_tree))
    leaves = (a_tree + 1.0) / 2.0
    is_swept = trees * leaves * depth <= MOST_ENTRIES
    own = SWEPT_LEAF * leaves if is_swept else OWN_NODE * depth * (1.0 + depth / 2.0)
    together = trees * own + OWN_CODE * forest.n_columns
    apart = sum(
        (CURVE_POINT * axis.size + CURVE_LEAF * trees) * len(sums.outputs) for axis in axes if axis.columns
    )
    return together < apart


@dataclass(eq=False)
class Sums:
    """What rows add up to: their own predictions, and differences at the steps of all axes."""

    own: Float  # (segments, outputs, 2): sums, and squares about the reference
    sums: Float  # (segments, outputs, steps)
    squares: Float  # the same, or with no columns

    def add(self, other: Sums) -> None:
        self.own += other.own
        self.sums += other.sums
        self.squares += other.squares


@dataclass(frozen=True, eq=False)
class WalkPlan:
    """All that a walk needs and no row decides: it is the same for every question about the same axes.

    The trees have every raw output; each axis is a question's, and no two may share a forest column.
    """

    _sums: TreeSums
    _axes: Sequence[EncodedAxis]
    _form: LinkForm

    @cached_property
    def program(self) -> Program:
        groups = group_columns([axis.columns for axis in self._axes], self._sums.forest.n_columns)
        batch = Batch.of(self._sums, self._sums.trees)
        return Program.of(batch, groups, len(self._axes), SINGLES, scatter=True)

    @cached_property
    def steps(self) -> GridSteps:
        return GridSteps.of(self.program, self._axes)

    @cached_property
    def layout(self) -> Layout:
        return grid_layout(self.program) if self.is_swept else self.program.layout

    @cached_property
    def is_swept(self) -> bool:
        return can_be_masked(self.program, self._sums.base, self._form)

    @cached_property
    def trees(self) -> kernels.StepTrees | kernels.SweepTrees:
        """The trees as the kernel takes them."""
        program, batch, layout = self.program, self.program.batch, self.layout
        steps = self.steps
        if self.is_swept:
            return laid_for_sweeps(program, layout, self._sums.base, steps, len(self._axes), self._form)
        nodes = program.nodes(program.group_of_condition[np.maximum(batch.node_condition, 0)])
        nodes["left"][program.leaf_node] = np.arange(program.leaf_node.size)
        return kernels.StepTrees(
            nodes=nodes, node_value=batch.node_value, roots=batch.roots, tree_output=batch.node_output[batch.roots],
            base=self._sums.base, set_table=layout.set_table, path_start=program.path_start,
            path_group=program.path_group, path_region=steps.path_region, run_start=steps.run_start,
            runs=steps.runs + steps.start[steps.run_axis][:, None],
        )  # fmt: skip


class LinkedCurves:
    """Linked curves of some rows on several one-way grids at once, of axes and trees as in a `WalkPlan`.

    `progress` is told of rows times trees, for each axis; `plan` was made for the same axes before.
    """

    def __init__(
        self,
        model: TreeModel,
        sums: TreeSums,
        axes: Sequence[EncodedAxis],
        form: LinkForm,
        crew: ThreadCrew,
        progress: Progress,
        plan: WalkPlan | None = None,
    ) -> None:
        self.model, self.sums, self.axes, self.form, self.crew = model, sums, tuple(axes), form, crew
        self.plan = plan or WalkPlan(sums, axes, form)
        self.progress = progress
        self.outputs = len(sums.outputs)

    def fits(self, n_segments: int, memory: int) -> bool:
        """Whether trees and sums stay within the budget."""
        sums = 16 * n_segments * self.outputs * self.plan.steps.flat * (2 * self.crew.threads + 1)
        masks = bytes_of(self.plan.program, self.crew.threads) if self.plan.is_swept else 0
        return sums + 64 * self.plan.program.batch.node_left.size + masks <= memory // 2

    # --- asking ----------------------------------------------------------------------------------

    def moments(self, sample: Block, spread: bool) -> Iterator[list[Moments] | None]:
        """For each axis the moments over all rows, then of each group; None where differences lost too much."""
        if not spread or sample.weights is None or sample.copies:
            yield from self._once(sample, spread)
            return
        # Each row is one observation: its standard error needs the moments under the squared weights too.
        squared = replace(sample, weights=np.square(sample.weights))
        for own, once in zip(self._once(sample, True), self._once(squared, True)):
            lost = own is None or once is None
            yield None if lost else [replace(m, squared=s) for m, s in zip(own or (), once or ())]

    def _once(self, sample: Block, spread: bool) -> Iterator[list[Moments] | None]:
        """The moments under the weights as they are."""
        about, total = self._about(sample) if spread else np.zeros(self.outputs), None
        blocks, work = self._blocks(sample.n_rows), self.sums.trees.size * len(self.axes)
        parts = self.crew.map(lambda block: self._added(sample, block, about, spread), blocks)
        for (start, stop), part in zip(blocks, parts):
            if total is None:
                total = part
            else:
                total.add(part)
            self.progress.advance((stop - start) * work)
        if total is None:
            return
        segments = [slice(None), *(slice(g, g + 1) for g in range(sample.n_groups))]
        for number, axis in enumerate(self.axes):
            with np.errstate(invalid="ignore", over="ignore"):
                found = [
                    self._moments(number, axis, total, segment, _weights(sample, g - 1), about, spread)
                    for g, segment in enumerate(segments)
                ]
            yield None if any(m is None for m in found) else [m for m in found if m is not None]

    def curves(self, sample: Block, rows: Positions) -> list[Float]:
        """The curves of some rows, ``(outputs, rows, grid)`` for each axis."""
        unfolding = self.plan.steps.unfolding(self.axes)
        room = unfolding.room(self.outputs, len(rows))
        some = min(KEPT_ROWS, max(1, KEPT_BYTES // max(1, 8 * self.outputs * self.plan.steps.flat)))

        def keep(begin: int) -> None:
            part = rows[begin : begin + some]
            n, read = len(part), self._reader(sample.table.take(part))
            first = np.empty((n, self.outputs))
            changes = np.zeros((n, self.outputs, self.plan.steps.flat))
            ones, none = np.ones(n), np.zeros(n, np.int32)
            self._walk(read, np.zeros(self.outputs), ones, none, self._room(1, False), (first, changes))
            unfolding.unfold(first, changes, begin, len(rows), room)

        self.crew.each(keep, range(0, len(rows), some))
        return unfolding.curves(self.outputs, len(rows), room)

    def _blocks(self, n_rows: int) -> list[tuple[int, int]]:
        # Of the layout alone, so that sums are the same for any number of threads.
        fitting = CODE_BYTES // (4 * max(1, self.plan.layout.n_columns)) // WORD * WORD
        block = int(min(max(fitting, LEAST_ROWS), MOST_ROWS))
        return [(start, min(start + block, n_rows)) for start in range(0, n_rows, block)]

    def _added(self, sample: Block, block: tuple[int, int], about: Float, spread: bool) -> Sums:
        start, stop = block
        room = self._room(1 if sample.codes is None else sample.n_groups + 1, spread)
        weight = np.ones(stop - start) if sample.weights is None else sample.weights[start:stop]
        segment = np.zeros(stop - start, np.int32)
        if sample.codes is not None:  # a row in no group belongs to the last segment
            codes = sample.codes[start:stop]
            segment = np.where(codes < 0, sample.n_groups, codes).astype(np.int32)
        self._walk(self._reader(sample.table, start), about, np.ascontiguousarray(weight), segment, room)
        return room

    def _room(self, segments: int, spread: bool) -> Sums:
        flat = self.plan.steps.flat
        shape = (segments, self.outputs)
        return Sums(np.zeros((*shape, 2)), np.zeros((*shape, flat)), np.zeros((*shape, flat * spread)))

    def _reader(self, table: Table, first: int = 0) -> Reader:
        """The rows from one to another as layouts read them, counted from `first`."""
        return lambda start, stop: stored_rows(self.model, table.slice(first + start, first + stop))

    def _walk(
        self,
        read: Reader,
        about: Float,
        weight: Float,
        segment: Int32,
        room: Sums,
        kept: tuple[Float, Float] | None = None,
    ) -> None:
        """Add rows, read as encoded, to `room`; into `kept`, if any, each row's own prediction and the steps of its curves."""
        first, curves = kept or (np.zeros((0, self.outputs)), np.zeros((0, self.outputs, 0)))
        layout, n = self.plan.layout, len(weight)
        position = np.arange(n, dtype=np.int32)
        codes = np.empty((layout.n_columns, n), np.int32)
        totals = kernels.StepTotals(
            point_start=self.plan.steps.start[:-1], points=self.plan.steps.count, link=LINKS[self.form.kind], factor=self.form.factor,
            about=about, weight=weight, segment=segment, own=room.own, sums=room.sums, squares=room.squares,
            first=first, curves=curves,
        )  # fmt: skip
        trees = self.plan.trees
        if isinstance(trees, kernels.SweepTrees):
            bits = np.empty((layout.n_rows, -(-n // WORD)), np.uint64)
            layout.load(read, position, codes, bits)
            finished = kernels.add_sweeps(trees=trees, totals=totals, bits=bits, stop=self.crew.stop)
        else:
            layout.encode_stored(read(0, n), position, np.arange(layout.n_columns, dtype=np.int32), codes)
            turned = np.empty((n, layout.n_columns), np.int32)
            kernels.turn(codes=codes, turned=turned)
            finished = kernels.add_steps(trees=trees, totals=totals, codes=turned, stop=self.crew.stop)
        unless_stopped(finished)

    def _about(self, sample: Block) -> Float:
        """The mean prediction of a few rows: squares about a number near the mean lose little."""
        some = sample.table.slice(0, min(REFERENCE_ROWS, sample.n_rows))
        n, room = some.n_rows, self._room(1, False)
        self._walk(self._reader(some), np.zeros(self.outputs), np.ones(n), np.zeros(n, np.int32), room)
        return np.ascontiguousarray(room.own[0, :, 0] / n)

    def _moments(
        self,
        number: int,
        axis: EncodedAxis,
        total: Sums,
        segment: slice,
        weights: tuple[int, float, float],
        about: Float,
        spread: bool,
    ) -> Moments | None:
        count, weight, weight_squared = weights
        shape = (self.outputs, axis.size)
        if weight == 0.0:
            return Moments(count, 0.0, 0.0, np.zeros(shape), np.zeros(shape) if spread else None)
        own = total.own[segment].sum(axis=0)
        mean = (own[:, :1] + self.plan.steps.summed(number, axis, total.sums[segment].sum(axis=0))) / weight
        if not np.isfinite(mean).all():  # an infinite prediction has no differences to sum
            return None
        if not spread:
            return Moments(count, weight, weight_squared, mean, None)
        squares = own[:, 1:] + self.plan.steps.summed(number, axis, total.squares[segment].sum(axis=0))
        shift = weight * np.square(mean - about[:, None])
        m2 = squares - shift
        rounding = 4.0 * np.finfo(np.float64).eps * np.sqrt(count) * (np.abs(squares) + shift)
        if not (rounding <= LOST * m2).all():
            return None
        return Moments(count, weight, weight_squared, mean, m2)


def _weights(sample: Block, group: int) -> tuple[int, float, float]:
    """How many rows a group has (-1: all), their weight, and the sum of its squares."""
    weights = sample.weights
    count = sample.n_rows
    if group >= 0 and sample.codes is not None:
        inside = sample.codes == group
        count, weights = int(inside.sum()), None if weights is None else weights[inside]
    if weights is None:
        return count, float(count), float(count)
    return count, float(weights.sum()), float(np.square(weights).sum())
