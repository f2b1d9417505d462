"""LightGBM and XGBoost: objectives, wrappers, files and settings that are not sums of trees, or not at first sight."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb

from model_recipes.rows import NAN, Case, categorical, simple

RECIPES: dict[str, Case] = {}


def squares(target: Any, answer: Any) -> tuple[Any, Any]:
    """A user's own objective for the wrappers: squared error."""
    return answer - target, np.ones_like(answer)


def squares_of_data(answer: Any, data: Any) -> tuple[Any, Any]:
    """The same for boosters."""
    return answer - data.get_label(), np.ones_like(answer)


class Trained:
    """A booster, trained when fitted, so that it is built as an estimator is."""

    def __init__(self, train: Callable[[Any, Any], Any]) -> None:
        self.train = train

    def fit(self, X: Any, y: Any) -> None:
        self.booster = self.train(X, y)


def taken(fitted: Trained) -> Any:
    return fitted.booster


# --- LightGBM --------------------------------------------------------------------------------------

SMALL = {"verbose": -1, "num_leaves": 8, "min_child_samples": 4}


def lgb_wrapper(kind: Any, **settings: Any) -> Callable[[int], Any]:
    return lambda seed: kind(n_estimators=5, n_jobs=1, random_state=seed, **{**SMALL, **settings})


def lgb_booster(rounds: int = 5, **settings: Any) -> Callable[[int], Any]:
    def train(seed: int, X: Any, y: Any) -> Any:
        given = {
            "verbose": -1,
            "num_leaves": 8,
            "min_data_in_leaf": 4,
            "num_threads": 1,
            "seed": seed,
            **settings,
        }
        return lgb.train(given, lgb.Dataset(X, y), rounds)

    return lambda seed: Trained(partial(train, seed))


def queries(n: int) -> dict[str, Any]:
    return {"group": [20] * (n // 20)}


def through_text(booster: Any) -> Any:
    return lgb.Booster(model_str=booster.model_to_string())


for name, kind in (("LGBMRanker", "lambdarank"), ("LGBMRanker xendcg", "rank_xendcg")):
    RECIPES[name] = simple(
        lgb_wrapper(lgb.LGBMRanker, objective=kind), kind="multiclass", accepts=NAN, fitted_with=queries
    )
for objective, kind in (
    ("poisson", "counts"),
    ("tweedie", "positive"),
    ("gamma", "positive"),
    ("mape", "positive"),
):
    RECIPES[f"LGBMRegressor {objective}"] = simple(
        lgb_wrapper(lgb.LGBMRegressor, objective=objective), kind=kind, accepts=NAN
    )
for name, settings in {
    "own objective": {"objective": squares}, "linear": {"linear_tree": True}, "extra trees": {"extra_trees": True},
    "goss": {"data_sample_strategy": "goss"}, "dart": {"boosting_type": "dart"},
    "monotone": {"monotone_constraints": [1, 0, 0, 0]},
}.items():  # fmt: skip
    RECIPES[f"LGBMRegressor {name}"] = simple(lgb_wrapper(lgb.LGBMRegressor, **settings))
for kind in ("two labels", "odd numbers", "truth"):
    RECIPES[f"LGBMClassifier of {kind}"] = simple(lgb_wrapper(lgb.LGBMClassifier), kind=kind, accepts=NAN)
RECIPES["LGBMClassifier own objective"] = simple(
    lgb_wrapper(lgb.LGBMClassifier, objective=squares), kind="binary",
    response=lambda model: partial(model.predict, raw_score=True),
)  # fmt: skip
RECIPES["LGBMClassifier one class against all"] = simple(
    lgb_wrapper(lgb.LGBMClassifier, objective="multiclassova"), kind="labels", accepts=NAN
)
RECIPES["LGBMClassifier categories"] = categorical(
    lgb_wrapper(lgb.LGBMClassifier, min_data_per_group=2, cat_smooth=1.0),
    kind="labels",
    gaps=True,
    accepts=NAN,
)
RECIPES["LightGBM cross_entropy"] = simple(lgb_booster(objective="cross_entropy"), kind="share", then=taken)
RECIPES["LightGBM own objective"] = simple(
    lgb_booster(objective=lambda a, d: squares_of_data(a, d)), then=taken
)
RECIPES["LightGBM from text"] = simple(lgb_booster(), accepts=NAN, then=lambda f: through_text(f.booster))
RECIPES["LightGBM several classes from text"] = simple(
    lgb_booster(objective="multiclass", num_class=3),
    kind="multiclass",
    then=lambda f: through_text(f.booster),
)

# --- XGBoost ---------------------------------------------------------------------------------------


def xgb_wrapper(kind: Any, **settings: Any) -> Callable[[int], Any]:
    return lambda seed: kind(
        **{"n_estimators": 5, "max_depth": 3, "n_jobs": 1, "random_state": seed, **settings}
    )


def xgb_booster(rounds: int = 5, own: Any = None, **settings: Any) -> Callable[[int], Any]:
    def train(seed: int, X: Any, y: Any) -> Any:
        given = {"nthread": 1, "seed": seed, **settings}
        if given.get("booster") != "gblinear":
            given["max_depth"] = 3
        data = xgb.DMatrix(X, y)
        if given.get("objective") == "survival:aft":  # times between which something happened
            data.set_float_info("label_lower_bound", y)
            data.set_float_info("label_upper_bound", y * 1.5)
        return xgb.train(given, data, rounds, obj=own)

    return lambda seed: Trained(partial(train, seed))


def through_file(suffix: str) -> Callable[[Any], Any]:
    def again(fitted: Trained) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"model.{suffix}"
            fitted.booster.save_model(path)
            return xgb.Booster(model_file=path)

    return again


ROUNDED = {"tolerance": 1e-5}
for objective, kind in (
    ("reg:squarederror", "regression"), ("reg:squaredlogerror", "positive"), ("reg:logistic", "share"),
    ("reg:quantileerror", "regression"), ("binary:logitraw", "binary"), ("binary:hinge", "binary"),
    ("multi:softprob", "multiclass"), ("survival:cox", "positive"), ("survival:aft", "positive"),
):  # fmt: skip
    settings = {"objective": objective}
    if objective == "multi:softprob":
        settings["num_class"] = 3
    elif objective == "reg:quantileerror":
        settings["quantile_alpha"] = [0.2, 0.7]
    RECIPES[f"XGBoost {objective}"] = simple(
        xgb_booster(**settings), kind=kind, accepts=NAN, then=taken, **ROUNDED
    )
RECIPES["XGBoost no trees"] = simple(xgb_booster(rounds=0), then=taken, **ROUNDED)
RECIPES["XGBoost no trees of a class"] = simple(
    xgb_booster(rounds=0, objective="binary:logistic"), kind="binary", then=taken, **ROUNDED
)
RECIPES["XGBoost linear"] = simple(xgb_booster(booster="gblinear"), then=taken, **ROUNDED)
RECIPES["XGBoost own objective"] = simple(
    xgb_booster(own=squares_of_data), accepts=NAN, then=taken, **ROUNDED
)
for suffix in ("json", "ubj"):
    RECIPES[f"XGBoost from {suffix}"] = simple(
        xgb_booster(objective="binary:logistic"),
        kind="binary",
        accepts=NAN,
        then=through_file(suffix),
        **ROUNDED,
    )
for objective, kind in (
    ("count:poisson", "counts"),
    ("reg:gamma", "positive"),
    ("reg:absoluteerror", "regression"),
):
    RECIPES[f"XGBRegressor {objective}"] = simple(
        xgb_wrapper(xgb.XGBRegressor, objective=objective), kind=kind, accepts=NAN, **ROUNDED
    )
RECIPES["XGBRegressor own objective"] = simple(xgb_wrapper(xgb.XGBRegressor, objective=squares), **ROUNDED)
RECIPES["XGBRegressor several targets"] = simple(xgb_wrapper(xgb.XGBRegressor), kind="several", **ROUNDED)
RECIPES["XGBRegressor no trees"] = simple(xgb_wrapper(xgb.XGBRegressor, n_estimators=0), **ROUNDED)
RECIPES["XGBClassifier dart"] = simple(
    xgb_wrapper(xgb.XGBClassifier, booster="dart", rate_drop=0.4), kind="multiclass", accepts=NAN, **ROUNDED
)
RECIPES["XGBClassifier of truth"] = simple(xgb_wrapper(xgb.XGBClassifier), kind="truth", **ROUNDED)
RECIPES["XGBClassifier several labels"] = simple(
    xgb_wrapper(xgb.XGBClassifier), kind="several labels", accepts=NAN, **ROUNDED
)
RECIPES["XGBRFClassifier"] = simple(xgb_wrapper(xgb.XGBRFClassifier), kind="binary", accepts=NAN, **ROUNDED)
RECIPES["XGBRanker"] = simple(
    xgb_wrapper(xgb.XGBRanker),
    kind="multiclass",
    fitted_with=lambda n: {"qid": np.arange(n) // 20},
    **ROUNDED,
)
RECIPES["XGBClassifier categories"] = categorical(
    xgb_wrapper(xgb.XGBClassifier, enable_categorical=True),
    kind="multiclass",
    gaps=True,
    accepts=NAN,
    **ROUNDED,
)
