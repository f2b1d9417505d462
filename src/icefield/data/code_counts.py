"""How many of some rows have each code, for many columns of codes at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icefield import kernels
from icefield.threads import ThreadCrew, available_processors
from icefield.typing import Bits, Bytes, Int64, Mask

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


def segment_counts(
    order: NDArray[np.intp], ends: NDArray[np.intp], codes: NDArray[np.int32], n_codes: int
) -> Int64:
    """Rows of each code, ``(segments, n_codes)``, in each segment of an order of rows; `ends` are the segments' ends.

    Examples
    --------
    >>> segment_counts(np.array([2, 0, 1]), np.array([2, 3]), np.array([1, 0, 1], np.int32), 2).tolist()
    [[0, 2], [1, 0]]
    """
    counts = np.zeros((len(ends), n_codes), np.int64)
    kernels.count_segments(order=order, ends=ends, codes=codes, counts=counts)
    return counts


def never_together(codes: NDArray[np.int32], others: NDArray[np.int16], start: Int64, least: float) -> Mask:
    """Which codes never occur with which groups of other columns, ``(codes, groups)``, although chance would have `least` rows do.

    `others` are groups by column, ``(columns, rows)``; `start` says where each column's groups begin among those of all.

    Examples
    --------
    >>> codes, other = np.array([0, 0, 1, 1], np.int32), np.array([[0, 0, 1, 0]], np.int16)
    >>> never_together(codes, other, np.array([0, 2]), 0.5).tolist()
    [[False, True], [False, False]]
    """
    never = np.zeros((int(codes.max(initial=-1)) + 1, int(start[-1])), np.uint8)
    kernels.find_never_together(codes=codes, others=others, group_start=start, least=least, never=never)
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
