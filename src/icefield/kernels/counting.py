"""Running a counting program over one block of rows.

Rows are bits; a count is a popcount. Weights are whole numbers given as bit planes, so that
sums stay exact in any order, and groups of rows are ranges of words (*segments*).
"""

from __future__ import annotations

import numpy as np

from icefield.kernels.compiling import kernel, lowest, popcount
from icefield.kernels.planning import ALL, COUNTED, REST, SAME, SUBTREE
from icefield.kernels.subtrees import LEAF, ROWS, SLOT, WORD, WORDS, walk_subtree

POLL = 1023  # instructions between two looks at the stop flag, less one


@kernel(
    "boolean(int32[:, ::1], uint64[:, ::1], uint64[:, ::1], uint64[:, ::1], int64[::1], int32[::1], int32[::1],"
    "int32[::1], int64[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[:, ::1], int32[:, ::1],"
    "uint8[::1], int32[::1], int64[::1], int64[:, ::1], uint8[::1])"
)
def count(
    program,
    bits,
    buffers,
    planes,
    segments,
    entry_node,
    entry_start,
    entry_buffer,
    subtree_sizes,
    node_condition,
    node_left,
    node_right,
    node_tag,
    node_counter,
    condition_code,
    codes,
    set_table,
    segment_of,
    weight_of,
    counters,
    stop,
):
    """Add a block's counts to `counters`, shape (counters, segments); False when stopped.

    Buffer 0 holds the rows there are, and the last is scratch. `planes` has one row of bits per
    binary digit of the weights; none where every row weighs 1 and there is one segment. `condition_code` has per condition the coded column and
    what `subtrees.goes_left` asks for.
    """
    words = buffers.shape[1]
    aside = buffers.shape[0] - 1
    n_segments = segments.size - 1
    plain = planes.shape[0] == 0
    depth, slots, leaves = subtree_sizes[0], subtree_sizes[1], subtree_sizes[2]
    rows = np.empty(ROWS, np.int32)
    state = np.empty(depth * slots * WORDS, np.uint64).reshape(depth, slots, WORDS)
    tests = np.empty(depth * WORDS, np.uint64).reshape(depth, WORDS)
    pending = np.empty(2 * depth * 5, np.int64).reshape(2 * depth, 5)
    found = np.empty(leaves * slots * WORDS * 3, np.int32).reshape(leaves * slots * WORDS, 3)
    found_mask = np.empty(leaves * slots * WORDS, np.uint64)
    for i in range(program.shape[0]):
        if (i & POLL) == 0 and stop[0] != 0:
            return False
        source = program[i, 0]
        target = program[i, 2]
        counter = program[i, 3]
        if target != SUBTREE:
            test = program[i, 1] >> 1
            flip = np.uint64(0) - np.uint64(program[i, 1] & 1)
            if target < 0:
                target = aside
            if counter < 0 or not plain:
                for w in range(words):
                    buffers[target, w] = buffers[source, w] & (bits[test, w] ^ flip)
            else:
                alive = np.uint64(0)
                for w in range(words):
                    both = buffers[source, w] & (bits[test, w] ^ flip)
                    buffers[target, w] = both
                    alive += popcount(both)
                counters[counter, 0] += np.int64(alive)
                continue
            if counter >= 0:
                for s in range(n_segments):
                    for p in range(planes.shape[0]):
                        alive = np.uint64(0)
                        for w in range(segments[s], segments[s + 1]):
                            alive += popcount(buffers[target, w] & planes[p, w])
                        counters[counter, s] += np.int64(alive) << p
            continue

        word = np.int64(0)
        while word < words:
            arrived, word = walk_subtree(
                source, word, entry_node, entry_start, entry_buffer, buffers, node_condition, node_left, node_right,
                node_tag, condition_code, codes, set_table, rows, state, tests, pending, found, found_mask,
            )  # fmt: skip
            for k in range(arrived):
                counter = node_counter[found[k, LEAF]] + found[k, SLOT]
                mask = found_mask[k]
                if plain:
                    counters[counter, 0] += np.int64(popcount(mask))
                    continue
                while mask != 0:
                    row = rows[64 * found[k, WORD] + lowest(mask)]
                    mask &= mask - np.uint64(1)
                    counters[counter, segment_of[row]] += weight_of[row]
    return True


@kernel("void(int32[::1], int32[::1], int8[::1], int64[:, ::1], int64[::1], int64[:, ::1])")
def resolve(slot_origin, slot_counter, slot_kind, counters, total, counts):
    """Every slot's count from the counters: counted, or what a sibling left of the parent's."""
    for i in range(slot_kind.size):
        kind, origin, counter = slot_kind[i], slot_origin[i], slot_counter[i]
        for s in range(total.size):
            if kind == SAME:
                counts[i, s] = counts[origin, s]
            elif kind == COUNTED:
                counts[i, s] = counters[counter, s]
            elif kind == REST:
                counts[i, s] = counts[origin, s] - counters[counter, s]
            elif kind == ALL:
                counts[i, s] = total[s]
            else:
                counts[i, s] = 0
