"""Study: a model, its rows and the choices that hold for every question.

Immutable, and the same class for rows in memory, streamed and distributed: where rows are is the business of `Rows`. The
recipe for effects is `icefield.core.effects.compute`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from icefield.core.cache import Cache
from icefield.core.crossed_rows import moving_columns
from icefield.core.engine import Choices, Plan, PlanCell, training_refusal, with_fallback
from icefield.core.question import Answer, Question, Resources
from icefield.core.rows import Accumulator, Block, Rows
from icefield.data.columns import Column
from icefield.data.features import Feature, feature_column, resolve
from icefield.data.naming import PLAIN, Naming
from icefield.errors import InputError
from icefield.models.model import Model
from icefield.models.pace import interruptible
from icefield.sampling import RowChoice, choose_rows
from icefield.threads import ThreadCrew
from icefield.typing import Background, Float, Positions


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
        study = _planless(model, rows, choices)
        if choices.engine == "trees" or choices.background == "training":
            study.plan  # noqa: B018  (a clear error now beats one at the first question)
        return study

    def __reduce__(self) -> Any:
        """Pickles the choices only; results are computed again in the other process."""
        self.plans.check_model()
        return _planless, (self.model, self.rows, self.choices)

    def __repr__(self) -> str:
        model, rows = type(self.model.native).__name__, self.rows.described(len(self.model.columns))
        return f"Explainer({model}, {rows}, {what_is_predicted(self.model)})"

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
            raise InputError.about("features", "must name at least one feature", (), example)
        found = tuple(self.feature(one) for one in asked)
        moving = moving_columns(found)
        if len(set(moving)) != len(moving):
            raise InputError.about("features", "names the same column twice", list(asked))
        return found

    def column(self, feature: Feature) -> Column:
        """The feature's values in the sample."""
        return self.rows.statistics.column(feature)

    def needs_rows(self, what: str) -> None:
        """Refuse what needs rows where the background is the training data's node weights."""
        if self.background == "training":
            raise training_refusal(what)

    def chosen(self, rows: Any, when_costly: int | None = None) -> RowChoice:
        """The rows of the sample asked for; without any, all of them, or so many where each costs predictions."""
        if rows is None and when_costly is None:
            return RowChoice()  # without a look at the rows: those of a stream may still be unread
        if rows is not None:
            self.rows.check_choice(rows)
        limit = when_costly if when_costly is not None and self.plan.engine.costs_predictions else None
        return choose_rows(rows, self.sample.n_rows, self.seed, limit)

    def answers(self, questions: Sequence[Question], block: Block) -> list[Answer]:
        """The engine's answers about rows together, one per question."""
        return with_fallback(
            self.plans.checked(), lambda plan: answers_by(plan, questions, block, self.resources)
        )

    def predictions(self, rows: Positions | None = None) -> Float:
        """The model's own predictions of rows of the sample as they are, ``(rows, outputs)``."""
        table = self.sample.table
        if rows is None or self.model.across_rows:
            every = interruptible(self.model, table)
            return every if rows is None else every[rows]
        return interruptible(self.model, table.take(rows))


def for_one_call(study: Study) -> Study:
    """The same study for a call of several questions, which checks once that the model is still the same."""
    return replace(study, plans=study.plans.held())


def answers_by(plan: Plan, questions: Sequence[Question], block: Block, resources: Resources) -> list[Answer]:
    """The answers of a plan's engine, which say so where it is not the one that was planned."""
    return noted(plan.engine.answer(questions, block, resources), plan)


def fold(study: Study, accumulator: Accumulator) -> None:
    """Let an accumulator take in every row once: by a pass, or from a sample that holds all of them."""
    if study.rows.resident or not study.rows.is_sampled:
        with ThreadCrew(1) as threads, threads:
            accumulator.add(study.sample, threads)
        return
    study.rows.check_row_by_row(study.model)
    study.rows.fold([accumulator])


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


def _planless(model: Model, rows: Rows, choices: Choices) -> Study:
    return Study(model, rows, choices, PlanCell(model, rows.head, choices.engine, choices.background))
