"""How alike a category's levels are, judged by the rows that have them.

Accumulating effects over levels needs an order in which neighbours are alike. Following Apley & Zhu
(2020, appendix on categorical predictors), two levels are as far apart as the distributions of the other features
are given each of them: the Kolmogorov-Smirnov distance for numbers, half the sum of
absolute differences of frequencies for categories, added over the features. The order is that of
the first coordinate of classical multidimensional scaling of these distances.

All distances between thousands of levels would take gigabytes, and minutes. Beyond `MOST_LEVELS` only the
most frequent levels are compared with each other, and every other level takes its place among them by its distances to
them (landmark scaling). So memory grows with the levels, not with their square.

Several categories are ordered together: every other column is put in order once, for all of them and whichever rows each knows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.code_counts import segment_counts
from icefield.data.distribution import looked_up_quantiles, ranks_of, weighted_quantiles
from icefield.data.frame import ORDERED_KINDS, Column
from icefield.typing import Float

CUTS = 100  # the distribution functions of numbers are compared at so many quantiles
CODES = 1_000  # levels of another column that are told apart; rarer ones count as one
FEW_CODES = 100  # the same, where there are landmarks
MOST_LEVELS = 1_000  # that are all compared with each other
LANDMARKS = 200  # the most frequent levels, with which all are compared where there are more
AT_ONCE = 2_000_000  # differences of frequencies held at once

Mapped = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


@dataclass(frozen=True, eq=False)
class ComparedLevels:
    """A category whose levels are compared with each other."""

    codes: NDArray[np.integer[Any]]  # level number of each row
    known: NDArray[np.bool_]  # which rows have a level, and weight
    weights: Float
    columns: Collection[Any]  # names of its own columns; its levels are compared by all others

    def take(self, rows: NDArray[np.intp]) -> ComparedLevels:
        return ComparedLevels(self.codes[rows], self.known[rows], self.weights[rows], self.columns)

    @cached_property
    def levels(self) -> NDArray[np.intp]:
        """The level numbers that occur."""
        return np.flatnonzero(np.bincount(self.codes[self.known]))

    @cached_property
    def places(self) -> NDArray[np.int32]:
        """The place of each row's level among those that occur; one beyond the last for rows that take no part."""
        place = np.full(int(self.levels.max(initial=0)) + 1, len(self.levels), np.int32)
        place[self.levels] = np.arange(len(self.levels))
        return np.where(self.known, place[np.where(self.known, self.codes, 0)], np.int32(len(self.levels)))

    @cached_property
    def unweighted(self) -> bool:
        return bool((self.weights[self.known] == 1.0).all())

    @cached_property
    def landmarks(self) -> NDArray[np.intp]:
        if len(self.levels) <= MOST_LEVELS:
            return np.arange(len(self.levels))
        mass = np.bincount(self.places, self.weights)[: len(self.levels)]
        return np.sort(np.argsort(-mass, kind="stable")[:LANDMARKS])

    def frequencies(self, column: _ColumnInOrder | _ColumnOfLevels) -> Float | None:
        """Of every level, the share of its rows that have each code of a column; None where that says nothing."""
        table = column.counts(self)
        if table is None:
            return None
        if column.rest is not None:  # whose rows have the last code
            weights = None if self.unweighted else self.weights[column.rest]
            table[:, -1] += np.bincount(self.places[column.rest], weights, minlength=len(self.levels) + 1)[
                :-1
            ]
        return np.asarray(table / table.sum(axis=1, keepdims=True))

    def cell_counts(self, rows: Any, code: NDArray[Any], n_codes: int) -> Float:
        """The weight of each level's rows that have each code, ``(levels, n_codes)``."""
        n_levels = len(self.levels)
        cell = self.places[rows] * np.int64(n_codes) + code
        weights = None if self.unweighted else self.weights[rows]
        table = np.bincount(cell, weights, minlength=(n_levels + 1) * n_codes)[: n_levels * n_codes]
        return table.reshape(n_levels, n_codes).astype(np.float64)

    def distances(self, column: _ColumnInOrder | _ColumnOfLevels) -> Float | None:
        """Of all levels to the landmarks, by one other column."""
        shares = self.frequencies(column)
        if shares is None:
            return None
        if column.ordered:
            shares = shares.cumsum(axis=1)
        marks, out = shares[self.landmarks], np.empty((len(shares), len(self.landmarks)))
        step = max(1, AT_ONCE // marks.size)
        for low in range(0, len(shares), step):
            part = slice(low, low + step)
            gap = np.abs(shares[part, None] - marks[None])
            out[part] = gap.max(axis=2) if column.ordered else 0.5 * gap.sum(axis=2)
        return out


def similarity_orders(
    compared: Sequence[ComparedLevels], columns: Iterable[Column], mapped: Mapped = map
) -> list[tuple[NDArray[np.intp], int]]:
    """Of several categories of the same rows, level numbers in order of similarity, and with how many of the levels each was compared.

    Levels are compared by the columns that are not their own; `mapped` does the work for each column, in order.
    """
    rows = np.flatnonzero(np.any([each.known for each in compared], axis=0))
    few = 2 * len(rows) < len(compared[0].known)
    if few:
        compared = [each.take(rows) for each in compared]
    # Rows of one value are added up in their own order, where sums depend on it.
    stable = not all(each.unweighted for each in compared)

    def work(column: Column) -> list[Float | None]:
        if column.kind == "other":
            return [None] * len(compared)
        part = column.part(rows) if few else column
        described = _ColumnInOrder(part, stable) if part.kind in ORDERED_KINDS else _ColumnOfLevels(part)
        return [each.distances(described) if part.name not in each.columns else None for each in compared]

    total = [np.zeros((len(each.levels), len(each.landmarks))) for each in compared]
    for distances in mapped(work, columns):
        for whole, part in zip(total, distances):
            if part is not None:
                whole += part
    return [(_in_order(each, distance), len(each.landmarks)) for each, distance in zip(compared, total)]


def _in_order(compared: ComparedLevels, distance: Float) -> NDArray[np.intp]:
    first = _first_coordinate(distance, compared.landmarks)
    # A coordinate has no direction of its own: take the one nearer to level order.
    if np.dot(first - first.mean(), np.arange(len(first)) - (len(first) - 1) / 2) < 0:
        first = -first
    return compared.levels[np.argsort(np.round(first, 12), kind="stable")]


def quantiles_of(values: NDArray[Any], probabilities: Float, weights: Float) -> NDArray[Any]:
    """Quantiles of finite values; where each counts once, from a summary of them instead of sorting all."""
    if not (weights == 1.0).all():
        return weighted_quantiles(values, probabilities, weights)
    from icefield.data.column_summary import ColumnSummary  # which loads the kernels

    return looked_up_quantiles(values, probabilities, ColumnSummary.of(values))


class _ColumnInOrder:
    """Rows by the value of a column of numbers or times; the `rest`, without a finite value, stand beyond the last quantile."""

    ordered = True

    def __init__(self, column: Column, stable: bool) -> None:
        values = column.to_float()
        finite = np.isfinite(values)
        self.rest = None if finite.all() else np.flatnonzero(~finite)
        inside = None if self.rest is None else np.flatnonzero(finite)
        known = values if inside is None else values[inside]
        order = np.argsort(known, kind="stable" if stable else None)
        self._rows = order if inside is None else inside[order]
        ranked = known[order]
        # Rows of one value stand together: where each such run ends.
        self._ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)[: len(ranked)])

    def counts(self, compared: ComparedLevels) -> Float | None:
        """The weight of each level's rows between the quantiles of all known rows' values, ``(levels, gaps)``."""
        known = compared.known[self._rows]
        taken = np.flatnonzero(known)
        if not len(taken):
            return None
        probabilities = np.linspace(0, 1, CUTS + 1)[1:]
        if compared.unweighted:
            cuts = taken[ranks_of(probabilities, len(taken))]
        else:
            cuts = weighted_quantiles(taken, probabilities, compared.weights[self._rows[taken]])
        ends = np.append(np.unique(self._ends[np.searchsorted(self._ends, cuts)]) + 1, len(known))
        if compared.unweighted:
            n_levels = len(compared.levels)
            return segment_counts(self._rows, ends, compared.places, n_levels + 1)[:, :n_levels].T.astype(
                np.float64
            )
        sizes = np.diff(ends, prepend=0)
        return compared.cell_counts(self._rows, np.repeat(np.arange(len(sizes)), sizes), len(sizes))


class _ColumnOfLevels:
    """Rows by the level of another category."""

    ordered, rest = False, None

    def __init__(self, column: Column) -> None:
        codes = column.codes
        self._codes = np.where(codes < 0, len(column.levels), codes)
        self._n_codes = len(column.levels) + 1

    def counts(self, compared: ComparedLevels) -> Float:
        """The weight of each level's rows that have each of the other's levels, ``(levels, codes)``; the rarest share a code."""
        most = CODES if len(compared.landmarks) == len(compared.levels) else FEW_CODES
        if self._n_codes <= most:
            return compared.cell_counts(slice(None), self._codes, self._n_codes)
        weights = np.where(compared.known, compared.weights, 0.0)
        frequent = np.argsort(-np.bincount(self._codes, weights, minlength=self._n_codes), kind="stable")
        place = np.full(self._n_codes, most - 1, dtype=np.int64)
        place[frequent[: most - 1]] = np.arange(most - 1)
        return compared.cell_counts(slice(None), place[self._codes], most)


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
