"""Which rows stand for all of them, where asking about every one would cost too much.

A user's own `rows=` always comes first. Otherwise every row is used wherever that is cheap, and a seeded sample
where it is not. How large these samples are is said here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from icefield import validate
from icefield.counts import counted
from icefield.typing import Float, Positions

# Where each row costs predictions, by how many a row costs:
CURVE_ROWS = 1_000  # a curve of about a hundred
CROSSED_ROWS = (
    300  # a surface, or one for every other row of the sample: at most 90,000 for a set of features
)
STEP_ROWS = 5_000  # the ends of a step: two or four

# Whatever the engine:
PREDICTION_ROWS = 20_000  # behind `Effect.baseline` and `Effect.output_std`, the unit of every strength
KEPT_CURVES = 300  # individual curves kept for pictures
READ_CURVES = 1_000  # individual curves behind what is said of a feature, and behind its regions
PERMUTED_ROWS = 2_000
STREAMED_ROWS = 20_000  # of a stream, drawn for what needs rows together


@dataclass(frozen=True, eq=False)
class Chosen:
    """The rows that are used, None for every one, and a note that says so where some are not."""

    positions: Positions | None = None
    note: str = ""


def choose_rows(rows: Any, n_rows: int, seed: int, limit: int | None = None) -> Chosen:
    """The rows asked for; without any, all of them, or `limit` where there are more."""
    wanted = rows
    if rows is None:
        if limit is None or n_rows <= limit:
            return Chosen()
        wanted = limit
    positions = validate.row_positions(wanted, n_rows, seed)
    if len(positions) == n_rows:
        return Chosen(positions)
    how = "sampled with the seed" if isinstance(wanted, (int, np.integer)) else "as given"
    return Chosen(positions, f"{counted(len(positions))} of {counted(n_rows)} rows, {how}")


def in_proportion(
    count: int, n_rows: int, weights: Float | None, seed: int
) -> tuple[Positions, Float | None]:
    """So many rows that stand for all, and their weights: each row as often as its weight says.

    One is drawn from every one of `count` equal shares of the weight, in the order of the rows, so that a row of
    weight 2 is drawn where a duplicate of it would be; a heavy row may be drawn twice, and all that are drawn count
    alike. Where there are no more rows than that, all are taken, with their own weights.

    Examples
    --------
    >>> in_proportion(3, 2, np.array([1.0, 2.0]), seed=0)
    (array([0, 1]), array([1., 2.]))
    >>> in_proportion(2, 4, np.array([0.0, 0.0, 5.0, 0.0]), seed=0)
    (array([2, 2]), array([1., 1.]))
    """
    if count >= n_rows:
        return np.arange(n_rows), weights
    reached = np.arange(1.0, n_rows + 1.0) if weights is None else np.cumsum(weights)
    draws = (np.arange(count) + np.random.default_rng(seed).random(count)) / count
    rows = np.searchsorted(reached, draws * reached[-1], side="right")
    return np.minimum(rows, n_rows - 1), None if weights is None else np.ones(count)
