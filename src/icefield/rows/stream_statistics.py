"""Summary statistics of a stream's columns, from what the first pass learned.

The same functions that read whole columns work out grids, histograms and weights at grid points; only that `ColumnValues` from a
column's sketch stand in for its rows. What needs two columns together, or groups of rows, is counted in a pass, or
taken from the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.column_statistics import ColumnValues, MemoryStatistics
from icefield.data.columns import Column, dictionary_array, library_named, object_array
from icefield.data.distribution import Distribution, marginal_of
from icefield.data.features import NO_LEVEL, Feature, check_levels, nearest_points
from icefield.data.frame import Table
from icefield.data.grid import NO_STEPS, Grid, Steps, grid_points, planned, specifications, with_steps
from icefield.errors import InputTypeError
from icefield.rows.column_sketch import of_values
from icefield.rows.rank_sketch import RankSummary
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.data.groups import Groups
    from icefield.rows.stream import Stream
    from icefield.rows.survey import Survey


class SurveyedColumns:
    """Values that stand for whole columns, from what a survey found; each made once.

    Parameters
    ----------
    stream, survey : the rows, and what the first pass found of them
    sample : statistics of the rows of the sample, which may be all
    """

    def __init__(self, stream: Stream, survey: Survey, sample: MemoryStatistics) -> None:
        self._stream, self._survey, self._sample = stream, survey, sample
        self._known: dict[Feature, ColumnValues] = {}

    def of(self, feature: Feature) -> ColumnValues:
        """A feature's values over all rows, or values that stand for them."""
        if feature not in self._known:
            if self._survey.is_complete:
                values = self._sample.values(feature)
            elif feature.is_group:
                values = self._of_group(feature)
            else:
                values = self._of_sketch(feature.columns[0])
            self._known[feature] = values
        return self._known[feature]

    def of_column(self, name: str) -> tuple[Table, ColumnValues]:
        """A table of a column's values, and these with their weights."""
        if self._survey.is_complete:
            return self._sample.table, self._sample.values(Feature(name, (name,), ""))
        return self._table(name), self._of_sketch(name)

    def sketched(self, name: str) -> RankSummary | None:
        """A column's quantile sketch; None where every value was counted, or values have no order."""
        sketch = self._survey.sketches[name]
        values, weights, distinct = sketch.values
        return None if distinct else RankSummary(name, np.asarray(values), weights, sketch.rank_error)

    def exact(self, name: str, values: NDArray[Any], weights: Float) -> ColumnValues:
        """Values whose ranks are exact where they matter."""
        column = self._as_table(name, values).column(name)
        return ColumnValues(column, self._with_missing(name, weights), 0.0, False)

    def _of_sketch(self, name: str) -> ColumnValues:
        sketch = self._survey.sketches[name]
        _, weights, distinct = sketch.values
        column = self._table(name).column(name)
        return ColumnValues(column, self._with_missing(name, weights), sketch.rank_error, distinct)

    def _table(self, name: str) -> Table:
        """A table of one column whose values stand for all rows of this one, a missing one last."""
        sketch = self._survey.sketches[name]
        if not sketch.ordered and sketch.overflowed:
            raise InputTypeError.about("features", "names a column of more levels than can be counted in a stream", name,
                                       "join rare levels, or drop the column")  # fmt: skip
        return self._as_table(name, sketch.values[0])

    def _as_table(self, name: str, values: Any) -> Table:
        sketch = self._survey.sketches[name]
        array = of_values(values, sketch.kind, sketch.missing > 0)
        known = self._stream.levels.get(name)
        if known is not None:
            array = _as_dictionary(array, known, sketch.kind)
        return self._stream.source.table(library_named("pyarrow").table({name: array}))

    def _with_missing(self, name: str, weights: Float) -> Float:
        sketch = self._survey.sketches[name]
        return np.append(weights, sketch.missing_weight) if sketch.missing > 0 else weights

    def _of_group(self, feature: Feature) -> ColumnValues:
        """How often each column of a one-hot group is set, and none of them."""
        parts = [self._of_sketch(name) for name in feature.columns]
        counts = [float(part.weights[_is_one(part.column)].sum()) for part in parts]
        none = float(parts[0].weights.sum()) - sum(counts)
        levels = list(feature.levels)
        if none > 0.5e-9 * float(parts[0].weights.sum()):
            levels, counts = [*levels, NO_LEVEL], [*counts, none]
        codes = np.arange(len(levels), dtype=np.int64)
        values = object_array(levels)
        column = Column(feature.label, "categorical", values, np.zeros(len(levels), bool), codes, values)
        return ColumnValues(column, np.array(counts))


class StreamStatistics:
    """Summary statistics of a stream's columns.

    Parameters
    ----------
    columns : values that stand for whole columns
    sample : the same for the rows of the sample, for what needs rows together
    seed : for the rug
    """

    def __init__(self, columns: SurveyedColumns, sample: MemoryStatistics, seed: int) -> None:
        self._columns, self._sample, self._seed = columns, sample, seed
        self._exact: dict[tuple[Any, int, Grid], ColumnValues] = {}

    def column(self, feature: Feature) -> Column:
        """The feature's values in the sample."""
        return self._sample.column(feature)

    def values(self, feature: Feature) -> ColumnValues:
        """Values that stand for all rows; ranks of distinct ones are not off."""
        values = self._columns.of(feature)
        return replace(values, rank_error=0.0) if values.distinct and values.rank_error else values

    def grids(
        self,
        features: Sequence[Feature],
        asked: Any,
        thresholds: Callable[[Feature], Float] | None,
        steps: Mapping[Any, Steps] = NO_STEPS,
    ) -> tuple[tuple[NDArray[Any], ...], str]:
        """The grid of every feature for what was passed as ``grid=``, and notes about them."""
        values, notes = [], []
        for feature, grid in zip(features, specifications(asked, [f.label for f in features])):
            splits = None if thresholds is None else lambda feature=feature: thresholds(feature)
            whole = self._exact.get((feature.label, len(features), grid)) if is_exact(grid) else None
            if whole is None:
                whole = self._columns.of(feature)
            moving = None if feature.is_group else steps.get(feature.columns[0])
            found = grid_points(grid, whole.column, len(features), whole.weights, splits)
            found = with_steps(planned(grid, len(features)), found, moving)
            check_levels(feature, self.column(feature), found.values)
            values.append(found.values)
            if found.note:
                notes.append(f"{feature.label}: {found.note}")
            if is_sketched(grid, whole):
                notes.append(
                    f"{feature.label}: grid from a sketch of all rows, ranks off by at most {whole.rank_error:.2%}"
                )
        return tuple(values), "; ".join(notes)

    def lacks_exact(self, feature: Feature, n_features: int, grid: Any) -> bool:
        """Whether quantiles are to be exact that are known from a sketch only."""
        if not is_exact(grid) or (feature.label, n_features, grid) in self._exact:
            return False
        return not self._columns.of(feature).distinct and len(grid.probabilities(n_features)) > 0

    def keep_exact(self, feature: Feature, n_features: int, grid: Grid, values: ColumnValues) -> None:
        """Remember values with the exact quantiles that a grid needs."""
        self._exact[feature.label, n_features, grid] = values

    def needs_pass(self, features: Sequence[Feature], asked: Any, groups: Groups | None) -> bool:
        """Whether the rows near each grid point must be counted in a pass."""
        if len(features) > 1 or groups is not None:
            return True
        (grid,) = specifications(asked, [features[0].label])
        values = self._columns.of(features[0])
        # A sketched grid has the sketch's error anyway; values the caller gave are to be exact.
        return not values.distinct and not is_sketched(grid, values)

    def point_weights(
        self, features: Sequence[Feature], grid: Sequence[NDArray[Any]], groups: Groups | None
    ) -> list[Float]:
        """Weight of the rows nearest to each grid point, without a pass: over all rows, then by group."""
        if len(features) > 1 or groups is not None:  # rows chosen by who asked: as the sample has them
            return self._sample.point_weights(features, grid, groups)
        values = self._columns.of(features[0])
        nearest, has = nearest_points(grid[0], values.column)
        totals = np.bincount(nearest[has], values.weights[has], minlength=len(grid[0]))
        return [totals.astype(np.float64)]

    def distribution(self, features: Sequence[Feature]) -> Distribution:
        """What pictures need of the data: single features over all rows, pairs and rugs from the sample."""
        sampled = self._sample.distribution(features)
        marginals = []
        for feature, marginal in zip(features, sampled.marginals):
            values = self._columns.of(feature)
            rng = np.random.default_rng(self._seed)
            whole = marginal_of(feature.label, values.column, values.weights, rng)
            marginals.append(replace(whole, rug=marginal.rug))
        return Distribution(tuple(marginals), sampled.joint)


def is_exact(grid: Any) -> bool:
    """Whether a grid asks for exact quantiles."""
    return isinstance(grid, Grid) and grid.exact


def is_sketched(grid: Any, values: ColumnValues) -> bool:
    """Whether a grid's points depend on ranks that are only known up to an error."""
    if values.distinct or isinstance(grid, bool) or (is_exact(grid) and grid.kind != "distinct"):
        return False
    if isinstance(grid, Grid):
        return grid.kind != "thresholds"
    return grid is None or isinstance(grid, (int, np.integer))


def _is_one(column: Column) -> NDArray[np.bool_]:
    return np.asarray((column.values == 1) & ~column.missing)


def _as_dictionary(array: Any, levels: list[Any], kind: Any) -> Any:
    """Levels as a column of the category type that lists all of them."""
    code_of = {level: number for number, level in enumerate(levels)}
    codes = np.array([-1 if v is None else code_of[v] for v in array.to_pylist()], dtype=np.int64)
    return dictionary_array(codes, levels, kind)
