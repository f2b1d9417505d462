"""Averages of an asked set of axes, from leaves' regions and the rows that reach them.

Regions become *updates*: plus where a run of grid points begins, minus where it ends, so that
summing along the grid afterwards fills the runs. Cost follows the number of runs (one, for a
number), not of grid points. One-way and all-pair questions go through `families` instead.
"""

from __future__ import annotations

import numpy as np

from icefield.kernels.compiling import inlined, kernel, lowest
from icefield.kernels.regions import runs_of


@inlined
def points_of(masks, start, words, axis, at, sign):
    """Every set bit, as an update of its own."""
    found = 0
    for w in range(words):
        word = masks[start + w]
        while word != 0:
            at[axis, found] = w * 64 + lowest(word)
            sign[axis, found] = 1.0
            found += 1
            word &= word - np.uint64(1)
    return found


@kernel(
    "void(boolean, int32[::1], int32[::1], int32[::1], int32[::1], int64[::1], int64[::1], int64[::1],"
    "uint64[::1], int64[::1], int32[::1], float64[::1])"
)
def find_updates(
    fill,
    path_start,
    path_group,
    path_region,
    rank,
    axis_size,
    axis_words,
    axis_start,
    regions,
    update_start,
    update_at,
    update_sign,
):
    """Each leaf's updates on the product grid of all axes (axis a moves group a).

    The last two axes are summed along afterwards, the others are not: there every reached
    point is an update. With `fill` off only `update_start` is written.
    """
    n_axes = axis_size.size
    widest = 1
    for a in range(n_axes):
        widest = max(widest, axis_size[a])
    at = np.zeros((max(n_axes, 1), widest + 1), np.int64)
    sign = np.zeros((max(n_axes, 1), widest + 1), np.float64)
    found = np.zeros(max(n_axes, 1), np.int64)
    turn = np.zeros(max(n_axes, 1), np.int64)
    total = np.int64(0)
    for leaf in range(path_start.size - 1):
        update_start[leaf] = total
        for a in range(n_axes):
            found[a] = -1
        for i in range(path_start[leaf], path_start[leaf + 1]):
            a = np.int64(path_group[i])
            start = axis_start[a] + np.int64(rank[path_region[i]]) * axis_words[a]
            if a < n_axes - 2:
                found[a] = points_of(regions, start, axis_words[a], a, at, sign)
            else:
                found[a] = runs_of(regions, start, axis_words[a], axis_size[a], a, at, sign)
        combined = np.int64(1)
        for a in range(n_axes):
            if found[a] < 0:  # not on this path: everywhere
                found[a] = 1
                at[a, 0] = 0
                sign[a, 0] = 1.0
                if a < n_axes - 2:
                    found[a] = axis_size[a]
                    for k in range(axis_size[a]):
                        at[a, k] = k
                        sign[a, k] = 1.0
            combined *= found[a]
        if fill:
            for a in range(n_axes):
                turn[a] = 0
            for u in range(combined):
                place = np.int64(0)
                way = 1.0
                for a in range(n_axes):
                    place = place * axis_size[a] + at[a, turn[a]]
                    way *= sign[a, turn[a]]
                update_at[total + u] = place
                update_sign[total + u] = way
                for a in range(n_axes - 1, -1, -1):
                    turn[a] += 1
                    if turn[a] < found[a]:
                        break
                    turn[a] = 0
        total += combined
    update_start[path_start.size - 1] = total


@kernel(
    "void(int64[::1], int32[::1], float64[::1], float64[::1], int32[::1], float64[:, ::1], float64[:, ::1])"
)
def add_joint(update_start, update_at, update_sign, share, leaf_output, leaf_value, differences):
    """Add every leaf, by its share of the rows, to the differences, shape (outputs, grid)."""
    for leaf in range(share.size):
        for u in range(update_start[leaf], update_start[leaf + 1]):
            amount = update_sign[u] * share[leaf]
            if leaf_output[leaf] >= 0:
                differences[leaf_output[leaf], update_at[u]] += amount * leaf_value[leaf, 0]
            else:
                for o in range(leaf_value.shape[1]):
                    differences[o, update_at[u]] += amount * leaf_value[leaf, o]
