"""What scikit-learn's estimators do in several threads: who gains, who may be shared, who gets copies.

scikit-learn's parallel helper, which many of its estimators pass through even with one job, rewrites
Python's process-wide warning filters while they work: two of them at once lose filters, warn at random
and may never end. So only what is known to leave that helper alone is shared. Neighbour searches, which
gain from threads, get a private copy per thread that does without it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from icefield.libraries.adapter import comes_from, type_name
from icefield.libraries.sklearn.internals import internal
from icefield.libraries.sklearn.nesting import core

# Their prediction spends its time outside the interpreter lock and in one thread; everything else
# either holds the lock or brings its own threads.
GAINS_BY_THREADS = {
    "DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor",
    "SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM",
}  # fmt: skip
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


def thread_settings() -> Callable[[], AbstractContextManager[Any]]:
    """A context for other threads in which they have this thread's settings of scikit-learn, which keeps them per thread."""
    if (library := sys.modules.get("sklearn")) is None:
        return nullcontext
    return partial(library.config_context, **library.get_config())


def gains_by_threads(model: Any) -> bool:
    """Whether an estimator answers sooner when several threads ask it."""
    inner = core(model)
    if not comes_from(inner, "sklearn") or type_name(inner) not in GAINS_BY_THREADS:
        return False
    return getattr(inner, "n_jobs", None) in (None, 1)


def is_quiet(part: Any) -> bool:
    """Whether an estimator leaves the parallel helper alone."""
    is_private = "kneighbors" in vars(part)  # `search_privately` went around the helper
    return is_private or (_is_sklearns_own(part) and type_name(part) in QUIET)


def is_tree_search(model: Any) -> bool:
    """Whether an estimator looks for neighbours in a tree, which `search_privately` can do."""
    in_tree = getattr(model, "_fit_method", None) in ("kd_tree", "ball_tree")
    is_known = _is_sklearns_own(model) and type_name(model) in NEIGHBOURS and in_tree
    return is_known and hasattr(model, "_tree") and hasattr(model, "_fit_X") and _checks_rows()


def search_bytes(searcher: Any, unknown: int) -> int:
    """Bytes of a copy of a neighbour search: the rows, the tree's own copy of them, and its nodes."""
    return 3 * int(getattr(internal(searcher, "_fit_X"), "nbytes", unknown))


def search_privately(searcher: Any) -> None:
    """Let a neighbour search that no other thread uses go around the parallel helper."""
    searcher.kneighbors = partial(_nearest, searcher)


def _nearest(searcher: Any, rows: Any, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
    """What `kneighbors` finds with one job, without the parallel helper around it.

    The search tree counts the nodes it visits in fields of its own: that, too, must not be shared.
    """
    from sklearn.utils.validation import validate_data

    checked = validate_data(searcher, rows, order="C", reset=False)
    return internal(searcher, "_tree").query(checked, n_neighbors or searcher.n_neighbors, return_distance)


def _checks_rows() -> bool:
    """Whether scikit-learn has the function by which `_nearest` checks rows: since 1.6."""
    from sklearn.utils import validation

    return hasattr(validation, "validate_data")


def _is_sklearns_own(part: Any) -> bool:
    return type(part).__module__.split(".")[0] == "sklearn"
