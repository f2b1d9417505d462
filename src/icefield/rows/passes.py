"""One pass over a stream: every block goes to every collector, in order.

A collector adds blocks up; whatever it learns can be written down as arrays and taken up again. So a pass that ended in
the middle goes on with the first block that was not yet added.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from icefield.progress import Progress
from icefield.rows.stream import Block, Stream
from icefield.threads import Crew

if TYPE_CHECKING:
    from icefield.rows.checkpoint import Checkpoint


class Collector(Protocol):
    """What a pass is made for."""

    @property
    def title(self) -> str:
        """What is being done, for the progress bar."""

    def add(self, block: Block, crew: Crew) -> None:
        """Take in the next rows."""

    def state(self) -> dict[str, NDArray[Any]]:
        """All that is known so far, as arrays."""

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from what was known before."""

    def merge(self, state: dict[str, NDArray[Any]]) -> None:
        """Take in what is known of rows that come after those seen so far."""


def run_pass(
    stream: Stream,
    collectors: Sequence[Collector],
    threads: int,
    *,
    columns: Sequence[str] | None = None,
    checkpoint: Checkpoint | None = None,
    question: Any = None,
) -> None:
    """Show every block of a stream to all collectors.

    Parameters
    ----------
    stream, collectors, threads : the rows, who adds them up, and on how many threads
    columns : the columns that are needed; None for all of the stream's
    checkpoint : where sums are written now and then; None for nowhere
    question : what the sums are about, of plain values, so that a checkpoint of something else is known
    """
    done = 0
    if checkpoint is not None:
        done, finished = checkpoint.resume(question, collectors)
        if finished:
            stream.settle(done)
            return
    with (
        Progress(collectors[-1].title, total=stream.n_rows, unit="rows") as progress,
        Crew(threads) as crew,
        crew,
        closing(stream.blocks(columns, skip=done)) as blocks,
    ):
        progress.advance(done)
        written = time.monotonic()
        for block in blocks:
            for collector in collectors:
                collector.add(block, crew)
            done += block.n_rows
            progress.advance(block.n_rows)
            if checkpoint is not None and time.monotonic() - written >= checkpoint.seconds:
                checkpoint.write(question, collectors, done)
                written = time.monotonic()
    stream.settle(done)
    if checkpoint is not None:
        checkpoint.write(question, collectors, done, finished=True)
