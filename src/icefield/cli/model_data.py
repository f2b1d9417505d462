"""Data fitted to a model, for the command line: which columns it gets, and what each of them holds.

The model says what its columns are: numbers, levels it knows, texts. A file says less, and a text file nothing. What does not
fit is named with its column, its line and its value, before a model answers with something else.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from traceback import walk_tb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.cli.csv_values import LevelMatch, NotANumber, as_numbers, as_text, infer_values, match_levels
from icefield.cli.data_files import DataFile, row_text
from icefield.cli.missing import MissingCells
from icefield.counts import counted
from icefield.data.columns import Column, is_missing_value, object_array
from icefield.data.frame import Table
from icefield.data.new_frames import frame_of
from icefield.errors import IcefieldError, ModelError
from icefield.libraries.adapter import Adapter, columns_by_spelling
from icefield.libraries.category_types import KnownLevels
from icefield.libraries.native_files import LoadError, cut, first_line, optional
from icefield.libraries.registry import Files, library_of
from icefield.libraries.sklearn.encoders import known_levels, takes_only_numbers

SHOWN = 5  # values that are named where there may be many


# --- which columns -------------------------------------------------------------------------------


def columns_for(
    model: Any,
    names: Sequence[Any],
    *,
    y: str | None = None,
    weights: str | None = None,
    by: str | None = None,
    cluster: str | None = None,
) -> list[Any]:
    """The columns a model gets: all, without those that stand beside the features if it knows columns by position only.

    A model that knows its columns by name finds them among others. One that does not gets all there are: the
    observed targets are never among its features, and columns of weights, groups and clusters only where the
    number of columns leaves room for them.
    """
    adapter = _adapter(model)
    if adapter is not None and _by_name(adapter, names):
        return list(names)
    excluded = {name for name in names if name == y}
    width = None if adapter is None else adapter.n_columns
    if width is not None:
        candidates = {name for name in names if name in (weights, by, cluster)} - excluded
        too_many = len(names) - len(excluded) - width
        if 0 < too_many < len(candidates):
            problem = (
                f"has {len(names)} columns, and the model, which does not know their names, takes {width}: "
                f"which of {' and '.join(sorted(map(repr, candidates)))} it was fitted on cannot be determined"
            )
            raise LoadError.about("DATA", problem, hint="drop the other columns from the data")
        if too_many >= len(candidates):
            excluded |= candidates
    return [name for name in names if name not in excluded]


# --- what they hold ------------------------------------------------------------------------------


@dataclass(frozen=True)
class ColumnTypes:
    """Names of the columns that a model takes as numbers, as texts and as levels it knows; the type of others is open."""

    numbers: frozenset[Any] = frozenset()
    texts: frozenset[Any] = frozenset()
    levels: Mapping[Any, KnownLevels] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FittedData:
    """A frame whose columns hold what the model takes, and what the user should know of it."""

    frame: Any
    remarks: tuple[str, ...] = ()


def fitted_data(
    model: Any,
    data: DataFile,
    missing: MissingCells | None = None,
    columns: Sequence[Any] | None = None,
    types: ColumnTypes | None = None,
) -> FittedData:
    """The data with every column as the model takes it, of which it gets `columns`, by default all.

    `types` is what the model takes, where that is known from other rows.
    """
    missing = MissingCells() if missing is None else missing
    names = column_names(data.frame)
    inferred = InferredColumns(data, missing)
    if types is None:
        types = column_types(model, names if columns is None else columns, inferred)
    remarks: list[str] = []
    changed: dict[Any, Any] = {}
    for name in names:
        if name in types.levels:
            if not data.as_text and _holds_levels(inferred.cells(name), types.levels[name]):
                continue
            changed[name], new_remarks = _as_levels(name, data, types.levels[name], missing)
            remarks += new_remarks
        elif not data.as_text:
            continue
        elif name in types.numbers:
            changed[name] = _as_numbers(name, data, missing)
        elif name in types.texts:
            changed[name] = as_text(inferred.cells(name), missing.texts)
        else:
            changed[name] = inferred[name]
    return FittedData(_with_library_types(model, _frame_with(data, changed)), tuple(remarks))


def column_types(model: Any, names: Sequence[Any], inferred: Any) -> ColumnTypes:
    """The type a model takes each of these columns as. `inferred` holds values by column, where a model leaves the type open."""
    adapter, library = _adapter(model), library_of(model)
    if adapter is None or library is None or not _columns_match(adapter, names):
        return ColumnTypes()
    columns = _columns_of(model, names)
    if library.files is None:
        if library.name != "sklearn":
            return ColumnTypes()
        levels = {name: known for name, known in known_levels(model).items() if name in columns}
        numeric = set(columns) - set(levels) if takes_only_numbers(model) else set()
        return ColumnTypes(frozenset(numeric), levels=levels)
    name_in_data = dict(zip(columns if adapter.columns is None else adapter.columns, columns))
    levels_by_name = library.files.known_levels(model, inferred)
    levels = {name_in_data[name]: known for name, known in levels_by_name.items()}
    texts = frozenset(library.files.text_columns(model, columns))
    numeric = set(library.files.number_columns(model, columns)) - set(levels) - texts
    return ColumnTypes(frozenset(numeric), texts, levels)


def _columns_match(adapter: Adapter, names: Sequence[Any]) -> bool:
    """Whether the data's columns can be matched to the model's."""
    return _by_name(adapter, names) or adapter.n_columns in (None, len(names))


class InferredColumns:
    """A file's columns by name, with the types that their cells suggest; each is parsed when it is first read."""

    def __init__(self, data: DataFile, missing: MissingCells) -> None:
        self._data, self._missing = data, missing
        self.columns = column_names(data.frame)
        self._seen: dict[Any, Any] = {}

    def cells(self, name: Any) -> list[Any]:
        return _values(self._data.frame, name)

    def __getitem__(self, name: Any) -> Any:
        if not self._data.as_text:
            return self._data.frame[name]
        if name not in self._seen:
            self._seen[name] = infer_values(self.cells(name), self._missing)
        return self._seen[name]


def column_names(frame: Any) -> list[Any]:
    """The names of a frame's columns, which pyarrow calls otherwise."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def _values(frame: Any, name: Any) -> list[Any]:
    column = frame[name]
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column.to_list())


def _as_numbers(name: Any, data: DataFile, missing: MissingCells) -> NDArray[Any]:
    try:
        return as_numbers(_values(data.frame, name), missing.numbers)
    except NotANumber as error:
        raise _not_a_number(name, f"{data.row(error.row)} holds text", error.cell) from None


def _not_a_number(name: Any, where: str, value: Any) -> LoadError:
    problem = f"must hold numbers in the column {name!r}, which the model takes as numbers; {where}"
    hint = "write a number there, or nothing if it is missing"
    hint += f", or missing={value!r}" if isinstance(value, str) else ""
    return LoadError.about("DATA", problem, value, hint)


def _holds_levels(values: Sequence[Any], known: KnownLevels) -> bool:
    """Whether a column of values, which the model takes without a type of its own, is already what it takes."""
    levels = {(type(level), level) for level in known.levels}
    return not known.typed and all(
        is_missing_value(value) or (type(value), value) in levels for value in values
    )


def _as_levels(name: Any, data: DataFile, known: KnownLevels, missing: MissingCells) -> tuple[Any, list[str]]:
    """A column as the model's levels, and a remark about values it has never seen."""
    values = _values(data.frame, name)
    match = match_levels(values, known, missing)
    notes = [_unseen_remark(name, data, known, match)] if match.unseen else []
    pandas = optional("pandas")
    if known.typed and pandas is not None:
        return pandas.Categorical.from_codes(match.codes, categories=pandas.Index(list(known.levels))), notes
    levels = object_array([*known.levels, known.missing])
    out = levels[np.where(match.codes < 0, len(known.levels), match.codes)]
    if known.unseen == "kept":
        for row in match.unseen_rows.tolist():
            out[row] = values[row]
    kinds = {type(value) for value in out.tolist()}
    if len(kinds) == 1 and kinds <= {int, float, bool}:
        return np.array(out.tolist()), notes
    return out, notes


def _unseen_remark(name: Any, data: DataFile, known: KnownLevels, match: LevelMatch) -> str:
    unseen = match.unseen
    values = ", ".join(
        f"{cut(repr(value), 40)} ({counted(count)} row{'s' if count > 1 else ''})"
        for value, count in unseen.most_common(SHOWN)
    )
    more = f" and {counted(len(unseen) - SHOWN)} other values" if len(unseen) > SHOWN else ""
    levels = ", ".join(cut(repr(level), 40) for level in known.levels[:SHOWN])
    levels += ", ..." if len(known.levels) > SHOWN else ""
    if known.unseen == "refused" or (known.unseen == "missing" and not (match.codes >= 0).any()):
        value = unseen.most_common(1)[0][0]
        problem = f"holds values in the column {name!r} that the model has never seen: {values}{more}, first in {data.row(int(match.unseen_rows[0]))}"
        hint = f"its levels are {levels}; for values that stand for missing, write missing={value!r}"
        raise LoadError.about("DATA", problem, hint=hint)
    fate = "are missing to it" if known.unseen == "missing" else "are left for it to judge"
    return f"Column {name!r} of DATA holds values MODEL has never seen, which {fate}: {values}{more}."


def _frame_with(data: DataFile, changed: Mapping[Any, Any]) -> Any:
    """The file's frame with these columns, in the library it was read by."""
    frame = data.frame
    if not changed:
        return frame
    if type(frame).__module__.startswith("pandas"):
        pandas = optional("pandas")
        if data.as_text:
            return pandas.DataFrame({name: pandas.Series(values) for name, values in changed.items()})
        out = frame.copy(deep=False)
        for name, values in changed.items():
            out[name] = pandas.Series(values, index=out.index)
        return out
    library = type(frame).__module__.split(".")[0]
    columns = frame_of(changed, library)
    if data.as_text:
        return columns
    if library == "polars":
        return frame.with_columns([columns[name] for name in changed])
    for name in changed:
        frame = frame.set_column(frame.column_names.index(name), name, columns[name])
    return frame


def _with_library_types(model: Any, frame: Any) -> Any:
    """The frame with types that only the library knows: CatBoost's missing categories, XGBoost's categories that are bare codes."""
    files = _files_of(model)
    if files is None or not type(frame).__module__.startswith("pandas"):
        return frame
    return files.with_categories(model, frame)


def check_numbers(model: Any, table: Table) -> None:
    """Refuse text in a column the model takes as numbers, and say where it is."""
    adapter = _adapter(model)
    if adapter is None or not _columns_match(adapter, table.names):
        return
    files = _files_of(model)
    for name in [] if files is None else files.number_columns(model, _columns_of(model, table.names)):
        if name not in table.names:
            continue  # the Explainer says what is missing
        column = table.column(name)
        # A category type of its own is the model's affair: its library compares the levels.
        if column.kind not in ("float", "integer", "boolean") and not column.closed:
            offender = _first_non_number(column)
            if offender is not None:
                raise _not_a_number(name, *offender)


@contextmanager
def explain_refusals(model: Any, table: Table) -> Iterator[None]:
    """Errors that the user's model raises inside become a `ModelError` that names the row at fault, where that is clear."""
    try:
        yield
    except Exception as error:
        # An Explainer tries a few rows first and words a refusal itself; a text further down it cannot know.
        worded = isinstance(error, IcefieldError)
        cause: BaseException | None = error.__cause__ if worded else error
        if cause is None or (worded and not isinstance(error, ModelError)) or not _raised_by_model(cause):
            raise
        reason = _text_among_numbers(model, table)
        if worded and not reason:
            raise
        hint = f" Hint: {reason}." if reason else ""
        raise ModelError(f"MODEL refused these rows of DATA: {first_line(cause)}.{hint}") from error


def _raised_by_model(error: BaseException) -> bool:
    """Whether the user's model, its library or the form of rows it takes failed, and nothing else of icefield."""
    if isinstance(error, (IcefieldError, MemoryError)):
        return False
    modules = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    # Adapters turn rows into what a library takes: text that is no number fails there.
    last = modules[-1]
    in_adapter = last.startswith("icefield.models.") or last.endswith((".predictions", ".margins"))
    was_predicting = "icefield.models.model" in modules or "icefield.models.trial" in modules
    is_icefield = last.startswith("icefield.")
    return was_predicting and (not is_icefield or (in_adapter and isinstance(error, (ValueError, TypeError))))


def _text_among_numbers(model: Any, table: Table) -> str:
    """A sentence that names the first text in a column of mostly numbers, the likely reason for a refusal; else empty."""
    for name in _columns_of(model, table.names):
        if name not in table.names:
            continue
        column = table.column(name)
        if column.kind != "categorical" or column.closed:
            continue
        levels = [_is_number(level) for level in column.levels.tolist()]
        is_number = np.array([*levels, False])[column.codes]
        present = ~column.missing
        if 2 * is_number.sum() >= present.sum() and not is_number[present].all():
            row = int(np.flatnonzero(present & ~is_number)[0])
            value = cut(repr(column.values[row]), 80)
            return f"column {name!r} is mostly numbers, but {row_text(row)} holds {value}"
    return ""


def _columns_of(model: Any, names: Sequence[Any]) -> list[Any]:
    """The model's columns in its order, by their names in the data; missing ones by the model's name."""
    adapter = _adapter(model)
    if adapter is None or adapter.columns is None or not _by_name(adapter, names):
        return list(names)
    columns = columns_by_spelling(adapter.columns, names)
    return [name if column is None else column for name, column in zip(adapter.columns, columns)]


def _by_name(adapter: Adapter, names: Sequence[Any]) -> bool:
    columns = adapter.columns
    return columns is not None and (not adapter.names_are_made_up or set(columns) <= set(names))


def _adapter(model: Any) -> Adapter | None:
    """The adapter of a model, which knows its columns; None for a model of no known library, or one that cannot be read."""
    library = library_of(model)
    try:
        return None if library is None else library.predictions.adapt(model, "response")
    except Exception:
        return None  # the Explainer reads it again, and says what is wrong


def _files_of(model: Any) -> Files | None:
    library = library_of(model)
    return None if library is None else library.files


def _first_non_number(column: Column) -> tuple[str, Any] | None:
    """The first value that is no number: its row in words, and the value.

    Among texts, one that does not even read as a number: in a CSV file it is what made the rest text.
    """
    present, kinds = np.flatnonzero(~column.missing).tolist(), (numbers.Number, np.bool_)
    rows = [row for row in present if not isinstance(column.values[row], kinds)]
    if not rows:
        return None
    row = next((row for row in rows if not _is_number(column.values[row])), rows[0])
    value = column.values[row]
    return f"{row_text(row)} holds {'text' if isinstance(value, str) else type(value).__name__}", value


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
