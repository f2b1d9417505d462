"""One pass over a stream: every block goes to every accumulator, in order.

Whatever an accumulator learns can be written down as arrays and taken up again. So a pass that ended in the middle goes on with
the first block that was not yet added.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from icefield.core.rows import Accumulator
from icefield.progress import Progress
from icefield.rows.stream import Stream
from icefield.threads import ThreadCrew

if TYPE_CHECKING:
    from icefield.rows.block_reader import BlockReader
    from icefield.rows.checkpoint import Checkpoint


def needed_columns(accumulators: Sequence[Accumulator]) -> list[str] | None:
    """The columns that some accumulators read; None for all."""
    if any(one.columns is None for one in accumulators):
        return None
    return list(dict.fromkeys(name for one in accumulators for name in one.columns or ()))


def run_pass(
    stream: Stream,
    reader: BlockReader,
    accumulators: Sequence[Accumulator],
    threads: int,
    checkpoint: Checkpoint | None = None,
) -> None:
    """Show every block of a stream to all accumulators, whose sums are written to the checkpoint now and then."""
    done, waiting = 0, accumulators
    if checkpoint is not None:
        waiting, done = checkpoint.resume(accumulators)
        if not waiting:
            stream.settle(done)
            return
    frames = any(one.needs_frames for one in waiting)
    with (
        Progress(waiting[-1].title, total=stream.n_rows, unit="rows") as progress,
        ThreadCrew(threads) as crew,
        crew,
        closing(stream.blocks(needed_columns(waiting), skip=done)) as pieces,
    ):
        progress.advance(done)
        written = time.monotonic()
        for rows in pieces:
            block = reader.block(rows, stream.source, frames)
            for accumulator in waiting:
                accumulator.add(block, crew)
            done += block.n_rows
            progress.advance(block.n_rows)
            if checkpoint is not None and time.monotonic() - written >= checkpoint.seconds:
                checkpoint.write(waiting, done)
                written = time.monotonic()
    stream.settle(done)
    if checkpoint is not None:
        checkpoint.write(waiting, done, finished=True)
