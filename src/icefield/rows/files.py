"""Rows from files: Parquet, Arrow and CSV, one file or thousands, or any `pyarrow.dataset.Dataset`.

Files are read one after another in the order of their names, so that whatever goes wrong is said of one file. Columns
are found by name; files may order them differently, and number types may differ where one type holds
them all. A file that lacks a column, or that is not the file it was at the start, is an error that names it.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from icefield.counts import counted
from icefield.data.columns import library_named
from icefield.errors import InputError, complaint, did_you_mean
from icefield.rows.csv_text import HEAD, problem_of, separator_of
from icefield.rows.source import Source, as_wanted, common_type, unreadable, without_first

FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc", ".csv": "csv",
    ".tsv": "tsv",
}  # fmt: skip
USUAL = {"csv": ",", "tsv": "\t"}  # between the cells of texts
BLOCK = 2**20  # bytes of a text that Arrow parses at a time
AHEAD = 2  # batches a file is decoded ahead: a row group of hundreds of columns is large


@dataclass(frozen=True, eq=False)
class FilePart:
    """One file: where it is, how it is read, what it holds, and what it looked like at first."""

    where: str
    fragment: Any
    schema: Any
    n_rows: int | None
    looks: tuple[int, int] | None  # size in bytes and time of the last change


class FileSource(Source):
    """Files of one table, or the fragments of a `pyarrow.dataset.Dataset`.

    Parameters
    ----------
    label : what messages call it
    fragments : `pyarrow.dataset` fragments
    filesystem : where they are; None for data in memory
    chosen : an expression that says which rows are meant; None for all
    """

    def __init__(
        self, label: str, fragments: Sequence[Any], filesystem: Any = None, chosen: Any = None
    ) -> None:
        self.label = label
        self._filesystem, self._chosen = filesystem, chosen
        self._closed: set[str] = set()  # texts whose quotes are known to be closed
        self._parts = [self._part(number, fragment) for number, fragment in enumerate(fragments)]
        if not self._parts:
            raise InputError(complaint("X", "names no file of rows", label))

    def _part(self, number: int, fragment: Any) -> FilePart:
        arrow, dataset = library_named("pyarrow"), library_named("pyarrow.dataset")
        path = getattr(fragment, "path", None)
        where = path or f"part {number + 1} of {self.label}"
        try:
            looks, schema = self._looks(path), fragment.physical_schema
            names = schema.names  # which may not even be text
            keys = dataset.get_partition_keys(fragment.partition_expression)
            count = None if self._chosen is not None or _is_text(fragment) else fragment.count_rows()
        except (OSError, UnicodeDecodeError, arrow.ArrowException) as error:
            raise _unreadable(path, where, error) from error
        if _is_text(fragment) and any(arrow.types.is_binary(kind) for kind in schema.types):
            raise _unreadable(path, where, ValueError("it holds bytes that are no text in UTF-8"))
        for name, value in keys.items():  # what a folder's name says of all its rows
            if name not in names:
                schema = schema.append(arrow.field(name, arrow.scalar(value).type))
        return FilePart(where, fragment, schema, count, looks)

    def _looks(self, path: str | None) -> tuple[int, int] | None:
        if path is None or self._filesystem is None:
            return None
        found = self._filesystem.get_file_info(path)
        return int(found.size or 0), int(found.mtime_ns or 0)

    @cached_property
    def schema(self) -> Any:
        arrow = library_named("pyarrow")
        kinds: dict[str, dict[Any, FilePart]] = {}
        for part in self._parts:
            for field in part.schema:
                kinds.setdefault(field.name, {}).setdefault(field.type, part)
        fields = []
        for name, found in kinds.items():
            kind = common_type(list(found))
            if kind is None:
                (first, one), *_, (other, odd) = found.items()
                raise InputError(
                    complaint("X", f"holds {first} in the column {name!r} of {one.where}, but {other} in another file",
                              odd.where, "write the file with the same types as the others")
                )  # fmt: skip
            fields.append(arrow.field(name, kind))
        return arrow.schema(fields)

    @cached_property
    def n_rows(self) -> int | None:
        counts = [part.n_rows for part in self._parts]
        return None if any(count is None for count in counts) else sum(count or 0 for count in counts)

    def identity(self) -> Any:
        parts = [[part.where, *(part.looks or ()), part.n_rows] for part in self._parts]
        return {"files": parts, "rows": str(self._chosen)}

    def batches(self, columns: Sequence[str], rows: int, skip: int = 0) -> Iterator[Any]:
        arrow = library_named("pyarrow")
        wanted = arrow.schema([self.schema.field(name) for name in columns])
        for part in self._parts:
            missing = [name for name in columns if name not in part.schema.names]
            if missing:
                raise InputError(
                    complaint("X", f"has a file without the column {missing[0]!r}", part.where,
                              did_you_mean(missing[0], part.schema.names))
                )  # fmt: skip
        for part in self._parts:
            if part.n_rows is not None and skip >= part.n_rows:
                skip -= part.n_rows
                continue
            read = 0
            for batch in self._read(part, wanted, rows):
                read += batch.num_rows
                yield from without_first(iter([batch]), skip)
                skip = max(0, skip - batch.num_rows)
            if part.n_rows is not None and read != part.n_rows:
                raise InputError(
                    complaint("X", f"has a file that gave {counted(read)} rows where it should have {counted(part.n_rows)}", part.where)
                )  # fmt: skip

    def _read(self, part: FilePart, wanted: Any, rows: int) -> Iterator[Any]:
        arrow = library_named("pyarrow")
        self._check_unchanged(part)
        try:
            reading = part.fragment.scanner(
                schema=part.schema, columns=wanted.names, batch_size=rows, batch_readahead=AHEAD,
                fragment_readahead=1, filter=self._chosen,
            )  # fmt: skip
            for batch in reading.to_batches():
                yield as_wanted(batch, wanted)
        except (OSError, arrow.ArrowException) as error:
            self._check_unchanged(part)  # a file that is being rewritten reads as a broken one
            raise _unreadable(getattr(part.fragment, "path", None), part.where, error) from error
        self._check_unchanged(part)
        if _is_text(part.fragment) and part.where not in self._closed:
            if _ends_within_quotes(part.where):
                raise _unreadable(part.where, part.where, ValueError("a quoted text does not end"))
            self._closed.add(part.where)

    def _check_unchanged(self, part: FilePart) -> None:
        if part.looks is None:
            return
        now = self._looks(part.fragment.path)
        if now != part.looks:
            raise InputError(
                complaint("X", "has a file that changed while its rows were read: no answer would be about one state of it",
                          part.where, "make a new Explainer once the file is complete")
            )  # fmt: skip


def _is_text(fragment: Any) -> bool:
    """Whether rows can only be counted by reading all of them."""
    return type(getattr(fragment, "format", None)).__name__ not in (
        "ParquetFileFormat",
        "IpcFileFormat",
        "FeatherFileFormat",
        "NoneType",
    )


def files_of(*given: str, missing: Sequence[str] = ()) -> FileSource:
    """The files that paths, folders and globs, or a URI, mean; `missing` are texts that stand for no value in CSV."""
    arrow, dataset = library_named("pyarrow"), library_named("pyarrow.dataset")
    text = given[0] if len(given) == 1 else f"{given[0]} and {len(given) - 1:,} more"
    fragments, filesystem, where = [], None, None
    try:
        if "://" in text:
            reader = _reader(_format(text), USUAL.get(_format(text), ""), missing)
            found = dataset.dataset(text, format=reader, partitioning="hive")
            return of_dataset(found, text)
        paths = list(dict.fromkeys(path for one in given for path in paths_of(one)))
        filesystem = library_named("pyarrow.fs").LocalFileSystem()
        kinds = {path: _dialect(path) for path in paths}
        for kind in dict.fromkeys(kinds.values()):
            own = [path for path in paths if kinds[path] == kind]
            where = own[0]  # whose columns are looked at
            read = dataset.dataset(
                own, format=_reader(*kind, missing), partitioning="hive", filesystem=filesystem
            )
            fragments += list(read.get_fragments())
    except (OSError, UnicodeDecodeError, arrow.ArrowException) as error:
        raise _unreadable(where, where or text, error) from error
    return FileSource(text, sorted(fragments, key=lambda one: str(one.path)), filesystem)


def of_dataset(found: Any, label: str = "the dataset") -> FileSource:
    """A `pyarrow.dataset.Dataset` as it is, with whatever filter and partitions it has."""
    fragments = sorted(found.get_fragments(), key=lambda one: str(getattr(one, "path", "")))
    chosen = (getattr(found, "_scan_options", None) or {}).get("filter")
    return FileSource(label, fragments, getattr(found, "filesystem", None), chosen)


def _dialect(path: str) -> tuple[str, str]:
    """A file's format and, of a text, what stands between its cells."""
    kind = _format(path)
    if kind not in USUAL:
        return kind, ""
    with open(path, "rb") as file:
        return kind, separator_of(file.read(HEAD), USUAL[kind])


def _unreadable(path: str | None, where: str, error: Exception) -> InputError:
    """What is wrong with a file, with its line where it is a text."""
    found = None if path is None or isinstance(error, OSError) else _csv_problem(path)
    return (
        unreadable(where, error) if found is None else InputError(complaint("X", found[0], where, found[1]))
    )


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
    """What is wrong with a CSV file of this machine; None for others."""
    if FORMATS.get(Path(path).suffix.lower()) not in USUAL or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return problem_of(file, _dialect(path)[1])


def _reader(kind: str, separator: str, missing: Sequence[str]) -> Any:
    """How a format is read."""
    if kind not in USUAL:
        return kind
    dataset, csv = library_named("pyarrow.dataset"), library_named("pyarrow.csv")
    read = csv.ParseOptions(delimiter=separator)
    if not missing:
        return dataset.CsvFileFormat(read)
    converted = csv.ConvertOptions(null_values=["", *missing], strings_can_be_null=True)
    return dataset.CsvFileFormat(
        read, default_fragment_scan_options=dataset.CsvFragmentScanOptions(convert_options=converted)
    )


def paths_of(text: str) -> list[str]:
    """The files that a path, a folder or a glob means."""
    if os.path.isdir(text):
        within = (os.path.join(folder, name) for folder, _, names in os.walk(text) for name in names)
        hidden = (".", "_")
        found = [p for p in within if not os.path.basename(p).startswith(hidden)]
        known = [path for path in found if Path(path).suffix.lower() in FORMATS]
        if not known:
            raise InputError(
                complaint("X", f"is a folder without a file of {', '.join(FORMATS)}", text, "name another folder")
            )  # fmt: skip
        return sorted(known)
    found = [text] if os.path.exists(text) else sorted(glob.glob(text, recursive=True))
    files = [path for path in found if not os.path.isdir(path)]
    if not files:
        raise InputError(
            complaint(
                "X",
                "names no file that exists",
                text,
                "name a file, a folder or a glob such as data/*.parquet",
            )
        )
    for path in files:
        _format(path)
    return files


def _format(path: str) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise InputError(complaint("X", f"must name files of {', '.join(FORMATS)}", path))
    return FORMATS[suffix]
