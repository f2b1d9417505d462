"""A program's leaves as the device counts them, and its counts as the program's slots.

A leaf's path has *elements*: a moving group with all its conditions, or one coded column that moves with no group. Leaves with as many elements
and conditions go together, so that threads side by side run the same instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icefield.engines.gpu.codes import CodedColumns, NotOnDevice
from icefield.engines.trees.program import JOINT, PAIRS, Program
from icefield.typing import Int32, Int64

THREADS = 512  # of a block, each with a leaf
TABLE, ROW = 1024, 32  # words of a column's table in shared memory, and of a row of it
ALWAYS, NEVER = (17 * ROW, 16 * ROW), (ROW, 0)  # conditions that hold for every row, and for none
MOST_COUNTS = 160  # of one leaf, in the kernel for any leaf
ELEMENTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16)
PAIR_ELEMENTS = (1, 2, 3, 4, 5, 6, 7, 8)
SECONDS = (0, 1, 2, 3, 4, 6, 8, 12, 16)


def place(column: Int64, code: Int64) -> tuple[Int64, Int64]:
    """Where the tables have the rows for ``code of column <= code``: of the high half, and of the low one."""
    high, low = code >> 4, code & 15
    begin = column * TABLE
    return begin + (high + 1) * ROW, begin + np.where(low == 15, 16, 17 + low) * ROW


@dataclass(frozen=True, eq=False, repr=False)
class CountedLeaves:
    """Leaves that a kernel counts together, with equally many elements.

    `leaf` and `element_group` are by leaf, the latter the number of the element's group on the path from 1, 0 for none.
    """

    pairs: bool
    elements: int
    leaf: Int64
    element_group: Int64

    @property
    def n_counts(self) -> int:
        return _n_counts(self.elements, self.pairs)


@dataclass(frozen=True, eq=False, repr=False)
class Kind(CountedLeaves):
    """Leaves of which the first `seconds` elements have two conditions; `table` is what the kernel reads, `(blocks, rows, THREADS)`."""

    seconds: int
    table: NDArray[np.uint32]

    @property
    def size(self) -> int:
        return len(self.table) * self.n_counts * THREADS

    def by_leaf(self, found: Int64) -> Int64:
        """The kernel's counts, ``(counts, leaves)``."""
        shaped = found.reshape(-1, self.n_counts, THREADS).transpose(1, 0, 2)
        return shaped.reshape(self.n_counts, -1)[:, : self.leaf.size]


@dataclass(frozen=True, eq=False, repr=False)
class AnyLeaves(CountedLeaves):
    """Leaves with more elements or conditions than a `Kind` has."""

    conditions: NDArray[np.uint32]
    element_start: Int32

    @property
    def size(self) -> int:
        return self.leaf.size * self.n_counts

    def by_leaf(self, found: Int64) -> Int64:
        return found.reshape(-1, self.n_counts).T


def _n_counts(elements: int, pairs: bool) -> int:
    return 1 + elements + (elements * (elements - 1) // 2 if pairs else 0)


@dataclass(frozen=True, eq=False, repr=False)
class ProgramLeaves:
    """All leaves of a program."""

    program: Program
    mode: int
    work: Sequence[Kind | AnyLeaves]
    reached: Int64  # leaves that every row reaches

    @classmethod
    def of(cls, program: Program, mode: int, columns: CodedColumns) -> ProgramLeaves:
        leaf, group, first, second, n_conditions, extra, odd = _elements(program, mode, columns)
        n_leaves = program.leaf_node.size
        counts = np.bincount(leaf, minlength=n_leaves)
        reached = np.flatnonzero(counts == 0)
        pairs = mode == PAIRS
        start = np.concatenate([[0], np.cumsum(counts)])
        twos = np.bincount(leaf, weights=n_conditions == 2, minlength=n_leaves).astype(np.int64)
        work: list[Kind | AnyLeaves] = []
        plain = np.flatnonzero(~odd & (counts > 0))
        plain = plain[np.lexsort((-twos[plain], -counts[plain]))]
        library = PAIR_ELEMENTS if pairs else ELEMENTS
        kinds: dict[tuple[int, int], list[Int64]] = {}
        for begin in range(0, plain.size, THREADS):
            own = plain[begin : begin + THREADS]
            k = next(e for e in library if e >= counts[own].max())
            e = next(min(s, k) for s in SECONDS if s >= twos[own].max())
            kinds.setdefault((k, e), []).append(own)
        for (k, e), blocks in kinds.items():
            work.append(_kind(pairs, k, e, blocks, start, counts, group, first, second))
        for k in np.unique(counts[odd]):
            if _n_counts(int(k), pairs) > MOST_COUNTS:
                raise NotOnDevice(f"a leaf's path has {k} elements")
            own = np.flatnonzero(odd & (counts == k))
            at = (start[own][:, None] + np.arange(k)).ravel()
            conditions = [c for i in at.tolist() for c in extra[i]]
            sizes = n_conditions[at]
            starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
            words = np.array(conditions, np.uint32).reshape(-1, 2)
            work.append(AnyLeaves(pairs, int(k), own, group[at].reshape(-1, k), words, starts))
        return cls(program, mode, work, reached)

    def put(self, work: Kind | AnyLeaves, found: Int64, counts: Int64) -> None:
        """Write the device's counts of some leaves into the program's slots, one column of these."""
        by_leaf = work.by_leaf(found)
        slot = self.program.leaf_slot[work.leaf].astype(np.int64)
        none, group = by_leaf[0], work.element_group.T
        counts[slot] = none
        if self.mode == JOINT:
            return
        i = 1 + work.elements
        for y in range(work.elements):
            moves = group[y] > 0
            own = group[y][moves]
            alone = own if self.mode != PAIRS else 1 + own * (own - 1) // 2
            counts[slot[moves] + alone] = (none + by_leaf[1 + y])[moves]
            for x in range(y if work.pairs else 0):
                both = moves & (group[x] > 0)
                a, b = group[x][both], group[y][both]
                low, high = np.minimum(a, b), np.maximum(a, b)
                together = none + by_leaf[1 + x] + by_leaf[1 + y] + by_leaf[i]
                counts[slot[both] + 1 + high * (high - 1) // 2 + low] = together[both]
                i += 1

    def put_reached(self, total: int, counts: Int64) -> None:
        """The same for leaves that every row reaches."""
        counts[self.program.leaf_slot[self.reached]] = total


def _kind(
    pairs: bool, k: int, e: int, blocks: list[Int64], start: Int64, counts: Int64,
    group: Int64, first: Int64, second: Int64
) -> Kind:  # fmt: skip
    """The table of some blocks of leaves; elements without conditions hold for every row."""
    leaf = np.concatenate(blocks)
    n_blocks = len(blocks)
    at = np.arange(leaf.size)
    table = np.empty((2 * k + 2 * e + 1, n_blocks * THREADS), np.uint32)
    table[0 : 2 * k : 2], table[1 : 2 * k : 2] = np.uint32(ALWAYS[0]), np.uint32(ALWAYS[1])
    table[2 * k : 2 * k + 2 * e : 2], table[2 * k + 1 : 2 * k + 2 * e : 2] = np.uint32(NEVER[0]), NEVER[1]
    table[-1] = 0
    groups = np.zeros((leaf.size, k), np.int64)
    for j in range(k):
        has = counts[leaf] > j
        i = start[leaf[has]] + j
        groups[has, j] = group[i]
        lower, upper = second[i, 0] >= 0, first[i, 0] >= 0
        to = at[has]
        table[2 * j, to[upper]], table[2 * j + 1, to[upper]] = first[i[upper]].T
        if j < e:
            table[2 * k + 2 * j, to[lower]], table[2 * k + 2 * j + 1, to[lower]] = second[i[lower]].T
        else:  # the only condition
            table[2 * j, to[lower]], table[2 * j + 1, to[lower]] = second[i[lower]].T
            table[-1, to[lower]] |= np.uint32(1 << j)
    shaped = table.reshape(len(table), n_blocks, THREADS).transpose(1, 0, 2)
    return Kind(pairs, k, leaf, groups, e, np.ascontiguousarray(shaped))


def _elements(program: Program, mode: int, columns: CodedColumns):  # type: ignore[no-untyped-def]
    """The elements of all leaves, leaf by leaf, those with two conditions first.

    By element: its leaf, group on the path from 1 (0: none), the places of its upper and lower condition (-1: none) where it has one
    coded column, how many conditions it has; all conditions of elements of odd leaves; and by leaf whether it is odd, for any `Kind`.
    """
    batch = program.batch
    parent = np.full(batch.node_left.size, -1, np.int64)
    splits = np.flatnonzero(batch.node_left >= 0)
    parent[batch.node_left[splits]] = parent[batch.node_right[splits]] = splits
    node, leaf = program.leaf_node.astype(np.int64), np.arange(program.leaf_node.size)
    found: list[tuple[NDArray, NDArray, NDArray]] = []
    while node.size:
        above = parent[node]
        is_below = above >= 0
        node, above, leaf = node[is_below], above[is_below], leaf[is_below]
        found.append((leaf, batch.node_condition[above], batch.node_left[above] == node))
        node = above
    leaf, condition, is_left = (np.concatenate(part) for part in zip(*found))
    group = program.group_of_condition[condition].astype(np.int64)
    if mode == JOINT:  # all groups are open
        leaf, condition, is_left, group = (part[group < 0] for part in (leaf, condition, is_left, group))
    column, code = columns.column[condition].astype(np.int64), columns.code[condition].astype(np.int64)

    # One interval a leaf and coded column: above the largest code gone right at, at most the smallest gone left at.
    key, inverse = np.unique(leaf * columns.n + column, return_inverse=True)
    upper, lower = np.full(key.size, 256), np.full(key.size, -1)
    np.minimum.at(upper, inverse[is_left], code[is_left])
    np.maximum.at(lower, inverse[~is_left], code[~is_left])
    group_of = np.full(key.size, -1)
    group_of[inverse] = group
    of_leaf, of_column = key // columns.n, key % columns.n
    moving = np.where(group_of >= 0, group_of, program.n_groups + of_column)
    element_key, element = np.unique(of_leaf * (program.n_groups + columns.n) + moving, return_inverse=True)
    n = element_key.size
    in_leaf = element_key // (program.n_groups + columns.n)
    moved = element_key % (program.n_groups + columns.n)

    n_conditions = np.zeros(n, np.int64)
    np.add.at(n_conditions, element, (upper < 256).astype(np.int64) + (lower >= 0))
    first, second = np.full((n, 2), -1), np.full((n, 2), -1)
    high, low = place(of_column, np.minimum(upper, 255)), place(of_column, np.maximum(lower, 0))
    first[element[upper < 256]] = np.stack(high, axis=1)[upper < 256]
    second[element[lower >= 0]] = np.stack(low, axis=1)[lower >= 0]
    # Two columns of a group may have an upper or a lower condition each; a kind has one of both.
    alone = np.bincount(element, minlength=n) == 1
    n_conditions_kind = np.where(alone, n_conditions, np.maximum(n_conditions, 3))
    extra: dict[int, list[tuple[int, int]]] = {}
    odd = np.zeros(program.leaf_node.size, bool)
    counts = np.bincount(in_leaf, minlength=odd.size)
    odd[in_leaf[n_conditions_kind > 2]] = True
    odd |= counts > (PAIR_ELEMENTS if mode == PAIRS else ELEMENTS)[-1]
    group_number = _on_path(program, in_leaf, moved)
    order = np.lexsort((-n_conditions_kind, in_leaf))
    back = np.empty(n, np.int64)
    back[order] = np.arange(n)
    for i in np.flatnonzero(odd[of_leaf]).tolist():
        own = extra.setdefault(int(back[element[i]]), [])
        if upper[i] < 256:
            own.append((int(high[0][i]), int(high[1][i])))
        if lower[i] >= 0:
            own.append((int(low[0][i]), int(low[1][i]) | 1 << 31))
    return in_leaf[order], group_number[order], first[order], second[order], n_conditions[order], extra, odd


def _on_path(program: Program, leaf: Int64, moved: Int64) -> Int64:
    """The number, from 1, of a group among those of a leaf's path; 0 for what is in no group."""
    sizes = np.diff(program.path_start)
    owner = np.repeat(np.arange(sizes.size), sizes)
    number = np.arange(owner.size) - program.path_start[owner] + 1
    wide = program.n_groups + 1
    keys = owner * wide + program.path_group[: owner.size]
    if not keys.size:
        return np.zeros(leaf.size, np.int64)
    order = np.argsort(keys)
    wanted = leaf * wide + np.minimum(moved, program.n_groups)
    at = order[np.minimum(np.searchsorted(keys[order], wanted), keys.size - 1)]
    return np.where(keys[at] == wanted, number[at], 0)
