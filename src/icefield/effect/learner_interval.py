"""Learner intervals: how far another draw of the data, and another fit to it, would have moved a curve.

A learner's refits on random halves of the rows, each evaluated on the half that it has not seen, vary as fits to independent
data of the full size do: at one half, and at no other share, the variances due to the training rows, to the background
rows and to the seed all count once. So the interval is the full-data curve plus or minus Student's t times the standard
deviation of the refits' curves; the band that holds the whole curve at once takes the quantile of the largest |t| over the
grid (sup-t) instead. Forests on half the rows are smoother than the full one: theirs is the root mean square about the full curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from icefield.typing import Float

DRAWS = 4000  # of the largest |t|
POINTS_AT_ONCE = 4_000_000  # normal numbers drawn at a time
RIDGE = 1e-6  # of the shrunk correlation, so that equal points make no trouble


@dataclass(frozen=True, eq=False)
class LearnerInterval:
    """Intervals of a learner's expected curve at the size of the data; arrays have the shape ``(outputs, *grid)``.

    Attributes
    ----------
    low, high : ends at each grid point by itself
    band_low, band_high : ends of the band that holds the whole curve at once
    std_error : how far the curve would move with another draw of rows and another fit; for probabilities, on the logit scale
    curves : the refits' curves, each over the rows that it has not seen, ``(outputs, refits, *grid)``
    level : of both
    about : ``"mean"``: standard deviation of the refits' curves; ``"full"``: root mean square about the full-data curve
    n_rows : rows of the full data
    logit : whether they were formed on the logit
    """

    low: Float
    high: Float
    band_low: Float
    band_high: Float
    std_error: Float
    curves: Float
    level: float
    about: str
    n_rows: int
    logit: bool

    @classmethod
    def of(
        cls, average: Float, curves: Float, *, level: float, about: str, n_rows: int, logit: bool = False
    ) -> LearnerInterval:
        """The intervals around a full-data curve ``(outputs, *grid)`` from those of its refits ``(outputs, refits, *grid)``."""
        least = 0.5 / max(n_rows, 1)
        centre, refits = average, curves
        if logit:
            centre, refits = _logit(average, least), _logit(curves, least)
        outputs, grid = average.shape[0], average.shape[1:]
        flat, refit_values = centre.reshape(outputs, -1), refits.reshape(outputs, curves.shape[1], -1)
        error, pointwise, simultaneous = np.empty_like(flat), np.empty_like(flat), np.empty_like(flat)
        for k in range(outputs):
            spread = RefitSpread.of(flat[k], refit_values[k], about)
            error[k] = spread.std_error
            pointwise[k] = t_quantile(0.5 + level / 2, spread.df) * spread.std_error
            simultaneous[k] = spread.multiplier(level) * spread.std_error
        low, high, band_low, band_high = (
            (flat + sign * half).reshape(outputs, *grid)
            for half in (pointwise, simultaneous)
            for sign in (-1.0, 1.0)
        )
        if logit:
            low, high, band_low, band_high = map(_expit, (low, high, band_low, band_high))
        return cls(
            low, high, band_low, band_high, error.reshape(outputs, *grid), curves, level, about, n_rows, logit
        )

    @property
    def n_refits(self) -> int:
        return int(self.curves.shape[1])

    def changed(self, average: Float, change: Callable[[Float], Float]) -> LearnerInterval:
        """The intervals of curves after a linear change of each; `average` is the full-data curve after it."""
        of, curves = LearnerInterval.of, change(self.curves)
        return of(average, curves, level=self.level, about=self.about, n_rows=self.n_rows)


@dataclass(frozen=True, eq=False)
class RefitSpread:
    """How far refits' values ``(refits, points)`` lie apart.

    Attributes
    ----------
    deviations : from their mean, or from the full-data value
    std_error : their standard deviation, or root mean square; NaN where a value is not finite
    df : degrees of freedom
    """

    deviations: Float
    std_error: Float
    df: int

    @classmethod
    def of(cls, centre: Float, refits: Float, about: str) -> RefitSpread:
        """The spread about the refits' mean (``"mean"``) or about the full-data values (``"full"``)."""
        count = len(refits)
        with np.errstate(invalid="ignore"):
            if about == "full":
                deviations, df = refits - centre, count
            else:
                deviations, df = refits - refits.mean(axis=0), count - 1
            return cls(deviations, np.sqrt(np.square(deviations).sum(axis=0) / df), df)

    def multiplier(self, level: float) -> float:
        """The factor of the standard errors at which the band holds all points at once with this probability."""
        single = t_quantile(0.5 + level / 2, self.df)
        largest = self.largest_t()
        return single if largest is None else max(single, float(np.quantile(largest, level)))

    def p_value(self, values: Float) -> tuple[float, float]:
        """The largest |value| / standard error, and how often one so large occurs where all are zero."""
        usable = self._usable
        if not usable.any():
            return 0.0, 1.0
        statistic = float(np.max(np.abs(values[usable]) / self.std_error[usable]))
        # Bonferroni's, for the far tail.
        bonferroni = min(1.0, int(usable.sum()) * (1.0 - t_within(statistic, self.df)))
        largest = self.largest_t()
        if largest is None:
            return statistic, bonferroni
        simulated = (1.0 + int((largest >= statistic).sum())) / (1.0 + len(largest))
        return statistic, min(max(bonferroni, 1e-12), simulated)

    @property
    def _usable(self) -> np.ndarray:
        return np.isfinite(self.std_error) & (self.std_error > 0)

    def largest_t(self) -> Float | None:
        """Draws of the largest |t| over points, correlated as the refits are; None where points do not differ in it."""
        usable = np.flatnonzero(self._usable)
        if len(usable) < 2:
            return None
        unit = self.deviations[:, usable]
        unit = unit / np.sqrt(np.square(unit).sum(axis=0))
        return _largest_t(unit, _shrinkage(unit, self.df), self.df)


def _shrinkage(unit: Float, df: int) -> float:
    """How far the refits' correlation is shrunk towards none, 0 to 1 (Schäfer and Strimmer 2005)."""
    square = np.square(unit.T @ unit)
    np.fill_diagonal(square, 1.0)
    off = square.sum() - len(square)
    return 1.0 if off <= 0 else min(1.0, float(np.square(1.0 - square).sum() / df / off))


def _largest_t(unit: Float, shrink: float, df: int) -> Float:
    """max over points of |Z| / s, where Z and the df rows behind s have the shrunk correlation of `unit`."""
    count, points = unit.shape
    rng = np.random.default_rng(7)
    joint, separate = math.sqrt(1.0 - shrink), math.sqrt(shrink + RIDGE)
    largest = np.empty(DRAWS)
    step = max(1, min(DRAWS, POINTS_AT_ONCE // ((df + 1) * (points + count))))
    for start in range(0, DRAWS, step):
        size = min(step, DRAWS - start)
        normal = rng.standard_normal((size, df + 1, count + points), dtype=np.float32)
        values = joint * (normal[..., :count] @ unit.astype(np.float32)) + separate * normal[..., count:]
        scale = np.sqrt(np.square(values[:, 1:]).mean(axis=1))
        largest[start : start + size] = (np.abs(values[:, 0]) / scale).max(axis=1)
    return largest


def _logit(share: Float, least: float) -> Float:
    inside = np.clip(share, least, 1.0 - least)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def _expit(value: Float) -> Float:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * value)))


# --- Student's t -------------------------------------------------------------------------------------


def t_within(t: float, df: int) -> float:
    """Probability that Student's t with this many degrees of freedom lies between -t and t.

    Examples
    --------
    >>> round(t_within(1.7613, 14), 4)
    0.9
    """
    angle = math.atan(t / math.sqrt(df))
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = df % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(3 if odd else 2, df + 1, 2):
        total += term
        term *= cosine * cosine * (k - 1) / k
    if odd:
        return 2.0 / math.pi * (angle + sine * total)
    return sine * total


@cache
def t_quantile(p: float, df: int) -> float:
    """Quantile of Student's t, for p of at least one half.

    Examples
    --------
    >>> round(t_quantile(0.95, 14), 4), round(t_quantile(0.95, 15), 4)
    (1.7613, 1.7531)
    """
    low, high = 0.0, 1.0
    while t_within(high, df) < 2 * p - 1:
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if t_within(middle, df) < 2 * p - 1 else (low, middle)
    return (low + high) / 2
