"""Forest: any tree ensemble as flat arrays with one routing rule, and its validation.

Every library compares in its own way (float32 or float64, ``<`` or ``<=``, missing left or
right, category in set goes left or right). Readers translate those into one rule, so that
everything downstream (packing, counting, curves) has a single case to get right:

* the input is a float64 matrix (`rows`, `columns`); a reader's encoder has already rounded to
  float32 where the library does, replaced categories by codes, and missing by NaN;
* a numeric condition sends a row left when ``x <= threshold``;
* a set condition sends a row left when x is a non-negative whole number in its set,
  right when it is any other number;
* NaN goes left when `missing_left`, right otherwise; where `zero_missing`, numbers with
  ``abs(x) <= 1e-35`` (the float32 constant) are treated like NaN.

``raw = base + sum over trees of the leaf's value``; averaging ensembles have the division
folded into the leaf values by their reader.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from icefield.forest.tree_model import CannotRead

ZERO_THRESHOLD = float(np.float32(1e-35))
LARGEST_CODE = 2**53  # category codes up to here are told apart exactly as float64


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """A tree ensemble as flat arrays.

    Conditions (C distinct tests, sorted by column, then numeric before set, then threshold)::

        condition_column        int32[C]
        condition_threshold     float64[C]   NaN for set conditions
        condition_set           int32[C]     -1 for numeric conditions, else a set number
        condition_missing_left  bool[C]
        condition_zero_missing  bool[C]
        set_start               int64[S+1]   members of set s: set_members[start[s]:start[s+1]]
        set_members             int64[...]   sorted, non-negative

    Nodes (N, trees one after another, a child after its parent)::

        tree_root               int32[T]
        tree_output             int32[T]     the output a tree adds to; -1: vector leaves
        node_condition          int32[N]     -1 for leaves
        node_left, node_right   int32[N]     absolute node numbers; -1 for leaves
        node_leaf               int32[N]     row of leaf_value; -1 for splits
        node_weight             float64[N]   training samples or cover; NaN where unknown
        leaf_value              float64[L, W]  W is 1, or n_outputs with vector leaves

    base  float64[n_outputs]
    """

    n_columns: int
    n_outputs: int
    condition_column: NDArray[np.int32]
    condition_threshold: NDArray[np.float64]
    condition_set: NDArray[np.int32]
    condition_missing_left: NDArray[np.bool_]
    condition_zero_missing: NDArray[np.bool_]
    set_start: NDArray[np.int64]
    set_members: NDArray[np.int64]
    tree_root: NDArray[np.int32]
    tree_output: NDArray[np.int32]
    node_condition: NDArray[np.int32]
    node_left: NDArray[np.int32]
    node_right: NDArray[np.int32]
    node_leaf: NDArray[np.int32]
    node_weight: NDArray[np.float64]
    leaf_value: NDArray[np.float64]
    base: NDArray[np.float64] = field(repr=False)

    @cached_property
    def is_well_formed(self) -> bool:
        """True, or an error: looked at once, since nobody changes a forest."""
        _check_conditions(self)
        _check_nodes(self)
        _check_leaves(self)
        return True


def validate(forest: Forest) -> Forest:
    """Check that a Forest can be walked safely, and return it.

    The kernels index without bounds checks, so everything they rely on is checked here once:
    lengths, bounds, finite leaf values, that children come after their parents inside their own
    tree (so there are no cycles), and that every node is reached exactly once. Thresholds may be
    infinite.

    Raises
    ------
    CannotRead
        Naming the first thing that is wrong.
    """
    assert forest.is_well_formed
    return forest


def _require(holds: bool | np.bool_, problem: str) -> None:
    if not holds:
        raise CannotRead(f"the trees are not well formed: {problem}")


def _check_conditions(forest: Forest) -> None:
    _require(forest.n_columns >= 0, "the number of columns is negative")
    column = forest.condition_column
    for name in ("threshold", "set", "missing_left", "zero_missing"):
        _require(
            getattr(forest, f"condition_{name}").shape == column.shape,
            f"condition_{name} and condition_column differ in length",
        )
    _require(column.ndim == 1, "condition_column is not a vector")
    _require(((column >= 0) & (column < forest.n_columns)).all(), "a condition tests a column out of range")
    start, members = forest.set_start, forest.set_members
    _require(start.ndim == 1 and start.size >= 1 and start[0] == 0, "set_start does not begin at 0")
    _require((np.diff(start) >= 0).all() and start[-1] == members.size, "set_start does not cover the sets")
    inside = np.ones(members.size, bool)
    inside[start[:-1][start[:-1] < members.size]] = False
    _require((np.diff(members)[inside[1:]] > 0).all(), "the members of a category set are not sorted")
    _require(((members >= 0) & (members <= LARGEST_CODE)).all(), "a category code is out of range")
    sets = forest.condition_set
    _require(((sets >= -1) & (sets < start.size - 1)).all(), "a condition names a category set out of range")
    _require(not np.isnan(forest.condition_threshold[sets < 0]).any(), "a threshold is not a number")


def _check_nodes(forest: Forest) -> None:
    condition, leaf = forest.node_condition, forest.node_leaf
    left, right, n_nodes = forest.node_left, forest.node_right, condition.size
    for name in ("node_left", "node_right", "node_leaf", "node_weight"):
        _require(getattr(forest, name).shape == (n_nodes,), f"{name} and node_condition differ in length")
    root = forest.tree_root
    _require(forest.tree_output.shape == root.shape, "tree_output and tree_root differ in length")
    _require(root.size > 0 or n_nodes == 0, "there are nodes but no trees")
    if root.size:
        _require(root[0] == 0 and (np.diff(root) > 0).all(), "trees do not follow one another")
        _require(root[-1] < n_nodes, "a tree's root is out of range")
    split = condition >= 0
    in_range = (condition >= -1) & (condition < forest.condition_column.size)
    _require(in_range.all(), "a node names a condition out of range")
    _require(((left[~split] == -1) & (right[~split] == -1)).all(), "a leaf has children")
    _require((leaf[split] == -1).all(), "a split has a leaf value")
    parents = np.flatnonzero(split)
    tree = np.searchsorted(root, np.arange(n_nodes), side="right")
    for child in (left[split], right[split]):
        _require(((child > parents) & (child < n_nodes)).all(), "a child does not come after its parent")
        _require((tree[child] == tree[parents]).all(), "a child lies in another tree")
    reached = np.bincount(np.concatenate([root, left[split], right[split]]), minlength=n_nodes)
    _require((reached == 1).all(), "a node is reached more than once, or never")
    weight = forest.node_weight
    _require((np.isnan(weight) | (weight >= 0)).all(), "a training weight is negative")


def _check_leaves(forest: Forest) -> None:
    value, output = forest.leaf_value, forest.tree_output
    _require(value.ndim == 2, "leaf_value is not a table")
    _require(forest.base.shape == (forest.n_outputs,), "base does not have one value for each output")
    _require(((output >= -1) & (output < forest.n_outputs)).all(), "a tree adds to an output out of range")
    if (output == -1).any():
        _require(value.shape[1] == forest.n_outputs, "vector leaves do not have one value for each output")
    if (output >= 0).any():
        _require(value.shape[1] == 1, "leaf values of single-output trees have several columns")
    leaf = forest.node_leaf[forest.node_condition < 0]
    _require(((leaf >= 0) & (leaf < len(value))).all(), "a leaf's value is out of range")
    _require(np.isfinite(value).all(), "a leaf value is not finite")
    _require(np.isfinite(forest.base).all(), "the base value is not finite")
