"""Which grid points reach a leaf.

A leaf's region of one axis is a mask over its grid points: the conditions on the axis's columns
along the path, evaluated on the grid.
"""

from __future__ import annotations

import numpy as np

from icefield.kernels.compiling import inlined, kernel, lowest


@kernel(
    "void(int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1],"
    "uint64[:, ::1], uint64[::1], uint64[:, ::1])"
)
def find_regions(
    splits,
    node_condition,
    node_left,
    node_right,
    condition_row,
    region_before,
    rank,
    bits,
    everything,
    regions,
):
    """The regions of the children of one group's splits; `rank` is a child's row of `regions`.

    Splits are in order and children come after their parents, so one pass does.
    """
    for i in range(splits.size):
        node = np.int64(splits[i])
        row = np.int64(condition_row[node_condition[node]])
        for side in range(2):
            child = np.int64(node_left[node] if side == 0 else node_right[node])
            flip = np.uint64(0) - np.uint64(side)
            before = region_before[child]
            for w in range(everything.size):
                reached = everything[w] if before < 0 else regions[rank[before], w]
                regions[rank[child], w] = reached & (bits[row, w] ^ flip)


@inlined
def runs_of(masks, start, words, size, axis, at, sign):
    """Begin (+1) and end (-1) of each run of set bits, into row `axis` of `at` and `sign`.

    The mask is `words` words of `masks` from `start`; an end at `size` is left out.
    """
    found = 0
    carry = np.uint64(0)
    for w in range(words):
        word = masks[start + w]
        edges = word ^ ((word << np.uint64(1)) | carry)
        carry = word >> np.uint64(63)
        while edges != 0:
            bit = lowest(edges)
            edges &= edges - np.uint64(1)
            place = w * 64 + bit
            if place < size:
                at[axis, found] = place
                sign[axis, found] = 1.0 if (word >> np.uint64(bit)) & np.uint64(1) else -1.0
                found += 1
    return found
