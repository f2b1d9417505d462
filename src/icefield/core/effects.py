"""The recipe: features -> grids -> questions -> answers -> Effects, in one direction.

`compute` reads top to bottom. What it needs of the rows it asks of `Rows`, what it needs of the model of the plan's engine; the
Effects are then made of values alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from icefield import validate
from icefield.core.clustered_errors import clustered_answers
from icefield.core.engine import Context, Plan, with_fallback
from icefield.core.point_weights import PointWeights
from icefield.core.precision import until_precise
from icefield.core.prediction_level import Level, prediction_level
from icefield.core.question import Answer, AnswerAccumulator, Moving, Question, QuestionAccumulator
from icefield.core.rows import Accumulator, Block, ColumnStatistics, GridRequest
from icefield.core.study import Study, answers_by, noted
from icefield.counts import counted
from icefield.data.distribution import Distribution
from icefield.data.features import Feature
from icefield.data.grid import AUTO, NO_STEPS, Grid, Steps, goes_by_steps, specifications, whole_steps
from icefield.data.groups import Groups
from icefield.data.row_values import RowValues
from icefield.effect import Backing, Effect, KeptCurves, Predictions, Provenance, Spread
from icefield.effect.parts import AllBut, centered_deviation
from icefield.errors import BudgetError
from icefield.sampling import CENTERED_CURVES, choose_rows, population_factor
from icefield.threads import available_processors
from icefield.typing import Array, Float, Positions

CENTERED_SHARE = 0.25  # of the budget for curves that only their centred spread needs
GRID_ARRAYS = 4  # of a grid's size, at least: averages, spread, weights, and where its points lie

Grids = tuple[Array, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """Sets of features whose effects are wanted, and what is wanted of them.

    Attributes
    ----------
    sets : the features of each effect, as a user names them
    kind : ``"pd"`` or ``"ice"``
    grid : a `Grid`, a number of points or values, as in `Explainer.partial_dependence`
    spread : standard deviation and standard error too; None: as usual for the number of features
    quantiles : probabilities of the curves' quantiles
    rows : positions of the rows of the sample that are averaged over; None: every row
    sampled_from : how many rows chance chose these among, so that the standard error is that against those; 0 where
        they were not drawn
    kept : places among those rows whose ICE curves are kept
    kept_weights : what the kept curves count for; None: their rows' weights
    """

    sets: Sequence[tuple[Any, ...]]
    kind: str = "pd"
    grid: Any = None
    spread: bool | None = None
    quantiles: Sequence[float] | None = None
    rows: Positions | None = None
    sampled_from: int = 0
    kept: Positions | None = None
    kept_weights: Float | None = None

    def grid_of(self, features: Sequence[Feature]) -> Any:
        """What was passed as ``grid=`` for these features."""
        if isinstance(self.grid, Mapping):
            return {f.label: self.grid[f.label] for f in features if f.label in self.grid}
        return self.grid

    def wants_spread(self, n_features: int, background: str) -> bool:
        """Spread comes with one feature, and with rows chosen to save time, whose error it states."""
        if self.spread is not None:
            return bool(self.spread)
        return background == "data" and (n_features == 1 or self.rows is not None)


@dataclass(frozen=True, eq=False)
class Job(GridRequest):
    """One effect on its way: its features, what was passed as their ``grid=``, and its request."""

    request: Request

    @classmethod
    def of(cls, study: Study, request: Request, names: Sequence[Any]) -> Job:
        features = tuple(map(study.feature, names))
        return cls(features, request.grid_of(features), request)


@dataclass(frozen=True, eq=False)
class PlacedJob:
    """A job with its grid points, notes about them, and what the engine is asked."""

    job: Job
    grid: Grids
    notes: str
    question: Question


def compute_effects(study: Study, request: Request) -> list[Effect]:
    """The effects of one request, in one pass."""
    return compute(study, [request])[0]


def compute(study: Study, requests: Sequence[Request]) -> list[list[Effect]]:
    """The effects of several requests about the same rows, in one pass where the rows are in memory."""
    if not study.rows.resident and len(requests) > 1:
        return [compute(study, [request])[0] for request in requests]
    # 1. Features; their columns are summarised while the model is read.
    jobs = [Job.of(study, request, names) for request in requests for names in request.sets]
    for request in requests:
        if isinstance(request.grid, Mapping):  # a grid of none of the features is an error
            specifications(request.grid, [f.label for j in jobs if j.request is request for f in j.features])
    threads = study.resources.threads or available_processors()
    needs_steps = any(goes_by_steps(job.grid, [f.label for f in job.features]) for job in jobs)
    with study.rows.summarise(jobs, threads) as pending, pending:
        if not needs_steps:
            pending.tell(NO_STEPS)
        plan = study.plans.checked()
        steps = plan.steps(study.rows.head) if needs_steps else NO_STEPS
        pending.tell(steps)
        prefetches = pending.is_working and _prefetches(plan, requests)
        level = prediction_level(study, plan=plan) if prefetches else None
        early = _first_counts(study, plan, jobs)
        statistics, is_counted = pending.result(also=[] if early is None else [early])
    # 2. Grids, and what is asked of the engine.
    placed = _placed(study, plan, statistics, jobs, steps)
    # 3. Answers over the rows, and how much data is near each grid point.
    counts = early if is_counted else None
    answers, weights = with_fallback(
        plan, lambda own: _answered(study, own, placed, statistics, counts if own is plan else None)
    )
    # 4. Effects, of values alone.
    level = level or prediction_level(study, requests[0].rows, plan)
    about = EffectContext.of(study, plan, level, requests[0].rows)
    made = (
        make_effect(about, one, statistics.distribution(one.job.features), answer, weight)
        for one, answer, weight in zip(placed, answers, weights)
    )
    return [[next(made) for _ in request.sets] for request in requests]


def compute_to_precision(
    study: Study,
    features: Sequence[Any],
    precision: float,
    *,
    grid: Any = None,
    rows: Positions | None = None,
) -> Effect:
    """Partial dependence over more and more seeded random rows until its standard error is small enough."""
    sample = study.sample
    order = np.random.default_rng(study.seed).permutation(np.arange(sample.n_rows) if rows is None else rows)
    request = Request(sets=[tuple(features)], grid=grid, spread=True, rows=order)
    job = Job.of(study, request, features)
    plan = study.plans.checked()
    with study.rows.summarise([job], 1) as pending, pending:
        statistics, _ = pending.result()
    table = study.rows.head
    thresholds, steps = partial(plan.thresholds, table=table), plan.steps(table)
    points, notes = statistics.grids(job.features, job.grid, thresholds, steps)
    _check_grid_fits(study, points)
    question = Question(_axes(study, job.features, points), spread=True)
    answer, used, said = until_precise(
        lambda chosen: study.answers([question], sample.take(chosen, drawn=True))[0], order, precision
    )
    request = replace(request, rows=used, sampled_from=len(order))
    if len(used) == len(order):  # nothing was left out: its error is that of all rows
        request = replace(request, sampled_from=0)
        if sample.clusters is not None:
            (answer,) = _clustered(study, plan, [question], sample.take(used))
    placed = PlacedJob(
        replace(job, request=request), points, "; ".join(n for n in (notes, said) if n), question
    )
    weight = statistics.point_weights(job.features, points, study.rows.groups)
    about = EffectContext.of(study, plan, prediction_level(study, used, plan), None)
    return make_effect(about, placed, statistics.distribution(job.features), answer, weight)


# --- grids and questions ---------------------------------------------------------------------------------


def _prefetches(plan: Plan, requests: Sequence[Request]) -> bool:
    """Whether a sample of predictions, which every effect needs, costs none: then it is read while columns are summarised."""
    cheap = plan.engine.needs_rows and not plan.engine.costs_predictions
    return cheap and any(request.rows is None for request in requests)


def _placed(
    study: Study, plan: Plan, statistics: ColumnStatistics, jobs: Sequence[Job], steps: Mapping[Any, Steps]
) -> list[PlacedJob]:
    """The jobs with their grids and questions."""
    thresholds = partial(plan.thresholds, table=study.rows.head)
    grids = [statistics.grids(job.features, job.grid, thresholds, steps) for job in jobs]
    for points, _ in grids:
        _check_grid_fits(study, points)
    questions = [
        Question(
            _axes(study, job.features, points),
            spread=job.request.wants_spread(len(job.features), study.background),
            quantiles=validate.probabilities(job.request.quantiles),
            rows=job.request.kept,
        )
        for job, (points, _) in zip(jobs, grids)
    ]
    questions = _with_centered(study, jobs, questions)
    return [PlacedJob(job, *grid, question) for job, grid, question in zip(jobs, grids, questions)]


def _check_grid_fits(study: Study, grid: Grids) -> None:
    """Refuse a product of grids with more points than the budget has room for, with its size."""
    if len(grid) == 1:
        return
    points = math.prod(len(values) for values in grid)
    size = 8 * GRID_ARRAYS * len(study.model.outputs) * points
    if size > study.resources.memory:
        shape, held = " x ".join(counted(len(values)) for values in grid), study.resources.memory
        raise BudgetError.saying(f"A grid of {shape} points would take {size / 2**20:,.0f} MB, over the budget of {held / 2**20:,.0f} MB.",
                                 "use fewer points with grid=25, or raise Explainer(memory=...)")  # fmt: skip


def _axes(study: Study, features: Sequence[Feature], grid: Grids) -> tuple[Any, ...]:
    return tuple(f.axis(values, study.rows.head) for f, values in zip(features, grid))


def _with_centered(study: Study, jobs: Sequence[Job], questions: list[Question]) -> list[Question]:
    """Questions of one feature's spread keep some curves for that of centred ones, where they take little room."""
    if study.background != "data":
        return questions
    found = list(questions)
    for request in dict.fromkeys(job.request for job in jobs):
        own = [i for i, job in enumerate(jobs) if job.request is request]
        asked = [i for i in own if found[i].spread and found[i].rows is None and len(found[i].axes) == 1]
        if not asked:
            continue
        n_rows = study.sample.n_rows if request.rows is None else len(request.rows)
        points = sum(found[i].shape[0] for i in asked)
        size = 8 * points * len(study.model.outputs) * min(n_rows, CENTERED_CURVES)
        if n_rows == 0 or size > CENTERED_SHARE * study.resources.memory:
            continue
        kept = choose_rows(None, n_rows, study.seed, CENTERED_CURVES).positions
        kept = np.arange(n_rows) if kept is None else kept
        for i in asked:
            found[i] = replace(found[i], rows=kept)
    return found


# --- answers ---------------------------------------------------------------------------------------------


def _answered(
    study: Study,
    plan: Plan,
    placed: Sequence[PlacedJob],
    statistics: ColumnStatistics,
    counts: QuestionAccumulator | None,
) -> tuple[list[Answer], list[list[Float]]]:
    """The answers over the rows asked for, and the weight of the data near each grid point."""
    request, questions, groups = placed[0].job.request, [one.question for one in placed], study.rows.groups
    whole = request.rows is None and plan.engine.needs_rows
    needs_pass = [whole and statistics.needs_pass(one.job.features, one.job.grid, groups) for one in placed]
    placing = [i for i, needed in enumerate(needs_pass) if needed]
    sets = [(placed[i].job.features, placed[i].grid) for i in placing]
    points = PointWeights(sets, study.rows.n_groups, study.rows.beside)
    if not whole:
        block = study.sample.take(request.rows, drawn=request.sampled_from > 0)
        if block.clusters is None or request.sampled_from:
            answers = answers_by(plan, questions, block, study.resources)
        else:
            answers = _clustered(study, plan, questions, block)
    elif study.rows.resident:
        answers = _of_resident(study, plan, questions)
    else:
        answers = _of_passes(study, plan, questions, points if placing else None, counts)
    weights = {i: points.of(number) for number, i in enumerate(placing)}
    return answers, [
        weights[i] if i in weights else statistics.point_weights(one.job.features, one.grid, groups)
        for i, one in enumerate(placed)
    ]


def _of_resident(study: Study, plan: Plan, questions: Sequence[Question]) -> list[Answer]:
    """Answers over all rows, which are one block."""
    if study.sample.clusters is not None:
        return _clustered(study, plan, questions, study.sample)
    accumulator = AnswerAccumulator(plan.engine, questions, study.resources, whole=True)
    study.rows.fold([accumulator])
    return noted(accumulator.answers(questions), plan)


def _clustered(study: Study, plan: Plan, questions: Sequence[Question], block: Block) -> list[Answer]:
    """Answers with the standard errors of clustered rows."""
    return clustered_answers(
        lambda asked, rows: answers_by(plan, asked, rows, study.resources),
        questions, block, np.asarray(block.clusters), study.resources.memory, at_once=study.model.across_rows,
    )  # fmt: skip


def _of_passes(
    study: Study,
    plan: Plan,
    questions: Sequence[Question],
    points: PointWeights | None,
    counts: QuestionAccumulator | None,
) -> list[Answer]:
    """Answers over all rows, in one pass: from counts where averages derive from them, merged from blocks elsewhere.

    What does not merge, quantiles and kept curves, is asked of the sample.
    """
    study.rows.check_row_by_row(study.model)
    by_counts = [i for i, q in enumerate(questions) if not q.spread]
    moving = [[axis.columns for axis in questions[i].axes] for i in by_counts]
    folded: list[Accumulator] = [] if points is None else [points]
    if counts is None:
        counts = study.cache.kept("counts", _counts_key(plan, moving))
    if counts is None:
        counts = _counts(study, plan, moving)
        folded += [] if counts is None else [counts]
    by_counts = [] if counts is None else by_counts
    own = [questions[i] for i in by_counts]
    if counts is not None:
        counts.check(own)  # before any row is read
    merged = [i for i in range(len(questions)) if i not in by_counts]
    asking = AnswerAccumulator(plan.engine, [questions[i] for i in merged], study.resources)
    folded += [asking] if merged else []
    if folded:  # counts that are known from another grid need no pass
        study.rows.fold(folded)
    found: dict[int, Answer] = dict(zip(merged, asking.answers([])))
    if counts is not None:
        study.cache.keep("counts", _counts_key(plan, moving), counts)
        found |= dict(zip(by_counts, counts.answers(own)))
    answers = noted([found[i] for i in range(len(questions))], plan)
    return _with_sampled(study, answers, questions)


def _first_counts(study: Study, plan: Plan, jobs: Sequence[Job]) -> QuestionAccumulator | None:
    """Counts to be taken along with the first pass over a stream: they need no grid."""
    request = jobs[0].request
    if not study.rows.can_count_at_once or request.rows is not None or not plan.engine.needs_rows:
        return None
    if any(job.request.wants_spread(len(job.features), study.background) for job in jobs):
        return None
    study.rows.check_row_by_row(study.model)
    return _counts(study, plan, [[f.columns for f in job.features] for job in jobs])


def _counts(study: Study, plan: Plan, moving: Moving) -> QuestionAccumulator | None:
    """Counts from which the averages of questions that move these columns derive; None where the engine has none."""
    if not moving:
        return None
    return plan.engine.accumulator(moving, Context(study.rows, study.resources))


def _counts_key(plan: Plan, moving: Moving) -> Any:
    return plan.engine.name, tuple(tuple(tuple(columns) for columns in axes) for axes in moving)


def _with_sampled(study: Study, found: list[Answer], questions: Sequence[Question]) -> list[Answer]:
    """The answers with what does not merge, which the sample gives: quantiles and kept curves."""
    wanting = [i for i, q in enumerate(questions) if q.quantiles or q.rows is not None]
    if not wanting:
        return found
    drawn = study.answers([replace(questions[i], spread=False) for i in wanting], study.sample)
    for i, own in zip(wanting, drawn):
        found[i] = replace(
            found[i], quantiles=own.quantiles, group_quantiles=own.group_quantiles, curves=own.curves
        )
    return found


# --- Effects ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EffectContext:
    """What all effects of one call share: values about the model, the rows and the engine.

    Attributes
    ----------
    outputs, columns : of the model
    predictions, provenance : what it predicts, and the engine that was planned, and why
    sample, groups : rows together, and what ``by=`` made of them
    said : how many rows were averaged over, where not all were
    """

    outputs: tuple[Any, ...]
    columns: tuple[Any, ...]
    predictions: Predictions
    provenance: Provenance
    sample: Block
    groups: Groups | None
    said: str
    _kept_values: dict[Request, RowValues] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Study, plan: Plan, level: Level, rows: Positions | None) -> EffectContext:
        model, sample = study.model, study.sample
        said = "" if rows is None else f"averaged over {counted(len(rows))} of {counted(sample.n_rows)} rows"
        positive = model.positive or (model.scale == "response" and level.positive)
        predictions = Predictions(
            model.scale, model.scale_label, level.baseline, level.std, level.unit, positive
        )
        provenance = Provenance(
            plan.engine.name, study.why(plan), study.background, library=sample.table.library, naming=study.naming
        )  # fmt: skip
        return cls(model.outputs, model.columns, predictions, provenance, sample, study.rows.groups, said)

    def blank(
        self, kind: str, features: Sequence[Feature], grid: Grids, distribution: Distribution
    ) -> Effect:
        """An Effect that knows the model and the data, without its curves."""
        return Effect(
            kind=kind,
            features=tuple(f.label for f in features),
            grid=grid,
            average=np.zeros((len(self.outputs), *(len(values) for values in grid))),
            outputs=self.outputs,
            kinds=tuple(f.kind for f in features),
            by=None if self.groups is None else self.groups.name,
            backing=Backing(distribution=distribution),
            predictions=self.predictions,
            provenance=self.provenance,
        )

    def row_values(self, request: Request, rows: Positions) -> RowValues:
        """Column values of the rows whose ICE curves are kept; read once per request and shared by its effects."""
        if request not in self._kept_values:
            self._kept_values[request] = RowValues(self.sample.table, rows)
        return self._kept_values[request]


def make_effect(
    about: EffectContext, placed: PlacedJob, distribution: Distribution, answer: Answer, weights: list[Float]
) -> Effect:
    """An engine's answer as an Effect, with what pictures need of the data.

    `weights` are those of the data near each grid point: over all rows, then by group.
    """
    request, features, question = placed.job.request, placed.job.features, placed.question
    labels = () if about.groups is None else about.groups.labels
    blank = about.blank(request.kind, features, placed.grid, distribution)
    notes = (about.provenance.why, placed.notes, about.said, *answer.notes)
    found = replace(
        blank.provenance,
        engine=answer.engine or about.provenance.engine,
        why="; ".join(part for part in notes if part),
        sampled_from=request.sampled_from,
        own_grid=not (request.grid is None or (isinstance(request.grid, Grid) and request.grid == AUTO)),
    )
    reach = population_factor(answer.total.count, request.sampled_from)
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
        0, answer.quantiles, _centered(about, request, question, answer, weights[0]), groups=groups,
        kept=_kept(about, request, answer), steps=whole_steps(request.grid),
        provenance=replace(found, n_rows=answer.total.count, others=AllBut(about.columns, moving)),
    )  # fmt: skip


def _centered(
    about: EffectContext, request: Request, question: Question, answer: Answer, weight: Float
) -> Float | None:
    """The spread of the centred curves: of all rows where their curves are kept, else of a sample."""
    rows = question.rows
    if rows is None or answer.curves is None or not question.spread or len(question.axes) > 1:
        return None
    if request.kept is not None and not 0 < len(rows) == answer.total.count <= CENTERED_CURVES:
        return None  # a user's own choice of rows does not stand for all
    at = rows if request.rows is None else request.rows[rows]
    own = None if about.sample.weights is None else about.sample.weights[at]
    return centered_deviation(answer.curves, own, weight)


def _kept(about: EffectContext, request: Request, answer: Answer) -> KeptCurves | None:
    """The curves an answer kept, with the positions of their rows."""
    if request.kept is None:
        return None
    rows = request.kept if request.rows is None else request.rows[request.kept]
    weights, sample = request.kept_weights, about.sample
    if weights is None and sample.weights is not None:
        weights = sample.weights[rows]
    clusters = None if sample.clusters is None else sample.clusters[rows]
    return KeptCurves(answer.curves, rows, about.row_values(request, rows), weights, clusters)
