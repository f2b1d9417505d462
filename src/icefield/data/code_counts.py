"""How many of some rows have each code, for many columns of codes at once."""

from __future__ import annotations

import numpy as np

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
