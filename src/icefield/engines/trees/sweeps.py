"""What comes and goes along grids, as the kernels' `sweeps` take it."""

from __future__ import annotations

import numpy as np

from icefield import kernels
from icefield.engines.trees.grid_steps import GridSteps
from icefield.engines.trees.layout import Layout
from icefield.engines.trees.leaf_masks import LeafMasks, counted_up, numbers
from icefield.engines.trees.packed_rows import WORD
from icefield.engines.trees.program import Program
from icefield.forest.tree_model import LinkForm
from icefield.typing import Bits, Float, Int32, Int64

# Leaves of a tree, on average, from which on most masks of 64 rows have none.
SPARSE_LEAVES = 400
# Events of an entry for every word of steps from which on it is added to the steps of its region instead, row by row.
MANY_EVENTS = 3
MOST_WORDS = 64  # of steps, for all outputs, that are held for every row then


def laid_for_sweeps(
    program: Program, layout: Layout, base: Float, steps: GridSteps, n_groups: int, form: LinkForm
) -> kernels.SweepTrees:
    """The trees of a program, for its groups, whose grids have these steps; the layout gives every condition a row of bits."""
    # Rows' own leaves go before others come, so that no margin on the way is out of bounds.
    runs = np.diff(steps.run_start)
    starts_inside = np.zeros(runs.size, bool)
    starts_inside[np.repeat(np.arange(runs.size), runs)[steps.runs[:, 0] == 0]] = True
    masks = LeafMasks.of(program, layout, base, n_groups, form, starts_inside[steps.path_region])
    region, leaf = steps.path_region[masks.entry_path], masks.entry_leaf
    group, lists = masks.entry_group, masks.lists

    # What is there from the start does not come.
    lengths = runs[region]
    owner = np.repeat(np.arange(leaf.size), lengths)
    begin, end = steps.runs[counted_up(lengths) + np.repeat(steps.run_start[region], lengths)].T
    comes, goes = begin > 0, end < steps.count[group[owner]]
    event_entry = np.concatenate([owner[goes], owner[comes]])
    event_step = np.concatenate([end[goes], begin[comes]]).astype(np.int64)
    event_value = np.concatenate([2 * leaf[owner[goes]] + 1, 2 * leaf[owner[comes]]])
    group_list = np.concatenate([[0], np.cumsum(steps.count, dtype=np.int64)]) * lists
    event_list = group_list[group[event_entry]] + event_step * lists + masks.lane[leaf[event_entry]]
    order = np.argsort(event_list, kind="stable")
    events = np.bincount(group[event_entry], minlength=n_groups)
    group_inside, inside = _inside(steps, region, group, base.size, events)
    return kernels.SweepTrees(
        masked=masks.given,
        start_value=numbers(2 * leaf + ~starts_inside[region]),
        group_list=numbers(group_list[:-1]),
        list_event=numbers(np.searchsorted(event_list[order], np.arange(group_list[-1] + 1))),
        events=numbers(np.stack([event_entry, event_value], axis=1)[order]),
        group_inside=numbers(group_inside),
        inside=inside,
        skips_empty=masks.n_leaves > SPARSE_LEAVES * program.batch.roots.size,
    )


def _inside(steps: GridSteps, region: Int32, group: Int64, outputs: int, events: Int64) -> tuple[Int64, Bits]:
    """For groups whose regions come and go often: where their entries' words begin (-1: not such a group), and the words."""
    words = -(-steps.count // WORD)
    entries = np.bincount(group, minlength=len(words))
    start, found = np.full(len(words), -1, np.int64), [np.zeros(0, np.uint64)]
    often = (events > MANY_EVENTS * (words + 1) * entries) & (words * outputs <= MOST_WORDS)
    size = 0
    for g in np.flatnonzero(often):
        own = region[group == g]
        lengths = np.diff(steps.run_start)[own]
        runs = steps.runs[counted_up(lengths) + np.repeat(steps.run_start[own], lengths)]
        owner = np.repeat(np.arange(own.size), lengths)
        edges = np.zeros((own.size, int(words[g]) * WORD + 1), np.int8)
        edges[owner, runs[:, 0]], edges[owner, runs[:, 1]] = 1, -1
        is_inside = np.cumsum(edges, axis=1, dtype=np.int8)[:, :-1]
        found.append(np.packbits(is_inside, axis=1, bitorder="little").view(np.uint64).ravel())
        start[g], size = size, size + found[-1].size
    return start, np.concatenate(found)
