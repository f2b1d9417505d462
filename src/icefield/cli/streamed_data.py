"""Folders, globs, several files and URLs as DATA: rows that are streamed, each block as the model takes it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from icefield.cli.data_files import DataFile
from icefield.cli.missing import MissingCells
from icefield.cli.model_data import ColumnTypes, InferredColumns, column_types, fitted_data
from icefield.libraries.native_files import optional
from icefield.rows.files import FORMATS, paths_of
from icefield.rows.source import Source, first_rows
from icefield.rows.sources import source_at
from icefield.rows.stores import is_url
from icefield.rows.table_formats import VERSION


def is_streamed(files: Sequence[str]) -> bool:
    """Whether rows are read in pieces: of a folder, a glob, several files, a URL or a version of a table."""
    (data, *further) = files
    version = VERSION.match(data)
    if is_url(data) or (version is not None and os.path.isdir(version["folder"])):
        return True
    wild = any(mark in data for mark in "*?[") and not os.path.exists(data)
    return bool(further) or wild or os.path.isdir(data)


def check_paths(files: Sequence[str]) -> None:
    """Refuse a path or a glob at which there is nothing, before a model is loaded; stores are asked later."""
    for path in files:
        if not (is_url(path) or VERSION.match(path) or os.path.exists(path)):
            paths_of(path)


def further_files(features: Sequence[str]) -> int:
    """How many of the words before the first feature are files: what a shell made of a glob."""
    for count, word in enumerate(features):
        if not (word.lower().endswith(tuple(FORMATS)) and (os.path.isfile(word) or is_url(word))):
            return count
    return len(features)


def streamed_data(
    model: Any, files: Sequence[str], missing: MissingCells, storage_options: Mapping[str, str] | None = None
) -> Source:
    """The rows of files, with levels as the model knows them."""
    source = source_at(files, storage_options, missing.user_texts)
    names = source.schema.names
    first = DataFile(first_rows(source, names), lines=None)
    types = column_types(model, names, InferredColumns(first, missing))
    return FittedSource(source, model, missing, types) if types.levels else source


class FittedSource(Source):
    """Another source, of which each block is fitted to a model."""

    def __init__(self, source: Source, model: Any, missing: MissingCells, types: ColumnTypes) -> None:
        self._source, self._model, self._missing, self._types = source, model, missing, types
        self._in_pandas = optional("pandas") is not None  # whose categories boosters know best
        self.label, self.library = source.label, "pandas" if self._in_pandas else source.library

    @property
    def schema(self) -> Any:
        return self._source.schema

    @property
    def n_rows(self) -> int | None:
        return self._source.n_rows

    def identity(self) -> Any:
        return self._source.identity()

    def batches(self, columns: Sequence[str], rows: int, skip: int = 0) -> Iterator[Any]:
        return self._source.batches(columns, rows, skip)

    def frame(self, rows: Any) -> Any:
        frame = self._source.frame(rows)
        block = DataFile(frame.to_pandas() if self._in_pandas else frame, lines=None)
        return fitted_data(self._model, block, self._missing, types=self._types).frame
