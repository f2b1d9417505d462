"""One look at several columns of numbers together, which Python takes part in once and not for each.

Neighbouring columns of a matrix are copied out together, and each is kept cell by cell: between its smallest and
its largest value are cells of equal width, and the cell of a value never decreases with it. A rank, or how many values are
at most some limit, is then found in one cell. What cells do not tell apart, and what is not plain floats, is left to a
`Look` at the column by itself. Every answer is exact, and the same as its.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from icefield import kernels
from icefield.data.look import FEW, HELD, Counts
from icefield.typing import Float

CELLS = 4096
BESIDE, MOST_BESIDE = 2**25, 16  # bytes and number of neighbouring columns that are copied out together
LOOKED = {np.dtype(np.float64): kernels.look_together, np.dtype(np.float32): kernels.look_together_narrow}


def side_by_side(columns: Sequence[NDArray[Any]], threads: int) -> Iterator[range]:
    """Which columns to look at together: neighbours in a matrix that lies in memory row by row.

    A column of such a matrix is a value of every line of memory. Several neighbours are copied out together, while
    their lines are near; but not so many that a thread has nothing to do.
    """
    begin, share = 0, -(-len(columns) // threads)
    while begin < len(columns):
        end = begin + 1
        most = min(MOST_BESIDE, share, BESIDE // max(1, 8 * len(columns[begin])))
        while end < len(columns) and end - begin < most and _neighbours(columns[end - 1], columns[end]):
            end += 1
        yield range(begin, end)
        begin = end


def _neighbours(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two columns lie side by side in the rows of one matrix of floats."""
    return (
        one.dtype == other.dtype
        and one.dtype in LOOKED
        and one.strides == other.strides
        and one.strides[0] > 2 * one.itemsize
        and one.shape == other.shape
        and other.__array_interface__["data"][0] - one.__array_interface__["data"][0] == one.itemsize
    )


class Looks:
    """A look at neighbouring columns, as `side_by_side` gives them.

    Parameters
    ----------
    columns : the columns' values
    drawn : rows whose values are wanted as they are
    room : memory that may be used, where it is enough

    Attributes
    ----------
    kept : each column's values, in another order where `fits`
    low, high, finite : as of a `Look`, by column
    filled : cells that hold a value, by column; as many values differ for sure
    fits : which columns are complete, and can be asked here
    drawn : ``(columns, drawn)``
    """

    def __init__(
        self, columns: Sequence[NDArray[Any]], drawn: NDArray[np.int64], room: Float | None = None
    ) -> None:
        first, width, rows = columns[0], len(columns), len(columns[0])
        size = (width + 1) * rows
        kept = np.empty(size) if room is None or room.size < size else room[:size]
        self._kept = kept.reshape(width + 1, rows)
        self._ends, self._scale = np.empty((width, 2)), np.empty(width)
        self._starts = np.empty((width, CELLS + 1), np.int32)
        self.finite, self.filled = np.empty(width, np.int64), np.empty(width, np.int64)
        self.drawn = np.empty((width, len(drawn)))
        side = as_strided(first, (rows, width), (first.strides[0], first.itemsize), writeable=False)
        LOOKED[first.dtype](
            matrix=side, drawn=drawn, kept=self._kept, ends=self._ends, scale=self._scale, finite=self.finite,
            filled=self.filled, starts=self._starts, sample=self.drawn,
        )  # fmt: skip
        self.kept = self._kept[1:]
        self.low, self.high = self._ends.T
        self.fits = (self.filled > 0) & (self.finite == rows)

    @staticmethod
    def possible(columns: Sequence[NDArray[Any]]) -> bool:
        """Whether such columns can be looked at together."""
        first = columns[0]
        return first.dtype in LOOKED and FEW < len(first) <= HELD and first.strides[0] % first.itemsize == 0

    def ask(self, ranks: Counts, limits: Float) -> tuple[Float, Counts]:
        """Values of ranks ``(ranks,)``, and how many are at most limits ``(columns, limits)``, of the columns that fit."""
        width = len(self.finite)
        values, counts = np.empty((width, len(ranks))), np.empty(limits.shape, np.int64)
        kernels.ask_together(
            kept=self._kept, ends=self._ends, scale=self._scale, filled=np.where(self.fits, self.filled, 0),
            starts=self._starts, ranks=np.broadcast_to(ranks, values.shape).copy(), limits=limits,
            at_ranks=values, at_most=counts,
        )  # fmt: skip
        return values, counts
