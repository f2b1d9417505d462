"""The options of every plot: what they may be, checked in one place with a hint for what may not."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any, get_args

import numpy as np

from icefield.effect.drawable import Drawable
from icefield.errors import InputError, InputTypeError, did_you_mean
from icefield.typing import (
    AxisScale,
    Backend,
    BandShown,
    CurvesShown,
    DataShown,
    Layout,
    LevelOrder,
    MaskShown,
    PictureKind,
)

PER_LEVEL = 0.19  # inches of a listed level,
AROUND = 1.1  # and of what stands above and below them
LEAST_LEVELS = 4
SMALL_WIDTH = 4.3  # inches: in less, print is smaller and levels stand beside the curve sooner
ONE_WAY_KINDS = ("line", "dots", "bars")
TWO_WAY_KINDS = ("contour", "heatmap", "surface", "lines")
CHOICES: dict[str, tuple[str, ...]] = {
    "backend": get_args(Backend),
    "kind": get_args(PictureKind),
    "band": get_args(BandShown),
    "data": get_args(DataShown),
    "curves": get_args(CurvesShown),
    "mask": get_args(MaskShown),
    "sort": get_args(LevelOrder),
    "layout": get_args(Layout),
    "x_scale": get_args(AxisScale),
}
DEFAULTS = {
    name: parameter.default
    for name, parameter in signature(Drawable.plot).parameters.items()
    if parameter.kind is parameter.KEYWORD_ONLY
}


@dataclass(frozen=True, eq=False)
class Options:
    """How to draw: what `icefield.effect.Drawable.plot` says of its keywords, checked; defaults are written there."""

    backend: str
    ax: Any
    kind: str
    center: Any
    derivative: bool
    band: str
    data: str
    curves: str
    max_curves: int | None
    color_by: Any
    highlight: Any
    mask: str
    interaction: Any
    sort: str
    top: int | None
    outputs: Any
    layout: str
    share_y: bool
    x_scale: str
    title: str | None
    colors: Any
    cmap: Any
    figsize: tuple[float, float] | None

    @classmethod
    def of(cls, given: dict[str, Any]) -> Options:
        """Check what the caller wrote."""
        for name in given:
            if name not in DEFAULTS:
                raise InputTypeError(
                    f"There is no plot option `{name}`. Hint: {did_you_mean(name, sorted(DEFAULTS))}."
                )
        chosen = DEFAULTS | given
        chosen |= {name: _chosen(name, chosen[name], choices) for name, choices in CHOICES.items()}
        for name in ("max_curves", "top"):
            _check_count(name, chosen[name])
        options = cls(**chosen)
        if options.ax is not None and options.backend == "plotly":
            raise InputError.about(
                "ax", "is for matplotlib; plotly makes its own figure", options.ax, "leave ax out"
            )
        if options.ax is not None and not hasattr(options.ax, "get_figure"):
            raise InputTypeError.about(
                "ax", "must be a matplotlib Axes", options.ax, "write ax=plt.subplots()[1]"
            )
        _check_size(options.figsize)
        return options

    @property
    def palette(self) -> list[Any] | None:
        if self.colors is None:
            return None
        listed = [self.colors] if isinstance(self.colors, str) else list(self.colors)
        return listed or None

    @property
    def width(self) -> float | None:
        """Inches of the figure or Axes the user gave; None where the picture takes what it needs."""
        if self.ax is not None:
            return float(self.ax.get_window_extent().width / self.ax.get_figure().dpi)
        return None if self.figsize is None else float(self.figsize[0])

    @property
    def is_small(self) -> bool:
        """Whether the user gave less room than long notes and names need."""
        return self.width is not None and self.width < SMALL_WIDTH

    @property
    def levels_that_fit(self) -> int | None:
        """How many levels can be listed in the height the user gave; None where the picture takes what it needs."""
        if self.ax is not None:
            height = self.ax.get_position().height * self.ax.get_figure().get_figheight()
            return max(LEAST_LEVELS, int(height / PER_LEVEL))
        if self.figsize is None or self.layout == "side":
            return None
        around, each = (0.8, 0.15) if self.is_small else (AROUND, PER_LEVEL)
        return max(LEAST_LEVELS, int((self.figsize[1] - around) / each))


def _chosen(name: str, value: Any, choices: tuple[str, ...]) -> str:
    if value is None or value is False:
        if "none" in choices:
            return "none"
        value = choices[0] if value is None else value
    if value is True and "auto" in choices:
        return "auto"
    if not isinstance(value, str) or value not in choices:
        shown = ", ".join(repr(c) for c in choices if c != "none") + (" or None" if "none" in choices else "")
        raise InputError.about(name, f"must be one of {shown}", value, did_you_mean(value, choices))
    return value


def check_kind(options: Options, kinds: tuple[str, ...], what: str) -> None:
    """An error where `kind` is none of those that so many features have."""
    if options.kind not in ("auto", *kinds):
        problem = f"must be one of {', '.join(map(repr, kinds))} for {what}"
        raise InputError.about("kind", problem, options.kind)


def _check_count(name: str, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputTypeError.about(name, "must be a whole number", value, f"write {name}=20")
    if value < 1:
        raise InputError.about(name, "must be at least 1", value, f"write {name}=20")


def _check_size(size: Any) -> None:
    if size is None:
        return
    try:
        width, height = (float(part) for part in size)
    except (TypeError, ValueError):
        width = height = -1.0
    if not (width > 0 and height > 0):
        raise InputError.about(
            "figsize", "must be a width and a height in inches", size, "write figsize=(7, 4.5)"
        )
