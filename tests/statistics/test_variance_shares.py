"""Shares of the predictions' variance, against what is known of the function."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from icefield import Explainer
from icefield.statistics.decision import decisions
from icefield.statistics.variance_shares import at_own_values, variance_shares


def shares_of(function, X, **options):
    study = Explainer(function, X, **options).study
    return variance_shares(study, decisions(study))


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).choice([-1.0, 1.0], size=(600, 4))


def test_a_sum_is_all_single_features(X):
    found = shares_of(lambda r: r @ np.array([1.0, 2.0, 0.5, 0.0]), X)
    assert found.alone[0] == pytest.approx(1.0)
    assert found.pairs[0] == found.rest[0] == pytest.approx(0.0, abs=1e-9)


def test_shares_are_those_of_the_analysis_of_variance(X):
    # Signs are independent and of variance one, and so are their products.
    found = shares_of(lambda r: 2 * r[:, 0] + 1.5 * r[:, 1] * r[:, 2] + r[:, 0] * r[:, 1] * r[:, 3], X)
    assert found.alone[0] == pytest.approx(4 / 7.25, abs=0.05)
    assert found.pairs[0] == pytest.approx(2.25 / 7.25, abs=0.05)
    assert found.rest[0] == pytest.approx(1 / 7.25, abs=0.05)
    assert found.alone + found.pairs + found.rest == pytest.approx(1.0)


def test_trees_are_evaluated_at_many_rows_and_agree_with_brute_force():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 3))
    model = HistGradientBoostingRegressor(max_iter=30, random_state=0).fit(X, X[:, 0] + X[:, 1] * X[:, 2])
    exact = shares_of(model, X)
    assert exact.pair_rows == 900
    asked = shares_of(model.predict, X)
    assert asked.pair_rows == 300
    assert exact.alone[0] == pytest.approx(asked.alone[0], abs=0.02)
    assert exact.pairs[0] == pytest.approx(asked.pairs[0], abs=0.06)
    assert exact.rest[0] < 0.2


def test_features_that_go_together_stay_between_nothing_and_all():
    rng = np.random.default_rng(2)
    one = rng.normal(size=500)
    X = np.column_stack([one, one + 0.01 * rng.normal(size=500), rng.normal(size=500)])
    found = shares_of(lambda r: r[:, 0] + r[:, 1], X)
    assert found.alone[0] == pytest.approx(1.0, abs=1e-3)  # a sum is a sum, whatever goes together
    found = shares_of(lambda r: r[:, 0] * r[:, 1], X)
    for part in (found.alone, found.pairs, found.rest):
        assert 0.0 <= part[0] <= 1.0
    assert found.alone + found.pairs + found.rest == pytest.approx(1.0)


def test_several_outputs_have_shares_of_their_own(X):
    found = shares_of(lambda r: np.column_stack([r[:, 0] + r[:, 1], r[:, 0] * r[:, 1]]), X)
    assert found.alone[0] == pytest.approx(1.0)
    assert found.pairs[1] > 0.9


def test_predictions_that_do_not_vary_have_none(X):
    assert shares_of(lambda r: np.zeros(len(r)), X) is None


def test_curves_at_own_values_know_levels_and_missing():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y", "x", None] * 20), "b": np.arange(80.0)})
    study = Explainer(lambda r: np.where(r["a"].isna(), 9.0, np.where(r["a"] == "x", 1.0, 3.0)), frame).study
    effect = decisions(study)["a"].effect
    found = at_own_values(effect, study.sample.table.column("a"))[0]
    assert (found[:4] - found[0]).tolist() == [0.0, 2.0, 0.0, 8.0]


def test_rows_that_come_in_turns_are_not_taken_at_equal_steps(monkeypatch):
    from icefield.statistics import interactions
    from icefield.statistics import variance_shares as module

    # Every fourth row alike: equal steps would see one hour of the day only.
    monkeypatch.setattr(interactions, "SUMMED_ROWS", 300)
    monkeypatch.setattr(module, "ROWS", 300)
    hour = np.tile(np.arange(4.0), 300)
    X = np.column_stack([hour, np.random.default_rng(0).choice([-1.0, 1.0], 1200)])
    model = HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(X, 3 * hour + hour * X[:, 1])
    for y in (None, 3 * hour):
        found = shares_of(model, X, y=y)
        # Of 3h + hs, the part h and s explain alone is 3h + 1.5s; the variance of h is 1.25.
        assert found.alone[0] == pytest.approx((9 * 1.25 + 2.25) / (9 * 1.25 + 3.5), abs=0.03)
        assert found.pairs[0] == pytest.approx(1.25 / (9 * 1.25 + 3.5), abs=0.03)
