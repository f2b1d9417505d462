"""Column sketches: in one pass, levels and their weights, a quantile sketch, or every value while these are few.

At the end `ColumnValues` made of it stand in for the column wherever data is described: grids, histograms, deciles and weights are
worked out from it by the same code that reads whole columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.rows import part_of
from icefield.data.columns import library_named
from icefield.rows.rank_sketch import RankSketch, merge_summaries
from icefield.rows.source import arrow_stream
from icefield.rows.value_cells import KnownValues, ValueCells
from icefield.typing import Float

MOST_DISTINCT = 4096  # values of a number that are all remembered
MOST_LEVELS = 1_000_000
WORTH_SORTING = 32_768  # values that cells left over
MERGED_POINTS = 4  # times as many values a summary keeps once summaries of other rows are joined with it


class ColumnSketch:
    """A summary of one column's values, built block by block.

    Parameters
    ----------
    kind : the column's Arrow type
    points : values a summary of ranks keeps
    n_cells : into which values are counted once there are too many to list
    distinct : values of a number that are all remembered
    """

    def __init__(self, kind: Any, points: int, n_cells: int, distinct: int = MOST_DISTINCT) -> None:
        self.kind, self.n_cells, self._distinct = kind, n_cells, distinct
        self.ordered = _is_ordered(kind)
        self.missing = self.missing_weight = 0.0
        self.sketch = RankSketch(points)
        self._values: NDArray[Any] | None = None  # distinct values of a number, None before the first
        self._weights: Float = np.zeros(0)
        self.overflowed = False
        self._levels: dict[Any, float] = {}
        self._known: KnownValues | None = None
        self._cells: ValueCells | None = None
        self._unsorted: list[tuple[NDArray[Any], Float]] = []
        self._is_merged = False

    def add(self, array: Any, weights: Float | None) -> None:
        """Take in an Arrow array and the rows' weights."""
        arrow = library_named("pyarrow")
        if isinstance(array, arrow.ChunkedArray):
            array = array.combine_chunks()
        if array.null_count:
            present = array.is_valid()
            keep = present.to_numpy(zero_copy_only=False)
            self._count_missing(~keep, weights)
            array, weights = array.drop_null(), None if weights is None else weights[keep]
        if not self.ordered:
            self._add_levels(array, weights)
            return
        values = _numbers(array)
        if weights is not None and not weights.all():
            values, weights = values[weights > 0], weights[weights > 0]
        if self._known is not None and self._add_known(self._known, values, weights):
            return
        if self._cells is not None:
            uncounted = self._cells.add(values, weights)
            if uncounted is None:
                return
            self._hold_back(values[uncounted], None if weights is None else weights[uncounted])
            return
        self._add_sorted(values, weights)

    def _hold_back(self, values: NDArray[Any], weights: Float | None) -> None:
        """Keep values until there are enough of them to be worth sorting; missing ones are counted at once."""
        values, weights = self._present(values, weights)
        self._unsorted.append((values, np.ones(len(values)) if weights is None else weights))
        if sum(len(chunk) for chunk, _ in self._unsorted) >= WORTH_SORTING:
            self._sort_held_back()

    def _sort_held_back(self) -> None:
        if self._unsorted:
            values, weights = (np.concatenate(parts) for parts in zip(*self._unsorted))
            self._unsorted = []
            self._add_sorted(values, weights)

    def _add_known(self, known: KnownValues, values: NDArray[Any], weights: Float | None) -> bool:
        """Count values if all of them were seen before."""
        counts = known.counts(values, weights)
        if counts is None:
            return False
        self._weights = self._weights + counts[0]
        if counts[1] is not None:
            self._count_missing(counts[1], weights)
        return True

    def _add_sorted(self, values: NDArray[Any], weights: Float | None) -> None:
        if weights is not None:
            order = np.argsort(values, kind="stable")
            values, weights = values[order], weights[order]
        else:
            values = np.sort(values)
        if values.dtype.kind == "f" and len(values) and np.isnan(values[-1]):
            values, weights = self._present(values, weights)
        if not self.overflowed and self._add_distinct(values, weights):
            return
        finite = _finite(values)
        values, weights = values[finite], None if weights is None else weights[finite]
        self.sketch.add(values, weights)
        if self._cells is None and len(values):
            self._cells = ValueCells(values, self.n_cells, self.sketch.points)

    def _present(self, values: NDArray[Any], weights: Float | None) -> tuple[NDArray[Any], Float | None]:
        """The values that are not missing and their weights; the others are counted."""
        missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, bool)
        if not missing.any():
            return values, weights
        self._count_missing(missing, weights)
        return values[~missing], None if weights is None else weights[~missing]

    def _count_missing(self, missing: NDArray[np.bool_], weights: Float | None) -> None:
        self.missing += float(missing.sum())
        self.missing_weight += float(missing.sum() if weights is None else weights[missing].sum())

    def _add_distinct(self, ordered: NDArray[Any], weights: Float | None) -> bool:
        """Take in sorted values one by one, unless there are too many of them."""
        if not len(ordered):
            return True
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        known = ordered[:0] if self._values is None else self._values
        values = known
        if len(first) <= self._distinct:
            values, positions = np.unique(np.concatenate([known, ordered[first]]), return_inverse=True)
        if len(first) > self._distinct or len(values) > self._distinct:
            self._summarise_distinct()
            return False
        counts: Float = np.diff(np.append(first, len(ordered))).astype(np.float64)
        if weights is not None:
            counts = np.add.reduceat(weights, first)
        totals = np.bincount(positions, np.concatenate([self._weights, counts]), minlength=len(values))
        self._weights, self._values = totals.astype(np.float64), values
        self._index_values()
        return True

    def _index_values(self) -> None:
        values, self._known = self._values, None
        if values is not None and len(values) and isinstance(_finite(values), slice):
            known = KnownValues(values)
            self._known = known if known.usable else None

    def _summarise_distinct(self) -> None:
        """Give up counting distinct values: move them into the sketch."""
        values, weights, self._known = self._values, self._weights, None
        self.overflowed, self._values, self._weights = True, None, np.zeros(0)
        if values is not None:
            finite = _finite(values)
            self.sketch.add(values[finite], weights[finite])

    def _add_levels(self, array: Any, weights: Float | None) -> None:
        arrow = library_named("pyarrow")
        coded = array if arrow.types.is_dictionary(array.type) else array.dictionary_encode()
        codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.intp)
        counts = np.bincount(codes, weights, minlength=len(coded.dictionary))
        occurs = np.bincount(codes, minlength=len(coded.dictionary)) > 0
        if len(self._levels) > MOST_LEVELS:
            self.overflowed = True
            return
        for level, count in zip(coded.dictionary.filter(arrow.array(occurs)).to_pylist(), counts[occurs]):
            self._levels[level] = self._levels.get(level, 0.0) + float(count)

    @property
    def values(self) -> tuple[list[Any] | NDArray[Any], Float, bool]:
        """Values that stand for the column's, without missing ones, their weights, and whether these are all distinct values."""
        if not self.ordered:
            return list(self._levels), np.array(list(self._levels.values()), dtype=np.float64), True
        if not self.overflowed:
            values = np.zeros(0) if self._values is None else self._values
            return values, self._weights, True
        self._sort_held_back()
        summary = self.sketch.summary()
        summary = summary if self._cells is None else merge_summaries(summary, self._cells.summary())
        return *summary, False

    @property
    def rank_error(self) -> float:
        """The largest share of the weight by which a rank may be off."""
        self._sort_held_back()
        if not self.overflowed or self._cells is None:
            return self.sketch.rank_error if self.overflowed else 0.0
        weight = self.sketch.weight + float(self._cells.weights.sum())
        return (self.sketch.error + self._cells.error) / weight if weight else 0.0

    def state(self) -> dict[str, NDArray[Any]]:
        arrow = library_named("pyarrow")
        self._sort_held_back()
        state = {f"sketch {key}": value for key, value in self.sketch.state().items()}
        if self._cells is not None:
            state |= {f"cells {key}": value for key, value in self._cells.state().items()}
        state["numbers"] = np.array([self.missing, self.missing_weight, float(self.overflowed)])
        if self._values is not None:
            state["values"], state["weights"] = self._values, self._weights
        if self._levels:
            table = arrow.table({"level": arrow.array(list(self._levels), type=_level_type(self.kind)),
                                  "weight": list(self._levels.values())})  # fmt: skip
            state["levels"] = ipc_bytes(table)
        return state

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        self.sketch.restore(part_of(state, "sketch "))
        self.missing, self.missing_weight, overflowed = (float(v) for v in state["numbers"])
        self.overflowed = bool(overflowed)
        self._values, self._weights = state.get("values"), state.get("weights", np.zeros(0))
        if "cells at" in state:
            self._cells = ValueCells.from_state(part_of(state, "cells "))
        self._index_values()
        if "levels" in state:
            table = from_ipc_bytes(state["levels"])
            self._levels = dict(zip(table["level"].to_pylist(), table["weight"].to_pylist()))

    # --- parts of the rows that were looked at elsewhere -----------------------------------------

    def condense(self) -> None:
        """Reduce to one quantile summary, which is small to send and merges with others."""
        self._cells_to_sketch()
        self.sketch.condense()

    def _cells_to_sketch(self) -> None:
        """Move the cells' counts into the sketch: cells of other rows have other bounds."""
        self._sort_held_back()
        if self._cells is not None:
            self.sketch.absorb(*self._cells.summary(), self._cells.error)
            self._cells = None

    def merge(self, state: dict[str, NDArray[Any]]) -> None:
        """Add the state of another sketch of this column, of other rows."""
        other = ColumnSketch(self.kind, self.sketch.points, self.n_cells, self._distinct)
        other.restore(state)
        other._cells_to_sketch()
        self.missing += other.missing
        self.missing_weight += other.missing_weight
        if not self.ordered:
            self.overflowed = self.overflowed or other.overflowed or len(self._levels) > MOST_LEVELS
            for level, weight in other._levels.items():
                self._levels[level] = self._levels.get(level, 0.0) + weight
            return
        if not self._is_merged:
            self._is_merged, self.sketch.points = True, MERGED_POINTS * self.sketch.points
        self._cells_to_sketch()
        values, weights = other._values, other._weights
        if not other.overflowed:
            if values is None or (not self.overflowed and self._add_distinct(values, weights)):
                return
            finite = _finite(values)
            self.sketch.add(values[finite], weights[finite])
            return
        if not self.overflowed:
            self._summarise_distinct()
        self.sketch.merge(other.sketch)


def ipc_bytes(table: Any) -> NDArray[np.uint8]:
    """An Arrow table as bytes."""
    return np.frombuffer(arrow_stream(table.schema, [table]), dtype=np.uint8)


def from_ipc_bytes(content: NDArray[np.uint8]) -> Any:
    """An Arrow table from its bytes."""
    return library_named("pyarrow.ipc").open_stream(content.tobytes()).read_all()


def _level_type(kind: Any) -> Any:
    return kind.value_type if library_named("pyarrow").types.is_dictionary(kind) else kind


def _is_ordered(kind: Any) -> bool:
    types = library_named("pyarrow").types
    numbers = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(numbers or types.is_timestamp(kind) or types.is_date(kind) or types.is_duration(kind))


def _finite(ordered: NDArray[Any]) -> Any:
    """A mask or slice of the finite ones of sorted values."""
    if ordered.dtype.kind == "f" and len(ordered) and not np.isfinite(ordered[[0, -1]]).all():
        return np.isfinite(ordered)
    return slice(None)


def finite_numbers(array: Any, weights: Float | None) -> tuple[NDArray[Any], Float | None]:
    """The finite values of an ordered column that carry weight, as numbers, and their weights."""
    array = array.combine_chunks()
    if array.null_count:
        keep = array.is_valid().to_numpy(zero_copy_only=False)
        array, weights = array.drop_null(), None if weights is None else weights[keep]
    values = _numbers(array)
    usable = np.isfinite(values) if values.dtype.kind == "f" else np.ones(len(values), bool)
    if weights is not None:
        usable &= weights > 0
    if usable.all():
        return values, weights
    return values[usable], None if weights is None else weights[usable]


def _numbers(array: Any) -> NDArray[Any]:
    """Known values as numbers that sort as the values do."""
    arrow = library_named("pyarrow")
    kind = array.type
    if arrow.types.is_decimal(kind):
        return np.asarray(array.cast(arrow.float64()).to_numpy(zero_copy_only=False))
    if arrow.types.is_date32(kind):
        return np.asarray(array.cast(arrow.int32()).to_numpy(zero_copy_only=False))
    if not (arrow.types.is_integer(kind) or arrow.types.is_floating(kind)):
        return np.asarray(array.cast(arrow.int64()).to_numpy(zero_copy_only=False))
    return np.asarray(array.to_numpy(zero_copy_only=False))


def of_values(values: Any, kind: Any, missing: bool) -> Any:
    """An Arrow array of a column's own type from what `ColumnSketch.values` gave, and a null where some are missing."""
    arrow = library_named("pyarrow")
    if isinstance(values, list):
        plain = arrow.array(values, type=_level_type(kind))
        return arrow.chunked_array([plain, arrow.nulls(int(missing), plain.type)]).combine_chunks()
    plain = arrow.array(values)
    if plain.type != kind:
        plain = plain.cast(kind, safe=False)
    return arrow.concat_arrays([plain, arrow.nulls(int(missing), kind)])
