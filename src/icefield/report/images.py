"""The page's pictures without a script: the same panels, drawn by matplotlib, as images inside the file."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from icefield.plots import matplotlib as drawer
from icefield.plots.options import Options
from icefield.plots.panels import (
    Axis,
    Band,
    ColourScale,
    Dots,
    Field,
    Line,
    Mark,
    Panel,
    Picture,
    Rule,
    Strip,
    value_range,
)
from icefield.report.view_model import (
    Ale,
    Card,
    CurvePanel,
    Group,
    Histogram,
    Interval,
    MeansSeen,
    RegionPanel,
    SurfacePanel,
)
from icefield.typing import Float

# The page's own colours, which a style sheet gives it elsewhere.
COLOURS = {"accent": "#0a6496", "second": "#b4530a", "ale": "#b3123f"}
SIZES = {"card": (7.0, 3.3), "pair": (5.2, 3.9), "region": (5.6, 2.9), "against": (3.5, 2.9), "plane": (7.0, 4.0), "small": (2.6, 0.7), "mini": (5.2, 1.5)}  # fmt: skip
PER_LEVEL = 0.2  # inches of a level that is listed
SETTINGS: Any = {
    "svg.fonttype": "none", "svg.hashsalt": "icefield", "font.family": "sans-serif", "font.size": 9, "figure.facecolor": "none", "axes.facecolor": "#fdfcfa",
    "text.color": "#1c2126", "axes.labelcolor": "#5f666c", "xtick.color": "#5f666c", "ytick.color": "#5f666c",
}  # fmt: skip
BESIDE = 0.16  # of a level's room, from its average to what stands beside it


def image(panel: Panel, kind: str) -> str:
    """The address of a picture that lies inside the page, as SVG; only a card's says in a legend what its marks are."""
    wide, high = SIZES[kind]
    if panel.flip:
        high = max(high, PER_LEVEL * len(panel.x.ticks) + 0.9)
    with plt.rc_context(SETTINGS):
        ax: Any = drawer.draw(Picture((_with_colours(panel),)), Options.of({"figsize": (wide, high)}))
        if panel.look == "word":
            ax.set_axis_off()
        legend = ax.get_legend()
        if legend is not None and kind != "card":
            legend.remove()  # which the page has in words
        buffer = io.BytesIO()
        ax.figure.savefig(buffer, format="svg", metadata={"Date": None})
        plt.close(ax.figure)
    return f"data:image/svg+xml;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _with_colours(panel: Panel) -> Panel:
    """The panel with colours that matplotlib knows."""

    def of(mark: Any) -> Any:
        values = {field.name: getattr(mark, field.name) for field in fields(mark)}
        changes: dict[str, Any] = {}
        if "colour" in values:
            changes["colour"] = COLOURS.get(values["colour"], values["colour"])
        if values.get("slots") is not None:
            changes["slots"] = tuple(COLOURS.get(s, s) for s in values["slots"])
        return replace(mark, **changes)

    return replace(panel, marks=tuple(map(of, panel.marks)))


# --- what the page holds, as panels ------------------------------------------------------------------


def _interval(bounds: Interval, output: int, x: Float, known: NDArray[np.bool_], levels: bool) -> list[Mark]:
    """A learner's intervals: dashed for each point, dotted for the whole curve."""
    low, high, band_low, band_high = (_array(end) for end in bounds.ends[output])
    if levels:
        return [Dots(x, np.full(len(x), np.nan), colour="accent", low=low, high=high, label=bounds.labels[0])]
    each, whole = bounds.labels
    return [
        Line(x[known], end[known], colour="accent", label=label, dashed=dashed, width=0.7)
        for end, dashed, label in zip(
            (low, high, band_low, band_high), (1, 1, 2, 2), (each, None, whole, None)
        )
    ]


def card_panel(
    card: Card, output: int, what: str, bounds: Sequence[float | None], groups: Sequence[str] = (), *,
    small: bool = False,
) -> Panel:  # fmt: skip
    """A feature's card, of one output, with its groups and what was observed; for several models their curves."""
    panel = card.panel
    axis, x, known = _axis(panel)
    marks: list[Mark] = []
    strip = _strip(panel.histogram, x, known)
    if strip is not None:
        marks.append(strip)
    levels = axis.kind == "category"
    if panel.bands is not None:
        least, most = (np.inf * sign if end is None else end for end, sign in zip(bounds, (-1, 1)))
        quantiles = np.clip(_array(panel.bands[output]) + _array(panel.mean[output]), least, most)
        for low, high, alpha in ((quantiles[0], quantiles[4], 0.11), (quantiles[1], quantiles[3], 0.17)):
            if not levels:
                marks.append(Band(x[known], low[known], high[known], colour="accent", alpha=alpha))
            apart = np.ones(len(x), dtype=bool) if levels else ~known
            if apart.any() and (alpha == 0.11 or not small):
                nothing = np.full(apart.sum(), np.nan)
                marks.append(Dots(x[apart], nothing, colour="accent", low=low[apart], high=high[apart]))
    if panel.interval is not None and not small:
        marks += _interval(panel.interval, output, x, known, levels)
    if axis.missing is not None:
        marks.append(Rule(x=(float(x[known].max()) + axis.missing) / 2, dashed=True))
    if panel.ale is not None and not small:
        marks += _ale(panel.ale, output, levels, x[known], panel.mean[output])
    if panel.observed is not None and not small:
        marks += _means(panel.observed, output, levels, x[known], axis.missing)
    faded = np.isin(np.arange(len(x)), panel.low)[known] if panel.low and not small else None
    several = card.change is not None
    for number, group in enumerate(panel.groups if several or not small else []):
        look = {"colour": number, "label": groups[number] if groups else None}
        layout = (1.25, 0.0, faded) if several else (0.95, -BESIDE - 0.06 * number, None)
        marks += _curve(x, _array(group.average[output]), known, levels, look, *layout)
    if not several:
        beside = bool(panel.groups) and not small  # groups, of which all rows stand back
        look = {"colour": "muted" if beside else "accent", "label": "all rows" if beside else None}
        marks += _curve(x, _array(panel.average[output]), known, levels, look, 1.25, 0.0, faded)
    return _framed(axis, what if not small else "", marks)


def _curve(
    x: Float, y: Float, known: NDArray[np.bool_], levels: bool, look: dict[str, Any], width: float, aside: float,
    faded: NDArray[np.bool_] | None,
) -> list[Mark]:  # fmt: skip
    """A curve with its missing point, or its levels, which groups stand beside."""
    if levels:
        return [Dots(x + aside, y, size=0.95 * width, **look)]
    marks: list[Mark] = [Line(x[known], y[known], width=width, faded=faded, **look)]
    if not known.all():
        marks.append(Dots(x[~known], y[~known], colour=look["colour"], size=0.95 * width))
    return marks


def _means(seen: MeansSeen, output: int, levels: bool, x: Float, missing: float | None) -> list[Mark]:
    """Means observed and predicted of the rows near each place: rings and dashes."""
    at = _array(seen.x)
    inside = np.isfinite(at) if levels else (at >= x.min()) & (at <= x.max())
    truth, predicted = ([_array(getattr(seen, name)[output])[inside] for name in ("truth", "predicted")] if len(at) else [np.zeros(0)] * 2)  # fmt: skip
    at = at[inside] + (0.28 if levels else 0.0)
    if seen.missing and missing is not None:
        at = np.append(at, missing)
        gone = [_array(ends)[output] for ends in seen.missing]
        truth, predicted = np.append(truth, gone[0]), np.append(predicted, gone[1])
    if not len(at):
        return []
    return [
        Dots(at, predicted, colour="text", pattern=4, size=0.7, label="mean predicted"),
        Dots(at, truth, colour="text", hollow=True, size=0.8, label="mean observed"),
    ]


def region_panel(panel: RegionPanel, output: int, what: str) -> Panel:
    """The curves of all regions, and that of all rows, each around its own mean."""
    axis, x, known = _axis(panel)
    marks: list[Mark] = []
    curves: list[CurvePanel | Group] = [panel, *panel.groups]
    for number, curve in enumerate(curves):
        y, levels = _array(curve.average[output]) - _array(curve.mean[output]), axis.kind == "category"
        look: dict[str, Any] = {"colour": number - 1} if number else {"colour": "muted"}
        if not number and not levels:
            look["dashed"] = 1
        marks += _curve(x, y, known, levels, look, 1.15 if number else 0.8, 0.0, None)
    return _framed(axis, f"change in {what}", marks)


def surface_panel(pair: SurfacePanel, output: int, what: str) -> Panel:
    """The joint effect of two features, blank where there is no such data."""
    z = np.where(np.array(pair.low, dtype=bool), np.nan, _array(pair.level[output])).T
    finite = z[np.isfinite(z)]
    scale = ColourScale(*((float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)), what)
    sides = [_edges(_array(pair.x)), _edges(_array(pair.y))]
    axes = [Axis(a.label, a.kind, at[0], at[-1], tuple(a.ticks)) for a, at in zip(pair.axes, sides)]
    return Panel(axes[0], axes[1], (Field(sides[0], sides[1], z, scale),), scale=scale)


def _axis(panel: CurvePanel) -> tuple[Axis, Float, Any]:
    given, x = panel.axis, _array(panel.x)
    if given.kind == "category":
        axis = Axis(given.label, "category", -0.5, len(given.ticks) - 0.5, tuple(given.ticks))
        return axis, x, np.ones(len(x), dtype=bool)
    known = np.ones(len(x), dtype=bool) if given.missing is None else np.arange(len(x)) < len(x) - 1
    low, high = float(np.nanmin(x[known])), float(np.nanmax(x[known]))
    high = high if given.missing is None else given.missing
    return Axis(given.label, given.kind, low, high, (), given.missing), x, known


def _framed(axis: Axis, what: str, marks: list[Mark]) -> Panel:
    low, high = value_range(marks) or (0.0, 1.0)
    flip = axis.kind == "category" and sum(len(t) + 2 for t in axis.ticks) > 70
    named = replace(axis, label=axis.label if what else "")
    return Panel(named, Axis(what, low=low, high=high), tuple(marks), flip=flip)


def _strip(histogram: Histogram | None, x: Float, known: Any) -> Strip | None:
    if not histogram or not histogram.share:
        return None
    share = _array(histogram.share)
    if histogram.edges is None:
        return Strip(x - 0.35, x + 0.35, share)
    edges, low, high = _array(histogram.edges), x[known].min(), x[known].max()
    shown = (edges[1:] > low) & (edges[:-1] < high)
    if not shown.any():
        return None
    return Strip(np.maximum(edges[:-1][shown], low), np.minimum(edges[1:][shown], high), share[shown])


def _ale(ale: Ale, output: int, levels: bool, x: Float, level: Any) -> list[Mark]:
    at, y = _array(ale.x), _array(ale.y[output]) - _array(ale.mean[output]) + level
    if levels:
        return [Dots(at + BESIDE, y, colour="ale", pattern=3, size=0.9, label="ALE")]
    inside = (at >= x.min()) & (at <= x.max())
    return [Line(at[inside], y[inside], colour="ale", dashed=1, width=0.85, label="ALE")]


def _edges(at: Float) -> Float:
    if len(at) < 2:
        return np.array([at[0] - 0.5, at[0] + 0.5])
    middle = (at[1:] + at[:-1]) / 2
    return np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])


def _array(values: Any) -> Float:
    return np.array(values, dtype=np.float64)
