"""Trees leaf by leaf, as the kernels' `sweeps` take them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icefield import kernels
from icefield.engines.trees.grid_steps import GridSteps
from icefield.engines.trees.layout import Layout
from icefield.engines.trees.pieces import leaf_ranges
from icefield.engines.trees.program import Batch, Program
from icefield.engines.trees.rows import WORD
from icefield.forest.tree_model import LinkForm
from icefield.typing import Float

# Leaves of a tree, on average, from which on most masks of 64 rows have none.
SPARSE_LEAVES = 400
# Events of an entry for every word of steps from which on it is added to the steps of its region instead, row by row.
MANY_EVENTS = 4
MOST_WORDS = 64  # of steps, for all outputs, that are held for every row then


def margin_bound(batch: Batch, base: Float, form: LinkForm) -> float:
    """What no margin of these trees exceeds before an exponential is taken of it; 0 where none is."""
    if form.kind == "identity" or not batch.roots.size:
        return 0.0
    most = np.maximum.reduceat(np.abs(batch.node_value), batch.roots)  # by tree and value
    output = batch.node_output[batch.roots]
    margins = np.abs(base) + most[output < 0].sum(axis=0)
    np.add.at(margins, output[output >= 0], most[output >= 0, 0])
    return float(abs(form.factor) * margins.max())


def laid_for_sweeps(
    program: Program, layout: Layout, base: Float, steps: GridSteps, n_groups: int, form: LinkForm
) -> kernels.Given:
    """The trees of a program, for its groups.

    Parameters
    ----------
    program : whose batch and paths
    layout : gives every condition a row of bits
    base : of each output
    steps : of the groups' grids
    n_groups : how many groups move
    form : the link
    """
    batch = program.batch
    first, leaves = leaf_ranges(batch)
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
    leaf = _within(leaves[split]) + first[split][which]
    region = 2 * which + (leaf >= first[batch.node_right[split]][which])
    key = leaf * (n_groups + 1) + group[which] + 1
    order = np.argsort(key, kind="stable")
    key, region = key[order], region[order]
    is_last = np.append(key[1:] != key[:-1], np.ones(min(1, key.size), bool))
    before = np.zeros(2 * split.size, np.int64)
    before[region[1:][~is_last[:-1]]] = region[:-1][~is_last[:-1]] + 1
    items, item_region = key[is_last], region[is_last] + 1
    item_leaf, item_group = items // (n_groups + 1), items % (n_groups + 1) - 1

    # Those of groups that move are entries, as are those of the program's paths. Leaves go before others come, so that no
    # margin on the way is out of bounds.
    moving = np.flatnonzero(item_group >= 0)
    path_key = np.repeat(first[program.leaf_node], np.diff(program.path_start)) * (n_groups + 1)
    path_key += program.path_group[: path_key.size] + 1
    grid_region = steps.path_region[np.argsort(path_key)]
    runs = np.diff(steps.run_start)
    starts_inside = np.zeros(runs.size, bool)
    starts_inside[np.repeat(np.arange(runs.size), runs)[steps.runs[:, 0] == 0]] = True
    is_away = ~starts_inside[grid_region]
    by_list = item_group[moving] * lists + lane[item_leaf[moving]]
    order = np.lexsort((~is_away, by_list))
    entries, by_list, is_away, grid_region = moving[order], by_list[order], is_away[order], grid_region[order]
    entry = np.full(items.size, entries.size, np.int64)
    entry[entries] = np.arange(entries.size)
    entry_leaf, entry_group = item_leaf[entries], item_group[entries]

    # When they come and go; what is there from the start does not come.
    lengths = runs[grid_region]
    owner = np.repeat(np.arange(entries.size), lengths)
    begin, end = steps.runs[_within(lengths) + np.repeat(steps.run_start[grid_region], lengths)].T
    comes, goes = begin > 0, end < steps.count[entry_group[owner]]
    event_entry = np.concatenate([owner[goes], owner[comes]])
    event_step = np.concatenate([end[goes], begin[comes]]).astype(np.int64)
    event_value = np.concatenate([2 * entry_leaf[owner[goes]] + 1, 2 * entry_leaf[owner[comes]]])
    group_list = np.concatenate([[0], np.cumsum(steps.count, dtype=np.int64)]) * lists
    event_list = group_list[entry_group[event_entry]] + event_step * lists + lane[entry_leaf[event_entry]]
    order = np.argsort(event_list, kind="stable")
    group_inside, inside = _inside(
        steps, grid_region, entry_group, lists, np.bincount(entry_group[event_entry], minlength=n_groups)
    )
    return kernels.SweepTrees(
        leaf_value=value,
        value=_comings_and_goings(value, form),
        leaf_tree=_numbers(np.searchsorted(batch.roots, leaf_node, side="right") - 1),
        leaf_output=batch.node_output[leaf_node],
        base=base,
        regions=_numbers(np.stack([2 * np.repeat(row, 2) + np.tile([0, 1], split.size), before], axis=1)),
        leaf_item=_numbers(np.searchsorted(item_leaf, np.arange(leaf_node.size + 1))),
        items=_numbers(np.stack([item_region, entry], axis=1)),
        start_list=_numbers(np.searchsorted(by_list, np.arange(n_groups * lists + 1))),
        start_value=_numbers(2 * entry_leaf + is_away),
        group_list=_numbers(group_list[:-1]),
        list_event=_numbers(np.searchsorted(event_list[order], np.arange(group_list[-1] + 1))),
        events=_numbers(np.stack([event_entry, event_value], axis=1)[order]),
        group_inside=_numbers(group_inside),
        inside=inside,
        skips_empty=leaf_node.size > SPARSE_LEAVES * batch.roots.size,
    )


def _comings_and_goings(value: Float, form: LinkForm) -> Float:
    """What a leaf changes where it comes and, after that, where it goes: margins, or what multiplies their exponentials."""
    both = np.stack([value, -value], axis=1).reshape(-1, value.shape[1])
    if form.kind == "identity":
        return both
    return np.exp(-form.factor * both) if form.kind == "logistic" else np.exp(both)


def _inside(
    steps: GridSteps,
    region: NDArray[np.int32],
    group: NDArray[np.int64],
    lists: int,
    events: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """For groups whose regions come and go often: where their entries' words begin (-1: not such a group), and the words."""
    words = -(-steps.count // WORD)
    entries = np.bincount(group, minlength=len(words))
    start, found = np.full(len(words), -1, np.int64), [np.zeros(0, np.uint64)]
    often = (events > MANY_EVENTS * (words + 1) * entries) & (words * lists <= MOST_WORDS)
    size = 0
    for g in np.flatnonzero(often):
        edges = np.zeros((int(entries[g]), int(words[g]) * WORD + 1), np.int8)
        for e, r in enumerate(region[group == g]):
            begin, end = steps.runs[steps.run_start[r] : steps.run_start[r + 1]].T
            edges[e, begin], edges[e, end] = 1, -1
        is_inside = np.cumsum(edges, axis=1, dtype=np.int8)[:, :-1]
        found.append(np.packbits(is_inside, axis=1, bitorder="little").view(np.uint64).ravel())
        start[g], size = size, size + found[-1].size
    return start, np.concatenate(found)


def _within(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, ... for each length, one after another."""
    ends = np.cumsum(lengths)
    return np.arange(int(ends[-1]) if ends.size else 0) - np.repeat(ends - lengths, lengths)


def _numbers(values: NDArray[np.int64]) -> NDArray[np.int32]:
    return np.ascontiguousarray(values, np.int32)
