"""The engine protocol: questions in, mergeable answers out.

An engine is handed a `Sample` (rows, weights, group codes) and several `Question`s (which
columns move, over which grid vectors, and what is wanted of the curves), and returns one
`Answer` per question. It never chooses the grid, the scale or the rows, so every engine
gives the same number for the same question; only the time differs.

`Moments` are the currency: count, mean and sum of squared deviations of the predictions at
each grid point. They merge exactly the way a mean over more rows would, whatever blocks,
threads or partitions the rows were split into.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from icefield.data.features import Axis
from icefield.typing import Float, Positions

if TYPE_CHECKING:
    from icefield.core.placement import PlaceSums, Standing
    from icefield.data.frame import Table

__all__ = ["Answer", "Axis", "Engine", "Moments", "Question", "Resources", "Sample", "block_moments"]


@dataclass(frozen=True)
class Question:
    """What is asked of one set of features: a product grid, and what to keep of the curves."""

    axes: tuple[Axis, ...]
    spread: bool = True
    quantiles: tuple[float, ...] = ()
    rows: NDArray[np.intp] | None = None  # positions whose individual curves are kept
    averaged: bool = True  # False: only these curves are wanted, and an engine may leave the moments empty

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)


@dataclass(frozen=True)
class Sample:
    """The rows averaged over. `codes` are group numbers per row (-1: in no group).

    `copies`: weights count how often a row occurs, so that a weight of 2 is two observations; otherwise every row is
    one, however much it counts.
    """

    table: Table
    weights: Float | None = None
    codes: NDArray[np.intp] | None = None
    n_groups: int = 0
    copies: bool = True

    @property
    def n_rows(self) -> int:
        return self.table.n_rows


@dataclass(frozen=True)
class Resources:
    """What an engine may use: bytes beside the input, threads, processes; and the seed."""

    memory: int = 256 * 2**20
    threads: int | None = None
    processes: int | None = None
    seed: int = 0


@dataclass
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
            return cls(rows, 0.0, 0.0, np.zeros(shape), np.zeros(shape) if spread else None)
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
        """The mean, NaN where no weight stands behind it."""
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


@dataclass
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
    notes: tuple[str, ...] = field(default=())


def block_moments(values: Float, sample: Sample, start: int, stop: int, spread: bool) -> list[Moments]:
    """Moments of a block's values ``(rows, outputs, *grid)``: over all its rows, then by group."""
    weights, copies = None if sample.weights is None else sample.weights[start:stop], sample.copies
    found = [Moments.of(values, weights, spread, copies)]
    if sample.codes is not None:
        codes = sample.codes[start:stop]
        for g in range(sample.n_groups):
            chosen = codes == g
            own = None if weights is None else weights[chosen]
            found.append(Moments.of(values[chosen], own, spread, copies))
    return found


class Engine(Protocol):
    """Anything that answers questions about one model on one scale.

    Every engine says all it can do: what it has no way to give, it declines with None.
    """

    @property
    def name(self) -> str:
        """What `Effect.engine` says."""

    @property
    def additive(self) -> bool:
        """Whether the asked scale is a sum over what the engine reads of the model."""

    @property
    def costs_predictions(self) -> bool:
        """Whether every row costs predictions of the model, so that a sample may have to do."""

    def answer(self, questions: Sequence[Question], sample: Sample, resources: Resources) -> list[Answer]:
        """One answer per question, in their order."""

    def own_averages(
        self, sets: Sequence[Sequence[Any]], sample: Sample, resources: Resources
    ) -> Generator[Float] | None:
        """Partial dependence of sets of columns at every row's own values, ``(outputs, rows)`` each, in order.

        None where that takes more than a walk over the rows.
        """

    def differences(
        self,
        axes: Sequence[Axis],
        table: Table,
        rows: Positions,
        steps: Sequence[Positions],
        resources: Resources,
    ) -> Float | None:
        """Mixed differences ``(rows, outputs)`` of the predictions of rows, each across steps of its own.

        A step leads from one of an axis's points to the next; ``steps[a]`` are the rows' own on axis a.
        """

    def local_sums(self, standing: Standing, resources: Resources) -> PlaceSums | None:
        """What moving rows to the points about their places adds up to, of all axes together.

        None where that takes a walk for every axis.
        """
