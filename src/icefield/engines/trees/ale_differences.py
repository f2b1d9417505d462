"""Rows moved across steps of their own: what local effects (ALE) are made of.

A row stands in one step of every axis, between two neighbouring points; the mixed difference of
its predictions at the corners of these steps is wanted. With the axes left open, one walk finds the leaves
a row could reach. On an additive scale a leaf matters only to rows whose step holds an edge of the
leaf's region, which are few; where a link follows the sums, these are needed at every corner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from icefield import kernels
from icefield.core.rows import Block
from icefield.engines.trees.axes import EncodedAxis, GridRegions, group_columns
from icefield.engines.trees.coding import CodedRows
from icefield.engines.trees.encoded import EncodedRows
from icefield.engines.trees.packed_rows import WORD, PackedRows, aligned
from icefield.engines.trees.program import JOINT, Batch, Program, TreeSums, batches
from icefield.engines.trees.visits import Walk, each_block
from icefield.forest.tree_model import TreeModel
from icefield.progress import Progress
from icefield.threads import ThreadCrew, unless_stopped
from icefield.typing import Float, Int32, Int64, Positions, Steps

BLOCK = 4096
ROWS_AT_ONCE = 65_536  # of the table, encoded
TABLES_OF_REGIONS = 4  # bytes for each region and point: flags as bits, as bytes, in order, and kept


@dataclass(frozen=True, eq=False)
class StepDifferences:
    """Differences across steps between neighbouring points of one or two axes.

    `model` encodes with the engine's encoder; `link` turns sums ``(..., outputs)`` into responses (None: an additive scale).
    """

    model: TreeModel
    sums: TreeSums
    axes: tuple[EncodedAxis, ...]
    link: Callable[[Float], Float] | None
    crew: ThreadCrew
    memory: int

    def differences(self, table: Any, rows: Positions, steps: Steps) -> Float:
        """The mixed differences ``(rows, outputs)`` of some rows of a table across their `steps`, (axes, rows)."""
        sums = np.zeros((1 if self.link is None else 2 ** len(self.axes), len(rows), len(self.sums.outputs)))
        group_of_column = group_columns([a.columns for a in self.axes], self.sums.forest.n_columns)
        batched = list(self._batches(group_of_column))
        with Progress("moving rows", total=len(rows) * sum(trees.size for trees in batched)) as progress:
            for trees in batched:
                part = _MovedPart(self, trees, group_of_column)
                for start in range(0, len(rows), ROWS_AT_ONCE):
                    own = slice(start, start + ROWS_AT_ONCE)
                    taken = table.take(rows[own])
                    if not isinstance(taken, (EncodedRows, CodedRows)):
                        taken = EncodedRows(self.model.encode(taken))
                    for done in part.add(taken, np.ascontiguousarray(steps[:, own]), sums[:, own]):
                        progress.advance(done * trees.size)
        if self.link is None:
            return np.asarray(sums[0])
        response = self.link(sums + self.sums.base)
        signs = [(-1.0) ** (len(self.axes) - sum(corner)) for corner in _corners(len(self.axes))]
        return np.einsum("c,cro->ro", np.array(signs), response)

    def _batches(self, group_of_column: Int32) -> Iterator[Positions]:
        """Trees that are walked together."""
        widest = max(a.size for a in self.axes)
        for trees in batches(
            self.sums, len(self.axes), JOINT, words=BLOCK // WORD, threads=self.crew.threads, segments=1,
            memory=self.memory, per_node=TABLES_OF_REGIONS * widest,
        ):  # fmt: skip
            chosen = trees if self.link else self._concerned(trees, group_of_column)
            if chosen.size:
                yield chosen

    def _concerned(self, trees: Positions, group_of_column: Int32) -> Positions:
        """The trees that split on every axis: no other has mixed differences."""
        forest = self.sums.forest
        splits = np.flatnonzero(forest.node_condition >= 0)
        group = group_of_column[forest.condition_column[forest.node_condition[splits]]]
        tree = np.searchsorted(forest.tree_root, splits, side="right") - 1
        concerned = np.ones(forest.tree_root.size, bool)
        for axis in range(len(self.axes)):
            concerned &= np.bincount(tree[group == axis], minlength=concerned.size) > 0
        return trees[concerned[trees]]


def _corners(n_axes: int) -> list[tuple[int, ...]]:
    """The corners of a step: 0 for its first point, 1 for its last, on each axis."""
    return list(product((0, 1), repeat=n_axes))


class _MovedPart:
    """A batch of trees, which any rows can walk."""

    def __init__(self, moves: StepDifferences, trees: Positions, group_of_column: Int32) -> None:
        self.moves, self.trees, self._group_of_column = moves, trees, group_of_column

    @cached_property
    def program(self) -> Program:
        batch = Batch.of(self.moves.sums, self.trees)
        return Program.of(batch, self._group_of_column, len(self.moves.axes), JOINT, scatter=True)

    @cached_property
    def _regions(self) -> tuple[NDArray[np.int8], Int64]:
        """Which of an axis's points lie in each region, or on an additive scale what changes from each point to
        the next; and the leaves' regions by axis (-1: the leaf does not depend on it)."""
        program, axes = self.program, self.moves.axes
        found = GridRegions.of(program, axes, range(len(axes)))
        first, ends = found.first, np.append(found.start[1:], found.masks.size)
        table = np.zeros((int(first[-1]), max(a.size for a in axes)), np.int8)
        for a, axis in enumerate(axes):
            masks = found.masks[found.start[a] : ends[a]].reshape(-1, int(found.words[a]))
            inside = np.empty((len(masks), axis.size), np.int8)
            flags = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little")
            inside[:, axis.order] = flags[:, : axis.size]
            own = inside if self.moves.link else np.diff(inside, axis=1)
            table[first[a] : first[a + 1], : own.shape[1]] = own
        leaf = np.repeat(np.arange(program.leaf_node.size), np.diff(program.path_start))
        region = np.full((len(axes), program.leaf_node.size), -1, np.int64)
        region[program.path_group[: leaf.size], leaf] = found.on_paths(program)
        return table, region

    @cached_property
    def _edges(self) -> tuple[Int64, Int64, NDArray[np.int8]]:
        """By region: where its edges begin, their steps and signs."""
        change, _ = self._regions
        region, step = np.nonzero(change)
        start = np.searchsorted(region, np.arange(len(change) + 1)).astype(np.int64)
        return start, step.astype(np.int64), change[region, step]

    def add(self, encoded: EncodedRows | CodedRows, steps: Steps, out: Float) -> Iterator[int]:
        """Add the trees to `out`, shape (1 or corners, rows, outputs), for encoded rows; yields rows done."""
        moves, program = self.moves, self.program
        table, leaf_region = self._regions
        edges = self._edges if moves.link is None else None
        sizes = [a.size for a in moves.axes]
        step_start = np.array([0, sizes[0] - 1], np.int64)[: len(sizes)]
        leaves = program.leaves
        rows = PackedRows(moves.model, Block(cast(Any, encoded)), BLOCK)

        def work(block: tuple[int, int], walk: Walk) -> int:
            own, mine = slice(*block), np.ascontiguousarray(steps[:, slice(*block)])
            added = np.zeros((len(out), block[1] - block[0], out.shape[2]))
            if edges is not None:
                step_bits = aligned((sum(sizes) - len(sizes), rows.words))
                edge_start, edge_step, edge_sign = edges
                finished = kernels.add_changes(
                    walk=walk, leaves=leaves, leaf_region=leaf_region, edge_start=edge_start,
                    edge_step=edge_step, edge_sign=edge_sign, change=table, step_start=step_start, steps=mine,
                    step_bits=step_bits, out=added[0],
                )  # fmt: skip
            else:
                corners = np.stack([mine + np.array(c, np.int32)[:, None] for c in _corners(len(sizes))])
                finished = kernels.add_corners(
                    walk=walk, leaves=leaves, leaf_region=leaf_region, inside=table, corners=corners, out=added
                )  # fmt: skip
            unless_stopped(finished)
            out[:, own] += added
            return block[1] - block[0]

        yield from each_block(program, rows, moves.crew, work)
