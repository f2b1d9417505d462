"""The contract: where rows come from when they are too many to be held.

An `Origin` has a schema and shows its first rows. A `Source` gives all of them as Arrow record batches, from the first to the
last, as often as it is asked, with only the columns that are needed. It promises the same rows every time, or an error that
says what changed. Nothing else of the library knows files or lazy frames. Rows that lie on a cluster stay there:
`icefield.rows.distributed` has origins of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from icefield.data.columns import library_named
from icefield.data.frame import Table, table_of
from icefield.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from icefield.core.engine import Choices
    from icefield.core.rows import Rows
    from icefield.models.model import Model

LOOK = 1_000  # rows at which a model is tried


@dataclass(frozen=True)
class NamedColumns:
    """Columns that hold observed targets, weights and groups; None where there are none."""

    y: str | None = None
    weights: str | None = None
    by: str | None = None

    def with_those_of(self, model: Model) -> list[str]:
        """Names of these columns and of the model's, each once: all columns that are ever read."""
        named = (name for name in vars(self).values() if name is not None)
        return list(dict.fromkeys([*model.columns, *named]))


class Origin(ABC):
    """Rows outside of this process's memory: their schema, their first rows, and how to work on all of them.

    Attributes
    ----------
    label : what messages and notes call it
    library : the frame library a model gets its rows in
    vectors : by column that holds vectors, the columns its slots are, where the source says so
    """

    label: str
    library: str = "pyarrow"
    vectors: Mapping[str, tuple[str, ...]] = MappingProxyType({})

    @property
    @abstractmethod
    def schema(self) -> Any:
        """The Arrow schema of all columns."""

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, where that is known without reading them."""
        return None

    @abstractmethod
    def first(self, columns: Sequence[str], rows: int) -> Any:
        """Some of the first rows, at most this many, as an Arrow table with these columns; without rows where there are none."""

    @abstractmethod
    def identity(self) -> Any:
        """Plain values that identify this data; a checkpoint is recognised by them."""

    @abstractmethod
    def rows(self, model: Model, choices: Choices, beside: NamedColumns, checkpoint: Path | None) -> Rows:
        """The rows, for a model that will be asked about them; `checkpoint` is the file that sums of long passes go to."""

    def frame(self, rows: Any) -> Any:
        """An Arrow table as the frame a model gets."""
        return rows

    def table(self, rows: Any) -> Table:
        """An Arrow table as a `Table` of this source's library."""
        return table_of(self.frame(rows))


class Source(Origin):
    """Rows that can be read again and again."""

    def rows(self, model: Model, choices: Choices, beside: NamedColumns, checkpoint: Path | None) -> Rows:
        from icefield.rows.stream import Stream
        from icefield.rows.stream_rows import StreamRows

        stream = Stream(self, beside.with_those_of(model), choices.resources.memory)
        return StreamRows(stream, model, choices, beside, checkpoint)

    @abstractmethod
    def batches(self, columns: Sequence[str], rows: int, skip: int = 0) -> Iterator[Any]:
        """Record batches of about `rows` rows with these columns, in order, without the first `skip` rows."""

    def first(self, columns: Sequence[str], rows: int) -> Any:
        arrow = library_named("pyarrow")
        for batch in self.batches(columns, rows):
            if batch.num_rows:
                return arrow.Table.from_batches([batch.slice(0, rows)])
        return arrow.schema([self.schema.field(name) for name in columns]).empty_table()


def first_rows(source: Origin, names: Sequence[str]) -> Any:
    """The first rows of an origin, as an Arrow table."""
    rows = source.first(names, LOOK)
    if not rows.num_rows:
        raise InputError.about("X", "has no rows", source.label)
    return rows


def without_first(batches: Iterator[Any], skip: int) -> Iterator[Any]:
    """Batches without their first rows, for sources that cannot begin in the middle."""
    for batch in batches:
        if skip >= batch.num_rows:
            skip -= batch.num_rows
            continue
        yield batch.slice(skip) if skip else batch
        skip = 0


def cast_batch(batch: Any, schema: Any) -> Any:
    """A batch in the types of a schema, column by column; levels are left to who knows all of them."""
    arrow = library_named("pyarrow")
    arrays = []
    for array, field in zip(batch.columns, schema):
        if array.type != field.type and not arrow.types.is_dictionary(field.type):
            if arrow.types.is_dictionary(array.type):
                array = array.dictionary_decode()
            array = array.cast(field.type)
        arrays.append(array)
    return arrow.RecordBatch.from_arrays(arrays, names=schema.names)


def arrow_stream(schema: Any, parts: Iterable[Any]) -> Any:
    """Tables or record batches as one buffer in Arrow's format for streams."""
    buffer = library_named("pyarrow").BufferOutputStream()
    with library_named("pyarrow.ipc").new_stream(buffer, schema) as writer:
        for part in parts:
            writer.write(part)
    return buffer.getvalue()


def unreadable(where: str, error: BaseException) -> InputError:
    """The error for rows that cannot be read; `where` names the file."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return InputError.about("X", f"could not be read: {lines[0][:300]}", where)


def common_type(kinds: Sequence[Any]) -> Any:
    """The Arrow type that holds values of all these types as they are; None where there is none.

    Whole numbers of several widths meet in the wider, whole numbers and fractions in fractions, levels and text
    in text.
    """
    arrow = library_named("pyarrow")
    types = [kind for kind in dict.fromkeys(kinds) if not arrow.types.is_null(kind)]
    if len(types) < 2:
        return types[0] if types else next(iter(kinds))
    if any(arrow.types.is_dictionary(kind) for kind in types):
        values = common_type([k.value_type if arrow.types.is_dictionary(k) else k for k in types])
        if values is None or not all(arrow.types.is_dictionary(kind) for kind in types):
            return values
        return arrow.dictionary(arrow.int32(), values, ordered=all(k.ordered for k in types))
    try:
        schemas = [arrow.schema([("column", kind)]) for kind in types]
        merged = arrow.unify_schemas(schemas, promote_options="permissive")
    except arrow.ArrowException:
        return None
    kind = merged.field(0).type
    # Text that holds numbers is no promotion: a model would be handed another kind of column.
    numbers = [arrow.types.is_integer(k) or arrow.types.is_floating(k) for k in types]
    return None if any(numbers) and not all(numbers) else kind
