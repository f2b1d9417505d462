"""Distributions: what a picture needs to know of a column, or of two, without the rows.

A `Marginal` summarises one feature (histogram and deciles, or levels and their counts, a rug
sample, the missing share); a `Joint` two features together (a histogram over both and a
sample of pairs). Both are small, so an Effect can carry them wherever it goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.data.columns import ORDERED_KINDS, TIME_KINDS, Column
from icefield.typing import Array, Float, Int32, Int64, Positions

if TYPE_CHECKING:
    from icefield.data.column_summary import ColumnSummary

USUAL_TRIM = (0.05, 0.95)  # of grids, whose quantiles are gathered with the deciles
BINS = 40
RUG = 400
BLOCK = 262_144
CELLS = 4_000_000  # of a joint histogram; beyond, only the most frequent levels have a place in it

SKEWED = 3.0  # half-widths of the middle two thirds; a standard deviation beyond is made by few values
LEAST_UNIT = 0.1  # of the standard deviation
FAR = 10.0  # times as far from the median as all but the farthest few per cent
# Values that do not decide alone how far all lie apart, and of few values this share, ...
HANDFUL, HANDFUL_AT_MOST = 5, 0.03
HANDFUL_SHARE = 0.005  # ... of many
ROUNDING = 1e-12  # of the largest number


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
    counts: Float
    edges: Array | None = None
    deciles: Array | None = None
    levels: Array | None = None
    rug: Array | None = None


@dataclass(frozen=True, eq=False)
class Joint:
    """The distribution of two features together.

    `counts[i, j]` is the weight in bin i of the first feature and j of the second; an axis's
    `edges` are bin edges for ordered kinds, levels for categories (the most frequent ones where
    thousands on both sides would be too many cells). `sample` holds seeded pairs,
    in the columns' own values, for hulls and scatter.
    """

    features: tuple[Any, Any]
    counts: Float
    edges: tuple[Array, Array]
    ordered: tuple[bool, bool]
    sample: tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Distribution:
    """The marginals of an Effect's features and, for pairs, their joint distribution."""

    marginals: tuple[Marginal, ...]
    joint: Joint | None = None


def suiting_unit(values: Float, weights: Float | None, std: float) -> float:
    """The unit for differences between values: their standard deviation, or a robust one where a few values dominate it.

    Where a few values far from the rest make it (as of a risk that is small for nearly all), it is three times half the
    width of the middle two thirds, which for normal values would be three standard deviations; but no
    less than a tenth of the standard deviation. The farthest handful of values never decides, nor does up to 3 % of them that
    lie far beyond all others: the standard deviation is that of the others where it is less than a third of that of all.

    Examples
    --------
    >>> few_large = np.append(np.linspace(0, 1, 990), np.full(10, 100.0))
    >>> bool(suiting_unit(few_large, None, float(few_large.std())) < 0.2 * few_large.std())
    True
    >>> suiting_unit(np.arange(100.0), None, 28.9)
    28.9
    """
    if not np.isfinite(values).all() or not std > 0:
        return std
    others = _deviation_without_farthest(values, weights)
    whole, std = std, others if 0 < SKEWED * others < std else std
    low, high = weighted_quantiles(values, np.array([1 / 6, 5 / 6]), weights)
    middle = SKEWED * 0.5 * float(high - low)
    # Values of which most are alike up to rounding have no spread but that of the few.
    least = ROUNDING * float(np.abs(values).max(initial=0.0))
    return max(middle, LEAST_UNIT * std) if least < middle < std else std if std > least else whole


def _deviation_without_farthest(values: Float, weights: Float | None) -> float:
    """Standard deviation of values without the handful farthest from their median."""
    handful = max(min(HANDFUL, int(HANDFUL_AT_MOST * len(values))), int(HANDFUL_SHARE * len(values)))
    (middle,) = weighted_quantiles(values, np.array([0.5]), weights)
    apart = np.abs(values - middle)
    # More of them where they are a group of their own, far beyond all others.
    (usual,) = weighted_quantiles(apart, np.array([1.0 - HANDFUL_AT_MOST]), weights)
    handful = max(handful, int((apart > FAR * usual).sum()))
    if not 0 < handful < len(values):
        return float("nan")
    kept = np.argpartition(apart, len(values) - handful - 1)[: len(values) - handful]
    own = None if weights is None else weights[kept]
    if own is not None and not own.sum() > 0:
        return float("nan")
    mean = np.average(values[kept], weights=own)
    return float(np.sqrt(np.average(np.square(values[kept] - mean), weights=own)))


def suiting_units(values: Float, weights: Float | None, std: Any) -> Float | None:
    """The units of several columns of values; None where all are their standard deviations."""
    units = np.array([suiting_unit(own, weights, float(s)) for own, s in zip(values.T, std)])
    return None if np.array_equal(units, std, equal_nan=True) else units


def weighted_quantiles(values: Array, probabilities: Float, weights: Float | None) -> Array:
    """Quantiles of the ``inverted_cdf`` kind: always values of the data, and a weight of 2
    counts as a duplicated row.

    Examples
    --------
    >>> weighted_quantiles(np.array([1, 2, 3, 4]), np.array([0.0, 0.5, 1.0]), None).tolist()
    [1, 2, 4]
    """
    probabilities = np.asarray(probabilities, dtype=np.float64)
    if weights is None:
        ranks = ranks_of(probabilities, len(values))
        return np.partition(values, np.unique(ranks))[ranks]
    kept = weights > 0
    values, weights = values[kept], weights[kept]
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    at = np.searchsorted(cumulative, _needed(probabilities, float(cumulative[-1])), side="left")
    return values[order[np.clip(at, 0, len(order) - 1)]]


def looked_up_quantiles(values: Array, probabilities: Float, summary: ColumnSummary | None) -> Array:
    """Quantiles of values without weights, from a summary of them where there was one."""
    if summary is None:
        return weighted_quantiles(values, probabilities, None)
    return summary.at_ranks(ranks_of(np.asarray(probabilities, np.float64), summary.finite)).astype(
        values.dtype
    )


def ranks_of(probabilities: Float, n_values: int | Int64) -> Int64:
    """Which of this many sorted values the quantiles are; of several numbers, in a column, ``(numbers, quantiles)``."""
    ranks = np.ceil(_needed(probabilities, np.float64(n_values))).astype(np.int64) - 1
    return np.clip(ranks, 0, n_values - 1)


def _needed(probabilities: Float, total: float) -> Float:
    """The weight at or below a quantile, a hair less than ``p * total``: rounding may put the
    product just above a sum of weights it should equal, as in 0.07 * 100."""
    return np.where(probabilities >= 1.0, total, probabilities * total * (1.0 - 1e-12))


def marginal_of(
    feature: Any,
    column: Column,
    weights: Float | None,
    rng: np.random.Generator,
    summary: ColumnSummary | None = None,
) -> Marginal:
    """Summarise a column, from one of its values where there was one and they have no weights."""
    total = float(len(column) if weights is None else weights.sum())
    if column.kind not in ORDERED_KINDS:
        counts = column.level_counts(weights)
        known = counts.sum() if weights is None else weights[~column.missing].sum()
        return Marginal(feature, column.kind, total, total - float(known), counts, levels=column.levels)
    present = ~column.missing if column.any_missing else slice(None)
    values = column.values[present]
    kept = None if weights is None else weights[present]
    missing = total - float(len(values) if kept is None else kept.sum())
    if summary is None or summary.finite < len(values):
        finite = np.isfinite(values)
        if not finite.all():
            values, kept = values[finite], None if kept is None else kept[finite]
    if len(values) == 0 or (kept is not None and kept.sum() == 0):
        return Marginal(feature, column.kind, total, missing, np.zeros(0))
    tenths = np.linspace(0, 1, 11)
    if summary is None:
        deciles = weighted_quantiles(values, tenths, kept)
        edges = _edges(values.min(), values.max(), column.kind)
        counts = _counted(values, edges, kept)
    else:
        edges = _edges(values.dtype.type(summary.low), values.dtype.type(summary.high), column.kind)
        # A value on an edge belongs to the bin above it, except on the last.
        limits = np.nextafter(edges[1:-1], -np.inf)
        summary.expect(ranks_of(np.append(tenths, USUAL_TRIM), summary.finite), limits)
        deciles = looked_up_quantiles(values, tenths, summary)
        below = summary.at_most(limits)
        counts = np.diff(below, prepend=0, append=summary.finite).astype(np.float64)
    rug = values if len(values) <= RUG else _drawn(column, len(values), rng)
    return Marginal(
        feature, column.kind, total, missing, counts, edges=edges, deciles=deciles, rug=np.sort(rug)
    )


def _drawn(column: Column, finite: int, rng: np.random.Generator) -> Array:
    """The known, finite values of some rows drawn by chance."""
    rows = rng.integers(0, len(column.values), RUG)
    drawn = column.values[rows]
    if finite == len(column.values):
        return drawn
    return drawn[~column.missing[rows] & np.isfinite(drawn)]


def _counted(values: Array, edges: Array, weights: Float | None) -> Float:
    counts = np.zeros(len(edges) - 1)
    for start in range(0, len(values), BLOCK):  # bins take eight bytes a row, which adds up
        part = slice(start, start + BLOCK)
        inside = None if weights is None else weights[part]
        counts += np.bincount(_bin_of(values[part], edges), inside, minlength=len(counts))
    return counts


@dataclass(frozen=True, eq=False)
class Binned:
    """A column's rows as bin numbers (-1: not known), with the bins' edges or levels."""

    codes: Int32
    edges: Array
    ordered: bool

    @property
    def size(self) -> int:
        return len(self.edges) - 1 if self.ordered else len(self.edges)


def binned(column: Column) -> Binned:
    """Put a column's rows into the bins of its histogram."""
    if column.kind not in ORDERED_KINDS:
        return Binned(column.codes.astype(np.int32), column.levels, False)
    known = ~column.missing
    if column.kind == "float":
        known &= np.isfinite(column.values)
    codes = np.full(len(known), -1, dtype=np.int32)
    if not known.any():
        return Binned(codes, np.zeros(2), True)
    values = column.values[known]
    edges = _edges(values.min(), values.max(), column.kind)
    codes[known] = _bin_of(values, edges)
    return Binned(codes, edges, True)


def joint_of(
    features: tuple[Any, Any],
    columns: tuple[Column, Column],
    bins: tuple[Binned, Binned],
    weights: Float | None,
    order: Positions,
) -> Joint:
    """Summarise two columns together, over the rows where both are known.

    `bins` are the columns' own, made once where many pairs share them; `order` is a seeded random order of rows, from which the sample of pairs is taken.
    """
    first, second = _within(CELLS, bins)
    known = (first.codes >= 0) & (second.codes >= 0)
    flat = first.codes[known].astype(np.int64) * second.size + second.codes[known]
    kept = None if weights is None else weights[known]
    counts = np.bincount(flat, kept, minlength=first.size * second.size).astype(np.float64)
    at = np.sort(order[known[order]][: 5 * RUG])
    return Joint(
        features,
        counts.reshape(first.size, second.size),
        (first.edges, second.edges),
        (first.ordered, second.ordered),
        (columns[0].values[at], columns[1].values[at]),
    )


def _within(cells: int, bins: tuple[Binned, Binned]) -> tuple[Binned, Binned]:
    """The bins of two columns with at most this many cells together: rare levels lose their place."""
    first, second = bins
    if first.size * second.size <= cells:
        return bins
    if first.ordered or second.ordered:
        return _frequent(first, cells // second.size), _frequent(second, cells // first.size)
    fewest = min(first.size, second.size, int(cells**0.5))
    return _frequent(first, cells // fewest), _frequent(second, cells // min(first.size, cells // fewest))


def _frequent(bins: Binned, most: int) -> Binned:
    """Only the most frequent levels, in level order."""
    if bins.ordered or bins.size <= most:
        return bins
    counts = np.bincount(bins.codes[bins.codes >= 0], minlength=bins.size)
    kept = np.sort(np.argsort(-counts, kind="stable")[:most])
    place = np.full(bins.size + 1, -1, dtype=np.int32)
    place[kept] = np.arange(len(kept))
    return Binned(place[bins.codes], bins.edges[kept], False)


def _edges(smallest: Any, largest: Any, kind: str) -> Array:
    if kind in TIME_KINDS:
        # Through exact integers: a bin of at least one unit, and no overflow over centuries.
        first, last = (int(v.astype(np.int64)) for v in (smallest, largest))
        span = last - first
        steps = range(span + 2) if span < BINS else [span * i // BINS for i in range(BINS + 1)]
        return np.array([first + step for step in steps], dtype=np.int64).astype(smallest.dtype)
    low, high = float(smallest), float(largest)
    if kind == "integer" and high - low < BINS and max(-low, high) < 2**52:
        return np.arange(low, high + 2) - 0.5
    if low == high:
        half = max(0.5, float(np.spacing(abs(low))))
        return np.array([low - half, high + half])
    with np.errstate(over="ignore"):
        width = high - low
    if not np.isfinite(width):
        return np.array([low, 0.0, high])
    # A range of a few floats has fewer edges.
    return np.unique(np.linspace(low, high, BINS + 1))


def _bin_of(values: Array, edges: Array) -> Positions:
    """Bin numbers by arithmetic where the edges are evenly spaced; it is several times a search."""
    bins = len(edges) - 1
    if values.dtype.kind not in "mM":
        values = values.astype(np.float64)
        with np.errstate(over="ignore"):
            scale = bins / (edges[-1] - edges[0])
        if bins > 2 and np.isfinite(scale):
            return np.clip(((values - edges[0]) * scale).astype(np.intp), 0, bins - 1)
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)
