"""How rows' curves step: what an engine finds of them at every point of a grid, without keeping the curves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icefield.typing import Float, Int32


@dataclass(frozen=True, eq=False)
class StepExtremes:
    """Of the rows from `start` to `stop`, by axis, output and row.

    Attributes
    ----------
    start, stop : the rows
    sizes : ``(axes, outputs, 4, rows)``: the smallest step (0 where none falls), the largest (0 where none rises), the largest fall in all
        from any point to a later one, and the largest such rise (both 0 or more)
    places : ``(axes, outputs, 2, rows)``: the grid points that the smallest and the largest step lead to; 0 where there is none
    missing : ``(axes, outputs, 2, rows)``: the prediction at missing less the lowest at numbers, and the range at numbers
    """

    start: int
    stop: int
    sizes: Float
    places: Int32
    missing: Float


def extremes_of_curves(curves: Float, numbers: int, start: int, tolerance: float) -> StepExtremes:
    """The same of one axis from curves ``(outputs, rows, points)``, of whose points the first `numbers` are numbers."""
    with np.errstate(invalid="ignore"):
        steps = np.diff(curves[..., :numbers], axis=-1)
    scale = np.abs(curves).max(axis=-1, keepdims=True)
    steps = np.where(np.abs(steps) <= tolerance * scale, 0.0, steps)
    outputs, rows = curves.shape[:2]
    sizes, places = np.zeros((1, outputs, 4, rows)), np.zeros((1, outputs, 2, rows), np.int32)
    missing = np.zeros((1, outputs, 2, rows))
    at_numbers = curves[..., :numbers]
    if steps.shape[-1]:
        sums = np.concatenate([np.zeros((outputs, rows, 1)), np.cumsum(steps, axis=-1)], axis=-1)
        low, high = steps.argmin(axis=-1), steps.argmax(axis=-1)
        smallest = np.minimum(np.take_along_axis(steps, low[..., None], -1)[..., 0], 0.0)
        largest = np.maximum(np.take_along_axis(steps, high[..., None], -1)[..., 0], 0.0)
        fall = (np.maximum.accumulate(sums, axis=-1) - sums).max(axis=-1)
        rise = (sums - np.minimum.accumulate(sums, axis=-1)).max(axis=-1)
        sizes[0] = np.stack([smallest, largest, fall, rise], axis=1)
        places[0] = np.stack([np.where(smallest < 0, low + 1, 0), np.where(largest > 0, high + 1, 0)], axis=1)
    lowest, highest = at_numbers.min(axis=-1), at_numbers.max(axis=-1)
    last = curves[..., -1] if curves.shape[-1] > numbers else highest
    missing[0] = np.stack([last - lowest, highest - lowest], axis=1)
    return StepExtremes(start, start + rows, sizes, places, missing)
