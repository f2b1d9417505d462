"""Friedman's H against closed forms, its published example, and a plain transcription."""

from __future__ import annotations

from itertools import product

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from icefield import Explainer
from icefield.core.question import Answer, Moments
from icefield.statistics.interactions import interactions

CORNERS = np.array(list(product([-1.0, 1.0], repeat=3)))


def value(table, features, column="h"):
    names = [tuple(n) for n in table["features"].tolist()]
    return float(table[column][names.index(tuple(features))])


def plain_h_squared(f, X, features, weights):
    """H^2 of a pair, with every partial dependence computed by replacing columns one row at a time."""

    def own(columns):
        out = np.empty(len(X))
        for i, row in enumerate(X):
            moved = X.copy()
            moved[:, columns] = row[columns]
            out[i] = np.average(f(moved), weights=weights)
        return out - np.average(out, weights=weights)

    j, k = features
    joint = own([j, k])
    rest = joint - own([j]) - own([k])
    return np.average(rest**2, weights=weights) / np.average(joint**2, weights=weights)


def wiggly(rows):
    return np.sin(2 * rows[:, 0]) * rows[:, 1] + np.abs(rows[:, 2]) * (rows[:, 0] > 0.3) + rows[:, 1]


def test_pairs_follow_the_definition(rng):
    X, weights = rng.normal(size=(40, 3)), rng.integers(0, 4, 40).astype(float)
    table = Explainer(wiggly, X, weights=weights).interactions(rows=40)
    for pair in [(0, 1), (0, 2), (1, 2)]:
        assert value(table, pair, "h_squared") == pytest.approx(plain_h_squared(wiggly, X, pair, weights))


def test_additive_model_has_none(rng):
    X = rng.normal(size=(60, 4))
    table = Explainer(lambda r: 1e6 + np.exp(r[:, 0]) - r[:, 1] ** 2 + r[:, 2], X).interactions(triples=True)
    for column in ("h", "h_squared", "strength"):
        np.testing.assert_array_equal(table[column], 0.0)


def test_closed_forms_on_a_balanced_design():
    # On all corners of a cube main effects and interactions are orthogonal and of variance one each.
    table = Explainer(lambda r: r[:, 0] * r[:, 1] + 0 * r[:, 2], CORNERS).interactions()
    assert value(table, (0, 1), "h_squared") == pytest.approx(1.0)
    assert value(table, (0, 1), "strength") == pytest.approx(1.0)
    assert value(table, (0, 2)) == 0.0
    table = Explainer(lambda r: r[:, 0] + r[:, 1] + 3 * r[:, 0] * r[:, 1], CORNERS).interactions()
    assert value(table, (0, 1), "h_squared") == pytest.approx(9 / 11)
    assert value(table, (0, 1), "strength") == pytest.approx(3.0)
    # Overall: all of feature 0 but its main effect is interaction; 9 of 1 + 1 + 9.
    assert value(table, (0,), "h_squared") == pytest.approx(9 / 11)
    assert value(table, (2,)) == 0.0


def test_three_way_closed_form():
    def model(r):
        return r[:, 0] + 2 * r[:, 0] * r[:, 1] + 4 * r[:, 0] * r[:, 1] * r[:, 2]

    table = Explainer(model, CORNERS).interactions(triples=True)
    assert value(table, (0, 1, 2), "h_squared") == pytest.approx(16 / (1 + 4 + 16))
    assert value(table, (0, 1, 2), "strength") == pytest.approx(4.0)
    assert value(table, (0, 1), "strength") == pytest.approx(2.0)
    assert value(table, (0, 2)) == 0.0


def test_friedman_and_popescus_example(rng):
    """Section 9.1 of Friedman & Popescu (2008): three factors interact three ways, two others as a pair,
    and variables six to ten with nothing at all."""
    X = rng.uniform(0, 1, size=(80, 10))

    def target(r):
        return (
            9 * np.exp(-3 * (1 - r[:, :3]) ** 2).prod(axis=1)
            - 0.8 * np.exp(-2 * (r[:, 3] - r[:, 4]))
            + 2 * np.sin(np.pi * r[:, 5]) ** 2
            - 2.5 * (r[:, 6] - r[:, 7])
        )

    table = Explainer(target, X).interactions(triples=[(0, 1, 2), (0, 1, 3)])
    interacting = {(0, 1), (0, 2), (1, 2), (3, 4)}
    for pair in (tuple(p) for p in table.pairs()["features"].tolist()):
        if pair in interacting:
            assert value(table, pair) > 0.1, pair
        else:
            assert value(table, pair) == 0.0, pair
    assert value(table, (0, 1, 2)) > 0.05
    assert value(table, (0, 1, 3)) == 0.0
    for alone in range(5, 10):
        assert value(table, (alone,)) == 0.0


def test_a_weight_of_two_is_a_duplicated_row(rng):
    X, weights = rng.normal(size=(30, 3)), np.arange(30) % 3
    one = Explainer(wiggly, X, weights=weights).interactions(triples=True, rows=30)
    copied = np.repeat(X, weights, axis=0)
    two = Explainer(wiggly, copied).interactions(triples=True, rows=len(copied))
    for features in one["features"].tolist():
        assert value(one, features) == pytest.approx(value(two, features), abs=1e-9)


def test_each_output_has_its_own_row(rng):
    X = rng.normal(size=(40, 2))
    ex = Explainer(lambda r: np.column_stack([r[:, 0] * r[:, 1], r[:, 0] + r[:, 1]]), X)
    pairs = ex.interactions().pairs()
    assert pairs["output"].tolist() == [0, 1]
    assert pairs["h"][0] > 0.9
    assert pairs["h"][1] == 0.0


def test_no_joint_effect_is_no_interaction(rng):
    X = rng.normal(size=(30, 3))
    table = Explainer(lambda r: 0.1 + r[:, 2], X).interactions()
    assert value(table, (0, 1)) == 0.0
    assert not np.isnan(table["h"]).any()
    constant = Explainer(lambda r: np.full(len(r), 0.1), X).interactions()
    np.testing.assert_array_equal(constant["h"], 0.0)


def test_ties_categories_and_missing_values(rng):
    frame = pd.DataFrame({
        "a": rng.choice(["x", "y", None], 50),
        "b": rng.choice([1.0, 2.0, np.nan], 50),
        "c": rng.random(50) < 0.5,
    })  # fmt: skip

    def model(f):
        return (f["a"] == "x").to_numpy(float) * f["b"].fillna(-3).to_numpy(float) + f["c"].to_numpy(float)

    table = Explainer(model, frame).interactions()
    assert value(table, ("a", "b")) > 0.1
    assert value(table, ("a", "c")) == 0.0
    assert value(table, ("c",)) == 0.0


def test_one_hot_group_is_one_feature(rng):
    hot = np.eye(3)[rng.integers(0, 3, 60)]
    frame = pd.DataFrame(
        np.column_stack([hot, rng.normal(size=(60, 2))]), columns=["k_a", "k_b", "k_c", "x", "z"]
    )
    model = lambda f: ((f["k_b"] + 2 * f["k_c"]) * f["x"] + f["z"]).to_numpy()  # noqa: E731
    table = Explainer(model, frame).interactions([{"k": ["k_a", "k_b", "k_c"]}, "x", "z"])
    assert value(table, ("k", "x")) > 0.3
    assert value(table, ("k", "z")) == 0.0
    assert value(table, ("z",)) == 0.0


def test_says_which_rows_and_what_would_give_all(rng):
    ex = Explainer(wiggly, rng.normal(size=(400, 3)))
    table = ex.interactions()
    assert "300 of 400 rows, sampled with the seed" in table.notes[0]
    assert "read as trees" in table.notes[0]
    assert "rows=400" in table.notes[0]
    np.testing.assert_array_equal(ex.interactions()["h"], table["h"])


def test_an_engine_that_knows_all_rows_is_asked_once(rng):
    """The seam for engines: own_averages(sets of columns, sample, resources)."""
    X = rng.normal(size=(350, 3))
    ex, sampled = Explainer(wiggly, X), Explainer(wiggly, X)
    by_brute = sampled.interactions(rows=350)
    asked = []

    class Knowing:
        name, additive, costs_predictions, needs_rows = "knowing", True, False, True

        def own_averages(self, sets, sample, resources):
            asked.append(list(sets))
            for columns in sets:
                out = []
                for row in sample.table.native:
                    moved = X.copy()
                    moved[:, list(columns)] = row[list(columns)]
                    out.append(wiggly(moved).mean())
                yield np.array([out])

        def answer(self, questions, sample, resources):
            (question,) = questions  # in which nothing moves: the predictions themselves
            assert question.axes == ()
            values = wiggly(sample.table.native)
            return [Answer(Moments.of(values[:, None], None, True), curves=values[None, question.rows])]

    object.__setattr__(ex.study.plan, "engine", Knowing())
    table = interactions(ex.study)
    assert len(asked) == 1
    assert asked[0][:3] == [(0,), (1,), (2,)]
    assert "all 350 rows" in table.notes[0]
    np.testing.assert_allclose(table["h"], by_brute["h"], atol=1e-9)
    assert table["features"].tolist() == by_brute["features"].tolist()


def test_greenwells_statistic():
    # Friedman's benchmark function, as in Greenwell et al. (2018), section 5: only x1 and x2 interact.
    X = np.random.default_rng(3).uniform(0, 1, size=(200, 5))

    def friedman1(r):
        return 10 * np.sin(np.pi * r[:, 0] * r[:, 1]) + 20 * (r[:, 2] - 0.5) ** 2 + 10 * r[:, 3] + 5 * r[:, 4]

    table = Explainer(friedman1, X).interactions(method="variance")
    assert table["features"].tolist()[0] == (0, 1)
    assert table["strength"][0] > 0.5
    np.testing.assert_allclose(table["strength"][1:], 0.0, atol=1e-12)
    assert "h" not in table.columns


def test_greenwells_statistic_of_a_product_has_a_closed_form(rng):
    # The importance of x at z is |z| s(x); its spread along z is s(x) s(|z|), and the same the other way.
    X = rng.uniform(-1, 1, size=(100, 2))
    ex = Explainer(lambda r: r[:, 0] * r[:, 1], X)
    table = ex.interactions(method="variance")
    x, z = ex.partial_dependence(0, 1).grid
    s = lambda v: v.std(ddof=1)  # noqa: E731
    expected = 0.5 * (s(x) * s(np.abs(z)) + s(z) * s(np.abs(x)))
    assert table["strength"][0] == pytest.approx(expected)


def test_matrix_and_parts(rng):
    table = Explainer(wiggly, rng.normal(size=(50, 3))).interactions(triples=True)
    matrix = table.matrix("h")
    np.testing.assert_array_equal(matrix, matrix.T)
    assert matrix[0, 1] == value(table, (0, 1))
    assert matrix[2, 2] == value(table, (2,))
    assert set(table.overall()["order"]) == {1}
    assert len(table.pairs()) == 3


def test_trees_and_brute_agree(rng):
    from sklearn.ensemble import GradientBoostingRegressor

    X = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd"))
    model = GradientBoostingRegressor(n_estimators=15, random_state=0).fit(X, X["a"] * X["b"] + X["c"])
    brute = Explainer(model, X, engine="brute").interactions(rows=150, triples=[("a", "b", "c")])
    trees = Explainer(model, X, engine="trees").interactions(rows=150, triples=[("a", "b", "c")])
    assert brute["features"].tolist() == trees["features"].tolist()
    np.testing.assert_allclose(brute["strength"], trees["strength"], atol=1e-10)


def test_trees_at_all_rows_agree_with_brute_force_at_all_rows(rng):
    from sklearn.ensemble import RandomForestRegressor

    X, weights = rng.normal(size=(320, 3)), rng.integers(0, 3, 320).astype(float)
    model = RandomForestRegressor(n_estimators=4, max_depth=5, random_state=0).fit(
        X, X[:, 0] * X[:, 1] + X[:, 2]
    )
    trees = Explainer(model, X, engine="trees", weights=weights).interactions(triples=True)
    brute = Explainer(model, X, engine="brute", weights=weights).interactions(triples=True, rows=320)
    assert "all 320 rows" in trees.notes[0]
    assert brute["features"].tolist() == trees["features"].tolist()
    np.testing.assert_allclose(brute["h"], trees["h"], atol=1e-9)


def test_probabilities_of_boosted_trees_say_what_gives_all_rows(rng):
    from sklearn.ensemble import GradientBoostingClassifier

    X = rng.normal(size=(320, 2))
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    assert 'scale="raw"' in Explainer(model, X, engine="trees").interactions().notes[0]
    assert "all 320 rows" in Explainer(model, X, engine="trees", scale="raw").interactions().notes[0]


def test_wrong_arguments(rng, complains):
    ex = Explainer(wiggly, rng.normal(size=(20, 3)))
    with complains("features", "at least two"):
        ex.interactions([0])
    with complains("method", "'h'"):
        ex.interactions(method="shap")
    with complains("triples", "three different"):
        ex.interactions([0, 1], triples=[(0, 1, 2)])
    with complains("features", "twice"):
        ex.interactions([0, 0])
    with complains("rows", "at least 1"):
        ex.interactions(rows=0)


def test_values_the_trees_do_not_know_are_left_to_brute_force(rng):
    from lightgbm import LGBMRegressor

    X = pd.DataFrame({"a": rng.integers(0, 50, 400), "b": rng.normal(size=400), "c": rng.normal(size=400)})
    model = LGBMRegressor(n_estimators=4, verbose=-1, n_jobs=1).fit(X, X["a"] * X["b"])
    X.loc[380, "a"] = 2**60 + 1  # some libraries round such a number twice
    explainer = Explainer(model, X)
    assert explainer.plan.engine.name == "trees"
    found = explainer.interactions()
    expected = Explainer(model, X, engine="brute").interactions()
    np.testing.assert_allclose(found["h"], expected["h"], rtol=1e-9)
    assert "brute force" in found.notes[0]


def test_a_models_own_array_is_not_written_to(rng):
    """Some models answer with an array they keep."""
    X = rng.normal(size=(50, 2))
    kept = X[:, 0] * X[:, 1] + 7.0

    def model(rows):
        return kept if len(rows) == 50 and (rows == X).all() else rows[:, 0] * rows[:, 1] + 7.0

    before = kept.copy()
    Explainer(model, X).interactions()
    np.testing.assert_array_equal(kept, before)


# --- as a frame ------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_interactions_to_frame_has_a_column_for_each_feature(library, rng):
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    given = {"pandas": frame, "polars": pl.DataFrame(frame), "pyarrow": pa.Table.from_pandas(frame)}[library]
    ex = Explainer(lambda r: np.asarray(r["a"]) * np.asarray(r["b"]) + np.asarray(r["c"]), given)
    table = ex.interactions(triples=True)
    made = nw.from_native(table.to_frame(), eager_only=True)
    assert made.columns[:4] == ["feature_1", "feature_2", "feature_3", "order"]
    assert "features" not in made.columns
    rows = zip(*(made[f"feature_{i}"].to_list() for i in (1, 2, 3)), strict=True)
    found = [tuple(n for n in names if isinstance(n, str)) for names in rows]
    assert found == table["features"].tolist()
    pairs = nw.from_native(ex.interactions().to_frame(), eager_only=True)
    assert pairs.columns[:3] == ["feature_1", "feature_2", "order"]
    assert pairs["feature_2"].is_null().to_list() == [True] * 3 + [False] * 3


def test_positions_stay_numbers_in_a_frame(rng):
    table = Explainer(lambda r: r[:, 0] * r[:, 1], rng.normal(size=(40, 3))).interactions()
    made = table.pairs().to_frame()
    assert list(zip(made["feature_1"], made["feature_2"], strict=True)) == table.pairs()["features"].tolist()
    assert table.overall().to_frame()["feature_2"].isna().all()
    assert isinstance(table["features"].tolist()[0], tuple)


def test_positions_beside_named_groups_are_texts_in_every_column(rng):
    X = np.column_stack([rng.normal(size=40), np.arange(40) % 2, 1 - np.arange(40) % 2])
    ex = Explainer(lambda r: r[:, 0] * r[:, 1], X)
    made = ex.interactions([{"both": [1, 2]}, 0], overall=False).to_frame()
    assert made[["feature_1", "feature_2"]].to_numpy().tolist() == [["both", "0"]]


def test_a_joint_effect_of_next_to_nothing_has_no_h(rng):
    """What a model fitted of noise interacts as strongly as anything, divided by itself."""
    X = rng.normal(size=(250, 4))
    ex = Explainer(lambda r: r[:, 0] + 0.02 * r[:, 1] * r[:, 2] + r[:, 0] * r[:, 3], X)
    pairs = ex.interactions().pairs()
    found = {frozenset(names): h for names, h in zip(pairs["features"].tolist(), pairs["h"].tolist())}
    assert found[frozenset((1, 2))] == 0.0
    assert found[frozenset((0, 3))] > 0.5


def test_h_is_never_above_one(rng):
    """Where features go together, the parts can outweigh the whole."""
    for seed in range(5):
        x = np.random.default_rng(seed).normal(size=200)
        X = np.column_stack([x, -x + 0.1 * rng.normal(size=200), rng.normal(size=200)])
        found = Explainer(lambda r: r[:, 0] + r[:, 1] + 0.3 * r[:, 0] * r[:, 1], X).interactions(triples=True)
        assert found["h"].max() <= 1.0
