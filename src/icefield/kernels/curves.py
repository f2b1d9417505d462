"""Running a leaf-visiting program over one block of rows: every row's curve.

A leaf changes a curve at the edges of its region of the grid only, so each row that can reach
it gets a few additions into a table of differences; summing along the grid turns those into
curves.
"""

from __future__ import annotations

import numpy as np

from icefield.kernels.compiling import POLL, inlined, kernel, lowest
from icefield.kernels.lists import WALK, arrivals, narrow
from icefield.kernels.planning import SUBTREE


@inlined
def add_leaf(row, leaf, update_start, update_at, update_sign, leaf_output, leaf_value, differences):
    """Add one leaf to one row's differences, shape (outputs, rows, grid)."""
    output = leaf_output[leaf]
    for u in range(update_start[leaf], update_start[leaf + 1]):
        if output >= 0:
            differences[output, row, update_at[u]] += update_sign[u] * leaf_value[leaf, 0]
        else:
            for o in range(leaf_value.shape[1]):
                differences[o, row, update_at[u]] += update_sign[u] * leaf_value[leaf, o]


@kernel(
    f"boolean({WALK}, int64[::1],"
    "int32[::1], float64[::1], int32[::1], float64[:, ::1], float64[:, :, ::1], uint8[::1])"
)
def add_leaves(
    walk,
    update_start,
    update_at,
    update_sign,
    leaf_output,
    leaf_value,
    differences,
    stop,
):
    """Add every leaf to the differences of the rows that reach it; False when stopped."""
    program, bits, buffers, node_counter = walk[0], walk[1], walk[2], walk[10]
    words = buffers.shape[1]
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
            first, updates = update_start[leaf], update_start[leaf + 1] - update_start[leaf]
            output = leaf_output[leaf]
            simple = output >= 0 and updates <= 2
            first_at = update_at[first] if updates > 0 else 0
            second_at = update_at[first + 1] if updates > 1 else 0
            first_value = update_sign[first] * leaf_value[leaf, 0] if updates > 0 else 0.0
            second_value = update_sign[first + 1] * leaf_value[leaf, 0] if updates > 1 else 0.0
            for w in range(words):
                word = buffers[source, w]
                if condition >= 0:
                    word &= bits[condition >> 1, w] ^ flip
                while word != 0:
                    row = w * 64 + lowest(word)
                    word &= word - np.uint64(1)
                    if simple:
                        if updates > 0:
                            differences[output, row, first_at] += first_value
                        if updates > 1:
                            differences[output, row, second_at] += second_value
                    else:
                        add_leaf(
                            row,
                            np.int64(leaf),
                            update_start,
                            update_at,
                            update_sign,
                            leaf_output,
                            leaf_value,
                            differences,
                        )
            continue

        entries, leaves, arrived = arrivals(walk, source)
        for k in range(arrived):
            add_leaf(
                np.int64(entries[k]), np.int64(node_counter[leaves[k]]), update_start, update_at, update_sign,
                leaf_output, leaf_value, differences,
            )  # fmt: skip
    return True


@kernel(
    "void(float64[:, :, ::1], int32[::1], int64, int64, int64, float64[::1], int32[::1], float64[:, :, ::1])"
)
def sum_up(differences, position, outer, middle, inner, base, order, values):
    """Curves from differences: sums along the last two of the axes (outer, middle, inner).

    `values` has shape (rows, grid, outputs); `order` gives the place of each grid point there.
    """
    for r in range(position.size):
        for o in range(differences.shape[0]):
            at = position[r]
            k = 0
            for _ in range(outer):
                for m in range(middle):
                    running = 0.0
                    for _ in range(inner):
                        running += differences[o, at, k]
                        differences[o, at, k] = running if m == 0 else running + differences[o, at, k - inner]
                        values[r, order[k], o] = differences[o, at, k] + base[o]
                        k += 1
