"""What never occurs together: three columns of which no two tell, levels that exclude each other, gaps in a range.

Distances between rows, on which support rests, are only taken among coordinates that can tell. Here is found which
those are where it takes two other columns at once, and what distances cannot see: a rare level that is
impossible beside a frequent one, and an empty stretch between values, which ranks close.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.study import Study
from icefield.data.code_counts import never_together
from icefield.data.features import Feature
from icefield.data.frame import ORDERED_KINDS, Column, columns_at, is_missing_value
from icefield.typing import Codes, Float, Mask

ROWS = 20_000  # that are counted, where there are more
HEAD = 1_000  # rows that show most columns of more values
FEW = 12  # values up to which a column's values are levels
GROUPS = 8  # of a number otherwise
LEVELS = 30  # of a column that are told apart
TOGETHER = 24  # other columns whose pairs are tried, and of levels half as many
PER_CELL = 5  # rows that a cell of a table of three columns should have
SURE = 4.0  # standard deviations of chance: hundreds of pairs are tried
SETS = 128  # of columns, that a feature is compared with at a time
EXPECTED = 12.0  # rows that would stand in a cell by chance; where none does, it is impossible
GAP = 0.03  # share of the usual range between a point and the nearest value, on either side
BESIDE = 0.02  # share of the data on either side of a gap; beyond that it is a tail
AROUND = 5  # rows on either side, too, and values there that tell how far apart values are
RARELY = 8.0  # times as far as that: what chance hardly ever leaves empty, however few values there are


# --- three columns at once ---------------------------------------------------------------------------


def joint_partners(column: Codes, others: Mapping[Any, Codes], least: float) -> tuple[Any, Any, float] | None:
    """The two other columns that together say most about a feature, and how much; None where they say no more than one.

    Codes are eight groups of equal size or levels. How much is Pearson's squared contingency coefficient of the
    feature with both, less chance, as for one; it must pass that of either by `least`.
    """
    size = len(column)
    groups = int(np.clip((size / PER_CELL) ** (1 / 3), 2, GROUPS))
    mine = _coarse(column, groups)
    theirs = {name: _coarse(codes, groups) for name, codes in list(others.items())[:TOGETHER]}
    theirs = {name: codes for name, codes in theirs.items() if codes.max() > 0}
    if len(theirs) < 2:
        return None
    joint, freedom, alone = _joint_coefficients(mine, list(theirs.values()))
    sure = SURE * np.sqrt(2.0 * freedom) / size  # so many standard deviations without any dependence
    more = joint - np.maximum(alone[:, None], alone)
    telling = np.triu(more >= np.maximum(least, sure), 1)
    if not telling.any():
        return None
    first, second = np.unravel_index(int(np.argmax(np.where(telling, joint, -1.0))), joint.shape)
    names = list(theirs)
    return names[first], names[second], float(joint[first, second])


def _joint_coefficients(mine: Codes, theirs: Sequence[Codes]) -> tuple[Float, Float, Float]:
    """The coefficient of a column with every two of some others, the degrees of freedom of each, and that with one."""
    size, n_own = len(mine), int(mine.max()) + 1
    sizes = np.array([int(codes.max()) + 1 for codes in theirs], np.intp)
    start, groups = np.cumsum(sizes) - sizes, int(sizes.sum())
    # How many rows are in each group of the column and of two others, the first of which comes no later.
    places, (first, second) = np.stack(theirs) + start[:, None], np.triu_indices(len(theirs))
    at = ((mine * groups + places) * groups)[first] + places[second]
    tables = np.bincount(at.ravel(), minlength=n_own * groups**2).reshape(n_own, groups, groups)
    total = tables.sum(axis=0)
    expected = np.bincount(mine, minlength=n_own)[:, None, None] * total / size
    apart = (np.square(tables - expected) / np.maximum(expected, 1e-9)).sum(axis=0)

    def by_pairs(cells: Float) -> Float:
        return np.asarray(np.add.reduceat(np.add.reduceat(cells, start, axis=0), start, axis=1))

    cells = by_pairs((total > 0).astype(np.float64))
    alone = less_chance(np.add.reduceat(np.diagonal(apart), start), n_own, sizes, size)
    joint = less_chance(by_pairs(apart), n_own, cells, size)
    return joint, int(mine.max()) * np.maximum(cells - 1, 1), alone


def less_chance(squared: Float, groups: int, other_groups: NDArray[Any], rows: int) -> Float:
    """The coefficient from a column's square contingency, in `groups` groups, with columns of `other_groups`."""
    left = np.maximum(0.0, squared / rows - (groups - 1) * (other_groups - 1) / max(1, rows - 1))
    return np.asarray(left / (1.0 + left))


def indicators(columns: Sequence[NDArray[Any]]) -> tuple[NDArray[np.float32], Codes, Codes]:
    """Whether each row is in each group of some columns, where each column's groups begin, and how many they are."""
    sizes = np.array([int(codes.max(initial=0)) + 1 for codes in columns], np.intp)
    start = np.cumsum(sizes) - sizes
    out = np.zeros((len(columns[0]), int(sizes.sum())), np.float32)
    for first, codes in zip(start, columns):
        out[np.arange(len(codes)), first + codes] = 1.0
    return out, start, sizes


def _coarse(codes: Codes, groups: int) -> Codes:
    """Codes of at most `groups` groups: neighbours are joined, or where there are many levels, the rarer ones."""
    dense, count = dense_codes(codes)
    if count <= groups:
        return dense
    if count <= GROUPS + 1:  # groups in their order
        return dense * groups // count
    frequent = np.argsort(-np.bincount(dense), kind="stable")[: groups - 1]
    place = np.full(count, groups - 1)
    place[frequent] = np.arange(len(frequent))
    return place[dense].astype(np.intp)


def dense_codes(codes: NDArray[Any]) -> tuple[Codes, int]:
    """Codes (whole numbers from -1 on) numbered anew without those that do not occur, and how many do.

    Examples
    --------
    >>> dense_codes(np.array([5, -1, 5, 2]))
    (array([2, 0, 2, 1]), 3)
    """
    present = np.bincount(codes + 1) > 0
    place = np.cumsum(present) - 1
    return place[codes + 1], int(present.sum())


# --- combinations that never occur -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Impossible:
    """Rows at values, ``(values, rows)``, that never occur, and the columns that exclude most of them."""

    rows: Mask
    because_of: tuple[Any, ...]


class Combinations:
    """How often levels occur together, counted once for any number of features, in the rows looked at (moved, later) first."""

    def __init__(self, study: Study, rows: NDArray[np.intp]) -> None:
        # Rows drawn by weight are as many as count.
        unused = np.full(study.sample.n_rows, study.sample.weights is None)
        unused[rows] = False
        more = np.flatnonzero(unused)
        more = np.random.default_rng(study.seed).permutation(more)[: max(0, ROWS - len(rows))]
        self.rows, self.looked_at = np.concatenate([rows, np.sort(more)]), len(rows)
        self._study = study
        self.among: Sequence[Any] = study.model.columns  # columns that may exclude values of others
        self._known: dict[Any, _Coded] = {}
        self._joints: dict[Sequence[Any], NDArray[np.int16]] = {}
        self._sizes: dict[Sequence[Any], NDArray[np.intp]] = {}

    @cached_property
    def _are_levels(self) -> dict[Any, bool]:
        """For every column, of those that count, whether its values are levels: few numbers, or no numbers at all."""
        columns = columns_at(self._study.sample.table, self.among, self.rows[: self.looked_at])
        # A column that has many values among the first rows has many; only the others are looked at further.
        return {
            name: (column.kind not in ORDERED_KINDS or _are_few(column)) and self._coded(name).are_levels
            for name, column in columns
            if column.kind != "other"
        }

    def _coded(self, name: Any) -> _Coded:
        """A column's codes."""
        if name not in self._known:
            self._known[name] = _Coded.of(self._study.sample.table.column(name), self.rows)
        return self._known[name]

    def _joint(self, names: Sequence[Any]) -> NDArray[np.int16]:
        """Codes of one column, or of two together, which most features meet again."""
        first, *second = (self._coded(name).codes for name in names)
        if not second:
            return first
        if names not in self._joints:
            (codes,) = second
            both = first.astype(np.intp) * (int(codes.max()) + 1) + codes
            self._joints[names] = dense_codes(both)[0].astype(np.int16)
        return self._joints[names]

    def _group_rows(self, names: Sequence[Any]) -> NDArray[np.intp]:
        """How many rows have each of these codes."""
        if names not in self._sizes:
            self._sizes[names] = np.bincount(self._joint(names))
        return self._sizes[names]

    def _remember_all(self) -> None:
        """Code all columns, which are taken together where that is faster."""
        waiting = [name for name in self._are_levels if name not in self._known]
        for name, column in columns_at(self._study.sample.table, waiting, self.rows):
            self._known[name] = _Coded.of(column, slice(None))

    def impossible(self, feature: Feature, values: NDArray[Any]) -> Impossible | None:
        """Which rows that are looked at could not be at which values; None where all could.

        They could not where no row has that value beside the level, or two levels, this row has, although at least a
        dozen would by chance.
        """
        are_levels = self._are_levels
        if not any(are_levels.values()) and feature.kind in ORDERED_KINDS:
            return None
        column = self._study.column(feature)
        known = not feature.is_group and feature.label in are_levels
        coded = self._coded(feature.label) if known else _Coded.of(column, self.rows)
        at = coded.at(column, self.rows, values)
        if coded.are_levels:
            self._remember_all()
        other_names = [name for name in are_levels if name not in feature.columns]
        few = [name for name in other_names if are_levels[name]][: TOGETHER // 2]
        sets: list[Sequence[Any]] = [(name,) for name in (other_names if coded.are_levels else few)]
        sets += list(combinations(few, 2))
        excluded = np.zeros((len(values), self.looked_at), dtype=bool)
        most: tuple[float, Sequence[Any]] = (0.0, ())
        for names, joint, never in self._never_together(coded, sets):
            mask = never[at][:, joint[: self.looked_at]] & (at >= 0)[:, None]
            excluded |= mask
            # A second column must exclude clearly more than the first by itself.
            most = max(most, (float(mask.mean()) - 0.02 * len(names), names), key=lambda pair: pair[0])
        return Impossible(excluded, tuple(most[1])) if excluded.any() else None

    def _never_together(
        self, coded: _Coded, sets: Sequence[Sequence[Any]]
    ) -> Iterator[tuple[Sequence[Any], NDArray[np.int16], Mask]]:
        """The sets of columns with which some of the codes never occur, their own codes, and which those are, ``(codes, own)``."""
        codes = coded.codes.astype(np.int32)
        for first in range(0, len(sets), SETS):
            some = sets[first : first + SETS]
            joint = np.stack([self._joint(names) for names in some])
            sizes = [self._group_rows(names) for names in some]
            start = np.cumsum([0, *map(len, sizes)])
            never = never_together(codes, joint, sizes, EXPECTED)
            for i in np.flatnonzero(np.logical_or.reduceat(never.any(axis=0), start[:-1])).tolist():
                yield some[i], joint[i], never[:, start[i] : start[i + 1]]


def _are_few(column: Column) -> bool:
    return len(np.unique(column.values[~column.missing])) <= FEW


@dataclass(frozen=True, eq=False)
class _Coded:
    """A column as dense codes, kept small. Where it has few values each is a level; the others are in groups, with `cuts` between."""

    codes: NDArray[np.int16]
    are_levels: bool
    cuts: NDArray[Any]

    @classmethod
    def of(cls, column: Column, rows: NDArray[np.intp] | slice) -> _Coded:
        gone = column.missing[rows]
        if column.kind not in ORDERED_KINDS:
            # Rare levels together: of no single one enough rows would be expected anywhere.
            count = np.bincount(column.codes[rows][~gone], minlength=len(column.levels))
            place = np.full(len(count) + 1, LEVELS)  # the last is for rows without a level
            place[np.argsort(-count, kind="stable")[:LEVELS]] = np.arange(min(LEVELS, len(count)))
            cuts, codes, few = np.zeros(0), place[column.codes[rows]], True
        else:
            values = column.values[rows]
            known = values[~gone]
            cuts = np.unique(known[:HEAD])
            few = len(cuts) <= FEW
            if few:
                cuts = np.unique(known)
                few = len(cuts) <= FEW
            if not few:
                ranks = (np.arange(1, GROUPS) * len(known)) // GROUPS
                cuts = np.unique(np.partition(known, ranks)[ranks])
            codes = np.searchsorted(cuts, values, "left" if few else "right")
        return cls(dense_codes(np.where(gone, -1, codes))[0].astype(np.int16), few, cuts)

    def at(self, column: Column, rows: NDArray[np.intp], values: NDArray[Any]) -> NDArray[np.intp]:
        """The codes of grid values; -1 where no row has such a level."""
        gone, place = column.missing[rows], np.full(len(values), -1, dtype=np.intp)
        missing = missing_among(values)
        if gone.any():
            place[missing] = self.codes[np.flatnonzero(gone)[0]]
        if not self.are_levels:
            known = values[~missing]
            as_data = known if known.dtype.kind in "mM" else known.astype(self.cuts.dtype)
            # Every cut is a value of the data, so that only the group below the first may be empty.
            lowest = int(self.codes.max()) - len(self.cuts)
            code = np.searchsorted(self.cuts, as_data, side="right") + lowest
            place[~missing] = np.where(code < gone.any(), -1, code)
            return place
        stored = column.values if column.kind in ORDERED_KINDS else column.codes
        plain, first = np.unique(stored[rows][~gone], return_index=True)
        if column.kind not in ORDERED_KINDS:
            plain = column.levels[plain]
        code_of = dict(zip(plain.tolist(), self.codes[~gone][first].tolist()))
        if len(code_of) > LEVELS:  # the rarer ones share the last code, which says nothing of any of them
            code_of = {level: code for level, code in code_of.items() if code < self.codes.max()}
        for i in np.flatnonzero(~missing):
            place[i] = code_of.get(values[i : i + 1].tolist()[0], -1)
        return place


def missing_among(values: NDArray[Any]) -> Mask:
    """Which grid values stand for missing ones."""
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind in "fiub":
        return np.isnan(values)
    return np.array([is_missing_value(v) for v in values.tolist()], dtype=bool)


# --- gaps --------------------------------------------------------------------------------------------


def in_gaps(known: Float, places: Float) -> Mask:
    """Which places lie in an empty stretch between values: `known` are the data's, sorted, as numbers.

    Examples
    --------
    >>> two_heaps = np.concatenate([np.linspace(0, 1, 50), np.linspace(3, 4, 50)])
    >>> in_gaps(two_heaps, np.array([0.505, 2.0, 3.5, 9.0])).tolist()
    [False, True, False, False]
    """
    known = known[np.isfinite(known)]
    out = np.zeros(len(places), dtype=bool)
    if len(np.unique(known)) <= FEW:
        return out
    low, high = known[int(0.05 * len(known))], known[int(0.95 * (len(known) - 1))]
    below = np.searchsorted(known, places, side="right")
    beside = max(BESIDE * len(known), AROUND)
    inside = np.isfinite(places) & (below >= beside) & (below <= len(known) - beside)
    at = np.flatnonzero(inside)
    before, after = known[below[at] - 1], known[below[at]]
    nearest = np.minimum(places[at] - before, after - places[at])
    out[at] = (nearest > GAP * (high - low)) & (after - before > RARELY * _apart(known, before, after))
    return out


def _apart(known: Float, before: Float, after: Float) -> Float:
    """How far apart distinct values are beside stretches from `before` to `after`: on that side where it is farther."""
    distinct = np.unique(known)
    first, last = np.searchsorted(distinct, before), np.searchsorted(distinct, after)
    start, end = np.maximum(first - AROUND, 0), np.minimum(last + AROUND, len(distinct) - 1)
    left = (before - distinct[start]) / np.maximum(first - start, 1)
    right = (distinct[end] - after) / np.maximum(end - last, 1)
    return np.maximum(left, right)
