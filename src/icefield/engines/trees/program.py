"""Trees cut into batches, and the mask program of a batch.

A *batch* is as many trees as fit the memory budget, with nodes numbered from its first. Its
*program* (see the kernels' `planning`) belongs to a set of moving groups and says, once for all
blocks of rows, which masks to AND and what to count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from icefield import kernels
from icefield.engines.trees.layout import Layout, laid_out
from icefield.forest.form import Forest
from icefield.kernels import JOINT, PAIRS, SINGLES
from icefield.typing import Array, Bits, Bytes, Float, Int32, Int64, Mask, Positions

__all__ = ["JOINT", "PAIRS", "SINGLES", "Batch", "Program", "TreeSums", "batches"]

# A subtree with a smaller share of its tree's leaves is walked with lists of rows: few arrive there.
FEW_LEAVES = 1 / 128
KEPT_NODES = 2**16  # of trees whose programs in which nothing moves are kept
MOST_SPARE = 2**25  # bytes of one program
LEFT_OUT = -2  # the output of trees that add to none of those wanted


@dataclass(frozen=True, eq=False)
class TreeSums:
    """The trees of a forest that add to some of its raw outputs, and only those outputs."""

    forest: Forest
    outputs: tuple[int, ...]

    @property
    def base(self) -> Float:
        return self.forest.base[list(self.outputs)]

    @property
    def trees(self) -> Positions:
        output = self.forest.tree_output
        return np.flatnonzero((output == -1) | np.isin(output, self.outputs))

    @property
    def leaf_width(self) -> int:
        """Values a leaf has: 1, or one for each of the outputs."""
        return 1 if self.forest.leaf_value.shape[1] == 1 else len(self.outputs)

    def standing_programs(self, scatter: bool, room: Mapping[str, int]) -> Iterator[Program]:
        """The programs of all batches of trees, which leave room as `batches` does, when nothing moves: every question
        about moved rows asks the same ones."""
        none = np.full(self.forest.n_columns, -1, np.int32)
        every = list(batches(self, 1, JOINT, **room))
        for trees in every:
            program = self._standing.get(scatter) if len(every) == 1 else None
            if program is None:
                program = Program.of(self.batch(trees), none, 1, JOINT, scatter=scatter)
                if len(every) == 1 and program.batch.node_left.size <= KEPT_NODES:
                    self._standing[scatter] = program
            yield program

    @cached_property
    def _standing(self) -> dict[bool, Program]:
        return {}

    def batch(self, trees: Positions) -> Batch:
        """A batch of some of the trees; that of all trees of a small forest is kept."""
        if trees.size < self.trees.size or self.forest.node_left.size > KEPT_NODES:
            return Batch.of(self, trees)
        return self._whole

    @cached_property
    def _whole(self) -> Batch:
        return Batch.of(self, self.trees)

    def with_values(self, value: Float) -> TreeSums:
        """The same trees with other leaf values, given by node, for these outputs only."""
        forest = self.forest
        is_leaf = forest.node_condition < 0
        renumbered = np.full(forest.n_outputs + 1, LEFT_OUT, np.int32)
        renumbered[list(self.outputs)] = np.arange(len(self.outputs))
        renumbered[-1] = -1
        other = replace(
            forest,
            n_outputs=len(self.outputs),
            tree_output=renumbered[forest.tree_output],
            node_leaf=np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32),
            leaf_value=np.ascontiguousarray(value[is_leaf]),
            base=self.base,
        )
        return TreeSums(other, tuple(range(len(self.outputs))))


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Some trees: local node numbers, and the value and output of every node that is a leaf."""

    forest: Forest
    roots: Int32
    node_number: Positions  # in the forest
    node_condition: Int32
    node_left: Int32
    node_right: Int32
    node_weight: Float
    node_value: Float
    node_output: Int32
    node_depth: Int32
    leaves_below: Int32
    tree_leaves: Int32  # by node: leaves of its whole tree
    max_depth: int

    @classmethod
    def of(cls, sums: TreeSums, trees: Positions) -> Batch:
        forest = sums.forest
        ends = np.append(forest.tree_root[1:], forest.node_left.size)
        sizes = (ends - forest.tree_root)[trees].astype(np.int64)
        roots = np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int32)
        shift = np.repeat(forest.tree_root[trees].astype(np.int64) - roots, sizes)
        nodes = (np.arange(shift.size) + shift).astype(np.intp)

        def moved(child: Int32) -> Int32:
            return np.where(child[nodes] < 0, -1, child[nodes] - shift).astype(np.int32)

        left, right = moved(forest.node_left), moved(forest.node_right)
        depth, leaves = np.zeros(nodes.size, np.int32), np.zeros(nodes.size, np.int32)
        kernels.survey(node_left=left, node_right=right, roots=roots, depth=depth, leaves=leaves)
        renumbered = np.full(forest.n_outputs + 1, -1, np.int32)
        renumbered[list(sums.outputs)] = np.arange(len(sums.outputs))
        values = forest.leaf_value
        if values.shape[1] > 1:
            values = values[:, list(sums.outputs)]
        return cls(
            forest=forest,
            roots=roots,
            node_number=nodes,
            node_condition=forest.node_condition[nodes],
            node_left=left,
            node_right=right,
            node_weight=forest.node_weight[nodes],
            node_value=np.ascontiguousarray(values[np.maximum(forest.node_leaf[nodes], 0)]),
            node_output=np.repeat(renumbered[forest.tree_output[trees]], sizes).astype(np.int32),
            node_depth=depth,
            leaves_below=leaves,
            tree_leaves=np.repeat(leaves[roots], sizes).astype(np.int32),
            max_depth=int(depth.max(initial=0)),
        )

    def conditions(self, nodes: Mask | None = None) -> Positions:
        """The forest's conditions that these nodes (all by default) test."""
        condition = self.node_condition if nodes is None else self.node_condition[nodes]
        is_tested = np.zeros(self.forest.condition_column.size, bool)
        is_tested[condition[condition >= 0]] = True
        return np.flatnonzero(is_tested)


@dataclass(frozen=True, eq=False, repr=False)
class Instructions:
    """What a walk does, step by step, and the subtrees that it enters to walk them with lists of rows."""

    program: Int32
    entry_node: Int32
    entry_start: Int32
    entry_buffer: Int32
    node_tag: Int32
    node_counter: Int32


@dataclass(frozen=True, eq=False, repr=False)
class Slots:
    """How counts follow from the counters of a walk."""

    origin: Int32
    counter: Int32
    kind: NDArray[np.int8]

    @property
    def n(self) -> int:
        return self.kind.size

    def counts(self, counters: Int64, total: Int64) -> Int64:
        """Rows by slot and segment, of so many in all."""
        counts = np.empty((self.n, counters.shape[1]), np.int64)
        kernels.resolve(
            slot_origin=self.origin, slot_counter=self.counter, slot_kind=self.kind, counters=counters,
            total=total, counts=counts,
        )  # fmt: skip
        return counts


class SpareRoom:
    """Memory that one question gave back and the next takes: the system fills new memory with zeros first."""

    def __init__(self) -> None:
        self._kept: list[Bits] = []

    def take(self, shape: tuple[int, int, int]) -> Bits | None:
        """Room for the bits of so many moves, or of more; None where there is none."""
        with suppress(IndexError):  # another thread may have taken it
            found = self._kept.pop()
            return found if len(found) >= shape[0] and found.shape[1:] == shape[1:] else None
        return None

    def give_back(self, room: Bits) -> None:
        """Keep room for the next question, where it is not much."""
        if room.nbytes <= MOST_SPARE and all(kept.nbytes <= room.nbytes for kept in self._kept):
            self._kept[:] = [room]


@dataclass(frozen=True, eq=False, repr=False)
class Program:
    """What `kernels.write_plan` wrote for a batch, and the layout its conditions refer to."""

    batch: Batch
    layout: Layout
    group_of_condition: Int32
    n_groups: int
    mode: int
    instructions: Instructions
    slots: Slots
    leaf_node: Int32
    leaf_slot: Int32
    path_start: Int32
    path_group: Int32
    path_region: Int32
    region_before: Int32
    n_counters: int
    n_buffers: int

    @property
    def leaf_value(self) -> Float:
        return self.batch.node_value[self.leaf_node]

    @classmethod
    def of(
        cls,
        batch: Batch,
        group_of_column: Int32,
        n_groups: int,
        mode: int,
        *,
        scatter: bool = False,
        asked: Bytes | None = None,
    ) -> Program:
        """Plan the walk of a batch."""
        forest = batch.forest
        group_of_condition = group_of_column[forest.condition_column].astype(np.int32)
        is_split = batch.node_left >= 0
        apart = is_split & (batch.leaves_below < FEW_LEAVES * batch.tree_leaves)
        if mode == PAIRS:
            apart[:] = False
        packed = np.zeros(forest.condition_column.size, bool)
        packed[batch.conditions(is_split & ~apart)] = True
        layout = laid_out(forest, batch.conditions(), packed)
        if mode != PAIRS:  # nobody looks: of 100,000 columns all pairs would take gigabytes
            asked = np.ones((1, 1), np.uint8)
        elif asked is None:
            asked = np.ones((n_groups, n_groups), np.uint8)

        question = kernels.PlanQuestion(
            scatter=scatter, mode=mode, roots=batch.roots, node_condition=batch.node_condition,
            node_left=batch.node_left, node_right=batch.node_right, condition_group=group_of_condition,
            condition_row=layout.condition_row, apart=apart.astype(np.uint8), asked=asked,
            max_depth=batch.max_depth, max_groups=min(n_groups, batch.max_depth),
        )  # fmt: skip
        sizes = kernels.plan_sizes()
        kernels.measure_plan(question=question, sizes=sizes)
        tables: dict[str, Array] = {
            "program": np.empty((sizes.instructions, 4), np.int32),
            "entry_node": np.empty(sizes.entries, np.int32),
            "entry_start": np.empty(sizes.entries + 1, np.int32),
            "entry_buffer": np.empty(sizes.entry_buffers, np.int32),
            "slot_origin": np.zeros(sizes.slots, np.int32),
            "slot_counter": np.zeros(sizes.slots, np.int32),
            "slot_kind": np.zeros(sizes.slots, np.int8),
            "leaf_node": np.empty(sizes.leaves, np.int32),
            "leaf_slot": np.zeros(sizes.leaves, np.int32),
            "path_start": np.empty(sizes.leaves + 1, np.int32),
            "path_group": np.empty(sizes.paths, np.int32),
            "path_region": np.empty(sizes.paths, np.int32),
            "node_tag": np.zeros(batch.node_left.size, np.int32),
            "node_counter": np.zeros(batch.node_left.size, np.int32),
            "region_before": np.full(batch.node_left.size, -1, np.int32),
        }
        kernels.write_plan(question=question, **tables)
        slots = Slots(*(tables.pop(f"slot_{field.name}") for field in fields(Slots)))
        instructions = Instructions(*(tables.pop(field.name) for field in fields(Instructions)))
        return cls(
            batch=batch,
            layout=layout,
            group_of_condition=group_of_condition,
            n_groups=n_groups,
            mode=mode,
            instructions=instructions,
            slots=slots,
            n_counters=sizes.counters,
            n_buffers=sizes.buffers,
            **tables,
        )

    @property
    def leaves(self) -> kernels.Leaves:
        """Every leaf's output and value, as the kernels take them."""
        return kernels.Leaves(output=self.batch.node_output[self.leaf_node], value=self.leaf_value)

    @cached_property
    def spare(self) -> SpareRoom:
        """Room for the bits of moves that are counted together."""
        return SpareRoom()

    @property
    def has_lists(self) -> bool:
        """Whether some subtrees are walked with lists of rows."""
        return self.instructions.entry_node.size > 0

    @cached_property
    def _list_nodes(self) -> NDArray[np.void]:
        """The nodes for walking with lists of rows; none where there are no lists."""
        return self.nodes(self.instructions.node_tag) if self.has_lists else np.zeros(0, kernels.NODE)

    def nodes(self, group: Int32) -> NDArray[np.void]:
        """The nodes as kernels walk them row by row, with a number of each split's `group`; of leaves all are -1."""
        batch = self.batch
        splits = np.flatnonzero(batch.node_left >= 0)
        found = np.full(batch.node_left.size, -1, kernels.NODE)
        found["rule"][splits] = self.layout.routing[batch.node_condition[splits]]
        for name, by_node in (("left", batch.node_left), ("right", batch.node_right), ("group", group)):
            found[name][splits] = by_node[splits]
        return found

    def walk(self, bits: Bits, codes_by_row: Int32, buffers: Bits, stop: Bytes) -> kernels.Walk:
        """The program over one block of rows, as the kernels take it."""
        own = self.instructions
        return kernels.Walk(
            program=own.program, bits=bits, buffers=buffers, entry_node=own.entry_node,
            entry_start=own.entry_start, entry_buffer=own.entry_buffer, list_nodes=self._list_nodes,
            node_counter=own.node_counter, codes_by_row=codes_by_row, set_table=self.layout.set_table, stop=stop,
        )  # fmt: skip


def batches(
    sums: TreeSums,
    n_groups: int,
    mode: int,
    *,
    words: int,
    threads: int,
    segments: int,
    memory: int,
    per_node: int = 0,
) -> Iterator[Positions]:
    """Cut the trees into runs whose program, counters and masks fit half the memory budget.

    `per_node` are bytes the caller keeps for every node beside these.
    """
    forest, trees = sums.forest, sums.trees
    ends = np.append(forest.tree_root[1:], forest.node_left.size)
    nodes = (ends - forest.tree_root)[trees].astype(np.int64)
    # What a path of a balanced tree can cross; in leaning trees the others cross fewer.
    crossed = np.minimum(n_groups, np.log2(nodes + 1))
    slots = {JOINT: np.ones(trees.size), SINGLES: 1 + crossed, PAIRS: 1 + crossed * (crossed + 1) / 2}[mode]
    counters = nodes * slots * 8 * segments * (threads + 2)
    tables = nodes * (112 + 30 * slots + 8 * crossed + per_node)
    masks = np.minimum(nodes // 2, 2**14) * words * 8 * threads
    cost = np.cumsum(counters + tables + masks)
    begin, spent = 0, 0.0
    for i in range(trees.size):
        if i > begin and cost[i] - spent > memory / 2:
            yield trees[begin:i]
            begin, spent = i, cost[i - 1]
    if trees.size:
        yield trees[begin:]
