"""Numbers counted in cells of equal width, which costs a few nanoseconds a value where sorting costs tens.

Cells are placed once, from values that were sorted. A cell that would hold too much of a block, and whatever lies
outside, is left to be sorted by who asks: heaps and tails of a column lose nothing. For columns of few distinct
values each has a cell of its own, and counts are exact.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.typing import Float

TAILS = 0.001  # of the first values, at either end, lie outside
KNOWN_CELLS = 16_384  # for columns of few values


_scratch_arrays = threading.local()


def _scratch(size: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """An array of a size and type that the thread reuses: fresh memory for every block would cost more than counting."""
    arrays = _scratch_arrays.__dict__.setdefault("arrays", {})
    if kind not in arrays or len(arrays[kind]) < size:
        arrays[kind] = np.empty(size, kind)
    return np.asarray(arrays[kind][:size])


class _EqualCells:
    """Numbers from `low` up to `high` in cells of equal width, in the order of the numbers.

    Cells are numbered from 1; whatever lies outside, or is missing, has the place 0 or that after the last. With
    `by_bits` cells are of equal width in the numbers' own bits: narrow about zero, as skewed columns want them.
    With `closed` the last cell begins at `high`, which is outside otherwise.
    """

    def __init__(
        self, low: Any, high: Any, n_cells: int, *, by_bits: bool = False, closed: bool = False
    ) -> None:
        self.low, self.high, self.n_cells, self.by_bits = low, high, n_cells, by_bits
        ends = np.array([low, high])
        first, last = _ordered_bits(ends) if by_bits else ends
        with np.errstate(all="ignore"):
            kind = first.dtype if first.dtype.kind == "f" else np.dtype(np.float64)
            self._low = kind.type(first)
            width = kind.type(last) - self._low
            self._scale = kind.type(n_cells - closed) / width if width > 0 else kind.type(0.0)
        self.usable = bool(np.isfinite(self._scale) and (self._scale > 0 or (closed and low == high)))

    def __call__(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """The place of each value, in an array that is good until the thread's next call."""
        scaled = _scratch(len(values), self._low.dtype)
        cells = _scratch(len(values), np.dtype(np.intp))
        with np.errstate(all="ignore"):
            # A type of its own for whole numbers: their differences would not fit theirs.
            numbers = _ordered_bits(values) if self.by_bits else values
            np.subtract(numbers, self._low, out=scaled, dtype=self._low.dtype)
            np.multiply(scaled, self._scale, out=scaled)
            np.add(scaled, 1, out=scaled)
            np.fmin(np.fmax(scaled, 0, out=scaled), self.n_cells + 1, out=scaled)  # what is missing goes to 0
            cells[:] = scaled
        return cells


def _ordered_bits(values: NDArray[Any]) -> NDArray[Any]:
    """The bits of fractions as whole numbers in the order of the fractions; those of missing ones lie beyond both ends."""
    whole = np.dtype(f"i{values.dtype.itemsize}")
    bits = values.view(whole)
    if values.min(initial=0) >= 0:
        return bits
    shift = 8 * whole.itemsize - 1
    return np.asarray(bits ^ ((bits >> shift) & np.iinfo(whole).max))


class ValueCells:
    """How much weight lies in each of many cells, and one value of each that occurred.

    Parameters
    ----------
    ordered : some of the values, sorted and finite, by which cells are placed
    n_cells : how many
    points : a block's values are counted only in cells with at most one in so many of them
    """

    def __init__(self, ordered: NDArray[Any], n_cells: int, points: int) -> None:
        tail = int(TAILS * len(ordered))
        self._n_cells, self._points = n_cells, points
        self._cell_of = self._best_cells(ordered[tail : len(ordered) - tail])
        self.weights = np.zeros(n_cells)
        self.values = np.zeros(n_cells, ordered.dtype)
        self._unseen = np.arange(1, n_cells + 1)  # places of cells that no value was counted in

    def _best_cells(self, ordered: NDArray[Any]) -> _EqualCells:
        """The cells that spread these sorted values better: of equal width in their size, or in their bits."""
        plain = _EqualCells(ordered[0], ordered[-1], self._n_cells)
        if ordered.dtype.kind != "f" or ordered.dtype.itemsize < 4:
            return plain
        by_bits = _EqualCells(ordered[0], ordered[-1], self._n_cells, by_bits=True)
        fullest = [np.bincount(p(ordered)).max() if p.usable else np.inf for p in (plain, by_bits)]
        return plain if fullest[0] <= fullest[1] else by_bits

    def add(self, values: NDArray[Any], weights: Float | None) -> NDArray[np.bool_] | None:
        """Count values; those that were not counted are marked (None: there are none)."""
        if not self._cell_of.usable:
            return np.ones(len(values), bool)
        cells = self._cell_of(values)
        size = self._n_cells + 2
        counts = np.bincount(cells, minlength=size)
        masses = counts if weights is None else np.bincount(cells, weights, minlength=size)
        skipped = np.zeros(size, bool)
        skipped[[0, -1]] = True
        most = max(8, len(values) // self._points)
        if counts[1:-1].max() > most:
            skipped |= counts > most
        if weights is not None:
            skipped |= masses > max(float(weights.sum()), 1e-300) / self._points
        new = self._unseen[(counts[self._unseen] > 0) & ~skipped[self._unseen]]
        if len(new):
            is_new = np.zeros(size, bool)
            is_new[new] = True
            first_seen = is_new[cells]
            self.values[cells[first_seen] - 1] = values[first_seen]
            self._unseen = self._unseen[~is_new[self._unseen]]
        counted = np.where(skipped[1:-1], 0, masses[1:-1]) if skipped[1:-1].any() else masses[1:-1]
        self.weights += counted
        return None if not counts[skipped].any() else skipped[cells]

    @property
    def error(self) -> float:
        """Weight by which the rank of any value may be off, as far as these cells are concerned."""
        return float(self.weights.max())

    def summary(self) -> tuple[NDArray[Any], Float]:
        """One value of each cell that holds some, sorted, and the cell's weight."""
        occupied = self.weights > 0
        return self.values[occupied], self.weights[occupied]

    def state(self) -> dict[str, NDArray[Any]]:
        """All that is known, as arrays."""
        occupied = np.flatnonzero(self.weights)
        return {
            "places": np.array([self._cell_of.low, self._cell_of.high], self.values.dtype),
            "sizes": np.array([self._n_cells, self._points, self._cell_of.by_bits]),
            "at": occupied,
            "values": self.values[occupied],
            "weights": self.weights[occupied],
        }

    @classmethod
    def from_state(cls, state: dict[str, NDArray[Any]]) -> ValueCells:
        """Cells as they were."""
        n_cells, points, by_bits = (int(v) for v in state["sizes"])
        cells = cls(state["places"], n_cells, points)
        cells._cell_of = _EqualCells(state["places"][0], state["places"][1], n_cells, by_bits=bool(by_bits))
        cells.values[state["at"]], cells.weights[state["at"]] = state["values"], state["weights"]
        cells._unseen = np.flatnonzero(cells.weights == 0) + 1
        return cells


class KnownValues:
    """Counts of values that are few and known; gives up at the first other value.

    Parameters
    ----------
    values : all that are known, sorted, each once and finite
    """

    def __init__(self, values: NDArray[Any]) -> None:
        self._cell_of = _EqualCells(values[0], values[-1], KNOWN_CELLS, closed=True)
        cells = self._cell_of(values).copy() if self._cell_of.usable else np.zeros(0, np.intp)
        self._cells, self._value_of_cell = cells, np.zeros(KNOWN_CELLS + 2, values.dtype)
        self._value_of_cell[cells] = values if len(cells) else 0
        inside = (cells > 0) & (cells <= KNOWN_CELLS)
        self.usable = self._cell_of.usable and bool(inside.all()) and len(np.unique(cells)) == len(values)

    def counts(
        self, values: NDArray[Any], weights: Float | None
    ) -> tuple[Float, NDArray[np.bool_] | None] | None:
        """The weight of each known value and which values are missing (None: none); None where another value is seen."""
        cells = self._cell_of(values)
        known = self._value_of_cell[cells] == values
        missing = None
        if not known.all():
            missing = ~known
            if not np.isnan(values[missing]).all():
                return None
        counts = np.bincount(cells, minlength=KNOWN_CELLS + 2)
        if counts[0] + counts[-1] != (0 if missing is None else missing.sum()):
            return None  # a value outside that happens to look like what stands there
        masses = counts if weights is None else np.bincount(cells, weights, minlength=KNOWN_CELLS + 2)
        return masses[self._cells].astype(np.float64), missing
