"""Rows in memory: a stream of one block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

from icefield.core.rows import Accumulator, Block, GridRequest, PendingStatistics, Rows
from icefield.data.column_statistics import MemoryStatistics, SummaryTasks
from icefield.data.frame import Table
from icefield.data.grid import Steps
from icefield.data.groups import Groups, groups_of
from icefield.progress import Progress
from icefield.sampling import count_copies
from icefield.threads import ThreadCrew
from icefield.typing import Float, Positions


class MemoryRows(Rows):
    """All rows in this process.

    Parameters
    ----------
    table : the rows
    y : observed targets, or None
    weights : one weight per row, or None
    groups : what ``by=`` made of the rows, or None
    clusters : one code per row of those that count as one observation together, or None
    seed : for the rug of pictures
    statistics : those of the same rows, where they are known
    """

    def __init__(
        self,
        table: Table,
        *,
        y: NDArray[Any] | None = None,
        weights: Float | None = None,
        groups: Groups | None = None,
        clusters: Positions | None = None,
        seed: int = 0,
        statistics: MemoryStatistics | None = None,
    ) -> None:
        codes, n_groups = (None, 0) if groups is None else (groups.codes, len(groups.labels))
        copies = count_copies(weights)
        self._block = Block(table, weights, codes, n_groups, copies, clusters=clusters, y=y)
        self._groups, self._seed = groups, seed
        self._statistics = statistics or MemoryStatistics(table, weights, seed)

    def __reduce__(self) -> Any:
        """Pickles the rows only; their statistics are computed again in the other process."""
        made, block = partial(MemoryRows, groups=self._groups, seed=self._seed), self._block
        return partial(made, y=block.y, weights=block.weights, clusters=block.clusters), (block.table,)

    @property
    def head(self) -> Table:
        return self._block.table

    @property
    def sample(self) -> Block:
        return self._block

    @property
    def n_rows(self) -> int:
        return self._block.n_rows

    @property
    def groups(self) -> Groups | None:
        return self._groups

    @property
    def statistics(self) -> MemoryStatistics:
        return self._statistics

    def summarise(self, requests: Iterable[GridRequest], threads: int) -> PendingStatistics:
        sets = [(request.features, request.grid) for request in requests]
        return _Summaries(self.statistics, self.statistics.summarised(sets, threads))

    def fold(self, accumulators: Sequence[Accumulator]) -> None:
        with ThreadCrew(1) as threads, threads:  # engines bring their own
            for accumulator in accumulators:
                accumulator.add(self._block, threads)

    def grouped(self, by: Any) -> MemoryRows:
        block = self._block
        return MemoryRows(
            block.table, y=block.y, weights=block.weights, groups=groups_of(by, block.table, block.weights),
            clusters=block.clusters, seed=self._seed, statistics=self._statistics,
        )  # fmt: skip


class _Summaries(PendingStatistics):
    """Columns that threads summarise while the model is read."""

    def __init__(self, statistics: MemoryStatistics, tasks: SummaryTasks | None) -> None:
        self._statistics, self._tasks = statistics, tasks

    def __enter__(self) -> PendingStatistics:
        if self._tasks is not None:
            self._tasks.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._tasks is not None:
            self._tasks.__exit__()

    @property
    def is_working(self) -> bool:
        return self._tasks is not None

    def tell(self, steps: Mapping[Any, Steps]) -> None:
        if self._tasks is not None:
            self._tasks.tell(steps)

    def result(self, also: Sequence[Accumulator] = ()) -> tuple[MemoryStatistics, bool]:
        if self._tasks is not None:
            with Progress("summarising the columns", total=len(self._tasks)) as progress:
                for _ in self._tasks.results():
                    progress.advance()
        return self._statistics, False
