"""Accumulated local effects of one feature: mean changes per step, accumulated and centred, with their error.

All that is needed of the rows are sums by step, which merge: a table gives them at once, a stream block by block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.effect import Effect, Spread
from icefield.statistics.steps import Steps
from icefield.typing import Float, Mask, Positions


@dataclass(frozen=True, eq=False)
class LocalCurve:
    """A centred curve or surface, its error, and the weight of the rows behind each node."""

    average: Float
    se: Float | None
    weight: Float
    n_rows: int

    def drawn_on(self, blank: Effect, n_rows: int) -> Effect:
        return replace(
            blank,
            average=self.average,
            spread=Spread(se=self.se),
            backing=replace(blank.backing, weight=self.weight),
            provenance=replace(blank.provenance, n_rows=n_rows),
        )


class Summed:
    """Sums that are arrays, in a dataclass: as a mapping of arrays and back."""

    def state(self) -> dict[str, NDArray[Any]]:
        """All sums by name."""
        return {f.name: np.asarray(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Take the sums that `state` gave."""
        for name, values in state.items():
            setattr(self, name, values.copy())


@dataclass(eq=False)
class StepSums(Summed):
    """What rows moved across the steps of one feature add up to.

    Attributes
    ----------
    n_rows : rows that took part
    end_weight, node_weight : by node, weight of the rows that are counted at it, and that stand about it
    count, weight, change : by step, its rows, their weight, and the sum of weight times change
    squared, centre, spread : by step, the sum of squared weights, and, weighted by these, the mean of the changes
        and their sum of squares about it
    both, both_centre, both_spread : the same for rows that cross a step and the next one too, with the means on
        either step, and the products about them
    """

    n_rows: NDArray[np.int64]
    end_weight: Float
    node_weight: Float
    count: NDArray[np.int64]
    weight: Float
    change: Float
    squared: Float
    centre: Float
    spread: Float
    both: Float
    both_centre: Float
    both_spread: Float

    @classmethod
    def none(cls, sizes: Sequence[int], outputs: int) -> StepSums:
        """Before any row; for so many nodes."""
        (n_nodes,) = sizes
        steps = n_nodes - 1
        flat, wide = np.zeros(steps), np.zeros((steps, outputs))
        return cls(
            np.zeros(1, np.int64), np.zeros(n_nodes), np.zeros(n_nodes), np.zeros(steps, np.int64), flat, wide, flat, wide,
            wide, flat, np.zeros((2, steps, outputs)), wide,
        )  # fmt: skip

    def add(
        self,
        steps: Sequence[Steps],
        crossed: Sequence[Positions],
        change: Float,
        weights: Float,
        rows: Positions,
    ) -> None:
        """Take in moves: the table's row and the step of each, and what it changed; and the rows that took part."""
        (cut,), (row, step) = steps, crossed
        n = cut.n_steps
        kept = weights[rows]
        n_nodes = len(cut.nodes)
        self.n_rows = self.n_rows + len(rows)
        self.end_weight = self.end_weight + np.bincount(cut.end_of[rows], kept, minlength=n_nodes)
        nodes = cut.node_of[rows]
        shared = np.repeat(kept / nodes.shape[1], nodes.shape[1])
        self.node_weight = self.node_weight + np.bincount(nodes.ravel(), shared, minlength=n_nodes)
        if n == 0 or not len(step):
            return
        w = weights[row]
        self.count = self.count + np.bincount(step, minlength=n)
        self.weight = self.weight + np.bincount(step, w, minlength=n)
        self.change = self.change + sums_by(step, w[:, None] * change, n)
        squared = np.bincount(step, np.square(w), minlength=n).astype(np.float64)
        centre = _means(step, np.square(w), change, squared)
        about = sums_by(step, np.square(w)[:, None] * np.square(change - centre[step]), n)
        self._join_spread(squared, centre, about)
        twice = np.flatnonzero((row[1:] == row[:-1]) & (step[1:] == step[:-1] + 1))
        if len(twice):
            self._add_both(step[twice], np.square(w[twice]), change[twice], change[twice + 1])

    def _join_spread(self, squared: Float, centre: Float, about: Float) -> None:
        whole, share = _joined_weight(self.squared, squared)
        apart = centre - self.centre
        self.spread = self.spread + about + np.square(apart) * (self.squared * share)[:, None]
        self.centre = self.centre + apart * share[:, None]
        self.squared = whole

    def _add_both(self, step: Positions, w: Float, one: Float, other: Float) -> None:
        n = len(self.both)
        both = np.bincount(step, w, minlength=n).astype(np.float64)
        centres = np.stack([_means(step, w, values, both) for values in (one, other)])
        about = sums_by(step, w[:, None] * (one - centres[0][step]) * (other - centres[1][step]), n)
        whole, share = _joined_weight(self.both, both)
        apart = centres - self.both_centre
        self.both_spread = self.both_spread + about + apart[0] * apart[1] * (self.both * share)[:, None]
        self.both_centre = self.both_centre + apart * share[:, None]
        self.both = whole

    def curve(self, of_features: Sequence[NDArray[Any]]) -> LocalCurve:
        """Mean change per step, accumulated, and centred over the data; on the feature's nodes."""
        (nodes,) = of_features
        n_rows, outputs = int(self.n_rows[0]), self.change.shape[1]
        if len(nodes) == 1 or n_rows == 0:
            flat = np.full((outputs, len(nodes)), np.nan if n_rows == 0 else 0.0)
            return LocalCurve(flat, flat.copy(), self.end_weight, n_rows)
        has = self.weight > 0
        total = np.where(has, self.weight, 1.0)[:, None]
        delta = self.change / total
        curve = np.concatenate([np.zeros((1, outputs)), _filled(delta, has, nodes).cumsum(axis=0)])
        share = self.node_weight / self.node_weight.sum()
        average = curve - (self.node_weight @ curve) / self.node_weight.sum()
        own = (self.spread + self.squared[:, None] * np.square(self.centre - delta)) / np.square(total)
        apart = self.both_centre[:, :-1] - np.stack([delta[:-1], delta[1:]])
        next_to = (self.both_spread[:-1] + self.both[:-1, None] * apart[0] * apart[1]) / (
            total[:-1] * total[1:]
        )
        variance = _centred_variance(share, self._of_means(own), next_to)
        beyond = _beyond(has)
        average[beyond], variance[beyond] = np.nan, np.nan
        return LocalCurve(average.T.copy(), np.sqrt(np.maximum(variance, 0.0)).T, self.end_weight, n_rows)

    def _of_means(self, own: Float) -> Float:
        """Variances of the steps' mean changes, ``(steps, outputs)``.

        Rows are independent; only a level's two steps share rows, so others do not covary. A step with a single row shows
        no spread of its own and takes the mean of the others'.
        """
        count, several = self.count, self.count > 1
        own[several] *= (count[several] / (count[several] - 1))[:, None]
        if several.any():
            # Variance of one row's change, pooled, for the steps that have only one.
            own[count == 1] = (own[several] * count[several][:, None]).mean(axis=0)
        return own


def _joined_weight(mine: Float, other: Float) -> tuple[Float, Float]:
    """The weights together, and the other's share of them."""
    whole = mine + other
    return whole, other / np.where(whole > 0, whole, 1.0)


def _means(step: Positions, weights: Float, values: Float, total: Float) -> Float:
    return sums_by(step, weights[:, None] * values, len(total)) / np.where(total > 0, total, 1.0)[:, None]


def _centred_variance(share: Float, own: Float, next_to: Float) -> Float:
    """Variance of the centred curve at each node, from the steps' variances and covariances with the next.

    `share` is the data's share at each node. A node's value counts a step before it with the share of the data
    before that step, and a step after it with minus the share beyond. So running sums from either end
    give all nodes, and no table of nodes by steps is needed, which thousands of levels would make immense.
    """
    after = (1.0 - np.cumsum(share)[:-1])[:, None]
    before = 1.0 - after
    both_before, both_after = before[:-1] * before[1:], after[:-1] * after[1:]
    none, never = np.zeros((1, own.shape[1])), np.zeros((min(2, len(share)), own.shape[1]))
    up = np.concatenate([none, np.cumsum(np.square(before) * own, axis=0)])
    up += 2.0 * np.concatenate([never, np.cumsum(both_before * next_to, axis=0)])
    down = np.concatenate([np.cumsum((np.square(after) * own)[::-1], axis=0)[::-1], none])
    down += 2.0 * np.concatenate([np.cumsum((both_after * next_to)[::-1], axis=0)[::-1], never])
    across = np.concatenate([none, -before[:-1] * after[1:] * next_to, none])
    return np.asarray(up + down + 2.0 * across)


def sums_by(step: Positions, values: Float, n_steps: int) -> Float:
    out = np.zeros((n_steps, values.shape[1]))
    np.add.at(out, step, values)
    return out


def _filled(delta: Float, has: Mask, nodes: NDArray[Any]) -> Float:
    """A step without rows (in a group) goes on with the slope of the nearest step that has some."""
    if has.all() or not has.any():
        return delta
    width = widths(nodes)
    steps, present = np.arange(len(has)), np.flatnonzero(has)
    right = np.searchsorted(present, steps).clip(max=len(present) - 1)
    left = np.maximum(right - 1, 0)
    nearer_left = np.abs(steps - present[left]) <= np.abs(steps - present[right])
    nearest = present[np.where(nearer_left, left, right)]
    return delta[nearest] * (width / width[nearest])[:, None]


def widths(nodes: NDArray[Any]) -> Float:
    """Lengths of the steps; levels are all one apart."""
    if nodes.dtype.kind not in "fiumM":
        return np.ones(len(nodes) - 1)
    if nodes.dtype.kind == "f":
        return np.diff(nodes.astype(np.float64))
    # As exact whole numbers: beyond 2**53 neighbours would be the same float.
    places = (nodes.astype(np.int64) if nodes.dtype.kind in "mM" else nodes).tolist()
    return np.array([float(after - before) for before, after in pairwise(places)])


def _beyond(has: Mask) -> Mask:
    """Nodes outside the range in which the rows stand: nothing is known there."""
    present = np.flatnonzero(has)
    nodes = np.arange(len(has) + 1)
    return (nodes < present[0]) | (nodes > present[-1] + 1)
