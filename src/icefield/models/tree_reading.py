"""From a fitted model to trees that are known to predict as it does."""

from __future__ import annotations

import warnings
from dataclasses import replace

from icefield.data.frame import Table
from icefield.errors import ReadingWarning
from icefield.forest import CannotRead, TreeModel, self_check
from icefield.libraries.reading import read
from icefield.models.model import Model
from icefield.typing import Float


def read_trees(
    model: Model, table: Table, checked: list[tuple[Table, Float]] | None = None
) -> tuple[TreeModel | None, str]:
    """The model as trees, checked against its own predictions; or None and the reason.

    The rows it was asked about are added to `checked`, with what it predicted.
    """
    rows = table.select(model.columns)
    every_output = replace(model, selected=tuple(range(len(model.all_outputs))))

    def predict(some: Table) -> Float:
        found = every_output.predict(some)
        if checked is not None:
            checked.append((some, found))
        return found

    try:
        trees = read(model.native, rows)
        if model.scale == "raw" and trees.raw_link is not None:
            trees = replace(trees, link=trees.raw_link)
        difference = self_check(trees, rows, predict, scale=tree_scale(model, trees))
    except CannotRead as reason:  # of the model, or of values among the checked rows
        return None, str(reason)
    if difference is None:
        return trees, ""
    # A reader that is wrong must be heard of, even where the curves stay right.
    warnings.warn(
        f"{type(model.native).__name__} was read as trees, but {difference}. Brute force is used instead.",
        ReadingWarning,
        stacklevel=2,
    )
    return None, f"the self-check failed: {difference}"


def tree_scale(model: Model, trees: TreeModel) -> str:
    """The scale on which the trees are evaluated: a raw scale that is not their sum is reached by a link too."""
    return model.scale if trees.raw_link is None else "response"
