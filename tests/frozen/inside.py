"""All that the frozen answers know of the library's inside: adapt it here when that moves.

`Noted` is a source that notes what is read of it, `Parts` a cluster within this process, `small_blocks` makes blocks and
samples so small that the rows do not fit either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from icefield.rows import checkpoint, stream, stream_rows
from icefield.rows.distributed import worker
from icefield.rows.distributed.backend import Backend, Census
from icefield.rows.distributed.partition_result import Outcome
from icefield.rows.source import Source

try:
    import cloudpickle
except ImportError:  # older versions of joblib bring their own
    from joblib.externals import cloudpickle


@contextmanager
def small_blocks(sample: int) -> Iterator[None]:
    """Blocks of at most 500 rows, samples of so many; checkpoints are written after every block."""
    with ExitStack() as patched:
        for module, name, value in (
            (stream, "LEAST_ROWS", 250),
            (stream, "MOST_ROWS", 500),
            (stream_rows, "STREAMED_ROWS", sample),
            (checkpoint, "EVERY", 0.0),
        ):
            patched.enter_context(patch.object(module, name, value))
        yield


class Noted(Source):
    """A table as a source; `read` says of every reading its columns, its first row, and the batches if it came to the end."""

    label = "the noted rows"

    def __init__(self, rows: pa.Table, fails_after: int | None = None) -> None:
        self._rows, self._left = rows, fails_after
        self.read: list[str] = []

    @property
    def schema(self) -> Any:
        return self._rows.schema.remove_metadata()

    def identity(self) -> Any:
        return {"noted": self._rows.num_rows}

    def batches(self, columns: Sequence[str], rows: int, skip: int = 0) -> Iterator[Any]:
        place = len(self.read)
        self.read.append(f"{list(columns)} from {skip}, begun")
        pieces = self._rows.select(list(columns)).slice(skip).to_batches(max_chunksize=min(rows, 700))
        for piece in pieces:
            if self._left is not None:
                self._left -= 1
                if self._left < 0:
                    raise OSError("the rows are out of reach")
            yield piece
        self.read[place] = f"{list(columns)} from {skip}, {len(pieces)} batches"


class Parts(Backend):
    """A table in parts, each worked on from its pickled plan; `merged_by` outcomes are united before they come back."""

    label = "the parts"

    def __init__(
        self, rows: pa.Table, cuts: Sequence[int], merged_by: int = 0, backwards: bool = False
    ) -> None:
        self.parts = [rows.slice(a, b - a) for a, b in zip([0, *cuts], [*cuts, rows.num_rows])]
        self._whole, self._merged_by, self._backwards = rows, merged_by, backwards
        self.passes: list[str] = []

    @property
    def schema(self) -> Any:
        return self._whole.schema.remove_metadata()

    def first(self, columns: Any, rows: int) -> Any:
        return self._whole.select(list(columns)).slice(0, rows)

    def dumps(self, thing: Any) -> bytes:
        return bytes(cloudpickle.dumps(thing))

    def census(self, columns: Any, listed: Any) -> Census:
        self.passes.append(f"look at {list(listed)}")
        seen = [worker.census_of(part.to_batches(), listed) for part in self.parts]
        levels = {name: list(dict.fromkeys(v for _, own in seen for v in own[name])) for name in listed}
        return Census(tuple(rows for rows, _ in seen), sum(rows for rows, _ in seen), levels)

    def outcomes(self, model: Any, task: Any, columns: Any, progress: Any) -> Any:
        self.passes.append(f"pass over {sorted(columns)}")
        found = [worker.run_partition(model, task, n, part.to_batches()) for n, part in enumerate(self.parts)]
        if self._merged_by:
            size = self._merged_by
            found = [
                worker.merge_on_worker(model, task, found[at : at + size])
                for at in range(0, len(found), size)
            ]
        return [Outcome.from_bytes(one.to_bytes()) for one in (found[::-1] if self._backwards else found)]
