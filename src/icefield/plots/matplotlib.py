"""Drawing a `Picture` with matplotlib.

The current style sheet rules: sizes, fonts, grounds and line widths are its own, and colours follow its
cycle where it has one. Figures made here are laid out by the constrained engine and kept plain
(no box, a faint grid); an Axes the caller passes in keeps its look. The marks themselves are drawn in
`matplotlib_marks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, num2date
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation
from matplotlib.ticker import FixedLocator, FuncFormatter, Locator, MaxNLocator
from matplotlib.transforms import Bbox, ScaledTranslation

from icefield.errors import InputError, InputTypeError, complaint
from icefield.plots.fonts import drawable, set_text
from icefield.plots.matplotlib_marks import draw_mark
from icefield.plots.matplotlib_theme import SETTINGS, Theme, smaller
from icefield.plots.options import Options
from icefield.plots.panels import (
    Axis,
    Bars,
    Dots,
    EdgeText,
    Field,
    Line,
    Margin,
    Mark,
    Panel,
    Picture,
    Sparks,
    first_tick,
    is_surface,
    visible_features,
    visible_values,
)
from icefield.wording.names import MISSING, abbreviated, wrapped

LEGEND_WIDTH = 22  # characters


def draw(picture: Picture, options: Options) -> Axes | Figure:
    """Draw into ``options.ax`` or a new figure: the Axes of one panel, the Figure of several."""
    if options.ax is not None:
        if len(picture.panels) > 1:
            raise InputError(
                complaint("ax", f"holds one panel and this picture has {len(picture.panels)}", options.ax,
                          "leave ax out, or choose with outputs=[...] or layout='overlay'")
            )  # fmt: skip
        _draw_panel(options.ax, picture.panels[0], options, own=False)
        return options.ax
    figure, axes = _new_figure(picture, options)
    several = len(picture.panels) > 1
    for number, (ax, panel) in enumerate(zip(axes, picture.panels)):
        first = number % picture.columns == 0
        _draw_panel(ax, panel, options, own=True, several=several, first=first or not picture.share_y)
        last = (number + 1) % picture.columns == 0 or number + 1 == len(picture.panels)
        if panel.scale is not None and (last or picture.panels[number + 1].scale is not panel.scale):
            _colour_bar(ax, panel, Theme(ax, options))
    if several:
        _figure_legend(figure, axes[0], picture, options)
        heading = picture.title or picture.note
        if heading:
            small = {} if picture.title else {"fontsize": smaller(SETTINGS["figure.titlesize"]), "alpha": 0.7}
            set_text(figure.suptitle("", x=0.01, ha="left", **small), heading)
        return figure
    return axes[0]


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
        _solid_axes(ax, panel)
    else:
        _value_axis(ax, panel, before)
        _feature_axis(ax, panel, before)
    _labels(ax, panel, theme, own, several, first)
    if panel.scale is not None and not own:
        _colour_bar(ax, panel, theme)
    if not several:
        _legend(ax, panel, theme, own)


def _plain_look(ax: Axes, panel: Panel, theme: Theme) -> None:
    surface = any(isinstance(m, Field) for m in panel.marks)
    ax.set_axisbelow(True)
    if not theme.boxed:
        ax.spines[["top", "right"]].set_visible(False)
    if surface:
        ax.grid(False)
    elif not SETTINGS["axes.grid"]:
        ax.grid(True, axis="x" if panel.flip else "y", color=theme.text, alpha=0.13, linewidth=0.6)


# --- axes ------------------------------------------------------------------------------------------


def _value_axis(ax: Axes, panel: Panel, before: Any) -> None:
    """The axis of predictions, or of the second feature."""
    axis, limit = (ax.xaxis, ax.set_xlim) if panel.flip else (ax.yaxis, ax.set_ylim)
    ends = visible_values(panel)
    if is_surface(panel):
        _place_ticks(ax, panel.y, "y")
        # Levels are read from the top.
        limit(*(ends[::-1] if panel.y.kind == "category" else ends))
        return
    if before is not None:
        ends = _reaching(ends, before[0] if panel.flip else before[1])
    limit(*ends)
    _number_format(axis, ends)
    if panel.flip and max(map(abs, ends)) >= 1e4:
        axis.set_major_locator(MaxNLocator(4))  # long numbers side by side
    if before is None and np.isfinite(first_tick(panel)):
        axis.set_major_locator(_TicksWithin(axis.get_major_locator(), first_tick(panel), np.inf))


def _feature_axis(ax: Axes, panel: Panel, before: Any) -> None:
    ends = visible_features(panel)
    if before is not None:
        ends = _reaching(ends, before[1] if panel.flip else before[0])
    if panel.flip:
        ax.set_ylim(*ends[::-1])  # the first level on top
        _place_ticks(ax, panel.x, "y")
    else:
        ax.set_xlim(*ends)
        _place_ticks(ax, panel.x, "x")


def _reaching(ends: tuple[float, float], old: tuple[float, float]) -> tuple[float, float]:
    """Limits that still show what was on the caller's Axes before."""
    return min(*ends, *old), max(*ends, *old)


def _place_ticks(ax: Axes, described: Axis, which: str) -> None:
    axis = ax.xaxis if which == "x" else ax.yaxis
    if described.kind == "category":
        _level_ticks(ax, axis, described, which)
        return
    if described.kind == "time":
        locator = AutoDateLocator(minticks=3, maxticks=8)
        axis.set_major_locator(locator)
        axis.set_major_formatter(_Dates(locator))
    elif described.kind == "integer":
        axis.set_major_locator(MaxNLocator(nbins="auto", integer=True, steps=[1, 2, 3, 4, 5, 6, 10]))
    if described.low is not None and described.high is not None and described.kind != "time":
        _number_format(axis, [described.low, described.high])
    if described.missing is not None:
        _missing_tick(ax, axis, described, which)


def _level_ticks(ax: Axes, axis: Any, described: Axis, which: str) -> None:
    texts = list(described.ticks)
    rotation = 0.0
    if which == "x":
        room = _inches(ax)[0] * 72 / max(1, len(texts))
        fitting = int(room / (0.6 * smaller(SETTINGS["xtick.labelsize"], 1.0)))
        broken = ["\n".join(wrapped(line, max(4, fitting)) for line in t.split("\n")) for t in texts]
        lines = [line for t in broken for line in t.split("\n")]
        if max(map(len, lines), default=0) <= fitting and max(t.count("\n") for t in broken) <= 3:
            texts = broken
        else:
            rotation = 90.0 if len(texts) > 12 else 40.0
            texts = [abbreviated(" ".join(t.split("\n")), 22) for t in texts]
    words = [drawable(t) for t in texts]
    axis.set_major_locator(FixedLocator(list(range(len(texts)))))
    axis.set_ticklabels([w for w, _ in words])
    families = next((f for _, f in words if f is not None), None)
    everything = list(dict.fromkeys(f for _, fs in words if fs for f in fs))
    if families is not None:
        axis.set_tick_params(labelfontfamily=everything)
    axis.set_tick_params(length=0)
    if rotation:
        for label in axis.get_ticklabels():
            label.set(rotation=rotation, ha="center" if rotation == 90 else "right", rotation_mode="anchor")
            if rotation == 90:
                label.set(ha="right", va="center")


class _Dates(ConciseDateFormatter):
    """Short dates, of which the first names its year: months alone would leave the reader guessing."""

    def __init__(self, locator: Any) -> None:
        super().__init__(locator, show_offset=False)

    def format_ticks(self, values: Any) -> list[str]:
        labels = list(super().format_ticks(values))
        if labels:
            first = num2date(values[0])
            named = f"{first:%Y}" if labels[0].isalpha() else f"{first:%b %Y}"
            if f"{first:%Y}" not in labels[0]:
                labels[0] = f"{labels[0]}\n{named}"
        return labels


class _TicksWithin(Locator):
    """Another locator's ticks, as far as real values reach; and not within `clear` points of the last."""

    def __init__(self, base: Locator, first: float, last: float, clear: float = 0.0) -> None:
        self.base, self.first, self.last, self.clear = base, first, last, clear

    def set_axis(self, axis: Any) -> None:
        super().set_axis(axis)
        self.base.set_axis(axis)

    def __call__(self) -> Any:
        return self._within(np.asarray(self.base()))

    def tick_values(self, vmin: float, vmax: float) -> Any:
        return self._within(np.asarray(self.base.tick_values(vmin, vmax)))

    def _within(self, ticks: Any) -> Any:
        last = self.last
        axis: Any = self.axis
        if self.clear and axis is not None:
            ax = axis.axes
            low, high = sorted(axis.get_view_interval())
            points = ax.bbox.width * 72 / ax.get_figure().dpi
            last -= self.clear * (high - low) / max(points, 1.0)
        return ticks[(ticks >= self.first) & (ticks <= last)]


def _missing_tick(ax: Axes, axis: Any, described: Axis, which: str) -> None:
    last = float(described.missing or 0.0)
    size = SETTINGS[f"{which}tick.labelsize"]
    # Half of the word, and half of a number's text.
    clear = smaller(size, 1.0) * (0.58 * len(MISSING) / 2 + 1.1) if which == "x" else smaller(size, 1.2)
    axis.set_major_locator(_TicksWithin(axis.get_major_locator(), -np.inf, last, clear))
    offset = SETTINGS[f"{which}tick.major.size"] + SETTINGS[f"{which}tick.major.pad"]
    if which == "x":
        at: Any = (last, 0)
        shift = (0.0, -offset)
        where: Any = ("data", "axes fraction")
        place: dict[str, Any] = {"ha": "center", "va": "top"}
    else:
        at, shift, where = (0, last), (-offset, 0.0), ("axes fraction", "data")
        place = {"ha": "right", "va": "center"}
    colour = SETTINGS[f"{which}tick.labelcolor"]
    colour = SETTINGS[f"{which}tick.color"] if colour == "inherit" else colour
    ax.annotate(
        MISSING, at, xycoords=where, xytext=shift, textcoords="offset points", size=size, color=colour,
        gid="icefield:missing", annotation_clip=False, **place,
    )  # fmt: skip


def _number_format(axis: Any, ends: Sequence[float]) -> None:
    """Thousands separated, millions as such; small numbers stay with matplotlib."""
    largest, span = max(abs(e) for e in ends), abs(ends[1] - ends[0])
    if largest >= 1e6 and span >= 1e4 and largest < 1e12:
        unit, letter = (1e9, "B") if largest >= 1e9 else (1e6, "M")
        axis.set_major_formatter(FuncFormatter(lambda v, _: "0" if v == 0 else f"{v / unit:g}{letter}"))
    elif largest >= 1e4 and span >= 5 and largest < 1e12:
        axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}"))


def _solid_axes(ax: Any, panel: Panel) -> None:
    for described, name in ((panel.x, "x"), (panel.y, "y")):
        getattr(ax, f"set_{name}lim")(described.low, described.high)
        if described.kind == "time":
            locator = AutoDateLocator(minticks=3, maxticks=5)
            getattr(ax, f"{name}axis").set_major_locator(locator)
            getattr(ax, f"{name}axis").set_major_formatter(_Dates(locator))
        else:
            whole = described.kind == "integer"
            getattr(ax, f"{name}axis").set_major_locator(MaxNLocator(5, integer=whole))
            _number_format(getattr(ax, f"{name}axis"), [described.low or 0.0, described.high or 1.0])
    if panel.z is not None:
        _number_format(ax.zaxis, [panel.z.low or 0.0, panel.z.high or 1.0])
        ax.zaxis.set_tick_params(pad=6)


# --- words -----------------------------------------------------------------------------------------


def _labels(ax: Axes, panel: Panel, theme: Theme, own: bool, several: bool, first: bool) -> None:
    width, height = _inches(ax)
    size = smaller(SETTINGS["axes.labelsize"], 1.0)
    across, up = (panel.y.label, panel.x.label) if panel.flip else (panel.x.label, panel.y.label)
    set_text(ax.xaxis.label, wrapped(across, max(16, int(width * 72 / (size * 0.52)))))
    if first:
        set_text(ax.yaxis.label, wrapped(up, max(16, int(height * 72 / (size * 0.55)))))
    above = 0.0 if not any(isinstance(m, Margin) and m.side == "top" for m in panel.marks) else 0.15
    small = smaller(SETTINGS["axes.labelsize"])
    lines = 0
    beside = _beside(panel) if own else 0.0
    header = any(getattr(m, "header", "") for m in panel.marks)
    if panel.note and own and not several and panel.z is None:
        words = wrapped(panel.note, max(24, int((width - beside) * 72 / (small * 0.57))))
        lines = words.count("\n") + 1
        lift = 6 + (1.3 * small if header else 0.0)
        note = _Note("", (0, 1 + above), xycoords="axes fraction", xytext=(0, lift), textcoords="offset points",
                     ha="left", va="bottom", size=small, color=theme.muted, gid="icefield:note", clip_on=False)  # fmt: skip
        ax.add_artist(note)
        set_text(note, words)
    if panel.title:
        title = ax.set_title("", loc="left", pad=9 + 1.4 * small * (lines + header) + above * height * 72)
        set_text(title, wrapped(panel.title, max(16, int(width * 72 / (smaller(SETTINGS["axes.titlesize"], 1.0) * 0.55)))))  # fmt: skip


def _beside(panel: Panel) -> float:
    """About how many inches of the usual width of an Axes long levels and a legend take."""
    levels = max((len(line) for t in panel.x.ticks for line in t.split("\n")), default=0) if panel.flip else 0
    named = [str(getattr(m, "label", "")) for m in panel.labelled]
    legend = min(LEGEND_WIDTH, max(map(len, named))) + 6 if named else 0
    return (
        max(0, levels - 8) * smaller(SETTINGS["ytick.labelsize"], 0.6) / 72
        + legend * smaller(SETTINGS["legend.fontsize"], 0.6) / 72
    )


class _Note(Annotation):
    """A line of text that, like a title, claims height of the layout but no width."""

    def get_tightbbox(self, renderer: Any = None) -> Any:
        box = super().get_tightbbox(renderer)
        return box if box is None else Bbox.from_extents(box.x0, box.y0, box.x0 + 1, box.y1)


def _inches(ax: Axes) -> tuple[float, float]:
    """About how large the Axes will be."""
    figure: Any = ax.get_figure()
    box, whole = ax.get_position(), figure.bbox
    return box.width * whole.width / figure.dpi, box.height * whole.height / figure.dpi


# --- legends and colour bars -----------------------------------------------------------------------


def _handle(mark: Mark, theme: Theme) -> Any:
    colour = theme.colour(getattr(mark, "colour", 0))
    if isinstance(mark, Bars):
        return Patch(facecolor=colour)
    if isinstance(mark, Dots):
        return Line2D([], [], color=colour, marker="o", linestyle="none")
    dashed = isinstance(mark, Line) and mark.dashed
    return Line2D([], [], color=colour, linestyle=(0, (4, 2)) if dashed else "-", linewidth=theme.line * 1.25)


def _filled(legend: Any, panel: Panel, marks: list[Mark], theme: Theme) -> None:
    """Set the words afterwards: handed to the legend, a label with a leading underscore may be dropped."""
    for text, mark in zip(legend.get_texts(), marks):
        set_text(text, wrapped(str(getattr(mark, "label", "")), LEGEND_WIDTH))
    if panel.legend_title:
        legend.set_title("title")
        set_text(legend.get_title(), wrapped(panel.legend_title, LEGEND_WIDTH))
        legend.set_alignment("left")


def _legend(ax: Axes, panel: Panel, theme: Theme, own: bool) -> None:
    marks = panel.labelled
    if not marks:
        return
    handles = [_handle(mark, theme) for mark in marks]
    existing = ax.get_legend()
    if own:
        # Past what stands beside the panel: shares of its width, then points for texts.
        share, points = (1.08, 62.0) if panel.scale is not None else (1.0, 12.0)
        if any(isinstance(m, Sparks) for m in panel.marks):
            share, points = 1.16, 14.0
        if any(isinstance(m, EdgeText) for m in panel.marks):
            points = 58.0
        shift = ScaledTranslation(points / 72, 0, theme.figure.dpi_scale_trans)
        legend = ax.legend(
            handles, ["label"] * len(handles), loc="upper left", bbox_to_anchor=(share, 1.0), bbox_transform=ax.transAxes + shift, frameon=False,
            borderaxespad=0.0,
        )  # fmt: skip
    else:
        if existing is not None:
            ax.add_artist(existing)
        legend = ax.legend(handles, ["label"] * len(handles))
    _filled(legend, panel, marks, theme)


def _figure_legend(figure: Figure, ax: Axes, picture: Picture, options: Options) -> None:
    """One legend for all panels when they name the same things; else each panel has its own."""
    labelled = [panel.labelled for panel in picture.panels]
    names = [tuple(getattr(m, "label", None) for m in marks) for marks in labelled]
    if not any(names):
        return
    theme = Theme(ax, options)
    if len({n for n in names if n}) > 1:
        for own_ax, panel in zip(figure.axes, picture.panels):
            _legend(own_ax, panel, theme, own=False)
        return
    at = next(i for i, n in enumerate(names) if n)
    legend = figure.legend(
        [_handle(m, theme) for m in labelled[at]], ["label"] * len(labelled[at]),
        loc="outside right upper", frameon=False,
    )  # fmt: skip
    _filled(legend, picture.panels[at], labelled[at], theme)


def _colour_bar(ax: Any, panel: Panel, theme: Theme) -> None:
    scale = panel.scale
    if scale is None:
        return
    mappable = mpl.cm.ScalarMappable(theme.norm(scale), theme.cmap(scale))
    right = any(isinstance(m, Margin) and m.side == "right" for m in panel.marks)
    if panel.z is None:
        # Inside the Axes' own coordinates it follows wherever the caller's figure puts the Axes.
        bar_ax = ax.inset_axes((1.16 if right else 1.04, 0.0, 0.035, 1.0))
        bar = ax.get_figure().colorbar(mappable, cax=bar_ax)
    else:
        bar = ax.get_figure().colorbar(mappable, ax=ax, shrink=0.6, pad=0.08)
        bar_ax = bar.ax
    bar.outline.set_visible(False)
    bar_ax.grid(False)
    height = _inches(ax)[1]
    size = smaller(SETTINGS["axes.labelsize"], 1.0)
    bar.set_label(" ")
    set_text(bar_ax.yaxis.label, wrapped(scale.label, max(16, int(height * 72 / (size * 0.55)))))
    if scale.time:
        locator = AutoDateLocator(minticks=3, maxticks=6)
        bar_ax.yaxis.set_major_locator(locator)
        bar_ax.yaxis.set_major_formatter(_Dates(locator))
    else:
        _number_format(bar_ax.yaxis, [scale.low, scale.high])
