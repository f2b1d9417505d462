"""Drawing a `Picture` with matplotlib.

The current style sheet rules: sizes, fonts, grounds and line widths are its own, and colours follow its
cycle where it has one. Figures made here are laid out by the constrained engine and kept plain
(no box, a faint grid); an Axes the caller passes in keeps its look. Marks are drawn in `matplotlib_marks`, axes
in `matplotlib_axes`, words in `matplotlib_words`.
"""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from icefield.errors import InputError, InputTypeError, complaint
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
from icefield.plots.matplotlib_theme import SETTINGS, Theme, smaller
from icefield.plots.matplotlib_words import (
    draw_colour_bar,
    draw_figure_legend,
    draw_legend,
    rewrap,
    write_below,
    write_labels,
)
from icefield.plots.options import Options
from icefield.plots.panels import Field, Panel, Picture
from icefield.wording.names import wrapped


def draw(picture: Picture, options: Options) -> Axes | Figure:
    """Draw into ``options.ax`` or a new figure: the Axes of one panel, the Figure of several."""
    if options.ax is not None:
        if len(picture.panels) > 1:
            raise InputError(
                complaint("ax", f"holds one panel and this picture has {len(picture.panels)}", options.ax,
                          "leave ax out, or choose with outputs=[...] or layout='overlay'")
            )  # fmt: skip
        _draw_into(options.ax, broken_levels(options.ax, picture.panels[0]), options)
        return options.ax
    figure, axes = _new_figure(picture, options)
    several = len(picture.panels) > 1
    for number, (ax, panel) in enumerate(zip(axes, picture.panels)):
        first = number % picture.columns == 0
        _draw_panel(ax, panel, options, own=True, several=several, first=first or not picture.share_y)
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
    _draw_panel(ax, panel, options, own=False)
    if panel.z is None:
        write_below(ax, panel, Theme(ax, options))
        for _ in range(2):  # what is broken to a narrower Axes takes more room below it
            make_room(ax)
            refit(ax, panel)
            rewrap(ax)


def _write_heading(figure: Figure, picture: Picture) -> None:
    """The title, with the note at the foot; without a title the note stands in its place."""
    size = smaller(SETTINGS["figure.titlesize"])
    words = wrapped(picture.note, max(24, int(figure.get_figwidth() * 72 / (0.57 * size))))
    small = {"x": 0.01, "ha": "left", "fontsize": size, "alpha": 0.7}
    if picture.title:
        set_text(figure.suptitle("", x=0.01, ha="left"), picture.title)
        if words:
            set_text(figure.supxlabel("", **small), words)
    elif words:
        set_text(figure.suptitle("", **small), words)


def _new_figure(picture: Picture, options: Options) -> tuple[Figure, list[Axes]]:
    import matplotlib.pyplot as plt

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
    figure, grid = plt.subplots(
        picture.rows,
        picture.columns,
        squeeze=False,
        sharey=picture.share_y,
        sharex=picture.share_x,
        figsize=size,
        layout="constrained",
        subplot_kw={"projection": "3d"} if solid else {},
    )
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.1, h_pad=0.1)
    axes = list(grid.ravel())
    for spare in axes[len(picture.panels) :]:
        spare.remove()
    return figure, axes[: len(picture.panels)]


def _draw_panel(
    ax: Axes, panel: Panel, options: Options, own: bool, several: bool = False, first: bool = True
) -> None:
    solid = panel.z is not None
    if solid != hasattr(ax, "get_zlim"):
        wanted = "a 3-D Axes" if solid else "a plain Axes, not a 3-D one"
        raise InputTypeError(
            complaint("ax", f"must be {wanted}", ax, "write plt.subplots(subplot_kw={'projection': '3d'})")
        )
    theme = Theme(ax, options)
    before = (ax.get_xlim(), ax.get_ylim()) if ax.has_data() else None
    if own and not solid:
        _plain_look(ax, panel, theme)
    for mark in panel.marks:
        draw_mark(ax, panel, mark, theme)
    if solid:
        solid_axes(ax, panel)
    else:
        value_axis(ax, panel, before)
        feature_axis(ax, panel, before)
    write_labels(ax, panel, theme, own, several, first)
    if panel.scale is not None and not own:
        draw_colour_bar(ax, panel, theme)
    if not several:
        draw_legend(ax, panel, theme, own)


def _plain_look(ax: Axes, panel: Panel, theme: Theme) -> None:
    surface = any(isinstance(m, Field) for m in panel.marks)
    ax.set_axisbelow(True)
    if not theme.boxed:
        ax.spines[["top", "right"]].set_visible(False)
    if surface:
        ax.grid(False)
    elif not SETTINGS["axes.grid"]:
        ax.grid(True, axis="x" if panel.flip else "y", color=theme.text, alpha=0.13, linewidth=0.6)
