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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import cartesian

from icefield.engines import Axis, Question
from icefield.engines.brute import flat_points
from icefield.frame import table_of
from icefield.sklearn.arguments import BOOSTING, HIST_BOOSTING
from icefield.sklearn.responses import moving_values

Float = NDArray[np.float64]


def training_dependence(
    estimator: Any, X: Any, positions: Sequence[int], values: Sequence[NDArray[Any]]
) -> Float:
    """Training-weighted average ``(outputs, *grid)`` on the additive scale, baseline left out."""
    shape = tuple(len(v) for v in values)
    misread = _misread(estimator, positions, values)
    if misread is None:
        columns = np.asarray(positions, dtype=np.intp)
        average = estimator._compute_partial_dependence_recursion(cartesian(list(values)), columns)
        return np.asarray(average).reshape(-1, *shape)
    warnings.warn(
        f"scikit-learn's 'recursion' {misread}. The trees are followed here as the model itself predicts, "
        "so this result differs from scikit-learn's. Hint: method='brute' is the same in both.",
        UserWarning,
        stacklevel=4,
    )
    points = _tree_columns(estimator, X, positions, values)
    averages = np.zeros((_n_outputs(estimator), int(np.prod(shape))))
    for tree in _trees(estimator):
        averages[tree.outputs] += _weighted_average(tree, points)
    return averages.reshape(-1, *shape)


def _misread(estimator: Any, positions: Sequence[int], values: Sequence[NDArray[Any]]) -> str | None:
    """Why scikit-learn's kernels would answer wrongly, or None when they answer rightly."""
    # Models fitted with weights are refused by the estimator itself; plain boosting takes no missing
    # values and sums its outputs in separate trees.
    if isinstance(estimator, BOOSTING) or getattr(estimator, "_fitted_with_sw", False):
        return None
    if isinstance(estimator, HIST_BOOSTING):
        categories = estimator.is_categorical_
        if categories is not None and any(
            categories[p] or _place_in_trees(estimator, p) != p for p in positions
        ):
            return (
                "does not follow splits on categories and takes the columns of a HistGradientBoosting model "
                "with categorical features for one another"
            )
    elif estimator.n_outputs_ > 1:
        return f"mixes up the {estimator.n_outputs_} outputs of a {type(estimator).__name__}"
    if any(v.dtype.kind == "f" and np.isnan(v).any() for v in values):
        return "sends a missing value right at every split, whatever the model learnt"
    return None


# --- the grid in the trees' own terms --------------------------------------------------------------


def _place_in_trees(estimator: Any, position: int) -> int:
    """HistGradientBoosting puts its categorical columns first."""
    categories = getattr(estimator, "is_categorical_", None)
    if categories is None:
        return position
    order = [*np.flatnonzero(categories), *np.flatnonzero(~categories)]
    return order.index(position)


def _tree_columns(
    estimator: Any, X: Any, positions: Sequence[int], values: Sequence[NDArray[Any]]
) -> dict[int, Float]:
    """The moving columns' values at every grid point, encoded and numbered as the trees have them."""
    if not isinstance(estimator, HIST_BOOSTING):
        flat = np.asarray(cartesian(list(values)), dtype=np.float32).astype(np.float64)
        return {p: flat[:, i] for i, p in enumerate(positions)}
    table = table_of(X)
    axes = tuple(Axis(p, moving_values(table, p, v)) for p, v in zip(positions, values))
    rows = table.slice(0, 1).crossed(flat_points(Question(axes))).native
    encoded = np.asarray(estimator._preprocess_X(rows, reset=False), dtype=np.float64)
    return {place: encoded[:, place] for place in (_place_in_trees(estimator, p) for p in positions)}


# --- the trees -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tree:
    """One tree as flat arrays; `outputs` says which rows of the result its values add to."""

    left: NDArray[np.intp]
    right: NDArray[np.intp]
    feature: NDArray[np.intp]
    leaf: NDArray[np.bool_]
    threshold: Float
    missing_left: NDArray[np.bool_]
    weight: Float
    value: Float  # (nodes, outputs)
    outputs: slice
    left_categories: Mapping[int, NDArray[np.int64]]  # node -> codes that go left

    def goes_left(self, node: int, x: Float) -> NDArray[np.bool_]:
        if node in self.left_categories:
            left = np.isin(x, self.left_categories[node])
        else:
            left = x <= self.threshold[node]
        return np.where(np.isnan(x), self.missing_left[node], left)


def _n_outputs(estimator: Any) -> int:
    return int(
        estimator.n_trees_per_iteration_ if isinstance(estimator, HIST_BOOSTING) else estimator.n_outputs_
    )


def _trees(estimator: Any) -> Iterator[_Tree]:
    if isinstance(estimator, HIST_BOOSTING):
        for iteration in estimator._predictors:
            for output, predictor in enumerate(iteration):
                yield _hist_tree(predictor, output)
        return
    members = getattr(estimator, "estimators_", [estimator])
    for member in members:
        yield _plain_tree(member.tree_, 1.0 / len(members))


def _hist_tree(predictor: Any, output: int) -> _Tree:
    nodes = predictor.nodes
    categorical = np.flatnonzero(nodes["is_categorical"].astype(bool) & ~nodes["is_leaf"].astype(bool))
    return _Tree(
        left=nodes["left"].astype(np.intp),
        right=nodes["right"].astype(np.intp),
        feature=nodes["feature_idx"].astype(np.intp),
        leaf=nodes["is_leaf"].astype(bool),
        threshold=nodes["num_threshold"].astype(np.float64),
        missing_left=nodes["missing_go_to_left"].astype(bool),
        weight=nodes["count"].astype(np.float64),
        value=nodes["value"].astype(np.float64)[:, None],
        outputs=slice(output, output + 1),
        left_categories={
            int(n): _codes(predictor.raw_left_cat_bitsets[nodes["bitset_idx"][n]]) for n in categorical
        },
    )


def _codes(words: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The numbers whose bits are set in a row of 32-bit words, lowest first."""
    bits = (words[:, None] >> np.arange(32, dtype=np.uint32)) & 1
    return np.flatnonzero(bits.ravel())


def _plain_tree(tree: Any, factor: float) -> _Tree:
    return _Tree(
        left=tree.children_left,
        right=tree.children_right,
        feature=tree.feature,
        leaf=tree.children_left < 0,
        threshold=tree.threshold,
        missing_left=np.asarray(tree.missing_go_to_left, dtype=bool),
        weight=tree.weighted_n_node_samples,
        value=tree.value[:, :, 0] * factor,
        outputs=slice(None),
        left_categories={},
    )


def _weighted_average(tree: _Tree, points: Mapping[int, Float]) -> Float:
    """The tree's average at every grid point: moving columns decide, others split by training rows."""
    size = len(next(iter(points.values())))
    average = np.zeros((tree.value.shape[1], size))
    waiting = [(0, np.ones(size))]
    while waiting:
        node, share = waiting.pop()
        if tree.leaf[node]:
            average += tree.value[node][:, None] * share
            continue
        left, right = int(tree.left[node]), int(tree.right[node])
        column = points.get(int(tree.feature[node]))
        if column is None:
            fraction = tree.weight[left] / tree.weight[node]
            waiting += [(left, share * fraction), (right, share * (1.0 - fraction))]
            continue
        goes_left = tree.goes_left(node, column)
        for child, goes in ((left, goes_left), (right, ~goes_left)):
            if goes.any():
                waiting.append((child, np.where(goes, share, 0.0)))
    return average
