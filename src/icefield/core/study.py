"""Study: a model, its rows and the choices that hold for every question.

Immutable, and the same class for rows in memory, streamed and distributed: where rows are is the business of `Rows`. The
recipe for effects is `icefield.core.effects.compute`.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from icefield.core.cache import Cache
from icefield.core.crossed_rows import crossed_averages, moving_columns
from icefield.core.engine import Choices, Plan, PlanCell, training_refusal, with_fallback
from icefield.core.question import Answer, Moments, Question, Resources
from icefield.core.rows import Accumulator, Block, Rows
from icefield.counts import counted
from icefield.data.columns import Column
from icefield.data.distribution import suiting_units
from icefield.data.features import Feature, feature_column, listed_features, resolve
from icefield.data.naming import PLAIN, Naming
from icefield.errors import InputError, complaint
from icefield.models.model import Model
from icefield.models.pace import interruptible
from icefield.sampling import CROSSED_ROWS, PREDICTION_ROWS, Chosen, choose_rows, in_proportion
from icefield.threads import ThreadCrew
from icefield.typing import Background, Float, Positions

Key = TypeVar("Key", bound=Hashable)
KeyIn = TypeVar("KeyIn", bound=Hashable, contravariant=True)


@dataclass(frozen=True, eq=False)
class Level:
    """Where the model's own predictions lie, by output: mean, standard deviation, and the unit of sizes where it is another.

    `positive` says that none of any output is below zero.
    """

    baseline: Float
    std: Float
    unit: Float | None
    positive: bool


@dataclass(frozen=True, eq=False)
class EvaluatedRows:
    """The rows at whose own values averages were taken: why these, and their weights."""

    why: str
    weights: Float


class AveragesSink(Protocol[KeyIn]):
    """Takes in averages at rows' own values, set by set."""

    def begin(self, rows: EvaluatedRows) -> None:
        """Start anew: averages at these rows follow. Called a second time where the first engine could not finish."""

    def take(self, name: KeyIn, values: Float) -> None:
        """A set's averages, ``(outputs, rows)``; the array is not shared."""


@dataclass(frozen=True, eq=False)
class Study:
    """A model, its rows, and the choices that hold for every question.

    Attributes
    ----------
    model : the model, ready to be asked
    rows : where the rows are
    choices : background, engine, resources and names, as in `Explainer`
    plans : the engine that answers; shared by studies of other groups of the same rows
    cache : what statistics worked out once; shared likewise
    """

    model: Model
    rows: Rows
    choices: Choices
    plans: PlanCell
    cache: Cache = field(default_factory=Cache)

    @classmethod
    def of(cls, model: Model, rows: Rows, choices: Choices | None = None) -> Study:
        """A study whose engine is chosen at the first question, or now where one was asked for by name."""
        choices = Choices() if choices is None else choices
        study = cls(model, rows, choices, PlanCell(model, rows.head, choices.engine, choices.background))
        if choices.engine == "trees" or choices.background == "training":
            study.plan  # noqa: B018  (a clear error now beats one at the first question)
        return study

    def __reduce__(self) -> Any:
        """Pickles the choices only; results are computed again in the other process."""
        self.plans.check_model()
        return _unpickled, (self.model, self.rows, self.choices)

    def __repr__(self) -> str:
        return (
            f"Explainer({type(self.model.native).__name__}, {self.rows.described(len(self.model.columns))}, "
            f"{what_is_predicted(self.model)})"
        )

    @property
    def sample(self) -> Block:
        """Rows together: all of them in memory, a seeded sample of a stream."""
        return self.rows.sample

    @property
    def resources(self) -> Resources:
        return self.choices.resources

    @property
    def seed(self) -> int:
        return self.choices.resources.seed

    @property
    def background(self) -> Background:
        return self.choices.background

    @property
    def naming(self) -> Naming:
        return PLAIN if self.choices.naming is None else self.choices.naming

    @property
    def plan(self) -> Plan:
        """The engine that answers and why; chosen at the first question."""
        return self.plans.plan

    def why(self, plan: Plan) -> str:
        """Why this engine answers, and which rows it uses where these are not all."""
        return "; ".join(part for part in (plan.why, self.rows.said) if part)

    @property
    def how(self) -> str:
        """The plan in a sentence, for notes."""
        return f"{self.plan.engine.name} engine: {self.why(self.plan)}"

    def grouped(self, by: Any) -> Study:
        """The same study with groups for one question; what it has worked out is shared. None: as it is."""
        if by is None:
            return self
        self.needs_rows("`by`")
        return Study(self.model, self.rows.grouped(by), self.choices, self.plans, self.cache)

    # --- features and rows ---------------------------------------------------------------------

    def listed(self, features: Iterable[Any] | None, least: int = 1) -> list[Any]:
        """The features a table is about, one or several as given; all of the model's by default."""
        return listed_features(features, self.model.columns, least)

    def feature(self, asked: Any) -> Feature:
        """One feature a user means."""
        if isinstance(asked, Feature):
            return asked
        usable = self.cache.once("usable columns", lambda: dict.fromkeys(self.model.columns))
        feature = resolve(asked, self.rows.head, usable)
        if feature.is_group:
            self.cache.once(("group", feature), lambda: feature_column(feature, self.rows.head).kind)
        return feature

    def resolve(self, asked: Sequence[Any]) -> tuple[Feature, ...]:
        """The features a user means; an error when there are none, or a column twice."""
        if not asked:
            example = f"for example {self.model.columns[0]!r}"
            raise InputError(complaint("features", "must name at least one feature", (), example))
        found = tuple(self.feature(one) for one in asked)
        moving = moving_columns(found)
        if len(set(moving)) != len(moving):
            raise InputError(complaint("features", "names the same column twice", list(asked)))
        return found

    def column(self, feature: Feature) -> Column:
        """The feature's values in the sample."""
        return self.rows.statistics.column(feature)

    def needs_rows(self, what: str) -> None:
        """Refuse what needs rows where the background is the training data's node weights."""
        if self.background == "training":
            raise training_refusal(what)

    def chosen(self, rows: Any, when_costly: int | None = None) -> Chosen:
        """The rows of the sample asked for; without any, all of them, or so many where each costs predictions."""
        if rows is None and when_costly is None:
            return Chosen()  # without a look at the rows: those of a stream may still be unread
        if rows is not None:
            self.rows.check_choice(rows)
        limit = when_costly if when_costly is not None and self.plan.engine.costs_predictions else None
        return choose_rows(rows, self.sample.n_rows, self.seed, limit)

    def fold(self, accumulator: Accumulator) -> None:
        """Let an accumulator take in every row once: by a pass, or from a sample that holds all of them."""
        if self.rows.resident or not self.rows.is_sampled:
            with ThreadCrew(1) as threads, threads:
                accumulator.add(self.sample, threads)
            return
        self.rows.check_row_by_row(self.model)
        self.rows.fold([accumulator])

    # --- what the engine is asked beside effects -----------------------------------------------

    def answers(self, questions: Sequence[Question], block: Block) -> list[Answer]:
        """The engine's answers about rows together, one per question."""
        return with_fallback(
            self.plans.checked(), lambda plan: answers_by(plan, questions, block, self.resources)
        )

    def averages_at_rows(
        self, sets: Mapping[Key, Sequence[Feature]], rows: Any, into: AveragesSink[Key]
    ) -> None:
        """Partial dependence of sets of features at rows' own values.

        At all rows of the sample where the engine gets them in one walk, else at a seeded sample crossed with itself.
        """
        columns = [moving_columns(features) for features in sets.values()]
        sample = self.sample

        def ask(plan: Plan) -> None:
            if rows is None and plan.engine.additive:
                walked = plan.engine.own_averages(columns, sample, self.resources)
                if walked is not None:
                    collect(
                        walked, EvaluatedRows(f"{self.rows.sample_said}: {plan.why}", sample.row_weights())
                    )
                    return
            wanted = min(CROSSED_ROWS, sample.n_rows) if rows is None else rows
            chosen = choose_rows(wanted, sample.n_rows, self.seed)
            part = sample.take(chosen.positions)
            found = plan.engine.own_averages(columns, part, self.resources)
            if found is None:
                found = crossed_averages(self.model, plan.engine, columns, part, self.resources)
            gives_all = plan.what_gives_all_rows(sample.n_rows, self.model.scale)
            why = f"{chosen.note}; {gives_all}" if chosen.note else ""
            why = why or f"{counted(part.n_rows)} of {counted(sample.n_rows)} rows"
            collect(found, EvaluatedRows(why, sample.row_weights(chosen.positions)))

        def collect(averages: Generator[Float], evaluated: EvaluatedRows) -> None:
            into.begin(evaluated)
            with closing(averages):  # its threads must not wait until nobody looks at an interrupt any more
                for name, values in zip(sets, averages, strict=True):
                    into.take(name, values)

        with_fallback(self.plans.checked(), ask)

    # --- what the model itself predicts --------------------------------------------------------

    def predictions(self, rows: Positions | None = None) -> Float:
        """The model's own predictions of rows of the sample as they are, ``(rows, outputs)``."""
        table = self.sample.table
        if rows is None or self.model.across_rows:
            every = interruptible(self.model, table)
            return every if rows is None else every[rows]
        return interruptible(self.model, table.take(rows))

    def prediction_level(self, rows: Positions | None = None, plan: Plan | None = None) -> Level:
        """Mean and standard deviation of the model's own predictions, on a seeded sample of rows.

        Rows chosen because the model is slow are not followed by thousands of others. `plan` is one that was checked.
        """
        sample = self.sample
        if rows is not None and len(rows) < PREDICTION_ROWS:
            weights = None if sample.weights is None else sample.weights[rows]
            return self._level_of(rows, weights, plan, alone=True)
        return self.cache.once(
            "prediction level",
            lambda: self._level_of(
                *in_proportion(PREDICTION_ROWS, sample.n_rows, sample.weights, self.seed), plan
            ),
        )

    def _level_of(
        self, rows: Positions, weights: Float | None, plan: Plan | None, alone: bool = False
    ) -> Level:
        plan = self.plans.checked() if plan is None else plan
        predicted = with_fallback(plan, lambda plan: self._quick_predictions(plan, rows, alone))
        moments = Moments.of(predicted, weights, True, copies=True)
        unit = suiting_units(predicted, weights, moments.std)
        return Level(moments.average, np.asarray(moments.std), unit, bool((predicted >= 0).all()))

    def _quick_predictions(self, plan: Plan, rows: Positions, alone: bool = False) -> Float:
        """Predictions up to rounding, from the engine where that costs none: a curve in which nothing moves.

        Where rows count together, `alone` asks about these without the others, as curves over them do.
        """
        if alone and self.model.across_rows:
            return self.model.predict(self.sample.table.take(rows))
        if plan.engine.costs_predictions or not plan.engine.needs_rows or not len(rows):
            return self.predictions(rows)
        question = Question((), spread=True, rows=np.arange(len(rows)))
        (answer,) = plan.engine.answer([question], Block(self.sample.table.take(rows)), self.resources)
        return np.ascontiguousarray(np.asarray(answer.curves).T)


def answers_by(plan: Plan, questions: Sequence[Question], block: Block, resources: Resources) -> list[Answer]:
    """The answers of a plan's engine, which say so where it is not the one that was planned."""
    return noted(plan.engine.answer(questions, block, resources), plan)


def noted(answers: list[Answer], plan: Plan) -> list[Answer]:
    """Answers that say why another engine than the planned one gave them, if one did."""
    if not plan.reason:
        return answers
    note = f"but brute force here, because {plan.reason}"
    return [replace(a, engine=plan.engine.name, notes=(note, *a.notes)) for a in answers]


def what_is_predicted(model: Model) -> str:
    """The model's numbers in a few words: "probability of died, survived", or "prediction" where that is its name too."""
    outputs = ", ".join(map(str, model.outputs[:5])) + (", ..." if len(model.outputs) > 5 else "")
    return model.scale_label if outputs == model.scale_label else f"{model.scale_label} of {outputs}"


def _unpickled(model: Model, rows: Rows, choices: Choices) -> Study:
    return Study(model, rows, choices, PlanCell(model, rows.head, choices.engine, choices.background))
