"""Subtrees that few rows of a block reach: their rows are packed anew into a few words.

Near the leaves of a deep tree, a block's masks are almost all zeros. At the top of such a
subtree the rows of all slots are gathered, up to `ROWS` at a time, and every mask below is
`WORDS` words. The conditions are then evaluated on the gathered rows only, from their codes.
"""

from __future__ import annotations

import numpy as np

from icefield.kernels.compiling import inlined, kernel, lowest, popcount
from icefield.kernels.packing import MISSING

WORDS = 2
ROWS = 64 * WORDS
ONE = np.uint64(1)
# Columns of `found`.
LEAF, SLOT, WORD = 0, 1, 2


@inlined
def goes_left(code, test, table_start, last, missing_left, set_table):
    """One row's answer to a condition, from its code, without a branch.

    A number is compared with `test`, and its place in the table is the first, which is 0; a
    category is looked up, and its `test` is below every code.
    """
    in_set = set_table[table_start + min(code, last)]
    return (code <= test) | (in_set != 0) | ((code == MISSING) & missing_left)


@kernel(
    "UniTuple(int64, 2)(int64, int64, int32[::1], int32[::1], int32[::1], uint64[:, ::1], int32[::1], int32[::1],"
    "int32[::1], int32[::1], int32[:, ::1], int32[:, ::1], uint8[::1], int32[::1], uint64[:, :, ::1],"
    "uint64[:, ::1], int64[:, ::1], int32[:, ::1], uint64[::1])"
)
def walk_subtree(
    entry,
    word,
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
    rows,
    state,
    tests,
    pending,
    found,
    found_mask,
):
    """Who arrives at the leaves of a subtree, of the block's rows from `word` of its masks on.

    Returns how many masks of arrivals there are, and the word to go on from. `found` names leaf,
    slot and word of each mask in `found_mask`, `rows` the rows its bits stand for. The other
    arrays are scratch: `state` by depth and slot, `tests` by depth, `pending`.
    """
    first = entry_start[entry]
    slots = np.int64(entry_start[entry + 1] - first)
    for s in range(slots):
        for w in range(WORDS):
            state[0, s, w] = 0
    gathered = np.int64(0)
    while word < buffers.shape[1] and gathered <= ROWS - 64:
        union = np.uint64(0)
        for s in range(slots):
            union |= buffers[entry_buffer[first + s], word]
        if union != 0:
            for s in range(slots):
                rest = buffers[entry_buffer[first + s], word]
                while rest != 0:
                    bit = rest & (np.uint64(0) - rest)
                    rest ^= bit
                    at = gathered + np.int64(popcount(union & (bit - ONE)))
                    state[0, s, at >> 6] |= ONE << np.uint64(at & 63)
            while union != 0:
                rows[gathered] = word * 64 + lowest(union)
                gathered += 1
                union &= union - ONE
        word += 1
    arrived = np.int64(0)
    if gathered == 0:
        return arrived, word

    # node, depth of the parent, side, the parent's slots
    pending[0, 0] = entry_node[entry]
    pending[0, 1] = -1
    n_pending = 1
    while n_pending > 0:
        n_pending -= 1
        node = pending[n_pending, 0]
        d = pending[n_pending, 1] + 1
        if d > 0:
            slots = pending[n_pending, 3]
            tag = pending[n_pending, 4]
            flip = np.uint64(0) - np.uint64(pending[n_pending, 2])
            parents = slots
            if tag == slots:  # a group that is new on the path
                slots += 1
            reached = np.uint64(0)
            for s in range(slots):
                origin = s if s < parents else 0
                is_open = tag < 0 or (tag > 0 and s == tag)
                for w in range(WORDS):
                    mask = state[d - 1, origin, w]
                    if not is_open:
                        mask &= tests[d - 1, w] ^ flip
                    state[d, s, w] = mask
                    reached |= mask
            if reached == 0:
                continue
        if node_left[node] < 0:
            for s in range(slots):
                for w in range(WORDS):
                    if state[d, s, w] != 0:
                        found[arrived, LEAF] = node
                        found[arrived, SLOT] = s
                        found[arrived, WORD] = w
                        found_mask[arrived] = state[d, s, w]
                        arrived += 1
            continue
        condition = node_condition[node]
        column = condition_code[condition, 0]
        test = condition_code[condition, 1]
        table_start = condition_code[condition, 2]
        last = condition_code[condition, 3]
        missing_left = condition_code[condition, 4] != 0
        for w in range(WORDS):
            left = np.uint64(0)
            for k in range(64 * w, min(gathered, 64 * (w + 1))):
                answer = goes_left(codes[column, rows[k]], test, table_start, last, missing_left, set_table)
                left |= np.uint64(answer) << np.uint64(k & 63)
            tests[d, w] = left
        for side in range(1, -1, -1):
            pending[n_pending, 0] = node_right[node] if side == 1 else node_left[node]
            pending[n_pending, 1] = d
            pending[n_pending, 2] = side
            pending[n_pending, 3] = slots
            pending[n_pending, 4] = node_tag[node]
            n_pending += 1
    return arrived, word
