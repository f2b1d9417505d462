"""Averages at a sample's own values where no walk gives them: each row crossed with each.

What Friedman's H needs of an engine that has no faster way. Rows that share their values are asked
once; a set that holds every column has nothing left to average over, and is the prediction itself.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import Column
from icefield.data.features import Axis, Feature
from icefield.data.frame import Table
from icefield.engines import Engine, Question, Resources, Sample
from icefield.typing import Float, Positions

if TYPE_CHECKING:
    from icefield.models.model import Model


def moving_columns(features: Sequence[Feature]) -> tuple[Any, ...]:
    """The columns that move with some features."""
    return tuple(column for feature in features for column in feature.columns)


def crossed_averages(
    model: Model, engine: Engine, sets: Sequence[Sequence[Any]], sample: Sample, resources: Resources
) -> Generator[Float]:
    """Partial dependence of sets of columns at the sample's own values, averaged over the sample itself."""
    over = Sample(sample.table, sample.weights)
    for columns in sets:
        if set(columns) >= set(model.columns):
            # A copy: the array may be the model's own.
            yield np.array(model.predict(sample.table).T, dtype=np.float64)
            continue
        first, place = _distinct(sample.table, columns)
        points = {name: _grid_values(sample.table.column(name), first) for name in columns}
        question = Question((Axis(tuple(columns), points),), spread=False)
        (answer,) = engine.answer([question], over, resources)
        yield answer.total.average[:, place]


def _distinct(table: Table, columns: Sequence[Any]) -> tuple[Positions, Positions]:
    """Rows that show each combination of values first, and each row's combination."""
    codes = np.zeros(table.n_rows, dtype=np.int64)
    for name in columns:
        column = table.column(name)
        own = column.codes if column.kind != "float" else _codes_of_floats(column.values)
        codes = np.unique(codes * (int(own.max()) + 2) + own + 1, return_inverse=True)[1]
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    return first.astype(np.intp), place.astype(np.intp)


def _codes_of_floats(values: NDArray[Any]) -> NDArray[np.int64]:
    return np.unique(values, return_inverse=True, equal_nan=True)[1].astype(np.int64)


def _grid_values(column: Column, rows: Positions) -> NDArray[Any]:
    """Values of some rows in the form grids have: the dtype's own missing value, or None."""
    values = column.values[rows]
    gone = column.missing[rows]
    if not gone.any() or values.dtype.kind in "fmM":
        return np.asarray(values)
    out = values.astype(object)
    out[gone] = None
    return np.asarray(out)
