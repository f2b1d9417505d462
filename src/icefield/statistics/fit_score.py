"""How well the model predicts the rows given: scores, and observed beside predicted means in groups of rows.

All of it is about the rows that were given, which may be those the model was fitted to; whether a fit would carry over
is another question (`fit_check`). Means are of groups of rows and never of a few: nothing here tells of single rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.study import Study
from icefield.data.frame import ORDERED_KINDS, Column
from icefield.sampling import PREDICTION_ROWS, choose_rows, equal_parts
from icefield.statistics.observations import observed_outputs
from icefield.typing import Float, Positions

LEAST_ROWS = 5  # of a group whose means are told: fewer would tell of single rows
BIN_ROWS = 20  # of a group along the predictions, whose middle half is told too
PREDICTED_BINS = 20
FEATURE_BINS = 12
LEAST_PROBABILITY = 1e-15  # a prediction of nothing that happens all the same costs this much, not everything


@dataclass(frozen=True, eq=False)
class Observed:
    """Observed targets beside the model's predictions of the same rows, both ``(rows, outputs)``."""

    rows: Positions  # a seeded sample where there are more than 20,000
    all_rows: int  # how many there are
    truth: Float  # of a class, whether it was observed
    predicted: Float  # of a class, its probability
    weights: Float
    classes: bool  # whether outputs are probabilities of classes


@dataclass(frozen=True, eq=False)
class Bins:
    """Means of one output in groups of at least five rows."""

    at: Float  # mean of what the groups are made by
    rows: NDArray[np.intp]  # how many each holds
    observed: Float
    predicted: Float
    low: Float | None = None  # the middle half of what was observed,
    high: Float | None = None  # None where groups are too small to tell


def observed(study: Study) -> tuple[Observed | None, str]:
    """Observed targets beside predictions of the same rows, computed once; or None and the reason."""
    return study.cache.once("observed and predicted", lambda: _observe(study))


def _observe(study: Study) -> tuple[Observed | None, str]:
    truth, why = observed_outputs(study)
    if truth is None or study.background != "data":
        return None, why
    chosen = choose_rows(None, study.sample.n_rows, study.seed, PREDICTION_ROWS).positions
    rows = np.arange(study.sample.n_rows) if chosen is None else np.sort(chosen)
    weights = study.sample.row_weights(rows)
    weighted = weights > 0
    rows, weights = rows[weighted], weights[weighted]
    if len(rows) < LEAST_ROWS:
        return None, f"fewer than {LEAST_ROWS} rows"
    classes = "probab" in study.model.scale_label
    return Observed(rows, study.rows.n_rows, truth[rows], study.predictions(rows), weights, classes), ""


def predictions_of(study: Study, rows: Positions) -> Float:
    """The model's predictions of rows, ``(rows, outputs)``: those that are known already are not asked for again."""
    seen = observed(study)[0]
    if seen is not None and len(rows):
        at = np.minimum(np.searchsorted(seen.rows, rows), len(seen.rows) - 1)
        if (seen.rows[at] == rows).all():
            return seen.predicted[at]
    return study.predictions(rows)


# --- scores ------------------------------------------------------------------------------------------


def explained(seen: Observed) -> Float:
    """Share of each output's variance that the predictions explain (R squared); NaN where nothing varies."""
    mean = seen.weights @ seen.truth / seen.weights.sum()
    spread = seen.weights @ np.square(seen.truth - mean)
    left = seen.weights @ np.square(seen.truth - seen.predicted)
    return 1.0 - np.divide(left, spread, out=np.full(len(spread), np.nan), where=spread > 0)


def root_mean_square(seen: Observed) -> Float:
    """Root of the mean squared error, per output."""
    return np.sqrt(seen.weights @ np.square(seen.truth - seen.predicted) / seen.weights.sum())


def mean_absolute(seen: Observed) -> Float:
    """Mean absolute error, per output."""
    return np.asarray(seen.weights @ np.abs(seen.truth - seen.predicted) / seen.weights.sum())


def roc_auc(truth: Float, predicted: Float, weights: Float) -> float:
    """Area under the ROC curve: how often a row of the class is predicted above one that is not; ties count half.

    Examples
    --------
    >>> roc_auc(np.array([0.0, 1.0, 1.0]), np.array([0.2, 0.2, 0.9]), np.ones(3))
    0.75
    """
    _, place = np.unique(predicted, return_inverse=True)
    inside = np.bincount(place, weights * truth)
    outside = np.bincount(place, weights * (1.0 - truth))
    below = np.cumsum(outside) - outside
    total = inside.sum() * outside.sum()
    return float(inside @ (below + 0.5 * outside) / total) if total > 0 else float("nan")


def class_probabilities(seen: Observed) -> tuple[Float, Float] | None:
    """Truth and probabilities of every class; of one class alone, the other is the rest. None where classes lack."""
    truth, predicted = seen.truth, seen.predicted
    if truth.shape[1] == 1:
        truth, predicted = np.hstack([1.0 - truth, truth]), np.hstack([1.0 - predicted, predicted])
    if not np.allclose(truth.sum(axis=1), 1.0) or not np.allclose(predicted.sum(axis=1), 1.0, atol=1e-6):
        return None
    return truth, predicted


def accuracy(seen: Observed) -> tuple[float, float] | None:
    """Share of rows whose likeliest class was observed, and the share of the commonest class."""
    both = class_probabilities(seen)
    if both is None:
        return None
    truth, predicted = both
    right = truth[np.arange(len(truth)), predicted.argmax(axis=1)]
    share = seen.weights @ truth / seen.weights.sum()
    return float(seen.weights @ right / seen.weights.sum()), float(share.max())


def log_loss(seen: Observed) -> tuple[float, float] | None:
    """Mean of minus the logarithm of the observed class's probability, and that of the classes' shares."""
    both = class_probabilities(seen)
    if both is None:
        return None
    truth, predicted = both
    total = seen.weights.sum()
    each = (truth * predicted).sum(axis=1), truth @ (seen.weights @ truth / total)
    loss, usual = (float(-(seen.weights @ np.log(np.maximum(p, LEAST_PROBABILITY))) / total) for p in each)
    return loss, usual


# --- means in groups ---------------------------------------------------------------------------------


def along_predictions(seen: Observed, output: int) -> Bins | None:
    """Means in groups of equal size along the predictions; None where there are too few rows or predictions."""
    predicted = seen.predicted[:, output]
    count = min(PREDICTED_BINS, len(predicted) // BIN_ROWS)
    if count < 2:
        return None
    codes = np.searchsorted(equal_parts(predicted, count, seen.weights), predicted, side="right")
    bins = _means(codes, predicted, seen, output, BIN_ROWS)
    if bins is None or len(bins.at) < 2:
        return None
    if seen.classes:
        return bins
    middle = [
        np.quantile(seen.truth[inside, output], (0.25, 0.75), method="inverted_cdf")
        for inside in _groups(codes, BIN_ROWS)
    ]
    low, high = np.array(middle).T
    return replace(bins, low=low, high=high)


def along_feature(
    seen: Observed, column: Column, output: int, between: tuple[float, float] | None = None
) -> Bins | None:
    """Means in groups of equal size along an ordered column's known values; `at` is in the column's own numbers.

    Rows whose values lie not `between` two, where these are given, are left out.
    """
    if column.kind not in ORDERED_KINDS:
        return None
    values = column.to_float()
    known = np.isfinite(values)
    if between is not None:
        known &= (values >= between[0]) & (values <= between[1])
    count = int(known.sum()) // LEAST_ROWS
    if count < 1:
        return None
    cuts = np.unique(values[known])
    few = len(cuts) <= min(2 * FEATURE_BINS, count)
    if not few:
        cuts = equal_parts(values[known], min(FEATURE_BINS, count), seen.weights[known])
    codes = np.full(len(values), -1, dtype=np.intp)
    codes[known] = np.searchsorted(cuts, values[known], "left" if few else "right")
    return _means(codes, values, seen, output, LEAST_ROWS)


def at_levels(
    seen: Observed, column: Column, levels: Sequence[Any], output: int
) -> tuple[NDArray[np.intp], Bins] | None:
    """Means at these levels: places of those with enough rows among the levels given, and the means there."""
    place = {level: i for i, level in enumerate(levels)}
    place_of = np.array([place.get(level, -1) for level in column.levels.tolist()] or [-1], dtype=np.intp)
    codes = np.where(column.missing, -1, place_of[np.maximum(column.codes, 0)])
    bins = _means(codes, codes.astype(np.float64), seen, output, LEAST_ROWS)
    return None if bins is None else (np.round(bins.at).astype(np.intp), bins)


def where_missing(seen: Observed, column: Column, output: int) -> Bins | None:
    """Means of the rows in which the column is missing, None where those are few."""
    codes = np.where(column.missing, 0, -1)
    return _means(codes, np.zeros(len(codes)), seen, output, LEAST_ROWS)


def _groups(codes: NDArray[np.intp], least: int) -> list[NDArray[np.intp]]:
    order = np.argsort(codes, kind="stable")
    order = order[codes[order] >= 0]
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    return [group for group in np.split(order, cuts) if len(group) >= least]


def _means(codes: NDArray[np.intp], values: Float, seen: Observed, output: int, least: int) -> Bins | None:
    groups = _groups(codes, least)
    if not groups:
        return None

    def mean(of: Float) -> Float:
        return np.array([float(seen.weights[g] @ of[g] / seen.weights[g].sum()) for g in groups])

    sizes = np.array([len(g) for g in groups], dtype=np.intp)
    return Bins(mean(values), sizes, mean(seen.truth[:, output]), mean(seen.predicted[:, output]))
