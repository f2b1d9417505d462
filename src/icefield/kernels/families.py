"""From the share of rows at every leaf to the averages of many questions that shared a walk."""

from __future__ import annotations

import numpy as np

from icefield.kernels.compiling import kernel
from icefield.kernels.regions import runs_of


@kernel(
    "void(boolean, int32[::1], int32[::1], int32[::1], int32[::1], float64[::1], int32[::1], float64[:, ::1],"
    "int32[::1], int32[::1], int64[::1], int64[::1], int64[::1], uint64[::1], int64[::1], int32[:, ::1],"
    "int32[:, ::1], int64[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def add_family(
    pairs,
    leaf_slot,
    path_start,
    path_group,
    path_region,
    share,
    leaf_output,
    leaf_value,
    rank,
    axis_of_group,
    axis_size,
    axis_words,
    axis_start,
    regions,
    single_start,
    pair_of_groups,
    pair_axes,
    pair_start,
    total,
    constant,
    singles,
    surfaces,
):
    """Add every leaf to the averages of all groups, and with `pairs` of all asked pairs.

    By output: `total` is the average prediction, `singles` what moving one group changes of it
    (differences along the grid, less `constant`), `surfaces` what moving two changes beyond
    moving either: differences along both axes. `share` is by slot.
    """
    widest = 1
    for a in range(axis_size.size):
        widest = max(widest, axis_size[a])
    at = np.zeros((2, widest + 1), np.int64)
    sign = np.zeros((2, widest + 1), np.float64)
    found = np.zeros(2, np.int64)
    width = leaf_value.shape[1]
    for leaf in range(leaf_slot.size):
        slot = np.int64(leaf_slot[leaf])
        first = np.int64(path_start[leaf])
        groups = path_start[leaf + 1] - first
        for v in range(width):
            o = leaf_output[leaf] if leaf_output[leaf] >= 0 else v
            total[o] += share[slot] * leaf_value[leaf, v]
        for y in range(1, groups + 1):
            group = np.int64(path_group[first + y - 1])
            alone = slot + (1 + y * (y - 1) // 2 if pairs else y)
            axis = np.int64(axis_of_group[group])
            if axis >= 0:
                start = axis_start[axis] + rank[path_region[first + y - 1]] * axis_words[axis]
                n = runs_of(regions, start, axis_words[axis], axis_size[axis], 0, at, sign)
                for v in range(width):
                    o = leaf_output[leaf] if leaf_output[leaf] >= 0 else v
                    constant[o, axis] += share[slot] * leaf_value[leaf, v]
                    for i in range(n):
                        singles[o, single_start[axis] + at[0, i]] += (
                            sign[0, i] * share[alone] * leaf_value[leaf, v]
                        )
            if not pairs:
                continue
            for x in range(1, y):
                other = np.int64(path_group[first + x - 1])
                pair = np.int64(pair_of_groups[other, group])
                if pair < 0:
                    continue
                other_alone = slot + 1 + x * (x - 1) // 2
                # The pair's first axis moves the group with the lower number.
                swapped = other > group
                for side in range(2):
                    is_y = (side == 1) != swapped
                    node = path_region[first + (y if is_y else x) - 1]
                    axis = np.int64(pair_axes[pair, side])
                    start = axis_start[axis] + rank[node] * axis_words[axis]
                    found[side] = runs_of(regions, start, axis_words[axis], axis_size[axis], side, at, sign)
                inner = axis_size[pair_axes[pair, 1]]
                origin = pair_start[pair]
                first_alone = share[alone] if swapped else share[other_alone]
                second_alone = share[other_alone] if swapped else share[alone]
                for v in range(width):
                    o = leaf_output[leaf] if leaf_output[leaf] >= 0 else v
                    value = leaf_value[leaf, v]
                    surfaces[o, origin] += share[slot] * value
                    for j in range(found[1]):
                        surfaces[o, origin + at[1, j]] -= sign[1, j] * second_alone * value
                    for i in range(found[0]):
                        row = origin + at[0, i] * inner
                        surfaces[o, row] -= sign[0, i] * first_alone * value
                        for j in range(found[1]):
                            surfaces[o, row + at[1, j]] += sign[0, i] * sign[1, j] * share[alone + x] * value
