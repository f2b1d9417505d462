"""How much of a fit would carry over to other rows: said where observed targets were given.

From a model, its rows and their targets alone nobody can tell what it would score on rows it has not seen: these may
be the very rows it was fitted to. What can be told is how well it predicts the rows given, and whether there is anything
in them that carries over: a small boosting of shallow trees is fitted to some of the rows and scored on the others,
again and again. A model that explains its rows well, where nothing learned from some of them helps with the
others, has most likely learned its rows by heart; and one that does not predict the rows given is not worth reading.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from icefield.core.study import Study
from icefield.data.frame import ORDERED_KINDS, Column
from icefield.sampling import equal_parts
from icefield.statistics.fit_score import roc_auc
from icefield.statistics.observations import observed_outputs
from icefield.typing import Float
from icefield.wording.fit import fit_caution, fit_words

ROWS = 1_500  # that are learned from and scored
LEAST_ROWS = 60
LEAST_EVENTS = 30  # rows of a class, and of the others: with fewer nobody can tell what carries over
EVENTS = 400  # rows of a rare class that are learned from, where there are so many
OUTPUTS = 3  # that are looked at, those whose targets vary most
COLUMNS = 30  # that are learned from, those most associated with the target
FOLDS = 5
GROUPS = 16  # of a number
ROUNDS, DEPTH, RATE = 40, 3, 0.1
LEAST_LEAF = 15
LEARNED = 0.05  # a model that scores less on the rows given has little to carry over
NOTHING = 0.02  # what carries over by less, or by less than its standard error, is nothing
SURE = 2.0  # standard errors


@dataclass(frozen=True)
class FitCheck:
    """How well a model predicts the rows given, and how much of that other rows confirm.

    Scores are the share of the targets' variance that predictions explain (R², below 0 where the mean would do better), or
    of classes 2 AUC - 1, which is 0 for guessing and does not depend on how rare they are.
    """

    score: float  # on the rows given
    carried: float  # of a small model fitted to four fifths of the rows, on the others
    error: float  # the standard error of that
    rows: int  # how many were learned from and scored
    chance: float = 0.0  # of as many columns on the rows they were fitted to, if there were nothing to learn
    classes: bool = False  # whether the targets are classes
    events: int | None = None  # rows of the rarest class looked at; with too few, nobody can tell
    given: int | None = None  # rows there are, of which `rows` may be a sample

    @property
    def too_few_events(self) -> bool:
        """Whether a class has too few rows to judge what carries over."""
        return self.events is not None and self.events < LEAST_EVENTS

    @property
    def useless(self) -> bool:
        """Whether the model predicts these rows no better than their mean does."""
        return self.score <= NOTHING and not self.too_few_events

    @property
    def by_heart(self) -> bool:
        """Whether it explains these rows, although nothing learned from some of them carries over to others."""
        # The ranks of a few events lie well above guessing now and then.
        error = SURE * self.error if self.classes else self.error
        if self.too_few_events or self.carried > max(NOTHING, error):
            return False
        return self.score >= LEARNED or self.score <= self.chance

    @property
    def caution(self) -> str:
        """What to keep in mind before anything else, empty where there is nothing."""
        return fit_caution(self)

    def __str__(self) -> str:
        return fit_words(self)


def fit_check(study: Study) -> FitCheck | None:
    """Compare predictions with the targets given; None where there are none, or too few rows."""
    return study.cache.once("fit check", lambda: _make_check(study))


def _make_check(study: Study) -> FitCheck | None:
    observed, _ = observed_outputs(study)
    if observed is None or study.sample.n_rows < LEAST_ROWS or study.background != "data":
        return None
    rng = np.random.default_rng(study.seed)
    classes = "probab" in study.model.scale_label
    rows = _sampled_rows(observed, classes, rng)
    weights = study.sample.row_weights(rows)
    weights = weights / weights.mean() if weights.sum() > 0 else np.ones(len(rows))
    truth = observed[rows]
    spread = _square(truth - weights @ truth / weights.sum(), weights)
    varying = spread > 1e-12 * np.maximum(1.0, np.square(truth).max(axis=0))
    varying &= spread >= np.sort(spread)[-OUTPUTS:][0]
    if not varying.any():
        return None
    truth, spread = truth[:, varying], spread[varying]
    predicted = study.predictions(rows)[:, varying]
    groups, fold_of = drawn_folds(study, rows, truth, classes, rng)
    columns = _groupings(study, rows, truth, weights)
    mean, learned = _cross_fit(columns, truth, weights, fold_of)
    n_columns = len(study.model.columns)
    if classes:
        events = int(np.minimum(truth.sum(axis=0), len(rows) - truth.sum(axis=0)).min())
        score = float(np.mean([_gini(t, p, weights) for t, p in zip(truth.T, predicted.T)]))
        carried = float(np.mean([_fold_gini(t, p, weights, fold_of) for t, p in zip(truth.T, learned.T)]))
        # Of an area under the curve of guesses: the standard error of a rank sum, twice as of 2 AUC - 1.
        error = float(2.0 * np.sqrt((len(rows) + 1) / (12.0 * max(events, 1) * max(len(rows) - events, 1))))
        return FitCheck(score, carried, error, len(rows), 0.0, True, events, given=len(observed))
    score = float(np.mean(1.0 - _square(truth - predicted, weights) / spread))
    # Against the mean of the rows learned from, which is what there is without the columns.
    better = weights[:, None] * (np.square(truth - mean) - np.square(truth - learned))
    gain = (better / (spread * weights.sum())).mean(axis=1) * len(rows)
    means = np.bincount(groups, gain)[np.unique(groups)]
    error = float(means.std() * np.sqrt(len(means)) / len(rows))
    n_rows = study.sample.n_rows
    chance = (n_columns + SURE * np.sqrt(2.0 * n_columns)) / max(n_rows, 1)
    return FitCheck(score, float(gain.mean()), error, len(rows), min(1.0, float(chance)), given=len(observed))


def _sampled_rows(observed: Float, classes: bool, rng: np.random.Generator) -> NDArray[np.intp]:
    """A seeded sample of rows; of a rare class enough to learn from, which ranks do not mind."""
    order = rng.permutation(len(observed))
    if not classes or len(order) <= ROWS:
        return np.sort(order[:ROWS])
    rare = observed[:, int(np.argmin(np.minimum(observed.mean(axis=0), 1.0 - observed.mean(axis=0))))]
    is_event = rare[order] > 0.5 if rare.mean() <= 0.5 else rare[order] <= 0.5
    wanted = min(EVENTS, int(is_event.sum()))
    if is_event[:ROWS].sum() >= wanted:
        return np.sort(order[:ROWS])
    events, rest = order[is_event][:wanted], order[~is_event][: ROWS - wanted]
    return np.sort(np.concatenate([events, rest]))


def drawn_folds(
    study: Study, rows: NDArray[np.intp], truth: Float, classes: bool, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Each row's cluster (itself, where there are none) and fold; folds have the same share of every class."""
    # Rows of a cluster know each other: they are learned from together, or scored together.
    groups = np.arange(len(rows)) if study.sample.clusters is None else study.sample.clusters[rows]
    if study.sample.clusters is not None or not classes:
        return groups, rng.permutation(int(groups.max()) + 1)[groups] % FOLDS
    kind = np.unique(truth, axis=0, return_inverse=True)[1].ravel()
    folds = np.empty(len(truth), dtype=np.intp)
    folds[np.lexsort((rng.random(len(truth)), kind))] = np.arange(len(truth)) % FOLDS
    return groups, folds


def _gini(truth: Float, predicted: Float, weights: Float) -> float:
    """2 AUC - 1: 0 for guessing, 1 where every row of the class is ranked above all others."""
    area = roc_auc(truth, predicted, weights)
    return 2.0 * area - 1.0 if np.isfinite(area) else 0.0


def _fold_gini(truth: Float, predicted: Float, weights: Float, fold_of: NDArray[np.intp]) -> float:
    """2 AUC - 1 within folds, averaged: folds have different means, which would rank their rows."""
    folds = [fold_of == fold for fold in np.unique(fold_of)]
    return float(np.mean([_gini(truth[inside], predicted[inside], weights[inside]) for inside in folds]))


def _square(apart: Float, weights: Float) -> Float:
    return np.asarray(weights @ np.square(apart) / weights.sum())


# --- a small model -----------------------------------------------------------------------------------


def _groupings(study: Study, rows: NDArray[np.intp], truth: Float, weights: Float) -> list[NDArray[np.intp]]:
    """The model's columns, each in a few groups; of very many columns, those most associated with the target."""
    table = study.sample.table.take(rows)
    every = [column_groups(table.column(name)) for name in study.model.columns]
    usable = [codes for codes in every if codes is not None]
    return [usable[place] for place in most_associated(usable, truth, weights, COLUMNS)]


def most_associated(columns: list[NDArray[np.intp]], truth: Float, weights: Float, count: int) -> list[int]:
    """Positions of the columns, given as groups, most associated with the targets: `count` at most, in their order."""
    if len(columns) <= count:
        return list(range(len(columns)))
    apart = truth - weights @ truth / weights.sum()

    def between(place: int) -> float:
        codes = columns[place]
        mass = np.maximum(np.bincount(codes, weights), 1e-300)
        return sum(float((np.bincount(codes, weights * target) ** 2 / mass).sum()) for target in apart.T)

    return sorted(range(len(columns)), key=between, reverse=True)[:count]


def column_groups(column: Column) -> NDArray[np.intp] | None:
    """A column's rows in a few groups, in the order of its values where they have one, missing ones last; None where there is only one."""
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


def _cross_fit(
    columns: list[NDArray[np.intp]], truth: Float, weights: Float, fold_of: NDArray[np.intp]
) -> tuple[Float, Float]:
    """For each row, the mean of the rows learned from, and what was learned from them."""
    mean, learned = np.zeros_like(truth), np.zeros_like(truth)
    for fold in np.unique(fold_of):
        out, fitted = fold_of == fold, np.where(fold_of == fold, 0.0, weights)
        for o in range(truth.shape[1]):
            mean[out, o] = fitted @ truth[:, o] / max(fitted.sum(), 1e-300)
            learned[out, o] = _boost(columns, truth[:, o], fitted)[out]
    return mean, learned


def _boost(columns: list[NDArray[np.intp]], truth: Float, weights: Float) -> Float:
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
        by_cell = (
            np.bincount(leaf * size + codes, w, minlength=n_leaves * size) for w in (weights, weights * left)
        )
        mass, sums = (cells.reshape(n_leaves, size).cumsum(axis=1) for cells in by_cell)
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
    for parent, cut_at in enumerate(chosen):
        if cut_at is not None:
            out += (leaf == parent) & (columns[cut_at[0]] > cut_at[1])
    return np.unique(out, return_inverse=True)[1].astype(np.intp)
