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


_kept = threading.local()


def _scratch(size: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """A thread's own array: fresh memory for every block would cost more than the counting."""
    known = _kept.__dict__.setdefault("arrays", {})
    if kind not in known or len(known[kind]) < size:
        known[kind] = np.empty(size, kind)
    return np.asarray(known[kind][:size])


class _Places:
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
        place = _scratch(len(values), np.dtype(np.intp))
        with np.errstate(all="ignore"):
            # A type of its own for whole numbers: their differences would not fit theirs.
            given = _ordered_bits(values) if self.by_bits else values
            np.subtract(given, self._low, out=scaled, dtype=self._low.dtype)
            np.multiply(scaled, self._scale, out=scaled)
            np.add(scaled, 1, out=scaled)
            np.fmin(np.fmax(scaled, 0, out=scaled), self.n_cells + 1, out=scaled)  # what is missing goes to 0
            place[:] = scaled
        return place


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
        self._places = self._best_places(ordered[tail : len(ordered) - tail])
        self.weights = np.zeros(n_cells)
        self.values = np.zeros(n_cells, ordered.dtype)
        self._unseen = np.arange(1, n_cells + 1)  # places of cells that no value was counted in

    def _best_places(self, ordered: NDArray[Any]) -> _Places:
        """The places that spread these values better: by their size, or by their bits."""
        plain = _Places(ordered[0], ordered[-1], self._n_cells)
        if ordered.dtype.kind != "f" or ordered.dtype.itemsize < 4:
            return plain
        by_bits = _Places(ordered[0], ordered[-1], self._n_cells, by_bits=True)
        fullest = [np.bincount(p(ordered)).max() if p.usable else np.inf for p in (plain, by_bits)]
        return plain if fullest[0] <= fullest[1] else by_bits

    def add(self, values: NDArray[Any], weights: Float | None) -> NDArray[np.bool_] | None:
        """Count values; those that were not counted are marked (None: there are none)."""
        if not self._places.usable:
            return np.ones(len(values), bool)
        place = self._places(values)
        size = self._n_cells + 2
        counts = np.bincount(place, minlength=size)
        added = counts if weights is None else np.bincount(place, weights, minlength=size)
        left = np.zeros(size, bool)
        left[[0, -1]] = True
        most = max(8, len(values) // self._points)
        if counts[1:-1].max() > most:
            left |= counts > most
        if weights is not None:
            left |= added > max(float(weights.sum()), 1e-300) / self._points
        new = self._unseen[(counts[self._unseen] > 0) & ~left[self._unseen]]
        if len(new):
            is_new = np.zeros(size, bool)
            is_new[new] = True
            shown = is_new[place]
            self.values[place[shown] - 1] = values[shown]
            self._unseen = self._unseen[~is_new[self._unseen]]
        counted = np.where(left[1:-1], 0, added[1:-1]) if left[1:-1].any() else added[1:-1]
        self.weights += counted
        return None if not counts[left].any() else left[place]

    @property
    def error(self) -> float:
        """Weight by which the rank of any value may be off, as far as these cells are concerned."""
        return float(self.weights.max())

    def summary(self) -> tuple[NDArray[Any], Float]:
        """One value of each cell that holds some, sorted, and the cell's weight."""
        some = self.weights > 0
        return self.values[some], self.weights[some]

    def state(self) -> dict[str, NDArray[Any]]:
        """All that is known, as arrays."""
        some = np.flatnonzero(self.weights)
        return {
            "places": np.array([self._places.low, self._places.high], self.values.dtype),
            "sizes": np.array([self._n_cells, self._points, self._places.by_bits]),
            "at": some,
            "values": self.values[some],
            "weights": self.weights[some],
        }

    @classmethod
    def restored(cls, state: dict[str, NDArray[Any]]) -> ValueCells:
        """Cells as they were."""
        n_cells, points, by_bits = (int(v) for v in state["sizes"])
        made = cls(state["places"], n_cells, points)
        made._places = _Places(state["places"][0], state["places"][1], n_cells, by_bits=bool(by_bits))
        made.values[state["at"]], made.weights[state["at"]] = state["values"], state["weights"]
        made._unseen = np.flatnonzero(made.weights == 0) + 1
        return made


class KnownValues:
    """Counts of values that are few and known; gives up at the first other value.

    Parameters
    ----------
    values : all that are known, sorted, each once and finite
    """

    def __init__(self, values: NDArray[Any]) -> None:
        self._places = _Places(values[0], values[-1], KNOWN_CELLS, closed=True)
        self._at = self._places(values).copy() if self._places.usable else np.zeros(0, np.intp)
        self._shown = np.zeros(KNOWN_CELLS + 2, values.dtype)
        self._shown[self._at] = values if len(self._at) else 0
        inside = (self._at > 0) & (self._at <= KNOWN_CELLS)
        self.usable = self._places.usable and bool(inside.all()) and len(np.unique(self._at)) == len(values)

    def counts(
        self, values: NDArray[Any], weights: Float | None
    ) -> tuple[Float, NDArray[np.bool_] | None] | None:
        """The weight of each known value and which values are missing (None: none); None where another value is seen."""
        place = self._places(values)
        known = self._shown[place] == values
        missing = None
        if not known.all():
            missing = ~known
            if not np.isnan(values[missing]).all():
                return None
        counts = np.bincount(place, minlength=KNOWN_CELLS + 2)
        if counts[0] + counts[-1] != (0 if missing is None else missing.sum()):
            return None  # a value outside that happens to look like what stands there
        added = counts if weights is None else np.bincount(place, weights, minlength=KNOWN_CELLS + 2)
        return added[self._at].astype(np.float64), missing
