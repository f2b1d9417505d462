"""Measures of bundles of curves against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from icefield import Explainer
from icefield.statistics import ice_statistics as bundles
from icefield.statistics.ice_statistics import (
    IceCurves,
    RowGroups,
    centred,
    deviation,
    explaining_columns,
    group_codes,
    heterogeneity,
    leading_direction,
    opposing_share,
    point_weights,
)

X = np.linspace(-1, 1, 21)
EVEN = np.full(21, 1 / 21)


def opposing(curves, weights, row_weights=None):
    own = np.ones(len(curves)) if row_weights is None else row_weights
    return float(opposing_share(IceCurves(curves, weights, row_weights).scores, own[None])[0])


def test_heterogeneity_of_slopes_is_their_spread_times_that_of_the_feature():
    slopes = np.array([1.0, 2.0, 6.0])
    curves = (slopes[:, None] * X + np.array([[5.0], [0.0], [-9.0]]))[None]
    assert heterogeneity(curves, EVEN)[0] == pytest.approx(slopes.std() * X.std())
    weights = np.array([2.0, 0.0, 1.0])
    copied = curves[:, [0, 0, 2]]
    assert heterogeneity(curves, EVEN, weights)[0] == pytest.approx(heterogeneity(copied, EVEN)[0])


def test_parallel_curves_have_none_whatever_their_level():
    curves = (np.sin(X) + 1e8 * np.arange(5)[:, None])[None]
    assert heterogeneity(curves, EVEN)[0] == 0.0


def test_centred_and_deviation_follow_the_weights():
    weights = np.array([0.5, 0.5, 0.0])
    np.testing.assert_allclose(centred(np.array([1.0, 3.0, 100.0]), weights), [-1.0, 1.0, 98.0])
    assert deviation(np.array([1.0, 3.0, 100.0]), weights) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("signs", "share"), [([1, 1, 1, 1], 0.0), ([1, 1, 1, -1], 0.25), ([1, -1, 1, -1], 0.5)]
)
def test_opposing_is_the_smaller_side(signs, share):
    assert opposing(np.array(signs)[:, None] * X, EVEN) == pytest.approx(share)


def test_curves_that_do_not_move_oppose_nothing():
    assert opposing(np.zeros((4, 21)), EVEN) == 0.0
    assert opposing(np.array([1.0, 1.0, 1e-9, -1e-9])[:, None] * X, EVEN) == 0.0


@pytest.mark.parametrize("shape", [(66, 1000, 66), (16, 997, 40), (3, 20, 5), (90, 700, 400), (1, 5000, 60)])
def test_products_in_parts_are_the_whole(rng, shape):
    a, b = rng.normal(size=shape[:2]), rng.normal(size=shape[1:])
    np.testing.assert_allclose(bundles.product(a, b), a @ b, atol=1e-11)
    turned = np.ascontiguousarray(a.T).T
    np.testing.assert_allclose(bundles.product(turned, b), a @ b, atol=1e-11)


def test_other_weights_give_what_a_bundle_of_them_does(rng):
    curves, weights = rng.normal(size=(30, 21)) + 5.0 * rng.normal(size=(30, 1)), rng.random(30)
    over = rng.dirichlet(np.ones(21))
    bundle, cases = IceCurves(curves, over, weights), rng.random((4, 30))
    change, differ = bundle.resampled(cases)
    mean = np.average(curves, axis=0, weights=weights)
    for case, moved, apart in zip(cases, change, differ):
        np.testing.assert_allclose(moved, np.average(curves, axis=0, weights=case) - mean, atol=1e-12)
        assert apart == pytest.approx(heterogeneity(curves[None], over, case)[0], rel=1e-8)


def test_leading_direction_is_the_first_singular_vector(rng):
    rows = rng.normal(size=(50, 6)) * np.array([5.0, 2.0, 1.0, 1.0, 1.0, 1.0])
    expected = np.linalg.svd(rows)[2][0]
    found = leading_direction(rows)
    assert abs(found @ expected) == pytest.approx(1.0, abs=1e-9)


def test_columns_are_ranked_by_what_they_explain(rng):
    sign = rng.choice([-1.0, 1.0], 400)
    values = {
        "sign": sign,
        "noise": rng.normal(size=400),
        "half": np.where(rng.random(400) < 0.7, sign, -sign),
    }
    groups = RowGroups(values)
    found = explaining_columns(IceCurves(sign[:, None] * X, EVEN), groups, values)
    assert [name for name, _ in found] == ["sign", "half", "noise"]
    assert found[0][1] == pytest.approx(1.0)
    assert found[2][1] < 0.05
    assert explaining_columns(IceCurves(np.ones((400, 21)), EVEN), groups, values) == []
    assert explaining_columns(IceCurves(sign[:, None] * X, EVEN), groups, ["half"]) == [found[1]]


@pytest.mark.parametrize("held", [0, 10**9])
def test_explained_shares_are_those_of_an_analysis_of_variance(rng, held, monkeypatch):
    monkeypatch.setattr(bundles, "HELD_BYTES", held)
    values = {"few": rng.integers(0, 3, 200), "one": np.ones(200), "many": rng.normal(size=200)}
    values |= {"lots": rng.integers(0, 60, 200), "each": np.arange(200.0).astype(str).astype(object)}
    weights = rng.random(200)
    curves = rng.normal(size=(200, 21)) + np.sin(X) * values["few"][:, None]
    bundle, groups = IceCurves(curves, EVEN, weights), RowGroups(values, weights)
    found = dict(explaining_columns(bundle, groups, values))
    assert found == dict(explaining_columns(bundle, groups, values))
    assert set(found) == {"few", "many", "lots"}  # one group, or one for every row, tells nothing
    shape = (curves - curves.mean(axis=1, keepdims=True)) / np.sqrt(21)
    own = weights / weights.sum()
    total = (own[:, None] * np.square(shape - own @ shape)).sum()
    for name in found:
        codes = group_codes(values[name], weights)
        within = 0.0
        for group in np.unique(codes):
            inside = codes == group
            mean = np.average(shape[inside], axis=0, weights=own[inside])
            within += (own[inside, None] * np.square(shape[inside] - mean)).sum()
        rows = weights.sum() ** 2 / np.square(weights).sum()
        share = 1.0 - within / total * (rows - 1) / (rows - codes.max() - 1)
        assert found[name] == pytest.approx(max(0.0, share))


def test_groups_keep_missing_values_apart():
    codes = group_codes(np.array([1.0, np.nan, 2.0, 1.0, np.nan]))
    assert codes.tolist() == [0, 2, 1, 0, 2]
    levels = group_codes(np.array(["a", None, "b", "a"], dtype=object))
    assert levels.tolist() == [0, 2, 1, 0]
    assert len(np.unique(group_codes(np.arange(100.0)))) == 8


def test_point_weights_of_an_ale_halve_its_bins(rng):
    ex = Explainer(lambda r: r[:, 0], rng.normal(size=(40, 2)))
    effect = ex.ale(0, bins=4)
    np.testing.assert_allclose(point_weights(effect) * 40, [5, 10, 10, 10, 5])
    assert point_weights(ex.partial_dependence(0)).sum() == pytest.approx(1.0)


def test_opposing_counts_weights_as_copies():
    slopes, copies = np.array([1.0, -2.0, 3.0, -0.5]), np.array([3, 1, 2, 5])
    curves = slopes[:, None] * X
    assert opposing(curves, EVEN, copies.astype(float)) == opposing(np.repeat(curves, copies, axis=0), EVEN)
