"""From an engine's answer to an Effect: errors, groups, kept curves, and what pictures need of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.question import Answer, Question
from icefield.core.request import Ask
from icefield.counts import counted
from icefield.data.features import Feature
from icefield.data.grid import whole_steps
from icefield.effect import Effect, KeptCurves, Spread
from icefield.effect.parts import AllBut, centered_deviation
from icefield.sampling import CENTERED_CURVES, choose_rows, sampling_reach
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.core.study import Study


CENTERED_SHARE = 0.25  # of the budget for curves that only their centred spread needs


def with_centered(study: Study, ask: Ask, questions: list[Question]) -> list[Question]:
    """Questions of one feature's spread keep some curves for that of centred ones, where they take little room."""
    n_rows = study.n_rows if ask.rows is None else len(ask.rows)
    asked = [q.spread and q.rows is None and len(q.axes) == 1 for q in questions]
    points = sum(q.shape[0] for q, wanted in zip(questions, asked) if wanted)
    size = 8 * points * len(study.model.outputs) * min(n_rows, CENTERED_CURVES)
    if study.background != "data" or n_rows == 0 or size > CENTERED_SHARE * study.resources.memory:
        return questions
    kept = choose_rows(None, n_rows, study.seed, CENTERED_CURVES).positions
    kept = np.arange(n_rows) if kept is None else kept
    return [replace(q, rows=kept) if wanted else q for q, wanted in zip(questions, asked)]


def know_without_grids(study: Study, asks: Sequence[Ask]) -> None:
    """Find what effects need and no grid decides: the plan and, where they are cheap, predictions of a sample."""
    is_cheap = study.background == "data" and not study.plan.engine.costs_predictions
    if is_cheap and any(ask.rows is None for ask in asks):
        study.prediction_moments()


def rows_used(study: Study, ask: Ask) -> str:
    """How many rows are averaged over, where not all are."""
    if ask.rows is None:
        return ""
    return f"averaged over {counted(len(ask.rows))} of {counted(study.n_rows)} rows"


def dressed_effect(
    study: Study,
    ask: Ask,
    features: tuple[Feature, ...],
    grid: tuple[NDArray[Any], ...],
    notes: Sequence[str],
    question: Question,
    answer: Answer,
) -> Effect:
    """An engine's answer as an Effect, with what pictures need of the data."""
    labels = () if study.groups is None else study.groups.labels
    weights = study.point_weights(features, grid)
    blank = study.blank(ask.kind, features, grid, rows=ask.rows)
    found = replace(
        blank.provenance,
        engine=answer.engine or study.plan.engine.name,
        why="; ".join(part for part in (study.plan.why, *notes, *answer.notes) if part),
        sampled_from=ask.sampled_from,
    )

    reach = sampling_reach(answer.total.count, ask.sampled_from)
    moments_of = (answer.total, *answer.groups)
    errors: Sequence[Float | None] = answer.errors or [m.se for m in moments_of]

    def filled(place: int, quantiles: Float | None, centered: Float | None = None, **more: Any) -> Effect:
        moments, se = moments_of[place], errors[place]
        asked = None if quantiles is None else dict(zip(question.quantiles, quantiles))
        return replace(
            blank,
            average=moments.average,
            spread=Spread(moments.std, None if se is None else reach * se, asked, centered),
            backing=replace(blank.backing, weight=weights[place]),
            **{"provenance": replace(found, n_rows=moments.count), **more},
        )

    own_quantiles = answer.group_quantiles or (None,) * len(labels)
    groups = {
        label: filled(place, own) for place, (label, own) in enumerate(zip(labels, own_quantiles), start=1)
    }
    moving = frozenset(column for feature in features for column in feature.columns)
    # One replacement for all: effects come by the hundred.
    return filled(
        0, answer.quantiles, _centered(study, ask, question, answer, weights[0]), groups=groups,
        kept=_kept(study, ask, answer), steps=whole_steps(ask.grid),
        provenance=replace(found, n_rows=answer.total.count, others=AllBut(study.model.columns, moving)),
    )  # fmt: skip


def _centered(study: Study, ask: Ask, question: Question, answer: Answer, weight: Float) -> Float | None:
    """The spread of the centred curves, where all rows' curves are at hand, or those of a sample made for it."""
    rows = question.rows
    if rows is None or answer.curves is None or not question.spread or len(question.axes) > 1:
        return None
    if ask.kept is not None and not 0 < len(rows) == answer.total.count <= CENTERED_CURVES:
        return None  # a user's own choice of rows does not stand for all
    at = rows if ask.rows is None else ask.rows[rows]
    own = None if study.weights is None else study.weights[at]
    return centered_deviation(answer.curves, own, weight)


def _kept(study: Study, ask: Ask, answer: Answer) -> KeptCurves | None:
    """The curves an answer kept, with what tells their rows apart."""
    if ask.kept is None:
        return None
    rows = ask.kept if ask.rows is None else ask.rows[ask.kept]
    weights = ask.kept_weights
    if weights is None and study.weights is not None:
        weights = study.weights[rows]
    clusters = None if study.clusters is None else study.clusters[rows]
    return KeptCurves(answer.curves, rows, ask.row_values(study.table, rows), weights, clusters)
