"""Raw predictions of encoded rows: curves on a grid without axes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from icefield.engines import Resources, Sample
from icefield.engines.pool import available_processors
from icefield.engines.trees.crew import Crew
from icefield.engines.trees.curves import Curves
from icefield.engines.trees.encoded import EncodedRows, matrix_of
from icefield.engines.trees.program import TreeSums
from icefield.forest.tree_model import TreeModel

Float = NDArray[np.float64]


def raw_predictions(model: TreeModel, matrix: Float, threads: int | None = None) -> Float:
    """Raw predictions ``(rows, n_outputs)`` of rows in the form the forest routes on."""
    sums = TreeSums(model.forest, tuple(range(model.forest.n_outputs)))
    encoded = replace(model, encode=matrix_of)
    rows = cast(Any, EncodedRows(np.asarray(matrix, np.float64)))
    out = np.empty((len(matrix), model.forest.n_outputs))
    with Crew(threads or available_processors()) as crew:
        curves = Curves(encoded, sums, (), crew, Resources().memory)
        for start, stop, values in curves.reduced(Sample(rows), lambda *block: block[2][:, 0]):
            out[start:stop] = values
    return out
