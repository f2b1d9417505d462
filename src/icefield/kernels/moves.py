"""Running a leaf-visiting program over one block of rows, each row at points of its own.

Local effects move a row across one step of every axis. A leaf changes what a row gains by that
only where its region begins or ends within the row's step, so `add_changes` looks at the rows of those
few steps alone. Where a link follows the sums, the sums themselves are needed at every *corner*
of the steps, and `add_corners` gives them.
"""

from __future__ import annotations

import numpy as np

from icefield.kernels.compiling import POLL, inlined, kernel, lowest
from icefield.kernels.lists import WALK, arrivals, narrow
from icefield.kernels.planning import SUBTREE

MANY_EDGES = 64  # with more of them, looking at every row of a leaf is faster than at the rows of each edge


@inlined
def add_value(row, leaf, factor, leaf_output, leaf_value, out):
    """Add a leaf's value, or values, times a factor to a row of `out`, shape (rows, outputs)."""
    output = leaf_output[leaf]
    if output >= 0:
        out[row, output] += factor * leaf_value[leaf, 0]
    else:
        for o in range(leaf_value.shape[1]):
            out[row, o] += factor * leaf_value[leaf, o]


@inlined
def change_of(row, leaf, leaf_region, change, steps):
    """How often more a row reaches a leaf at the end of its steps than before them: -1, 0 or 1."""
    crossed = np.int64(1)
    for axis in range(steps.shape[0]):
        region = leaf_region[axis, leaf]
        crossed *= np.int64(change[region, steps[axis, row]]) if region >= 0 else np.int64(0)
    return crossed


@kernel(
    f"boolean({WALK}, int64[:, ::1],"
    "int64[::1], int64[::1], int8[::1], int8[:, ::1], int64[::1], int32[:, ::1], uint64[:, ::1], int32[::1],"
    "float64[:, ::1], float64[:, ::1], uint8[::1])"
)
def add_changes(
    walk,
    leaf_region,
    edge_start,
    edge_step,
    edge_sign,
    change,
    step_start,
    steps,
    step_bits,
    leaf_output,
    leaf_value,
    out,
    stop,
):
    """Add to every row what crossing its steps changes; False when stopped.

    ``change[region, step]`` is 1 where a region begins within a step, -1 where it ends; its entries that
    are not zero are the region's edges. `steps` are the rows' own, (axes, rows), and `step_bits` is
    room for one mask a step: all of the first axis, then from ``step_start[1]`` those of the second.
    """
    program, bits, buffers, node_counter = walk[0], walk[1], walk[2], walk[10]
    words = buffers.shape[1]
    n_axes = steps.shape[0]
    step_bits[:] = 0
    for axis in range(n_axes):
        for row in range(steps.shape[1]):
            step_bits[step_start[axis] + steps[axis, row], row >> 6] |= np.uint64(1) << np.uint64(row & 63)
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
            first = leaf_region[0, leaf]
            second = leaf_region[n_axes - 1, leaf]
            if first < 0 or second < 0:
                continue
            other_from, other_to = edge_start[second], edge_start[second + 1]
            if n_axes == 1:
                other_from, other_to = 0, 1
            if (edge_start[first + 1] - edge_start[first]) * (other_to - other_from) > MANY_EDGES:
                for w in range(words):
                    word = buffers[source, w]
                    if condition >= 0:
                        word &= bits[condition >> 1, w] ^ flip
                    while word != 0:
                        row = w * 64 + lowest(word)
                        word &= word - np.uint64(1)
                        crossed = change_of(row, leaf, leaf_region, change, steps)
                        if crossed != 0:
                            add_value(row, leaf, np.float64(crossed), leaf_output, leaf_value, out)
                continue
            for e in range(edge_start[first], edge_start[first + 1]):
                own = step_start[0] + edge_step[e]
                for f in range(other_from, other_to):
                    factor = np.float64(edge_sign[e])
                    other = own
                    if n_axes == 2:
                        factor *= edge_sign[f]
                        other = step_start[1] + edge_step[f]
                    for w in range(words):
                        word = buffers[source, w] & step_bits[own, w] & step_bits[other, w]
                        if condition >= 0:
                            word &= bits[condition >> 1, w] ^ flip
                        while word != 0:
                            add_value(w * 64 + lowest(word), leaf, factor, leaf_output, leaf_value, out)
                            word &= word - np.uint64(1)
            continue

        entries, leaves, arrived = arrivals(walk, source)
        for k in range(arrived):
            leaf = np.int64(node_counter[leaves[k]])
            row = np.int64(entries[k])
            crossed = change_of(row, leaf, leaf_region, change, steps)
            if crossed != 0:
                add_value(row, leaf, np.float64(crossed), leaf_output, leaf_value, out)
    return True


@inlined
def add_where_inside(row, leaf, leaf_region, inside, corners, leaf_output, leaf_value, out):
    """Add a leaf to one row at each corner in its region; `out` has shape (corners, rows, outputs)."""
    for corner in range(corners.shape[0]):
        reached = 1.0
        for axis in range(corners.shape[1]):
            region = leaf_region[axis, leaf]
            if region >= 0:
                reached *= inside[region, corners[corner, axis, row]]
        if reached != 0.0:
            add_value(row, leaf, 1.0, leaf_output, leaf_value, out[corner])


@kernel(
    f"boolean({WALK}, int64[:, ::1],"
    "int8[:, ::1], int32[:, :, ::1], int32[::1], float64[:, ::1], float64[:, :, ::1], uint8[::1])"
)
def add_corners(
    walk,
    leaf_region,
    inside,
    corners,
    leaf_output,
    leaf_value,
    out,
    stop,
):
    """Add every leaf to the rows that reach it, at each of their corners; False when stopped.

    ``inside[region, point]`` says which points lie in a region; `corners` are points, (corners, axes, rows).
    """
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
            for w in range(words):
                word = buffers[source, w]
                if condition >= 0:
                    word &= bits[condition >> 1, w] ^ flip
                while word != 0:
                    row = w * 64 + lowest(word)
                    word &= word - np.uint64(1)
                    add_where_inside(row, leaf, leaf_region, inside, corners, leaf_output, leaf_value, out)
            continue

        entries, leaves, arrived = arrivals(walk, source)
        for k in range(arrived):
            add_where_inside(
                np.int64(entries[k]), np.int64(node_counter[leaves[k]]), leaf_region, inside, corners,
                leaf_output, leaf_value, out,
            )  # fmt: skip
    return True
