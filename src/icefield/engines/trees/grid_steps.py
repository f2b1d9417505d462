"""Where along their grids the curves of several features can change at all.

A leaf of a feature's curve holds for runs of grid points. Only where one begins or ends is there a *step*; a grid
has many points, a feature few steps. Kernels count in steps, so what they hold for a row stays near.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icefield.engines.trees.axes import EncodedAxis, Regions
from icefield.engines.trees.program import Program
from icefield.engines.trees.rows import WORD
from icefield.typing import Float


@dataclass(frozen=True)
class GridSteps:
    """The steps of all axes, one axis after another, and the regions of a program's leaves in terms of them.

    Attributes
    ----------
    at : by axis, the points where its steps lie, in the axis's own order
    start, count : by axis, where its steps begin among those of all, and how many there are; each has room for one more,
        where a run that reaches the grid's end ends, and begins at a whole word
    path_region : by entry of the program's paths, its region
    run_start, runs, run_axis : where each region's runs begin; their first step and the one after the last, counted from
        the axis's first; whose they are
    """

    at: tuple[NDArray[np.intp], ...]
    start: NDArray[np.int32]
    count: NDArray[np.int32]
    path_region: NDArray[np.int32]
    run_start: NDArray[np.int64]
    runs: NDArray[np.int32]
    run_axis: NDArray[np.int32]

    @classmethod
    def of(cls, program: Program, axes: Sequence[EncodedAxis]) -> GridSteps:
        """Of the axes that are the groups of a program."""
        regions = Regions.of(program, axes, range(len(axes)))
        on_paths = np.zeros(program.path_group.size, np.int32)
        found = regions.on_paths(program)
        on_paths[: found.size] = found
        at, counts = [], [np.zeros(1, np.int64)]
        runs, owner = [np.zeros((0, 2), np.int32)], [np.zeros(0, np.int32)]
        ends = np.append(regions.start[1:], regions.masks.size)
        for number, (axis, begin, end) in enumerate(zip(axes, regions.start, ends)):
            masks = regions.masks[begin:end].reshape(-1, int(regions.words[number]))
            inside = np.zeros((len(masks), axis.size + 2), np.int8)
            inside[:, 1:-1] = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little")[:, : axis.size]
            edges = np.diff(inside, axis=1)
            region, first = np.nonzero(edges == 1)
            last = np.nonzero(edges == -1)[1]
            places = np.flatnonzero((edges[:, : axis.size] != 0).any(axis=0))
            at.append(places)
            counts.append(np.bincount(region, minlength=len(masks)))
            runs.append(np.searchsorted(places, np.stack([first, last], axis=1)).astype(np.int32))
            owner.append(np.full(first.size, number, np.int32))
        count = np.array([len(places) for places in at], np.int32)
        room = (count // WORD + 1) * WORD
        return cls(
            tuple(at),
            np.concatenate([[0], np.cumsum(room)]).astype(np.int32),
            count,
            on_paths,
            np.cumsum(np.concatenate(counts)),
            np.concatenate(runs),
            np.concatenate(owner),
        )

    @property
    def flat(self) -> int:
        """How many steps all axes have room for."""
        return int(self.start[-1])

    def summed(self, number: int, axis: EncodedAxis, changes: Float) -> Float:
        """From changes at the steps of all axes, along the last axis, to their sums at an axis's points as they were asked for."""
        begin, places = self.start[number], self.at[number]
        steps = np.zeros((*changes.shape[:-1], axis.size))
        steps[..., places] = changes[..., begin : begin + len(places)]
        out = np.empty_like(steps)
        out[..., axis.order] = np.cumsum(steps, axis=-1)
        return out
