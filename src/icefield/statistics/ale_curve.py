"""Accumulated local effects of one feature: mean changes per step, accumulated and centred, with their error.

The centred curve errs in two ways: mean changes are means of a few rows, and what is subtracted is a mean over where
rows happen to lie. Both are sums over rows, so the variance is that of each row's share in the curve; where rows come
in clusters, of each cluster's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.effect import Effect, Spread
from icefield.statistics.steps import Steps
from icefield.typing import Float, Mask, Positions


@dataclass(frozen=True, eq=False)
class Local:
    """Rows that were moved across steps of their own, and what that changed.

    Attributes
    ----------
    change : ``(moves, outputs)``
    crossed : per move the place of its row among the used ones, and for each axis the step
    used : positions of the rows that take part
    weights : one per row of the table
    copies : whether weights count how often rows occur; otherwise each is one observation
    clusters : one code per row of the table, or None
    reach : share of the standard error that is left where rows were drawn from known ones
    """

    change: Float
    crossed: tuple[Positions, ...]
    used: Positions
    weights: Float
    copies: bool
    clusters: Positions | None
    reach: float


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


def first_order(local: Local, steps: Sequence[Steps], memberships: Sequence[Mask]) -> list[LocalCurve]:
    """The effect of one feature, of all rows and of each group."""
    (cut,) = steps
    return [_accumulated(local, cut, inside) for inside in memberships]


def _accumulated(local: Local, cut: Steps, inside: Mask) -> LocalCurve:
    """Mean change per step, accumulated, and centred over the data."""
    counted = inside[local.crossed[0]]
    row, step = (places[counted] for places in local.crossed)
    change, own = local.change[counted], local.weights[local.used]
    rows, kept = local.used[inside], own[inside]
    n_nodes, n_rows = len(cut.nodes), int(inside.sum())
    end_weight = np.bincount(cut.end_of[rows], kept, minlength=n_nodes).astype(np.float64)
    if cut.n_steps == 0 or n_rows == 0:
        flat = np.full((change.shape[1], n_nodes), np.nan if n_rows == 0 else 0.0)
        return LocalCurve(flat, flat.copy(), end_weight, n_rows)
    total = np.bincount(step, own[row], minlength=cut.n_steps)
    shares = own[row] / total[step]
    delta = sums_by(step, shares[:, None] * change, cut.n_steps)
    curve = np.concatenate(
        [np.zeros((1, change.shape[1])), _filled(delta, total > 0, cut.nodes).cumsum(axis=0)]
    )
    node_weight = _node_weights(cut, rows, kept)
    middle = (node_weight @ curve) / node_weight.sum()
    # Each used row's share in what is subtracted, beyond its share in the steps.
    at_row = (
        np.where(inside, own, 0.0)[:, None]
        * (curve[cut.node_of[local.used]].mean(axis=1) - middle)
        / kept.sum()
    )
    moves = _Moves(row, step, shares[:, None] * (change - delta[step]), own[row], local.copies)
    if local.clusters is None:
        variance = _variance(moves, at_row, own * inside, node_weight / node_weight.sum(), cut.n_steps)
    else:
        codes = np.unique(local.clusters[local.used], return_inverse=True)[1]
        variance = _cluster_variance(moves, at_row, codes, own * inside, node_weight / node_weight.sum())
    average, beyond = curve - middle, _beyond(total > 0)
    average[beyond], variance[beyond] = np.nan, np.nan
    return LocalCurve(
        average.T.copy(), local.reach * np.sqrt(np.maximum(variance, 0.0)).T, end_weight, n_rows
    )


def _node_weights(cut: Steps, rows: Positions, weights: Float) -> Float:
    nodes = cut.node_of[rows]
    shared = np.repeat(weights / nodes.shape[1], nodes.shape[1])
    return np.asarray(np.bincount(nodes.ravel(), shared, minlength=len(cut.nodes)), dtype=np.float64)


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


# --- how far it errs -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Moves:
    """Moves across steps: whose, which, each one's part of the error of its step's mean change, and its weight."""

    row: Positions
    step: Positions
    part: Float
    weight: Float
    copies: bool

    def square(self, one: Float, other: Float, weight: Float) -> Float:
        """A product of rows' shares: a row of weight w is one observation, or w of a w-th each."""
        product = one * other
        return product / weight[:, None] if self.copies else product


def _variance(moves: _Moves, at_row: Float, weights: Float, share: Float, n_steps: int) -> Float:
    """Variance of the centred curve at each node, ``(nodes, outputs)``, where rows are independent."""
    own, next_to = _covariance(moves, n_steps)
    known = weights > 0
    middle = moves.square(at_row[known], at_row[known], weights[known]).sum(axis=0)
    count = float(weights.sum() if moves.copies else weights.sum() ** 2 / np.square(weights).sum())
    middle *= count / (count - 1.0) if count > 1.0 + 1e-9 else np.nan
    with_step = sums_by(moves.step, moves.square(moves.part, at_row[moves.row], moves.weight), n_steps)
    before = np.concatenate([np.zeros((1, with_step.shape[1])), np.cumsum(with_step, axis=0)])
    both = before - _after(share)[:, 0] @ with_step
    return np.asarray(_centred_variance(share, own, next_to) + middle - 2.0 * both)


def _cluster_variance(
    moves: _Moves, at_row: Float, clusters: Positions, weights: Float, share: Float
) -> Float:
    """The same where rows of a cluster are one observation: node after node, from the clusters' shares."""
    n_steps, outputs = len(share) - 1, at_row.shape[1]
    mass = np.bincount(clusters, weights)
    effective = mass.sum() ** 2 / np.square(mass).sum()
    if effective <= 1.0 + 1e-12:
        return np.full((n_steps + 1, outputs), np.nan)
    count = _rows_of_steps(moves, n_steps)
    part = moves.part * np.sqrt(count / np.maximum(count - 1.0, 0.5))[moves.step][:, None]
    after, whose = _after(share)[:, 0], clusters[moves.row]
    variance = np.empty((n_steps + 1, outputs))
    for node in range(n_steps + 1):
        factor = ((np.arange(n_steps) < node) - after)[moves.step]
        for o in range(outputs):
            sums = np.bincount(whose, factor * part[:, o], minlength=len(mass))
            sums -= np.bincount(clusters, at_row[:, o], minlength=len(mass))
            variance[node, o] = np.square(sums).sum()
    return variance * (effective / (effective - 1.0))


def _after(share: Float) -> Float:
    """The data's share beyond each step."""
    return (1.0 - np.cumsum(share)[:-1])[:, None]


def _centred_variance(share: Float, own: Float, next_to: Float) -> Float:
    """Variance of the centred curve at each node, from the steps' variances and covariances with the next.

    `share` is the data's share at each node. A node's value counts a step before it with the share of the data
    before that step, and a step after it with minus the share beyond. So running sums from either end
    give all nodes, and no table of nodes by steps is needed, which thousands of levels would make immense.
    """
    after = _after(share)
    before = 1.0 - after
    both_before, both_after = before[:-1] * before[1:], after[:-1] * after[1:]
    none, never = np.zeros((1, own.shape[1])), np.zeros((min(2, len(share)), own.shape[1]))
    up = np.concatenate([none, np.cumsum(np.square(before) * own, axis=0)])
    up += 2.0 * np.concatenate([never, np.cumsum(both_before * next_to, axis=0)])
    down = np.concatenate([np.cumsum((np.square(after) * own)[::-1], axis=0)[::-1], none])
    down += 2.0 * np.concatenate([np.cumsum((both_after * next_to)[::-1], axis=0)[::-1], never])
    across = np.concatenate([none, -before[:-1] * after[1:] * next_to, none])
    return np.asarray(up + down + 2.0 * across)


def _rows_of_steps(moves: _Moves, n_steps: int) -> Float:
    """How many observations each step has: rows, or where they count unequally, so many equal ones."""
    total = np.bincount(moves.step, moves.weight, minlength=n_steps)
    if moves.copies:
        return np.asarray(total, dtype=np.float64)
    squared = np.bincount(moves.step, np.square(moves.weight), minlength=n_steps)
    return np.asarray(np.square(total) / np.where(squared > 0, squared, 1.0), dtype=np.float64)


def _covariance(moves: _Moves, n_steps: int) -> tuple[Float, Float]:
    """Variances of the steps' mean changes, ``(steps, outputs)``, and covariances of each with the next.

    Rows are independent; only a level's two steps share rows, so others do not covary. A step
    with a single row shows no spread of its own and takes the mean of the others'.
    """
    row, step, part = moves.row, moves.step, moves.part
    count = _rows_of_steps(moves, n_steps)
    diagonal = sums_by(step, moves.square(part, part, moves.weight), n_steps)
    several = count > 1.0 + 1e-9
    diagonal[several] *= (count[several] / (count[several] - 1.0))[:, None]
    if several.any():
        # Variance of one row's change, pooled, for the steps that have only one.
        pooled = (diagonal[several] * count[several][:, None]).mean(axis=0)
        diagonal[(count > 0) & ~several] = pooled
    twice = np.flatnonzero((row[1:] == row[:-1]) & (step[1:] == step[:-1] + 1))
    shared = moves.square(part, np.roll(part, -1, axis=0), moves.weight)[twice]
    return diagonal, sums_by(step[twice], shared, n_steps)[:-1]
