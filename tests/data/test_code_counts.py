"""Rows of each code by segment of an order, against a loop over the rows."""

from __future__ import annotations

import numpy as np
import pytest

from icefield.data.code_counts import never_together, segment_counts


@pytest.mark.parametrize("n_rows", [1, 70, 1000])
def test_codes_are_counted_in_each_segment_of_an_order(n_rows):
    rng = np.random.default_rng(n_rows)
    codes = rng.integers(0, 5, n_rows).astype(np.int32)
    order = rng.permutation(n_rows)[: max(1, n_rows - 3)]  # some rows are in no segment
    ends = np.append(np.sort(rng.integers(0, len(order) + 1, 4)), len(order))  # some segments may be empty
    expected = np.zeros((len(ends), 5), int)
    for place, row in enumerate(order):
        expected[np.searchsorted(ends, place, "right"), codes[row]] += 1
    assert segment_counts(order, ends, codes, 5).tolist() == expected.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_what_never_occurs_together_is_what_a_table_of_each_pair_lacks(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, 300).astype(np.int32)
    sizes = [1, 3, 9]
    others = np.stack([np.where(codes == 2, 0, rng.integers(0, n, 300)) for n in sizes]).astype(np.int16)
    start = np.cumsum([0, *sizes])
    least = np.count_nonzero(codes == 2) * np.count_nonzero(others[1] == 1) / 300  # and no less
    found = never_together(codes, others, start, least)
    for other, begin, size in zip(others, start, sizes):
        table = np.zeros((4, size), int)
        np.add.at(table, (codes, other), 1)
        by_chance = np.outer(np.bincount(codes, minlength=4), np.bincount(other, minlength=size)) / 300
        assert np.array_equal(found[:, begin : begin + size], (table == 0) & (by_chance >= least))
    assert found[2, 2]
