"""From what a user passes to a study of streamed rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from icefield.errors import InputError, InputTypeError, complaint, did_you_mean
from icefield.models.model import read_model
from icefield.plan import Settings
from icefield.sources.source import Origin, Source, first_rows
from icefield.sources.stream import Stream
from icefield.sources.streamed_study import StreamedStudy


def streamed(
    model: Any,
    source: Origin,
    settings: Settings,
    *,
    y: Any = None,
    weights: Any = None,
    by: Any = None,
    checkpoint: str | Path | None = None,
) -> StreamedStudy:
    """A study of a model and a source; `y`, `weights` and `by` are names of columns."""
    known = source.schema.names
    for parameter, name in (("y", y), ("weights", weights), ("by", by)):
        _check_column(parameter, name, known)
    # What is named for another purpose is no feature, unless the model knows its columns and lists it.
    head = source.table(first_rows(source, known))
    read = read_model(
        model, head, target=settings.target, scale=settings.scale, row_by_row=settings.row_by_row
    )
    needed = dict.fromkeys([*read.columns, *(name for name in (y, weights, by) if name is not None)])
    made, kind = (Stream, StreamedStudy) if isinstance(source, Source) else _on_cluster()
    stream = made(source, list(needed), settings.resources.memory)
    kept = None
    if checkpoint is not None:
        from icefield.sources.checkpoint import Checkpoint

        kept = Checkpoint(Path(checkpoint), stream, read)
    return kind(
        read, stream, y=y, weights=weights, by=by, background=settings.background, engine=settings.engine,
        resources=settings.resources, naming=settings.naming(head), checkpoint=kept,
    )  # fmt: skip


def _on_cluster() -> tuple[type[Stream], type[StreamedStudy]]:
    from icefield.clusters.cluster_study import ClusterStream, ClusterStudy

    return ClusterStream, ClusterStudy


def _check_column(parameter: str, name: Any, known: list[str]) -> None:
    if name is None:
        return
    if not isinstance(name, str):
        raise InputTypeError(
            complaint(parameter, "must be the name of a column where rows are streamed", name,
                      f"the columns are {', '.join(map(repr, known[:10]))}")
        )  # fmt: skip
    if name not in known:
        raise InputError(
            complaint(parameter, "names a column that the rows do not have", name, did_you_mean(name, known))
        )
