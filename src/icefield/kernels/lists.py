"""Subtrees that few rows of a block reach, walked with lists of rows instead of masks.

A list's entry is a row's position (the low 16 bits) and a *tag* above it: the slot of the one
group whose conditions the row has violated so far, 0 if none. A row that has violated nothing
takes both sides of a split on an asked group, tagged on the wrong one; a row tagged with that
group takes both as well; any other row takes its own side.
"""

from __future__ import annotations

import numpy as np

from icefield.kernels.compiling import inlined, kernel, lowest
from icefield.kernels.packing import MISSING


@inlined
def goes_left(code, test, table_start, last, missing_left, set_table):
    """One row's answer to a condition, from its code, without a branch.

    A number is compared with `test`, and its place in the table is the first, which is 0; a
    category is looked up, and its `test` is below every code.
    """
    in_set = set_table[table_start + min(code, last)]
    return (code <= test) | (in_set != 0) | ((code == MISSING) & missing_left)


@inlined
def room_for(stack, needed):
    """The stack itself, or a larger copy."""
    if needed <= stack.size:
        return stack
    larger = np.empty(2 * needed, np.int32)
    for i in range(stack.size):
        larger[i] = stack[i]
    return larger


@inlined
def places_for(pending, needed):
    """The pending subtrees' table itself, or a larger copy."""
    if needed <= pending.shape[0]:
        return pending
    larger = np.empty((2 * needed, 3), np.int64)
    for i in range(pending.shape[0]):
        for j in range(3):
            larger[i, j] = pending[i, j]
    return larger


# What every leaf-visiting kernel takes first: the program, the conditions' bits and the masks; entries into subtrees
# (node, start, buffer); the trees (condition, left, right, tag, counter by node); conditions' and rows' codes, sets.
WALK = (
    "Tuple((int32[:, ::1], uint64[:, ::1], uint64[:, ::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1],"
    "int32[::1], int32[::1], int32[::1], int32[:, ::1], int32[:, ::1], uint8[::1]))"
)


@inlined
def narrow(buffers, bits, source, condition, target):
    """One instruction: the rows of one mask that meet a condition, into another mask."""
    flip = np.uint64(0) - np.uint64(condition & 1)
    for w in range(buffers.shape[1]):
        buffers[target, w] = buffers[source, w] & (bits[condition >> 1, w] ^ flip)


@kernel(
    "Tuple((int32[::1], int32[::1], int64))(int64, int32[::1], int32[::1], int32[::1], uint64[:, ::1], int32[::1],"
    "int32[::1], int32[::1], int32[::1], int32[:, ::1], int32[:, ::1], uint8[::1])"
)
def walk_lists(
    entry_number,
    entry_node,
    entry_start,
    entry_buffer,
    buffers,
    node_condition,
    node_left,
    node_right,
    node_tag,
    condition_code,
    codes,
    set_table,
):
    """Who arrives at which leaf of a subtree: entries (row and tag), leaf nodes, how many.

    The list of the left child replaces its parent's in place; that of the right child waits on
    top of the stack.
    """
    words = buffers.shape[1]
    stack = np.empty(1 << 12, np.int32)
    pending = np.empty((64, 3), np.int64)
    entries = np.empty(1 << 12, np.int32)
    leaves = np.empty(1 << 12, np.int32)
    arrived = np.int64(0)
    first = np.int64(entry_start[entry_number])
    end = np.int64(0)
    for slot in range(entry_start[entry_number + 1] - first):
        for w in range(words):
            word = buffers[entry_buffer[first + slot], w]
            if slot > 0:
                word &= ~buffers[entry_buffer[first], w]
            if word == 0:
                continue
            stack = room_for(stack, end + 64)
            while word != 0:
                stack[end] = np.int32(w * 64 + lowest(word)) | np.int32(slot << 16)
                end += 1
                word &= word - np.uint64(1)
    pending[0, 0] = entry_node[entry_number]
    pending[0, 1] = 0
    pending[0, 2] = end
    n_pending = 1
    while n_pending > 0:
        n_pending -= 1
        node = pending[n_pending, 0]
        begin = pending[n_pending, 1]
        end = pending[n_pending, 2]
        top = end
        while begin < end and node_left[node] >= 0:
            condition = np.int64(node_condition[node])
            column = np.int64(condition_code[condition, 0])
            test = condition_code[condition, 1]
            table_start = condition_code[condition, 2]
            last = condition_code[condition, 3]
            missing_left = condition_code[condition, 4] != 0
            tag = np.int32(node_tag[node])
            mark = max(tag, np.int32(0)) << np.int32(16)
            stack = room_for(stack, top + end - begin + 1)
            left_end = begin
            right_end = top
            for at in range(begin, end):
                entry = stack[at]
                code = codes[column, entry & 0xFFFF]
                left = goes_left(code, test, table_start, last, missing_left, set_table)
                held = entry >> 16
                both = (tag < 0) | ((tag > 0) & ((held == 0) | (held == tag)))
                wrong = entry | mark
                stack[left_end] = entry if left else wrong
                left_end += left | both
                stack[right_end] = wrong if left else entry
                right_end += (not left) | both
            if right_end > top:
                pending = places_for(pending, n_pending + 1)
                pending[n_pending, 0] = node_right[node]
                pending[n_pending, 1] = top
                pending[n_pending, 2] = right_end
                n_pending += 1
                top = right_end
            node = np.int64(node_left[node])
            end = left_end
        entries = room_for(entries, arrived + end - begin)
        leaves = room_for(leaves, arrived + end - begin)
        for at in range(begin, end):
            entries[arrived] = stack[at]
            leaves[arrived] = node
            arrived += 1
    return entries, leaves, arrived


@inlined
def arrivals(walk, entry_number):
    """`walk_lists` with what a leaf-visiting kernel was given."""
    return walk_lists(
        entry_number,
        walk[3],
        walk[4],
        walk[5],
        walk[2],
        walk[6],
        walk[7],
        walk[8],
        walk[9],
        walk[11],
        walk[12],
        walk[13],
    )
