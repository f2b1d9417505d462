"""Questions and answers: what an engine is asked about rows, and the moments it gives back.

A `Question` says which columns move, over which grid, and what is wanted of the curves; an `Answer` holds `Moments`: count,
mean and sum of squared deviations of the predictions at each grid point. Moments merge exactly the way a mean over
more rows would, whatever blocks, threads or partitions the rows were split into. `AnswerAccumulator` adds them up.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.core.rows import Accumulator, Block, State
from icefield.data.features import Axis
from icefield.threads import ThreadCrew, available_processors
from icefield.typing import Array, Float, Positions

if TYPE_CHECKING:
    from icefield.core.engine import Engine

ColumnSets = Sequence[Sequence[Any]]  # columns that move together, of each set
Moving = Sequence[ColumnSets]  # for each question the columns of each of its axes
Axes = Sequence[Axis]
Moves = Sequence[Axes]  # the axes that each move takes along


@dataclass(frozen=True)
class Question:
    """What is asked of one set of features: a product grid, and what to keep of the curves."""

    axes: tuple[Axis, ...]
    spread: bool = True
    quantiles: tuple[float, ...] = ()
    rows: Positions | None = None  # positions whose individual curves are kept
    averaged: bool = True  # False: only these curves are wanted, and an engine may leave the moments empty

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)


@dataclass(frozen=True)
class Resources:
    """What an engine may use: bytes beside the input, threads, processes; and the seed."""

    travels_as = "resources"

    memory: int = 256 * 2**20
    threads: int | None = None
    processes: int | None = None
    seed: int = 0

    def crew(self) -> ThreadCrew:
        """So many threads, as many as there are processors by default."""
        return ThreadCrew(self.threads or available_processors())


@dataclass(eq=False)
class Moments:
    """Weighted count, mean and sum of squared deviations, per output and grid point.

    `mean` and `m2` have shape ``(outputs, *grid)``; `m2` is None where spread was not asked. `squared` are the moments
    under the squares of the weights, where rows count unequally and each is one observation: the standard error needs
    them.
    """

    count: int
    weight: float
    weight_squared: float
    mean: Float
    m2: Float | None = None
    squared: Moments | None = None

    @classmethod
    def empty(cls, shape: tuple[int, ...], spread: bool) -> Moments:
        return cls(0, 0.0, 0.0, np.zeros(shape), np.zeros(shape) if spread else None)

    @classmethod
    def of(cls, values: Float, weights: Float | None, spread: bool, copies: bool = False) -> Moments:
        """Moments over the first axis of `values`, shaped ``(rows, outputs, *grid)``.

        Weights count each row as one observation, or with `copies` as so many. Sums run along contiguous rows, so that a grid point's moments are the same to the last bit
        whichever other grid points are in the array.
        """
        lanes = np.ascontiguousarray(np.moveaxis(values, 0, -1))
        rows, shape = lanes.shape[-1], lanes.shape[:-1]
        weight, squared = float(rows), float(rows)
        if weights is not None:
            weight, squared = float(weights.sum()), float(np.square(weights).sum())
        if weight == 0.0:
            return replace(cls.empty(shape, spread), count=rows)
        with np.errstate(invalid="ignore", over="ignore"):  # infinite predictions give NaN spreads
            mean = (lanes if weights is None else lanes * weights).sum(axis=-1) / weight
            m2 = None
            if spread:
                deviation = lanes - mean[..., None]
                np.square(deviation, out=deviation)
                if weights is not None:
                    deviation *= weights
                m2 = deviation.sum(axis=-1)
        once = None
        if weights is not None and spread and not copies:
            once = cls.of(values, np.square(weights), True, copies=True)
        return cls(rows, weight, squared, mean, m2, once)

    def changed(
        self, change: Callable[[Float], Float], spread: Callable[[Float], Float] | None = None
    ) -> Moments:
        """The same moments with their arrays reshaped or chosen from; `spread` is for the squares, if not the same."""
        return replace(
            self,
            mean=change(self.mean),
            m2=None if self.m2 is None else (spread or change)(self.m2),
            squared=None if self.squared is None else self.squared.changed(change, spread),
        )

    def merge(self, other: Moments) -> Moments:
        """Moments of both sets of rows together (Chan et al.'s pairwise update)."""
        if other.weight == 0.0:
            return replace(self, count=self.count + other.count)
        if self.weight == 0.0:
            return replace(other, count=self.count + other.count)
        weight = self.weight + other.weight
        with np.errstate(invalid="ignore", over="ignore"):
            shift = other.mean - self.mean
            mean = self.mean + shift * (other.weight / weight)
            m2 = None
            if self.m2 is not None and other.m2 is not None:
                m2 = self.m2 + other.m2 + np.square(shift) * (self.weight * (other.weight / weight))
        once = None
        if self.squared is not None and other.squared is not None:
            once = self.squared.merge(other.squared)
        squared = self.weight_squared + other.weight_squared
        return Moments(self.count + other.count, weight, squared, mean, m2, once)

    @property
    def average(self) -> Float:
        """The mean; NaN where the weights sum to zero."""
        return self.mean if self.weight > 0 else np.full_like(self.mean, np.nan)

    @property
    def std(self) -> Float | None:
        if self.m2 is None:
            return None
        if self.weight <= 0:
            return np.full_like(self.mean, np.nan)
        return np.sqrt(self.m2 / self.weight)

    @property
    def se(self) -> Float | None:
        """Standard error of the mean; NaN for one row.

        Without weights, and where they count copies, ``m2 / (n (n - 1))`` with n their sum. Otherwise each row is one
        observation: the sum of squared weighted deviations from the mean over the squared sum of the weights, times
        ``n / (n - 1)`` with n the effective number of rows (Kish's).
        """
        if self.m2 is None or self.weight <= 0:
            return self.std
        if self.squared is None:
            return _root(self.m2 / self.weight, self.weight)
        once = self.squared
        with np.errstate(invalid="ignore", over="ignore"):
            own = (0.0 if once.m2 is None else once.m2) + once.weight * np.square(once.mean - self.mean)
        effective = self.weight**2 / self.weight_squared
        return _root(own / self.weight**2 * effective, effective)


def _root(variance: Float, rows: float) -> Float:
    return np.sqrt(variance / (rows - 1.0)) if rows > 1.0 else np.full_like(variance, np.nan)


@dataclass(eq=False)
class Answer:
    """What an engine found for one question.

    `errors` are standard errors, of all rows and then by group, where the moments do not have them. `quantiles` and
    `group_quantiles[g]` have shape ``(len(quantiles), outputs, *grid)``,
    `curves` ``(outputs, len(rows), *grid)``.
    """

    total: Moments
    groups: tuple[Moments, ...] = ()
    quantiles: Float | None = None
    group_quantiles: tuple[Float, ...] = ()
    curves: Float | None = None
    errors: tuple[Float, ...] = ()
    engine: str = ""  # which engine answered, where it is another than was planned
    notes: tuple[str, ...] = ()

    def merge(self, other: Answer) -> Answer:
        """The moments of both answers' rows together; what else there is does not merge."""
        groups = tuple(own.merge(more) for own, more in zip(self.groups, other.groups))
        return Answer(self.total.merge(other.total), groups)


def block_moments(values: Float, block: Block, start: int, stop: int, spread: bool) -> list[Moments]:
    """Moments of a block's values ``(rows, outputs, *grid)``: over all its rows, then by group."""
    weights, copies = None if block.weights is None else block.weights[start:stop], block.copies
    found = [Moments.of(values, weights, spread, copies)]
    if block.codes is not None:
        codes = block.codes[start:stop]
        for g in range(block.n_groups):
            chosen = codes == g
            own = None if weights is None else weights[chosen]
            found.append(Moments.of(values[chosen], own, spread, copies))
    return found


class QuestionAccumulator(Accumulator):
    """Answers to questions, added up over blocks of rows."""

    @abstractmethod
    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        """The answers over all rows seen, on the questions' grids."""

    def check(self, questions: Sequence[Question]) -> None:
        """An error where a grid holds a value that the engine does not know."""


class AnswerAccumulator(QuestionAccumulator):
    """Answers of an engine that is asked about every block by itself; their moments merge.

    With `whole` every row comes in one block, whose answers are kept as they are. Otherwise quantiles and kept curves are
    left out, since they do not merge.
    """

    title = "asking block by block"

    def __init__(
        self, engine: Engine, questions: Sequence[Question], resources: Resources, whole: bool = False
    ) -> None:
        self._engine, self._resources = engine, resources
        self._questions = questions if whole else [replace(q, quantiles=(), rows=None) for q in questions]
        self._answers: list[Answer] = []

    @property
    def about(self) -> dict[str, Any]:
        axes = [[[str(n), _digest(v)] for a in q.axes for n, v in a.points.items()] for q in self._questions]
        return {"answers": axes, "spread": [q.spread for q in self._questions], "engine": self._engine.name}

    def add(self, block: Block, threads: ThreadCrew) -> None:
        self._join(self._engine.answer(self._questions, block, self._resources))

    def _join(self, more: list[Answer]) -> None:
        if not self._answers:
            self._answers = more
        elif more:
            self._answers = [a.merge(b) for a, b in zip(self._answers, more)]

    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        return self._answers

    def state(self) -> State:
        found: State = {"sizes": np.array([1 + len(answer.groups) for answer in self._answers])}
        for q, answer in enumerate(self._answers):
            for g, moments in enumerate((answer.total, *answer.groups)):
                found |= moments_state(moments, f"{q} {g}")
        return found

    def restore(self, state: State) -> None:
        self._answers = []
        self.merge(state)

    def merge(self, state: State) -> None:
        found = []
        for q, size in enumerate(state["sizes"].tolist()):
            total, *groups = (moments_of(state, f"{q} {g}") for g in range(size))
            found.append(Answer(total, tuple(groups)))
        self._join(found)


def moments_state(moments: Moments, at: str) -> State:
    """Moments as arrays with names that end in a place, for states of accumulators."""
    found: State = {
        f"sums {at}": np.array([moments.weight, moments.weight_squared]),
        f"count {at}": np.array([moments.count]),
        f"mean {at}": moments.mean,
    }
    if moments.m2 is not None:
        found[f"m2 {at}"] = moments.m2
    return found if moments.squared is None else found | moments_state(moments.squared, f"{at} squared")


def moments_of(state: State, at: str) -> Moments:
    """The moments that `moments_state` wrote."""
    weight, squared = (float(v) for v in state[f"sums {at}"])
    own = moments_of(state, f"{at} squared") if f"sums {at} squared" in state else None
    return Moments(
        int(state[f"count {at}"][0]), weight, squared, state[f"mean {at}"], state.get(f"m2 {at}"), own
    )


def _digest(values: Array) -> str:
    import hashlib  # of streams' states alone

    content = repr(values.tolist()) if values.dtype == object else values.tobytes().hex()
    return hashlib.sha256(f"{values.dtype} {content}".encode()).hexdigest()[:16]
