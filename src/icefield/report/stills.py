"""Pictures that are part of the text: the plane of all features, observed against predicted, a finding's own curve, a word-sized one.

All but the last are panels as `icefield.plots` describes them, drawn by the page; whatever is a name or a number is text already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.effect import Effect
from icefield.plots.coordinates import Coordinates
from icefield.plots.panels import Axis, Band, Dots, Ends, Line, Mark, Named, Panel, Rings
from icefield.plots.ticks import nice_ticks
from icefield.report.card_data import frequent
from icefield.report.view_model import Spark
from icefield.statistics.fit_score import Bins
from icefield.statistics.ice_statistics import shown_points
from icefield.typing import Float
from icefield.wording.values import number_text, range_decimals

LEAST_MOVEMENT = 0.2  # of the plane's axes: weak effects stay near the corner
MANY_LEVELS = 24
SPARK = (96.0, 24.0)


@dataclass(frozen=True)
class Point:
    """A feature in the plane; `removed` is the share of its differences that regions remove."""

    name: str
    link: str
    strength: float
    differences: float
    hidden: bool
    removed: float | None = None


def plane(points: Sequence[Point]) -> Panel:
    """Features by how far their average moves (across) and how much rows disagree (up), strongest first."""
    x, y, removed = np.array(
        [(p.strength, p.differences, np.nan if p.removed is None else p.removed) for p in points]
    ).T
    descriptions = tuple(
        f"{p.name}: strength {p.strength:.2f}, disagreement {p.differences:.2f}{', hidden' if p.hidden else ''}"
        for p in points
    )
    # With regions, what they explain moves from the differences to the averages.
    to_x, to_y = np.sqrt(x**2 + removed * y**2), y * np.sqrt(1 - np.clip(removed, 0, 1))
    far = max(LEAST_MOVEMENT, 1.08 * x.max(), 1.04 * np.nanmax([*to_x, 0.0]))
    reach = far, max(LEAST_MOVEMENT, 1.12 * y.max())
    named = Named(
        x, y, to_x=to_x, to_y=to_y,
        texts=tuple(p.name for p in points),
        told=descriptions,
        links=tuple(p.link for p in points),
        slots=tuple("second" if p.hidden else "accent" for p in points),
    )  # fmt: skip
    rings = Rings(np.array(nice_ticks(0.0, float(np.hypot(*reach)), 4)[1:]))
    return Panel(
        Axis("strength: the average moves →", low=0.0, high=reach[0]),
        Axis("rows disagree →", low=0.0, high=reach[1]),
        (rings, named),
        look="square",
    )


def against(groups: Sequence[tuple[str, Bins]], labels: tuple[str, str], shares: bool) -> Panel:
    """Means of what was observed over means of what was predicted, with the line on which both are equal.

    Parameters
    ----------
    groups : name of an output and its means, several for classes
    labels : of the axes
    shares : whether both are shares, whose axes begin at 0 and whose error is known
    """
    parts = [part for _, bins in groups for part in (bins.at, bins.observed, bins.low, bins.high)]
    ends = np.concatenate([part for part in parts if part is not None])
    low, high = (0.0 if shares else float(ends.min())), float(ends.max())
    pad = 0.04 * (high - low) or 0.5
    low, high = (0.0 if shares else low - pad), (min(1.0, high + pad) if shares else high + pad)
    whole = np.array([low, high])
    marks: list[Mark] = [Line(whole, whole, colour="muted", dashed=1, width=0.6)]
    for number, (name, bins) in enumerate(groups):
        interval = bins.low, bins.high
        if shares:
            error = 2 * np.sqrt(bins.observed * (1 - bins.observed) / bins.rows)
            interval = tuple(np.clip(bins.observed + end, low, high) for end in (-error, error))
        marks.append(Dots(bins.at, bins.observed, colour=number or "accent", label=name or None,
                          low=interval[0], high=interval[1], size=0.92))  # fmt: skip
    axes = [Axis(label, low=low, high=high) for label in labels]
    return Panel(axes[0], axes[1], tuple(marks), look="square")


def small_curve(
    effect: Effect,
    output: int,
    least: float = 0.0,
    band: tuple[Float, Float] | None = None,
    behind: Sequence[Float] = (),
) -> Panel:
    """An average with its lowest and highest value as numbers; levels are points, in the order shown.

    Parameters
    ----------
    effect, output : whose average
    least : range of predictions that fills the height at least, so that a weak effect looks weak
    band : low and high ends of what rows do around it, at the points shown
    behind : further averages of the same grid, drawn behind
    """
    shown, x = _known_points(effect)
    curves = [effect.average[output][shown], *(curve[shown] for curve in behind)]
    around = [] if band is None else [end[: len(shown)] for end in band]
    known = np.concatenate([curve[np.isfinite(curve)] for curve in (*curves, *around)])
    finite = curves[0][np.isfinite(curves[0])]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    spare = max(0.0, least - (high - low)) / 2
    levels, order = not effect.ordered[0], np.arange(len(shown))
    axis = Axis("", low=float(np.nanmin(x)) if np.isfinite(x).any() else 0.0, high=float(np.nanmax(x)) if np.isfinite(x).any() else 1.0)  # fmt: skip
    if levels:
        x, axis = order.astype(np.float64), Axis("", "category", -0.5, len(x) - 0.5, ("",) * len(x))
        if len(shown) > MANY_LEVELS:  # sorted by height, as no order of theirs would be seen at this size
            order = np.argsort(curves[0], kind="stable")
    marks: list[Mark] = []
    if around:
        marks.append(Band(x, around[0][order], around[1][order], colour="accent", alpha=0.15))
    for number, curve in reversed(list(enumerate(curves))):
        look: dict[str, Any] = {"colour": "accent" if not behind else number}
        if levels:
            marks.append(Dots(x, curve[order], size=0.9 if len(x) < 16 else 0.55, hollow=number > 0, **look))
        else:
            marks.append(Line(x, curve[order], width=1.05, **look))
    if len(finite):
        marks.append(_ends(float(finite.min()), float(finite.max())))
    return Panel(axis, Axis("", low=low - spare, high=high + spare), tuple(marks), look="word")


def _known_points(effect: Effect) -> tuple[NDArray[np.intp], Float]:
    """The points of a small picture, without the missing one, and their places; those of levels are not used."""
    points = frequent(effect)
    shown = points[points < len(effect.grid[0][shown_points(effect)])]
    return shown, np.asarray(Coordinates([effect]).place(effect.grid[0][shown]), dtype=np.float64)


def _ends(low: float, high: float) -> Ends:
    """The lowest and the highest value, with the same number of decimals."""
    plain = 1e-3 <= max(abs(low), abs(high)) < 1e6
    decimals = range_decimals(low, high) if plain else None
    return Ends(np.array([high, low]), tuple(number_text(end, decimals=decimals) for end in (high, low)))


def spark(effect: Effect, output: int, full: float) -> Spark:
    """A word-sized curve as an SVG path; levels are small bars. A range of `full` fills the height."""
    shown, x = _known_points(effect)
    y = effect.average[output][shown]
    wide, high = SPARK
    levels, known = not effect.ordered[0], np.isfinite(y)
    if not (known & (levels | np.isfinite(x))).any():
        return Spark("line", "")
    low, span = float(y[known].min()), float(np.ptp(y[known]))
    share = min(1.0, span / full) if full > 0 else 0.0
    height = (high - 4.0) * (share * (y - low) / (span or 1.0) + (1.0 - share) / 2)
    if levels:
        step = wide / len(y)
        bar = min(step * 0.7, 10.0)
        parts = [
            f"M{i * step + (step - bar) / 2:.1f} {high:.1f}v{-(h + 2):.1f}h{bar:.1f}v{h + 2:.1f}z"
            for i, h in enumerate(height)
            if np.isfinite(h)
        ]
        return Spark("bars", "".join(parts))
    finite = known & np.isfinite(x)
    x, height = x[finite], height[finite]
    reach = float(np.ptp(x)) or 1.0
    points = [f"{wide * (a - x.min()) / reach:.1f} {high - 2 - h:.1f}" for a, h in zip(x, height)]
    return Spark("line", "M" + "L".join(points))
