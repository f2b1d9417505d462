"""`partial_dependence` with scikit-learn's signature, read top to bottom as a recipe."""

from __future__ import annotations

from typing import Any

from sklearn.utils import Bunch

from icefield.sklearn.arguments import (
    categorical_positions,
    check_estimator,
    check_integers,
    column_positions,
    method_of,
    names_of,
    rows_of,
    weights_of,
)
from icefield.sklearn.grids import grid_values
from icefield.sklearn.internals import check_parameters
from icefield.sklearn.recursion import training_dependence
from icefield.sklearn.responses import brute_dependence


@check_parameters
def partial_dependence(
    estimator: Any,
    X: Any,
    features: Any,
    *,
    sample_weight: Any = None,
    categorical_features: Any = None,
    feature_names: Any = None,
    response_method: str = "auto",
    percentiles: tuple[float, float] = (0.05, 0.95),
    grid_resolution: int = 100,
    custom_values: dict[Any, Any] | None = None,
    method: str = "auto",
    kind: str = "average",
) -> Bunch:
    """Partial dependence of one or several features, as `sklearn.inspection.partial_dependence` gives it.

    Parameters
    ----------
    estimator : fitted regressor or classifier
    X : array, pandas frame, sparse matrix or lists of shape (rows, columns)
    features : column, or columns that move together, by position or (for frames) name, or a mask
    sample_weight : weight of each row in the average; implies ``method="brute"``
    categorical_features : columns whose grid is their categories: a mask, positions or names
    feature_names : names of the columns, for `categorical_features` by name
    response_method : ``"predict_proba"`` or ``"decision_function"`` of a classifier; ``"auto"`` takes
        the first that the model has. With recursion it is always the decision function
    percentiles : where the grid of a numeric feature begins and ends
    grid_resolution : number of points of that grid
    custom_values : feature -> values of its grid, instead of the two above; here with every version of scikit-learn,
        which has it since 1.7
    method : ``"brute"`` averages over the rows of X; ``"recursion"`` averages trees with the rows they
        were trained on, without the constant that boosting starts from; ``"auto"`` takes recursion for the estimators
        that have it when neither weights nor individual curves are asked for
    kind : ``"average"``, ``"individual"`` (one curve per row) or ``"both"``

    Returns
    -------
    Bunch with `grid_values` (list of one array per feature), `average` of shape ``(outputs, *grid)``
    and `individual` of shape ``(outputs, rows, *grid)``, as far as `kind` asks for them

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 4.0]]
    >>> model = LinearRegression().fit(X, [1.0, 3.0, 8.0])
    >>> partial_dependence(model, X, [0], kind="average")["average"].round(6)
    array([[2., 4., 6.]])
    """
    # 1. What is asked, of what.
    check_estimator(estimator)
    X = rows_of(X)
    method, response_method = method_of(estimator, method, kind, sample_weight, response_method)
    if sample_weight is not None:
        sample_weight = weights_of(sample_weight, X)

    # 2. The columns that move and the values they take.
    positions, names = column_positions(X, features)
    categories = categorical_positions(categorical_features, names_of(X, feature_names), X.shape[1])
    check_integers(X, positions, names, categories)
    custom = custom_values or {}
    values = grid_values(
        X,
        positions,
        [p in categories for p in positions],
        percentiles,
        grid_resolution,
        {rank: custom[name] for rank, name in enumerate(names) if name in custom},
    )

    # 3. The answer.
    individual = None
    if method == "recursion":
        average = training_dependence(estimator, X, positions, values)
    else:
        weights = None if kind == "individual" else sample_weight
        average, individual = brute_dependence(
            estimator, X, positions, values, response_method, weights, kind != "average"
        )
    result = Bunch(grid_values=values)
    if kind != "individual":
        result["average"] = average
    if individual is not None:
        result["individual"] = individual
    return result
