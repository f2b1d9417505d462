"""Where two features have data: what of a surface to leave blank, and the data drawn beside or over it.

A surface drawn where no data is invites reading it, so the region without data is found from a hull, from counts,
or from the effect's own support.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import is_missing_value
from icefield.data.distribution import Joint, Marginal
from icefield.effect import Effect
from icefield.errors import InputError, InputTypeError
from icefield.plots.coordinates import Coordinates
from icefield.plots.geometry import convex_hull, occupied
from icefield.plots.options import Options
from icefield.plots.panels import Dots, Float, Margin, Mark
from icefield.plots.series import Series


def mask_of(
    series: Series,
    across: Coordinates,
    up: Coordinates,
    x: Float,
    y: Float,
    order: tuple[int, int],
    options: Options,
) -> tuple[NDArray[np.bool_], Float | None, str]:
    """Grid points to leave blank, a hull to cut at, and what to say about it."""
    shown = np.zeros((len(y), len(x)), dtype=bool)
    low = series.low_support
    mask = options.mask
    if mask == "support" and series.effect.support is None:
        raise InputError.about(
            "mask", "needs an effect with support, and this one has none", mask, "write mask='hull'"
        )
    if low is not None and mask in ("auto", "support"):
        return (low.T if order == (0, 1) else low), None, "blank: little data"
    distribution = series.effect.distribution
    joint = distribution.joint if distribution is not None else None
    if joint is None or mask in ("none", "support"):
        return shown, None, ""
    if mask == "hull" or (mask == "auto" and across.ordered and up.ordered):
        if not (across.ordered and up.ordered):
            raise InputTypeError.about(
                "mask", "needs two features of numbers or times", "hull", "write mask='density'"
            )
        points = np.column_stack(
            [across.place(np.asarray(joint.sample[order[0]])), up.place(np.asarray(joint.sample[order[1]]))]
        )
        hull = convex_hull(points)
        return shown, hull, "" if hull is None else "blank: outside the data's hull"
    blank = _no_rows_nearby(joint, across, up, x, y, order)
    weight = series.effect.weight
    if not across.ordered and not up.ordered and weight is not None and weight.shape == series.average.shape:
        # Between levels nothing is near: the weights of the grid are exact, and know the missing level too.
        blank = np.asarray(weight.T == 0) if order == (0, 1) else np.asarray(weight == 0)
    return blank, None, "blank: no rows" if blank.any() else ""


def _no_rows_nearby(
    joint: Joint, across: Coordinates, up: Coordinates, x: Float, y: Float, order: tuple[int, int]
) -> NDArray[np.bool_]:
    counts = joint.counts if order == (0, 1) else joint.counts.T
    edges = [across.place(np.asarray(joint.edges[order[0]])), up.place(np.asarray(joint.edges[order[1]]))]
    ordered = (across.ordered, up.ordered)
    filled = occupied(counts, edges, ordered, x, y)
    gone = [np.isnan(x), np.isnan(y)]
    for places, flags in zip((across, up), gone):
        if not places.ordered:
            flags |= np.array([is_missing_value(level) for level in places.levels])
    missing = gone[0][None, :] | gone[1][:, None]
    return np.asarray(~filled & ~missing)


def data_marks(
    whole: Effect, across: Coordinates, up: Coordinates, order: tuple[int, int], options: Options
) -> list[Mark]:
    """The data itself: a sample of its points, or both features' distributions on the edges."""
    distribution = whole.distribution
    if distribution is None or options.data == "none":
        return []
    if options.data == "points":
        joint = distribution.joint
        if joint is None:
            return []
        x = across.place(np.asarray(joint.sample[order[0]]))
        y = up.place(np.asarray(joint.sample[order[1]]))
        inside = (x >= across.low) & (x <= across.high) & (y >= up.low) & (y <= up.high)
        return [Dots(x[inside], y[inside], colour="text", size=0.35, alpha=0.35)]
    both = (("top", across, order[0]), ("right", up, order[1]))
    sides = [_margin(side, distribution.marginals[which], places) for side, places, which in both]
    return [margin for margin in sides if margin is not None]


def _margin(side: str, marginal: Marginal, places: Coordinates) -> Margin | None:
    if places.ordered:
        if marginal.edges is None or not marginal.counts.size:
            return None
        edges = places.place(np.asarray(marginal.edges))
        lefts, rights, counts = edges[:-1], edges[1:], marginal.counts
        shown = (rights > places.low) & (lefts < places.high)
        lefts, rights = np.maximum(lefts[shown], places.low), np.minimum(rights[shown], places.high)
        return Margin(side, lefts, rights, counts[shown]) if shown.any() else None
    if marginal.levels is None:
        return None
    at = places.place(np.asarray(marginal.levels))
    known = np.isfinite(at)
    return Margin(side, at[known] - 0.35, at[known] + 0.35, marginal.counts[known]) if known.any() else None
