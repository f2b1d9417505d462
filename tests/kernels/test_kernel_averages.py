"""From regions and counts to averages: each kernel against indicator arrays over the grid."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_cases import MODES, Case, masks_as_flags

from icefield import kernels
from icefield.engines.trees.axes import find_updates

pytestmark = pytest.mark.parametrize("seed", range(10))
CLOSE = {"rtol": 0, "atol": 1e-12}


def summed(differences: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """Differences ``(..., grid)`` summed along the last two axes of the grid."""
    shaped = differences.reshape(*differences.shape[:-1], *sizes)
    for axis in range(-min(2, len(sizes)), 0):
        shaped = np.cumsum(shaped, axis=axis)
    return shaped


def product(case: Case, leaf: int, axes: list) -> np.ndarray:
    """Which points of the product grid a leaf's region holds."""
    held = np.ones((), bool)
    for group, axis in enumerate(axes):
        held = held[..., None] & case.region(leaf, axis, group)
    return held


@pytest.mark.parametrize("points", [7, 150])
def test_regions_hold_the_points_that_pass_a_paths_conditions(seed, points):
    case = Case.of(seed, MODES["singles"], 0.0)
    axes, plan = case.axes(points), case.program
    found = case.regions(axes)
    for leaf in range(case.n_leaves):
        for p in range(plan.path_start[leaf], plan.path_start[leaf + 1]):
            group = int(plan.path_group[p])
            start = found.start[group] + found.rank[plan.path_region[p]] * found.words[group]
            flags = masks_as_flags(found.masks[start : start + found.words[group]], axes[group].size)
            assert np.array_equal(flags, case.region(leaf, axes[group], group))


def test_region_shares_weigh_the_cells_inside(seed):
    case = Case.of(seed, MODES["singles"], 0.0)
    axes = case.axes(100)
    found = case.regions(axes)
    weights = [case.rng.random(a.size) for a in axes]
    share = np.zeros(int(found.first[-1]))
    kernels.region_shares(
        masks=found.masks, start=found.start, words=found.words, first=found.first,
        weight_from=np.concatenate([np.cumsum(w[::-1])[::-1] for w in weights]),
        weight_start=np.cumsum([0, *(a.size for a in axes)]).astype(np.int64), share=share,
    )  # fmt: skip
    ends = np.append(found.start[1:], found.masks.size)
    for a, axis in enumerate(axes):
        masks = found.masks[found.start[a] : ends[a]].reshape(-1, int(found.words[a]))
        expected = masks_as_flags(masks, axis.size) @ weights[a]
        np.testing.assert_allclose(share[found.first[a] : found.first[a + 1]], expected, **CLOSE)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_updates_sum_to_the_regions_of_the_leaves(seed, groups):
    case = Case.of(seed, MODES["joint"], 0.0, groups=groups)
    axes = case.axes(5)
    sizes = tuple(a.size for a in axes)
    start, at, sign = find_updates(case.program, axes)
    for leaf in range(case.n_leaves):
        own = slice(start[leaf], start[leaf + 1])
        differences = np.zeros(int(np.prod(sizes)))
        np.add.at(differences, at[own], sign[own])
        assert np.array_equal(summed(differences, sizes), product(case, leaf, axes))


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_joint_averages_add_leaves_by_their_share(seed, groups):
    case = Case.of(seed, MODES["joint"], 0.0, groups=groups)
    axes = case.axes(5)
    sizes = tuple(a.size for a in axes)
    start, at, sign = find_updates(case.program, axes)
    share = case.rng.random(case.n_leaves)
    found = np.zeros((case.n_outputs, int(np.prod(sizes))))
    kernels.add_joint(
        leaves=case.program.leaves,
        update_start=start,
        update_at=at,
        update_sign=sign,
        share=share,
        differences=found,
    )
    expected = np.zeros((case.n_outputs, *sizes))
    for leaf in range(case.n_leaves):
        for output, value in case.each_value(leaf):
            expected[output] += product(case, leaf, axes) * share[leaf] * value
    np.testing.assert_allclose(summed(found, sizes), expected, **CLOSE)


@pytest.mark.parametrize("pairs", [False, True])
def test_families_add_leaves_by_the_shares_of_their_slots(seed, pairs):
    case = Case.of(seed, MODES["pairs" if pairs else "singles"], 0.0, groups=3)
    plan, axes = case.program, case.axes(6)
    sizes = np.array([a.size for a in axes], np.int64)
    asked = [(0, 1), (0, 2), (1, 2)] if pairs else []
    areas = [int(sizes[a] * sizes[b]) for a, b in asked]
    pair_of_groups = np.full((3, 3), -1, np.int32)
    for number, (a, b) in enumerate(asked):
        pair_of_groups[a, b] = pair_of_groups[b, a] = number
    share = case.rng.random(plan.slots.n)
    single_start = np.cumsum([0, *sizes]).astype(np.int64)
    pair_start = np.cumsum([0, *areas])[:-1].astype(np.int64)
    total, constant = np.zeros(case.n_outputs), np.zeros((case.n_outputs, 3))
    singles, surfaces = np.zeros((case.n_outputs, int(sizes.sum()))), np.zeros((case.n_outputs, sum(areas)))
    kernels.add_family(
        pairs=pairs, leaves=plan.leaves, regions=case.regions(axes).of_axes, leaf_slot=plan.leaf_slot,
        path_start=plan.path_start, path_group=plan.path_group, path_region=plan.path_region, share=share,
        axis_of_group=np.arange(3, dtype=np.int32), single_start=single_start, pair_of_groups=pair_of_groups,
        pair_axes=np.array(asked, np.int32).reshape(-1, 2), pair_start=pair_start, total=total, constant=constant,
        singles=singles, surfaces=surfaces,
    )  # fmt: skip
    alone = [np.zeros((case.n_outputs, n)) for n in sizes]
    beyond = [np.zeros((case.n_outputs, sizes[a], sizes[b])) for a, b in asked]
    whole = np.zeros(case.n_outputs)
    for leaf in range(case.n_leaves):
        by_groups = {frozenset(opened): share[slot] for slot, opened in case.slots(leaf)}
        plain = by_groups[frozenset()]
        held = [
            case.region(leaf, axis, g) * by_groups.get(frozenset({g}), plain) for g, axis in enumerate(axes)
        ]
        on_path = case.groups_of(int(plan.leaf_node[leaf]))
        for output, value in case.each_value(leaf):
            whole[output] += plain * value
            for g in range(3):
                alone[g][output] += (held[g] - plain) * value
            for number, (a, b) in enumerate(asked):
                if a in on_path and b in on_path:
                    in_both = np.outer(case.region(leaf, axes[a], a), case.region(leaf, axes[b], b))
                    both = by_groups[frozenset({a, b})] * in_both
                    beyond[number][output] += (both - held[a][:, None] - held[b][None, :] + plain) * value
    np.testing.assert_allclose(total, whole, **CLOSE)
    for g in range(3):
        own = singles[:, single_start[g] : single_start[g + 1]]
        np.testing.assert_allclose(np.cumsum(own, axis=1) - constant[:, g, None], alone[g], **CLOSE)
    for number, (a, b) in enumerate(asked):
        own = surfaces[:, pair_start[number] : pair_start[number] + areas[number]]
        np.testing.assert_allclose(summed(own, (sizes[a], sizes[b])), beyond[number], **CLOSE)


def test_curves_are_sums_along_the_last_two_axes(seed):
    rng = np.random.default_rng(seed)
    outer, middle, inner, outputs, rows = (int(n) for n in rng.integers(1, 5, 5))
    grid = outer * middle * inner
    differences = rng.normal(size=(outputs, grid, rows + 2))
    order, base = rng.permutation(grid).astype(np.int32), rng.normal(size=outputs)
    of_rows = differences[:, :, :rows].transpose(0, 2, 1)
    expected = summed(of_rows, (outer, middle, inner)).reshape(outputs, rows, grid) + base[:, None, None]
    values = np.empty((outputs, grid, rows))
    kernels.sum_up(
        outer=outer,
        middle=middle,
        inner=inner,
        base=base,
        order=order,
        differences=differences,
        values=values,
    )
    np.testing.assert_allclose(values[:, order], expected.transpose(0, 2, 1), **CLOSE)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (5, 9)])
def test_surfaces_are_summed_and_looked_up_as_numpy_does(seed, shape):
    rng = np.random.default_rng(seed)
    outputs, size = 3, shape[0] * shape[1]
    level, first, second = (rng.normal(size=(outputs, *rest)) for rest in ((), shape[:1], shape[1:]))
    differences = rng.normal(size=(outputs, 4 + size))[:, 2 : 2 + size]  # of a longer row
    surface = np.full((outputs, *shape), np.nan)
    kernels.sum_surface(level=level, first=first, second=second, differences=differences, surface=surface)
    both = differences.reshape(outputs, *shape).cumsum(axis=1).cumsum(axis=2)
    assert np.array_equal(surface, level[:, None, None] + first[:, :, None] + second[:, None, :] + both)

    first_of, second_of = (rng.integers(0, n, 50, dtype=np.int32) for n in shape)
    values = np.full((50, outputs), np.nan)
    kernels.look_up_surface(surface=surface, first_of=first_of, second_of=second_of, values=values)
    assert np.array_equal(values.T, surface[:, first_of, second_of])
