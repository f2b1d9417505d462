"""Data files, for the command line: read within the machine's memory by pandas, pyarrow or polars, whichever is there."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icefield.counts import counted
from icefield.data.new_frames import frame_of
from icefield.errors import IcefieldError, InputError, MissingDependencyError, did_you_mean
from icefield.libraries.native_files import LoadError, check_fits, first_line, optional
from icefield.rows.csv_text import BOM, HEAD, problem_of, records, separator_of

DATA_FORMATS = (".csv", ".tsv", ".parquet", ".feather", ".arrow", ".ipc")


@dataclass(frozen=True, eq=False)
class DataFile:
    """The contents of a data file; rows are named by their line where every row of a text is one."""

    frame: Any  # its columns
    as_text: bool = False  # whether every cell is text, as the format knows no types
    lines: bool | None = False  # whether every row is a line; None where it is not known which rows these are

    def row(self, position: int) -> str:
        """A row in words."""
        if self.lines is None:
            return "one of its rows"
        if self.lines:
            return f"line {counted(position + 2)}"
        return row_text(position)


def row_text(position: int) -> str:
    """A row in words, where lines do not name it."""
    return f"row {counted(position + 1)} (counted from 1, without a header)"


def read_data(path: str) -> DataFile:
    """What a CSV, Parquet or Feather/Arrow file holds, or standard input (``-``)."""
    if path == "-":
        return _data_from_bytes(sys.stdin.buffer.read())
    file = _known_file(path)
    content = file.read_bytes()
    if not content:
        raise LoadError.about("DATA", "is empty", path)
    return _parse(content, file.suffix.lower(), path)


def check_columns(path: str, options: Mapping[str, Any]) -> None:
    """Refuse a column that the header of DATA does not have, before a model or all of the data is read."""
    names = _header(path)
    if names is None:
        return
    columns = [(f"--{name}", options.get(name)) for name in ("y", "by", "weights", "cluster")]
    for option in ("features", "increasing", "decreasing", "flips", "given"):
        columns += [(option, name) for name in options.get(option) or () if not name.lstrip("-").isdigit()]
    columns += [("features", options.get("feature"))]
    for option in ("name", "unit"):
        for key, equals, _ in (text.partition("=") for text in options[f"{option}s"]):
            column = key.partition("[")[0] if key.endswith("]") and key not in names else key
            if equals and (option, key) != ("unit", options["target_name"]):
                columns.append((f"--{option}", column))
    for option, name in columns:
        if name is not None and name not in names:
            raise InputError.about(option, "names a column that X does not have", name, did_you_mean(name, names))  # fmt: skip


def _header(path: str) -> list[str] | None:
    """The columns of a data file, from its first bytes; None where they are not to be had that way."""
    if path == "-":
        return None
    file = _known_file(path)
    suffix = file.suffix.lower()
    try:
        if suffix in (".csv", ".tsv"):
            with file.open("rb") as stream:
                head = stream.read(HEAD)
            if b"\n" not in head or b"\0" in head:
                return None
            lines = io.BytesIO(head[: head.rindex(b"\n") + 1])
            separator = separator_of(head, "\t" if suffix == ".tsv" else ",")
            return [name.strip() for name in next(records(lines, separator))[1]]
        arrow = optional("pyarrow")
        if suffix == ".parquet" and arrow is not None:
            return list(importlib.import_module("pyarrow.parquet").read_schema(file).names)
    except Exception:  # what is wrong with the file is said by who reads all of it
        pass
    return None


def _known_file(path: str) -> Path:
    return known_file("DATA", path, DATA_FORMATS, None, "convert the file, or pipe CSV to -")


def known_file(
    option: str, path: str, formats: Sequence[str], missing_hint: str | None, format_hint: str | None
) -> Path:
    """The file, of a kind that can be read; else an error with a hint, where there is none or one of another format."""
    file = Path(path)
    if not file.exists():
        raise LoadError.about(option, "is a file that does not exist", path, missing_hint)
    if file.is_dir():
        raise LoadError.about(option, "is a folder", path, "name one file")
    if file.suffix.lower() not in formats:
        raise LoadError.about(option, f"must be one of {', '.join(formats)}", path, format_hint)
    return file


def _data_from_bytes(content: bytes) -> DataFile:
    """Standard input has no suffix: Parquet and Arrow files say what they are, the rest is CSV."""
    if not content:
        raise LoadError.about("DATA", "is empty", "standard input")
    suffix = ".csv"
    if content[:4] == b"PAR1":
        suffix = ".parquet"
    elif content[:6] == b"ARROW1" or content[:4] == b"\xff\xff\xff\xff":
        suffix = ".arrow"
    return _parse(content, suffix, "standard input")


def _parse(content: bytes, suffix: str, name: str) -> DataFile:
    as_text = suffix in (".csv", ".tsv")
    try:
        separator = "\t" if suffix == ".tsv" else ","
        frame = _read_csv(content, name, separator) if as_text else _read_arrow(content, suffix)
    except IcefieldError:
        raise
    except Exception as error:
        raise LoadError.about(
            "DATA", f"could not be read as {suffix[1:]}", name, first_line(error)
        ) from error
    if len(frame) == 0:
        raise LoadError.about("DATA", "has no rows", name)
    n_lines = content.count(b"\n") + (not content.endswith(b"\n"))
    return DataFile(frame, as_text, as_text and n_lines == len(frame) + 1)


def _read_csv(content: bytes, name: str, default: str) -> Any:
    """Every cell as the text it is: what a text means is for the model to say."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise LoadError.about("DATA", "is text in UTF-16", name, "save the file as UTF-8")
    if b"\0" in content[:HEAD]:
        raise ValueError("it holds binary data")
    if b"\n" not in content[:HEAD]:
        content = content.replace(b"\r", b"\n")  # how lines ended on some systems
    if not content.removeprefix(BOM).strip():
        raise LoadError.about("DATA", "is empty", name)
    separator = separator_of(content, default)
    problem = problem_of(io.BytesIO(content).readlines(1), separator)
    # A quoted text that does not end is the rest of the file to some readers.
    if problem is None and content.count(b'"') % 2:
        problem = problem_of(io.BytesIO(content), separator)
    try:
        if problem is None:
            return _csv_frame(content, separator)
    except MissingDependencyError:
        raise
    except Exception:  # any reader's own, which names no line
        problem = problem_of(io.BytesIO(content), separator)
        if problem is None:
            raise
    raise LoadError.about("DATA", problem[0], name, problem[1])


def _csv_frame(content: bytes, separator: str) -> Any:
    pandas, polars, arrow = optional("pandas"), optional("polars"), optional("pyarrow")
    if arrow is not None:
        table = _read_csv_by_arrow(arrow, content, separator)
        return table.to_pandas() if pandas is not None else table
    if pandas is None and polars is None:
        raise MissingDependencyError("Reading CSV needs pandas, polars or pyarrow. Hint: pip install pandas.")
    names, *rows = (cells for _, cells in records(io.BytesIO(content), separator))
    if any(len(cells) != len(names) for cells in rows):
        raise ValueError("its lines differ in length")
    return frame_of(dict(zip(names, map(list, zip(*rows)))), "pandas" if pandas is not None else "polars")


def _read_csv_by_arrow(arrow: Any, content: bytes, separator: str) -> Any:
    csv = importlib.import_module("pyarrow.csv")
    _, names = next(records(io.BytesIO(content), separator))
    table = csv.read_csv(
        _arrow_reader(arrow, content),
        read_options=csv.ReadOptions(block_size=min(len(content) + 1, 2**30)),
        parse_options=csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, arrow.string())),
    )
    if table.column_names != names or any(kind != arrow.string() for kind in table.schema.types):
        raise ValueError("its header cannot be read")
    return table


def _arrow_reader(arrow: Any, content: bytes) -> Any:
    """A reader of a copy of the bytes in memory that Arrow owns.

    After an error other columns are still being read. A thread that lets go of Python's bytes while the interpreter ends
    takes the process down with it.
    """
    memory = arrow.allocate_buffer(len(content))
    arrow.FixedSizeBufferWriter(memory).write(content)
    return arrow.BufferReader(memory)


def _read_arrow(content: bytes, suffix: str) -> Any:
    pandas, arrow = optional("pandas"), optional("pyarrow")
    if arrow is not None:
        buffer = _arrow_reader(arrow, content)
        if suffix == ".parquet":
            table = _read_parquet(buffer)
        elif content[:4] == b"\xff\xff\xff\xff":
            table = importlib.import_module("pyarrow.ipc").open_stream(buffer).read_all()
        else:
            table = importlib.import_module("pyarrow.feather").read_table(buffer)
        return table.to_pandas() if pandas is not None else table
    polars = optional("polars")
    if polars is not None:
        return polars.read_parquet(content) if suffix == ".parquet" else polars.read_ipc(content)
    raise MissingDependencyError(f"Reading {suffix} needs pyarrow or polars. Hint: pip install pyarrow.")


def _read_parquet(buffer: Any) -> Any:
    file = importlib.import_module("pyarrow.parquet").ParquetFile(buffer, page_checksum_verification=True)
    metadata = file.metadata
    groups = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    # A run of one value takes a few bytes in the file, and eight for each row in memory.
    check_fits(max(groups, 8 * metadata.num_rows * metadata.num_columns), "its tables")
    return file.read()
