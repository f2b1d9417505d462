"""A weight of 2 is a duplicated row in everything that is said, not only in averages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from icefield import Explainer

CLOSE = {"rtol": 1e-8, "atol": 1e-10}


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 4))
    X[:, 3] = np.round(X[:, 3])
    # Rows with a negative x1 count little: what is true of all alike is not true of the weighted rows.
    return X, np.where(X[:, 1] < 0, rng.integers(0, 2, 150), rng.integers(2, 5, 150))


def model(rows: Any) -> Any:
    return rows[:, 0] * np.sign(rows[:, 1]) + 0.4 * rows[:, 0] * (rows[:, 3] > 0) + np.exp(0.5 * rows[:, 2])


@pytest.fixture(scope="module")
def both(data: Any) -> tuple[Explainer, Explainer]:
    X, counts = data
    return Explainer(model, X, weights=counts), Explainer(model, np.repeat(X, counts, axis=0))


def test_summary_says_the_same(both):
    weighted, repeated = (ex.summary() for ex in both)
    assert weighted["feature"].tolist() == repeated["feature"].tolist()
    for name in ("movement", "strength", "heterogeneity", "interaction"):
        np.testing.assert_allclose(weighted[name], repeated[name], **CLOSE)
    for name, one in weighted.readings.items():
        other = repeated.readings[name]
        assert (one.shape, one.direction, one.hidden, one.heterogeneous) == (
            other.shape, other.direction, other.hidden, other.heterogeneous
        )  # fmt: skip
        np.testing.assert_allclose(one.opposing, other.opposing, **CLOSE)
        np.testing.assert_allclose(one.flat_limit, other.flat_limit, **CLOSE)
        assert [p for p, _ in one.partners] == [p for p, _ in other.partners]
        np.testing.assert_allclose([s for _, s in one.partners], [s for _, s in other.partners], **CLOSE)


def test_weights_matter_here(data, both):
    plain = Explainer(model, data[0]).summary().readings[0]
    weighted = both[0].summary().readings[0]
    assert abs(plain.opposing - weighted.opposing) > 0.1
    assert abs(plain.heterogeneity - weighted.heterogeneity) > 0.05


@pytest.mark.parametrize("method", ["rules", "clusters"])
def test_regions_are_the_same(both, method):
    weighted, repeated = (
        ex.regions(0, method=method, clusters=2 if method == "clusters" else None) for ex in both
    )
    assert weighted["rule"].tolist() == repeated["rule"].tolist()
    np.testing.assert_allclose(weighted["share"], repeated["share"], **CLOSE)
    np.testing.assert_allclose(weighted["heterogeneity"], repeated["heterogeneity"], **CLOSE)


def test_standard_errors_count_rows_the_same(both):
    weighted, repeated = (ex.summary().effects[0] for ex in both)
    np.testing.assert_allclose(weighted.se, repeated.se, **CLOSE)
    np.testing.assert_allclose(weighted.std, repeated.std, **CLOSE)


def tied(rng: np.random.Generator, rows: int) -> np.ndarray:
    """x1 follows x0 in the first half and goes its own way in the second."""
    x = rng.normal(size=rows)
    other = np.where(np.arange(rows) < rows // 2, x + 0.1 * rng.normal(size=rows), rng.normal(size=rows))
    return np.column_stack([x, other])


@pytest.mark.parametrize("rows", [600, 6_000])
def test_support_is_that_of_the_weighted_rows(rows):
    X = tied(np.random.default_rng(1), rows)
    first = np.arange(rows) < rows // 2
    found = {}
    for name, weights in (
        ("tied", np.where(first, 1.0, 1e-6)),
        ("free", np.where(first, 1e-6, 1.0)),
        ("all", None),
    ):
        found[name] = Explainer(lambda r: r[:, 0] + r[:, 1], X, weights=weights).partial_dependence(
            0, support=True
        )
    assert found["tied"].support.outside > 0.4
    assert found["free"].support.outside < 0.05
    assert found["tied"].support.correlation > found["all"].support.correlation + 0.05


def test_many_draws_of_few_rows_are_no_more_data():
    """Chance associations must not grow because rows are drawn by weight."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 6))
    weights = rng.exponential(size=150)
    support = Explainer(lambda r: r[:, 0], X, weights=weights).partial_dependence(0, support=True).support
    assert support.outside < 0.15


def test_the_sampling_limit_knows_uneven_weights_and_clusters():
    """A flat average that a few rows decide is not sure to be flat."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2_000, 2))
    people = np.repeat(np.arange(50), 40)
    X[:, 1] = rng.normal(size=50)[people]

    def limit(**given: Any) -> float:
        ex = Explainer(lambda r: r[:, 0] * r[:, 1], X, **given)
        return ex.ice(0, grid=9).reading.flat_limit

    heavy = np.where(np.arange(2_000) % 50 == 0, 100.5, 0.5)
    assert limit(weights=heavy) > 2 * limit()
    assert limit(cluster=people) > 3 * limit()
