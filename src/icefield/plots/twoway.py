"""Two features as a panel: contours, cells, a surface, or a curve for some values of the second.

The region without data is left blank by default (`mask`), and the features' own distributions stand on the
edges, because a surface drawn where no data is invites reading it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import is_missing_value
from icefield.data.distribution import Joint, Marginal
from icefield.effect import Effect
from icefield.errors import InputError, InputTypeError, complaint
from icefield.plots.coordinates import Coordinates
from icefield.plots.geometry import convex_hull, inside_polygon, occupied
from icefield.plots.options import TWO_WAY_KINDS, Options
from icefield.plots.panels import (
    Axis,
    ColourScale,
    Dots,
    Field,
    Float,
    Line,
    Margin,
    Mark,
    Panel,
    Rule,
    value_range,
)
from icefield.plots.series import Series
from icefield.wording.labels import average_note, joined, quantity, value_label
from icefield.wording.names import name_text, wrapped
from icefield.wording.values import shown_value

LEVELS_AS_LINES = 7  # a number by more levels than this reads better as cells
SLICES = 5
FINE = 120  # points per axis to which a surface is interpolated, so that masks have smooth edges
WRITTEN_CELLS, WRITTEN_ACROSS = 64, 10  # up to so many cells, and columns of them, carry their numbers


def two_way_panel(
    series: Series, whole: Effect, options: Options, scale: ColourScale, named: bool, title: str = ""
) -> Panel:
    """The panel of two features, for one output of one effect; `scale` may be shared with other panels."""
    kind = chosen_kind(series.effect, options)
    if kind == "lines":
        return _lines_panel(series, whole, options, named, title)
    first, second = (1, 0) if _swapped(series.effect) else (0, 1)
    across = Coordinates([series.effect], first)
    up = Coordinates([series.effect], second)
    x, y = across.place(series.effect.grid[first]), up.place(series.effect.grid[second])
    z = _surface(series, options)
    z = z.T if first == 0 else z
    blank, hull, mask_note = _mask(series, across, up, x, y, (first, second), options)
    note = joined(_surface_note(whole, options), mask_note if kind != "surface" else "")
    if kind == "surface":
        return _solid(across, up, x, y, z, scale, title, note)
    marks: list[Mark] = _fields(across, up, x, y, np.where(blank, np.nan, z), scale, kind, hull)
    marks += _data_marks(whole, across, up, (first, second), options)
    return Panel(
        x=_limits(across, x, kind), y=_limits(up, y, kind), marks=tuple(marks), title=title, note=note, scale=scale
    )  # fmt: skip


def chosen_kind(effect: Effect, options: Options) -> str:
    """Which of the two-way kinds to draw, from what was asked and the features' kinds."""
    if options.kind not in ("auto", *TWO_WAY_KINDS):
        raise InputError(
            complaint(
                "kind", f"must be one of {', '.join(map(repr, TWO_WAY_KINDS))} for two features", options.kind
            )
        )
    if options.data in ("rug", "deciles"):
        raise InputError(
            complaint("data", "must be 'histogram', 'points' or None for two features", options.data)
        )
    both = all(effect.ordered)
    known = [len(g) - gone for g, gone in zip(effect.grid, effect.missing_last)]
    if options.kind == "auto":
        if both:
            return "contour" if min(known) >= 2 else "heatmap"
        levels = [len(g) for g, ordered in zip(effect.grid, effect.ordered) if not ordered]
        return "lines" if any(effect.ordered) and levels[0] <= LEVELS_AS_LINES else "heatmap"
    if options.kind in ("contour", "surface") and not (both and min(known) >= 2):
        raise InputTypeError(
            complaint("kind", "needs two features of numbers or times with at least two grid values each",
                      options.kind, "write kind='heatmap' or kind='lines'")
        )  # fmt: skip
    return options.kind


def _swapped(effect: Effect) -> bool:
    """A number runs along the x axis, whichever feature was named first."""
    return not effect.ordered[0] and effect.ordered[1]


# --- the numbers -----------------------------------------------------------------------------------


def surface_scale(series: Sequence[Series], options: Options, named: bool) -> ColourScale:
    """One colour scale for several surfaces."""
    surfaces = [_surface(one, options) for one in series]
    finite = np.concatenate([s[np.isfinite(s)] for s in surfaces])
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    effect = series[0].effect
    relative = bool(options.interaction) or effect.view != "level" or effect.kind == "ale"
    label = _scale_label(series[0], options, named)
    if relative:
        reach = max(abs(low), abs(high)) or 1.0
        return ColourScale(-reach, reach, label, diverging=True, cmap=options.cmap)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return ColourScale(low, high, label, cmap=options.cmap)


def _scale_label(one: Series, options: Options, named: bool) -> str:
    output = one.output if named else None
    if options.interaction:
        return f"interaction in {quantity(one.effect, output)}"
    return value_label(one.effect, output)


def _surface(one: Series, options: Options) -> Float:
    if options.interaction is False or options.interaction is None:
        return one.average
    return pure_interaction(one, options.interaction)


def pure_interaction(one: Series, curves: Any = True) -> Float:
    """The surface minus both one-way curves, each curve and the surface around its own mean.

    With ``curves=True`` the one-way curves are the surface's own margins, weighted by how much data
    each grid value has; otherwise `curves` are the two one-way Effects, read at the surface's grid.
    """
    surface = one.average
    weight = one.effect.weight
    usable = weight is not None and weight.shape == surface.shape and float(weight.sum()) > 0
    full = np.asarray(weight, dtype=np.float64) if usable else np.ones_like(surface)
    shares = [full.sum(axis=1) / full.sum(), full.sum(axis=0) / full.sum()]
    mean = float(shares[0] @ surface @ shares[1])
    if curves is True:
        rows, columns = surface @ shares[1], shares[0] @ surface
    else:
        rows, columns = _curves_at(one, curves)
        rows, columns = rows - shares[0] @ rows + mean, columns - shares[1] @ columns + mean
    return np.asarray(surface - rows[:, None] - columns[None, :] + mean)


def _curves_at(one: Series, curves: Any) -> tuple[Float, Float]:
    """Both one-way effects at the surface's grid values."""
    effect = one.effect
    try:
        given = {c.features[0]: c for c in curves if c.n_features == 1}
    except (TypeError, AttributeError):
        given = {}
    if set(given) != set(effect.features):
        raise InputError(
            complaint("interaction", f"must be True or the two one-way Effects of {list(effect.features)}",
                      curves, "write interaction=True")
        )  # fmt: skip
    found = []
    for which, feature in enumerate(effect.features):
        curve = given[feature]
        places = Coordinates([curve])
        at, wanted = places.place(curve.grid[0]), places.place(effect.grid[which])
        values = curve.average[min(one.output, len(curve.average) - 1)]
        known = np.isfinite(at)
        order = np.argsort(at[known], kind="stable")
        if places.ordered:
            read = np.interp(wanted, at[known][order], values[known][order])
            if effect.missing_last[which]:
                read[-1] = values[-1] if curve.missing_last[0] else np.nan
        else:
            read = np.array([values[int(p)] if np.isfinite(p) else np.nan for p in wanted])
        found.append(read)
    return found[0], found[1]


def _surface_note(whole: Effect, options: Options) -> str:
    if options.interaction is True:
        return "surface minus its two margins"
    if options.interaction:
        return "surface minus both one-way curves"
    return average_note(whole)


# --- where there is data ---------------------------------------------------------------------------


def _mask(
    one: Series,
    across: Coordinates,
    up: Coordinates,
    x: Float,
    y: Float,
    order: tuple[int, int],
    options: Options,
) -> tuple[NDArray[np.bool_], Float | None, str]:
    """Grid points to leave blank, a hull to cut at, and what to say about it."""
    shown = np.zeros((len(y), len(x)), dtype=bool)
    low = one.low_support
    asked = options.mask
    if asked == "support" and one.effect.support is None:
        raise InputError(
            complaint(
                "mask", "needs an effect with support, and this one has none", asked, "write mask='hull'"
            )
        )
    if low is not None and asked in ("auto", "support"):
        return (low.T if order == (0, 1) else low), None, "blank: little data"
    distribution = one.effect.distribution
    joint = distribution.joint if distribution is not None else None
    if joint is None or asked in ("none", "support"):
        return shown, None, ""
    if asked == "hull" or (asked == "auto" and across.ordered and up.ordered):
        if not (across.ordered and up.ordered):
            raise InputTypeError(
                complaint("mask", "needs two features of numbers or times", "hull", "write mask='density'")
            )
        points = np.column_stack(
            [across.place(np.asarray(joint.sample[order[0]])), up.place(np.asarray(joint.sample[order[1]]))]
        )
        hull = convex_hull(points)
        return shown, hull, "" if hull is None else "blank: outside the data's hull"
    blank = _no_rows_nearby(joint, across, up, x, y, order)
    weight = one.effect.weight
    if not across.ordered and not up.ordered and weight is not None and weight.shape == one.average.shape:
        # Between levels nothing is near: the weights of the grid are exact, and know the missing level too.
        blank = np.asarray(weight.T == 0) if order == (0, 1) else np.asarray(weight == 0)
    return blank, None, "blank: no rows" if blank.any() else ""


def _no_rows_nearby(
    joint: Joint, across: Coordinates, up: Coordinates, x: Float, y: Float, order: tuple[int, int]
) -> NDArray[np.bool_]:
    counts = joint.counts if order == (0, 1) else joint.counts.T
    edges = [across.place(np.asarray(joint.edges[order[0]])), up.place(np.asarray(joint.edges[order[1]]))]
    ordered = (across.ordered, up.ordered)
    found = occupied(counts, edges, ordered, x, y)
    gone = [np.isnan(x), np.isnan(y)]
    for places, flags in zip((across, up), gone):
        if not places.ordered:
            flags |= np.array([is_missing_value(level) for level in places.levels])
    missing = gone[0][None, :] | gone[1][:, None]
    return np.asarray(~found & ~missing)


def _data_marks(
    whole: Effect, across: Coordinates, up: Coordinates, order: tuple[int, int], options: Options
) -> list[Mark]:
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
    sides: list[Mark] = []
    for side, places, which in (("top", across, order[0]), ("right", up, order[1])):
        margin = _margin(side, distribution.marginals[which], places)
        if margin is not None:
            sides.append(margin)
    return sides


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
    kept = np.isfinite(at)
    return Margin(side, at[kept] - 0.35, at[kept] + 0.35, marginal.counts[kept]) if kept.any() else None


# --- marks -----------------------------------------------------------------------------------------


def _fields(
    across: Coordinates,
    up: Coordinates,
    x: Float,
    y: Float,
    z: Float,
    scale: ColourScale,
    kind: str,
    hull: Float | None,
) -> list[Mark]:
    """The block of known values, and the rows and columns of missing ones set apart from it."""
    marks: list[Mark] = []
    known_x, known_y = np.flatnonzero(np.isfinite(x)), np.flatnonzero(np.isfinite(y))
    known_x = known_x[np.argsort(x[known_x], kind="stable")]
    known_y = known_y[np.argsort(y[known_y], kind="stable")]
    written = z.size <= WRITTEN_CELLS and len(x) <= WRITTEN_ACROSS and not (across.ordered and up.ordered)
    block = z[np.ix_(known_y, known_x)]
    if kind == "contour":
        marks.append(_contour(x[known_x], y[known_y], block, scale, hull))
    else:
        if hull is not None:
            outside = ~inside_polygon(hull, x[known_x], y[known_y])
            block = np.where(outside, np.nan, block)
        edges_x, edges_y = _cell_edges(x[known_x], across), _cell_edges(y[known_y], up)
        marks.append(Field(edges_x, edges_y, block, scale, values=written))
    gone_x, gone_y = np.flatnonzero(np.isnan(x)), np.flatnonzero(np.isnan(y))
    if len(gone_x) and across.missing is not None:
        edges_y = _cell_edges(y[known_y], up)
        marks.append(Field(_missing_cell(across), edges_y, z[np.ix_(known_y, gone_x)], scale, values=written))
    if len(gone_y) and up.missing is not None:
        edges_x = _cell_edges(x[known_x], across)
        marks.append(Field(edges_x, _missing_cell(up), z[np.ix_(gone_y, known_x)], scale, values=written))
    if len(gone_x) and len(gone_y) and across.missing is not None and up.missing is not None:
        corner = z[np.ix_(gone_y, gone_x)]
        marks.append(Field(_missing_cell(across), _missing_cell(up), corner, scale, values=written))
    return marks


def _contour(x: Float, y: Float, z: Float, scale: ColourScale, hull: Float | None) -> Field:
    """Interpolated to a fine grid, so that blank stretches and a hull end smoothly in every backend."""
    fine_x, fine_y = _refined(x), _refined(y)
    rows = np.array([np.interp(fine_x, x, row) for row in z])
    fine = np.array([np.interp(fine_y, y, column) for column in rows.T]).T
    return Field(fine_x, fine_y, fine, scale, style="contour", hull=hull)


def _refined(x: Float) -> Float:
    per_gap = max(1, -(-FINE // max(1, len(x) - 1)))
    steps = np.arange(per_gap) / per_gap
    inner = (x[:-1, None] + np.diff(x)[:, None] * steps).ravel()
    return np.append(inner, x[-1])


def _cell_edges(x: Float, places: Coordinates) -> Float:
    """Cells reach halfway to their neighbours."""
    if not places.ordered:
        return np.append(x - 0.5, x[-1] + 0.5)
    if len(x) == 1:
        return np.array([x[0] - 0.5, x[0] + 0.5])
    middle = (x[:-1] + x[1:]) / 2
    return np.concatenate([[2 * x[0] - middle[0]], middle, [2 * x[-1] - middle[-1]]])


def _missing_cell(places: Coordinates) -> Float:
    at = places.high if places.missing is None else places.missing
    half = (at - places.high) * 0.35
    return np.array([at - half, at + half])


def _limits(places: Coordinates, x: Float, kind: str) -> Axis:
    """The axis ends where the field ends."""
    axis = places.axis()
    known = np.sort(x[np.isfinite(x)])
    if kind == "contour" or not len(known):
        low, high = places.low, places.high
    else:
        edges = _cell_edges(known, places)
        low, high = float(edges[0]), float(edges[-1])
    if places.missing is not None:
        high = float(_missing_cell(places)[1])
    ticks = tuple(wrapped(t, 18) for t in axis.ticks)
    return replace(axis, low=low, high=high, ticks=ticks)


def _solid(
    across: Coordinates,
    up: Coordinates,
    x: Float,
    y: Float,
    z: Float,
    scale: ColourScale,
    title: str,
    note: str,
) -> Panel:
    kept_x, kept_y = np.isfinite(x), np.isfinite(y)
    order_x, order_y = np.argsort(x[kept_x], kind="stable"), np.argsort(y[kept_y], kind="stable")
    block = z[kept_y][:, kept_x][order_y][:, order_x]
    field = Field(x[kept_x][order_x], y[kept_y][order_y], block, scale, style="surface")
    return Panel(
        x=replace(across.axis(), high=across.high, missing=None),
        y=replace(up.axis(), high=up.high, missing=None),
        marks=(field,),
        title=title,
        note=note,
        scale=scale,
        z=Axis(scale.label, low=scale.low, high=scale.high),
    )


# --- lines -----------------------------------------------------------------------------------------


def _lines_panel(series: Series, whole: Effect, options: Options, named: bool, title: str) -> Panel:
    """A curve of one feature for some values of the other."""
    effect = series.effect
    first, second = (1, 0) if _swapped(effect) else (0, 1)
    across, by = Coordinates([effect], first), Coordinates([effect], second)
    x, other = across.place(effect.grid[first]), effect.grid[second]
    z = _surface(series, options)
    z = z if first == 0 else z.T
    chosen = _slices(by, other)
    sequential = by.ordered
    order = np.argsort(x, kind="stable")
    order = order[np.isfinite(x[order])]
    marks: list[Mark] = []
    above: list[Mark] = []
    for number, at in enumerate(chosen):
        gone = by.ordered and not np.isfinite(by.place(other[at : at + 1])[0])
        colour: Any = number
        if sequential and not gone:
            colour = f"sequential:{number / max(1, len(chosen) - 1):.3f}"
        label = shown_value(other[at])
        if across.ordered:
            marks.append(
                Line(x[order], z[order, at], colour=colour, label=label, step="pre" if effect.steps else None)
            )
            if across.missing is not None:
                above.append(Dots(np.array([across.missing]), z[-1:, at], colour=colour))
        else:
            marks.append(Line(x[order], z[order, at], colour=colour, label=label, markers=True))
    relative = bool(options.interaction) or effect.view != "level" or effect.kind == "ale"
    rules: list[Mark] = [Rule(y=0.0)] if relative else []
    if across.missing is not None:
        rules.append(Rule(x=(across.high + across.missing) / 2, dashed=True))
    everything = [*rules, *marks, *above]
    low, high = value_range(everything) or (0.0, 1.0)
    ticks = tuple(wrapped(t, 14) for t in across.axis().ticks)
    return Panel(
        x=replace(across.axis(), ticks=ticks),
        y=Axis(_scale_label(series, options, named), low=low, high=high),
        marks=tuple(everything),
        title=title,
        note=_surface_note(whole, options),
        legend_title=name_text(by.feature, 30),
    )


def _slices(by: Coordinates, values: NDArray[Any]) -> list[int]:
    """Which values of the second feature get a curve: all levels, or a few evenly chosen numbers."""
    if not by.ordered:
        return list(range(len(values)))
    at = by.place(values)
    known = np.flatnonzero(np.isfinite(at))
    known = known[np.argsort(at[known], kind="stable")]
    picked = np.unique(np.linspace(0, len(known) - 1, min(SLICES, len(known))).round().astype(int))
    return [*known[picked].tolist(), *np.flatnonzero(~np.isfinite(at)).tolist()]
