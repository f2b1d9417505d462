"""Importance against closed forms; permutation against its expectation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from icefield import Explainer, Grid
from icefield.statistics.importance import individual_importance


def by_feature(table, column):
    return dict(zip(table["feature"].tolist(), table[column].tolist()))


def test_is_the_standard_deviation_over_the_grid_with_k_minus_one(rng):
    X = rng.normal(size=(80, 2))
    ex = Explainer(lambda r: np.sin(r[:, 0]) + 2 * r[:, 1], X)
    found = by_feature(ex.importance(measure="curve_sd"), "importance")
    for feature in (0, 1):
        curve = ex.partial_dependence(feature, grid=Grid()).average[0]
        expected = np.sqrt(((curve - curve.mean()) ** 2).sum() / (len(curve) - 1))
        assert found[feature] == pytest.approx(expected)


def test_greenwells_closed_form_for_a_linear_model_on_uniform_data(rng):
    # Greenwell et al. (2018), section 3: for uniform x in [0, 1] a slope b has importance |b| / sqrt(12).
    X = rng.uniform(0, 1, size=(400, 3))
    ex = Explainer(lambda r: 10 * r[:, 0] - 5 * r[:, 1] + 0 * r[:, 2], X)
    found = by_feature(ex.importance(grid=Grid(points=200, trim=(0, 1))), "curve_sd")
    assert found[0] == pytest.approx(10 / np.sqrt(12), rel=0.02)
    assert found[1] == pytest.approx(5 / np.sqrt(12), rel=0.02)
    assert found[2] == pytest.approx(0.0, abs=1e-12)


def test_levels_have_a_quarter_of_their_range(rng):
    frame = pd.DataFrame(
        {"k": rng.choice(list("abc"), 60), "flag": rng.random(60) < 0.5, "x": rng.normal(size=60)}
    )
    model = lambda f: (f["k"].map({"a": 0.0, "b": 8.0, "c": 3.0}) + 2 * f["flag"] + f["x"]).to_numpy(float)  # noqa: E731
    found = by_feature(Explainer(model, frame).importance(), "curve_sd")
    assert found["k"] == pytest.approx(2.0)
    assert found["flag"] == pytest.approx(0.5)


def test_weighted_is_the_standard_deviation_over_the_data(rng):
    X = np.column_stack([rng.integers(0, 5, 300), rng.normal(size=300)]).astype(float)
    frame = pd.DataFrame({"k": rng.choice(list("ab"), 300, p=[0.9, 0.1]), "x": rng.normal(size=300)})
    found = by_feature(Explainer(lambda r: r[:, 0] ** 2, X).importance(weighted=True), "curve_sd")
    assert found[0] == pytest.approx(np.std(X[:, 0] ** 2))
    model = lambda f: (f["k"] == "b").to_numpy(float)  # noqa: E731
    levels = by_feature(Explainer(model, frame).importance(weighted=True), "curve_sd")
    assert levels["k"] == pytest.approx(np.std(frame["k"] == "b"))


def test_flat_average_with_strong_curves_is_not_called_unimportant(rng):
    X = np.column_stack([rng.normal(size=200), np.tile([-1.0, 1.0], 100), rng.normal(size=200)])
    ex = Explainer(lambda r: 3 * r[:, 0] * r[:, 1] + 0.1 * r[:, 2], X)
    table = ex.importance()
    spread, individual = by_feature(table, "curve_sd"), by_feature(table, "individual")
    grid = ex.partial_dependence(0, grid=Grid()).grid[0]
    assert spread[0] == pytest.approx(0.0, abs=1e-12)
    # What features are ranked by counts the curves: a flat average of strong curves comes first, not last.
    assert by_feature(table, "importance")[0] > 0.9
    assert table["feature"].tolist()[-1] == 2
    assert individual[0] == pytest.approx(3 * grid.std(ddof=1))
    assert "curves differ" in by_feature(table, "shape")[0]


def test_sorted_with_direction_and_shape(rng):
    X = rng.uniform(-1, 1, size=(200, 4))
    table = Explainer(lambda r: r[:, 0] - 3 * r[:, 1] + 2 * r[:, 2] ** 2, X).importance()
    assert table["feature"].tolist() == [1, 0, 2, 3] or table["feature"].tolist() == [1, 2, 0, 3]
    assert (np.diff(table["importance"]) <= 0).all()
    assert by_feature(table, "direction")[1] == "decreasing"
    assert by_feature(table, "shape") == {
        1: "linear, decreasing", 0: "linear, increasing", 2: "U-shaped", 3: "flat",
    }  # fmt: skip


def test_missing_point_takes_no_part(rng):
    X = rng.normal(size=(100, 2))
    X[:20, 0] = np.nan
    ex = Explainer(lambda r: np.where(np.isnan(r[:, 0]), 100.0, r[:, 0]) + r[:, 1], X)
    curve = ex.partial_dependence(0, grid=Grid()).average[0]
    assert by_feature(ex.importance(), "curve_sd")[0] == pytest.approx(curve[:-1].std(ddof=1))


def test_a_weight_of_two_is_a_duplicated_row(rng):
    X, weights = rng.normal(size=(40, 2)), np.arange(40) % 3
    model = lambda r: np.sin(r[:, 0]) * r[:, 1] + r[:, 1]  # noqa: E731
    one = Explainer(model, X, weights=weights).importance()
    two = Explainer(model, np.repeat(X, weights, axis=0)).importance()
    for column in ("importance", "individual", "strength", "heterogeneity"):
        for feature, number in by_feature(one, column).items():
            assert number == pytest.approx(by_feature(two, column)[feature])


@pytest.mark.parametrize("n_rows", [200, 1200, 3000])
def test_weighted_and_duplicated_rows_agree_in_individual_and_heterogeneity(n_rows, rng):
    """Exactly where all curves are kept (200 rows) and where a sample is drawn from rows and their duplicates."""
    X, weights = rng.normal(size=(n_rows, 3)), rng.integers(0, 4, n_rows)
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, np.sin(X[:, 0]) * X[:, 1])
    one = Explainer(model, X, weights=weights).importance(grid=20)
    two = Explainer(model, np.repeat(X, weights, axis=0)).importance(grid=20)
    for column in ("importance", "individual", "strength", "heterogeneity"):
        for feature, number in by_feature(one, column).items():
            # 200 rows of weight are kept whole, 300 of their duplicates are drawn for pictures.
            close = 0.1 if n_rows == 200 and column == "individual" else 1e-9
            assert number == pytest.approx(by_feature(two, column)[feature], rel=close, abs=1e-12), column


def test_curves_are_kept_in_proportion_to_the_weights(rng):
    """Half of the rows move, and nearly all of the weight is on the other half."""
    X = rng.normal(size=(2000, 2))
    X[:, 1] = np.arange(2000) % 2
    weights = np.where(X[:, 1] == 1, 1.0, 99.0)
    ex = Explainer(
        GradientBoostingRegressor(n_estimators=60).fit(X, 9 * X[:, 0] * X[:, 1]), X, weights=weights
    )
    table = ex.importance([0])
    rows = table.effects[0].rows
    assert len(rows) == 300
    assert 0 <= np.count_nonzero(X[rows, 1] == 1) <= 12
    exact = individual_importance(ex.ice(0, grid=Grid()), row_weights=weights)[0]
    assert table["individual"][0] == pytest.approx(exact, rel=0.5)


def test_the_ranking_is_the_summarys_and_the_classical_one_has_a_name(rng):
    X = rng.normal(size=(300, 3))
    ex = Explainer(lambda r: 2 * r[:, 0] * np.sign(r[:, 1]) + 0.5 * r[:, 2], X)
    assert ex.importance()["feature"].tolist() == ex.summary()["feature"].tolist()
    np.testing.assert_array_equal(ex.importance()["importance"], ex.summary()["movement"])
    classical = ex.importance(measure="curve_sd")
    assert classical["feature"].tolist()[0] == 2
    assert (np.diff(classical["importance"]) <= 0).all()
    assert any("They differ most for" in note for note in classical.notes)


def test_flat_is_not_all_that_is_said_beside_a_large_spread(rng):
    X = np.column_stack([np.append(rng.uniform(0, 1, 1995), [5.0, 6, 7, 8, 9]), rng.normal(size=2000)])
    ex = Explainer(lambda r: np.where(r[:, 0] > 2, 4.0, 0.0) * 0.2 + 3 * r[:, 1], X)
    table = ex.importance(grid=Grid(trim=(0, 1)))
    assert by_feature(table, "curve_sd")[0] > 0.05 * by_feature(table, "curve_sd")[1]
    assert by_feature(table, "shape")[0] == "flat where the data is"


def test_outputs_have_rows_of_their_own(rng):
    X = rng.normal(size=(60, 2))
    table = Explainer(lambda r: np.column_stack([r[:, 0], 5 * r[:, 1]]), X).importance()
    # Either feature is all that moves its output, whatever the outputs' own units are.
    assert sorted(table["feature"].tolist()) == [0, 0, 1, 1]
    assert np.round(by_feature(table, "importance")[1], 2) == 1.0
    assert table["output"].tolist() == [0, 1, 0, 1]
    assert "output" in repr(table)


def test_permutation_is_the_increase_of_the_squared_error(rng):
    X = rng.normal(size=(1500, 3))
    y = 2 * X[:, 0] - X[:, 1] + rng.normal(0, 0.5, 1500)
    table = Explainer(lambda r: 2 * r[:, 0] - r[:, 1], X, y=y).importance(repeats=20)
    found = by_feature(table, "permutation")
    # Shuffling an independent feature adds 2 b^2 Var(x) to the squared error, in expectation.
    assert found[0] == pytest.approx(2 * 4 * X[:, 0].var(), rel=0.1)
    assert found[1] == pytest.approx(2 * X[:, 1].var(), rel=0.1)
    assert found[2] == 0.0
    assert (table["permutation_std"] >= 0).all()


def test_permutation_with_weights_draws_donors_by_weight(rng):
    X = np.column_stack([np.arange(6.0), rng.normal(size=6)])
    weights = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    table = Explainer(lambda r: r[:, 0], X, y=X[:, 0], weights=weights).importance(repeats=400)
    # Only rows 0 and 1 count, as rows and as donors: half of the draws are off by one.
    assert by_feature(table, "permutation")[0] == pytest.approx(0.5, abs=0.1)


def test_permutation_of_a_classifier_compares_probabilities(rng):
    from sklearn.linear_model import LogisticRegression

    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=300) > 0, "yes", "no")
    model = LogisticRegression().fit(X, y)
    table = Explainer(model, X, y=y).importance()
    assert by_feature(table, "permutation")[0] > 0.1
    assert abs(by_feature(table, "permutation")[1]) < 0.01
    raw = Explainer(model, X, y=y, scale="raw").importance()
    assert "permutation" not in raw.columns
    assert any("no permutation importance" in note for note in raw.notes)


def test_large_data_is_sampled_and_says_so(rng):
    ex = Explainer(lambda r: r[:, 0], rng.normal(size=(1500, 2)))
    assert "1000 of 1500 rows" in ex.importance().notes[1]
    assert not any("of 1500 rows" in note for note in ex.importance(rows=1500).notes)


def test_trees_and_brute_agree(rng):
    from sklearn.ensemble import RandomForestRegressor

    X = rng.normal(size=(120, 3))
    model = RandomForestRegressor(n_estimators=8, random_state=0).fit(X, X[:, 0] * X[:, 1])
    brute, trees = (Explainer(model, X, engine=engine).importance() for engine in ("brute", "trees"))
    for column in ("individual", "curve_sd"):
        np.testing.assert_allclose(brute[column], trees[column], atol=1e-12)
    # These are read at the model's own thresholds too, where they are known.
    for column in ("importance", "heterogeneity"):
        np.testing.assert_allclose(brute[column], trees[column], rtol=0.05)


def test_wrong_arguments(rng, complains):
    ex = Explainer(lambda r: r[:, 0], rng.normal(size=(20, 2)))
    with pytest.raises(ValueError, match="no y was given"):
        ex.importance(permutation=True)
    with complains("features", "at least one"):
        ex.importance([])
    with complains("repeats", "at least 1"):
        Explainer(lambda r: r[:, 0], rng.normal(size=(20, 2)), y=np.zeros(20)).importance(repeats=0)
