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

from icefield.data.at_ranks import in_order
from icefield.data.code_counts import counts_between_ranks
from icefield.data.distribution import looked_up_quantiles, ranks_of, weighted_quantiles
from icefield.data.frame import ORDERED_KINDS, Column
from icefield.typing import Float, Int64

CUTS = 100  # the distribution functions of numbers are compared at so many quantiles
PROBABILITIES = np.linspace(0, 1, CUTS + 1)[1:]
CODES = 1_000  # levels of another column that are told apart; rarer ones count as one
FEW_CODES = 100  # the same, where there are landmarks
MOST_LEVELS = 1_000  # that are all compared with each other
LANDMARKS = 200  # the most frequent levels, with which all are compared where there are more
LEVELS_TOGETHER = 10_000  # of several categories that are counted together
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

    def cell_counts(self, rows: Any, code: NDArray[Any], n_codes: int) -> Float:
        """The weight of each level's rows that have each code, ``(levels, n_codes)``."""
        n_levels = len(self.levels)
        cell = self.places[rows] * np.int64(n_codes) + code
        weights = None if self.unweighted else self.weights[rows]
        table = np.bincount(cell, weights, minlength=(n_levels + 1) * n_codes)[: n_levels * n_codes]
        return table.reshape(n_levels, n_codes).astype(np.float64)

    def distances(self, table: Float, ordered: bool) -> Float:
        """Of all levels to the landmarks, by the weights of their rows that have each code of a column, in `ordered` ones up to it."""
        shares = table / table.sum(axis=1, keepdims=True)
        if ordered:
            shares = shares.cumsum(axis=1)
        marks, out = shares[self.landmarks], np.empty((len(shares), len(self.landmarks)))
        step = max(1, AT_ONCE // marks.size)
        for low in range(0, len(shares), step):
            part = slice(low, low + step)
            if ordered:  # codes first: the largest of many is found for all pairs of levels side by side
                gap = shares.T[:, part, None] - marks.T[:, None]
                out[part] = np.abs(gap, out=gap).max(axis=0)
            else:
                gap = shares[part, None] - marks[None]
                out[part] = 0.5 * np.abs(gap, out=gap).sum(axis=2)
        return out


class ComparedTogether:
    """Categories of the same rows; where none is weighted, the rows of all their levels are counted in one walk."""

    def __init__(self, each: Sequence[ComparedLevels]) -> None:
        self.each = each
        self.unweighted = all(compared.unweighted for compared in each)
        self.n_known = np.array([np.count_nonzero(compared.known) for compared in each])

    @cached_property
    def starts(self) -> Int64:
        """Where each category's levels begin among those of all, and where the last one's end."""
        return np.cumsum([0, *(len(compared.levels) for compared in self.each)])

    @cached_property
    def places(self) -> NDArray[np.int32]:
        """Each row's level in each category, ``(rows, categories)``, as its place among those of all; beyond them where it has none."""
        places = np.empty((len(self.each[0].known), len(self.each)), np.int32)
        for number, compared in enumerate(self.each):
            begin, beyond = np.int32(self.starts[number]), np.int32(self.starts[-1] + number)
            places[:, number] = np.where(compared.known, compared.places + begin, beyond)
        return places


def similarity_orders(
    compared: Sequence[ComparedLevels], columns: Iterable[Column], mapped: Mapped = map
) -> list[tuple[NDArray[np.intp], int]]:
    """Of several categories of the same rows, level numbers in order of similarity, and with how many of the levels each was compared.

    Levels are compared by the columns that are not their own; `mapped` does the work for each column, in order.
    """
    if len(compared) > 1 and sum(len(each.levels) for each in compared) > LEVELS_TOGETHER:
        half, columns = len(compared) // 2, list(columns)
        return [
            order
            for part in (compared[:half], compared[half:])
            for order in similarity_orders(part, columns, mapped)
        ]
    rows = np.flatnonzero(np.any([each.known for each in compared], axis=0))
    few = 2 * len(rows) < len(compared[0].known)
    if few:
        compared = [each.take(rows) for each in compared]
    together = ComparedTogether(compared)

    def work(column: Column) -> list[Float | None]:
        if column.kind == "other":
            return [None] * len(compared)
        part = column.part(rows) if few else column
        in_order = part.kind in ORDERED_KINDS
        described = _ColumnInOrder(part, together) if in_order else _ColumnOfLevels(part, together)
        return [
            None if table is None or part.name in each.columns else each.distances(table, in_order)
            for each, table in zip(compared, described.counts())
        ]

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
    """Rows by the value of a column of numbers or times; those without a finite value stand beyond the last quantile."""

    def __init__(self, column: Column, compared: ComparedTogether) -> None:
        self._compared = compared
        values = column.to_float()
        self._rows, self._is_last, self._finite = in_order(values)
        if not compared.unweighted:  # rows of one value are added up in their own order: sums depend on it
            self._rows = np.argsort(np.where(np.isfinite(values), values, np.inf), kind="stable")

    def counts(self) -> Iterable[Float | None]:
        """Of each category, the weight of each level's rows between the quantiles of all known rows' values, ``(levels, gaps)``."""
        if not self._compared.unweighted:
            return [self._weighted_counts(compared) for compared in self._compared.each]
        places, starts = self._compared.places, self._compared.starts
        rest = self._rows[self._finite :]
        known = self._compared.n_known - [np.count_nonzero(one.known[rest]) for one in self._compared.each]
        ranks = ranks_of(PROBABILITIES, np.maximum(known, 1)[:, None])
        tables = counts_between_ranks(self._rows, self._is_last, places, starts, ranks)
        return [table.T.astype(np.float64) for table in tables]

    def _weighted_counts(self, compared: ComparedLevels) -> Float | None:
        taken = np.flatnonzero(compared.known[self._rows[: self._finite]])
        if not len(taken):
            return None
        cuts = weighted_quantiles(taken, PROBABILITIES, compared.weights[self._rows[taken]])
        ends = np.flatnonzero(self._is_last)
        ends = np.append(np.unique(ends[np.searchsorted(ends, cuts)]) + 1, len(self._rows))
        sizes = np.diff(ends, prepend=0)
        return compared.cell_counts(self._rows, np.repeat(np.arange(len(sizes)), sizes), len(sizes))


class _ColumnOfLevels:
    """Rows by the level of another category."""

    def __init__(self, column: Column, compared: ComparedTogether) -> None:
        self._compared, codes = compared, column.codes
        self._codes = np.where(codes < 0, len(column.levels), codes)
        self._n_codes = len(column.levels) + 1

    def counts(self) -> Iterable[Float | None]:
        """Of each category, the weight of each level's rows that have each of these levels, ``(levels, codes)``."""
        return map(self._counts, self._compared.each)

    def _counts(self, compared: ComparedLevels) -> Float:
        """The same of one category; the rarest levels share a code."""
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
