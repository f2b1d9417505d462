"""Which levels scikit-learn's encoders know, by the columns of the rows a model is handed.

An encoder lists its categories; which columns it gets is said by the column transformers and pipelines around it. Only
what stands first on a column's way is read: behind it, columns are no longer those of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from icefield.data.columns import is_missing_value
from icefield.libraries.adapter import comes_from, type_name
from icefield.libraries.category_types import KnownLevels
from icefield.libraries.sklearn.internals import internal
from icefield.libraries.sklearn.nesting import is_pipeline, unwrapped

Found = tuple[Any, KnownLevels]
OF_TREES = ("sklearn.ensemble._forest", "sklearn.ensemble._gb", "sklearn.ensemble._iforest")


def known_levels(model: Any) -> dict[Any, KnownLevels]:
    """Levels by column; a column that two encoders know differently is left out."""
    names = _names(model)
    levels_of: dict[Any, KnownLevels] = {}
    differing = set()
    for name, levels in [] if names is None else _levels(model, names):
        if levels_of.setdefault(name, levels).levels != levels.levels:
            differing.add(name)
    return {name: levels for name, levels in levels_of.items() if name not in differing}


def takes_only_numbers(model: Any) -> bool:
    """Whether an estimator of scikit-learn's own gets its rows as they are, so that all columns are numbers to it."""
    inner = unwrapped(model)
    home = type(inner).__module__
    holds_others = any(
        hasattr(inner, name) for name in ("estimators_", "estimator_", "regressor_", "transformers_")
    )
    if home in OF_TREES:
        return True
    is_sklearns = home.startswith("sklearn.") and not type_name(inner).startswith("Dummy")
    return is_sklearns and not is_pipeline(inner) and not holds_others


def _names(model: Any) -> Sequence[Any] | None:
    model = unwrapped(model)
    names = getattr(model, "feature_names_in_", None)
    if names is None and is_pipeline(model):
        names = getattr(model.steps[0][1], "feature_names_in_", None)
    return None if names is None else list(names)


def _levels(model: Any, names: Sequence[Any]) -> Iterator[Found]:
    """The levels an estimator or transformer knows of the columns it is handed."""
    model = unwrapped(model)
    if model is None or isinstance(model, str) or not comes_from(model, "sklearn"):
        return
    if is_pipeline(model):
        yield from _levels_of_steps([step for _, step in model.steps], names)
    elif hasattr(model, "transformers_"):
        for _, step, columns in model.transformers_:
            yield from _levels(step, _chosen(columns, names))
    elif hasattr(model, "categories_"):
        yield from _levels_of_encoder(model, names)
    elif type_name(model).startswith("HistGradientBoosting"):
        with suppress(AttributeError):
            yield from _levels(internal(model, "_preprocessor"), names)
    else:
        for inner in _members(model):
            yield from _levels(inner, names)


def _levels_of_steps(steps: Sequence[Any], names: Sequence[Any]) -> Iterator[Found]:
    """The first step that is not a mere filling of gaps; what is missing is what is filled."""
    for step in steps:
        fills = type_name(step) == "SimpleImputer" and not getattr(step, "add_indicator", False)
        if not (fills or isinstance(step, str)):
            yield from _levels(step, names)
            return


def _levels_of_encoder(encoder: Any, names: Sequence[Any]) -> Iterator[Found]:
    categories = encoder.categories_
    if len(categories) != len(names) or not all(np.ndim(levels) == 1 for levels in categories):
        return
    for name, levels in zip(names, categories):
        values = np.asarray(levels).tolist()
        blank = next((level for level in values if is_missing_value(level)), np.nan)
        known = tuple(level for level in values if not is_missing_value(level))
        yield name, KnownLevels(known, typed=False, unseen="kept", missing=blank)


def _members(model: Any) -> list[Any]:
    """The estimators inside a model that get the same rows as it does."""
    if hasattr(model, "regressor_"):
        return [model.regressor_]
    if hasattr(model, "calibrated_classifiers_"):
        return [member.estimator for member in model.calibrated_classifiers_]
    members = getattr(model, "estimators_", None)
    return list(members) if isinstance(members, list) else []


def _chosen(columns: Any, names: Sequence[Any]) -> list[Any]:
    """Names of the columns a column transformer hands on, however they were given."""
    if isinstance(columns, slice):
        return list(names[columns])
    chosen = [columns] if isinstance(columns, (str, int)) else list(np.asarray(columns).tolist())
    if chosen and all(isinstance(column, bool) for column in chosen):
        return [name for name, keep in zip(names, chosen) if keep]
    return [names[column] if isinstance(column, int) and column not in names else column for column in chosen]
