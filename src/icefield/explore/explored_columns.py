"""The columns of the data as the explorer's axes place them, and back: from a place on an axis to a value of the column.

Numbers stand where they are, times at days since 1970, levels at 0, 1, 2 and so on; a missing value is None. One `ExploredColumn`
holds all that the page needs of a feature: its axis, its grid, its levels, and its histogram over any rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.code_counts import code_counts
from icefield.data.columns import Column, is_missing_value
from icefield.data.naming import Naming
from icefield.effect import Effect
from icefield.explore.messages import BadMessage, number
from icefield.plots.coordinates import Coordinates
from icefield.plots.ticks import named_ticks
from icefield.typing import Float
from icefield.wording.names import page_name
from icefield.wording.values import named_value, shown_value

BINS = 24
MOST_BARS = 250  # levels with a bar of their own, which a byte numbers; the others share the last
MOST_TEXT = 120  # letters of a level


class ExploredColumn:
    """A feature: its axis and grid, its rows' places on it, and the way back from a place to a value.

    Parameters
    ----------
    effect : its curve over all rows, on the grid that all its curves share
    column : its values in the sample
    naming : what it is called
    """

    def __init__(self, effect: Effect, column: Column, naming: Naming) -> None:
        self.name, self.label = effect.features[0], page_name(naming.name(effect.features[0]))
        self.grid = effect.grid[0]
        self._at, self._column, self._naming = Coordinates([effect]), column, naming
        self.ordered = self._at.ordered
        self.kind = self._at.axis_kind

    @cached_property
    def levels(self) -> list[Any]:
        """The values of the grid in order, where they are levels; a missing one last."""
        return [] if self.ordered else list(self._at.levels)

    @cached_property
    def places(self) -> Float:
        """Each row's place on the axis, NaN where its value is missing or none of the levels; kept, so asked for where it is needed again."""
        return self._compute_places()

    def _compute_places(self, rows: slice = slice(None)) -> Float:
        if "places" in self.__dict__:
            return self.places[rows]
        column = self._column.part(rows)
        if self.ordered:
            return np.asarray(self._at.place(column.shown()), np.float64)
        codes, levels = column.codes, column.levels
        numbers = self._at.place(levels) if len(levels) else np.zeros(0)
        missing = [i for i, level in enumerate(self.levels) if is_missing_value(level)]
        return np.append(numbers, missing[0] if missing else np.nan)[codes]

    @cached_property
    def grid_places(self) -> Float:
        """The grid points' places; the missing one, if there is one, is last and has none."""
        return np.asarray(self._at.place(self.grid), np.float64)

    def places_of(self, values: NDArray[Any]) -> Float:
        """The places of some values of the column."""
        return np.asarray(self._at.place(values), np.float64)

    def axis(self) -> dict[str, Any]:
        """What the page needs to lay the axis out."""
        axis = self._at.axis()
        named = named_ticks(axis.meaning, axis.low or 0.0, self._at.high) if axis.meaning else []
        levels = [self._at.text(v, MOST_TEXT) for v in self.levels]
        return {
            "label": axis.label, "kind": self.kind, "ticks": levels, "unit": axis.unit,
            "named": [[at, text] for at, text in named], "missing": self._at.missing is not None,
        }  # fmt: skip

    # --- values ------------------------------------------------------------------------------------

    def place_of(self, row: int) -> float | None:
        """Where a row stands, None where its value is missing."""
        at = float(self._compute_places(slice(row, row + 1))[0])
        return at if np.isfinite(at) else None

    def value(self, place: float | None, where: str) -> Any:
        """The value that stands at a place, as the column holds it."""
        if not self.ordered:
            if place is None:
                return None
            at = number(place, where)
            if at != int(at) or not 0 <= at < len(self.levels):
                raise BadMessage(
                    f"{where} must be the number of a level, 0 to {len(self.levels) - 1}.", where
                )
            level = self.levels[int(at)]
            return None if is_missing_value(level) else level
        if place is None:
            return None
        at = number(place, where)
        dtype = self._column.dtype
        if dtype.kind in "mM":
            unit = "timedelta64[us]" if dtype.kind == "m" else "datetime64[us]"
            micro = at * (self._at.unit * 1e6 if dtype.kind == "m" else 86_400e6)
            if not abs(micro) < 2**62:
                raise BadMessage(f"{where} is beyond all times.", where)
            return np.int64(round(micro)).astype(unit).astype(dtype)
        if self._column.kind == "integer" and at == int(at):
            return int(at)
        return at

    def text(self, value: Any) -> str:
        """A value as people call it."""
        return named_value(value, self._naming, self.name, lambda v: shown_value(v, MOST_TEXT))

    # --- histogram ---------------------------------------------------------------------------------

    @cached_property
    def edges(self) -> list[float]:
        """Edges of the bars of numbers; levels have none."""
        if not self.ordered:
            return []
        places = self._compute_places()
        known = places[np.isfinite(places)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        if self.kind == "integer" and high - low < BINS:
            return list((np.arange(low, high + 2) - 0.5).tolist())
        return list(np.linspace(low, high if high > low else low + 1, BINS + 1).tolist())

    @property
    def n_bars(self) -> int:
        """Bars, that of missing values or rarer levels included, which is the last."""
        return len(self.edges) if self.ordered else min(len(self.levels), MOST_BARS) + 1

    def bars(self) -> NDArray[np.uint8]:
        """Each row's bar."""
        places, last = self._compute_places(), self.n_bars - 1
        if not self.ordered:
            codes = np.minimum(np.nan_to_num(places), last)
        else:
            codes = np.clip(np.searchsorted(self.edges, places, side="right") - 1, 0, last - 1)
        return np.where(np.isfinite(places), codes, last).astype(np.uint8)


class Histograms:
    """The histograms of all columns over any rows: a byte is kept for each value, and a filter is one bit a row."""

    def __init__(self, columns: Sequence[ExploredColumn], n_rows: int, weights: Float | None) -> None:
        self._sizes, self._weights = [column.n_bars for column in columns], weights
        self._codes = np.empty((len(columns), n_rows), np.uint8)
        for row_codes, column in zip(self._codes, columns):
            row_codes[:] = column.bars()

    def counts(self, mask: NDArray[np.bool_] | None) -> Float:
        """The weight of the rows in each bar, column after column."""
        codes, weights = self._codes, self._weights
        if weights is not None:
            chosen = slice(None) if mask is None else mask
            sums = [np.bincount(c[chosen], weights[chosen], size) for c, size in zip(codes, self._sizes)]
            return np.concatenate(sums)
        counts = code_counts(codes, mask)
        return np.concatenate([c[:size] for c, size in zip(counts, self._sizes)]).astype(np.float64)
