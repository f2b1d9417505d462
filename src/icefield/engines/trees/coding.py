"""Rows as codes of one byte: where each value lies among all cuts of its column, in an eighth of the memory of numbers.

No condition of a forest tells values between two neighbouring cuts apart, so a code routes as its value does, whatever
trees are asked and whatever moves. Rows in this form are kept for the next question, and chosen rows are taken from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from icefield import kernels
from icefield.forest.form import ZERO_THRESHOLD, Forest
from icefield.typing import Bytes, Float, Int32, Int64, Positions

BUCKETS = 1024
TRIMMED = (0.0, 0.005, 0.02, 0.05)  # shares of a column's cuts left to its end buckets, at either end
CODES = 256  # of one byte; the last is for NaN
MOST_CUTS = CODES - 2  # one more code is for values beyond the last


@dataclass(frozen=True, eq=False, repr=False)
class SearchTables:
    """Where a value lies among the sorted cuts of its column: a bucket's first cut, then a short search; by column."""

    cuts: Float  # of all columns, each followed by enough NaN
    cut_start: Int64
    count: Int64
    low: Float
    scale: Float
    bucket_start: Int32
    steps: Int32

    @classmethod
    def of(cls, cuts: list[Float]) -> SearchTables:
        """Tables for each column's cuts."""
        count = np.array([c.size for c in cuts], np.int64)
        low, scale, bucket_start = _buckets(cuts, count)
        most = np.diff(bucket_start, axis=1).max(axis=1, initial=0)
        steps = np.array([int(m).bit_length() for m in most], np.int32)
        # The search may look past a column's last cut: NaN there is below nothing.
        padded = [np.concatenate([c, np.full(1 << int(s), np.nan)]) for c, s in zip(cuts, steps)]
        begin = starts(np.array([c.size for c in padded], np.int64))[:-1].copy()
        flat = np.concatenate([np.zeros(0), *padded])
        return cls(flat, begin, count, low, scale, bucket_start, steps)


@dataclass(frozen=True, eq=False, repr=False)
class Coding:
    """What codes mean.

    Attributes
    ----------
    columns : the forest's columns that conditions ask about
    place : by column of the forest, its place among these; 0 for others
    values : ``(columns, codes)``, a value that routes as all values of a code do
    """

    columns: Int32
    place: Int32
    values: Float
    search: SearchTables
    missing = CODES - 1

    @property
    def count(self) -> Int64:
        """How many cuts each column has."""
        return self.search.count

    @classmethod
    def of(cls, forest: Forest) -> Coding | None:
        """The coding of a forest; None where some column has too many cuts for a byte."""
        columns, owner = np.unique(forest.condition_column, return_inverse=True)
        order = np.argsort(owner, kind="stable")
        ends = np.searchsorted(owner[order], np.arange(columns.size + 1))
        cuts = []
        for begin, end in pairwise(ends.tolist()):
            found = _cuts(forest, order[begin:end])
            if found.size > MOST_CUTS:
                return None
            cuts.append(found)
        values = np.full((columns.size, CODES), np.nan)
        for own, found in zip(values, cuts):
            own[: found.size + 1] = [*found, np.inf]
        place = np.zeros(forest.n_columns, np.int32)
        place[columns] = np.arange(columns.size)
        return cls(columns.astype(np.int32), place, values, SearchTables.of(cuts))

    def code(
        self, matrix: Float | NDArray[np.float32], column: Int32, own: slice,
        codes: Bytes, first_row: int = 0
    ) -> None:  # fmt: skip
        """Write the codes of some columns, which are in these columns of a matrix, from a row on."""
        search = self.search
        kernels.code_values(
            matrix=matrix, column=column, cuts=search.cuts, cut_start=search.cut_start[own], low=search.low[own],
            scale=search.scale[own], bucket_start=search.bucket_start[own], steps=search.steps[own],
            first_row=first_row, codes=codes[own],
        )  # fmt: skip


def _cuts(forest: Forest, conditions: Positions) -> Float:
    """Between which values no condition of a column tells two apart: each code ends at one."""
    is_set = forest.condition_set[conditions] >= 0
    parts = [forest.condition_threshold[conditions[~is_set]]]
    if forest.condition_zero_missing[conditions].any():
        parts.append(np.array([np.nextafter(-ZERO_THRESHOLD, -np.inf), ZERO_THRESHOLD]))
    for number in np.unique(forest.condition_set[conditions[is_set]]):
        members = forest.set_members[forest.set_start[number] : forest.set_start[number + 1]].astype(float)
        parts += [members, np.nextafter(members, -np.inf)]  # a category alone has its code
    return np.unique(np.concatenate(parts))


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows as codes, ``(columns, rows)``, with as much of a `Table` as an engine needs of its rows."""

    codes: Bytes
    coding: Coding

    @property
    def n_rows(self) -> int:
        return self.codes.shape[1]

    @property
    def by_row(self) -> Bytes:
        return self.codes.T

    @property
    def matrix(self) -> Float:
        """Numbers that route as the rows' own do; 0 in columns no condition asks about."""
        out = np.zeros((self.n_rows, self.coding.place.size), order="F")
        for column, values, own in zip(self.coding.columns.tolist(), self.coding.values, self.codes):
            np.take(values, own, out=out[:, column])
        return out

    def slice(self, start: int, stop: int) -> CodedRows:
        return CodedRows(self.codes[:, start:stop], self.coding)

    def take(self, positions: Positions) -> CodedRows:
        return CodedRows(np.take(self.codes, positions, axis=1), self.coding)


def starts(counts: Int64 | Sequence[int]) -> Int64:
    """Where each of some runs begins, and the last ends."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _buckets(cuts: list[Float], counts: Int64) -> tuple[Float, Float, Int32]:
    """Where each column's buckets begin, buckets per unit, and how many cuts lie below each.

    A few far cuts would leave nearly all others in one bucket. So the range is tried with more
    and more of the outermost cuts left to the end buckets, and what makes the fullest bucket
    smallest is kept.
    """
    flat, begin = np.concatenate([np.zeros(0), *cuts]), starts(counts)
    best_low, best_scale = np.zeros(len(cuts)), np.zeros(len(cuts))
    best_start = np.zeros((len(cuts), BUCKETS + 1), np.int32)
    fullest = np.full(len(cuts), np.iinfo(np.int64).max)
    for trimmed in TRIMMED:
        if fullest.max(initial=0) <= 1:
            break  # nothing can be better
        low, scale = _bucket_range(cuts, trimmed)
        bucket_start = np.empty_like(best_start)
        kernels.fill_buckets(cuts=flat, cut_start=begin, low=low, scale=scale, bucket_start=bucket_start)
        most = np.diff(bucket_start, axis=1).max(axis=1, initial=0)
        better = most < fullest
        fullest[better] = most[better]
        best_low[better], best_scale[better] = low[better], scale[better]
        best_start[better] = bucket_start[better]
    return best_low, best_scale, best_start


def _bucket_range(cuts: list[Float], trimmed: float) -> tuple[Float, Float]:
    """Begin and buckets per unit for the finite cuts less a share at either end (0: one bucket)."""
    low, scale = np.zeros(len(cuts)), np.zeros(len(cuts))
    for v, column_cuts in enumerate(cuts):
        finite = column_cuts[np.isfinite(column_cuts)]
        skipped = int(np.ceil(trimmed * finite.size))
        inner = finite[skipped : finite.size - skipped]
        if inner.size > 1:
            low[v] = inner[0]
            with np.errstate(over="ignore"):
                width = inner[-1] - inner[0]
                scale[v] = BUCKETS / width if np.isfinite(width) and np.isfinite(BUCKETS / width) else 0.0
    return low, scale
