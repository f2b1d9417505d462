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
from icefield.kernels.planning import ALL, ALSO, COUNTED, LIST, REST, SAME

POLL = 1023  # instructions between two looks at the stop flag, less one


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
    larger[: stack.size] = stack
    return larger


@inlined
def places_for(pending, needed):
    """The pending subtrees' table itself, or a larger copy."""
    if needed <= pending.shape[0]:
        return pending
    larger = np.empty((2 * needed, 3), np.int64)
    larger[: pending.shape[0]] = pending
    return larger


@kernel(
    "void(int64, int32[::1], int32[::1], int32[::1], uint64[:, ::1], int32[::1], int32[::1], int32[::1],"
    "int32[::1], int32[::1], int32[:, ::1], int32[:, ::1], uint8[::1], int32[::1], int64[::1], int64[:, ::1])"
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
    node_counter,
    condition_code,
    codes,
    set_table,
    segment_of,
    weight_of,
    counters,
):
    """Count a subtree's leaves with lists: gather the rows of every slot, tagged, and partition.

    The list of the left child replaces its parent's in place; that of the right child waits on
    top of the stack.
    """
    words = buffers.shape[1]
    stack = np.empty(1 << 12, np.int32)
    pending = np.empty((64, 3), np.int64)
    first = entry_start[entry_number]
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
            condition = node_condition[node]
            column = condition_code[condition, 0]
            test_code = condition_code[condition, 1]
            is_set = condition_code[condition, 2] != 0
            missing_left = condition_code[condition, 3] != 0
            tag = np.int32(node_tag[node])
            stack = room_for(stack, top + end - begin + 1)
            left_end = begin
            right_end = top
            mark = max(tag, np.int32(0)) << np.int32(16)
            for at in range(begin, end):
                entry = stack[at]
                code = codes[column, entry & 0xFFFF]
                left = goes_left(code, test_code, table_start, last, missing_left, set_table)
                held = entry >> 16
                # Rows that have violated nothing go both ways where the group is asked
                # about, tagged on the wrong side; rows that violate this group go on both.
                both = tag < 0 or (tag > 0 and (held == 0 or held == tag))
                wrong = entry | mark
                stack[left_end] = entry if left else wrong
                left_end += left or both
                stack[right_end] = wrong if left else entry
                right_end += (not left) or both
            if right_end > top:
                pending = places_for(pending, n_pending + 1)
                pending[n_pending, 0] = node_right[node]
                pending[n_pending, 1] = top
                pending[n_pending, 2] = right_end
                n_pending += 1
                top = right_end
            node = node_left[node]
            end = left_end
        if begin < end:
            base = node_counter[node]
            for at in range(begin, end):
                entry = stack[at]
                row = entry & 0xFFFF
                counters[base + (entry >> 16), segment_of[row]] += weight_of[row]


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
    what `goes_left` asks for.
    """
    words = buffers.shape[1]
    aside = buffers.shape[0] - 1
    n_segments = segments.size - 1
    plain = planes.shape[0] == 0
    for i in range(program.shape[0]):
        if (i & POLL) == 0 and stop[0] != 0:
            return False
        source = program[i, 0]
        target = program[i, 2]
        counter = program[i, 3]
        if target != LIST:
            test = program[i, 1] >> 1
            flip = np.uint64(0) - np.uint64(program[i, 1] & 1)
            if target < 0:
                target = aside
            if counter < 0 or not plain:
                for w in range(words):
                    buffers[target, w] = buffers[source, w] & (bits[test, w] ^ flip)
            else:
                found = np.uint64(0)
                for w in range(words):
                    both = buffers[source, w] & (bits[test, w] ^ flip)
                    buffers[target, w] = both
                    found += popcount(both)
                counters[counter, 0] += np.int64(found)
                continue
            if counter >= 0:
                for s in range(n_segments):
                    for p in range(planes.shape[0]):
                        found = np.uint64(0)
                        for w in range(segments[s], segments[s + 1]):
                            found += popcount(buffers[target, w] & planes[p, w])
                        counters[counter, s] += np.int64(found) << p
            continue

        walk_lists(
            source,
            entry_node,
            entry_start,
            entry_buffer,
            buffers,
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
        )
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
