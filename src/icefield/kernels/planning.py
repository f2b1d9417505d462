"""Trees to a linear program of mask operations.

Every node holds a set of rows for each *slot*: the set of moving groups whose conditions are
left open there. What the slots are depends on the mode:

* `JOINT`: one slot, everything in any group is open;
* `SINGLES`: slot 0 with nothing open, slot y with the y-th group of the path open;
* `PAIRS`: also every two groups of the path, in an order that only grows along a path.

Descending a split ANDs its condition into every slot that does not have the split's group
open; slots that do share their parent's rows. A split's counted child gets fresh counts and the
other child what is left of the parent's, so half the counting is a subtraction done once.

The program is int32 rows ``(source, condition, target, counter)``: condition is twice a row of
bits plus 1 for "not" (-1: none), target a buffer (-1: none, `SUBTREE`: source is the number of a
subtree that `lists` walks).
"""

from __future__ import annotations

import numpy as np

from icefield.kernels.compiling import inlined, kernel

JOINT, SINGLES, PAIRS = 0, 1, 2
SUBTREE = -2
EITHER_WAY = -1  # the tag of a split whose rows all take both sides
# How a slot's count is found.
SAME, COUNTED, REST, ALL, ALSO, UNUSED = range(6)
# Positions in `sizes`.
INSTRUCTIONS, ENTRIES, ENTRY_BUFFERS, SLOTS, COUNTERS, LEAVES, PATHS, BUFFERS = range(8)


@kernel("void(int32[::1], int32[::1], int32[::1], int32[::1], int32[::1])")
def survey(node_left, node_right, roots, depth, leaves):
    """Each node's depth, and the number of leaves below it."""
    for t in range(roots.size):
        depth[roots[t]] = 0
    for node in range(node_left.size):
        if node_left[node] >= 0:
            depth[node_left[node]] = depth[node] + 1
            depth[node_right[node]] = depth[node] + 1
    for node in range(node_left.size - 1, -1, -1):
        if node_left[node] < 0:
            leaves[node] = 1
        else:
            leaves[node] = leaves[node_left[node]] + leaves[node_right[node]]


@inlined
def slots_of(mode, groups):
    """How many slots a node has with so many groups on its path."""
    if mode == JOINT:
        return 1
    if mode == SINGLES:
        return 1 + groups
    return 1 + groups * (groups + 1) // 2


@inlined
def pair_slot(x, y):
    """The slot of two path groups numbered from 1, x < y; x = 0: y alone."""
    return 1 + y * (y - 1) // 2 + x


@kernel(
    "void(boolean, boolean, int64, int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1],"
    "uint8[::1], uint8[:, ::1], int64, int64, int64[::1], int32[:, ::1], int32[::1], int32[::1], int32[::1],"
    "int32[::1], int32[::1], int8[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1],"
    "int32[::1], int32[::1], int32[::1])"
)
def plan(
    fill,
    scatter,
    mode,
    roots,
    node_condition,
    node_left,
    node_right,
    condition_group,
    condition_row,
    apart,
    asked,
    max_depth,
    max_groups,
    sizes,
    program,
    entry_node,
    entry_start,
    entry_buffer,
    slot_origin,
    slot_counter,
    slot_kind,
    leaf_node,
    leaf_slot,
    path_start,
    path_group,
    path_region,
    node_tag,
    node_counter,
    region_before,
):
    """Write the program and tables of some trees; with `fill` off only their `sizes`.

    With `scatter`, the program visits every leaf's rows (counter is the leaf's number) and
    counts nothing. `region_before` is, for a child of a split on a group, the last node above
    whose split was on the same group (-1: none).
    """
    n_ins = n_entries = n_entry_buffers = n_slots = n_counters = n_leaves = n_paths = 0
    n_buffers = 1
    most_slots = slots_of(mode, max_groups)
    # What is known of the node at each depth of the current path. Left is taken before right, so
    # a depth's state stays its node's until both are done.
    width = max_groups + 1
    n_groups_at = np.zeros(max_depth + 1, np.int64)
    group_at = np.zeros((max_depth + 1) * width, np.int64).reshape(max_depth + 1, width)
    region_at = np.zeros((max_depth + 1) * width, np.int64).reshape(max_depth + 1, width)
    buffer_at = np.zeros((max_depth + 1) * most_slots, np.int64).reshape(max_depth + 1, most_slots)
    slot_at = np.zeros(max_depth + 1, np.int64)
    counter_at = np.zeros(max_depth + 1, np.int64)
    top_at = np.zeros(max_depth + 1, np.int64)
    pending = np.zeros((max_depth + 2) * 4, np.int64).reshape(max_depth + 2, 4)  # node, parent, depth, how
    for t in range(roots.size):
        pending[0, 0] = roots[t]
        pending[0, 1] = -1
        pending[0, 2] = 0
        pending[0, 3] = ALL
        n_pending = 1
        while n_pending > 0:
            n_pending -= 1
            node = pending[n_pending, 0]
            parent = pending[n_pending, 1]
            d = pending[n_pending, 2]
            counted = pending[n_pending, 3]
            is_leaf = node_left[node] < 0
            listed = apart[node] != 0
            below_entry = parent >= 0 and apart[parent] != 0
            element = 0  # the split group's number on the path, from 1
            is_new = False
            if parent < 0:
                n_groups_at[0] = 0
                top_at[0] = 1
                buffer_at[0, 0] = 0
                group = -1
            else:
                condition = np.int64(node_condition[parent])
                group = np.int64(condition_group[condition])
                groups = n_groups_at[d - 1]
                for i in range(groups):
                    group_at[d, i] = group_at[d - 1, i]
                    region_at[d, i] = region_at[d - 1, i]
                    if group_at[d, i] == group:
                        element = i + 1
                if group >= 0:
                    before = -1
                    if element == 0:
                        is_new = True
                        element = groups + 1
                        group_at[d, groups] = group
                        groups += 1
                    else:
                        before = region_at[d - 1, element - 1]
                    region_at[d, element - 1] = node
                    if fill:
                        region_before[node] = before
                n_groups_at[d] = groups
            groups = n_groups_at[d]
            slots = slots_of(mode, groups)

            # The node's slots: rows, and where their counts come from.
            if not below_entry:
                slot_at[d] = n_slots
                if parent < 0:
                    if fill and not scatter:
                        slot_kind[n_slots] = ALL
                    if is_leaf and scatter:
                        if fill:
                            program[n_ins, 0] = 0
                            program[n_ins, 1] = -1
                            program[n_ins, 2] = -1
                            program[n_ins, 3] = n_leaves
                        n_ins += 1
                else:
                    side = 0 if node_left[parent] == node else 1
                    row = 2 * np.int64(condition_row[condition]) + side
                    top = top_at[d - 1]
                    x, y = 0, 0  # the two elements of the slot, in the order slots are numbered
                    for slot in range(slots):
                        origin = slot
                        is_open = False
                        unused = False
                        if mode == JOINT:
                            is_open = group >= 0
                        elif mode == SINGLES:
                            is_open = group >= 0 and slot == element
                            if is_open and is_new:
                                origin = 0
                        elif slot > 0:
                            if y == 0 or x == y - 1:
                                y += 1
                                x = 0
                            else:
                                x += 1
                            if x > 0 and asked[group_at[d, x - 1], group_at[d, y - 1]] == 0:
                                unused = True
                            is_open = group >= 0 and (x == element or y == element)
                            if is_open and is_new:
                                origin = 0 if x == 0 else pair_slot(0, x)
                        if unused:
                            if fill:
                                slot_kind[n_slots + slot] = UNUSED
                            continue
                        source = buffer_at[d - 1, origin]
                        counter = counter_at[d - 1] + origin
                        if fill and not scatter:
                            slot_origin[n_slots + slot] = slot_at[d - 1] + origin
                            slot_counter[n_slots + slot] = counter
                            slot_kind[n_slots + slot] = SAME if is_open else counted
                        buffer_at[d, slot] = source
                        ends = is_leaf and scatter
                        counts = counted == COUNTED and not scatter and not is_open
                        stores = not is_leaf and not is_open
                        if stores:
                            buffer_at[d, slot] = top
                        if stores or counts or ends:
                            if fill:
                                program[n_ins, 0] = source
                                program[n_ins, 1] = -1 if is_open else row
                                program[n_ins, 2] = top if stores else -1
                                program[n_ins, 3] = n_leaves if ends else counter if counts else -1
                            n_ins += 1
                        if stores:
                            top += 1
                    top_at[d] = top
                    n_buffers = max(n_buffers, top)
                if not scatter:
                    n_slots += slots

            if is_leaf:
                if fill:
                    leaf_node[n_leaves] = node
                    path_start[n_leaves] = n_paths
                    for i in range(groups):
                        path_group[n_paths + i] = group_at[d, i]
                        path_region[n_paths + i] = region_at[d, i]
                    if scatter:
                        node_counter[node] = n_leaves
                    elif below_entry:
                        node_counter[node] = n_counters
                        leaf_slot[n_leaves] = n_slots
                        for slot in range(slots):
                            slot_counter[n_slots + slot] = n_counters + slot
                            slot_origin[n_slots + slot] = n_slots
                            slot_kind[n_slots + slot] = COUNTED if slot == 0 else ALSO
                    else:
                        leaf_slot[n_leaves] = slot_at[d]
                if below_entry and not scatter:
                    n_counters += slots
                    n_slots += slots
                n_paths += groups
                n_leaves += 1
                continue

            left = np.int64(node_left[node])
            right = np.int64(node_right[node])
            how_left = SAME
            how_right = SAME
            if listed:
                if not below_entry:
                    if fill:
                        program[n_ins, 0] = n_entries
                        program[n_ins, 1] = -1
                        program[n_ins, 2] = SUBTREE
                        program[n_ins, 3] = -1
                        entry_node[n_entries] = node
                        entry_start[n_entries] = n_entry_buffers
                        for slot in range(slots):
                            entry_buffer[n_entry_buffers + slot] = buffer_at[d, slot]
                    n_ins += 1
                    n_entries += 1
                    n_entry_buffers += slots
                if fill:
                    split = np.int64(condition_group[node_condition[node]])
                    tag = 0
                    if split >= 0:
                        tag = groups + 1
                        for i in range(groups):
                            if group_at[d, i] == split:
                                tag = i + 1
                        if mode == JOINT:
                            tag = EITHER_WAY
                    node_tag[node] = tag
            elif not scatter:
                counter_at[d] = n_counters
                # Counting costs nothing extra for a child whose masks are stored anyway; two
                # subtrees walked apart count themselves.
                if node_left[left] >= 0 and not apart[left]:
                    how_left, how_right = COUNTED, REST
                elif node_left[right] >= 0 and not apart[right]:
                    how_left, how_right = REST, COUNTED
                elif node_left[left] >= 0 and node_left[right] >= 0:
                    how_left, how_right = UNUSED, UNUSED
                elif node_left[right] >= 0:
                    how_left, how_right = REST, COUNTED
                else:
                    how_left, how_right = COUNTED, REST
                if how_left != UNUSED:
                    n_counters += slots
            for turn in range(2):
                pending[n_pending, 0] = right if turn == 0 else left
                pending[n_pending, 1] = node
                pending[n_pending, 2] = d + 1
                pending[n_pending, 3] = how_right if turn == 0 else how_left
                n_pending += 1
    if fill:
        path_start[n_leaves] = n_paths
        entry_start[n_entries] = n_entry_buffers
    sizes[INSTRUCTIONS] = n_ins
    sizes[ENTRIES] = n_entries
    sizes[ENTRY_BUFFERS] = n_entry_buffers
    sizes[SLOTS] = n_slots
    sizes[COUNTERS] = n_counters
    sizes[LEAVES] = n_leaves
    sizes[PATHS] = n_paths
    sizes[BUFFERS] = n_buffers
