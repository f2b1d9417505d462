"""Accumulated local effects (Apley & Zhu 2020), on any model, feature kind and weighting.

A feature's range is cut into steps between neighbouring nodes: bin edges of a number or time,
levels of a category in an order. Each row is moved only across the step it stands in, so the model is
never asked far from the data; the mean changes are accumulated and centred. One description of
where rows stand (`Steps`) serves numbers and categories, one feature and two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.counts import counted
from icefield.effect import Effect, Spread
from icefield.errors import Argument, BudgetError, InputError, complaint, statement, worded
from icefield.statistics.steps import Steps, feature_steps
from icefield.typing import Float, Mask, Positions

if TYPE_CHECKING:
    from icefield.data.features import Feature
    from icefield.study import Differences, Study

DEFAULT_BINS = {1: 40, 2: 20}
FAR = 2**31  # farther than any cell, and still a whole number when squared
SURFACES = 8  # arrays as large as the result that two-way effects are worked out in


def ale(
    study: Study,
    *features: Any,
    bins: Any = None,
    order: Any = "similarity",
    rows: Any = None,
) -> Effect:
    """Accumulated local effects of one feature, or the pure interaction effect of two.

    Parameters
    ----------
    study : the model and its data
    *features : one or two features
    bins : number of quantile bins (40 one-way, 20 two-way) or the bin edges; for two features
        also a pair of those
    order : how levels are ordered: ``"similarity"`` (of the other features' distributions, Apley
        & Zhu's appendix), ``"given"`` (level order) or the levels themselves
    rows : use these rows only: a number (sampled with the seed), a mask or positions

    Notes
    -----
    `Effect.weight` holds the weight of the rows in the bin that *ends* at an edge (0 at the first
    edge), or at a level; `Effect.se` is the standard error of the centred curve from the spread of the
    local changes within bins. Rows where the feature is missing or infinite take no part.

    References
    ----------
    D. W. Apley and J. Zhu, "Visualizing the effects of predictor variables in black box supervised
    learning models", Journal of the Royal Statistical Society B 82 (2020), 1059-1086.
    """
    if study.background == "training":
        raise InputError(
            "ALE moves the rows of X, so it has no form averaged over the training counts. "
            'Hint: use Explainer(..., background="data").'
        )
    found = study.resolve(features)
    if len(features) > 2:
        raise InputError(
            complaint("features", "must be one or two features for ALE", list(features), "ask for pairs")
        )
    chosen = None if rows is None else validate.row_positions(rows, study.n_rows, study.seed)
    weights = _row_weights(study, chosen)
    steps = [
        feature_steps(study, feature, DEFAULT_BINS[len(found)] if wanted is None else wanted, order, weights)
        for feature, wanted in zip(found, _bins_per_feature(bins, len(found)))
    ]
    used = np.flatnonzero(np.logical_and.reduce([s.known for s in steps]) & (weights > 0))
    _check_surface_fits(study, found, steps)
    axes = tuple(f.axis(s.nodes, study.table) for f, s in zip(found, steps))
    codes = None if study.groups is None else study.groups.codes
    crossed = _crossed(steps, used)
    moved = study.differences(axes, used[crossed[0]], crossed[1:])
    compute = _first_order if len(found) == 1 else _second_order
    curves = compute(moved.values, crossed, steps, used, weights, _memberships(used, codes, study))
    effect = _blank(study, found, steps, used, moved)
    groups = {}
    if study.groups is not None:
        labelled = zip(study.groups.labels, curves[1:])
        groups = {label: own.drawn_on(effect, own.n_rows) for label, own in labelled}
    return replace(curves[0].drawn_on(effect, effect.n_rows), groups=groups)


@dataclass(frozen=True, eq=False)
class _Curve:
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


def _row_weights(study: Study, chosen: Positions | None) -> Float:
    """Weights of all rows, zero for rows that were not chosen."""
    own = study.row_weights()
    if chosen is None:
        return own
    return own * np.bincount(chosen, minlength=len(own))


def _blank(
    study: Study, features: Sequence[Feature], steps: Sequence[Steps], used: Positions, moved: Differences
) -> Effect:
    calls = 2 ** len(features)
    asked = "the model is" if moved.costs_predictions else f"{study.plan.why}; the trees are"
    if moved.reason:
        asked = f"brute force here, because {moved.reason}; {asked}"
    notes = [f"{asked} asked {calls} times a row, at the ends of the step the row stands in"]
    left_out = study.n_rows - len(used)
    if left_out:
        notes.append(f"{counted(left_out)} rows without weight or a finite known value take no part")
    notes += [s.note for s in steps if s.note]
    blank = study.blank("ale", features, tuple(s.nodes for s in steps))
    found = replace(blank.provenance, engine=moved.engine, why="; ".join(notes), n_rows=len(used))
    return replace(blank, provenance=found)


def _check_surface_fits(study: Study, features: Sequence[Feature], steps: Sequence[Steps]) -> None:
    """Refuse a surface over the budget: of two features with thousands of levels, every pair is a cell."""
    if len(steps) < 2:
        return
    cells = len(steps[0].nodes) * len(steps[1].nodes)
    size, memory = 8 * SURFACES * len(study.model.outputs) * cells, study.resources.memory
    if size > memory:
        longest = max(zip(features, steps), key=lambda pair: len(pair[1].nodes))
        raise BudgetError(
            statement(
                f"ALE of {features[0].label!r} and {features[1].label!r} has {counted(len(steps[0].nodes))} x "
                f"{counted(len(steps[1].nodes))} cells and would take {size / 2**20:,.0f} MB, over the budget of "
                f"{memory / 2**20:,.0f} MB.",
                worded(f"join rare levels of {longest[0].label!r} in ", Argument("X"), " before fitting, or raise "
                       "Explainer(memory=...)"),
            )
        )  # fmt: skip


def _bins_per_feature(bins: Any, n_features: int) -> list[Any]:
    if n_features == 1:
        return [bins]
    if isinstance(bins, (tuple, list)) and len(bins) == n_features:
        return list(bins)
    if bins is None or isinstance(bins, (int, np.integer)):
        return [bins] * n_features
    raise InputError(
        complaint("bins", f"must be a number or {n_features} entries", bins, "write bins=(20, 20)")
    )


def _crossed(steps: Sequence[Steps], used: Positions) -> tuple[Positions, ...]:
    """Places among the used rows, and for each axis the step that is crossed there.

    A row appears as often as it is moved: a level stands at two steps, and at four cells of two levels.
    """
    if len(steps) == 1:
        own = steps[0].step_of[used]
        row, which = np.nonzero(own >= 0)
        return row, own[row, which]
    first, second = steps
    parts = []
    for a in first.step_of[used].T:
        for b in second.step_of[used].T:
            row = np.flatnonzero((a >= 0) & (b >= 0))
            parts.append((row, a[row], b[row]))
    return tuple(np.concatenate([p[i] for p in parts]) for i in range(3))


# --- first order ---------------------------------------------------------------------------------


def _first_order(
    change: Float,
    crossed: Sequence[Positions],
    steps: Sequence[Steps],
    used: Positions,
    weights: Float,
    memberships: list[Mask],
) -> list[_Curve]:
    (cut,), (row, step) = steps, crossed
    return [
        _accumulated(cut, used, row[inside[row]], step[inside[row]], change[inside[row]], weights, inside)
        for inside in memberships
    ]


def _memberships(used: Positions, codes: Positions | None, study: Study) -> list[Mask]:
    masks = [np.ones(len(used), dtype=bool)]
    if codes is not None and study.groups is not None:
        masks += [codes[used] == g for g in range(len(study.groups.labels))]
    return masks


def _accumulated(
    cut: Steps,
    used: Positions,
    row: Positions,
    step: Positions,
    change: Float,
    weights: Float,
    inside: Mask,
) -> _Curve:
    """Mean change per step, accumulated, and centred over the data."""
    kept = weights[used][inside]
    n_nodes, n_rows = len(cut.nodes), int(inside.sum())
    end_weight = np.bincount(cut.end_of[used[inside]], kept, minlength=n_nodes).astype(np.float64)
    if cut.n_steps == 0 or n_rows == 0:
        flat = np.full((change.shape[1], n_nodes), np.nan if n_rows == 0 else 0.0)
        return _Curve(flat, flat.copy(), end_weight, n_rows)
    w = weights[used][row]
    total = np.bincount(step, w, minlength=cut.n_steps)
    shares = w / total[step]
    delta = _sums(step, shares[:, None] * change, cut.n_steps)
    curve = np.concatenate(
        [np.zeros((1, change.shape[1])), _filled(delta, total > 0, cut.nodes).cumsum(axis=0)]
    )
    node_weight = _node_weights(cut, used[inside], kept)
    average = curve - (node_weight @ curve) / node_weight.sum()
    own, next_to = _covariance(row, step, shares[:, None] * (change - delta[step]), cut.n_steps)
    variance = _centred_variance(node_weight / node_weight.sum(), own, next_to)
    beyond = _beyond(total > 0)
    average[beyond], variance[beyond] = np.nan, np.nan
    return _Curve(average.T.copy(), np.sqrt(np.maximum(variance, 0.0)).T, end_weight, n_rows)


def _node_weights(cut: Steps, rows: Positions, weights: Float) -> Float:
    nodes = cut.node_of[rows]
    shared = np.repeat(weights / nodes.shape[1], nodes.shape[1])
    return np.asarray(np.bincount(nodes.ravel(), shared, minlength=len(cut.nodes)), dtype=np.float64)


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


def _sums(step: Positions, values: Float, n_steps: int) -> Float:
    out = np.zeros((n_steps, values.shape[1]))
    np.add.at(out, step, values)
    return out


def _filled(delta: Float, has: Mask, nodes: NDArray[Any]) -> Float:
    """A step without rows (in a group) goes on with the slope of the nearest step that has some."""
    if has.all() or not has.any():
        return delta
    width = _widths(nodes)
    steps, present = np.arange(len(has)), np.flatnonzero(has)
    right = np.searchsorted(present, steps).clip(max=len(present) - 1)
    left = np.maximum(right - 1, 0)
    nearer_left = np.abs(steps - present[left]) <= np.abs(steps - present[right])
    nearest = present[np.where(nearer_left, left, right)]
    return delta[nearest] * (width / width[nearest])[:, None]


def _widths(nodes: NDArray[Any]) -> Float:
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


def _covariance(row: Positions, step: Positions, part: Float, n_steps: int) -> tuple[Float, Float]:
    """Variances of the steps' mean changes, ``(steps, outputs)``, and covariances of each with the next.

    Rows are independent; only a level's two steps share rows, so others do not covary. A step
    with a single row shows no spread of its own and takes the mean of the others'.
    """
    count = np.bincount(step, minlength=n_steps)
    diagonal = _sums(step, np.square(part), n_steps)
    several = count > 1
    diagonal[several] *= (count[several] / (count[several] - 1))[:, None]
    if several.any():
        # Variance of one row's change, pooled, for the steps that have only one.
        pooled = (diagonal[several] * count[several][:, None]).mean(axis=0)
        diagonal[count == 1] = pooled
    twice = np.flatnonzero((row[1:] == row[:-1]) & (step[1:] == step[:-1] + 1))
    return diagonal, _sums(step[twice], part[twice] * part[twice + 1], n_steps)[:-1]


# --- second order --------------------------------------------------------------------------------


def _second_order(
    change: Float,
    crossed: Sequence[Positions],
    steps: Sequence[Steps],
    used: Positions,
    weights: Float,
    memberships: list[Mask],
) -> list[_Curve]:
    (first, second), (row, s, t) = steps, crossed
    return [
        _accumulated_surface(
            first, second, used, (row[m[row]], s[m[row]], t[m[row]]), change[m[row]], weights, m
        )
        for m in memberships
    ]


def _accumulated_surface(
    first: Steps,
    second: Steps,
    used: Positions,
    cells: tuple[Positions, Positions, Positions],
    change: Float,
    weights: Float,
    inside: Mask,
) -> _Curve:
    """Mean second difference per cell, accumulated twice, less both first-order effects."""
    row, s, t = cells
    shape = (first.n_steps, second.n_steps)
    nodes = (shape[0] + 1, shape[1] + 1)
    outputs, n_rows = change.shape[1], int(inside.sum())
    rows, kept = used[inside], weights[used][inside]
    ends = np.ravel_multi_index((first.end_of[rows], second.end_of[rows]), nodes)
    end_weight = np.bincount(ends, kept, minlength=nodes[0] * nodes[1]).reshape(nodes).astype(np.float64)
    if min(shape) == 0 or n_rows == 0:
        flat = np.full((outputs, *nodes), np.nan if n_rows == 0 else 0.0)
        return _Curve(flat, None, end_weight, n_rows)
    flat_cell = np.ravel_multi_index((s, t), shape)
    w = weights[used][row]
    total = np.bincount(flat_cell, w, minlength=shape[0] * shape[1])
    delta = _sums(flat_cell, w[:, None] * change, len(total)) / np.where(total > 0, total, 1.0)[:, None]
    area = np.outer(_widths(first.nodes), _widths(second.nodes)).ravel()
    nearest = _nearest_cell(total.reshape(shape) > 0)
    delta = (delta[nearest] * (area / area[nearest])[:, None]).reshape(*shape, outputs)
    surface = np.zeros((*nodes, outputs))
    surface[1:, 1:] = delta.cumsum(axis=0).cumsum(axis=1)
    along_first = _main_effect(np.diff(surface, axis=0), _step_by_node(first, second, rows, kept))
    along_second = _main_effect(
        np.diff(surface, axis=1).swapaxes(0, 1), _step_by_node(second, first, rows, kept)
    )
    surface = surface - along_first[:, None] - along_second[None, :]
    joint = _node_by_node(first, second, rows, kept)
    surface -= np.tensordot(joint, surface, axes=2) / joint.sum()
    return _Curve(np.moveaxis(surface, -1, 0).copy(), None, end_weight, n_rows)


def _nearest_cell(has: Mask) -> Positions:
    """For each cell, flattened, the nearest cell with rows: empty ones take its mean change per area.

    Distances are in shares of each axis, so that neither number of steps dominates; of equally near cells the
    first is taken. They are compared as whole numbers (squared, times the number of cells squared).
    """
    if has.all() or not has.any():
        return np.arange(has.size)
    n_first, n_second = has.shape
    across = _nearest_in_row(has)
    gap = np.where(across >= 0, np.abs(np.arange(n_second) - across) * n_first, FAR)
    best, found = np.square(gap).ravel(), (np.arange(n_first)[:, None] * n_second + across).ravel()
    open_cells = np.arange(has.size)
    for away in range(1, n_first):
        step = (away * n_second) ** 2
        # A cell is settled once even the nearest cell of rows this far away would be farther.
        open_cells = open_cells[best[open_cells] >= step]
        if not len(open_cells):
            break
        first, second = np.divmod(open_cells, n_second)
        for other in (first - away, first + away):
            inside = (other >= 0) & (other < n_first)
            cell, row, column = open_cells[inside], other[inside], second[inside]
            distance = np.square(gap[row, column]) + step
            place = row * n_second + across[row, column]
            better = (distance < best[cell]) | ((distance == best[cell]) & (place < found[cell]))
            best[cell[better]], found[cell[better]] = distance[better], place[better]
    return found


def _nearest_in_row(has: Mask) -> Positions:
    """Per cell, the second place of the nearest cell with rows in its own row, the first of two; -1 without any."""
    at = np.arange(has.shape[1])
    left = np.maximum.accumulate(np.where(has, at, -1), axis=1)
    right = np.minimum.accumulate(np.where(has, at, len(at))[:, ::-1], axis=1)[:, ::-1]
    use_left = (left >= 0) & ((right == len(at)) | (at - left <= right - at))
    return np.where(use_left, left, np.where(right < len(at), right, -1))


def _step_by_node(along: Steps, across: Steps, rows: Positions, weights: Float) -> Float:
    """Weight of the rows in each step of one feature, by the other feature's nodes."""
    out = np.zeros((along.n_steps, len(across.nodes)))
    share = weights / across.node_of.shape[1]
    for step in along.step_of[rows].T:
        for node in across.node_of[rows].T:
            has = step >= 0
            np.add.at(out, (step[has], node[has]), share[has])
    return out


def _node_by_node(first: Steps, second: Steps, rows: Positions, weights: Float) -> Float:
    out = np.zeros((len(first.nodes), len(second.nodes)))
    share = weights / (first.node_of.shape[1] * second.node_of.shape[1])
    for a in first.node_of[rows].T:
        for b in second.node_of[rows].T:
            np.add.at(out, (a, b), share)
    return out


def _main_effect(change: Float, weight: Float) -> Float:
    """Accumulated mean change along one feature, ``(nodes, outputs)``; steps without rows add nothing."""
    total = weight.sum(axis=1)
    mean = np.einsum("sn,sno->so", weight, change) / np.where(total > 0, total, 1.0)[:, None]
    return np.concatenate([np.zeros((1, change.shape[2])), mean.cumsum(axis=0)])
