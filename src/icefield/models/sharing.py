"""Which models several threads may ask at once, and how to ask the others safely.

Predicting looks like reading, but not every library means it. scikit-learn's parallel helper, which
many of its estimators pass through even with one job, rewrites Python's process-wide warning
filters while they work: two of them at once lose filters, warn at random and may never end. So an
estimator is asked by one thread at a time (`alone`) unless it is known to leave that helper alone.
Neighbour searches, which gain from threads, get a private copy per thread that does without it.
"""

from __future__ import annotations

import copy
import threading
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from icefield.models.adapter import comes_from, type_name
from icefield.models.wrappers import core, handed_on_to, is_pipeline

if TYPE_CHECKING:
    from icefield.models.model import Model

# scikit-learn's own classes whose prediction or transformation never enters its parallel helper.
QUIET = {
    "SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR",
    "DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor",
    "GradientBoostingClassifier", "GradientBoostingRegressor",
    "HistGradientBoostingClassifier", "HistGradientBoostingRegressor",
    "LinearRegression", "Ridge", "RidgeCV", "Lasso", "ElasticNet", "LogisticRegression",
    "PoissonRegressor", "GammaRegressor", "TweedieRegressor",
    "MLPClassifier", "MLPRegressor", "KernelRidge", "GaussianProcessRegressor", "GaussianNB",
    "StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "QuantileTransformer",
    "PowerTransformer", "Normalizer", "PolynomialFeatures", "SplineTransformer", "KBinsDiscretizer",
    "OneHotEncoder", "OrdinalEncoder", "SimpleImputer", "PCA",
}  # fmt: skip
NEIGHBOURS = {"KNeighborsClassifier", "KNeighborsRegressor"}

ONE_AT_A_TIME = threading.RLock()


def shareable(model: Model) -> bool:
    """Whether several threads may ask at once; functions and other libraries are taken at their word.

    XGBoost promises it for some of its boosters only, and brings threads of its own.
    """
    return all(_is_quiet(part) for part in _parts(model.native))


def alone(model: Model) -> AbstractContextManager[Any]:
    """Held while a model is asked that must not be asked twice at once, from wherever that comes."""
    return nullcontext() if shareable(model) else ONE_AT_A_TIME


def copies_help(model: Model, copies: int, memory: int) -> bool:
    """Whether threads are of use once each has a neighbour search of its own, and the budget has room."""
    searcher = core(model.native)
    if not _is_tree_search(searcher) or not all(
        _is_quiet(p) for p in _parts(model.native) if p is not searcher
    ):
        return False
    # The rows, the tree's own copy of them, and its nodes.
    return 3 * copies * int(getattr(searcher._fit_X, "nbytes", memory)) <= memory // 4


def private_copy(model: Model) -> Model:
    """A model of which one thread at a time may be sure to be the only user."""
    own = copy.deepcopy(model)
    searcher = core(own.native)
    searcher.kneighbors = partial(_nearest, searcher)
    return own


def _nearest(searcher: Any, rows: Any, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
    """What `kneighbors` finds with one job, without the parallel helper around it.

    The search tree counts the nodes it visits in fields of its own: that, too, must not be shared.
    """
    from sklearn.utils.validation import validate_data

    checked = validate_data(searcher, rows, order="C", reset=False)
    return searcher._tree.query(checked, n_neighbors or searcher.n_neighbors, return_distance)


def _is_tree_search(model: Any) -> bool:
    return (
        _is_sklearns_own(model)
        and type_name(model) in NEIGHBOURS
        and getattr(model, "_fit_method", None) in ("kd_tree", "ball_tree")
        and hasattr(model, "_tree")
        and hasattr(model, "_fit_X")
    )


def _is_quiet(part: Any) -> bool:
    if comes_from(part, "sklearn"):
        is_private = "kneighbors" in vars(part)  # `private_copy` went around the helper
        return is_private or (_is_sklearns_own(part) and type_name(part) in QUIET)
    return not comes_from(part, "xgboost")


def _is_sklearns_own(part: Any) -> bool:
    return type(part).__module__.split(".")[0] == "sklearn"


def _parts(model: Any) -> list[Any]:
    """Everything rows pass through: a pipeline's steps, what a wrapper wraps, or the model itself."""
    if isinstance(model, str) or model is None:  # "passthrough"
        return []
    if is_pipeline(model):
        return [part for _, step in model.steps for part in _parts(step)]
    inner = handed_on_to(model)
    return [model] if inner is None else _parts(inner)
