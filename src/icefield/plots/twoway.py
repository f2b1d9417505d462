"""Two features as a panel: contours, cells, a surface, or a curve for some values of the second.

The region without data is left blank by default (`mask`), and the features' own distributions stand on the
edges, because a surface drawn where no data is invites reading it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.effect import Effect
from icefield.errors import InputError, InputTypeError
from icefield.plots.coordinates import Coordinates, in_order
from icefield.plots.data_regions import data_marks, mask_of
from icefield.plots.geometry import inside_polygon
from icefield.plots.options import TWO_WAY_KINDS, Options, check_kind
from icefield.plots.panels import (
    Axis,
    ColourScale,
    Dots,
    Field,
    Float,
    Line,
    Mark,
    Panel,
    Rule,
    value_range,
)
from icefield.plots.series import Series, pattern
from icefield.plots.surfaces import scale_label, surface_note, surface_of
from icefield.wording.labels import feature_label, joined
from icefield.wording.names import wrapped

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
    z = surface_of(series, options)
    z = z.T if first == 0 else z
    blank, hull, mask_note = mask_of(series, across, up, x, y, (first, second), options)
    note = joined(surface_note(whole, options), mask_note if kind != "surface" else "")
    if kind == "surface":
        known_x, known_y = in_order(x), in_order(y)
        field = Field(x[known_x], y[known_y], z[np.ix_(known_y, known_x)], scale, style="surface")
        along, aside = (replace(places.axis(), high=places.high, missing=None) for places in (across, up))
        height = Axis(scale.label, low=scale.low, high=scale.high)
        return Panel(along, aside, (field,), title=title, note=note, scale=scale, z=height)
    marks: list[Mark] = _fields(across, up, x, y, np.where(blank, np.nan, z), scale, kind, hull)
    marks += data_marks(whole, across, up, (first, second), options)
    return Panel(
        x=_limits(across, x, kind), y=_limits(up, y, kind), marks=tuple(marks), title=title, note=note, scale=scale
    )  # fmt: skip


def chosen_kind(effect: Effect, options: Options) -> str:
    """Which of the two-way kinds to draw, from what was asked and the features' kinds."""
    check_kind(options, TWO_WAY_KINDS, "two features")
    if options.data in ("rug", "deciles"):
        raise InputError.about("data", "must be 'histogram', 'points' or None for two features", options.data)
    both = all(effect.ordered)
    known = [len(g) - gone for g, gone in zip(effect.grid, effect.missing_last)]
    if options.kind == "auto":
        if both:
            return "contour" if min(known) >= 2 else "heatmap"
        levels = [len(g) for g, ordered in zip(effect.grid, effect.ordered) if not ordered]
        return "lines" if any(effect.ordered) and levels[0] <= LEVELS_AS_LINES else "heatmap"
    if options.kind in ("contour", "surface") and not (both and min(known) >= 2):
        raise InputTypeError.about("kind", "needs two features of numbers or times with at least two grid values each",
                                options.kind, "write kind='heatmap' or kind='lines'")  # fmt: skip
    return options.kind


def _swapped(effect: Effect) -> bool:
    """A number runs along the x axis, whichever feature was named first."""
    return not effect.ordered[0] and effect.ordered[1]


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
    known_x, known_y = in_order(x), in_order(y)
    written = z.size <= WRITTEN_CELLS and len(x) <= WRITTEN_ACROSS and not (across.ordered and up.ordered)
    columns = [(known_x, _cell_edges(x[known_x], across)), *_missing_column(across, x)]
    rows = [(known_y, _cell_edges(y[known_y], up)), *_missing_column(up, y)]
    marks: list[Mark] = []
    for (its_rows, edges_y), (its_columns, edges_x) in product(rows, columns):
        block = z[np.ix_(its_rows, its_columns)]
        if not marks and kind == "contour":
            marks.append(_contour(x[known_x], y[known_y], block, scale, hull))
            continue
        if not marks and hull is not None:
            outside = ~inside_polygon(hull, x[known_x], y[known_y])
            block = np.where(outside, np.nan, block)
        marks.append(Field(edges_x, edges_y, block, scale, values=written))
    return marks


def _missing_column(places: Coordinates, x: Float) -> list[tuple[NDArray[np.intp], Float]]:
    """Where the missing value is in the grid, and the edges of its cell."""
    gone = np.flatnonzero(np.isnan(x))
    return [(gone, _missing_cell(places))] if len(gone) and places.missing is not None else []


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


# --- lines -----------------------------------------------------------------------------------------


def _lines_panel(series: Series, whole: Effect, options: Options, named: bool, title: str) -> Panel:
    """A curve of one feature for some values of the other."""
    effect = series.effect
    first, second = (1, 0) if _swapped(effect) else (0, 1)
    across, by = Coordinates([effect], first), Coordinates([effect], second)
    x, other = across.place(effect.grid[first]), effect.grid[second]
    z = surface_of(series, options)
    z = z if first == 0 else z.T
    chosen = _slices(by, other)
    sequential, labels = by.ordered, by.texts([other[at] for at in chosen])
    order = in_order(x)
    marks: list[Mark] = []
    above: list[Mark] = []
    for number, at in enumerate(chosen):
        gone = by.ordered and not np.isfinite(by.place(other[at : at + 1])[0])
        colour: Any = number
        if sequential and not gone:
            colour = f"sequential:{number / max(1, len(chosen) - 1):.3f}"
        dashed = 0 if sequential else pattern(number, len(chosen))
        shared: dict[str, Any] = {"colour": colour, "label": labels[number], "dashed": dashed}
        step: Any = "pre" if effect.steps and across.ordered else None
        marks.append(Line(x[order], z[order, at], step=step, markers=not across.ordered, **shared))
        if across.missing is not None:
            above.append(Dots(np.array([across.missing]), z[-1:, at], colour=colour, pattern=dashed))
    relative = bool(options.interaction) or effect.view != "level" or effect.kind == "ale"
    rules: list[Mark] = [Rule(y=0.0)] if relative else []
    if across.missing is not None:
        rules.append(Rule(x=(across.high + across.missing) / 2, dashed=True))
    everything = [*rules, *marks, *above]
    low, high = value_range(everything) or (0.0, 1.0)
    ticks = tuple(wrapped(t, 14) for t in across.axis().ticks)
    return Panel(
        x=replace(across.axis(), ticks=ticks),
        y=Axis(scale_label(series, options, named), low=low, high=high),
        marks=tuple(everything),
        title=title,
        note=surface_note(whole, options),
        legend_title=feature_label(by.naming, by.feature, 30),
    )


def _slices(by: Coordinates, values: NDArray[Any]) -> list[int]:
    """Which values of the second feature get a curve: all levels, or a few evenly chosen numbers."""
    if not by.ordered:
        return list(range(len(values)))
    at = by.place(values)
    known = in_order(at)
    picked = np.unique(np.linspace(0, len(known) - 1, min(SLICES, len(known))).round().astype(int))
    return [*known[picked].tolist(), *np.flatnonzero(~np.isfinite(at)).tolist()]
