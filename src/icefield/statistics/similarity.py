"""How alike a category's levels are, judged by the rows that have them.

Accumulating effects over levels needs an order in which neighbours are alike. Following Apley & Zhu
(2020, appendix on categorical predictors), two levels are as far apart as the distributions of the other features
are given each of them: the Kolmogorov-Smirnov distance for numbers, half the sum of
absolute differences of frequencies for categories, added over the features. The order is that of
the first coordinate of classical multidimensional scaling of these distances.

All distances between thousands of levels would take gigabytes, and minutes. Beyond `MOST_LEVELS` only the
most frequent levels are compared with each other, and every other level takes its place among them by its distances to
them (landmark scaling). So memory grows with the levels, not with their square.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.distribution import looked_up_quantiles, weighted_quantiles
from icefield.data.frame import ORDERED_KINDS, Column
from icefield.typing import Float

CUTS = 100  # the distribution functions of numbers are compared at so many quantiles
CODES = 1_000  # levels of another column that are told apart; rarer ones count as one
FEW_CODES = 100  # the same, where there are landmarks
MOST_LEVELS = 1_000  # that are all compared with each other
LANDMARKS = 200  # the most frequent levels, with which all are compared where there are more
AT_ONCE = 2_000_000  # differences of frequencies held at once


def similarity_order(
    codes: NDArray[np.int64],
    levels: NDArray[np.intp],
    others: Sequence[Column],
    known: NDArray[np.bool_],
    weights: Float,
    remembered: dict[Any, _Described | None] | None = None,
) -> tuple[NDArray[np.intp], int]:
    """Level numbers in order of similarity, and with how many of the levels each was compared.

    Parameters
    ----------
    codes : level number of each known row
    levels : the level numbers that occur
    others : the other columns, over all rows
    known : which rows `codes` and `weights` belong to
    weights : weight of each known row
    remembered : what other columns were described as, for the very same rows: looked up, and added to
    """
    remembered = {} if remembered is None else remembered
    place = np.full(int(levels.max()) + 1, -1, dtype=np.intp)
    place[levels] = np.arange(len(levels))
    rows = _RowsByLevel.of(place[codes], weights, len(levels))
    landmarks, most_codes = np.arange(len(levels)), CODES
    if len(levels) > MOST_LEVELS:
        landmarks = np.sort(np.argsort(-rows.mass, kind="stable")[:LANDMARKS])
        most_codes = FEW_CODES
    distance = np.zeros((len(levels), len(landmarks)))
    for column in others:
        key = (column.name, most_codes)
        if key not in remembered:
            remembered[key] = described_column(column, known, weights, most_codes)
        described = remembered[key]
        if described is not None:
            _add_distances(distance, described, rows, landmarks)
    first = _first_coordinate(distance, landmarks)
    # A coordinate has no direction of its own: take the one nearer to level order.
    if np.dot(first - first.mean(), np.arange(len(first)) - (len(first) - 1) / 2) < 0:
        first = -first
    return levels[np.argsort(np.round(first, 12), kind="stable")], len(landmarks)


def quantiles_of(values: NDArray[Any], probabilities: Float, weights: Float) -> NDArray[Any]:
    """Quantiles of finite values; where each counts once, from a look at them instead of sorting all."""
    if not (weights == 1.0).all():
        return weighted_quantiles(values, probabilities, weights)
    from icefield.data.look import Look  # which loads the kernels

    return looked_up_quantiles(values, probabilities, Look.at(values))


@dataclass(frozen=True, eq=False)
class _RowsByLevel:
    """The known rows sorted by level, so that the frequencies of some levels need only their rows."""

    order: NDArray[np.intp]
    group: NDArray[np.intp]
    weights: Float
    start: NDArray[np.intp]
    mass: Float

    @classmethod
    def of(cls, group: NDArray[np.intp], weights: Float, n_levels: int) -> _RowsByLevel:
        order = np.argsort(group, kind="stable")
        start = np.searchsorted(group[order], np.arange(n_levels + 1))
        mass = np.asarray(np.bincount(group, weights, minlength=n_levels), dtype=np.float64)
        return cls(order, group[order], weights[order], start, mass)

    def frequencies(self, code: NDArray[Any], n_codes: int, low: int, high: int) -> Float:
        """Share of every code among the rows of levels `low` to `high`."""
        at = slice(self.start[low], self.start[high])
        cell = (self.group[at] - low) * n_codes + code[self.order[at]]
        table = np.bincount(cell, self.weights[at], minlength=(high - low) * n_codes)
        table = table.reshape(high - low, n_codes)
        return np.asarray(table / table.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class _Described:
    """Another column as a few codes per known row; `ordered` where codes have an order."""

    code: NDArray[Any]
    n_codes: int
    ordered: bool

    @classmethod
    def of(cls, code: NDArray[Any], n_codes: int, ordered: bool) -> _Described:
        """Codes as small as they can be."""
        return cls(code.astype(np.min_scalar_type(n_codes)), n_codes, ordered)


def described_column(
    column: Column, known: NDArray[np.bool_], weights: Float, most_codes: int
) -> _Described | None:
    """A column as a few codes per known row; None where it says nothing."""
    if column.kind == "other":
        return None
    if column.kind in ORDERED_KINDS:
        values = column.to_float()[known]
        present = np.isfinite(values)
        if not present.any():
            return None
        # Missing and infinite values stand beyond the last cut, so their share counts as well.
        cuts = np.unique(quantiles_of(values[present], np.linspace(0, 1, CUTS + 1)[1:], weights[present]))
        code = np.where(present, np.searchsorted(cuts, values, side="left"), len(cuts))
        return _Described.of(code, len(cuts) + 1, True)
    code = column.codes[known]
    code = np.where(code < 0, len(column.levels), code)
    n_codes = len(column.levels) + 1
    if n_codes > most_codes:
        frequent = np.argsort(-np.bincount(code, weights, minlength=n_codes), kind="stable")
        place = np.full(n_codes, most_codes - 1, dtype=np.int64)
        place[frequent[: most_codes - 1]] = np.arange(most_codes - 1)
        code, n_codes = place[code], most_codes
    return _Described.of(code, n_codes, False)


def _add_distances(
    distance: Float, described: _Described, rows: _RowsByLevel, landmarks: NDArray[np.intp]
) -> None:
    """Add the distances of all levels to the landmarks, by one other column."""

    def profiles(low: int, high: int) -> Float:
        found = rows.frequencies(described.code, described.n_codes, low, high)
        return found.cumsum(axis=1) if described.ordered else found

    n_levels = len(distance)
    if len(landmarks) == n_levels:
        marks = profiles(0, n_levels)
    else:
        marks = np.concatenate([profiles(at, at + 1) for at in landmarks.tolist()])
    step = max(1, AT_ONCE // marks.size)
    for low in range(0, n_levels, step):
        part = slice(low, min(low + step, n_levels))
        own = marks[part] if len(landmarks) == n_levels else profiles(part.start, part.stop)
        gap = np.abs(own[:, None] - marks[None])
        distance[part] += gap.max(axis=2) if described.ordered else 0.5 * gap.sum(axis=2)


def _first_coordinate(distance: Float, landmarks: NDArray[np.intp]) -> Float:
    """Classical scaling: the leading eigenvector of the landmarks' doubly centred squared distances.

    A level that is no landmark stands where its squared distances to them, centred alike, put it.
    """
    squared = np.square(distance[landmarks])
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    if len(landmarks) == len(distance):
        return vectors[:, -1]
    scale = values[-1] if values[-1] > 0 else 1.0
    return np.asarray(-0.5 * (np.square(distance) - squared.mean(axis=0)) @ vectors[:, -1] / scale)
