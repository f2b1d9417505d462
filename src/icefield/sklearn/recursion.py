"""The recursion method: tree averages weighted by the training rows, as scikit-learn defines them.

The quantity is scikit-learn's: each split on another column is averaged with the number of
training rows that went each way, on the additive scale, without the constant the boosting starts
from. The tree engine computes it for large questions, where it is much quicker, and wherever
scikit-learn misreads its own trees, which a warning then says:

* a HistGradientBoosting model with categories, whose trees see the columns in another order
  (categories first) and split on sets of categories;
* a missing value on the grid, which scikit-learn sends right at every split.

Small questions are over in scikit-learn's own compiled walk before the trees could be read. It is
also asked where it warns or refuses: a boosting that starts from a model of its own, a fit with weights.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
from sklearn.utils.extmath import cartesian

from icefield.core.question import Axis
from icefield.data.frame import Table, table_of
from icefield.errors import EngineError, InputError
from icefield.forest import CannotRead, TreeModel, self_check
from icefield.sklearn.arguments import BOOSTING, HIST_BOOSTING
from icefield.sklearn.exact import recursion_pays, size_of
from icefield.sklearn.internals import fitted_with_weights, hist_sum, sklearn_recursion
from icefield.sklearn.responses import check_levels
from icefield.typing import Array, Float


def training_dependence(estimator: Any, X: Any, positions: Sequence[int], values: Sequence[Array]) -> Float:
    """Training-weighted average ``(outputs, *grid)`` on the additive scale, baseline left out."""
    shape = tuple(len(v) for v in values)
    misread = _misread(estimator, positions, values)
    if misread is not None:
        warnings.warn(
            f"scikit-learn's 'recursion' {misread}. The trees are followed here as the model itself predicts, "
            "so this result differs from scikit-learn's. Hint: method='brute' is the same in both.",
            UserWarning,
            stacklevel=4,
        )
    walk = sklearn_recursion(estimator)
    must_use_trees = misread is not None or walk is None
    if must_use_trees or _trees_are_quicker(estimator, int(np.prod(shape))):
        try:
            return _from_trees(estimator, X, positions, values)
        except (CannotRead, EngineError, ValueError) as reason:
            if must_use_trees:
                raise InputError.about(
                    "method", f"cannot be 'recursion' here: {reason}", hint="write method='brute'"
                ) from reason
    assert walk is not None
    average = walk(cartesian(list(values)), np.asarray(positions, dtype=np.intp))
    return np.asarray(average).reshape(-1, *shape)


def _misread(estimator: Any, positions: Sequence[int], values: Sequence[Array]) -> str | None:
    """Why scikit-learn would answer wrongly, or None when it answers rightly."""
    # Plain boosting takes no missing values.
    if isinstance(estimator, BOOSTING) or _left_to_scikit_learn(estimator):
        return None
    if isinstance(estimator, HIST_BOOSTING):
        categories = estimator.is_categorical_
        if categories is not None:
            # In which the trees have the columns:
            order = [*np.flatnonzero(categories), *np.flatnonzero(~categories)]
            if any(categories[p] or order[p] != p for p in positions):
                return (
                    "does not follow splits on categories and takes the columns of a HistGradientBoosting model "
                    "with categorical features for one another"
                )
    if any(v.dtype.kind == "f" and np.isnan(v).any() for v in values):
        return "sends a missing value right at every split, whatever the model learnt"
    return None


def _left_to_scikit_learn(estimator: Any) -> bool:
    """Cases that scikit-learn warns of or refuses, in its own words."""
    if isinstance(estimator, BOOSTING):
        return estimator.init is not None
    return fitted_with_weights(estimator)


def _trees_are_quicker(estimator: Any, points: int) -> bool:
    size = size_of(estimator)
    return size is not None and not _left_to_scikit_learn(estimator) and recursion_pays(size, points)


# --- by the tree engine ----------------------------------------------------------------------------


def _from_trees(estimator: Any, X: Any, positions: Sequence[int], values: Sequence[Array]) -> Float:
    from icefield.engines.training.training_averages import training_average

    table = table_of(X)
    reader, raw = _reader(estimator)
    trees = reader(estimator, table)
    difference = self_check(trees, table, lambda rows: raw(rows.native), scale="raw")
    if difference is not None:
        raise CannotRead(difference)
    if table.library == "pandas":
        for position, axis_values in zip(positions, values):
            check_levels(X.dtypes.iloc[position], table.names[position], axis_values)
    axes = [Axis(p, {table.names[p]: v}) for p, v in zip(positions, values)]
    forest = replace(trees.forest, base=np.zeros_like(trees.forest.base))
    return training_average(replace(trees, forest=forest), axes, table_of(_wide_row(X, positions)))


def _wide_row(X: Any, positions: Sequence[int]) -> Any:
    """A row to write the grid into; in double precision, since scikit-learn does not round its grid to X's."""
    row = X.iloc[[0]] if hasattr(X, "iloc") else X[[0]]
    if not hasattr(row, "iloc"):
        return row.astype(np.float64) if row.dtype.kind == "f" else row
    single = [p for p in positions if row.dtypes.iloc[p] == np.float32]
    return row.astype({row.columns[p]: np.float64 for p in single})


def _reader(estimator: Any) -> tuple[Callable[[Any, Table], TreeModel], Callable[[Any], Any]]:
    """The reader of an estimator's trees, and the method that sums them: a subclass has the same trees, whatever it predicts."""
    from icefield.libraries.sklearn import own_trees as readers

    if isinstance(estimator, GradientBoostingClassifier):
        return readers.read_gradient_boosting, estimator.decision_function
    if isinstance(estimator, BOOSTING):
        return readers.read_gradient_boosting, estimator.predict
    if isinstance(estimator, HIST_BOOSTING):
        return readers.read_hist_gradient_boosting, hist_sum(estimator)
    if isinstance(estimator, RandomForestRegressor):
        return readers.read_forest, estimator.predict
    return readers.read_tree, estimator.predict
