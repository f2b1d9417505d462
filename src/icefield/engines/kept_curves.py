"""What all engines do alike where curves of single rows are kept: whether they fit, and their quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.core.question import Question
from icefield.counts import counted
from icefield.data.at_ranks import values_at_ranks
from icefield.data.distribution import ranks_of, weighted_quantiles
from icefield.errors import BudgetError
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.threads import ThreadCrew


def lane_quantiles(
    lanes: Float, probabilities: tuple[float, ...], weights: Float | None, crew: ThreadCrew | None = None
) -> Float:
    """Quantiles along the last axis of ``(outputs, points, rows)``, shape ``(quantiles, outputs, points)``; by a crew's threads.

    A lane with a NaN has no quantiles: any number would pretend to know where that row stands.
    """
    out = np.full((len(probabilities), *lanes.shape[:-1]), np.nan)
    if lanes.shape[-1] == 0 or (weights is not None and not (weights > 0).any()):
        return out
    asked = np.array(probabilities)
    counted = slice(None) if weights is None else weights > 0
    ranks = ranks_of(asked, lanes.shape[-1])

    def find(at: Any) -> None:
        lane = lanes[at]
        if np.isnan(lane[counted]).any():
            return
        found = values_at_ranks(lane, ranks) if weights is None else weighted_quantiles(lane, asked, weights)
        out[(slice(None), *at)] = found

    each = np.ndindex(*lanes.shape[:-1])
    for _ in map(find, each) if crew is None else crew.map(find, each):
        pass
    return out


def check_fits(question: Question, n_rows: int, outputs: int, memory: int) -> None:
    """Refuse what would not fit the budget, with the size it would take."""
    points = int(np.prod(question.shape))
    kept = question.rows
    if kept is not None:
        what = f"{counted(len(kept))} individual curves x {counted(points)} grid points"
        instead = "keep a sample of the curves with rows={} (averages still use every row)"
        _check_size(len(kept), 8 * outputs * points, memory, what, instead)
    if question.quantiles:
        what = f"Exact quantiles need every row's prediction at a grid point at once: {counted(n_rows)} rows"
        _check_size(n_rows, 8 * outputs, memory, what, "use a sample with rows={}")


def _check_size(rows: int, per_row: int, memory: int, what: str, instead: str) -> None:
    if (size := per_row * rows) > memory:
        sizes = f"{size / 2**20:,.0f} MB, over the budget of {memory / 2**20:,.0f} MB."
        hint = instead.format(max(1, int(memory // per_row)))
        raise BudgetError.saying(f"{what} would take {sizes}", f"{hint}, or raise Explainer(memory=...)")
