"""Values at ranks, against sorting: the same number whatever the values are like, and however the sample falls."""

from __future__ import annotations

import numpy as np
import pytest

from icefield.data.at_ranks import FEW, _between_brackets, in_order, lanes_at_ranks, values_at_ranks
from icefield.data.distribution import ranks_of

SIZE = 3 * FEW
RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=SIZE)
SHAPES = {
    "normal": NORMAL,
    "heavy tails": NORMAL**5,
    "rising": np.sort(NORMAL),
    "few values": np.round(NORMAL),
    "one value": np.ones(SIZE),
    "mostly one": np.where(np.arange(SIZE) % 50 == 0, NORMAL, 0.0),
    "infinite ends": np.concatenate([[np.inf, -np.inf, 1e308, -1e308], NORMAL[4:]]),
    # Every value that the sample takes is far below all others: no bracket holds.
    "sample deceived": np.where(np.arange(SIZE) % (SIZE // 1024) == 0, -100.0 + NORMAL, NORMAL),
    "every other": NORMAL.repeat(2)[::2],
}


@pytest.mark.parametrize(
    "asked", [(0.05, 0.25, 0.75, 0.95), (0.0, 1.0), (0.5,), (0.001, 0.999), (1.0,), (0.3, 0.7, 0.7)]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_values_at_ranks_are_those_of_sorted_values(shape, asked):
    values = SHAPES[shape]
    ranks = ranks_of(np.array(asked), len(values))
    np.testing.assert_array_equal(values_at_ranks(values, ranks), np.sort(values)[ranks])


def test_brackets_are_used_where_they_tell_and_left_where_they_do_not():
    ranks = ranks_of(np.array([0.3, 0.5, 0.7]), SIZE)
    assert _between_brackets(SHAPES["heavy tails"], ranks) is not None
    assert _between_brackets(SHAPES["one value"], ranks) is None
    assert _between_brackets(SHAPES["sample deceived"], ranks) is None


def test_few_values_and_strided_ones():
    values = np.array([3.0, 1.0, 2.0])
    assert values_at_ranks(values, np.array([0, 2])).tolist() == [1.0, 3.0]
    lanes = np.column_stack([NORMAL, -NORMAL])
    ranks = np.array([10, SIZE - 10])
    np.testing.assert_array_equal(values_at_ranks(lanes[:, 1], ranks), np.sort(-NORMAL)[ranks])


@pytest.mark.parametrize("size", [1, 2, 7, 5_000])
def test_ranks_of_short_lanes_are_those_of_sorted_lanes(size):
    shapes = [*(values[:size] for values in SHAPES.values()), np.where(NORMAL > 2.5, 1e308, -1e308)[:size]]
    lanes = np.stack([*shapes, *(-lane for lane in shapes)])
    ranks = ranks_of(np.array([0.0, 0.05, 0.5, 0.5, 0.95, 1.0]), size)
    np.testing.assert_array_equal(lanes_at_ranks(lanes, ranks), np.sort(lanes, axis=1)[:, ranks])
    lanes[1, -1] = np.nan
    found = lanes_at_ranks(lanes[:2], ranks)
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1]).all()


@pytest.mark.parametrize("size", [0, 1, 30, 5_000])
@pytest.mark.parametrize("shape", [*SHAPES, "far apart", "not finite", "mostly not finite", "whole"])
def test_numbers_in_order_are_those_that_are_sorted(shape, size):
    more = {
        "far apart": 10.0 ** np.linspace(-300, 300, SIZE),
        "not finite": np.where(np.arange(SIZE) % 3, NORMAL, np.resize([np.nan, np.inf, -np.inf], SIZE)),
        "mostly not finite": np.where(np.arange(SIZE) % 1000 == 1, NORMAL, np.nan),
        "whole": np.round(100 * NORMAL),
    }
    values = (SHAPES | more)[shape][:size]
    order, differs, finite = in_order(values)
    assert sorted(order.tolist()) == list(range(size))
    known = values[np.isfinite(values)]
    assert finite == len(known)
    np.testing.assert_array_equal(values[order[:finite]], np.sort(known))
    ranked = np.where(np.isfinite(values), values, np.inf)[order]
    assert differs.tolist() == [*(ranked[1:] != ranked[:-1]), True][:size]
