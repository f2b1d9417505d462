"""The current plotly template as the few colours that drawing asks for, and text made safe for plotly.

Plotly reads a small HTML in every text it draws, and formulas between dollar signs where MathJax is
on the page; names are neither.
"""

from __future__ import annotations

import html
from typing import Any

import plotly.colors
import plotly.io

from icefield.errors import InputError
from icefield.plots.options import Options
from icefield.plots.palette import DIVERGING, ON_DARK, ON_LIGHT, SEQUENTIAL, along, deepening, is_dark
from icefield.plots.panels import Colour, ColourScale

PLAIN = "plotly_white"


def escaped(text: str) -> str:
    """Text that plotly shows as it is, line breaks kept.

    Examples
    --------
    >>> escaped("<b>$x$</b>")
    '&lt;b&gt;&#36;x&#36;&lt;/b&gt;'
    """
    return html.escape(text, quote=False).replace("$", "&#36;").replace("\n", "<br>")


class Theme:
    """Colours for one figure."""

    def __init__(self, options: Options) -> None:
        default = plotly.io.templates.default
        # "plotly" is what nobody chose; its grey ground is not for paper.
        self.template: str = PLAIN if default in (None, "plotly", "none", PLAIN) else default
        layout: Any = plotly.io.templates[self.template.split("+")[0]].layout
        self.ground = _channels(layout.plot_bgcolor or layout.paper_bgcolor or "white")
        self.paper = _css(self.ground)
        self.dark = is_dark(*self.ground)
        self.text = "#e8e8e8" if self.dark else "#262626"
        self.muted = "#a0a0a0" if self.dark else "#737373"
        self.faint = "rgba(200,200,200,0.28)" if self.dark else "rgba(60,60,60,0.22)"
        self._options = options
        colorway = None if self.template in (PLAIN, "plotly_dark") else layout.colorway
        chosen = options.palette or colorway or (ON_DARK if self.dark else ON_LIGHT)
        self._palette = [str(c) for c in chosen]

    def colour(self, colour: Colour, alpha: float = 1.0) -> str:
        if isinstance(colour, int):
            return faded(self._palette[colour % len(self._palette)], alpha)
        named = {"text": self.text, "muted": self.muted, "faint": self.faint}
        if colour.startswith("sequential:"):
            share = along(float(colour.split(":")[1]), self.dark)
            return faded(self.sampled(ColourScale(0, 1, cmap=self._options.cmap), share), alpha)
        return faded(named.get(colour, colour), alpha)

    def scale(self, scale: ColourScale) -> list[list[Any]]:
        """A colour map as plotly writes it: positions from 0 to 1 and their colours."""
        if scale.cmap is None and scale.ink is not None:
            inks = deepening(self.ground, _channels(self.colour(scale.ink)), _channels(self.text))
            return [[i / (len(inks) - 1), _css(ink)] for i, ink in enumerate(inks)]
        chosen = scale.cmap or (DIVERGING if scale.diverging else SEQUENTIAL)
        if not isinstance(chosen, (str, list, tuple)):
            # A matplotlib colour map: sample it.
            return [[i / 32, _css(chosen(i / 32)[:3])] for i in range(33)]
        try:
            return [[float(at), colour] for at, colour in plotly.colors.get_colorscale(chosen)]
        except (ValueError, plotly.exceptions.PlotlyError) as error:
            raise InputError.about(
                "cmap", "is not a colour map of plotly", chosen, "write cmap='viridis' or 'cividis'"
            ) from error

    def sampled(self, scale: ColourScale, share: float) -> str:
        return str(plotly.colors.sample_colorscale(self.scale(scale), [share])[0])


def faded(colour: str, alpha: float) -> str:
    """A colour with an opacity; names plotly does not translate itself are left to the browser."""
    if alpha >= 1:
        return colour
    try:
        red, green, blue = _channels(colour)
    except ValueError:
        return colour
    return f"rgba({red * 255:.0f},{green * 255:.0f},{blue * 255:.0f},{alpha:.3g})"


def _channels(colour: str) -> tuple[float, float, float]:
    """Channels from 0 to 1 of ``#rrggbb``, ``#rgb``, ``rgb(...)`` or one of a few names."""
    text = {"white": "#ffffff", "black": "#000000"}.get(colour.lower(), colour)
    if text.startswith("#"):
        digits = text[1:] if len(text) == 7 else "".join(2 * d for d in text[1:4])
        return int(digits[0:2], 16) / 255, int(digits[2:4], 16) / 255, int(digits[4:6], 16) / 255
    if text.startswith("rgb"):
        parts = [float(p) / 255 for p in text[text.index("(") + 1 : -1].split(",")[:3]]
        return parts[0], parts[1], parts[2]
    raise ValueError(colour)


def _css(channels: Any) -> str:
    return f"rgb({channels[0] * 255:.0f},{channels[1] * 255:.0f},{channels[2] * 255:.0f})"
