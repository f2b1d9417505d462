"""What the commands give out: pictures, tables and text, to files or standard output; checked before any work is done."""

from __future__ import annotations

import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click

from icefield.errors import InputError

PICTURES = (".png", ".pdf", ".svg", ".html")


def printable(text: str) -> str:
    r"""Text without control characters: a name from a file must not steer the terminal.

    Examples
    --------
    >>> print(printable("a\x1b[31mb"))
    a\x1b[31mb
    """
    return "".join(c if c in "\n\t" or c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def check_outputs(options: dict[str, Any], inputs: tuple[str, ...]) -> None:
    """Raise where a file asked for cannot be written, before minutes are spent on what goes into it.

    Nothing that is read is written to: no model, no data file, no file of a folder or glob; and nothing is put where
    the next reading of a folder or glob would take it for data.
    """
    plot = options.get("plot")
    if plot is not None and not plot.lower().endswith(PICTURES):
        raise InputError.about("--plot", f"must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}", plot)
    from icefield.rows.files import FORMATS  # not for who only asks for help

    files, folders, globs = _read_files(inputs)
    option_of: dict[str, str] = {}
    for name in ("plot", "csv_path", "json_path", "parquet_path", "output", "checkpoint"):
        path = options.get(name)
        if path is None or path == "-":
            continue
        option = "-o" if name == "output" else "--" + name.removesuffix("_path")
        if not Path(path).parent.is_dir():
            raise InputError.about(option, "lies in a folder that does not exist", path)
        # Written beside its place and then put there, so the folder matters too.
        exists = Path(path).exists()
        targets = [path, Path(path).parent] if exists else [Path(path).parent]
        if not _is_special(path) and not all(os.access(target, os.W_OK) for target in targets):
            raise InputError.about(option, "cannot be written", path, "choose another folder")
        real_path = os.path.realpath(path)
        is_read = exists and any(os.path.exists(file) and os.path.samefile(path, file) for file in files)
        if name != "checkpoint" and is_read:
            raise InputError.about(option, "would overwrite what is read", path, "choose another name")
        if Path(path).suffix.lower() in FORMATS and (
            any(Path(real_path).is_relative_to(folder) for folder in folders)
            or any(_matches(real_path, pattern) for pattern in globs)
        ):
            raise InputError.about(option, "lies among the files of DATA, and would be read as one of them the next time", path,
                                "choose another folder")  # fmt: skip
        if real_path in option_of and not _is_special(path):
            raise InputError.about(option, f"names the file of {option_of[real_path]} too", path, "choose another name")  # fmt: skip
        option_of[real_path] = option


def _read_files(inputs: tuple[str, ...]) -> tuple[list[str], list[str], list[str]]:
    """Paths of the files to read, those in folders and globs too; absolute paths of the folders; and the globs."""
    from icefield.rows.files import paths_of
    from icefield.rows.stores import is_url

    files, folders, globs = [], [], []
    for path in inputs:
        if is_url(path) and not path.startswith("file://"):
            continue  # nothing is written there
        path = unquote(path.removeprefix("file://"))
        if os.path.isdir(path):
            folders.append(os.path.realpath(path))
        elif not os.path.exists(path) and any(character in path for character in "*?["):
            globs.append(os.path.join(os.path.realpath(os.path.dirname(path) or "."), os.path.basename(path)))
        else:
            files.append(path)
            continue
        # Whatever is wrong with DATA is said by who reads it.
        with suppress(InputError):
            files += paths_of(path)
    return files, folders, globs


def _matches(path: str, pattern: str) -> bool:
    if "**" in pattern:  # any number of folders
        return fnmatchcase(path, pattern.replace("**/", "*"))
    return Path(path).match(pattern)


def _is_special(path: str) -> bool:
    """Whether a path is a device or a pipe, which must not be replaced by a file."""
    return os.path.exists(path) and not os.path.isfile(path)


def with_groups(frame: Any, explainer: Any) -> Any:
    """Rows' own curves with the group of each row, as the table of averages has it."""
    import narwhals as nw

    from icefield.wording.values import printed_value

    groups, table = explainer.groups, nw.from_native(frame, eager_only=True)
    if groups is None:
        return frame
    codes = groups.codes[table["row"].to_numpy()]
    labels = [printed_value(label) for label in groups.labels]
    row_labels = [None if code < 0 else labels[code] for code in codes]
    column = nw.new_series("group", row_labels, nw.String(), backend=table.implementation)
    return table.with_columns(column).to_native()


_standard_outputs: list[Any] = []  # standard output as it was, while everything else goes to standard error


@contextmanager
def stdout_for_answers() -> Iterator[None]:
    """Keep standard output for answers: what libraries print while they load or predict goes to standard error."""
    stream, copy = sys.stdout, None
    with suppress(OSError, ValueError, AttributeError):  # a stream in memory
        stream.flush()
        if stream.fileno() == 1:
            copy = os.dup(1)
            os.dup2(sys.stderr.fileno(), 1)
            stream = os.fdopen(os.dup(copy), "w", encoding=stream.encoding, errors=stream.errors, newline="")
    before, sys.stdout = sys.stdout, sys.stderr
    _standard_outputs.append(stream)
    try:
        yield
    finally:
        _standard_outputs.pop()
        sys.stdout = before
        if copy is not None:
            # Somebody who no longer listens is told of by a BrokenPipeError, once.
            with suppress(BrokenPipeError):
                stream.close()
            os.dup2(copy, 1)
            os.close(copy)


@contextmanager
def on_stdout() -> Iterator[Any]:
    """Standard output as it was before `stdout_for_answers` redirected it."""
    before = sys.stdout
    sys.stdout = _standard_outputs[-1] if _standard_outputs else before
    try:
        yield sys.stdout
        sys.stdout.flush()
    finally:
        sys.stdout = before


def show(
    result: Any,
    *,
    plot: str | None,
    quiet: bool,
    table: Callable[[], Any] | None = None,
    record: Callable[[], Any] | None = None,
    **files: Any,
) -> None:
    """Draw an effect or a table, write it (or `table`, if that is another one), or print it.

    `record` gives what results are known again by; Parquet files carry it.
    """
    if plot is not None:
        _draw(result, plot)
    if any(files.values()):
        _write((table or result.to_frame)(), record, **files)
    elif plot is None:
        print_lines(repr(result))
    print_written(quiet, plot, *files.values())


def show_report(report: Any, path: str, quiet: bool) -> None:
    """Write a report's page, and print what it says first."""
    report.save(path)
    print_lines(*report.findings)
    print_written(quiet, path)


def print_lines(*texts: str) -> None:
    """Print on standard output."""
    with on_stdout():
        for text in texts:
            click.echo(printable(text))


def print_written(quiet: bool, *paths: str | None) -> None:
    """Name the files that were written."""
    for path in paths:
        if not quiet and path is not None and path != "-":
            click.echo(f"wrote {path}", err=True)


def _draw(drawable: Any, path: str) -> None:
    from icefield.effect.whole_files import atomic_write

    if path.lower().endswith(".html"):
        with atomic_write(path) as file:
            drawable.plot(backend="plotly").write_html(file)
        return
    import matplotlib

    matplotlib.use("Agg")
    picture = drawable.plot()
    figure = picture if hasattr(picture, "savefig") else picture.figure
    with atomic_write(path) as file:
        figure.savefig(file, dpi=150, format=Path(path).suffix[1:].lower())


def _write(
    frame: Any,
    record: Callable[[], Any] | None,
    csv_path: str | None,
    json_path: str | None,
    parquet_path: str | None,
) -> None:
    import narwhals as nw

    from icefield.effect.whole_files import atomic_write

    table = nw.from_native(frame, eager_only=True)
    if csv_path == "-":
        text = table.write_csv()
        with on_stdout():
            click.echo(text, nl=False)
    elif csv_path is not None:
        with atomic_write(csv_path) as file:
            table.write_csv(file)
    if json_path is not None:
        text = _json_text(table.rows(named=True))
        if json_path == "-":
            with on_stdout():
                click.echo(text)
        else:
            with atomic_write(json_path) as file:
                file.write_text(text + "\n", encoding="utf-8")
    if parquet_path is not None and record is not None:
        from icefield.effect.tidy import with_record

        table = nw.from_native(with_record(frame, record()), eager_only=True)
    if parquet_path == "-":
        buffer = io.BytesIO()
        table.write_parquet(buffer)
        with on_stdout() as stream:
            stream.buffer.write(buffer.getvalue())
    elif parquet_path is not None:
        with atomic_write(parquet_path) as file:
            table.write_parquet(file)


def _json_text(rows: list[dict[str, Any]]) -> str:
    def plain(value: Any) -> Any:
        value = value.item() if hasattr(value, "item") else value
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return json.dumps([{k: plain(v) for k, v in row.items()} for row in rows], default=str, indent=1)
