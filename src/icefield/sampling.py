"""Row samples, for where predicting every row would cost too much.

A user's own `rows=` always comes first. Otherwise every row is used wherever that is cheap, and a seeded sample
where it is not. How large these samples are is said here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.counts import counted
from icefield.typing import Float, Positions

# Where each row costs predictions, by how many a row costs:
CURVE_ROWS = 1_000  # a curve of about a hundred
CROSSED_ROWS = 300  # a surface, or one for every other row of the sample: 90,000 for a set of features
STEP_ROWS = 5_000  # the ends of a step: two or four

# Whatever the engine:
PREDICTION_ROWS = 20_000  # behind `Effect.baseline` and `Effect.output_std`, the unit of every strength
KEPT_CURVES = 300  # individual curves kept for pictures
BAND_CURVES = 5_000  # individual curves behind the bands of a report
CENTERED_CURVES = 1_000  # individual curves behind `Effect.centered_std`, the band of pictures
READ_CURVES = 1_000  # individual curves behind what is said of a feature, and behind its regions
PERMUTED_ROWS = 2_000
STREAMED_ROWS = 20_000  # of a stream, drawn for what needs rows together

# Whole weights of which none is smaller are no counts of rows, but how many others each stands for.
COPIES_BELOW = 10


@dataclass(frozen=True, eq=False)
class RowChoice:
    """The rows that are used, None for all of them, and a note where some are not.

    `sampled_from` is how many chance chose them among, so that they err against those; 0 where it did not.
    """

    positions: Positions | None = None
    note: str = ""
    sampled_from: int = 0


def choose_rows(rows: Any, n_rows: int, seed: int, limit: int | None = None) -> RowChoice:
    """The rows asked for; without any, all of them, or `limit` where there are more."""
    selection = rows
    if rows is None:
        if limit is None or n_rows <= limit:
            return RowChoice()
        selection = limit
    positions = validate.row_positions(selection, n_rows, seed)
    if len(positions) == n_rows:
        return RowChoice(positions)
    sampled = isinstance(selection, (int, np.integer))
    how = "sampled with the seed" if sampled else "as given"
    note = f"{counted(len(positions))} of {counted(n_rows)} rows, {how}"
    return RowChoice(positions, note, n_rows if sampled else 0)


def count_copies(weights: Float | None) -> bool:
    """Whether weights say how often each row occurs, so that a weight of 2 is as good as two rows.

    Whole numbers do, unless even the smallest is large: then each row stands for so many others that were
    not seen. Weights that are no whole numbers say how much a row counts, and it stays one observation.

    Examples
    --------
    >>> [count_copies(np.array(w)) for w in ([1.0, 2.0], [0.5, 2.0], [12_000.0, 31_000.0])]
    [True, False, False]
    """
    if weights is None:
        return True
    positive = weights[weights > 0]
    return bool(len(positive) and positive.min() < COPIES_BELOW and (positive == np.round(positive)).all())


def observations(weights: Float | None, n_rows: int) -> float:
    """How many observations weighted rows are worth: as many as they count copies, or Kish's effective number.

    Examples
    --------
    >>> observations(None, 3), observations(np.array([2.0, 2.0]), 2), observations(np.array([0.5, 0.5]), 2)
    (3.0, 4.0, 2.0)
    """
    if weights is None or weights.sum() <= 0:
        return float(n_rows)
    if count_copies(weights):
        return float(weights.sum())
    return float(weights.sum() ** 2 / np.square(weights).sum())


def equal_parts(values: NDArray[Any], parts: int, weights: Float | None = None) -> NDArray[Any]:
    """The values that begin all but the first of `parts` parts of equal weight; ties stay together.

    Examples
    --------
    >>> equal_parts(np.array([1, 2, 3, 4]), 2), equal_parts(np.array([1, 2, 3, 4]), 2, np.array([5.0, 1, 1, 1]))
    (array([3]), array([1]))
    """
    order = np.argsort(values, kind="stable")
    sums = np.arange(1.0, len(values) + 1.0) if weights is None else np.cumsum(weights[order])
    # A cut that falls between two values must not depend on how the sums were rounded.
    cuts = np.searchsorted(sums, np.arange(1, parts) * (sums[-1] / parts) * (1 + 1e-12), side="right")
    return np.unique(values[order][np.minimum(cuts, len(values) - 1)])


def population_factor(count: int, population: int) -> float:
    """The finite population correction of a standard error: `count` rows drawn from `population` without replacement.

    A population of 0 stands for one without end.

    Examples
    --------
    >>> population_factor(75, 100), population_factor(75, 0)
    (0.5, 1.0)
    """
    return float(np.sqrt(max(0.0, 1.0 - count / population))) if population else 1.0


def in_proportion(
    count: int, n_rows: int, weights: Float | None, seed: int
) -> tuple[Positions, Float | None]:
    """Positions of `count` rows that represent all of them, and their weights: each row as often as its weight says.

    One is drawn from every one of `count` equal shares of the weight, in the order of the rows, so that a row of
    weight 2 is drawn where a duplicate of it would be; a heavy row may be drawn twice, and all that are drawn count
    alike. Where there are no more rows than that, all are taken, with their own weights.

    Examples
    --------
    >>> in_proportion(3, 2, np.array([1.0, 2.0]), seed=0)
    (array([0, 1]), array([1., 2.]))
    >>> in_proportion(2, 4, np.array([0.0, 0.0, 5.0, 0.0]), seed=0)
    (array([2, 2]), array([1., 1.]))
    """
    if count >= n_rows:
        return np.arange(n_rows), weights
    draws = (np.arange(count) + np.random.default_rng(seed).random(count)) / count
    if weights is None:
        return np.minimum((draws * n_rows).astype(np.intp), n_rows - 1), None
    cumulative = np.cumsum(weights)
    rows = np.searchsorted(cumulative, draws * cumulative[-1], side="right")
    return np.minimum(rows, n_rows - 1), np.ones(count)
