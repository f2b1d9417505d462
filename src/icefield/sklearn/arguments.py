"""scikit-learn's way of naming things: rows, columns, categories and methods.

Everything here turns arguments into plain facts (positions of columns, which of them are
categories, which method answers) and raises scikit-learn's errors on the way, so that the
function and the display agree. Nothing here computes a number of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.inspection._pd_utils import _get_feature_index
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils._indexing import _determine_key_type, _get_column_indices
from sklearn.utils.validation import check_is_fitted

from icefield.errors import InputTypeError, complaint

BOOSTING = (GradientBoostingClassifier, GradientBoostingRegressor)
HIST_BOOSTING = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
RECURSIVE = (*BOOSTING, *HIST_BOOSTING, DecisionTreeRegressor, RandomForestRegressor)


def check_estimator(estimator: Any) -> None:
    """Only fitted regressors and classifiers with one target per class list have a partial dependence."""
    check_is_fitted(estimator)
    if not (is_classifier(estimator) or is_regressor(estimator)):
        raise ValueError(
            f"'estimator' must be a fitted regressor or classifier, got {type(estimator).__name__}."
        )
    if is_classifier(estimator) and isinstance(estimator.classes_[0], np.ndarray):
        raise ValueError("Multiclass-multioutput estimators are not supported.")


def rows_of(X: Any) -> Any:
    """X as it will be used: arrays, pandas frames and sparse matrices as they are, lists as objects."""
    if isinstance(X, np.ndarray) or hasattr(X, "iloc") or hasattr(X, "tocsr"):
        return X
    if hasattr(X, "__array__"):
        kind = f"{type(X).__module__.split('.')[0]} {type(X).__name__}"
        raise InputTypeError(
            complaint("X", f"must be a numpy array, a pandas frame, a sparse matrix or lists, got a {kind}",
                      hint="icefield.Explainer takes polars and pyarrow as they are")
        )  # fmt: skip
    return check_array(X, ensure_all_finite="allow-nan", dtype=object)


def method_of(
    estimator: Any, method: str, kind: str, sample_weight: Any, response_method: str
) -> tuple[str, str]:
    """The method that answers, and the response it gives."""
    if is_regressor(estimator) and response_method != "auto":
        raise ValueError("The response_method parameter is ignored for regressors: it must be 'auto'.")
    if method == "recursion":
        if kind != "average":
            raise ValueError("The 'recursion' method only applies when 'kind' is set to 'average'.")
        if sample_weight is not None:
            raise ValueError("The 'recursion' method can only be applied when sample_weight is None.")
    if method == "brute" or kind != "average" or sample_weight is not None:
        return "brute", response_method
    if method == "auto" and not _recursive_by_default(estimator):
        return "brute", response_method
    if not isinstance(estimator, RECURSIVE):
        names = ", ".join(cls.__name__ for cls in RECURSIVE)
        raise ValueError(
            f"Only the following estimators support the 'recursion' method: {names}, "
            f"got {type(estimator).__name__}. Try using method='brute'."
        )
    if response_method not in ("auto", "decision_function"):
        raise ValueError(
            "With the 'recursion' method, the response_method must be 'decision_function'. "
            f"Got {response_method}. Try method='brute'."
        )
    return "recursion", "decision_function"


def _recursive_by_default(estimator: Any) -> bool:
    if isinstance(estimator, BOOSTING):
        return estimator.init is None
    return isinstance(estimator, RECURSIVE)


def column_positions(X: Any, features: Any) -> tuple[list[int], list[Any]]:
    """Positions of the asked columns, and what the caller called each of them."""
    negative = _determine_key_type(features, accept_slice=False) == "int" and np.any(np.less(features, 0))
    if negative:
        raise ValueError(f"all features must be in [0, {X.shape[1] - 1}], got {features!r}.")
    positions = [int(p) for p in np.ravel(np.asarray(_get_column_indices(X, features), dtype=np.intp))]
    if not positions:
        raise ValueError(complaint("features", "must name at least one column", features))
    names = [features] if np.isscalar(features) else list(features)
    # A mask, or a tuple within the list, has other entries than columns: those go by position.
    masked = any(isinstance(name, (bool, np.bool_)) for name in names)
    return positions, names if len(names) == len(positions) and not masked else list(positions)


def categorical_positions(
    categorical_features: Any, feature_names: Sequence[Any], n_features: int
) -> frozenset[Any]:
    """Positions of the columns declared as categories, by mask, position or name."""
    if categorical_features is None:
        return frozenset()
    given = np.asarray(categorical_features)
    if given.size == 0:
        raise ValueError(
            "Passing an empty list (`[]`) to `categorical_features` is not supported. Use `None` "
            "instead to indicate that there are no categorical features."
        )
    if given.dtype.kind == "b":
        if given.size != n_features:
            raise ValueError(
                "When `categorical_features` is a boolean array-like, the array should be of shape "
                f"(n_features,). Got {given.size} elements while `X` contains {n_features} features."
            )
        return frozenset(np.flatnonzero(given).tolist())
    if given.dtype.kind in "iOU":
        return frozenset(_get_feature_index(name, feature_names=feature_names) for name in given.tolist())
    raise ValueError(
        "Expected `categorical_features` to be an array-like of boolean, integer, or string. "
        f"Got {given.dtype} instead."
    )


def refuse_integers(X: Any, positions: Sequence[int], names: Sequence[Any], categories: Any) -> None:
    """scikit-learn takes whole-number columns only as categories."""
    for position, name in zip(positions, names):
        if position not in categories and _safe_indexing(X, position, axis=1).dtype.kind in "iu":
            raise ValueError(
                f"The column {name!r} contains integer data. scikit-learn's partial dependence wants "
                "floating point numbers, or the column in categorical_features. Hint: convert it with "
                "astype(float), or use icefield.Explainer, which takes whole numbers as they are."
            )
