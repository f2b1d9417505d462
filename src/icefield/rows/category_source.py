"""Text columns of a source as the categories a model was trained on.

Neither CSV files nor most databases have a type for categories: DuckDB and a folder of CSV files give text where a booster
was trained on categories, and refuses text. The model's own levels say which columns are meant, as on the command line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from icefield.data.columns import library_named
from icefield.data.frame import Table
from icefield.models.categories import trained_levels
from icefield.rows.source import Origin, Source


def with_categories_of(model: Any, source: Origin, head: Table) -> Origin:
    """The source, with text columns of which the user's model knows the levels as categories; `head` are its first rows."""
    types = library_named("pyarrow").types
    texts = [f.name for f in source.schema if types.is_string(f.type) or types.is_large_string(f.type)]
    if not texts or not isinstance(source, Source):
        return source
    levels = trained_levels(model, head, texts)
    return CategorySource(source, levels) if levels else source


class CategorySource(Source):
    """A source some of whose text columns are categories.

    Parameters
    ----------
    source : whose rows they are
    columns : the columns of texts, with the levels a model knows; an empty cell of CSV is missing unless that is one of them
    """

    def __init__(self, source: Source, columns: Mapping[str, Sequence[Any]]) -> None:
        self.label, self.library = source.label, source.library
        self._source, self._columns = source, dict(columns)

    @cached_property
    def schema(self) -> Any:
        arrow, schema = library_named("pyarrow"), self._source.schema
        for name in self._columns:
            position = schema.get_field_index(name)
            kind = arrow.dictionary(arrow.int32(), arrow.string())
            schema = schema.set(position, schema.field(position).with_type(kind))
        return schema

    @property
    def n_rows(self) -> int | None:
        return self._source.n_rows

    def identity(self) -> Any:
        return self._source.identity()

    def frame(self, rows: Any) -> Any:
        return self._source.frame(rows)

    def batches(self, columns: Sequence[str], rows: int, skip: int = 0) -> Iterator[Any]:
        arrow, compute = library_named("pyarrow"), library_named("pyarrow.compute")
        read = [name for name in self._columns if name in columns]
        for batch in self._source.batches(columns, rows, skip):
            for name in read:
                texts = batch.column(name).cast(arrow.string())
                if "" not in self._columns[name]:
                    texts = compute.if_else(compute.equal(texts, ""), None, texts)
                coded = texts.dictionary_encode()
                batch = batch.set_column(batch.schema.get_field_index(name), self.schema.field(name), coded)
            yield batch
