"""Values of given ranks among many numbers, without sorting them, and numbers in order: exact, in a few passes that need no Python.

A small sample brackets what is asked for. Between the brackets values are tallied in cells of equal width, so that each rank is known up
to one cell, and the few values of these cells are looked through. Values far out, which would leave most others in one cell, are
outside the brackets and only counted.
"""

from __future__ import annotations

import numpy as np

from icefield.typing import Float, Int64, Mask

FEW = 2**14  # values that are partitioned as they are
SAMPLE = 1024  # values that place the brackets
MARGIN = 0.06  # share of the sample beyond the outermost ranks: four standard deviations of chance
CELLS = 4096


def values_at_ranks(values: Float, ranks: Int64) -> Float:
    """The values of some ranks, from 0 for the smallest; there must be no NaN.

    Examples
    --------
    >>> values_at_ranks(np.arange(100_000.0)[::-1], np.array([0, 99_999])).tolist()
    [0.0, 99999.0]
    """
    if len(values) > FEW:
        found = _between_brackets(np.ascontiguousarray(values), ranks)
        if found is not None:
            return found
    return np.partition(values, np.unique(ranks))[ranks]


def lanes_at_ranks(lanes: Float, ranks: Int64) -> Float:
    """The values of some ranks in each of many short lanes ``(lanes, rows)``: ``(lanes, ranks)``, NaN where a lane has one.

    Examples
    --------
    >>> lanes_at_ranks(np.array([[3.0, 1.0, 2.0], [5.0, np.nan, 4.0]]), np.array([0, 2])).tolist()
    [[1.0, 3.0], [nan, nan]]
    """
    from icefield import kernels

    found = np.empty((len(lanes), len(ranks)))
    kernels.values_at_ranks(lanes=np.ascontiguousarray(lanes, np.float64), ranks=ranks, values=found)
    return found


def in_order(values: Float) -> tuple[Int64, Mask, int]:
    """Positions of numbers in their order, those that are not finite last; where the next one differs; how many are finite.

    Numbers that are equal come in any order.

    Examples
    --------
    >>> order, differs, finite = in_order(np.array([2.0, np.nan, 1.0, 2.0]))
    >>> sorted(order[1:3].tolist()), differs.tolist(), finite
    ([0, 3], [True, False, True, True], 3)
    """
    from icefield import kernels

    order, differs, finite = (
        np.empty(len(values), np.int64),
        np.empty(len(values), bool),
        np.zeros(1, np.int64),
    )
    values = np.ascontiguousarray(values, np.float64)
    kernels.order_numbers(values=values, order=order, is_last=differs.view(np.uint8), finite=finite)
    return order, differs, int(finite[0])


def _between_brackets(values: Float, ranks: Int64) -> Float | None:
    """The values of these ranks; None where brackets or cells do not tell the values apart."""
    from icefield import kernels  # small questions leave them alone

    size = len(values)
    sample = np.sort(values[:: size // SAMPLE])
    ends = ((ranks.min(), -1), (ranks.max(), 1))
    first, last = (int((rank / size + side * MARGIN) * len(sample)) for rank, side in ends)
    low = sample[first] if first >= 0 else values.min()
    high = sample[last] if last < len(sample) else values.max()
    with np.errstate(all="ignore"):
        scale = float(CELLS / (high - low))
    if not 0.0 < scale < np.inf:
        return None
    counts, column = np.zeros(CELLS, np.int64), values[:, None]
    kernels.tally(values=column, low=low, high=high, scale=scale, counts=counts)
    up_to = np.count_nonzero(values < low) + np.cumsum(counts)
    cells = np.searchsorted(up_to, ranks, side="right")
    if ranks.min() < up_to[0] - counts[0] or cells.max() >= CELLS:
        return None
    wanted = np.zeros(CELLS, np.uint8)
    wanted[cells] = 1
    kept = np.where(wanted, counts, 0)
    found, filled = np.empty(int(kept.sum())), np.zeros(1, np.int64)
    kernels.gather(values=column, low=low, high=high, scale=scale, wanted=wanted, found=found, filled=filled)
    # All values of a lower cell are below those of the next, so a rank among the gathered ones is its rank less those left out.
    at = ranks - (up_to - counts)[cells] + (np.cumsum(kept) - kept)[cells]
    return np.partition(found, np.unique(at))[at]
