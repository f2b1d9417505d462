"""Pipelines: which transformed columns a raw column drives, so that only those are recomputed.

Asking a pipeline at K grid points transforms every column K times, although the moving column
decides only a few of the transformed ones. This module crosses rows with grid points after the
transformation instead of before it: still columns are transformed once, driven columns at the grid
points only, and what mixes moving with still columns (a principal component, a product) is recomputed
from the first step that mixes. A pipeline whose columns `column_ways` cannot follow is not split.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Table, table_of
from icefield.libraries.adapter import type_name
from icefield.libraries.sklearn.column_ways import (
    UnknownTransformer,
    branches,
    compose,
    passes_through,
    trace,
)
from icefield.libraries.sklearn.nesting import is_pipeline, unwrapped


@dataclass(frozen=True)
class NoSplit:
    """A model that is not split, and why."""

    reason: str


def split_pipeline(model: Any, table: Table) -> SplitPipeline | NoSplit:
    """Split a fitted pipeline (also inside a fitted search or frozen wrapper) before its last step.

    Parameters
    ----------
    model : any fitted model
    table : a few rows with exactly the model's columns, in a library the pipeline accepts
    """
    model = unwrapped(model)
    if not is_pipeline(model):
        return NoSplit(f"{type_name(model)} is no pipeline")
    steps = [step for _, step in model.steps[:-1] if not passes_through(step)]
    if not steps:
        return NoSplit("the pipeline has no transformer")
    levels = [[frozenset([i]) for i in range(len(table.names))]]
    try:
        for step in steps:
            levels.append(compose(levels[-1], trace(step, len(levels[-1]))))
    except UnknownTransformer as unknown:
        return NoSplit(f"the pipeline is transformed whole: {unknown}")
    rows: Any = table.native
    for step, sources in zip(steps, levels[1:]):
        rows = step.transform(rows)
        if len(rows.shape) != 2 or rows.shape[1] != len(sources):
            reason = f"{type_name(step)} gave {rows.shape} where {len(sources)} columns were expected"
            return NoSplit(f"the pipeline is transformed whole: {reason}")
    return SplitPipeline(
        tuple(table.names), tuple(steps), tuple(tuple(level) for level in levels), model.steps[-1][1]
    )


@dataclass(frozen=True, eq=False)
class SplitPipeline:
    """A pipeline's transformers and final estimator, with the way of every column between them.

    Attributes
    ----------
    columns : raw columns, in the pipeline's order
    steps : the fitted transformers
    levels : for the raw rows and after each step, what each column depends on (raw positions)
    final : the last step, which predicts
    """

    columns: tuple[Any, ...]
    steps: tuple[Any, ...]
    levels: tuple[tuple[frozenset[int], ...], ...]
    final: Any

    def drives(self, column: Any) -> tuple[int, ...]:
        """Positions of the transformed columns that depend on a raw column."""
        position = self.columns.index(column)
        return tuple(i for i, sources in enumerate(self.levels[-1]) if position in sources)

    def sources(self, transformed: int) -> tuple[Any, ...]:
        """The raw columns a transformed column depends on."""
        return tuple(self.columns[i] for i in sorted(self.levels[-1][transformed]))

    def transform(self, table: Table) -> Any:
        """What the final estimator gets for these rows."""
        return self.after(table.native, 0)

    def crossing(self, table: Table, moving: Iterable[Any]) -> Crossing:
        """Transform rows once, ready to be crossed with grid points of the moving columns."""
        moved = frozenset(self.columns.index(column) for column in moving)
        level = max(i for i, sources in enumerate(self.levels) if not _mixes(sources, moved))
        return Crossing(self, table, moved, level)

    def after(self, rows: Any, start: int, stop: int | None = None) -> Any:
        """Rows that have passed the first `start` transformers, taken through the next ones."""
        for step in self.steps[start:stop]:
            rows = step.transform(rows)
        return rows


class Crossing:
    """Rows of which the still columns are already transformed.

    `level` is the last stage at which every column either moves alone or stands still: there the
    rows are crossed with the grid, and only the steps after it see every row at every grid point.
    """

    def __init__(self, split: SplitPipeline, table: Table, moved: frozenset[int], level: int) -> None:
        self.split, self.table, self.moved, self.level = split, table, moved, level
        self._rows = split.after(table.native, 0, level)
        self._branches = self._mixing_branches()
        if self._branches:
            self._joined = split.after(self._rows, level, level + 1)
        self._driven = _driven(split.levels[level], moved)
        if level and hasattr(self._rows, "tocsr"):
            self._rows = _only(self._rows, self._driven, keep=False)

    def at(self, points: Mapping[Any, NDArray[Any]]) -> Any:
        """What the final estimator gets for every row at every grid point, grid point by grid point."""
        size = len(next(iter(points.values())))
        if self._branches:
            return self.split.after(self._with_branches(points, size), self.level + 1)
        if self.level == 0:
            return self.split.after(self.table.crossed(points).native, 0)
        rows = _crossed(self._rows, self._alone(points, self.level), self._driven, size)
        return self.split.after(rows, self.level)

    def _alone(self, points: Mapping[Any, NDArray[Any]], level: int) -> Any:
        """The grid points transformed in one row's company, which columns that move alone ignore."""
        return self.split.after(self.table.slice(0, 1).crossed(points).native, 0, level)

    def _mixing_branches(self) -> list[tuple[Any, list[Any], slice]]:
        """When a ColumnTransformer is the first to mix, only its branches that do so see every row."""
        split = self.split
        if self.level != 0 or not split.steps or type_name(split.steps[0]) != "ColumnTransformer":
            return []
        mixing = [
            (transformer, [split.columns[i] for i in columns], where)
            for transformer, columns, where in branches(split.steps[0])
            if _mixes(split.levels[1][where], self.moved)
        ]
        whole = sum(len(columns) for _, columns, _ in mixing) == len(split.columns)
        dense = isinstance(split.steps[0].transform(self.table.slice(0, 1).native), np.ndarray)
        return mixing if dense and not whole else []

    def _with_branches(self, points: Mapping[Any, NDArray[Any]], size: int) -> NDArray[Any]:
        split = self.split
        mixed = {i for _, _, where in self._branches for i in range(where.start, where.stop)}
        alone = [i for i in _driven(split.levels[1], self.moved) if i not in mixed]
        rows = _crossed(self._joined, self._alone(points, 1), alone, size)
        for transformer, columns, where in self._branches:
            moving = {name: values for name, values in points.items() if name in columns}
            block = transformer.transform(self.table.select(columns).crossed(moving).native)
            rows[:, where] = block.toarray() if hasattr(block, "toarray") else block
        return rows


# --- crossing transformed rows -------------------------------------------------------------------


def _mixes(sources: Iterable[frozenset[int]], moved: frozenset[int]) -> bool:
    return any(inputs & moved and not inputs <= moved for inputs in sources)


def _driven(sources: Sequence[frozenset[int]], moved: frozenset[int]) -> list[int]:
    return [i for i, inputs in enumerate(sources) if inputs & moved]


def _crossed(rows: Any, alone: Any, driven: list[int], size: int) -> Any:
    """Every row at every grid point: driven columns from the points, the others from the rows."""
    if hasattr(rows, "tocsr"):
        return _crossed_sparse(rows, alone, driven, size)
    table = table_of(rows)
    if driven and table.library == "numpy":
        return table.crossed({i: np.asarray(alone)[:, i] for i in driven}).native
    still = table.take(np.tile(np.arange(table.n_rows), size))
    if not driven:
        return still.native
    # Frames keep their dtypes: both sides are repeated natively and the driven columns put in place.
    spread = table_of(alone).take(np.repeat(np.arange(size), table.n_rows))
    return still.with_columns_of([table.names[i] for i in driven], spread).native


def _crossed_sparse(still: Any, alone: Any, driven: list[int], size: int) -> Any:
    """As `_crossed`, for rows whose driven columns are already empty.

    Entries are moved, never multiplied or added: NaN would spread, and a stored zero, which is not
    the same as an absent entry for every model, would be lost.
    """
    from scipy import sparse

    first = sparse.vstack([still] * size, format="csr")
    second = _only(alone, driven, keep=True)[np.repeat(np.arange(size), still.shape[0])]
    starts = first.indptr.astype(np.int64) + second.indptr
    data = np.empty(starts[-1], dtype=np.result_type(first.dtype, second.dtype))
    indices = np.empty(starts[-1], dtype=first.indices.dtype)
    for part, offset in ((first, second.indptr[:-1]), (second, first.indptr[1:])):
        at = np.arange(part.nnz) + np.repeat(offset, np.diff(part.indptr))
        data[at], indices[at] = part.data, part.indices
    crossed = sparse.csr_matrix((data, indices, starts), shape=first.shape)
    crossed.sort_indices()
    return crossed


def _only(matrix: Any, columns: list[int], keep: bool) -> Any:
    """A sparse matrix with only the entries of these columns, or all but those."""
    from scipy import sparse

    rows = matrix.tocsr()
    wanted = np.isin(rows.indices, columns, invert=not keep)
    starts = np.concatenate([[0], np.cumsum(wanted)])[rows.indptr]
    return sparse.csr_matrix((rows.data[wanted], rows.indices[wanted], starts), shape=rows.shape)
