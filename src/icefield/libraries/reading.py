"""Reading a fitted model as trees, by whatever its library knows of it.

A library's reader knows models by their exact class, since a subclass may predict in another way. Whatever is not on
its list, or holds something it does not know, raises `CannotRead` with a reason meant for people; the caller then
falls back to asking the model itself.
"""

from __future__ import annotations

from typing import Any

from icefield.data.frame import Table
from icefield.forest.tree_model import CannotRead, TreeModel
from icefield.libraries.registry import library_of


def read(model: Any, table: Table) -> TreeModel:
    """Read a fitted model as trees.

    Parameters
    ----------
    model : a scikit-learn estimator, or a model of LightGBM, XGBoost or CatBoost, as wrapper or raw
    table : rows of the user's data, with exactly the model's columns in the model's order

    Raises
    ------
    CannotRead
        With the reason, where the model is not known to be exactly a sum of trees under a link.
    """
    library, name = library_of(model), type(model).__name__
    readers = None if library is None else library.trees
    try:
        reader = None if readers is None else readers.tree_reader(model)
        if reader is not None:
            return reader(model, table)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        # A library version that stores its models in another way, or a model that is not fitted.
        raise CannotRead(f"{name} is stored in a way that is not known ({error!r})") from error
    raise CannotRead(f"{name} is not known to be a sum of trees")
