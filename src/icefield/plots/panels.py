"""What to draw, without saying with which library.

A `Picture` is one or several `Panel`s; a panel has two axes and a list of marks in drawing
order. Positions are plain floats: numbers as they are, times as days since 1970, levels as
0, 1, 2, ... Colours are slots of the palette (an int), the theme's own ``"text"`` and
``"muted"``, or whatever colour the user named. The backends (`matplotlib`, `plotly`) know these
few shapes and nothing of effects, so a kind of picture exists once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from icefield.plots.geometry import inside_polygon
from icefield.typing import Float

Colour = int | str

PAD = 0.05  # room around the values, as a share of their range
SIDE = 0.03  # room beside the first and the last value of a feature
FOOT = 0.16  # and below them where a histogram stands,
SPARK_WIDTH = 0.22  # of the panel's
RUG_FOOT = 0.08  # or a rug


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis of a panel, of ``"number"``, ``"integer"`` (ticks at whole numbers only), ``"time"`` or ``"category"``."""

    label: str = ""  # what it shows, with unit or scale
    kind: str = "number"
    low: float | None = None  # what must be visible; None leaves it to the marks
    high: float | None = None
    ticks: tuple[str, ...] = ()  # for categories, the text at 0, 1, 2, ...
    missing: float | None = None  # where the missing point stands, beyond the last value
    meaning: str = ""  # months, weekdays or times of day, where its numbers are (see `icefield.data.naming`)
    unit: str = ""  # what its numbers are counted in, for the pointer
    log: bool = False  # whether equal factors are equal lengths
    tight: bool = False  # whether it begins at `low` itself, not a little before


@dataclass(frozen=True, eq=False)
class ColourScale:
    """Numbers as colours: a range, its name on the colour bar, and whether zero is its middle.

    `ink` is the colour into which nearly the ground's own deepens: for counts, of which none is nothing to see.
    """

    low: float
    high: float
    label: str = ""
    diverging: bool = False
    cmap: Any = None
    time: bool = False
    ink: Colour | None = None


# --- marks -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Line:
    """A curve. `width` multiplies the theme's line width; where `faded` the curve is only hinted at;
    a `halo` in the ground's colour sets it off from what lies below.

    `step` is None (straight between points) or ``"pre"``: the value at x holds back to the previous x. `dashed` is the
    number of a pattern: solid, dashed, dotted, dashes and dots, or dashes and three dots.
    """

    x: Float
    y: Float
    colour: Colour = 0
    label: str | None = None
    width: float = 1.0
    dashed: int = 0
    step: Literal["pre"] | None = None
    faded: NDArray[np.bool_] | None = None
    markers: bool = False
    alpha: float = 1.0
    halo: bool = False

    def stretches(self) -> list[tuple[slice, bool]]:
        """The curve cut where it turns faint or strong: slices that share their end points."""
        count = len(self.x)
        if self.faded is None or count < 2:
            return [(slice(0, count), bool(self.faded is not None and self.faded.any()))]
        segments = self.faded[:-1] | self.faded[1:]
        cuts = [0, *(np.flatnonzero(np.diff(segments)) + 1).tolist(), count - 1]
        return [(slice(a, b + 1), bool(segments[a])) for a, b in pairwise(cuts)]


@dataclass(frozen=True, eq=False)
class Band:
    """The area between two curves."""

    x: Float
    low: Float
    high: Float
    colour: Colour = 0
    step: Literal["pre"] | None = None
    alpha: float = 0.18


@dataclass(frozen=True, eq=False)
class Curves:
    """Many thin curves on one x: `y` is ``(curves, points)``; coloured alike, by slot or by scale."""

    x: Float
    y: Float
    colour: Colour = "muted"
    slots: tuple[Colour, ...] | None = None
    values: Float | None = None
    scale: ColourScale | None = None
    alpha: float = 0.2
    width: float = 0.5
    step: Literal["pre"] | None = None

    def corners(self) -> tuple[Float, Float]:
        """`x` and `y`; of steps the corners, as the value at x holds back to the previous x."""
        if self.step is None:
            return self.x, self.y
        return np.repeat(self.x, 2)[:-1], np.repeat(self.y, 2, axis=1)[:, 1:]


@dataclass(frozen=True, eq=False)
class Dots:
    """Points, with an optional interval each; `size` multiplies the theme's marker size.

    `pattern` is the number of a marker: circle, square, triangle, diamond or cross, as lines have dashes.
    """

    x: Float
    y: Float
    colour: Colour = 0
    label: str | None = None
    low: Float | None = None
    high: Float | None = None
    size: float = 1.0
    alpha: float = 1.0
    faded: NDArray[np.bool_] | None = None
    hollow: bool = False
    slots: tuple[Colour, ...] | None = None
    values: Float | None = None
    scale: ColourScale | None = None
    pattern: int = 0


@dataclass(frozen=True, eq=False)
class Bars:
    """Bars from zero, with an optional interval each; `slots` colours them one by one, `pattern` hatches them."""

    x: Float
    y: Float
    width: float = 0.7
    colour: Colour = 0
    label: str | None = None
    low: Float | None = None
    high: Float | None = None
    slots: tuple[Colour, ...] | None = None
    faded: NDArray[np.bool_] | None = None
    pattern: int = 0


@dataclass(frozen=True, eq=False)
class Strip:
    """A histogram along the foot of the panel, outside its y scale: where the data is.

    Bars run from ``lefts`` to ``rights``; the tallest fills the strip.
    """

    lefts: Float
    rights: Float
    counts: Float
    height: float = 0.085


@dataclass(frozen=True, eq=False)
class Rug:
    """Short ticks along the foot of the panel, one per value."""

    x: Float
    height: float = 0.03
    alpha: float = 0.35
    name: str = "rug"


@dataclass(frozen=True, eq=False)
class Margin:
    """A histogram outside the panel, along its ``"top"`` or ``"right"`` edge."""

    side: str
    lefts: Float
    rights: Float
    counts: Float


@dataclass(frozen=True, eq=False)
class Field:
    """Colours over the plane: `z` is ``(len(y), len(x))``, NaN where nothing is to be shown.

    `style` is ``"cells"`` (with the cells' edges), ``"contour"`` (with the points) or ``"surface"``.
    `hull` is a polygon outside which nothing is shown; `values` writes the numbers into the cells.
    """

    x: Float
    y: Float
    z: Float
    scale: ColourScale
    style: str = "cells"
    hull: Float | None = None
    values: bool = False

    def shown(self) -> Float:
        """`z` without what lies outside the hull."""
        if self.hull is None:
            return self.z
        return np.where(inside_polygon(self.hull, self.x, self.y), self.z, np.nan)


@dataclass(frozen=True, eq=False)
class Shade:
    """A light shade behind other marks: `z`, from 0 to 1, over the cells between the edges `x` and `y`."""

    x: Float
    y: Float
    z: Float
    colour: Colour = 0
    alpha: float = 0.4


@dataclass(frozen=True, eq=False)
class Rule:
    """A thin straight line across the panel at one x or one y."""

    x: float | None = None
    y: float | None = None
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class EdgeText:
    """Small text beyond the right edge of the panel, one per position on the category axis."""

    at: Float
    texts: tuple[str, ...]
    header: str = ""


@dataclass(frozen=True, eq=False)
class Sparks:
    """Tiny curves beyond the right edge, one per position on the category axis; heights run from 0 to 1 in all of them."""

    at: Float
    curves: tuple[tuple[Float, Float], ...]
    header: str = ""
    slots: tuple[Colour, ...] | None = None


# --- marks of the report's own pictures, which the page and matplotlib draw and plotly does not -------


@dataclass(frozen=True, eq=False)
class Named:
    """Points with names that never collide, the most important first; as many as have room are named.

    `told` is what is said of each, `links` where it leads (empty for nowhere), `most` how many are named at most; arrows go
    to `to_x`, `to_y` where these are known.
    """

    x: Float
    y: Float
    texts: tuple[str, ...]
    told: tuple[str, ...]
    links: tuple[str, ...]
    slots: tuple[int | str, ...]
    most: int = 14
    to_x: Float | None = None
    to_y: Float | None = None


@dataclass(frozen=True, eq=False)
class Rings:
    """Equal distances from the corner at 0, 0."""

    radii: Float


@dataclass(frozen=True, eq=False)
class Ends:
    """Numbers beyond the right edge, at their heights."""

    y: Float
    texts: tuple[str, ...]


Mark = (
    Line | Band | Curves | Dots | Bars | Strip | Rug | Margin | Field | Shade | Rule | EdgeText | Sparks | Named | Rings | Ends
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Panel:
    """Two axes (three for a surface) and the marks between them.

    `flip` draws the x axis of the description vertically (long lists of levels read better so);
    `note` is a small line above the panel that says what is shown, and `band` what of it is said of bands, error
    lines and levels drawn as one, for where there is no room for the note; `foot` is the room below the values, None
    for what the panel's own marks need. `look` is ``""``, ``"square"`` (both axes run exactly from low to high, with a
    frame) or ``"word"`` (the size of a word or two: no axes).
    """

    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    title: str = ""
    note: str = ""
    legend_title: str = ""
    scale: ColourScale | None = None
    flip: bool = False
    z: Axis | None = None
    foot: float | None = None
    band: str = ""
    look: str = ""

    @property
    def labelled(self) -> list[Mark]:
        """The marks that a legend names, each label once."""
        seen: dict[str, Mark] = {}
        for mark in self.marks:
            label = getattr(mark, "label", None)
            if label is not None and label not in seen:
                seen[label] = mark
        return list(seen.values())


@dataclass(frozen=True, eq=False)
class Picture:
    """Panels in reading order, `columns` to a row."""

    panels: tuple[Panel, ...]
    columns: int = 1
    title: str = ""
    note: str = ""
    share_y: bool = False
    share_x: bool = False
    panel_size: tuple[float, float] | None = None

    @property
    def rows(self) -> int:
        return -(-len(self.panels) // max(1, self.columns))


def bands_note(panels: Sequence[Panel]) -> str:
    """What the bands of panels are, each meaning once ("band, lines: ± 1 standard deviation ...")."""
    marks_by_meaning: dict[str, list[str]] = {}
    parts = dict.fromkeys(part for panel in panels if panel.band for part in panel.band.split("; "))
    for what, _, meaning in (part.partition(": ") for part in parts):
        marks_by_meaning.setdefault(meaning, []).append(what)
    return "; ".join(f"{', '.join(whats)}: {meaning}" for meaning, whats in marks_by_meaning.items())


# --- limits ----------------------------------------------------------------------------------------


def value_range(marks: Sequence[Mark]) -> tuple[float, float] | None:
    """The smallest and largest y that the marks show, or None when they show none."""
    parts: list[Any] = []
    for mark in marks:
        if isinstance(mark, (Line, Band, Curves, Dots, Bars, Field, Shade, Rule)):
            parts += [getattr(mark, name, None) for name in ("y", "low", "high")]
            parts += [0.0] if isinstance(mark, Bars) else []
    known = [np.atleast_1d(part) for part in parts if part is not None]
    finite = [part[np.isfinite(part)] for part in known if np.isfinite(part).any()]
    if not finite:
        return None
    return min(float(part.min()) for part in finite), max(float(part.max()) for part in finite)


def is_surface(panel: Panel) -> bool:
    """Whether the panel's second axis is a feature too, so that its ends are not to be padded."""
    fields = any(isinstance(m, Field) for m in panel.marks)
    return fields and not any(isinstance(m, (Line, Curves)) for m in panel.marks)


def visible_values(panel: Panel) -> tuple[float, float]:
    """From where to where the value axis runs: padded, with room for a histogram at its foot."""
    low, high = _ends(panel.y)
    if is_surface(panel) or panel.look == "square":
        return low, high
    if low == high:
        half = abs(low) * 0.1 or 0.5
        low, high = low - half, high + half
    span = high - low
    foot = foot_of(panel)
    bars = any(isinstance(m, Bars) for m in panel.marks)
    bottom = low if bars and low == 0 and foot == PAD else low - foot * span
    return bottom, high if bars and high == 0 else high + PAD * span


def foot_of(panel: Panel) -> float:
    """The room below the values, as a share of their range."""
    if panel.foot is not None:
        return panel.foot
    if any(isinstance(m, Strip) for m in panel.marks):
        return FOOT
    return RUG_FOOT if any(isinstance(m, Rug) for m in panel.marks) else PAD


def visible_features(panel: Panel) -> tuple[float, float]:
    """From where to where the feature's axis runs."""
    low, high = _ends(panel.x)
    if panel.x.kind == "category" or is_surface(panel) or panel.look == "square":
        return low, high
    if panel.x.log:
        return scaled(low, -SIDE, low, high), scaled(high, SIDE, low, high)
    span = high - low or max(1.0, abs(low) * 0.1)
    return low if panel.x.tight else low - SIDE * span, high + SIDE * span


def scaled(at: float, share: float, low: float, high: float) -> float:
    """The place on a logarithmic axis from low to high that lies so much of it beyond another."""
    return at * (high / low) ** share


def first_tick(panel: Panel) -> float:
    """The lowest value that deserves a tick: beside the histogram at the foot there are no values."""
    low, high = _ends(panel.y)
    return low - 0.04 * (high - low) if foot_of(panel) == FOOT else -np.inf


def _ends(axis: Axis) -> tuple[float, float]:
    return (0.0 if axis.low is None else float(axis.low)), (1.0 if axis.high is None else float(axis.high))


def with_shared_values(panels: tuple[Panel, ...]) -> tuple[Panel, ...]:
    """The panels with one y range, and one foot below it, that hold all of them."""
    ranges = [(p.y.low, p.y.high) for p in panels if p.y.low is not None and p.y.high is not None]
    if not ranges:
        return panels
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    foot = max(foot_of(p) for p in panels)
    return tuple(replace(p, y=replace(p.y, low=low, high=high), foot=foot) for p in panels)
