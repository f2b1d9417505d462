"""The first pass: what every column is like, how many rows there are, and a seeded sample of them.

The sample is a reservoir: each row has a random number made from the seed and its place alone, and the rows with the
smallest are kept. So it does not depend on how the rows come in batches. What needs rows together is asked of the
sample; what merges is asked of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import dictionary_array, library_named
from icefield.data.frame import Table
from icefield.errors import InputError, InputTypeError, complaint
from icefield.rows.column_sketch import ColumnSurvey, Summary, from_ipc_bytes, ipc_bytes, of_values
from icefield.rows.rank_sketch import Sketched
from icefield.rows.stream import Block, Stream
from icefield.sampling import COPIES_BELOW
from icefield.threads import Crew
from icefield.typing import Float

MOST_POINTS, LEAST_POINTS = 4096, 256  # a summary of ranks keeps
SUMMARIES = 12  # of a column at once, about, in 10^8 rows
POINT_BYTES = 16
MOST_CELLS, LEAST_CELLS = 32_768, 1_024  # of a column of numbers
CELL_BYTES = 24


class Survey:
    """Collects what is known of all rows of a stream.

    Parameters
    ----------
    stream : the rows
    columns : those to describe
    rows : how many the sample holds
    weights : the column of weights, or None
    seed, memory : as in `Explainer`
    """

    title = "reading the data"

    def __init__(
        self, stream: Stream, columns: Sequence[str], rows: int, weights: str | None, seed: int, memory: int
    ) -> None:
        fitting = memory // 8 // (POINT_BYTES * SUMMARIES * max(1, len(columns)))
        points = int(np.clip(fitting, LEAST_POINTS, MOST_POINTS))
        schema = stream.source.schema
        self.stream, self.weights_name, self.rows, self.seed = stream, weights, rows, seed
        cells = int(np.clip(memory // 8 // (CELL_BYTES * max(1, len(columns))), LEAST_CELLS, MOST_CELLS))
        self.columns = {name: ColumnSurvey(schema.field(name).type, points, cells) for name in columns}
        self.n_rows = 0
        self.largest_weight, self._smallest_weight, self._is_whole = 0.0, np.inf, True
        self._keys = np.zeros(0, np.uint64)
        self._places = np.zeros(0, np.int64)
        self._kept: Any = None
        self._limit = np.uint64(2**64 - 1)

    def add(self, block: Block, crew: Crew) -> None:
        weights = None
        if self.weights_name is not None:
            weights = row_weights(block, self.weights_name)
            self.largest_weight = max(self.largest_weight, float(weights.max(initial=0.0)))
            some = weights[weights > 0]
            self._smallest_weight = min(self._smallest_weight, float(some.min(initial=np.inf)))
            self._is_whole = self._is_whole and bool((some == np.round(some)).all())

        def look(name: str) -> None:
            self.columns[name].add(block.arrow.column(name), weights)

        for _ in crew.map(look, list(self.columns)):
            pass
        self._draw(block)
        self.n_rows += block.n_rows

    def expect(self, n_rows: int) -> None:
        """Told how many rows there will be, keep none that is sure not to be drawn.

        Random numbers below the limit are twelve standard deviations more than are wanted.
        """
        enough = self.rows + 12.0 * self.rows**0.5 + 150.0
        if n_rows > enough:
            self._limit = np.uint64(min(2.0**64 - 2048.0, enough / n_rows * 2.0**64))

    # --- the sample ----------------------------------------------------------------------------

    def _draw(self, block: Block) -> None:
        keys = _random_numbers(block.start, block.n_rows, self.seed)
        low = np.flatnonzero(keys <= self._limit)
        if not len(low):
            return
        drawn = block.arrow.take(low)
        arrow = library_named("pyarrow")
        self._kept = drawn if self._kept is None else arrow.concat_tables([self._kept, drawn])
        self._keys = np.concatenate([self._keys, keys[low]])
        self._places = np.concatenate([self._places, block.start + low])
        if len(self._keys) > 2 * self.rows:
            self._shrink()

    def _shrink(self) -> None:
        if len(self._keys) > self.rows:
            smallest = np.sort(np.argpartition(self._keys, self.rows - 1)[: self.rows])
            self._keys, self._places = self._keys[smallest], self._places[smallest]
            self._kept = self._kept.take(smallest).combine_chunks()
            self._limit = self._keys.max()

    @property
    def copies(self) -> bool:
        """Whether weights say how often rows occur, as `count_copies` has it."""
        return self.weights_name is None or (self._is_whole and self._smallest_weight < COPIES_BELOW)

    @property
    def is_complete(self) -> bool:
        """Whether the sample holds every row."""
        return self.n_rows <= self.rows

    def sample(self) -> Table:
        """The rows drawn, in the order they came."""
        if self._kept is None:
            raise InputError(complaint("X", "has no rows", self.stream.source.label))
        self._shrink()
        return self.stream.source.table(self._kept.combine_chunks())

    # --- columns -------------------------------------------------------------------------------

    def values(self, name: str) -> Table:
        """A table of one column whose values stand for all rows of this one, a missing one last."""
        found = self.columns[name]
        if not found.ordered and found.overflowed:
            raise InputTypeError(
                complaint("features", "names a column of more levels than can be counted in a stream", name,
                          "join rare levels, or drop the column")
            )  # fmt: skip
        return self._table(name, found.values[0])

    def _table(self, name: str, values: Any) -> Table:
        found = self.columns[name]
        array = of_values(values, found.kind, found.missing > 0)
        known = self.stream.levels.get(name)
        if known is not None:
            array = _listed(array, known, found.kind)
        return self.stream.source.table(library_named("pyarrow").table({name: array}))

    def summary(self, name: str) -> Summary:
        """The same as a column, with the weight each value stands for."""
        found, column = self.columns[name], self.values(name).column(name)
        _, weights, distinct = found.values
        return Summary(column, self._with_missing(name, weights), found.rank_error, distinct)

    def sketched(self, name: str) -> Sketched | None:
        """A column's sketch; None where every value was counted, or values have no order."""
        values, weights, distinct = self.columns[name].values
        if distinct:
            return None
        return Sketched(name, np.asarray(values), weights, self.columns[name].rank_error)

    def exact(self, name: str, values: NDArray[Any], weights: Float) -> Summary:
        """A summary of values whose ranks are exact where they matter."""
        column = self._table(name, values).column(name)
        return Summary(column, self._with_missing(name, weights), 0.0, False)

    def _with_missing(self, name: str, weights: Float) -> Float:
        found = self.columns[name]
        return np.append(weights, found.missing_weight) if found.missing > 0 else weights

    # --- being interrupted -----------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {
            "numbers": np.array(
                [self.n_rows, self.largest_weight, self._smallest_weight, float(self._is_whole)]
            ),
            "keys": self._keys,
            "places": self._places,
            "limit": np.array([self._limit]),
        }
        if self._kept is not None:
            found["kept"] = ipc_bytes(self._kept)
        for number, column in enumerate(self.columns.values()):
            found |= {f"column {number} {key}": value for key, value in column.state().items()}
        return found

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        rows, self.largest_weight, self._smallest_weight, whole = (float(v) for v in state["numbers"])
        self._is_whole = bool(whole)
        self.n_rows, self._limit = int(rows), state["limit"][0]
        self._keys, self._places = state["keys"], state["places"]
        self._kept = from_ipc_bytes(state["kept"]) if "kept" in state else None
        for number, column in enumerate(self.columns.values()):
            prefix = f"column {number} "
            column.restore({k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)})

    # --- parts of the rows that were looked at elsewhere -----------------------------------------

    def condense(self) -> None:
        """Know the same in as little room as can be."""
        self._shrink()
        for column in self.columns.values():
            column.condense()

    def merge(self, state: dict[str, NDArray[Any]]) -> None:
        """Take in what another survey learned of rows that come after these."""
        rows, largest, smallest, whole = (float(v) for v in state["numbers"])
        self.n_rows, self.largest_weight = self.n_rows + int(rows), max(self.largest_weight, largest)
        self._smallest_weight = min(self._smallest_weight, smallest)
        self._is_whole = self._is_whole and bool(whole)
        if "kept" in state:
            drawn, arrow = from_ipc_bytes(state["kept"]), library_named("pyarrow")
            self._kept = drawn if self._kept is None else arrow.concat_tables([self._kept, drawn])
            self._keys = np.concatenate([self._keys, state["keys"]])
            self._places = np.concatenate([self._places, state["places"]])
            if len(self._keys) > 2 * self.rows:
                self._shrink()
        for number, column in enumerate(self.columns.values()):
            prefix = f"column {number} "
            column.merge({k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)})


def row_weights(block: Block, name: str) -> Float:
    """A block's weights, checked as those of a whole table are."""
    column = block.table.column(name)
    if column.kind not in ("float", "integer", "boolean"):
        raise InputTypeError(complaint("weights", f"names a {column.kind} column", name, "must hold numbers"))
    values = column.to_float()
    if not np.isfinite(values).all():
        raise InputError(complaint("weights", "must be finite", float(values[~np.isfinite(values)][0])))
    if (values < 0).any():
        raise InputError(complaint("weights", "must not be negative", float(values[values < 0][0])))
    return values


def _random_numbers(start: int, count: int, seed: int) -> NDArray[np.uint64]:
    """One random number for each row, from the seed and the row's place alone (a mixing of their bits)."""
    with np.errstate(over="ignore"):
        mixed = np.arange(start, start + count, dtype=np.uint64)
        mixed += np.uint64(seed % 2**32) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
    return mixed


def _listed(array: Any, levels: list[Any], kind: Any) -> Any:
    """Levels as a column of the category type that lists all of them."""
    place = {level: number for number, level in enumerate(levels)}
    codes = np.array([-1 if v is None else place[v] for v in array.to_pylist()], dtype=np.int64)
    return dictionary_array(codes, levels, kind)
