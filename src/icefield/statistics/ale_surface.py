"""Accumulated local effects of two features: mean second differences per cell, without both features' own effects.

As for one feature, all that is needed of the rows are sums, by cell, which merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.statistics.ale_curve import ArraySums, LocalCurve, MovedRows, sums_by, widths
from icefield.typing import Float, Mask, Positions

FAR = 2**31  # farther than any cell, and still a whole number when squared


@dataclass(eq=False)
class CellSums(ArraySums):
    """Sums of rows' second differences by cell of two features, with the weights of rows about its nodes."""

    n_rows: NDArray[np.int64]  # that took part
    end_weight: Float  # by node and node, of the rows that are counted there,
    joint: Float  # and that stand about it
    weight: Float  # by cell, of its rows
    change: Float  # by cell, the sum of weight times change
    first_by_second: Float  # weight of the rows in each step of one feature, by the other's nodes
    second_by_first: Float

    @classmethod
    def empty(cls, sizes: Sequence[int], outputs: int) -> CellSums:
        """Sums over no rows, for this many nodes of either feature."""
        n_first, n_second = sizes
        cells = (n_first - 1) * (n_second - 1)
        return cls(
            np.zeros(1, np.int64), np.zeros((n_first, n_second)), np.zeros((n_first, n_second)), np.zeros(cells),
            np.zeros((cells, outputs)), np.zeros((n_first - 1, n_second)), np.zeros((n_second - 1, n_first)),
        )  # fmt: skip

    def add(self, moves: MovedRows) -> None:
        """Take in rows that moved."""
        (first, second), (row, s, t), rows, weights = moves.steps, moves.crossed, moves.rows, moves.weights
        row_weights, nodes = weights[rows], self.end_weight.shape
        ends = np.ravel_multi_index((first.end_of[rows], second.end_of[rows]), nodes)
        self.n_rows = self.n_rows + len(rows)
        ended = np.bincount(ends, row_weights, minlength=nodes[0] * nodes[1])
        self.end_weight = self.end_weight + ended.reshape(nodes)
        # A row's weight is shared among the nodes that it stands about.
        about, beside = first.node_of[rows], second.node_of[rows]
        n_about, n_beside = about.shape[1], beside.shape[1]
        across, along = first.step_of[rows], second.step_of[rows]
        self.first_by_second = _with_rows(self.first_by_second, across, beside, row_weights / n_beside)
        self.second_by_first = _with_rows(self.second_by_first, along, about, row_weights / n_about)
        self.joint = _with_rows(self.joint, about, beside, row_weights / (n_about * n_beside))
        if not len(row) or not self.weight.size:
            return
        cell, w = np.ravel_multi_index((s, t), (first.n_steps, second.n_steps)), weights[row]
        self.weight = self.weight + np.bincount(cell, w, minlength=len(self.weight))
        self.change = self.change + sums_by(cell, w[:, None] * moves.change, len(self.weight))

    def merge(self, state: dict[str, NDArray[Any]]) -> None:
        """Take in the sums of other rows."""
        self._add_up(state, state)

    def curve(self, of_features: Sequence[NDArray[Any]], copies: bool) -> LocalCurve:
        """Mean second difference per cell, accumulated twice, less both first-order effects; on both features' nodes."""
        first, second = of_features
        n_rows, outputs, nodes = int(self.n_rows[0]), self.change.shape[1], self.end_weight.shape
        shape = (nodes[0] - 1, nodes[1] - 1)
        if min(shape) == 0 or n_rows == 0:
            flat = np.full((outputs, *nodes), np.nan if n_rows == 0 else 0.0)
            return LocalCurve(flat, None, self.end_weight, n_rows)
        delta = self.change / np.where(self.weight > 0, self.weight, 1.0)[:, None]
        area = np.outer(widths(first), widths(second)).ravel()
        nearest = _nearest_cell(self.weight.reshape(shape) > 0)
        delta = (delta[nearest] * (area / area[nearest])[:, None]).reshape(*shape, outputs)
        surface = np.zeros((*nodes, outputs))
        surface[1:, 1:] = delta.cumsum(axis=0).cumsum(axis=1)
        along_first = _main_effect(np.diff(surface, axis=0), self.first_by_second)
        along_second = _main_effect(np.diff(surface, axis=1).swapaxes(0, 1), self.second_by_first)
        surface = surface - along_first[:, None] - along_second[None, :]
        surface -= np.tensordot(self.joint, surface, axes=2) / self.joint.sum()
        return LocalCurve(np.moveaxis(surface, -1, 0).copy(), None, self.end_weight, n_rows)


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
    best, nearest = np.square(gap).ravel(), (np.arange(n_first)[:, None] * n_second + across).ravel()
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
            better = (distance < best[cell]) | ((distance == best[cell]) & (place < nearest[cell]))
            best[cell[better]], nearest[cell[better]] = distance[better], place[better]
    return nearest


def _nearest_in_row(has: Mask) -> Positions:
    """Per cell, the second place of the nearest cell with rows in its own row, the first of two; -1 without any."""
    at = np.arange(has.shape[1])
    left = np.maximum.accumulate(np.where(has, at, -1), axis=1)
    right = np.minimum.accumulate(np.where(has, at, len(at))[:, ::-1], axis=1)[:, ::-1]
    use_left = (left >= 0) & ((right == len(at)) | (at - left <= right - at))
    return np.where(use_left, left, np.where(right < len(at), right, -1))


def _with_rows(known: Float, first: Positions, second: Positions, weights: Float) -> Float:
    """The `known` weights by place along two features plus those of rows, whose places are ``(rows, 1 or 2)``; -1 is none."""
    out = np.zeros_like(known)
    for a in first.T:
        for b in second.T:
            has = a >= 0
            np.add.at(out, (a[has], b[has]), weights[has])
    return known + out


def _main_effect(change: Float, weight: Float) -> Float:
    """Accumulated mean change along one feature, ``(nodes, outputs)``; steps without rows add nothing."""
    total = weight.sum(axis=1)
    mean = np.einsum("sn,sno->so", weight, change) / np.where(total > 0, total, 1.0)[:, None]
    return np.concatenate([np.zeros((1, change.shape[2])), mean.cumsum(axis=0)])
