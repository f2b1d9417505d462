"""Where along their grids the curves of several features can change at all.

A leaf of a feature's curve holds for runs of grid points. Only where one begins or ends is there a *step*; a grid
has many points, a feature few steps. Kernels count in steps, so what they hold for a row stays near.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from icefield import kernels
from icefield.engines.trees.axes import EncodedAxis, GridRegions
from icefield.engines.trees.packed_rows import WORD
from icefield.engines.trees.program import Program
from icefield.typing import Bytes, Float, Int32, Int64, Positions


@dataclass(frozen=True, eq=False)
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

    at: tuple[Positions, ...]
    start: Int32
    count: Int32
    path_region: Int32
    run_start: Int64
    runs: Int32
    run_axis: Int32

    @classmethod
    def of(cls, program: Program, axes: Sequence[EncodedAxis]) -> GridSteps:
        """Of the axes that are the groups of a program."""
        regions = GridRegions.of(program, axes, range(len(axes)))
        on_paths = np.zeros(program.path_group.size, np.int32)
        found = regions.on_paths(program)
        on_paths[: found.size] = found
        first = regions.first
        points = np.concatenate([[0], np.cumsum(regions.size)]).astype(np.int64)
        given = kernels.RegionsOfGrids(
            masks=regions.masks, start=regions.start, words=regions.words, first=first, point_start=points
        )
        run_start = np.zeros(int(first[-1]) + 1, np.int64)
        is_step = np.zeros(int(points[-1]), np.uint8)
        kernels.count_runs(regions=given, run_start=run_start, is_step=is_step)
        runs, owner = np.empty((int(run_start[-1]), 2), np.int32), np.empty(int(run_start[-1]), np.int32)
        kernels.find_runs(regions=given, is_step=is_step, runs=runs, run_axis=owner)
        steps_before = np.concatenate([[0], np.cumsum(is_step, dtype=np.int64)])
        at = np.flatnonzero(is_step)
        ends = steps_before[points]
        count = np.diff(ends).astype(np.int32)
        room = (count // WORD + 1) * WORD
        return cls(
            tuple(at[a:b] - p for a, b, p in zip(ends.tolist(), ends[1:].tolist(), points.tolist())),
            np.concatenate([[0], np.cumsum(room)]).astype(np.int32),
            count,
            on_paths,
            run_start,
            runs,
            owner,
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

    def unfolding(self, axes: Sequence[EncodedAxis]) -> Unfolding:
        """From changes at these steps to curves on the axes."""
        is_step = np.zeros(sum(axis.size for axis in axes), np.uint8)
        points = np.concatenate([[0], np.cumsum([axis.size for axis in axes])]).astype(np.int64)
        for begin, places in zip(points.tolist(), self.at):
            is_step[begin + places] = 1
        order = np.concatenate([np.zeros(0, np.int32), *(axis.order for axis in axes)])
        return Unfolding(points, is_step, order, self.start)


@dataclass(frozen=True, eq=False)
class Unfolding:
    """How rows' changes at the steps of all axes become their curves on every axis, as these were asked for.

    Attributes
    ----------
    points : where each axis's points begin among those of all, and last how many there are
    is_step, order : by sorted point, whether there is a step, and its place in the caller's grid
    steps : where each axis's steps begin
    """

    points: Int64
    is_step: Bytes
    order: Int32
    steps: Int32

    def room(self, outputs: int, rows: int) -> Float:
        """For the curves of this many rows."""
        return np.empty(outputs * rows * int(self.points[-1]))

    def unfold(self, first: Float, changes: Float, begin: int, rows: int, room: Float) -> None:
        """Put the curves of some of `rows` rows, from `begin` on, into the room: they start at `first` and change by `changes`."""
        kernels.unfold(
            point_start=self.points, is_step=self.is_step, order=self.order, step_start=self.steps,
            first=first, changes=changes, begin=begin, rows=rows, curves=room,
        )  # fmt: skip

    def curves(self, outputs: int, rows: int, room: Float) -> list[Float]:
        """The curves in a room, ``(outputs, rows, points)`` of each axis."""
        blocks = np.split(room, outputs * rows * self.points[1:-1])
        return [block.reshape(outputs, rows, size) for block, size in zip(blocks, np.diff(self.points))]
