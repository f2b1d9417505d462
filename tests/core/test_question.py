"""Moments: they merge as a mean over more rows would, whatever the rows were cut into."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from icefield.core.question import Axis, Moments, Question

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
WEIGHTS = st.floats(0.0, 1e3, allow_subnormal=False).map(lambda w: w if w > 1e-6 else 0.0)


@st.composite
def weighted_rows(draw):
    rows = draw(st.integers(1, 30))
    values = draw(arrays(np.float64, (rows, 2, 3), elements=NUMBERS))
    weights = draw(st.none() | arrays(np.float64, rows, elements=WEIGHTS))
    cuts = sorted(draw(st.lists(st.integers(0, rows), max_size=4)))
    return values, weights, [0, *cuts, rows]


def two_pass(values, weights):
    weights = np.ones(len(values)) if weights is None else weights
    shares = (weights / weights.sum())[:, None, None]
    mean = (values * shares).sum(axis=0)
    return mean, np.sqrt((np.square(values - mean) * shares).sum(axis=0))


def merged(values, weights, bounds, order=None):
    pieces = [
        Moments.of(values[a:b], None if weights is None else weights[a:b], True) for a, b in pairwise(bounds)
    ]
    total = Moments.empty(values.shape[1:], True)
    for i in order if order is not None else range(len(pieces)):
        total = total.merge(pieces[i])
    return total


@settings(deadline=None, max_examples=200)
@given(weighted_rows())
def test_merging_pieces_is_the_whole(case):
    values, weights, bounds = case
    total = merged(values, weights, bounds)
    assert total.count == len(values)
    if weights is not None and weights.sum() == 0:
        assert np.isnan(total.average).all()
        assert np.isnan(total.std).all()
        return
    mean, std = two_pass(values, weights)
    scale = max(1.0, np.abs(values).max())
    np.testing.assert_allclose(total.average, mean, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(total.std, std, rtol=1e-6, atol=1e-9 * scale)


@settings(deadline=None, max_examples=100)
@given(weighted_rows(), st.randoms(use_true_random=False))
def test_merging_in_any_order_is_the_same(case, random):
    values, weights, bounds = case
    order = list(range(len(bounds) - 1))
    random.shuffle(order)
    one, other = merged(values, weights, bounds), merged(values, weights, bounds, order)
    scale = max(1.0, np.abs(values).max())
    np.testing.assert_allclose(one.average, other.average, rtol=0, atol=1e-12 * scale, equal_nan=True)
    np.testing.assert_allclose(one.m2, other.m2, rtol=1e-9, atol=1e-9 * scale**2)
    assert one.weight == pytest.approx(other.weight, rel=1e-12)


@settings(deadline=None, max_examples=100)
@given(weighted_rows())
def test_an_empty_set_of_rows_changes_nothing(case):
    values, weights, _ = case
    moments, nothing = Moments.of(values, weights, True), Moments.empty(values.shape[1:], True)
    for both in (moments.merge(nothing), nothing.merge(moments)):
        assert np.array_equal(both.mean, moments.mean)
        assert np.array_equal(both.m2, moments.m2)
        assert (both.count, both.weight) == (moments.count, moments.weight)


@settings(deadline=None, max_examples=50)
@given(weighted_rows(), st.integers(0, 2))
def test_a_grid_points_moments_do_not_depend_on_its_neighbours(case, point):
    values, weights, _ = case
    whole = Moments.of(values, weights, True)
    alone = Moments.of(values[:, :, point : point + 1], weights, True)
    assert np.array_equal(whole.mean[:, point], alone.mean[:, 0])
    assert np.array_equal(whole.m2[:, point], alone.m2[:, 0])


def test_spread_of_large_numbers_that_differ_little():
    """Sums of squares would lose every digit here."""
    values = (1e9 + np.arange(8.0)).reshape(8, 1, 1)
    total = merged(values, None, [0, 3, 5, 8])
    assert total.std[0, 0] == pytest.approx(np.std(np.arange(8.0)), rel=1e-9)


def test_without_spread_nothing_is_made_up():
    moments = Moments.of(np.ones((3, 1, 2)), None, False).merge(Moments.of(np.ones((2, 1, 2)), None, False))
    assert moments.m2 is None
    assert moments.std is None
    assert moments.se is None
    assert moments.average.tolist() == [[1.0, 1.0]]


def test_the_standard_error_is_that_of_a_mean():
    values = np.arange(10.0).reshape(10, 1, 1)
    expected = np.std(np.arange(10.0), ddof=1) / np.sqrt(10)
    assert Moments.of(values, None, True).se[0, 0] == pytest.approx(expected, rel=1e-14)


def test_equal_weights_have_the_standard_error_of_none(rng):
    values = rng.normal(size=(20, 1, 3))
    weighted = Moments.of(values, np.full(20, 0.3), True)
    np.testing.assert_allclose(weighted.se, Moments.of(values, None, True).se, rtol=1e-12)


def test_one_row_has_no_standard_error():
    moments = Moments.of(np.ones((1, 1, 2)), None, True)
    assert moments.std.tolist() == [[0.0, 0.0]]
    assert np.isnan(moments.se).all()


def test_no_rows_have_no_average():
    assert np.isnan(Moments.of(np.ones((0, 1, 2)), None, True).average).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_predictions_that_are_no_numbers_stay_where_they_are(bad):
    values = np.ones((4, 1, 2))
    values[2, 0, 1] = bad
    for moments in (Moments.of(values, None, True), merged(values, None, [0, 2, 4])):
        assert moments.average[0, 0] == 1.0
        assert moments.std[0, 0] == 0.0
        np.testing.assert_equal(moments.average[0, 1], bad)
        assert np.isnan(moments.std[0, 1])


def test_a_question_knows_its_shape():
    axes = (Axis("a", {"a": np.arange(3)}), Axis("g", {"g1": np.arange(2), "g2": np.arange(2)}))
    assert Question(axes).shape == (3, 2)
    assert axes[1].columns == ("g1", "g2")
