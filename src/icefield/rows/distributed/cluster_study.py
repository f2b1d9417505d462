"""A study of rows on a cluster: that of a stream, but passes are made where the rows are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, cast

from icefield.data.columns import library_named
from icefield.errors import InputError, VersionWarning, complaint
from icefield.progress import Progress
from icefield.rows.distributed.backend import ClusterOrigin, Looked
from icefield.rows.distributed.broadcast import (
    Parcel,
    Pass,
    packed_collectors,
    packed_model,
    packed_pass,
    versions_of,
)
from icefield.rows.distributed.partition_result import check_parts, merged
from icefield.rows.passes import Collector
from icefield.rows.source import LOOK
from icefield.rows.stream import Block, Stream
from icefield.rows.streamed_study import StreamedStudy
from icefield.rows.survey import Survey


class ClusterStream(Stream):
    """The rows of a distributed frame; only the first of them ever come here."""

    @property
    def origin(self) -> ClusterOrigin:
        return cast(ClusterOrigin, self.source)

    @cached_property
    def looked(self) -> Looked:
        """Sizes and levels, from one look at all partitions."""
        types, schema = library_named("pyarrow").types, self.source.schema
        found = self.origin.look(
            self.columns, [n for n in self.columns if types.is_dictionary(schema.field(n).type)]
        )
        if not found.rows:
            raise InputError(complaint("X", "has no rows", self.source.label))
        self.settle(found.rows)
        return found

    @cached_property
    def levels(self) -> dict[str, list[Any]]:
        types, schema = library_named("pyarrow").types, self.source.schema
        if not any(types.is_dictionary(schema.field(name).type) for name in self.columns):
            return {}  # no look is needed before the first question
        return self.looked.levels

    @cached_property
    def _head_rows(self) -> Any:
        rows = self.source.first(self.columns, LOOK)
        if not rows.num_rows:
            raise InputError(complaint("X", "has no rows", self.source.label))
        return rows

    def head(self, columns: Sequence[str] | None = None) -> Block:
        wanted = list(self.columns if columns is None else columns)
        levels = {name: known for name, known in self.levels.items() if name in wanted}
        return next(self.cut(self._head_rows.select(wanted).to_batches(), levels, 0))


class ClusterStudy(StreamedStudy):
    """A model and a distributed frame."""

    def _pass(
        self, collectors: Sequence[Collector], question: Any, columns: Sequence[str] | None = None
    ) -> None:
        """One job: a plan goes out, each partition gives back its sums, these merge."""
        checkpoint, stream = self._checkpoint, cast(ClusterStream, self.stream)
        if checkpoint is not None:
            done, finished = checkpoint.resume(question, collectors)
            if finished:
                stream.settle(done)
                return
        looked = stream.looked
        for collector in collectors:
            if isinstance(collector, Survey):
                collector.expect(looked.rows)
        model, task = self._parcel, self._task(collectors, columns)
        wanted = tuple(stream.columns if columns is None else columns)
        with Progress(collectors[-1].title, total=looked.rows, unit="rows") as progress:
            found = list(stream.origin.outcomes(model, task, wanted, stream.columns, progress))
        whole = merged(collectors, found)
        if whole.failure is not None:
            raise whole.failure.error(stream.origin.where(whole.failure.number))
        rows = check_parts(
            whole.parts, looked.sizes if looked.firm else None, looked.rows, stream.source.label
        )
        for said in whole.versions.values():
            warnings.warn(f"Versions differ: {said}.", VersionWarning, stacklevel=2)
        if checkpoint is not None:
            checkpoint.write(question, collectors, rows, finished=True)

    @cached_property
    def _parcel(self) -> Parcel:
        return packed_model(self, self.stream.head().arrow, cast(ClusterStream, self.stream).origin.dumps)

    @cached_property
    def _versions(self) -> dict[str, str]:
        return versions_of(self.model.native)

    def _task(self, collectors: Sequence[Collector], columns: Sequence[str] | None) -> Parcel:
        stream = cast(ClusterStream, self.stream)
        schema, arrow = stream.source.schema, library_named("pyarrow")
        names = stream.columns if columns is None else columns
        sizes = stream.looked.sizes
        plan = Pass(
            packed_collectors(collectors),
            tuple(stream.columns),
            arrow.schema([schema.field(name) for name in names]),
            stream.levels,
            None if sizes is None else (0, *accumulate(sizes)),
            stream.block_rows,
            self.resources.memory,
            stream.source.label,
        )
        return packed_pass(plan, self._versions)
