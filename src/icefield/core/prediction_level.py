"""Where a model's own predictions lie: mean, standard deviation and unit, by which effects and statistics are measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icefield.core.engine import Plan, with_fallback
from icefield.core.question import Moments, Question
from icefield.core.rows import Block
from icefield.core.study import Study
from icefield.data.distribution import suiting_units
from icefield.sampling import PREDICTION_ROWS, in_proportion
from icefield.typing import Float, Positions


@dataclass(frozen=True, eq=False)
class Level:
    """Where the model's own predictions lie, by output: mean, standard deviation, and the unit of sizes where it is another.

    `positive` says that none of any output is below zero.
    """

    baseline: Float
    std: Float
    unit: Float | None
    positive: bool


def prediction_level(study: Study, rows: Positions | None = None, plan: Plan | None = None) -> Level:
    """Mean and standard deviation of the model's own predictions, on a seeded sample of rows.

    Rows chosen because the model is slow are not followed by thousands of others. `plan` is one that was checked.
    """
    sample = study.sample
    if rows is not None and len(rows) < PREDICTION_ROWS:
        weights = None if sample.weights is None else sample.weights[rows]
        return _level_of(study, rows, weights, plan, alone=True)

    def of_sample() -> Level:
        drawn = in_proportion(PREDICTION_ROWS, sample.n_rows, sample.weights, study.seed)
        return _level_of(study, *drawn, plan)

    return study.cache.once("prediction level", of_sample)


def _level_of(
    study: Study, rows: Positions, weights: Float | None, plan: Plan | None, alone: bool = False
) -> Level:
    plan = study.plans.checked() if plan is None else plan
    predicted = with_fallback(plan, lambda plan: _quick_predictions(study, plan, rows, alone))
    moments = Moments.of(predicted, weights, True, copies=True)
    unit = suiting_units(predicted, weights, moments.std)
    return Level(moments.average, np.asarray(moments.std), unit, bool((predicted >= 0).all()))


def _quick_predictions(study: Study, plan: Plan, rows: Positions, alone: bool = False) -> Float:
    """Predictions up to rounding, from the engine where that costs none: a curve in which nothing moves.

    Where rows count together, `alone` asks about these without the others, as curves over them do.
    """
    if alone and study.model.across_rows:
        return study.model.predict(study.sample.table.take(rows))
    if plan.engine.costs_predictions or not plan.engine.needs_rows or not len(rows):
        return study.predictions(rows)
    question = Question((), spread=True, rows=np.arange(len(rows)))
    (answer,) = plan.engine.answer([question], Block(study.sample.table.take(rows)), study.resources)
    return np.ascontiguousarray(np.asarray(answer.curves).T)
