"""From a library's own node arrays to a `Forest`: shared conditions, ordered nodes, leaf rows.

Readers describe trees the way their library stores them, one entry per node and every node with
its own test. What every reader would otherwise repeat is hidden here: dropping nodes no root
reaches, putting parents before children, finding the distinct conditions and category sets, and
numbering the leaves. Anything that is not a set of binary trees is refused with `CannotRead`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from icefield.forest.form import Forest, validate
from icefield.forest.tree_model import CannotRead


@dataclass(frozen=True, eq=False, repr=False)
class Nodes:
    """Trees as their library stores them: one entry per node, every node with its own test.

    Node numbers are absolute over all trees; `left` is -1 at a leaf. What a split holds in
    `value`, and a leaf in the fields of the test, is not looked at. `set_number` is the position
    of a split's category set in the list of sets given to `assemble`, -1 for numeric splits.
    """

    column: NDArray[np.int64]
    threshold: NDArray[np.float64]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: NDArray[np.float64]
    weight: NDArray[np.float64]
    zero_missing: NDArray[np.bool_]
    set_number: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        *,
        column: NDArray,
        threshold: NDArray,
        missing_left: NDArray,
        left: NDArray,
        right: NDArray,
        value: NDArray,
        weight: NDArray | None = None,
        zero_missing: NDArray | None = None,
        set_number: NDArray | None = None,
    ) -> Nodes:
        """Nodes from arrays of any numeric dtype; what is left out means "none" or "unknown"."""
        n = len(left)
        return cls(
            np.asarray(column, np.int64),
            np.asarray(threshold, np.float64),
            np.asarray(missing_left).astype(bool),
            np.asarray(left, np.int64),
            np.asarray(right, np.int64),
            np.asarray(value, np.float64).reshape(n, -1),
            np.full(n, np.nan) if weight is None else np.asarray(weight, np.float64),
            np.zeros(n, bool) if zero_missing is None else np.asarray(zero_missing).astype(bool),
            np.full(n, -1, np.int64) if set_number is None else np.asarray(set_number, np.int64),
        )

    @property
    def size(self) -> int:
        return len(self.left)

    def take(self, order: NDArray[np.int64]) -> Nodes:
        """These nodes in another order; child numbers are left as they are."""
        return Nodes(*(getattr(self, name)[order] for name in self.__dataclass_fields__))


def assemble(
    nodes: Nodes,
    *,
    tree_root: NDArray,
    tree_output: NDArray,
    base: NDArray,
    n_columns: int,
    sets: Sequence[NDArray] = (),
) -> Forest:
    """Build the `Forest` of these trees.

    Parameters
    ----------
    nodes : Nodes
        All nodes of all trees.
    tree_root, tree_output : arrays of length T
        Each tree's root, and the output it adds to (-1 where leaves hold a value per output).
    base : array of length n_outputs
        What the raw sum starts from.
    n_columns : int
        Width of the matrix the trees route on.
    sets : sequence of int arrays
        The category sets that `nodes.set_number` refers to.
    """
    tree_root = np.asarray(tree_root, np.int64)
    base = np.asarray(base, np.float64).ravel()
    nodes, tree_root = _parents_first(nodes, tree_root)
    is_split = nodes.left >= 0

    column = nodes.column[is_split]
    value = nodes.value[~is_split]

    set_start, set_members, set_position = _distinct_sets(sets)
    set_number = nodes.set_number[is_split]
    if len(sets):
        set_number = np.where(set_number >= 0, set_position[set_number], -1)
    first, condition = _distinct_conditions(
        column,
        nodes.threshold[is_split],
        set_number,
        nodes.missing_left[is_split],
        nodes.zero_missing[is_split],
    )

    node_condition = np.full(nodes.size, -1, np.int32)
    node_condition[is_split] = condition
    node_leaf = np.full(nodes.size, -1, np.int32)
    node_leaf[~is_split] = np.arange(len(value))
    is_set = set_number[first] >= 0
    return validate(
        Forest(
            n_columns=n_columns,
            n_outputs=len(base),
            condition_column=column[first].astype(np.int32),
            condition_threshold=np.where(is_set, np.nan, nodes.threshold[is_split][first] + 0.0),
            condition_set=set_number[first].astype(np.int32),
            condition_missing_left=nodes.missing_left[is_split][first],
            condition_zero_missing=nodes.zero_missing[is_split][first],
            set_start=set_start,
            set_members=set_members,
            tree_root=tree_root.astype(np.int32),
            tree_output=np.asarray(tree_output, np.int32),
            node_condition=node_condition,
            node_left=nodes.left.astype(np.int32),
            node_right=nodes.right.astype(np.int32),
            node_leaf=node_leaf,
            node_weight=nodes.weight,
            leaf_value=value,
            base=base,
        )
    )


def members_of(words: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The categories in a set that is stored as one bit each.

    Examples
    --------
    >>> members_of(np.array([0b101, 0b1], np.uint32)).tolist()
    [0, 2, 32]
    """
    return np.flatnonzero(np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little"))


def join(
    forests: Sequence[Forest],
    columns: Sequence[NDArray],
    outputs: Sequence[NDArray],
    scales: Sequence[float],
    *,
    n_columns: int,
    base: NDArray,
) -> Forest:
    """One `Forest` that sums several, each on its own columns and outputs, times its scale.

    ``columns[i][c]`` is the joint column of the i-th forest's column c, ``outputs[i][k]`` the
    joint output its output k adds to.
    """
    n_outputs = len(base)
    # Leaves become as wide as the joint outputs only when some forest has vector leaves.
    wide = any((forest.tree_output < 0).any() for forest in forests)
    parts: list[Nodes] = []
    roots: list[NDArray] = []
    tree_outputs: list[NDArray] = []
    sets: list[NDArray] = []
    start = 0
    for forest, column, output, scale in zip(forests, columns, outputs, scales):
        leaf = forest.node_leaf
        value = forest.leaf_value[np.maximum(leaf, 0)] * scale
        if wide:
            value = _widened(forest, value, np.asarray(output), n_outputs)
            tree_outputs.append(np.full(len(forest.tree_root), -1))
        else:
            tree_outputs.append(np.asarray(output)[forest.tree_output])
        is_split = forest.node_left >= 0
        condition = np.maximum(forest.node_condition, 0)
        if is_split.any():
            test = {
                "column": np.asarray(column)[forest.condition_column[condition]],
                "threshold": forest.condition_threshold[condition],
                "missing_left": forest.condition_missing_left[condition],
                "zero_missing": forest.condition_zero_missing[condition],
            }
            number = forest.condition_set[condition].astype(np.int64)
        else:
            nothing = np.zeros(len(leaf))
            test = dict.fromkeys(("column", "threshold", "missing_left", "zero_missing"), nothing)
            number = np.full(len(leaf), -1, np.int64)
        parts.append(
            Nodes.of(
                **test,
                left=np.where(is_split, forest.node_left + start, -1),
                right=np.where(is_split, forest.node_right + start, -1),
                value=value,
                weight=forest.node_weight,
                set_number=np.where(number >= 0, number + len(sets), -1),
            )
        )
        sets += np.split(forest.set_members, forest.set_start[1:-1]) if len(forest.set_start) > 1 else []
        roots.append(forest.tree_root + start)
        start += len(leaf)
    nodes = Nodes(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in Nodes.__dataclass_fields__)
    )
    return assemble(
        nodes,
        tree_root=np.concatenate(roots),
        tree_output=np.concatenate(tree_outputs),
        base=base,
        n_columns=n_columns,
        sets=sets,
    )


def _widened(forest: Forest, value: NDArray, output: NDArray, n_outputs: int) -> NDArray:
    """Each node's value as a vector over the joint outputs."""
    wide = np.zeros((len(value), n_outputs))
    bounds = np.append(forest.tree_root, len(value))
    for tree, (first, last) in enumerate(pairwise(bounds.tolist())):
        target = forest.tree_output[tree]
        if target < 0:
            wide[first:last, output] = value[first:last]
        else:
            wide[first:last, output[target]] = value[first:last, 0]
    return wide


def _parents_first(nodes: Nodes, tree_root: NDArray[np.int64]) -> tuple[Nodes, NDArray[np.int64]]:
    """The nodes a root reaches, tree by tree, every child after its parent."""
    n = nodes.size
    number = np.arange(n)
    is_split = nodes.left >= 0
    children = np.concatenate([nodes.left[is_split], nodes.right[is_split]])
    roots_fit = tree_root.size == 0 or (tree_root.min() >= 0 and tree_root.max() < n)
    if not roots_fit or (children.size and (children.min() < 0 or children.max() >= n)):
        raise CannotRead("a node points outside its tree")
    parents = np.bincount(np.concatenate([children, tree_root]), minlength=n)
    if (parents > 1).any():
        raise CannotRead("a node has two parents")
    in_order = (
        (parents == 1).all()
        and (nodes.left[is_split] > number[is_split]).all()
        and (nodes.right[is_split] > number[is_split]).all()
        and _each_in_its_tree(nodes, tree_root, is_split)
    )
    if in_order:
        return nodes, tree_root

    tree = np.full(n, -1)
    depth = np.zeros(n, np.int64)
    tree[tree_root] = np.arange(len(tree_root))
    frontier, level = tree_root, 0
    # A node has one parent at most, so no node is met twice and the walk ends by itself.
    while frontier.size:
        inner = frontier[is_split[frontier]]
        level += 1
        for child in (nodes.left[inner], nodes.right[inner]):
            tree[child] = tree[inner]
            depth[child] = level
        frontier = np.concatenate([nodes.left[inner], nodes.right[inner]])
    order = np.lexsort((depth, tree))
    order = order[tree[order] >= 0]
    renumbered = np.full(n + 1, -1)
    renumbered[order] = np.arange(len(order))
    kept = nodes.take(order)
    left = np.where(kept.left >= 0, renumbered[kept.left], -1)
    right = np.where(kept.left >= 0, renumbered[kept.right], -1)
    fields = {name: getattr(kept, name) for name in Nodes.__dataclass_fields__}
    return Nodes(**{**fields, "left": left, "right": right}), renumbered[tree_root]


def _each_in_its_tree(nodes: Nodes, tree_root: NDArray, is_split: NDArray) -> bool:
    """Whether every child lies between its tree's root and the next root."""
    if tree_root.size == 0:
        return nodes.size == 0
    if tree_root[0] != 0 or (np.diff(tree_root) <= 0).any():
        return False
    mark = np.zeros(nodes.size, np.int64)
    mark[tree_root] = 1
    tree = np.cumsum(mark)
    own = tree[is_split]
    return bool((tree[nodes.left[is_split]] == own).all() and (tree[nodes.right[is_split]] == own).all())


def _distinct_conditions(
    column: NDArray, threshold: NDArray, set_number: NDArray, missing_left: NDArray, zero_missing: NDArray
) -> tuple[NDArray, NDArray]:
    """Positions of the distinct tests in their canonical order, and each split's test."""
    is_set = set_number >= 0
    kind = 2 * column + is_set
    within = np.where(is_set, set_number.astype(np.float64), threshold)
    flags = 2 * missing_left.astype(np.int8) + zero_missing
    order = np.lexsort((flags, within, kind))
    differs = np.ones(len(order), bool)
    if len(order):
        sorted_keys = (kind[order], within[order], flags[order])
        differs[1:] = np.any([key[1:] != key[:-1] for key in sorted_keys], axis=0)
    condition = np.empty(len(order), np.int64)
    condition[order] = np.cumsum(differs) - 1
    return order[differs], condition


def _distinct_sets(sets: Sequence[NDArray]) -> tuple[NDArray, NDArray, NDArray]:
    """Start and members of the distinct sets, and each given set's place among them."""
    found: dict[bytes, int] = {}
    distinct: list[NDArray] = []
    position = np.empty(len(sets), np.int64)
    for number, members in enumerate(sets):
        members = np.unique(np.asarray(members, np.int64))
        key = members.tobytes()
        if key not in found:
            found[key] = len(distinct)
            distinct.append(members)
        position[number] = found[key]
    start = np.concatenate([[0], np.cumsum([len(members) for members in distinct])]).astype(np.int64)
    members = np.concatenate(distinct) if distinct else np.empty(0, np.int64)
    return start, members, position
