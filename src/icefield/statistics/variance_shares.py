"""How much of the predictions' variance single features account for, how much pairs add, and what is left.

From what is known already: the features' curves, and what is left of the pairs' joint effects without their parts
(Friedman's H is made of it). Both are evaluated at rows' own values and summed; predictions are then fitted by the first sum,
and by both. What the first explains is the features' own share, what the second adds the pairs', and the rest is
interactions of three and more, of pairs that were not looked at, and of features that were not asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from icefield.core.study import Study
from icefield.data.features import feature_column
from icefield.data.frame import ORDERED_KINDS, Column
from icefield.effect import Effect
from icefield.sampling import choose_rows
from icefield.statistics.decision import Decision, Decisions
from icefield.statistics.fit_score import observed, predictions_of
from icefield.statistics.ice_statistics import shown_points
from icefield.statistics.interactions import summed_rows
from icefield.typing import Float, Positions

ROWS = 5_000  # at which curves are summed
NOTHING = 1e-12  # of the predictions' variance: rounding


@dataclass(frozen=True, eq=False)
class VarianceShares:
    """Shares of the predictions' variance, per output; the three sum to one."""

    alone: Float  # what the sum of the features' own curves explains, stretched as fits best
    pairs: Float  # what the sum of the pairs' interactions adds to that, likewise
    rest: Float  # what neither explains
    n_pairs: int  # how many were looked at
    rows: int  # how many curves,
    pair_rows: int  # and pairs, were evaluated at


def variance_shares(study: Study, made: Decisions) -> VarianceShares | None:
    """The shares, or None where predictions do not vary.

    Notes
    -----
    With F the predictions, S1 the sum of the features' centred partial dependence at rows' own values and S2 that of
    ``F_jk - F_j - F_k`` over the pairs, both weighted least squares fits with an intercept: ``alone`` is the R squared of F
    on S1, ``pairs`` the R squared of F on S1 and S2 less that. For independent features these are the shares of
    the functional analysis of variance. Where features go together, one thing can be said by several of them;
    what single curves and pairs both could say counts as the curves'.
    """
    rows = _rows(study)
    predicted, weights = predictions_of(study, rows), study.sample.row_weights(rows)
    if weights.sum() <= 0 or not (_variance(predicted, weights) > 0).any():
        return None
    alone = _explained(predicted, [_sum_of_curves(study, made.values(), rows)], weights)
    pairs, pair_rows = np.zeros_like(alone), 0
    crossed = made.pairs
    if crossed is not None and crossed.pure is not None:
        # The rows at which pairs were evaluated and summed: out of all, or out of the sample that was crossed.
        at_pairs, size = np.arange(study.sample.n_rows), crossed.n_evaluated
        chosen = choose_rows(size, len(at_pairs), study.seed).positions
        at_pairs = (at_pairs if chosen is None or size >= len(at_pairs) else chosen)[summed_rows(size)]
        at, heavy = predictions_of(study, at_pairs), study.sample.row_weights(at_pairs)
        first = _sum_of_curves(study, made.values(), at_pairs)
        before = _explained(at, [first], heavy)
        after = _explained(at, [first, crossed.pure.T], heavy)
        # Of what the curves leave, the pairs explain the same share at all rows as at theirs.
        left = np.maximum(1.0 - before, NOTHING)
        pairs, pair_rows = (1.0 - alone) * np.clip((after - before) / left, 0.0, 1.0), len(at_pairs)
    n_pairs = 0 if crossed is None else len({*crossed["features"].tolist()})
    return VarianceShares(alone, pairs, 1.0 - alone - pairs, n_pairs, len(rows), pair_rows)


def _rows(study: Study) -> Positions:
    """Rows whose predictions are known where targets were given, else a seeded sample."""
    seen = observed(study)[0]
    if seen is not None:
        return np.sort(np.random.default_rng(study.seed).permutation(seen.rows)[:ROWS])
    chosen = choose_rows(None, study.sample.n_rows, study.seed, ROWS).positions
    return np.arange(study.sample.n_rows) if chosen is None else np.sort(chosen)


def _sum_of_curves(study: Study, made: Iterable[Decision], rows: Positions) -> Float:
    """Sum of the features' curves at rows' own values, ``(rows, outputs)``."""
    table = study.sample.table.take(rows)
    total = np.zeros((len(rows), len(study.model.outputs)))
    for decision in made:
        column = feature_column(study.feature(decision.asked), table)
        total += at_own_values(decision.effect, column).T
    return total


def at_own_values(effect: Effect, column: Column) -> Float:
    """A one-way effect at a column's values, ``(outputs, rows)``, less its mean over the grid; 0 where unknown."""
    shown = shown_points(effect)
    grid, average = effect.grid[0][shown], effect.average[:, shown]
    known = ~column.missing
    out = np.zeros((len(average), len(known)))
    if not len(grid) or not known.any():
        return out
    if column.kind in ORDERED_KINDS and effect.ordered[0]:
        times = grid.dtype.kind in "mM"
        at = grid.astype(column.values.dtype).astype(np.int64) if times else grid
        values = column.to_float()[known]
        out[:, known] = np.stack([np.interp(values, at.astype(np.float64), curve) for curve in average])
    else:
        place = {level: i for i, level in enumerate(grid.tolist())}
        place_of = np.array([place.get(level, -1) for level in column.levels.tolist()], dtype=np.intp)
        codes = place_of[column.codes[known]]
        out[:, known] = np.where(codes >= 0, average[:, np.maximum(codes, 0)], average.mean(axis=1)[:, None])
    mean = average.mean(axis=1)[:, None]
    # A missing value has a point of its own, or none.
    out[:, ~known] = effect.average[:, -1:] if len(grid) < len(effect.grid[0]) else mean
    return out - mean


def _variance(values: Float, weights: Float) -> Float:
    mean = weights @ values / weights.sum()
    return np.asarray(weights @ np.square(values - mean) / weights.sum())


def _explained(values: Float, sums: list[Float], weights: Float) -> Float:
    """R squared of each output's least squares fit by its own column of every sum."""
    share = weights / weights.sum()
    total = _variance(values, weights)
    r2 = np.zeros(values.shape[1])
    for o in range(values.shape[1]):
        terms = np.stack([each[:, o] - share @ each[:, o] for each in sums], axis=1) * np.sqrt(share)[:, None]
        size = np.sqrt(np.square(terms).sum(axis=0))
        terms = terms[:, size > NOTHING * np.sqrt(max(total[o], 1e-300))]
        if total[o] <= 0 or not terms.shape[1]:
            continue
        target = (values[:, o] - share @ values[:, o]) * np.sqrt(share)
        fitted = terms @ np.linalg.lstsq(terms, target, rcond=None)[0]
        r2[o] = 1.0 - np.square(target - fitted).sum() / total[o]
    return np.clip(r2, 0.0, 1.0)
