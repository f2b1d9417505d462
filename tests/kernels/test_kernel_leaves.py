"""Kernels that visit leaves: curves, moves and averages over others, against sums over rows and leaves."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_cases import LISTS, MODES, Case

from icefield import kernels

pytestmark = [pytest.mark.parametrize("seed", range(8)), pytest.mark.parametrize("lists", LISTS)]
CLOSE = {"rtol": 0, "atol": 1e-12}


def scattered(seed: int, lists: str, groups: int | None = None, mode: str = "joint") -> Case:
    return Case.of(seed, MODES[mode], LISTS[lists], scatter=True, groups=groups)


def open_rows(case: Case, leaf: int) -> np.ndarray:
    """The rows that reach a leaf with all groups open."""
    return case.reached(int(case.program.leaf_node[leaf]), set(range(case.program.n_groups)))


def test_leaves_add_their_updates_to_their_rows(seed, lists):
    case = scattered(seed, lists)
    rng, grid = case.rng, 9
    counts = rng.integers(0, 5, case.n_leaves)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    at = np.concatenate([np.sort(rng.choice(grid, n, False)) for n in counts]).astype(np.int32)
    sign = rng.choice([-1.0, 1.0], at.size)
    found = np.zeros((case.n_outputs, grid, 192))
    kernels.add_leaves(
        walk=case.walk(), leaves=case.program.leaves, update_start=start, update_at=at, update_sign=sign,
        differences=found,
    )  # fmt: skip
    expected = np.zeros_like(found)
    for leaf in range(case.n_leaves):
        rows = np.flatnonzero(open_rows(case, leaf))
        for output, value in case.each_value(leaf):
            for u in range(start[leaf], start[leaf + 1]):
                expected[output, at[u], rows] += sign[u] * value
    np.testing.assert_allclose(found, expected, **CLOSE)


def test_changes_are_those_of_the_rows_own_steps(seed, lists):
    case = scattered(seed, lists)
    rng = case.rng
    axes, regions, points = int(rng.integers(1, 3)), 6, int(rng.choice([3, 90]))
    change = rng.integers(-1, 2, (regions, points)).astype(np.int8)
    region, step = np.nonzero(change)
    leaf_region = rng.integers(-1, regions, (axes, case.n_leaves))
    steps = rng.integers(0, points, (axes, case.n_rows)).astype(np.int32)
    walk = case.walk()
    found = np.zeros((case.n_rows, case.n_outputs))
    kernels.add_changes(
        walk=walk, leaves=case.program.leaves, leaf_region=leaf_region,
        edge_start=np.searchsorted(region, np.arange(regions + 1)).astype(np.int64), edge_step=step.astype(np.int64),
        edge_sign=change[region, step], change=change, step_start=np.array([0, points])[:axes], steps=steps,
        step_bits=np.full((points * axes, walk.sizes["words"]), 7, np.uint64), out=found,
    )  # fmt: skip
    expected = np.zeros_like(found)
    for leaf in range(case.n_leaves):
        if (leaf_region[:, leaf] < 0).any():
            continue
        crossed = np.prod([change[leaf_region[a, leaf], steps[a]] for a in range(axes)], axis=0)
        for output, value in case.each_value(leaf):
            expected[:, output] += open_rows(case, leaf) * crossed * value
    np.testing.assert_allclose(found, expected, **CLOSE)


def test_corners_get_the_leaves_they_lie_in(seed, lists):
    case = scattered(seed, lists)
    rng = case.rng
    axes, regions, points = int(rng.integers(1, 3)), 6, 4
    inside = rng.integers(0, 2, (regions, points)).astype(np.int8)
    leaf_region = rng.integers(-1, regions, (axes, case.n_leaves))
    corners = rng.integers(0, points, (2**axes, axes, case.n_rows)).astype(np.int32)
    found = np.zeros((2**axes, case.n_rows, case.n_outputs))
    kernels.add_corners(
        walk=case.walk(),
        leaves=case.program.leaves,
        leaf_region=leaf_region,
        inside=inside,
        corners=corners,
        out=found,
    )
    expected = np.zeros_like(found)
    for leaf in range(case.n_leaves):
        for c in range(2**axes):
            reached = open_rows(case, leaf)
            for axis in range(axes):
                if leaf_region[axis, leaf] >= 0:
                    reached = reached & (inside[leaf_region[axis, leaf], corners[c, axis]] == 1)
            for output, value in case.each_value(leaf):
                expected[c, :, output] += reached * value
    np.testing.assert_allclose(found, expected, **CLOSE)


def test_others_get_the_share_of_the_group_left_to_the_data(seed, lists):
    case = scattered(seed, lists, mode="singles")
    plan = case.program
    share = case.rng.random(plan.path_group.size)
    found = np.zeros((case.n_outputs, 1 + plan.n_groups, case.n_rows))
    kernels.add_others(
        walk=case.walk(), leaves=plan.leaves, path_start=plan.path_start, path_group=plan.path_group,
        path_share=share, out=found,
    )  # fmt: skip
    expected = np.zeros_like(found)
    for leaf, node in enumerate(plan.leaf_node):
        own = case.reached(int(node), set())
        for output, value in case.each_value(leaf):
            expected[output, 0] += own * value
            for p in range(plan.path_start[leaf], plan.path_start[leaf + 1]):
                group = int(plan.path_group[p])
                change = case.reached(int(node), {group}) * share[p] - own
                expected[output, 1 + group] += change * value
    np.testing.assert_allclose(found, expected, **CLOSE)
