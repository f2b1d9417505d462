"""A number that does not fit 32 bits is an error: it is never cut off."""

from __future__ import annotations

import numpy as np
import pytest

from icefield import kernels

NONE = np.zeros(0, np.int32)


def chain(depth: int, trees: int, mode: int, *, row: int = 0, apart: bool) -> kernels.PlanQuestion:
    """Trees that are all the same: every split has a leaf at the left and is on a group of its own."""
    splits = np.arange(depth)
    left, right = (np.full(2 * depth + 1, -1, np.int32) for _ in range(2))
    left[2 * splits], right[2 * splits] = 2 * splits + 1, 2 * splits + 2
    condition = np.full(left.size, -1, np.int32)
    condition[2 * splits] = splits
    return kernels.PlanQuestion(
        scatter=False, mode=mode, roots=np.zeros(trees, np.int32), node_condition=condition, node_left=left,
        node_right=right, condition_group=splits.astype(np.int32), condition_row=np.full(depth, row, np.int32),
        apart=np.full(left.size, apart, np.uint8), asked=np.ones((depth, depth), np.uint8), max_depth=depth,
        max_groups=depth,
    )  # fmt: skip


def test_a_plan_of_too_many_slots_is_refused():
    fits = chain(100, 1000, kernels.PAIRS, apart=True)
    sizes = kernels.plan_sizes()
    assert kernels.measure_plan(question=fits, sizes=sizes)
    assert sizes.slots < 2**31
    with pytest.raises(OverflowError, match="'measure_plan' met a number that does not fit 32 bits"):
        kernels.measure_plan(
            question=chain(100, 20_000, kernels.PAIRS, apart=True), sizes=kernels.plan_sizes()
        )


@pytest.mark.parametrize(("row", "fits"), [(2**30 - 1, True), (2**30, False)])
def test_a_condition_of_too_high_a_row_is_refused(row, fits):
    question = chain(1, 1, kernels.JOINT, row=row, apart=False)
    question = kernels.PlanQuestion(**{**question.values, "condition_group": np.full(1, -1, np.int32)})
    sizes = kernels.plan_sizes()
    assert kernels.measure_plan(question=question, sizes=sizes)

    def write() -> bool:
        return kernels.write_plan(
            question=question, program=np.zeros((sizes.instructions, 4), np.int32), entry_node=NONE,
            entry_start=np.zeros(1, np.int32), entry_buffer=NONE, slot_origin=np.zeros(sizes.slots, np.int32),
            slot_counter=np.zeros(sizes.slots, np.int32), slot_kind=np.zeros(sizes.slots, np.int8),
            leaf_node=np.zeros(2, np.int32), leaf_slot=np.zeros(2, np.int32), path_start=np.zeros(3, np.int32),
            path_group=NONE, path_region=NONE, node_tag=np.zeros(3, np.int32), node_counter=np.zeros(3, np.int32),
            region_before=np.zeros(3, np.int32),
        )  # fmt: skip

    if fits:
        assert write()
    else:
        with pytest.raises(OverflowError, match="'write_plan'"):
            write()


@pytest.mark.parametrize(
    ("sizes", "fits"), [([2**15, 2**15], True), ([2**16, 2**15], False), ([2**16] * 4, False)]
)
def test_a_grid_of_too_many_points_is_refused(sizes, fits):
    axes = len(sizes)
    regions = kernels.RegionsOfAxes(
        rank=NONE, size=np.array(sizes), words=np.zeros(axes, np.int64), start=np.zeros(axes, np.int64),
        masks=np.zeros(0, np.uint64),
    )  # fmt: skip
    paths = {"path_start": np.zeros(2, np.int32), "path_group": NONE, "path_region": NONE}
    start = np.zeros(2, np.int64)
    if fits:
        assert kernels.count_updates(regions=regions, **paths, update_start=start)
        assert start[-1] == 1
        return
    with pytest.raises(OverflowError, match="'count_updates'"):
        kernels.count_updates(regions=regions, **paths, update_start=start)
    with pytest.raises(OverflowError, match="'find_updates'"):
        kernels.find_updates(
            regions=regions, **paths, update_start=start, update_at=NONE, update_sign=np.zeros(0)
        )


@pytest.mark.parametrize(("words", "fits"), [(1024, True), (1025, False)])
def test_a_block_of_more_rows_than_lists_can_number_is_refused(words, fits):
    walk = kernels.Walk(
        program=np.zeros((0, 4), np.int32), bits=np.zeros((0, words), np.uint64),
        buffers=np.zeros((2, words), np.uint64), entry_node=np.zeros(1, np.int32),
        entry_start=np.zeros(2, np.int32), entry_buffer=NONE, list_nodes=np.zeros(1, kernels.NODE),
        node_counter=np.zeros(1, np.int32), codes_by_row=np.zeros((0, 1), np.int32), set_table=np.zeros(1, np.uint8),
        stop=np.zeros(1, np.uint8),
    )  # fmt: skip
    counting = {
        "walk": walk, "planes": np.zeros((0, words), np.uint64), "segments": np.array([0, words]),
        "segment_of": NONE, "weight_of": np.zeros(0, np.int64), "counters": np.zeros((0, 1), np.int64),
    }  # fmt: skip
    if fits:
        assert kernels.count(**counting)
    else:
        with pytest.raises(OverflowError, match="'count'"):
            kernels.count(**counting)
