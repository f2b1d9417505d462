"""Which of scikit-learn's models are sums of trees, and who reads each.

Models are known by their exact class: trees and ensembles of trees by what they store, searches, frozen
estimators, target transforms, votes, bags and pipelines by the models inside them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from icefield.forest.tree_model import TreeModel
from icefield.libraries.class_path import class_path
from icefield.libraries.sklearn import member_trees, own_trees
from icefield.libraries.sklearn.pipeline_trees import read_pipeline

if TYPE_CHECKING:
    from icefield.data.frame import Table

_HIST = "sklearn.ensemble._hist_gradient_boosting.gradient_boosting"
_SEARCH = "sklearn.model_selection._search"

READERS: dict[str, Callable[[Any, Table], TreeModel]] = {
    "sklearn.tree._classes.DecisionTreeRegressor": own_trees.read_tree,
    "sklearn.tree._classes.DecisionTreeClassifier": own_trees.read_tree,
    "sklearn.tree._classes.ExtraTreeRegressor": own_trees.read_tree,
    "sklearn.tree._classes.ExtraTreeClassifier": own_trees.read_tree,
    "sklearn.ensemble._forest.RandomForestRegressor": own_trees.read_forest,
    "sklearn.ensemble._forest.RandomForestClassifier": own_trees.read_forest,
    "sklearn.ensemble._forest.ExtraTreesRegressor": own_trees.read_forest,
    "sklearn.ensemble._forest.ExtraTreesClassifier": own_trees.read_forest,
    "sklearn.ensemble._gb.GradientBoostingRegressor": own_trees.read_gradient_boosting,
    "sklearn.ensemble._gb.GradientBoostingClassifier": own_trees.read_gradient_boosting,
    f"{_HIST}.HistGradientBoostingRegressor": own_trees.read_hist_gradient_boosting,
    f"{_HIST}.HistGradientBoostingClassifier": own_trees.read_hist_gradient_boosting,
    "sklearn.ensemble._iforest.IsolationForest": own_trees.read_isolation_forest,
    f"{_SEARCH}.GridSearchCV": member_trees.read_search,
    f"{_SEARCH}.RandomizedSearchCV": member_trees.read_search,
    f"{_SEARCH}_successive_halving.HalvingGridSearchCV": member_trees.read_search,
    f"{_SEARCH}_successive_halving.HalvingRandomSearchCV": member_trees.read_search,
    "sklearn.frozen._frozen.FrozenEstimator": member_trees.read_frozen,
    "sklearn.compose._target.TransformedTargetRegressor": member_trees.read_transformed_target,
    "sklearn.ensemble._voting.VotingRegressor": member_trees.read_voting,
    "sklearn.ensemble._voting.VotingClassifier": member_trees.read_voting,
    "sklearn.ensemble._bagging.BaggingRegressor": member_trees.read_bagging,
    "sklearn.ensemble._bagging.BaggingClassifier": member_trees.read_bagging,
    "sklearn.pipeline.Pipeline": read_pipeline,
}


def tree_reader(model: Any) -> Callable[[Any, Table], TreeModel] | None:
    """The reader of a class of scikit-learn's own; None for any other."""
    return READERS.get(class_path(model))
