"""Each mark of a panel as matplotlib artists.

Every artist carries a group id, ``icefield:line``, ``icefield:band`` and so on, by which a caller finds it
(`Axes.findobj`) to restyle it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Ellipse, Polygon
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from icefield.plots.fonts import set_text
from icefield.plots.geometry import unit
from icefield.plots.matplotlib_axes import inches, refit
from icefield.plots.matplotlib_theme import DASHES, HATCHES, MARKERS, SETTINGS, Theme, smaller
from icefield.plots.palette import is_dark
from icefield.plots.panels import (
    SPARK_WIDTH,
    Band,
    Bars,
    Curves,
    Dots,
    EdgeText,
    Ends,
    Field,
    Float,
    Line,
    Margin,
    Mark,
    Named,
    Panel,
    Rings,
    Rug,
    Rule,
    Shade,
    Sparks,
    Strip,
)
from icefield.wording.values import number_text

CONTOURS = 12


def draw_mark(ax: Axes, panel: Panel, mark: Mark, theme: Theme) -> None:
    """Draw one mark."""
    drawing: Any = _DRAWING[type(mark)]
    drawing(ax, panel, mark, theme)


def _line(ax: Axes, panel: Panel, mark: Line, theme: Theme) -> None:
    if not len(mark.x):
        return
    width, halo = theme.line * mark.width, None
    if mark.halo:
        halo = [withStroke(linewidth=width + 2.5, foreground=theme.ground)]
    for part, faded in mark.stretches():
        x, y = _oriented(panel, mark.x[part], mark.y[part])
        ax.plot(
            x,
            y,
            color=theme.colour(mark.colour),
            linewidth=width,
            linestyle=DASHES[mark.dashed],
            drawstyle=f"steps-{mark.step}" if mark.step else "default",
            marker="o" if mark.markers else "",
            markersize=theme.marker * 0.75,
            alpha=mark.alpha * (0.3 if faded else 1.0),
            solid_capstyle="butt" if faded else "round",
            path_effects=halo,
            label="_curve",
            gid="icefield:faded" if faded else "icefield:line",
            zorder=3,
        )


def _band(ax: Axes, panel: Panel, mark: Band, theme: Theme) -> None:
    fill = ax.fill_betweenx if panel.flip else ax.fill_between
    fill(
        mark.x, mark.low, mark.high, step=mark.step, color=theme.colour(mark.colour), alpha=mark.alpha,
        linewidth=0, gid="icefield:band", zorder=1.8,
    )  # fmt: skip


def _curves(ax: Axes, panel: Panel, mark: Curves, theme: Theme) -> None:
    x, y = mark.corners()
    paths = np.empty((*y.shape, 2))
    paths[..., int(panel.flip)], paths[..., int(not panel.flip)] = x, y
    lines = LineCollection(
        list(paths), linewidths=theme.line * mark.width, alpha=mark.alpha, gid="icefield:curves", zorder=2
    )
    _colour_each(lines, mark, theme)
    ax.add_collection(lines, autolim=False)


def _colour_each(artist: Any, mark: Curves | Dots, theme: Theme) -> None:
    if mark.values is not None and mark.scale is not None:
        cmap = theme.cmap(mark.scale).with_extremes(bad=theme.muted)
        artist.set(array=np.ma.masked_invalid(mark.values), cmap=cmap, norm=theme.norm(mark.scale))
    elif mark.slots is not None:
        artist.set_color([theme.colour(slot) for slot in mark.slots])
    else:
        artist.set_color(theme.colour(mark.colour))


def _dots(ax: Axes, panel: Panel, mark: Dots, theme: Theme) -> None:
    colour = theme.colour(mark.colour)
    _intervals(ax, panel, mark, colour, theme)
    x, y = _oriented(panel, mark.x, mark.y)
    alpha: Any = mark.alpha if mark.faded is None else np.where(mark.faded, 0.3, 1.0) * mark.alpha
    dots = ax.scatter(
        x,
        y,
        s=(theme.marker * mark.size) ** 2,
        alpha=alpha,
        linewidths=0,
        gid="icefield:dots",
        zorder=3.5,
        marker=MARKERS[mark.pattern],
    )
    _colour_each(dots, mark, theme)


def _intervals(ax: Axes, panel: Panel, mark: Dots | Bars, colour: Any, theme: Theme) -> None:
    if mark.low is None or mark.high is None:
        return
    draw = ax.hlines if panel.flip else ax.vlines
    solid = isinstance(mark, Bars)
    draw(
        mark.x, mark.low, mark.high, color=theme.text if solid else colour, alpha=0.7 if solid else 0.45,
        linewidth=theme.line * 1.1, gid="icefield:interval", zorder=3.2,
    )  # fmt: skip


def _bars(ax: Axes, panel: Panel, mark: Bars, theme: Theme) -> None:
    colours = theme.colour(mark.colour) if mark.slots is None else [theme.colour(s) for s in mark.slots]
    draw = ax.barh if panel.flip else ax.bar
    bars = draw(mark.x, mark.y, mark.width, color=colours, linewidth=0, label="_bars", zorder=2.5)
    for number, bar in enumerate(bars):
        bar.set_gid("icefield:bar")
        if mark.pattern:
            bar.set(edgecolor=theme.ground, hatch=HATCHES[mark.pattern])  # hatches take the edge's colour
        if mark.faded is not None and mark.faded[number]:
            bar.set_alpha(0.35)
    _intervals(ax, panel, mark, colours, theme)


def _strip(ax: Axes, panel: Panel, mark: Strip, theme: Theme) -> None:
    heights = mark.height * mark.counts / (mark.counts.max() or 1.0)
    widths = mark.rights - mark.lefts
    draw, transform = (
        (ax.barh, ax.get_yaxis_transform()) if panel.flip else (ax.bar, ax.get_xaxis_transform())
    )
    bars = draw(mark.lefts, heights, widths, color=theme.faint, linewidth=0, align="edge", label="_data", zorder=1, transform=transform)  # fmt: skip
    for bar in bars:
        bar.set_gid("icefield:histogram")


def _rug(ax: Axes, panel: Panel, mark: Rug, theme: Theme) -> None:
    flip = panel.flip
    draw, transform = (ax.hlines, ax.get_yaxis_transform()) if flip else (ax.vlines, ax.get_xaxis_transform())
    draw(
        mark.x, 0, mark.height, transform=transform, color=theme.text, alpha=mark.alpha, linewidth=0.7,
        gid=f"icefield:{mark.name}", zorder=1.5,
    )  # fmt: skip


def _margin(ax: Axes, panel: Panel, mark: Margin, theme: Theme) -> None:
    top = mark.side == "top"
    inset = ax.inset_axes((0, 1.02, 1, 0.11) if top else (1.02, 0, 0.11, 1))
    draw, axis = (inset.bar, panel.x) if top else (inset.barh, panel.y)
    draw(mark.lefts, mark.counts, mark.rights - mark.lefts, color=theme.faint, linewidth=0, align="edge")
    ends, counts = (axis.low, axis.high), (0, mark.counts.max() * 1.02 or 1)
    if not top and axis.kind == "category":
        ends = ends[::-1]
    inset.set(xlim=ends if top else counts, ylim=counts if top else ends)
    inset.set_axis_off()
    inset.set_gid(f"icefield:margin-{mark.side}")


def _field(ax: Axes, panel: Panel, mark: Field, theme: Theme) -> None:
    norm, cmap = theme.norm(mark.scale), theme.cmap(mark.scale)
    if mark.style == "surface":
        _surface(ax, mark, norm, cmap)
        return
    z = np.ma.masked_invalid(mark.z)
    if mark.style == "contour":
        levels = MaxNLocator(CONTOURS).tick_values(mark.scale.low, mark.scale.high)
        filled = ax.contourf(
            mark.x, mark.y, z, levels=levels, norm=norm, cmap=cmap, extend="both", zorder=0.8
        )
        edges = ax.contour(mark.x, mark.y, z, levels=levels, colors=[theme.ground], linewidths=0.5, alpha=0.6, zorder=0.9)  # fmt: skip
        if mark.hull is not None:
            outline = Polygon(mark.hull, transform=ax.transData)
            filled.set_clip_path(outline)
            edges.set_clip_path(outline)
        filled.set_gid("icefield:contour")
        return
    mesh = ax.pcolormesh(mark.x, mark.y, z, norm=norm, cmap=cmap, linewidth=0, rasterized=True, zorder=0.8)
    mesh.set_gid("icefield:cells")
    if mark.values:
        _cell_values(ax, mark, norm, cmap)


def _shade(ax: Axes, panel: Panel, mark: Shade, theme: Theme) -> None:
    inks = np.empty((*mark.z.shape, 4))
    inks[..., :3], inks[..., 3] = to_rgb(theme.colour(mark.colour)), mark.alpha * mark.z
    mesh = ax.pcolormesh(mark.x, mark.y, inks, linewidth=0, rasterized=True, zorder=1.6)
    mesh.set_gid("icefield:shade")


def _cell_values(ax: Axes, mark: Field, norm: Any, cmap: Any) -> None:
    x, y = (mark.x[:-1] + mark.x[1:]) / 2, (mark.y[:-1] + mark.y[1:]) / 2
    for i, j in np.argwhere(np.isfinite(mark.z)):
        red, green, blue, _ = cmap(norm(mark.z[i, j]))
        ink = "white" if is_dark(red, green, blue) else "black"
        text = ax.text(x[j], y[i], "", ha="center", va="center", color=ink, gid="icefield:value",
                       size=smaller(SETTINGS["axes.labelsize"]))  # fmt: skip
        set_text(text, number_text(mark.z[i, j], 2))


def _surface(ax: Any, mark: Field, norm: Any, cmap: Any) -> None:
    x, y = np.meshgrid(mark.x, mark.y)
    surface = ax.plot_surface(
        x, y, mark.z, norm=norm, cmap=cmap, rcount=60, ccount=60, linewidth=0.15, edgecolor=(1, 1, 1, 0.25),
        antialiased=True,
    )  # fmt: skip
    surface.set_gid("icefield:surface")
    ax.view_init(elev=28, azim=-125)
    # Labels do not shrink with the figure, so the box leaves more of a small one to them.
    ax.set_box_aspect(None, zoom=min(0.9, 0.35 + 0.15 * inches(ax)[1]))


def _rule(ax: Axes, panel: Panel, mark: Rule, theme: Theme) -> None:
    horizontal = (mark.y is not None) != panel.flip
    at = float(mark.y if mark.y is not None else mark.x or 0.0)
    draw = ax.axhline if horizontal else ax.axvline
    draw(at, color=theme.muted, linewidth=0.8, linestyle=(0, (2, 3)) if mark.dashed else "-", label="_rule",
         gid="icefield:rule", zorder=1.2)  # fmt: skip


def _edge_text(ax: Axes, panel: Panel, mark: EdgeText, theme: Theme) -> None:
    _beside(ax, mark.at, mark.texts, 8, theme, "icefield:count")
    _header(ax, mark.header, 1, (8, 4), theme)
    refit(ax, panel)


def _sparks(ax: Axes, panel: Panel, mark: Sparks, theme: Theme) -> None:
    for number, (at, (x, y)) in enumerate(zip(mark.at, mark.curves)):
        slot = mark.slots[number] if mark.slots is not None else "text"
        ax.plot(
            1.03 + SPARK_WIDTH * unit(x), at + 0.38 - 0.76 * y, transform=ax.get_yaxis_transform(), clip_on=False,
            color=theme.colour(slot), linewidth=theme.line * 0.8, label="_spark", gid="icefield:spark",
        )  # fmt: skip
    _header(ax, mark.header, 1.03, (0, 4), theme)


def _named(ax: Axes, panel: Panel, mark: Named, theme: Theme) -> None:
    """Points, and beside the most important of them their names where no other is."""
    ax.scatter(mark.x, mark.y, s=theme.marker**2, c=[theme.colour(s) for s in mark.slots], linewidths=0, gid="icefield:dots", zorder=3.5)  # fmt: skip
    for x, y, to_x, to_y in zip(
        mark.x, mark.y, *(np.full(len(mark.x), np.nan) if to is None else to for to in (mark.to_x, mark.to_y))
    ):
        if np.isfinite(to_x + to_y):
            arrow = {"arrowstyle": "->", "color": theme.muted, "linewidth": 0.9, "alpha": 0.7}
            ax.annotate("", (to_x, to_y), (x, y), arrowprops=arrow, gid="icefield:arrow", zorder=3)
    across, up = (panel.x.high or 1.0) - (panel.x.low or 0.0), (panel.y.high or 1.0) - (panel.y.low or 0.0)
    size = smaller(SETTINGS["axes.labelsize"], 0.95)
    wide, high = size * 0.6 / (72 * inches(ax)[0]), size * 1.35 / (72 * inches(ax)[1])
    taken = [
        (x / across - 0.008, y / up - 0.012, x / across + 0.008, y / up + 0.012)
        for x, y in zip(mark.x, mark.y)
    ]
    for number, (x, y, words) in enumerate(zip(mark.x, mark.y, mark.texts)):
        if number == mark.most:
            return
        length = wide * len(words)
        for left, dy, side in (
            (0.014, 0.0, "left"),
            (-0.014 - length, 0.0, "right"),
            (-length / 2, 0.7 * high + 0.012, "center"),
            (-length / 2, -0.7 * high - 0.012, "center"),
        ):
            corner = x / across + left, y / up + dy
            box = (corner[0], corner[1] - high / 2, corner[0] + length, corner[1] + high / 2)
            rest = taken[:number] + taken[number + 1 :]
            if box[2] > 1.08 or any(
                box[0] < o[2] and o[0] < box[2] and box[1] < o[3] and o[1] < box[3] for o in rest
            ):
                continue
            at = x + {"left": 0.014, "right": -0.014, "center": 0.0}[side] * across
            set_text(ax.text(at, y + dy * up, "", ha=side, va="center", size=size, color=theme.text, clip_on=False, gid="icefield:name"), words)  # fmt: skip
            taken.append(box)
            break


def _rings(ax: Axes, panel: Panel, mark: Rings, theme: Theme) -> None:
    for radius in mark.radii:
        ring = Ellipse(
            (0, 0), 2 * radius, 2 * radius, fill=False, color=theme.faint, linewidth=0.8, zorder=0.6
        )
        ring.set_gid("icefield:ring")
        ax.add_patch(ring)


def _ends(ax: Axes, panel: Panel, mark: Ends, theme: Theme) -> None:
    _beside(ax, mark.y, mark.texts, 5, theme, "icefield:end")


def _beside(ax: Axes, places: Float, texts: Sequence[str], gap: float, theme: Theme, gid: str) -> None:
    """Texts beyond the right edge, at their heights."""
    size = smaller(SETTINGS["ytick.labelsize"], 0.9)
    for at, words in zip(places, texts):
        text = ax.annotate("", (1, at), xycoords=("axes fraction", "data"), xytext=(gap, 0), textcoords="offset points", ha="left",
                           va="center", size=size, color=theme.muted, gid=gid, annotation_clip=False)  # fmt: skip
        set_text(text, words)


def _header(ax: Axes, words: str, x: float, shift: tuple[float, float], theme: Theme) -> None:
    """What stands above what is beyond the right edge."""
    if words:
        size = smaller(SETTINGS["ytick.labelsize"], 0.9)
        text = ax.annotate("", (x, 1), xycoords="axes fraction", xytext=shift, textcoords="offset points",
                           ha="left", va="bottom", color=theme.muted, size=size)  # fmt: skip
        set_text(text, words)


def _oriented(panel: Panel, x: Float, y: Float) -> tuple[Float, Float]:
    return (y, x) if panel.flip else (x, y)


_DRAWING: dict[type, Any] = {
    Line: _line,
    Band: _band,
    Curves: _curves,
    Dots: _dots,
    Bars: _bars,
    Strip: _strip,
    Rug: _rug,
    Margin: _margin,
    Field: _field,
    Shade: _shade,
    Rule: _rule,
    EdgeText: _edge_text,
    Sparks: _sparks,
    Named: _named,
    Rings: _rings,
    Ends: _ends,
}
