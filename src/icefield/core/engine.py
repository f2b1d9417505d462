"""Engines: what every one of them can be asked, which one answers, and why.

An engine is asked by this protocol only. It never chooses the grid, the scale or the rows, so every engine gives the
same number for the same question; only the time differs. ``engine="auto"`` takes the first engine of the registry
that offers itself for the model: trees where the model was read as trees exactly and predicts as the model does, else brute
force. Every choice comes with a sentence for `Effect.why`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from icefield.core.question import Answer, Moments, Question, QuestionAccumulator, Resources
from icefield.errors import EngineError
from icefield.models.fingerprint import Fingerprint
from icefield.typing import Background, EngineChoice, Float, Positions

if TYPE_CHECKING:
    from icefield.core.placement import Placement, PlaceSums
    from icefield.core.question import Axes, ColumnSets, Moves, Moving
    from icefield.core.rows import Block, Rows
    from icefield.core.step_extremes import StepExtremes
    from icefield.data.features import Feature
    from icefield.data.frame import Table
    from icefield.data.naming import Naming
    from icefield.forest import TreeModel
    from icefield.models.model import Model

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Context:
    """What an accumulator is made for: the rows that it will see, and what may be used."""

    rows: Rows
    resources: Resources


class Engine(Protocol):
    """Anything that answers questions about one model on one scale.

    What an engine has no way to give, it declines with None, as what is not written out for it does here.
    """

    name: str  # what `Effect.engine` says, and its name in the registry
    additive: bool  # whether the asked scale is a sum over what the engine reads of the model
    costs_predictions: bool  # whether rows cost predictions of the model, so that a sample may have to do
    needs_rows: bool  # whether it averages over rows; the training background does not

    @property
    def parts(self) -> Mapping[str, object]:
        """Heavy objects, by name, that every worker builds itself, so that they are not sent."""

    def answer(self, questions: Sequence[Question], block: Block, resources: Resources) -> list[Answer]:
        """One answer per question, in their order, over rows together."""

    def accumulator(self, moving: Moving, context: Context) -> QuestionAccumulator | None:
        """Counts over blocks of rows from which averages derive, whatever the grids.

        `moving` are, for each question, the columns of each of its axes. None where every block must be asked for itself.
        """  # fmt: skip
        return None

    def own_averages(self, sets: ColumnSets, block: Block, resources: Resources) -> Generator[Float] | None:
        """Partial dependence of sets of columns at every row's own values, ``(outputs, rows)`` each, in order.

        None where that takes more than a walk over the rows.
        """
        return None

    def differences(
        self, axes: Axes, table: Table, rows: Positions, steps: Sequence[Positions], resources: Resources
    ) -> Float | None:
        """Mixed differences ``(rows, outputs)`` of the predictions of rows, each across steps of its own.

        A step leads from one of an axis's points to the next; ``steps[a]`` are the rows' own on axis a.
        """
        return None

    def moved_means(self, moves: Moves, block: Block, resources: Resources) -> list[list[Moments]] | None:
        """Mean predictions ``(outputs,)`` of rows whose columns take other values, for each of some moves: over all rows, then by group.

        An axis of a move has a value for every row, or one for all; a move without axes leaves rows as they are. None where
        each move takes predictions of its own.
        """
        return None

    def moved_predictions(self, moves: Moves, table: Table, resources: Resources) -> Float | None:
        """Every row's predictions after each of such moves, ``(moves, rows, outputs)``; None likewise."""
        return None

    def local_sums(self, standing: Placement, resources: Resources) -> PlaceSums | None:
        """Sums of the changes when rows move to the neighbouring points, for all axes together.

        None where that takes a walk for every axis.
        """
        return None

    def step_extremes(
        self, axes: Axes, numbers: Sequence[int], block: Block, resources: Resources
    ) -> Generator[StepExtremes] | None:
        """How every row's curve steps along each axis, whose points rise (missing ones are last), block by block.

        None where that takes the curves themselves.
        """
        return None

    def thresholds(self, column: Any, table: Table) -> Float | None:
        """The values of a column after which the model itself changes; None for a model that is not read."""
        return None

    def steps(self, table: Table) -> Mapping[Any, tuple[Float, Float]]:
        """For columns that it tells apart by thresholds, these and about how far it moves at each; empty for a model that is not read."""
        return {}


# --- the registry ----------------------------------------------------------------------------------------


class TreeReading:
    """The model as trees, read and checked against its own predictions of a table once, on first use."""

    def __init__(self, model: Model, table: Table) -> None:
        self.model, self.table = model, table
        self.asked: EngineChoice = "auto"  # as `choose` was asked
        self.checked: list[tuple[Table, Float]] = []  # rows that the model predicted meanwhile, and what

    @cached_property
    def _found(self) -> tuple[TreeModel | None, str]:
        from icefield.models.tree_reading import read_trees

        return read_trees(self.model, self.table, self.checked)

    @property
    def trees(self) -> TreeModel | None:
        return self._found[0]

    @property
    def reason(self) -> str:
        """Why there are no trees."""
        return self._found[1]


@dataclass(frozen=True, eq=False)
class Offer:
    """An engine for a model, and how it answers; without an engine, why there is none."""

    engine: Engine | None
    why: str
    trees: TreeModel | None = None


@dataclass(frozen=True, eq=False)
class EngineKind:
    """A line of the registry.

    Attributes
    ----------
    name : as in ``engine=`` and `Engine.name`
    background : the ``background=`` it serves
    made_by : ``"module:function"`` of a function that takes a `TreeReading` and returns an `Offer`
    last : answers for any model, where no other engine does
    """

    name: str
    background: Background
    made_by: str
    last: bool = False

    def offer(self, reading: TreeReading) -> Offer:
        module, function = self.made_by.split(":")
        offer: Offer = getattr(import_module(module), function)(reading)
        return offer


# In the order in which they are tried.
ENGINES = (
    EngineKind("training", "training", "icefield.engines.training.engine:offer"),
    EngineKind("gpu", "data", "icefield.engines.gpu.engine:offer"),
    EngineKind("trees", "data", "icefield.engines.trees.engine:offer"),
    EngineKind("brute", "data", "icefield.engines.brute.engine:offer", last=True),
)


# --- the plan --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Choices:
    """The choices that hold for every question, as in `Explainer`."""

    background: Background = "data"
    engine: EngineChoice = "auto"
    resources: Resources = field(default_factory=Resources)
    naming: Naming | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """The engine that answers and why.

    Attributes
    ----------
    engine, why : the engine, and the reason in a sentence
    trees : the model as trees, where it was read as such
    reason : why this is brute force in place of the engine that was planned; empty for the planned one
    """

    travels_as = "plan"

    engine: Engine
    why: str
    trees: TreeModel | None = None
    reason: str = ""
    _reading: TreeReading | None = None
    _asked: EngineChoice = "auto"
    _steps: dict[str, Mapping[Any, tuple[Float, Float]]] = field(default_factory=dict, repr=False)

    def fallback(self, reason: str) -> Plan:
        """Brute force, for a value that the planned engine does not know; an error where that engine was requested by name."""
        if self._reading is None or not self.engine.needs_rows:
            raise _no_engine(self._asked, "training", reason)
        return replace(_last_resort(self._reading, self._asked, reason), reason=reason)

    def thresholds(self, feature: Feature, table: Table) -> Float:
        """Where the model itself changes along a feature, for ``Grid("thresholds")``."""
        columns = table.names if self._reading is None else self._reading.model.columns
        found = self.engine.thresholds(feature.columns[0], table.select(columns))
        if found is None:
            raise EngineError(
                f"Grid('thresholds') needs a model read as trees: {self.why}. Hint: use Grid('quantile')."
            )
        return found

    def steps(self, table: Table) -> Mapping[Any, tuple[Float, Float]]:
        """By column, where the model moves along it and about how far, for ``Grid("auto")``; others are not known."""
        if not self._steps:
            columns = table.names if self._reading is None else self._reading.model.columns
            self._steps["all"] = self.engine.steps(table.select(columns))
        return self._steps["all"]

    def what_gives_all_rows(self, n_rows: int, scale: str) -> str:
        """What to ask for where averages at rows' own values were taken at a sample of them."""
        crossed = f"rows={n_rows} evaluates at all rows, each crossed with each"
        if self.engine.costs_predictions:
            return f"all rows at once need a model read as trees ({self.why}); {crossed}"
        if not self.engine.additive and scale == "response":
            return f'all rows at once need a scale that is additive over the trees: scale="raw"; {crossed}'
        return crossed


def choose(reading: TreeReading, asked: EngineChoice = "auto", background: Background = "data") -> Plan:
    """The first engine of the registry that offers itself; `asked` may name one."""
    if asked == "brute":
        return _last_resort(reading, asked, "engine='brute' was asked for", background)
    reason, reading.asked = "", asked
    named = any(kind.name == asked and kind.background == background for kind in ENGINES)
    for kind in ENGINES:
        if kind.background != background or kind.last or (named and kind.name != asked):
            continue
        offer = kind.offer(reading)
        if offer.engine is not None:
            why = _sentence(offer.why, reading.model)
            return Plan(offer.engine, why, offer.trees, _reading=reading, _asked=asked)
        reason = offer.why
    return _last_resort(reading, asked, reason, background)


def _last_resort(
    reading: TreeReading, asked: EngineChoice, reason: str, background: Background = "data"
) -> Plan:
    """Brute force, with the reason why no faster engine can be used."""
    kind = next((k for k in ENGINES if k.last and k.background == background), None)
    if kind is None or asked not in ("auto", kind.name):
        raise _no_engine(asked, background, reason)
    offer = kind.offer(reading)
    if offer.engine is None:
        raise EngineError(offer.why)
    why = reason if asked == kind.name else f"{offer.why}, because {reason}"
    return Plan(offer.engine, _sentence(why, reading.model), _reading=reading, _asked=asked)


def _no_engine(asked: EngineChoice, background: Background, reason: str) -> EngineError:
    if background == "training":
        return EngineError(
            f"background='training' needs a model read as trees: {reason}. Hint: write background='data'."
        )
    return EngineError.saying(
        f"engine={asked!r} cannot be used for this model: {reason}.", "engine='auto' uses brute force here"
    )


def _sentence(why: str, model: Model) -> str:
    """The reason and what else there is to know, each once: a pipeline may be the reason and have a note."""
    return "; ".join([why, *(note for note in model.notes if note not in why)])


def training_refusal(what: str) -> EngineError:
    """The error for something that needs rows, with a background that has none (the training data's node weights)."""
    return EngineError(
        f"background='training' averages with the model's own training counts, not over rows: {what} cannot be given. "
        "Hint: write background='data'."
    )


class PlanCell:
    """The plan for a model, made at the first question, and the check that the model is still the one it was made for."""

    def __init__(
        self, model: Model, table: Table, asked: EngineChoice = "auto", background: Background = "data"
    ) -> None:
        self.model, self.table, self.asked, self.background = model, table, asked, background
        self._lock = threading.RLock()
        self._plan: Plan | None = None
        self._fingerprint = Fingerprint(model, table)
        self._is_held = False

    @property
    def plan(self) -> Plan:
        """The plan; the model is checked only where it is made."""
        with self._lock:
            if self._plan is None:
                self._fingerprint.still_holds()
                reading = TreeReading(self.model, self.table)
                self._plan = choose(reading, self.asked, self.background)
                self._fingerprint.settle(*reading.checked)
            return self._plan

    def checked(self) -> Plan:
        """The plan, once the model was found to be the one it was made for: called once per question."""
        if self._plan is not None and not self._is_held:  # making one checks by itself
            self.check_model()
        return self.plan

    def held(self) -> PlanCell:
        """The same for several questions of one call: the model is checked now, and not with each of them.

        Not where the model is asked itself, which could be another one from one question to the next.
        """
        with self._lock:
            is_known = self._plan is not None
            if self.plan.engine.costs_predictions:
                return self
            if is_known:  # making one checks by itself
                self.check_model()
            same = copy(self)
            same._plan, same._is_held = self.plan, True  # noqa: SLF001
            return same

    def check_model(self) -> None:
        """An error where the model has changed since it was read; what is cheap to read is read again."""
        with self._lock:
            if not self._fingerprint.still_holds():
                self._plan = None
            self._fingerprint.settle()


def with_fallback(plan: Plan, ask: Callable[[Plan], Found]) -> Found:
    """What a question finds by the plan; where the engine meets a value it does not know, by brute force.

    The exception holds for one question: the next one may do without that value.
    """
    from icefield.forest import CannotRead

    try:
        return ask(plan)
    except CannotRead as reason:
        return ask(plan.fallback(str(reason)))
