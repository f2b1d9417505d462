"""Quantiles of a column in one pass, in little memory, with an error that is known.

Sorted values are thinned to a few that stand for their neighbours, each with their weight. Two summaries of like weight
are joined and thinned again, as in a binary counter, so that few are held at any time. Every thinning
shifts ranks by at most half of what one kept value stands for; these shifts are added up, so the
error is a bound for the very data that came, not an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.rows import part_of
from icefield.typing import Float


@dataclass(frozen=True, eq=False)
class RankSummary:
    """A column's sketch: sorted values, the weight each stands for, and by how much of it ranks may be off."""

    name: str
    values: NDArray[Any]
    weights: Float
    rank_error: float


class RankSketch:
    """A summary of the values seen: some of them, sorted, with the weight each stands for.

    Parameters
    ----------
    points : how many values a summary keeps

    Examples
    --------
    >>> sketch = RankSketch(points=100)
    >>> for start in range(0, 100_000, 10_000):
    ...     sketch.add(np.arange(start, start + 10_000.0))
    >>> values, weights = sketch.summary()
    >>> bool(abs(values[np.searchsorted(np.cumsum(weights), 50_000)] - 50_000) <= sketch.error)
    True
    """

    def __init__(self, points: int) -> None:
        self.points = points
        self._summaries: dict[int, tuple[NDArray[Any], Float]] = {}  # by how often they were joined
        self.error = 0.0  # weight by which the rank of any value may be off
        self.weight = 0.0
        self._ends: tuple[Any, Any] | None = None

    def add(self, ordered: NDArray[Any], weights: Float | None = None) -> None:
        """Take in sorted values and their weights (None: 1 each)."""
        if not len(ordered):
            return
        masses = np.ones(len(ordered)) if weights is None else weights
        self.weight += float(len(ordered)) if weights is None else float(masses.sum())
        self._extend_range(ordered[0], ordered[-1])
        self._carry(0, self._thin(ordered, masses))

    def _extend_range(self, low: Any, high: Any) -> None:
        """Extend the range of values seen by a least and a largest one."""
        if self._ends is not None:
            low, high = min(low, self._ends[0]), max(high, self._ends[1])
        self._ends = low, high

    def _carry(self, level: int, summary: tuple[NDArray[Any], Float]) -> None:
        """Store a summary of `level` merges, merging it with one of the same level, as in a binary counter."""
        while level in self._summaries:
            summary = self._thin(*merge_summaries(self._summaries.pop(level), summary))
            level += 1
        self._summaries[level] = summary

    def absorb(self, values: NDArray[Any], weights: Float, error: float) -> None:
        """Take in sorted values that stand for others, whose ranks are off by at most this weight."""
        self.error += error if len(values) else 0.0
        self.add(values, weights)

    def condense(self) -> None:
        """Merge all summaries into one."""
        if len(self._summaries) > 1:
            self._summaries = {0: self._thin(*reduce(merge_summaries, self._summaries.values()))}

    def merge(self, other: RankSketch) -> None:
        """Add another sketch of other values."""
        self.error, self.weight = self.error + other.error, self.weight + other.weight
        if other._ends is not None:
            self._extend_range(*other._ends)
        for level, summary in sorted(other._summaries.items()):
            self._carry(level, self._thin(*summary))

    def _thin(self, values: NDArray[Any], weights: Float) -> tuple[NDArray[Any], Float]:
        """At most this many values, each for about the same weight, in the middle of those it stands for."""
        if len(values) <= self.points:
            return values, weights
        cumulative = np.cumsum(weights)
        step = cumulative[-1] / self.points
        group = np.minimum((cumulative - weights / 2) // step, self.points - 1).astype(np.intp)
        first = np.flatnonzero(np.diff(group, prepend=-1))
        last = np.append(first[1:], len(values)) - 1
        before = cumulative[first] - weights[first]
        middle = np.clip(np.searchsorted(cumulative, (before + cumulative[last]) / 2), first, last)
        below, above = cumulative[middle] - weights[middle] - before, cumulative[last] - cumulative[middle]
        self.error += float(np.maximum(below, above).max())
        return values[middle].copy(), cumulative[last] - before

    def summary(self) -> tuple[NDArray[Any], Float]:
        """Sorted values, the least and the largest seen among them, and the weight each stands for."""
        if not self._summaries or self._ends is None:
            return np.zeros(0), np.zeros(0)
        values, weights = reduce(merge_summaries, self._summaries.values())
        # The ends carry no weight of their own beyond a hair, so that ranks stay as they are.
        hair = np.full(2, max(self.weight, 1e-300) * 1e-15)
        return merge_summaries((np.array(self._ends, dtype=values.dtype), hair), (values, weights))

    @property
    def rank_error(self) -> float:
        """The largest share of the weight by which a quantile's rank may be off."""
        return self.error / self.weight if self.weight else 0.0

    def state(self) -> dict[str, NDArray[Any]]:
        """All that is known, as arrays."""
        state: dict[str, NDArray[Any]] = {"bounds": np.array([self.error, self.weight])}
        if self._ends is not None:
            state["ends"] = np.array(self._ends)
        for level, (values, weights) in self._summaries.items():
            state[f"values {level}"], state[f"weights {level}"] = values, weights
        return state

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on where another sketch left off."""
        self.error, self.weight = (float(v) for v in state["bounds"])
        self._ends = tuple(state["ends"]) if "ends" in state else None
        values, weights = part_of(state, "values "), part_of(state, "weights ")
        self._summaries = {int(level): (values[level], weights[level]) for level in values}


def merge_summaries(
    first: tuple[NDArray[Any], Float], second: tuple[NDArray[Any], Float]
) -> tuple[NDArray[Any], Float]:
    """Two summaries as one."""
    values, weights = np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1]])
    order = np.argsort(values, kind="stable")
    return values[order], weights[order]
