"""Where an axis carries numbers: round ones, a few of them, for backends that do not choose well themselves."""

from __future__ import annotations

import numpy as np


def nice_ticks(low: float, high: float, count: int = 6, whole: bool = False) -> list[float]:
    """About `count` round numbers between two ends.

    Examples
    --------
    >>> nice_ticks(0.03, 0.52)
    [0.1, 0.2, 0.3, 0.4, 0.5]
    """
    if not high > low:
        return [low]
    raw = (high - low) / count
    size = 10.0 ** np.floor(np.log10(raw))
    step = float(size * next(m for m in (1, 2, 2.5, 5, 10) if m * size >= raw * 0.75))
    step = max(1.0, np.ceil(step)) if whole else step
    numbers = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
    return [float(f"{n * step:.12g}") + 0.0 for n in numbers]
