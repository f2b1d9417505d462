"""From a library's own node arrays to a `Forest`: shared conditions, ordered nodes, leaf rows.

Readers describe trees the way their library stores them, one entry per node and every node with
its own test. What every reader would otherwise repeat is hidden here: dropping nodes no root
reaches, putting parents before children, finding the distinct conditions and category sets, and
numbering the leaves. Anything that is not a set of binary trees is refused with `CannotRead`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.forest.encode import Encoder
from icefield.forest.form import Forest, validate
from icefield.forest.tree_model import CannotRead, Link, TreeModel


class Nodes:
    """Trees as their library stores them: one entry per node, every node with its own test.

    Arrays may be of any numeric dtype; what is left out means "none" or "unknown". Node numbers are
    absolute over all trees; `left` is -1 at a leaf. What a split holds in `value`, and a leaf in the
    fields of the test, is not looked at. `set_number` is the position of a split's category set in
    the list of sets given to `assemble`, -1 for numeric splits.
    """

    def __init__(
        self, *, column: NDArray, threshold: NDArray, missing_left: NDArray, left: NDArray, right: NDArray, value: NDArray,
        weight: NDArray | None = None, zero_missing: NDArray | None = None, set_number: NDArray | None = None,
    ) -> None:  # fmt: skip
        n = len(left)
        self.column = np.asarray(column, np.int64)
        self.threshold = np.asarray(threshold, np.float64)
        self.missing_left = np.asarray(missing_left, bool)
        self.left, self.right = np.asarray(left, np.int64), np.asarray(right, np.int64)
        self.value = np.asarray(value, np.float64).reshape(n, -1)
        self.weight = np.full(n, np.nan) if weight is None else np.asarray(weight, np.float64)
        self.zero_missing = np.zeros(n, bool) if zero_missing is None else np.asarray(zero_missing, bool)
        self.set_number = np.full(n, -1, np.int64) if set_number is None else np.asarray(set_number, np.int64)

    @property
    def size(self) -> int:
        return len(self.left)


Test = tuple[int, float, bool, int]
"""Of a split: column, threshold, whether missing values go left, and the number of its set or -1."""
NO_TEST: Test = (0, 0.0, False, -1)


def flatten_trees(
    roots: Iterable[Any], read: Callable[[Any], tuple[Test, Any, float, Sequence[Any]]]
) -> tuple[Nodes, NDArray[np.int64]]:
    """Trees stored node within node, children after parents, and their roots.

    `read` gives a node's test, its value (as wide as others, or 0), its weight and its children, the left one first.
    """
    records: list[tuple[Test, Any, float]] = []
    children: list[list[int]] = []
    tree_root = []
    for root in roots:
        tree_root.append(len(records))
        stack: list[tuple[Any, int, int]] = [(root, -1, 0)]
        while stack:
            node, parent, side = stack.pop()
            if parent >= 0:
                children[parent][side] = len(records)
            test, value, weight, below = read(node)
            stack += [(child, len(records), side) for side, child in enumerate(below)][::-1]
            records.append((test, value, weight))
            children.append([-1, -1])
    tests, values, weights = zip(*records)
    width = max(map(np.size, values))
    wide = np.array([value if np.size(value) == width else [0.0] * width for value in values], np.float64)
    fields = dict(zip(("column", "threshold", "missing_left", "set_number"), map(np.array, zip(*tests))))
    left, right = np.array(children).T
    nodes = Nodes(**fields, left=left, right=right, value=wide, weight=np.array(weights, np.float64))
    return nodes, np.array(tree_root, np.int64)


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
    nodes : all nodes of all trees
    tree_root, tree_output : each tree's root, and the output it adds to (-1 where leaves hold a value per output)
    base : what the raw sum of each output starts from
    n_columns : width of the matrix the trees route on
    sets : the category sets that `nodes.set_number` refers to
    """
    tree_root = np.asarray(tree_root, np.int64)
    base = np.asarray(base, np.float64).ravel()
    nodes, tree_root = _parents_first(nodes, tree_root)
    is_split = nodes.left >= 0

    column, threshold = nodes.column[is_split], nodes.threshold[is_split]
    missing_left, zero_missing = nodes.missing_left[is_split], nodes.zero_missing[is_split]
    value = nodes.value[~is_split]
    set_start, set_members, set_position = _distinct_sets(sets)
    set_number = nodes.set_number[is_split]
    if len(sets):
        set_number = np.where(set_number >= 0, set_position[set_number], -1)
    first, condition = _distinct_conditions(column, threshold, set_number, missing_left, zero_missing)

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
            condition_threshold=np.where(is_set, np.nan, threshold[first] + 0.0),
            condition_set=set_number[first].astype(np.int32),
            condition_missing_left=missing_left[first],
            condition_zero_missing=zero_missing[first],
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


def tree_model(
    nodes: Nodes, encode: Encoder, link: Link, source: str, *,
    tree_root: NDArray, tree_output: NDArray, base: NDArray, sets: Sequence[NDArray] = (),
) -> TreeModel:  # fmt: skip
    """Trees on the columns that an encoder makes, as a model; the rest as in `assemble`."""
    forest = assemble(
        nodes, tree_root=tree_root, tree_output=tree_output, base=base, n_columns=len(encode.names), sets=sets
    )
    return TreeModel(forest, encode, encode.drives, link, source)


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
            value = _widen(forest, value, np.asarray(output), n_outputs)
            tree_outputs.append(np.full(len(forest.tree_root), -1))
        else:
            tree_outputs.append(np.asarray(output)[forest.tree_output])
        is_split = forest.node_left >= 0
        number = _at_nodes(forest, forest.condition_set)
        parts.append(
            Nodes(
                column=_at_nodes(forest, np.asarray(column)[forest.condition_column]),
                threshold=_at_nodes(forest, forest.condition_threshold),
                missing_left=_at_nodes(forest, forest.condition_missing_left),
                zero_missing=_at_nodes(forest, forest.condition_zero_missing),
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
    return assemble(
        Nodes(**{name: np.concatenate([vars(part)[name] for part in parts]) for name in vars(parts[0])}),
        tree_root=np.concatenate(roots),
        tree_output=np.concatenate(tree_outputs),
        base=base,
        n_columns=n_columns,
        sets=sets,
    )


def _at_nodes(forest: Forest, of_conditions: NDArray) -> NDArray:
    """A field of the conditions as one entry per node; 0 at leaves."""
    return np.append(of_conditions, of_conditions.dtype.type(0))[forest.node_condition]


def _widen(forest: Forest, value: NDArray, output: NDArray, n_outputs: int) -> NDArray:
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
    ordered = Nodes(**{name: values[order] for name, values in vars(nodes).items()})
    left = np.where(ordered.left >= 0, renumbered[ordered.left], -1)
    right = np.where(ordered.left >= 0, renumbered[ordered.right], -1)
    ordered.left, ordered.right = left, right
    return ordered, renumbered[tree_root]


def _each_in_its_tree(nodes: Nodes, tree_root: NDArray, is_split: NDArray) -> bool:
    """Whether every child lies between its tree's root and the next root."""
    if tree_root.size == 0:
        return nodes.size == 0
    if tree_root[0] != 0 or (np.diff(tree_root) <= 0).any():
        return False
    mark = np.zeros(nodes.size, np.int64)
    mark[tree_root] = 1
    tree = np.cumsum(mark)
    parents = tree[is_split]
    return all(bool((tree[child[is_split]] == parents).all()) for child in (nodes.left, nodes.right))


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
    """Start and members of the distinct sets, and each given set's position among them."""
    number_of: dict[bytes, int] = {}
    distinct: list[NDArray] = []
    position = np.empty(len(sets), np.int64)
    for number, members in enumerate(sets):
        members = np.unique(np.asarray(members, np.int64))
        key = members.tobytes()
        if key not in number_of:
            number_of[key] = len(distinct)
            distinct.append(members)
        position[number] = number_of[key]
    start = np.concatenate([[0], np.cumsum([len(members) for members in distinct])]).astype(np.int64)
    members = np.concatenate(distinct) if distinct else np.empty(0, np.int64)
    return start, members, position
