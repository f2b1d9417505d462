"""Running a leaf-visiting program over one block of rows: each row's average over one group at a time.

With group g left to the data, a row gets a leaf's value times the share of the data whose g lies in the leaf's
region, if it meets all other conditions. One walk with a slot for every group of a path does
this for all groups.
"""

from __future__ import annotations

import numpy as np

from icefield.kernels.compiling import POLL, inlined, kernel, lowest
from icefield.kernels.lists import WALK, arrivals, narrow
from icefield.kernels.planning import SUBTREE
from icefield.kernels.regions import runs_of


@kernel("void(uint64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64[::1], float64[::1])")
def region_shares(masks, start, words, first, weight_from, weight_start, share):
    """The share of the data in every region: axis a's are numbered from ``first[a]``.

    ``weight_from[weight_start[a] + k]`` is the weight in the axis's cell k and all later ones.
    """
    for axis in range(start.size):
        size = weight_start[axis + 1] - weight_start[axis]
        at = np.empty(size, np.int64).reshape(1, size)
        sign = np.empty(size, np.float64).reshape(1, size)
        for region in range(first[axis], first[axis + 1]):
            mask = start[axis] + (region - first[axis]) * words[axis]
            total = 0.0
            for run in range(runs_of(masks, mask, words[axis], size, 0, at, sign)):
                total += sign[0, run] * weight_from[weight_start[axis] + at[0, run]]
            share[region] = total


@inlined
def add_times(row, column, leaf, factor, leaf_output, leaf_value, out):
    """Add a leaf's value, or values, times a factor to ``out[output, column, row]``."""
    output = leaf_output[leaf]
    if output >= 0:
        out[output, column, row] += factor * leaf_value[leaf, 0]
    else:
        for o in range(leaf_value.shape[1]):
            out[o, column, row] += factor * leaf_value[leaf, o]


@inlined
def add_to_rows(mask, column, leaf, factor, leaf_output, leaf_value, out):
    """The same for every row of a mask: one column at a time stays in the nearest cache."""
    output = leaf_output[leaf]
    value = factor * leaf_value[leaf, 0]
    for w in range(mask.size):
        word = mask[w]
        while word != 0:
            row = w * 64 + lowest(word)
            word &= word - np.uint64(1)
            if output >= 0:
                out[output, column, row] += value
            else:
                add_times(row, column, leaf, factor, leaf_output, leaf_value, out)


@kernel(
    f"boolean({WALK}, int32[::1],"
    "int32[::1], float64[::1], int32[::1], float64[:, ::1], float64[:, :, ::1], uint8[::1])"
)
def add_others(
    walk,
    path_start,
    path_group,
    path_share,
    leaf_output,
    leaf_value,
    out,
    stop,
):
    """Add every leaf to its rows of `out`, shape (outputs, 1 + groups, rows); False when stopped.

    Column 0 is the prediction; column 1 + g what averaging over group g changes of it. A leaf's slots
    follow each other in the program: first the rows that meet everything, then, for each group of its path,
    those that meet everything else.
    """
    program, bits, buffers, node_counter = walk[0], walk[1], walk[2], walk[10]
    words = buffers.shape[1]
    own = np.zeros(words, np.uint64)
    rest = np.zeros(words, np.uint64)
    before = np.int64(-1)
    slot = np.int64(0)
    for i in range(program.shape[0]):
        if (i & POLL) == 0 and stop[0] != 0:
            return False
        source = np.int64(program[i, 0])
        condition = np.int64(program[i, 1])
        target = np.int64(program[i, 2])
        leaf = np.int64(program[i, 3])
        flip = np.uint64(0) - np.uint64(condition & 1)
        if target >= 0:
            narrow(buffers, bits, source, condition, target)
            continue
        if target != SUBTREE:
            slot = slot + 1 if leaf == before else 0
            before = leaf
            for w in range(words):
                word = buffers[source, w]
                if condition >= 0:
                    word &= bits[condition >> 1, w] ^ flip
                if slot == 0:
                    own[w] = word
                else:
                    rest[w] = word & ~own[w]
            if slot > 0:
                at = path_start[leaf] + slot - 1
                add_to_rows(rest, 1 + path_group[at], leaf, path_share[at], leaf_output, leaf_value, out)
                continue
            add_to_rows(own, 0, leaf, 1.0, leaf_output, leaf_value, out)
            for p in range(path_start[leaf], path_start[leaf + 1]):
                less = path_share[p] - 1.0
                add_to_rows(own, 1 + path_group[p], leaf, less, leaf_output, leaf_value, out)
            continue

        entries, leaves, arrived = arrivals(walk, source)
        for k in range(arrived):
            leaf = np.int64(node_counter[leaves[k]])
            row = np.int64(entries[k]) & 0xFFFF
            tag = np.int64(entries[k]) >> 16
            if tag > 0:
                at = path_start[leaf] + tag - 1
                add_times(row, 1 + path_group[at], leaf, path_share[at], leaf_output, leaf_value, out)
                continue
            add_times(row, 0, leaf, 1.0, leaf_output, leaf_value, out)
            for p in range(path_start[leaf], path_start[leaf + 1]):
                less = path_share[p] - 1.0
                add_times(row, 1 + path_group[p], leaf, less, leaf_output, leaf_value, out)
    return True
