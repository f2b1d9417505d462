"""Rows as points in the few dimensions that matter for a feature: ranks, levels, a linear guess.

Numbers and times become their ranks among the data (0 to 1), categories indicators that stand one
apart. Of the other columns only those associated with the moved features are kept, and the moved
features' linear prediction from all of them; so distances between points say whether a feature's value fits the rest
of its row, however many unrelated columns there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from icefield.core.study import Study
from icefield.data.features import Feature
from icefield.data.frame import ORDERED_KINDS, Column, columns_at
from icefield.statistics.combinations import Combinations, dense_codes, indicators, less_chance, missing_among
from icefield.statistics.ice_statistics import product_by_rows
from icefield.typing import Codes, Float

KEPT = 2  # other columns beside each moved feature
LEAST = 0.10  # association below which a column says nothing about the feature
APART = 1.0  # distance between two levels, and between missing and known; ranks span 1
RIDGE = 1e-6
GROUPS = 8
MOST_LEVELS = 100  # of a column that the linear guess looks at: the most frequent among the rows
TOGETHER = 16  # columns whose associations with all others are found at a time, at least,
PAIRS = 6_400  # and so many that there are as many pairs
MOST_BESIDE = 2_000  # columns whose levels are all tried beside a feature's
AT_A_TIME = 4_000  # columns that others are compared with at a time
MANY = 30  # distinct values: rows that agree in so fine a coordinate agree by descent, not by chance


@dataclass(frozen=True, eq=False)
class Association:
    """Sampled rows as points: coordinates of the moved features, and of columns associated with these."""

    matrix: Float  # ``(rows, coordinates)``; the first blocks are the moved features' own
    own_columns: tuple[tuple[int, int], ...]  # per moved feature, the range of its own coordinates
    names: tuple[str, ...]  # what the coordinates are, in words
    moved: tuple[SampledColumn, ...]  # the moved features at the rows
    correlation: float  # multiple, of the first moved feature with the other columns
    related: tuple[tuple[Any, float], ...]  # columns associated with the first moved feature, strongest first
    # ``(rows, rows)``: which must not count as each other's neighbours when the data is measured: a row itself, and for
    # a moved number with many values its copies.
    no_neighbours: NDArray[np.bool_]


class SampledColumn:
    """A column at the sampled rows, and its rows as coordinates."""

    def __init__(self, column: Column) -> None:
        self.column, self.gone = column, column.missing

    @cached_property
    def ranked(self) -> Float | None:
        """The known values as sorted numbers; None where they have no order."""
        if self.column.kind not in ORDERED_KINDS:
            return None
        return np.sort(self.numbers[~self.gone])

    @cached_property
    def numbers(self) -> Float:
        """The values of an ordered column as numbers, 0 where they are missing."""
        return _numbers(self.column.values, self.gone)

    @cached_property
    def _rank(self) -> Float:
        return _mid_ranks(self.numbers, cast(Float, self.ranked))

    @cached_property
    def encoded(self) -> Float:
        """The rows' coordinates: a rank and whether it is missing, or an indicator for every level."""
        if self.ranked is not None:
            return _with_missing(self._rank, self.gone)
        place, width = _level_places(self.column)
        out = np.zeros((len(self.gone), width))
        at = np.where(self.gone, width - 1, place[self.column.codes])
        out[np.arange(len(out)), at] = APART / np.sqrt(2.0)
        return out

    @cached_property
    def codes(self) -> Codes:
        """The rows as a few groups: eight of equal size for numbers, levels otherwise; missing apart."""
        if self.ranked is None:
            return np.where(self.gone, len(self.column.levels), self.column.codes).astype(np.intp)
        return np.where(self.gone, GROUPS, np.clip((self._rank * GROUPS).astype(np.intp), 0, GROUPS - 1))

    @cached_property
    def is_fine(self) -> bool:
        """Whether the column is continuous: ties between rows carry no information."""
        return self.ranked is not None and len(np.unique(self.column.values)) >= MANY

    @cached_property
    def all_differ(self) -> bool:
        """Whether no two rows agree."""
        known = self.numbers[~self.gone]
        return len(self.gone) - len(known) < 2 and len(np.unique(known)) == len(known)

    @cached_property
    def same(self) -> NDArray[np.bool_]:
        """Which rows agree with which, ``(rows, rows)``."""
        values = self.numbers if self.is_fine else self.column.codes
        return np.asarray((values[:, None] == values) & (self.gone[:, None] == self.gone))


class Surroundings:
    """Sampled rows of all the model's columns as coordinates, worked out once for any number of features."""

    def __init__(self, study: Study, rows: NDArray[np.intp]) -> None:
        self._study, self.rows = study, rows
        self.combinations = Combinations(study, rows)
        parts = columns_at(study.sample.table, study.model.columns, rows)
        self.columns = {name: SampledColumn(column) for name, column in parts if column.kind != "other"}
        self._groups: dict[tuple[Any, ...], SampledColumn] = {}
        self._related: dict[Any, list[tuple[Any, float]]] = {}

    def sampled(self, feature: Feature) -> SampledColumn:
        """A feature, which may be a group of columns, at the rows."""
        if not feature.is_group and feature.label in self.columns:
            return self.columns[feature.label]
        if feature.columns not in self._groups:
            self._groups[feature.columns] = SampledColumn(self._study.column(feature).part(self.rows))
        return self._groups[feature.columns]

    @cached_property
    def alone(self) -> NDArray[np.bool_]:
        """Which rows are the same row: itself, and a heavy row's other draws."""
        return np.asarray(self.rows[:, None] == self.rows)

    @cached_property
    def _dense(self) -> dict[Any, NDArray[np.int16]]:
        """All columns as groups, none of which is empty."""
        wide = len(self.columns) > AT_A_TIME  # then what leads to them would take more memory than the data
        each = {name: SampledColumn(part.column) if wide else part for name, part in self.columns.items()}
        return {name: dense_codes(part.codes)[0].astype(np.int16) for name, part in each.items()}

    @cached_property
    def _varying(self) -> frozenset[Any]:
        """Columns of more than one group."""
        return frozenset(name for name, codes in self._dense.items() if codes.max(initial=0) > 0)

    @cached_property
    def _blocks(self) -> list[list[Any]]:
        """All columns, as many at a time as are compared with others together."""
        names = list(self.columns)
        return [names[first : first + AT_A_TIME] for first in range(0, len(names), AT_A_TIME)]

    def expect(self, names: Iterable[Any]) -> None:
        """Say which columns will be asked about, in their order: those that follow each other are looked up together.

        Of very many columns, what never occurs together is looked for among these alone.
        """
        self._order = [name for name in names if name in self.columns]
        if len(self.columns) > MOST_BESIDE:
            self.combinations.among = self._order

    @cached_property
    def _order(self) -> list[Any]:
        return list(self.columns)

    def _indicators(self, names: Sequence[Any]) -> tuple[NDArray[np.float32], Codes, Codes]:
        return indicators([self._dense[name] for name in names])

    @cached_property
    def _first_block(self) -> tuple[NDArray[np.float32], Codes, Codes]:
        """Indicators of the first block's columns, which are kept: most tables have no other block."""
        return self._indicators(self._blocks[0])

    def related_to(self, feature: Feature, moving: Collection[Any]) -> tuple[tuple[Any, float], ...]:
        """The columns most associated with a feature, of those that do not move, strongest first."""
        if not self.columns or not len(self.rows):
            return ()
        if feature.is_group or feature.label not in self.columns:
            (related,) = self._contingencies([self.sampled(feature).codes])
        else:
            if feature.label not in self._related:
                # The next ones are asked about sooner or later; a larger product takes little longer.
                first = self._order.index(feature.label) if feature.label in self._order else 0
                last = first + max(TOGETHER, PAIRS // len(self.columns))
                later = [name for name in self._order[first:last] if name not in self._related]
                names = later if feature.label in later else [feature.label]
                each = self._contingencies([self.columns[name].codes for name in names])
                self._related.update(zip(names, each))
            related = self._related[feature.label]
        return tuple(sorted((pair for pair in related if pair[0] not in moving), key=lambda pair: -pair[1]))

    def _contingencies(self, several: Sequence[Codes]) -> list[list[tuple[Any, float]]]:
        """Pearson's squared contingency coefficient of columns, given by their codes, with every column, corrected for chance.

        Those that are worth a mention, in the columns' order. For two normal variables it estimates their squared correlation; unlike that it also sees bent, ring-shaped
        and other dependences, and takes categories.
        """
        count = len(self.rows)
        dense = [dense_codes(codes) for codes in several]
        begin = np.cumsum([0, *(groups for _, groups in dense)])
        rows = np.zeros((int(begin[-1]), count), np.float32)
        for first, (codes, _) in zip(begin.tolist(), dense):
            rows[first + codes, np.arange(count)] = 1.0
        related: list[list[tuple[Any, float]]] = [[] for _ in several]
        for number, names in enumerate(self._blocks):
            inside, start, sizes = self._indicators(names) if number else self._first_block
            totals = inside.sum(axis=0, dtype=np.float64)
            table = (rows @ inside).astype(np.float64)  # counts: exact
            expected = np.outer(rows.sum(axis=1, dtype=np.float64), totals) / count
            table -= expected
            np.square(table, out=table)
            table /= expected
            for pairs, first, (_, groups) in zip(related, begin.tolist(), dense):
                squared = np.add.reduceat(table[first : first + groups].sum(axis=0), start)
                size = less_chance(squared, groups, sizes, count)
                pairs += [(names[i], float(size[i])) for i in np.flatnonzero(size >= LEAST)]
        return related

    @cached_property
    def _design(self) -> tuple[Float, dict[Any, NDArray[np.intp]]]:
        """All coordinates that vary, centred, and the places of each column's."""
        parts, places, at = [np.zeros((len(self.rows), 0))], {}, 0
        for name, column in self.columns.items():
            part = column.encoded
            if part.shape[1] > MOST_LEVELS:
                frequent = np.argsort(-np.count_nonzero(part, axis=0), kind="stable")[:MOST_LEVELS]
                part = part[:, np.sort(frequent)]
            part = part - part.mean(axis=0)
            part = part[:, part.std(axis=0) > 1e-12]
            parts.append(part)
            places[name] = np.arange(at, at + part.shape[1])
            at += part.shape[1]
        return np.concatenate(parts, axis=1), places

    @cached_property
    def _precision(self) -> Float:
        """The inverse of the coordinates' (ridged) cross products: holds every column's regression on all others."""
        design, _ = self._design
        ridged: Float = design.T @ design + RIDGE * len(design) * np.eye(design.shape[1])
        return np.asarray(np.linalg.inv(ridged), dtype=np.float64)

    def linear_guess(self, block: Float, moving: Collection[Any]) -> tuple[Float, float]:
        """Ridge prediction of coordinates from all columns that do not move, and the adjusted multiple correlation."""
        if len(self._varying.difference(moving)) >= len(self.rows) - 1:  # before a matrix of them is made
            return block * 0.0, 0.0
        design, places = self._design
        at_moving = np.concatenate([np.zeros(0, np.intp), *(places[c] for c in moving if c in places)])
        n_others = design.shape[1] - len(np.unique(at_moving))
        target = block - block.mean(axis=0)
        total = float(np.square(target).sum())
        freedom = len(design) - n_others - 1
        if total == 0 or not n_others or freedom <= 0:  # as many coordinates as rows guess anything
            return block * 0.0, 0.0
        # Without the moving columns the inverse is that of the others, less what went through them.
        along = product_by_rows(design.T, target)
        along[at_moving] = 0.0
        factors = product_by_rows(self._precision, along)
        if len(at_moving):
            through = np.linalg.solve(self._precision[np.ix_(at_moving, at_moving)], factors[at_moving])
            factors -= self._precision[:, at_moving] @ through
            factors[at_moving] = 0.0
        guess = product_by_rows(design, factors)
        left = float(np.square(target - guess).sum()) / total
        explained = max(0.0, 1.0 - left * (len(design) - 1) / freedom)
        return guess, float(np.sqrt(explained))


def association(
    around: Surroundings, features: Sequence[Feature], beside: Sequence[Any] | None = None
) -> Association:
    """Describe sampled rows around the moved features: beside those most associated, or the columns given."""
    moving = {column for feature in features for column in feature.columns}
    moved = [around.sampled(feature) for feature in features]
    coordinates = [sampled.encoded for sampled in moved]
    blocks, names, chosen = list(coordinates), [str(f.label) for f in features], []
    ends = np.cumsum([block.shape[1] for block in coordinates]).tolist()
    first_related: tuple[tuple[Any, float], ...] = ()
    correlation = 0.0
    for number, (feature, sampled) in enumerate(zip(features, moved)):
        guess, fitted = around.linear_guess(sampled.encoded, moving)
        related = around.related_to(feature, moving)
        if number == 0:
            correlation, first_related = fitted, related
        # With a single related column the linear guess would say the same again.
        if beside is None and fitted**2 >= LEAST and (len(related) != 1 or fitted**2 > related[0][1] + LEAST):
            blocks.append(guess)
            names.append(f"linear guess of {feature.label}")
        for name in [name for name, _ in related[:KEPT]] if beside is None else beside:
            if name not in chosen:
                chosen.append(name)
                blocks.append(around.columns[name].encoded)
                names.append(str(name))
    return Association(
        np.concatenate(blocks, axis=1), tuple(zip([0, *ends], ends)), tuple(names), tuple(moved), correlation, first_related,
        _no_neighbours(moved, [around.columns[name] for name in chosen], around.alone),
    )  # fmt: skip


def _no_neighbours(
    moving: Sequence[SampledColumn], beside: Sequence[SampledColumn], alone: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Pairs of rows whose distance says nothing about how far apart data can be.

    Rows drawn twice, or of one person at several times, agree in everything that is finely measured; beside
    such copies every new value would look far away. Copies are left out, and then only rows with the
    same levels compared, which are what is left to be near. `alone` are rows and themselves.
    """
    if not all(column.is_fine for column in moving):
        return alone
    fine = [column for column in (*moving, *beside) if column.is_fine]
    if any(column.all_differ for column in fine):
        copies = alone
    else:
        # Rows agree by descent where they share a value; all that miss the same ones share none.
        shared = np.logical_or.reduce([column.same & ~column.gone for column in fine])
        copies = np.logical_and.reduce([column.same for column in fine]) & (shared | alone)
    unlike = [~column.same for column in beside if column.column.kind not in ORDERED_KINDS]
    left_out = np.logical_or.reduce([copies, *unlike])
    return alone if left_out.all() else left_out


def ranks_among(values: NDArray[Any], column: SampledColumn) -> Float:
    """Coordinates of grid values of a moved feature among the rows, ``(values, its coordinates)``."""
    gone = missing_among(values)
    if column.ranked is not None:
        return _with_missing(_mid_ranks(_numbers(values, gone), column.ranked), gone)
    place, width = _level_places(column.column)
    codes = {level: i for i, level in enumerate(column.column.levels.tolist())}
    out = np.zeros((len(values), width))
    for row, (value, missing) in enumerate(zip(values.tolist(), gone)):
        at = width - 1 if missing else place[codes[value]] if value in codes else width - 2
        out[row, at] = APART / np.sqrt(2.0)
    return out


def _level_places(column: Column) -> tuple[NDArray[np.intp], int]:
    """The coordinate of each level, and how many there are; the last is for missing.

    Levels of none of the rows share the one before: they are as far from all rows as from each other.
    """
    present = np.unique(column.codes[column.codes >= 0])
    place = np.full(max(1, len(column.levels)), len(present), dtype=np.intp)
    place[present] = np.arange(len(present))
    return place, len(present) + 2


def grid_numbers(values: NDArray[Any], column: Column) -> Float:
    """Grid values of an ordered column on the scale of its numbers; NaN for missing."""
    gone = missing_among(values)
    if values.dtype.kind in "mM":
        values = values.astype(column.values.dtype)
    return np.where(gone, np.nan, _numbers(values, gone))


def _numbers(values: NDArray[Any], gone: NDArray[np.bool_]) -> Float:
    if values.dtype.kind in "mM":
        return values.astype(np.int64).astype(np.float64)
    if values.dtype == object:
        return np.array([0.0 if g else float(v) for v, g in zip(values.tolist(), gone)])
    return np.where(gone, 0.0, values.astype(np.float64))


def _mid_ranks(values: Float, ranked: Float) -> Float:
    """Share of the data below a value, ties counting half; values beyond the data go on linearly."""
    ranked = ranked[np.isfinite(ranked)]
    if not len(ranked):
        return np.zeros(len(values))
    values = np.where(np.isinf(values), np.where(values > 0, ranked[-1], ranked[0]), values)
    below, upto = np.searchsorted(ranked, values, "left"), np.searchsorted(ranked, values, "right")
    rank = 0.5 * (below + upto) / len(ranked)
    distinct, first = np.unique(ranked, return_index=True)
    if len(distinct) > 1:  # between two neighbouring data values a rank would not move: interpolate instead
        last = np.append(first[1:], len(ranked))
        rank = np.interp(values, distinct, 0.5 * (first + last) / len(ranked))
        # In halves: the numbers may span more than a float does.
        low, high, at = distinct[0] / 2, distinct[-1] / 2, values / 2
        rank = rank + (np.maximum(at - high, 0.0) - np.maximum(low - at, 0.0)) / (high - low)
    return rank


def _with_missing(rank: Float, gone: NDArray[np.bool_]) -> Float:
    """A rank and whether it is missing; a missing value stands apart from all known ones."""
    return np.column_stack([np.where(gone, 0.5, rank), np.where(gone, APART, 0.0)])
