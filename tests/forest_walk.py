"""The plain walker: routes rows through a Forest node by node, exactly as its rule is written.

It is the reference everything fast is compared with, so it is kept obviously right: one
function that decides a condition, one loop that follows it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from icefield.forest.form import ZERO_THRESHOLD, Forest
from icefield.typing import Float


def goes_left(forest: Forest, condition: int, values: Float) -> NDArray[np.bool_]:
    """Which of the `values` of the condition's column go left."""
    number = forest.condition_set[condition]
    if number < 0:
        left = values <= forest.condition_threshold[condition]
    else:
        members = forest.set_members[forest.set_start[number] : forest.set_start[number + 1]]
        left = np.isin(values, members.astype(np.float64))
    missing = np.isnan(values)
    if forest.condition_zero_missing[condition]:
        missing |= np.abs(values) <= ZERO_THRESHOLD
    left[missing] = forest.condition_missing_left[condition]
    return left


def arrivals(forest: Forest, tree: int, matrix: Float) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """For one tree, each leaf's row of `leaf_value` with the rows of the matrix that end there."""
    pending = [(int(forest.tree_root[tree]), np.arange(len(matrix)))]
    while pending:
        node, rows = pending.pop()
        condition = int(forest.node_condition[node])
        if condition < 0:
            yield int(forest.node_leaf[node]), rows
            continue
        left = goes_left(forest, condition, matrix[rows, forest.condition_column[condition]])
        pending.append((int(forest.node_left[node]), rows[left]))
        pending.append((int(forest.node_right[node]), rows[~left]))


def leaves(forest: Forest, matrix: Float) -> NDArray[np.int64]:
    """The row of `leaf_value` every row ends at, shape ``(rows, trees)``."""
    found = np.empty((len(matrix), forest.tree_root.size), np.int64)
    for tree in range(forest.tree_root.size):
        for leaf, rows in arrivals(forest, tree, matrix):
            found[rows, tree] = leaf
    return found


def raw(forest: Forest, matrix: Float) -> Float:
    """Raw predictions, shape ``(rows, n_outputs)``: base plus the leaf values of every tree."""
    total = np.tile(forest.base, (len(matrix), 1))
    for tree in range(forest.tree_root.size):
        output = int(forest.tree_output[tree])
        columns = slice(None) if output < 0 else slice(output, output + 1)
        for leaf, rows in arrivals(forest, tree, matrix):
            total[rows, columns] += forest.leaf_value[leaf]
    return total
