"""How much of a fit would carry over to other rows: said where observed targets were given.

From a model, its rows and their targets alone nobody can tell what it would score on rows it has not seen: these may
be the very rows it was fitted to. What can be told is how well it predicts the rows given, and whether there is anything
in them that carries over: a small boosting of shallow trees is fitted to some of the rows and scored on the others,
again and again. A model that explains its rows well, where nothing learned from some of them helps with the
others, has most likely learned its rows by heart; and one that does not predict the rows given is not worth reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import ORDERED_KINDS, Column
from icefield.sampling import equal_parts
from icefield.statistics.observations import observed_outputs
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.core.study import Study

ROWS = 1_500  # that are learned from and scored
LEAST_ROWS = 60
OUTPUTS = 3  # that are looked at, those whose targets vary most
COLUMNS = 30  # that are learned from, those most associated with the target
FOLDS = 5
GROUPS = 16  # of a number
ROUNDS, DEPTH, RATE = 40, 3, 0.1
LEAST_LEAF = 15
LEARNED = (
    0.10  # of the targets' variance: a model that explains less on the rows given has little to carry over
)
NOTHING = (
    0.02  # of the targets' variance: what carries over by less, or less than its standard error, is nothing
)


@dataclass(frozen=True)
class FitCheck:
    """How well a model predicts the rows given, and how much of that other rows confirm.

    Attributes
    ----------
    score : share of the targets' variance that the predictions explain on the rows given; below 0 where the mean
        would do better
    carried : share that a small model fitted to four fifths of the rows explains on the others; `error` is its
        standard error
    rows : how many rows were learned from and scored
    """

    score: float
    carried: float
    error: float
    rows: int

    @property
    def useless(self) -> bool:
        """Whether the model predicts these rows no better than their mean does."""
        return self.score <= NOTHING

    @property
    def by_heart(self) -> bool:
        """Whether it explains these rows, although nothing learned from some of them carries over to others."""
        return self.score >= LEARNED and self.carried <= max(NOTHING, self.error)

    @property
    def caution(self) -> str:
        """What to keep in mind before anything else, empty where there is nothing."""
        known = f"the predictions explain {_percent(self.score)} of the variance of y on the rows given"
        if self.useless:
            return f"{known}: what the model says of them is hardly about y"
        if self.by_heart:
            return (
                f"{known}, but a small model fitted to some of these rows explains {_percent(self.carried)} on the "
                "others: if the model was fitted to them, its effects may be noise; look at rows it has not seen"
            )
        return ""

    def __str__(self) -> str:
        return self.caution or (
            f"the predictions explain {_percent(self.score)} of the variance of y on the rows given; a small model "
            f"fitted to some of them, {_percent(self.carried)} on the others"
        )


def _percent(share: float) -> str:
    return f"{100 * max(share, 0.0):.0f} %" if share > -0.005 else "less than nothing"


def fit_check(study: Study) -> FitCheck | None:
    """Compare predictions with the targets given; None where there are none, or too few rows."""
    return study.cache.once("fit check", lambda: _checked(study))


def _checked(study: Study) -> FitCheck | None:
    observed, _ = observed_outputs(study)
    if observed is None or study.sample.n_rows < LEAST_ROWS or study.background != "data":
        return None
    rng = np.random.default_rng(study.seed)
    rows = np.sort(rng.permutation(study.sample.n_rows)[:ROWS])
    weights = study.sample.row_weights(rows)
    weights = weights / weights.mean() if weights.sum() > 0 else np.ones(len(rows))
    truth = observed[rows]
    spread = _square(truth - weights @ truth / weights.sum(), weights)
    kept = spread > 1e-12 * np.maximum(1.0, np.square(truth).max(axis=0))
    kept &= spread >= np.sort(spread)[-OUTPUTS:][0]
    if not kept.any():
        return None
    truth, spread = truth[:, kept], spread[kept]
    score = float(np.mean(1.0 - _square(truth - study.predictions(rows)[:, kept], weights) / spread))
    # Rows of a cluster know each other: they are learned from together, or scored together.
    groups = np.arange(len(rows)) if study.sample.clusters is None else study.sample.clusters[rows]
    fold_of = rng.permutation(int(groups.max()) + 1)[groups] % FOLDS
    columns = _coded(study, rows, truth, weights)
    held_out = _carried_over(columns, truth, weights, fold_of)
    # Against the mean of the rows learned from, which is what there is without the columns.
    better = weights[:, None] * (np.square(truth - held_out[0]) - np.square(truth - held_out[1]))
    gain = (better / (spread * weights.sum())).mean(axis=1) * len(rows)
    means = np.bincount(groups, gain)[np.unique(groups)]
    error = float(means.std() * np.sqrt(len(means)) / len(rows))
    return FitCheck(score, float(gain.mean()), error, len(rows))


def _square(apart: Float, weights: Float) -> Float:
    return np.asarray(weights @ np.square(apart) / weights.sum())


# --- a small model -----------------------------------------------------------------------------------


def _coded(study: Study, rows: NDArray[np.intp], truth: Float, weights: Float) -> list[NDArray[np.intp]]:
    """The model's columns in a few groups each; of very many, those that go with the target most."""
    table = study.sample.table.take(rows)
    found = [codes for name in study.model.columns if (codes := _groups(table.column(name))) is not None]
    if len(found) > COLUMNS:
        apart = truth - weights @ truth / weights.sum()

        def between(codes: NDArray[np.intp]) -> float:
            mass = np.maximum(np.bincount(codes, weights), 1e-300)
            return sum(float((np.bincount(codes, weights * one) ** 2 / mass).sum()) for one in apart.T)

        found = sorted(found, key=between, reverse=True)[:COLUMNS]
    return found


def _groups(column: Column) -> NDArray[np.intp] | None:
    gone = column.missing
    if column.kind == "other" or gone.all():
        return None
    if column.kind in ORDERED_KINDS:
        codes = np.searchsorted(equal_parts(column.values[~gone], GROUPS), column.values, side="right")
    else:
        count = np.bincount(column.codes[~gone], minlength=len(column.levels))
        place = np.full(len(column.levels), GROUPS - 1)
        frequent = np.argsort(-count, kind="stable")[: GROUPS - 1]
        place[frequent] = np.arange(len(frequent))
        codes = place[column.codes]
    dense = np.unique(np.where(gone, GROUPS + 1, codes), return_inverse=True)[1].astype(np.intp)
    return dense if dense.max() > 0 else None


def _carried_over(
    columns: list[NDArray[np.intp]], truth: Float, weights: Float, fold_of: NDArray[np.intp]
) -> tuple[Float, Float]:
    """For each row, the mean of the rows learned from, and what was learned from them."""
    mean, learned = np.zeros_like(truth), np.zeros_like(truth)
    for fold in np.unique(fold_of):
        out, fitted = fold_of == fold, np.where(fold_of == fold, 0.0, weights)
        for o in range(truth.shape[1]):
            mean[out, o] = fitted @ truth[:, o] / max(fitted.sum(), 1e-300)
            learned[out, o] = _boosted(columns, truth[:, o], fitted)[out]
    return mean, learned


def _boosted(columns: list[NDArray[np.intp]], truth: Float, weights: Float) -> Float:
    """Predictions of all rows by trees fitted, one after the other, to what is left of the rows with weight."""
    predicted = np.full(len(truth), weights @ truth / max(weights.sum(), 1e-300))
    for _ in range(ROUNDS if columns else 0):
        left = truth - predicted
        leaf = np.zeros(len(truth), dtype=np.intp)
        for _ in range(DEPTH):
            leaf = _split_leaves(columns, leaf, left, weights)
        mass = np.bincount(leaf, weights)
        predicted += RATE * (np.bincount(leaf, weights * left) / np.maximum(mass, LEAST_LEAF))[leaf]
    return predicted


def _split_leaves(
    columns: list[NDArray[np.intp]], leaf: NDArray[np.intp], left: Float, weights: Float
) -> NDArray[np.intp]:
    """Every leaf cut in two by the column and the place that explain most."""
    n_leaves = int(leaf.max()) + 1
    best = np.full(n_leaves, 1e-12)
    chosen: list[tuple[int, int] | None] = [None] * n_leaves
    for number, codes in enumerate(columns):
        size = int(codes.max()) + 1
        cell = leaf * size + codes
        mass = np.bincount(cell, weights, minlength=n_leaves * size).reshape(n_leaves, size).cumsum(axis=1)
        sums = (
            np.bincount(cell, weights * left, minlength=n_leaves * size)
            .reshape(n_leaves, size)
            .cumsum(axis=1)
        )
        low, high = mass[:, :-1], mass[:, -1:] - mass[:, :-1]
        explained = np.square(sums[:, :-1]) / np.maximum(low, 1e-9)
        explained += np.square(sums[:, -1:] - sums[:, :-1]) / np.maximum(high, 1e-9)
        explained -= np.square(sums[:, -1:]) / np.maximum(mass[:, -1:], 1e-9)
        explained[(low < LEAST_LEAF) | (high < LEAST_LEAF)] = -1.0
        cut = explained.argmax(axis=1)
        gain = explained[np.arange(n_leaves), cut]
        for better in np.flatnonzero(gain > best).tolist():
            best[better], chosen[better] = gain[better], (number, int(cut[better]))
    out = 2 * leaf
    for one, cut_at in enumerate(chosen):
        if cut_at is not None:
            out += (leaf == one) & (columns[cut_at[0]] > cut_at[1])
    return np.unique(out, return_inverse=True)[1].astype(np.intp)
