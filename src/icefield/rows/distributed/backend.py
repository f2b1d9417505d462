"""The contract of a cluster: a frame's first rows, its sizes, and a pass over its partitions.

An engine's module says how these are done there and nothing else: what is sent, what comes back and how it merges is the
same for all of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icefield.data.columns import library_named
from icefield.progress import Progress
from icefield.rows.distributed.broadcast import Broadcast
from icefield.rows.distributed.partition_result import Outcome
from icefield.rows.source import NamedColumns, Origin

if TYPE_CHECKING:
    from pathlib import Path

    from icefield.core.engine import Choices
    from icefield.core.rows import Rows
    from icefield.models.model import Model

FAN_IN = 16  # outcomes that are merged at once on the cluster
ROWS_A_TASK = 20_000  # of small partitions, taken together: a task's own cost is some tens of milliseconds


def tasks_for(rows: int, partitions: int, slots: int) -> int:
    """How many tasks small partitions are taken together in; 0 where each is a task of its own.

    There are two at least for each of the tasks that run at once (`slots`; 0 where that is not known).
    """
    tasks = max(2 * slots, -(-rows // ROWS_A_TASK))
    return tasks if slots and 2 * tasks <= partitions else 0


@dataclass(frozen=True, eq=False)
class Census:
    """Sizes and levels of all partitions.

    Attributes
    ----------
    sizes : rows by partition; None where partitions have no numbers before they are worked on
    rows : all of them
    levels : by column of a category type, its levels
    firm : whether every pass meets these very partitions; an engine may cut the same rows otherwise for other columns
    """

    sizes: tuple[int, ...] | None
    rows: int
    levels: dict[str, list[Any]] = field(default_factory=dict)
    firm: bool = True


class Backend(Origin):
    """A distributed frame."""

    pickler = "cloudpickle"  # the module that pickles as the engine does
    _head: Any  # some of its first rows, as an Arrow table

    @property
    def schema(self) -> Any:
        return self._head.schema.remove_metadata()

    def first(self, columns: Sequence[str], rows: int) -> Any:
        return self._head.select(list(columns)).slice(0, rows)

    @abstractmethod
    def census(self, columns: Sequence[str], coded: Sequence[str]) -> Census:
        """How many rows there are, and the levels of the columns `coded`; `columns` are those of all passes."""

    @abstractmethod
    def outcomes(
        self, model: Broadcast, task: Broadcast, columns: Sequence[str], progress: Progress
    ) -> Iterable[Outcome]:
        """The outcomes of a pass, of one partition each or several; an error or Ctrl-C here ends the job on the cluster."""

    def dumps(self, value: Any) -> bytes:
        return bytes(library_named(self.pickler).dumps(value))

    def model_to_send(self, model: Model) -> Model:
        """The model to send to workers, or what stands in for it where the frame's engine predicts by itself."""
        return model

    def rows(self, model: Model, choices: Choices, beside: NamedColumns, checkpoint: Path | None) -> Rows:
        from icefield.rows.distributed.distributed_rows import DistributedRows, PartitionStream

        stream = PartitionStream(self, beside.with_those_of(model), choices.resources.memory)
        return DistributedRows(stream, model, choices, beside, checkpoint)

    def where(self, number: int) -> str:
        """A partition, for messages."""
        return f"partition {number} of {self.label}"

    def identity(self) -> Any:
        return {"cluster": self.label, "schema": str(self.schema)}
