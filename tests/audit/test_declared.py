"""Constraints that models were fitted with: read from every library, through pipelines, and judged on the scale they are about."""

from __future__ import annotations

from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import icefield


@pytest.fixture(scope="module")
def X() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))


@pytest.fixture(scope="module")
def y(X: pd.DataFrame) -> np.ndarray:
    return np.asarray(X.a * X.b + X.c * X.d + X.a * X.c)


def _audited(model: Any, X: pd.DataFrame, **asked: Any) -> icefield.Audit:
    return icefield.Explainer(model, X, threads=1).audit(**{"everywhere": False, **asked})


def _hist(**settings: Any) -> Any:
    return HistGradientBoostingRegressor(max_iter=10, **settings)


def _lightgbm(**settings: Any) -> Any:
    return lgb.LGBMRegressor(n_estimators=10, num_leaves=8, verbose=-1, n_jobs=1, **settings)


def _xgboost(**settings: Any) -> Any:
    return xgb.XGBRegressor(n_estimators=10, max_depth=3, n_jobs=1, **settings)


CONSTRAINED = {
    "HistGradientBoosting": (lambda: _hist(interaction_cst=[[0, 1]]), {frozenset("ab"), frozenset("cd")}),
    "HistGradientBoosting, none": (lambda: _hist(interaction_cst="no_interactions"), {frozenset(c) for c in "abcd"}),
    "LightGBM": (lambda: _lightgbm(interaction_constraints=[[0, 1], [2, 3]]), {frozenset("ab"), frozenset("cd")}),
    "LightGBM, some": (lambda: _lightgbm(interaction_constraints=[[0, 1]]), {frozenset("ab")}),
    "XGBoost": (lambda: _xgboost(interaction_constraints=[["a", "b"]]), {frozenset("ab"), frozenset("c"), frozenset("d")}),
}  # fmt: skip


@pytest.mark.parametrize("case", list(CONSTRAINED))
def test_interaction_constraints_that_are_kept_are_said_to_be(
    case: str, X: pd.DataFrame, y: np.ndarray
) -> None:
    make, together = CONSTRAINED[case]
    found = _audited(make().fit(X, y), X)
    assert found.structure is not None
    assert set(found.structure.together) <= together
    assert max(map(len, found.structure.together)) == max(map(len, together))
    assert found.ok, found.failures
    assert "declared interaction constraints: kept" in found.notes


def test_interaction_constraints_that_are_broken_are_found(X: pd.DataFrame, y: np.ndarray) -> None:
    free = _hist().fit(X, y)
    free.interaction_cst = [[0, 1]]
    found = _audited(free, X)
    assert not found.ok
    assert all("are on one path" in text for text in found.failures)


def test_constraints_of_several_classes_are_judged_on_margins(X: pd.DataFrame) -> None:
    classes = np.digitize(X.a + 0.3 * X.b, [-0.5, 0.5])
    model = lgb.LGBMClassifier(
        n_estimators=8, num_leaves=6, verbose=-1, n_jobs=1, monotone_constraints=[1, 0, 0, 0]
    )
    found = _audited(model.fit(X, classes), X, everywhere=True, seconds=20)
    assert found.ok, found.failures
    own = found["source"] == "declared"
    assert set(found["scale"][own]) == {"raw"}
    assert own.sum() == 3
    assert all(found["holds"][own])
    assert any("margins" in note for note in found.notes)
    assert {e.answer for e in found.everywhere if e.scale == "raw" and e.direction == "increasing"} == {
        "proven"
    }
    # What is asked for is about what was asked for: probabilities of a middle class do fall.
    asked = _audited(model, X, increasing=["a"])
    assert not asked.ok
    assert set(asked["scale"][asked["source"] == "asked"]) == {"response"}


def test_a_broken_constraint_of_several_classes_is_found_on_margins(X: pd.DataFrame) -> None:
    classes = np.digitize(X.a + 0.3 * X.b, [-0.5, 0.5])
    model = lgb.LGBMClassifier(
        n_estimators=4, num_leaves=6, verbose=-1, n_jobs=1, monotone_constraints=[1, 0, 0, 0]
    )
    booster = model.fit(X, classes).booster_
    leaf = int(booster.predict(X.sort_values("a").tail(1), pred_leaf=True)[0, 2])
    booster.set_leaf_output(2, leaf, -5.0)
    found = _audited(booster, X)
    assert not found.ok
    assert "raw scale" in found.failures[0]
    example = found.examples[0]
    assert example.scale == "raw"
    row = X.iloc[[example.row]]
    moved = booster.predict(row.assign(a=example.after), raw_score=True)[0]
    assert example.prediction_after == pytest.approx(moved[found["output"].tolist().index(example.output)])


@pytest.mark.parametrize("missing", [False, True])
def test_false_comes_before_true(missing: bool, X: pd.DataFrame, y: np.ndarray) -> None:
    rng = np.random.default_rng(1)
    flag = pd.Series(rng.random(len(X)) < 0.5)
    B = X.assign(e=flag.astype("boolean").mask(rng.random(len(X)) < 0.2) if missing else flag)
    target = y + np.where(flag, 2.0, -2.0)
    model = (
        _hist(monotonic_cst=[0, 0, 0, 0, 1]) if missing else _lightgbm(monotone_constraints=[0, 0, 0, 0, 1])
    )
    found = _audited(model.fit(B.astype(float) if missing else B, target), B, everywhere=True, seconds=20)
    i = found["feature"].tolist().index("e")
    assert (found["direction"][i], found["source"][i], found["holds"][i]) == ("increasing", "declared", True)
    assert {e.direction: e.answer for e in found.everywhere if e.feature == "e"}["increasing"] == "proven"
    assert found["rises"][i] > 0
    turned = _audited(model, B, decreasing=["e"], declared=False, everywhere=True, seconds=20)
    assert not turned.ok
    example = turned.examples[0]
    assert (bool(example.before), bool(example.after)) == (False, True)


def test_constraints_are_followed_through_pipelines(X: pd.DataFrame, y: np.ndarray) -> None:
    turned = make_pipeline(
        StandardScaler(),
        FunctionTransformer(np.negative),
        _hist(monotonic_cst=[1, 0, 0, -1], interaction_cst=[[0, 1]]),
    )
    for model in (turned.fit(X, y), GridSearchCV(turned, {}, cv=2).fit(X, y)):
        found = _audited(model, X)
        assert dict(zip(found["feature"], found["direction"])) == {
            "a": "decreasing",
            "b": "",
            "c": "",
            "d": "increasing",
        }
        assert found.ok
        assert "declared interaction constraints: kept" in found.notes
    polars = pytest.importorskip("polars")
    assert _audited(turned, polars.from_pandas(X))["direction"].tolist() == found["direction"].tolist()


def test_what_cannot_be_read_is_said(X: pd.DataFrame, y: np.ndarray) -> None:
    C = X.assign(g=np.random.default_rng(0).choice(list("xyz"), len(X)))
    encoded = make_column_transformer((OneHotEncoder(), ["g"]), remainder="passthrough")
    model = make_pipeline(encoded, _lightgbm(monotone_constraints=[0, 0, 1, 1, 0, 0, 0])).fit(C, y)
    found = _audited(model, C)
    assert found["direction"].tolist() == ["increasing", "", "", "", ""]
    assert any("not read" in note and "column 2" in note for note in found.notes)
    bagged = BaggingRegressor(_hist(monotonic_cst=[1, 0, 0, 0]), 2, random_state=0).fit(X, y)
    assert any("not read: estimator__monotonic_cst" in note for note in _audited(bagged, X).notes)
    C["g"] = C["g"].astype("category")
    levels = _hist(categorical_features="from_dtype").fit(C, y)
    levels.monotonic_cst = {"g": 1, "z": 1}
    said = [note for note in _audited(levels, C).notes if "not judged" in note]
    assert ["'g'" in said[0], "'z'" in said[1]] == [True, True]


def test_levels_are_compared_or_it_is_said_how_many(
    X: pd.DataFrame, y: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    C = X.assign(g=pd.Categorical(rng.integers(0, 90, len(X)).astype(str)), k=rng.choice(["u", "v"], len(X)))
    columns = list("abcdg")
    model = _lightgbm(min_data_per_group=3, cat_smooth=1.0).fit(C[columns], y)
    found = _audited(model, C, features=["g"], by="k")
    n = C["g"].nunique()
    assert set(found["method"]) == {"every level"}
    (output,) = set(found["output"])
    assert len(found.levels["g", output]) == n * (n - 1)
    for group in "uv":
        rows = C[C["k"] == group]
        first, second = (model.predict(rows[columns].assign(g=pd.Categorical([level] * len(rows), categories=C["g"].cat.categories)))
                         for level in ("3", "71"))  # fmt: skip
        share, gap = found.group_levels["g", output, group]["3", "71"]
        assert share == pytest.approx(np.mean(second > first + 1e-12))
        assert gap == pytest.approx((second - first).max().clip(0))
    monkeypatch.setattr("icefield.audit.row_steps.MOST_LEVELS", 20)
    some = _audited(model, C, features=["g"])
    assert some["method"].tolist() == [f"the 20 most frequent of {n} levels"]
    assert any("not all" in note for note in some.notes)
