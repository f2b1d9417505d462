"""Where a stream's data lies: grids, distributions and weights at grid points, from what one pass learned.

It has the three methods of `icefield.data.column_statistics.Whereabouts`, and asks the same functions for the same things; only that
a column's `Summary` stands in for its rows. What needs two columns together, or a group of rows, is added up in
a pass, or taken from the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.column_statistics import Whereabouts
from icefield.data.distribution import Distribution, marginal_of
from icefield.data.features import Feature, check_levels, nearest_points
from icefield.data.grid import Grid, grid_values, specifications
from icefield.rows.column_sketch import Summary
from icefield.typing import Float


class Standing:
    """The data's side of effects, for a stream.

    Parameters
    ----------
    summary_of : a feature's summary over all rows
    sample : the same for the rows of the sample, for what needs rows together
    seed : for the rug
    """

    def __init__(self, summary_of: Callable[[Feature], Summary], sample: Whereabouts, seed: int) -> None:
        self._summary_of, self._sample, self._seed = summary_of, sample, seed
        self._placed: dict[tuple[int, ...], list[Float]] = {}
        self._exact: dict[tuple[Any, int, Grid], Summary] = {}

    def prepare(self, sets: Any, asked: Sequence[Any], thresholds: Any, threads: int, meanwhile: Any) -> None:
        """Nothing: the survey has looked at every column."""

    def grids(
        self, features: Sequence[Feature], asked: Any, thresholds: Callable[[Feature], Float] | None
    ) -> tuple[tuple[NDArray[Any], ...], str]:
        """The grid of every feature for what was passed as ``grid=``, and notes about them."""
        values, notes = [], []
        for feature, wanted in zip(features, specifications(asked, [f.label for f in features])):
            own = None if thresholds is None else lambda feature=feature: thresholds(feature)
            summary = self._exact.get((feature.label, len(features), wanted)) if is_exact(wanted) else None
            if summary is None:
                summary = self._summary_of(feature)
            points, note = grid_values(wanted, summary.column, len(features), summary.weights, own)
            check_levels(feature, points)
            values.append(points)
            if note:
                notes.append(f"{feature.label}: {note}")
            if is_sketched(wanted, summary):
                notes.append(
                    f"{feature.label}: grid from a sketch of all rows, ranks off by at most {summary.rank_error:.2%}"
                )
        return tuple(values), "; ".join(notes)

    def lacks_exact(self, feature: Feature, n_features: int, wanted: Any) -> bool:
        """Whether quantiles are to be exact that are known from a sketch only."""
        if not is_exact(wanted) or (feature.label, n_features, wanted) in self._exact:
            return False
        return not self._summary_of(feature).distinct and len(wanted.probabilities(n_features)) > 0

    def keep_exact(self, feature: Feature, n_features: int, wanted: Grid, summary: Summary) -> None:
        """Remember a summary with the exact quantiles that a grid needs."""
        self._exact[feature.label, n_features, wanted] = summary

    def keep_placed(self, grid: Sequence[NDArray[Any]], weights: list[Float]) -> None:
        """Remember the weights at a grid's points, which a pass added up."""
        self._placed[_key(grid)] = weights

    def forget_placed(self, grid: Sequence[NDArray[Any]]) -> None:
        self._placed.pop(_key(grid), None)

    def needs_rows(self, features: Sequence[Feature], asked: Any, n_groups: int) -> bool:
        """Whether weights at grid points must be added up in a pass."""
        if len(features) > 1 or n_groups:
            return True
        (wanted,) = specifications(asked, [features[0].label])
        summary = self._summary_of(features[0])
        # A sketched grid has the sketch's error anyway; values the caller gave are to be exact.
        return not summary.distinct and not is_sketched(wanted, summary)

    def point_weights(
        self,
        features: Sequence[Feature],
        grid: Sequence[NDArray[Any]],
        codes: NDArray[np.intp] | None,
        n_groups: int,
    ) -> list[Float]:
        """Weight of the data nearest to each grid point: over all rows, then per group."""
        if _key(grid) in self._placed:
            return self._placed[_key(grid)]
        if len(features) > 1 or n_groups:  # rows chosen by who asked: as the sample has them
            return self._sample.point_weights(features, grid, codes, n_groups)
        summary = self._summary_of(features[0])
        nearest, has = nearest_points(grid[0], summary.column)
        placed = np.bincount(nearest[has], summary.weights[has], minlength=len(grid[0]))
        return [placed.astype(np.float64)]

    def distribution(self, features: Sequence[Feature]) -> Distribution:
        """What pictures need of the data: single features over all rows, pairs and rugs from the sample."""
        drawn = self._sample.distribution(features)
        found = []
        for feature, own in zip(features, drawn.marginals):
            summary = self._summary_of(feature)
            rng = np.random.default_rng(self._seed)
            whole = marginal_of(feature.label, summary.column, summary.weights, rng)
            found.append(replace(whole, rug=own.rug))
        return Distribution(tuple(found), drawn.joint)


def is_exact(wanted: Any) -> bool:
    """Whether a grid asks for exact quantiles."""
    return isinstance(wanted, Grid) and wanted.exact


def is_sketched(wanted: Any, summary: Summary) -> bool:
    """Whether a grid's points depend on ranks that are only known up to an error."""
    if summary.distinct or isinstance(wanted, bool) or (is_exact(wanted) and wanted.kind != "distinct"):
        return False
    return (
        wanted is None
        or isinstance(wanted, (int, np.integer))
        or (isinstance(wanted, Grid) and wanted.kind != "thresholds")
    )


def _key(grid: Sequence[NDArray[Any]]) -> tuple[int, ...]:
    return tuple(id(values) for values in grid)
