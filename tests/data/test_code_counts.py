"""Rows of each code by segment of an order, against a loop over the rows."""

from __future__ import annotations

import numpy as np
import pytest

from icefield.data.code_counts import segment_counts


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
