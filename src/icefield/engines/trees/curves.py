"""Every row's curve, a block at a time: for spread, quantiles, links and kept curves.

A block's curves live in cache-sized tables and are reduced (or copied out, for kept rows) before
the next block. Trees come in batches within the memory budget; a block visits all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from icefield.engines import Sample
from icefield.engines.trees.averages import find_updates
from icefield.engines.trees.axes import EncodedAxis, flat_order, group_columns
from icefield.engines.trees.crew import Crew, Stopped
from icefield.engines.trees.program import JOINT, Batch, Program, TreeSums, batches
from icefield.engines.trees.rows import WORD, Rows, Workspace, aligned
from icefield.forest.tree_model import TreeModel
from icefield.kernels import curves as kernels

Float = NDArray[np.float64]
Result = TypeVar("Result")
TABLE_BYTES = 2**20  # differences of a block: about what a core's own cache holds
MOST_ROWS = 4096


@dataclass(frozen=True)
class _Part:
    """A batch's program with each leaf's updates, value and output."""

    program: Program
    updates: tuple[NDArray[np.int64], NDArray[np.int32], Float]
    leaf_output: NDArray[np.int32]
    leaf_value: Float


@dataclass
class _Space:
    """One thread's memory."""

    packed: list[Workspace]
    buffers: list[NDArray[np.uint64]]
    differences: Float


class Curves:
    """Raw curves of any rows on one product grid."""

    def __init__(
        self, model: TreeModel, sums: TreeSums, axes: Sequence[EncodedAxis], crew: Crew, memory: int
    ) -> None:
        self.model, self.sums, self.axes, self.crew = model, sums, tuple(axes), crew
        self.size = int(np.prod([a.size for a in axes]))
        self.block = self._block()
        words = self.block // WORD
        group_of_column = group_columns([a.columns for a in axes], sums.forest.n_columns)
        self.parts = []
        for trees in batches(
            sums, len(axes), JOINT, words=words, threads=crew.threads, segments=1, memory=memory
        ):
            batch = Batch.of(sums, trees)
            program = Program.of(batch, group_of_column, len(axes), JOINT, rows=self.block, scatter=True)
            self.parts.append(
                _Part(program, find_updates(program, axes), program.leaf_output, program.leaf_value)
            )
        self.order = flat_order(axes)
        self._free: list[_Space] = []

    def _block(self) -> int:
        row_bytes = 8 * self.size * len(self.sums.outputs)
        fitting = TABLE_BYTES // row_bytes // WORD * WORD
        return int(min(max(fitting, WORD), MOST_ROWS))

    def _space(self, rows: Rows) -> _Space:
        try:
            return self._free.pop()
        except IndexError:
            words = self.block // WORD
            return _Space(
                [Workspace(rows, part.program.layout) for part in self.parts],
                [aligned((part.program.n_buffers, words)) for part in self.parts],
                np.empty((len(self.sums.outputs), self.block, self.size)),
            )

    def reduced(
        self, sample: Sample, reduce: Callable[[int, int, Float], Result]
    ) -> Iterator[tuple[int, int, Result]]:
        """``reduce(start, stop, values)`` of each block in order; values is (rows, grid, outputs).

        `reduce` runs on the crew's threads; the values are its own to keep or change.
        """
        rows = Rows(self.model, Sample(sample.table), self.block)

        def work(block: tuple[int, int]) -> tuple[int, int, Result]:
            space = self._space(rows)
            values = self._values(rows, space, *block)
            self._free.append(space)
            return (*block, reduce(*block, values))

        yield from self.crew.map(work, rows.blocks)

    def _values(self, rows: Rows, space: _Space, start: int, stop: int) -> Float:
        differences = space.differences
        differences[:, : stop - start] = 0.0
        position = np.arange(stop - start, dtype=np.int32)
        matrix = rows.matrix(start, stop)
        for part, packed, buffers in zip(self.parts, space.packed, space.buffers):
            program, batch = part.program, part.program.batch
            packed.load_matrix(matrix, position, here=buffers[0])
            finished = kernels.add_leaves(
                program.steps, packed.bits, buffers, program.entry_node, program.entry_start,
                program.entry_buffer, batch.node_condition, batch.node_left, batch.node_right,
                program.node_tag, program.node_counter, program.layout.condition_code, packed.codes,
                program.layout.set_table, *part.updates, part.leaf_output, part.leaf_value, differences,
                self.crew.stop,
            )  # fmt: skip
            if not finished:
                raise Stopped
        values = np.empty((stop - start, self.size, len(self.sums.outputs)))
        sizes = [a.size for a in self.axes]
        inner = sizes[-1] if sizes else 1
        middle = sizes[-2] if len(sizes) > 1 else 1
        kernels.sum_up(
            differences, position, self.size // (inner * middle), middle, inner, self.sums.base, self.order, values
        )
        return values
