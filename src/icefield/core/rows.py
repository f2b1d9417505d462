"""Rows: the interface to rows wherever they are, and the one way to add something up over them.

Rows in memory are one `Block`; a stream and a distributed frame are many, read again for every pass. What is added up
over rows is an `Accumulator`: it takes blocks in, its state is arrays, and states merge. So whatever is written as one works
in memory, on streams and on distributed frames alike, with checkpoints. What needs rows together takes `Rows.sample`: all rows
in memory, a seeded sample of a stream.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from icefield.counts import counted
from icefield.typing import Array, Float, Positions

if TYPE_CHECKING:
    from collections.abc import Callable

    from icefield.core.weight_totals import WeightTotals
    from icefield.data.column_statistics import ColumnValues
    from icefield.data.columns import Column
    from icefield.data.distribution import Distribution
    from icefield.data.features import Feature
    from icefield.data.frame import Table
    from icefield.data.grid import Steps
    from icefield.data.groups import Groups
    from icefield.models.model import Model
    from icefield.threads import ThreadCrew

State = dict[str, Array]


def part_of(state: State, prefix: str) -> State:
    """The arrays of a state whose names begin so, by what is left of their names."""
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive rows with their weights and groups.

    Attributes
    ----------
    table : the rows
    weights : one per row, or None where all count alike
    codes, n_groups : the number of each row's group, -1 for none, and how many groups there are
    copies : weights count how often a row occurs, so that a weight of 2 is two observations; otherwise every row is
        one, however much it counts
    start : the number of the first row among all rows
    clusters : one code per row, of rows that count as one observation together; rows in memory only
    y : observed targets; of rows together only
    arrow : the same rows in Arrow's form; of a stream only
    """

    table: Table
    weights: Float | None = None
    codes: Positions | None = None
    n_groups: int = 0
    copies: bool = True
    start: int = 0
    clusters: Positions | None = None
    y: Array | None = None
    arrow: Any = None

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    def take(self, rows: Positions | None, drawn: bool = False) -> Block:
        """The rows at these positions (None: all of them); drawn by chance, each is one observation."""
        copies = self.copies and not drawn
        if rows is None:
            return replace(self, copies=copies)

        def of(values: Any) -> Any:
            return None if values is None else values[rows]

        return Block(
            self.table.take(rows), of(self.weights), of(self.codes), self.n_groups, copies,
            clusters=of(self.clusters), y=of(self.y),
        )  # fmt: skip

    def row_weights(self, rows: Positions | None = None) -> Float:
        """Weights of the rows at these positions (None: all of them), 1 each where there are none."""
        if self.weights is None:
            return np.ones(self.n_rows if rows is None else len(rows))
        return self.weights if rows is None else self.weights[rows]


class Accumulator(ABC):
    """Something added up over rows. It holds no rows, no Study and no threads.

    Attributes
    ----------
    title : what is being done, for the progress bar
    columns : the columns that are read; None for all
    needs_frames : whether blocks must be in the frame library the model gets; otherwise Arrow's own do
    """

    title: str = "adding up rows"
    columns: Sequence[Any] | None = None
    needs_frames: bool = True

    @property
    @abstractmethod
    def about(self) -> Mapping[str, Any]:
        """What is added up, as plain values: a checkpoint's key for its states."""

    @abstractmethod
    def add(self, block: Block, threads: ThreadCrew) -> None:
        """Take in the next rows."""

    @abstractmethod
    def state(self) -> State:
        """Everything known so far, as arrays."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Continue from a state."""

    @abstractmethod
    def merge(self, state: State) -> None:
        """Take in the state of rows after those seen so far."""

    def expect(self, n_rows: int) -> None:  # noqa: B027  (most need not know)
        """Called before the first block, with the number of rows to come."""

    def condense(self) -> None:  # noqa: B027  (most are small)
        """Shrink what is known before it travels."""


class ColumnStatistics(Protocol):
    """Summary statistics of the columns over all rows: where grid points lie and how much data is near them."""

    def column(self, feature: Feature) -> Column:
        """The feature's values in the sample."""

    def values(self, feature: Feature) -> ColumnValues:
        """The feature's values over all rows, or values that stand for them."""

    def grids(
        self,
        features: Sequence[Feature],
        asked: Any,
        thresholds: Callable[[Feature], Float],
        steps: Mapping[Any, Steps] = ...,
    ) -> tuple[tuple[Array, ...], str]:
        """The grid of every feature for what was passed as ``grid=``, and notes about them.

        `thresholds` gives all at which the model changes along a feature, or says why it has none; `steps` those of columns
        for which it is known how far it moves there.
        """

    def needs_pass(self, features: Sequence[Feature], asked: Any, groups: Groups | None) -> bool:
        """Whether the rows near each grid point must be counted in a pass; `asked` was passed as ``grid=``."""

    def point_weights(
        self, features: Sequence[Feature], grid: Sequence[Array], groups: Groups | None
    ) -> list[Float]:
        """Weight of the rows nearest to each grid point: over all rows, then by group."""

    def distribution(self, features: Sequence[Feature]) -> Distribution:
        """What pictures need of the data."""


@dataclass(frozen=True, eq=False)
class GridRequest:
    """Features that move together, and what was passed as their ``grid=``."""

    features: tuple[Feature, ...]
    grid: Any


class PendingStatistics(AbstractContextManager["PendingStatistics"]):
    """Column statistics on their way; leaving the context stops the work on them."""

    def __exit__(self, *_: object) -> None:
        """Stop what threads do meanwhile, if there are any."""

    @property
    def is_working(self) -> bool:
        """Whether threads summarise columns meanwhile."""
        return False

    def tell(self, steps: Mapping[Any, Steps]) -> None:
        """Pass on where the model changes along columns, as soon as that is known."""

    @abstractmethod
    def result(self, also: Sequence[Accumulator] = ()) -> tuple[ColumnStatistics, bool]:
        """The statistics, and whether a first pass over the rows took the accumulators `also` along."""


class Rows(ABC):
    """Where rows are.

    Attributes
    ----------
    label : what messages call them; empty for rows in memory
    resident : whether all rows are in this process, as one block
    """

    label: str = ""
    resident: bool = True

    @property
    @abstractmethod
    def head(self) -> Table:
        """The first rows, which need no pass."""

    @property
    @abstractmethod
    def sample(self) -> Block:
        """Rows together: all of them in memory, a seeded sample of a stream."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """How many rows there are in all."""

    @property
    @abstractmethod
    def groups(self) -> Groups | None:
        """What ``by=`` made of the rows of the sample."""

    @property
    @abstractmethod
    def statistics(self) -> ColumnStatistics:
        """Summary statistics of the columns."""

    @abstractmethod
    def summarise(self, requests: Iterable[GridRequest], threads: int) -> PendingStatistics:
        """Start on the statistics that some grids need."""

    @abstractmethod
    def fold(self, accumulators: Sequence[Accumulator]) -> None:
        """Let accumulators take in every row once."""

    @abstractmethod
    def grouped(self, by: Any) -> Rows:
        """The same rows in other groups."""

    @property
    def n_groups(self) -> int:
        return 0 if self.groups is None else len(self.groups.labels)

    @property
    def beside(self) -> Sequence[str]:
        """Columns that weights and groups of a stream's blocks are read from."""
        return ()

    @property
    def weight_totals(self) -> WeightTotals | None:
        """The sums of a stream's weights by group; None where rows have none, or are here."""
        return None

    @property
    def can_count_at_once(self) -> bool:
        """Whether a first pass is still to come that counts could be taken along with."""
        return False

    @property
    def is_sampled(self) -> bool:
        """Whether the sample leaves rows out."""
        return self.sample.n_rows != self.n_rows

    @property
    def said(self) -> str:
        """Which rows were used, for `Effect.why`; empty where all rows were."""
        return ""

    def identity(self) -> Any:
        """Plain values that identify rows in files or on a cluster; None for rows in memory."""
        return None

    @property
    def sample_said(self) -> str:
        """The rows of the sample, for notes."""
        if not self.is_sampled:
            return f"all {counted(self.sample.n_rows)} rows"
        return f"a seeded sample of {counted(self.sample.n_rows)} of {counted(self.n_rows)} rows"

    def described(self, n_features: int) -> str:
        """How many rows and features there are, for `repr`."""
        return f"{counted(self.n_rows)} rows x {n_features} features"

    def check_choice(self, rows: Any) -> None:  # noqa: B027  (in memory, any can)
        """An error where rows cannot be chosen as ``rows=`` says."""

    def check_row_by_row(self, model: Model) -> None:  # noqa: B027  (in memory, rows are together)
        """An error where rows come in pieces, and the model may look across the rows of a call."""
