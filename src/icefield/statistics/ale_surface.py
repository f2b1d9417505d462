"""Accumulated local effects of two features: mixed changes per cell, accumulated twice, without the parts.

Cells without rows take the change per area of the nearest cell that has some; what is left after both first-order
effects are subtracted is the pure interaction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icefield.statistics.ale_curve import Local, LocalCurve, sums_by, widths
from icefield.statistics.steps import Steps
from icefield.typing import Float, Mask, Positions

FAR = 2**31  # farther than any cell, and still a whole number when squared


def second_order(local: Local, steps: Sequence[Steps], memberships: Sequence[Mask]) -> list[LocalCurve]:
    """The pure interaction effect of two features, of all rows and of each group."""
    (first, second), (row, s, t) = steps, local.crossed
    return [
        _accumulated_surface(
            first,
            second,
            local.used,
            (row[m[row]], s[m[row]], t[m[row]]),
            local.change[m[row]],
            local.weights,
            m,
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
) -> LocalCurve:
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
        return LocalCurve(flat, None, end_weight, n_rows)
    flat_cell = np.ravel_multi_index((s, t), shape)
    w = weights[used][row]
    total = np.bincount(flat_cell, w, minlength=shape[0] * shape[1])
    delta = sums_by(flat_cell, w[:, None] * change, len(total)) / np.where(total > 0, total, 1.0)[:, None]
    area = np.outer(widths(first.nodes), widths(second.nodes)).ravel()
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
    return LocalCurve(np.moveaxis(surface, -1, 0).copy(), None, end_weight, n_rows)


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
