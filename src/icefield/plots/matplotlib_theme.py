"""The current matplotlib style as the few colours and sizes that drawing asks for."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize, to_hex, to_rgb
from matplotlib.font_manager import font_scalings

from icefield.errors import InputError, did_you_mean
from icefield.plots.options import Options
from icefield.plots.palette import (
    DIVERGING,
    ON_DARK,
    ON_LIGHT,
    SEQUENTIAL,
    along,
    blended,
    deepening,
    is_dark,
)
from icefield.plots.panels import Colour, ColourScale

# The current settings, which change in place; some names are put together, which their type forbids.
SETTINGS: Any = mpl.rcParams


NARROW = 4.3  # inches: in a figure of less, what stands beside the curve would take its room
PAGE = 7.5  # inches that a page has
SMALL_FONTS = ((1.6, 6.5), (2.4, 7.5), (NARROW, 8.5))  # inches of a panel, and the print that suits less


DASHES: tuple[Any, ...] = (
    "-",
    (0, (4, 2)),
    (0, (1, 1.3)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (4, 1.4, 1, 1.4, 1, 1.4, 1, 1.4)),
)  # by the number of a pattern
MARKERS = ("o", "s", "^", "D", "X")
HATCHES = ("", "////", "....", "xxxx", "----")


def small_print(figure: float | None, columns: int) -> Any:
    """Settings for panels side by side in a figure of this many inches: smaller print and thinner lines, where the current are too large.

    In a figure as wide as a slide, which is seen from afar, print stays larger.
    """
    if figure is None:
        return {}
    points = next((size for most, size in SMALL_FONTS if figure / columns < most), None)
    if points is None or points * max(1.0, figure / PAGE) >= SETTINGS["font.size"]:
        return {}
    points *= max(1.0, figure / PAGE)
    return {
        "font.size": points,
        "axes.titlesize": "medium",
        "figure.titlesize": "medium",
        "axes.labelpad": 2.5,
        "lines.linewidth": min(1.2, SETTINGS["lines.linewidth"]),
        "lines.markersize": min(4.0, SETTINGS["lines.markersize"]),
        **{f"{axis}tick.major.{what}": size for axis in "xy" for what, size in (("pad", 2.0), ("size", 2.5))},
    }


class Theme:
    """Colours and sizes for one Axes."""

    def __init__(self, ax: Axes, options: Options) -> None:
        ground = ax.get_facecolor()
        figure = ax.get_figure()
        if len(ground) == 4 and ground[3] == 0 and figure is not None:
            ground = figure.get_facecolor()
        self.figure: Any = figure
        # By its box: a part of a figure has no other measure.
        self.narrow = figure is not None and figure.bbox.width / figure.dpi < NARROW
        self.ground = to_rgb(ground)
        self.text = to_hex(mpl.rcParams["text.color"])
        self.muted = to_hex(blended(to_rgb(self.text), self.ground, 0.55))
        self.faint = to_hex(blended(to_rgb(self.text), self.ground, 0.22))
        self.line = float(mpl.rcParams["lines.linewidth"])
        self.marker = float(mpl.rcParams["lines.markersize"])
        # A style that draws no axis lines has no box to open.
        self.boxed = not mpl.rcParams["axes.spines.top"]
        self._options = options
        self.dark = is_dark(*self.ground)
        self._palette = _palette(options, self.dark)

    def colour(self, colour: Colour) -> Any:
        if isinstance(colour, int):
            return self._palette[colour % len(self._palette)]
        if colour.startswith("sequential:"):
            share = along(float(colour.split(":")[1]), self.dark)
            return to_hex(self.cmap(ColourScale(0, 1, cmap=self._options.cmap or SEQUENTIAL))(share))
        return {"text": self.text, "muted": self.muted, "faint": self.faint}.get(colour, colour)

    def cmap(self, scale: ColourScale) -> Colormap:
        chosen = scale.cmap
        if chosen is None and scale.ink is not None:
            inks = deepening(self.ground, to_rgb(self.colour(scale.ink)), to_rgb(self.text))
            return LinearSegmentedColormap.from_list("icefield", inks)
        if chosen is None:
            chosen = DIVERGING if scale.diverging else mpl.rcParams["image.cmap"]
        if isinstance(chosen, Colormap):
            return chosen
        try:
            return mpl.colormaps[chosen]
        except (KeyError, TypeError) as error:
            raise InputError.about(
                "cmap", "is not a colour map of matplotlib", chosen, did_you_mean(chosen, mpl.colormaps)
            ) from error

    def norm(self, scale: ColourScale) -> Normalize:
        return Normalize(scale.low, scale.high)


def _palette(options: Options, dark: bool) -> list[Any]:
    if options.palette is not None:
        for colour in options.palette:
            if not mpl.colors.is_color_like(colour):
                raise InputError.about("colors", "holds something that is not a colour", colour)
        return options.palette
    cycle = mpl.rcParams["axes.prop_cycle"].by_key().get("color")
    default = mpl.rcParamsDefault["axes.prop_cycle"].by_key().get("color")
    if cycle and cycle != default:
        return list(cycle)
    return list(ON_DARK if dark else ON_LIGHT)


def smaller(size: Any, factor: float = 0.85) -> float:
    """A font size in points: a setting such as "medium" or 10, scaled."""
    base = float(mpl.rcParams["font.size"])
    points = float(size) if not isinstance(size, str) else base * font_scalings.get(size, 1.0)
    return points * factor
