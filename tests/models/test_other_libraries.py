"""Models of libraries that are asked as estimators, and of boosters' rarer kinds: every curve against a plain loop, where they are installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer

RNG = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {"a": RNG.normal(size=160), "b": RNG.normal(size=160), "c": RNG.integers(0, 4, 160).astype(float)}
)
Y = (FRAME["a"] * FRAME["b"] + FRAME["c"] + 0.1 * RNG.normal(size=160)).to_numpy()
CLASSES = (np.median(Y) < Y).astype(int)
GRID = [-1.0, 0.0, 0.7]


def lightgbm(objective: str = "regression", **options: Any) -> Any:
    lgb = pytest.importorskip("lightgbm")
    return lgb.LGBMRegressor(
        n_estimators=8, min_child_samples=5, verbose=-1, n_jobs=1, objective=objective, **options
    ).fit(FRAME, Y)


def xgboost(**options: Any) -> Any:
    xgb = pytest.importorskip("xgboost")
    return xgb.XGBRegressor(n_estimators=8, max_depth=3, n_jobs=1, **options).fit(FRAME, Y)


def survival(name: str) -> Any:
    ensemble, util = pytest.importorskip("sksurv.ensemble"), pytest.importorskip("sksurv.util")
    seen = util.Surv.from_arrays(CLASSES.astype(bool), np.exp(Y / Y.std()))
    if name == "CoxPHSurvivalAnalysis":
        return pytest.importorskip("sksurv.linear_model").CoxPHSurvivalAnalysis().fit(FRAME, seen)
    return getattr(ensemble, name)(n_estimators=5, random_state=0).fit(FRAME, seen)


def boosting_machine() -> Any:
    glassbox = pytest.importorskip("interpret.glassbox")
    return glassbox.ExplainableBoostingRegressor(max_rounds=20, outer_bags=2, n_jobs=1, interactions=1).fit(
        FRAME, Y
    )


def natural_gradient(classifier: bool) -> Any:
    ngboost = pytest.importorskip("ngboost")
    if classifier:
        return ngboost.NGBClassifier(n_estimators=8, verbose=False, random_state=0).fit(
            FRAME.to_numpy(), CLASSES
        )
    return ngboost.NGBRegressor(n_estimators=8, verbose=False, random_state=0).fit(FRAME.to_numpy(), Y)


def gam(classifier: bool) -> Any:
    pygam = pytest.importorskip("pygam")
    return (
        pygam.LogisticGAM().fit(FRAME.to_numpy(), CLASSES)
        if classifier
        else pygam.LinearGAM().fit(FRAME.to_numpy(), Y)
    )


def quantile_forest() -> Any:
    forests = pytest.importorskip("quantile_forest")
    return forests.RandomForestQuantileRegressor(n_estimators=8, random_state=0).fit(FRAME, Y)


MODELS: dict[str, tuple[Callable[[], Any], str]] = {
    "LightGBM dart": (lambda: lightgbm(boosting_type="dart", random_state=0), "predict"),
    "LightGBM random forest": (
        lambda: lightgbm(boosting_type="rf", bagging_freq=1, bagging_fraction=0.7, random_state=0), "predict"
    ),
    "LightGBM linear trees": (lambda: lightgbm(linear_tree=True), "predict"),
    "LightGBM monotone": (lambda: lightgbm(monotone_constraints=[0, 0, 1]), "predict"),
    "LightGBM quantile": (lambda: lightgbm("quantile", alpha=0.8), "predict"),
    "LightGBM extra trees": (lambda: lightgbm(extra_trees=True), "predict"),
    "XGBoost dart": (lambda: xgboost(booster="dart", rate_drop=0.3, random_state=0), "predict"),
    "XGBoost linear": (lambda: xgboost(booster="gblinear"), "predict"),
    "XGBoost quantile": (lambda: xgboost(objective="reg:quantileerror", quantile_alpha=0.7), "predict"),
    "XGBoost absolute error": (lambda: xgboost(objective="reg:absoluteerror"), "predict"),
    "XGBoost lossguide": (lambda: xgboost(grow_policy="lossguide", tree_method="hist", max_leaves=6), "predict"),
    "random survival forest": (lambda: survival("RandomSurvivalForest"), "predict"),
    "boosted survival": (lambda: survival("GradientBoostingSurvivalAnalysis"), "predict"),
    "Cox": (lambda: survival("CoxPHSurvivalAnalysis"), "predict"),
    "explainable boosting": (boosting_machine, "predict"),
    "NGBoost": (lambda: natural_gradient(False), "predict"),
    "NGBoost classifier": (lambda: natural_gradient(True), "predict_proba"),
    "a GAM": (lambda: gam(False), "predict"),
    "a logistic GAM": (lambda: gam(True), "predict_proba"),
    "quantile forest": (quantile_forest, "predict"),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_another_library_is_as_a_plain_loop(name: str) -> None:
    make, method = MODELS[name]
    model = make()
    by_matrix = name.startswith(("NGBoost", "a "))
    rows: Any = FRAME.to_numpy() if by_matrix else FRAME

    def predicted(frame: pd.DataFrame) -> np.ndarray:
        found = np.asarray(getattr(model, method)(frame.to_numpy() if by_matrix else frame), dtype=float)
        return found[:, -1] if found.ndim == 2 else found

    wanted = np.array([predicted(FRAME.assign(a=value)) for value in GRID])
    feature = 0 if by_matrix else "a"
    for engine in ("auto", "brute"):
        found = Explainer(model, rows, engine=engine).ice(feature, grid=GRID)
        size = np.abs(wanted).max()
        np.testing.assert_allclose(found.individual[-1].T, wanted, rtol=0.0, atol=2e-6 * size)
        np.testing.assert_allclose(found.average[-1], wanted.mean(axis=1), rtol=0.0, atol=2e-6 * size)
