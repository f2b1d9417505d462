"""How alike a category's levels are, judged by the rows that have them.

Accumulating effects over levels needs an order in which neighbours are alike. Following Apley & Zhu
(2020, appendix on categorical predictors), two levels are as far apart as the distributions of the other features
are given each of them: the Kolmogorov-Smirnov distance for numbers, half the sum of
absolute differences of frequencies for categories, added over the features. The order is that of
the first coordinate of classical multidimensional scaling of these distances.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from icefield.data.distribution import weighted_quantiles
from icefield.data.frame import ORDERED_KINDS, Column
from icefield.typing import Float

CUTS = 100  # the distribution functions of numbers are compared at so many quantiles


def similarity_order(
    codes: NDArray[np.int64],
    levels: NDArray[np.intp],
    others: Sequence[Column],
    known: NDArray[np.bool_],
    weights: Float,
) -> NDArray[np.intp]:
    """Level numbers in order of similarity.

    Parameters
    ----------
    codes : level number of each known row
    levels : the level numbers that occur
    others : the other columns, over all rows
    known : which rows `codes` and `weights` belong to
    weights : weight of each known row
    """
    place = np.full(int(levels.max()) + 1, -1, dtype=np.intp)
    place[levels] = np.arange(len(levels))
    group = place[codes]
    distance = np.zeros((len(levels), len(levels)))
    for column in others:
        distance += _distance(column, group, known, weights, len(levels))
    first = _first_coordinate(distance)
    # A coordinate has no direction of its own: take the one nearer to level order.
    if np.dot(first - first.mean(), np.arange(len(first)) - (len(first) - 1) / 2) < 0:
        first = -first
    return levels[np.argsort(np.round(first, 12), kind="stable")]


def _distance(
    column: Column, group: NDArray[np.intp], known: NDArray[np.bool_], weights: Float, n_levels: int
) -> Float:
    if column.kind == "other":
        return np.zeros((n_levels, n_levels))
    if column.kind in ORDERED_KINDS:
        values = column.to_float()[known]
        present = np.isfinite(values)
        if not present.any():
            return np.zeros((n_levels, n_levels))
        # Missing and infinite values stand beyond the last cut, so their share counts as well.
        cuts = np.unique(
            weighted_quantiles(values[present], np.linspace(0, 1, CUTS + 1)[1:], weights[present])
        )
        code = np.where(present, np.searchsorted(cuts, values, side="left"), len(cuts))
        return _largest_gap(_frequencies(group, code, weights, n_levels, len(cuts) + 1).cumsum(axis=1))
    code = column.codes[known]
    code = np.where(code < 0, len(column.levels), code)
    frequency = _frequencies(group, code, weights, n_levels, len(column.levels) + 1)
    return 0.5 * np.abs(frequency[:, None] - frequency[None]).sum(axis=2)


def _frequencies(
    group: NDArray[np.intp], code: NDArray[np.int64], weights: Float, n_levels: int, n_codes: int
) -> Float:
    table = np.bincount(group * n_codes + code, weights, minlength=n_levels * n_codes)
    table = table.reshape(n_levels, n_codes)
    return table / table.sum(axis=1, keepdims=True)


def _largest_gap(cumulative: Float) -> Float:
    return np.abs(cumulative[:, None] - cumulative[None]).max(axis=2)


def _first_coordinate(distance: Float) -> Float:
    """Classical scaling: the leading eigenvector of the doubly centred squared distances."""
    squared = np.square(distance)
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    _, vectors = np.linalg.eigh(-0.5 * centred)
    return vectors[:, -1]
