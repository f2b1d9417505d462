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
from icefield.data.distribution import BINS, ranks_of
from icefield.data.look import FEW, HELD
from icefield.typing import Float

BESIDE, MOST_BESIDE = 2**25, 16  # bytes and number of neighbouring columns that are copied out together
BLOCKS = 2  # a thread, at least: none of them waits long for the last
LOOKED = {np.dtype(np.float64): kernels.look_together, np.dtype(np.float32): kernels.look_together_narrow}


def side_by_side(columns: Sequence[NDArray[Any]], threads: int) -> Iterator[range]:
    """Which columns to look at together: neighbours in a matrix that lies in memory row by row.

    A column of such a matrix is a value of every line of memory. Several neighbours are copied out together, while
    their lines are near; but not so many that a thread has nothing to do.
    """
    begin, share = 0, -(-len(columns) // (BLOCKS * threads))
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


def can_look(columns: Sequence[NDArray[Any]]) -> bool:
    """Whether such columns can be looked at together."""
    first = columns[0]
    return first.dtype in LOOKED and FEW < len(first) <= HELD and first.strides[0] % first.itemsize == 0


class Looks:
    """A look at neighbouring columns, as `side_by_side` gives them.

    Parameters
    ----------
    columns : the columns' values
    drawn : rows whose values are wanted as they are
    probabilities : of the quantiles that are wanted; the grid lies between the last two
    points : of the grid
    room : memory that may be used, where it is enough

    Attributes
    ----------
    known : which columns are known now; nothing else below is said of others
    drawn, quantiles, grid : by column, in its dtype
    edges, counts : of a histogram, by column
    nearest : how many values are nearest to each point of the grid, by column
    kept : each column's values, in any order
    """

    def __init__(
        self,
        columns: Sequence[NDArray[Any]],
        drawn: NDArray[np.int64],
        probabilities: Float,
        points: int,
        room: Float | None = None,
    ) -> None:
        first, width, rows = columns[0], len(columns), len(columns[0])
        size = (width + 1) * rows
        kept = (np.empty(size) if room is None or room.size < size else room[:size]).reshape(width + 1, rows)
        found = {
            "sample": np.empty((width, len(drawn))),
            "at_ranks": np.empty((width, len(probabilities))),
            "grid": np.empty((width, points)),
        }
        known = np.empty(width, np.uint8)
        self.edges, self.counts = np.empty((width, BINS + 1)), np.empty((width, BINS))
        self.nearest = np.empty((width, points))
        LOOKED[first.dtype](
            matrix=as_strided(first, (rows, width), (first.strides[0], first.itemsize), writeable=False),
            drawn=drawn, ranks=ranks_of(probabilities, rows), kept=kept, known=known, edges=self.edges,
            counts=self.counts, nearest=self.nearest, **found,
        )  # fmt: skip
        self.known, self.kept = known > 0, kept[1:]
        with np.errstate(all="ignore"):  # of columns that are not known
            self.drawn, self.quantiles, self.grid = (one.astype(first.dtype) for one in found.values())
