"""A few readable rules that split rows so that the rows within each part are alike.

A small regression tree over any number of responses at once: each split is the condition on one
column that removes most of the squared distance to the mean, and is kept only when it removes a stated
share of all there was. Conditions read as people write them (``hum > 0.8``, ``season in {1, 2}``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.code_counts import sums_by_code
from icefield.data.frame import ORDERED_KINDS, Column
from icefield.data.naming import PLAIN, Naming
from icefield.sampling import equal_parts
from icefield.statistics.ice_statistics import leading_direction
from icefield.statistics.split_search import crossing_cuts
from icefield.typing import Float, Mask
from icefield.wording.values import named_value, printed_value

CUTS = 20  # thresholds tried for a number
NEARLY_ALL = 0.9  # of the squared distance: where one cut after the other removes this, no more is looked for
BY_CHANCE = 25.0  # rows' worth of squared distance that the best of many pairs of cuts may remove by chance


@dataclass(frozen=True, eq=False)
class Condition:
    """One side of a split: a bound on a number, or a set of levels; missing values may be on it too.

    `sign` is ``"<="``, ``">"``, ``"in"``, ``"missing"`` or ``"known"``.
    """

    column: Any
    sign: str
    value: Any
    missing: bool = False

    def words(self, naming: Naming = PLAIN) -> str:
        tail = " or missing" if self.missing else ""
        name = naming.name(self.column)
        if self.sign in ("missing", "known"):
            return f"{name} is {self.sign}"
        if self.sign == "in":
            levels = [named_value(v, naming, self.column, printed_value) for v in self.value]
            return (
                f"{name} == {levels[0]}{tail}"
                if len(levels) == 1
                else f"{name} in {{{', '.join(levels)}}}{tail}"
            )
        return f"{name} {self.sign} {named_value(self.value, naming, self.column, printed_value)}{tail}"


@dataclass(frozen=True, eq=False)
class RegionRows:
    """Rows that share a rule."""

    conditions: tuple[Condition, ...]
    rows: Mask

    @property
    def rule(self) -> str:
        """The conditions joined, of each column the narrowest only."""
        return self.words()

    def words(self, naming: Naming = PLAIN) -> str:
        """The rule, with what people call columns and values."""
        narrow: dict[tuple[Any, str], Condition] = {}
        for condition in self.conditions:
            narrow[(condition.column, condition.sign)] = condition  # later bounds lie inside earlier ones
        # Values that are listed lie within the bounds before them.
        shown = [c for c in narrow.values() if c.sign not in ("<=", ">") or (c.column, "in") not in narrow]
        return " and ".join(c.words(naming) for c in shown) or "all rows"


@dataclass(frozen=True)
class Split:
    """A split that was made, and the share of all squared distance it removed.

    `together` is what it removed with those that follow, where only all of them tell rows apart; else 0.
    """

    sides: tuple[Condition, Condition]
    removed: float
    together: float = 0.0

    @property
    def column(self) -> Any:
        return self.sides[0].column

    def words(self, naming: Naming = PLAIN) -> str:
        """Both sides' conditions, with what people call columns and values."""
        return " | ".join(side.words(naming) for side in self.sides)


@dataclass(frozen=True)
class Limits:
    """When to stop: levels of splits, least share of rows in a part, least share removed by a split."""

    depth: int = 2
    least_rows: float = 0.02
    least_removed: float = 0.10


@dataclass(frozen=True, eq=False)
class _Responses:
    """Responses ``(rows, responses)`` in which rows of a part should agree, and their squared distance to the mean."""

    values: Float
    weights: Float
    total: float

    @classmethod
    def of(cls, values: Float, weights: Float) -> _Responses:
        return cls(values, weights, _distance(values, weights))


class _PartResponses:
    """The rows of one part, and how far their responses are from its mean."""

    def __init__(self, of: _Responses, rows: Mask) -> None:
        self.rows, self.at = rows, np.flatnonzero(rows)
        values, self.weights = of.values[self.at], of.weights[self.at]
        self.apart = values - self.weights @ values / self.weights.sum()
        self.weighted = self.weights[:, None] * self.apart


Tree = tuple[list[RegionRows], list[Split]]


def partition(
    columns: Mapping[Any, Column],
    response: Float,
    weights: Float,
    limits: Limits,
    first: Mapping[Any, Column] | None = None,
) -> Tree:
    """Split rows by conditions on columns so that the rows' responses, ``(rows, responses)``, agree within each part.

    Where the first condition may be about the columns `first` only, one split is looked for after the other.
    """
    of = _Responses.of(response, weights)
    whole = RegionRows((), np.ones(len(weights), dtype=bool))
    if of.total <= 0:
        return [whole], []
    if first is not None:
        parts, splits = _grow([whole], first, of, replace(limits, depth=1))
        parts, more = _grow(parts, columns, of, replace(limits, depth=limits.depth - 1 if splits else 0))
        return parts, [*splits, *more]
    one_by_one = _grow([whole], columns, of, limits)
    if limits.depth < 2 or sum(s.removed for s in one_by_one[1]) > NEARLY_ALL:
        return one_by_one
    return _by_two_cuts(one_by_one, columns, of, limits)


def each_cut(
    columns: Mapping[Any, Column], response: Float, weights: Float, limits: Limits
) -> Iterator[tuple[Condition, float]]:
    """The best cut of all rows by each column that removes enough: its left side, and the share it removes."""
    of = _Responses.of(response, weights)
    if of.total <= 0:
        return
    whole = _PartResponses(of, np.ones(len(weights), dtype=bool))
    for name, column in columns.items():
        split = _best_split({name: column}, of, whole, limits)
        if split is not None:
            yield split[0], split[3]


def _by_two_cuts(one_by_one: Tree, columns: Mapping[Any, Column], of: _Responses, limits: Limits) -> Tree:
    """Parts by two cuts found together, where they remove clearly more than the best cut and then the next."""
    response, weights, total = of.values, of.weights, of.total
    cuts = crossing_cuts(columns, response, weights, limits.least_rows * weights.sum())
    before = sum(s.removed for s in one_by_one[1])
    clearly = max(limits.least_removed, BY_CHANCE / len(weights))
    if cuts is None or cuts[3] / total < before + clearly:
        return one_by_one
    name, left, other, _ = cuts
    rows = np.ones(len(weights), dtype=bool)
    # The first cut stands between two groups; beside the second, its best place is known exactly.
    _, beside = _best_cut_of_sides(columns[other], [left, ~left], response, weights)
    _, left = _best_cut_of_sides(columns[name], [beside, ~beside], response, weights)
    low, high = _conditions(columns[name], name, left, rows & ~left)
    parts = [RegionRows((low,), left), RegionRows((high,), ~left)]
    removed = 1.0 - sum(_distance(response[p.rows], weights[p.rows]) for p in parts) / total
    parts, splits = _grow(parts, columns, of, replace(limits, depth=limits.depth - 1))
    together = removed + sum(s.removed for s in splits)
    if together < before + clearly:
        return one_by_one
    return parts, [Split((low, high), removed, together), *splits]


def _best_cut_of_sides(
    column: Column, sides: Sequence[Mask], response: Float, weights: Float
) -> tuple[float, Mask]:
    """The one cut of a column that removes most from two sets of rows, each by itself."""
    every = np.arange(len(weights))
    mean = weights @ response / weights.sum()
    coded = _ordered_codes(column, every, response - mean, weights, len(every))
    if coded is None:
        return -1.0, sides[0]
    codes, size = coded
    total = np.zeros(size - 1)
    for side in sides:
        apart = response[side] - mean
        mass = np.asarray(np.bincount(codes[side], weights[side], minlength=size), dtype=np.float64)
        sums = sums_by_code(codes[side], weights[side][:, None] * apart, size)
        total += _gains(mass, sums, False)[0]
    inside = codes < size - 1
    cut = int(total[: max(int(codes[inside].max()), 1)].argmax()) if inside.any() else 0
    return float(total[cut]), np.asarray(codes <= cut)


def _grow(parts: list[RegionRows], columns: Mapping[Any, Column], of: _Responses, limits: Limits) -> Tree:
    """Parts split by the best cut of each, and then again, as deep as the limits say."""
    splits: list[Split] = []
    for _ in range(limits.depth):
        grown: list[RegionRows] = []
        for part in parts:
            split = _best_split(columns, of, _PartResponses(of, part.rows), limits)
            if split is None:
                grown.append(part)
                continue
            left, right, left_rows, removed = split
            splits.append(Split((left, right), removed))
            grown.append(RegionRows((*part.conditions, left), part.rows & left_rows))
            grown.append(RegionRows((*part.conditions, right), part.rows & ~left_rows))
        if len(grown) == len(parts):
            break
        parts = grown
    return parts, splits


def _distance(response: Float, weights: Float) -> float:
    mean = weights @ response / weights.sum()
    return float(weights @ np.square(response - mean).sum(axis=1))


def _best_split(
    columns: Mapping[Any, Column], of: _Responses, part: _PartResponses, limits: Limits
) -> tuple[Condition, Condition, Mask, float] | None:
    least = limits.least_rows * of.weights.sum()
    gains = {name: _best_cut(column, part, least, CUTS)[0] for name, column in columns.items()}
    name = max(gains, key=gains.__getitem__, default=None)
    if name is None or gains[name] <= limits.least_removed * of.total:
        return None
    # The column is settled: now every threshold it allows is tried.
    gain, left_at = _best_cut(columns[name], part, least, len(part.at))
    left = np.zeros(len(part.rows), dtype=bool)
    left[part.at] = left_at
    low, high = _conditions(columns[name], name, left, part.rows & ~left)
    return low, high, left, gain / of.total


def _best_cut(column: Column, part: _PartResponses, least: float, cuts: int) -> tuple[float, Mask]:
    """The largest squared distance one cut of a column removes, and which of the part's rows are on its left."""
    nowhere = np.zeros(len(part.at), dtype=bool)
    coded = _ordered_codes(column, part.at, part.apart, part.weights, cuts)
    if coded is None:
        return -1.0, nowhere
    codes, size = coded
    mass = np.asarray(np.bincount(codes, part.weights, minlength=size), dtype=np.float64)
    sums = sums_by_code(codes, part.weighted, size)
    best, left = -1.0, nowhere
    for missing_left in (False, True) if mass[-1] > 0 else (False,):
        gains, masses = _gains(mass, sums, missing_left)
        gains = np.where((masses >= least) & (mass.sum() - masses >= least), gains, -1.0)
        cut = int(gains.argmax())
        if gains[cut] > best:
            best = float(gains[cut])
            left = np.where(codes == size - 1, missing_left, codes <= cut)
    return best, left


def _gains(mass: Float, sums: Float, missing_left: bool) -> tuple[Float, Float]:
    """Squared distance removed by cutting after each code, and the weight on the left."""
    left_mass, left_sums = np.cumsum(mass[:-1]), np.cumsum(sums[:-1], axis=0)
    if missing_left:
        left_mass, left_sums = left_mass + mass[-1], left_sums + sums[-1]
    right_mass, right_sums = mass.sum() - left_mass, sums.sum(axis=0) - left_sums

    def size(s: Float, m: Float) -> Float:
        return np.square(s).sum(axis=1) / np.where(m > 0, m, np.inf)

    return np.asarray(size(left_sums, left_mass) + size(right_sums, right_mass)), left_mass


def _ordered_codes(
    column: Column, at: NDArray[np.intp], apart: Float, weights: Float, most: int
) -> tuple[NDArray[np.intp], int] | None:
    """Codes in the order cuts are made, the last code being missing, and how many there are."""
    gone = column.missing[at]
    if column.kind == "other" or gone.all():
        return None
    if column.kind in ORDERED_KINDS:
        values = column.values[at]
        known = values[~gone]
        cuts = np.unique(known)
        if len(cuts) > most + 1:
            cuts = equal_parts(known, most + 1, weights[~gone])
        codes = np.searchsorted(cuts, values, side="left")
        return np.where(gone, len(cuts) + 1, codes), len(cuts) + 2
    codes = column.codes[at]
    # Levels in the order of their mean along the direction in which rows differ most: the best
    # division into two sets then cuts this order (exactly so for one response).
    along = apart @ leading_direction(apart * np.sqrt(weights)[:, None])
    size = len(column.levels)
    mass = np.bincount(codes[~gone], weights[~gone], minlength=size)
    mean = np.bincount(codes[~gone], (weights * along)[~gone], minlength=size) / np.where(mass > 0, mass, 1.0)
    place = np.empty(size, dtype=np.intp)
    place[np.argsort(np.where(mass > 0, mean, np.inf), kind="stable")] = np.arange(size)
    return np.where(gone, size, place[codes]), size + 1


def _conditions(column: Column, name: Any, left: Mask, right: Mask) -> tuple[Condition, Condition]:
    missing = (bool((column.missing & left).any()), bool((column.missing & right).any()))
    known = ~column.missing
    if not (left & known).any():
        return Condition(name, "missing", None), Condition(name, "known", None)
    if not (right & known).any():
        return Condition(name, "known", None), Condition(name, "missing", None)
    if column.kind not in ORDERED_KINDS:
        sides = [_levels_of(column, rows & known) for rows in (left, right)]
        return Condition(name, "in", sides[0], missing[0]), Condition(name, "in", sides[1], missing[1])
    low, high = column.values[left & known].max(), column.values[right & known].min()
    if column.kind == "integer" and len(np.unique(column.values[(left | right) & known])) == 2:
        return Condition(name, "in", (low,), missing[0]), Condition(name, "in", (high,), missing[1])
    cut = readable_cut(low, high)
    return Condition(name, "<=", cut, missing[0]), Condition(name, ">", cut, missing[1])


def _levels_of(column: Column, rows: Mask) -> tuple[Any, ...]:
    codes = np.unique(column.codes[rows])
    return tuple(column.levels[codes].tolist())


def readable_cut(low: Any, high: Any) -> Any:
    """A threshold with few digits that still has `low` on its left and `high` on its right.

    Examples
    --------
    >>> readable_cut(0.7912, 0.8345)
    0.8
    """
    if isinstance(low, (np.datetime64, np.timedelta64, np.integer, int)):
        return low
    low, high = float(low), float(high)
    middle = 0.5 * low + 0.5 * high
    if not np.isfinite(middle) or middle == 0:
        return middle if low <= middle < high else low
    for digits in range(1, 17):
        rounded = float(f"{middle:.{digits - 1}e}")
        if low <= rounded < high:
            return rounded
    return low


def part_numbers(parts: Sequence[RegionRows]) -> NDArray[np.intp]:
    """Each row's part."""
    out = np.zeros(len(parts[0].rows), dtype=np.intp)
    for number, part in enumerate(parts):
        out[part.rows] = number
    return out
