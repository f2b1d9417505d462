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
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.ask import Ask, Described, Differences, Fold, OwnValues, Part, Placed, noted, what_is_predicted
from icefield.counts import counted
from icefield.data.distribution import Distribution, suiting_units
from icefield.data.features import Axis, Feature, listed_features, resolve
from icefield.data.frame import Table
from icefield.data.grid import specifications
from icefield.data.groups import Groups
from icefield.data.naming import PLAIN, Naming
from icefield.data.whereabouts import Whereabouts
from icefield.dressing import dressed_effect, know_without_grids, rows_used, with_centered
from icefield.effect import Backing, Effect, Predictions, Provenance
from icefield.engines import Answer, Moments, Question, Resources, Sample
from icefield.engines.clusters import clustered_answers
from icefield.engines.crossing import crossed_averages, moving_columns
from icefield.engines.local_sums import PlaceSums, Standing
from icefield.engines.pool import available_processors
from icefield.engines.precision import until_precise
from icefield.errors import EngineError, InputError, complaint
from icefield.memory import Memory
from icefield.models.model import Model
from icefield.plan import Engines, Plan, in_one_moment
from icefield.sampling import CROSSED_ROWS, PREDICTION_ROWS, Chosen, choose_rows, count_copies, in_proportion
from icefield.typing import Background, EngineChoice, Float, Positions

__all__ = ["Ask", "Differences", "OwnValues", "Study"]

Found = TypeVar("Found")
Key = TypeVar("Key", bound=Hashable)


class Study:
    """A model, its data, and the choices that hold for every question.

    Parameters
    ----------
    model : the model, ready to be asked
    table : the rows
    y : observed targets, or None
    weights : one weight per row, or None
    groups : what ``by=`` made of the rows, or None
    clusters : one code per row of those that count as one observation together, or None
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
        clusters: Positions | None = None,
        background: Background = "data",
        engine: EngineChoice = "auto",
        resources: Resources | None = None,
        naming: Naming = PLAIN,
    ) -> None:
        self.model, self.table, self.y, self.weights, self.groups = model, table, y, weights, groups
        self.clusters, self.naming, self.background = clusters, naming, background
        self.engines = Engines(model, table, engine, background)
        self.resources = Resources() if resources is None else resources
        self._begin()
        for name, given in (("weights", weights), ("by", groups), ("cluster", clusters)):
            if given is not None:
                self.needs_rows(f"`{name}`")
        if engine == "trees" or background == "training":
            self.plan  # noqa: B018  (a clear error now beats one at the first question)

    def _begin(self) -> None:
        self._lock, self.memory = threading.RLock(), Memory()
        self.copies = count_copies(self.weights)  # whether weights say how often rows occur
        self._whereabouts = Whereabouts(self.table, self.weights, self.seed)

    def __getstate__(self) -> dict[str, Any]:
        """To another process goes what was chosen; what was found on the way is found again there."""
        kept = "model table y weights groups clusters naming background engines resources"
        return {name: getattr(self, name) for name in kept.split()}

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
    def n_all(self) -> int:
        """Rows that averages are over; of a stream more than are at hand."""
        return self.n_rows

    @property
    def rows_in_words(self) -> str:
        """The rows at hand, for notes."""
        if self.n_rows == self.n_all:
            return f"all {counted(self.n_rows)} rows"
        return f"a seeded sample of {counted(self.n_rows)} of {counted(self.n_all)} rows"

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

    @cached_property
    def _usable(self) -> dict[Any, None]:  # in order, and found at once among thousands
        return dict.fromkeys(self.model.columns)

    def feature(self, asked: Any) -> Feature:
        """One feature a user means."""
        return resolve(asked, self.table, self._usable)

    def feature_in(self, feature: Feature, table: Table) -> Feature:
        """The same feature in another table of the same columns."""
        if table is self.table:
            return feature
        asked = {feature.label: list(feature.columns)} if feature.is_group else feature.label
        return resolve(asked, table, self._usable)

    def described(self, feature: Feature) -> Described:
        """A feature's values over all rows."""
        return Described(feature.column, self.row_weights())

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

    def sample(self, rows: Positions | None = None, sampled: bool = False) -> Sample:
        """These rows (None: every row) with their weights and groups; `sampled` ones are each one draw."""
        codes = None if self.groups is None else self.groups.codes
        n_groups = 0 if self.groups is None else len(self.groups.labels)
        copies = self.copies and not sampled
        if rows is None:
            return Sample(self.table, self.weights, codes, n_groups, copies)
        weights = None if self.weights is None else self.weights[rows]
        return Sample(
            self.table.take(rows), weights, None if codes is None else codes[rows], n_groups, copies
        )

    def row_weights(self, rows: Positions | None = None) -> Float:
        """Weights of these rows (None: every row), 1 each where there are none."""
        if self.weights is None:
            return np.ones(self.n_rows if rows is None else len(rows))
        return self.weights if rows is None else self.weights[rows]

    def distribution(self, features: Sequence[Feature]) -> Distribution:
        """Where the data is, for pictures."""
        return self._whereabouts.distribution(features)

    # --- curves: the recipe --------------------------------------------------------------------

    def begin(self, ask: Ask) -> None:
        """Told what will be asked first, before any row is looked at: a stream reads its rows once for all of it."""

    def effects(self, ask: Ask) -> list[Effect]:
        """The effects asked for, in one pass."""
        return self.effects_together([ask])[0]

    @in_one_moment
    def effects_together(self, asks: Sequence[Ask]) -> list[list[Effect]]:
        """What several asks about the same rows want, in one pass."""
        # 1. The features and their grids.
        sets = [[tuple(self.feature(f) for f in names) for names in ask.sets] for ask in asks]
        every = {tuple(f.columns for f in fs): fs for features in sets for fs in features}.values()
        threads = self.resources.threads or available_processors()
        grids, thresholds = [a.grid for a in asks], self.engines.thresholds
        self._whereabouts.prepare(every, grids, thresholds, threads, partial(know_without_grids, self, asks))
        placed = [self._placed(ask, features) for ask, features in zip(asks, sets)]
        # 2. What is wanted of the curves.
        questions = [self._questions(ask, own) for ask, own in zip(asks, placed)]
        # 3. The rows, the engine's answers, and how far they err.
        where = [(fs, gs) for own in placed for fs, gs, _ in own]
        answers = iter(self._answered(asks[0], where, [one for own in questions for one in own]))
        # 4. Effects, with what pictures need of the data.
        said = rows_used(self, asks[0])
        found = []
        for ask, own, asked in zip(asks, placed, questions):
            found.append([
                dressed_effect(self, ask, fs, gs, (notes, said), question, answer)
                for (fs, gs, notes), question, answer in zip(own, asked, answers)
            ])  # fmt: skip
        return found

    def _placed(self, ask: Ask, sets: Sequence[tuple[Feature, ...]]) -> list[tuple[Any, Any, str]]:
        """Features with their grids, and notes about those."""
        if isinstance(ask.grid, Mapping):
            specifications(ask.grid, [f.label for fs in sets for f in fs])
        return [(fs, *self._grids(fs, ask.grid)) for fs in sets]

    def _questions(self, ask: Ask, placed: Sequence[tuple[Any, Any, str]]) -> list[Question]:
        wanted = validate.probabilities(ask.quantiles)
        questions = [
            Question(
                tuple(f.axis(values, self.table) for f, values in zip(fs, gs)),
                spread=self._usual_spread(len(fs), ask.rows) if ask.spread is None else bool(ask.spread),
                quantiles=wanted,
                rows=ask.kept,
            )
            for fs, gs, _ in placed
        ]
        return with_centered(self, ask, questions)

    def _answered(self, ask: Ask, sets: Sequence[Placed], questions: Sequence[Question]) -> list[Answer]:
        """The engine's answers over the rows asked for, with the standard errors of clusters; against all rows a drawn row
        errs by itself. `sets` are the questions' features and grids."""
        sample = self.sample(ask.rows, sampled=ask.sampled_from > 0)
        if self.clusters is None or ask.sampled_from:
            return self.answers(questions, sample)
        clusters = self.clusters if ask.rows is None else self.clusters[ask.rows]
        return clustered_answers(
            self.answers, questions, sample, clusters, self.resources.memory, at_once=self.model.across_rows
        )

    def to_precision(
        self, features: Sequence[Any], precision: float, *, grid: Any = None, rows: Positions | None = None
    ) -> Effect:
        """Partial dependence over more and more seeded random rows until its standard error is small enough."""
        order = np.random.default_rng(self.seed).permutation(np.arange(self.n_rows) if rows is None else rows)
        found = tuple(self.feature(f) for f in features)
        grids, notes = self._grids(found, grid)
        question = Question(tuple(f.axis(v, self.table) for f, v in zip(found, grids)), spread=True)
        answer, used, said = until_precise(
            lambda chosen: self.answers([question], self.sample(chosen, sampled=True))[0], order, precision
        )
        ask = Ask(sets=[found], rows=used, sampled_from=len(order))
        if len(used) == len(order):  # nothing was left out: its error is that of all rows
            ask = replace(ask, sampled_from=0)
            answer = answer if self.clusters is None else self._answered(ask, [(found, grids)], [question])[0]
        return dressed_effect(self, ask, found, grids, (notes, said), question, answer)

    def _usual_spread(self, n_features: int, rows: Positions | None) -> bool:
        """Spread comes with one feature, and with rows chosen to save time, whose error it states."""
        return self.background == "data" and (n_features == 1 or rows is not None)

    def _grids(self, features: tuple[Feature, ...], grid: Any) -> tuple[tuple[NDArray[Any], ...], str]:
        if isinstance(grid, Mapping):
            grid = {f.label: grid[f.label] for f in features if f.label in grid}
        return self._whereabouts.grids(features, grid, self.engines.thresholds)

    def point_weights(self, features: Sequence[Feature], grid: Sequence[NDArray[Any]]) -> list[Float]:
        """Weight of the data nearest to each grid point: over all rows, then of each group."""
        codes, n_groups = (None, 0) if self.groups is None else (self.groups.codes, len(self.groups.labels))
        return self._whereabouts.point_weights(features, grid, codes, n_groups)

    def blank(
        self,
        kind: str,
        features: Sequence[Feature],
        grid: tuple[NDArray[Any], ...],
        rows: Positions | None = None,
    ) -> Effect:
        """An Effect that knows the model and the data, and waits for its curves."""
        baseline, output_std, unit = self.prediction_moments(rows)
        return Effect(
            kind=kind,
            features=tuple(f.label for f in features),
            grid=grid,
            average=np.zeros((len(self.model.outputs), *(len(values) for values in grid))),
            outputs=self.model.outputs,
            kinds=tuple(f.kind for f in features),
            by=None if self.groups is None else self.groups.name,
            backing=Backing(distribution=self.distribution(features)),
            predictions=Predictions(self.model.scale, self.model.scale_label, baseline, output_std, unit),
            provenance=Provenance(background=self.background, library=self.table.library, naming=self.naming),
        )

    # --- what engines are asked ----------------------------------------------------------------

    def answers(self, questions: Sequence[Question], sample: Sample) -> list[Answer]:
        """The engine's answers, one per question."""

        def ask(plan: Plan, reason: str) -> list[Answer]:
            return noted(plan.engine.answer(questions, sample, self.resources), plan, reason)

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
            if rows is None and plan.engine.additive:
                sample = self.sample()
                walked = plan.engine.own_averages(columns, sample, self.resources)
                if walked is not None:
                    why = f"{self.rows_in_words}: {plan.why}"
                    return collected(walked, OwnValues(why, self.row_weights()))
            wanted = min(CROSSED_ROWS, self.n_rows) if rows is None else rows
            chosen = choose_rows(wanted, self.n_rows, self.seed)
            sample = self.sample(chosen.positions)
            found = plan.engine.own_averages(columns, sample, self.resources)
            if found is None:
                found = crossed_averages(self.model, plan.engine, columns, sample, self.resources)
            gives_all = plan.what_gives_all_rows(self.n_rows, self.model.scale)
            why = f"{chosen.note}; {gives_all}" if chosen.note else ""
            why = why or f"{counted(sample.n_rows)} of {counted(self.n_rows)} rows"
            return collected(found, OwnValues(why, self.row_weights(chosen.positions)))

        def collected(averages: Generator[Float], own: OwnValues) -> Found:
            with closing(averages):  # its threads must not wait until nobody looks at an interrupt any more
                return collect(zip(sets, averages, strict=True), own)

        return self.engines.ask(ask)

    def fold(self, sums: Fold, about: Mapping[str, Any]) -> None:
        """Let sums take in every row once; `about` says what they are of."""
        codes = None if self.groups is None else self.groups.codes
        sums.add(Part(self.table, self.row_weights(), codes))

    def differences(
        self, axes: Sequence[Axis], rows: Positions, steps: Sequence[Positions], table: Table | None = None
    ) -> Differences:
        """What crossing steps of their own changes for rows, given by position in a table, by default the study's.

        Step s of an axis leads from its point s to the next; for two axes it is the mixed difference.
        """

        def ask(plan: Plan, reason: str) -> Differences:
            of = self.table if table is None else table
            found = plan.engine.differences(axes, of, rows, steps, self.resources)
            if found is None:
                self.needs_rows("differences across steps")
                raise EngineError(f"The {plan.engine.name} engine moves no rows.")
            return Differences(found, plan.engine.costs_predictions, plan.engine.name, reason)

        return self.engines.ask(ask)

    def local_sums(self, standing: Standing) -> tuple[PlaceSums | None, Plan, str]:
        """What moving rows to either end of their own steps adds up to, of all axes together; None: ask for each."""
        return self.engines.ask(
            lambda plan, why: (plan.engine.local_sums(standing, self.resources), plan, why)
        )

    # --- what the model itself predicts --------------------------------------------------------

    def predictions(self, rows: Positions | None = None) -> Float:
        """The model's own predictions of rows as they are, ``(rows, outputs)``."""
        from icefield.engines.brute import interruptible

        if rows is None or self.model.across_rows:
            every = interruptible(self.model, self.table)
            return every if rows is None else every[rows]
        return interruptible(self.model, self.table.take(rows))

    def _quick_predictions(self, rows: Positions, alone: bool = False) -> Float:
        """The same up to rounding, from the engine where that costs no predictions: a curve in which nothing moves.

        Where rows count together, `alone` asks about these without the others, as curves over them do.
        """

        def ask(plan: Plan, _: str) -> Float:
            if alone and self.model.across_rows:
                return self.model.predict(self.table.take(rows))
            if plan.engine.costs_predictions or self.background == "training" or not len(rows):
                return self.predictions(rows)
            question = Question((), spread=True, rows=np.arange(len(rows)))
            (answer,) = plan.engine.answer([question], Sample(self.table.take(rows)), self.resources)
            return np.ascontiguousarray(np.asarray(answer.curves).T)

        return self.engines.ask(ask)

    def prediction_moments(self, rows: Positions | None = None) -> tuple[Float, Float, Float | None]:
        """Mean and standard deviation of the model's own predictions, on a seeded sample of rows, and the unit if another.

        Rows chosen because the model is slow are not followed by thousands of others.
        """
        if rows is not None and len(rows) < PREDICTION_ROWS:
            weights = None if self.weights is None else self.weights[rows]
            return self._moments_of_predictions(rows, weights, alone=True)
        with self._lock:
            return self._prediction_sample

    @cached_property
    def _prediction_sample(self) -> tuple[Float, Float, Float | None]:
        return self._moments_of_predictions(
            *in_proportion(PREDICTION_ROWS, self.n_rows, self.weights, self.seed)
        )

    def _moments_of_predictions(
        self, rows: Positions, weights: Float | None, alone: bool = False
    ) -> tuple[Float, Float, Float | None]:
        predicted = self._quick_predictions(rows, alone)
        moments = Moments.of(predicted, weights, True, copies=True)
        return moments.average, np.asarray(moments.std), suiting_units(predicted, weights, moments.std)

    def __repr__(self) -> str:
        return (
            f"Explainer({type(self.model.native).__name__}, {counted(self.n_rows)} rows x {len(self.model.columns)} features, "
            f"{what_is_predicted(self.model)})"
        )
