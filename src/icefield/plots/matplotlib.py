"""Drawing a `Picture` with matplotlib.

The current style sheet rules: sizes, fonts, grounds and line widths are its own, and colours follow its
cycle where it has one. Figures made here are laid out by the constrained engine and kept plain
(no box, a faint grid); an Axes the caller passes in loses its box and keeps its look otherwise. Narrow figures have
smaller print, their legend below, and panels arranged for the room there is. Marks are drawn in `matplotlib_marks`, axes
in `matplotlib_axes`, words in `matplotlib_words`.
"""

from __future__ import annotations

import io
import sys
import warnings
from dataclasses import replace
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icefield.errors import InputError, InputTypeError
from icefield.plots.fonts import set_text
from icefield.plots.matplotlib_axes import (
    broken_levels,
    feature_axis,
    refit,
    solid_axes,
    value_axis,
)
from icefield.plots.matplotlib_marks import draw_mark
from icefield.plots.matplotlib_room import make_room
from icefield.plots.matplotlib_theme import NARROW, SETTINGS, Theme, small_print, smaller
from icefield.plots.matplotlib_words import (
    draw_colour_bar,
    draw_figure_legend,
    draw_legend,
    first_parts,
    legend_room,
    rewrap,
    write_below,
    write_labels,
)
from icefield.plots.options import Options
from icefield.plots.panels import Field, Panel, Picture
from icefield.wording.names import wrapped

PNG_DPI = 110
PANEL = (1.5, 1.2)  # inches that a panel among others needs


def draw(picture: Picture, options: Options) -> Axes | Figure:
    """Draw into ``options.ax`` or a new figure: the Axes of one panel, the Figure of several."""
    if options.ax is not None:
        if len(picture.panels) > 1:
            raise InputError.about("ax", f"holds one panel and this picture has {len(picture.panels)}", options.ax,
                                "leave ax out, or choose with outputs=[...] or layout='overlay'")  # fmt: skip
        _draw_into(options.ax, broken_levels(options.ax, picture.panels[0]), options)
        return options.ax
    return _made(picture, options, by_pyplot=True)[0]


def png(picture: Picture, options: Options) -> bytes:
    """The picture as a PNG, drawn without pyplot on a figure of its own."""
    _, figure = _made(picture, options, by_pyplot=False)
    file = io.BytesIO()
    with warnings.catch_warnings():
        # A name that leaves no room for the curve is seen to do so.
        warnings.filterwarnings("ignore", "constrained_layout not applied")
        figure.savefig(file, format="png", dpi=PNG_DPI)
    return file.getvalue()


def _made(picture: Picture, options: Options, by_pyplot: bool) -> tuple[Axes | Figure, Figure]:
    """The picture in a new figure, arranged for the size the user gave: what `draw` returns, and the figure."""
    size = options.figsize
    if size is not None:
        picture = _rearranged(picture, size)
    with mpl.rc_context(small_print(None if size is None else size[0], picture.columns)):
        figure, axes = _new_figure(picture, options, by_pyplot)
        return _drawn_figure(picture, options, figure, axes), figure


def _rearranged(picture: Picture, size: tuple[float, float]) -> Picture:
    """As many panels to a row as leave each the most room, in a figure of a given size."""
    count = len(picture.panels)
    if count < 2 or any(panel.flip for panel in picture.panels):
        return picture

    def room(columns: int) -> float:
        return min(size[0] / columns / PANEL[0], size[1] / -(-count // columns) / PANEL[1])

    # As it was, unless that is too small.
    if room(picture.columns) >= 1:
        return picture
    return replace(picture, columns=max(range(1, count + 1), key=lambda columns: (room(columns), columns)))


def _drawn_figure(picture: Picture, options: Options, figure: Figure, axes: list[Axes]) -> Axes | Figure:
    several = len(picture.panels) > 1
    # What is the same for all is written once a row, or once a column.
    alike_up = len({panel.y.label for panel in picture.panels}) == 1
    alike_across = len({(panel.x.label, panel.flip) for panel in picture.panels}) == 1
    for number, (ax, panel) in enumerate(zip(axes, picture.panels)):
        if not several and figure.get_figwidth() < NARROW:
            panel = broken_levels(ax, panel)
        first = number % picture.columns == 0 or not (picture.share_y or alike_up)
        lowest = number + picture.columns >= len(picture.panels) or not alike_across
        _draw_panel(ax, panel, options, is_ours=True, several=several, first=first, lowest=lowest)
        last = (number + 1) % picture.columns == 0 or number + 1 == len(picture.panels)
        if panel.scale is not None and (last or picture.panels[number + 1].scale is not panel.scale):
            draw_colour_bar(ax, panel, Theme(ax, options))
    if several:
        draw_figure_legend(figure, axes[0], picture, options)
        _write_heading(figure, picture)
        return figure
    return axes[0]


def _draw_into(ax: Axes, panel: Panel, options: Options) -> None:
    """Draw into the caller's Axes, and see to it that its words are not cut off."""
    _draw_panel(ax, panel, options, is_ours=False)
    if panel.z is None:
        write_below(ax, panel, Theme(ax, options))
        for _ in range(2):  # what is broken to a narrower Axes takes more room below it
            make_room(ax)
            refit(ax, panel)
            rewrap(ax)


def _write_heading(figure: Figure, picture: Picture) -> None:
    """The title, with the note at the foot; without a title the note stands in its place."""
    size = smaller(SETTINGS["figure.titlesize"])
    letters = max(24, int(figure.get_figwidth() * 72 / (0.57 * size)))
    words = wrapped(
        first_parts(picture.note, 2 * letters - 8) if figure.get_figwidth() < NARROW else picture.note,
        letters,
    )
    small = {"x": 0.01, "ha": "left", "fontsize": size, "alpha": 0.7}
    if picture.title:
        set_text(figure.suptitle("", x=0.01, ha="left"), picture.title)
        if words:
            set_text(figure.supxlabel("", **small), words)
    elif words:
        set_text(figure.suptitle("", **small), words)


class PlotFigure(Figure):
    """A figure that a notebook shows once: IPython shows what a cell ends with, and its inline backend every open figure."""

    def _ipython_display_(self) -> None:
        pyplot = sys.modules.get("matplotlib.pyplot")
        if (
            pyplot is not None
            and "inline" in str(SETTINGS["backend"])
            and pyplot.fignum_exists(getattr(self, "number", -1))
        ):
            pyplot.close(self)
        raise NotImplementedError  # IPython then shows it as any figure, in the format that the user chose


def _new_figure(picture: Picture, options: Options, by_pyplot: bool) -> tuple[Figure, list[Axes]]:
    size = options.figsize
    if size is None and picture.panel_size is not None:
        width, height = picture.panel_size
        size = (width * picture.columns + 0.6, height * picture.rows + 0.3)
        if len(picture.panels) == 1:
            size = (
                max(width, SETTINGS["figure.figsize"][0]),
                max(height, SETTINGS["figure.figsize"][1]),
            )
    solid = picture.panels[0].z is not None
    figure: Figure
    if by_pyplot:
        import matplotlib.pyplot as plt

        figure = plt.figure(FigureClass=PlotFigure, figsize=size, layout="constrained")
    else:
        figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(
        picture.rows,
        picture.columns,
        squeeze=False,
        sharey=picture.share_y,
        sharex=picture.share_x,
        subplot_kw={"projection": "3d"} if solid else {},
    )
    engine: Any = figure.get_layout_engine()
    pad = 0.1 if figure.get_figwidth() >= NARROW else 0.03
    engine.set(w_pad=pad, h_pad=pad)
    axes = list(grid.ravel())
    for spare in axes[len(picture.panels) :]:
        spare.remove()
    return figure, axes[: len(picture.panels)]


def _draw_panel(
    ax: Axes,
    panel: Panel,
    options: Options,
    is_ours: bool,
    several: bool = False,
    first: bool = True,
    lowest: bool = True,
) -> None:
    solid = panel.z is not None
    if solid != hasattr(ax, "get_zlim"):
        wanted = "a 3-D Axes" if solid else "a plain Axes, not a 3-D one"
        raise InputTypeError.about(
            "ax", f"must be {wanted}", ax, "write plt.subplots(subplot_kw={'projection': '3d'})"
        )
    theme = Theme(ax, options)
    before = (ax.get_xlim(), ax.get_ylim()) if ax.has_data() else None
    if not solid and (is_ours or before is None):
        _plain_look(ax, panel, theme, is_ours)
    for mark in panel.marks:
        draw_mark(ax, panel, mark, theme)
    if solid:
        solid_axes(ax, panel)
    else:
        beside = legend_room(panel, theme)[0] if is_ours and not several else 0.0
        value_axis(ax, panel, before, beside)
        feature_axis(ax, panel, before, beside)
    write_labels(ax, panel, theme, is_ours, several, first, lowest)
    if panel.scale is not None and not is_ours:
        draw_colour_bar(ax, panel, theme)
    if not several:
        draw_legend(ax, panel, theme, is_ours)


def _plain_look(ax: Axes, panel: Panel, theme: Theme, is_ours: bool) -> None:
    """No box; in a figure of ours a faint grid too. A caller's Axes keeps what it has of a grid."""
    surface = any(isinstance(m, Field) for m in panel.marks)
    if not theme.boxed:
        ax.spines[["top", "right"]].set_visible(False)
    if not is_ours:
        return
    for axis in ("x", "y"):  # ticks are made when they are drawn, where other settings may hold
        ax.tick_params(axis=axis, labelsize=smaller(SETTINGS[f"{axis}tick.labelsize"], 1.0))
    ax.set_axisbelow(True)
    if surface:
        ax.grid(False)
    elif not SETTINGS["axes.grid"]:
        ax.grid(True, axis="x" if panel.flip else "y", color=theme.text, alpha=0.13, linewidth=0.6)
