"""The plan: which engine answers, and why.

``engine="auto"`` may only pick a faster way to the same number, so the tree engine is used
when the model was read as trees exactly and its predictions agree with the model's own on the
caller's rows. Every choice comes with a sentence for `Effect.why`.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from icefield.engines import Engine, Resources
from icefield.errors import EngineError, Setting, statement, worded
from icefield.models.fingerprint import Fingerprint
from icefield.typing import Background, EngineChoice, Float, Scale

if TYPE_CHECKING:
    from icefield.data.features import Feature
    from icefield.data.frame import Table
    from icefield.data.naming import Naming
    from icefield.forest import TreeModel
    from icefield.models.model import Model


Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Plan:
    """The chosen engine, the reason, and the model as trees where it was read as such."""

    engine: Engine
    why: str
    trees: TreeModel | None = None

    def what_gives_all_rows(self, n_rows: int, scale: str) -> str:
        """What to ask for where averages at rows' own values were taken at a sample of them."""
        crossed = f"rows={n_rows} evaluates at all rows, each crossed with each"
        if self.engine.costs_predictions:
            return f"all rows at once need a model read as trees ({self.why}); {crossed}"
        if not self.engine.additive and scale == "response":
            return f'all rows at once need a scale that is additive over the trees: scale="raw"; {crossed}'
        return crossed


@dataclass(frozen=True, eq=False)
class Settings:
    """The choices that hold for every question, as in `Explainer`."""

    target: Any
    scale: Scale
    background: Background
    engine: EngineChoice
    resources: Resources
    naming: Callable[[Table], Naming]
    row_by_row: bool = False


class ReadingWarning(UserWarning):
    """A model was read as trees, but they do not predict as the model does; brute force is used."""


class _Moment(threading.local):
    """How deep a thread is in one question, and whether the model was checked for it."""

    depth = 0
    is_checked = False


class Engines:
    """The engine planned for a model and its rows, and brute force where it turns out not to know a value.

    Parameters
    ----------
    model, table : what is asked, and about which rows
    asked : ``"auto"``, ``"trees"`` or ``"brute"``
    background : ``"data"`` or ``"training"``
    """

    def __init__(
        self, model: Model, table: Table, asked: EngineChoice = "auto", background: Background = "data"
    ) -> None:
        self.model, self.table, self.asked, self.background = model, table, asked, background
        self._lock = threading.RLock()
        self._plan: Plan | None = None
        self._fingerprint = Fingerprint(model, table)
        self._moment = _Moment()

    def __getstate__(self) -> dict[str, Any]:
        """To another process goes what is asked for; what was read is read again there."""
        self.check_model()
        return {name: getattr(self, name) for name in ("model", "table", "asked", "background")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @property
    def plan(self) -> Plan:
        """The plan, made at the first question."""
        with self._lock:
            if self._plan is None:
                self.check_model()
                self._plan = choose(self.model, self.table, self.asked, self.background)
            return self._plan

    def check_model(self) -> None:
        """An error where the model is no longer the one that was read; what is cheap to read again, is."""
        if self._moment.is_checked:
            return
        with self._lock:
            if not self._fingerprint.still_holds():
                self._plan = None
        self._moment.is_checked = self._moment.depth > 0

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Inside, what this thread asks is one question: the model is checked at its first part, and not at each."""
        moment = self._moment
        moment.depth += 1
        try:
            yield
        finally:
            moment.depth -= 1
            if moment.depth == 0:
                moment.is_checked = False

    def ask(self, question: Callable[[Plan, str], Found]) -> Found:
        """What a question finds by the plan; where the trees cannot read a value, by brute force.

        The question is handed the plan that holds for it, and why that is not the one made at first. The
        exception holds for one question: the next one may do without that value.
        """
        from icefield.forest import CannotRead

        if self._plan is not None:  # making one checks by itself
            self.check_model()
        try:
            return question(self.plan, "")
        except CannotRead as reason:
            return question(without_trees(self.model, str(reason), self.asked, self.background), str(reason))

    def thresholds(self, feature: Feature) -> Float:
        """Where the model itself changes along a feature, for ``Grid("thresholds")``."""
        if self.plan.trees is None:
            raise EngineError(
                f"Grid('thresholds') needs a model read as trees: {self.plan.why}. Hint: use Grid('quantile')."
            )
        from icefield.engines.trees import last_values_left

        rows = self.table.select(self.model.columns)
        return last_values_left(self.plan.trees, feature.columns[0], rows)


def in_one_moment(method: Callable[..., Found]) -> Callable[..., Found]:
    """A method of something that has `engines`, all of whose parts are one question to the model."""

    @wraps(method)
    def asked(self: Any, *given: Any) -> Found:
        with self.engines.one_moment():
            return method(self, *given)

    return asked


def choose(model: Model, table: Table, asked: str = "auto", background: str = "data") -> Plan:
    """Pick the engine for a model; `asked` is ``"auto"``, ``"trees"`` or ``"brute"``."""
    if asked == "brute":
        return without_trees(model, "engine='brute' was asked for", asked, background)
    trees, reason = read_trees(model, table)
    if trees is None:
        return without_trees(model, reason, asked, background)
    if background == "training":
        from icefield.engines.training import TrainingEngine

        if trees.no_training_weights:
            raise EngineError(
                "background='training' needs the training weight of every node: "
                f"{trees.no_training_weights}. Hint: write background='data'."
            )
        engine: Engine = TrainingEngine(trees, tree_scale(model, trees), model.selected)
        return Plan(engine, _sentence(f"training counts of the {trees.source} trees", model), trees)
    from icefield.engines.trees import TreesEngine

    engine = TreesEngine(trees, tree_scale(model, trees), model.selected)
    return Plan(engine, _sentence(f"exact, from the {trees.source} trees", model), trees)


def without_trees(model: Model, reason: str, asked: str, background: str) -> Plan:
    """Brute force, with the reason; an error where only trees would do."""
    if background == "training":
        raise EngineError(
            f"background='training' needs a model read as trees: {reason}. Hint: write background='data'."
        )
    if asked == "trees":
        raise EngineError(
            statement(
                worded(Setting("engine", "trees"), f" cannot answer for this model: {reason}."),
                worded(Setting("engine", "auto"), " uses brute force here"),
            )
        )
    from icefield.engines.brute import BruteEngine  # most models of trees never need it

    why = reason if asked == "brute" else f"brute force, because {reason}"
    return Plan(BruteEngine(model), _sentence(why, model))


def read_trees(model: Model, table: Table) -> tuple[TreeModel | None, str]:
    """The model as trees, checked against its own predictions; or None and the reason."""
    from icefield.forest import CannotRead, self_check
    from icefield.libraries.reading import read

    rows = table.select(model.columns)
    every_output = replace(model, selected=tuple(range(len(model.all_outputs))))
    try:
        trees = read(model.native, rows)
        if model.scale == "raw" and trees.raw_link is not None:
            trees = replace(trees, link=trees.raw_link)
        difference = self_check(trees, rows, every_output.predict, scale=tree_scale(model, trees))
    except CannotRead as reason:  # of the model, or of values among the checked rows
        return None, str(reason)
    if difference is None:
        return trees, ""
    # A reader that is wrong must be heard of, even where the curves stay right.
    warnings.warn(
        f"{type(model.native).__name__} was read as trees, but {difference}. Brute force is used instead.",
        ReadingWarning,
        stacklevel=2,
    )
    return None, f"the self-check failed: {difference}"


def tree_scale(model: Model, trees: TreeModel) -> str:
    """The scale on which the trees are asked: a raw scale that is not their sum is reached by a link as well."""
    return model.scale if trees.raw_link is None else "response"


def _sentence(why: str, model: Model) -> str:
    """The reason and what else there is to know, each once: a pipeline may be the reason and have a note."""
    return "; ".join([why, *(note for note in model.notes if note not in why)])
