"""Rows with some of their columns at other values, each row at its own.

Grids cross every row with every point; local effects (ALE) and permutations instead move each row
to one point of its own. The new values are made once in the column's dtype, by the same code that
writes grids, and then picked per row, so categories, dates and nullable types stay what they are. A model
read as trees is not asked itself: its trees give the same numbers from encoded rows, faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Table
from icefield.engines import Axis
from icefield.progress import Progress
from icefield.statistics import inquiry
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.engines.trees import TreesEngine
    from icefield.explainer import Explainer
    from icefield.models.model import Model

ROWS_PER_CALL = 65_536


def rows_at(
    table: Table, rows: NDArray[np.intp], axes: Sequence[Axis], at: Sequence[NDArray[np.intp]]
) -> Table:
    """The rows at these positions, with each axis's columns at the point that `at` names for the row."""
    moved = table.take(rows)
    first = table.slice(0, 1)
    for axis, places in zip(axes, at):
        points = first.crossed(axis.points).select(axis.columns)
        moved = moved.with_columns_of(axis.columns, points.take(places))
    return moved


def predict_at(
    model: Model,
    table: Table,
    rows: NDArray[np.intp],
    axes: Sequence[Axis],
    at: Sequence[NDArray[np.intp]],
) -> Float:
    """Predictions of `rows_at`, shape ``(rows, outputs)``, in calls of bounded size."""
    narrow = table.select(model.columns)
    parts = [
        model.predict(
            rows_at(
                narrow, rows[start : start + ROWS_PER_CALL], axes, [a[start : start + ROWS_PER_CALL] for a in at]
            )
        )
        for start in range(0, len(rows), ROWS_PER_CALL)
    ]  # fmt: skip
    return np.concatenate(parts) if parts else np.empty((0, len(model.outputs)))


class Moved:
    """Rows moved across steps between an axis's points, by the model's trees where these were read.

    `engine` is the way that was gone, `reason` why it is not the planned one.
    """

    def __init__(self, explainer: Explainer, rows: NDArray[np.intp], axes: Sequence[Axis]) -> None:
        self.explainer, self.rows, self.axes = explainer, rows, axes
        self.engine, self.reason = explainer.plan.engine.name, ""

    def differences(self, which: NDArray[np.intp], steps: Sequence[NDArray[np.intp]]) -> Float:
        """What crossing their steps changes for the rows `which` (places among `rows`): ``(len(which), outputs)``.

        Step s of an axis leads from its point s to the next; for two axes it is the mixed difference.
        """
        from icefield.forest import CannotRead

        explainer, rows = self.explainer, self.rows[which]
        if self.engine == "trees":
            engine = cast("TreesEngine", explainer.plan.engine)
            try:
                return engine.differences(self.axes, explainer.table, rows, steps, explainer.resources)
            except CannotRead as reason:  # values the trees do not know, though the model itself may
                self.engine, self.reason = inquiry.brute_instead(explainer, str(reason)), str(reason)
        found = np.zeros((len(rows), len(explainer.model.outputs)))
        corners = list(product((0, 1), repeat=len(steps)))
        with Progress("moving rows", total=len(corners)) as progress:
            for corner in corners:
                at = [step + up for step, up in zip(steps, corner)]
                sign = (-1.0) ** (len(corner) - sum(corner))
                found += sign * predict_at(explainer.model, explainer.table, rows, self.axes, at)
                progress.advance()
        return found


def predict_rows(model: Model, table: Table) -> Float:
    """Predictions of a table's own rows, in calls of bounded size."""
    starts = range(0, table.n_rows, ROWS_PER_CALL)
    return np.concatenate(
        [model.predict(table.slice(s, min(s + ROWS_PER_CALL, table.n_rows))) for s in starts]
    )
