"""Summary statistics of columns of numbers: range, quantiles, grids and counts, without sorting them.

Values are put into cells of equal width. A rank, or how many values are at most some limit, is then known up to one
cell, and only the values of the few cells in question are compared. Every answer is exact.

`NeighbourSummaries` are of several columns that lie side by side, from one call that Python takes part in once and not for
each: marginals, grids and rows near each grid point, number by number what `marginal_of`, `grid_points` and `nearest_counts` find. What
has a way of its own there (infinite values, few distinct ones, a range without width, more values than are held in one piece) is left to
a `ColumnSummary`, which answers any question about one column: a cell that holds many values is summarised in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from icefield import kernels
from icefield.data.columns import Column
from icefield.data.distribution import BINS, RUG, Marginal
from icefield.data.grid import DEFAULT_POINTS, POINTS_BEYOND, Grid
from icefield.typing import Array, Float, Int64, Mask

CELLS, MANY_CELLS = 4096, 16_384
MANY = 2**16  # values for which more cells, with fewer of them each, are worth their memory
MOST_INNER = 4  # cells that are summarised again, each with another pass over all values
FEW = 2_000  # values that need no summary, or of one cell that are sorted as they are
SORTED = 2**14  # values that are sorted sooner than tallied
HELD = 2**22  # values that are held in one piece; more are read in pieces, as often as they are needed
EXACT = 2**53  # below which whole numbers are floats
BESIDE, MOST_BESIDE = 2**25, 16  # bytes and number of neighbouring columns that are copied out together
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
TENTHS = tuple(k / 10 for k in range(11))

Counts = Int64


# --- one column --------------------------------------------------------------------------------------


class ColumnSummary:
    """Range, ranks and counts of numbers; missing and infinite values are left out.

    Attributes
    ----------
    low, high : the smallest and the largest finite value
    finite : how many finite values there are
    """

    def __init__(self, values: Array) -> None:
        self._values = np.ascontiguousarray(values, dtype=np.float64) if len(values) <= HELD else values
        ends, finite = np.array([np.inf, -np.inf]), np.zeros(1, np.int64)
        for part in self._parts():
            kernels.extent(values=part, ends=ends, finite=finite)
        self.low, self.high, self.finite = float(ends[0]), float(ends[1]), int(finite[0])
        self._cells = CELLS if self.finite < MANY else MANY_CELLS
        with np.errstate(all="ignore"):
            self._scale = float(np.float64(self._cells) / (ends[1] - ends[0]))
        self._gathered = np.zeros(self._cells, bool)
        self._sorted = np.empty(0)
        self._inner: dict[int, ColumnSummary] = {}

    @classmethod
    def of(cls, values: Array) -> ColumnSummary | None:
        """The summary of an array; None where it holds too few numbers, or none that all fit a float exactly."""
        kind, size = values.dtype.kind, values.dtype.itemsize
        if len(values) <= FEW or kind not in "fiu" or size > 8:
            return None
        if kind in "iu" and size == 8 and max(-int(values.min()), int(values.max())) >= EXACT:
            return None
        found = cls(values)
        return found if found.finite else None

    def expect(self, ranks: Counts, limits: Float) -> None:
        """Take note of what will be asked for: its values are gathered in one pass."""
        if self._is_tallied:
            cells = np.concatenate([np.searchsorted(self._up_to, ranks, side="right"), self._cell_of(limits)])
            self._gather(cells[self._counts[cells] <= self._few])

    def at_ranks(self, ranks: Counts) -> Float:
        """The finite values of some ranks, from 0 for the smallest."""
        if not self._is_tallied:
            return self._whole[ranks]
        cells = np.searchsorted(self._up_to, ranks, side="right")
        within = ranks - self._before(cells)
        out = np.empty(len(ranks))
        for inner, mine in self._many(cells):
            out[mine] = inner.at_ranks(within[mine])
        few = self._counts[cells] <= self._few
        self._gather(cells[few])
        out[few] = self._sorted[self._start(cells[few]) + within[few]]
        return out

    def at_most(self, limits: Float) -> Counts:
        """How many finite values are at most each limit."""
        if not self._is_tallied:
            return np.searchsorted(self._whole, limits, side="right").astype(np.int64)
        inside, cells = np.clip(limits, self.low, self.high), self._cell_of(limits)
        found = self._before(cells)
        for inner, mine in self._many(cells):
            found[mine] += inner.at_most(inside[mine])
        few = self._counts[cells] <= self._few
        self._gather(cells[few])
        # Gathered values of lower cells are all below.
        found[few] += np.searchsorted(self._sorted, inside[few], side="right") - self._start(cells[few])
        return np.where(limits < self.low, 0, np.where(limits >= self.high, self.finite, found))

    def _cell_of(self, limits: Float) -> Counts:
        inside = np.clip(limits, self.low, self.high)
        return np.minimum(((inside - self.low) * self._scale).astype(np.int64), self._cells - 1)

    def certainly_differ(self, number: int) -> bool:
        """Whether more than so many values differ for sure."""
        if self.finite <= SORTED:
            return int(np.count_nonzero(np.diff(self._whole))) >= number
        return 0.0 < self._scale < np.inf and int(np.count_nonzero(self._counts)) > number

    @cached_property
    def _is_tallied(self) -> bool:
        """Whether cells of equal width tell the values apart; not where there are few, or many in many cells."""
        if self.finite <= SORTED or not 0.0 < self._scale < np.inf:
            return False
        return int(np.count_nonzero(self._counts > self._few)) <= MOST_INNER

    @cached_property
    def _whole(self) -> Float:
        """All finite values in order, where cells do not tell them apart."""
        if self.low == self.high:
            return np.broadcast_to(self.low, self.finite)
        values = np.concatenate([part[:, 0] for part in self._parts()])
        return np.sort(values[np.isfinite(values)])

    @property
    def _few(self) -> int:
        """Values of one cell that are sorted as they are."""
        return max(FEW, 8 * self.finite // self._cells)

    @cached_property
    def _counts(self) -> Counts:
        counts = np.zeros(self._cells, np.int64)
        for part in self._parts():
            kernels.tally(values=part, low=self.low, high=self.high, scale=self._scale, counts=counts)
        return counts

    @cached_property
    def _up_to(self) -> Counts:
        return np.cumsum(self._counts)

    def _before(self, cells: Counts) -> Counts:
        """Values in lower cells."""
        return np.asarray(self._up_to[cells] - self._counts[cells])

    def _start(self, cells: Counts) -> Counts:
        """Where the values of gathered cells begin among all gathered ones."""
        kept = np.where(self._gathered, self._counts, 0)
        return np.asarray((np.cumsum(kept) - kept)[cells])

    def _many(self, cells: Counts) -> Iterator[tuple[ColumnSummary, Mask]]:
        """A summary of each cell that holds many values, and which of the asked ones lie there."""
        for cell in np.unique(cells[self._counts[cells] > self._few]).tolist():
            if cell not in self._inner:
                wanted = np.zeros(self._cells, bool)
                wanted[cell] = True
                self._inner[cell] = ColumnSummary(self._of(wanted))
            yield self._inner[cell], cells == cell

    def _gather(self, cells: Counts) -> None:
        wanted = np.zeros(self._cells, bool)
        wanted[cells] = True
        wanted &= ~self._gathered
        if wanted.any():
            self._sorted = np.sort(np.concatenate([self._sorted, self._of(wanted)]))
            self._gathered |= wanted

    def _of(self, wanted: Mask) -> Float:
        """The values of some cells."""
        found, filled = np.empty(int(self._counts[wanted].sum())), np.zeros(1, np.int64)
        for part in self._parts():
            kernels.gather(
                values=part, low=self.low, high=self.high, scale=self._scale,
                wanted=wanted.view(np.uint8), found=found, filled=filled,
            )  # fmt: skip
        return found

    def _parts(self) -> Iterator[Float]:
        for start in range(0, len(self._values), HELD):
            yield np.asarray(self._values[start : start + HELD], dtype=np.float64)[:, None]


# --- several columns together ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class KnownColumn:
    """What was found of one column: its marginal, its grid, how many rows are nearest to each point, and how many are missing.

    The grid has no missing point.
    """

    marginal: Marginal
    grid: Array
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
    beside : probabilities of other quantiles that are wanted
    """

    probabilities: tuple[float, ...]
    points: int
    further: int = 0
    beside: tuple[float, ...] = TENTHS

    @property
    def every(self) -> int:
        """Every how manieth quantile of the grid is one of the others; 0 where they are not among them."""
        every = 0 if len(self.probabilities) == 2 else (len(self.probabilities) - 1) // (len(self.beside) - 1)
        return every if every and self.probabilities[::every] == self.beside else 0


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


def rug_rows(n_rows: int, seed: int) -> Int64:
    """The rows of a rug of a complete column."""
    return np.random.default_rng(seed).integers(0, n_rows, RUG)


def side_by_side(columns: Sequence[Array], threads: int) -> Iterator[range]:
    """Which columns to summarise together: neighbours in a matrix that lies in memory row by row.

    A column of such a matrix is a value of every line of memory. Several neighbours are copied out together, while
    their lines are near; but not so many that a thread has nothing to do. Between two blocks a thread waits for Python's lock.
    """
    rounds = -(-len(columns) // (MOST_BESIDE * threads))
    begin, share = 0, -(-len(columns) // max(1, rounds * threads))
    while begin < len(columns):
        end = begin + 1
        most = min(MOST_BESIDE, share, BESIDE // max(1, 8 * len(columns[begin])))
        while end < len(columns) and end - begin < most and _neighbours(columns[end - 1], columns[end]):
            end += 1
        yield range(begin, end)
        begin = end


def _neighbours(one: Array, other: Array) -> bool:
    """Whether two columns lie side by side in the rows of one matrix of floats."""
    return (
        one.dtype == other.dtype
        and one.dtype in FLOATS
        and one.strides == other.strides
        and one.strides[0] > 2 * one.itemsize
        and one.shape == other.shape
        and other.__array_interface__["data"][0] - one.__array_interface__["data"][0] == one.itemsize
    )


def can_be_together(columns: Sequence[Array]) -> bool:
    """Whether such columns can be summarised together."""
    first = columns[0]
    return first.dtype in FLOATS and FEW < len(first) <= HELD and first.strides[0] % first.itemsize == 0


def _beside(columns: Sequence[Array]) -> Array:
    """Neighbouring columns as a matrix, where they lie."""
    first = columns[0]
    return as_strided(first, (len(first), len(columns)), (first.strides[0], first.itemsize), writeable=False)


def counts_near(columns: Sequence[Array], grids: Sequence[Array]) -> list[Float]:
    """How many finite values of neighbouring columns are nearest to each of their rising points, a value midway to the lower one."""
    limits, sizes, counts = _limits(grids)
    kernels.count_up_to(matrix=_beside(columns), limits=limits, sizes=sizes, counts=counts)
    return [own[: len(points)].copy() for own, points in zip(counts, grids)]


def _limits(grids: Sequence[Array]) -> tuple[Float, Int64, Float]:
    """Halfway between the points of each grid, how many such limits it has, and room for counts between them."""
    sizes = np.array([len(points) - 1 for points in grids], np.int64)
    limits = np.zeros((len(grids), int(sizes.max())))
    for own, points in zip(limits, grids):
        halves = points.astype(np.float64) / 2  # first: the sum of two large numbers may be none
        np.add(halves[:-1], halves[1:], out=own[: len(points) - 1])
    return limits, sizes, np.empty((len(grids), limits.shape[1] + 1))


class NeighbourSummaries:
    """Summary statistics of neighbouring columns, as `side_by_side` gives them, and their values at the rows `drawn`.

    The memory `room` may be used, where it is enough.

    Attributes
    ----------
    known : which columns are known now; nothing else below is said of others
    drawn, quantiles, beside, grid : by column, in its dtype; all quantiles, and those beside the grid's
    sizes : how many points the grid has, by column
    missing : how many values are NaN, by column; nothing else counts them
    edges, counts : of a histogram, by column
    nearest : how many values are nearest to each point of the grid, by column
    kept : each column's values, in any order
    room : the memory that is used
    """

    def __init__(
        self, columns: Sequence[Array], drawn: Int64, places: GridPlaces, room: Float | None = None
    ) -> None:
        one, width, rows = columns[0], len(columns), len(columns[0])
        every, points = places.every, places.points
        wanted = places.probabilities if every else (*places.beside, *places.probabilities)
        size = (width + 1) * rows
        kept = (np.empty(size) if room is None or room.size < size else room[:size]).reshape(width + 1, rows)
        found = {
            "sample": np.empty((width, len(drawn))),
            "at_ranks": np.empty((width, len(wanted))),
            "grid": np.empty((width, points)),
        }
        known = np.empty(width, np.uint8)
        self.edges, self.counts = np.empty((width, BINS + 1)), np.empty((width, BINS))
        self.nearest = np.empty((width, points))
        sizes, missing = np.zeros(width, np.int64), np.zeros(width, np.int64)
        self._starts, self._ends = np.empty((width, CELLS + 1), np.int32), np.empty((width, 2))
        kernels.look_together(
            matrix=_beside(columns), drawn=drawn, probabilities=np.array(wanted), kept=kept, known=known,
            edges=self.edges, counts=self.counts, nearest=self.nearest, sizes=sizes,
            first_of_grid=0 if every else len(places.beside), further=places.further, starts=self._starts,
            ends=self._ends, missing=missing, **found,
        )  # fmt: skip
        self.known, self.room, self.kept, self.sizes = known > 0, kept, kept[1:], sizes.tolist()
        self.missing = missing.tolist()
        with np.errstate(all="ignore"):  # of columns that are not known
            self.drawn, self.quantiles, self.grid = (own.astype(one.dtype) for own in found.values())
        self.beside = self.quantiles[:, ::every] if every else self.quantiles[:, : len(places.beside)]

    def column(self, i: int, label: Any, column: Column) -> KnownColumn | None:
        """What was found of a column; None where it must be summarised by itself."""
        if not self.known[i] or column.kind != "float" or column.decimals is not None:
            return None
        missing, size, rug = self.missing[i], self.sizes[i], np.sort(self.drawn[i])  # missing values last
        if missing:
            rug = rug[: len(rug) - np.count_nonzero(np.isnan(rug))]
        marginal = Marginal(
            label, "float", float(self.kept.shape[1]), float(missing), self.counts[i], edges=self.edges[i],
            deciles=self.beside[i], rug=rug,
        )  # fmt: skip
        return KnownColumn(marginal, self.grid[i, :size], self.nearest[i, :size], missing)

    def counts_near(self, grids: Mapping[int, Array]) -> Iterator[tuple[int, Float]]:
        """How many values of known columns are nearest to each of rising points of theirs, by the columns' numbers."""
        limits, sizes, counts = _limits(list(grids.values()))
        kernels.count_in_cells(
            chosen=np.array(list(grids), np.int64), kept=self.room, starts=self._starts, ends=self._ends,
            limits=limits, sizes=sizes, counts=counts,
        )  # fmt: skip
        for number, own, size in zip(grids, counts, sizes.tolist()):
            yield number, own[: size + 1].copy()
