"""Series: the curves that share a panel, whatever makes them several.

An output of an effect, a group of it, one model among others: each becomes a `Series` with a
label and a colour. How several are spread over panels is decided in `compose`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.effect import Effect
from icefield.plots.options import Options
from icefield.plots.panels import Colour, Float

OVERLAID = 8  # more curves than this in a panel cannot be told apart
PATTERNS = (0, 1, 2, 3, 0, 1, 3, 2)  # of dashes, by colour: two that share one differ most in lightness
THREE_DOTS = 4


@dataclass(frozen=True, eq=False)
class Series:
    """One output of one effect, to be drawn in one colour."""

    effect: Effect
    output: int = 0
    label: str | None = None
    colour: Colour = 0
    dashed: int = 0

    @property
    def average(self) -> Float:
        return np.asarray(self.effect.average[self.output], dtype=np.float64)

    @property
    def individual(self) -> Float | None:
        return None if self.effect.individual is None else self.effect.individual[self.output]

    @property
    def low_support(self) -> NDArray[np.bool_] | None:
        """Where little data stands behind the curve; None where that is nowhere, or everywhere and marks no place."""
        support = self.effect.support
        if support is None or not np.any(support.low) or support.low.shape != self.average.shape:
            return None
        return None if np.all(support.low) else np.asarray(support.low, dtype=bool)

    @property
    def unsupported(self) -> bool:
        """Whether little data stands behind all of the curve."""
        return self.effect.support is not None and bool(np.all(self.effect.support.low))

    def spread(self, chosen: str) -> str:
        """Which spread there is to draw, given what was asked.

        "auto" takes quantiles, which someone asked for, or how differently rows respond. How far their predictions
        lie apart anyway would dwarf the effect; between refits, or of curves changed first, there is no such part.
        """
        effect = self.effect
        if chosen == "auto":
            if effect.kind == "ice" and effect.individual is not None:
                return "none"
            if effect.interval is not None:
                return "interval"
            if effect.quantiles is not None and len(effect.quantiles) >= 2:
                return "quantiles"
            if effect.centered_std is not None:
                return "centered"
            responses = effect.over == "refits" or effect.view != "level"
            return "std" if responses and effect.std is not None else "none"
        return "none" if self._ends(chosen) is None else chosen

    def interval(self, spread: str) -> tuple[Float, Float] | None:
        """The lower and upper end of the chosen spread, no further than predictions can go."""
        ends = self._ends(spread)
        if ends is None:
            return None
        low, high = np.clip(ends, *self.effect.value_range)
        return low, high

    def _ends(self, spread: str) -> tuple[Float, Float] | None:
        effect, at, ends = self.effect, self.output, self.effect.interval
        if ends is not None and spread in ("interval", "simultaneous"):
            low, high = (ends.low, ends.high) if spread == "interval" else (ends.band_low, ends.band_high)
            return low[at], high[at]
        if spread == "quantiles" and effect.quantiles is not None and len(effect.quantiles) >= 2:
            least, most = min(effect.quantiles), max(effect.quantiles)
            return effect.quantiles[least][at], effect.quantiles[most][at]
        half = {"centered": effect.centered_std, "std": effect.std, "se": effect.se}.get(spread)
        if half is None:
            return None
        half = (2 * half if spread == "se" else half)[at]
        return self.average - half, self.average + half


def pattern(number: int, count: int) -> int:
    """The dashes, or the marker, of a curve among so many, so that colours of about one lightness still differ in grey.

    Beyond the palette's end, where colours come again, they come with other dashes: first
    with three dots between them.
    """
    if count == 1:
        return 0
    times, number = divmod(number, OVERLAID)
    if times == 1:
        return THREE_DOTS
    return (PATTERNS[number] + max(0, times - 1)) % THREE_DOTS


def viewed(effect: Effect, options: Options) -> Effect:
    """The effect as asked for: centred or its slope."""
    center: Any = options.center
    if center is not None and center is not False and effect.view == "level":
        effect = effect.center("first" if center is True else center)
    return effect.derivative() if options.derivative and effect.view != "derivative" else effect
