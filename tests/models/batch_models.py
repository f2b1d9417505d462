"""Models whose prediction for a row depends on the other rows of the call, each with what makes it so.

scikit-learn's own were found by listing (`listed_functions`, `listed_transformers`): functions of `sklearn.preprocessing`, and
transformers that a user fits to the batch they are handed. Then what pandas does with a column as a whole, and
estimators that look around themselves.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import sklearn.preprocessing
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import NMF
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR
from sklearn.utils.discovery import all_estimators

ROWS = 60


def table(missing: bool = False) -> pd.DataFrame:
    """Positive numbers, since some transformers take no others; `b` is sorted, and misses values late."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(0.1 + np.abs(rng.normal(size=(ROWS, 3))), columns=["a", "b", "c"])
    X["b"] = np.sort(X["b"])
    if missing:
        X.loc[ROWS - 5 :, "b"] = np.nan
    return X


def target() -> np.ndarray:
    X = table()
    return np.asarray(X["a"] - 2 * X["b"] + X["a"] * X["c"])


def pipeline(function: Any, missing: bool = False, **settings: Any) -> Any:
    step = FunctionTransformer(function, kw_args=settings or None)
    return make_pipeline(step, Ridge(alpha=0.1)).fit(table(missing), target())


# --- scikit-learn's functions and transformers, by listing ------------------------------------------------

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "scale": [{}, {"with_std": False}, {"with_mean": False}],
    "minmax_scale": [{}, {"feature_range": (-1, 1)}],
    "maxabs_scale": [{}],
    "robust_scale": [{}, {"unit_variance": True}, {"with_centering": False}],
    "quantile_transform": [{"n_quantiles": 10}, {"n_quantiles": 10, "output_distribution": "normal"}],
    "power_transform": [{}, {"standardize": False}],
    "normalize": [{"axis": 0}],
}


TRANSFORMERS = (
    "BernoulliRBM", "BisectingKMeans", "FactorAnalysis", "FastICA", "IncrementalPCA", "Isomap", "KMeans",
    "LatentDirichletAllocation", "LocallyLinearEmbedding", "MaxAbsScaler", "MinMaxScaler",
    "MiniBatchDictionaryLearning", "MiniBatchKMeans", "MiniBatchNMF", "MiniBatchSparsePCA", "NMF", "OrdinalEncoder", "PCA",
    "PowerTransformer", "QuantileTransformer", "RobustScaler", "SparsePCA", "SplineTransformer", "StandardScaler",
    "TruncatedSVD",
)  # fmt: skip


def sklearn_functions() -> dict[str, Callable[[], Any]]:
    """Pipelines of scikit-learn's functions that look across rows."""
    found: dict[str, Callable[[], Any]] = {}
    for name, several in SETTINGS.items():
        for settings in several:
            said = ", ".join(f"{key}={value}" for key, value in settings.items())
            found[f"{name}({said})"] = partial(pipeline, getattr(sklearn.preprocessing, name), **settings)
    return found


def refitted(name: str, rows: Any) -> Any:
    """A transformer of scikit-learn's, fitted to the very rows it transforms, with a seed where it takes one."""
    kind = dict(all_estimators(type_filter="transformer"))[name]
    seeded: dict[str, Any] = (
        {"random_state": 0} if "random_state" in inspect.signature(kind).parameters else {}
    )
    if name == "FastICA":
        seeded["whiten"] = False  # which divides by variances that a grid makes zero
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(kind(**seeded).fit_transform(np.asarray(rows)))


def sklearn_transformers() -> dict[str, Callable[[], Any]]:
    """Pipelines that fit each of scikit-learn's transformers to every batch."""
    return {
        f"{name} fitted to the batch": partial(pipeline, partial(refitted, name)) for name in TRANSFORMERS
    }


def looks_across(function: Callable[[Any], Any]) -> bool:
    """Whether a function of a table treats rows other than each by itself, on these rows."""
    rows = table().to_numpy()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole, half = np.asarray(function(rows.copy())), np.asarray(function(rows[:30].copy()))
    except Exception:
        return False
    if whole.ndim != 2 or half.ndim != 2 or len(whole) != ROWS or whole.dtype.kind not in "fiu":
        return False
    return whole.shape[1] == half.shape[1] and not np.allclose(whole[:30], half, rtol=1e-6, atol=1e-9)


def listed_functions() -> set[str]:
    """The functions of `sklearn.preprocessing` that look across rows, in one of their settings."""
    names = [
        n for n in sklearn.preprocessing.__all__ if not inspect.isclass(getattr(sklearn.preprocessing, n))
    ]
    return {
        name
        for name in names
        for settings in [{}, *SETTINGS.get(name, [])]
        if looks_across(partial(getattr(sklearn.preprocessing, name), **settings))
    }


def listed_transformers() -> set[str]:
    """The transformers that look across rows where they are fitted to the batch."""
    every = {name for name, _ in all_estimators(type_filter="transformer")}
    # The one has as many components as rounding decides; the other takes seconds a batch.
    every -= {"KernelPCA", "DictionaryLearning"}
    return {name for name in every if looks_across(partial(refitted, name))}


# --- what pandas does with a column, and estimators ----------------------------------------------------------


class Centred(RegressorMixin, BaseEstimator):
    """Measures every row from the mean of the batch."""

    def fit(self, X: Any, y: Any) -> Centred:
        self.inner_ = LinearRegression().fit(np.asarray(X), y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        rows = np.asarray(X)
        return self.inner_.predict(rows - rows.mean(axis=0)) + rows[:, 0] * rows[:, 2]


class Ordinal(Centred):
    """Predicts a row's place in the batch."""

    def predict(self, X: Any) -> np.ndarray:
        rows = np.asarray(X)
        return np.argsort(np.argsort(rows[:, 0] + rows[:, 1])) / len(rows)


class Cumulated(Centred):
    """Adds up along the batch, so that order counts."""

    def predict(self, X: Any) -> np.ndarray:
        return np.cumsum(np.asarray(X)[:, 0] ** 2)


class Narrow(LinearRegression):
    """A class of scikit-learn's with a method of its own."""

    def predict(self, X: Any) -> np.ndarray:
        rows = np.asarray(X)
        return super().predict(rows / rows.max(axis=0))


def ranked_weights(distances: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + distances / distances.max())


def batch_kernel(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (one / np.abs(one).max(axis=0)) @ other.T


def overwritten() -> Any:
    model = LinearRegression().fit(table().to_numpy(), target())
    model.predict = lambda rows: np.asarray(rows)[:, 0] - np.asarray(rows)[:, 0].mean()
    return model


def codes(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(a=rows["a"].round(1).astype("category").cat.codes, b=rows["b"] / 2)


def dummies(rows: pd.DataFrame) -> np.ndarray:
    """Columns for high and higher, of which the lowest level that the batch holds is dropped."""
    levels = pd.cut(rows["a"], [0, 0.5, 1.0, 9.0], labels=False)
    wide = pd.get_dummies(levels, drop_first=True).to_numpy(dtype=float)
    out = np.zeros((len(rows), 2))
    out[:, : wide.shape[1]] = wide
    return np.column_stack([out, rows["b"]])


FUNCTIONS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "ranks": lambda rows: rows.rank(pct=True),
    "centres": lambda rows: rows - rows.mean(),
    "standardises": lambda rows: (rows - rows.mean()) / (1 + rows.std()),
    "scales to the largest": lambda rows: rows / rows.abs().max(),
    "b / b.max() on sorted rows": lambda rows: rows.assign(b=rows["b"] / rows["b"].max()),
    "clips at the batch's percentiles": lambda rows: rows.clip(
        rows.quantile(0.1), rows.quantile(0.9), axis=1
    ),
    "differences from the row before": lambda rows: rows.diff().fillna(0.0),
    "the row before": lambda rows: rows.shift().fillna(0.0),
    "adds up": lambda rows: rows.cumsum(),
    "a moving mean": lambda rows: rows.rolling(3, min_periods=1).mean(),
    "smooths": lambda rows: rows.ewm(alpha=0.5).mean(),
    "cuts into quantiles": lambda rows: rows.assign(a=(4 * rows["a"].rank(pct=True)).round()),
    "the mean of a group": lambda rows: rows.assign(c=rows.groupby(rows["c"].round())["a"].transform("mean")),
    "cat.codes": codes,
    "get_dummies": dummies,
    "counts of a value": lambda rows: rows.assign(a=rows.groupby("a")["a"].transform("size")),
}


def estimators() -> dict[str, Callable[[], Any]]:
    X, y = table(), target()
    return {
        "imputes by the batch": lambda: pipeline(lambda rows: rows.fillna(rows.mean()), missing=True),
        "fills forward": lambda: pipeline(lambda rows: rows.ffill(), missing=True),
        "an estimator that centres": lambda: Centred().fit(X, y),
        "an estimator that ranks": lambda: Ordinal().fit(X, y),
        "an estimator that cumulates": lambda: Cumulated().fit(X, y),
        "a subclass": lambda: Narrow().fit(X.to_numpy(), y),
        "a method replaced on the object": overwritten,
        "a target's inverse that centres": lambda: TransformedTargetRegressor(
            LinearRegression(), func=lambda y: y, inverse_func=lambda y: y - y.mean(), check_inverse=False
        ).fit(X, y),
        "a target's inverse that scales": lambda: TransformedTargetRegressor(
            LinearRegression(),
            func=lambda y: y,
            inverse_func=sklearn.preprocessing.scale,
            check_inverse=False,
        ).fit(X, y),
        "scaled, then a forest of ranks": lambda: make_pipeline(
            StandardScaler().set_output(transform="pandas"),
            FunctionTransformer(lambda rows: rows.rank()),
            RandomForestRegressor(5, random_state=0),
        ).fit(X, y),
        "a union with scale": lambda: make_pipeline(
            FeatureUnion(
                [("own", StandardScaler()), ("batch", FunctionTransformer(sklearn.preprocessing.scale))]
            ),
            LinearRegression(),
        ).fit(X, y),
        "weights of neighbours": lambda: KNeighborsRegressor(weights=ranked_weights).fit(X, y),
        "a kernel of the batch": lambda: SVR(kernel=batch_kernel).fit(X, y),
        **{
            f"NMF with {solver!r}": lambda solver=solver: make_pipeline(
                NMF(2, solver=solver, init="random", random_state=0, tol=0.05), LinearRegression()
            ).fit(X, y)
            for solver in ("mu", "cd")
        },
    }


def batch_models() -> dict[str, Callable[[], Any]]:
    """All of them by name, each made when called."""
    functions = {name: partial(pipeline, function) for name, function in FUNCTIONS.items()}
    return {**sklearn_functions(), **functions, **estimators(), **sklearn_transformers()}


def rows_of(name: str) -> pd.DataFrame:
    """The rows a model is asked about."""
    return table(missing=name in ("imputes by the batch", "fills forward"))
