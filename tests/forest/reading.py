"""What the readers' tests share: a table of awkward rows, and the checks of a read model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from icefield.forest.tree_model import TreeModel
from icefield.frame import Table, table_of
from numpy.typing import NDArray


def walk(forest: Any, matrix: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Each row's leaf in every tree (as a row of ``leaf_value``) and its raw outputs."""
    n = len(matrix)
    leaves = np.empty((n, len(forest.tree_root)), np.int64)
    raw = np.tile(forest.base, (n, 1))
    rows = np.arange(n)
    zero = float(np.float32(1e-35))
    for tree, root in enumerate(forest.tree_root):
        at = np.full(n, root)
        while (forest.node_left[at] >= 0).any():
            inner = forest.node_left[at] >= 0
            c = np.where(inner, forest.node_condition[at], 0)
            x = matrix[rows, forest.condition_column[c]]
            in_set = np.zeros(n, bool)
            for s in np.unique(forest.condition_set[c]):
                if s >= 0:
                    members = forest.set_members[forest.set_start[s] : forest.set_start[s + 1]]
                    in_set |= (forest.condition_set[c] == s) & np.isin(x, members)
            left = np.where(forest.condition_set[c] >= 0, in_set, x <= forest.condition_threshold[c])
            gone = np.isnan(x) | (forest.condition_zero_missing[c] & (np.abs(x) <= zero))
            left = np.where(gone, forest.condition_missing_left[c], left)
            at = np.where(inner, np.where(left, forest.node_left[at], forest.node_right[at]), at)
        leaves[:, tree] = forest.node_leaf[at]
        value = forest.leaf_value[leaves[:, tree]]
        if forest.tree_output[tree] < 0:
            raw += value
        else:
            raw[:, forest.tree_output[tree]] += value[:, 0]
    return leaves, raw
