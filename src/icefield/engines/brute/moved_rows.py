"""Rows with some of their columns at other values, each row at its own.

Grids cross every row with every point; local effects (ALE) and permutations instead move each row
to one point of its own. The new values are made once in the column's dtype, by the same code that
writes grids, and then picked per row, so categories, dates and nullable types stay what they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icefield.core.question import Axes
from icefield.data.frame import Table
from icefield.models.model import Model
from icefield.typing import Float, Positions

ROWS_PER_CALL = 65_536


def rows_at(table: Table, rows: Positions, axes: Axes, at: Sequence[Positions]) -> Table:
    """The rows at these positions, with each axis's columns at the point that `at` names for the row."""
    moved = table.take(rows)
    first = table.slice(0, 1)
    for axis, places in zip(axes, at):
        points = first.crossed(axis.points).select(axis.columns)
        moved = moved.with_columns_of(axis.columns, points.take(places))
    return moved


def predict_at(model: Model, table: Table, rows: Positions, axes: Axes, at: Sequence[Positions]) -> Float:
    """Predictions of `rows_at`, shape ``(rows, outputs)``, in calls of bounded size; all where rows count together."""
    narrow = table.select(model.columns)
    size = max(1, len(rows)) if model.across_rows else ROWS_PER_CALL
    cuts = (slice(start, start + size) for start in range(0, len(rows), size))
    parts = [model.predict(rows_at(narrow, rows[cut], axes, [places[cut] for places in at])) for cut in cuts]
    return np.concatenate(parts) if parts else np.empty((0, len(model.outputs)))
