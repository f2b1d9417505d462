"""What stands for a feature's values over all rows: what the first pass counted, or the rows themselves where they are few."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import Column, object_array
from icefield.data.features import NO_LEVEL, Feature
from icefield.data.frame import Table
from icefield.rows.column_sketch import Summary
from icefield.rows.survey import Survey


class Summaries:
    """Summaries of features, each made once.

    Parameters
    ----------
    survey : what the first pass found
    weights : the column of weights, or None
    """

    def __init__(self, survey: Survey, weights: str | None) -> None:
        self._survey, self._weights = survey, weights
        self._known: dict[Any, Summary] = {}

    def of(self, feature: Feature) -> Summary:
        """A feature's values, or values that stand for them, and their weights."""
        key = (feature.label, feature.columns)
        if key not in self._known:
            if self._survey.is_complete:
                found = self._whole(self._survey.sample(), feature.column)
            elif feature.is_group:
                found = self._of_group(feature)
            else:
                found = self._survey.summary(feature.columns[0])
            self._known[key] = found
        return self._known[key]

    def of_column(self, name: str) -> tuple[Table, Summary]:
        """A table of a column's values, and their summary."""
        if self._survey.is_complete:
            table = self._survey.sample()
            return table, self._whole(table, table.column(name))
        return self._survey.values(name), self._survey.summary(name)

    def _whole(self, table: Table, column: Column) -> Summary:
        """A column of the sample, where that holds all rows: nothing has to be summarised."""
        weights = np.ones(table.n_rows) if self._weights is None else table.column(self._weights).to_float()
        return Summary(column, weights)

    def _of_group(self, feature: Feature) -> Summary:
        """How often each column of a one-hot group is set, and none of them."""
        parts = [self._survey.summary(name) for name in feature.columns]
        counts = [float(part.weights[_is_one(part.column)].sum()) for part in parts]
        none = float(parts[0].weights.sum()) - sum(counts)
        levels = [level for level in feature.column.levels.tolist() if level != NO_LEVEL]
        if none > 0.5e-9 * float(parts[0].weights.sum()):
            levels, counts = [*levels, NO_LEVEL], [*counts, none]
        codes = np.arange(len(levels), dtype=np.int64)
        values = object_array(levels)
        column = Column(feature.label, "categorical", values, np.zeros(len(levels), bool), codes, values)
        return Summary(column, np.array(counts))


def _is_one(column: Column) -> NDArray[np.bool_]:
    return np.asarray((column.values == 1) & ~column.missing)
