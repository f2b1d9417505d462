"""The summary: ranks by all movement, names partners, warns by support, and points on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from icefield import Explainer
from icefield.errors import InputError
from icefield.statistics import ale
from icefield.statistics.decision import output_moved_most
from icefield.statistics.support import pd_ale_disagreement


@pytest.fixture
def found(rng):
    X = rng.normal(size=(400, 6))
    X[:, 4] = 0.97 * X[:, 3] + 0.2 * X[:, 4]
    model = lambda r: 2 * r[:, 0] * np.sign(r[:, 1]) + (r[:, 2] > 0) + r[:, 3] + 0 * r[:, 5]  # noqa: E731
    return Explainer(model, X).summary(grid=30)


def row(table, feature):
    at = table["feature"].tolist().index(feature)
    return {name: values[at] for name, values in table.columns.items()}


def test_features_by_all_movement(found):
    ranked = found["feature"].tolist()
    assert set(ranked[:2]) == {0, 1}
    assert set(ranked[-2:]) == {4, 5}
    moved = np.hypot(found["strength"], found["heterogeneity"])
    assert (np.diff(moved) <= 1e-12).all()


def test_partners_and_what_to_look_at(found):
    assert row(found, 0)["partner"] == "1"
    assert row(found, 1)["partner"] == "0"
    assert "partial_dependence(0, 1)" in row(found, 0)["next"]
    assert row(found, 2)["partner"] is None
    assert row(found, 2)["next"] is None


def test_warns_by_support_where_the_model_responds(found):
    assert "do not occur in the data" in row(found, 3)["warning"]
    assert row(found, 3)["next"] == "ale(3)"
    assert row(found, 4)["outside"] > 0.2
    assert row(found, 4)["warning"] is None
    assert row(found, 5)["warning"] is None
    assert any(text.startswith("3: ") for text in found.warnings)
    assert "the average is flat" in row(found, 0)["warning"]


def test_effects_carry_support_and_curves(found):
    effect = found.effects[3]
    assert effect.support is not None
    assert effect.individual is not None
    assert found.readings[2].shape == "threshold"


def test_an_additive_model_needs_no_further_look(rng):
    X = rng.normal(size=(200, 3))
    table = Explainer(lambda r: r[:, 0] - r[:, 1] ** 2 + 0.5 * r[:, 2], X).summary(grid=30)
    assert table["partner"].tolist() == [None] * 3
    assert table["next"].tolist() == [None] * 3
    assert table.warnings == ()


def test_reads_the_output_a_feature_moves_most(rng):
    X = rng.uniform(-1, 1, size=(150, 2))
    table = Explainer(lambda r: np.column_stack([0 * r[:, 0], r[:, 0] ** 2 + r[:, 1]]), X).summary(grid=30)
    assert table.readings[0].output == 1
    assert table.readings[0].shape == "U-shaped"


def test_every_feature_gets_its_partner_however_many_interact(rng):
    X = rng.normal(size=(300, 12))
    model = lambda r: sum((1 - 0.1 * i) * r[:, 2 * i] * r[:, 2 * i + 1] for i in range(6))  # noqa: E731
    table = Explainer(model, X).summary(grid=15)
    partner = dict(zip(table["feature"].tolist(), table["partner"].tolist()))
    assert partner == {i: str(i + 1 - 2 * (i % 2)) for i in range(12)}


def test_probabilities_are_compared_in_their_common_unit(rng):
    X = rng.normal(size=(500, 2))

    def three(rows):
        rare = 0.02 + 0.01 * np.tanh(rows[:, 1])  # its own spread is small, and all of it is feature 1's
        first = 0.49 + 0.3 * np.tanh(rows[:, 0]) + 0.05 * np.tanh(rows[:, 1])
        return np.column_stack([first, 1 - first - rare, rare])

    ex = Explainer(three, X)
    assert ex.summary().readings[1].output == ex.model.outputs[2]
    as_probabilities = replace(ex.ice(1), scale_label="probability")
    assert output_moved_most(as_probabilities, as_probabilities.reading.each) == 1


def test_what_to_look_at_can_be_run_for_groups_of_columns(rng):
    kind = rng.integers(0, 3, 400)
    X = pd.DataFrame({"p": kind == 0, "q": kind == 1, "r": kind == 2, "x": rng.normal(size=400)}).astype(
        float
    )
    ex = Explainer(lambda r: (r["x"] * (r["p"] - r["q"])).to_numpy(), X)
    asked = {"kind": ["p", "q", "r"]}
    table = ex.summary([asked, "x"], grid=15)
    steps = [step for text in table["next"].tolist() for step in text.split("), ")]
    assert any("{'kind': ['p', 'q', 'r']}" in step for step in steps)
    for step in steps:
        eval(f"ex.{step.removesuffix(')')})", {"ex": ex})  # what it says is what a user types
    with pytest.raises(InputError, match="twice"):
        ex.summary([asked, "x", "p"])


def test_trees_and_brute_agree(rng):
    from sklearn.ensemble import RandomForestRegressor

    X = rng.normal(size=(200, 3))
    model = RandomForestRegressor(n_estimators=5, max_depth=6, random_state=0).fit(X, X[:, 0] * X[:, 1])
    brute, trees = (Explainer(model, X, engine=engine).summary(grid=20) for engine in ("brute", "trees"))
    assert brute["feature"].tolist() == trees["feature"].tolist()
    assert brute["shape"].tolist() == trees["shape"].tolist()
    # Trees are read at their own thresholds too, so the points differ a little.
    np.testing.assert_allclose(brute["heterogeneity"], trees["heterogeneity"], rtol=0.02)


def hinge(rng, decimals):
    """A line in the first column; beyond the 97th percentile of the second, more than half of the spread."""
    X = pd.DataFrame({"a": rng.normal(size=2000), "b": np.round(rng.normal(size=2000), decimals)})
    return Explainer(lambda r: (r["a"] + 18 * np.maximum(r["b"] - 1.9, 0)).to_numpy(), X)


@pytest.mark.parametrize("decimals", [1, 2, 8])
def test_rounding_a_column_does_not_change_what_is_read(decimals):
    table = hinge(np.random.default_rng(5), decimals).summary()
    found = row(table, "b")
    assert found["shape"] == "monotone, increasing"
    assert found["movement"] == pytest.approx(
        0.85, rel=0.05
    )  # as much as it truly spreads: importance counts all data
    assert table.readings["b"].changes_at[0] > 1.8


def test_a_few_rows_at_the_end_do_not_turn_a_line():
    rng = np.random.default_rng(6)
    X = pd.DataFrame({"hum": np.round(rng.uniform(30, 100, 3000))})
    X.loc[:20, "hum"] = 0.0
    model = lambda r: np.where(r["hum"] < 1, 0.0, 130 - r["hum"])  # noqa: E731
    reading = Explainer(model, X).summary().readings["hum"]
    assert (reading.shape, reading.direction) == ("linear", "decreasing")
    assert [tail.side for tail in reading.tails] == ["below"]


def test_the_rows_behind_everything_are_stated(rng):
    X = rng.normal(size=(1500, 3))
    table = Explainer(lambda r: r[:, 0] * r[:, 1] + r[:, 2], X).summary()
    assert any("1000 of 1500 rows" in note for note in table.notes)
    assert any("interactions at 300 of 1500 rows" in note for note in table.notes)


def test_what_was_not_computed_is_unknown(rng):
    X = rng.normal(size=(200, 2))
    ex = Explainer(lambda r: r[:, 0] * np.sign(r[:, 1]), X)
    silent = ex.partial_dependence(0, spread=False).reading
    assert silent.interacts is None
    assert silent.heterogeneity is None
    assert "use ice() to see whether rows differ" in silent.sentence
    assert ex.summary().readings[0].hidden


def test_features_beyond_the_data_are_compared_with_their_ales_together(rng, monkeypatch):
    X = rng.normal(size=(600, 4))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    X[:, 3] = X[:, 2] + 0.1 * X[:, 3]
    model = GradientBoostingRegressor(n_estimators=10).fit(X, X[:, 0] * X[:, 2] + X[:, 3])
    walks = []
    asked = ale._effects
    monkeypatch.setattr(ale, "_effects", lambda *given: walks.append(given[1]) or asked(*given))
    found = Explainer(model, X).summary(grid=30)
    doubtful = [name for name, effect in found.effects.items() if effect.support.doubtful]
    assert len(doubtful) > 1
    assert walks == [[(name,) for name in doubtful]]
    alone = Explainer(model, X)
    for name in doubtful:
        expected = pd_ale_disagreement(alone.study, found.effects[name], name)
        np.testing.assert_allclose(found.effects[name].support.disagreement, expected, atol=1e-12)
