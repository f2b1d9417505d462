"""Visiting blocks of rows with a leaf-visiting program: each thread packs a block, then runs a kernel on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from icefield import kernels
from icefield.engines.trees.packed_rows import PackedRows, Workspace, aligned
from icefield.engines.trees.program import Program
from icefield.threads import PerThread, ThreadCrew
from icefield.typing import Bits

Result = TypeVar("Result")
Walk = kernels.Walk


class Visit:
    """One thread's memory for a program; `load` a block, then hand `walk` to a kernel."""

    def __init__(self, program: Program, rows: PackedRows, crew: ThreadCrew) -> None:
        self.packed = Workspace(rows, program.layout, program.has_lists)
        self.buffers: Bits = aligned((program.n_buffers, rows.words))
        self.walk = program.walk(self.packed.bits, self.packed.codes_by_row, self.buffers, crew.stop)

    def load(self, start: int, stop: int) -> None:
        self.packed.load(start, stop, here=self.buffers[0])


class Visits:
    """Memory for a program that threads take for a block and give back."""

    def __init__(self, program: Program, rows: PackedRows, crew: ThreadCrew) -> None:
        self._lent = PerThread(lambda: Visit(program, rows, crew))

    @contextmanager
    def loaded(self, block: tuple[int, int]) -> Iterator[Visit]:
        """A visit with one block of the rows."""
        with self._lent.borrowed() as visit:
            visit.load(*block)
            yield visit

    def over(self, block: tuple[int, int], work: Callable[[Walk], Result]) -> Result:
        """``work(walk)`` for one block of the rows."""
        with self.loaded(block) as visit:
            return work(visit.walk)


def each_block(
    program: Program,
    rows: PackedRows,
    crew: ThreadCrew,
    work: Callable[[tuple[int, int], Walk], Result],
) -> Iterator[Result]:
    """``work(block, walk)`` for each block of the rows, in order, on the crew's threads."""
    visits = Visits(program, rows, crew)
    yield from crew.map(lambda block: visits.over(block, partial(work, block)), rows.blocks)
