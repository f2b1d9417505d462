"""Random trees planned for random groups, and what their nodes, slots and regions are by definition.

Everything here is plain numpy over whole rows and paths: slow, and without any of the kernels' ideas.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from forest_walk import goes_left
from icefield.core.rows import Block
from icefield.data.frame import table_of
from icefield.engines.trees import program as programs
from icefield.engines.trees.axes import EncodedAxis, GridRegions
from icefield.engines.trees.packed_rows import PackedRows
from icefield.engines.trees.program import JOINT, PAIRS, SINGLES, Batch, Program, TreeSums
from icefield.engines.trees.visits import Visit
from icefield.threads import ThreadCrew
from strategies import RandomForest, random_forest

MODES = {"joint": JOINT, "singles": SINGLES, "pairs": PAIRS}
LISTS = {"no lists": 0.0, "some lists": 0.4, "all lists": 2.0}


@dataclass
class Case:
    """A planned batch over some rows."""

    drawn: RandomForest
    matrix: np.ndarray
    group_of_column: np.ndarray
    program: Program
    mode: int

    @classmethod
    def of(
        cls,
        seed: int,
        mode: int,
        few_leaves: float,
        scatter: bool = False,
        groups: int | None = None,
        rows: int | None = None,
    ) -> Case:
        rng = np.random.default_rng(seed)
        drawn = random_forest(rng, n_columns=5, trees=4, leaves=14)
        n_groups = int(rng.integers(1, 6)) if groups is None else groups
        group_of_column = np.full(5, -1, np.int32)
        chosen = rng.permutation(5)
        group_of_column[chosen[:n_groups]] = np.arange(n_groups)
        if groups is None:  # some columns move together, some not at all
            group_of_column[chosen[n_groups:]] = rng.integers(-1, n_groups, 5 - n_groups)
        sums = TreeSums(drawn.forest, tuple(range(drawn.forest.n_outputs)))
        before, programs.FEW_LEAVES = programs.FEW_LEAVES, few_leaves
        try:
            planned = Program.of(Batch.of(sums, sums.trees), group_of_column, n_groups, mode, scatter=scatter)
        finally:
            programs.FEW_LEAVES = before
        rows = int(rng.choice([1, 64, 150])) if rows is None else rows
        return cls(drawn, drawn.matrix(rng, rows), group_of_column, planned, mode)

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(len(self.program.leaf_node))

    @property
    def n_rows(self) -> int:
        return len(self.matrix)

    @property
    def n_leaves(self) -> int:
        return self.program.leaf_node.size

    @cached_property
    def parents(self) -> dict[int, tuple[int, bool]]:
        """Each child's parent, and whether it is the left child."""
        batch = self.program.batch
        found = {}
        for node in np.flatnonzero(batch.node_left >= 0):
            found[int(batch.node_left[node])] = (int(node), True)
            found[int(batch.node_right[node])] = (int(node), False)
        return found

    def path(self, node: int) -> list[tuple[int, bool]]:
        """The splits above a node, from the root, and whether the left side was taken."""
        found: list[tuple[int, bool]] = []
        while node in self.parents:
            found.insert(0, self.parents[node])
            node = self.parents[node][0]
        return found

    def group_of(self, split: int) -> int:
        column = self.drawn.forest.condition_column[self.program.batch.node_condition[split]]
        return int(self.group_of_column[column])

    def groups_of(self, node: int) -> list[int]:
        """The groups on a node's path in the order they are met."""
        return list(dict.fromkeys(g for g in (self.group_of(s) for s, _ in self.path(node)) if g >= 0))

    def meets(self, node: int, matrix: np.ndarray, groups: set[int], inside: bool) -> np.ndarray:
        """The rows that meet the conditions above a node on these groups, or on everything but these."""
        forest, batch = self.drawn.forest, self.program.batch
        met = np.ones(len(matrix), bool)
        for split, is_left in self.path(node):
            if (self.group_of(split) in groups) == inside:
                condition = int(batch.node_condition[split])
                column = forest.condition_column[condition]
                met &= goes_left(forest, condition, matrix[:, column]) == is_left
        return met

    def reached(self, node: int, opened: set[int]) -> np.ndarray:
        """The rows that reach a node when some groups' conditions are left open."""
        return self.meets(node, self.matrix, opened, inside=False)

    def slots(self, leaf: int) -> Iterator[tuple[int, set[int]]]:
        """Each slot of a leaf and the groups that are open there."""
        groups = self.groups_of(int(self.program.leaf_node[leaf]))
        first = int(self.program.leaf_slot[leaf])
        if self.mode == JOINT:
            yield first, set(range(self.program.n_groups))
            return
        yield first, set()
        for y, group in enumerate(groups, start=1):
            if self.mode == SINGLES:
                yield first + y, {group}
                continue
            alone = first + 1 + y * (y - 1) // 2
            yield alone, {group}
            for x, other in enumerate(groups[: y - 1], start=1):
                yield alone + x, {other, group}

    def axes(self, points: int = 7) -> list[EncodedAxis]:
        """One axis of random points for every group."""
        rng, found = self.rng, []
        for group in range(self.program.n_groups):
            columns = tuple(int(j) for j in np.flatnonzero(self.group_of_column == group))
            size = int(rng.integers(1, points + 1))
            found.append(EncodedAxis.of_matrix(columns, self.drawn.matrix(rng, size)))
        return found

    def regions(self, axes: list[EncodedAxis]) -> GridRegions:
        return GridRegions.of(self.program, axes, range(len(axes)))

    def region(self, leaf: int, axis: EncodedAxis, group: int) -> np.ndarray:
        """Which points of an axis a leaf's own conditions on the group let pass."""
        points = np.full((axis.size, self.drawn.forest.n_columns), np.nan)
        points[:, list(axis.columns)] = axis.matrix
        return self.meets(int(self.program.leaf_node[leaf]), points, {group}, inside=True)

    def walk(self):
        """The program over all rows as one block."""
        rows = PackedRows(self.drawn.model(), Block(table_of(self.matrix)), 192)
        visit = Visit(self.program, rows, ThreadCrew(1))
        visit.load(0, self.n_rows)
        return visit.walk

    def each_value(self, leaf: int) -> Iterator[tuple[int, float]]:
        """What a leaf adds, by output."""
        output, values = (
            int(self.program.batch.node_output[self.program.leaf_node[leaf]]),
            self.program.leaf_value[leaf],
        )
        if output >= 0:
            yield output, float(values[0])
        else:
            yield from ((o, float(v)) for o, v in enumerate(values))

    @property
    def n_outputs(self) -> int:
        return self.drawn.forest.n_outputs


def masks_as_flags(masks: np.ndarray, size: int) -> np.ndarray:
    return np.unpackbits(masks.view(np.uint8), axis=-1, bitorder="little")[..., :size].astype(bool)
