"""How many of some rows have each code, or what they sum up to, for many columns of codes at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from icefield import kernels
from icefield.threads import ThreadCrew, available_processors
from icefield.typing import Bits, Bytes, Float, Int64, Mask

CODES, WORD = 256, 64


def row_bits(kept: Mask) -> Bits:
    """A mask as words, one bit a row, the first row in the lowest bit.

    Examples
    --------
    >>> row_bits(np.array([True, False, True])).tolist()
    [5]
    """
    flags = np.zeros(-(-len(kept) // WORD) * WORD, bool)
    flags[: len(kept)] = kept
    return np.packbits(flags, bitorder="little").view(np.uint64)


def sums_by_code(codes: NDArray[np.intp], values: Float, n_codes: int) -> Float:
    """Sums of rows by code, ``(n_codes, columns)``, added up in the order of the rows.

    Examples
    --------
    >>> sums_by_code(np.array([1, 0, 1]), np.array([[0.5, 1.0], [2.0, 0.0], [0.25, 1.0]]), 3).tolist()
    [[2.0, 0.0], [0.75, 2.0], [0.0, 0.0]]
    """
    sums = np.zeros((n_codes, values.shape[1]))
    kernels.add_by_code(codes=codes, values=np.ascontiguousarray(values, np.float64), sums=sums)
    return sums


def counts_between_ranks(
    order: NDArray[np.intp], is_last: Mask, places: NDArray[np.int32], starts: Int64, ranks: Int64
) -> list[Int64]:
    """Of each of several sets of levels, the rows of each level between ranks, ``(segments, levels)``.

    Parameters
    ----------
    order : the rows in the order of a value
    is_last : in that order, where the next row has another value
    places : each row's level in each set, ``(rows, sets)``, as a number among the levels of all; beyond all where it has none
    starts : where each set's levels begin, and where the last one's end
    ranks : of each set, rising, among its rows that have a level, ``(sets, cuts)``: a segment ends with all rows of that
        one's value, and the last with the order

    Examples
    --------
    >>> order, is_last = np.array([2, 0, 1, 3]), np.array([True, False, True, True])
    >>> places = np.array([[0], [1], [1], [0]], np.int32)
    >>> counts_between_ranks(order, is_last, places, np.array([0, 2]), np.array([[1, 3]]))[0].tolist()
    [[1, 2], [1, 0], [0, 0]]
    """
    counts, used = np.zeros((ranks.shape[1] + 1, int(starts[-1])), np.int64), np.zeros(len(ranks), np.int64)
    kernels.count_between_ranks(
        order=order,
        is_last=is_last.view(np.uint8),
        places=places,
        starts=starts,
        ranks=ranks,
        counts=counts,
        used=used,
    )
    return [counts[:n, a:b] for n, a, b in zip(used.tolist(), starts[:-1].tolist(), starts[1:].tolist())]


def never_together(
    codes: NDArray[np.int32], others: NDArray[np.int16], group_rows: Sequence[Int64], least: float
) -> Mask:
    """Which codes never occur with which groups of other columns, ``(codes, groups)``, although chance would have `least` rows do.

    `others` are groups by column, ``(columns, rows)``; `group_rows` are how many rows are in each group of each column.

    Examples
    --------
    >>> codes, other = np.array([0, 0, 1, 1], np.int32), np.array([[0, 0, 1, 0]], np.int16)
    >>> never_together(codes, other, [np.array([3, 1])], 0.5).tolist()
    [[False, True], [False, False]]
    """
    start = np.cumsum([0, *map(len, group_rows)])
    never = np.zeros((int(codes.max(initial=-1)) + 1, int(start[-1])), np.uint8)
    kernels.find_never_together(
        codes=codes,
        others=others,
        group_start=start,
        group_rows=np.concatenate(group_rows),
        least=least,
        never=never,
    )
    return never.view(bool)


def code_counts(codes: Bytes, kept: Mask | None) -> Int64:
    """Rows of each code by column, ``(columns, 256)``, from codes ``(columns, rows)``; `kept` says which rows (None: all).

    Examples
    --------
    >>> code_counts(np.array([[0, 2, 2]], np.uint8), np.array([True, True, False]))[0, :3].tolist()
    [1, 0, 1]
    """
    here = row_bits(np.ones(codes.shape[1], bool) if kept is None else kept)
    counts = np.zeros((len(codes), CODES), np.int64)

    def count(column: int) -> None:
        own = slice(column, column + 1)
        kernels.count_codes(codes=codes[own], here=here, counts=counts[own])

    with ThreadCrew(available_processors()) as crew, crew:
        for _ in crew.share(count, range(len(codes))):
            pass
    return counts
