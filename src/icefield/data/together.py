"""What is known of several columns of floats from one look at all of them: marginals, even grids, rows near each point.

The same as `marginal_of`, `grid_values` and `nearest_counts` find of each by itself, number by number. Whatever has a
way of its own there (missing values, few distinct ones, a range without width) is left to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import Column
from icefield.data.distribution import RUG, USUAL_TRIM, Marginal
from icefield.data.grid import DEFAULT_POINTS, POINTS_BEYOND, Grid
from icefield.data.looks import Looks
from icefield.typing import Float

TENTHS = np.linspace(0, 1, 11)


@dataclass(frozen=True)
class KnownColumn:
    """What was found of one column: its marginal, its grid, and how many rows are nearest to each point."""

    marginal: Marginal
    grid: NDArray[Any]
    nearest: Float


def even_points(wanted: Any, n_features: int) -> tuple[int, tuple[float, float]] | None:
    """The number of evenly spaced points that are asked for, and between which quantiles; None for other grids."""
    if wanted is None or (isinstance(wanted, Grid) and wanted.kind == "uniform"):
        points = None if wanted is None else wanted.points
        trim = USUAL_TRIM if wanted is None else wanted.trim
    elif isinstance(wanted, int) and not isinstance(wanted, bool):
        points, trim = wanted, USUAL_TRIM
    else:
        return None
    points = usual_points(n_features)[0] if points is None else points
    return (points, trim) if points > 1 else None


def usual_points(n_features: int) -> tuple[int, tuple[float, float]]:
    """The same where nothing is said about the grid."""
    return DEFAULT_POINTS.get(n_features, POINTS_BEYOND), USUAL_TRIM


def rug_rows(n_rows: int, seed: int) -> NDArray[np.int64]:
    """The rows of a rug of a complete column."""
    return np.random.default_rng(seed).integers(0, n_rows, RUG)


def known_together(
    block: Sequence[tuple[Any, Column]],
    rows: NDArray[np.int64],
    even: tuple[int, tuple[float, float]],
    room: Float | None,
) -> tuple[list[KnownColumn | None], Looks]:
    """What is known of each column, given with its label, None where its column must be looked at by itself; and the look."""
    points, trim = even
    looks = Looks([column.values for _, column in block], rows, np.concatenate([TENTHS, trim]), points, room)
    rug = np.sort(looks.drawn, axis=1)
    total, deciles = float(looks.kept.shape[1]), looks.quantiles[:, : len(TENTHS)]

    def known(i: int, label: Any, column: Column) -> KnownColumn | None:
        if not looks.known[i] or column.kind != "float" or column.decimals is not None:
            return None
        marginal = Marginal(
            label, "float", total, 0.0, looks.counts[i], edges=looks.edges[i], deciles=deciles[i], rug=rug[i]
        )  # fmt: skip
        return KnownColumn(marginal, looks.grid[i], looks.nearest[i])

    return [known(i, *one) for i, one in enumerate(block)], looks
