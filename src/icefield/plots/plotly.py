"""Drawing a `Picture` with plotly: the interactive figure, and the one in the report.

The user's default template rules where one was chosen. The marks themselves are drawn in `plotly_marks`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from icefield.plots.options import AROUND, Options
from icefield.plots.panels import (
    Axis,
    EdgeText,
    Margin,
    Panel,
    Picture,
    Sparks,
    first_tick,
    is_surface,
    scaled,
    visible_features,
    visible_values,
)
from icefield.plots.plotly_frame import Frame, positions
from icefield.plots.plotly_marks import draw_mark
from icefield.plots.plotly_theme import Theme, escaped
from icefield.plots.ticks import LINE, MOST_TICKS, fitting, named_ticks, nice_ticks
from icefield.wording.names import MISSING, abbreviated, distinct_texts, wrapped
from icefield.wording.values import shown_value

PER_INCH = 100  # pixels; figures are laid out in inches
TEXT = 13.0  # pixels of a label
TICKS = 6  # about how many numbers an axis carries


def draw(picture: Picture, options: Options) -> go.Figure:
    """The figure of a picture."""
    theme = Theme(options)
    figure = _frames(picture)
    several = len(picture.panels) > 1
    axes = _colour_axes(figure, picture, theme)
    for number, panel in enumerate(picture.panels):
        at = (number // picture.columns + 1, number % picture.columns + 1)
        frame = Frame(figure, panel, theme, number, at)
        for mark in panel.marks:
            draw_mark(frame, mark, axes[number])
        first = at[1] == 1 or not picture.share_y
        if panel.z is None:
            _axes(frame, picture, first, options)
            _words(frame, several)
        else:
            _scene(figure, panel, number)
    _finish(figure, picture, options, theme)
    return figure


def _frames(picture: Picture) -> go.Figure:
    rows, columns = picture.rows, picture.columns
    solid = picture.panels[0].z is not None
    spec = {"type": "scene"} if solid else {"type": "xy"}
    places = [
        [spec if r * columns + c < len(picture.panels) else None for c in range(columns)] for r in range(rows)
    ]
    beside = any(isinstance(m, (EdgeText, Sparks, Margin)) for p in picture.panels for m in p.marks)
    across = (0.12 if beside else 0.035 if picture.share_y else 0.09) * 3 / max(3, columns)
    return make_subplots(
        rows, columns, specs=places, shared_yaxes="all" if picture.share_y else False,
        shared_xaxes="all" if picture.share_x else False,
        horizontal_spacing=across if columns > 1 else 0.0, vertical_spacing=min(0.3, 0.75 / (2.7 * rows)),
    )  # fmt: skip


def _colour_axes(figure: go.Figure, picture: Picture, theme: Theme) -> list[str | None]:
    """One colour axis per distinct scale; panels that share a scale share it."""
    names: list[str | None] = []
    known: dict[int, str] = {}
    for panel in picture.panels:
        scale = panel.scale
        if scale is None:
            names.append(None)
            continue
        if id(scale) not in known:
            known[id(scale)] = "coloraxis" if not known else f"coloraxis{len(known) + 1}"
            right = any(isinstance(m, Margin) and m.side == "right" for m in panel.marks)
            bar: dict[str, Any] = {
                "title": {"text": escaped(wrapped(scale.label, 34)), "side": "right"},
                "thickness": 14, "outlinewidth": 0, "x": 1.14 if right and len(picture.panels) == 1 else 1.03,
            }  # fmt: skip
            if scale.time:
                ticks = np.linspace(scale.low, scale.high, 4)
                bar.update(tickvals=ticks, ticktext=[shown_value(v.astype("datetime64[D]")) for v in positions(ticks, Axis(kind="time"))])  # fmt: skip
            figure.update_layout(
                {known[id(scale)]: {"colorscale": theme.scale(scale), "cmin": scale.low, "cmax": scale.high, "colorbar": bar}}
            )  # fmt: skip
        names.append(known[id(scale)])
    return names


# --- axes ------------------------------------------------------------------------------------------


def _axes(frame: Frame, picture: Picture, first: bool, options: Options) -> None:
    panel = frame.panel
    width = label_width(picture)
    feature = _axis(panel.x, visible_features(panel), width)
    values = _axis(panel.y, visible_values(panel), width)
    surface = is_surface(panel)
    if panel.flip and options.figsize is not None:
        _fit_levels(feature, panel.x, (options.figsize[1] - AROUND) * PER_INCH / picture.rows)
    if panel.flip or (surface and panel.y.kind == "category"):
        upside = feature if panel.flip else values
        upside["range"] = upside["range"][::-1]  # levels are read from the top
    if np.isfinite(first_tick(panel)) and panel.y.kind == "number":
        values["tickvals"] = nice_ticks(first_tick(panel), float(panel.y.high or 1.0))
    horizontal, vertical = (values, feature) if panel.flip else (feature, values)
    feature["showgrid"] = False
    values["showgrid"] = not surface
    if not first:
        vertical["title"] = None
        if not panel.flip:
            vertical["showticklabels"] = False
    line = {"showline": True, "linecolor": frame.theme.muted, "linewidth": 1, "zeroline": False}
    row, col = frame.at
    frame.figure.update_xaxes(**{**line, **horizontal}, automargin=True, row=row, col=col)
    frame.figure.update_yaxes(**{**line, **vertical}, automargin=True, row=row, col=col)


def _fit_levels(settings: dict[str, Any], axis: Axis, height: float) -> None:
    """Names of listed levels that do not touch each other in a figure of a given height, in pixels."""
    room = height / max(1, len(axis.ticks))
    texts, lines = list(axis.ticks), max((t.count("\n") + 1 for t in axis.ticks), default=1)
    if lines * LINE * TEXT > room:
        texts = distinct_texts([" ".join(t.split("\n")) for t in texts], 26)
    size, every = fitting(room, TEXT)
    settings["tickfont"] = {"size": size}
    settings["ticktext"] = [escaped(t) if i % every == 0 else "" for i, t in enumerate(texts)]


def label_width(picture: Picture) -> int:
    """Letters of a line of an axis' label: few where panels stand side by side."""
    beside = any(isinstance(m, (EdgeText, Sparks)) for p in picture.panels for m in p.marks)
    return 46 if picture.columns == 1 else max(14, (50 if beside else 72) // picture.columns)


def _axis(axis: Axis, ends: tuple[float, float], width: int = 46) -> dict[str, Any]:
    limits = positions(np.array(ends), axis)
    settings: dict[str, Any] = {
        "title": {"text": escaped(wrapped(axis.label, width)), "standoff": 10},
        "range": [str(v) for v in limits] if axis.kind == "time" else limits.tolist(),
    }
    if axis.kind == "category":
        settings.update(
            tickvals=list(range(len(axis.ticks))), ticktext=[escaped(t) for t in axis.ticks], ticks=""
        )
        return settings
    settings.update(ticks="outside", ticklen=4, type="date" if axis.kind == "time" else "linear")
    if axis.log:
        return {**settings, **_log_axis(axis, ends)}
    if axis.kind == "integer" and ends[1] - ends[0] <= 2 * TICKS:
        settings["dtick"] = 1 if ends[1] - ends[0] <= TICKS + 2 else 2
    if axis.meaning:
        end = float(axis.high or 0.0) if axis.missing is None else axis.missing - 0.5
        named = named_ticks(axis.meaning, axis.low or 0.0, end, max(2, MOST_TICKS * width // 46))
        at: list[Any] = [place for place, _ in named]
        texts = [text for _, text in named]
    elif axis.missing is not None:
        last = axis.missing - 0.06 * (axis.missing - (axis.low or 0.0))
        if axis.kind == "time":
            at = np.linspace(float(axis.low or 0.0), last, 4).tolist()
            texts = [shown_value(v.astype("datetime64[D]")) for v in positions(np.array(at), axis)]
        else:
            at = nice_ticks(float(axis.low or 0.0), last, whole=axis.kind == "integer")
            texts = [shown_value(float(v)) for v in at]
    else:
        return settings
    if axis.missing is not None:
        at, texts = [*at, axis.missing], [*texts, MISSING]
    if axis.kind == "time" and not axis.meaning:
        at = [str(v) for v in positions(np.array(at), axis)]
    return {**settings, "tickvals": at, "ticktext": texts}


def _log_axis(axis: Axis, ends: tuple[float, float]) -> dict[str, Any]:
    """Settings of a logarithmic axis: limits as powers of ten, and ticks at round numbers."""
    settings: dict[str, Any] = {"type": "log", "range": np.log10(ends).tolist()}
    wide = np.log10(ends[1] / ends[0])
    factors = (1,) if wide > 3 else (1, 3) if wide > 1.5 else (1, 2, 5)
    powers = range(int(np.floor(np.log10(ends[0]))), int(np.ceil(np.log10(ends[1]))) + 1)
    last = ends[1]
    if axis.missing is not None:
        last = scaled(axis.missing, -0.06, float(axis.low or ends[0]), axis.missing)
    ticks = [f * 10.0**p for p in powers for f in factors if ends[0] <= f * 10.0**p <= last]
    texts = [shown_value(tick) for tick in ticks]
    if axis.missing is not None:
        ticks, texts = [*ticks, axis.missing], [*texts, MISSING]
    return {**settings, "tickvals": ticks, "ticktext": texts}


def _scene(figure: go.Figure, panel: Panel, number: int) -> None:
    name = "scene" if number == 0 else f"scene{number + 1}"
    axes = {f"{letter}axis": _solid_axis(axis) for letter, axis in (("x", panel.x), ("y", panel.y))}
    if panel.z is not None:
        axes["zaxis"] = {**_solid_axis(panel.z), "title": {"text": ""}}  # which the colour bar has
    camera = {"eye": {"x": -1.75, "y": -1.75, "z": 1.0}, "center": {"x": 0, "y": 0, "z": -0.12}}
    figure.update_layout({name: {**axes, "camera": camera, "aspectmode": "cube"}})


def _solid_axis(axis: Axis) -> dict[str, Any]:
    """An axis in space: a few numbers, none in a corner, where those of another axis are, and a name in short lines."""
    low, high = float(axis.low or 0.0), float(axis.high if axis.high is not None else 1.0)
    room = 0.06 * (high - low)
    settings: dict[str, Any] = {
        "title": {"text": escaped(wrapped(abbreviated(axis.label, 44), 24)), "font": {"size": 12}},
        "tickfont": {"size": 11},
        "tickangle": 0,
    }
    if axis.kind == "time":
        ticks = np.linspace(low + 2 * room, high - 2 * room, 3)
        at = positions(ticks, axis)
        texts = [shown_value(v.astype("datetime64[M]")) for v in at]
        return {**settings, "type": "date", "tickvals": [str(v) for v in at], "ticktext": texts}
    numbers = nice_ticks(low + room, high - room, 4, whole=axis.kind == "integer")
    return {**settings, "tickvals": numbers, "ticktext": [shown_value(number) for number in numbers]}


# --- words -----------------------------------------------------------------------------------------


def _words(frame: Frame, several: bool) -> None:
    panel = frame.panel
    top = 1.14 if any(isinstance(m, Margin) and m.side == "top" for m in panel.marks) else 1.0
    lines = 0
    if panel.note and not several:
        words = wrapped(panel.note, 95)
        lines = words.count("\n") + 1
        font = {"size": 11.5, "color": frame.theme.muted}
        frame.text(0, top, words, xanchor="left", yanchor="bottom", yshift=6, font=font, align="left")
    if panel.title:
        frame.text(
            0, top, wrapped(panel.title, 60), xanchor="left", yanchor="bottom", yshift=8 + 16 * lines,
            font={"size": 15 if not several else 13}, align="left",
        )  # fmt: skip


def _finish(figure: go.Figure, picture: Picture, options: Options, theme: Theme) -> None:
    width, height = options.figsize or (None, None)
    if height is None:
        per_panel = picture.panel_size or (7.0, 4.6)
        height = per_panel[1] * 1.05 * picture.rows + (0.6 if len(picture.panels) > 1 else 0.0)
    heading, caption = picture.title or picture.note, picture.title and picture.note
    words = wrapped(heading, 84)
    margins = any(isinstance(m, Margin) and m.side == "top" for p in picture.panels for m in p.marks)
    titled = any(p.title for p in picture.panels)
    beside = any(isinstance(m, (EdgeText, Sparks)) for p in picture.panels for m in p.marks)
    feet = [(p.y if p.flip else p.x).label for p in picture.panels]
    below = 18 * max(wrapped(label, label_width(picture)).count("\n") + 2 for label in feet)
    titles = {p.legend_title for p in picture.panels if p.legend_title}
    legend = wrapped(titles.pop(), 28) if len(titles) == 1 else ""
    tall = 64 + 58 * margins + 24 * titled + (14 + 16 * (words.count("\n") + 1) if heading else 0)
    figure.update_layout(
        template=theme.template,
        height=height * PER_INCH,
        width=None if width is None else width * PER_INCH,
        margin={"l": 70, "r": 110 if beside else 30, "t": tall, "b": 60 if not caption else 66 + below},
        hovermode="closest",
        barmode="overlay",
        font={"size": 13},
        legend={"title": {"text": escaped(legend)}, "x": 1.2 if beside else 1.02 if picture.panels[0].scale is None else 1.22, "y": 1, "tracegroupgap": 2},
    )  # fmt: skip
    if heading:
        font = {"size": 16} if picture.title else {"size": 12, "color": theme.muted}
        figure.update_layout(title={"text": escaped(words), "x": 0.01, "font": font, "yref": "container", "yanchor": "top", "y": 1, "pad": {"t": 14}})  # fmt: skip
    if caption:
        figure.add_annotation(
            text=escaped(wrapped(picture.note, 84)), x=0, y=0, xref="paper", yref="paper", xanchor="left",
            yanchor="top", yshift=-28 - below, showarrow=False, align="left", font={"size": 11.5, "color": theme.muted},
        )  # fmt: skip
