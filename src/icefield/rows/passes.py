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
    if any(accumulator.columns is None for accumulator in accumulators):
        return None
    return list(dict.fromkeys(name for accumulator in accumulators for name in accumulator.columns or ()))


def run_pass(
    stream: Stream,
    reader: BlockReader,
    accumulators: Sequence[Accumulator],
    threads: int,
    checkpoint: Checkpoint | None = None,
) -> None:
    """Show every block of a stream to all accumulators, whose sums are written to the checkpoint now and then."""
    n_rows, unread = 0, accumulators
    if checkpoint is not None:
        unread, n_rows = checkpoint.resume(accumulators)
        if not unread:
            stream.settle(n_rows)
            return
    frames = any(accumulator.needs_frames for accumulator in unread)
    with (
        Progress(unread[-1].title, total=stream.n_rows, unit="rows") as progress,
        ThreadCrew(threads) as crew,
        crew,
        closing(stream.blocks(needed_columns(unread), skip=n_rows)) as pieces,
    ):
        progress.advance(n_rows)
        written = time.monotonic()
        for rows in pieces:
            block = reader.block(rows, stream.source, frames)
            for accumulator in unread:
                accumulator.add(block, crew)
            n_rows += block.n_rows
            progress.advance(block.n_rows)
            if checkpoint is not None and time.monotonic() - written >= checkpoint.seconds:
                checkpoint.write(unread, n_rows)
                written = time.monotonic()
    stream.settle(n_rows)
    if checkpoint is not None:
        checkpoint.write(unread, n_rows, finished=True)
