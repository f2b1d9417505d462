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

from icefield.data.distribution import BINS, RUG, USUAL_TRIM, Marginal, ranks_of
from icefield.data.features import Feature
from icefield.data.grid import DEFAULT_POINTS, POINTS_BEYOND, Grid
from icefield.data.looks import Looks
from icefield.typing import Float

TENTHS = np.linspace(0, 1, 11)


@dataclass(frozen=True)
class Known:
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
    points = DEFAULT_POINTS.get(n_features, POINTS_BEYOND) if points is None else points
    return (points, trim) if points > 1 else None


def rug_rows(n_rows: int, seed: int) -> NDArray[np.int64]:
    """The rows of a rug of a complete column."""
    return np.random.default_rng(seed).integers(0, n_rows, RUG)


def known_together(
    looks: Looks, features: Sequence[Feature], points: int, trim: tuple[float, float]
) -> list[Known | None]:
    """What is known of each feature; None where its column must be looked at by itself."""
    rows, dtype = looks.kept.shape[1], features[0].column.dtype
    plain = np.array([f.column.kind == "float" and f.column.decimals is None for f in features])
    with np.errstate(all="ignore"):
        fits = looks.fits & plain & (looks.filled > points) & ((looks.high - looks.low) / BINS > 0)
    if not fits.any():
        return [None] * len(features)
    # What does not fit is computed along with zeros, and thrown away.
    edges = _evenly(np.where(fits, looks.low, 0.0), np.where(fits, looks.high, 1.0), BINS + 1)
    limits = np.nextafter(edges[:, 1:-1], -np.inf)  # a value on an edge belongs to the bin above it
    ranks = ranks_of(np.concatenate([TENTHS, trim]), rows)
    found, below = looks.ask(ranks, limits)
    found = np.where(fits[:, None], found, 0.0).astype(dtype)
    deciles, ends = found[:, : len(TENTHS)], found[:, len(TENTHS) :].astype(np.float64)
    fits &= ((ends[:, 1] - ends[:, 0]) / (points - 1) > 0) & _rising(edges)
    if not fits.any():
        return [None] * len(features)
    grid = _evenly(np.where(fits, ends[:, 0], 0.0), np.where(fits, ends[:, 1], 1.0), points).astype(dtype)
    fits &= _rising(grid)
    ranked = grid.astype(np.float64)
    _, nearer = looks.ask(ranks[:0], ranked[:, :-1] / 2 + ranked[:, 1:] / 2)
    counts, nearest = (_between(at_most, rows) for at_most in (below, nearer))
    rug = np.sort(looks.drawn.astype(dtype), axis=1)

    def known(i: int) -> Known:
        marginal = Marginal(
            features[i].label, "float", float(rows), 0.0, counts[i], edges=edges[i], deciles=deciles[i], rug=rug[i]
        )  # fmt: skip
        return Known(marginal, grid[i], nearest[i])

    return [known(i) if fits[i] else None for i in range(len(features))]


def _evenly(low: Float, high: Float, points: int) -> Float:
    """As `np.linspace` gives them for each pair of ends."""
    return np.ascontiguousarray(np.linspace(low, high, points).T)


def _rising(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray((values[:, 1:] > values[:, :-1]).all(axis=1))


def _between(at_most: NDArray[np.int64], rows: int) -> Float:
    """How many values lie between neighbouring limits, before the first and after the last."""
    return np.diff(at_most, axis=1, prepend=0, append=rows).astype(np.float64)
