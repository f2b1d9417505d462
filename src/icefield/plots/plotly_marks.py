"""Each mark of a panel as plotly traces and shapes.

Curves by the thousand become a few traces of many pieces (plotly slows down with the number of
traces, not of points); histograms, rugs and rules are shapes tied to the panel's frame.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from icefield.plots.geometry import unit
from icefield.plots.panels import (
    SPARK_WIDTH,
    Axis,
    Band,
    Bars,
    ColourScale,
    Curves,
    Dots,
    EdgeText,
    Field,
    Float,
    Line,
    Margin,
    Mark,
    Rug,
    Rule,
    Shade,
    Sparks,
    Strip,
)
from icefield.plots.plotly_frame import Frame, positions
from icefield.plots.plotly_theme import Theme, escaped, faded
from icefield.plots.ticks import nice_ticks
from icefield.wording.names import abbreviated
from icefield.wording.values import calendar_text, number_text, shown_value

LAYERS = 24  # traces into which many curves are dealt, so that crossing curves darken each other
MANY_POINTS = 120_000  # beyond this the graphics card draws; below, it is slower to start than to do without
# By the number of a pattern.
DASHES = ("solid", "6px,3px", "2px,2px", "9px,3px,2px,3px", "9px,3px,2px,3px,2px,3px,2px,3px")
SYMBOLS = ("circle", "square", "triangle-up", "diamond", "x")
HATCHES = ("", "/", ".", "x", "-")
CONTOURS = 10


def draw_mark(frame: Frame, mark: Mark, coloraxis: str | None) -> None:
    """Draw one mark; `coloraxis` is the figure's colour axis for the panel's scale."""
    if isinstance(mark, Field):
        _field(frame, mark, coloraxis or "coloraxis")
        return
    drawing: Any = _DRAWING[type(mark)]
    drawing(frame, mark)


def _line(frame: Frame, mark: Line) -> None:
    colour = frame.theme.colour(mark.colour)
    legend = frame.legend(mark.label)
    if not len(mark.x):
        frame.trace(
            go.Scatter, x=[None], y=[None], mode="lines", line={"color": colour, "width": 2.5}, **legend
        )
        return
    name = mark.label if mark.label is not None else frame.panel.y.label
    hover = _hover(frame.panel.x, mark.x, name, mark.y)
    width = 2.0 * mark.width
    if mark.halo:
        under = {"color": frame.theme.paper, "width": width + 3}
        frame.trace(go.Scatter, **frame.oriented(frame.x(mark.x), mark.y), mode="lines", line=under,
                    showlegend=False, hoverinfo="skip")  # fmt: skip
    for part, faint in mark.stretches():
        line: dict[str, Any] = {"color": colour, "width": width, "shape": "vh" if mark.step else "linear"}
        if mark.dashed:
            line["dash"] = DASHES[mark.dashed]
        frame.trace(
            go.Scatter,
            **frame.oriented(frame.x(mark.x[part]), mark.y[part]),
            mode="lines+markers" if mark.markers else "lines",
            line=line,
            opacity=mark.alpha * (0.3 if faint else 1.0),
            text=hover[part],
            hoverinfo="text",
            **legend,
        )
        legend = {**legend, "showlegend": False}


def _hover(
    axis: Axis, x: Float, name: str, y: Float, low: Float | None = None, high: Float | None = None
) -> Any:
    """What the pointer shows: the feature's value and the curve's."""
    feature, label = abbreviated(axis.label, 40), abbreviated(name, 40)
    places = positions(x, axis)
    lines = []
    for i, value in enumerate(y):
        if axis.kind == "category":
            tick = round(float(x[i]))
            at = " ".join(axis.ticks[tick].split("\n")[:1]) if 0 <= tick < len(axis.ticks) else ""
        else:
            named = axis.meaning and np.isfinite(x[i])
            at = calendar_text(float(x[i]), axis.meaning) if named else shown_value(places[i])
            at += f" {axis.unit}" if axis.unit else ""
        text = f"{feature}: {at}\n{label}: {number_text(float(value), 4)}"
        if low is not None and high is not None:
            text += f"\nfrom {number_text(float(low[i]))} to {number_text(float(high[i]))}"
        lines.append(escaped(text))
    return np.array(lines, dtype=object)


def _band(frame: Frame, mark: Band) -> None:
    x, low, high = mark.x, mark.low, mark.high
    if mark.step:
        x, low, high = np.repeat(x, 2)[:-1], np.repeat(low, 2)[1:], np.repeat(high, 2)[1:]
    there_and_back = np.concatenate([frame.x(x), frame.x(x)[::-1]])
    outline = frame.oriented(there_and_back, np.concatenate([high, low[::-1]]))
    frame.trace(
        go.Scatter, **outline, mode="lines", line={"width": 0}, fill="toself", hoverinfo="skip", showlegend=False,
        fillcolor=frame.theme.colour(mark.colour, mark.alpha),
    )  # fmt: skip


def _curves(frame: Frame, mark: Curves) -> None:
    x, y = mark.corners()
    kind = go.Scattergl if y.size > MANY_POINTS else go.Scatter
    places = frame.x(x)
    for members, colour in _layers(frame.theme, mark, len(y)):
        gap = np.full((len(members), 1), np.nan, dtype=np.float32)
        heights = np.concatenate([y[members].astype(np.float32), gap], axis=1).ravel()
        across = np.tile(np.append(places, places[-1:]), len(members))
        frame.trace(
            kind, **frame.oriented(across, heights), mode="lines", showlegend=False, hoverinfo="skip",
            line={"color": colour, "width": max(0.6, 2 * mark.width)}, connectgaps=False, name="curves",
        )  # fmt: skip
    if mark.scale is not None:
        _colour_key(frame, mark.scale)


def _layers(theme: Theme, mark: Curves, count: int) -> list[tuple[NDArray[np.intp], str]]:
    """The curves in groups of one colour each, at most `LAYERS` of them per colour."""
    everyone = np.arange(count)
    if mark.values is not None and mark.scale is not None:
        scale = mark.scale
        share = np.clip((mark.values - scale.low) / ((scale.high - scale.low) or 1.0), 0, 1)
        codes = np.where(np.isfinite(share), np.round(np.nan_to_num(share) * (LAYERS - 1)), -1).astype(int)
        curves = []
        for code in np.unique(codes):
            ink = theme.muted if code < 0 else theme.sampled(scale, code / (LAYERS - 1))
            curves.append((everyone[codes == code], _with_alpha(ink, mark.alpha)))
        return curves
    if mark.slots is not None:
        groups: dict[Any, list[int]] = {}
        for i, slot in enumerate(mark.slots):
            groups.setdefault(slot, []).append(i)
        return [
            (part, theme.colour(slot, mark.alpha))
            for slot, members in groups.items()
            for part in _dealt(np.array(members), max(1, LAYERS // len(groups)))
        ]
    layers = _dealt(everyone, LAYERS)
    # Within a layer crossing curves do not add up, so each must carry more.
    alpha = float(np.clip(3.0 / np.sqrt(len(layers)) / 2.5, mark.alpha, 0.6))
    return [(part, theme.colour(mark.colour, alpha)) for part in layers]


def _dealt(members: NDArray[np.intp], piles: int) -> list[NDArray[np.intp]]:
    return [members[start::piles] for start in range(min(piles, len(members)))]


def _with_alpha(colour: str, alpha: float) -> str:
    if not colour.startswith("rgb("):
        return colour
    return f"rgba({colour[4:-1]},{alpha:.3g})"


def _colour_key(frame: Frame, scale: ColourScale) -> None:
    """An invisible trace that brings the colour bar of the panel's scale."""
    marker = {"color": [scale.low, scale.high], "coloraxis": "coloraxis", "size": 0.1, "opacity": 0}
    frame.trace(go.Scatter, x=[None, None], y=[None, None], mode="markers", marker=marker, showlegend=False)


def _dots(frame: Frame, mark: Dots) -> None:
    colour = frame.theme.colour(mark.colour)
    marker: dict[str, Any] = {
        "color": colour,
        "size": 7 * mark.size,
        "line": {"width": 0},
        "symbol": SYMBOLS[mark.pattern],
    }
    if mark.slots is not None:
        marker["color"] = [frame.theme.colour(slot) for slot in mark.slots]
    if mark.values is not None and mark.scale is not None:
        marker.update(color=mark.values, coloraxis="coloraxis")
    marker["opacity"] = mark.alpha if mark.faded is None else np.where(mark.faded, 0.3, mark.alpha)
    shown = len(mark.x) <= 400
    hover = _hover(frame.panel.x, mark.x, mark.label or frame.panel.y.label, mark.y, mark.low, mark.high) if shown else None  # fmt: skip
    frame.trace(
        go.Scatter, **frame.oriented(frame.x(mark.x), mark.y), mode="markers", marker=marker, text=hover,
        hoverinfo="text" if shown else "skip", **_errors(frame, mark, colour), **frame.legend(mark.label),
    )  # fmt: skip


def _errors(frame: Frame, mark: Dots | Bars, colour: str) -> dict[str, Any]:
    if mark.low is None or mark.high is None:
        return {}
    direction = "error_x" if frame.panel.flip else "error_y"
    bars = {"array": mark.high - mark.y, "arrayminus": mark.y - mark.low, "symmetric": False, "width": 0,
            "thickness": 1.8, "color": colour if isinstance(mark, Bars) else faded(colour, 0.5)}  # fmt: skip
    return {direction: bars}


def _bars(frame: Frame, mark: Bars) -> None:
    colour = frame.theme.colour(mark.colour)
    colours: Any = colour if mark.slots is None else [frame.theme.colour(s) for s in mark.slots]
    opacity: Any = 1.0 if mark.faded is None else np.where(mark.faded, 0.35, 1.0)
    marker: dict[str, Any] = {"color": colours, "opacity": opacity}
    if mark.pattern:
        marker["pattern"] = {"shape": HATCHES[mark.pattern], "fgcolor": frame.theme.paper, "size": 6}
    hover = _hover(frame.panel.x, mark.x, mark.label or frame.panel.y.label, mark.y, mark.low, mark.high)
    frame.trace(
        go.Bar, **frame.oriented(frame.x(mark.x), mark.y), width=mark.width, hovertext=hover, hoverinfo="text",
        orientation="h" if frame.panel.flip else "v", marker=marker,
        **_errors(frame, mark, frame.theme.text), **frame.legend(mark.label),
    )  # fmt: skip


# --- shapes tied to the frame ----------------------------------------------------------------------


def _histogram(
    frame: Frame, mark: Strip | Margin, axis: Axis, start: float, ends: Float, upright: bool, **options: Any
) -> None:
    """Bars along an axis as one path, from one place of the frame to their ends."""
    low, path = f"{start:.5g}", ""
    for a, b, high in zip(_path_values(mark.lefts, axis), _path_values(mark.rights, axis), ends):
        corners = [(a, low), (a, f"{high:.5g}"), (b, f"{high:.5g}"), (b, low)]
        path += "M" + "L".join(f"{x},{y}" if upright else f"{y},{x}" for x, y in corners) + "Z"
    where = ("data", "frame") if upright else ("frame", "data")
    frame.shape(*where, type="path", path=path, fillcolor=frame.theme.faint, line={"width": 0}, **options)


def _path_values(values: Float, axis: Axis) -> list[str]:
    if axis.kind == "time":
        return [str(v).replace("T", "_") for v in positions(values, axis)]
    return [f"{v:.12g}" for v in values]


def _strip(frame: Frame, mark: Strip) -> None:
    heights, upright = mark.counts * (mark.height / (float(mark.counts.max()) or 1.0)), not frame.panel.flip
    _histogram(frame, mark, frame.panel.x, 0.0, heights, upright, layer="below", name="histogram")


def _rug(frame: Frame, mark: Rug) -> None:
    at = _path_values(mark.x, frame.panel.x)
    upright = not frame.panel.flip
    path = "".join(f"M{x},0L{x},{mark.height}" if upright else f"M0,{x}L{mark.height},{x}" for x in at)
    where = ("data", "frame") if upright else ("frame", "data")
    frame.shape(*where, type="path", path=path or "M0,0", line={"width": 1, "color": frame.theme.text},
                opacity=mark.alpha, layer="below", name=mark.name)  # fmt: skip


def _margin(frame: Frame, mark: Margin) -> None:
    top = mark.side == "top"
    axis = frame.panel.x if top else frame.panel.y
    ends = 1.02 + mark.counts * (0.11 / (float(mark.counts.max()) or 1.0))
    _histogram(frame, mark, axis, 1.02, ends, top, name=f"margin-{mark.side}")


def _rule(frame: Frame, mark: Rule) -> None:
    line = {"color": frame.theme.muted, "width": 1, "dash": "2px,4px" if mark.dashed else "solid"}
    along_y = (mark.y is not None) != frame.panel.flip
    at = mark.y if mark.y is not None else mark.x
    ends: dict[str, Any] = {"x0": 0, "x1": 1, "y0": at, "y1": at}
    if not along_y:
        place = frame.x(np.array([at], dtype=np.float64))[0] if mark.y is None else at
        ends = {"x0": place, "x1": place, "y0": 0, "y1": 1}
    where = ("frame", "data") if along_y else ("data", "frame")
    frame.shape(*where, type="line", **ends, line=line, layer="below", name="rule")


def _edge_text(frame: Frame, mark: EdgeText) -> None:
    font = {"color": frame.theme.muted, "size": 11}
    for at, words in zip(mark.at, mark.texts):
        frame.text(1.0, at, words, up="data", xanchor="left", xshift=8, font=font)
    if mark.header:
        frame.text(1.0, 1.0, mark.header, xanchor="left", yanchor="bottom", xshift=8, font=font)


def _sparks(frame: Frame, mark: Sparks) -> None:
    for number, (at, (x, y)) in enumerate(zip(mark.at, mark.curves)):
        slot = mark.slots[number] if mark.slots is not None else "text"
        points = zip(1.03 + SPARK_WIDTH * unit(x), at + 0.38 - 0.76 * y)
        path = "M" + "L".join(f"{a:.5f},{b:.5f}" for a, b in points)
        frame.shape("frame", "data", type="path", path=path, name="spark",
                    line={"color": frame.theme.colour(slot), "width": 1.6})  # fmt: skip
    if mark.header:
        font = {"color": frame.theme.muted, "size": 11}
        frame.text(1.03, 1.0, mark.header, xanchor="left", yanchor="bottom", font=font)


# --- fields ----------------------------------------------------------------------------------------


def _field(frame: Frame, mark: Field, coloraxis: str) -> None:
    x, y = positions(mark.x, frame.panel.x), positions(mark.y, frame.panel.y)
    z = mark.shown()
    if mark.style == "surface":
        frame.trace(go.Surface, x=x, y=y, z=z, coloraxis=coloraxis, hoverinfo="x+y+z", showscale=False)
        return
    names = [escaped(abbreviated(axis.label, 40)) for axis in (frame.panel.x, frame.panel.y)]
    label = escaped(abbreviated(mark.scale.label, 40))
    if mark.style == "contour":
        levels = nice_ticks(mark.scale.low, mark.scale.high, CONTOURS)
        contours = {"start": levels[0], "end": levels[-1], "size": float(np.diff(levels).min(initial=1e300))}
        contours["size"] = min(contours["size"], mark.scale.high - mark.scale.low) or 1.0
        line = {"width": 0.5, "color": "rgba(255,255,255,0.5)"}
        frame.trace(
            go.Contour, x=x, y=y, z=z, coloraxis=coloraxis, contours=contours, line=line, autocontour=False,
            hovertemplate=_template(names, label),
        )  # fmt: skip
        return
    words = [["" if not np.isfinite(v) else number_text(float(v), 2) for v in row] for row in z]
    frame.trace(
        go.Heatmap, x=x, y=y, z=z, coloraxis=coloraxis, text=words if mark.values else None, hoverongaps=False,
        texttemplate="%{text}" if mark.values else None, hovertemplate=_template(names, label),
    )  # fmt: skip


def _shade(frame: Frame, mark: Shade) -> None:
    ends = [[0, frame.theme.colour(mark.colour, 0.0)], [1, frame.theme.colour(mark.colour, mark.alpha)]]
    frame.trace(
        go.Heatmap, x=positions(mark.x, frame.panel.x), y=mark.y, z=np.where(mark.z > 0, mark.z, np.nan), zmin=0, zmax=1, colorscale=ends,
        showscale=False, hoverinfo="skip", name="shade",
    )  # fmt: skip


def _template(names: list[str], label: str) -> str:
    """A hover text; braces in a name would be read as a placeholder."""
    shown = [name.replace("%{", "% {") for name in (*names, label)]
    return f"{shown[0]}: %{{x}}<br>{shown[1]}: %{{y}}<br>{shown[2]}: %{{z:.4g}}<extra></extra>"


_DRAWING: dict[type, Any] = {
    Line: _line,
    Band: _band,
    Curves: _curves,
    Dots: _dots,
    Bars: _bars,
    Strip: _strip,
    Rug: _rug,
    Margin: _margin,
    Shade: _shade,
    Rule: _rule,
    EdgeText: _edge_text,
    Sparks: _sparks,
}
