"""One feature as a panel: curves for numbers and times, dots or bars for levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from icefield.data.columns import NUMERIC_KINDS
from icefield.data.distribution import Marginal
from icefield.effect import Effect
from icefield.plots.coordinates import MISSING_GAP, Coordinates
from icefield.plots.individual import Colouring, drawn_points, individual_marks
from icefield.plots.levels import Levels, order_levels
from icefield.plots.options import ONE_WAY_KINDS, Options, check_kind
from icefield.plots.panels import (
    SIDE,
    Axis,
    Band,
    Bars,
    Colour,
    Curves,
    Dots,
    EdgeText,
    Field,
    Float,
    Line,
    Mark,
    Panel,
    Rug,
    Rule,
    Strip,
    value_range,
)
from icefield.plots.series import Series
from icefield.wording.labels import average_note, joined, spread_note, value_label
from icefield.wording.names import wrapped
from icefield.wording.values import count_text, number_text

LOG_BINS = 25
MOST_ROWS = 0.99  # an axis may end where so many rows lie before,
LONG_TAIL = 2.0  # if that makes it so many times shorter,
FLAT = 0.02  # and the curve moves by no more than this share of its range beyond
FEW_WHOLE = 30  # whole numbers whose bars stand around them
MISSING_BAR = 0.0135  # half the width of the bar of missing rows, as a share of the axis
UNSEEN = 0.004  # of the curve's range: a band of less is no wider than the line
FEW_POINTS = 13  # numeric grids this small show their points
AROUND = 0.12  # opacity of the band of whole curves
LETTERS_PER_INCH = 10  # of small print, side by side with some room
MANY_BANDS = 3  # more bands than this cover each other
BRIEFLY = {
    "centered": "± 1 SD of centred ICE curves",
    "std": "± 1 SD over rows",
    "se": "± 2 standard errors",
    "interval": "intervals of the learner's curve",
    "simultaneous": "interval of the learner's whole curve",
}
UPRIGHT_LEVELS, UPRIGHT_TEXT = 8, 14  # beyond either, levels are listed down the side


def one_way_panel(
    series: Sequence[Series], whole: Effect, options: Options, named: bool, legend_title: str = ""
) -> Panel:
    """The panel of one feature: series in drawing order, and where the data of the `whole` effect is.

    `named`: the value axis names the output, which a legend or titles do otherwise. `legend_title` is what the labels are values of.
    """
    check_kind(options, ONE_WAY_KINDS, "one feature")
    effects = [s.effect for s in series]
    # The whole knows the order of all levels, of which a group or a model may have only some.
    places = Coordinates(effects if all(whole.ordered) else [whole, *effects], scale=options.x_scale)
    label = value_label(series[0].effect, series[0].output if named else None)
    can_be_line = places.ordered and options.kind in ("auto", "line")
    as_line = can_be_line and not (options.kind == "auto" and _two_valued(whole))
    panel = (_numeric_panel if as_line else _level_panel)(series, whole, places, options)
    return replace(panel, y=replace(panel.y, label=label), legend_title=legend_title or panel.legend_title)


def _two_valued(whole: Effect) -> bool:
    """Whether the feature is a number of two values, between which there is nothing that a line could show."""
    if whole.kinds[0] not in NUMERIC_KINDS or whole.view == "derivative" or whole.distribution is None:
        return False
    seen, grid = whole.distribution.marginals[0].rug, np.asarray(whole.grid[0], dtype=np.float64)
    values = np.unique(grid[np.isfinite(grid)])
    return seen is not None and len(values) == 2 and bool(np.isin(np.unique(seen), values).all())


# --- numbers and times -----------------------------------------------------------------------------


def _numeric_panel(series: Sequence[Series], whole: Effect, places: Coordinates, options: Options) -> Panel:
    below: list[Mark] = []
    lines: list[Mark] = []
    above: list[Mark] = []
    places, beyond = _where_most_rows_are(series, whole, places, options)
    colouring, many = Colouring(), ""
    spreads = [s.spread(_asked_spread(series, options)) for s in series]
    for curve, spread in zip(series, spreads):
        at = places.place(curve.effect.grid[0])
        x, order = drawn_points(at, places, curve.effect.steps)
        step: Literal["pre"] | None = "pre" if curve.effect.steps else None
        if len(series) == 1 or options.curves in ("lines", "density"):
            under, over, colouring, many = individual_marks(curve, at, places, options)
            below += under
            above += over
        interval = curve.interval(spread)
        around = curve.interval("simultaneous") if spread == "interval" else None
        # That of the whole curve lies below that of each point.
        for ends, alpha in ((around, AROUND), (interval, Band.alpha)):
            if ends is not None:
                below.append(Band(x, ends[0][order], ends[1][order], curve.colour, step, alpha))
        faded = curve.low_support
        lines.append(
            Line(
                x,
                curve.average[order],
                colour=_average_colour(curve, below),
                label=curve.label if curve.label is not None else ("average" if above else None),
                dashed=curve.dashed,
                width=1.5 if any(isinstance(m, Curves) for m in below) else 1.25,
                step=step,
                faded=None if faded is None else faded[order],
                markers=len(order) <= FEW_POINTS and step is None,
                halo=any(isinstance(m, (Field, Curves)) for m in below),
            )
        )
        if places.missing is not None and curve.effect.missing_last[0]:
            least, most = (None, None) if interval is None else (interval[0][-1:], interval[1][-1:])
            x, y, colour = np.array([places.missing]), curve.average[-1:], _average_colour(curve, below)
            above.append(Dots(x, y, colour, low=least, high=most, size=1.1, pattern=curve.dashed))
    rules = _zero(series)
    if places.missing is not None:
        rules.append(Rule(x=places.beyond(places.high, MISSING_GAP / 2), dashed=True))
    marks = [*below, *rules, *lines, *above]
    axis = _without_negative(places, places.axis(), lines)
    axis = replace(axis, label=f"{axis.label}\u2002({beyond})") if beyond and axis.label else axis
    low, high = value_range(marks) or (0.0, 1.0)
    note, band = _note(series, spreads[0], whole, options)
    return Panel(
        x=axis,
        y=Axis(low=low, high=high),
        marks=(*_where_data_is(whole, places, options), *marks),
        note=joined(many, note),
        band=band,
        legend_title=colouring.title,
        scale=colouring.scale,
    )


def _where_most_rows_are(
    series: Sequence[Series], whole: Effect, places: Coordinates, options: Options
) -> tuple[Coordinates, str]:
    """The axis without a long tail of few rows along which the curves are flat, and what is said of that tail."""
    everything = places, ""
    weight = whole.weight
    curves = any(curve.individual is not None for curve in series) and options.curves != "none"
    if (
        options.x_scale != "auto" or places.log or curves or places.axis_kind not in ("number", "integer")
        or any(curve.effect.own_grid for curve in series) or weight is None or weight.shape != whole.grid[0].shape
    ):  # fmt: skip
        return everything
    x, order = drawn_points(places.place(whole.grid[0]), places, False)
    if len(x) <= FEW_POINTS or not weight[order].sum() > 0:
        return everything
    last = int(np.searchsorted(np.cumsum(weight[order]) / weight[order].sum(), MOST_ROWS))
    end = float(x[min(last, len(x) - 1)])
    if places.high - places.low < LONG_TAIL * (end - places.low) or not all(
        _flat_beyond(curve, places, end) for curve in series
    ):
        return everything
    share = 100 * (1 - np.cumsum(weight[order])[last] / weight[order].sum())
    rows = "1 %" if share >= 0.75 else f"{number_text(max(share, 0.01), 1)} %"
    return places.up_to(end), f"{rows} of rows beyond, flat up to {number_text(places.high)}"


def _flat_beyond(curve: Series, places: Coordinates, end: float) -> bool:
    """Whether a curve hardly moves from here to the end of the axis."""
    x, order = drawn_points(places.place(curve.effect.grid[0]), places, False)
    y = curve.average[order]
    tail = y[x >= end]
    return bool(len(tail) and np.isfinite(y).all() and np.ptp(tail) <= FLAT * np.ptp(y))


def _without_negative(places: Coordinates, axis: Axis, lines: Sequence[Mark]) -> Axis:
    """An axis of numbers that are never negative does not begin below zero, where no point or bar needs the room."""
    span = places.high - places.low
    crosses = axis.kind in ("number", "integer") and places.low >= 0 > places.low - SIDE * span
    dots = any(isinstance(mark, Line) and mark.markers for mark in lines)
    return replace(axis, tight=crosses and not dots and not (axis.kind == "integer" and span < FEW_WHOLE))


def _average_colour(curve: Series, below: list[Mark]) -> Colour:
    """The average's colour: that of text over curves that already carry the palette's colours."""
    coloured = any(
        isinstance(m, Field) or (isinstance(m, Curves) and (m.slots or m.values is not None)) for m in below
    )
    return "text" if coloured and curve.label is None else curve.colour


def _asked_spread(series: Sequence[Series], options: Options) -> str:
    return "none" if options.band == "auto" and len(series) > MANY_BANDS else options.band


def _zero(series: Sequence[Series]) -> list[Mark]:
    """A rule at zero for changes, slopes and accumulated effects, which are read against it; else nothing."""
    relative = any(s.effect.view != "level" or s.effect.kind == "ale" for s in series)
    return [Rule(y=0.0)] if relative else []


def _note(
    series: Sequence[Series], spread: str, whole: Effect, options: Options, mark: str = "band"
) -> tuple[str, str]:
    """The panel's note, and the part of it that explains the band: briefly where there is little room."""
    band = spread_note(spread, series[0].effect, mark)
    if band and options.is_small and spread in BRIEFLY:
        band = f"{mark}: {BRIEFLY[spread]}"
    if spread == "centered" and all(map(_parallel, series)):
        band = f"no {mark}: the rows' curves run parallel"
    parts = [average_note(whole), band]
    if any(s.low_support is not None for s in series):
        parts.append("faint: little data")
    elif any(s.unsupported for s in series):
        parts.append("little data behind all of it")
    return joined(*parts), band


def _parallel(curve: Series) -> bool:
    """Whether rows respond so much alike that a band of their differences cannot be seen."""
    spread, average = curve.effect.centered_std, curve.average
    if spread is None or not np.isfinite(spread[curve.output]).any():
        return False
    return bool(np.nanmax(spread[curve.output]) < UNSEEN * np.ptp(average[np.isfinite(average)]))


# --- where the data is -----------------------------------------------------------------------------


def _where_data_is(whole: Effect, places: Coordinates, options: Options) -> list[Mark]:
    if whole.distribution is None or options.data in ("none", "points"):
        return []
    marginal = whole.distribution.marginals[0]
    if options.data == "rug" and marginal.rug is not None:
        return [Rug(_inside(places.place(np.asarray(marginal.rug)), places))]
    if options.data == "deciles" and marginal.deciles is not None:
        inner = places.place(np.asarray(marginal.deciles))[1:-1]
        return [Rug(_inside(np.unique(inner), places), height=0.045, alpha=0.8, name="deciles")]
    strip = _strip(marginal, places)
    return [] if strip is None else [strip]


def _inside(x: Float, places: Coordinates) -> Float:
    return x[(x >= places.low) & (x <= places.high)]


def _strip(marginal: Marginal, places: Coordinates) -> Strip | None:
    """The histogram between the first and the last grid value, and the missing rows at their place."""
    if marginal.edges is None or not marginal.counts.size:
        return None
    edges, own_counts = places.place(np.asarray(marginal.edges)), marginal.counts
    cut = not places.log and float(edges[-1]) > LONG_TAIL * places.high
    if (places.log or cut) and marginal.rug is not None:
        # Bins of one width would be bars of very different ones on a logarithmic axis, and too few where the axis ends early.
        values = _inside(places.place(np.asarray(marginal.rug)), places)
        edges = (np.geomspace if places.log else np.linspace)(places.low, places.high, LOG_BINS + 1)
        own_counts = np.histogram(values, edges)[0] * (marginal.counts.sum() / max(1, len(marginal.rug)))
    lefts, rights = edges[:-1], edges[1:]
    shown = (rights > places.low) & (lefts < places.high)
    if not shown.any():
        return None
    slack = 0.5 if places.axis_kind == "integer" and not places.log else 0.0
    lefts = np.maximum(lefts[shown], places.low - slack)
    rights = np.minimum(rights[shown], places.high + slack)
    counts = own_counts[shown]
    if places.missing is not None and marginal.missing > 0:
        lefts = np.append(lefts, places.beyond(places.missing, -MISSING_BAR))
        rights = np.append(rights, places.beyond(places.missing, MISSING_BAR))
        # Against the tallest bin, whose width is a matter of taste, a large missing share would flatten all others.
        counts = np.append(counts, min(marginal.missing, counts.max()))
    return Strip(lefts, rights, counts)


# --- levels ----------------------------------------------------------------------------------------


def _level_panel(series: Sequence[Series], whole: Effect, places: Coordinates, options: Options) -> Panel:
    levels = order_levels(series, whole, places, options)
    spread_asked = _asked_spread(series, options)
    offsets = np.linspace(-0.5, 0.5, 2 * len(series) + 1)[1::2] * 0.8 if len(series) > 1 else np.zeros(1)
    room = 0.8 / len(series)
    below: list[Mark] = []
    marks: list[Mark] = []
    above: list[Mark] = []
    colouring, many = Colouring(), ""
    spread = "none"
    for curve, offset in zip(series, offsets):
        spread = curve.spread(spread_asked)
        average, *bounds = levels.values(curve, spread)
        if len(series) == 1 and levels.rest is None:
            under, above, colouring, many = individual_marks(curve, levels.of(curve), levels.places, options)
            below += under
        keep = np.isfinite(average)
        low, high, faded = (None if values is None else values[keep] for values in bounds)
        shared: dict[str, Any] = {
            "colour": _average_colour(curve, below),
            "label": curve.label if curve.label is not None else ("average" if above else None),
            "pattern": curve.dashed,
        }
        shared |= {"low": low, "high": high, "faded": faded}
        x = np.arange(len(keep), dtype=np.float64)[keep] + offset
        if options.kind == "bars":
            marks.append(Bars(x, average[keep], width=0.9 * room, **shared))
        else:
            marks.append(Dots(x, average[keep], size=1.3 if len(series) == 1 else 1.1, **shared))
    marks = [*below, *_zero(series), *marks, *above]
    low, high = value_range(marks) or (0.0, 1.0)
    axis = levels.places.axis()
    axis = replace(axis, ticks=levels.texts)
    longest = max(map(len, axis.ticks), default=0)
    roomy = 2 if len(axis.ticks) <= UPRIGHT_LEVELS // 2 else 1
    flip = len(axis.ticks) > UPRIGHT_LEVELS or longest > roomy * UPRIGHT_TEXT
    if options.width is not None and options.is_small:
        flip = flip or len(axis.ticks) * min(longest, UPRIGHT_TEXT) > LETTERS_PER_INCH * options.width
    axis, extra = _counted(axis, levels, options, flip)
    note, band = _note(series, spread, whole, options, "lines")
    return Panel(
        x=axis,
        y=Axis(low=low, high=high),
        marks=(*extra, *marks),
        note=joined(many, note, levels.note),
        band=joined(band, levels.note),
        legend_title=colouring.title,
        scale=colouring.scale,
        flip=flip,
    )


def _counted(axis: Axis, levels: Levels, options: Options, flip: bool) -> tuple[Axis, list[Mark]]:
    """The number of rows at each level: beside a list of levels, below the text of an upright one."""
    counts = levels.counts
    if counts is None or options.data == "none":
        ticks = axis.ticks if flip else tuple(wrapped(t, UPRIGHT_TEXT) for t in axis.ticks)
        return replace(axis, ticks=ticks), []
    texts = tuple(count_text(c) for c in counts)
    at = np.arange(len(counts), dtype=np.float64)
    strip: list[Mark] = [Strip(at - 0.35, at + 0.35, counts)] if options.data == "histogram" else []
    if flip:
        ticks = tuple(wrapped(t, 26) for t in axis.ticks)
        return replace(axis, ticks=ticks), [*strip, EdgeText(at, texts, "rows")]
    ticks = tuple(f"{wrapped(t, UPRIGHT_TEXT)}\n{n}" for t, n in zip(axis.ticks, texts))
    return replace(axis, ticks=ticks, label=f"{axis.label}\u2002(rows below)" if axis.label else ""), strip
