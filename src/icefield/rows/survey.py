"""The first pass: what every column is like, how many rows there are, and a seeded sample of them.

The sample is a reservoir: each row has a random number made from the seed and its place alone, and the rows with the
smallest are kept. So it does not depend on how the rows come in batches. What needs rows together is asked of the
sample; what merges is asked of all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.rows import Accumulator, Block, State, part_of
from icefield.data.columns import library_named
from icefield.rows.column_sketch import MOST_DISTINCT, ColumnSketch, from_ipc_bytes, ipc_bytes
from icefield.sampling import COPIES_BELOW
from icefield.threads import ThreadCrew

MOST_POINTS, LEAST_POINTS = 4096, 256  # a summary of ranks keeps
SUMMARIES = 12  # of a column at once, about, in 10^8 rows
POINT_BYTES = 16
MOST_CELLS, LEAST_CELLS = 32_768, 1_024  # of a column of numbers
CELL_BYTES = 24


class Survey(Accumulator):
    """The accumulator of the first pass: a sketch of each column, the number of rows, and a seeded sample.

    Parameters
    ----------
    types : the columns to describe, with their Arrow types
    rows : how many the sample holds
    weights : the column of weights, or None
    seed, memory : as in `Explainer`
    points : the most that a summary of a column's ranks keeps
    distinct : the most values of a number that are all remembered
    """

    title = "reading the data"
    needs_frames = False

    def __init__(
        self,
        types: Mapping[str, Any],
        rows: int,
        weights: str | None,
        seed: int,
        memory: int,
        *,
        points: int = MOST_POINTS,
        distinct: int = MOST_DISTINCT,
    ) -> None:
        fitting = memory // 8 // (POINT_BYTES * SUMMARIES * max(1, len(types)))
        points = int(np.clip(fitting, LEAST_POINTS, points))
        self.weights_name, self.rows, self.seed = weights, rows, seed
        cells = int(np.clip(memory // 8 // (CELL_BYTES * max(1, len(types))), LEAST_CELLS, MOST_CELLS))
        self.sketches = {name: ColumnSketch(kind, points, cells, distinct) for name, kind in types.items()}
        self.n_rows = 0
        self.largest_weight, self._smallest_weight, self._is_whole = 0.0, np.inf, True
        self._keys = np.zeros(0, np.uint64)
        self._places = np.zeros(0, np.int64)
        self._sample: Any = None
        self._limit = np.uint64(2**64 - 1)

    @property
    def about(self) -> dict[str, Any]:
        return {"survey": list(self.sketches), "weights": self.weights_name, "seed": self.seed}

    def add(self, block: Block, threads: ThreadCrew) -> None:
        weights = block.weights
        if weights is not None:
            self.largest_weight = max(self.largest_weight, float(weights.max(initial=0.0)))
            positive = weights[weights > 0]
            self._smallest_weight = min(self._smallest_weight, float(positive.min(initial=np.inf)))
            self._is_whole = self._is_whole and bool((positive == np.round(positive)).all())

        def sketch(name: str) -> None:
            self.sketches[name].add(block.arrow.column(name), weights)

        threads.each(sketch, list(self.sketches))
        self._draw(block)
        self.n_rows += block.n_rows

    def expect(self, n_rows: int) -> None:
        """Given the number of rows to come, keep none that cannot be in the sample.

        Random numbers below the limit are twelve standard deviations more than are wanted.
        """
        enough = self.rows + 12.0 * self.rows**0.5 + 150.0
        if n_rows > enough:
            self._limit = np.uint64(min(2.0**64 - 2048.0, enough / n_rows * 2.0**64))

    # --- the sample ----------------------------------------------------------------------------

    def _draw(self, block: Block) -> None:
        keys = _random_numbers(block.start, block.n_rows, self.seed)
        chosen = np.flatnonzero(keys <= self._limit)
        if len(chosen):
            self._keep(block.arrow.take(chosen), keys[chosen], block.start + chosen)

    def _keep(self, rows: Any, keys: NDArray[np.uint64], places: NDArray[np.int64]) -> None:
        tables = [rows] if self._sample is None else [self._sample, rows]
        self._sample = library_named("pyarrow").concat_tables(tables)
        self._keys, self._places = np.append(self._keys, keys), np.append(self._places, places)
        if len(self._keys) > 2 * self.rows:
            self._shrink()

    def _shrink(self) -> None:
        if len(self._keys) > self.rows:
            smallest = np.sort(np.argpartition(self._keys, self.rows - 1)[: self.rows])
            self._keys, self._places = self._keys[smallest], self._places[smallest]
            self._sample = self._sample.take(smallest).combine_chunks()
            self._limit = self._keys.max()

    @property
    def copies(self) -> bool:
        """Whether weights say how often rows occur, as `count_copies` has it."""
        return self.weights_name is None or (self._is_whole and self._smallest_weight < COPIES_BELOW)

    @property
    def is_complete(self) -> bool:
        """Whether the sample holds every row."""
        return self.n_rows <= self.rows

    def sample_rows(self) -> Any:
        """The rows of the sample in the order they came, as an Arrow table; None where there are no rows."""
        self._shrink()
        return None if self._sample is None else self._sample.combine_chunks()

    # --- being interrupted -----------------------------------------------------------------------

    def state(self) -> State:
        numbers = [self.n_rows, self.largest_weight, self._smallest_weight, float(self._is_whole)]
        state: State = {"numbers": np.array(numbers), "limit": np.array([self._limit])}
        state |= {"keys": self._keys, "places": self._places}
        if self._sample is not None:
            state["kept"] = ipc_bytes(self._sample)
        for number, column in enumerate(self.sketches.values()):
            state |= {f"column {number} {key}": value for key, value in column.state().items()}
        return state

    def restore(self, state: State) -> None:
        rows, self.largest_weight, self._smallest_weight, whole = (float(v) for v in state["numbers"])
        self._is_whole = bool(whole)
        self.n_rows, self._limit = int(rows), state["limit"][0]
        self._keys, self._places = state["keys"], state["places"]
        self._sample = from_ipc_bytes(state["kept"]) if "kept" in state else None
        for number, column in enumerate(self.sketches.values()):
            column.restore(part_of(state, f"column {number} "))

    # --- parts of the rows that were looked at elsewhere -----------------------------------------

    def condense(self) -> None:
        self._shrink()
        for column in self.sketches.values():
            column.condense()

    def merge(self, state: State) -> None:
        """Add the state of another survey, of rows that come after these."""
        rows, largest, smallest, whole = (float(v) for v in state["numbers"])
        self.n_rows, self.largest_weight = self.n_rows + int(rows), max(self.largest_weight, largest)
        self._smallest_weight = min(self._smallest_weight, smallest)
        self._is_whole = self._is_whole and bool(whole)
        if "kept" in state:
            self._keep(from_ipc_bytes(state["kept"]), state["keys"], state["places"])
        for number, column in enumerate(self.sketches.values()):
            column.merge(part_of(state, f"column {number} "))


def _random_numbers(start: int, count: int, seed: int) -> NDArray[np.uint64]:
    """One random number for each row, from the seed and the row's place alone (a mixing of their bits)."""
    with np.errstate(over="ignore"):
        mixed = np.arange(start, start + count, dtype=np.uint64)
        mixed += np.uint64(seed % 2**32) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
    return mixed
