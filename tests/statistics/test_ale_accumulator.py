"""ALE of several features in one pass: the numbers that each has by itself, from any engine."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor

from icefield import Explainer
from icefield.engines.trees import ale_differences as moves
from icefield.errors import BudgetError, IcefieldError, InputError
from icefield.statistics import ale as module
from icefield.statistics import similarity, steps
from icefield.statistics.ale import ale, ales, ales_beforehand

N = 900


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(12)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=N),
            "few": rng.integers(0, 4, N).astype(float),
            "k": pd.Categorical(rng.choice(list("pqrst"), N)),
            "whole": rng.integers(-50, 50, N),
            "flag": rng.random(N) < 0.3,
            "same": 1.0,
            "unused": rng.normal(size=N),
        }
    )
    X.loc[::17, "a"] = np.nan
    X.loc[5::31, "a"] = np.inf
    X.loc[::13, "k"] = None
    return X


@pytest.fixture(scope="module")
def score(frame):
    rng = np.random.default_rng(13)
    bent = np.nan_to_num(frame["a"], posinf=2.0) * frame["few"] + 2.0 * (frame["k"] == "q")
    return bent + 0.02 * frame["whole"] * frame["flag"] + rng.normal(size=N)


@pytest.fixture(scope="module")
def models(frame, score):
    options = {"n_estimators": 12, "num_leaves": 12, "verbose": -1, "n_jobs": 1, "min_child_samples": 5}
    X = frame.assign(unused=0.0)
    return {
        "regression": LGBMRegressor(**options).fit(X, score),
        "exp": LGBMRegressor(**options, objective="poisson").fit(X, np.exp(score / 4)),
        "binary": LGBMClassifier(**options).fit(X, score > 1),
        "classes": LGBMClassifier(**options).fit(X, np.digitize(score, [-1, 0.5, 2])),
    }


def alike(found, expected):
    assert found.engine == expected.engine
    assert found.why == expected.why
    assert list(found.groups) == list(expected.groups)
    pairs = [(found, expected), *((found.groups[g], expected.groups[g]) for g in expected.groups)]
    for mine, other in pairs:
        assert mine.n_rows == other.n_rows
        np.testing.assert_array_equal(mine.grid[0], other.grid[0])
        np.testing.assert_allclose(mine.weight, other.weight, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(mine.average, other.average, rtol=0, atol=1e-11)
        np.testing.assert_allclose(mine.se, other.se, rtol=1e-9, atol=1e-11)


WAYS = {
    "plain": {},
    "raw": {"scale": "raw"},
    "all outputs": {"target": "all"},
    "weights": {"weights": np.random.default_rng(1).choice([0.0, 0.5, 2.5], N)},
    "copies": {"weights": np.random.default_rng(1).choice([0.0, 1.0, 3.0], N), "by": "flag"},
    "groups": {"by": "few"},
    "few groups": {"by": np.where(np.arange(N) < 20, "some", "others")},
    "clusters": {"cluster": np.arange(N) // 7},
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["regression", "exp", "binary", "classes"])
def test_the_same_as_each_by_itself(kind, way, models, frame):
    study = Explainer(models[kind], frame, engine="trees", **WAYS[way]).study
    features = list(frame.columns)
    for options in ({}, {"bins": 7, "order": "given"}, {"rows": 200}, {"rows": np.arange(50, 300)}):
        for name, found in zip(features, ales(study, features, **options), strict=True):
            assert found.features == (name,)
            alike(found, ale(study, name, **options))


@pytest.mark.parametrize("kind", ["regression", "binary", "classes"])
def test_trees_and_the_model_itself_agree(kind, models, frame):
    features = list(frame.columns)
    trees, brute = (
        ales(Explainer(models[kind], frame, engine=engine, by="flag").study, features, bins=6)
        for engine in ("trees", "brute")
    )
    for mine, other in zip(trees, brute, strict=True):
        assert (mine.engine, other.engine) == ("trees", "brute")
        np.testing.assert_allclose(mine.average, other.average, rtol=0, atol=1e-11)
        np.testing.assert_allclose(mine.se, other.se, rtol=1e-9, atol=1e-11)


def test_no_feature_walks_alone(models, frame, monkeypatch):
    monkeypatch.setattr(moves.StepDifferences, "differences", None)
    for model in models.values():
        found = ales(Explainer(model, frame).study, list(frame.columns))
        assert all(one.engine == "trees" for one in found)


def test_bins_found_on_threads_are_the_same(models, frame, monkeypatch):
    features = list(frame.columns)
    expected = ales(Explainer(models["binary"], frame).study, features)
    monkeypatch.setattr(module, "WORTH_THREADS", 0)
    for found, one in zip(ales(Explainer(models["binary"], frame).study, features), expected, strict=True):
        alike(found, one)


def test_a_feature_without_an_effect_has_an_error_in_its_place(frame, models):
    X = frame.assign(unused=np.nan)
    study = Explainer(models["binary"], X).study
    first, none, last = ales(study, ["a", "unused", "whole"])
    assert isinstance(none, IcefieldError)
    assert "'unused' has no finite value" in str(none)
    alike(first, ale(study, "a"))
    alike(last, ale(study, "whole"))
    with pytest.raises(InputError, match="'unused' has no finite value"):
        Explainer(models["binary"], X).effects(kind="ale")


def test_values_the_trees_do_not_know_are_left_to_the_model(models, frame):
    X = frame.astype({"whole": np.int64})
    X.loc[380, "whole"] = 2**60 + 1
    study = Explainer(models["regression"], X).study
    for found, name in zip(ales(study, ["a", "few"], bins=5), ["a", "few"], strict=True):
        assert found.engine == "brute"
        alike(found, ale(study, name, bins=5))


def test_what_was_worked_out_beforehand_is_what_would_be(models, frame, monkeypatch):
    ex = Explainer(models["binary"], frame)
    expected = {name: ale(ex.study, name, bins=15, rows=300) for name in frame.columns}
    ales_beforehand(ex.study, list(frame.columns), bins=15, rows=300)
    grouped = ex.ale("a", bins=15, rows=300, by="flag")
    assert len(grouped.groups) == 2
    alike(
        ale(ex.study, "a", bins=15, rows=200), Explainer(models["binary"], frame).ale("a", bins=15, rows=200)
    )
    monkeypatch.setattr(moves.StepDifferences, "differences", None)
    for name, one in expected.items():
        alike(ale(ex.study, name, bins=15, rows=300), one)
    with pytest.raises(TypeError):
        ale(ex.study, "a", bins=15, rows=300, order="given")


def test_effects_of_a_kind(models, frame):
    ex = Explainer(models["binary"], frame)
    names = ["a", "k", "whole"]
    for name, found in ex.effects(names, kind="ale", by="flag").items():
        alike(found, ex.ale(name, by="flag"))
    for name, found in ex.effects(names, kind="ice", rows=20, grid=9).items():
        alone = ex.ice(name, rows=20, grid=9)
        assert found.kind == "ice"
        np.testing.assert_allclose(found.individual, alone.individual, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.average, alone.average, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.std, alone.std, rtol=0, atol=1e-12)
    for name, found in ex.effects(names, rows=100, spread=True).items():
        alone = ex.partial_dependence(name, rows=100)
        assert found.n_rows == 100
        np.testing.assert_allclose(found.average, alone.average, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.se, alone.se, rtol=1e-9, atol=1e-12)


def test_kinds_that_cannot_be(models, frame):
    ex = Explainer(models["binary"], frame, memory=2**20)
    with pytest.raises(InputError, match="kind"):
        ex.effects(kind="m-plot")
    with pytest.raises(InputError, match=r"order.*must be 1 for kind='ale'.*ale\(a, b\)"):
        ex.effects(kind="ale", order=2)
    with pytest.raises(InputError, match=r"grid.*ALE has bins"):
        ex.effects(kind="ale", grid=5)
    with pytest.raises(BudgetError, match=r"900 individual curves of 7 features.*rows=156"):
        ex.effects(kind="ice")
    assert ex.effects(["few"], kind="ice", rows=100, grid=5)["few"].individual.shape[:2] == (1, 100)
    with pytest.raises(IcefieldError, match="training"):
        Explainer(models["regression"], frame, background="training").effects(kind="ale")


@pytest.mark.parametrize("gone", [0.0, 0.1])
def test_columns_that_levels_are_compared_by_are_put_in_order_once(gone, monkeypatch):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            name: pd.Categorical(np.where(rng.random(N) < gone, None, rng.choice(list("pqrst"), N)))
            for name in "kl"
        }
    )
    X = X.assign(a=rng.normal(size=N), b=rng.normal(size=N))
    model = LGBMRegressor(n_estimators=5, verbose=-1).fit(X, X["a"] * (X["k"] == "q") + (X["l"] == "r"))
    ordered = []

    class Noted(similarity._ColumnInOrder):
        def __init__(self, column, *given):
            ordered.append(column.name)
            super().__init__(column, *given)

    monkeypatch.setattr(similarity, "_ColumnInOrder", Noted)
    monkeypatch.setattr(steps, "WORTH_THREADS", 1)
    found = Explainer(model, X, threads=2).effects(kind="ale")
    assert sorted(ordered) == ["a", "b"]
    for name, effect in found.items():
        alone = Explainer(model, X).ale(name)
        assert effect.grid[0].tolist() == alone.grid[0].tolist()
        alike(effect, alone)
