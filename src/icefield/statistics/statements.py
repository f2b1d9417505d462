"""From one output's curves to statements, and which of those another sample of rows could overturn.

`statements_of` compares numbers with thresholds. `on_other_rows` does so again for the same curves with their rows resampled,
as far as rows were sampled at all: a statement that does not survive lies within its sampling error of a
threshold, and is called borderline.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from icefield.statistics.ice_statistics import IceCurves, deviation, opposing_share
from icefield.statistics.shapes import Shape, shape_of
from icefield.statistics.thresholds import THRESHOLDS
from icefield.typing import Float

LEAST_POINTS = 3  # of a range that is read by itself
RESAMPLED = 16
HALVED_FROM = 40  # points of a grid, from which on half of them must tell the same shape
STRAIGHT = 0.99  # share of its variance from which on a line is one, however few points it has
GRID_ERROR = 0.10  # share of a threshold by which the same curves differ from one grid to another


@dataclass(frozen=True, eq=False)
class OutputCurves:
    """One output's average and the rows' own curves along the known points of a feature.

    Where the last point is the `missing` value, it counts in strength and differences, and has no shape.
    """

    x: Float | None  # places along an ordered feature, ascending, without its missing point; None for levels
    average: Float  # ``(points,)``
    weights: Float  # share of the data at each point
    unit: float  # standard deviation of the predictions
    rows: float  # how many stand behind the average
    ice: Float | None = None  # the rows' ICE curves ``(kept, points)``
    row_weights: Float | None = None  # of these
    least_differ: float | None = None  # lower bound of differences where curves were not kept, in units
    explained: float = 0.0  # share of the differences that one column explains
    missing: bool = False

    @property
    def known(self) -> slice:
        """The points that are values."""
        return slice(0, -1) if self.missing else slice(None)

    def without_missing(self) -> OutputCurves:
        """The same curves at the points that are values."""
        if not self.missing:
            return self
        ice = None if self.ice is None else self.ice[:, :-1]
        return replace(
            self, average=self.average[:-1], weights=_shares(self.weights[:-1]), ice=ice, missing=False
        )

    @cached_property
    def ice_curves(self) -> IceCurves | None:
        """The rows' own curves, and what they say together."""
        return None if self.ice is None else IceCurves(self.ice, self.weights, self.row_weights)

    @property
    def differ(self) -> float | None:
        """How much the rows' own curves differ, in units; without any, the lower bound."""
        return self.least_differ if self.ice_curves is None else self.ice_curves.heterogeneity / self.unit

    def explained_to(self, share: float) -> OutputCurves:
        """The same curves, of whose differences one column explains so much; what is known of them stays known."""
        curves = replace(self, explained=share)
        curves.__dict__["ice_curves"] = self.ice_curves
        return curves


@dataclass(frozen=True, eq=False)
class Statements:
    """The statements about one output's curves, with the numbers they rest on."""

    shape: str
    direction: str
    strength: float
    known_strength: float
    flat_limit: float
    first: int
    last: int
    curve_shape: Shape | None
    differ: float | None
    opposing: float | None
    hidden: bool
    heterogeneous: bool


def statements_of(curves: OutputCurves) -> Statements:
    """Compare the numbers with the thresholds."""
    if curves.ice_curves is None:
        return _compare_with_thresholds(curves, curves.differ, None)
    row_weights = np.ones(len(curves.ice_curves.curves)) if curves.row_weights is None else curves.row_weights
    against = opposing_share(curves.ice_curves.scores, row_weights[None])
    return _compare_with_thresholds(curves, curves.differ, float(against[0]))


def _compare_with_thresholds(curves: OutputCurves, differ: float | None, against: float | None) -> Statements:
    """The statements about an average, given how much its rows' curves differ and what share of them runs against the rest."""
    strength = _strength(curves.average, curves.weights, curves.unit)
    every, curves = strength, curves.without_missing()
    strength = _strength(curves.average, curves.weights, curves.unit)
    size = differ or 0.0
    # An average of curves that differ is itself uncertain: a shape within its error is no shape.
    limit = max(THRESHOLDS["flat"], THRESHOLDS["sampling"] * size / np.sqrt(max(curves.rows, 1.0)))
    shape, direction, fit = "flat", "none", None
    first, last = (0, len(curves.average)) if curves.x is None else read_range(curves.weights)
    if strength >= limit and (curves.x is None or len(np.unique(curves.x)) < LEAST_POINTS):
        shape = "levels"
    elif strength >= limit and curves.x is not None:
        inside = slice(first, last)
        # All it does, it may do beyond the usual range.
        beyond = _strength(curves.average[inside], _shares(curves.weights[inside]), curves.unit) < limit
        if beyond:
            first, last = 0, len(curves.average)
            inside = slice(first, last)
        # How far apart two points of the average lie by chance, from how much the rows' curves differ.
        noise = THRESHOLDS["sampling"] * np.sqrt(2.0 / max(curves.rows, 1.0)) * size * curves.unit
        fit = shape_of(curves.x[inside], curves.average[inside], _shares(curves.weights[inside]), noise)
        straight = fit.name == "linear" and fit.linear >= STRAIGHT
        if beyond and fit.name in ("threshold", "linear") and not straight:
            # A few points at the end, the fewer the more a column is rounded, tell no step from a bend.
            fit = replace(fit, name="monotone")
        shape, direction = fit.name, fit.direction
        if shape == "non-monotone" and strength < THRESHOLDS["formless"] * limit:
            limit *= THRESHOLDS["formless"]
            shape, direction, fit = "flat", "none", None
    flat = shape == "flat" and every < limit
    rows = _about_rows(size, every, flat, against or 0.0, curves.explained)
    return Statements(shape, direction, every, strength, limit, first, last, fit, differ, against, *rows)


def _about_rows(
    size: float, strength: float, flat: bool, against: float, explained: float
) -> tuple[bool, bool]:
    """Whether differences of this size are hidden by the average, and whether it should not be read alone."""
    notable = size >= THRESHOLDS["heterogeneous"] and has_a_reason(size, explained)
    most = size**2 >= THRESHOLDS["dominant"] * (size**2 + strength**2)
    aside = most or against >= THRESHOLDS["opposing"]
    hidden = notable and (flat or strength < THRESHOLDS["dwarfed"] * size)
    return hidden, size >= THRESHOLDS["evident"] or (notable and aside)


def read_range(weights: Float) -> tuple[int, int]:
    """The points between which a shape is read: without those that hold only the data's outermost shares.

    The same whether a column has few values or many: rounding must not change what is read.
    """
    size, tail = len(weights), THRESHOLDS["tail"] + 1e-9
    first = int((np.cumsum(weights) <= tail).sum())
    last = size - int((np.cumsum(weights[::-1]) <= tail).sum())
    return (first, last) if last - first >= LEAST_POINTS else (0, size)


def has_a_reason(differ: float, explained: float) -> bool:
    """Whether curves that differ (in SD of the predictions) do so for more than fitted noise.

    A flexible model's curves differ a little everywhere. Large differences speak for themselves, small ones
    only where another column explains a fair share of them.
    """
    return differ >= THRESHOLDS["evident"] or explained >= THRESHOLDS["explained"]


def on_other_rows(
    curves: OutputCurves, statements: Statements, n_rows: int, population: int
) -> dict[str, tuple[str, ...]]:
    """Statements that other rows could overturn, each with what would be said instead.

    Where the `n_rows` that were averaged over are the whole `population`, nothing can be overturned.
    """
    ice_curves = curves.ice_curves
    if ice_curves is None or len(ice_curves.curves) < 2 or population <= len(ice_curves.curves):
        return {}
    n_kept = len(ice_curves.curves)
    # Rows drawn without putting back err less, the more of all rows they are.
    reach = np.sqrt(1.0 - n_kept / population)
    ratio = np.sqrt(max(1.0 / n_rows - 1.0 / population, 0.0) / (1.0 / n_kept - 1.0 / population))
    weights = ice_curves.shares * (1.0 + reach * (_resampled(n_kept) - 1.0))
    change, differ = ice_curves.resampled(weights)
    moved = curves.average + ratio * change
    # Against the pattern of all curves: which way most of them run does not change with a few of them.
    against = opposing_share(ice_curves.scores, weights)
    strength = deviation(moved, curves.weights) / curves.unit
    seen: dict[tuple[str, str, bool, bool], None] = {}
    sizes = strength.tolist(), (differ / curves.unit).tolist(), against.tolist()
    for average, strong, size, share in zip(moved, *sizes):
        if strong < THRESHOLDS["flat"] and not curves.missing:  # then it is flat whatever else there is
            seen["flat", "none", *_about_rows(size, strong, True, share, curves.explained)] = None
        else:
            other = _compare_with_thresholds(replace(curves, average=average), size, share)
            seen[other.shape, other.direction, other.hidden, other.heterogeneous] = None
    now = _in_words(statements.shape, statements.direction, statements.hidden, statements.heterogeneous)
    alternatives: dict[str, dict[str, None]] = {}
    for again in seen:
        for name, then in _in_words(*again).items():
            if now[name] != then:
                alternatives.setdefault(name, {})[then] = None
    return {name: tuple(words) for name, words in alternatives.items()}


@lru_cache(maxsize=8)
def _resampled(n_rows: int) -> NDArray[np.int64]:
    """Bootstrap counts: how often each row is drawn in each of several resamples; the same for every feature."""
    counts = np.random.default_rng(0).multinomial(n_rows, np.full(n_rows, 1.0 / n_rows), size=RESAMPLED)
    counts.flags.writeable = False
    return counts


def on_other_grids(curves: OutputCurves, statements: Statements) -> dict[str, tuple[str, ...]]:
    """Statements that half of the points would overturn, each with what would be said instead."""
    curves = curves.without_missing()
    if curves.x is None or len(curves.x) < HALVED_FROM:
        return {}
    alternatives: dict[str, dict[str, None]] = {}
    for at, near in _halves(len(curves.x)):
        ice = None if curves.ice is None else curves.ice[:, at]
        weights = np.asarray(np.bincount(near, curves.weights, minlength=len(at)), dtype=np.float64)
        half = replace(curves, x=curves.x[at], average=curves.average[at], weights=weights, ice=ice)
        shape, direction = "flat", "none"
        if _strength(half.average, half.weights, half.unit) >= THRESHOLDS["flat"]:
            again = _compare_with_thresholds(half, half.differ, None)
            shape, direction = again.shape, again.direction
        if _kind(statements.shape) != _kind(shape):
            alternatives.setdefault("shape", {})[_kind(shape)] = None
        if statements.direction != direction:
            alternatives.setdefault("direction", {})[direction] = None
    return {name: tuple(seen) for name, seen in alternatives.items()}


@lru_cache(maxsize=8)
def _halves(size: int) -> tuple[tuple[NDArray[np.intp], NDArray[np.intp]], ...]:
    """Every other point, with both ends, and for each point the nearest of these, which takes over its data."""
    halves = []
    for start in (0, 1):
        at = np.unique(np.concatenate([[0], np.arange(start, size, 2), [size - 1]]))
        halves.append((at, np.searchsorted((at[:-1] + at[1:]) / 2, np.arange(size))))
    return tuple(halves)


def near_threshold(curves: OutputCurves, statements: Statements) -> dict[str, tuple[str, ...]]:
    """Statements that another grid could overturn: numbers so near a threshold that where points lie decides."""
    unsure: dict[str, tuple[str, ...]] = {}
    if abs(statements.known_strength / statements.flat_limit - 1.0) < GRID_ERROR:
        unsure["shape"] = ("not flat" if statements.shape == "flat" else "flat",)
    flat = statements.shape == "flat" and statements.strength < statements.flat_limit
    for factor in (1.0 - GRID_ERROR, 1.0 + GRID_ERROR):
        size, against = factor * (statements.differ or 0.0), statements.opposing or 0.0
        hidden, differing = _about_rows(size, statements.strength, flat, against, curves.explained)
        if hidden != statements.hidden:
            unsure["hidden"] = ("nothing hidden" if statements.hidden else "curves differ",)
        if differing != statements.heterogeneous:
            unsure["differ"] = ("rows agree" if statements.heterogeneous else "rows differ",)
    return unsure


def _kind(shape: str) -> str:
    """A shape without the wiggles, which every sample has others of."""
    return shape.removeprefix("mostly ")


def _in_words(shape: str, direction: str, hidden: bool, heterogeneous: bool) -> dict[str, str]:
    return {
        "shape": _kind(shape),
        "direction": direction,
        "hidden": "curves differ" if hidden else "nothing hidden",
        "differ": "rows differ" if heterogeneous else "rows agree",
    }


def _strength(average: Float, weights: Float, unit: float) -> float:
    strength = float(deviation(average, weights)) / unit
    # Equal numbers averaged in another order.
    return 0.0 if strength < 1e-12 * (1.0 + float(np.abs(average).max()) / unit) else strength


def _shares(weights: Float) -> Float:
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))
