"""The self-check: a read model must predict as the model it was read from, on the caller's rows.

Models have many trees and the check few rows, so rows walk down all trees at once, one level after
another, instead of tree by tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Table
from icefield.forest.form import ZERO_THRESHOLD, Forest
from icefield.forest.tree_model import TreeModel

CHECKED_ROWS = 64
SEARCHED_ROWS = 4096


def self_check(
    tree_model: TreeModel,
    table: Table,
    predict: Callable[[Table], NDArray[Any]],
    *,
    scale: str = "response",
    seed: int = 0,
) -> str | None:
    """Compare a read model with the model's own predictions on some of the caller's rows.

    Parameters
    ----------
    tree_model : what `read` returned
    table : the caller's rows
    predict : the model's own prediction of a table, one row per row, one column per output
    scale : ``"response"`` or ``"raw"``, on which `predict` answers
    seed : which rows are chosen; rows with missing values are preferred for half of them

    Returns
    -------
    Why the two differ, or None where they agree.
    """
    rows = table.take(_chosen_rows(table, seed))
    expected = np.asarray(predict(rows), np.float64).reshape(rows.n_rows, -1)
    values = leaf_values(tree_model.forest, tree_model.encode(rows))
    with np.errstate(all="ignore"):  # what is not finite is told below
        raw = _sum_leaves(tree_model.forest, values)
        predicted = tree_model.link.apply(raw) if scale == "response" else raw
    if predicted.shape != expected.shape:
        return f"the trees give {predicted.shape[1]} outputs, the model {expected.shape[1]}"
    # Rounding grows with the values that a row sums, and an exponential link passes it on in proportion.
    with np.errstate(over="ignore"):
        magnitude = np.abs(values).sum(axis=1).max(axis=1) + np.abs(tree_model.forest.base).max(initial=0.0)
        allowed = tree_model.tolerance * (magnitude[:, None] + 1.0) * (1.0 + np.abs(expected))
    if not (np.isfinite(allowed).all() and np.isfinite(predicted).all()):
        return "its predictions are not all finite, so that the trees as read cannot be checked"
    with np.errstate(invalid="ignore"):
        agrees = (np.abs(predicted - expected) <= allowed) | (predicted == expected)
    if agrees.all():
        return None
    row, output = np.argwhere(~agrees)[0]
    return (
        f"the trees as read predict {predicted[row, output]:.10g} where the model predicts "
        f"{expected[row, output]:.10g} ({np.sum(~agrees.all(axis=1))} of {rows.n_rows} checked rows differ)"
    )


def _chosen_rows(table: Table, seed: int) -> NDArray[np.intp]:
    """Seeded positions, half of them rows with missing values where a larger sample shows any."""
    draw = np.random.default_rng(seed)
    sample = draw.choice(table.n_rows, min(table.n_rows, SEARCHED_ROWS), replace=False)
    if len(sample) <= CHECKED_ROWS:
        return sample.astype(np.intp)
    gaps = np.flatnonzero(rows_with_missing(table.take(sample.astype(np.intp))))[: CHECKED_ROWS // 2]
    rest = np.ones(len(sample), bool)
    rest[gaps] = False
    chosen = np.concatenate([gaps, np.flatnonzero(rest)[: CHECKED_ROWS - len(gaps)]])
    return sample[chosen].astype(np.intp)


def rows_with_missing(table: Table) -> NDArray[np.bool_]:
    """Which rows have a missing value."""
    if table.library == "numpy" and table.native.dtype.kind == "f":
        return np.isnan(table.native).any(axis=1)
    missing = np.zeros(table.n_rows, bool)
    for name in table.names:
        missing |= table.column(name).missing
    return missing


def raw_by_levels(forest: Forest, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Raw predictions of a few rows, all trees at once."""
    return _sum_leaves(forest, leaf_values(forest, matrix))


def leaf_values(forest: Forest, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each tree gives each row: of shape (rows, trees, values a leaf holds)."""
    n_trees, values = len(forest.tree_root), matrix.ravel()
    row = np.repeat(np.arange(len(matrix)) * matrix.shape[1], n_trees)  # where it begins
    nodes = current = np.tile(forest.tree_root, len(matrix))
    moving: NDArray[Any] = np.arange(current.size)
    while True:
        condition = forest.node_condition.take(current)
        going = np.flatnonzero(condition >= 0)
        if going.size == 0:
            break
        moving, current, row, condition = (array.take(going) for array in (moving, current, row, condition))
        left = go_left(forest, condition, values.take(row + forest.condition_column.take(condition)))
        current = np.where(left, forest.node_left.take(current), forest.node_right.take(current))
        nodes[moving] = current
    return forest.leaf_value[forest.node_leaf[nodes]].reshape(len(matrix), n_trees, -1)


def _sum_leaves(forest: Forest, value: NDArray[np.float64]) -> NDArray[np.float64]:
    raw = np.tile(forest.base, (len(value), 1))
    vectors = forest.tree_output < 0
    if vectors.any():
        raw += value[:, vectors].sum(axis=1)
    for output in range(forest.n_outputs):
        raw[:, output] += value[:, forest.tree_output == output, 0].sum(axis=1)
    return raw


def go_left(forest: Forest, condition: NDArray[np.int32], values: NDArray[np.float64]) -> NDArray[np.bool_]:
    left = values <= forest.condition_threshold.take(condition)
    if len(forest.set_start) > 1:
        in_set = np.flatnonzero(forest.condition_set[condition] >= 0)
        left[in_set] = _are_members(forest, forest.condition_set[condition[in_set]], values[in_set])
    candidates = np.flatnonzero(~(np.abs(values) > ZERO_THRESHOLD))  # missing or about zero: few
    sure = np.isnan(values[candidates]) | forest.condition_zero_missing[condition[candidates]]
    candidates = candidates[sure]
    left[candidates] = forest.condition_missing_left[condition[candidates]]
    return left


def _are_members(forest: Forest, number: NDArray[np.int32], values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each value is in the forest's set of the number at the same position."""
    is_member = np.zeros(len(values), bool)
    for number_of_set in np.unique(number):
        in_set = number == number_of_set
        members = forest.set_members[forest.set_start[number_of_set] : forest.set_start[number_of_set + 1]]
        is_member[in_set] = np.isin(values[in_set], members.astype(np.float64))
    return is_member
