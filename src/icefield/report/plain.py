"""Arrays as what JSON can carry: short numbers, None where there is none, and bands of many curves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icefield.data.at_ranks import lanes_at_ranks

DIGITS = 5  # of predictions: finer than a screen shows
PRINTED = 12  # of a number that the page prints with fewer: it is rounded once, where it is written
PLACE_DIGITS = 12  # of positions: a date is a large number of days


def numbers(values: ArrayLike | None, digits: int = DIGITS) -> Any:
    """Nested lists of rounded numbers, with None for NaN.

    Examples
    --------
    >>> numbers(np.array([[1.0, np.nan], [0.123456789, 2e-30]]))
    [[1, None], [0.12346, 2e-30]]
    """
    if values is None:
        return None
    return _short(np.asarray(values, dtype=np.float64).tolist(), digits)


def _short(value: Any, digits: int) -> Any:
    if isinstance(value, list):
        return [_short(v, digits) for v in value]
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def weighted_bands(
    curves: NDArray[np.float64], weights: NDArray[np.float64] | None, probabilities: tuple[float, ...]
) -> NDArray[np.float64]:
    """Quantiles over the rows of ``(outputs, rows, points)`` curves: ``(outputs, quantiles, points)``."""
    if weights is None or (len(weights) and (weights == weights[0]).all() and weights[0] > 0):
        outputs, rows, points = curves.shape
        ranks = np.maximum(np.ceil(np.array(probabilities) * rows - 1), 0).astype(np.int64)
        lanes = np.swapaxes(curves, 1, 2).reshape(outputs * points, rows)
        return np.swapaxes(lanes_at_ranks(lanes, ranks).reshape(outputs, points, len(ranks)), 1, 2)
    # numpy's weights are sums to one along the axis; zero weights are rows that are not there.
    used = weights > 0
    row_weights = np.broadcast_to(weights[used][None, :, None], curves[:, used].shape)
    bands = np.quantile(curves[:, used], probabilities, axis=1, method="inverted_cdf", weights=row_weights)
    return np.moveaxis(bands, 0, 1)
