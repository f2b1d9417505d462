"""The steps of planning, each against what it means: paths, regions, slots, entries, sizes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from kernel_cases import LISTS, MODES, Case

from icefield import kernels
from icefield.kernels import EITHER_WAY, SUBTREE

every_plan = pytest.mark.parametrize("seed", range(8))
every_mode = pytest.mark.parametrize("mode", MODES)
every_list = pytest.mark.parametrize("lists", LISTS)


@every_plan
def test_survey_finds_depths_and_leaves(seed):
    case = Case.of(seed, MODES["joint"], 0.0)
    batch = case.program.batch
    below = np.zeros(batch.node_left.size, int)
    for node in range(batch.node_left.size):
        assert batch.node_depth[node] == len(case.path(node))
        if batch.node_left[node] < 0:
            for above in [node, *(split for split, _ in case.path(node))]:
                below[above] += 1
    assert np.array_equal(batch.leaves_below, below)


@every_plan
@every_mode
@every_list
def test_paths_name_groups_in_the_order_they_are_met_and_the_last_node_below_each(seed, mode, lists):
    case = Case.of(seed, MODES[mode], LISTS[lists])
    plan = case.program
    leaves = np.flatnonzero(plan.batch.node_left < 0)
    assert sorted(plan.leaf_node) == sorted(leaves)
    for leaf, node in enumerate(plan.leaf_node):
        own = slice(plan.path_start[leaf], plan.path_start[leaf + 1])
        groups = case.groups_of(int(node))
        assert plan.path_group[own].tolist() == groups
        below = {}
        path = [*case.path(int(node)), (int(node), True)]
        for (split, _), (child, _) in pairwise(path):
            below[case.group_of(split)] = child
        assert plan.path_region[own].tolist() == [below[g] for g in groups]


@every_plan
def test_the_region_before_is_that_of_the_last_split_on_the_group(seed):
    case = Case.of(seed, MODES["singles"], 0.0)
    for node in range(case.program.batch.node_left.size):
        path = [*case.path(node), (node, True)]
        own = [(case.group_of(s), c) for (s, _), (c, _) in pairwise(path)]
        before = -1
        if own and own[-1][0] >= 0:
            before = ([-1] + [c for g, c in own[:-1] if g == own[-1][0]])[-1]
        assert case.program.region_before[node] == before


@every_plan
@every_mode
@every_list
def test_a_plan_is_as_large_as_measured_and_stays_within_its_buffers(seed, mode, lists):
    case = Case.of(seed, MODES[mode], LISTS[lists])
    plan = case.program
    source, condition, target, counter = plan.instructions.program.T
    is_entry = target == SUBTREE
    assert source[is_entry].tolist() == list(range(plan.instructions.entry_node.size))
    assert (source[~is_entry] < plan.n_buffers).all()
    assert target.max(initial=-1) < plan.n_buffers
    assert counter.max(initial=-1) < plan.n_counters
    assert (condition[~is_entry] >= 0).all()  # a count always asks something
    assert plan.path_start[-1] == plan.path_group.size
    assert plan.instructions.entry_start[-1] == plan.instructions.entry_buffer.size


@every_plan
@pytest.mark.parametrize("mode", ["joint", "singles"])
def test_subtrees_are_entered_once_and_their_splits_tagged(seed, mode):
    case = Case.of(seed, MODES[mode], LISTS["some lists"])
    plan, batch = case.program, case.program.batch
    few = (batch.node_left >= 0) & (batch.leaves_below < LISTS["some lists"] * batch.tree_leaves)
    apart = 0
    for node in np.flatnonzero(few):
        above = [split for split, _ in case.path(int(node))]
        entered = int(node) in plan.instructions.entry_node.tolist()
        assert entered == (not above or not few[above[-1]])
        apart += entered
        group = case.group_of(int(node))
        tag = 0
        if group >= 0:
            groups = case.groups_of(int(node))
            tag = groups.index(group) + 1 if group in groups else len(groups) + 1
            tag = EITHER_WAY if mode == "joint" else tag
        assert plan.instructions.node_tag[node] == tag
    assert apart == plan.instructions.entry_node.size


@every_plan
@every_list
def test_a_scattering_plan_visits_every_leaf(seed, lists):
    case = Case.of(seed, MODES["joint"], LISTS[lists], scatter=True)
    plan = case.program
    visited = plan.instructions.program[plan.instructions.program[:, 2] == -1, 3].tolist()
    listed = [leaf for leaf, node in enumerate(plan.leaf_node) if _is_listed(case, int(node))]
    assert sorted(visited + listed) == list(range(case.n_leaves))
    assert plan.instructions.node_counter[plan.leaf_node].tolist() == list(range(case.n_leaves))
    assert plan.n_counters == 0


def _is_listed(case: Case, node: int) -> bool:
    return any(split in case.program.instructions.entry_node for split, _ in case.path(node))


@every_plan
def test_pairs_nobody_asked_for_take_no_instructions(seed):
    case = Case.of(seed, MODES["pairs"], 0.0, groups=4)
    batch, asked = case.program.batch, np.zeros((4, 4), np.uint8)
    none = type(case.program).of(batch, case.group_of_column, 4, MODES["pairs"], asked=asked)
    singles = type(case.program).of(batch, case.group_of_column, 4, MODES["singles"])
    if singles.instructions.entry_node.size == 0:
        assert len(none.instructions.program) == len(singles.instructions.program)
    assert len(none.instructions.program) <= len(case.program.instructions.program)


def test_sizes_have_names():
    sizes = kernels.plan_sizes()
    assert sizes.instructions == 0
    with pytest.raises(AttributeError, match="PlanSizes has no 'colour'"):
        sizes.colour  # noqa: B018
