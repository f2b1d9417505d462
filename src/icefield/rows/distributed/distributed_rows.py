"""Rows of a distributed frame: those of a stream, but passes are made where the rows are."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, cast

from icefield.core.rows import Accumulator
from icefield.data.columns import library_named
from icefield.errors import InputError, VersionWarning
from icefield.progress import Progress
from icefield.rows.block_reader import BlockReader
from icefield.rows.distributed.backend import Backend, Census
from icefield.rows.distributed.broadcast import (
    PROBED,
    Broadcast,
    Pass,
    packed_accumulators,
    packed_model,
    packed_pass,
    versions_of,
)
from icefield.rows.distributed.partition_result import check_parts, merged
from icefield.rows.passes import needed_columns
from icefield.rows.source import LOOK
from icefield.rows.stream import ArrowRows, Stream
from icefield.rows.stream_rows import StreamRows


class PartitionStream(Stream):
    """The rows of a distributed frame; only the first of them ever come here."""

    @property
    def backend(self) -> Backend:
        return cast(Backend, self.source)

    @cached_property
    def census(self) -> Census:
        """Sizes and levels, from one look at all partitions."""
        types, schema = library_named("pyarrow").types, self.source.schema
        found = self.backend.census(
            self.columns, [n for n in self.columns if types.is_dictionary(schema.field(n).type)]
        )
        if not found.rows:
            raise InputError.about("X", "has no rows", self.source.label)
        self.settle(found.rows)
        return found

    @cached_property
    def levels(self) -> dict[str, list[Any]]:
        types, schema = library_named("pyarrow").types, self.source.schema
        if not any(types.is_dictionary(schema.field(name).type) for name in self.columns):
            return {}  # no look is needed before the first question
        return self.census.levels

    @cached_property
    def _head_rows(self) -> Any:
        rows = self.source.first(self.columns, LOOK)
        if not rows.num_rows:
            raise InputError.about("X", "has no rows", self.source.label)
        return rows

    def head(self, columns: Sequence[str] | None = None) -> ArrowRows:
        wanted = list(self.columns if columns is None else columns)
        levels = {name: known for name, known in self.levels.items() if name in wanted}
        return next(self.cut(self._head_rows.select(wanted).to_batches(), levels, 0))


# What a partition's survey remembers of a column travels with every one of them: ranks are off by up to a thousandth more, which
# the pass that finds exact quantiles makes good.
POINTS, DISTINCT = 512, 1_024

log = logging.getLogger(__name__)


class DistributedRows(StreamRows):
    """The rows of a distributed frame: a stream whose passes are jobs, made where the rows are."""

    _passes = 0  # made so far

    @property
    def _sketching(self) -> dict[str, int]:
        return {"points": POINTS, "distinct": DISTINCT}

    def _pass(self, accumulators: Sequence[Accumulator], reader: BlockReader) -> None:
        """One job: accumulators go out, each partition gives back their states, these merge."""
        checkpoint, stream, waiting = self._checkpoint, self._partitions, list(accumulators)
        if checkpoint is not None:
            waiting, done = checkpoint.resume(accumulators)
            if not waiting:
                stream.settle(done)
                return
        census, columns = stream.census, needed_columns(waiting)
        for accumulator in waiting:
            accumulator.expect(census.rows)
        task = self._task(waiting, reader, columns)
        wanted = tuple(stream.columns if columns is None else columns)
        self._passes += 1
        began, title = (
            time.monotonic(),
            f"{waiting[-1].title}, pass {self._passes} over {stream.source.label}",
        )
        with Progress(title, total=census.rows, unit="rows") as progress:
            found = list(stream.backend.outcomes(self._packed_model, task, wanted, progress))
        whole = merged(waiting, found)
        log.info("%s: %.1f s, %d partitions in %d merged states", title, time.monotonic() - began, len(whole.parts), len(found))  # fmt: skip
        if whole.failure is not None:
            raise whole.failure.error(stream.backend.where(whole.failure.number))
        rows = check_parts(
            whole.parts, census.sizes if census.firm else None, census.rows, stream.source.label
        )
        for said in whole.versions.values():
            warnings.warn(f"Versions differ: {said}.", VersionWarning, stacklevel=2)
        if checkpoint is not None:
            checkpoint.write(waiting, rows, finished=True)

    @property
    def _partitions(self) -> PartitionStream:
        return cast(PartitionStream, self._stream)

    @cached_property
    def _packed_model(self) -> Broadcast:
        stream = self._partitions
        sent = stream.backend.travelling(self._model)
        probed = (
            None
            if sent is not self._model
            else sent.predict(self.head.slice(0, min(PROBED, self.head.n_rows)))
        )
        return packed_model(sent, self._choices, stream.head().arrow, probed, stream.backend.dumps)

    @cached_property
    def _versions(self) -> dict[str, str]:
        return versions_of(self._model.native)

    def _task(
        self, accumulators: Sequence[Accumulator], reader: BlockReader, columns: Sequence[str] | None
    ) -> Broadcast:
        stream, schema, arrow = self._partitions, self._stream.source.schema, library_named("pyarrow")
        names = stream.columns if columns is None else columns
        sizes = stream.census.sizes
        task = Pass(
            packed_accumulators(accumulators),
            reader,
            tuple(stream.columns),
            arrow.schema([schema.field(name) for name in names]),
            stream.levels,
            None if sizes is None else (0, *accumulate(sizes)),
            stream.block_rows,
            self._resources.memory,
            stream.source.label,
        )
        return packed_pass(task, self._versions)
