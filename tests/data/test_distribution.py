"""Where the data is: quantiles, histograms and joint counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icefield.data.columns import column_of_array, object_array
from icefield.data.distribution import BINS, RUG, marginal_of, weighted_quantiles
from icefield.data.frame import table_of
from joints import joint_of_columns


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def marginal(values, weights=None):
    column = values if hasattr(values, "kind") else column_of_array("x", np.asarray(values))
    return marginal_of("x", column, None if weights is None else np.asarray(weights, float), rng())


rows = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=1, max_size=15).filter(
    lambda pairs: any(w for _, w in pairs)
)
shares = st.lists(st.integers(0, 100), min_size=1, max_size=5)


@given(rows, shares)
@settings(max_examples=300, deadline=None)
def test_weighted_quantiles_equal_those_of_duplicated_rows(pairs, percents):
    values = np.array([v for v, _ in pairs])
    counts = np.array([w for _, w in pairs])
    asked = np.array(percents) / 100
    repeated = np.sort(np.repeat(values, counts))
    # The definition in exact arithmetic: the smallest value with at least p of the rows at or below it.
    expected = [repeated[max(int(-(-Fraction(p, 100) * len(repeated) // 1)) - 1, 0)] for p in percents]
    assert weighted_quantiles(repeated, asked, None).tolist() == expected
    assert weighted_quantiles(values, asked, counts.astype(float)).tolist() == expected
    # Only the proportions of weights matter, however small or large they are.
    for scale in (1e-12, 1e-300, 0.1, 1 / 3, 1e12):
        assert weighted_quantiles(values, asked, counts * scale).tolist() == expected


def test_quantiles_of_times_and_extremes():
    days = np.array(["2020-01-03", "2020-01-01", "2020-01-02"], dtype="datetime64[D]")
    assert weighted_quantiles(days, np.array([0.0, 0.5, 1.0]), None).tolist() == np.sort(days).tolist()
    tiny = np.array([1.0, 1e-15])
    assert weighted_quantiles(np.array([1.0, 2.0]), np.array([1.0]), tiny).tolist() == [2.0]


@pytest.mark.parametrize(
    "values",
    [
        np.array([3.0]), np.full(9, 1e300), np.full(9, -0.0), np.array([1e308, -1e308, 0.0]),
        np.array([5e-324, 0.0]), np.arange(1000.0), np.array([2**60, 2**60 + 5]), np.array([2**60] * 3),
        np.array([0, 255], np.uint8), np.array([2**64 - 1, 0], np.uint64), np.arange(5), np.arange(0, 4000, 7),
        np.array(["2020-01-01"] * 3, "datetime64[ns]"), np.array(["2020-01-01", "2020-01-09"], "datetime64[D]"),
        np.array(["1700-01-01", "2250-01-01"], "datetime64[ns]"), np.array([1, 10**9], "timedelta64[s]"),
        np.array([1.0, np.inf, -np.inf, 2.0]), np.array([1.5, 2.5], np.float16),
    ],
    ids=lambda v: f"{v.dtype}-{v[:2]}",
)  # fmt: skip
def test_every_known_value_is_in_one_bin(values):
    found = marginal(values)
    finite = values[np.isfinite(values)]
    assert found.counts.sum() == len(finite)
    assert len(found.edges) == len(found.counts) + 1
    assert (found.edges[1:] > found.edges[:-1]).all()
    assert len(found.counts) <= BINS
    assert found.edges[0] <= finite.min()
    assert found.edges[-1] >= finite.max()
    assert found.deciles[0] == finite.min()
    assert found.deciles[-1] == finite.max()
    assert len(finite) > RUG or np.array_equal(found.rug, np.sort(finite))


def test_counts_are_sums_of_weights_and_missing_is_counted_apart():
    values, weights = np.array([1.0, 1.0, np.nan, 9.0]), [1.0, 2.0, 4.0, 0.5]
    found = marginal(values, weights)
    assert found.total == 7.5
    assert found.missing == 4.0
    assert found.counts[0] == 3.0
    assert found.counts[-1] == 0.5
    levels = marginal(object_array(["b", "a", None, "b"]), weights)
    assert levels.levels.tolist() == ["a", "b"]
    assert levels.counts.tolist() == [2.0, 1.5]
    assert levels.missing == 4.0


def test_nothing_known_and_nothing_weighted():
    assert marginal(np.array([np.nan, np.nan])).counts.size == 0
    assert marginal(np.array([np.inf])).counts.size == 0
    assert marginal(np.array([1.0, 2.0]), [0.0, 0.0]).counts.size == 0
    empty = table_of(pd.DataFrame({"x": pd.Series([None], dtype="category")})).column("x")
    assert marginal(empty).counts.size == 0


def test_the_rug_is_a_seeded_sample():
    values = np.arange(5_000.0)
    assert len(marginal(values).rug) == RUG
    assert np.array_equal(marginal(values).rug, marginal(values).rug)


def test_joint_counts_agree_with_the_marginals():
    generator = rng()
    x, y = generator.normal(size=3_000), generator.integers(0, 4, 3_000)
    columns = column_of_array("x", x), column_of_array("y", y)
    weights = generator.uniform(size=3_000)
    joint = joint_of_columns(("x", "y"), columns, weights, rng())
    assert np.allclose(joint.counts.sum(axis=1), marginal(x, weights).counts, rtol=1e-12, atol=1e-12)
    assert np.allclose(joint.counts.sum(axis=0), marginal(y, weights).counts, rtol=1e-12, atol=1e-12)
    assert len(joint.sample[0]) == len(joint.sample[1]) == 5 * RUG
    pairs = set(zip(x.tolist(), y.tolist()))
    assert all(pair in pairs for pair in zip(joint.sample[0].tolist(), joint.sample[1].tolist()))


def test_joints_with_missing_values_and_categories():
    x = column_of_array("x", np.array([1.0, np.nan, 3.0, np.inf]))
    s = column_of_array("s", object_array(["a", "b", None, "a"]))
    joint = joint_of_columns(("x", "s"), (x, s), None, rng())
    assert joint.counts.sum() == 1.0
    assert joint.ordered == (True, False)
    assert joint.counts.shape[1] == 2
    nothing = column_of_array("n", np.array([np.nan] * 4))
    assert joint_of_columns(("n", "s"), (nothing, s), None, rng()).counts.sum() == 0.0
