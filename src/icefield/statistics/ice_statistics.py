"""What individual (ICE) curves say beyond their average.

An average can be flat while every curve moves. The measures here start from curves centred at
their own mean, so that only their *shape* counts: how strongly they differ (heterogeneity), whether
they run in opposite directions, and which other column tells them apart. All of it works on arrays
of shape ``(outputs, rows, points)`` and weights over points and rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import is_missing_value
from icefield.effect import Effect
from icefield.sampling import equal_parts, observations
from icefield.typing import Float

EXPLAINING_BINS = 8  # a numeric column is cut into so many groups to see whether it tells curves apart
HELD_BYTES = 2**24  # of what takes rows to averages by group, kept for the next curves
BY_ONE_THREAD = 2**18  # multiplications that BLAS does not spread over threads,
VECTOR_BY_ONE_THREAD = 9_000  # of a matrix and a vector
LEAST_AT_ONCE = 32  # rows that are worth a product of their own
STEPS = 30  # of a power iteration
ROUNDING = 1e-12  # of the largest number: what additions in another order may differ by


def shown_points(effect: Effect, axis: int = 0) -> slice:
    """The grid points of a feature without its missing point."""
    return slice(0, -1) if effect.missing_last[axis] and len(effect.grid[axis]) > 1 else slice(None)


def point_weights(effect: Effect) -> Float:
    """How much of the data each known point of a one-way effect stands for; sums to 1.

    Even weights where the effect carries none. An ALE's weights belong to bins, whose halves go to
    either edge.
    """
    shown = shown_points(effect)
    size = len(effect.grid[0][shown])
    weight = None if effect.weight is None else effect.weight[shown]
    if weight is None or not np.isfinite(weight.sum()) or weight.sum() <= 0:
        return np.full(size, 1.0 / size)
    if effect.kind == "ale" and effect.ordered[0]:
        weight = 0.5 * (weight + np.append(weight[1:], 0.0))
    return weight / weight.sum()


def missing_share(effect: Effect) -> float:
    """Share of the data at a one-way effect's missing point; 0 where it has none, or carries no weights."""
    if not effect.missing_last[0] or len(effect.grid[0]) < 2 or effect.weight is None:
        return 0.0
    total = float(effect.weight.sum())
    return float(effect.weight[-1]) / total if np.isfinite(total) and total > 0 else 0.0


def all_point_weights(effect: Effect) -> Float:
    """How much of the data each point of a one-way effect stands for, its missing point with the others; sums to 1."""
    weights = point_weights(effect)
    if len(weights) == len(effect.grid[0]):
        return weights
    gone = missing_share(effect)
    return np.append((1.0 - gone) * weights, gone)


def output_unit(effect: Effect, output: int) -> float:
    """What strengths are relative to: the standard deviation of the model's predictions, or what suits them better."""
    known = effect.output_std if effect.unit is None else effect.unit
    average = effect.average[output]
    # Of a constant model, equal numbers added in another order: rounding is no spread.
    least = ROUNDING * float(np.abs(average[np.isfinite(average)]).max(initial=0.0))
    spread = 0.0 if known is None else float(known[output])
    if spread > least and np.isfinite(spread):
        return spread
    # Without predictions to compare with, an effect is measured against itself.
    size = float(np.nanstd(average))
    return size if size > least else 1.0


def deviation(curve: Float, weights: Float) -> Float:
    """Weighted standard deviation along the last axis."""
    mean = (curve * weights).sum(axis=-1, keepdims=True)
    return np.sqrt((np.square(curve - mean) * weights).sum(axis=-1))


def centred(curves: Float, weights: Float) -> Float:
    """Each curve less its own mean over the data's distribution of the feature."""
    return curves - (curves @ weights)[..., None]


def heterogeneity(curves: Float, weights: Float, row_weights: Float | None = None) -> Float:
    """Root mean square distance of the centred curves from their average, per output.

    It is zero exactly when all curves are parallel: the feature then takes part in no interaction.

    Examples
    --------
    >>> parallel = np.array([[[0.0, 1.0], [5.0, 6.0]]])
    >>> heterogeneity(parallel, np.array([0.5, 0.5]))
    array([0.])
    """
    return np.array([IceCurves(output, weights, row_weights).heterogeneity for output in curves])


class IceCurves:
    """One output's curves ``(rows, points)``, and what they say together; what several measures start from is worked out once.

    `weights` are shares of the data at each point, `row_weights` None where each row counts alike.
    """

    def __init__(self, curves: Float, weights: Float, row_weights: Float | None = None) -> None:
        self.curves, self.weights, self.row_weights = curves, weights, row_weights

    @cached_property
    def shares(self) -> Float:
        """Each row's share of all weight."""
        return row_shares(self.row_weights, len(self.curves))

    @cached_property
    def level(self) -> Float:
        """Each curve's own mean."""
        return self.curves @ self.weights

    @cached_property
    def shape(self) -> Float:
        """The centred curves."""
        return self.curves - self.level[:, None]

    @cached_property
    def deviations(self) -> Float:
        """The centred curves less their average."""
        return self.shape - self.shares @ self.shape

    @cached_property
    def square_distance(self) -> Float:
        """The mean square of each curve's `deviations`."""
        return np.square(self.deviations) @ self.weights

    @cached_property
    def heterogeneity(self) -> float:
        """Root mean square distance of the centred curves from their average."""
        size = float(np.sqrt(self.square_distance @ self.shares))
        # Parallel curves differ by rounding; that is no heterogeneity.
        largest = max(self.curves.max(initial=0.0), -self.curves.min(initial=0.0))
        return 0.0 if size <= 1e-12 * largest else size

    @cached_property
    def scores(self) -> Float:
        """How far each curve follows the pattern of most of their movement; below zero, against it.

        The pattern is the first principal direction of the centred curves.
        """
        root = np.sqrt(self.weights)
        # A curve of weight 2 pulls as two would.
        heavy = self.shape if self.row_weights is None else self.shape * self.row_weights[:, None]
        gram = product(self.shape.T, heavy) * root * root[:, None]
        return self.shape @ (root * _leading_eigenvector(gram)) if gram.any() else np.zeros(len(self.curves))

    def resampled(self, row_weights: Float) -> tuple[Float, Float]:
        """The average curve, less that of all rows, and the heterogeneity, for each of several row weights ``(cases, rows)``.

        Both to some eight digits.
        """
        shares = row_weights / row_weights.sum(axis=1, keepdims=True)
        middle = product(shares, self.deviations)
        # The mean square about a mean, as a difference of squares near it.
        squares = shares @ self.square_distance - np.square(middle) @ self.weights
        return middle + ((shares - self.shares) @ self.level)[:, None], np.sqrt(np.maximum(squares, 0.0))


def opposing_share(scores: Float, row_weights: Float) -> Float:
    """The share of curves on the smaller side of a pattern, for each of several row weights ``(cases, rows)``.

    Those that hardly move are not counted on either side.
    """
    usual = np.sqrt(row_weights @ np.square(scores) / row_weights.sum(axis=1))
    moving = np.where(np.abs(scores) > 0.25 * usual[:, None], row_weights, 0.0)
    counted = moving.sum(axis=1)
    up = moving @ (scores > 0) / np.where(counted > 0, counted, 1.0)
    return np.where(counted > 0, np.minimum(up, 1.0 - up), 0.0)


def product(a: Float, b: Float) -> Float:
    """``a @ b``, some of what is summed over at a time.

    As a whole, BLAS would spread it over threads: for products of this size these gain nothing, and on a busy machine
    they wait for each other.
    """
    summed, at_once = a.shape[1], BY_ONE_THREAD // max(1, a.shape[0] * b.shape[1])
    if not LEAST_AT_ONCE <= at_once < summed:
        return a @ b
    whole = summed // at_once * at_once
    parts = a[:, :whole].reshape(len(a), -1, at_once).transpose(1, 0, 2)
    return (parts @ b[:whole].reshape(-1, at_once, b.shape[1])).sum(axis=0) + a[:, whole:] @ b[whole:]


def product_by_rows(a: Float, b: Float) -> Float:
    """``a @ b`` of which little is summed over, some rows at a time, for the same reason."""
    most = VECTOR_BY_ONE_THREAD if b.shape[1] == 1 else BY_ONE_THREAD // max(1, b.shape[1])
    at_once = max(1, most // max(1, len(b)))
    out = np.empty((len(a), b.shape[1]))
    for start in range(0, len(a), at_once):
        np.matmul(a[start : start + at_once], b, out=out[start : start + at_once])
    return out


def row_shares(row_weights: Float | None, rows: int) -> Float:
    """Each row's share of all weight; equal shares where rows are not weighted."""
    if row_weights is None or row_weights.sum() <= 0:
        return np.full(rows, 1.0 / max(rows, 1))
    return row_weights / row_weights.sum()


def leading_direction(rows: Float) -> Float:
    """The direction in which rows extend most (first right singular vector), by power iteration.

    A few matrix products settle it to the precision that signs and orders need; a full
    decomposition of a few hundred curves costs many times more.
    """
    return _leading_eigenvector(product(rows.T, rows))


def _leading_eigenvector(gram: Float) -> Float:
    """The first eigenvector of a matrix of products."""
    largest = np.trace(gram)
    if not largest > 0:
        return np.zeros(len(gram))
    # Of the trace, the first eigenvalue is at least one share among as many as there are: its powers stay numbers.
    scaled = gram / largest
    direction = scaled[np.argmax(np.diagonal(scaled))]
    for _ in range(STEPS):
        direction = scaled @ direction
    size = np.sqrt(direction @ direction)
    return direction / size if size > 0 else direction


class RowGroups:
    """Rows by groups of any column, worked out once for the ICE curves of any number of features."""

    def __init__(self, row_values: Mapping[Any, NDArray[Any]], row_weights: Float | None = None) -> None:
        self.row_values, self.row_weights = row_values, row_weights
        self._known: dict[Any, tuple[NDArray[np.intp], Float]] = {}
        self._held: dict[Any, Float] = {}

    def of(self, name: Any) -> tuple[NDArray[np.intp], Float]:
        """Each row's group, and what each group's rows weigh together."""
        if name not in self._known:
            codes = group_codes(self.row_values[name], self.row_weights)
            mass = np.bincount(codes, row_shares(self.row_weights, len(codes))).astype(np.float64)
            self._known[name] = codes, mass
        return self._known[name]

    def between(self, values: Float, names: Iterable[Any]) -> Iterator[tuple[Any, int, float]]:
        """Columns with a few groups, how many, and the mean square of ``(rows, points)`` values' averages by them."""
        for name in names:
            size = len(self.of(name)[1])
            if 1 < size < len(values) // 2:
                yield name, size, float(np.square(product(self._averaging_matrix(name), values)).sum())

    def _averaging_matrix(self, name: Any) -> Float:
        """The matrix ``(groups, rows)`` that averages rows' values by group, each times the root of its weight."""
        if name in self._held:
            return self._held[name]
        codes, mass = self.of(name)
        shares = row_shares(self.row_weights, len(codes))
        matrix = np.zeros((len(mass), len(codes)))
        matrix[codes, np.arange(len(codes))] = shares / np.sqrt(np.where(mass > 0, mass, 1.0))[codes]
        if (len(self._held) + 1) * matrix.nbytes <= HELD_BYTES:
            self._held[name] = matrix
        return matrix


def explaining_columns(curves: IceCurves, groups: RowGroups, names: Iterable[Any]) -> list[tuple[Any, float]]:
    """Columns by how much of the heterogeneity of curves they explain.

    The share is that of an analysis of variance over groups of the column (its levels, or eight
    quantile groups), adjusted for the number of groups; largest first.
    """
    total = float(curves.square_distance @ curves.shares)
    # Parallel curves differ by rounding only; nothing is left to explain.
    if total <= 1e-20 * max(float(curves.shares @ np.square(curves.curves).sum(axis=1)), 1e-300):
        return []
    rows = observations(groups.row_weights, len(curves.curves))
    explained = []
    for name, size, between in groups.between(curves.deviations * np.sqrt(curves.weights), names):
        share = 1.0 - (1.0 - between / total) * (rows - 1) / max(rows - size, 1.0)
        explained.append((name, max(0.0, share)))
    return sorted(explained, key=lambda pair: -pair[1])


def group_codes(values: NDArray[Any], weights: Float | None = None) -> NDArray[np.intp]:
    """A column as a few groups: its values when they are few, quantile groups otherwise; missing apart."""
    if values.dtype == object:
        gone = np.array([is_missing_value(v) for v in values.tolist()], dtype=bool)
        lookup: dict[Any, int] = {}
        numbers = [0 if g else lookup.setdefault(v, len(lookup)) for v, g in zip(values.tolist(), gone)]
        codes = np.array(numbers, dtype=np.intp)
    else:
        gone = np.isnat(values) if values.dtype.kind in "mM" else ~np.isfinite(values.astype(np.float64))
        codes = np.zeros(len(values), dtype=np.intp)
        known = values[~gone] if gone.any() else values
        cuts = np.sort(known)
        cuts = np.append(cuts[:1], cuts[1:][cuts[1:] != cuts[:-1]])
        if len(cuts) > EXPLAINING_BINS:
            cuts = equal_parts(known, EXPLAINING_BINS, None if weights is None else weights[~gone])
        codes[~gone] = np.searchsorted(cuts, known, side="right")
    if gone.any():
        codes[gone] = codes.max() + 1
    used = np.bincount(codes) > 0
    return (np.cumsum(used) - 1)[codes].astype(np.intp)
