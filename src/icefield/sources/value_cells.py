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
    """Numbers from `low` to `high` as places of equal width, in the order of the numbers.

    With `by_bits`, of equal width in the numbers' own bits: narrow about zero, as skewed columns want them.
    """

    def __init__(self, low: Any, high: Any, n_cells: int, by_bits: bool = False) -> None:
        self.low, self.high, self.n_cells, self.by_bits = low, high, n_cells, by_bits
        ends = np.array([low, high])
        first, last = _ordered_bits(ends) if by_bits else ends
        with np.errstate(all="ignore"):
            kind = first.dtype if first.dtype.kind == "f" else np.dtype(np.float64)
            self._low = kind.type(first)
            width = kind.type(last) - self._low
            self._scale = kind.type(n_cells - 1) / width if width > 0 else kind.type(0.0)
        self.usable = bool(np.isfinite(self._scale) and (self._scale > 0 or low == high))

    def __call__(self, values: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.bool_] | None]:
        """The place of each value inside, and which those are (None: all); good until the thread's next call."""
        scaled = _scratch(len(values), self._low.dtype)
        place = _scratch(len(values), np.dtype(np.intp))
        with np.errstate(all="ignore"):
            # A type of its own for whole numbers: their differences would not fit theirs.
            given = _ordered_bits(values) if self.by_bits else values
            np.subtract(given, self._low, out=scaled, dtype=self._low.dtype)
            np.multiply(scaled, self._scale, out=scaled)
            # By the values themselves: the least and the largest of all must not end up inside.
            if (
                len(values) and values.min() >= self.low and values.max() <= self.high
            ):  # no value is missing then
                place[:] = scaled
                return place, None
            inside = (values >= self.low) & (values <= self.high)
            return scaled[inside].astype(np.intp), inside


def _ordered_bits(values: NDArray[Any]) -> NDArray[Any]:
    """The bits of fractions as whole numbers in the order of the fractions; those of missing ones lie at the ends."""
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

    def _best_places(self, ordered: NDArray[Any]) -> _Places:
        """The places that spread these values better: by their size, or by their bits."""
        plain = _Places(ordered[0], ordered[-1], self._n_cells)
        if ordered.dtype.kind != "f" or ordered.dtype.itemsize < 4:
            return plain
        by_bits = _Places(ordered[0], ordered[-1], self._n_cells, by_bits=True)
        fullest = [np.bincount(p(ordered)[0]).max() if p.usable else np.inf for p in (plain, by_bits)]
        return plain if fullest[0] <= fullest[1] else by_bits

    def add(self, values: NDArray[Any], weights: Float | None) -> NDArray[np.bool_] | None:
        """Count values; those that were not counted are marked (None: there are none)."""
        if not self._places.usable:
            return np.ones(len(values), bool)
        place, inside = self._places(values)
        own, kept = (values, weights) if inside is None else (values[inside], weights)
        if inside is not None and weights is not None:
            kept = weights[inside]
        counts = np.bincount(place, minlength=self._n_cells)
        heavy = counts > max(8, len(values) // self._points)
        if kept is not None:
            added = np.bincount(place, kept, minlength=self._n_cells)
            heavy |= added > max(float(kept.sum()), 1e-300) / self._points
        else:
            added = counts.astype(np.float64)
        new = (self.weights == 0) & (counts > 0) & ~heavy
        if new.any():
            shown = new[place]
            self.values[place[shown]] = own[shown]
        left = None
        if heavy.any():
            left = heavy[place]
            added[heavy] = 0.0
        self.weights += added
        if inside is None:
            return left
        rest = ~inside
        if left is not None:
            rest[np.flatnonzero(inside)[left]] = True
        return rest

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
        made._places = _Places(state["places"][0], state["places"][1], n_cells, bool(by_bits))
        made.values[state["at"]], made.weights[state["at"]] = state["values"], state["weights"]
        return made


class KnownValues:
    """Counts of values that are few and known; gives up at the first other value.

    Parameters
    ----------
    values : all that are known, sorted, each once and finite
    """

    def __init__(self, values: NDArray[Any]) -> None:
        self._places = _Places(values[0], values[-1], KNOWN_CELLS)
        self._at = np.zeros(0, np.intp)
        self._shown = np.zeros(KNOWN_CELLS, values.dtype)
        if self._places.usable:
            at, outside = self._places(values)
            if outside is None:
                self._at = at.copy()  # the thread's own array serves the next values
                self._shown[self._at] = values
        self.usable = len(self._at) == len(values) and len(np.unique(self._at)) == len(values)

    def counts(
        self, values: NDArray[Any], weights: Float | None
    ) -> tuple[Float, NDArray[np.bool_] | None] | None:
        """The weight of each known value and which values are missing (None: none); None where another value is seen."""
        place, inside = self._places(values)
        own = values if inside is None else values[inside]
        if not np.array_equal(self._shown[place], own):
            return None
        missing = None
        if inside is not None:
            missing = ~inside
            if not np.isnan(values[missing]).all():
                return None
            weights = None if weights is None else weights[inside]
        return np.bincount(place, weights, minlength=KNOWN_CELLS)[self._at].astype(np.float64), missing
