"""From what a user passes as X to rows, and to the model ready to be asked about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from icefield import validate
from icefield.data.frame import ArrayTable, Table, table_of
from icefield.data.groups import clusters_of, groups_of
from icefield.errors import InputError, InputTypeError, did_you_mean
from icefield.models.model import Model, read_model
from icefield.rows.memory import MemoryRows

if TYPE_CHECKING:
    from pathlib import Path

    from icefield.core.engine import Choices
    from icefield.core.rows import Rows
    from icefield.rows.source import Origin


@dataclass(frozen=True, eq=False)
class OpenedRows:
    """What `open_rows` returns: rows, the model ready to predict them, and the first rows with all columns."""

    rows: Rows
    model: Model
    head: Table


@dataclass(frozen=True, eq=False)
class BesideColumns:
    """What was passed beside X: observed targets, weights, groups and clusters, as in `Explainer`."""

    y: Any = None
    weights: Any = None
    by: Any = None
    cluster: Any = None


def open_rows(
    model: Any,
    X: Any,
    beside: BesideColumns,
    choices: Choices,
    *,
    target: Any = None,
    scale: str = "response",
    row_by_row: bool = False,
    checkpoint: str | Path | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> OpenedRows:
    """Rows in memory, or a stream or a distributed frame of them."""
    source = _source_of(X, storage_options)
    if source is not None:
        reads = partial(
            read_model, model, target=target, scale=scale, row_by_row=row_by_row, vectors=source.vectors
        )
        return _open_stream(model, reads, source, beside, choices, checkpoint)
    if checkpoint is not None:
        raise InputError.about("checkpoint", "is for rows that are streamed, and these are in memory", checkpoint,
                               "pass a path, a dataset, a lazy frame or a relation as X")  # fmt: skip
    table = _with_model_names(table_of(X), model)
    if table.n_rows == 0 or not table.names:
        raise InputError.about("X", "must have at least one row and one column", f"{table.n_rows} rows")
    loaded = read_model(model, table, target=target, scale=scale, row_by_row=row_by_row)
    weights = validate.weights(beside.weights, table)
    rows = MemoryRows(
        table,
        y=validate.observed(beside.y, table),
        weights=weights,
        groups=groups_of(beside.by, table, weights),
        clusters=clusters_of(beside.cluster, table),
        seed=choices.resources.seed,
    )
    return OpenedRows(rows, loaded, table)


def _source_of(X: Any, storage_options: Mapping[str, Any] | None) -> Origin | None:
    """The source that rows are streamed from; None for data in memory, most of which its library alone identifies."""
    if storage_options is None and type(X).__module__.split(".")[0] in ("numpy", "pandas", "scipy"):
        return None
    from icefield.rows.sources import source_of

    return source_of(X, storage_options)


def _with_model_names(table: Table, model: Any) -> Table:
    """The table, with the names that the model was fitted with where it is an array without names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or len(names) != len(table.names) or not isinstance(table, ArrayTable) or table.named:
        return table
    return table.renamed([str(n) for n in names])


def _open_stream(
    model: Any,
    read_model_on: Callable[[Table], Model],
    source: Origin,
    beside: BesideColumns,
    choices: Choices,
    checkpoint: str | Path | None,
) -> OpenedRows:
    """A stream, or a distributed frame; `y`, `weights` and `by` are names of columns. The model is read on the first rows."""
    from pathlib import Path

    from icefield.rows.category_source import with_categories_of
    from icefield.rows.source import NamedColumns, first_rows

    if beside.cluster is not None:
        raise InputError.about("cluster", "needs all rows in memory, and these are streamed", beside.cluster,
                               "read a sample of whole clusters into a frame, and pass that as X")  # fmt: skip
    names = source.schema.names
    roles = NamedColumns(beside.y, beside.weights, beside.by)
    for parameter, name in vars(roles).items():
        _check_column(parameter, name, names)
    # What is named for another purpose is no feature, unless the model knows its columns and lists it.
    head = source.table(first_rows(source, names))
    with_categories = with_categories_of(model, source, head)
    if with_categories is not source:
        source, head = with_categories, with_categories.table(first_rows(with_categories, names))
    loaded = read_model_on(head)
    file = None if checkpoint is None else Path(checkpoint)
    return OpenedRows(source.rows(loaded, choices, roles, file), loaded, head)


def _check_column(parameter: str, name: Any, names: list[str]) -> None:
    if name is None:
        return
    if not isinstance(name, str):
        raise InputTypeError.about(parameter, "must be the name of a column where rows are streamed", name,
                                   f"the columns are {', '.join(map(repr, names[:10]))}")  # fmt: skip
    if name not in names:
        raise InputError.about(
            parameter, "names a column that the rows do not have", name, did_you_mean(name, names)
        )
