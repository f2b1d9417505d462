"""What the commands give out: pictures, tables and text, to files or standard output; checked before any work is done."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from icefield.errors import InputError, complaint

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
    """Whether every file asked for can be written, before minutes are spent on what goes into it."""
    plot = options.get("plot")
    if plot is not None and not plot.lower().endswith(PICTURES):
        raise InputError(
            complaint("--plot", f"must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}", plot)
        )
    for name in ("plot", "csv_path", "json_path", "parquet_path", "output"):
        path = options.get(name)
        if path is None or path == "-":
            continue
        option = "-o" if name == "output" else "--" + name.removesuffix("_path")
        if not Path(path).parent.is_dir():
            raise InputError(complaint(option, "lies in a folder that does not exist", path))
        if not os.access(path if Path(path).exists() else Path(path).parent, os.W_OK):
            raise InputError(complaint(option, "cannot be written", path, "choose another folder"))
        for other in inputs:
            if Path(path).exists() and Path(other).exists() and os.path.samefile(path, other):
                raise InputError(
                    complaint(option, "would overwrite what is read", path, "choose another name")
                )


def with_groups(frame: Any, explainer: Any) -> Any:
    """Rows' own curves with the group of each row, as the table of averages has it."""
    import narwhals as nw

    from icefield.wording.values import printed_value

    groups, table = explainer.groups, nw.from_native(frame, eager_only=True)
    if groups is None:
        return frame
    codes = groups.codes[table["row"].to_numpy()]
    labels = [printed_value(label) for label in groups.labels]
    column = nw.new_series(
        "group",
        [None if code < 0 else labels[code] for code in codes],
        nw.String(),
        backend=table.implementation,
    )
    return table.with_columns(column).to_native()


def show(
    found: Any, *, plot: str | None, quiet: bool, table: Callable[[], Any] | None = None, **files: Any
) -> None:
    """Draw an effect or a table, write it (or `table`, if that is another one), or print it."""
    if plot is not None:
        _draw(found, plot)
    if any(files.values()):
        _write((table or found.to_frame)(), **files)
    elif plot is None:
        click.echo(printable(repr(found)))
    if not quiet:
        _say_written(plot, files)


def _draw(drawable: Any, path: str) -> None:
    if path.lower().endswith(".html"):
        drawable.plot(backend="plotly").write_html(path)
        return
    import matplotlib

    matplotlib.use("Agg")
    drawn = drawable.plot()
    figure = drawn if hasattr(drawn, "savefig") else drawn.figure
    figure.savefig(path, dpi=150)


def _write(frame: Any, csv_path: str | None, json_path: str | None, parquet_path: str | None) -> None:
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True)
    if csv_path == "-":
        click.echo(table.write_csv(), nl=False)
    elif csv_path is not None:
        table.write_csv(csv_path)
    if json_path is not None:
        text = _json_text(table.rows(named=True))
        if json_path == "-":
            click.echo(text)
        else:
            Path(json_path).write_text(text + "\n", encoding="utf-8")
    if parquet_path == "-":
        buffer = io.BytesIO()
        table.write_parquet(buffer)
        sys.stdout.buffer.write(buffer.getvalue())
    elif parquet_path is not None:
        table.write_parquet(parquet_path)


def _json_text(rows: list[dict[str, Any]]) -> str:
    import json
    import math

    def plain(value: Any) -> Any:
        if hasattr(value, "item"):
            value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            return None
        return value

    return json.dumps([{k: plain(v) for k, v in row.items()} for row in rows], default=str, indent=1)


def _say_written(plot: str | None, files: dict[str, Any]) -> None:
    for path in (plot, *files.values()):
        if path is not None and path != "-":
            click.echo(f"wrote {path}", err=True)
