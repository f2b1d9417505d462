"""Every row's own prediction: a walk in which nothing moves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from icefield import kernels
from icefield.core.rows import Block
from icefield.engines.trees.packed_rows import WORD, Moved, PackedRows, aligned
from icefield.engines.trees.program import Program, TreeSums
from icefield.engines.trees.visits import Visits, Walk
from icefield.forest.tree_model import TreeModel
from icefield.threads import PerThread, ThreadCrew, unless_stopped
from icefield.typing import Bits, Float

BLOCK = 4096  # rows
SHORT = 2**32  # rows times nodes that are predicted in a tenth of a second or so


def raw_predictions(
    model: TreeModel, sums: TreeSums, sample: Block, crew: ThreadCrew, memory: int, moved: Moved | None = None
) -> Float:
    """The trees' sums ``(moves, rows, outputs)`` of all rows of a sample; without `moved`, of one: the rows as they are."""
    rows = PackedRows(model, Block(sample.table), min(BLOCK, max(1, sample.n_rows)), moved)
    found = np.zeros((rows.n_moves, len(sums.outputs), sample.n_rows))
    room = {"words": BLOCK // WORD, "threads": crew.threads, "segments": 1, "memory": memory}
    for program in sums.standing_programs(True, room):
        for (start, stop), added in _added(program, rows, crew, len(sums.outputs)):
            found[..., start:stop] += added
    return (found + sums.base[:, None]).transpose(0, 2, 1)


def _added(
    program: Program, rows: PackedRows, crew: ThreadCrew, n_outputs: int
) -> Iterator[tuple[tuple[int, int], Float]]:
    """What a program's trees add to each block of rows, ``(moves, outputs, rows)``."""
    leaves, roots = program.leaves, program.batch.roots
    sizes = program.batch.leaves_below[roots]
    tree_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    leaf_by_leaf = (sizes > kernels.MOST_NUMBERED).astype(np.uint8)
    leaf_by_leaf[np.searchsorted(roots, program.instructions.entry_node, side="right") - 1] = 1

    if rows.are_alike(program.layout, program.has_lists):
        lent = PerThread(lambda: _room(program, rows, crew))

        def at_once(block: tuple[int, int]) -> tuple[tuple[int, int], Float]:
            out = np.empty((rows.n_moves, n_outputs, block[1] - block[0]))
            with lent.borrowed() as (bits, walk):
                unless_stopped(kernels.predict_rows(
                    **rows.at_once(program.layout, *block), walk=walk, bits=bits, leaves=leaves,
                    tree_start=tree_start, leaf_by_leaf=leaf_by_leaf, out=out,
                ))  # fmt: skip
            return block, out

        is_short = rows.sample.n_rows * program.batch.node_left.size < SHORT
        yield from (crew.share if is_short else crew.map)(at_once, rows.shared_out(crew.threads))
        return

    visits = Visits(program, rows, crew)

    def moves(block: tuple[int, int]) -> tuple[tuple[int, int], Float]:
        room = np.zeros((rows.n_moves, n_outputs, block[1] - block[0]))
        with visits.loaded(block) as visit:
            for number, out in enumerate(room):
                visit.packed.move(number, block[0])
                unless_stopped(kernels.add_predictions(
                    walk=visit.walk, leaves=leaves, tree_start=tree_start, leaf_by_leaf=leaf_by_leaf, out=out,
                ))  # fmt: skip
        return block, room

    yield from crew.map(moves, rows.blocks)


def _room(program: Program, rows: PackedRows, crew: ThreadCrew) -> tuple[Bits, Walk]:
    """One thread's memory for the bits of rows, and the program over them."""
    bits, buffers = aligned((program.layout.n_rows, rows.words)), aligned((program.n_buffers + 1, rows.words))
    codes_by_row = np.empty((0, program.layout.n_columns), np.int32)
    return bits, program.walk(bits, codes_by_row, buffers, crew.stop)
