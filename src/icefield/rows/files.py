"""Rows from files: Parquet, Arrow and CSV, one file or thousands, or any `pyarrow.dataset.Dataset`.

Files are read one after another in the order of their names, so that whatever goes wrong is said of one file. Columns
are found by name; files may order them differently, and number types may differ where one type holds
them all. A file that lacks a column, or that is not the file it was at the start, is an error that names it. Small files are
read several at a time: a scanner of its own for each would take longer than its rows. Where files lie is the business of
`icefield.rows.stores`.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from icefield.counts import counted
from icefield.data.columns import library_named
from icefield.errors import IcefieldError, InputError, did_you_mean
from icefield.rows.csv_text import HEAD, problem_of, separator_of
from icefield.rows.source import Source, cast_batch, common_type, unreadable, without_first
from icefield.rows.stores import OPENED_AT_ONCE, Store, is_hidden, is_url, not_reached, open_store

FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc", ".csv": "csv",
    ".tsv": "tsv",
}  # fmt: skip
USUAL = {"csv": ",", "tsv": "\t"}  # between the cells of texts
BLOCK = 2**20  # bytes of a text that Arrow parses at a time
AHEAD = 2  # batches a file is decoded ahead: a row group of hundreds of columns is large
TOGETHER = 64  # files at most that are read by one scanner
FILES_AHEAD, REMOTE_FILES_AHEAD = 4, 16  # small files decoded ahead: those elsewhere take a round trip each
# Formats that know how many rows they have:
COUNTED = ("ParquetFileFormat", "IpcFileFormat", "FeatherFileFormat", "NoneType")


@dataclass(frozen=True, eq=False)
class TableFile:
    """One file of a table: its place, its fragment and schema, its number of rows, and its size and time when opened."""

    where: str
    fragment: Any
    schema: Any
    n_rows: int | None
    stamp: tuple[int, int] | None  # size in bytes and time of the last change


class FileSource(Source):
    """Files of one table, or the fragments of a `pyarrow.dataset.Dataset`.

    Parameters
    ----------
    label : what messages call it
    fragments : `pyarrow.dataset` fragments
    store : where they are; None for data in memory
    version : of a table whose states have numbers, what tells this one from others; of plain values
    """

    def __init__(
        self,
        label: str,
        fragments: Sequence[Any],
        store: Store | None = None,
        version: Mapping[str, Any] | None = None,
    ) -> None:
        self.label, self._version = label, version
        self._store = Store(None) if store is None else store
        self._closed: set[str] = set()  # texts whose quotes are known to be closed
        if self._store.is_remote:
            with ThreadPoolExecutor(OPENED_AT_ONCE) as threads:
                self._parts = list(threads.map(self._part, range(len(fragments)), fragments))
        else:
            self._parts = list(map(self._part, range(len(fragments)), fragments))
        if not self._parts:
            raise InputError.about("X", "names no data file", label)

    def _part(self, number: int, fragment: Any) -> TableFile:
        arrow, dataset = library_named("pyarrow"), library_named("pyarrow.dataset")
        path = getattr(fragment, "path", None)
        where = f"part {number + 1} of {self.label}" if path is None else self._store.display_path(path)

        def inspect() -> tuple[Any, Any, list[str], int | None]:
            looks, schema = self._stamps([path])[0], fragment.physical_schema
            names = schema.names  # which may not even be text
            count = None if _is_text(fragment) else fragment.count_rows()
            return looks, schema, names, count

        try:
            looks, schema, names, count = self._store.answer(where, inspect)
            keys = dataset.get_partition_keys(fragment.partition_expression)
        except (OSError, UnicodeDecodeError, arrow.ArrowException) as error:
            _fail(self._store, path, where, error)
        if _is_text(fragment) and any(arrow.types.is_binary(kind) for kind in schema.types):
            _fail(self._store, path, where, ValueError("it holds bytes that are no text in UTF-8"))
        for name, value in keys.items():  # what a folder's name says of all its rows
            if name not in names:
                schema = schema.append(arrow.field(name, arrow.scalar(value).type))
        return TableFile(where, fragment, schema, count, looks)

    def _stamps(self, paths: Sequence[str | None]) -> list[tuple[int, int] | None]:
        """Size and time of the last change of each file, where that is known."""
        if None in paths or self._store.filesystem is None:
            return [None] * len(paths)
        infos = self._store.infos([str(path) for path in paths])
        return [(int(info.size or 0), int(info.mtime_ns or 0)) for info in infos]

    @property
    def _failures(self) -> tuple[type[Exception], ...]:
        """The errors that reading may raise: of a remote store, whatever its library has."""
        return (Exception,) if self._store.is_remote else (OSError, library_named("pyarrow").ArrowException)

    @cached_property
    def schema(self) -> Any:
        arrow = library_named("pyarrow")
        kinds: dict[str, dict[Any, TableFile]] = {}
        for part in self._parts:
            for field in part.schema:
                kinds.setdefault(field.name, {}).setdefault(field.type, part)
        fields = []
        for name, types in kinds.items():
            kind = common_type(list(types))
            if kind is None:
                (first, part), *_, (second, other_part) = types.items()
                raise InputError.about("X", f"holds {first} in the column {name!r} of {part.where}, but {second} in another file",
                                       other_part.where, "write the file with the same types as the others")  # fmt: skip
            fields.append(arrow.field(name, kind))
        return arrow.schema(fields)

    @cached_property
    def n_rows(self) -> int | None:
        counts = [part.n_rows for part in self._parts]
        return None if any(count is None for count in counts) else sum(count or 0 for count in counts)

    def identity(self) -> Any:
        if self._version is not None:
            return {**self._version, "rows": "None"}
        parts = [[part.where, *(part.stamp or ()), part.n_rows] for part in self._parts]
        return {"files": parts, "rows": "None"}

    def batches(self, columns: Sequence[str], rows: int, skip: int = 0) -> Iterator[Any]:
        arrow = library_named("pyarrow")
        schema = arrow.schema([self.schema.field(name) for name in columns])
        for part in self._parts:
            missing = [name for name in columns if name not in part.schema.names]
            if missing:
                raise InputError.about("X", f"has a file without the column {missing[0]!r}", part.where,
                                       did_you_mean(missing[0], part.schema.names))  # fmt: skip
        remaining = list(self._parts)
        while remaining and remaining[0].n_rows is not None and skip >= remaining[0].n_rows:
            skip -= remaining.pop(0).n_rows or 0
        for parts in _runs(remaining, rows):
            for batch in self._read(parts, schema, rows):
                yield from without_first(iter([batch]), skip)
                skip = max(0, skip - batch.num_rows)

    def _read(self, parts: Sequence[TableFile], schema: Any, rows: int) -> Iterator[Any]:
        """The rows of one file, or of several small ones of one schema."""
        self._check_unchanged(parts)
        n_read = dict.fromkeys((part.where for part in parts), 0)
        try:
            for part, batch in self._store.within(parts[0].where, self._scan(parts, schema, rows)):
                n_read[part.where] += batch.num_rows
                yield cast_batch(batch, schema)
        except IcefieldError:
            raise
        except self._failures as error:
            self._check_unchanged(parts)  # a file that is being rewritten reads as a broken one
            part = parts[0] if len(parts) == 1 else self._first_unreadable(parts, schema, rows)
            _fail(self._store, getattr(part.fragment, "path", None), part.where, error)
        self._check_unchanged(parts)
        for part in parts:
            if part.n_rows is not None and n_read[part.where] != part.n_rows:
                raise InputError.about("X", f"has a file that gave {counted(n_read[part.where])} rows where it should have {counted(part.n_rows)}", part.where)  # fmt: skip
            if _is_text(part.fragment) and not self._store.is_remote and part.where not in self._closed:
                if _ends_within_quotes(part.where):
                    raise _unreadable(part.where, part.where, ValueError("a quoted text does not end"))
                self._closed.add(part.where)

    def _scan(self, parts: Sequence[TableFile], schema: Any, rows: int) -> Iterator[tuple[TableFile, Any]]:
        """Batches in the order of files, each with the file it is of."""
        first = parts[0]
        if len(parts) == 1:
            for batch in _scanner(first.fragment, schema.names, rows, schema=first.schema).to_batches():
                yield first, batch
            return
        dataset = library_named("pyarrow.dataset")
        fragments, of_path = [part.fragment for part in parts], {part.fragment.path: part for part in parts}
        kind, ahead = first.fragment.format, REMOTE_FILES_AHEAD if self._store.is_remote else FILES_AHEAD
        files = dataset.FileSystemDataset(fragments, first.schema, kind, self._store.filesystem)
        for tagged in _scanner(files, schema.names, rows, ahead).scan_batches():
            yield of_path[tagged.fragment.path], tagged.record_batch

    def _first_unreadable(self, parts: Sequence[TableFile], schema: Any, rows: int) -> TableFile:
        """The first of some files that cannot be read by itself."""
        for part in parts:
            try:
                for _ in self._scan([part], schema, rows):
                    pass
            except self._failures:
                return part
        return parts[0]

    def _check_unchanged(self, parts: Sequence[TableFile]) -> None:
        if parts[0].stamp is None:
            return
        current = self._store.answer(parts[0].where, self._stamps, [part.fragment.path for part in parts])
        for part, now in zip(parts, current):
            if now != part.stamp:
                raise InputError.about("X", "has a file that changed while its rows were read: no result would describe one state of it",
                                       part.where, "make a new Explainer once the file is complete")  # fmt: skip


def _runs(parts: Sequence[TableFile], rows: int) -> Iterator[list[TableFile]]:
    """Files in runs that one scanner reads: alike in schema and format, and in all no more rows than a batch has."""
    run: list[TableFile] = []
    for part in parts:
        n_rows = sum(member.n_rows or 0 for member in (*run, part))
        if run and (n_rows > rows or len(run) == TOGETHER or not _is_alike(part, run[0])):
            yield run
            run = []
        run.append(part)
    if run:
        yield run


def _is_alike(part: TableFile, other: TableFile) -> bool:
    paths = [getattr(member.fragment, "path", None) for member in (part, other)]
    if None in (part.n_rows, other.n_rows, *paths):
        return False
    return bool(part.schema.equals(other.schema) and part.fragment.format == other.fragment.format)


def _scanner(dataset: Any, columns: list[str], rows: int, ahead: int = 1, **keywords: Any) -> Any:
    """A scanner of a fragment or dataset: batches of `rows` rows, `ahead` files decoded in advance."""
    options = _checksum_options(getattr(dataset, "format", None))
    return dataset.scanner(
        columns=columns, batch_size=rows, batch_readahead=AHEAD, fragment_readahead=ahead, fragment_scan_options=options, **keywords
    )  # fmt: skip


def _checksum_options(reader: Any) -> Any:
    """Scan options by which Parquet compares its pages' checksums; None for other formats and readers with options of their own.

    Damage that decodes would change a curve in silence. A dataset read with options of its user's keeps them.
    """
    dataset = library_named("pyarrow.dataset")
    if type(reader).__name__ != "ParquetFileFormat":
        return None
    if reader.default_fragment_scan_options != dataset.ParquetFragmentScanOptions():
        return None
    return dataset.ParquetFragmentScanOptions(page_checksum_verification=True)


def _is_text(fragment: Any) -> bool:
    """Whether rows can only be counted by reading all of them."""
    return type(getattr(fragment, "format", None)).__name__ not in COUNTED


def files_of(
    *texts: str, missing: Sequence[str] = (), storage_options: Mapping[str, Any] | None = None
) -> FileSource:
    """The files that paths, folders and globs mean, on this machine or by URLs of one store.

    `missing` are texts that stand for no value in CSV.
    """
    arrow, dataset = library_named("pyarrow"), library_named("pyarrow.dataset")
    store, paths = open_store(texts, storage_options)
    label = store.secrets.masked(texts[0])
    text = label if len(texts) == 1 else f"{label} and {len(texts) - 1:,} more"
    fragments, where = [], None
    try:
        paths = list(dict.fromkeys(path for entry in paths for path in _paths_in(store, entry)))
        kinds = {path: _dialect(path, store) for path in paths}
        for kind in dict.fromkeys(kinds.values()):
            same = [path for path in paths if kinds[path] == kind]
            where = same[0]  # whose columns are looked at
            reader = _reader(*kind, missing)

            def open_fragments(same: list[str] = same, reader: Any = reader) -> list[Any]:
                files = dataset.dataset(same, format=reader, partitioning="hive", filesystem=store.filesystem)
                return list(files.get_fragments())

            fragments += store.answer(store.display_path(where), open_fragments)
    except (OSError, UnicodeDecodeError, arrow.ArrowException) as error:
        _fail(store, where, text if where is None else store.display_path(where), error)
    return FileSource(text, sorted(fragments, key=lambda path: str(path.path)), store)


class FilteredSource(Source):
    """A `pyarrow.dataset.Dataset` with a filter, which shows neither its files nor its filter: it is scanned as a whole."""

    def __init__(self, label: str, dataset: Any) -> None:
        self.label, self._dataset = label, dataset

    @property
    def schema(self) -> Any:
        return self._dataset.schema

    def identity(self) -> Any:
        return {"filtered": str(getattr(self._dataset, "files", self.label)), "schema": str(self.schema)}

    def batches(self, columns: Sequence[str], rows: int, skip: int = 0) -> Iterator[Any]:
        arrow = library_named("pyarrow")
        try:
            scanner = _scanner(self._dataset, list(columns), rows)
            yield from without_first(scanner.to_batches(), skip)
        except (OSError, arrow.ArrowException) as error:
            raise unreadable(self.label, error) from error


def of_dataset(
    dataset: Any,
    label: str = "the dataset",
    version: Mapping[str, Any] | None = None,
    store: Store | None = None,
) -> Source:
    """A `pyarrow.dataset.Dataset` as it is, with whatever filter and partitions it has; `version` is as in `FileSource`."""
    try:
        fragments = sorted(dataset.get_fragments(), key=lambda fragment: str(getattr(fragment, "path", "")))
    except ValueError:  # which is what Arrow says of a filter
        return FilteredSource("the filtered dataset", dataset)
    if store is None and getattr(dataset, "filesystem", None) is not None:
        local = dataset.filesystem.type_name in ("local", "subtree")
        store = Store(dataset.filesystem, "" if local else str(dataset.filesystem.type_name))
    return FileSource(label, fragments, store, version)


def _dialect(path: str, store: Store | None = None) -> tuple[str, str]:
    """A file's format and, of a text, what stands between its cells."""
    kind = _format(path)
    if kind not in USUAL:
        return kind, ""
    if store is not None and store.is_remote:
        return kind, separator_of(store.answer(store.display_path(path), _head, store, path), USUAL[kind])
    with open(path, "rb") as file:
        return kind, separator_of(file.read(HEAD), USUAL[kind])


def _head(store: Store, path: str) -> bytes:
    with store.filesystem.open_input_file(path) as file:
        return bytes(file.read(HEAD))


def _paths_in(store: Store, path: str) -> list[str]:
    """The files of known formats that a path of a store means."""
    if not store.is_remote:
        return paths_of(path)
    names = store.files(path)
    files = [name for name in names if Path(name.partition("?")[0]).suffix.lower() in FORMATS]
    if not files:
        raise InputError.about("X", f"must name files of {', '.join(FORMATS)}", store.display_path(path))
    return files


def _fail(store: Store, path: str | None, where: str, error: Exception) -> NoReturn:
    """Say what is wrong with a file. The text of a library that reaches elsewhere may hold credentials."""
    if store.is_remote:
        raise not_reached(where, error, store.secrets) from None
    raise _unreadable(path, where, error) from error


def _unreadable(path: str | None, where: str, error: Exception) -> InputError:
    """The error for a file that cannot be read, with the line where it is a text."""
    fault = None if path is None or isinstance(error, OSError) else _csv_problem(path)
    return unreadable(where, error) if fault is None else InputError.about("X", fault[0], where, fault[1])


def _ends_within_quotes(path: str) -> bool:
    """Whether a text may end within a quoted cell, into which Arrow takes all of its last block."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - 2 * BLOCK))
        if b'"' not in file.read():
            return False
        file.seek(0)
        quotes = sum(block.count(b'"') for block in iter(lambda: file.read(BLOCK), b""))
    return quotes % 2 == 1 and _csv_problem(path) is not None


def _csv_problem(path: str) -> tuple[str, str] | None:
    """The problem of a CSV file of this machine and a hint; None for other files and formats."""
    if FORMATS.get(Path(path).suffix.lower()) not in USUAL or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return problem_of(file, _dialect(path)[1])


def _reader(kind: str, separator: str, missing: Sequence[str]) -> Any:
    """The format that pyarrow reads files of this kind with: its name, or CSV options."""
    if kind not in USUAL:
        return kind
    dataset, csv = library_named("pyarrow.dataset"), library_named("pyarrow.csv")
    parsing = csv.ParseOptions(delimiter=separator)
    if not missing:
        return dataset.CsvFileFormat(parsing)
    conversion = csv.ConvertOptions(null_values=["", *missing], strings_can_be_null=True)
    return dataset.CsvFileFormat(
        parsing, default_fragment_scan_options=dataset.CsvFragmentScanOptions(convert_options=conversion)
    )


def paths_of(text: str) -> list[str]:
    """The files that a path, a folder or a glob means, of this machine."""
    if os.path.isdir(text):
        within = (os.path.join(folder, name) for folder, _, names in os.walk(text) for name in names)
        paths = [p for p in within if not is_hidden(p[len(text) :])]
        files = [path for path in paths if Path(path).suffix.lower() in FORMATS]
        if not files:
            raise InputError.about("X", f"is a folder without a file of {', '.join(FORMATS)}", text, "name another folder")  # fmt: skip
        return sorted(files)
    paths = [text] if os.path.exists(text) else sorted(glob.glob(text, recursive=True))
    files = [path for path in paths if not os.path.isdir(path)]
    if not files:
        raise InputError.about(
            "X", "names no file that exists", text, "name a file, a folder or a glob such as data/*.parquet"
        )
    for path in files:
        _format(path)
    return files


def _format(path: str) -> str:
    suffix = Path(path.partition("?")[0] if is_url(path) else path).suffix.lower()
    if suffix not in FORMATS:
        raise InputError.about("X", f"must name files of {', '.join(FORMATS)}", path)
    return FORMATS[suffix]
