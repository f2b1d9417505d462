"""Tree ensembles of any library as one form: `read` a fitted model, `self_check` the result.

`read` knows models by their exact class, since a subclass may predict in another way, and hands
them to their library's reader. Whatever is not on the list, or holds something a reader does not
know, raises `CannotRead` with a reason meant for people; the caller then falls back to asking the
model itself.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from icefield.forest.check import self_check
from icefield.forest.tree_model import CannotRead, Link, TreeModel

if TYPE_CHECKING:
    from icefield.data.frame import Table

__all__ = ["CannotRead", "Link", "TreeModel", "read", "self_check"]

_HIST = "sklearn.ensemble._hist_gradient_boosting.gradient_boosting"

# Class to the module and function of its reader. Readers of wrappers get `read` itself as well.
_READERS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        (
            "sklearn.tree._classes.DecisionTreeRegressor",
            "sklearn.tree._classes.DecisionTreeClassifier",
            "sklearn.tree._classes.ExtraTreeRegressor",
            "sklearn.tree._classes.ExtraTreeClassifier",
        ),
        ("sklearn", "read_tree"),
    ),
    **dict.fromkeys(
        (
            "sklearn.ensemble._forest.RandomForestRegressor",
            "sklearn.ensemble._forest.RandomForestClassifier",
            "sklearn.ensemble._forest.ExtraTreesRegressor",
            "sklearn.ensemble._forest.ExtraTreesClassifier",
        ),
        ("sklearn", "read_forest"),
    ),
    "sklearn.ensemble._gb.GradientBoostingRegressor": ("sklearn", "read_gradient_boosting"),
    "sklearn.ensemble._gb.GradientBoostingClassifier": ("sklearn", "read_gradient_boosting"),
    f"{_HIST}.HistGradientBoostingRegressor": ("sklearn", "read_hist_gradient_boosting"),
    f"{_HIST}.HistGradientBoostingClassifier": ("sklearn", "read_hist_gradient_boosting"),
    "sklearn.ensemble._iforest.IsolationForest": ("sklearn", "read_isolation_forest"),
    **dict.fromkeys(
        (
            "lightgbm.basic.Booster",
            "lightgbm.sklearn.LGBMModel",
            "lightgbm.sklearn.LGBMRegressor",
            "lightgbm.sklearn.LGBMClassifier",
            "lightgbm.sklearn.LGBMRanker",
        ),
        ("lightgbm", "read"),
    ),
    **dict.fromkeys(
        (
            "xgboost.core.Booster",
            "xgboost.sklearn.XGBModel",
            "xgboost.sklearn.XGBRegressor",
            "xgboost.sklearn.XGBClassifier",
            "xgboost.sklearn.XGBRanker",
            "xgboost.sklearn.XGBRFRegressor",
            "xgboost.sklearn.XGBRFClassifier",
        ),
        ("xgboost", "read"),
    ),
    **dict.fromkeys(
        (
            "catboost.core.CatBoost",
            "catboost.core.CatBoostRegressor",
            "catboost.core.CatBoostClassifier",
            "catboost.core.CatBoostRanker",
        ),
        ("catboost", "read"),
    ),
}
_WRAPPERS: dict[str, tuple[str, str]] = {
    "sklearn.pipeline.Pipeline": ("pipelines", "read_pipeline"),
    "sklearn.model_selection._search.GridSearchCV": ("wrappers", "read_search"),
    "sklearn.model_selection._search.RandomizedSearchCV": ("wrappers", "read_search"),
    "sklearn.model_selection._search_successive_halving.HalvingGridSearchCV": ("wrappers", "read_search"),
    "sklearn.model_selection._search_successive_halving.HalvingRandomSearchCV": ("wrappers", "read_search"),
    "sklearn.frozen._frozen.FrozenEstimator": ("wrappers", "read_frozen"),
    "sklearn.compose._target.TransformedTargetRegressor": ("wrappers", "read_transformed_target"),
    "sklearn.ensemble._voting.VotingRegressor": ("wrappers", "read_voting"),
    "sklearn.ensemble._voting.VotingClassifier": ("wrappers", "read_voting"),
    "sklearn.ensemble._bagging.BaggingRegressor": ("wrappers", "read_bagging"),
    "sklearn.ensemble._bagging.BaggingClassifier": ("wrappers", "read_bagging"),
}


def read(model: Any, table: Table) -> TreeModel:
    """Read a fitted model as trees.

    Parameters
    ----------
    model : object
        The user's fitted model: a scikit-learn estimator, or a model of LightGBM, XGBoost or
        CatBoost, as wrapper or raw.
    table : Table
        Rows of the user's data, with exactly the model's columns in the model's order.

    Raises
    ------
    CannotRead
        With the reason, where the model is not known to be exactly a sum of trees under a link.
    """
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    try:
        if kind in _READERS:
            return _reader(*_READERS[kind])(model, table)
        if kind in _WRAPPERS:
            return _reader(*_WRAPPERS[kind])(model, table, read)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        # A library version that stores its models in another way, or a model that is not fitted.
        raise CannotRead(
            f"{type(model).__name__} is stored in a way that is not known ({error!r})"
        ) from error
    raise CannotRead(f"{type(model).__name__} is not known to be a sum of trees")


def _reader(module: str, name: str) -> Callable[..., TreeModel]:
    reader: Callable[..., TreeModel] = getattr(import_module(f"icefield.forest.{module}"), name)
    return reader
