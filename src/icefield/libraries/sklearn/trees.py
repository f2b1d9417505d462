"""Which of scikit-learn's models are sums of trees, and who reads each.

Models are known by their exact class: trees and ensembles of trees by what they store, searches, frozen
estimators, target transforms, votes, bags and pipelines by the models inside them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from icefield.data.frame import Table
from icefield.forest.tree_model import TreeModel
from icefield.libraries.class_path import class_path
from icefield.libraries.sklearn import member_trees, own_trees
from icefield.libraries.sklearn.pipeline_trees import read_pipeline

_READ_BY = (
    (own_trees.read_tree, "tree._classes",
     ("DecisionTreeRegressor", "DecisionTreeClassifier", "ExtraTreeRegressor", "ExtraTreeClassifier")),
    (own_trees.read_forest, "ensemble._forest",
     ("RandomForestRegressor", "RandomForestClassifier", "ExtraTreesRegressor", "ExtraTreesClassifier")),
    (own_trees.read_gradient_boosting, "ensemble._gb", ("GradientBoostingRegressor", "GradientBoostingClassifier")),
    (own_trees.read_hist_gradient_boosting, "ensemble._hist_gradient_boosting.gradient_boosting",
     ("HistGradientBoostingRegressor", "HistGradientBoostingClassifier")),
    (own_trees.read_isolation_forest, "ensemble._iforest", ("IsolationForest",)),
    (member_trees.read_search, "model_selection._search", ("GridSearchCV", "RandomizedSearchCV")),
    (member_trees.read_search, "model_selection._search_successive_halving",
     ("HalvingGridSearchCV", "HalvingRandomSearchCV")),
    (member_trees.read_frozen, "frozen._frozen", ("FrozenEstimator",)),
    (member_trees.read_transformed_target, "compose._target", ("TransformedTargetRegressor",)),
    (member_trees.read_voting, "ensemble._voting", ("VotingRegressor", "VotingClassifier")),
    (member_trees.read_bagging, "ensemble._bagging", ("BaggingRegressor", "BaggingClassifier")),
    (read_pipeline, "pipeline", ("Pipeline",)),
)  # fmt: skip
READERS: dict[str, Callable[[Any, Table], TreeModel]] = {
    f"sklearn.{module}.{name}": reader for reader, module, names in _READ_BY for name in names
}


def tree_reader(model: Any) -> Callable[[Any, Table], TreeModel] | None:
    """The reader of a class of scikit-learn's own; None for any other."""
    return READERS.get(class_path(model))
