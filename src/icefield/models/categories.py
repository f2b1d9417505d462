"""Which columns of text a model was trained on as categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from icefield.data.frame import Table
from icefield.libraries.registry import library_of


def trained_levels(model: Any, rows: Table, texts: Sequence[Any]) -> Mapping[Any, Sequence[Any]]:
    """The text columns that a booster takes as a category type, with the levels it knows, by name.

    Parameters
    ----------
    model : as the user gave it
    shown : some rows, which may help to tell which columns are meant
    texts : the columns of text
    """
    library = library_of(model)
    if library is None or library.files is None:
        return {}
    known = library.files.known_levels(model, rows.to("pandas").native)
    return {
        name: column.levels
        for name, column in known.items()
        if name in texts and column.typed and all(isinstance(level, str) for level in column.levels)
    }
