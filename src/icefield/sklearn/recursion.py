"""The recursion method: tree averages weighted by the training rows, as scikit-learn defines them.

The quantity is scikit-learn's: each split on another column is averaged with the number of
training rows that went each way, on the additive scale, without the constant the boosting starts
from. scikit-learn's own kernels compute it, except where they misread the trees; those cases are
walked here by the rules the estimator itself predicts with, and a warning says so:

* a HistGradientBoosting model with categories, whose trees see the columns in another order
  (categories first) and split on sets of categories;
* a missing value on the grid, which the kernels send right at every split;
* a tree or forest with several outputs, whose values the kernels read as if there were one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import cartesian

from icefield.engines.brute import flat_points
from icefield.engines import Axis, Question
from icefield.frame import table_of
from icefield.sklearn.arguments import BOOSTING, HIST_BOOSTING
from icefield.sklearn.responses import moving_values

Float = NDArray[np.float64]


def training_dependence(
    estimator: Any, X: Any, positions: Sequence[int], values: Sequence[NDArray[Any]]
) -> Float:
    """Training-weighted average ``(outputs, *grid)`` on the additive scale, baseline left out."""
    misread = _misread(estimator, positions, values)
    shape = tuple(len(v) for v in values)
    if misread is None:
        columns = np.asarray(positions, dtype=np.intp)
        average = estimator._compute_partial_dependence_recursion(cartesian(list(values)), columns)
        return np.asarray(average).reshape(-1, *shape)
    _check_counts(estimator)
    warnings.warn(
        f"scikit-learn's 'recursion' {misread}; the trees are followed as the model predicts here, so the "
        "result differs from scikit-learn's. Hint: method='brute' averages over X in both.",
        UserWarning,
        stacklevel=3,
    )
    points, moving = _points(estimator, X, positions, values)
    total = sum(_weighted_average(tree, points, moving) * tree.factor for tree in _trees(estimator))
    return np.asarray(total, dtype=np.float64).reshape(-1, *shape)
