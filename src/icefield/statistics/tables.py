"""Result tables: what importance, interactions, regions and summaries have in common.

A `ResultTable` is named columns of equal length with a title and notes on how they were computed.
It prints as an aligned table in a terminal and as escaped HTML in a notebook, becomes a frame of
the caller's library with `to_frame`, and is drawn by `plot`. Subclasses add what their statistic
needs and say which columns people see first.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.counts import counted
from icefield.data.columns import is_missing_value, object_array
from icefield.data.naming import PLAIN, Naming
from icefield.wording.values import number_text

if TYPE_CHECKING:
    from icefield.effect.record import Record

SHOWN_ROWS = 30
LABELS = ("feature", "features", "partner")  # columns of features
TERMINAL_WIDTH = 160  # a repr must not depend on the terminal that happens to be attached


@dataclass(frozen=True, eq=False)
class ResultTable:
    """Columns of equal length, a title, and how they came about.

    Attributes
    ----------
    columns : mapping of column name -> array
    title : one line on what the table holds
    notes : how it was computed, and what to keep in mind
    library : the frame library `to_frame` answers in
    naming : what features are called where the table is printed; its columns keep the data's own labels
    """

    columns: Mapping[str, NDArray[Any]]
    title: str
    notes: tuple[str, ...]
    library: str
    naming: Naming = field(default=PLAIN, kw_only=True)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self.columns[column]

    def to_frame(self, record: Record | None = None) -> Any:
        """All columns as a frame of the caller's library.

        `record` (`Explainer.record`) adds the columns ``run_id``, ``model_hash`` and ``data_version``.
        """
        from icefield.data.new_frames import frame_of
        from icefield.effect.tidy import with_record

        columns = {name: frameable(values) for name, values in self.framed.items()}
        return with_record(frame_of(columns, self.library), record)

    def to_parquet(self, path: str | Path, record: Record | None = None) -> None:
        """Write `to_frame` as a Parquet file."""
        from icefield.effect.tidy import write_parquet

        write_parquet(self.to_frame(record), path)

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """`to_frame` as CSV: written to `path`, or returned as text without one."""
        from icefield.effect.tidy import as_csv

        return as_csv(self.to_frame(), path)

    @property
    def framed(self) -> Mapping[str, NDArray[Any]]:
        """The columns as a frame holds them: one value per cell."""
        return self.columns

    def plot(self) -> Any:
        """Draw the table, where it has a picture."""
        raise TypeError(f"{type(self).__name__} has no picture of its own. Hint: use to_frame().")

    @property
    def shown(self) -> Mapping[str, NDArray[Any]]:
        """The columns that are printed."""
        return self.columns

    def __repr__(self) -> str:
        return table_text(self.title, self._named(self.shown), self.notes)

    def _repr_html_(self) -> str:
        return table_html(self.title, self._named(self.shown), self.notes)

    def _named(self, columns: Mapping[str, NDArray[Any]]) -> Mapping[str, NDArray[Any]]:
        """Features by the names people gave them."""
        if not self.naming.names:
            return columns

        def named(label: Any) -> Any:
            return tuple(map(named, label)) if isinstance(label, tuple) else self.naming.name(label)

        return {
            name: labels_column([named(v) for v in values.tolist()]) if name in LABELS else values
            for name, values in columns.items()
        }


def labels_column(labels: Sequence[Any]) -> NDArray[Any]:
    """Feature or output labels as a column: numbers stay numbers, everything else is an object."""
    if labels and all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in labels):
        return np.array(labels, dtype=np.int64)
    return object_array(list(labels))


def cell_text(value: Any) -> str:
    """One cell for people: four digits of a number, a dash where there is nothing to say."""
    if is_missing_value(value):
        return "–"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return number_text(float(value), 4)
    if isinstance(value, (tuple, list)):
        return ", ".join(cell_text(v) for v in value) if len(value) else "–"
    return " ".join(str(value).split()) or "–"


def table_text(title: str, columns: Mapping[str, NDArray[Any]], notes: Sequence[str]) -> str:
    """An aligned table as plain text."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, values in columns.items():
        table.add_column(Text(name), justify="right" if _numeric(values) else "left", overflow="fold")
    for row in _rows(columns):
        table.add_row(*(Text(text) for text in row))
    # In a notebook rich would show each line by itself, beside the text that is wanted.
    console = Console(file=io.StringIO(), width=TERMINAL_WIDTH, color_system=None, force_jupyter=False)
    console.print(Text(title))
    console.print(table)
    for note in (*_left_out(columns), *notes):
        console.print(Text(f"  {note}"))
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def table_html(title: str, columns: Mapping[str, NDArray[Any]], notes: Sequence[str]) -> str:
    """The same for notebooks; every text is escaped."""
    aligned = ["right" if _numeric(values) else "left" for values in columns.values()]

    def line(cell: str, texts: Iterable[str]) -> str:
        return "".join(
            f'<{cell} style="text-align: {side}; padding: 0.25em 0.6em">{escape(text)}</{cell}>'
            for side, text in zip(aligned, texts)
        )

    head = line("th", columns)
    body = "".join(f"<tr>{line('td', row)}</tr>" for row in _rows(columns))
    footer = "<br>".join(escape(note) for note in (*_left_out(columns), *notes))
    return (
        f"<p><b>{escape(title)}</b></p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p><small>{footer}</small></p>"
    )


def _rows(columns: Mapping[str, NDArray[Any]]) -> list[list[str]]:
    length = min(SHOWN_ROWS, len(next(iter(columns.values()))))
    return [[cell_text(values[i]) for values in columns.values()] for i in range(length)]


def _left_out(columns: Mapping[str, NDArray[Any]]) -> tuple[str, ...]:
    beyond = len(next(iter(columns.values()))) - SHOWN_ROWS
    return (f"... and {counted(beyond)} more rows; to_frame() has all of them",) if beyond > 0 else ()


def _numeric(values: NDArray[Any]) -> bool:
    return np.asarray(values).dtype.kind in "fiu"


def frameable(values: NDArray[Any]) -> NDArray[Any]:
    """Tuples have no column type in every library: they are written as text."""
    if values.dtype == object and any(isinstance(v, (tuple, list)) for v in values.tolist()):
        return object_array([cell_text(v) if isinstance(v, (tuple, list)) else v for v in values.tolist()])
    if values.dtype == object and len({type(v) for v in values.tolist() if v is not None}) > 1:
        return object_array([None if v is None else str(v) for v in values.tolist()])
    return values
