"""What a bundle of individual curves says beyond its average.

An average can be flat while every curve moves. The measures here start from curves centred at
their own mean, so that only their *shape* counts: how strongly they differ (heterogeneity), whether
they run in opposite directions, and which other column tells them apart. All of it works on arrays
of shape ``(outputs, rows, points)`` and weights over points and rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import is_missing_value
from icefield.effect import Effect
from icefield.sampling import equal_parts, observations
from icefield.typing import Float

EXPLAINING_BINS = 8  # a numeric column is cut into so many groups to see whether it tells curves apart


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


def output_unit(effect: Effect, output: int) -> float:
    """What strengths are relative to: the standard deviation of the model's predictions, or what suits them better."""
    known = effect.output_std if effect.unit is None else effect.unit
    spread = 0.0 if known is None else float(known[output])
    if spread > 0 and np.isfinite(spread):
        return spread
    # Without predictions to compare with, an effect is measured against itself.
    own = float(np.nanstd(effect.average[output]))
    return own if own > 0 else 1.0


def deviation(curve: Float, weights: Float) -> Float:
    """Weighted standard deviation along the last axis."""
    mean = (curve * weights).sum(axis=-1, keepdims=True)
    return np.sqrt((np.square(curve - mean) * weights).sum(axis=-1))


def centred(curves: Float, weights: Float) -> Float:
    """Each curve less its own mean over the data's distribution of the feature."""
    return curves - (curves * weights).sum(axis=-1, keepdims=True)


def heterogeneity(curves: Float, weights: Float, row_weights: Float | None = None) -> Float:
    """Root mean square distance of the centred curves from their average, per output.

    It is zero exactly when all curves are parallel: the feature then takes part in no interaction.

    Examples
    --------
    >>> parallel = np.array([[[0.0, 1.0], [5.0, 6.0]]])
    >>> heterogeneity(parallel, np.array([0.5, 0.5]))
    array([0.])
    """
    own = row_shares(row_weights, curves.shape[1])
    shape = centred(curves, weights)
    apart = shape - (own @ shape)[:, None]
    np.square(apart, out=apart)
    found = np.sqrt((apart @ weights) @ own)
    # Parallel curves differ by rounding; that is no heterogeneity.
    largest = np.maximum(curves.max(axis=(1, 2), initial=0.0), -curves.min(axis=(1, 2), initial=0.0))
    return np.where(found <= 1e-12 * largest, 0.0, found)


def heterogeneity_under(curves: Float, weights: Float, row_weights: Float) -> Float:
    """The heterogeneity of one output's curves for each of several row weights ``(cases, rows)``, to some eight digits."""
    shape = centred(curves, weights)
    shape = shape - shape.mean(axis=0)  # the mean square about a mean, as a difference of squares near it
    own = row_weights / row_weights.sum(axis=1, keepdims=True)
    about_zero = own @ (np.square(shape) @ weights)
    return np.sqrt(np.maximum(about_zero - np.square(own @ shape) @ weights, 0.0))


def along_pattern(curves: Float, weights: Float, row_weights: Float | None = None) -> Float:
    """How far each of one output's curves follows the pattern of most of their movement; below zero, against it.

    The pattern is the first principal direction of the centred curves.
    """
    own = np.ones(len(curves)) if row_weights is None else row_weights
    shape = centred(curves, weights) * np.sqrt(weights)
    heavy = shape * np.sqrt(own)[:, None]  # a curve of weight 2 pulls as two would
    return shape @ leading_direction(heavy) if heavy.any() else np.zeros(len(curves))


def running_against(along: Float, row_weights: Float) -> Float:
    """The share of curves on the smaller side of a pattern, for each of several row weights ``(cases, rows)``.

    Those that hardly move are not counted on either side.
    """
    usual = np.sqrt(row_weights @ np.square(along) / row_weights.sum(axis=1))
    moving = np.where(np.abs(along) > 0.25 * usual[:, None], row_weights, 0.0)
    counted = moving.sum(axis=1)
    up = (moving * (along > 0)).sum(axis=1) / np.where(counted > 0, counted, 1.0)
    return np.where(counted > 0, np.minimum(up, 1.0 - up), 0.0)


def row_shares(row_weights: Float | None, rows: int) -> Float:
    """Each row's share of all weight; equal shares where rows are not weighted."""
    if row_weights is None or row_weights.sum() <= 0:
        return np.full(rows, 1.0 / max(rows, 1))
    return row_weights / row_weights.sum()


def leading_direction(rows: Float, steps: int = 30) -> Float:
    """The direction in which rows extend most (first right singular vector), by power iteration.

    A few matrix products settle it to the precision that signs and orders need; a full
    decomposition of a few hundred curves costs many times more.
    """
    gram = rows.T @ rows
    direction = gram[np.argmax(np.diagonal(gram))].copy()
    for _ in range(steps):
        size = np.sqrt(direction @ direction)
        if size == 0:
            break
        direction = gram @ (direction / size)
    size = np.sqrt(direction @ direction)
    return direction / size if size > 0 else direction


class RowGroups:
    """The rows of a bundle of curves by groups of any column, worked out once for any number of bundles.

    Parameters
    ----------
    row_values : column -> the rows' values
    row_weights : the rows' weights; None where each counts alike
    """

    def __init__(self, row_values: Mapping[Any, NDArray[Any]], row_weights: Float | None = None) -> None:
        self.row_values, self.row_weights = row_values, row_weights
        self._known: dict[Any, tuple[NDArray[np.intp], NDArray[np.intp], Float]] = {}

    def of(self, name: Any) -> tuple[NDArray[np.intp], NDArray[np.intp], Float]:
        """Rows in the order of their groups, where each group begins there, and what its rows weigh together."""
        if name not in self._known:
            codes = group_codes(self.row_values[name], self.row_weights)
            count = np.bincount(codes)
            mass = np.bincount(codes, row_shares(self.row_weights, len(codes))).astype(np.float64)
            start = (np.cumsum(count) - count).astype(np.intp)
            self._known[name] = np.argsort(codes, kind="stable"), start, mass
        return self._known[name]


def explaining_columns(
    curves: Float, weights: Float, groups: RowGroups, names: Iterable[Any]
) -> list[tuple[Any, float]]:
    """Columns by how much of the heterogeneity of ``(outputs, rows, points)`` curves they explain.

    The share is that of an analysis of variance over groups of the column (its levels, or eight
    quantile groups), adjusted for the number of groups; largest first.
    """
    shape = centred(curves, weights) * np.sqrt(weights)
    flat = np.moveaxis(shape, 1, 0).reshape(shape.shape[1], -1)
    own = row_shares(groups.row_weights, len(flat))
    flat = flat - own @ flat
    total = float(own @ np.square(flat).sum(axis=1))
    # Parallel curves differ by rounding only; nothing is left to explain.
    if total <= 1e-20 * max(float(own @ np.square(curves).sum(axis=(0, 2))), 1e-300):
        return []
    found = []
    rows = observations(groups.row_weights, len(flat))
    heavy = own[:, None] * flat
    for name in names:
        order, start, mass = groups.of(name)
        if not 1 < len(mass) < len(flat) // 2:
            continue
        sums = np.add.reduceat(heavy[order], start, axis=0)
        between = float((np.square(sums).sum(axis=1) / np.where(mass > 0, mass, 1.0)).sum())
        share = 1.0 - (1.0 - between / total) * (rows - 1) / max(rows - len(mass), 1.0)
        found.append((name, max(0.0, share)))
    return sorted(found, key=lambda pair: -pair[1])


def group_codes(values: NDArray[Any], weights: Float | None = None) -> NDArray[np.intp]:
    """A column as a few groups: its values when they are few, quantile groups otherwise; missing apart."""
    if values.dtype == object:
        gone = np.array([is_missing_value(v) for v in values.tolist()], dtype=bool)
        lookup: dict[Any, int] = {}
        codes = np.array(
            [0 if g else lookup.setdefault(v, len(lookup)) for v, g in zip(values.tolist(), gone)],
            dtype=np.intp,
        )
    else:
        gone = np.isnat(values) if values.dtype.kind in "mM" else ~np.isfinite(values.astype(np.float64))
        codes = np.zeros(len(values), dtype=np.intp)
        distinct, inverse = np.unique(values[~gone], return_inverse=True)
        if len(distinct) > EXPLAINING_BINS:
            cuts = equal_parts(values[~gone], EXPLAINING_BINS, None if weights is None else weights[~gone])
            inverse = np.searchsorted(cuts, values[~gone], side="right")
        codes[~gone] = inverse
    if gone.any():
        codes[gone] = codes.max() + 1
    return np.unique(codes, return_inverse=True)[1].astype(np.intp)
