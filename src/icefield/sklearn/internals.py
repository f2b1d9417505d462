"""What the drop-in asks of scikit-learn that has no public name, and what differs between its versions.

Every other module of the drop-in uses public names only. Three things have none:

* the checks of parameters, so that a wrong argument is refused in the words of the installed version;
* the walk of the recursion method: it defines that method's numbers, and warns of or refuses some models;
* the trees of HistGradientBoosting, the sum of them before the link, and whether their fit had weights.

Each is looked up when it is needed. Where a version has no such name, the drop-in does without: parameters are
checked by what uses them, and our trees answer for the walk.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import sklearn.inspection
from sklearn.utils import check_array

from icefield.typing import Array

Function = TypeVar("Function", bound=Callable[..., Any])

VERSION = tuple(map(int, re.findall(r"\d+", sklearn.__version__)[:2]))
# Whole-number columns that are no categories: taken, then (1.7) warned of, then (1.9) refused.
WARNS_OF_INTEGERS, REFUSES_INTEGERS = VERSION >= (1, 7), VERSION >= (1, 9)
UNKNOWN_COLUMN = (
    "Some column names are not columns of the dataframe"
    if VERSION >= (1, 9)
    else "A given column is not a column of the dataframe"
)


def check_parameters(function: Function) -> Function:
    """`partial_dependence` with its parameters checked as scikit-learn checks those of its own."""
    constraints = getattr(sklearn.inspection.partial_dependence, "_skl_parameter_constraints", None)
    try:
        from sklearn.utils._param_validation import validate_params
    except ImportError:
        return function
    if constraints is None:
        return function
    return validate_params(constraints, prefer_skip_nested_validation=True)(function)


def sklearn_recursion(estimator: Any) -> Callable[[Array, Array], Array] | None:
    """scikit-learn's walk over an estimator's trees: grid points and positions of their columns -> averages."""
    return getattr(estimator, "_compute_partial_dependence_recursion", None)


def hist_nodes(estimator: Any) -> list[int] | None:
    """How many nodes each tree of a HistGradientBoosting model has."""
    iterations = getattr(estimator, "_predictors", None)
    return None if iterations is None else [len(tree.nodes) for trees in iterations for tree in trees]


def hist_sum(estimator: Any) -> Callable[[Any], Array]:
    """The sum of a HistGradientBoosting model's trees for rows, before the link."""
    return estimator._raw_predict


def fitted_with_weights(estimator: Any) -> bool:
    """Whether a HistGradientBoosting model was fitted with weights, which the walk refuses."""
    return bool(getattr(estimator, "_fitted_with_sw", False))


def array_of_objects(X: Any) -> Array:
    """Lists as an array of objects with missing values; the keyword for these changed its name."""
    finite = "ensure_all_finite" if VERSION >= (1, 6) else "force_all_finite"
    return check_array(X, dtype=object, **{finite: "allow-nan"})
