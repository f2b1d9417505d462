"""Study: a model, its data and the choices that hold, and all that is ever asked of them together.

The core of the house. The `Explainer` a user holds is a facade over a Study; statistics, the report and the
facade itself ask it for effects, averages at rows' own values, differences across steps and the model's own
predictions. Here, and only here, is decided which engine answers, what happens when it cannot, and which
rows stand for all. The recipe for curves reads top to bottom in `Study.effects`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.data.distribution import Distribution
from icefield.data.features import Axis, Feature, listed_features, resolve
from icefield.data.frame import Table
from icefield.data.grid import specifications, whole_steps
from icefield.data.groups import Groups
from icefield.data.naming import PLAIN, Naming
from icefield.data.row_values import RowValues
from icefield.data.whereabouts import Whereabouts
from icefield.effect import Backing, Effect, KeptCurves, Predictions, Provenance, Spread
from icefield.engines import Answer, Moments, Question, Resources, Sample
from icefield.engines.brute import interruptible
from icefield.engines.crossing import crossed_averages, moving_columns
from icefield.engines.precision import until_precise
from icefield.errors import EngineError, InputError, complaint
from icefield.memory import Memory
from icefield.models.model import Model
from icefield.plan import Engines, Plan
from icefield.sampling import CROSSED_ROWS, PREDICTION_ROWS, Chosen, choose_rows, in_proportion
from icefield.typing import Background, EngineChoice, Float, Positions

Found = TypeVar("Found")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, kw_only=True, eq=False)
class Ask:
    """Sets of features whose curves are wanted, and what is wanted of them.

    Attributes
    ----------
    sets : the features of each effect, as a user names them
    kind : ``"pd"`` or ``"ice"``
    grid : a `Grid`, a number of points or values, as in `Explainer.partial_dependence`
    spread : standard deviation and standard error too; None: as usual for the number of features
    quantiles : probabilities of the curves' quantiles
    rows : positions of the rows averaged over; None: every row
    kept : places among those rows whose own curves are kept
    kept_weights : what the kept curves count for; None: their rows' weights
    """

    sets: Sequence[tuple[Any, ...]]
    kind: str = "pd"
    grid: Any = None
    spread: bool | None = None
    quantiles: Sequence[float] | None = None
    rows: Positions | None = None
    kept: Positions | None = None
    kept_weights: Float | None = None


@dataclass(frozen=True, eq=False)
class OwnValues:
    """At which rows averages were taken: why these, and their weights."""

    why: str
    weights: Float


@dataclass(frozen=True, eq=False)
class Differences:
    """What crossing steps changes, ``(rows, outputs)``, by which engine, and why not by the planned one."""

    values: Float
    costs_predictions: bool
    engine: str
    reason: str


class Study:
    """A model, its data, and the choices that hold for every question.

    Parameters
    ----------
    model : the model, ready to be asked
    table : the rows
    y : observed targets, or None
    weights : one weight per row, or None
    groups : what ``by=`` made of the rows, or None
    background, engine, resources : as in `Explainer`
    naming : what columns, levels and the target are called
    """

    def __init__(
        self,
        model: Model,
        table: Table,
        *,
        y: NDArray[Any] | None = None,
        weights: Float | None = None,
        groups: Groups | None = None,
        background: Background = "data",
        engine: EngineChoice = "auto",
        resources: Resources | None = None,
        naming: Naming = PLAIN,
    ) -> None:
        self.model, self.table, self.y, self.weights, self.groups = model, table, y, weights, groups
        self.naming, self.background = naming, background
        self.engines = Engines(model, table, engine, background)
        self.resources = Resources() if resources is None else resources
        self._begin()
        if background == "training" and (weights is not None or groups is not None):
            self.needs_rows("`weights`" if weights is not None else "`by`")
        if engine == "trees" or background == "training":
            self.plan  # noqa: B018  (a clear error now beats one at the first question)

    def _begin(self) -> None:
        self._lock, self.memory = threading.RLock(), Memory()
        self._whereabouts = Whereabouts(self.table, self.weights, self.seed)

    def __getstate__(self) -> dict[str, Any]:
        """To another process goes what was chosen; what was found on the way is found again there."""
        kept = ("model", "table", "y", "weights", "groups", "naming", "background", "engines", "resources")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    @property
    def seed(self) -> int:
        return self.resources.seed

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @property
    def plan(self) -> Plan:
        """The engine that answers and why; chosen at the first question."""
        return self.engines.plan

    @property
    def how(self) -> str:
        """The plan in a sentence, for notes."""
        return f"{self.plan.engine.name} engine: {self.plan.why}"

    # --- features and rows ---------------------------------------------------------------------

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

    def feature(self, asked: Any) -> Feature:
        """One feature a user means."""
        return resolve(asked, self.table, self.model.columns)

    def listed(self, features: Iterable[Any] | None, least: int = 1) -> list[Any]:
        """The features a table is about, one or several as given; all of the model's by default."""
        return listed_features(features, self.model.columns, least)

    def needs_rows(self, what: str) -> None:
        """Refuse what the training background, which looks at no row, cannot give."""
        if self.background == "training":
            from icefield.engines.training import refusal

            raise refusal(what)

    def chosen(self, rows: Any, when_costly: int | None = None) -> Chosen:
        """The rows asked for; without any, all of them, or so many where each costs predictions."""
        limit = when_costly if when_costly is not None and self.plan.engine.costs_predictions else None
        return choose_rows(rows, self.n_rows, self.seed, limit)

    def sample(self, rows: Positions | None = None) -> Sample:
        """These rows (None: every row) with their weights and groups."""
        codes = None if self.groups is None else self.groups.codes
        n_groups = 0 if self.groups is None else len(self.groups.labels)
        if rows is None:
            return Sample(self.table, self.weights, codes, n_groups)
        weights = None if self.weights is None else self.weights[rows]
        return Sample(self.table.take(rows), weights, None if codes is None else codes[rows], n_groups)

    def row_weights(self, rows: Positions | None = None) -> Float:
        """Weights of these rows (None: every row), 1 each where there are none."""
        if self.weights is None:
            return np.ones(self.n_rows if rows is None else len(rows))
        return self.weights if rows is None else self.weights[rows]

    def distribution(self, features: Sequence[Feature]) -> Distribution:
        """Where the data is, for pictures."""
        return self._whereabouts.distribution(features)

    # --- curves: the recipe --------------------------------------------------------------------

    def effects(self, ask: Ask) -> list[Effect]:
        """The effects asked for, in one pass."""
        # 1. The features and their grids.
        features = [tuple(self.feature(f) for f in names) for names in ask.sets]
        if isinstance(ask.grid, Mapping):
            specifications(ask.grid, [f.label for fs in features for f in fs])
        grids = [self._grids(fs, ask.grid) for fs in features]
        # 2. What is wanted of the curves.
        wanted = validate.probabilities(ask.quantiles)
        questions = [
            Question(
                tuple(f.axis(values, self.table) for f, values in zip(fs, gs)),
                spread=self._usual_spread(len(fs), ask.rows) if ask.spread is None else bool(ask.spread),
                quantiles=wanted,
                rows=ask.kept,
            )
            for fs, (gs, _) in zip(features, grids)
        ]
        # 3. The rows, and the engine's answers.
        answers = self.answers(questions, self.sample(ask.rows))
        # 4. Effects, with what pictures need of the data.
        said = "" if ask.rows is None else f"averaged over {len(ask.rows):,} of {self.n_rows:,} rows"
        dressed = [
            self._dressed(ask, fs, gs, (notes, said), question, answer)
            for fs, (gs, notes), question, answer in zip(features, grids, questions, answers)
        ]
        return [replace(effect, steps=True) for effect in dressed] if whole_steps(ask.grid) else dressed

    def to_precision(
        self, features: Sequence[Any], precision: float, *, grid: Any = None, rows: Positions | None = None
    ) -> Effect:
        """Partial dependence over more and more seeded random rows until its standard error is small enough."""
        if self.model.across_rows:
            raise InputError(
                complaint("precision", "adds rows call by call, and this model looks across the rows of a call", precision,
                          "choose the rows with rows=...")
            )  # fmt: skip
        order = np.random.default_rng(self.seed).permutation(np.arange(self.n_rows) if rows is None else rows)
        found = tuple(self.feature(f) for f in features)
        grids, notes = self._grids(found, grid)
        question = Question(tuple(f.axis(v, self.table) for f, v in zip(found, grids)), spread=True)
        answer, used, said = until_precise(
            lambda chosen: self.answers([question], self.sample(chosen))[0], order, precision
        )
        return self._dressed(Ask(sets=[found], rows=used), found, grids, (notes, said), question, answer)

    def _usual_spread(self, n_features: int, rows: Positions | None) -> bool:
        """Spread comes with one feature, and with rows chosen to save time, whose error it states."""
        return self.background == "data" and (n_features == 1 or rows is not None)

    def _grids(self, features: tuple[Feature, ...], grid: Any) -> tuple[tuple[NDArray[Any], ...], str]:
        if isinstance(grid, Mapping):
            grid = {f.label: grid[f.label] for f in features if f.label in grid}
        return self._whereabouts.grids(features, grid, self.engines.thresholds)

    def _dressed(
        self,
        ask: Ask,
        features: tuple[Feature, ...],
        grid: tuple[NDArray[Any], ...],
        notes: Sequence[str],
        question: Question,
        answer: Answer,
    ) -> Effect:
        """An engine's answer as an Effect, with what pictures need of the data."""
        codes, labels = (None, ()) if self.groups is None else (self.groups.codes, self.groups.labels)
        weights = self._whereabouts.point_weights(features, grid, codes, len(labels))
        blank = self.blank(ask.kind, features, grid, rows=ask.rows)
        found = replace(
            blank.provenance,
            engine=answer.engine or self.plan.engine.name,
            why="; ".join(part for part in (self.plan.why, *notes, *answer.notes) if part),
        )

        def filled(moments: Moments, quantiles: Float | None, weight: Float) -> Effect:
            asked = None if quantiles is None else dict(zip(question.quantiles, quantiles))
            return replace(
                blank,
                average=moments.average,
                spread=Spread(moments.std, moments.se, asked),
                backing=replace(blank.backing, weight=weight),
                provenance=replace(found, n_rows=moments.count),
            )

        own_quantiles = answer.group_quantiles or (None,) * len(labels)
        groups = {
            label: filled(moments, own, weight)
            for label, moments, own, weight in zip(labels, answer.groups, own_quantiles, weights[1:])
        }
        effect = filled(answer.total, answer.quantiles, weights[0])
        others = tuple(c for c in self.model.columns if not any(c in f.columns for f in features))
        return replace(
            effect, groups=groups, kept=self._kept(ask, answer),
            provenance=replace(effect.provenance, others=others),
        )  # fmt: skip

    def _kept(self, ask: Ask, answer: Answer) -> KeptCurves | None:
        """The curves an answer kept, with what tells their rows apart."""
        if ask.kept is None:
            return None
        rows = ask.kept if ask.rows is None else ask.rows[ask.kept]
        weights = ask.kept_weights
        if weights is None and self.weights is not None:
            weights = self.weights[rows]
        return KeptCurves(answer.curves, rows, RowValues(self.table, rows), weights)

    def blank(
        self,
        kind: str,
        features: Sequence[Feature],
        grid: tuple[NDArray[Any], ...],
        rows: Positions | None = None,
    ) -> Effect:
        """An Effect that knows the model and the data, and waits for its curves."""
        baseline, output_std = self.prediction_moments(rows)
        return Effect(
            kind=kind,
            features=tuple(f.label for f in features),
            grid=grid,
            average=np.zeros((len(self.model.outputs), *(len(values) for values in grid))),
            outputs=self.model.outputs,
            kinds=tuple(f.kind for f in features),
            by=None if self.groups is None else self.groups.name,
            backing=Backing(distribution=self.distribution(features)),
            predictions=Predictions(self.model.scale, self.model.scale_label, baseline, output_std),
            provenance=Provenance(background=self.background, library=self.table.library, naming=self.naming),
        )

    # --- what engines are asked ----------------------------------------------------------------

    def answers(self, questions: Sequence[Question], sample: Sample) -> list[Answer]:
        """The engine's answers, one per question."""

        def ask(plan: Plan, reason: str) -> list[Answer]:
            found = plan.engine.answer(questions, sample, self.resources)
            if not reason:
                return found
            note = f"but brute force here, because {reason}"
            return [replace(a, engine=plan.engine.name, notes=(note, *a.notes)) for a in found]

        return self.engines.ask(ask)

    def own_averages(
        self,
        sets: Mapping[Key, Sequence[Feature]],
        rows: Any,
        collect: Callable[[Iterator[tuple[Key, Float]], OwnValues], Found],
    ) -> Found:
        """Partial dependence of sets of features at rows' own values.

        `collect` is handed the sets' names, each with its array ``(outputs, rows)``, which is the caller's to
        change, and which rows these are: all where the engine gets them in one walk, else a seeded sample
        crossed with itself. It may be called a second time, for brute force, if the first could not be finished.
        """
        columns = [moving_columns(features) for features in sets.values()]

        def ask(plan: Plan, _: str) -> Found:
            if rows is None:
                sample = self.sample()
                walked = plan.engine.own_averages(columns, sample, self.resources)
                if walked is not None:
                    why = f"all {self.n_rows:,} rows: {plan.why}"
                    return collected(walked, OwnValues(why, self.row_weights()))
            wanted = min(CROSSED_ROWS, self.n_rows) if rows is None else rows
            chosen = choose_rows(wanted, self.n_rows, self.seed)
            sample = self.sample(chosen.positions)
            found = plan.engine.own_averages(columns, sample, self.resources)
            if found is None:
                found = crossed_averages(self.model, plan.engine, columns, sample, self.resources)
            why = f"{chosen.note}; {self._what_gives_all_rows(plan)}" if chosen.note else ""
            why = why or f"{sample.n_rows:,} of {self.n_rows:,} rows"
            return collected(found, OwnValues(why, self.row_weights(chosen.positions)))

        def collected(averages: Generator[Float], own: OwnValues) -> Found:
            with closing(averages):  # its threads must not wait until nobody looks at an interrupt any more
                return collect(zip(sets, averages, strict=True), own)

        return self.engines.ask(ask)

    def _what_gives_all_rows(self, plan: Plan) -> str:
        crossed = f"rows={self.n_rows} evaluates at all rows, each crossed with each"
        if plan.engine.costs_predictions:
            return f"all rows at once need a model read as trees ({plan.why}); {crossed}"
        if not plan.engine.additive and self.model.scale == "response":
            return f'all rows at once need a scale that is additive over the trees: scale="raw"; {crossed}'
        return crossed

    def differences(self, axes: Sequence[Axis], rows: Positions, steps: Sequence[Positions]) -> Differences:
        """What crossing steps of their own changes for rows, given by position.

        Step s of an axis leads from its point s to the next; for two axes it is the mixed difference.
        """

        def ask(plan: Plan, reason: str) -> Differences:
            found = plan.engine.differences(axes, self.table, rows, steps, self.resources)
            if found is None:
                self.needs_rows("differences across steps")
                raise EngineError(f"The {plan.engine.name} engine moves no rows.")
            return Differences(found, plan.engine.costs_predictions, plan.engine.name, reason)

        return self.engines.ask(ask)

    # --- what the model itself predicts --------------------------------------------------------

    def predictions(self, rows: Positions | None = None) -> Float:
        """The model's own predictions of rows as they are, ``(rows, outputs)``."""
        if rows is None or self.model.across_rows:
            every = interruptible(self.model, self.table)
            return every if rows is None else every[rows]
        return interruptible(self.model, self.table.take(rows))

    def prediction_moments(self, rows: Positions | None = None) -> tuple[Float, Float]:
        """Mean and standard deviation of the model's own predictions, on a seeded sample of rows.

        Rows chosen because the model is slow are not followed by thousands of others.
        """
        if rows is not None and len(rows) < PREDICTION_ROWS:
            return self._moments_of_predictions(rows, None if self.weights is None else self.weights[rows])
        with self._lock:
            return self._prediction_sample

    @cached_property
    def _prediction_sample(self) -> tuple[Float, Float]:
        drawn = in_proportion(PREDICTION_ROWS, self.n_rows, self.weights, self.seed)
        return self._moments_of_predictions(*drawn)

    def _moments_of_predictions(self, rows: Positions, weights: Float | None) -> tuple[Float, Float]:
        moments = Moments.of(self.predictions(rows), weights, True)
        return moments.average, np.asarray(moments.std)

    def __repr__(self) -> str:
        kind = type(self.model.native).__name__
        return (
            f"Explainer({kind}, {self.n_rows:,} rows x {len(self.model.columns)} features, "
            f"{self.model.scale_label} of {', '.join(map(str, self.model.outputs[:5]))})"
        )
