"""Statistics of several columns of floats from one scan: marginals, grids, rows near each point.

The same as `marginal_of`, `grid_values` and `nearest_counts` find of each by itself, number by number. Whatever has a
way of its own there (infinite values, few distinct ones, a range without width) is left to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import Column
from icefield.data.distribution import RUG, Marginal
from icefield.data.grid import DEFAULT_POINTS, POINTS_BEYOND, Grid
from icefield.data.looks import Looks
from icefield.typing import Float

TENTHS = tuple(k / 10 for k in range(11))


@dataclass(frozen=True)
class KnownColumn:
    """What was found of one column: its marginal, its grid, how many rows are nearest to each point, and how many are missing.

    The grid has no missing point.
    """

    marginal: Marginal
    grid: NDArray[Any]
    nearest: Float
    missing: int


@dataclass(frozen=True)
class GridPlaces:
    """Where points lie that are found for many columns together.

    Attributes
    ----------
    probabilities : of quantiles; where there are no `further` points, of the two between which `points` lie evenly
    points : how many, at most
    further : values next to even points, beside the quantiles
    """

    probabilities: tuple[float, ...]
    points: int
    further: int = 0


def places_of(plan: Any, n_features: int) -> GridPlaces | None:
    """Where the points of a grid lie, as `planned` gives it; None for a grid that is not found for columns together."""
    if not isinstance(plan, Grid):
        return None
    if plan.kind == "auto":
        quantiles, further = plan.parts
        if quantiles < 2 or further < 2:
            return None
        probabilities = tuple(k / (quantiles - 1) for k in range(quantiles))
        return GridPlaces(probabilities, quantiles + further, further)
    points = DEFAULT_POINTS.get(n_features, POINTS_BEYOND) if plan.points is None else plan.points
    return GridPlaces(plan.trim, points) if plan.kind == "uniform" and points > 1 else None


def rug_rows(n_rows: int, seed: int) -> NDArray[np.int64]:
    """The rows of a rug of a complete column."""
    return np.random.default_rng(seed).integers(0, n_rows, RUG)


def known_together(
    block: Sequence[tuple[Any, Column]],
    rows: NDArray[np.int64],
    places: GridPlaces,
    room: Float | None,
) -> tuple[list[KnownColumn | None], Looks]:
    """The statistics of each column, given with its label, None where it must be scanned by itself; and the scan."""
    # Among the usual grid's quantiles the deciles are anyway.
    every = 0 if len(places.probabilities) == 2 else (len(places.probabilities) - 1) // (len(TENTHS) - 1)
    held = every > 0 and places.probabilities[::every] == TENTHS
    own = places.probabilities if held else (*TENTHS, *places.probabilities)
    looks = Looks(
        [column.values for _, column in block], rows, np.array(own), 0 if held else len(TENTHS), places.points,
        places.further, room,
    )  # fmt: skip
    rug = np.sort(looks.drawn, axis=1)  # missing values last
    total, deciles = (
        float(looks.kept.shape[1]),
        looks.quantiles[:, ::every] if held else looks.quantiles[:, : len(TENTHS)],
    )

    def known(i: int, label: Any, column: Column) -> KnownColumn | None:
        if not looks.known[i] or column.kind != "float" or column.decimals is not None:
            return None
        missing = looks.missing[i]
        drawn = rug[i, : len(rug[i]) - np.count_nonzero(np.isnan(rug[i]))] if missing else rug[i]
        marginal = Marginal(
            label, "float", total, float(missing), looks.counts[i], edges=looks.edges[i], deciles=deciles[i], rug=drawn
        )  # fmt: skip
        size = looks.sizes[i]
        return KnownColumn(marginal, looks.grid[i, :size], looks.nearest[i, :size], missing)

    return [known(i, *one) for i, one in enumerate(block)], looks
