"""Rows of a distributed frame: those of a stream, but passes are made where the rows are."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, cast

from icefield.core.rows import Accumulator
from icefield.data.columns import library_named
from icefield.errors import InputError, VersionWarning
from icefield.progress import Progress
from icefield.rows.block_reader import BlockReader
from icefield.rows.distributed import broadcast
from icefield.rows.distributed.backend import Backend, Census
from icefield.rows.distributed.broadcast import Broadcast
from icefield.rows.distributed.partition_result import check_parts, merge_outcomes
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
        census = self.backend.census(self.columns, self.category_columns)
        if not census.rows:
            raise InputError.about("X", "has no rows", self.source.label)
        self.settle(census.rows)
        return census

    @cached_property
    def levels(self) -> dict[str, list[Any]]:
        return self.census.levels if self.category_columns else {}  # not read before the first question

    @cached_property
    def _head_rows(self) -> Any:
        rows = self.source.first(self.columns, LOOK)
        if not rows.num_rows:
            raise InputError.about("X", "has no rows", self.source.label)
        return rows

    def head(self) -> ArrowRows:
        return next(self.cut(self._head_rows.to_batches(), self.levels, 0))


# What a partition's survey remembers of a column travels with every one of them: ranks are off by up to a thousandth more, which
# the pass that finds exact quantiles makes good.
POINTS, DISTINCT = 512, 1_024

log = logging.getLogger(__name__)


class DistributedRows(StreamRows):
    """The rows of a distributed frame: a stream whose passes are jobs, made where the rows are."""

    _passes = 0  # made so far
    _sketching: Mapping[str, int] = {"points": POINTS, "distinct": DISTINCT}

    def _pass(self, accumulators: Sequence[Accumulator], reader: BlockReader) -> None:
        """One job: accumulators go out, each partition gives back their states, these merge."""
        checkpoint, stream, unread = self._checkpoint, self._partitions, list(accumulators)
        if checkpoint is not None:
            unread, done = checkpoint.resume(accumulators)
            if not unread:
                stream.settle(done)
                return
        census, needed = stream.census, needed_columns(unread)
        columns = stream.columns if needed is None else needed
        for accumulator in unread:
            accumulator.expect(census.rows)
        task = self._task(unread, reader, columns)
        self._passes += 1
        title = f"{unread[-1].title}, pass {self._passes} over {stream.source.label}"
        began = time.monotonic()
        with Progress(title, total=census.rows, unit="rows") as progress:
            outcomes = list(stream.backend.outcomes(self._packed_model, task, columns, progress))
        whole = merge_outcomes(unread, outcomes)
        log.info("%s: %.1f s, %d partitions in %d merged states", title, time.monotonic() - began, len(whole.parts), len(outcomes))  # fmt: skip
        if whole.failure is not None:
            raise whole.failure.error(stream.backend.where(whole.failure.number))
        sizes = census.sizes if census.firm else None
        rows = check_parts(whole.parts, sizes, census.rows, stream.source.label)
        for difference in whole.versions.values():
            warnings.warn(f"Versions differ: {difference}.", VersionWarning, stacklevel=2)
        if checkpoint is not None:
            checkpoint.write(unread, rows, finished=True)

    @property
    def _partitions(self) -> PartitionStream:
        return cast(PartitionStream, self._stream)

    @cached_property
    def _packed_model(self) -> Broadcast:
        stream = self._partitions
        model = stream.backend.model_to_send(self._model)
        rows = self.head.slice(0, min(broadcast.PROBED, self.head.n_rows))
        probed = model.predict(rows) if model is self._model else None
        return broadcast.pack_model(model, self._choices, stream.head().arrow, probed, stream.backend.dumps)

    @cached_property
    def _versions(self) -> dict[str, str]:
        return broadcast.versions_of(self._model.native)

    def _task(
        self, accumulators: Sequence[Accumulator], reader: BlockReader, columns: Sequence[str]
    ) -> Broadcast:
        stream, schema, sizes = self._partitions, self._stream.source.schema, self._partitions.census.sizes
        task = broadcast.Pass(
            broadcast.pack_accumulators(accumulators),
            reader,
            tuple(stream.columns),
            library_named("pyarrow").schema([schema.field(name) for name in columns]),
            stream.levels,
            None if sizes is None else (0, *accumulate(sizes)),
            stream.block_rows,
            self._resources.memory,
            stream.source.label,
        )
        return broadcast.pack_pass(task, self._versions)
