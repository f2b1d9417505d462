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


class Place:
    """The axis of one feature: its values' places, texts and ticks.

    `kept` are the levels shown, which then stand side by side; a level that is not has no place.
    """

    def __init__(self, effect: Effect, which: int = 0, kept: NDArray[np.intp] | None = None) -> None:
        self._at = Coordinates([effect], which)
        self.time = self._at.axis_kind == "time"
        if kept is not None and not effect.ordered[which]:
            self._at = self._at.categorical([self._at.levels[i] for i in kept])
        elif kept is not None and as_levels(effect):
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
        """What the script needs to lay the axis out."""
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
    kept = frequent(effect)
    place = Place(effect, kept=kept)
    own_weights = _padded_weights(effect)
    own_weights[np.nan_to_num(np.asarray(effect.weight if least else 0.0)) < least] = 0.0
    digits = DIGITS - 1 if len(effect.outputs) * len(effect.groups) > MANY_CURVES else DIGITS
    bands = shown = rows = None
    if effect.individual is not None and QUANTILES[0] * effect.individual.shape[1] >= least:
        # Where rows stand is not the feature's doing: bands are of curves less their own means.
        known = effect.individual[..., shown_points(effect)]
        change = effect.individual - (known[..., :1] - centred(known, point_weights(effect))[..., :1])
        bands = short_curves(weighted_bands(change[..., kept], effect.row_weights, QUANTILES))
        if curves:
            shown = short_curves(effect.individual[:, :curves][:, :, kept])
            rows = [] if effect.rows is None else effect.rows[:curves].tolist()
    return FeaturePanel(
        **_on_axis(effect, place, kept),
        error=None if effect.se is None else numbers(effect.se[:, kept], 3),
        weight=numbers(own_weights[kept] / max(own_weights[kept].sum(), 1e-300)),
        support=None if effect.support is None else numbers(effect.support.share[kept], 3),
        low=[] if effect.support is None else np.flatnonzero(effect.support.low[kept]).tolist(),
        left_out=int(len(effect.grid[0]) - len(kept)),
        histogram=_histogram(effect, place, kept, least),
        groups=[_group(own, kept, digits, _readings(own)) for own in effect.groups.values()],
        log=_wants_log(effect, place),
        interval=None if effect.interval is None else _interval(effect.interval, kept),
        bands=bands,
        curves=shown,
        rows=rows,
        ale=None if ale is None else _ale(ale, place, effect, digits),
        observed=None if seen is None else _observed(seen, place, effect.grid[0][kept], least),
    )


def _on_axis(effect: Effect, place: Place, kept: NDArray[np.intp]) -> dict[str, Any]:
    """What every panel of a feature's curves has."""
    values = effect.grid[0][kept]
    return {
        "name": page_name(effect.naming.name(effect.features[0])),
        "axis": place.axis(),
        "x": place(values),
        "points": texts(effect, values),
        "values": raw(values),
        "average": numbers(effect.average[:, kept]),
        "mean": _mean(effect),
    }


def _mean(effect: Effect) -> Any:
    """The averages' own means."""
    return numbers(effect.average[:, shown_points(effect)] @ point_weights(effect), 8)


def _interval(found: LearnerInterval, kept: NDArray[np.intp]) -> Interval:
    ends = np.stack([found.low, found.high, found.band_low, found.band_high], axis=1)
    each = f"{found.level:.0%} interval of this learner’s expected curve at {counted(found.n_rows)} rows"
    note = f"Dashed: {each} at each point; dotted: for the whole curve ({found.n_refits} refits). Bias against the world is not covered."
    return Interval([each, f"{found.level:.0%} for the whole curve"], note, numbers(ends[:, :, kept], 4))


def _observed(seen: Means, place: Place, shown: NDArray[Any], least: int) -> MeansSeen:
    """Observed and predicted means of the rows near each place, in the card's own places; of at least this many rows."""
    known, gone = (one and one.of_many(least) for one in (seen.known(shown.tolist()), seen.gone()))
    missing = None if gone is None else [numbers(gone.observed[:, 0], 4), numbers(gone.predicted[:, 0], 4)]
    mean = [numbers(one, 8) for one in seen.overall()]
    if known is None:
        return MeansSeen([], [], [], [], [], [], missing, mean)
    at, means = place(known.values), (numbers(known.observed, 4), numbers(known.predicted, 4))
    return MeansSeen(at, known.points, raw(known.values), known.rows.tolist(), *means, missing, mean)


def short_curves(values: Float, digits: int = 4) -> Any:
    """Numbers to this many digits of each output's largest: small ones beside it need not more."""
    rounded = []
    for one in values:
        known = np.abs(one[np.isfinite(one)])
        largest = float(known.max()) if known.size else 0.0
        places = digits - 1 - int(np.floor(np.log10(largest))) if largest > 0 else 0
        # Beyond what rounding can do, the digits themselves are cut.
        rounded.append(np.round(one, places) if abs(places) < 300 else one)
    return numbers(np.stack(rounded), digits)


def texts(effect: Effect, values: NDArray[Any], which: int = 0) -> list[str]:
    """The points as a reader sees them."""
    feature = effect.features[which]
    return [named_value(v, effect.naming, feature, lambda one: shown_value(one, LEVEL_TEXT)) for v in values]


def raw(values: NDArray[Any]) -> list[float | int | str | None]:
    """The points as a file holds them: numbers, ISO times, levels as they are, None where missing."""
    found = [_raw(v) for v in values]
    if values.dtype.kind == "M" and all(v is None or str(v).endswith(MIDNIGHT) for v in found):
        return [None if v is None else str(v).removesuffix(MIDNIGHT) for v in found]
    return found


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


def _readings(own: Effect) -> list[str]:
    return [page_sentence(reading.sentence, own.naming.name(own.features[0])) for reading in own.reading.each]


def _wants_log(effect: Effect, place: Place) -> bool:
    """Whether a logarithmic axis would help, and no value in the data would fall off it."""
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


def _histogram(effect: Effect, place: Place, kept: NDArray[np.intp], least: int) -> Histogram | None:
    """Shares of the data; levels stand at the axis's own places. Those of fewer than `least` rows are told as none."""
    found = effect.distribution
    if found is None:
        return None
    data = found.marginals[0]
    total = max(data.total, 1e-300)
    missing = numbers(data.missing / total, 3)
    if data.edges is None or as_levels(effect):
        own = effect.weight
        if own is None:
            return None
        return Histogram(numbers(np.where(own < least, 0.0, own)[kept] / total, 3), missing)
    if len(data.edges) < 2:
        return Histogram([], missing, [])
    return Histogram(numbers(data.counts / total, 3), missing, place(data.edges))


def _group(own: Effect, kept: NDArray[np.intp], digits: int = DIGITS, readings: Sequence[str] = ()) -> Group:
    return Group(short_curves(own.average[:, kept], digits), _mean(own), own.n_rows, list(readings))


def _ale(ale: Effect, place: Place, effect: Effect, digits: int) -> Ale:
    """The ALE on the card's axis; levels in the card's order."""
    at = place.on_axis(ale.grid[0])
    known = np.isfinite(at)
    order = np.flatnonzero(known)[np.argsort(at[known], kind="stable")]
    # An ALE is centred over its bins; the card centres both curves over the same points to compare them.
    shown, weights = shown_points(effect), point_weights(effect)
    own = np.stack([ale_at(ale, o, effect.grid[0][shown]) for o in range(len(ale.outputs))])
    grid, mean = ale.grid[0][order], numbers(np.nan_to_num(own) @ weights, 8)
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
    places, shown = (Place(effect, 0), Place(effect, 1)), (shown_points(effect, 0), shown_points(effect, 1))
    grid = [points[known] for points, known in zip(effect.grid, shown)]
    level = effect.average[:, shown[0]][:, :, shown[1]]
    first, second = (own.average[:, shown_points(own)] for own in singles)
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
        points=[texts(effect, own, i) for i, own in enumerate(grid)],
        values=[raw(own) for own in grid],
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
    kept = frequent(effect)
    return RegionPanel(
        **_on_axis(effect, Place(effect, kept=kept), kept),
        groups=[_group(own, kept) for own in effect.groups.values()],
        rules=[page_name(rule, 200) for rule in effect.groups],
    )


def models_panel(effects: Sequence[Effect], readings: Sequence[Sequence[str]]) -> FeaturePanel:
    """One feature in several models, which are the groups of its card, on the first one's grid."""
    first = effects[0]
    kept = frequent(first)
    # Means are over the first model's data, as the curves' differences are.
    groups = [
        _group(replace(first, average=own.average, groups={}), kept, readings=said)
        for own, said in zip(effects, readings)
    ]
    rows = [replace(group, rows=own.n_rows) for group, own in zip(groups, effects)]
    return replace(feature_panel(replace(first, groups={}), None), groups=rows, error=None)
