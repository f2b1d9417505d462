"""Pictures that are part of the text: the plane of all features, observed against predicted, a finding's own curve.

They are laid out here and drawn by the template as SVG, so that they are there without a script, on paper and in either
theme. Places are rounded to a tenth of a pixel; whatever is a name or a number goes to the template as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from icefield.effect import Effect
from icefield.plots.coordinates import Coordinates
from icefield.report.drawings import frequent
from icefield.statistics.fit_score import Bins
from icefield.statistics.ice_statistics import shown_points
from icefield.typing import Float
from icefield.wording.names import told_apart
from icefield.wording.values import number_text, range_decimals

LETTER = 7.2  # width of a letter of a label, on the safe side
LINE = 15.0  # height of a line
NEAR = 22.0  # pixels from a point within which a name needs no line to it
LABELLED = 14  # features of the plane that are named
LEAST_MOVEMENT = 0.2  # of the plane's axes: weak effects stay near the corner
CURVE = (190.0, 64.0)
MANY_BARS = 24


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """About so many round numbers between two others.

    Examples
    --------
    >>> ticks(0.0, 0.83), ticks(-12.0, 430.0)
    ([0.0, 0.2, 0.4, 0.6, 0.8], [0.0, 100.0, 200.0, 300.0, 400.0])
    """
    span = high - low
    if not np.isfinite(span) or span <= 0:
        return [low]
    size = 10.0 ** np.floor(np.log10(span / count))
    step = float(next(m * size for m in (1, 2, 5, 10) if m * size >= 0.8 * span / count))
    first = np.ceil(low / step - 1e-9)
    last = np.floor(high / step + 1e-9)
    return [float(round(i * step, 12)) + 0.0 for i in np.arange(first, last + 1)]  # no minus zero


def _tick_texts(values: Sequence[float]) -> list[str]:
    if len(values) < 2:
        return [number_text(v) for v in values]
    if max(map(abs, values)) >= 1e6:
        return [number_text(v, 2) for v in values]
    decimals = max(0, range_decimals(values[0], values[1]) - 1)
    return [number_text(v, decimals=decimals) for v in values]


# --- the plane ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Box:
    """A rectangle that must stay free of others."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def plane(points: Sequence[dict[str, Any]], size: tuple[float, float]) -> dict[str, Any]:
    """Features by how far their average moves (across) and how much rows disagree (up), strongest first.

    Parameters
    ----------
    points : dicts with ``name``, ``strength`` and ``differences``; they are given back with places
    size : of the picture
    """
    wide, high = size
    left, right, top, bottom = 44.0, wide - 14.0, 14.0, high - 40.0
    reach = (
        max(LEAST_MOVEMENT, *(1.08 * p["strength"] for p in points)),
        max(LEAST_MOVEMENT, *(1.12 * p["differences"] for p in points)),
    )
    x = [left + (right - left) * p["strength"] / reach[0] for p in points]
    y = [bottom - (bottom - top) * p["differences"] / reach[1] for p in points]
    names = told_apart([p["name"] for p in points], 16 if wide < 480 else 26)
    placed: list[Box] = [Box(a - 6, b - 6, a + 6, b + 6) for a, b in zip(x, y)]
    lines: list[Line] = []
    found = []
    for number, (point, a, b, name) in enumerate(zip(points, x, y, names)):
        label = None
        if number < LABELLED:
            label = _label(a, b, name, placed, lines, Box(left - 2, 2, wide - 2, bottom + 1), number)
        found.append({**point, "x": round(a, 1), "y": round(b, 1), "label": label})
    across, up = ticks(0.0, reach[0]), ticks(0.0, reach[1], 3)
    rings = [
        {
            "rx": round((right - left) * r / reach[0], 1),
            "ry": round((bottom - top) * r / reach[1], 1),
            "text": number_text(r),
        }
        for r in ticks(0.0, float(np.hypot(*reach)), 4)[1:]
    ]
    return {
        "width": wide,
        "height": high,
        "left": left,
        "right": right,
        "top": top,
        "bottom": bottom,
        "points": found,
        "rings": rings,
        "x": [
            {"at": round(left + (right - left) * v / reach[0], 1), "text": t}
            for v, t in zip(across, _tick_texts(across))
        ],
        "y": [
            {"at": round(bottom - (bottom - top) * v / reach[1], 1), "text": t}
            for v, t in zip(up, _tick_texts(up))
        ],
    }


def _label(
    x: float, y: float, text: str, taken: list[Box], lines: list[Line], inside: Box, number: int
) -> dict[str, Any] | None:
    """Where a point's name goes: beside it, or further off with a line to it; None where there is no room."""
    wide = LETTER * len(text) + 4
    others = taken[:number] + taken[number + 1 :]
    for dx, dy in _around():
        start = x + dx if dx > 0 else x + dx - wide if dx < 0 else x - wide / 2
        box = Box(start, y + dy - LINE / 2, start + wide, y + dy + LINE / 2)
        if (
            box.left < inside.left
            or box.right > inside.right
            or box.top < inside.top
            or box.bottom > inside.bottom
        ):
            continue
        end = box.left if dx > 0 else box.right if dx < 0 else x
        far = abs(dx) + abs(dy) >= NEAR
        line = Line(x, y, end, y + dy + (0.0 if dx else np.sign(-dy) * LINE / 2)) if far else None
        if any(box.meets(other) or (line is not None and line.crosses(other)) for other in others):
            continue
        if any(other.crosses(box) or (line is not None and line.meets(other)) for other in lines):
            continue
        taken.append(box)
        if line is not None:
            lines.append(line)
        return {
            "x": round(box.left + 2 if dx > 0 else box.right - 2 if dx < 0 else x, 1),
            "y": round(y + dy + 4, 1),
            "anchor": "start" if dx > 0 else "end" if dx < 0 else "middle",
            "text": text,
            "line": None if line is None else [round(v, 1) for v in (line.x, line.y, line.to_x, line.to_y)],
            "box": [round(v, 1) for v in (box.left, box.top, box.right, box.bottom)],
        }
    return None


@dataclass(frozen=True)
class Line:
    """From a point to its name."""

    x: float
    y: float
    to_x: float
    to_y: float

    def crosses(self, box: Box) -> bool:
        along = np.linspace(0.0, 1.0, 25)[1:]
        x, y = self.x + along * (self.to_x - self.x), self.y + along * (self.to_y - self.y)
        return bool(((x > box.left) & (x < box.right) & (y > box.top) & (y < box.bottom)).any())

    def meets(self, other: Line) -> bool:
        return self._sides(other) < 0 and other._sides(self) < 0

    def _sides(self, other: Line) -> float:
        """Below zero where the other's ends lie on different sides of this line."""

        def side(x: float, y: float) -> float:
            return (self.to_x - self.x) * (y - self.y) - (self.to_y - self.y) * (x - self.x)

        return side(other.x, other.y) * side(other.to_x, other.to_y)


def _around() -> Iterator[tuple[float, float]]:
    """Offsets of a label from its point: near ones first, to the right rather than to the left."""
    yield from (
        (9.0, 0.0),
        (8.0, -10.0),
        (8.0, 11.0),
        (-9.0, 0.0),
        (0.0, -14.0),
        (0.0, 15.0),
        (-8.0, -10.0),
        (-8.0, 11.0),
    )
    for far in (18.0, 26.0, 36.0, 48.0, 62.0, 78.0, 96.0):
        yield from ((far, -0.4 * far), (0.7 * far, -0.8 * far), (far, 0.4 * far), (0.4 * far, -far), (-0.7 * far, -0.8 * far),
                    (-far, -0.4 * far), (0.0, -far), (0.7 * far, 0.8 * far), (far, 0.0))  # fmt: skip


# --- observed against predicted ----------------------------------------------------------------------


def against(groups: Sequence[tuple[str, Bins]], size: tuple[float, float], shares: bool) -> dict[str, Any]:
    """Means of what was observed over means of what was predicted, with the line on which both are equal.

    Parameters
    ----------
    groups : name of an output and its means, several for classes
    size : of the picture
    shares : whether both are shares, whose axes begin at 0 and whose error is known
    """
    wide, high = size
    left, right, top, bottom = 46.0, wide - 8.0, 10.0, high - 38.0
    ends = []
    for _, bins in groups:
        ends += [*bins.at, *bins.observed]
        ends += [] if bins.low is None or bins.high is None else [*bins.low, *bins.high]
    low, most = (0.0, max(ends)) if shares else (min(ends), max(ends))
    pad = 0.04 * (most - low) or 0.5
    low, most = (0.0 if shares else low - pad), (min(1.0, most + pad) if shares else most + pad)

    def across(v: float) -> float:
        return round(left + (right - left) * (v - low) / (most - low), 1)

    def up(v: float) -> float:
        return round(bottom - (bottom - top) * (v - low) / (most - low), 1)

    found = []
    for name, bins in groups:
        error = 2 * np.sqrt(bins.observed * (1 - bins.observed) / bins.rows) if shares else None
        points = []
        for i in range(len(bins.at)):
            bar = None
            if error is not None:
                bar = [up(float(np.clip(bins.observed[i] + s * error[i], low, most))) for s in (-1, 1)]
            elif bins.low is not None and bins.high is not None:
                bar = [up(float(bins.low[i])), up(float(bins.high[i]))]
            points.append({"x": across(float(bins.at[i])), "y": up(float(bins.observed[i])), "bar": bar})
        found.append({"name": name, "points": points})
    at = ticks(low, most)
    return {
        "width": wide, "height": high, "left": left, "right": right, "top": top, "bottom": bottom,
        "groups": found,
        "x": [{"at": across(v), "text": t} for v, t in zip(at, _tick_texts(at))],
        "y": [{"at": up(v), "text": t} for v, t in zip(at, _tick_texts(at))],
        "line": [across(low), up(low), across(most), up(most)],
    }  # fmt: skip


# --- a finding's curve -------------------------------------------------------------------------------


def small_curve(
    effect: Effect,
    output: int,
    least: float = 0.0,
    band: tuple[Float, Float] | None = None,
    others: Sequence[Float] = (),
) -> dict[str, Any]:
    """An average with its lowest and highest value as numbers; levels are points, in the order shown.

    Parameters
    ----------
    effect, output : whose average
    least : range of predictions that fills the height at least, so that a weak effect looks weak
    band : low and high ends of what rows do around it, at the points shown
    others : further averages of the same grid, drawn behind
    """
    kept = frequent(effect)
    shown = kept[kept < len(effect.grid[0][shown_points(effect)])]
    curves = [effect.average[output][shown], *(one[shown] for one in others)]
    around = [] if band is None else [end[: len(shown)] for end in band]
    known = np.concatenate([one[np.isfinite(one)] for one in (*curves, *around)])
    own = curves[0][np.isfinite(curves[0])]
    found: dict[str, Any] = {
        "kind": "line",
        "d": "",
        "band": "",
        "others": [],
        "points": [],
        "more": [],
        "ends": [],
    }
    if not len(own):
        return found
    wide, high = CURVE
    low, most = float(known.min()), float(known.max())
    spare = max(0.0, least - (most - low)) / 2
    low, most = low - spare, most + spare

    def up(v: float) -> float:
        return high - 3 - (high - 6) * ((v - low) / (most - low) if most > low else 0.5)

    found["ends"] = _ends(float(own.min()), float(own.max()), up)
    if effect.ordered[0]:
        x = np.asarray(Coordinates([effect]).place(effect.grid[0][shown]), dtype=np.float64)
        finite = np.isfinite(x)
        if not finite.any():
            return found
        at = wide * (x - x[finite].min()) / (float(np.ptp(x[finite])) or 1.0)
        paths = [_path(at, one, up) for one in curves]
        if around:
            back = _path(at[::-1], around[1][::-1], up)
            found["band"] = f"{_path(at, around[0], up)}L{back[1:]}Z" if back else ""
        return {**found, "d": paths[0], "others": paths[1:]}
    # Levels of many are sorted by height, as no order of theirs would be seen at this size.
    order = np.argsort(curves[0], kind="stable") if len(shown) > MANY_BARS else np.arange(len(shown))
    step = wide / max(len(shown), 1)
    points = [
        [
            [round((i + 0.5) * step, 1), round(up(float(v)), 1)]
            for i, v in enumerate(one[order])
            if np.isfinite(v)
        ]
        for one in curves
    ]
    if around:
        found["band"] = "".join(
            f"M{(i + 0.5) * step - 4:.1f} {up(float(a)):.1f}h8V{up(float(b)):.1f}h-8z"
            for i, (a, b) in enumerate(zip(around[0][order], around[1][order]))
            if np.isfinite(a) and np.isfinite(b)
        )
    return {**found, "kind": "levels", "points": points[0], "more": points[1:]}


def _ends(low: float, most: float, up: Any) -> list[list[Any]]:
    """Lowest and highest value beside their heights, one above the other also where those are near."""
    if max(abs(low), abs(most)) >= 1e6 or max(abs(low), abs(most)) < 1e-3:
        texts = number_text(most), number_text(low)
    else:
        decimals = range_decimals(low, most)
        texts = number_text(most, decimals=decimals), number_text(low, decimals=decimals)
    top, bottom = up(most) + 4, up(low) + 4
    if bottom - top < 12:
        middle = (top + bottom) / 2
        top, bottom = middle - 6, middle + 6
    return [[round(top, 1), texts[0]], [round(bottom, 1), texts[1]]]


def _path(at: Float, values: Float, up: Any) -> str:
    parts = [f"{a:.1f} {up(float(v)):.1f}" for a, v in zip(at, values) if np.isfinite(a) and np.isfinite(v)]
    return "M" + "L".join(parts) if parts else ""
