"""Rows of each code or level by segment of an order and by set, against loops over the rows."""

from __future__ import annotations

import numpy as np
import pytest

from icefield.data.code_counts import counts_between_ranks, never_together


def by_definition(order, is_last, level, n_levels, ranks):
    """Rows of each level of one set in each segment, where -1 is no level."""
    ranked = [place for place, row in enumerate(order) if level[row] >= 0]
    ends = {
        next(at for at in range(ranked[rank], len(order)) if is_last[at]) + 1
        for rank in ranks
        if rank < len(ranked)
    }
    begin, tables = 0, []
    for end in [*sorted(ends), len(order)]:
        inside = [level[row] for row in order[begin:end] if level[row] >= 0]
        tables.append(np.bincount(np.array(inside, int), minlength=n_levels).tolist())
        begin = end
    return tables


@pytest.mark.parametrize("n_rows", [1, 70, 1000])
def test_levels_are_counted_between_ranks_of_the_rows_that_have_one(n_rows):
    rng = np.random.default_rng(n_rows)
    values = np.round(rng.normal(size=n_rows), 1)  # many rows share one
    order = np.argsort(values)
    is_last = np.append(np.diff(values[order]) != 0, True)
    levels = [rng.integers(-1, n, n_rows) for n in (3, 1, 6)]  # some rows have none
    levels[2][:] = np.where(rng.random(n_rows) < 0.9, -1, levels[2])
    sizes = [max(1, int(own.max()) + 1) for own in levels]
    starts = np.cumsum([0, *sizes])
    places = np.stack(
        [np.where(own >= 0, own + starts[s], starts[-1] + s) for s, own in enumerate(levels)], axis=1
    )
    known = np.array([np.count_nonzero(own >= 0) for own in levels])
    ranks = np.maximum(np.ceil(np.linspace(0, 1, 8)[1:] * known[:, None]).astype(int) - 1, 0)
    found = counts_between_ranks(order, is_last, places.astype(np.int32), starts, ranks)
    for own, table, asked, size in zip(levels, found, ranks, sizes):
        assert table.tolist() == by_definition(order, is_last, own, size, asked)


@pytest.mark.parametrize("seed", range(5))
def test_what_never_occurs_together_is_what_a_table_of_each_pair_lacks(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, 300).astype(np.int32)
    sizes = [1, 3, 9]
    others = np.stack([np.where(codes == 2, 0, rng.integers(0, n, 300)) for n in sizes]).astype(np.int16)
    group_rows = [np.bincount(other, minlength=size) for other, size in zip(others, sizes)]
    least = np.count_nonzero(codes == 2) * np.count_nonzero(others[1] == 1) / 300  # and no less
    found = never_together(codes, others, group_rows, least)
    for other, begin, size in zip(others, np.cumsum([0, *sizes]), sizes):
        table = np.zeros((4, size), int)
        np.add.at(table, (codes, other), 1)
        by_chance = np.outer(np.bincount(codes, minlength=4), np.bincount(other, minlength=size)) / 300
        assert np.array_equal(found[:, begin : begin + size], (table == 0) & (by_chance >= least))
    assert found[2, 2]


def test_what_occurs_only_in_the_last_rows_does_occur():
    codes = np.repeat(np.array([0, 1], np.int32), 1000)
    other = np.zeros((1, 2000), np.int16)
    other[0, -3:] = 1
    assert never_together(codes, other, [np.array([1997, 3])], 1.0).tolist() == [
        [False, True],
        [False, False],
    ]
