"""Trees leaf by leaf, with what masks of rows are made of, as the kernels' `leaf_masks` take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icefield import kernels
from icefield.engines.trees.layout import Layout
from icefield.engines.trees.program import Batch, Program
from icefield.forest.tree_model import LinkForm
from icefield.typing import Float, Int32, Int64, Mask

MOST_ENTRIES = 2**20  # masks that every thread holds, of 32 bytes; tables have as much again
MOST_MARGIN = 600.0  # whose exponential is a number, with room to spare


def can_be_masked(program: Program, base: Float, form: LinkForm) -> bool:
    """Whether a program's masks are few enough, and exponentials of all margins are numbers."""
    return bool(program.path_start[-1] <= MOST_ENTRIES) and _most(program.batch, base, form) <= MOST_MARGIN


def _most(batch: Batch, base: Float, form: LinkForm) -> float:
    """What no margin of these trees exceeds before an exponential is taken of it; 0 where none is."""
    if form.kind == "identity" or not batch.roots.size:
        return 0.0
    most = np.maximum.reduceat(np.abs(batch.node_value), batch.roots)  # by tree and value
    output = batch.node_output[batch.roots]
    margins = np.abs(base) + most[output < 0].sum(axis=0)
    np.add.at(margins, output[output >= 0], most[output >= 0, 0])
    return float(abs(form.factor) * margins.max())


def bytes_of(program: Program, threads: int) -> int:
    """About what a program's masks take, with their tables."""
    return 32 * (int(program.path_start[-1]) + 2 * program.batch.node_left.size) * (threads + 1)


@dataclass(frozen=True, eq=False)
class LeafMasks:
    """The trees of a program, and what moves with which of its groups.

    Attributes
    ----------
    given : the trees as the kernels take them
    n_leaves : of all trees
    lists : of entries for each group, one for all outputs or one for each
    lane : by leaf, which of these lists its entries are in
    entry_leaf, entry_group, entry_path : by entry, its leaf and group, and its place on the program's paths
    """

    given: kernels.MaskedTrees
    n_leaves: int
    lists: int
    lane: Int32
    entry_leaf: Int64
    entry_group: Int64
    entry_path: Int64

    @classmethod
    def of(
        cls,
        program: Program,
        layout: Layout,
        base: Float,
        n_groups: int,
        form: LinkForm,
        late: Mask | None = None,
    ) -> LeafMasks:
        """Lay out the trees of a program; the layout gives every condition a row of bits.

        `late` says, by entry of the program's paths, which come last in their list.
        """
        batch = program.batch
        first, leaves = _leaf_ranges(batch)
        is_leaf = batch.node_left < 0
        leaf_node = np.empty(int(leaves[batch.roots].sum()), np.int64)
        leaf_node[first[is_leaf]] = np.flatnonzero(is_leaf)
        value = np.ascontiguousarray(batch.node_value[leaf_node])
        lists = base.size if value.shape[1] == 1 else 1
        lane = batch.node_output[leaf_node] if lists > 1 else np.zeros(leaf_node.size, np.int32)

        # Every split above every leaf, by leaf and group, from the root down; splits are numbered by depth.
        split = np.flatnonzero(~is_leaf)
        split = split[np.argsort(batch.node_depth[split], kind="stable")]
        row = layout.condition_row[batch.node_condition[split]]
        group = program.group_of_condition[batch.node_condition[split]].astype(np.int64)
        which = np.repeat(np.arange(split.size), leaves[split])
        leaf = counted_up(leaves[split]) + first[split][which]
        region = 2 * which + (leaf >= first[batch.node_right[split]][which])
        key = leaf * (n_groups + 1) + group[which] + 1
        order = np.argsort(key, kind="stable")
        key, region = key[order], region[order]
        is_last = np.append(key[1:] != key[:-1], np.ones(min(1, key.size), bool))
        before = np.zeros(2 * split.size, np.int64)
        before[region[1:][~is_last[:-1]]] = region[:-1][~is_last[:-1]] + 1
        items, item_region = key[is_last], region[is_last] + 1
        item_leaf, item_group = items // (n_groups + 1), items % (n_groups + 1) - 1

        # Those of groups that move are entries, as are those of the program's paths.
        moving = np.flatnonzero(item_group >= 0)
        path_key = np.repeat(first[program.leaf_node], np.diff(program.path_start)) * (n_groups + 1)
        path = np.argsort(path_key + program.path_group[: path_key.size] + 1)
        by_list = item_group[moving] * lists + lane[item_leaf[moving]]
        order = np.lexsort((np.zeros(path.size, bool) if late is None else late[path], by_list))
        entries, by_list = moving[order], by_list[order]
        entry = np.full(items.size, entries.size, np.int64)
        entry[entries] = np.arange(entries.size)
        given = kernels.MaskedTrees(
            leaf_value=value,
            value=_comings_and_goings(value, form),
            leaf_tree=numbers(np.searchsorted(batch.roots, leaf_node, side="right") - 1),
            leaf_output=batch.node_output[leaf_node],
            base=base,
            regions=numbers(np.stack([2 * np.repeat(row, 2) + np.tile([0, 1], split.size), before], axis=1)),
            leaf_item=numbers(np.searchsorted(item_leaf, np.arange(leaf_node.size + 1))),
            items=numbers(np.stack([item_region, entry], axis=1)),
            entry_list=numbers(np.searchsorted(by_list, np.arange(n_groups * lists + 1))),
            entries=numbers(np.stack([item_leaf[entries], item_region[entries]], axis=1)),
        )
        return cls(given, leaf_node.size, lists, lane, item_leaf[entries], item_group[entries], path[order])


def _comings_and_goings(value: Float, form: LinkForm) -> Float:
    """What a leaf changes where it comes and, after that, where it goes: margins, or what multiplies their exponentials."""
    both = np.stack([value, -value], axis=1).reshape(-1, value.shape[1])
    if form.kind == "identity":
        return both
    return np.exp(-form.factor * both) if form.kind == "logistic" else np.exp(both)


def counted_up(lengths: Int64) -> Int64:
    """0, 1, ... for each length, one after another."""
    ends = np.cumsum(lengths)
    return np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - lengths, lengths)


def numbers(values: Int64) -> Int32:
    """Numbers as the kernels take them."""
    return np.ascontiguousarray(values, np.int32)


def _leaf_ranges(batch: Batch) -> tuple[Int64, Int64]:
    """By node, the number of its first leaf in the order of the trees, from left to right, and how many it has."""
    leaves = batch.leaves_below.astype(np.int64)
    first = np.zeros(leaves.size, np.int64)
    first[batch.roots] = np.cumsum(leaves[batch.roots]) - leaves[batch.roots]
    by_depth = np.argsort(batch.node_depth, kind="stable")
    ends = np.searchsorted(batch.node_depth[by_depth], np.arange(batch.max_depth + 2))
    for depth in range(batch.max_depth + 1):
        nodes = by_depth[ends[depth] : ends[depth + 1]]
        nodes = nodes[batch.node_left[nodes] >= 0]
        left, right = batch.node_left[nodes], batch.node_right[nodes]
        first[left] = first[nodes]
        first[right] = first[nodes] + leaves[left]
    return first, leaves
