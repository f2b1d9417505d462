"""One look at several columns of numbers together, which Python takes part in once and not for each.

Neighbouring columns of a matrix are copied out together, and each is kept cell by cell: between its smallest and
its largest value are cells of equal width, and the cell of a value never decreases with it. A rank, or how many values are
at most some limit, is then found in one cell. What cells do not tell apart, and what is not plain floats, is left to a
`Look` at the column by itself. Every answer is exact, and the same as its.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from icefield import kernels
from icefield.data.distribution import BINS
from icefield.data.look import FEW, HELD
from icefield.typing import Float

BESIDE, MOST_BESIDE = 2**25, 16  # bytes and number of neighbouring columns that are copied out together
CELLS = 4096
BLOCKS = 2  # a thread, at least: none of them waits long for the last
LOOKED = (np.dtype(np.float64), np.dtype(np.float32))


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


def _beside(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Neighbouring columns as a matrix, where they lie."""
    first = columns[0]
    return as_strided(first, (len(first), len(columns)), (first.strides[0], first.itemsize), writeable=False)


def counts_near(columns: Sequence[NDArray[Any]], grids: Sequence[NDArray[Any]]) -> list[Float]:
    """How many finite values of neighbouring columns are nearest to each of their rising points, a value midway to the lower one."""
    limits, sizes, counts = _limits(grids)
    kernels.count_up_to(matrix=_beside(columns), limits=limits, sizes=sizes, counts=counts)
    return [own[: len(points)].copy() for own, points in zip(counts, grids)]


def _limits(grids: Sequence[NDArray[Any]]) -> tuple[Float, NDArray[np.int64], Float]:
    """Halfway between the points of each grid, how many such limits it has, and room for counts between them."""
    sizes = np.array([len(points) - 1 for points in grids], np.int64)
    limits = np.zeros((len(grids), int(sizes.max())))
    for own, points in zip(limits, grids):
        halves = points.astype(np.float64) / 2  # first: the sum of two large numbers may be none
        np.add(halves[:-1], halves[1:], out=own[: len(points) - 1])
    return limits, sizes, np.empty((len(grids), limits.shape[1] + 1))


class Looks:
    """A look at neighbouring columns, as `side_by_side` gives them.

    Parameters
    ----------
    columns : the columns' values
    drawn : rows whose values are wanted as they are
    probabilities, first : of the quantiles that are wanted, and from which on they are the grid's
    points : of the grid, at most
    further : the grid is made of its quantiles and so many values next to even points; 0: it lies evenly between two quantiles
    room : memory that may be used, where it is enough

    Attributes
    ----------
    known : which columns are known now; nothing else below is said of others
    drawn, quantiles, grid : by column, in its dtype
    sizes : how many points the grid has, by column
    missing : how many values are NaN, by column; nothing else counts them
    edges, counts : of a histogram, by column
    nearest : how many values are nearest to each point of the grid, by column
    kept : each column's values, in any order
    room : the memory that is used
    """

    def __init__(
        self,
        columns: Sequence[NDArray[Any]],
        drawn: NDArray[np.int64],
        probabilities: Float,
        first: int,
        points: int,
        further: int = 0,
        room: Float | None = None,
    ) -> None:
        one, width, rows = columns[0], len(columns), len(columns[0])
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
        sizes, missing = np.zeros(width, np.int64), np.zeros(width, np.int64)
        self._starts, self._ends = np.empty((width, CELLS + 1), np.int32), np.empty((width, 2))
        kernels.look_together(
            matrix=_beside(columns), drawn=drawn, probabilities=probabilities, kept=kept, known=known,
            edges=self.edges, counts=self.counts, nearest=self.nearest, sizes=sizes, first_of_grid=first,
            further=further, starts=self._starts, ends=self._ends, missing=missing, **found,
        )  # fmt: skip
        self.known, self.room, self.kept, self.sizes = known > 0, kept, kept[1:], sizes.tolist()
        self.missing = missing.tolist()
        with np.errstate(all="ignore"):  # of columns that are not known
            self.drawn, self.quantiles, self.grid = (own.astype(one.dtype) for own in found.values())

    def counts_near(self, grids: Mapping[int, NDArray[Any]]) -> Iterator[tuple[int, Float]]:
        """How many values of known columns are nearest to each of rising points of theirs, by the columns' numbers."""
        limits, sizes, counts = _limits(list(grids.values()))
        kernels.count_in_cells(
            chosen=np.array(list(grids), np.int64), kept=self.room, starts=self._starts, ends=self._ends,
            limits=limits, sizes=sizes, counts=counts,
        )  # fmt: skip
        for number, own, size in zip(grids, counts, sizes.tolist()):
            yield number, own[: size + 1].copy()
