"""Averages in one pass, curves of few rows afterwards: the same effects as if both were asked for at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from icefield import Explainer
from icefield.core.effects import Request, compute_effects
from icefield.core.study import Study
from icefield.sampling import in_proportion
from icefield.statistics import ice_sample as curved
from icefield.statistics.decision import READ, decision_of, decisions, read_curves
from icefield.statistics.ice_sample import IceEffects, IceRequest, curves_come_apart, effects_with_curves


def data(rows: int = 1_500, columns: int = 6) -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(rows, columns))
    X[::7, 3] = np.nan
    return X


def classifier(X: np.ndarray, classes: int = 2) -> HistGradientBoostingClassifier:
    score = X[:, 0] * X[:, 1] + X[:, 2] + np.nan_to_num(X[:, 3])
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))
    return HistGradientBoostingClassifier(max_iter=8, random_state=0).fit(X, y)


def regression(X: np.ndarray) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(max_iter=8, random_state=0).fit(X, X[:, 0] * X[:, 1] + X[:, 2])


def at_once(study: Study, feature: Any, one: IceRequest) -> Any:
    """What a study gives when curves and averages are asked for together."""
    weights = None if study.sample.weights is None else study.sample.row_weights()
    kept, counts = in_proportion(one.kept, study.sample.n_rows, weights, study.seed)
    ask = Request(
        sets=[(feature,)], kind="ice", grid=one.grid, spread=True, kept=kept, kept_weights=counts
    )  # fmt: skip
    return compute_effects(study, ask)[0]


CHOICES: dict[str, dict[str, Any]] = {
    "plain": {},
    "copies": {"weights": np.random.default_rng(1).integers(0, 4, 1_500).astype(float)},
    "uneven": {"weights": np.random.default_rng(1).random(1_500)},
    "groups": {"by": np.arange(1_500) % 3},
    "clusters": {"cluster": np.arange(1_500) // 5},
    "little room": {"memory": 2**21},
}


@pytest.mark.parametrize("make", [classifier, regression])
@pytest.mark.parametrize("choice", CHOICES)
def test_curves_that_come_later_are_those_that_come_at_once(make, choice):
    X = data()
    study = Explainer(make(X), X, **CHOICES[choice]).study
    assert curves_come_apart(study)
    wanted = IceRequest(kept=200), IceRequest(11, kept=150)
    found, note = effects_with_curves(study, range(6), *wanted)
    assert not note
    for one, effects in zip(wanted, found):
        for feature, effect in enumerate(effects):
            expected = at_once(study, feature, one)
            np.testing.assert_array_equal(effect.rows, expected.rows)
            np.testing.assert_allclose(effect.individual, expected.individual, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(effect.average, expected.average, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(effect.se, expected.se, rtol=1e-9)
            for name in ("row_weights", "row_clusters"):
                here, there = getattr(effect, name), getattr(expected, name)
                assert (here is None) == (there is None)
                if here is not None:
                    np.testing.assert_array_equal(here, there)
            np.testing.assert_array_equal(effect.row_values[3], X[effect.rows, 3])


def test_curves_of_all_rows_have_their_centred_spread():
    X = data(400)
    study = Explainer(classifier(X), X, weights=np.arange(400) % 3 + 0.5).study
    ((effect,),), _ = effects_with_curves(study, [0], IceRequest(kept=400))
    assert effect.centered_std is not None
    np.testing.assert_allclose(effect.centered_std, at_once(study, 0, IceRequest(kept=400)).centered_std)
    ((some,),), _ = effects_with_curves(study, [0], IceRequest(kept=100))
    assert some.centered_std is None  # a sample's is not that of all rows


def test_rows_of_ones_own_are_averaged_over_and_kept():
    X = data()
    study = Explainer(classifier(X), X).study
    rows = np.arange(100, 400)
    ((effect,),), _ = effects_with_curves(study, [1], IceRequest(kept=50), rows=rows)
    expected = Explainer(study.model.native, X[rows]).study
    assert effect.n_rows == 300
    np.testing.assert_array_equal(effect.rows, rows[in_proportion(50, 300, None, 0)[0]])
    grid = effect.grid[0]
    (again,) = compute_effects(expected, Request(sets=[(1,)], grid={1: grid}))
    np.testing.assert_allclose(effect.average, again.average, rtol=1e-12)


def test_a_model_that_is_asked_gives_both_at_once():
    X = np.nan_to_num(data(300))
    asked = []

    def model(rows):
        asked.append(len(rows))
        return rows[:, 0] * rows[:, 1]

    study = Explainer(model, X).study
    assert not curves_come_apart(study)
    found = IceEffects(study, [0, 1], IceRequest(5, kept=20))
    before = sum(asked)
    effects = list(found.each(0))
    assert sum(asked) == before
    np.testing.assert_allclose(effects[0].individual[0], np.outer(X[effects[0].rows, 1], effects[0].grid[0]))


def test_what_is_asked_beside_is_answered_in_the_same_pass(monkeypatch):
    X = data()
    study = Explainer(classifier(X), X).study
    passes = []
    real = curved.compute
    monkeypatch.setattr(
        curved, "compute", lambda study, requests: passes.append(len(requests)) or real(study, requests)
    )
    monkeypatch.setattr(curved, "compute_effects", lambda study, one: curved.compute(study, [one])[0])
    beside = Request(sets=[(2,)], grid=[-1.0, 0.0, 1.0], spread=False)
    found = IceEffects(study, [0, 1], IceRequest(kept=20), beside=[beside])
    assert passes == [2]
    ((single,),) = found.beside
    np.testing.assert_allclose(single.average, compute_effects(study, beside)[0].average, rtol=1e-12)
    # Of other rows it takes a pass of its own.
    IceEffects(study, [0, 1], IceRequest(kept=20), rows=50, beside=[beside])
    assert passes[1:] == [1, 1]


@pytest.mark.parametrize("memory", [2**21, 2**28])
def test_decisions_keep_their_curves_where_there_is_room(memory, monkeypatch):
    X = data()
    passes = []
    real = curved.compute
    monkeypatch.setattr(curved, "compute", lambda *given: passes.append(given) or real(*given))
    study = Explainer(classifier(X), X, memory=memory).study
    made = decisions(study)
    kept = [one.effect.individual is not None for one in made.values()]
    assert kept == [memory == 2**28] * 6
    whole = Explainer(classifier(X), X).study
    for name, one in made.items():
        other = decision_of(whole, name)
        assert replace(one.reading, each=()).sentence == replace(other.reading, each=()).sentence
        passes.clear()
        curves = read_curves(study, one)
        assert not passes  # no average is taken again
        np.testing.assert_allclose(curves.individual, other.effect.individual, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(one.effect.rows, other.effect.rows)
    assert len(next(iter(made.values())).effect.rows) == READ.kept


def test_regions_do_not_depend_on_the_room():
    X = data()
    y = X[:, 0] * np.sign(X[:, 1]) > 0
    model = HistGradientBoostingClassifier(max_iter=40, random_state=0).fit(X, y)
    little, much = (Explainer(model, X, memory=memory).regions(0) for memory in (2**21, 2**28))
    assert len(much) > 1
    assert little["rule"].tolist() == much["rule"].tolist()
    np.testing.assert_allclose(little["heterogeneity"], much["heterogeneity"])
    assert little.notes == much.notes


def test_curves_asked_for_at_a_time_fit_the_budget(monkeypatch):
    X = data()
    study = Explainer(classifier(X, classes=4), X, memory=2**22).study
    found = IceEffects(study, range(6), IceRequest(kept=300))
    sizes = []
    real = Study.answers

    def answers(self, questions, sample):
        sizes.append(sum(8 * 4 * q.shape[0] * len(q.rows) for q in questions))
        return real(self, questions, sample)

    monkeypatch.setattr(Study, "answers", answers)
    assert len(list(found.each(0))) == 6
    assert len(sizes) > 1
    assert max(sizes) <= 0.3 * 2**22
    assert sum(sizes) == found.curve_bytes(0)
