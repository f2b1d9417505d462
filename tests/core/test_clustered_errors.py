"""Standard errors of clusters, weights and drawn rows, against the jackknife, closed forms and each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import icefield
from icefield import Explainer

RNG = np.random.default_rng(11)
PEOPLE = np.repeat(np.arange(40), 5)
X = RNG.normal(size=(200, 3)) + RNG.normal(size=(40, 3))[PEOPLE]
WEIGHTS = RNG.uniform(0.2, 3.0, 200)
GRID = [-1.0, 0.0, 2.0]


def wavy(rows: Any) -> Any:
    return np.sin(rows[:, 0]) * rows[:, 1] + rows[:, 2]


def outputs(rows: Any) -> Any:
    return np.column_stack([wavy(rows), rows[:, 1] ** 2])


def jackknifed(curves: np.ndarray, weights: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """From the averages without one cluster after another; curves are ``(rows, points)``."""
    found = []
    for cluster in np.unique(clusters):
        kept = np.where(clusters == cluster, 0.0, weights)
        found.append(kept @ curves / kept.sum())
    n, apart = len(found), np.stack(found) - np.mean(found, axis=0)
    return np.sqrt((n - 1) / n * np.square(apart).sum(axis=0))


def curves_of(model: Any = wavy) -> np.ndarray:
    return Explainer(model, X).ice(0, grid=GRID).individual[0]


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_clusters_err_as_the_jackknife_says(weights):
    effect = Explainer(wavy, X, weights=weights, cluster=PEOPLE).partial_dependence(0, grid=GRID)
    own = np.ones(200) if weights is None else weights
    np.testing.assert_allclose(effect.se[0], jackknifed(curves_of(), own, PEOPLE), rtol=0.03)
    alone = Explainer(wavy, X, weights=weights).partial_dependence(0, grid=GRID)
    assert (effect.se > 1.3 * alone.se).all()
    np.testing.assert_array_equal(effect.average, alone.average)
    np.testing.assert_array_equal(effect.std, alone.std)


def test_weights_err_as_the_jackknife_says():
    effect = Explainer(wavy, X, weights=WEIGHTS).partial_dependence(0, grid=GRID)
    np.testing.assert_allclose(effect.se[0], jackknifed(curves_of(), WEIGHTS, np.arange(200)), rtol=0.02)


def test_a_weight_of_two_errs_as_a_duplicated_row():
    counts = RNG.integers(0, 4, 200)
    weighted = Explainer(wavy, X, weights=counts).partial_dependence(0, grid=GRID)
    repeated = Explainer(wavy, np.repeat(X, counts, axis=0)).partial_dependence(0, grid=GRID)
    np.testing.assert_allclose(weighted.se, repeated.se, rtol=1e-12)


def test_a_weight_of_two_errs_as_a_duplicated_row_known_to_be_one():
    """Where rows are clusters of their own, a weight is how much the one observation counts."""
    counts = RNG.integers(1, 4, 200)
    weighted = Explainer(wavy, X, weights=counts, cluster=np.arange(200)).partial_dependence(0, grid=GRID)
    repeated = Explainer(
        wavy, np.repeat(X, counts, axis=0), cluster=np.repeat(np.arange(200), counts)
    ).partial_dependence(0, grid=GRID)
    np.testing.assert_allclose(weighted.se, repeated.se, rtol=1e-12)
    assert (weighted.se > Explainer(wavy, X, weights=counts).partial_dependence(0, grid=GRID).se).all()


def test_large_whole_weights_do_not_count_copies():
    """A survey's weights say how many others a row stands for; nobody has seen those."""
    large = RNG.integers(10_000, 90_000, 200)
    one, other = (
        Explainer(wavy, X, weights=w).partial_dependence(0, grid=GRID) for w in (large, large / 7.3)
    )
    np.testing.assert_allclose(one.se, other.se, rtol=1e-12)


def test_clusters_of_one_row_change_nothing():
    one = Explainer(outputs, X, cluster=np.arange(200)).partial_dependence(0, 1, grid=4, spread=True)
    other = Explainer(outputs, X).partial_dependence(0, 1, grid=4, spread=True)
    np.testing.assert_allclose(one.se, other.se, rtol=1e-12)


@pytest.mark.parametrize("memory", [256 * 2**20, 60_000])
def test_clusters_are_the_same_in_any_order_and_budget(memory):
    """With little memory, curves come in parts that cut clusters."""
    mixed = RNG.permutation(200)
    by = np.where(X[:, 1] > 0, "high", "low")
    one = Explainer(outputs, X, weights=WEIGHTS, cluster=PEOPLE, by=by).partial_dependence(0, grid=20)
    other = Explainer(
        outputs,
        X[mixed],
        weights=WEIGHTS[mixed],
        cluster=PEOPLE[mixed],
        by=by[mixed],
        memory=memory,
        row_by_row=True,
    ).partial_dependence(0, grid=20)
    np.testing.assert_allclose(one.se, other.se, rtol=1e-10)
    for label, group in one.groups.items():
        inside = by == label
        alone = Explainer(outputs, X[inside], weights=WEIGHTS[inside], cluster=PEOPLE[inside])
        expected = alone.partial_dependence(0, grid=one.grid[0])
        np.testing.assert_allclose(group.se, expected.se, rtol=1e-10)
        np.testing.assert_allclose(group.se, other.groups[label].se, rtol=1e-10)


def test_kept_curves_and_quantiles_come_as_asked():
    ex = Explainer(wavy, X, cluster=PEOPLE)
    effect = ex.ice(0, grid=GRID, rows=[3, 77], quantiles=[0.5])
    plain = Explainer(wavy, X).ice(0, grid=GRID, rows=[3, 77], quantiles=[0.5])
    np.testing.assert_array_equal(effect.individual, plain.individual)
    np.testing.assert_array_equal(effect.quantiles[0.5], plain.quantiles[0.5])
    assert effect.row_clusters.tolist() == PEOPLE[[3, 77]].tolist()


def test_a_centred_curve_errs_by_its_clusters_too(tmp_path):
    effect = Explainer(wavy, X, cluster=PEOPLE).ice(0, grid=GRID)
    expected = jackknifed(curves_of() - curves_of()[:, :1], np.ones(200), PEOPLE)
    np.testing.assert_allclose(effect.center().se[0], expected, rtol=0.03, atol=1e-12)
    effect.save(tmp_path / "kept")
    np.testing.assert_array_equal(icefield.Effect.load(tmp_path / "kept").center().se, effect.center().se)


@pytest.fixture(scope="module")
def fitted():
    from sklearn.ensemble import GradientBoostingClassifier

    y = (wavy(X) + RNG.normal(size=200) > 0).astype(int)
    return GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y)


@pytest.mark.parametrize("scale", ["response", "raw"])
@pytest.mark.parametrize("cluster", [None, PEOPLE])
@pytest.mark.parametrize("weights", [WEIGHTS, RNG.integers(0, 3, 200)])
def test_the_trees_err_as_brute_force_does(fitted, scale, cluster, weights):
    trees, brute = (
        Explainer(fitted, X, weights=weights, cluster=cluster, scale=scale, engine=engine, by=PEOPLE % 2)
        for engine in ("trees", "brute")
    )
    for asked in ({"grid": GRID}, {"grid": GRID, "quantiles": [0.5]}, {"grid": GRID, "rows": 50}):
        one, other = trees.partial_dependence(0, **asked), brute.partial_dependence(0, **asked)
        np.testing.assert_allclose(one.se, other.se, rtol=1e-7)
        for label in one.groups:
            np.testing.assert_allclose(one.groups[label].se, other.groups[label].se, rtol=1e-7)


# --- rows that were drawn ----------------------------------------------------------------------------


def test_rows_that_were_drawn_err_against_all_rows():
    ex = Explainer(wavy, X)
    drawn = ex.partial_dependence(0, grid=GRID, rows=150)
    given = ex.partial_dependence(0, grid=GRID, rows=icefield.validate.row_positions(150, 200, 0))
    np.testing.assert_array_equal(drawn.average, given.average)
    np.testing.assert_allclose(drawn.se, 0.5 * given.se, rtol=1e-12)
    kept = ex.partial_dependence(0, grid=GRID, rows=150, individual=True)
    np.testing.assert_allclose(
        kept.center().se[0],
        0.5 * (kept.individual[0] - kept.individual[0][:, :1]).std(axis=0, ddof=1) / np.sqrt(150),
        rtol=1e-10,
        atol=1e-15,
    )


def test_drawn_rows_are_draws_whatever_they_count_for():
    """What is drawn is a row with all its copies, and against all rows clusters do not err together."""
    counts = np.where(np.arange(200) < 20, 9, 1)
    drawn = Explainer(wavy, X, weights=counts, cluster=PEOPLE).partial_dependence(0, grid=GRID, rows=150)
    rows = icefield.validate.row_positions(150, 200, 0)
    one = Explainer(wavy, X[rows], weights=counts[rows] / 7.3).partial_dependence(0, grid=GRID)
    np.testing.assert_allclose(drawn.se, 0.5 * one.se, rtol=1e-12)


def test_all_rows_are_no_sample():
    ex = Explainer(wavy, X, cluster=PEOPLE)
    one, other = ex.partial_dependence(0, grid=GRID, rows=1000), ex.partial_dependence(0, grid=GRID)
    np.testing.assert_allclose(one.se, other.se, rtol=1e-12)
    assert (one.sampled_from, other.sampled_from) == (0, 0)


# --- precision ---------------------------------------------------------------------------------------


def test_precision_waits_for_rows_that_did_not_choose_the_ends():
    """The first rows make the largest of many noisy points look far above the smallest."""

    def noise(rows: Any) -> Any:
        return np.sin(1e4 * rows[:, 0] * (1 + rows[:, 1]))  # every point is another draw

    rows = np.random.default_rng(0).normal(size=(4_000, 2))
    ex = Explainer(noise, rows, row_by_row=True)
    effect = ex.partial_dependence(0, grid=np.linspace(-1, 1, 200), precision=0.25)
    assert effect.n_rows >= 1_600
    first = np.random.default_rng(0).permutation(4_000)[:200]
    lucky = Explainer(noise, rows).partial_dependence(0, grid=np.linspace(-1, 1, 200), rows=first)
    assert lucky.se.max() <= 0.25 * np.ptp(lucky.average)


def test_precision_that_needed_every_row_errs_by_clusters():
    ex = Explainer(wavy, X, cluster=PEOPLE, row_by_row=True)
    effect = ex.partial_dependence(0, grid=GRID, precision=1e-6)
    np.testing.assert_allclose(effect.se, ex.partial_dependence(0, grid=GRID).se, rtol=1e-10)


# --- what may be given -------------------------------------------------------------------------------


def test_clusters_by_name_and_by_value():
    frame = pd.DataFrame(X, columns=list("abc")).assign(person=[f"p{i}" for i in PEOPLE])

    def model(rows: Any) -> Any:
        return np.sin(rows["a"]) * rows["b"] + rows["c"]

    expected = Explainer(wavy, X, cluster=PEOPLE).partial_dependence(0, grid=GRID).se
    for given in (
        "person",
        frame["person"],
        PEOPLE * 1.5,
        list(frame["person"]),
        pd.Categorical(frame["person"]),
    ):
        effect = Explainer(model, frame, cluster=given).partial_dependence("a", grid=GRID)
        np.testing.assert_allclose(effect.se, expected, rtol=1e-12)


def test_rows_without_a_label_are_each_their_own():
    labels = PEOPLE.astype(float)
    labels[:10] = np.nan
    own = PEOPLE.copy()
    own[:10] = 100 + np.arange(10)
    one, other = (Explainer(wavy, X, cluster=c).partial_dependence(0, grid=GRID) for c in (labels, own))
    np.testing.assert_allclose(one.se, other.se, rtol=1e-12)
