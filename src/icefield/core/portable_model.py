"""A study's model as compact arrays for a page, or the reason why there are none."""

from __future__ import annotations

from typing import Any

from icefield.core.study import Study
from icefield.errors import ModelError
from icefield.forest import CannotRead
from icefield.forest.encode import Encoder
from icefield.forest.links import identity
from icefield.forest.portable import portable
from icefield.forest.raw_columns import on_raw_columns
from icefield.models.tree_reading import tree_scale

INSTEAD = "use ex.serve(), which calls the model itself"


def portable_model(study: Study) -> dict[str, Any]:
    """The trees as `icefield.forest.portable.portable` packs them, on the study's scale; else an error with the reason."""
    trees = study.plan.trees
    if trees is None:
        raise ModelError(
            f"A live row needs a model that is read as trees, to evaluate it in the page: {study.plan.why}. Hint: {INSTEAD}."
        )
    link = identity()
    if tree_scale(study.model, trees) == "response":
        raw = trees.raw_link if study.model.scale == "raw" else None
        link = trees.link if raw is None else raw
    try:
        if not isinstance(getattr(trees.encode, "_encode", trees.encode), Encoder):  # a pipeline's
            trees = on_raw_columns(trees, study.sample.table)
        return portable(trees, link, adds_in_float32="xgboost" in trees.source.lower())
    except CannotRead as reason:
        raise ModelError(f"A live row cannot be put into the page: {reason}. Hint: {INSTEAD}.") from reason
