"""Which columns of text a model was trained on as categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from icefield.data.frame import Table
from icefield.libraries.registry import library_of


def levels_of_texts(model: Any, shown: Table, texts: Sequence[Any]) -> Mapping[Any, Sequence[Any]]:
    """Of columns of text, those that a booster takes as a category type, with the levels it knows.

    Parameters
    ----------
    model : as the user gave it
    shown : some rows, which may help to tell which columns are meant
    texts : the columns of text
    """
    library = library_of(model)
    if library is None or library.files is None:
        return {}
    known = library.files.known_levels(model, shown.to("pandas").native)
    return {
        name: own.levels
        for name, own in known.items()
        if name in texts and own.typed and all(isinstance(level, str) for level in own.levels)
    }
