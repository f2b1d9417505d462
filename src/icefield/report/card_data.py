"""What the page draws: the numbers of each feature, surface and set of regions, as short lists.

Times become days since 1970, levels their place on the axis, predictions five digits. Beside its place every
point has a text to read and a value to save. The script on the page only subtracts means and chooses what
to show; it computes nothing a reader would quote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from icefield.counts import counted
from icefield.data.columns import is_missing_value
from icefield.effect import Effect
from icefield.effect.learner_interval import LearnerInterval
from icefield.plots.coordinates import Coordinates
from icefield.plots.ticks import named_ticks
from icefield.report.means import Means
from icefield.report.plain import DIGITS, PLACE_DIGITS, PRINTED, numbers, weighted_bands
from icefield.report.view_model import (
    Ale,
    Axis,
    AxisKind,
    FeaturePanel,
    Group,
    Histogram,
    Interval,
    MeansSeen,
    RegionPanel,
    SurfacePanel,
)
from icefield.statistics.ice_statistics import centred, point_weights, shown_points
from icefield.statistics.support import ale_at
from icefield.typing import Float
from icefield.wording.names import page_name, page_sentence
from icefield.wording.values import named_value, shown_value

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_LEVELS = 40
MIDNIGHT = "T00:00:00"
LEVEL_TEXT = 120  # letters of a level; the script cuts it to the room there is
EXACT_INTEGER = 2**53  # what a script's numbers hold
MANY_CURVES = 12  # outputs times groups: beyond, one digit less keeps the file small
LOG_FACTOR = 20.0  # positive values that span more than this may be seen on a logarithmic axis


class FeatureAxis:
    """The axis of one feature: its values' places, texts and ticks.

    `kept` are the levels shown, which then stand side by side; a level that is not has no place.
    """

    def __init__(self, effect: Effect, which: int = 0, points: NDArray[np.intp] | None = None) -> None:
        self._at = Coordinates([effect], which)
        self.time = self._at.axis_kind == "time"
        if points is not None and not effect.ordered[which]:
            self._at = self._at.categorical([self._at.levels[i] for i in points])
        elif points is not None and as_levels(effect):
            self._at = self._at.categorical(list(effect.grid[which]))

    def on_axis(self, values: NDArray[Any]) -> Float:
        """Places as numbers, NaN for values without one."""
        return np.asarray(self._at.place(values), dtype=np.float64)

    def __call__(self, values: NDArray[Any]) -> list[Any]:
        places = self.on_axis(values)
        if self._at.missing is not None:
            places = np.where(np.isnan(places), self._at.missing, places)
        return list(numbers(places, PLACE_DIGITS))

    def axis(self) -> Axis:
        """The axis as the page's script lays it out: label, kind, ticks, named places, and where missing values stand."""
        axis = self._at.axis()
        missing = self._at.missing
        ticks = axis.ticks if self._at.ordered else [self._at.text(v, LEVEL_TEXT) for v in self._at.levels]
        named = named_ticks(axis.meaning, axis.low or 0.0, self._at.high) if axis.meaning else []
        gone = None if missing is None else numbers(missing, PLACE_DIGITS)
        kind, places = cast(AxisKind, axis.kind), [(at, text) for at, text in named]
        return Axis(axis.label, kind, list(ticks), places, gone)


def as_levels(effect: Effect) -> bool:
    """Whether a feature's values stand side by side: levels do, and numbers of which there are two."""
    two = len(effect.grid[0][shown_points(effect)]) == 2
    return not effect.ordered[0] or (two and effect.kinds[0] in ("integer", "float"))


def feature_panel(
    effect: Effect, ale: Effect | None, seen: Means | None = None, *, curves: int = 0, least: int = 0
) -> FeaturePanel:
    """One feature's card: average, bands, ALE, data, groups, what was observed, and `curves` rows' own curves.

    Shares of fewer than `least` rows are told as none, their means not at all, and bands only with as many rows beyond them.
    """
    points = frequent(effect)
    place = FeatureAxis(effect, points=points)
    own_weights = _padded_weights(effect)
    own_weights[np.nan_to_num(np.asarray(effect.weight if least else 0.0)) < least] = 0.0
    digits = DIGITS - 1 if len(effect.outputs) * len(effect.groups) > MANY_CURVES else DIGITS
    bands = shown = rows = None
    if effect.individual is not None and QUANTILES[0] * effect.individual.shape[1] >= least:
        # Where rows stand is not the feature's doing: bands are of curves less their own means.
        known = effect.individual[..., shown_points(effect)]
        change = effect.individual - (known[..., :1] - centred(known, point_weights(effect))[..., :1])
        bands = short_curves(weighted_bands(change[..., points], effect.row_weights, QUANTILES))
        if curves:
            shown = short_curves(effect.individual[:, :curves][:, :, points])
            rows = [] if effect.rows is None else effect.rows[:curves].tolist()
    return FeaturePanel(
        **_on_axis(effect, place, points),
        error=None if effect.se is None else numbers(effect.se[:, points], 3),
        weight=numbers(own_weights[points] / max(own_weights[points].sum(), 1e-300)),
        support=None if effect.support is None else numbers(effect.support.share[points], 3),
        low=[] if effect.support is None else np.flatnonzero(effect.support.low[points]).tolist(),
        left_out=int(len(effect.grid[0]) - len(points)),
        histogram=_histogram(effect, place, points, least),
        groups=[_group(group, points, digits, _readings(group)) for group in effect.groups.values()],
        log=_wants_log(effect, place),
        interval=None if effect.interval is None else _interval(effect.interval, points),
        bands=bands,
        curves=shown,
        rows=rows,
        ale=None if ale is None else _ale(ale, place, effect, digits),
        observed=None if seen is None else _observed_means(seen, place, effect.grid[0][points], least),
    )


def _on_axis(effect: Effect, place: FeatureAxis, points: NDArray[np.intp]) -> dict[str, Any]:
    """The fields that every panel of a feature's curves has: name, axis, grid points, averages and their means."""
    values = effect.grid[0][points]
    return {
        "name": page_name(effect.naming.name(effect.features[0])),
        "axis": place.axis(),
        "x": place(values),
        "points": texts(effect, values),
        "values": raw(values),
        "average": numbers(effect.average[:, points]),
        "mean": _mean(effect),
    }


def _mean(effect: Effect) -> Any:
    """Mean of each output's average over the data, to eight digits."""
    return numbers(effect.average[:, shown_points(effect)] @ point_weights(effect), 8)


def _interval(bounds: LearnerInterval, points: NDArray[np.intp]) -> Interval:
    ends = np.stack([bounds.low, bounds.high, bounds.band_low, bounds.band_high], axis=1)
    each = f"{bounds.level:.0%} interval of this learner’s expected curve at {counted(bounds.n_rows)} rows"
    note = f"Dashed: {each} at each point; dotted: for the whole curve ({bounds.n_refits} refits). Bias against the truth is not covered."
    return Interval([each, f"{bounds.level:.0%} for the whole curve"], note, numbers(ends[:, :, points], 4))


def _observed_means(seen: Means, place: FeatureAxis, shown: NDArray[Any], least: int) -> MeansSeen:
    """Observed and predicted means of the rows near each place, in the card's own places; of at least this many rows."""
    known, gone = (each and each.of_many(least) for each in (seen.known(shown.tolist()), seen.for_missing()))
    missing = None if gone is None else [numbers(gone.observed[:, 0], 4), numbers(gone.predicted[:, 0], 4)]
    mean = [numbers(level, 8) for level in seen.overall()]
    if known is None:
        return MeansSeen([], [], [], [], [], [], missing, mean)
    at, means = place(known.values), (numbers(known.observed, 4), numbers(known.predicted, 4))
    return MeansSeen(at, known.points, raw(known.values), known.rows.tolist(), *means, missing, mean)


def short_curves(values: Float, digits: int = 4) -> Any:
    """Numbers to this many digits of each output's largest: small ones beside it need not more."""
    rounded = []
    for curves in values:
        known = np.abs(curves[np.isfinite(curves)])
        largest = float(known.max()) if known.size else 0.0
        places = digits - 1 - int(np.floor(np.log10(largest))) if largest > 0 else 0
        # Beyond what rounding can do, the digits themselves are cut.
        rounded.append(np.round(curves, places) if abs(places) < 300 else curves)
    return numbers(np.stack(rounded), digits)


def texts(effect: Effect, values: NDArray[Any], which: int = 0) -> list[str]:
    """The points as a reader sees them."""
    feature = effect.features[which]
    return [named_value(v, effect.naming, feature, lambda x: shown_value(x, LEVEL_TEXT)) for v in values]


def raw(values: NDArray[Any]) -> list[float | int | str | None]:
    """The points as a file holds them: numbers, ISO times, levels as they are, None where missing."""
    cells = [_raw(v) for v in values]
    if values.dtype.kind == "M" and all(v is None or str(v).endswith(MIDNIGHT) for v in cells):
        return [None if v is None else str(v).removesuffix(MIDNIGHT) for v in cells]
    return cells


def _raw(value: Any) -> float | int | str | None:
    if is_missing_value(value):
        return None
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, np.timedelta64):  # an integer to numpy, so it comes first
        return f"PT{value.astype('timedelta64[us]').astype(np.int64) / 1e6:.12g}S"
    if isinstance(value, (int, np.integer)):
        return int(value) if abs(int(value)) <= EXACT_INTEGER else str(int(value))
    if isinstance(value, (float, np.floating)):
        # Through text, so that a float32 has the digits it was given.
        return float(str(value)) if np.isfinite(value) else str(value)
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[us]")).removesuffix(".000000")
    return str(value)


def _readings(sub: Effect) -> list[str]:
    return [page_sentence(reading.sentence, sub.naming.name(sub.features[0])) for reading in sub.reading.each]


def _wants_log(effect: Effect, place: FeatureAxis) -> bool:
    """Whether a card should have a logarithmic axis: it would help, and no value in the data would fall off it."""
    if as_levels(effect) or place.time:
        return False
    at = place.on_axis(effect.grid[0][shown_points(effect)])
    edges = None if effect.distribution is None else effect.distribution.marginals[0].edges
    seen = at if edges is None else np.concatenate([at, place.on_axis(edges)])
    at, seen = at[np.isfinite(at)], seen[np.isfinite(seen)]
    return bool(len(at) and seen.min() > 0 and at.max() > LOG_FACTOR * at.min())


def frequent(effect: Effect) -> NDArray[np.intp]:
    """Grid points to show: all of a number's, the most frequent levels of a category and those that words name.

    Words name the highest and the lowest, of any output.
    """
    size = len(effect.grid[0])
    if effect.ordered[0] or size <= MOST_LEVELS or effect.weight is None:
        return np.arange(size)
    shown = effect.average[:, : size - bool(effect.missing_last[0])]
    known = shown[np.isfinite(shown).any(axis=1)]
    named = np.stack([np.nanargmax(known, axis=1), np.nanargmin(known, axis=1)], axis=1).ravel()
    weight = effect.weight.copy()
    weight[named[: MOST_LEVELS // 2]] = np.inf
    return np.sort(np.argsort(-weight, kind="stable")[:MOST_LEVELS])


def _padded_weights(effect: Effect) -> Float:
    """Weights of all grid points, zero at the missing one: centring leaves it out."""
    weights = np.zeros(len(effect.grid[0]))
    weights[shown_points(effect)] = point_weights(effect)
    return weights


def _histogram(effect: Effect, place: FeatureAxis, points: NDArray[np.intp], least: int) -> Histogram | None:
    """Shares of the data; levels stand at the axis's own places. Those of fewer than `least` rows are told as none."""
    distribution = effect.distribution
    if distribution is None:
        return None
    data = distribution.marginals[0]
    total = max(data.total, 1e-300)
    missing = numbers(data.missing / total, 3)
    if data.edges is None or as_levels(effect):
        weight = effect.weight
        if weight is None:
            return None
        return Histogram(numbers(np.where(weight < least, 0.0, weight)[points] / total, 3), missing)
    if len(data.edges) < 2:
        return Histogram([], missing, [])
    return Histogram(numbers(data.counts / total, 3), missing, place(data.edges))


def _group(effect: Effect, at: NDArray[np.intp], digits: int = DIGITS, readings: Sequence[str] = ()) -> Group:
    return Group(short_curves(effect.average[:, at], digits), _mean(effect), effect.n_rows, list(readings))


def _ale(ale: Effect, place: FeatureAxis, effect: Effect, digits: int) -> Ale:
    """The ALE on the card's axis; levels in the card's order."""
    at = place.on_axis(ale.grid[0])
    known = np.isfinite(at)
    order = np.flatnonzero(known)[np.argsort(at[known], kind="stable")]
    # An ALE is centred over its bins; the card centres both curves over the same points to compare them.
    shown, weights = shown_points(effect), point_weights(effect)
    curves = np.stack([ale_at(ale, o, effect.grid[0][shown]) for o in range(len(ale.outputs))])
    grid, mean = ale.grid[0][order], numbers(np.nan_to_num(curves) @ weights, 8)
    return Ale(place(grid), numbers(ale.average[:, order], digits), mean, raw(grid), ale.n_rows)


def surface_panel(
    effect: Effect,
    singles: tuple[Effect, Effect],
    sizes: Sequence[tuple[float, float]] = (),
    features: Sequence[int] = (),
    least: int = 0,
) -> SurfacePanel:
    """A pair's surface, what is left of it without both one-way effects, and where it lacks data, or `least` rows.

    `sizes` are the interaction and H of each output, `features` the two features' cards.
    """
    places, shown = zip(*((FeatureAxis(effect, i), shown_points(effect, i)) for i in (0, 1)))
    grid = [points[known] for points, known in zip(effect.grid, shown)]
    level = effect.average[:, shown[0]][:, :, shown[1]]
    first, second = (single.average[:, shown_points(single)] for single in singles)
    weight = np.ones(level.shape[1:]) if effect.weight is None else effect.weight[shown]
    weight = np.where(weight < least, 0.0, weight)
    empty = _without_data(weight, effect.ordered)
    weight = weight / weight.sum() if weight.sum() > 0 else np.full(weight.shape, 1.0 / weight.size)
    pure = level - first[:, :, None] - second[:, None, :]
    pure = pure - (pure * weight).sum(axis=(1, 2), keepdims=True)
    return SurfacePanel(
        names=[page_name(effect.naming.name(f)) for f in effect.features],
        axes=[replace(p.axis(), missing=None) for p in places],
        x=places[0](grid[0]),
        y=places[1](grid[1]),
        points=[texts(effect, cells, i) for i, cells in enumerate(grid)],
        values=[raw(cells) for cells in grid],
        level=short_curves(level, DIGITS),
        pure=short_curves(pure),
        low=empty.astype(int).tolist(),
        share=numbers(weight, 3),
        strengths=numbers([size for size, _ in sizes], PRINTED),
        hs=numbers([h for _, h in sizes], PRINTED),
        features=list(features),
        rows=effect.n_rows,
    )


def _without_data(weight: Float, ordered: tuple[bool, ...]) -> NDArray[np.bool_]:
    """Cells of a surface with no row in them nor, along numbers and times, in the cells beside them."""
    seen = weight > 0
    for axis in np.flatnonzero(ordered):
        along = np.moveaxis(seen, axis, 0)
        gap = np.zeros_like(along[:1])  # the ends have one neighbour only
        beside = along | np.concatenate([gap, along[:-1]]) | np.concatenate([along[1:], gap])
        seen = np.moveaxis(beside, 0, axis)
    return ~seen


def regions_panel(effect: Effect) -> RegionPanel:
    """The curve of every region, with the curve over all rows."""
    points = frequent(effect)
    return RegionPanel(
        **_on_axis(effect, FeatureAxis(effect, points=points), points),
        groups=[_group(group, points) for group in effect.groups.values()],
        rules=[page_name(rule, 200) for rule in effect.groups],
    )


def models_panel(effects: Sequence[Effect], readings: Sequence[Sequence[str]]) -> FeaturePanel:
    """One feature in several models, which are the groups of its card, on the first one's grid."""
    first = effects[0]
    points = frequent(first)
    # Means are over the first model's data, as the curves' differences are.
    groups = [
        _group(replace(first, average=effect.average, groups={}), points, readings=sentences)
        for effect, sentences in zip(effects, readings)
    ]
    rows = [replace(group, rows=effect.n_rows) for group, effect in zip(groups, effects)]
    return replace(feature_panel(replace(first, groups={}), None), groups=rows, error=None)
