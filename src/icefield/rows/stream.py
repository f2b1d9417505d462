"""A source cut into pieces of one size whatever the batches were, decoded ahead, with levels known.

The size of a piece follows from the memory budget alone. Categories of all pieces share one list of levels: a model, or a grid, must not depend on which levels happen to lie in one file.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from icefield.counts import counted
from icefield.data.columns import clean_dictionary, dictionary_array, dictionary_levels, library_named
from icefield.errors import InputError, did_you_mean
from icefield.threads import Task, Workers

MOST_ROWS, LEAST_ROWS = 131_072, 8_192
BUDGET_SHARE = 16  # blocks may take this part of the budget, each about so many bytes a value:
VALUE_BYTES = 16
AHEAD = 2  # blocks decoded before they are needed


@dataclass(frozen=True, eq=False)
class ArrowRows:
    """Consecutive rows as they were read: the number of the first, and the rows in Arrow's form."""

    start: int
    arrow: Any

    @property
    def n_rows(self) -> int:
        return int(self.arrow.num_rows)


class Stream:
    """The rows of a source, some of its columns, in blocks.

    Parameters
    ----------
    source : where the rows come from
    columns : all that will ever be needed
    memory : the budget, in bytes
    """

    def __init__(self, source: Any, columns: Sequence[str], memory: int) -> None:
        known = source.schema.names
        for name in columns:
            if name not in known:
                raise InputError.about(
                    "X", f"has no column {name!r}", source.label, did_you_mean(name, known)
                )
        self.source, self.columns = source, tuple(columns)
        fitting = memory // BUDGET_SHARE // (VALUE_BYTES * max(1, len(columns)))
        self.block_rows = int(np.clip(fitting // LEAST_ROWS * LEAST_ROWS, LEAST_ROWS, MOST_ROWS))
        self._lock = threading.RLock()
        self.n_rows = source.n_rows  # settled by the first whole pass

    def blocks(self, columns: Sequence[str] | None = None, skip: int = 0) -> Generator[ArrowRows]:
        """Blocks of rows from row `skip` on, with these columns (None: all), decoded in a thread of its own."""
        return self._ahead(self._blocks(columns, skip))

    def _blocks(self, columns: Sequence[str] | None, skip: int) -> Generator[ArrowRows]:
        names = self.columns if columns is None else tuple(columns)
        levels = {name: known for name, known in self.levels.items() if name in names}
        return self.cut(self.source.batches(names, self.block_rows, skip), levels, skip)

    def head(self) -> ArrowRows:
        """The first rows, before any pass."""
        with closing(self._blocks(None, 0)) as blocks:
            for block in blocks:
                return block
        raise InputError.about("X", "has no rows", self.source.label)

    def settle(self, n_rows: int) -> None:
        """Remember how many rows a whole pass saw; another number than before is an error."""
        with self._lock:
            if self.n_rows is not None and self.n_rows != n_rows:
                raise InputError.about("X", f"gave {counted(n_rows)} rows in this pass and {counted(self.n_rows)} before: it must give the same rows every time",
                                       self.source.label)  # fmt: skip
            self.n_rows = n_rows

    @property
    def category_columns(self) -> list[str]:
        """The columns of a category type."""
        types, schema = library_named("pyarrow").types, self.source.schema
        return [name for name in self.columns if types.is_dictionary(schema.field(name).type)]

    @cached_property
    def levels(self) -> dict[str, list[Any]]:
        """The levels of every column of a category type, over all rows, in the order they are first listed."""
        seen: dict[str, dict[Any, None]] = {name: {} for name in self.category_columns}
        if seen:
            for batch in self.source.batches(list(seen), self.block_rows):
                for name in seen:
                    seen[name].update(dict.fromkeys(dictionary_levels(_coded(batch.column(name)))))
        return {name: list(levels) for name, levels in seen.items()}

    def cut(self, batches: Iterable[Any], levels: dict[str, list[Any]], start: int) -> Generator[ArrowRows]:
        """Batches as blocks of this stream; the first row is number `start`."""
        arrow = library_named("pyarrow")
        pending: list[Any] = []
        n_pending = 0

        def join_pending() -> Any:
            whole = arrow.Table.from_batches(pending)
            return whole if len(pending) == 1 else whole.combine_chunks()

        for batch in batches:
            rows = self._with_levels(batch, levels)
            while rows.num_rows:
                part = self.block_rows - n_pending
                pending.append(rows.slice(0, part))
                n_pending += pending[-1].num_rows
                rows = rows.slice(part)
                if n_pending == self.block_rows:
                    yield ArrowRows(start, join_pending())
                    start, n_pending, pending = start + n_pending, 0, []
        if n_pending:
            yield ArrowRows(start, join_pending())

    def _with_levels(self, batch: Any, levels: dict[str, list[Any]]) -> Any:
        arrow = library_named("pyarrow")
        for name, known in levels.items():
            kind = self.source.schema.field(name).type
            coded = clean_dictionary(_coded(batch.column(name)))
            code_of = {level: number for number, level in enumerate(known)}
            local = coded.dictionary.to_pylist()
            unknown = next((level for level in local if level not in code_of), ...)
            if unknown is not ...:
                raise InputError.about("X", f"shows a level of {name!r} that it did not have before: it must give the same rows every time",
                                       unknown)  # fmt: skip
            codes = np.array([code_of[level] for level in local] + [-1], dtype=np.int64)
            index = coded.indices.cast(arrow.int64()).fill_null(len(local)).to_numpy(zero_copy_only=False)
            column = dictionary_array(codes[index], known, kind)
            batch = batch.set_column(batch.schema.get_field_index(name), name, column)
        return batch

    def _ahead(self, blocks: Generator[ArrowRows]) -> Generator[ArrowRows]:
        """The same blocks, decoded in a thread of their own while those before are worked on."""
        with closing(blocks), Workers(1) as workers, workers:
            tasks: list[Task[ArrowRows | None]] = [workers.submit(next, blocks, None) for _ in range(AHEAD)]
            while (block := tasks.pop(0).result()) is not None:
                tasks.append(workers.submit(next, blocks, None))
                yield block


def _coded(array: Any) -> Any:
    types = library_named("pyarrow").types
    return array if types.is_dictionary(array.type) else array.dictionary_encode()
