"""Grids in boxes, where not all points fit the memory at once, and their answers put together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from icefield.core.question import Answer, Moments


def boxes(shape: tuple[int, ...], fitting: int) -> Iterator[tuple[slice, ...]]:
    """The grid cut into boxes of at most this many points, long along the last axes."""
    sizes = []
    for size in reversed(shape):
        sizes.append(max(1, min(size, fitting)))
        fitting //= sizes[-1]
    cuts = [
        [slice(a, min(a + step, size)) for a in range(0, size, step)]
        for size, step in zip(shape, reversed(sizes))
    ]
    return product(*cuts)


def put(whole: Answer, part: Answer, box: tuple[Any, ...]) -> None:
    """Copy an answer on a box of the grid into the answer on all of it."""
    for mine, other in zip((whole.total, *whole.groups), (part.total, *part.groups)):
        _put_moments(mine, other, box)
    if whole.quantiles is not None and part.quantiles is not None:
        whole.quantiles[box] = part.quantiles
    for values, of_part in zip(whole.group_quantiles, part.group_quantiles):
        values[box] = of_part


def _put_moments(mine: Moments, other: Moments, box: tuple[Any, ...]) -> None:
    mine.count, mine.weight, mine.weight_squared = other.count, other.weight, other.weight_squared
    mine.mean[box] = other.mean
    if mine.m2 is not None and other.m2 is not None:
        mine.m2[box] = other.m2
    if other.squared is not None:
        if mine.squared is None:
            mine.squared = Moments.empty(mine.mean.shape, True)
        _put_moments(mine.squared, other.squared, box)
