"""Levels of a categorical axis: their order, the most frequent of them, and the rest as one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.counts import counted
from icefield.data.columns import object_array
from icefield.effect import Effect
from icefield.plots.coordinates import UNCUT, Coordinates
from icefield.plots.options import Options
from icefield.plots.panels import Float
from icefield.plots.series import Series
from icefield.wording.labels import joined
from icefield.wording.names import abbreviated, distinct_texts, shared_words
from icefield.wording.values import LEVEL_LIMIT

READABLE = 30  # levels that still read well in one panel
MANY_LEVELS = 12  # more than this are sorted by their effect
KEPT = 25  # how many of more than that are drawn when the user did not say
SHARED_LIMIT = 90  # letters of what all levels have in common
LEAST_NAMED = 6  # with fewer levels than this, which are drawn is only a matter of how frequent they are


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels to draw, in order. `rest` are places (in the full axis) of those drawn as one."""

    places: Coordinates
    full: Coordinates
    shown: NDArray[np.intp]
    rest: NDArray[np.intp] | None
    texts: tuple[str, ...]
    counts: Float | None
    weights: Float
    note: str = ""

    def of(self, series: Series) -> Float:
        """The places of the series' grid points among the drawn levels."""
        return self.places.place(series.effect.grid[0])

    def values(self, series: Series, spread: str) -> tuple[Float, Float | None, Float | None, Any]:
        """Averages, both ends of intervals and what is faint at every drawn level; NaN where its model or group has no such level."""
        at = self.full.place(series.effect.grid[0]).astype(np.intp)
        average, interval = self._spread_out(series.average, at), series.interval(spread)
        support = series.low_support
        ends = [] if interval is None else [self._spread_out(end, at) for end in interval]
        faded = None if support is None else self._spread_out(support.astype(np.float64), at)[self.shown] > 0
        if self.rest is None:
            low, high = [end[self.shown] for end in ends] or (None, None)
            return average[self.shown], low, high, faded
        rest = average[self.rest]
        known = np.isfinite(rest)
        weights = np.where(known, self.weights[self.rest], 0.0)
        together = least = most = np.nan
        if known.any():
            mass, least, most = weights.sum(), rest[known].min(), rest[known].max()
            weighted = (np.where(known, rest, 0) * weights).sum()
            together = float(rest[known].mean() if mass == 0 else weighted / mass)
        low, high = (end[self.shown] for end in ends or (average, average))
        faded = None if faded is None else np.append(faded, False)
        return np.append(average[self.shown], together), np.append(low, least), np.append(high, most), faded

    def _spread_out(self, values: Float, at: NDArray[np.intp]) -> Float:
        out = np.full(len(self.full.levels), np.nan)
        out[at] = values
        return out


def order_levels(series: Sequence[Series], whole: Effect, places: Coordinates, options: Options) -> Levels:
    """Order the levels as asked, and collapse the rare ones where there are too many."""
    if places.ordered:
        places = _as_levels(series, places)
    count = len(places.levels)
    weights, known = np.zeros(count), False
    if whole.weight is not None and whole.weight.shape == whole.average.shape[1:]:
        at = places.place(whole.grid[0])
        inside = np.isfinite(at)
        weights[at[inside].astype(np.intp)] = whole.weight[inside]
        known = True
    order = np.arange(count)
    # Levels that are too many to find one's way by, and have no order of their own to go by, are sorted by their effect.
    unordered = whole.kinds[0] == "categorical" and not whole.naming.coded(whole.features[0])
    by_effect = options.sort == "auto" and count > MANY_LEVELS and unordered
    if options.sort == "value" or by_effect:
        values = _mean_average(series, places)
        order = np.argsort(np.where(np.isfinite(values), -values, np.inf), kind="stable")
    elif options.sort == "count" and known:
        order = np.argsort(-weights, kind="stable")
    elif options.sort == "name":
        names = [by_number_and_letter(places.text(level, UNCUT)) for level in places.levels]
        order = np.array(sorted(range(count), key=names.__getitem__), dtype=np.intp)
    limit = _limit(count, options)
    rest = None
    notes = []
    if limit < count:
        shown = np.zeros(count, dtype=bool)
        ranks = np.where(_named(series, whole, places, limit), -np.inf, -weights)
        shown[np.argsort(ranks, kind="stable")[:limit]] = True
        rest = np.flatnonzero(~shown)
        order = order[shown[order]]
        notes.append("others: their weighted mean and range" if known else "others: their mean and range")
    whole_texts = [places.text(places.levels[i], UNCUT) for i in order]
    texts, shared = distinct_texts(whole_texts, LEVEL_LIMIT), shared_words(whole_texts, LEVEL_LIMIT)
    if shared:
        notes.insert(0, f"levels: {abbreviated(shared, SHARED_LIMIT)}")
    counts = weights[order]
    if rest is not None:
        texts.append(f"{counted(len(rest))} others")
        counts = np.append(counts, weights[rest].sum())
    axis = places.categorical([places.levels[i] for i in order])
    if rest is not None:
        axis.high += 1
    return Levels(axis, places, order, rest, tuple(texts), counts if known else None, weights, joined(*notes))


def _limit(count: int, options: Options) -> int:
    """How many levels to draw: as many as asked for, or as can be read in the room there is."""
    if options.top is not None:
        return options.top
    most = options.levels_that_fit
    readable, fewer = (READABLE, KEPT) if most is None else (min(READABLE, most), min(KEPT, most - 1))
    return fewer if count > readable else count


def _named(series: Sequence[Series], whole: Effect, places: Coordinates, limit: int) -> NDArray[np.bool_]:
    """Levels that words name, which are drawn however rare: the highest, the lowest, and what changes are from."""
    named = np.zeros(len(places.levels), dtype=bool)
    at = places.place(whole.grid[0])
    if limit < LEAST_NAMED:
        return named
    if whole.view == "centered":
        level = places.place(object_array([whole.reference]))
        named[level[np.isfinite(level)].astype(np.intp)] = True
    for output in sorted({curve.output for curve in series}):
        average = whole.average[output]
        known = np.flatnonzero(np.isfinite(average) & np.isfinite(at))
        if whole.missing_last[0] and len(known) > 1:
            known = known[known < len(at) - 1]
        if len(known) and named.sum() + 2 < limit:
            named[at[known[[average[known].argmax(), average[known].argmin()]]].astype(np.intp)] = True
    return named


def by_number_and_letter(text: str) -> list[tuple[int, float, str]]:
    """What texts are sorted by: "level 10" comes after "level 9".

    Examples
    --------
    >>> sorted(["b 10", "B 9", "a"], key=by_number_and_letter)
    ['a', 'B 9', 'b 10']
    """
    parts = re.findall(r"[0-9]+|[^0-9]+", text.casefold())
    return [(0, float(part), "") if part.isascii() and part.isdigit() else (1, 0.0, part) for part in parts]


def _as_levels(series: Sequence[Series], places: Coordinates) -> Coordinates:
    """Numbers drawn as dots or bars: every distinct value is a level."""
    seen: dict[float, object] = {}
    missing = None
    for curve in series:
        grid = curve.effect.grid[0]
        for at, value in zip(places.place(grid), grid):
            if np.isfinite(at):
                seen.setdefault(float(at), value)
            else:
                missing = value
    levels = [seen[k] for k in sorted(seen)]
    if any(curve.effect.missing_last[0] for curve in series):
        levels.append(missing)
    return places.categorical(levels)


def _mean_average(series: Sequence[Series], places: Coordinates) -> Float:
    total, seen = np.zeros(len(places.levels)), np.zeros(len(places.levels))
    for curve in series:
        at = places.place(curve.effect.grid[0]).astype(np.intp)
        total[at] += curve.average
        seen[at] += 1
    return np.where(seen > 0, total / np.maximum(seen, 1), np.nan)
