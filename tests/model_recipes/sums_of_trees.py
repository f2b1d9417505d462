"""Models of every library that the exact engine reads as trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import catboost
import lightgbm as lgb
import numpy as np
import xgboost as xgb
from sklearn import ensemble, tree
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from model_recipes.rows import (
    ALL,
    EXPLAINED,
    NAN,
    TRAINED,
    Case,
    Fitted,
    classes,
    no_raw,
    rows,
    score,
    simple,
    with_categories,
)

CASES: dict[str, Case] = {}


def case(name: str) -> Callable[[Case], Case]:
    def add(recipe: Case) -> Case:
        CASES[name] = recipe
        return recipe

    return add


# --- scikit-learn ----------------------------------------------------------------------------------

for name in ("DecisionTree", "ExtraTree"):
    grow, sort = getattr(tree, f"{name}Regressor"), getattr(tree, f"{name}Classifier")
    CASES[f"{name}Regressor"] = simple(lambda s, k=grow: k(max_depth=6, random_state=s), accepts=NAN)
    CASES[f"{name}Classifier"] = no_raw(
        lambda s, k=sort: k(max_depth=5, random_state=s), accepts=NAN, kind="labels"
    )
for name in ("RandomForest", "ExtraTrees"):
    grow, sort = getattr(ensemble, f"{name}Regressor"), getattr(ensemble, f"{name}Classifier")
    small = {"n_estimators": 4, "max_depth": 6}
    CASES[f"{name}Regressor"] = simple(
        lambda s, k=grow, o=small: k(**o, random_state=s), accepts=NAN, array=True
    )
    CASES[f"{name}Regressor several targets"] = simple(
        lambda s, k=grow, o=small: k(**o, random_state=s), kind="several", target="all"
    )
    CASES[f"{name}Classifier"] = no_raw(
        lambda s, k=sort, o=small: k(**o, random_state=s), accepts=NAN, kind="multiclass"
    )
    CASES[f"{name}Classifier several targets"] = no_raw(
        lambda s, k=sort, o=small: k(**o, random_state=s), kind="several classes"
    )
CASES["RandomForestRegressor unpruned"] = simple(
    lambda s: ensemble.RandomForestRegressor(n_estimators=3, random_state=s), accepts=NAN
)
for loss in ("squared_error", "absolute_error", "huber", "quantile"):
    CASES[f"GradientBoostingRegressor {loss}"] = simple(
        lambda s, o=loss: ensemble.GradientBoostingRegressor(loss=o, n_estimators=5, random_state=s)
    )
for loss, kind in (("log_loss", "binary"), ("exponential", "binary"), ("log_loss", "multiclass")):
    CASES[f"GradientBoostingClassifier {loss} {kind}"] = simple(
        lambda s, o=loss: ensemble.GradientBoostingClassifier(loss=o, n_estimators=4, random_state=s),
        kind=kind,
    )
for loss, kind in (
    ("squared_error", "regression"), ("absolute_error", "regression"), ("quantile", "regression"),
    ("poisson", "positive"), ("gamma", "positive"),
):  # fmt: skip
    CASES[f"HistGradientBoostingRegressor {loss}"] = simple(
        lambda s, o=loss: ensemble.HistGradientBoostingRegressor(
            loss=o, max_iter=5, min_samples_leaf=5, quantile=0.4 if o == "quantile" else None
        ),
        accepts=ALL,
        kind=kind,
    )
for kind in ("binary", "multiclass"):
    CASES[f"HistGradientBoostingClassifier {kind}"] = simple(
        lambda s: ensemble.HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5),
        accepts=ALL,
        kind=kind,
        target="all" if kind == "multiclass" else None,
    )
CASES["IsolationForest"] = simple(
    lambda s: ensemble.IsolationForest(n_estimators=5, max_samples=40, random_state=s),
    kind="none", accepts=NAN,
)  # fmt: skip
CASES["IsolationForest some columns"] = simple(
    lambda s: ensemble.IsolationForest(n_estimators=6, max_samples=30, max_features=2, random_state=s),
    kind="none",
)
CASES["BaggingRegressor"] = simple(
    lambda s: ensemble.BaggingRegressor(
        tree.DecisionTreeRegressor(max_depth=4), n_estimators=4, max_features=3, random_state=s
    ),
    raw=False,
    accepts=NAN,
)
CASES["BaggingClassifier"] = simple(
    lambda s: ensemble.BaggingClassifier(
        ensemble.GradientBoostingClassifier(n_estimators=2), n_estimators=3, random_state=s
    ),
    kind="multiclass",
    target="all",
)
CASES["VotingRegressor"] = simple(
    lambda s: ensemble.VotingRegressor(
        [
            ("forest", ensemble.RandomForestRegressor(n_estimators=3, max_depth=4, random_state=s)),
            ("hist", ensemble.HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5)),
            ("rate", lgb.LGBMRegressor(objective="huber", **{"n_estimators": 3, "verbose": -1, "n_jobs": 1})),
        ],
        weights=[1, 2, 0.5],
    ),
    raw=False,
)
CASES["VotingClassifier"] = no_raw(
    lambda s: ensemble.VotingClassifier(
        [
            ("forest", ensemble.RandomForestClassifier(n_estimators=3, max_depth=4, random_state=s)),
            ("hist", ensemble.HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5)),
        ],
        voting="soft",
    ),
    kind="labels",
    accepts=(),
)


@case("HistGradientBoostingRegressor categories")
def _(seed: int) -> Fitted:
    train = with_categories(seed, TRAINED, gaps=True, accepts=ALL)
    model = ensemble.HistGradientBoostingRegressor(max_iter=6, min_samples_leaf=5).fit(train, score(train))
    return Fitted(model, with_categories(seed + 1, EXPLAINED, gaps=True, accepts=ALL), ALL)


@case("HistGradientBoostingClassifier categories by number")
def _(seed: int) -> Fitted:
    train = with_categories(seed, TRAINED, gaps=False)
    y = classes(score(train), True)
    X = with_categories(seed + 1, EXPLAINED, gaps=False, accepts=NAN)
    train, X = (frame.assign(c=frame["c"].cat.codes.astype(float) * 3) for frame in (train, X))
    X.loc[::11, "c"] = 40.0  # unknown: the way of the missing
    X.loc[::13, "c"] = np.nan
    model = ensemble.HistGradientBoostingClassifier(
        max_iter=4, min_samples_leaf=5, categorical_features=["c"]
    ).fit(train, y)
    return Fitted(model, X, NAN, target="all")


# --- LightGBM --------------------------------------------------------------------------------------

QUIET = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 4, "min_data_in_bin": 1, "num_leaves": 12}


def _lgb_booster(parameters: dict[str, Any], kind: str = "regression", accepts: tuple = ALL) -> Case:
    def recipe(seed: int) -> Fitted:
        train = rows(seed, TRAINED, accepts=accepts)
        y = score(train)
        if kind in ("binary", "multiclass"):
            y = classes(y, kind == "multiclass")
        elif kind == "positive":
            y = np.exp(y / 4)
        data = lgb.Dataset(train, y)
        model = lgb.train({**QUIET, "seed": seed, **parameters}, data, 6)
        return Fitted(model, rows(seed + 1, EXPLAINED, accepts=accepts, wide=True), accepts)

    return recipe


for objective in ("regression", "regression_l1", "quantile", "huber", "fair", "mape"):
    CASES[f"LightGBM {objective}"] = _lgb_booster({"objective": objective})
CASES["LightGBM reg_sqrt"] = _lgb_booster({"objective": "regression", "reg_sqrt": True})
for objective in ("poisson", "gamma", "tweedie"):
    CASES[f"LightGBM {objective}"] = _lgb_booster({"objective": objective}, "positive")
CASES["LightGBM binary"] = _lgb_booster({"objective": "binary", "sigmoid": 1.7}, "binary")
CASES["LightGBM cross_entropy_lambda"] = _lgb_booster({"objective": "cross_entropy_lambda"}, "binary")
CASES["LightGBM multiclass"] = _lgb_booster({"objective": "multiclass", "num_class": 3}, "multiclass")
CASES["LightGBM multiclassova"] = _lgb_booster(
    {"objective": "multiclassova", "num_class": 3, "sigmoid": 0.6}, "multiclass"
)
CASES["LightGBM zero as missing"] = _lgb_booster({"zero_as_missing": True})
CASES["LightGBM missing unknown"] = _lgb_booster({"use_missing": False})
CASES["LightGBM missing type none"] = _lgb_booster({}, accepts=())
CASES["LightGBM dart"] = _lgb_booster({"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0})
for objective, kind in (("regression", "regression"), ("binary", "binary")):
    CASES[f"LightGBM rf {objective}"] = _lgb_booster(
        {"objective": objective, "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}, kind
    )


def _lgb_wrapper(kind: Any, **settings: Any) -> Any:
    return kind(n_estimators=5, num_leaves=10, min_child_samples=4, verbose=-1, n_jobs=1, **settings)


CASES["LGBMRegressor"] = simple(lambda s: _lgb_wrapper(lgb.LGBMRegressor), accepts=ALL)
CASES["LGBMClassifier"] = simple(lambda s: _lgb_wrapper(lgb.LGBMClassifier), accepts=NAN, kind="binary")
CASES["LGBMClassifier labels"] = simple(
    lambda s: _lgb_wrapper(lgb.LGBMClassifier), accepts=NAN, kind="labels", target="mid"
)


@case("LGBMRegressor categories")
def _(seed: int) -> Fitted:
    train = with_categories(seed, TRAINED, gaps=True, accepts=NAN)
    model = _lgb_wrapper(lgb.LGBMRegressor, min_data_per_group=2, cat_smooth=1.0, max_cat_to_onehot=2)
    model.fit(train, score(train))
    return Fitted(model, with_categories(seed + 1, EXPLAINED, gaps=True, accepts=ALL), ALL)


@case("LightGBM category numbers")
def _(seed: int) -> Fitted:
    train = with_categories(seed, TRAINED, gaps=False)
    y = score(train)
    X = with_categories(seed + 1, EXPLAINED, gaps=True)
    train, X = (
        frame.assign(c=frame["c"].cat.codes.astype(float)).to_numpy() for frame in (train, X)
    )  # gaps are code -1: no category
    X[::9, 1] += 0.5
    X[::13, 1] = np.nan
    X[::17, 1] = 1e10
    settings = {**QUIET, "min_data_per_group": 2, "cat_smooth": 1.0, "max_cat_to_onehot": 1}
    model = lgb.train(settings, lgb.Dataset(train, y, categorical_feature=[1]), 6)
    return Fitted(model, X, ALL)


# --- XGBoost ---------------------------------------------------------------------------------------


def _xgb(kind: Any, **settings: Any) -> Any:
    return kind(**{"n_estimators": 5, "max_depth": 4, "n_jobs": 1, **settings})


def _xgb_booster(parameters: dict[str, Any], kind: str = "regression", rounds: int = 5) -> Case:
    def recipe(seed: int) -> Fitted:
        train = rows(seed, TRAINED, accepts=NAN)
        y: Any = score(train)
        if kind in ("binary", "multiclass"):
            y = classes(y, kind == "multiclass")
        elif kind == "positive":
            y = np.exp(y / 4)
        model = xgb.train(
            {"max_depth": 4, "nthread": 1, "seed": seed, **parameters}, xgb.DMatrix(train, y), rounds
        )
        return Fitted(model, rows(seed + 1, EXPLAINED, accepts=NAN, wide=True), NAN, tolerance=1e-5)

    return recipe


CASES["XGBRegressor"] = simple(lambda s: _xgb(xgb.XGBRegressor), accepts=NAN, tolerance=1e-5, array=True)
for objective, kind in (
    ("reg:absoluteerror", "regression"), ("count:poisson", "positive"), ("reg:gamma", "positive"),
    ("reg:tweedie", "positive"), ("reg:pseudohubererror", "regression"),
):  # fmt: skip
    CASES[f"XGBoost {objective}"] = _xgb_booster({"objective": objective}, kind)
CASES["XGBoost base_score"] = _xgb_booster({"objective": "binary:logistic", "base_score": 0.2}, "binary")
CASES["XGBoost multi:softmax"] = _xgb_booster({"objective": "multi:softmax", "num_class": 3}, "multiclass")
CASES["XGBoost dart"] = _xgb_booster({"booster": "dart", "rate_drop": 0.5, "skip_drop": 0.0})
CASES["XGBoost parallel trees"] = _xgb_booster(
    {"num_parallel_tree": 3, "subsample": 0.5, "learning_rate": 0.8}, rounds=2
)
CASES["XGBClassifier"] = simple(lambda s: _xgb(xgb.XGBClassifier), accepts=NAN, kind="binary", tolerance=1e-5)
CASES["XGBClassifier several classes"] = simple(
    lambda s: _xgb(xgb.XGBClassifier, n_estimators=3),
    accepts=NAN, kind="multiclass", tolerance=1e-5, target="all",
)  # fmt: skip
CASES["XGBRFRegressor"] = simple(
    lambda s: _xgb(xgb.XGBRFRegressor, random_state=s), accepts=NAN, tolerance=1e-5
)
CASES["XGBRegressor vector leaves"] = simple(
    lambda s: _xgb(xgb.XGBRegressor, multi_strategy="multi_output_tree", tree_method="hist"),
    accepts=NAN, kind="several", tolerance=1e-5, target="all",
)  # fmt: skip


@case("XGBRegressor missing number")
def _(seed: int) -> Fitted:
    train = rows(seed, TRAINED, accepts=(-7.25,))
    model = _xgb(xgb.XGBRegressor, missing=-7.25).fit(train, score(train))
    return Fitted(model, rows(seed + 1, EXPLAINED, accepts=(-7.25, np.nan)), (-7.25,), tolerance=1e-5)


@case("XGBRegressor categories")
def _(seed: int) -> Fitted:
    train = with_categories(seed, TRAINED, gaps=True, accepts=NAN)
    model = _xgb(xgb.XGBRegressor, enable_categorical=True, max_cat_to_onehot=1).fit(train, score(train))
    X = with_categories(seed + 1, EXPLAINED, gaps=True, accepts=NAN)
    return Fitted(model, X, NAN, tolerance=1e-5)


# --- CatBoost --------------------------------------------------------------------------------------


def _cat(kind: Any, **settings: Any) -> Any:
    return kind(
        iterations=5, verbose=0, thread_count=1, allow_writing_files=False, **{"depth": 4, **settings}
    )


for policy in ("SymmetricTree", "Depthwise", "Lossguide"):
    CASES[f"CatBoostRegressor {policy}"] = simple(
        lambda s, p=policy: _cat(catboost.CatBoostRegressor, grow_policy=p, random_seed=s),
        accepts=ALL, trained_on=NAN,
    )  # fmt: skip
for mode in ("Min", "Max"):
    CASES[f"CatBoostRegressor NaN {mode}"] = simple(
        lambda s, m=mode: _cat(catboost.CatBoostRegressor, nan_mode=m, loss_function="MAE", random_seed=s),
        accepts=NAN, array=True,
    )  # fmt: skip
CASES["CatBoostRegressor Poisson"] = simple(
    lambda s: _cat(catboost.CatBoostRegressor, loss_function="Poisson", random_seed=s),
    accepts=NAN, kind="positive",
)  # fmt: skip
CASES["CatBoostRegressor several targets"] = simple(
    lambda s: _cat(catboost.CatBoostRegressor, loss_function="MultiRMSE", random_seed=s),
    kind="several", target="all",
)  # fmt: skip
CASES["CatBoostClassifier"] = simple(
    lambda s: _cat(catboost.CatBoostClassifier, random_seed=s), accepts=NAN, kind="binary"
)
for loss in ("MultiClass", "MultiClassOneVsAll"):
    CASES[f"CatBoostClassifier {loss}"] = simple(
        lambda s, o=loss: _cat(catboost.CatBoostClassifier, loss_function=o, random_seed=s),
        accepts=NAN, kind="multiclass", target="all",
    )  # fmt: skip


@case("CatBoostRegressor one-hot")
def _(seed: int) -> Fitted:
    train = with_categories(seed, TRAINED, gaps=False)
    model = _cat(catboost.CatBoostRegressor, one_hot_max_size=10, cat_features=["c"], random_seed=seed)
    model.fit(train, score(train))
    return Fitted(model, with_categories(seed + 1, EXPLAINED, gaps=False, accepts=NAN), NAN)


# --- pipelines -------------------------------------------------------------------------------------


def _prepared(encoder: Any, scaled: bool = True) -> ColumnTransformer:
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler() if scaled else "passthrough")
    return ColumnTransformer(
        [("names", encoder, ["c"]), ("numbers", numbers, ["x", "u"])], remainder="passthrough"
    )


def _pipeline(
    final: Callable[[int], Any],
    encoder: Any,
    kind: str = "regression",
    accepts: tuple = NAN,
    margin: Callable[[Any], Any] | None = None,
    **described: Any,
) -> Case:
    def recipe(seed: int) -> Fitted:
        train = with_categories(seed, TRAINED, gaps=False, accepts=NAN)
        y = score(train)
        if kind != "regression":
            y = classes(y, kind == "multiclass")
        train["c"] = train["c"].astype(str).astype(object)
        X = with_categories(seed + 1, EXPLAINED, gaps=False, accepts=NAN)
        X["c"] = X["c"].astype(str).astype(object)
        model = make_pipeline(_prepared(encoder), final(seed)).fit(train, y)
        return Fitted(model, X, accepts, unseen=("willow",), margin=margin and margin(model), **described)

    return recipe


ONE_HOT = OneHotEncoder(handle_unknown="ignore")
ORDINAL = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
CASES["Pipeline one-hot forest"] = _pipeline(
    lambda s: ensemble.RandomForestClassifier(n_estimators=4, max_depth=5, random_state=s),
    ONE_HOT, "multiclass", raw=False, target="all",
)  # fmt: skip
CASES["Pipeline ordinal LightGBM"] = _pipeline(lambda s: _lgb_wrapper(lgb.LGBMRegressor), ORDINAL)
CASES["Pipeline one-hot dense hist"] = _pipeline(
    lambda s: ensemble.HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5),
    OneHotEncoder(handle_unknown="ignore", sparse_output=False), "binary",
)  # fmt: skip
CASES["Pipeline one-hot XGBoost"] = _pipeline(lambda s: _xgb(xgb.XGBRegressor), ONE_HOT, tolerance=1e-5)
CASES["Pipeline GradientBoosting"] = _pipeline(
    lambda s: ensemble.GradientBoostingRegressor(n_estimators=5, random_state=s), ONE_HOT, accepts=()
)
CASES["Pipeline of a transformed target"] = _pipeline(
    lambda s: TransformedTargetRegressor(
        ensemble.HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=5), transformer=StandardScaler()
    ),
    ORDINAL,
    margin=lambda model: lambda X: model[-1].regressor_.predict(model[:-1].transform(X)),
)

# Cases that differ from others by a loss only, whose link is the same: for the longer run.
REPEATS = {
    "ExtraTreeRegressor", "ExtraTreeClassifier", "ExtraTreesRegressor several targets", "ExtraTreesClassifier",
    "GradientBoostingRegressor absolute_error", "GradientBoostingRegressor huber",
    "GradientBoostingClassifier log_loss binary", "HistGradientBoostingRegressor absolute_error",
    "HistGradientBoostingRegressor quantile", "HistGradientBoostingRegressor gamma",
    "LightGBM regression_l1", "LightGBM huber", "LightGBM fair", "LightGBM mape", "LightGBM gamma",
    "LightGBM tweedie", "LGBMClassifier", "XGBoost reg:absoluteerror", "XGBoost reg:gamma",
    "XGBoost reg:tweedie", "XGBoost reg:pseudohubererror", "CatBoostRegressor Lossguide",
    "Pipeline GradientBoosting", "Pipeline one-hot dense hist", "Pipeline of a transformed target",
}  # fmt: skip
DISTINCT = [name for name in CASES if name not in REPEATS]
