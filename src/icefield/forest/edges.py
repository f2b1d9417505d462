"""Edges: the values of a frame column after which the trees' answer can change.

A forest compares encoded numbers, the caller holds a column. Where a library rounds to float32, the
numbers just above a threshold still round down to it; where zeros or a number of the caller's stand
for missing, the answer changes on both sides of them. Edges are places on the caller's own axis: the
answer is the same for all numbers after one edge up to and including the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.forest.encode import Encoder, Numbers
from icefield.forest.form import ZERO_THRESHOLD
from icefield.forest.tree_model import CannotRead, TreeModel

Float = NDArray[np.float64]
BEYOND_FLOAT32 = 2.0**128  # where the next float32 would be, were there one


def edges(model: TreeModel, column: Any) -> Float:
    """Sorted, distinct edges of a numeric frame column; empty where the model does not use it.

    Raises
    ------
    CannotRead
        With the reason, where the answer does not change along the column's own numbers.
    """
    forest, driven = model.forest, model.drives.get(column, ())
    used = np.unique(forest.node_condition[forest.node_condition >= 0])
    found = [np.empty(0)]
    for matrix_column in driven:
        own = used[forest.condition_column[used] == matrix_column]
        if not own.size:
            continue
        if not isinstance(model.encode, Encoder):
            raise CannotRead(f"column {column!r} is transformed before the trees see it")
        rule = model.encode.rules[matrix_column]
        if (forest.condition_set[own] >= 0).any() or not isinstance(rule, Numbers):
            raise CannotRead(f"the model splits column {column!r} by sets of categories")
        last_left = forest.condition_threshold[own]
        if forest.condition_zero_missing[own].any():
            last_left = np.append(last_left, [np.nextafter(-ZERO_THRESHOLD, -np.inf), ZERO_THRESHOLD])
        found.append(_in_the_column(last_left[np.isfinite(last_left)], rule))
    return np.unique(np.concatenate(found))


def _in_the_column(last_left: Float, rule: Numbers) -> Float:
    """The last number of the caller's that the rule takes to each of these, or below."""
    if rule.missing is not None:
        with np.errstate(over="ignore"):
            sentinel = np.float32(rule.missing) if rule.float32 else np.float64(rule.missing)
            below = np.nextafter(sentinel, sentinel.dtype.type(-np.inf))
        last_left = np.append(last_left, [float(below), float(sentinel)])
    return _last_rounding_to(last_left) if rule.float32 else last_left


def _last_rounding_to(last_left: Float) -> Float:
    """The largest float64 that becomes at most each number when rounded to float32."""
    with np.errstate(over="ignore"):
        single = last_left.astype(np.float32)
        single = np.where(single > last_left, np.nextafter(single, np.float32(-np.inf)), single)
        above = np.nextafter(single, np.float32(np.inf))
        low, high = (np.clip(f.astype(np.float64), -BEYOND_FLOAT32, BEYOND_FLOAT32) for f in (single, above))
        midway = low + (high - low) / 2.0
        # Midway rounds to the even neighbour, which may be the upper one.
        return np.where(midway.astype(np.float32) > single, np.nextafter(midway, -np.inf), midway)
