"""The training background: averages weighted by what each node saw in training.

The same sums over leaves as for data, with a leaf's share of the rows replaced by the product,
along its path, of the training weight that went its way at every split on other features. No
row is looked at; the baseline is included.
"""

from __future__ import annotations

import numpy as np

from icefield.core.question import Axes, Resources
from icefield.data.frame import Table
from icefield.engines.trees.averages import add_joint, summed, unsorted
from icefield.engines.trees.axes import EncodedAxis, find_updates, group_columns
from icefield.engines.trees.program import JOINT, Batch, Program, TreeSums, batches
from icefield.errors import EngineError
from icefield.forest.tree_model import TreeModel
from icefield.typing import Float, Int32


def training_average(model: TreeModel, axes: Axes, table: Table, memory: int = Resources().memory) -> Float:
    """Training-weighted averages ``(outputs, *grid)`` of the raw sums, on the product of the axes' grids.

    Any rows of the caller's data will do as the table, which is only used to encode the grid. An EngineError where the
    model does not store its training weights.
    """
    forest = model.forest
    if not np.isfinite(forest.node_weight).all():
        raise EngineError(
            "background='training' needs the training weight of every node, and this model does not store them. "
            "Hint: use background='data'."
        )
    encoded = [EncodedAxis.of(model, table, axis) for axis in axes]
    group_of_column = group_columns([a.columns for a in encoded], forest.n_columns)
    sums = TreeSums(forest, tuple(range(forest.n_outputs)))
    sizes = tuple(a.size for a in encoded)
    differences = np.zeros((forest.n_outputs, int(np.prod(sizes))))
    for trees in batches(sums, len(axes), JOINT, words=1, threads=1, segments=1, memory=memory):
        batch = Batch.of(sums, trees)
        program = Program.of(batch, group_of_column, len(axes), JOINT, scatter=True)
        share = _leaf_shares(batch, program.group_of_condition)[program.leaf_node]
        updates = find_updates(program, encoded)
        if np.isnan(share[np.diff(updates[0]) > 0]).any():
            raise EngineError(
                "background='training' cannot be used: the grid leads to a split that saw no training weight, so "
                "its branches cannot be weighted. Hint: use background='data'."
            )
        add_joint(program, updates, np.nan_to_num(share), differences)
    return unsorted(summed(differences, sizes), encoded) + sums.base.reshape(-1, *[1] * len(sizes))


def _leaf_shares(batch: Batch, group_of_condition: Int32) -> Float:
    """By node: the training weight that reaches it with the moving groups left open.

    NaN below a split without training weight, unless nothing reaches that split anyway.
    """
    share = np.ones(batch.node_left.size)
    splits = np.flatnonzero(batch.node_left >= 0)
    splits = splits[np.argsort(batch.node_depth[splits], kind="stable")]
    for node in np.split(splits, np.flatnonzero(np.diff(batch.node_depth[splits])) + 1):
        left, right = batch.node_left[node], batch.node_right[node]
        moving = group_of_condition[batch.node_condition[node]] >= 0
        total = batch.node_weight[left] + batch.node_weight[right]
        for child in (left, right):
            with np.errstate(invalid="ignore"):
                part = np.where(moving, 1.0, batch.node_weight[child] / total)
            share[child] = np.where(share[node] == 0.0, 0.0, share[node] * part)
    return share
