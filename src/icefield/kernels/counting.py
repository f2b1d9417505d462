"""Running a counting program over one block of rows.

Rows are bits; a count is a popcount. Weights are whole numbers given as bit planes, so that
sums stay exact in any order, and groups of rows are ranges of words (*segments*).
"""

from __future__ import annotations

import numpy as np

from icefield.kernels.compiling import POLL, kernel, popcount
from icefield.kernels.lists import walk_lists
from icefield.kernels.planning import ALL, ALSO, COUNTED, REST, SAME, SUBTREE


@kernel(
    "boolean(int32[:, ::1], uint64[:, ::1], uint64[:, ::1], uint64[:, ::1], int64[::1], int32[::1], int32[::1],"
    "int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[:, ::1], int32[:, ::1],"
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
    what `lists.goes_left` asks for.
    """
    words = buffers.shape[1]
    aside = buffers.shape[0] - 1
    n_segments = segments.size - 1
    plain = planes.shape[0] == 0
    for i in range(program.shape[0]):
        if (i & POLL) == 0 and stop[0] != 0:
            return False
        source = np.int64(program[i, 0])
        target = np.int64(program[i, 2])
        counter = np.int64(program[i, 3])
        if target != SUBTREE:
            test = np.int64(program[i, 1] >> 1)
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

        entries, leaves, arrived = walk_lists(
            source, entry_node, entry_start, entry_buffer, buffers, node_condition, node_left, node_right,
            node_tag, condition_code, codes, set_table,
        )  # fmt: skip
        for k in range(arrived):
            row = entries[k] & 0xFFFF
            counters[node_counter[leaves[k]] + (entries[k] >> 16), segment_of[row]] += weight_of[row]
    return True


@kernel("void(int32[::1], int32[::1], int8[::1], int64[:, ::1], int64[::1], int64[:, ::1])")
def resolve(slot_origin, slot_counter, slot_kind, counters, total, counts):
    """Every slot's count from the counters: counted, or what a sibling left of the parent's.

    Lists count the rows that violate one group apart from those that violate none: the latter
    are added here.
    """
    for i in range(slot_kind.size):
        kind, origin, counter = slot_kind[i], slot_origin[i], slot_counter[i]
        for s in range(total.size):
            if kind == SAME:
                counts[i, s] = counts[origin, s]
            elif kind == COUNTED:
                counts[i, s] = counters[counter, s]
            elif kind == REST:
                counts[i, s] = counts[origin, s] - counters[counter, s]
            elif kind == ALSO:
                counts[i, s] = counts[origin, s] + counters[counter, s]
            elif kind == ALL:
                counts[i, s] = total[s]
            else:
                counts[i, s] = 0
