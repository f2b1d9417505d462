"""One look at a column of numbers: its range, quantiles and counts, without sorting it.

The values are tallied in cells of equal width. A rank, or how many values are at most some limit, is then known up
to one cell, and the values of the few cells in question are gathered and sorted; a cell that holds many is looked at
in the same way. Every answer is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield import kernels
from icefield.typing import Float

CELLS, MANY_CELLS = 4096, 16_384
MANY = 2**16  # values for which more cells, with fewer of them each, are worth their memory
MOST_INNER = 4  # cells that are looked at again, each with another pass over all values
FEW = 2_000  # values that need no look, or of one cell that are sorted as they are
SORTED = 2**14  # values that are sorted sooner than tallied
HELD = 2**22  # values that are held in one piece; more are read in pieces, as often as they are needed
EXACT = 2**53  # below which whole numbers are floats

Counts = NDArray[np.int64]


class Look:
    """What one look at numbers tells; missing and infinite values are left out.

    Attributes
    ----------
    low, high : the smallest and the largest finite value
    finite : how many finite values there are
    """

    def __init__(self, values: NDArray[Any]) -> None:
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
        self._inner: dict[int, Look] = {}

    @classmethod
    def at(cls, values: NDArray[Any]) -> Look | None:
        """A look at an array; None where it holds too few numbers, or none that all fit a float exactly."""
        kind, size = values.dtype.kind, values.dtype.itemsize
        if len(values) <= FEW or kind not in "fiu" or size > 8:
            return None
        if kind in "iu" and size == 8 and max(-int(values.min()), int(values.max())) >= EXACT:
            return None
        look = cls(values)
        return look if look.finite else None

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
        """Whether more than this many values differ for sure."""
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

    def _many(self, cells: Counts) -> Iterator[tuple[Look, NDArray[np.bool_]]]:
        """A look at each cell that holds many values, and which of the asked ones lie there."""
        for cell in np.unique(cells[self._counts[cells] > self._few]).tolist():
            if cell not in self._inner:
                wanted = np.zeros(self._cells, bool)
                wanted[cell] = True
                self._inner[cell] = Look(self._of(wanted))
            yield self._inner[cell], cells == cell

    def _gather(self, cells: Counts) -> None:
        wanted = np.zeros(self._cells, bool)
        wanted[cells] = True
        wanted &= ~self._gathered
        if wanted.any():
            self._sorted = np.sort(np.concatenate([self._sorted, self._of(wanted)]))
            self._gathered |= wanted

    def _of(self, wanted: NDArray[np.bool_]) -> Float:
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
