"""Sums of the changes when rows move across their own bins, for many features together: the basis of ALE.

A row stands at a *place* of every axis: between two neighbouring points, or at a point of its own where points are levels.
It is moved to the point before its place and to the one after. All that is kept are sums by place, which merge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from icefield.data.features import Axis
from icefield.typing import Float, Int32, Int64

if TYPE_CHECKING:
    from icefield.data.frame import Table

BY_OUTPUT = 7  # sums of changes that a place has for each output: see `PlaceSums`


@dataclass(frozen=True, eq=False)
class Placement:
    """Rows, and the bin each lies in.

    Attributes
    ----------
    axes : what moves, each with its points in order
    on_levels : for each axis, whether rows stand at its points rather than between them
    table : the rows
    places : gives, for a range of the rows, their places on each axis, ``(axes, rows)``; -1: takes no part
    weights, squares : one per row; what a row counts for in a mean, and in its variance
    segments, n_segments : one of this many numbers per row: sums are kept apart by it
    """

    axes: Sequence[Axis]
    on_levels: Sequence[bool]
    table: Table
    places: Callable[[int, int], Int32]
    weights: Float
    squares: Float
    segments: Int32
    n_segments: int


@dataclass(eq=False)
class PlaceSums:
    """Sums by segment and place, the places of all axes one after another; axis a begins at ``start[a]``.

    Attributes
    ----------
    counts : ``(segments, places, 3)``: the number of rows, their weight and their squares
    changes : ``(segments, places, outputs, 7)``: the sums of weight times change, for rows between points across their step,
        for levels across the step before and the one after; by squares, the means of both changes, the sums of their
        squares about these, and of their products
    """

    start: Int64
    counts: Float
    changes: Float

    @classmethod
    def none(cls, sizes: Sequence[int], segments: int, outputs: int) -> PlaceSums:
        """Before any row; for axes of this many points."""
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        places = int(start[-1])
        return cls(start, np.zeros((segments, places, 3)), np.zeros((segments, places, outputs, BY_OUTPUT)))

    @staticmethod
    def size(places: int, segments: int, outputs: int) -> int:
        """Bytes that this many places take."""
        return 8 * segments * places * (3 + BY_OUTPUT * outputs)

    def merge(self, other: PlaceSums) -> None:
        """Take in the sums of other rows."""
        own, more = self.counts[..., 2], other.counts[..., 2]
        whole = own + more
        share = (more / np.where(whole > 0.0, whole, 1.0))[..., None]
        held = own[..., None] * share
        mine, theirs = self.changes, other.changes
        apart = theirs[..., 2:4] - mine[..., 2:4]
        mine[..., :2] += theirs[..., :2]
        mine[..., 2:4] += apart * share[..., None]
        mine[..., 4:6] += theirs[..., 4:6] + np.square(apart) * held[..., None]
        mine[..., 6] += theirs[..., 6] + apart[..., 0] * apart[..., 1] * held
        self.counts += other.counts

    def of(self, axis: int) -> tuple[Float, Float]:
        """The counts and changes of one axis."""
        here = slice(int(self.start[axis]), int(self.start[axis + 1]))
        return self.counts[:, here], self.changes[:, here]
