"""Visiting blocks of rows with a leaf-visiting program: each thread packs a block, then runs a kernel on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from icefield.engines.trees.crew import Crew
from icefield.engines.trees.program import Program
from icefield.engines.trees.rows import Rows, Workspace, aligned

Result = TypeVar("Result")
Walk = tuple[Any, ...]  # see `icefield.kernels.lists.WALK`


class Visit:
    """One thread's memory for a program; `load` a block, then hand `walk` to a kernel."""

    def __init__(self, program: Program, rows: Rows) -> None:
        self.packed = Workspace(rows, program.layout)
        self.buffers: NDArray[np.uint64] = aligned((program.n_buffers, rows.words))
        batch, layout = program.batch, program.layout
        self.walk = (
            program.steps, self.packed.bits, self.buffers, program.entry_node, program.entry_start,
            program.entry_buffer, batch.node_condition, batch.node_left, batch.node_right, program.node_tag,
            program.node_counter, layout.condition_code, self.packed.codes, layout.set_table,
        )  # fmt: skip

    def load(self, start: int, stop: int) -> None:
        self.packed.load(start, stop, here=self.buffers[0])


def each_block(
    program: Program,
    rows: Rows,
    crew: Crew,
    work: Callable[[tuple[int, int], Walk], Result],
) -> Iterator[Result]:
    """``work(block, walk)`` for each block of the rows, in order, on the crew's threads."""
    free: list[Visit] = []

    def visited(block: tuple[int, int]) -> Result:
        try:
            visit = free.pop()
        except IndexError:
            visit = Visit(program, rows)
        visit.load(*block)
        result = work(block, visit.walk)
        free.append(visit)
        return result

    yield from crew.map(visited, rows.blocks)
