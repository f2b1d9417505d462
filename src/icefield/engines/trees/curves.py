"""Every row's curve, a block at a time: for spread, quantiles, links and kept curves.

A block's curves live in cache-sized tables and are reduced (or copied out, for kept rows) before
the next block. Trees come in batches within the memory budget; a block visits all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from icefield import kernels
from icefield.core.rows import Block
from icefield.engines.trees.axes import EncodedAxis, find_updates, flat_order, group_columns
from icefield.engines.trees.packed_rows import WORD, PackedRows
from icefield.engines.trees.program import JOINT, Batch, Program, TreeSums, batches
from icefield.engines.trees.visits import Visits
from icefield.forest.tree_model import TreeModel
from icefield.threads import ThreadCrew, unless_stopped
from icefield.typing import Float, Positions

Result = TypeVar("Result")
Differences = tuple[
    tuple[int, int], Float
]  # a block of the rows, and the table that its leaves' values are added to
TABLE_BYTES = 2**20
MOST_ROWS = 4096


class ForestCurves:
    """Raw curves of any rows on one product grid.

    Conditions on `opened` forest columns, if any, count as met by every row; there are no axes then.
    """

    def __init__(
        self,
        model: TreeModel,
        sums: TreeSums,
        axes: Sequence[EncodedAxis],
        crew: ThreadCrew,
        memory: int,
        opened: tuple[int, ...] = (),
    ) -> None:
        self.model, self.sums, self.axes, self.crew, self.memory = model, sums, tuple(axes), crew, memory
        self.size = int(np.prod([a.size for a in axes], dtype=np.int64))
        self.order = flat_order(axes)
        self.row_bytes = 8 * self.size * max(1, len(sums.outputs))
        fitting = TABLE_BYTES // self.row_bytes // WORD * WORD
        self.block = int(min(max(fitting, WORD), MOST_ROWS))
        self._groups = [a.columns for a in axes] or [opened]
        self._group_of_column = group_columns(self._groups, sums.forest.n_columns)
        room = {"words": self.block // WORD, "threads": crew.threads, "segments": 1, "memory": memory}
        self._batches = list(batches(sums, len(axes), JOINT, **room))

    def reduced(
        self, sample: Block, reduce: Callable[[int, int, Float], Result]
    ) -> Iterator[tuple[int, int, Result]]:
        """``reduce(start, stop, values)`` of each block in order; values is (rows, grid, outputs).

        `reduce` runs on the crew's threads; the values are its own to keep or change.
        """
        rows = PackedRows(self.model, Block(sample.table), self.block)

        def finished(added: Differences) -> tuple[int, int, Result]:
            block, differences = added
            return (*block, reduce(*block, self._values(differences, *block)))

        if len(self._batches) == 1:
            add = self._adding(rows, self._batches[0])
            yield from self.crew.map(lambda block: finished(add((block, self._table()))), rows.blocks)
            return
        # Trees that do not fit at once: keep the differences of as many rows as fit instead, and
        # take the batches of trees one after another.
        many = max(1, int(self.memory // (2 * self.row_bytes * self.block)))
        for first in range(0, len(rows.blocks), many):
            chosen = [(block, self._table()) for block in rows.blocks[first : first + many]]
            for trees in self._batches:
                self.crew.each(self._adding(rows, trees), chosen)
            yield from self.crew.map(finished, chosen)

    def _table(self) -> Float:
        return np.zeros((len(self.sums.outputs), self.size, self.block))

    def _adding(self, rows: PackedRows, trees: Positions) -> Callable[[Differences], Differences]:
        """A function that adds a batch of trees to a block's differences."""
        batch = Batch.of(self.sums, trees)
        program = Program.of(batch, self._group_of_column, len(self._groups), JOINT, scatter=True)
        visits, leaves, n = Visits(program, rows, self.crew), program.leaves, program.leaf_node.size
        start, at, sign = np.arange(n + 1, dtype=np.int64), np.zeros(n, np.int32), np.ones(n)
        if self.axes:
            start, at, sign = find_updates(program, self.axes)

        def add(task: Differences) -> Differences:
            block, differences = task
            visits.over(block, lambda walk: unless_stopped(kernels.add_leaves(
                walk=walk, leaves=leaves, update_start=start, update_at=at, update_sign=sign,
                differences=differences,
            )))  # fmt: skip
            return task

        return add

    def _values(self, differences: Float, start: int, stop: int) -> Float:
        values = np.empty((len(self.sums.outputs), self.size, stop - start))
        sizes = [a.size for a in self.axes]
        inner = sizes[-1] if sizes else 1
        middle = sizes[-2] if len(sizes) > 1 else 1
        kernels.sum_up(
            outer=self.size // (inner * middle), middle=middle, inner=inner, base=self.sums.base,
            order=self.order, differences=differences, values=values,
        )  # fmt: skip
        return values.transpose(2, 1, 0)
