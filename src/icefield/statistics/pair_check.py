"""Which interacting pairs of a model the data supports: said where observed targets were given.

A flexible model has interactions that are fitted noise. The rows given may be those it was fitted to, on which its own
surfaces follow the noise, so these are not what is tried. What is tried needs the targets alone: an additive function of
all columns and a smooth interaction of the pair are learned from four fifths of the rows, and the interaction is compared with what the
additive part leaves of the others. One that is there goes along with it on rows it was not learned from; noise does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.study import Study
from icefield.data.features import Feature
from icefield.data.frame import ORDERED_KINDS
from icefield.statistics.fit_check import (
    COLUMNS,
    LEAST_EVENTS,
    LEAST_ROWS,
    column_groups,
    drawn_folds,
    most_associated,
)
from icefield.statistics.observations import observed_outputs
from icefield.statistics.thresholds import THRESHOLDS
from icefield.typing import Float

SUPPORTED, UNSUPPORTED, UNCLEAR = "yes", "no", "unclear"
ROWS = 5_000  # that are learned from and compared
PAIRS = 100  # that are tried, the strongest
TRIED_FROM = 0.5  # of the interaction worth naming: weaker pairs are not tried
WAVES = 8  # along an ordered column
SURE = 2.5  # standard errors: of many pairs that are noise, hardly one is supported
LEAST_KEPT = 0.25  # of the model's interaction: what rows confirm of it by less is something else
SEEN_AT = 4.0  # standard errors that an interaction of the model's size would have: with less nobody can tell
# One feature of a pair: rows' groups, functions of these, and how far each is expected to go.
Side = tuple[NDArray[np.intp], Float, Float]


@dataclass(frozen=True)
class Confirmation:
    """The interaction of one pair on one output, as far as rows that it was not learned from confirm it.

    `supported` is ``"yes"``; ``"no"``, where the model's interaction would have been seen; or ``"unclear"``: too few rows or
    events, or too much noise, to tell.
    """

    size: float  # of the interaction that they confirm, as predictions; about 0, on either side, for noise
    supported: str


def pair_check(study: Study) -> PairCheck | None:
    """The study's PairCheck, made once; None where there are no targets, or too few rows."""
    return study.cache.once("pair check", lambda: _make_check(study))


def _make_check(study: Study) -> PairCheck | None:
    observed, _ = observed_outputs(study)
    if observed is None or study.sample.n_rows < LEAST_ROWS or study.background != "data":
        return None
    return PairCheck(study, observed)


class PairCheck:
    """Tries pairs on some rows' targets, of which an additive fit to the rows of the other folds is subtracted."""

    def __init__(self, study: Study, observed: Float) -> None:
        rng = np.random.default_rng(study.seed)
        self._study, n = study, study.sample.n_rows
        self.rows = np.sort(rng.permutation(n)[:ROWS])
        weights = study.sample.row_weights(self.rows)
        self.weights = weights / weights.mean() if weights.sum() > 0 else np.ones(len(self.rows))
        self.truth = observed[self.rows]
        classes = "probab" in study.model.scale_label
        # Of a few events nobody can tell what is not there.
        events = np.minimum(self.truth.sum(axis=0), len(self.rows) - self.truth.sum(axis=0))
        self._too_few = classes & (events < LEAST_EVENTS)
        self.clusters, self.fold_of = drawn_folds(study, self.rows, self.truth, classes, rng)
        self.folds = np.unique(self.fold_of)
        self._table = study.sample.table.take(self.rows)
        self._known: dict[Any, Side | None] = {}

    def check(self, pair: Sequence[Feature], strength: Sequence[float]) -> list[Confirmation | None]:
        """One answer per output; `strength` is the model's interaction there, None where a pair cannot be tried."""
        sides = [self._side(feature) for feature in pair]
        if sides[0] is None or sides[1] is None:
            return [None] * len(strength)
        surface = _Surface(sides[0], sides[1], self.weights)
        return [self._answer(surface, o, size) for o, size in enumerate(strength)]

    def _answer(self, surface: _Surface, output: int, strength: float) -> Confirmation | None:
        left = self._residuals[:, :, output]
        noise = float(np.mean([self.weights[out] @ np.square(left[k, out]) for k, out in self._out()]))
        noise *= len(self.folds) / self.weights.sum()
        if not noise > 0 or not strength > 0:
            return None
        score, square = np.zeros(len(self.rows)), 0.0
        for k, out in self._out():
            learned = surface.fit(np.where(out, 0.0, self.weights), left[k], noise, strength)
            score[out] = self.weights[out] * learned[out] * left[k, out]
            square += float(self.weights[out] @ np.square(learned[out]))
        if not square > 0:
            return Confirmation(0.0, UNCLEAR)
        error = float(np.sqrt(np.square(np.bincount(self.clusters, score)).sum()))
        size = float(score.sum() / np.sqrt(square * self.weights.sum()))
        if score.sum() >= SURE * error and size >= LEAST_KEPT * strength:
            return Confirmation(size, SUPPORTED)
        alone = error / np.sqrt(square * self.weights.sum())  # the standard error of a size
        seen = strength >= SEEN_AT * alone and not self._too_few[output]
        return Confirmation(size, UNSUPPORTED if seen else UNCLEAR)

    def _out(self) -> list[tuple[int, NDArray[np.bool_]]]:
        return [(k, self.fold_of == fold) for k, fold in enumerate(self.folds)]

    @cached_property
    def _residuals(self) -> Float:
        """Residuals of the targets, ``(folds, rows, outputs)``, after an additive fit to the rows of the other folds."""
        design, penalty = self._design()
        left = np.empty((len(self.folds), *self.truth.shape))
        weighted = design * self.weights[:, None]
        whole, along = weighted.T @ design, weighted.T @ self.truth
        for k, out in self._out():
            fitted = np.where(out, 0.0, self.weights)
            mass = max(float(fitted.sum()), 1e-300)
            centre, mean = fitted @ design / mass, fitted @ self.truth / mass
            square = whole - weighted[out].T @ design[out] - mass * np.outer(centre, centre)
            towards = along - weighted[out].T @ self.truth[out] - mass * np.outer(centre, mean)
            factors = np.linalg.solve(square + np.diag(penalty), towards)
            left[k] = self.truth - mean - (design - centre) @ factors
        return left

    def _design(self) -> tuple[Float, Float]:
        """The additive fit's columns (steps between a few groups of every feature, of numbers a line within each) and penalties."""
        every = {name: self._codes(name) for name in self._study.model.columns}
        known = {name: codes for name, codes in every.items() if codes is not None}
        chosen = most_associated(list(known.values()), self.truth, self.weights, COLUMNS)
        names = [name for place, name in enumerate(known) if place in chosen]
        parts, penalties = [], []
        for name in names:
            codes, column = known[name], self._table.column(name)
            steps = (codes[:, None] == np.arange(codes.max() + 1)).astype(np.float64)
            parts.append(steps)
            # As many rows' worth as there are columns: each explains its share of what is not noise, at most.
            penalties.append(np.full(steps.shape[1], 0.5 * len(names)))
            if column.kind in ORDERED_KINDS:
                value = np.where(column.missing, 0.0, column.to_float())
                mass = np.maximum(self.weights @ steps, 1e-300)
                value = value - ((self.weights * value) @ steps / mass)[codes]
                spread = np.sqrt((self.weights * np.square(value)) @ steps / mass)
                slope = np.divide(value, spread[codes], out=np.zeros_like(value), where=spread[codes] > 0)
                lines = steps * slope[:, None]
                parts.append(lines)
                penalties.append(np.full(lines.shape[1], 0.5 * len(names) * lines.shape[1]))
        if not parts:
            return np.zeros((len(self.rows), 1)), np.ones(1)
        return np.concatenate(parts, axis=1), np.concatenate(penalties)

    def _codes(self, name: Any) -> NDArray[np.intp] | None:
        side = self._column_side(name)
        return None if side is None else side[0]

    def _side(self, feature: Feature) -> Side | None:
        if len(feature.columns) == 1:
            return self._column_side(feature.columns[0])
        parts = [codes for name in feature.columns if (codes := self._codes(name)) is not None]
        if not parts:
            return None
        codes = np.unique(np.stack(parts), axis=1, return_inverse=True)[1].ravel()
        # Columns that are one feature have a level for each; others, together, too many values to learn from.
        return (codes, *_levels(int(codes.max()) + 1)) if codes.max() <= len(feature.columns) + 1 else None

    def _column_side(self, name: Any) -> Side | None:
        if name not in self._known:
            column = self._table.column(name)
            codes, side = column_groups(column), None
            if codes is not None:
                size = int(codes.max()) + 1
                ordered = column.kind in ORDERED_KINDS and not self._study.naming.coded(name)
                side = (codes, *(_waves(size, bool(column.missing.any())) if ordered else _levels(size)))
            self._known[name] = side
        return self._known[name]


def _waves(size: int, missing: bool) -> tuple[Float, Float]:
    """Cosines along ordered groups, the slowest going farthest; the group of missing values, the last, has one of its own."""
    known = size - missing
    at = (np.arange(known) + 0.5) / max(known, 1)
    number = np.arange(1, min(WAVES, max(known - 1, 0)) + 1)
    waves = np.zeros((size, len(number) + missing))
    waves[:known, : len(number)] = np.cos(np.pi * at[:, None] * number)
    far = np.append(1.0 / np.square(number), [1.0] * missing)
    if missing:
        waves[-1, -1] = 1.0
    return waves, far / max(far.sum(), 1e-300)


def _levels(size: int) -> tuple[Float, Float]:
    return np.eye(size), np.full(size, 1.0 / size)


class _Surface:
    """Smooth interactions of two features: products of functions of each, without what is additive in the two."""

    def __init__(self, first: Side, second: Side, weights: Float) -> None:
        rows, columns = len(first[1]), len(second[1])
        self.cell = first[0] * columns + second[0]
        mass = np.bincount(self.cell, weights, minlength=rows * columns)
        products = np.einsum("ai,bj->abij", first[1], second[1]).reshape(rows * columns, -1)
        root = np.sqrt(mass)[:, None]
        single = np.hstack([np.repeat(np.eye(rows), columns, axis=0), np.tile(np.eye(columns), (rows, 1))])
        parts = np.linalg.lstsq(root * single, root * products, rcond=None)[0]
        self.products = products - single @ parts
        self.spread = mass @ np.square(self.products) / mass.sum()
        self.far = np.outer(first[2], second[2]).ravel()

    def fit(self, weights: Float, left: Float, noise: float, strength: float) -> Float:
        """The interaction at all rows, fitted to those with weight and expected to be about as strong as the model's."""
        size = len(self.products)
        mass = np.bincount(self.cell, weights, minlength=size)
        sums = np.bincount(self.cell, weights * left, minlength=size)
        expected = self.far * strength**2 / max(float(self.far @ self.spread), 1e-300)
        root = np.sqrt(expected)
        scaled = self.products * root  # so that nothing is divided by what is not expected at all
        square = scaled.T @ (mass[:, None] * scaled) + noise * np.eye(len(root))
        return np.asarray((scaled @ np.linalg.solve(square, scaled.T @ sums))[self.cell])


def check_pairs(
    study: Study,
    pairs: Mapping[tuple[Any, ...], Sequence[Feature]],
    strength: Mapping[tuple[Any, ...], Float],
    units: Float,
) -> dict[tuple[Any, ...], list[Confirmation | None]]:
    """For each of the strongest of these pairs, one Confirmation per output; `strength` is ``(outputs,)`` each, `units` what sizes are measured in."""
    least = TRIED_FROM * THRESHOLDS["interaction"]
    size = {name: float(np.max(strength[name] / np.where(units > 0, units, np.inf))) for name in pairs}
    wanted = sorted((name for name in pairs if size[name] >= least), key=lambda name: -size[name])[:PAIRS]
    check = pair_check(study) if wanted else None
    return {name: check.check(pairs[name], strength[name].tolist()) for name in wanted} if check else {}
