"""The error of accumulated local effects where rows come in clusters: each cluster is one observation.

Sums by step do not tell clusters apart, so the moves themselves are kept for this; rows that are streamed have none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icefield.statistics.ale_curve import Accumulated, LocalCurve, StepSums, beyond_steps
from icefield.statistics.steps import Steps
from icefield.typing import Float, Positions


@dataclass(frozen=True, eq=False)
class RowMoves:
    """Rows moved across the steps of one feature: the table's row and the step of each, and what it changed.

    Attributes
    ----------
    rows : positions of the rows that take part
    weights, clusters : one per row of the table
    """

    row: Positions
    step: Positions
    change: Float
    rows: Positions
    weights: Float
    clusters: Positions

    def error(self, curve: LocalCurve, sums: StepSums, cut: Steps) -> Float | None:
        """The standard error of the centred curve, ``(outputs, nodes)``."""
        if curve.se is None or len(cut.nodes) == 1 or not len(self.rows):
            return curve.se
        made = sums.accumulated(cut.nodes)
        variance = self._variance(made, sums.observations(copies=False), cut).T
        variance[np.isnan(curve.se)] = np.nan
        return np.sqrt(variance)

    def _variance(self, made: Accumulated, count: Float, cut: Steps) -> Float:
        """Node after node, from the clusters' shares in the curve."""
        n_steps, outputs = made.delta.shape
        known, codes = np.unique(self.clusters[self.rows], return_inverse=True)
        whose = np.searchsorted(known, self.clusters[self.row])
        kept = self.weights[self.rows]
        mass = np.bincount(codes, kept)
        effective = mass.sum() ** 2 / np.square(mass).sum()
        if effective <= 1.0 + 1e-12:
            return np.full((n_steps + 1, outputs), np.nan)
        at_row = made.curve[cut.node_of[self.rows]].mean(axis=1) - made.middle
        subtracted = kept[:, None] * at_row / kept.sum()
        part = (self.weights[self.row] / made.total[self.step])[:, None]
        part = part * (self.change - made.delta[self.step])
        part *= np.sqrt(count / np.maximum(count - 1.0, 0.5))[self.step][:, None]
        beyond = beyond_steps(made.share)
        variance = np.empty((n_steps + 1, outputs))
        for node in range(n_steps + 1):
            factor = ((np.arange(n_steps) < node) - beyond)[self.step]
            for o in range(outputs):
                sums = np.bincount(whose, factor * part[:, o], minlength=len(mass))
                sums -= np.bincount(codes, subtracted[:, o], minlength=len(mass))
                variance[node, o] = np.square(sums).sum()
        return variance * (effective / (effective - 1.0))
