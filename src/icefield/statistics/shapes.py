"""The shape of a curve over an ordered feature, by stated rules.

Every rule is a number compared with a threshold that stands in `THRESHOLDS`, so that a reading can
be checked and argued with. Points count by how much data they stand for, half and half with an even
weighting, so that neither an empty tail nor a crowded spot decides alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icefield.typing import Float

THRESHOLDS = {
    "turn": 0.15,  # a reversal counts when it gives back more than this share of the range ...
    "forgiven": 0.30,  # ... or than this share, where a line explains the curve all the same
    "wiggle": 0.05,  # a curve that gives back more than this share, and than its noise, is "mostly monotone" at best
    "dip": 0.20,  # ... or than this share, where a step does
    "linear": 0.90,  # share of the curve's variance a straight line explains ...
    "curvature": 0.025,  # ... and a cubic must not explain this much more
    "threshold": 0.90,  # share of the curve's variance a single step explains
    "group": 0.03,  # points are joined until they hold this share of the data
}


@dataclass(frozen=True)
class Shape:
    """A curve's shape and the numbers it was judged by, among them the share of the variance that three fits explain.

    Names are ``"linear"``, ``"threshold"``, ``"monotone"``, ``"mostly monotone"``, ``"U-shaped"``, ``"inverted U"`` and ``"non-monotone"``.
    """

    name: str
    direction: str  # "increasing", "decreasing" or "mixed"
    turns_at: float | None  # where a U turns
    steps_at: float | None  # where a threshold lies
    busiest: tuple[float, float]  # ends of the shortest stretch over which it changes by half of its range
    linear: float
    cubic: float
    step: float
    reversal: float  # largest movement against the main direction, as a share of the range


def shape_of(x: Float, y: Float, weights: Float, noise: float = 0.0) -> Shape:
    """Describe a curve that is not flat; `x` ascending, `weights` sum to 1, `noise` is that of a difference of two points.

    Examples
    --------
    >>> x = np.linspace(0, 1, 50)
    >>> even = np.full(50, 0.02)
    >>> shape_of(x, 3 * x, even).name, shape_of(x, (x - 0.5) ** 2, even).name
    ('linear', 'U-shaped')
    """
    mixed = 0.5 * weights + 0.5 / len(weights)
    linear, cubic = _explained_by_polynomial(x, y, mixed, 1), _explained_by_polynomial(x, y, mixed, 3)
    step, steps_at = _explained_by_step(x, y, mixed)
    gx, gy = _grouped(x, y, mixed)
    extent = float(gy.max() - gy.min()) or 1.0
    rise, fall = _largest_rise(gy) / extent, _largest_rise(-gy) / extent
    direction = "increasing" if rise >= fall else "decreasing"
    reversal = min(rise, fall)
    straight = linear >= THRESHOLDS["linear"] and cubic - linear <= THRESHOLDS["curvature"]
    name, turns_at = "monotone", None
    if reversal <= THRESHOLDS["dip"] and step >= THRESHOLDS["threshold"] and step > linear:
        name = "threshold"
    elif reversal <= THRESHOLDS["forgiven"] and straight:
        name = "linear"
    elif reversal > THRESHOLDS["turn"]:
        name, turns_at = _turning(gx, gy, extent)
        direction = "mixed"
    elif reversal * extent > max(THRESHOLDS["wiggle"] * extent, noise):
        name = "mostly monotone"
    steps_at = steps_at if name == "threshold" else None
    return Shape(
        name, direction, turns_at, steps_at, _busiest(x, y, direction), linear, cubic, step, reversal
    )


def _turning(x: Float, y: Float, extent: float) -> tuple[str, float | None]:
    """A U has two arms around its turn, and no further turn in either."""
    for name, curve in (("U-shaped", y), ("inverted U", -y)):
        at = int(curve.argmin())
        left, right = curve[: at + 1], curve[at:]
        arms = min(left.max(), right.max()) - curve[at]
        against = max(_largest_rise(left), _largest_rise(-right))
        if arms > THRESHOLDS["turn"] * extent and against <= THRESHOLDS["turn"] * extent:
            return name, float(x[at])
    return "non-monotone", None


def _largest_rise(y: Float) -> float:
    """The largest increase from any point to a later one."""
    return float((y - np.minimum.accumulate(y)).max())


def _explained_by_polynomial(x: Float, y: Float, weights: Float, degree: int) -> float:
    """Share of the variance a polynomial explains: one orthogonal power after the other."""
    half = x / 2.0  # numbers may span more than a float does
    place = 2.0 * ((half - half[0]) / (float(half[-1] - half[0]) or 1.0)) - 1.0
    powers: list[Float] = []
    fit = np.zeros_like(y)
    for power in range(min(degree, len(x) - 1) + 1):
        column = place**power
        for known in powers:
            column = column - (weights * column) @ known * known
        size = np.sqrt(weights @ np.square(column))
        if size > 1e-9:
            powers.append(column / size)
            fit += (weights * y) @ powers[-1] * powers[-1]
    return _explained(y, fit, weights)


def _explained(y: Float, fit: Float, weights: Float) -> float:
    total = float((weights * np.square(y - weights @ y / weights.sum())).sum())
    return 1.0 if total == 0 else 1.0 - float((weights * np.square(y - fit)).sum()) / total


def _explained_by_step(x: Float, y: Float, weights: Float) -> tuple[float, float | None]:
    """The best two-level fit and where it steps, midway between neighbouring points."""
    if len(x) < 2:
        return 0.0, None
    mass, moment = np.cumsum(weights)[:-1], np.cumsum(weights * y)[:-1]
    all_mass, all_moment = weights.sum(), weights @ y
    between = (moment - mass * all_moment / all_mass) ** 2 / (mass * (all_mass - mass) / all_mass)
    total = float((weights * np.square(y - all_moment / all_mass)).sum())
    at = int(between.argmax())
    return (1.0 if total == 0 else float(between[at]) / total), float(0.5 * (x[at] + x[at + 1]))


def _grouped(x: Float, y: Float, weights: Float) -> tuple[Float, Float]:
    """Neighbouring points joined until each group holds enough data; wiggles of single points vanish."""
    group = np.floor(np.cumsum(weights) / weights.sum() / THRESHOLDS["group"] - 1e-9).astype(np.intp)
    group = np.unique(group, return_inverse=True)[1]
    mass = np.bincount(group, weights)
    return np.bincount(group, weights * x) / mass, np.bincount(group, weights * y) / mass


def _busiest(x: Float, y: Float, direction: str) -> tuple[float, float]:
    """The shortest stretch of x between whose ends the curve changes by half of its range, in its direction if it has one."""
    if len(x) < 2 or np.ptp(y) == 0:
        return float(x[0]), float(x[-1])
    change = y[None, :] - y[:, None]
    change = {"increasing": change, "decreasing": -change}.get(direction, np.abs(change))
    enough = np.triu(change >= 0.5 * np.ptp(y) * (1 - 1e-9), 1)
    half = x / 2.0  # numbers may span more than a float does
    length = np.where(enough, half[None, :] - half[:, None], np.inf)
    first, last = np.unravel_index(int(length.argmin()), length.shape)
    return float(x[first]), float(x[last])
