"""What a report for release may say of the data: no value that fewer than K rows hold.

Grids are placed on rounded numbers between the k-th smallest and the k-th largest value, at levels that at least k rows hold, and
curves are computed there: they are exact, only nothing says where single rows are. A value that k rows share is
named as it is. What is said of the data is said of these rows' statistics, so that sentences, pictures and tables agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.effects import Request, compute_effects
from icefield.core.rows import Accumulator, ColumnStatistics, GridRequest, PendingStatistics, Rows
from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.column_statistics import ColumnValues
from icefield.data.columns import ORDERED_KINDS, TIME_KINDS, Column, object_array
from icefield.data.distribution import Distribution, Marginal, weighted_quantiles
from icefield.data.features import Feature
from icefield.data.grid import (
    DEFAULT_POINTS,
    POINTS_BEYOND,
    Grid,
    Steps,
    planned,
    specifications,
    with_missing_last,
)
from icefield.data.groups import Groups
from icefield.data.naming import Naming
from icefield.effect import Effect
from icefield.errors import InputError
from icefield.report.ranked import RankedFeature
from icefield.sampling import CURVE_ROWS
from icefield.statistics.support import support_of
from icefield.typing import Float
from icefield.wording.names import page_name

POINTS = 40  # of a grid at most
BINS = 40
SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
DAY = 86_400
FINER = 10.0  # means are rounded to so small a part of their distances
JOINED = 300  # rare levels that are averaged over to stand for all of them; of more, nothing is said


class Release:
    """A study whose grids, histograms and levels are fit for release: `least` rows must hold a value for it to be named."""

    def __init__(self, study: Study, least: int) -> None:
        rows = ReleasedRows(study.rows, least, study.naming)
        self.study = Study(study.model, rows, study.choices, study.plans)
        self.least, self._statistics = least, rows.statistics
        self._unnamed: list[str] = []

    def features(self, names: Sequence[Any]) -> list[Any]:
        """The features of which at least one value may be named; an error where there are none."""
        shown = [name for name in names if self._statistics.can_show(self.study.feature(name))]
        self._unnamed = [str(name) for name in names if name not in shown]
        if not shown:
            reason = "leaves no feature: none has a value that so many rows have"
            raise InputError.about("release", reason, self.least, f"write release={max(2, self.least // 10)}")
        return shown

    def edges(self, name: Any) -> Any:
        """Edges of the bins of a feature's ALE; None for levels and where there are too few values."""
        feature = self.study.feature(name)
        if feature.kind not in ORDERED_KINDS:
            return None
        edges = self._statistics.points(feature, BINS + 1)
        return edges if len(edges) > 1 else None

    def with_rare_levels(self, ranked: RankedFeature, rows: Any) -> RankedFeature:
        """A feature of levels with those of few rows as one more point: the average over them, each as often as it occurs."""
        effect, feature = ranked.effect, self.study.feature(ranked.asked)
        rare = self._statistics.rare_levels(feature)
        if rare is None or len(rare) > JOINED or effect.interval is not None:
            return ranked
        chosen, places = self.study.chosen(rows, when_costly=CURVE_ROWS), None
        if effect.rows is not None:
            place = np.arange(self.study.sample.n_rows) if chosen.positions is None else chosen.positions
            places = np.argsort(place, kind="stable")[np.searchsorted(np.sort(place), effect.rows)]
        (new,) = compute_effects(
            self.study,
            Request(sets=[(ranked.asked,)], kind="ice", grid={feature.label: rare}, rows=chosen.positions,
                    sampled_from=chosen.sampled_from, kept=places, kept_weights=effect.row_weights),
        )  # fmt: skip
        support = None if effect.support is None else support_of(self.study, (feature,), new.grid, new.weight)
        new = replace(new, backing=replace(new.backing, support=support))
        return replace(ranked, effect=_with_rare_level(effect, new, f"{counted(len(rare))} other levels"))

    @property
    def note(self) -> str:
        """The page's note on how values were coarsened for release."""
        unnamed = page_name(", ".join(self._unnamed))
        columns = f" and columns without any such value ({unnamed})" if self._unnamed else ""
        return (
            f"For release: numbers and times are rounded, extremes are left out, and no value is shown that fewer than "
            f"{counted(self.least)} rows have: levels, groups and cells of fewer rows are merged or left out, as are regions{columns}"
        )


def _with_rare_level(effect: Effect, rare: Effect, name: str, share: Float | None = None) -> Effect:
    """An effect with one more level, which stands for those of `rare`."""
    weight = np.asarray(rare.weight)
    share = weight / weight.sum() if share is None else share
    at = len(effect.grid[0]) - int(effect.missing_last[0])

    def put(values: Float | None, more: Float | None) -> Float | None:
        return None if values is None or more is None else np.insert(values, at, more @ share, axis=-1)

    grid = effect.grid[0].tolist()
    support, rare_support = effect.support, rare.support
    if support is not None and rare_support is not None:
        low = np.insert(support.low, at, bool(rare_support.low.all()))
        support = replace(support, share=np.insert(support.share, at, rare_support.share @ share), low=low)
    kept = effect.kept
    if kept is not None:
        kept = replace(kept, individual=put(kept.individual, rare.individual))
    return replace(
        effect,
        grid=(object_array([*grid[:at], name, *grid[at:]]),),
        average=np.insert(effect.average, at, rare.average @ share, axis=-1),
        # Errors of levels that are averaged are no larger than their own average.
        spread=replace(effect.spread, std=put(effect.std, rare.std), se=put(effect.se, rare.se), quantiles=None,
                       centered_std=put(effect.centered_std, rare.centered_std)),
        backing=replace(effect.backing, support=support, weight=np.insert(np.asarray(effect.weight), at, weight.sum())),
        kept=kept,
        groups={label: _with_rare_level(group, rare.groups[label], name, share) for label, group in effect.groups.items()},
    )  # fmt: skip


class ReleasedStatistics:
    """Summary statistics of rows' columns that reveal no value held by fewer than `least` rows.

    `naming` says which numbers are codes, of which none lies between two others.
    """

    def __init__(self, rows: Rows, least: int, naming: Naming) -> None:
        self._rows, self._least, self._naming = rows, least, naming
        self._points: dict[Any, NDArray[Any]] = {}

    @property
    def _exact(self) -> ColumnStatistics:
        return self._rows.statistics

    column: Any = property(attrgetter("_exact.column"))
    values: Any = property(attrgetter("_exact.values"))
    point_weights: Any = property(attrgetter("_exact.point_weights"))

    def can_show(self, feature: Feature) -> bool:
        """Whether any value may be named."""
        return feature.kind == "other" or len(self.points(feature, POINTS)) > 0

    def rare_levels(self, feature: Feature) -> NDArray[Any] | None:
        """Levels of too few rows to be named, where they are enough together."""
        if feature.kind in ORDERED_KINDS or feature.kind == "other":
            return None
        levels, counts = _level_counts(self.values(feature))
        rare = (counts > 0) & (counts < self._least)
        return levels[rare] if rare.any() and counts[rare].sum() >= self._least else None

    def points(self, feature: Feature, most: int) -> NDArray[Any]:
        """Values that may be named, in the column's own dtype, at most this many of a number or time."""
        key = (feature.columns, most)
        if key not in self._points:
            values = self.values(feature)
            if feature.kind in ORDERED_KINDS:
                coded = self._naming.coded(feature.label)
                self._points[key] = rounded_points(values, self._least, most, held_only=coded)
            else:
                levels, counts = _level_counts(values)
                self._points[key] = levels[counts >= self._least]
        return self._points[key]

    def grids(
        self,
        features: Sequence[Feature],
        asked: Any,
        thresholds: Callable[[Feature], Float],
        steps: Mapping[Any, Steps] | None = None,
    ) -> tuple[tuple[NDArray[Any], ...], str]:
        """Values that may be named; those that were given stay."""
        grids = []
        for feature, wanted in zip(features, specifications(asked, [f.label for f in features])):
            plan = planned(wanted, len(features))
            if isinstance(plan, Grid):
                gone = self.values(feature)
                most = plan.points or min(POINTS, DEFAULT_POINTS.get(len(features), POINTS_BEYOND))
                if len(features) > 1:  # cells of enough rows, if rows were spread evenly
                    most = min(most, max(2, int((gone.weights.sum() / self._least) ** (1 / len(features)))))
                points = self.points(feature, most)
                missing = float(gone.weights[gone.column.missing].sum())
                if plan.missing == "show" and missing >= self._least:
                    points = with_missing_last(points)
            else:
                ((points,), _) = self._exact.grids((feature,), {feature.label: wanted}, thresholds)
            grids.append(points)
        return tuple(grids), ""

    def needs_pass(self, features: Sequence[Feature], asked: Any, groups: Groups | None) -> bool:
        given = {feature.label: np.zeros(0) for feature in features}  # values, as far as they are concerned
        return self._exact.needs_pass(features, given, groups)

    def distribution(self, features: Sequence[Feature]) -> Distribution:
        """Histograms between points that may be named, without bins of few rows, and no single value."""
        return Distribution(tuple(map(self._marginal, features)))

    def _marginal(self, feature: Feature) -> Marginal:
        values = self.values(feature)
        column, weights, least = values.column, values.weights, self._least
        total, missing = float(weights.sum()), float(weights[column.missing].sum())
        missing = missing if missing >= least else 0.0
        if feature.kind not in ORDERED_KINDS:
            levels, counts = _level_counts(values)
            named = counts >= least
            return Marginal(feature.label, feature.kind, total, missing, counts[named], levels=levels[named])
        edges = self.points(feature, BINS + 1)
        if len(edges) < 2:
            return Marginal(feature.label, feature.kind, total, missing, np.zeros(0))
        known, known_weights = _known(values)
        bins = np.clip(np.searchsorted(edges, known, side="right") - 1, 0, len(edges) - 2)
        inside = np.bincount(bins, known_weights, minlength=len(edges) - 1)
        counts = np.where(inside >= least, inside, 0.0)
        ends = edges[[0, -1]]
        return Marginal(feature.label, feature.kind, total, missing, counts, edges=edges, deciles=ends)


def _known(values: ColumnValues) -> tuple[NDArray[Any], Float]:
    column, weights = values.column, values.weights
    known = ~column.missing & (weights > 0)
    if column.kind == "float":
        known &= np.isfinite(column.values)
    return column.values[known], weights[known]


def _level_counts(values: ColumnValues) -> tuple[NDArray[Any], Float]:
    levels, known = values.column.levels, ~values.column.missing
    counts = np.bincount(values.column.codes[known], values.weights[known], minlength=len(levels))
    return levels, counts.astype(np.float64)


def rounded_points(values: ColumnValues, least: int, most: int, held_only: bool = False) -> NDArray[Any]:
    """Rising values of a number or time that may be named: with at least this many rows between any two.

    Quantiles that this many rows hold stay; others are rounded to a step (1, 2 or 5 times a power of ten; of times, one
    that clocks and calendars have) of about their distance from their neighbours. Of codes, only those that this many rows hold stay.
    """
    known, weights = _known(values)
    total = float(weights.sum())
    if total < least:
        return known[:0]
    if held_only:
        codes, place = np.unique(known, return_inverse=True)
        return codes[np.bincount(place, weights) >= least]
    parts = max(0, min(most - 1, int(total // least) - 2))
    share = least / total if parts else 0.5
    quantiles = np.unique(weighted_quantiles(known, np.linspace(share, 1.0 - share, parts + 1), weights))
    order = np.argsort(known, kind="stable")
    until = np.insert(np.cumsum(weights[order]), 0, 0.0)
    ends = [np.searchsorted(known[order], quantiles, side=side) for side in ("left", "right")]
    held = until[ends[1]] - until[ends[0]] >= least
    at = quantiles.astype(np.int64 if values.column.kind in TIME_KINDS else known.dtype)
    gaps = np.diff(at.astype(np.float64))
    around = np.minimum(np.append(gaps, np.inf), np.insert(gaps, 0, np.inf))
    around[~np.isfinite(around)] = np.abs(at.astype(np.float64))[~np.isfinite(around)] / 2  # a single point
    whole = values.column.kind != "float"
    steps = np.array([rounding_step(gap, values.column) for gap in around])
    if whole:
        steps = np.maximum(np.round(steps).astype(np.int64), 1)
        rounded = (at.astype(np.int64) + steps // 2) // steps * steps
    else:  # through text, so that 0.3 is not 0.30000000000000004
        rounded = np.array(
            [float(f"{np.round(v / s) * s:.10g}") for v, s in zip(at.astype(np.float64), steps)]
        )
    # Inwards at the ends: what lies beyond them is few rows'.
    rounded = np.where(rounded < at[0], rounded + steps, rounded)
    rounded = np.where(rounded > at[-1], rounded - steps, rounded)
    return np.unique(np.where(held, at, rounded.astype(at.dtype)).astype(quantiles.dtype))


def rounded_means(means: Float, column: Column) -> Float:
    """Means of groups of a column's values to a tenth of their distances, so that none is a single value but by chance."""
    gaps = np.diff(means)
    smallest = float(gaps.min()) if len(gaps) else float(np.abs(means).max(initial=0.0))
    if column.kind in TIME_KINDS:
        step = rounding_step(smallest / FINER, column)
    else:
        step = 10.0 ** np.floor(np.log10(smallest / FINER)) if smallest > 0 else 1.0
    return np.array([float(f"{np.round(value / step) * step:.10g}") for value in means])


def rounding_step(gap: float, column: Column) -> float:
    """The step to which values that lie `gap` apart are rounded, in the column's unit."""
    if column.kind in TIME_KINDS:
        precision, _ = np.datetime_data(column.values.dtype)
        unit = float(np.array(1, "m8[s]") / np.array(1, f"m8[{precision}]"))
        if gap >= DAY * unit:
            return DAY * unit * _nice(gap / (DAY * unit))
        known = [seconds for seconds in SECONDS if seconds * unit <= gap]
        if known:
            return float(known[-1] * unit)
    return _nice(gap)


def _nice(size: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is no larger."""
    if not size > 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(size))
    return float(power * max(factor for factor in (1, 2, 5) if factor * power <= size * (1 + 1e-12)))


class ReleasedRows(Rows):
    """Rows as they are, whose statistics are fit for release."""

    def __init__(self, rows: Rows, least: int, naming: Naming) -> None:
        self._rows, self._least, self._naming = rows, least, naming
        self.label, self.resident = rows.label, rows.resident
        self._statistics = ReleasedStatistics(rows, least, naming)

    @property
    def statistics(self) -> ReleasedStatistics:
        return self._statistics

    def summarise(self, requests: Iterable[GridRequest], threads: int) -> PendingStatistics:
        return _Pending(self._rows.summarise([], threads), self._statistics)

    def grouped(self, by: Any) -> Rows:
        return ReleasedRows(self._rows.grouped(by), self._least, self._naming)

    # Everything else is the rows' own.
    head: Any = property(attrgetter("_rows.head"))
    sample: Any = property(attrgetter("_rows.sample"))
    n_rows: Any = property(attrgetter("_rows.n_rows"))
    groups: Any = property(attrgetter("_rows.groups"))
    n_groups: Any = property(attrgetter("_rows.n_groups"))
    beside: Any = property(attrgetter("_rows.beside"))
    weight_totals: Any = property(attrgetter("_rows.weight_totals"))
    can_count_at_once: Any = property(attrgetter("_rows.can_count_at_once"))
    said: Any = property(attrgetter("_rows.said"))
    identity: Any = property(attrgetter("_rows.identity"))
    fold: Any = property(attrgetter("_rows.fold"))
    check_choice: Any = property(attrgetter("_rows.check_choice"))
    check_row_by_row: Any = property(attrgetter("_rows.check_row_by_row"))


class _Pending(PendingStatistics):
    """Statistics that are still being computed, of which only what is fit for release is given."""

    def __init__(self, pending: PendingStatistics, statistics: ReleasedStatistics) -> None:
        self._pending, self._statistics = pending, statistics

    def __enter__(self) -> PendingStatistics:
        self._pending.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._pending.__exit__(*error)

    def result(self, also: Sequence[Accumulator] = ()) -> tuple[ColumnStatistics, bool]:
        return self._statistics, self._pending.result(also)[1]
