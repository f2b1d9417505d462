"""A study whose rows are streamed: the same questions, answered over all rows where answers merge.

Curves are averaged over every row, block by block. What needs rows together (regions, support, curves that are kept,
quantiles of curves, pairs in pictures) is asked of a seeded sample drawn in the first pass; its size is
part of every sentence that says how an answer came about.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.ask import Ask, Described, Fold, Placed, noted, what_is_predicted
from icefield.counts import counted
from icefield.data.features import Feature, resolve
from icefield.data.grid import Grid, specifications
from icefield.data.naming import PLAIN, Naming
from icefield.data.whereabouts import Whereabouts
from icefield.effect import Effect
from icefield.engines import Answer, Question, Resources
from icefield.engines.pool import available_processors
from icefield.engines.trees.engine import TreesEngine
from icefield.engines.trees.streamed import StreamedAverages, Weighing
from icefield.errors import InputError, complaint
from icefield.forest import CannotRead
from icefield.memory import Memory
from icefield.models.across_rows import not_row_by_row
from icefield.plan import Engines, Plan
from icefield.sampling import STREAMED_ROWS, Chosen
from icefield.sources.collectors import (
    CountedAnswers,
    Folded,
    MergedAnswers,
    PointWeights,
    Reader,
    Weighed,
    check_some_weight,
)
from icefield.sources.column_survey import Summary
from icefield.sources.exact_quantiles import Narrowing, exact_summaries
from icefield.sources.feature_summaries import Summaries
from icefield.sources.grouping import GroupRule
from icefield.sources.passes import Collector, run_pass
from icefield.sources.sketch import Sketched
from icefield.sources.standing import Standing, is_exact
from icefield.sources.stream import Stream
from icefield.sources.survey import Survey
from icefield.study import Study
from icefield.typing import Background, EngineChoice

if TYPE_CHECKING:
    from icefield.models.model import Model
    from icefield.sources.checkpoint import Checkpoint

Moving = Sequence[Sequence[Sequence[Any]]]  # for each question the columns of each axis
# What the first pass finds; asked for, it is made.
SURVEYED = ("table", "weights", "y", "groups", "_whereabouts")


class StreamedStudy(Study):
    """A model and a stream of rows.

    Parameters
    ----------
    model : the model, ready to be asked
    stream : the rows, with all columns that are needed
    y, weights, by : columns of the stream, or None
    background, engine, resources, naming : as in `Study`
    checkpoint : where long passes write their sums; None for nowhere
    """

    def __init__(
        self,
        model: Model,
        stream: Stream,
        *,
        y: str | None = None,
        weights: str | None = None,
        by: str | None = None,
        background: Background = "data",
        engine: EngineChoice = "auto",
        resources: Resources | None = None,
        naming: Naming = PLAIN,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.model, self.stream, self.background = model, stream, background
        self.naming, self.memory, self.clusters = naming, Memory(), None
        self.resources = Resources() if resources is None else resources
        self._names = {"y": y, "weights": weights, "by": by}
        self._head = stream.head().table
        self.engines = Engines(model, self._head, engine, background)
        self._checkpoint = checkpoint
        self._lock = threading.RLock()
        self._counts: dict[Any, CountedAnswers] = {}  # of the last question that was counted
        if background == "training" and (weights is not None or by is not None):
            self.needs_rows("`weights`" if weights is not None else "`by`")
        if engine == "trees" or background == "training":
            self.engines.plan  # noqa: B018  (a clear error now beats one at the first question)

    def __getstate__(self) -> dict[str, Any]:
        """To another process goes where the rows come from; they are read again there."""
        self.engines.check_model()
        chosen = {"background": self.background, "engine": self.engines.asked, "resources": self.resources}
        rows = (type(self.stream), self.stream.source, self.stream.columns)
        return {
            "model": self.model,
            "rows": rows,
            "choices": {**self._names, **chosen, "naming": self.naming},
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        made, source, columns = state["rows"]
        stream = made(source, columns, state["choices"]["resources"].memory)
        self.__init__(state["model"], stream, **state["choices"])  # type: ignore[misc]

    def __getattr__(self, name: str) -> Any:
        if name not in SURVEYED:
            raise AttributeError(name)
        with self._lock:
            if name not in self.__dict__:
                self._take_up(self._survey)
        return self.__dict__[name]

    @property
    def copies(self) -> bool:  # type: ignore[override]
        """Whether weights say how often rows occur."""
        return self._names["weights"] is None or self._survey.copies

    # --- the first pass ------------------------------------------------------------------------

    @cached_property
    def _survey(self) -> Survey:
        survey, about = self._new_survey()
        self._pass([survey], about)
        return survey

    def _new_survey(self) -> tuple[Survey, dict[str, Any]]:
        """A survey that has seen nothing yet, and what it is of, for checkpoints."""
        described = [*self.model.columns, *(self._names[n] for n in ("by",) if self._names[n] is not None)]
        row_bytes = max(1, self._head.row_bytes)
        rows = int(np.clip(self.resources.memory // 8 // row_bytes, 1, STREAMED_ROWS))
        weights = self._names["weights"]
        survey = Survey(
            self.stream, list(dict.fromkeys(described)), rows, weights, self.seed, self.resources.memory
        )
        return survey, {"survey": described, "weights": weights, "seed": self.seed}

    def _count_at_once(self, ask: Ask) -> None:
        """Survey and count in one pass, where the first pass is still to come: counts need no grid."""
        alone = self._names["weights"] is None and self._names["by"] is None
        if "_survey" in self.__dict__ or not alone or ask.rows is not None or self.background == "training":
            return
        spread = [self._usual_spread(len(s), None) if ask.spread is None else ask.spread for s in ask.sets]
        if any(spread) or not _is_additive(self.engines.plan):
            return
        survey, about = self._new_survey()
        if self._checkpoint is not None and self._checkpoint.knows(about):
            return
        features = [[resolve(f, self._head, self.model.columns) for f in names] for names in ask.sets]
        moving = [[f.columns for f in own] for own in features]
        counting = self._counting(self.engines.plan, moving)
        with suppress(
            CannotRead
        ):  # a value among the rows that the trees do not know: counting is asked for again
            self._pass([survey, counting], {**about, "counted": moving})
            self.__dict__["_survey"] = survey
            self._counts = {_key_of(moving): counting}

    def _take_up(self, survey: Survey) -> None:
        """What the first pass found, as a study has it."""
        table = survey.sample()
        weights = self._names["weights"]
        if weights is not None:
            check_some_weight(survey.largest_weight)
        y = self._names["y"]
        found: dict[str, Any] = {
            "table": table,
            "weights": None if weights is None else validate.weights(weights, table),
            "y": None if y is None else validate.observed(table.column(y).shown(), table.n_rows),
            "groups": None if self._rule is None else self._rule.groups(table),
        }
        drawn = Whereabouts(table, found["weights"], self.seed)
        found["_whereabouts"] = Standing(self._summary, drawn, self.seed)
        self.__dict__.update(found)

    @cached_property
    def _rule(self) -> GroupRule | None:
        by = self._names["by"]
        if by is None:
            return None
        return GroupRule.of(by, *self._summaries.of_column(by))

    def _summary(self, feature: Feature) -> Summary:
        with self._lock:
            return self._summaries.of(feature)

    @cached_property
    def _summaries(self) -> Summaries:
        return Summaries(self._survey, self._names["weights"])

    # --- rows ----------------------------------------------------------------------------------

    @property
    def plan(self) -> Plan:
        """The engine that answers and why, and which rows it is asked about."""
        plan = self.engines.plan
        return replace(plan, why=f"{plan.why}; {self.rows_said}")

    @property
    def n_all(self) -> int:
        return self.n_rows if self.stream.n_rows is None else self.stream.n_rows

    @property
    def rows_said(self) -> str:
        """Which rows stand behind answers, for notes."""
        every, drawn = self.stream.n_rows, self.table.n_rows
        if every is None or every == drawn:
            return f"rows streamed from {self.stream.source.label}"
        return (
            f"curves over all {counted(every)} rows streamed from {self.stream.source.label}, what needs rows together over "
            f"a seeded sample of {counted(drawn)}"
        )

    def chosen(self, rows: Any, when_costly: int | None = None) -> Chosen:
        if rows is not None and not isinstance(rows, (int, np.integer, np.ndarray)):
            raise InputError(
                complaint("rows", "must be a number of rows: the rows of a stream have no positions", rows,
                          "write rows=1000 for a seeded sample")
            )  # fmt: skip
        return super().chosen(rows, when_costly)

    # --- answers -------------------------------------------------------------------------------

    def _answered(self, ask: Ask, sets: Sequence[Placed], questions: Sequence[Question]) -> list[Answer]:
        if ask.rows is not None or self.background == "training":
            return super()._answered(ask, sets, questions)
        standing, reader = self._standing, self._reader
        n_groups = 0 if self._rule is None else len(self._rule.labels)
        placing = [s for s in sets if standing.needs_rows(s[0], _own_grid(ask.grid, s[0]), n_groups)]
        asked = self._described(ask, questions)

        def streamed(plan: Plan, reason: str) -> list[Answer]:
            self._check_row_by_row()
            counted = [i for i, q in enumerate(questions) if _by_counts(plan, q)]
            merged = [i for i in range(len(questions)) if i not in counted]
            own = [questions[i] for i in counted]
            collectors: list[Collector] = []
            places = PointWeights(reader, self.model.columns, placing)
            if placing:
                collectors.append(places)
            moving = [[axis.columns for axis in q.axes] for q in own]
            counts = self._counts.get(_key_of(moving)) if counted else None
            if counted and counts is None:
                counts = self._counting(plan, moving)
                collectors.append(counts)
            # Before any row is read: a value may be none the trees know.
            axes = [] if counts is None else counts.encoded(own)
            asking = MergedAnswers(reader, plan.engine, [questions[i] for i in merged], self.resources)
            if merged:
                collectors.append(asking)
            if collectors:  # counts that are known from another grid need no pass
                only = places.columns if collectors == [places] else None
                self._pass(collectors, {**asked, "engine": plan.engine.name}, only)
            for number, (_, grid) in enumerate(placing):
                standing.keep_placed(grid, places.found(number))
            found = asking.answers()
            if counts is not None:
                self._counts = {_key_of(moving): counts}
                found = [*counts.answers(axes), *found]
            order = np.argsort([*counted, *merged])
            return noted([found[i] for i in order], plan, reason)

        found = self.engines.ask(streamed)
        return self._with_sampled(found, questions)

    def _check_row_by_row(self) -> None:
        if self.model.across_rows:
            raise not_row_by_row(
                self.model, "X", "is streamed block by block", self.stream.source.label,
                "choose rows to ask it about with rows=..., or load the data",
            )  # fmt: skip

    def fold(self, sums: Fold, about: Mapping[str, Any]) -> None:
        if self._survey.is_complete:  # the sample holds every row
            super().fold(sums, about)
            return
        self._check_row_by_row()
        about = {**about, "by": self._names["by"], "weights": self._names["weights"]}
        self._pass([Folded(self._reader, sums)], about)

    def described(self, feature: Feature) -> Described:
        found = self._summary(feature)
        return Described(found.column, found.weights, 0.0 if found.distinct else found.rank_error)

    def _find_quantiles(self, ask: Ask) -> None:
        """The exact quantiles that grids ask for, of all features in one pass."""
        given = (
            ask.grid.values()
            if isinstance(ask.grid, Mapping)
            else ask.grid
            if isinstance(ask.grid, (list, tuple))
            else [ask.grid]
        )
        if not any(map(is_exact, given)):
            return
        wanted: dict[Any, tuple[Feature, int, Grid, Sketched]] = {}
        for names in ask.sets:
            features = [self.feature(name) for name in names]
            specified = specifications(_own_grid(ask.grid, features), [f.label for f in features])
            for feature, own in zip(features, specified):
                if self._standing.lacks_exact(feature, len(features), own):
                    sketch = self._survey.sketched(feature.columns[0])
                    if sketch is not None:
                        wanted[feature.label] = (feature, len(features), own, sketch)
        probabilities = [(sketch, own.probabilities(n)) for _, n, own, sketch in wanted.values()]
        about = {"quantiles": [[sketch.name, p.tolist()] for sketch, p in probabilities]}

        def run(narrowing: Narrowing) -> None:
            self._pass([narrowing], {**about, "brackets": narrowing.about}, narrowing.columns)

        rows, memory = self.stream.n_rows or 0, self.resources.memory
        found = exact_summaries(probabilities, Reader(self._names["weights"]), rows, memory, run)
        for (feature, n_features, own, _), (values, weights) in zip(wanted.values(), found):
            summary = self._survey.exact(feature.columns[0], values, weights)
            self._standing.keep_exact(feature, n_features, own, summary)

    def _with_sampled(self, found: list[Answer], questions: Sequence[Question]) -> list[Answer]:
        """The answers with what does not merge, which the sample gives: quantiles and kept curves."""
        wanting = [i for i, q in enumerate(questions) if q.quantiles or q.rows is not None]
        if not wanting:
            return found
        drawn = self.answers([replace(questions[i], spread=False) for i in wanting], self.sample())
        for i, own in zip(wanting, drawn):
            found[i] = replace(
                found[i], quantiles=own.quantiles, group_quantiles=own.group_quantiles, curves=own.curves
            )
        return found

    def begin(self, ask: Ask) -> None:
        named = [str(f) for names in ask.sets for f in names]
        single = all(len(names) == 1 for names in ask.sets)
        if named and (len(set(named)) == len(named) or not single):  # what is named twice is refused soon
            with self._lock:
                self._count_at_once(ask)

    def effects_together(self, asks: Sequence[Ask]) -> list[list[Effect]]:
        found = []
        for ask in asks:  # each needs a pass of its own anyway, or counts that are known
            self.begin(ask)
            self._find_quantiles(ask)
            found += super().effects_together([ask])
        for effects in found:
            for effect in effects:
                self._standing.forget_placed(effect.grid)
        return found

    def _counting(self, plan: Plan, moving: Moving) -> CountedAnswers:
        """What counts rows for questions that move these columns; the last such counts are kept."""
        weighing = None if self._names["weights"] is None else self._weighing
        n_groups = 0 if self._rule is None else len(self._rule.labels)
        averages = StreamedAverages(
            cast(TreesEngine, plan.engine), moving, self._head, n_groups, weighing, self.resources.memory, self._threads
        )  # fmt: skip
        return CountedAnswers(self._reader, averages)

    @property
    def _standing(self) -> Standing:
        return cast(Standing, self._whereabouts)

    @property
    def _threads(self) -> int:
        return self.resources.threads or available_processors()

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self._names["weights"], self._rule, self.copies)

    @cached_property
    def _weighing(self) -> Weighing:
        weighed = Weighed(self._reader)
        columns = [name for name in (self._names["weights"], self._names["by"]) if name is not None]
        self._pass([weighed], {"weigh": columns}, columns)
        return weighed.weighing

    def _described(self, ask: Ask, questions: Sequence[Question]) -> dict[str, Any]:
        """What is asked, of plain values, so that a checkpoint of something else is known."""
        return {
            "kind": ask.kind,
            "axes": [[[str(n), _digest(v)] for axis in q.axes for n, v in axis.points.items()] for q in questions],
            "spread": [q.spread for q in questions],
            "by": self._names["by"],
            "weights": self._names["weights"],
        }  # fmt: skip

    def _pass(
        self, collectors: Sequence[Collector], question: Any, columns: Sequence[str] | None = None
    ) -> None:
        run_pass(
            self.stream, collectors, self._threads, columns=columns, checkpoint=self._checkpoint, question=question
        )  # fmt: skip

    def __repr__(self) -> str:
        said = "?" if self.stream.n_rows is None else counted(self.stream.n_rows)
        return (
            f"Explainer({type(self.model.native).__name__}, {said} rows x {len(self.model.columns)} features streamed "
            f"from {self.stream.source.label}, {what_is_predicted(self.model)})"
        )


def _is_additive(plan: Plan) -> bool:
    """Whether averages derive from counts."""
    return isinstance(plan.engine, TreesEngine) and plan.engine.additive


def _by_counts(plan: Plan, question: Question) -> bool:
    """Whether an answer derives from counts alone."""
    return _is_additive(plan) and not question.spread


def _key_of(moving: Moving) -> Any:
    return tuple(tuple(tuple(columns) for columns in axes) for axes in moving)


def _own_grid(grid: Any, features: Sequence[Feature]) -> Any:
    """What was asked as the grid of these features."""
    if isinstance(grid, Mapping):
        return {f.label: grid[f.label] for f in features if f.label in grid}
    return grid


def _digest(values: NDArray[Any]) -> str:
    content = repr(values.tolist()) if values.dtype == object else values.tobytes().hex()
    return hashlib.sha256(f"{values.dtype} {content}".encode()).hexdigest()[:16]
