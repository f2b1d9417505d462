"""Accumulated local effects of one feature: mean changes per step, accumulated and centred, with their error.

All that is needed of the rows are sums by step, which merge: a table gives them at once, a stream block by block.
The centred curve errs in two ways: mean changes are means of a few rows, and what is subtracted is a mean over where
rows happen to lie. Both are sums over rows, so the variance is that of each row's share in the curve; where rows come
in clusters, of each cluster's (`MovedRows`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.placement import BY_OUTPUT
from icefield.effect import Effect, Spread
from icefield.statistics.steps import Steps
from icefield.typing import Float, Mask, Positions

AboutMean = tuple[Float, Float, Float]  # weight, mean, and sum of products about it
# Sums of `StepSums` that are no more than that; the others are means and spreads about them.
SIMPLE_SUMS = (
    "n_rows", "end_weight", "node_weight", "node_squared", "weight", "change", "side_squared", "side_change",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class LocalCurve:
    """A centred curve or surface, its error, and the weight of the rows behind each node."""

    average: Float
    se: Float | None
    weight: Float
    n_rows: int

    def as_effect(self, blank: Effect, n_rows: int) -> Effect:
        backing, about = replace(blank.backing, weight=self.weight), replace(blank.provenance, n_rows=n_rows)
        return replace(
            blank, average=self.average, spread=Spread(se=self.se), backing=backing, provenance=about
        )


class ArraySums:
    """Sums that are arrays, in a dataclass: as a mapping of arrays and back."""

    def state(self) -> dict[str, NDArray[Any]]:
        """All sums by name."""
        return {f.name: np.asarray(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Take the sums that `state` gave."""
        for name, values in state.items():
            setattr(self, name, values.copy())

    def _add_up(self, state: dict[str, NDArray[Any]], names: Iterable[str]) -> None:
        for name in names:
            setattr(self, name, getattr(self, name) + state[name])


def numbered_states(several: Iterable[Any]) -> dict[str, NDArray[Any]]:
    """One state of those of several sums."""
    return {f"{i} {name}": values for i, sums in enumerate(several) for name, values in sums.state().items()}


def numbered_state(state: dict[str, NDArray[Any]], number: int) -> dict[str, NDArray[Any]]:
    """The part of a state that belongs to the sums with this number."""
    prefix = f"{number} "
    return {name.removeprefix(prefix): v for name, v in state.items() if name.startswith(prefix)}


@dataclass(eq=False)
class StepSums(ArraySums):
    """Sums of rows' changes by step of one feature, with all that the curve's error needs.

    The square of a row is that of its weight, but the weight itself where weights count copies of rows, of which each is an
    observation.
    """

    n_rows: NDArray[np.int64]  # that took part
    end_weight: Float  # by node, of the rows that are counted at it,
    node_weight: Float  # and that stand about it
    node_squared: Float  # by the first node that rows stand about, the sum of their squares
    weight: Float  # by step, of its rows
    change: Float  # by step, the sum of weight times change
    squared: Float  # by step, the sum of squares,
    centre: Float  # and, weighted by these, the mean of the changes
    spread: Float  # and their sum of squares about it
    side_squared: Float  # of rows before a step, and beyond, the squares; numbers on it count as before it
    side_change: Float  # and of these times change
    both: Float  # squares of the rows that cross a step and the next one too,
    both_centre: Float  # the means on either step,
    both_spread: Float  # and the products about them
    about: NDArray[np.int64]  # nodes that a row stands about, 1 for levels and 2 for numbers

    @classmethod
    def empty(cls, sizes: Sequence[int], outputs: int) -> StepSums:
        """Sums over no rows, for this many nodes."""
        (n_nodes,) = sizes
        steps = n_nodes - 1
        zeros, wide, twice = np.zeros, (steps, outputs), (2, steps, outputs)
        return cls(
            zeros(1, np.int64), zeros(n_nodes), zeros(n_nodes), zeros(n_nodes), zeros(steps), zeros(wide), zeros(steps),
            zeros(wide), zeros(wide), zeros((2, steps)), zeros(twice), zeros(steps), zeros(twice), zeros(wide),
            np.ones(1, np.int64),
        )  # fmt: skip

    @classmethod
    def at_places(cls, counts: Float, changes: Float, about: int) -> StepSums:
        """From sums by place, where rows stand: between nodes or at them; see `icefield.core.placement.PlaceSums`."""
        totals = cls.empty([len(counts)], changes.shape[1])
        (rows, weight, squared), n = counts.T, len(counts) - 1
        totals.n_rows, totals.about = np.array([round(rows.sum())]), np.array([about])
        totals.node_squared = squared.copy()
        sums, means, spreads = changes[..., :2], changes[..., 2:4], changes[..., 4:6]
        side_squared = squared[:, None]
        if about == 2:  # the last node ends a step and begins none
            totals.end_weight = np.append(0.0, weight[:-1])
            totals.node_weight = (np.append(weight[:-1], 0.0) + totals.end_weight) / 2
            totals.weight, totals.change = weight[:-1].copy(), sums[:-1, :, 0].copy()
            totals.side_squared[0], totals.side_change[0] = squared[:-1], (side_squared * means[..., 0])[:-1]
            _join_spread(totals, squared[:-1], means[:-1, :, 0], spreads[:-1, :, 0])
            return totals
        # A level is left across the step before it and the step after.
        totals.end_weight, totals.node_weight = weight.copy(), weight.copy()
        totals.weight, totals.change = weight[:-1] + weight[1:], sums[:-1, :, 1] + sums[1:, :, 0]
        totals.side_squared[0], totals.side_squared[1] = squared[:-1], squared[1:]
        totals.side_change[0] = (side_squared * means[..., 1])[:-1]
        totals.side_change[1] = (side_squared * means[..., 0])[1:]
        _join_spread(totals, squared[:-1], means[:-1, :, 1], spreads[:-1, :, 1])
        _join_spread(totals, squared[1:], means[1:, :, 0], spreads[1:, :, 0])
        if n > 1:  # rows at a level between others cross both steps
            totals.both[: n - 1] = squared[1:-1]
            totals.both_centre[:, : n - 1] = np.moveaxis(means[1:-1], -1, 0)
            totals.both_spread[: n - 1] = changes[1:-1, :, 6]
        return totals

    def add(self, moves: MovedRows) -> None:
        """Take in rows that moved."""
        (cut,), (row, step), rows = moves.steps, moves.crossed, moves.rows
        place, about, mass = cut.node_of[rows, 0], cut.node_of.shape[1], moves.weights[rows]
        # A level is moved before it and after it.
        moved = np.zeros((len(rows), moves.change.shape[1], 3 - about))
        at = np.searchsorted(rows, row)
        moved[at, :, step - place[at] + 2 - about] = moves.change
        squares = mass if moves.copies else np.square(mass)
        self.merge(StepSums.at_places(*_by_place(place, moved, mass, squares, len(cut.nodes)), about).state())

    def merge(self, state: dict[str, NDArray[Any]]) -> None:
        """Take in the sums of other rows."""
        self._add_up(state, SIMPLE_SUMS)
        _join_spread(self, state["squared"], state["centre"], state["spread"])
        mine = self.both, self.both_centre, self.both_spread
        other = state["both"], state["both_centre"], state["both_spread"]
        joined = _merged_spread(mine, other, lambda apart: apart[0] * apart[1])
        self.both, self.both_centre, self.both_spread = joined
        self.about = np.maximum(self.about, state["about"])

    def curve(self, of_features: Sequence[NDArray[Any]], copies: bool) -> LocalCurve:
        """Mean change per step, accumulated, and centred over the data; on the feature's nodes."""
        (nodes,) = of_features
        n_rows, outputs = int(self.n_rows[0]), self.change.shape[1]
        if len(nodes) == 1 or n_rows == 0:
            flat = np.full((outputs, len(nodes)), np.nan if n_rows == 0 else 0.0)
            return LocalCurve(flat, flat.copy(), self.end_weight, n_rows)
        made = self.accumulated(nodes)
        variance = self._variance(made, copies)
        average, beyond = made.curve - made.middle, _outside_range(self.weight > 0)
        average[beyond], variance[beyond] = np.nan, np.nan
        return LocalCurve(average.T.copy(), np.sqrt(np.maximum(variance, 0.0)).T, self.end_weight, n_rows)

    def accumulated(self, nodes: NDArray[Any]) -> AccumulatedCurve:
        """Mean changes by step, added up along the nodes."""
        has = self.weight > 0
        total = np.where(has, self.weight, 1.0)
        delta = self.change / total[:, None]
        start = np.zeros((1, delta.shape[1]))
        curve = np.concatenate([start, _filled(delta, has, nodes).cumsum(axis=0)])
        share = self.node_weight / self.node_weight.sum()
        return AccumulatedCurve(delta, total, curve, share @ curve, share)

    def observations(self, copies: bool) -> Float:
        """How many observations each step has: copies, or where rows have unequal weights, the effective sample size."""
        return self.weight if copies else _effective_size(self.weight, self.squared)

    def _variance(self, made: AccumulatedCurve, copies: bool) -> Float:
        """Variance of the centred curve at each node, ``(nodes, outputs)``, where rows are independent."""
        delta, total = made.delta, made.total[:, None]
        within = (self.spread + self.squared[:, None] * np.square(self.centre - delta)) / np.square(total)
        apart = self.both_centre[:, :-1] - np.stack([delta[:-1], delta[1:]])
        next_to = self.both_spread[:-1] + self.both[:-1, None] * apart[0] * apart[1]
        next_to = next_to / (total[:-1] * total[1:])
        changes = _centred_variance(made.share, self._mean_variances(within, copies), next_to)
        # What is subtracted depends on where rows lie: a row's share in it, beyond its share in the steps.
        at_row = made.curve if self.about[0] == 1 else (made.curve[:-1] + made.curve[1:]) / 2
        at_row = at_row - made.middle
        whole = float(self.node_weight.sum())
        middle = self.node_squared[: len(at_row)] @ np.square(at_row) / whole**2
        count = whole if copies else float(_effective_size(whole, self.node_squared.sum()))
        middle *= count / (count - 1.0) if count > 1.0 + 1e-9 else np.nan
        beside = [at_row] if len(at_row) == len(delta) else [at_row[:-1], at_row[1:]]
        with_step = sum(
            (self.side_change[i] - delta * self.side_squared[i, :, None]) * level
            for i, level in enumerate(beside)
        ) / (total * whole)
        before = np.concatenate([np.zeros((1, delta.shape[1])), np.cumsum(with_step, axis=0)])
        return np.asarray(changes + middle - 2.0 * (before - beyond_steps(made.share) @ with_step))

    def _mean_variances(self, within: Float, copies: bool) -> Float:
        """Variances of the steps' mean changes, ``(steps, outputs)``.

        Rows are independent; only a level's two steps share rows, so others do not covary. A step with a single row shows
        no spread of its own and takes the mean of the others'.
        """
        count = self.observations(copies)
        several = count > 1.0 + 1e-9
        within[several] *= (count[several] / (count[several] - 1.0))[:, None]
        if several.any():
            # Variance of one row's change, pooled, for the steps that have only one.
            within[(count > 0) & ~several] = (within[several] * count[several][:, None]).mean(axis=0)
        return within


@dataclass(frozen=True, eq=False)
class AccumulatedCurve:
    """Mean changes of the steps, their rows' weight, the curve they add up to from the first node on, its mean over the
    data, and the data's share at each node."""

    delta: Float
    total: Float
    curve: Float
    middle: Float
    share: Float


@dataclass(frozen=True, eq=False)
class MovedRows:
    """Rows of a table moved across steps of their own."""

    steps: Sequence[Steps]  # of one feature or of two, where all rows stand
    crossed: Sequence[Positions]  # the row of each move, and the step that it crosses, of each feature
    change: Float  # what each move changed, ``(moves, outputs)``
    rows: Positions  # positions of the rows that take part
    weights: Float  # one per row of the table, as clusters
    copies: bool  # weights count how often rows occur; otherwise each row is one observation
    clusters: Positions | None

    def error(self, curve: LocalCurve, sums: StepSums) -> Float | None:
        """The standard error of the centred curve, ``(outputs, nodes)``, where each cluster is one observation."""
        nodes = self.steps[0].nodes
        if curve.se is None or len(nodes) == 1 or not len(self.rows):
            return curve.se
        variance = self._variance(sums.accumulated(nodes), sums.observations(copies=False)).T
        variance[np.isnan(curve.se)] = np.nan
        return np.sqrt(variance)

    def _variance(self, made: AccumulatedCurve, count: Float) -> Float:
        """Variance at each node, ``(nodes, outputs)``, from clusters' shares in the curve, which sums by step do not tell apart."""
        (cut,), (row, step), clusters = self.steps, self.crossed, np.asarray(self.clusters)
        n_steps, outputs = made.delta.shape
        known, codes = np.unique(clusters[self.rows], return_inverse=True)
        whose = np.searchsorted(known, clusters[row])
        weights = self.weights[self.rows]
        mass = np.bincount(codes, weights)
        effective = mass.sum() ** 2 / np.square(mass).sum()
        if effective <= 1.0 + 1e-12:
            return np.full((n_steps + 1, outputs), np.nan)
        at_row = made.curve[cut.node_of[self.rows]].mean(axis=1) - made.middle
        subtracted = weights[:, None] * at_row / weights.sum()
        part = (self.weights[row] / made.total[step])[:, None] * (self.change - made.delta[step])
        part *= np.sqrt(count / np.maximum(count - 1.0, 0.5))[step][:, None]
        beyond = beyond_steps(made.share)
        variance = np.empty((n_steps + 1, outputs))
        for node in range(n_steps + 1):
            factor = ((np.arange(n_steps) < node) - beyond)[step]
            for o in range(outputs):
                sums = np.bincount(whose, factor * part[:, o], minlength=len(mass))
                sums -= np.bincount(codes, subtracted[:, o], minlength=len(mass))
                variance[node, o] = np.square(sums).sum()
        return variance * (effective / (effective - 1.0))


def _join_spread(sums: StepSums, squared: Float, centre: Float, about: Float) -> None:
    """Take in the squares, means and spreads of other moves, by step."""
    mine, other = (sums.squared, sums.centre, sums.spread), (squared, centre, about)
    sums.squared, sums.centre, sums.spread = _merged_spread(mine, other, np.square)


def _merged_spread(mine: AboutMean, other: AboutMean, product: Callable[[Float], Float]) -> AboutMean:
    """Weight, mean and sum of products about it, with those of other moves."""
    (weight, mean, about), (more, other_mean, other_about) = mine, other
    whole, apart = weight + more, other_mean - mean
    share = more / np.where(whole > 0, whole, 1.0)
    together = about + other_about + product(apart) * (weight * share)[:, None]
    return whole, mean + apart * share[:, None], together


def _effective_size(weight: Any, squared: Any) -> Any:
    """Effective sample size: (sum w)² / sum w²."""
    return np.square(weight) / np.where(squared > 0, squared, 1.0)


def beyond_steps(share: Float) -> Float:
    """The data's share beyond each step."""
    return np.asarray(1.0 - np.cumsum(share)[:-1])


def _by_place(
    place: Positions, moved: Float, weights: Float, squares: Float, n_places: int
) -> tuple[Float, Float]:
    """Counts and changes by place, as `icefield.core.placement.PlaceSums` has them, of rows' changes ``(rows, outputs, 1 or 2)``."""
    counts = sums_by(place, np.stack([np.ones(len(place)), weights, squares], axis=1), n_places)
    total, by = np.where(counts[:, 2] > 0, counts[:, 2], 1.0)[:, None, None], squares[:, None, None]
    means = sums_by(place, by * moved, n_places) / total
    apart = moved - means[place]
    changes, ways = np.zeros((n_places, moved.shape[1], BY_OUTPUT)), moved.shape[2]
    changes[..., :ways] = sums_by(place, weights[:, None, None] * moved, n_places)
    changes[..., 2 : 2 + ways] = means
    changes[..., 4 : 4 + ways] = sums_by(place, by * np.square(apart), n_places)
    if ways == 2:
        changes[..., 6] = sums_by(place, by[..., 0] * apart[..., 0] * apart[..., 1], n_places)
    return counts, changes


def _centred_variance(share: Float, spread: Float, next_to: Float) -> Float:
    """Variance of the centred curve at each node, from the steps' variances and covariances with the next.

    `share` is the data's share at each node. A node's value counts a step before it with the share of the data
    before that step, and a step after it with minus the share beyond. So running sums from either end
    give all nodes, and no table of nodes by steps is needed, which thousands of levels would make immense.
    """
    after = beyond_steps(share)[:, None]
    before = 1.0 - after
    both_before, both_after = before[:-1] * before[1:], after[:-1] * after[1:]
    none, never = np.zeros((1, spread.shape[1])), np.zeros((min(2, len(share)), spread.shape[1]))
    up = np.concatenate([none, np.cumsum(np.square(before) * spread, axis=0)])
    up += 2.0 * np.concatenate([never, np.cumsum(both_before * next_to, axis=0)])
    down = np.concatenate([np.cumsum((np.square(after) * spread)[::-1], axis=0)[::-1], none])
    down += 2.0 * np.concatenate([np.cumsum((both_after * next_to)[::-1], axis=0)[::-1], never])
    across = np.concatenate([none, -before[:-1] * after[1:] * next_to, none])
    return np.asarray(up + down + 2.0 * across)


def sums_by(step: Positions, values: Float, n_steps: int) -> Float:
    flat = values.reshape(len(values), math.prod(values.shape[1:]))
    sums = [np.bincount(step, column, minlength=n_steps) for column in flat.T]
    return np.stack(sums, axis=-1, dtype=np.float64).reshape(n_steps, *values.shape[1:])


def _filled(delta: Float, has: Mask, nodes: NDArray[Any]) -> Float:
    """Mean changes by step: one without rows (in a group) takes the slope of the nearest step that has some."""
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


def _outside_range(has: Mask) -> Mask:
    """Nodes outside the range in which the rows stand: nothing is known there."""
    present = np.flatnonzero(has)
    nodes = np.arange(len(has) + 1)
    return (nodes < present[0]) | (nodes > present[-1] + 1)
