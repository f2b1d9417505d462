"""Reading models that hold other models: searches, frozen estimators, target transforms, votes, bags.

A wrapper is looked through only where its ``predict`` is known to be a fixed function of its
members' predictions on the caller's own rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Table, table_of
from icefield.forest import links
from icefield.forest.combine import weighted_sum
from icefield.forest.encode import Encoder, Numbers, check_numeric, check_width
from icefield.forest.tree_model import CannotRead, TreeModel
from icefield.libraries.reading import read
from icefield.libraries.sklearn.internals import internal

# Transformers whose inverse treats every prediction by itself.
ROW_WISE_TRANSFORMERS = (
    "StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "PowerTransformer",
    "QuantileTransformer",
)  # fmt: skip


def read_search(model: Any, table: Table) -> TreeModel:
    """A fitted hyper-parameter search predicts with its best estimator."""
    if not hasattr(model, "best_estimator_"):
        raise CannotRead(f"{type(model).__name__} was fitted with refit=False and has no best estimator")
    return read(model.best_estimator_, table)


def read_frozen(model: Any, table: Table) -> TreeModel:
    """A frozen estimator predicts as the estimator does."""
    return read(model.estimator, table)


def read_transformed_target(model: Any, table: Table) -> TreeModel:
    """The regressor's predictions, taken back to the target's own scale."""
    inner = read(model.regressor_, table)
    inverse = _row_wise_inverse(model.transformer_)
    # The raw scale is the transformed target: what the regressor predicts, whatever link is in there.
    raw_link = None if inner.link.additive else inner.link
    if inverse is None:
        return replace(inner, raw_link=raw_link)
    link = links.then(
        inner.link, "inverse of the target's transformation", partial(_by_rows, inverse=inverse)
    )
    return replace(inner, link=link, raw_link=raw_link)


def read_voting(model: Any, table: Table) -> TreeModel:
    """A weighted average of the members' predictions or probabilities."""
    is_classifier = hasattr(model, "classes_")
    if is_classifier and model.voting != "soft":
        raise CannotRead(f"VotingClassifier with voting={model.voting!r} counts labels")
    members = [read(member, table) for member in model.estimators_]
    given = model.weights is not None
    weights = np.asarray(internal(model, "_weights_not_none") if given else np.ones(len(members)), float)
    n_response = len(model.classes_) if is_classifier else 1
    for member in members:
        if _n_response(member) != n_response:
            raise CannotRead("a member of the vote has another number of outputs than the vote")
    targets = [range(n_response)] * len(members)
    return weighted_sum(members, list(weights / weights.sum()), targets, n_response, table)


def read_bagging(model: Any, table: Table) -> TreeModel:
    """An average over members that each see their own columns, as a plain numeric matrix."""
    check_width(table, model.n_features_in_)
    check_numeric(table)
    is_classifier = hasattr(model, "classes_")
    members, targets = [], []
    for estimator, features in zip(model.estimators_, model.estimators_features_):
        inner = _read_on_columns(estimator, [table.names[i] for i in features])
        members.append(inner)
        targets.append(_class_places(model, estimator) if is_classifier else range(_n_response(inner)))
    n_response = model.n_classes_ if is_classifier else _n_response(members[0])
    for member, target in zip(members, targets):
        if _n_response(member) != len(target):
            raise CannotRead("a member of the bag has another number of outputs than the bag")
    return weighted_sum(members, [1.0 / len(members)] * len(members), targets, n_response, table)


def _read_on_columns(estimator: Any, names: list[Any]) -> TreeModel:
    """Read a member on a matrix of some columns, then name those columns as the table does."""
    inner = read(estimator, table_of(np.zeros((1, len(names)))))
    encode = inner.encode
    if inner.source != "scikit-learn" or not isinstance(encode, Encoder):
        raise CannotRead(f"a bag of {type(estimator).__name__} is not known to predict row by row")
    if not all(isinstance(rule, Numbers) for rule in encode.rules):
        raise CannotRead("a bag of models with categories is not known to predict row by row")
    named = replace(encode, names=tuple(names[i] for i in encode.names))
    return replace(inner, encode=named, drives=named.drives)


def _class_places(model: Any, estimator: Any) -> list[int]:
    """The bag's class that each of a member's classes is; members may not have seen all."""
    if len(estimator.classes_) == model.n_classes_:
        return list(range(model.n_classes_))
    return [int(place) for place in estimator.classes_]


def _n_response(model: TreeModel) -> int:
    return model.link.apply(model.forest.base[None, :]).shape[-1]


def _row_wise_inverse(transformer: Any) -> Callable[[NDArray], NDArray] | None:
    """The inverse of a target's transformation where it is known to act on each value by itself."""
    kind = type(transformer)
    if kind.__module__.startswith("sklearn.preprocessing."):
        if kind.__name__ in ROW_WISE_TRANSFORMERS:
            return transformer.inverse_transform
        if kind.__name__ == "FunctionTransformer":
            inverse = transformer.inverse_func
            if inverse is None:
                return None
            if isinstance(inverse, np.ufunc) and not transformer.inv_kw_args:
                return inverse
            raise CannotRead(
                f"the target's inverse_func {getattr(inverse, '__name__', inverse)!r} is not a numpy ufunc, "
                "so it may not treat every value by itself"
            )
    raise CannotRead(f"the target's transformer {kind.__name__} is not known to treat every value by itself")


def _by_rows(response: NDArray, inverse: Callable[[NDArray], NDArray]) -> NDArray:
    # A copy, since some transformers work in place.
    columns = np.array(response.reshape(-1, response.shape[-1]))
    return np.asarray(inverse(columns)).reshape(response.shape)
