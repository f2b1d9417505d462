"""Small fitted models of every library that is read as trees, with awkward rows to explain.

A `Case` is a recipe: calling it with a seed draws rows, fits, and returns the model with the rows to
explain. Rows hold duplicates, a constant column, zeros, and NaN and infinities where the library
takes them; the rows explained hold values the training rows did not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import catboost
import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn import ensemble, tree
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

TRAINED, EXPLAINED = 160, 70
LEVELS = ["ash", "birch", "cedar", "elm", "fir"]
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Fitted:
    """A model and the rows to explain; `accepts` are values its ``predict`` takes beside numbers."""

    model: Any
    X: Any
    accepts: tuple[float, ...] = ()
    raw: bool = True  # whether it has a raw scale
    tolerance: float = 1e-12
    target: Any = None
    unseen: tuple[str, ...] = field(default=())  # levels the model never saw but takes


Case = Callable[[int], Fitted]
CASES: dict[str, Case] = {}


def case(name: str) -> Callable[[Case], Case]:
    def add(recipe: Case) -> Case:
        CASES[name] = recipe
        return recipe

    return add


# --- rows ------------------------------------------------------------------------------------------


def rows(seed: int, n: int, *, accepts: tuple[float, ...] = (), wide: bool = False) -> pd.DataFrame:
    """x: numbers with ties; z: small counts with zeros; u: skewed; k: constant."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": np.round(draw.normal(size=n) * (1.4 if wide else 1.0), 1),
            "z": draw.poisson(1.0, n).astype(float),
            "u": np.exp(2 * draw.normal(size=n)) * draw.choice([-1, 1], n),
            "k": np.full(n, 2.5),
        }
    )
    for place, value in enumerate(accepts):
        for column, every in (("x", 9), ("u", 13)):
            frame.loc[draw.permutation(n)[: n // (every + 4 * place)], column] = value
    return frame


def with_categories(seed: int, n: int, *, gaps: bool, accepts: tuple[float, ...] = ()) -> pd.DataFrame:
    draw = np.random.default_rng(seed + 1000)
    frame = rows(seed, n, accepts=accepts)
    labels = draw.choice(LEVELS, n).astype(object)
    if gaps:
        labels[draw.random(n) < 0.1] = None
    frame.insert(1, "c", pd.Categorical(labels, LEVELS))
    return frame


def score(frame: pd.DataFrame) -> np.ndarray:
    """A target with interactions, steps and a category's effect, finite whatever the rows hold."""
    x = np.nan_to_num(frame["x"].to_numpy(float), nan=0.7, posinf=2.0, neginf=-2.0)
    u = np.nan_to_num(frame["u"].to_numpy(float), nan=-1.0, posinf=20.0, neginf=-20.0)
    total = x * frame["z"].to_numpy() + np.tanh(u) * 2 + (x > 0.3)
    if "c" in frame:
        total = total + frame["c"].map(dict(zip(LEVELS, [2.0, -1.0, 0.5, 3.0, -2.0]))).astype(float).fillna(1)
    return np.asarray(total)


def classes(values: np.ndarray, several: bool) -> np.ndarray:
    return np.digitize(values, np.quantile(values, [0.3, 0.7] if several else [0.5]))


NAN = (np.nan,)
ALL = (np.nan, np.inf, -np.inf)


def _simple(
    build: Callable[[int], Any],
    *,
    accepts: tuple[float, ...] = (),
    trained_on: tuple[float, ...] | None = None,  # where rows explained hold more than training did
    kind: str = "regression",
    array: bool = False,
    **described: Any,
) -> Case:
    def recipe(seed: int) -> Fitted:
        train = rows(seed, TRAINED, accepts=accepts if trained_on is None else trained_on)
        X = rows(seed + 1, EXPLAINED, accepts=accepts, wide=True)
        y = score(train)
        if kind in ("binary", "multiclass"):
            y = classes(y, kind == "multiclass")
        elif kind == "positive":
            y = np.exp(y / 4)
        elif kind == "several":
            y = np.column_stack([y, -2 * y**2])
        elif kind == "several classes":
            y = np.column_stack([classes(y, True), classes(-y, False)])
        elif kind == "labels":
            y = np.array(["low", "mid", "top"])[classes(y, True)]
        elif kind == "none":
            y = None
        if array:
            train, X = train.to_numpy(), X.to_numpy()
        model = build(seed)
        model.fit(train) if y is None else model.fit(train, y)
        return Fitted(model, X, accepts, **described)

    return recipe


def _no_raw(build: Callable[[int], Any], **how: Any) -> Case:
    return _simple(build, raw=False, target="all", **how)


# --- scikit-learn ----------------------------------------------------------------------------------

for name in ("DecisionTree", "ExtraTree"):
    grow, sort = getattr(tree, f"{name}Regressor"), getattr(tree, f"{name}Classifier")
    CASES[f"{name}Regressor"] = _simple(lambda s, k=grow: k(max_depth=6, random_state=s), accepts=NAN)
    CASES[f"{name}Classifier"] = _no_raw(
        lambda s, k=sort: k(max_depth=5, random_state=s), accepts=NAN, kind="labels"
    )
for name in ("RandomForest", "ExtraTrees"):
    grow, sort = getattr(ensemble, f"{name}Regressor"), getattr(ensemble, f"{name}Classifier")
    small = {"n_estimators": 4, "max_depth": 6}
    CASES[f"{name}Regressor"] = _simple(
        lambda s, k=grow, o=small: k(**o, random_state=s), accepts=NAN, array=True
    )
    CASES[f"{name}Regressor several targets"] = _simple(
        lambda s, k=grow, o=small: k(**o, random_state=s), kind="several", target="all"
    )
    CASES[f"{name}Classifier"] = _no_raw(
        lambda s, k=sort, o=small: k(**o, random_state=s), accepts=NAN, kind="multiclass"
    )
    CASES[f"{name}Classifier several targets"] = _no_raw(
        lambda s, k=sort, o=small: k(**o, random_state=s), kind="several classes"
    )
CASES["RandomForestRegressor unpruned"] = _simple(
    lambda s: ensemble.RandomForestRegressor(n_estimators=3, random_state=s), accepts=NAN
)
for loss in ("squared_error", "absolute_error", "huber", "quantile"):
    CASES[f"GradientBoostingRegressor {loss}"] = _simple(
        lambda s, o=loss: ensemble.GradientBoostingRegressor(loss=o, n_estimators=5, random_state=s)
    )
for loss, kind in (("log_loss", "binary"), ("exponential", "binary"), ("log_loss", "multiclass")):
    CASES[f"GradientBoostingClassifier {loss} {kind}"] = _simple(
        lambda s, o=loss: ensemble.GradientBoostingClassifier(loss=o, n_estimators=4, random_state=s),
        kind=kind,
    )
for loss, kind in (
    ("squared_error", "regression"), ("absolute_error", "regression"), ("quantile", "regression"),
    ("poisson", "positive"), ("gamma", "positive"),
):  # fmt: skip
    CASES[f"HistGradientBoostingRegressor {loss}"] = _simple(
        lambda s, o=loss: ensemble.HistGradientBoostingRegressor(
            loss=o, max_iter=5, min_samples_leaf=5, quantile=0.4 if o == "quantile" else None
        ),
        accepts=ALL,
        kind=kind,
    )
for kind in ("binary", "multiclass"):
    CASES[f"HistGradientBoostingClassifier {kind}"] = _simple(
        lambda s: ensemble.HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5),
        accepts=ALL,
        kind=kind,
        target="all" if kind == "multiclass" else None,
    )
CASES["IsolationForest"] = _simple(
    lambda s: ensemble.IsolationForest(n_estimators=5, max_samples=40, random_state=s),
    kind="none", accepts=NAN,
)  # fmt: skip
CASES["IsolationForest some columns"] = _simple(
    lambda s: ensemble.IsolationForest(n_estimators=6, max_samples=30, max_features=2, random_state=s),
    kind="none",
)
CASES["BaggingRegressor"] = _simple(
    lambda s: ensemble.BaggingRegressor(
        tree.DecisionTreeRegressor(max_depth=4), n_estimators=4, max_features=3, random_state=s
    ),
    raw=False,
    accepts=NAN,
)
CASES["BaggingClassifier"] = _no_raw(
    lambda s: ensemble.BaggingClassifier(
        ensemble.GradientBoostingClassifier(n_estimators=2), n_estimators=3, random_state=s
    ),
    kind="multiclass",
)
CASES["VotingRegressor"] = _simple(
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
CASES["VotingClassifier"] = _no_raw(
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


CASES["LGBMRegressor"] = _simple(lambda s: _lgb_wrapper(lgb.LGBMRegressor), accepts=ALL)
CASES["LGBMClassifier"] = _simple(lambda s: _lgb_wrapper(lgb.LGBMClassifier), accepts=NAN, kind="binary")
CASES["LGBMClassifier labels"] = _simple(
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


CASES["XGBRegressor"] = _simple(lambda s: _xgb(xgb.XGBRegressor), accepts=NAN, tolerance=1e-5, array=True)
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
CASES["XGBClassifier"] = _simple(
    lambda s: _xgb(xgb.XGBClassifier), accepts=NAN, kind="binary", tolerance=1e-5
)
CASES["XGBClassifier several classes"] = _simple(
    lambda s: _xgb(xgb.XGBClassifier, n_estimators=3),
    accepts=NAN, kind="multiclass", tolerance=1e-5, target="all",
)  # fmt: skip
CASES["XGBRFRegressor"] = _simple(
    lambda s: _xgb(xgb.XGBRFRegressor, random_state=s), accepts=NAN, tolerance=1e-5
)
CASES["XGBRegressor vector leaves"] = _simple(
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
    CASES[f"CatBoostRegressor {policy}"] = _simple(
        lambda s, p=policy: _cat(catboost.CatBoostRegressor, grow_policy=p, random_seed=s),
        accepts=ALL, trained_on=NAN,
    )  # fmt: skip
for mode in ("Min", "Max"):
    CASES[f"CatBoostRegressor NaN {mode}"] = _simple(
        lambda s, m=mode: _cat(catboost.CatBoostRegressor, nan_mode=m, loss_function="MAE", random_seed=s),
        accepts=NAN, array=True,
    )  # fmt: skip
CASES["CatBoostRegressor Poisson"] = _simple(
    lambda s: _cat(catboost.CatBoostRegressor, loss_function="Poisson", random_seed=s),
    accepts=NAN, kind="positive",
)  # fmt: skip
CASES["CatBoostRegressor several targets"] = _simple(
    lambda s: _cat(catboost.CatBoostRegressor, loss_function="MultiRMSE", random_seed=s),
    kind="several", target="all",
)  # fmt: skip
CASES["CatBoostClassifier"] = _simple(
    lambda s: _cat(catboost.CatBoostClassifier, random_seed=s), accepts=NAN, kind="binary"
)
for loss in ("MultiClass", "MultiClassOneVsAll"):
    CASES[f"CatBoostClassifier {loss}"] = _simple(
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
        return Fitted(model, X, accepts, unseen=("willow",), **described)

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
