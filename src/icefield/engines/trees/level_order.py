"""Levels in an order in which the trees' sets of them are few runs.

A grid of numbers is sorted, and a leaf holds for one run of it, or two. Levels have no order of their own: a leaf that
holds for a third of a hundred levels in the order of their codes has some twenty runs, and every row that reaches it
pays for each. Levels that go the same way together at most splits belong side by side. The order is found by going
from level to level, each time to the nearest that is left.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icefield.engines.trees.axes import EncodedAxis, Regions
from icefield.engines.trees.program import Program
from icefield.typing import Float, Positions

LEAST_POINTS, MOST_POINTS = 4, 2_048  # of a grid that is put into another order
MOST_FLAGS = 2**24  # regions times points that are compared
STARTS = 4  # levels that are begun from; the shortest way counts
WORTHWHILE = 0.9  # of the runs there were, at most


def in_few_runs(program: Program, axes: Sequence[EncodedAxis]) -> tuple[EncodedAxis, ...]:
    """The axes that are a program's groups; those split by sets with their points in an order of few runs."""
    forest, found = program.batch.forest, list(axes)
    by_sets = {int(c) for c in forest.condition_column[forest.condition_set >= 0]}
    chosen = [
        a
        for a, axis in enumerate(axes)
        if by_sets.intersection(axis.columns) and LEAST_POINTS <= axis.size <= MOST_POINTS
    ]
    if not chosen:
        return tuple(axes)
    regions = Regions.of(program, [axes[a] for a in chosen], chosen)
    entries = int(program.path_start[-1])
    group, rank = program.path_group[:entries], regions.rank[program.path_region[:entries]]
    ends = np.append(regions.start[1:], regions.masks.size)
    for number, a in enumerate(chosen):
        masks = regions.masks[regions.start[number] : ends[number]].reshape(-1, int(regions.words[number]))
        if len(masks) * axes[a].size > MOST_FLAGS:
            continue
        flags = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little")[:, : axes[a].size]
        leaves = np.bincount(rank[group == a], minlength=len(masks))
        held = leaves > 0
        order = shortest_way(_differences(flags[held].astype(np.float64), leaves[held].astype(np.float64)))
        found[a] = EncodedAxis(
            axes[a].columns, np.ascontiguousarray(axes[a].matrix[order]), axes[a].order[order]
        )
    return tuple(found)


def _differences(flags: Float, leaves: Float) -> Float:
    """For every two points the leaves that hold one of them and not the other, ``(points, points)``."""
    both = flags.T @ (leaves[:, None] * flags)
    own = np.diagonal(both)
    return own[:, None] + own - 2.0 * both


def shortest_way(distance: Float) -> Positions:
    """A short way through all points, or the order they are in, where it is hardly longer."""
    size = len(distance)
    usual = np.arange(size, dtype=np.intp)
    best, least = usual, WORTHWHILE * _length(usual, distance)
    for start in np.linspace(0, size - 1, min(STARTS, size)).astype(np.intp):
        way = _nearest_next(start, distance)
        if _length(way, distance) < least:
            best, least = way, _length(way, distance)
    return best


def _nearest_next(start: int, distance: Float) -> Positions:
    left = np.zeros(len(distance))  # infinite for points that were passed
    way = np.empty(len(distance), np.intp)
    here = start
    for k in range(len(way)):
        way[k] = here
        left[here] = np.inf
        here = int((distance[here] + left).argmin())
    return way


def _length(way: Positions, distance: Float) -> float:
    return float(distance[way[:-1], way[1:]].sum())
