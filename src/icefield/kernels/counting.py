"""Running a counting program over one block of rows.

Rows are bits; a count is a popcount. Weights are whole numbers given as bit planes, so that
sums stay exact in any order, and groups of rows are ranges of words (*segments*). Where a
subtree holds few rows of a block, they are kept as a list and partitioned instead: each entry
is a row and a *tag*, the slot of the one group whose conditions the row has violated so far.
"""

from __future__ import annotations

import numpy as np

from icefield.kernels.compiling import inlined, kernel, lowest, popcount
from icefield.kernels.packing import MISSING
from icefield.kernels.planning import LIST

POLL = 1023  # instructions between two looks at the stop flag, less one
ONES = np.uint64(2**64 - 1)


@inlined
def goes_left(code, test, is_set, missing_left, set_table):
    """One row's answer to a condition, from its code."""
    if code == MISSING:
        return missing_left
    if is_set:
        return set_table[test + code] != 0
    return code <= test


@inlined
def room_for(stack, needed):
    """The stack itself, or a larger copy."""
    if needed <= stack.size:
        return stack
    larger = np.empty(2 * needed, np.int32)
    larger[: stack.size] = stack
    return larger


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

    Buffer 0 holds the rows there are. `planes` has one row of bits per binary digit of the
    weights, none without weights. `condition_code` has per condition the coded column, the
    code (or the place in `set_table`) to compare with, whether it is a set, and whether
    missing goes left.
    """
    words = buffers.shape[1]
    n_planes = planes.shape[0]
    n_segments = segments.size - 1
    plain = n_planes == 0 and n_segments == 1
    stack = np.empty(1 << 12, np.int32)
    pending = np.empty((64, 3), np.int64)
    for i in range(program.shape[0]):
        if (i & POLL) == 0 and stop[0] != 0:
            return False
        source, condition, target, counter = program[i]
        if target != LIST:
            flip = np.uint64(0) - np.uint64(condition & 1)
            rows = buffers[source]
            test = bits[condition >> 1]
            if counter < 0:
                kept = buffers[target]
                for w in range(words):
                    kept[w] = rows[w] & (test[w] ^ flip)
            elif plain:
                found = np.uint64(0)
                if target >= 0:
                    kept = buffers[target]
                    for w in range(words):
                        both = rows[w] & (test[w] ^ flip)
                        kept[w] = both
                        found += popcount(both)
                else:
                    for w in range(words):
                        found += popcount(rows[w] & (test[w] ^ flip))
                counters[counter, 0] += np.int64(found)
            else:
                if target >= 0:
                    kept = buffers[target]
                    for w in range(words):
                        kept[w] = rows[w] & (test[w] ^ flip)
                for s in range(n_segments):
                    total = np.int64(0)
                    if n_planes == 0:
                        found = np.uint64(0)
                        for w in range(segments[s], segments[s + 1]):
                            found += popcount(rows[w] & (test[w] ^ flip))
                        total = np.int64(found)
                    for p in range(n_planes):
                        found = np.uint64(0)
                        plane = planes[p]
                        for w in range(segments[s], segments[s + 1]):
                            found += popcount(rows[w] & (test[w] ^ flip) & plane[w])
                        total += np.int64(found) << p
                    counters[counter, s] += total
            continue

        # A subtree walked with lists: gather the rows of every slot, tagged.
        first, slots = entry_start[source], entry_start[source + 1] - entry_start[source]
        end = np.int64(0)
        free_of = buffers[entry_buffer[first]]
        for slot in range(slots):
            rows = buffers[entry_buffer[first + slot]]
            for w in range(words):
                word = rows[w]
                if slot > 0:
                    word &= ~free_of[w]
                if word == 0:
                    continue
                stack = room_for(stack, end + 64)
                while word != 0:
                    stack[end] = np.int32(w * 64 + lowest(word)) | np.int32(slot << 16)
                    end += 1
                    word &= word - np.uint64(1)
        pending[0, 0] = entry_node[source]
        pending[0, 1] = 0
        pending[0, 2] = end
        n_pending = 1
        while n_pending > 0:
            n_pending -= 1
            node, begin, end = pending[n_pending]
            while begin < end and node_left[node] >= 0:
                condition = node_condition[node]
                column, test_code, is_set, missing_left = condition_code[condition]
                tag = np.int32(node_tag[node])
                column_codes = codes[column]
                stack = room_for(stack, 2 * end - begin + 1)
                left_end = begin
                right_end = end
                mark = tag << np.int32(16)
                for at in range(begin, end):
                    entry = stack[at]
                    code = column_codes[entry & 0xFFFF]
                    left = goes_left(code, test_code, is_set != 0, missing_left != 0, set_table)
                    held = entry >> 16
                    # Rows that have violated nothing go both ways where the group is asked
                    # about, tagged on the wrong side; rows that violate this group go on both.
                    both = tag > 0 and (held == 0 or held == tag)
                    wrong = entry | mark
                    stack[left_end] = entry if left else wrong
                    left_end += left or both
                    stack[right_end] = wrong if left else entry
                    right_end += (not left) or both
                if right_end > end:
                    if n_pending == pending.shape[0]:
                        more = np.empty((2 * n_pending, 3), np.int64)
                        more[:n_pending] = pending
                        pending = more
                    pending[n_pending, 0] = node_right[node]
                    pending[n_pending, 1] = end
                    pending[n_pending, 2] = right_end
                    n_pending += 1
                node = node_left[node]
                end = left_end
            if begin < end:
                base = node_counter[node]
                for at in range(begin, end):
                    entry = stack[at]
                    row = entry & 0xFFFF
                    counters[base + (entry >> 16), segment_of[row]] += weight_of[row]
    return True


@kernel("void(int32[::1], int32[::1], int8[::1], int64[:, ::1], int64[::1], int64[:, ::1])")
def resolve(slot_origin, slot_counter, slot_kind, counters, total, counts):
    """Every slot's count from the counters: counted, or what a sibling left of the parent's."""
    for i in range(slot_kind.size):
        kind = slot_kind[i]
        for s in range(total.size):
            if kind == 0:
                counts[i, s] = counts[slot_origin[i], s]
            elif kind == 1:
                counts[i, s] = counters[slot_counter[i], s]
            elif kind == 2:
                counts[i, s] = counts[slot_origin[i], s] - counters[slot_counter[i], s]
            elif kind == 3:
                counts[i, s] = total[s]
            else:
                counts[i, s] = 0
