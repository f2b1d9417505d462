"""Runs of regions between steps, and curves from changes at steps: each kernel against indicators and plain sums."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_cases import masks_as_flags

from icefield import kernels
from icefield.engines.trees.axes import EncodedAxis
from icefield.engines.trees.grid_steps import GridSteps

SIZES = (5, 64, 63, 128, 130)  # grids that end within a word, and at its end


def drawn_masks(
    rng: np.random.Generator, size: int, regions: int, first: bool
) -> tuple[np.ndarray, np.ndarray]:
    """GridRegions of a few runs as flags, some empty and some of everything, with the first point or without, and as words."""
    cuts = rng.random((regions, size)) < 4.0 / size
    flags = np.logical_xor.accumulate(cuts, axis=1) ^ rng.integers(0, 2, (regions, 1)).astype(bool)
    flags[0], flags[-1] = False, True
    flags[:, 0] &= first
    words = np.zeros((regions, -(-size // 64) * 8), np.uint8)
    packed = np.packbits(flags, axis=1, bitorder="little")
    words[:, : packed.shape[1]] = packed
    return flags, words.view(np.uint64)


@pytest.mark.parametrize("seed", range(5))
def test_runs_are_those_of_the_flags_in_steps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    regions = rng.integers(2, 6, len(SIZES))
    flags, masks = zip(*(drawn_masks(rng, size, n, seed % 2 == 0) for size, n in zip(SIZES, regions)))
    assert all(np.array_equal(masks_as_flags(m, f.shape[1]), f) for f, m in zip(flags, masks))
    words = np.array([m.shape[1] for m in masks], np.int64)
    points = np.cumsum([0, *SIZES]).astype(np.int64)
    given = kernels.RegionsOfGrids(
        masks=np.concatenate([m.ravel() for m in masks]), words=words, point_start=points,
        start=np.concatenate([[0], np.cumsum(words * regions)[:-1]]).astype(np.int64),
        first=np.concatenate([[0], np.cumsum(regions)]).astype(np.int64),
    )  # fmt: skip
    run_start, is_step = np.full(regions.sum() + 1, -1, np.int64), np.zeros(points[-1], np.uint8)
    kernels.count_runs(regions=given, run_start=run_start, is_step=is_step)
    runs, owner = np.empty((run_start[-1], 2), np.int32), np.empty(run_start[-1], np.int32)
    kernels.find_runs(regions=given, is_step=is_step, runs=runs, run_axis=owner)
    region = 0
    for axis, own in enumerate(flags):
        padded = np.pad(own, ((0, 0), (1, 1)))
        changes = padded[:, 1:] != padded[:, :-1]
        steps = np.flatnonzero(changes[:, :-1].any(axis=0))
        assert np.array_equal(np.flatnonzero(is_step[points[axis] : points[axis + 1]]), steps)
        for edges in changes:
            here = slice(run_start[region], run_start[region + 1])
            expected = np.searchsorted(steps, np.flatnonzero(edges)).reshape(-1, 2)
            assert np.array_equal(runs[here], expected)
            assert (owner[here] == axis).all()
            region += 1


@pytest.mark.parametrize("outputs", [1, 3])
def test_curves_are_sums_of_changes_along_grids_in_any_order(outputs: int) -> None:
    rng = np.random.default_rng(outputs)
    axes = [EncodedAxis.of_values((j,), rng.normal(size=(size, 1))) for j, size in enumerate(SIZES)]
    at = tuple(np.flatnonzero(rng.random(size) < 0.3) for size in SIZES)
    count = np.array([len(places) for places in at], np.int32)
    start = np.concatenate([[0], np.cumsum(count + 3)]).astype(np.int32)
    nothing = np.zeros(0, np.int32)
    steps = GridSteps(at, start, count, nothing, np.zeros(1, np.int64), nothing.reshape(0, 2), nothing)
    first, changes = rng.normal(size=(9, outputs)), rng.normal(size=(9, outputs, start[-1]))
    unfolding = steps.unfolding(axes)
    room = unfolding.room(outputs, 9)
    for begin, end in ((4, 9), (0, 4)):
        unfolding.unfold(first[begin:end], changes[begin:end], begin, 9, room)
    found = unfolding.curves(outputs, 9, room)
    for number, axis in enumerate(axes):
        expected = first[:, :, None] + steps.summed(number, axis, changes)
        np.testing.assert_array_equal(found[number], expected.transpose(1, 0, 2))
