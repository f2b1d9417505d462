"""What is written around a matplotlib panel: labels, title, note, legends and the colour bar.

Texts are broken to the room there is and set literally: names from the data are never markup.
"""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox, IdentityTransform, ScaledTranslation

from icefield.plots.fonts import set_text
from icefield.plots.matplotlib_axes import ShortDates, inches, number_format
from icefield.plots.matplotlib_theme import DASHES, HATCHES, MARKERS, NARROW, SETTINGS, Theme, smaller
from icefield.plots.options import Options
from icefield.plots.panels import Bars, Dots, EdgeText, Line, Margin, Mark, Panel, Picture, Sparks
from icefield.wording.names import abbreviated, wrapped

LEGEND_WIDTH = 22  # characters
LEGEND_SHARE = 0.25  # of the width, which a legend may take beside a panel
WIDE = 6.0  # inches of a figure in which it may take more
SOLID_EDGE, SOLID_LABEL = 0.5, 44  # of the width that a lower edge takes in space; letters of its label


def write_labels(
    ax: Axes, panel: Panel, theme: Theme, is_ours: bool, several: bool, first: bool, lowest: bool
) -> None:
    """Axis labels, note and title, broken to the room there is; `first` of its row and `lowest` of its column name their axes."""
    width, height = inches(ax, _beside(panel) if several and panel.flip else 0.0)
    size = smaller(SETTINGS["axes.labelsize"], 1.0)
    across, up = (panel.y.label, panel.x.label) if panel.flip else (panel.x.label, panel.y.label)
    if panel.z is not None:
        _solid_labels(ax, panel, int(SOLID_EDGE * width * 72 / (size * 0.52)))
    elif lowest:
        set_text(ax.xaxis.label, wrapped(across, max(10 if several else 16, int(width * 72 / (size * 0.52)))))
    if first and panel.z is None:
        room = height - (legend_room(panel, theme)[1] if is_ours and not several else 0.0)
        set_text(ax.yaxis.label, wrapped(up, max(10 if several else 16, int(room * 72 / (size * 0.55)))))
    above = 0.0 if not any(isinstance(m, Margin) and m.side == "top" for m in panel.marks) else 0.15
    small = smaller(SETTINGS["axes.labelsize"])
    lines = 0
    beside = _beside(panel) if is_ours and not theme.narrow and not legend_room(panel, theme)[1] else 0.0
    header = any(getattr(m, "header", "") for m in panel.marks)
    letters = max(24, int((width - beside) * 72 / (small * 0.57)))
    # Where there is little room, only what the picture cannot be read without.
    narrow = theme.narrow
    words = wrapped(first_parts(panel.band, 2 * letters - 8) if narrow else panel.note, letters)
    if words and is_ours and not several and panel.z is None:
        lines = words.count("\n") + 1
        lift = 6 + (1.3 * small if header else 0.0)
        note = _Note("", (0, 1 + above), xycoords="axes fraction", xytext=(0, lift), textcoords="offset points",
                     ha="left", va="bottom", size=small, color=theme.muted, gid="icefield:note", clip_on=False)  # fmt: skip
        note.set_transform(
            IdentityTransform()
        )  # else an Axes gives it that of the data, in which 0 has no logarithm
        ax.add_artist(note)
        set_text(note, words)
    if panel.title:
        title = ax.set_title("", loc="left", pad=9 + 1.4 * small * (lines + header) + above * height * 72)
        set_text(title, wrapped(panel.title, max(16, int(width * 72 / (smaller(SETTINGS["axes.titlesize"], 1.0) * 0.55)))))  # fmt: skip


def first_parts(note: str, letters: int) -> str:
    """As much of a note as is no longer than this, in whole parts."""
    text = ""
    for part in note.split("; "):
        longer = f"{text}; {part}" if text else part
        if len(longer) > letters:
            break
        text = longer
    return text


def _solid_labels(ax: Any, panel: Panel, letters: int) -> None:
    """Labels along the two lower edges of a surface in space, in lines no longer than these."""
    for axis, label in ((ax.xaxis, panel.x.label), (ax.yaxis, panel.y.label)):
        words = wrapped(abbreviated(label, SOLID_LABEL), max(14, letters))
        set_text(axis.label, words)
        axis.labelpad = SETTINGS["axes.labelpad"] + 6 * words.count("\n")


def _beside(panel: Panel) -> float:
    """About how many inches of the usual width of an Axes long levels and a legend take."""
    levels = max((len(line) for t in panel.x.ticks for line in t.split("\n")), default=0) if panel.flip else 0
    named = [str(getattr(m, "label", "")) for m in panel.labelled]
    legend = min(LEGEND_WIDTH, max(map(len, named))) + 6 if named else 0
    return (
        max(0, levels - 8) * smaller(SETTINGS["ytick.labelsize"], 0.6) / 72
        + legend * smaller(SETTINGS["legend.fontsize"], 0.6) / 72
    )


def legend_room(panel: Panel, theme: Theme) -> tuple[float, float]:
    """About how many inches the legend of a single panel takes beside it, and below: one of them is 0."""
    names = [str(getattr(mark, "label", "")) for mark in panel.labelled]
    if not names:
        return 0.0, 0.0
    figure = theme.figure.bbox.width / theme.figure.dpi
    size = smaller(SETTINGS["legend.fontsize"], 1.0)
    beside = (min(LEGEND_WIDTH, max(map(len, [*names, panel.legend_title]))) + 6) * 0.6 * size / 72
    if not theme.narrow and (figure >= WIDE or beside <= LEGEND_SHARE * figure):
        return beside, 0.0
    columns = _legend_columns(theme.figure, names)
    rows = -(-len(names) // columns) * max(wrapped(name, LEGEND_WIDTH).count("\n") + 1 for name in names)
    return 0.0, (rows + bool(panel.legend_title) + 0.5) * 1.3 * size / 72


class _Note(Annotation):
    """A line of text that, like a title, claims height of the layout but no width."""

    def get_tightbbox(self, renderer: Any = None) -> Any:
        box = super().get_tightbbox(renderer)
        return box if box is None else Bbox.from_extents(box.x0, box.y0, box.x0 + 1, box.y1)


# --- legends and colour bars -----------------------------------------------------------------------


def _handle(mark: Mark, theme: Theme) -> Any:
    colour = theme.colour(getattr(mark, "colour", 0))
    if isinstance(mark, Bars):
        return Patch(facecolor=colour, hatch=HATCHES[mark.pattern], edgecolor=theme.ground, linewidth=0)
    if isinstance(mark, Dots):
        return Line2D([], [], color=colour, marker=MARKERS[mark.pattern], linestyle="none")
    dashes = DASHES[mark.dashed if isinstance(mark, Line) else 0]
    return Line2D([], [], color=colour, linestyle=dashes, linewidth=theme.line * 1.25)


def _filled(legend: Any, panel: Panel, marks: list[Mark]) -> None:
    """Set the words afterwards: handed to the legend, a label with a leading underscore may be dropped."""
    for text, mark in zip(legend.get_texts(), marks):
        set_text(text, wrapped(str(getattr(mark, "label", "")), LEGEND_WIDTH))
    if panel.legend_title:
        legend.set_title("title")
        set_text(legend.get_title(), wrapped(panel.legend_title, LEGEND_WIDTH))
        legend.set_alignment("left")


def draw_legend(ax: Axes, panel: Panel, theme: Theme, is_ours: bool) -> None:
    """The legend of one panel: beside it in a figure of ours, wherever it fits in the caller's."""
    marks = panel.labelled
    if not marks:
        return
    handles = [_handle(mark, theme) for mark in marks]
    if is_ours and legend_room(panel, theme)[1]:
        legend = _legend_below(theme.figure, handles, [str(getattr(mark, "label", "")) for mark in marks])
    elif is_ours:
        # Past what stands beside the panel: shares of its width, then points for texts.
        share, points = (1.08, 62.0) if panel.scale is not None else (1.0, 12.0)
        if any(isinstance(m, Sparks) for m in panel.marks):
            share, points = 1.26, 14.0
        if any(isinstance(m, EdgeText) for m in panel.marks):
            points = 58.0
        shift = ScaledTranslation(points / 72, 0, theme.figure.dpi_scale_trans)
        legend = ax.legend(
            handles, ["label"] * len(handles), loc="upper left", bbox_to_anchor=(share, 1.0), bbox_transform=ax.transAxes + shift, frameon=False,
            borderaxespad=0.0,
        )  # fmt: skip
    else:
        existing = ax.get_legend()
        if existing is not None:
            ax.add_artist(existing)
        legend = ax.legend(handles, ["label"] * len(handles))
    _filled(legend, panel, marks)


def _legend_below(figure: Figure, handles: list[Any], names: list[str]) -> Any:
    """A legend below everything, in as many columns as fit."""
    return figure.legend(
        handles, ["label"] * len(handles), loc="outside lower left", ncols=_legend_columns(figure, names), frameon=False,
        handlelength=1.6, columnspacing=1.0, handletextpad=0.5, borderaxespad=0.2,
    )  # fmt: skip


def _legend_columns(figure: Figure, names: list[str]) -> int:
    letters = min(LEGEND_WIDTH, max(map(len, names))) + 6
    width = figure.bbox.width / figure.dpi * 72
    return max(1, min(len(names), int(width / (letters * 0.55 * smaller(SETTINGS["legend.fontsize"], 1.0)))))


def write_below(ax: Axes, panel: Panel, theme: Theme) -> None:
    """What a band is, below the label of a caller's Axes, whose title is not ours; each meaning once."""
    if not panel.band:
        return
    size = smaller(SETTINGS["axes.labelsize"])
    below = _below(ax)
    if any(" ".join(text.get_text().split("\n")) == panel.band for text in below):
        return  # an effect drawn here before said it
    after: Any = below[-1] if below else ax.xaxis.label
    note = ax.annotate("", (0, 0), xycoords=("axes fraction", after), xytext=(0, -3), textcoords="offset points",
                       ha="left", va="top", size=size, color=theme.muted, gid="icefield:band-note", annotation_clip=False)  # fmt: skip
    set_text(note, panel.band)
    rewrap(ax)


def rewrap(ax: Axes) -> None:
    """Break what stands below an Axes to its width."""
    for note in _below(ax):
        letters = int(inches(ax)[0] * 72 / (note.get_fontsize() * 0.55))
        set_text(note, wrapped(" ".join(note.get_text().split("\n")), max(20, letters)))


def _below(ax: Axes) -> list[Any]:
    return [text for text in ax.texts if text.get_gid() == "icefield:band-note"]


def draw_figure_legend(figure: Figure, ax: Axes, picture: Picture, options: Options) -> None:
    """One legend for all panels when they name the same things; else each panel has its own."""
    labelled = [panel.labelled for panel in picture.panels]
    names = [tuple(getattr(m, "label", None) for m in marks) for marks in labelled]
    if not any(names):
        return
    theme = Theme(ax, options)
    if len({n for n in names if n}) > 1:
        for own_ax, panel in zip(figure.axes, picture.panels):
            draw_legend(own_ax, panel, theme, is_ours=False)
        return
    at = next(i for i, n in enumerate(names) if n)
    handles = [_handle(m, theme) for m in labelled[at]]
    if figure.get_figwidth() < NARROW:
        legend = _legend_below(figure, handles, [str(name) for name in names[at]])
    else:
        legend = figure.legend(handles, ["label"] * len(handles), loc="outside right upper", frameon=False)
    _filled(legend, picture.panels[at], labelled[at])


def draw_colour_bar(ax: Any, panel: Panel, theme: Theme) -> None:
    """The colour bar of a panel that has a scale."""
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
    height = inches(ax)[1]
    size = smaller(SETTINGS["axes.labelsize"], 1.0)
    bar.set_label(" ")
    set_text(bar_ax.yaxis.label, wrapped(scale.label, max(16, int(height * 72 / (size * 0.55)))))
    if scale.time:
        locator = AutoDateLocator(minticks=3, maxticks=6)
        bar_ax.yaxis.set_major_locator(locator)
        bar_ax.yaxis.set_major_formatter(ShortDates(locator))
    else:
        number_format(bar_ax.yaxis, [scale.low, scale.high])
