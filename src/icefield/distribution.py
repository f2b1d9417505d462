"""Where the data is: what a picture needs to know of a column, or of two, without the rows.

A `Marginal` summarises one feature (histogram and deciles, or levels and their counts, a rug
sample, the missing share); a `Joint` two features together (a histogram over both and a
sample of pairs). Both are small, so an Effect can carry them wherever it goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.frame import ORDERED_KINDS, Column

BINS = 40
RUG = 400


@dataclass(frozen=True, eq=False)
class Marginal:
    """The distribution of one feature.

    For ordered kinds `edges` (in the column's dtype, or float) and `counts` are a histogram and
    `deciles` the 11 values from the minimum to the maximum; for categories and booleans `levels`
    and `counts`. `rug` is a seeded sample of values. Counts are sums of weights.
    """

    feature: Any
    kind: str
    total: float
    missing: float
    counts: NDArray[np.float64]
    edges: NDArray[Any] | None = None
    deciles: NDArray[Any] | None = None
    levels: NDArray[Any] | None = None
    rug: NDArray[Any] | None = None


@dataclass(frozen=True, eq=False)
class Joint:
    """The distribution of two features together.

    `counts[i, j]` is the weight in bin i of the first feature and j of the second; an axis's
    `edges` are bin edges for ordered kinds, levels for categories. `sample` holds seeded pairs,
    in the columns' own values, for hulls and scatter.
    """

    features: tuple[Any, Any]
    counts: NDArray[np.float64]
    edges: tuple[NDArray[Any], NDArray[Any]]
    ordered: tuple[bool, bool]
    sample: tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Distribution:
    """The marginals of an Effect's features and, for pairs, their joint distribution."""

    marginals: tuple[Marginal, ...]
    joint: Joint | None = None


def weighted_quantiles(
    values: NDArray[Any], probabilities: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> NDArray[Any]:
    """Quantiles of the ``inverted_cdf`` kind: always values of the data, and a weight of 2
    counts as a duplicated row.

    Examples
    --------
    >>> weighted_quantiles(np.array([1, 2, 3, 4]), np.array([0.0, 0.5, 1.0]), None).tolist()
    [1, 2, 4]
    """
    probabilities = np.asarray(probabilities, dtype=np.float64)
    if weights is None:
        # The smallest value whose share of rows at or below it reaches p. Rounding guards
        # against p * n landing a hair above a whole number.
        ranks = np.ceil(np.round(probabilities * len(values), 9)).astype(np.intp) - 1
        ranks = np.clip(ranks, 0, len(values) - 1)
        return np.partition(values, np.unique(ranks))[ranks]
    kept = weights > 0
    values, weights = values[kept], weights[kept]
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    targets = np.round(probabilities * cumulative[-1], 9)
    at = np.searchsorted(np.round(cumulative, 9), targets, side="left")
    return values[order[np.clip(at, 0, len(order) - 1)]]


def marginal_of(
    feature: Any, column: Column, weights: NDArray[np.float64] | None, rng: np.random.Generator
) -> Marginal:
    """Summarise a column."""
    present = ~column.missing if column.any_missing else slice(None)
    values = column.values[present]
    kept = None if weights is None else weights[present]
    total = float(len(column.values) if weights is None else weights.sum())
    missing = total - float(len(values) if kept is None else kept.sum())
    if column.kind not in ORDERED_KINDS:
        codes, levels = column.codes[present], column.levels
        counts = np.bincount(codes, kept, minlength=len(levels)).astype(np.float64)
        return Marginal(feature, column.kind, total, missing, counts, levels=levels)
    finite = np.isfinite(values)
    if not finite.all():
        values, kept = values[finite], None if kept is None else kept[finite]
    if len(values) == 0 or (kept is not None and kept.sum() == 0):
        return Marginal(feature, column.kind, total, missing, np.zeros(0))
    deciles = weighted_quantiles(values, np.linspace(0, 1, 11), kept)
    edges = _edges(values, column.kind)
    counts = np.bincount(_bin_of(values, edges), kept, minlength=len(edges) - 1).astype(np.float64)
    rug = values if len(values) <= RUG else values[rng.integers(0, len(values), RUG)]
    return Marginal(
        feature, column.kind, total, missing, counts, edges=edges, deciles=deciles, rug=np.sort(rug)
    )


def joint_of(
    features: tuple[Any, Any],
    columns: tuple[Column, Column],
    weights: NDArray[np.float64] | None,
    rng: np.random.Generator,
) -> Joint:
    """Summarise two columns together, over the rows where both are known."""
    known = ~(columns[0].missing | columns[1].missing)
    for column in columns:
        if column.kind == "float":
            known &= np.isfinite(column.values)
    kept = None if weights is None else weights[known]
    bins, edges, ordered = [], [], []
    for column in columns:
        is_ordered = column.kind in ORDERED_KINDS
        ordered.append(is_ordered)
        if is_ordered and known.any():
            edges.append(_edges(column.values[known], column.kind))
            bins.append(_bin_of(column.values[known], edges[-1]))
        elif is_ordered:
            edges.append(np.zeros(2))
            bins.append(np.zeros(0, dtype=np.intp))
        else:
            edges.append(column.levels)
            bins.append(column.codes[known])
    sizes = [len(e) - 1 if o else len(e) for e, o in zip(edges, ordered)]
    flat = bins[0] * sizes[1] + bins[1]
    counts = np.bincount(flat, kept, minlength=sizes[0] * sizes[1]).astype(np.float64)
    at = np.flatnonzero(known)
    if len(at) > 5 * RUG:
        at = np.sort(rng.choice(at, 5 * RUG, replace=False))
    return Joint(
        features,
        counts.reshape(sizes[0], sizes[1]),
        (edges[0], edges[1]),
        (ordered[0], ordered[1]),
        (columns[0].values[at], columns[1].values[at]),
    )


def _edges(values: NDArray[Any], kind: str) -> NDArray[Any]:
    low, high = values.min(), values.max()
    if kind in ("datetime", "date", "duration"):
        steps = np.linspace(0, float((high - low).astype(np.int64)), BINS + 1)
        return low + steps.astype(np.int64).astype(f"timedelta64[{np.datetime_data(values.dtype)[0]}]")
    low, high = float(low), float(high)
    if kind == "integer" and high - low < BINS:
        return np.arange(low, high + 2) - 0.5
    if low == high:
        return np.array([low - 0.5, high + 0.5])
    with np.errstate(over="ignore"):
        width = high - low
    if not np.isfinite(width):
        return np.array([low, 0.0, high])
    return np.linspace(low, high, BINS + 1)


def _bin_of(values: NDArray[Any], edges: NDArray[Any]) -> NDArray[np.intp]:
    """Bin numbers by arithmetic where the edges are evenly spaced; it is several times a search."""
    bins = len(edges) - 1
    if bins == 2 or values.dtype.kind in "mM":
        return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)
    scaled = (values.astype(np.float64) - edges[0]) * (bins / (edges[-1] - edges[0]))
    return np.clip(scaled.astype(np.intp), 0, bins - 1)
