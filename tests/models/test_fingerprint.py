"""A model that was fitted again, or changed, after the Explainer was made: never silently the old numbers."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from typing import Any

import catboost
import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression, Ridge, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from icefield import Explainer
from icefield.errors import ModelError
from icefield.libraries.sklearn import attributes

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(150, 3))
OLD, NEW = X[:, 0], 5 + 3 * X[:, 1] * X[:, 2]
FRAME = pd.DataFrame(X, columns=list("abc")).assign(d=np.array(["x", "y"])[DRAW.integers(0, 2, 150)])


def fitted_again(model: Any) -> None:
    model.fit(X, NEW)


def fitted_on(model: Any) -> None:
    """warm_start: the trees there are stay, and more come."""
    name = "max_iter" if isinstance(model, HistGradientBoostingRegressor) else "n_estimators"
    model.set_params(**{name: 9}).fit(X, NEW)


def lightgbm_booster() -> Any:
    booster = lgb.Booster({"verbose": -1, "num_threads": 1}, lgb.Dataset(X, OLD, free_raw_data=False))
    for _ in range(3):
        booster.update()
    return booster


def small_catboost() -> Any:
    return catboost.CatBoostRegressor(
        iterations=4, verbose=0, allow_writing_files=False, thread_count=1, random_seed=0
    )


def load_another(model: Any) -> None:
    other = xgb.train({"nthread": 1}, xgb.DMatrix(X, NEW), 3)
    model.load_model(bytearray(other.save_raw()))


def other_trees(model: Any) -> None:
    model.estimators_ = model.estimators_[:2]


voters = [("tree", DecisionTreeRegressor(max_depth=2)), ("line", LinearRegression())]
xgb_small = {"n_estimators": 3, "n_jobs": 1}
lgb_small = {"n_estimators": 3, "n_jobs": 1, "verbose": -1}

CHANGES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "tree": (lambda: DecisionTreeRegressor(max_depth=3).fit(X, OLD), fitted_again),
    "forest": (lambda: RandomForestRegressor(4).fit(X, OLD), fitted_again),
    "extra trees": (lambda: ExtraTreesRegressor(4).fit(X, OLD), fitted_again),
    "gradient boosting": (lambda: GradientBoostingRegressor(n_estimators=4).fit(X, OLD), fitted_again),
    "hist": (lambda: HistGradientBoostingRegressor(max_iter=4).fit(X, OLD), fitted_again),
    "bagging": (lambda: BaggingRegressor(n_estimators=3).fit(X, OLD), fitted_again),
    "ada": (lambda: AdaBoostRegressor(n_estimators=3).fit(X, OLD), fitted_again),
    "warm forest": (lambda: RandomForestRegressor(4, warm_start=True).fit(X, OLD), fitted_on),
    "warm gradient boosting": (
        lambda: GradientBoostingRegressor(n_estimators=4, warm_start=True).fit(X, OLD),
        fitted_on,
    ),
    "warm hist": (lambda: HistGradientBoostingRegressor(max_iter=4, warm_start=True).fit(X, OLD), fitted_on),
    "fewer trees": (lambda: RandomForestRegressor(4).fit(X, OLD), other_trees),
    "voting weights": (
        lambda: VotingRegressor(voters).fit(X, OLD + NEW),
        lambda m: m.set_params(weights=[9, 1]),
    ),
    "line": (lambda: LinearRegression().fit(X, OLD), fitted_again),
    "partial fit": (lambda: SGDRegressor().fit(X, OLD), lambda m: m.partial_fit(X, NEW)),
    "network": (
        lambda: MLPRegressor(hidden_layer_sizes=(5,), solver="sgd", max_iter=5, warm_start=True).partial_fit(X, OLD),
        lambda m: m.partial_fit(X, NEW),
    ),
    "pipeline": (
        lambda: make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=3)).fit(X, OLD),
        fitted_again,
    ),
    "last step": (
        lambda: make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=3)).fit(X, OLD),
        lambda m: m[-1].fit(X, NEW),
    ),
    "first step": (
        lambda: make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=3)).fit(X, OLD),
        lambda m: m[0].fit(X * 10),
    ),
    "another step": (
        lambda: make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=3)).fit(X, OLD),
        lambda m: m.set_params(gradientboostingregressor=DecisionTreeRegressor().fit(X, NEW)),
    ),
    "search": (
        lambda: GridSearchCV(DecisionTreeRegressor(), {"max_depth": [2]}, cv=2).fit(X, OLD),
        fitted_again,
    ),
    "target": (
        lambda: TransformedTargetRegressor(DecisionTreeRegressor(max_depth=3)).fit(X, OLD),
        fitted_again,
    ),
    "LightGBM": (lambda: lgb.LGBMRegressor(**lgb_small).fit(X, OLD), fitted_again),
    "LightGBM Booster.update": (lightgbm_booster, lambda m: m.update()),
    "LightGBM leaf": (lightgbm_booster, lambda m: [m.set_leaf_output(0, leaf, 9.0) for leaf in range(2)]),
    "XGBoost": (lambda: xgb.XGBRegressor(**xgb_small).fit(X, OLD), fitted_again),
    "XGBoost Booster.update": (
        lambda: xgb.train({"nthread": 1}, xgb.DMatrix(X, OLD), 3),
        lambda m: m.update(xgb.DMatrix(X, OLD), 3),
    ),
    "XGBoost load_model": (lambda: xgb.train({"nthread": 1}, xgb.DMatrix(X, OLD), 3), load_another),
    "CatBoost": (lambda: small_catboost().fit(X, OLD), fitted_again),
    "CatBoost bias": (lambda: small_catboost().fit(X, OLD), lambda m: m.set_scale_and_bias(1.0, 7.0)),
    "LightGBM in a pipeline": (
        lambda: make_pipeline(StandardScaler(), lgb.LGBMRegressor(**lgb_small)).fit(X, OLD),
        fitted_again,
    ),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", ["auto", "brute"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_model_fitted_again_is_refused_with_what_to_do(change, engine, complains):
    make, changed = CHANGES[change]
    model = make()
    ex = Explainer(model, X, engine=engine)
    ex.partial_dependence(0, grid=3)
    changed(model)
    for ask in (lambda: ex.partial_dependence(0, grid=3), ex.importance, lambda: ex.ale(0)):
        with complains("model", "fitted again", "Explainer(model, X)", error=ModelError):
            ask()
    fresh = Explainer(model, X, engine=engine).partial_dependence(0, grid=3)
    brute = Explainer(model, X, engine="brute").partial_dependence(0, grid=3)
    np.testing.assert_allclose(fresh.average, brute.average, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("engine", ["auto", "brute"])
def test_a_model_fitted_again_before_the_first_question_is_refused(engine, complains):
    model = RandomForestRegressor(3).fit(X, OLD)
    ex = Explainer(model, X, engine=engine)
    model.fit(X, NEW)
    with complains("model", "fitted again", error=ModelError):
        ex.partial_dependence(0)


def test_columns_that_pass_a_refitted_transformer_do_not_meet_the_old_one(complains):
    """A pipeline taken apart holds the steps as they were: old steps before a new model would be neither."""
    steps = make_column_transformer((OneHotEncoder(), ["d"]), (StandardScaler(), ["a", "b", "c"]))
    model = make_pipeline(steps, Ridge()).fit(FRAME, OLD)
    ex = Explainer(model, FRAME)
    ex.partial_dependence("a")
    model.fit(FRAME.assign(a=FRAME["a"] * 10), NEW)
    with complains("model", "fitted again", error=ModelError):
        ex.partial_dependence("a")


def test_a_setting_that_changes_no_prediction_changes_nothing():
    model = RandomForestRegressor(4, random_state=0).fit(X, OLD)
    ex = Explainer(model, X)
    model.set_params(n_jobs=1)
    one = ex.partial_dependence(0)
    model.set_params(verbose=0, n_jobs=None)
    np.testing.assert_array_equal(ex.partial_dependence(0).average, one.average)


class Counting(RegressorMixin, BaseEstimator):
    """An estimator that takes notes as it predicts."""

    def fit(self, X, y):
        self.coef_ = np.ones(X.shape[1])
        self.calls_ = 0
        return self

    def predict(self, X):
        self.calls_ += 1
        self.seen_ = X
        return X @ self.coef_


class Chance(Counting):
    def predict(self, X):
        return super().predict(X) + np.random.default_rng(self.calls_).normal(size=len(X))


@pytest.mark.parametrize("kind", [Counting, Chance])
def test_a_model_that_changes_as_it_predicts_is_not_refused(kind):
    model = kind().fit(X, OLD)
    ex = Explainer(model, X)
    model.predict(X)
    ex.partial_dependence(0)
    model.predict(X)
    ex.partial_dependence(1)


def test_a_model_that_takes_notes_is_refused_once_it_is_another(complains):
    model = Counting().fit(X, OLD)
    ex = Explainer(model, X)
    ex.partial_dependence(0)
    model.coef_ = np.array([1.0, 2.0, 3.0])
    with complains("model", "changed", error=ModelError):
        ex.partial_dependence(0)


class Particular(Counting):
    """Refuses a row that need not be asked about."""

    def predict(self, X):
        if (X[:, 0] > 50).any():
            raise ValueError("too large for me")
        return super().predict(X)


def test_rows_a_model_refuses_are_not_asked_about_for_this():
    rows = np.vstack([X, [99.0, 0.0, 0.0]])
    model = Particular().fit(X, OLD)
    ex = Explainer(model, rows)
    ex.partial_dependence(1, rows=np.arange(40), grid=3)
    model.predict(X)
    ex.partial_dependence(1, rows=np.arange(40), grid=3)


def test_an_explainer_of_a_changed_model_does_not_travel(complains):
    model = RandomForestRegressor(3).fit(X, OLD)
    ex = Explainer(model, X)
    ex.partial_dependence(0)
    model.fit(X, NEW)
    for send in (pickle.dumps, copy.deepcopy):
        with complains("model", "fitted again", error=ModelError):
            send(ex)


@pytest.mark.parametrize(
    "model",
    [RandomForestRegressor(100, max_depth=4), lgb.LGBMRegressor(n_jobs=1, verbose=-1), xgb.XGBRegressor(n_jobs=1)],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_looking_costs_little(model):
    """About half a millisecond; calls are counted, which no busy machine changes."""
    ex = Explainer(model.fit(X, OLD), X)
    ex.partial_dependence(0)
    calls = []
    sys.setprofile(lambda frame, event, arg: calls.append(event) if event.endswith("call") else None)
    try:
        ex.study.plans.check_model()
    finally:
        sys.setprofile(None)
    assert len(calls) < 10_000


def test_a_model_with_very_many_parts_is_looked_at_up_to_a_bound(monkeypatch):
    model = RandomForestRegressor(30, max_depth=2).fit(X, OLD)
    model.notes = list(range(5000))
    model.named = {i: [i] for i in range(5000)}
    model.objects = np.array([[i] for i in range(5000)] + [None], dtype=object)[:-1]
    monkeypatch.setattr(attributes, "MOST_PARTS", 50)
    ex = Explainer(model, X)
    assert len(ex.study.plans._fingerprint._current_parts()) == 50
    ex.partial_dependence(0)
