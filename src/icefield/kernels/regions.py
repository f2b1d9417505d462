"""Which grid points reach a leaf, and what leaf counts give on the grid.

A leaf's region of one axis is a mask over its grid points: the conditions on the axis's columns
along the path, evaluated on the grid. Regions become *updates*: plus where a run of grid points
begins, minus where it ends, so that summing along the grid afterwards fills the runs. Cost
follows the number of runs (one, for a number), not of grid points.
"""

from __future__ import annotations

import numpy as np

from icefield.kernels.compiling import inlined, kernel, lowest


@kernel(
    "void(int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int32[::1],"
    "uint64[:, ::1], uint64[::1], uint64[:, ::1])"
)
def find_regions(
    splits, node_condition, node_left, node_right, condition_row, region_before, rank, bits, everything, regions
):
    """The regions of the children of one group's splits; `rank` is a child's row of `regions`.

    Splits are in order and children come after their parents, so one pass does.
    """
    for i in range(splits.size):
        node = splits[i]
        row = condition_row[node_condition[node]]
        for side in range(2):
            child = node_left[node] if side == 0 else node_right[node]
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
            a = path_group[i]
            start = axis_start[a] + rank[path_region[i]] * axis_words[a]
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
            turn[:] = 0
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
        slot = leaf_slot[leaf]
        first = path_start[leaf]
        groups = path_start[leaf + 1] - first
        for v in range(width):
            o = leaf_output[leaf] if leaf_output[leaf] >= 0 else v
            total[o] += share[slot] * leaf_value[leaf, v]
        for y in range(1, groups + 1):
            group = path_group[first + y - 1]
            alone = slot + (1 + y * (y - 1) // 2 if pairs else y)
            axis = axis_of_group[group]
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
                other = path_group[first + x - 1]
                pair = pair_of_groups[other, group]
                if pair < 0:
                    continue
                other_alone = slot + 1 + x * (x - 1) // 2
                # The pair's first axis moves the group with the lower number.
                swapped = other > group
                for side in range(2):
                    is_y = (side == 1) != swapped
                    node = path_region[first + (y if is_y else x) - 1]
                    axis = pair_axes[pair, side]
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
