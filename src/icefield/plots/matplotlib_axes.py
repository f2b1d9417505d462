"""The axes of a matplotlib panel: their limits, their ticks, and the place of missing values.

A panel describes its axes; here matplotlib's locators and formatters are chosen for them, without touching what
the caller's own Axes already shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, num2date
from matplotlib.ticker import (
    FixedFormatter,
    FixedLocator,
    FuncFormatter,
    Locator,
    LogLocator,
    MaxNLocator,
    NullLocator,
)

from icefield.plots.fonts import drawable
from icefield.plots.matplotlib_theme import SETTINGS, smaller
from icefield.plots.panels import Axis, Panel, first_tick, is_surface, visible_features, visible_values
from icefield.plots.ticks import LEAST_SIZE, LINE, MOST_TICKS, fitting, named_ticks
from icefield.wording.names import MISSING, distinct_texts, longest_piece, wrapped

TICK_LETTERS = 7  # of a time of day with what separates it from the next
DATE_LETTERS = 4  # of a month or a year
FEW_NUMBERS = 6  # fewer than matplotlib would choose by itself
SLANTED = 0.64  # of the room between two names that is left at right angles to them, at 40 degrees
LISTED = 0.4  # of the width of an Axes that names of levels may take


def value_axis(ax: Axes, panel: Panel, before: Any, beside: float = 0.0) -> None:
    """The axis of predictions, or of the second feature; `beside` are inches that a legend takes of the width."""
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
    number_format(axis, ends)
    if panel.flip and max(map(abs, ends)) >= 1e4:
        fits = _numbers_that_fit(ax, len(f"{max(map(abs, ends)):,.4g}"), beside)
        axis.set_major_locator(MaxNLocator(min(4, fits)))  # long numbers side by side
    elif panel.flip:
        _fit_numbers(ax, ends, whole=False, beside=beside)
    if before is None and np.isfinite(first_tick(panel)):
        axis.set_major_locator(_TicksWithin(axis.get_major_locator(), first_tick(panel), np.inf))


def feature_axis(ax: Axes, panel: Panel, before: Any, beside: float = 0.0) -> None:
    """The axis of the feature; `before` are the limits of a caller's Axes that already shows something, `beside` as above."""
    ends = visible_features(panel)
    if before is not None:
        ends = _reaching(ends, before[1] if panel.flip else before[0])
    if panel.flip:
        ax.set_ylim(*ends[::-1])  # the first level on top
        _place_ticks(ax, panel.x, "y")
    else:
        if panel.x.log and ax.get_xscale() != "log":
            ax.set_xscale("log")
        ax.set_xlim(*ends)
        _place_ticks(ax, panel.x, "x", beside)


def _reaching(ends: tuple[float, float], old: tuple[float, float]) -> tuple[float, float]:
    """Limits that still show what was on the caller's Axes before."""
    return min(*ends, *old), max(*ends, *old)


def _place_ticks(ax: Axes, described: Axis, which: str, beside: float = 0.0) -> None:
    axis = ax.xaxis if which == "x" else ax.yaxis
    if described.kind == "category":
        _level_ticks(ax, axis, described, which)
        return
    if described.kind == "time":
        locator = FewDates(8 if which == "y" else _numbers_that_fit(ax, DATE_LETTERS, beside))
        axis.set_major_locator(locator)
        axis.set_major_formatter(ShortDates(locator))
    elif described.log:
        _log_ticks(axis, described)
    elif described.kind == "integer":
        axis.set_major_locator(MaxNLocator(nbins="auto", integer=True, steps=[1, 2, 3, 4, 5, 6, 10]))
    plain = not described.log and described.kind != "time"
    if which == "x" and plain and not described.meaning:
        _fit_numbers(ax, ax.get_xlim(), described.kind == "integer", beside)
    if described.meaning:
        size = smaller(SETTINGS[f"{which}tick.labelsize"], 1.0)
        most = MOST_TICKS
        if which == "x":
            most = max(2, min(most, int(inches(ax, beside)[0] * 72 / (TICK_LETTERS * 0.6 * size))))
        ends = sorted(ax.get_xlim() if which == "x" else ax.get_ylim())
        named = named_ticks(described.meaning, ends[0], ends[1], most)
        axis.set_major_locator(FixedLocator([at for at, _ in named]))
        axis.set_major_formatter(FixedFormatter([text for _, text in named]))
    elif described.low is not None and described.high is not None and plain:
        number_format(axis, [described.low, described.high])
    if described.missing is not None:
        _missing_tick(ax, axis, described, which)


def _fit_numbers(ax: Axes, ends: Sequence[float], whole: bool, beside: float) -> None:
    """Fewer numbers along the foot of a narrow Axes, where the usual ones would touch each other."""
    most = _numbers_that_fit(ax, max(len(f"{end:,.4g}") for end in ends), beside)
    if most < FEW_NUMBERS:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=most, integer=whole))


def _numbers_that_fit(ax: Axes, letters: int, beside: float = 0.0) -> int:
    size = smaller(SETTINGS["xtick.labelsize"], 1.0)
    return max(2, int(inches(ax, beside)[0] * 72 / ((letters + 1.5) * 0.62 * size)))


def _log_ticks(axis: Any, described: Axis) -> None:
    """Round numbers by factors, written out as elsewhere and not as powers of ten."""
    low, high = described.low or 1.0, described.high or 10.0
    wide = np.log10(high / low)
    factors = (1.0,) if wide > 3 else (1.0, 3.0) if wide > 1.5 else (1.0, 2.0, 5.0)
    most = _numbers_that_fit(axis.axes, len(f"{high:,.0f}")) if axis.axis_name == "x" else 99
    if wide * len(factors) > most:
        factors = (1.0,)
    axis.set_major_locator(LogLocator(subs=factors, numticks=99 if wide <= most else most))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.12g}" if 1e-4 <= value < 1e7 else f"{value:g}")
    )


def _level_ticks(ax: Axes, axis: Any, described: Axis, which: str) -> None:
    texts, size, rotation = _fitted_levels(ax, described.ticks, which)
    words = [drawable(t) for t in texts]
    axis.set_major_locator(FixedLocator(list(range(len(texts)))))
    axis.set_ticklabels([w for w, _ in words])
    families = list(dict.fromkeys(f for _, fs in words if fs for f in fs))
    if families:
        axis.set_tick_params(labelfontfamily=families)
    axis.set_tick_params(length=0, labelsize=size)
    if rotation:
        for label in axis.get_ticklabels():
            label.set(rotation=rotation, ha="right", rotation_mode="anchor")
            if rotation == 90:
                label.set(va="center")


def broken_levels(ax: Axes, panel: Panel) -> Panel:
    """The panel with listed levels in lines that leave most of a caller's Axes to the curve."""
    if not panel.flip:
        return panel
    letters = LISTED * inches(ax)[0] * 72 / (0.55 * smaller(SETTINGS["ytick.labelsize"], 1.0))
    ticks = tuple(wrapped(" ".join(t.split("\n")), max(12, int(letters))) for t in panel.x.ticks)
    return replace(panel, x=replace(panel.x, ticks=ticks))


def refit(ax: Axes, panel: Panel) -> None:
    """Names and counts of levels anew, for an Axes that has become smaller."""
    for described, which in ((panel.x, "y" if panel.flip else "x"), (panel.y, "x" if panel.flip else "y")):
        if described.kind == "category":
            _level_ticks(ax, ax.xaxis if which == "x" else ax.yaxis, described, which)
    counts = [text for text in ax.texts if text.get_gid() == "icefield:count"]
    size, every = fitting(inches(ax)[1] * 72 / max(1, len(counts)), smaller(SETTINGS["ytick.labelsize"], 0.9))
    for number, text in enumerate(counts):
        text.set(size=size, visible=number % every == 0)


def _fitted_levels(ax: Axes, ticks: Sequence[str], which: str) -> tuple[list[str], float, float]:
    """Names of levels that do not touch each other, their size and their slant.

    They are broken to the room there is; failing that, each takes one line, which is smaller where need be; and where
    the smallest is too large, only every second or third level is named.
    """
    texts, count = list(ticks), max(1, len(ticks))
    size = smaller(SETTINGS[f"{which}tick.labelsize"], 1.0)
    room = inches(ax)["xy".index(which)] * 72 / count
    rotation = 0.0
    if which == "x":
        fits = int(room / (0.6 * size)) - 1  # a letter of room between two
        broken = ["\n".join(wrapped(line, max(4, fits)) for line in t.split("\n")) for t in texts]
        if max(map(longest_piece, texts), default=0) <= fits and _most_lines(broken) <= 4:
            return broken, size, rotation
        upright = count > 12 or room * SLANTED < LINE * LEAST_SIZE
        rotation, room = (90.0, room) if upright else (40.0, room * SLANTED)
        texts = distinct_texts([" ".join(t.split("\n")) for t in texts], 22)
    elif _most_lines(texts) * LINE * size > room:
        texts = distinct_texts([" ".join(t.split("\n")) for t in texts], 26)
    size, every = fitting(room, size)
    return [t if i % every == 0 else "" for i, t in enumerate(texts)], size, rotation


def _most_lines(texts: Sequence[str]) -> int:
    return max((t.count("\n") + 1 for t in texts), default=1)


class FewDates(AutoDateLocator):
    """Dates as matplotlib chooses them, of which every second or third is left where more than `most` would touch."""

    def __init__(self, most: int) -> None:
        super().__init__(minticks=3, maxticks=8)
        self.most = most

    def __call__(self) -> Any:
        dates = super().__call__()
        return dates[:: max(1, -(-len(dates) // self.most))]


class ShortDates(ConciseDateFormatter):
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
            share = self.clear / max(points, 1.0)
            last = last * (low / high) ** share if axis.get_scale() == "log" else last - share * (high - low)
        return ticks[(ticks >= self.first) & (ticks <= last)]


def _missing_tick(ax: Axes, axis: Any, described: Axis, which: str) -> None:
    last = float(described.missing or 0.0)
    size = SETTINGS[f"{which}tick.labelsize"]
    # Half of the word, and half of a number's text.
    clear = smaller(size, 1.0) * (0.58 * len(MISSING) / 2 + 1.1) if which == "x" else smaller(size, 1.2)
    axis.set_major_locator(_TicksWithin(axis.get_major_locator(), -np.inf, last, clear))
    offset = SETTINGS[f"{which}tick.major.size"] + SETTINGS[f"{which}tick.major.pad"]
    along_foot: Any = (last, 0), (0.0, -offset), ("data", "axes fraction")
    at, shift, where = along_foot if which == "x" else [pair[::-1] for pair in along_foot]
    place: Any = {"ha": "center", "va": "top"} if which == "x" else {"ha": "right", "va": "center"}
    colour = SETTINGS[f"{which}tick.labelcolor"]
    colour = SETTINGS[f"{which}tick.color"] if colour == "inherit" else colour
    ax.annotate(
        MISSING, at, xycoords=where, xytext=shift, textcoords="offset points", size=size, color=colour,
        gid="icefield:missing", annotation_clip=False, **place,
    )  # fmt: skip


def number_format(axis: Any, ends: Sequence[float]) -> None:
    """Thousands separated, millions as such; small numbers stay with matplotlib."""
    largest, span = max(abs(e) for e in ends), abs(ends[1] - ends[0])
    if largest >= 1e6 and span >= 1e4 and largest < 1e12:
        unit, letter = (1e9, "B") if largest >= 1e9 else (1e6, "M")
        axis.set_major_formatter(FuncFormatter(lambda v, _: "0" if v == 0 else f"{v / unit:g}{letter}"))
    elif largest >= 1e4 and span >= 5 and largest < 1e12:
        axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}".replace("-", "−")))


def solid_axes(ax: Any, panel: Panel) -> None:
    """The three axes of a surface in space."""
    few = 5 if inches(ax)[1] > 3 else 3
    for described, name in ((panel.x, "x"), (panel.y, "y")):
        axis: Any = getattr(ax, f"{name}axis")
        getattr(ax, f"set_{name}lim")(described.low, described.high)
        if described.kind == "time":
            locator = AutoDateLocator(minticks=3, maxticks=5)
            axis.set_major_locator(locator)
            axis.set_major_formatter(ShortDates(locator))
        else:
            axis.set_major_locator(MaxNLocator(few, integer=described.kind == "integer"))
            number_format(axis, [described.low or 0.0, described.high or 1.0])
    if panel.z is not None:
        number_format(ax.zaxis, [panel.z.low or 0.0, panel.z.high or 1.0])
        long = max(abs(panel.z.low or 0.0), abs(panel.z.high or 1.0)) >= 1e4
        ax.zaxis.set_tick_params(pad=12 if long else 6)


def inches(ax: Axes, beside: float = 0.0) -> tuple[float, float]:
    """About how large the Axes will be, where all panels of its row give up `beside` inches together."""
    figure: Any = ax.get_figure()
    box, whole = ax.get_position(), figure.bbox
    place = ax.get_subplotspec()
    columns = 1 if place is None else place.get_gridspec().ncols
    return box.width * whole.width / figure.dpi - beside / columns, box.height * whole.height / figure.dpi
