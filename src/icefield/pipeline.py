"""Pipelines: which transformed columns a raw column drives, so that only those are recomputed.

Asking a pipeline at K grid points transforms every column K times, although the moving column
decides only a few of the transformed ones. This module follows the columns through scikit-learn's
own transformers (an explicit list: all work row by row), and crosses rows with grid points after
the transformation instead of before it: still columns are transformed once, driven columns at the
grid points only, and what mixes moving with still columns (a principal component, a product) is
recomputed from the first step that mixes. Anything not on the list means "no split", with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.models.adapter import type_name
from icefield.models.wrappers import is_pipeline, unwrapped

if TYPE_CHECKING:
    from icefield.data.frame import Table

Sources = list[frozenset[int]]
"""For each output column, the positions of the input columns it depends on."""


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
    steps = [step for _, step in model.steps[:-1] if not _passes_through(step)]
    if not steps:
        return NoSplit("the pipeline has no transformer")
    try:
        levels = [[frozenset([i]) for i in range(len(table.names))]]
        for step in steps:
            levels.append(_compose(levels[-1], _trace(step, len(levels[-1]))))
    except _Unknown as unknown:
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
        return self._after(table.native, 0, len(self.steps))

    def crossing(self, table: Table, moving: Iterable[Any]) -> Crossing:
        """Transform rows once, ready to be crossed with grid points of the moving columns."""
        moved = frozenset(self.columns.index(column) for column in moving)
        level = max(i for i, sources in enumerate(self.levels) if not _mixes(sources, moved))
        return Crossing(self, table, moved, level)

    def _after(self, rows: Any, start: int, stop: int) -> Any:
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
        self.n_rows = table.n_rows
        self._rows = split._after(table.native, 0, level)
        self._branches = self._mixing_branches()
        if self._branches:
            self._joined = split._after(self._rows, level, level + 1)
        self._driven = _driven(split.levels[level], moved)
        if level and hasattr(self._rows, "tocsr"):
            self._rows = _only(self._rows, self._driven, keep=False)

    def at(self, points: Mapping[Any, NDArray[Any]]) -> Any:
        """What the final estimator gets for every row at every grid point, grid point by grid point."""
        split, size = self.split, len(next(iter(points.values())))
        if self._branches:
            rows = self._with_branches(points, size)
            return split._after(rows, self.level + 1, len(split.steps))
        if self.level == 0:
            return split._after(self.table.crossed(points).native, 0, len(split.steps))
        alone = self._alone(points, self.level)
        rows = _crossed(self._rows, alone, self._driven, size)
        return split._after(rows, self.level, len(split.steps))

    def _alone(self, points: Mapping[Any, NDArray[Any]], level: int) -> Any:
        """The grid points transformed in one row's company, which columns that move alone ignore."""
        return self.split._after(self.table.slice(0, 1).crossed(points).native, 0, level)

    def _mixing_branches(self) -> list[tuple[Any, list[Any], slice]]:
        """When a ColumnTransformer is the first to mix, only its branches that do so see every row."""
        split = self.split
        if self.level != 0 or not split.steps or type_name(split.steps[0]) != "ColumnTransformer":
            return []
        outputs = split.levels[1]
        branches = []
        for transformer, columns, where in _branches(split.steps[0], len(split.columns)):
            if _mixes(outputs[where], self.moved):
                branches.append((transformer, [split.columns[i] for i in columns], where))
        whole = sum(len(columns) for _, columns, _ in branches) == len(split.columns)
        dense = isinstance(split.steps[0].transform(self.table.slice(0, 1).native), np.ndarray)
        return branches if dense and not whole else []

    def _with_branches(self, points: Mapping[Any, NDArray[Any]], size: int) -> NDArray[Any]:
        split = self.split
        mixed = {i for _, _, where in self._branches for i in range(where.start, where.stop)}
        alone = [i for i in _driven(split.levels[1], self.moved) if i not in mixed]
        rows = _crossed(self._joined, self._alone(points, 1), alone, size)
        for transformer, columns, where in self._branches:
            own = {name: values for name, values in points.items() if name in columns}
            block = transformer.transform(self.table.select(columns).crossed(own).native)
            rows[:, where] = block.toarray() if hasattr(block, "toarray") else block
        return rows


# --- crossing transformed rows -------------------------------------------------------------------


def _mixes(sources: Iterable[frozenset[int]], moved: frozenset[int]) -> bool:
    return any(one & moved and not one <= moved for one in sources)


def _driven(sources: Sequence[frozenset[int]], moved: frozenset[int]) -> list[int]:
    return [i for i, one in enumerate(sources) if one & moved]


def _crossed(rows: Any, alone: Any, driven: list[int], size: int) -> Any:
    """Every row at every grid point: driven columns from the points, the others from the rows."""
    if hasattr(rows, "tocsr"):
        return _crossed_sparse(rows, alone, driven, size)
    from icefield.data.frame import table_of

    table, values = table_of(rows), table_of(alone)
    if not driven:
        return table.take(np.tile(np.arange(table.n_rows), size)).native
    if table.library == "numpy":
        return table.crossed({i: np.asarray(alone)[:, i] for i in driven}).native
    names = [table.names[i] for i in driven]
    return _frame_crossed(table, values, names, size)


def _frame_crossed(table: Table, values: Table, names: list[Any], size: int) -> Any:
    """Frames keep their dtypes: both sides are repeated natively and the driven columns put in place."""
    still = table.take(np.tile(np.arange(table.n_rows), size))
    spread = values.take(np.repeat(np.arange(size), table.n_rows))
    if table.library == "pandas":
        frame = still.native.copy()
        for name in names:
            frame[name] = spread.native[name].array
        return frame
    return still.native.with_columns([spread.native.get_column(name) for name in names])


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


# --- following columns through transformers ------------------------------------------------------


class _Unknown(Exception):
    """A transformer that is not on the list."""


def _compose(before: Sequence[frozenset[int]], step: Sources) -> Sources:
    return [frozenset().union(*(before[i] for i in sources)) for sources in step]


def _passes_through(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _trace(step: Any, width: int) -> Sources:
    """What each output of a fitted transformer depends on; `_Unknown` when that is not known."""
    if _passes_through(step):
        return _one_to_one(step, width)
    trace = _TRACES.get(type(step).__name__)
    if trace is None or type(step).__module__.split(".")[0] != "sklearn":
        raise _Unknown(f"{type_name(step)} is not known to work row by row")
    return trace(step, width)


def _one_to_one(step: Any, width: int) -> Sources:
    return [frozenset([i]) for i in range(width)]


def _all_to_all(step: Any, width: int) -> Sources:
    return [frozenset(range(width))] * len(step.get_feature_names_out())


def _normalizer(step: Any, width: int) -> Sources:
    return [frozenset(range(width))] * width


def _spread_out(counts: Iterable[int]) -> Sources:
    return [frozenset([i]) for i, count in enumerate(counts) for _ in range(int(count))]


def _one_hot(step: Any, width: int) -> Sources:
    counts = getattr(step, "_n_features_outs", None)
    if counts is None:
        raise _Unknown("this scikit-learn keeps the widths of a OneHotEncoder elsewhere")
    return _spread_out(counts)


def _evenly(step: Any, width: int) -> Sources:
    """As many outputs for each input, side by side."""
    outputs = len(step.get_feature_names_out())
    if outputs % width:
        raise _Unknown(f"{type_name(step)} gives its {width} columns unequal numbers of outputs")
    return _spread_out([outputs // width] * width)


def _bins(step: Any, width: int) -> Sources:
    return _one_to_one(step, width) if step.encode == "ordinal" else _spread_out(step.n_bins_)


def _powers(step: Any, width: int) -> Sources:
    return [frozenset(np.flatnonzero(powers).tolist()) for powers in step.powers_]


def _selected(step: Any, width: int) -> Sources:
    return [frozenset([int(i)]) for i in step.get_support(indices=True)]


def _simple_imputer(step: Any, width: int) -> Sources:
    missing = [isinstance(s, (float, np.floating)) and np.isnan(s) for s in step.statistics_.tolist()]
    kept = [i for i in range(width) if step.keep_empty_features or not missing[i]]
    return [frozenset([i]) for i in kept] + _indicator(step.indicator_)


def _mixing_imputer(step: Any, width: int) -> Sources:
    if getattr(step, "sample_posterior", False):
        raise _Unknown("IterativeImputer(sample_posterior=True) answers at random")
    indicated = _indicator(step.indicator_)
    outputs = len(step.get_feature_names_out()) - len(indicated)
    return [frozenset(range(width))] * outputs + indicated


def _indicator(step: Any, width: int = 0) -> Sources:
    return [] if step is None else [frozenset([int(i)]) for i in step.features_]


def _function(step: Any, width: int) -> Sources:
    """Only no function at all, or a numpy ufunc of one argument, is known to look at single numbers."""
    known = step.func is None or (isinstance(step.func, np.ufunc) and step.func.nin == 1)
    if not known or step.kw_args:
        raise _Unknown("the function of a FunctionTransformer may look across rows")
    return _one_to_one(step, width)


def _pipeline(step: Any, width: int) -> Sources:
    sources = _one_to_one(step, width)
    for _, inner in step.steps:
        sources = _compose(sources, _trace(inner, len(sources)))
    return sources


def _union(step: Any, width: int) -> Sources:
    kept = [inner for _, inner in step.transformer_list if not (isinstance(inner, str) and inner == "drop")]
    return [sources for inner in kept for sources in _trace(inner, width)]


def _column_transformer(step: Any, width: int) -> Sources:
    outputs: dict[int, frozenset[int]] = {}
    for transformer, columns, where in _branches(step, width):
        traced = _trace(transformer, len(columns))
        if len(traced) != where.stop - where.start:
            raise _Unknown(f"{type_name(transformer)} in a ColumnTransformer gave another number of columns")
        for i, sources in zip(range(where.start, where.stop), traced):
            outputs[i] = frozenset(columns[s] for s in sources)
    return [outputs[i] for i in range(len(outputs))]


def _branches(step: Any, width: int) -> list[tuple[Any, list[int], slice]]:
    """A ColumnTransformer's working parts: transformer, input positions, output positions."""
    inputs = getattr(step, "_transformer_to_input_indices", None)
    if inputs is None:
        raise _Unknown("this scikit-learn keeps the columns of a ColumnTransformer elsewhere")
    found = []
    for name, transformer, columns in step.transformers_:
        if isinstance(transformer, str) and transformer == "drop":
            continue
        if isinstance(columns, str):
            raise _Unknown(f"the ColumnTransformer hands {name!r} a single column instead of a table")
        positions = [int(i) for i in inputs[name]]
        if positions:
            found.append((transformer, positions, step.output_indices_[name]))
    return found


_TRACES: dict[str, Callable[[Any, int], Sources]] = {
    **dict.fromkeys(
        ("StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "QuantileTransformer",
         "PowerTransformer", "OrdinalEncoder", "Binarizer"),
        _one_to_one,
    ),
    **dict.fromkeys(("PCA", "TruncatedSVD", "FactorAnalysis", "FastICA"), _all_to_all),
    **dict.fromkeys(("KNNImputer", "IterativeImputer"), _mixing_imputer),
    **dict.fromkeys(
        ("VarianceThreshold", "SelectKBest", "SelectPercentile", "SelectFromModel", "RFE", "RFECV",
         "SelectFpr", "SelectFdr", "SelectFwe", "GenericUnivariateSelect", "SequentialFeatureSelector"),
        _selected,
    ),
    "OneHotEncoder": _one_hot,
    "TargetEncoder": _evenly,
    "SplineTransformer": _evenly,
    "KBinsDiscretizer": _bins,
    "PolynomialFeatures": _powers,
    "Normalizer": _normalizer,
    "SimpleImputer": _simple_imputer,
    "MissingIndicator": _indicator,
    "FunctionTransformer": _function,
    "Pipeline": _pipeline,
    "FeatureUnion": _union,
    "ColumnTransformer": _column_transformer,
}  # fmt: skip
