"""scikit-learn's way of naming things: rows, columns, categories and methods.

Everything here turns arguments into plain facts (positions of columns, which of them are
categories, which method answers) and raises scikit-learn's errors on the way, so that the
function and the display agree. Nothing here computes a number of the result.
"""

from __future__ import annotations

import warnings
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
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from icefield.errors import ErrorMessage, InputError, InputTypeError
from icefield.sklearn.internals import REFUSES_INTEGERS, UNKNOWN_COLUMN, WARNS_OF_INTEGERS, array_of_objects
from icefield.typing import Array

BOOSTING = (GradientBoostingClassifier, GradientBoostingRegressor)
HIST_BOOSTING = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
RECURSIVE = (*BOOSTING, *HIST_BOOSTING, DecisionTreeRegressor, RandomForestRegressor)


class ZeroWeightsError(InputError, ZeroDivisionError):
    """Weights that are all zero; scikit-learn divides by their sum, or refuses them since 1.9."""


def check_estimator(estimator: Any) -> None:
    """Raise unless an estimator is a fitted regressor, or a fitted classifier with a single list of classes."""
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
        raise InputTypeError.about("X", f"must be a numpy array, a pandas frame, a sparse matrix or lists, got a {kind}",
                                hint="icefield.Explainer takes polars and pyarrow as they are")  # fmt: skip
    return array_of_objects(X)


def column_of(X: Any, position: int) -> Any:
    """A column: a pandas Series, an array of one dimension or a sparse matrix of one column."""
    return X.iloc[:, position] if hasattr(X, "iloc") else X[:, position]


def names_of(X: Any, feature_names: Any) -> list[Any]:
    """The names of X's columns: those given, the frame's, or x0, x1, ..."""
    if feature_names is not None:
        names = feature_names.tolist() if hasattr(feature_names, "tolist") else list(feature_names)
    elif hasattr(X, "columns"):
        names = X.columns.tolist()
    else:
        names = [f"x{position}" for position in range(X.shape[1])]
    if len(set(names)) != len(names):
        raise ValueError("feature_names should not contain duplicates.")
    return names


def position_of(feature: Any, feature_names: Sequence[Any]) -> Any:
    """The position of a feature that is given by name; any other feature as it is."""
    if not isinstance(feature, str):
        return feature
    if feature not in feature_names:
        raise ValueError(f"Feature {feature!r} not in feature_names")
    return list(feature_names).index(feature)


def weights_of(sample_weight: Any, X: Any) -> Array:
    """One weight for each row, in single precision only where they are given so."""
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=[np.float64, np.float32], order="C", input_name="sample_weight"
    )
    if weights.shape != (X.shape[0],):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(X.shape[0],)}!")
    if not weights.any():
        raise ZeroWeightsError("Sample weights must contain at least one non-zero number.")
    return weights


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
    if (outputs := getattr(estimator, "n_outputs_", 1)) > 1:
        raise InputError.about("method", f"cannot be recursion (as 'auto' is here) for the {outputs} outputs of a "
                            f"{type(estimator).__name__}: scikit-learn's mixes them up in one curve", method,
                            hint="write method='brute', which gives a curve for each output")  # fmt: skip
    return "recursion", "decision_function"


def _recursive_by_default(estimator: Any) -> bool:
    if isinstance(estimator, BOOSTING):
        return estimator.init is None
    return isinstance(estimator, RECURSIVE)


def column_positions(X: Any, features: Any) -> tuple[list[int], list[Any]]:
    """Positions of the asked columns, and what the caller called each of them."""
    positions = _positions(X, features)
    if not positions:
        raise ValueError(ErrorMessage.of("features", "must name at least one column", features))
    names = [features] if np.isscalar(features) else list(features)
    # A mask, or a tuple within the list, has other entries than columns: those go by position.
    masked = any(isinstance(name, (bool, np.bool_)) for name in names)
    return positions, names if len(names) == len(positions) and not masked else list(positions)


def _positions(X: Any, features: Any) -> list[int]:
    """Columns by position (tuples of them within a list too), by a mask or, of a frame, by name."""
    entries: list[Any] = [features] if np.isscalar(features) else list(features)
    if entries and all(isinstance(name, str) for name in entries):
        return _positions_of_names(X, entries)
    array = np.asarray(entries)
    last = X.shape[1] - 1
    if array.size and array.dtype.kind not in "iub":
        raise ValueError(
            f"features must be all positions, all names of columns, or a mask of them, got {features!r}."
        )
    if array.dtype.kind == "b":
        if array.shape != (X.shape[1],):
            raise ValueError(f"features as a mask must have {X.shape[1]} elements, got {features!r}.")
        return np.flatnonzero(array).tolist()
    if np.any((array < 0) | (array > last)):
        raise ValueError(f"all features must be in [0, {last}], got {features!r}.")
    return [int(position) for position in array.ravel()]


def _positions_of_names(X: Any, names: Sequence[str]) -> list[int]:
    if not hasattr(X, "columns"):
        raise ValueError("Specifying the columns using strings is only supported for dataframes.")
    columns = list(X.columns)
    missing = sorted(set(names) - set(columns))
    if missing:
        raise ValueError(f"{UNKNOWN_COLUMN}: {missing}")
    if any(columns.count(name) > 1 for name in names):
        raise ValueError(f"Selected columns, {list(names)}, are not unique in dataframe")
    return [columns.index(name) for name in names]


def categorical_positions(
    categorical_features: Any, feature_names: Sequence[Any], n_features: int
) -> frozenset[Any]:
    """Positions of the columns declared as categories, by mask, position or name."""
    if categorical_features is None:
        return frozenset()
    array = np.asarray(categorical_features)
    if array.size == 0:
        raise ValueError(
            "Passing an empty list (`[]`) to `categorical_features` is not supported. Use `None` "
            "instead to indicate that there are no categorical features."
        )
    if array.dtype.kind == "b":
        if array.size != n_features:
            raise ValueError(
                "When `categorical_features` is a boolean array-like, the array should be of shape "
                f"(n_features,). Got {array.size} elements while `X` contains {n_features} features."
            )
        return frozenset(np.flatnonzero(array).tolist())
    if array.dtype.kind in "iOU":
        return frozenset(position_of(name, feature_names) for name in array.tolist())
    raise ValueError(
        "Expected `categorical_features` to be an array-like of boolean, integer, or string. "
        f"Got {array.dtype} instead."
    )


def check_integers(X: Any, positions: Sequence[int], names: Sequence[Any], categories: Any) -> None:
    """Whole-number columns that are no categories: refused, warned of or taken, as the installed version does."""
    whole = (
        name
        for position, name in zip(positions, names)
        if position not in categories and column_of(X, position).dtype.kind in "iu"
    )
    name = next(whole, None)
    if name is None or not WARNS_OF_INTEGERS:
        return
    problem = (
        f"The column {name!r} contains integer data. scikit-learn's partial dependence wants floating point "
        "numbers, or the column in categorical_features. Hint: convert it with astype(float), or use "
        "icefield.Explainer, which takes whole numbers as they are."
    )
    if REFUSES_INTEGERS:
        raise ValueError(problem)
    warnings.warn(f"{problem} This will raise ValueError in scikit-learn 1.9.", FutureWarning, stacklevel=4)
