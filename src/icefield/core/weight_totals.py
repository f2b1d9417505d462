"""Sums of the rows' weights by group, which whole-number weights need before anything is counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.core.rows import Accumulator, Block, State
from icefield.typing import Float, Positions

if TYPE_CHECKING:
    from icefield.threads import ThreadCrew

SUMS = ("totals", "squares", "counts")


class WeightTotals(Accumulator):
    """By group of rows: how many there are, the sums of their weights and of the squares, the largest, and the finest digit.

    A row in no group belongs to the last segment: there is one more of them than groups, where there are any. Weights and
    groups are read from `columns`.
    """

    title = "adding up weights"

    def __init__(self, n_segments: int, columns: Sequence[Any] = ()) -> None:
        self.n_segments, self.columns = n_segments, columns
        self.totals: Float = np.zeros(n_segments)
        self.squares: Float = np.zeros(n_segments)
        self.counts = np.zeros(n_segments, np.int64)
        self.largest: Float = np.zeros(n_segments)
        self.finest = np.full(n_segments, 2**20, np.int64)  # the exponent of the lowest bit of any weight

    @property
    def about(self) -> dict[str, Any]:
        return {"weight totals": [str(name) for name in self.columns or ()]}

    def segments(self, codes: Positions | None, n_rows: int) -> Positions:
        """The number of each row's group."""
        if codes is None:
            return np.zeros(n_rows, np.intp)
        return np.where(codes < 0, self.n_segments - 1, codes)

    def add(self, block: Block, threads: ThreadCrew | None = None) -> None:
        segment, weights = self.segments(block.codes, block.n_rows), block.weights
        counted = np.bincount(segment, minlength=self.n_segments)
        self.counts += counted
        if weights is None:
            self.totals += counted
            self.squares += counted
            return
        self.totals += np.bincount(segment, weights, minlength=self.n_segments)
        self.squares += np.bincount(segment, np.square(weights), minlength=self.n_segments)
        np.maximum.at(self.largest, segment, weights)
        some = weights > 0
        fraction, exponent = np.frexp(weights[some])
        digits = np.ldexp(fraction, 53).astype(np.int64)
        lowest = np.frexp((digits & -digits).astype(np.float64))[1] - 1 + exponent - 53
        np.minimum.at(self.finest, segment[some], lowest)

    def state(self) -> State:
        return {name: getattr(self, name) for name in (*SUMS, "largest", "finest")}

    def restore(self, state: State) -> None:
        for name in self.state():
            setattr(self, name, state[name].copy())

    def merge(self, state: State) -> None:
        for name in SUMS:
            setattr(self, name, getattr(self, name) + state[name])
        self.largest = np.maximum(self.largest, state["largest"])
        self.finest = np.minimum(self.finest, state["finest"])
