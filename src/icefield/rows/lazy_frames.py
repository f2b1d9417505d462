"""Rows from queries that have not run yet: polars `LazyFrame`s, DuckDB relations, factories of Arrow readers.

Each is run anew for every pass, with only the columns that pass needs. Schemas and selections are narwhals'; how rows
come out in pieces is each library's own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from icefield.data.columns import library_named
from icefield.errors import InputError, InputTypeError
from icefield.rows.source import Source, unreadable, without_first


class LazySource(Source):
    """A query as narwhals sees it, run by its own library."""

    def __init__(self, label: str, query: Any) -> None:
        import narwhals as nw

        self.label, self._query = label, nw.from_native(query)

    @cached_property
    def schema(self) -> Any:
        return next(iter(self._pieces(None, 1))).schema

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._query.collect_schema().names())

    def identity(self) -> Any:
        return {"query": self.label, "schema": str(self.schema)}

    def batches(self, columns: Sequence[str], rows: int, skip: int = 0) -> Iterator[Any]:
        try:
            yield from without_first(self._pieces(columns, rows), skip)
        except InputError:
            raise
        except Exception as error:  # whatever the library raises when its query fails
            raise unreadable(self.label, error) from error

    def _select(self, columns: Sequence[str] | None, head: bool) -> Any:
        query = self._query if columns is None else self._query.select(list(columns))
        return (query.head(1) if head else query).to_native()

    @abstractmethod
    def _pieces(self, columns: Sequence[str] | None, rows: int) -> Iterator[Any]:
        """Record batches of these columns; of all columns, only the first row (or none, but the schema)."""


class PolarsSource(LazySource):
    """A polars `LazyFrame`; models get polars frames."""

    library = "polars"

    def _pieces(self, columns: Sequence[str] | None, rows: int) -> Iterator[Any]:
        selected = self._select(columns, columns is None)
        frames = selected.collect_batches(chunk_size=rows, maintain_order=True)
        batches = (batch for frame in frames for batch in frame.to_arrow().to_batches())
        yield from _or_empty(batches, lambda: selected.head(0).collect().to_arrow().schema)

    def frame(self, rows: Any) -> Any:
        polars = library_named("polars")
        frame = polars.from_arrow(rows)
        declared = self._query.to_native().collect_schema()
        # Arrow's levels come back as categories; those whose type lists them get it again.
        enums = {n: declared[n] for n in frame.columns if isinstance(declared[n], polars.Enum)}
        return frame.cast(enums) if enums else frame


class DuckDBSource(LazySource):
    """A DuckDB relation."""

    def _pieces(self, columns: Sequence[str] | None, rows: int) -> Iterator[Any]:
        relation = self._select(columns, columns is None)
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        yield from of_reader(reader(max(1, rows)))


class ReaderSource(Source):
    """A function that opens a new `RecordBatchReader` every time it is called."""

    def __init__(self, label: str, open_reader: Callable[[], Any]) -> None:
        self.label, self._open = label, open_reader
        self._last: Any = None

    def _new_reader(self) -> Any:
        try:
            reader = self._open()
        except Exception as error:
            raise unreadable(self.label, error) from error
        arrow = library_named("pyarrow")
        if not isinstance(reader, arrow.RecordBatchReader):
            if not hasattr(reader, "__arrow_c_stream__"):
                raise InputTypeError.about("X", "must be a function that opens a pyarrow.RecordBatchReader", reader,
                                           "write X=lambda: pyarrow.RecordBatchReader.from_batches(schema, batches())")  # fmt: skip
            reader = arrow.RecordBatchReader.from_stream(reader)
        if reader is self._last:
            raise InputError.about("X", "must open a new reader every time it is called, but gave the same one again", reader,
                                   "rows are read several times: open the reader inside the function")  # fmt: skip
        self._last = reader
        return reader

    @cached_property
    def schema(self) -> Any:
        return self._new_reader().schema

    def identity(self) -> Any:
        return {"reader": self.label, "schema": str(self.schema)}

    def batches(self, columns: Sequence[str], rows: int, skip: int = 0) -> Iterator[Any]:
        reader = self._new_reader()
        if reader.schema != self.schema:
            raise InputError.about(
                "X", "opened a reader of another schema than before", str(reader.schema)[:200]
            )
        selected = (batch.select(list(columns)) for batch in of_reader(reader))
        arrow = library_named("pyarrow")
        try:
            yield from without_first(selected, skip)
        except (OSError, arrow.ArrowException) as error:
            raise unreadable(self.label, error) from error


def of_reader(reader: Any) -> Iterator[Any]:
    """A reader's batches; an empty one where it has none, so that its schema is known."""
    return _or_empty(reader, lambda: reader.schema)


def _or_empty(batches: Iterable[Any], schema: Callable[[], Any]) -> Iterator[Any]:
    any_batch = False
    for batch in batches:
        any_batch = True
        yield batch
    if not any_batch:
        kinds, arrow = schema(), library_named("pyarrow")
        yield arrow.RecordBatch.from_pydict({name: [] for name in kinds.names}, schema=kinds)
