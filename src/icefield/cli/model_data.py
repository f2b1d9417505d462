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

from icefield.cli.cells import Matched, NotANumber, as_it_looks, as_numbers, as_text, matched
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
    aside = {name for name in names if name == y}
    width = None if adapter is None else adapter.n_columns
    if width is not None:
        others = {name for name in names if name in (weights, by, cluster)} - aside
        too_many = len(names) - len(aside) - width
        if 0 < too_many < len(others):
            problem = (
                f"has {len(names)} columns, and the model, which does not know their names, takes {width}: "
                f"which of {' and '.join(sorted(map(repr, others)))} it was fitted on cannot be determined"
            )
            raise LoadError.about("DATA", problem, hint="drop the other columns from the data")
        if too_many >= len(others):
            aside |= others
    return [name for name in names if name not in aside]


# --- what they hold ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wanted:
    """What a model takes: columns of numbers, of texts, and of levels it knows. Of others it says nothing."""

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
    wanted: Wanted | None = None,
) -> FittedData:
    """The data with every column as the model takes it, of which it gets `columns`, by default all.

    `wanted` is what the model takes, where that is known from other rows.
    """
    missing = MissingCells() if missing is None else missing
    names = column_names(data.frame)
    looks = AsItLooks(data, missing)
    if wanted is None:
        wanted = wanted_columns(model, names if columns is None else columns, looks)
    remarks: list[str] = []
    changed: dict[Any, Any] = {}
    for name in names:
        if name in wanted.levels:
            if not data.as_text and _holds_levels(looks.cells(name), wanted.levels[name]):
                continue
            changed[name], said = _as_levels(name, data, wanted.levels[name], missing)
            remarks += said
        elif not data.as_text:
            continue
        elif name in wanted.numbers:
            changed[name] = _as_numbers(name, data, missing)
        elif name in wanted.texts:
            changed[name] = as_text(looks.cells(name), missing.texts)
        else:
            changed[name] = looks[name]
    return FittedData(_with_library_s_own(model, _assembled(data, changed)), tuple(remarks))


def wanted_columns(model: Any, names: Sequence[Any], looks: Any) -> Wanted:
    """What a model says of these columns. `looks` shows what each seems to hold, where a model leaves that open."""
    adapter, library = _adapter(model), library_of(model)
    if adapter is None or library is None or not _can_be_told(adapter, names):
        return Wanted()
    own = _columns_of(model, names)
    if library.files is None:
        if library.name != "sklearn":
            return Wanted()
        levels = {name: known for name, known in known_levels(model).items() if name in own}
        numeric = set(own) - set(levels) if takes_only_numbers(model) else set()
        return Wanted(frozenset(numeric), levels=levels)
    here = own if adapter.columns is None else dict(zip(adapter.columns, own))
    found = library.files.known_levels(model, looks)
    levels = {(here[name] if isinstance(here, dict) else name): known for name, known in found.items()}
    texts = frozenset(library.files.text_columns(model, own))
    numeric = set(library.files.number_columns(model, own)) - set(levels) - texts
    return Wanted(frozenset(numeric), texts, levels)


def _can_be_told(adapter: Adapter, names: Sequence[Any]) -> bool:
    """Whether the data's columns can be matched to the model's."""
    return _by_name(adapter, names) or adapter.n_columns in (None, len(names))


class AsItLooks:
    """A file's columns by what they seem to hold, each looked at when it is asked for."""

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
            self._seen[name] = as_it_looks(self.cells(name), self._missing)
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
        raise _no_number(name, f"{data.row(error.row)} holds text", error.cell) from None


def _no_number(name: Any, where: str, value: Any) -> LoadError:
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
    found = matched(values, known, missing)
    said = [_about_unseen(name, data, known, found)] if found.unseen else []
    pandas = optional("pandas")
    if known.typed and pandas is not None:
        return pandas.Categorical.from_codes(found.codes, categories=pandas.Index(list(known.levels))), said
    levels = object_array([*known.levels, known.missing])
    out = levels[np.where(found.codes < 0, len(known.levels), found.codes)]
    if known.unseen == "kept":
        for row in found.unseen_rows.tolist():
            out[row] = values[row]
    kinds = {type(value) for value in out.tolist()}
    if len(kinds) == 1 and kinds <= {int, float, bool}:
        return np.array(out.tolist()), said
    return out, said


def _about_unseen(name: Any, data: DataFile, known: KnownLevels, found: Matched) -> str:
    unseen = found.unseen
    listed = ", ".join(
        f"{cut(repr(value), 40)} ({counted(count)} row{'s' if count > 1 else ''})"
        for value, count in unseen.most_common(SHOWN)
    )
    more = f" and {counted(len(unseen) - SHOWN)} other values" if len(unseen) > SHOWN else ""
    levels = ", ".join(cut(repr(level), 40) for level in known.levels[:SHOWN])
    levels += ", ..." if len(known.levels) > SHOWN else ""
    if known.unseen == "refused" or (known.unseen == "missing" and not (found.codes >= 0).any()):
        value = unseen.most_common(1)[0][0]
        problem = f"holds values in the column {name!r} that the model has never seen: {listed}{more}, first in {data.row(int(found.unseen_rows[0]))}"
        hint = f"its levels are {levels}; for values that stand for missing, write missing={value!r}"
        raise LoadError.about("DATA", problem, hint=hint)
    fate = "are missing to it" if known.unseen == "missing" else "are left for it to judge"
    return f"Column {name!r} of DATA holds values MODEL has never seen, which {fate}: {listed}{more}."


def _assembled(data: DataFile, changed: Mapping[Any, Any]) -> Any:
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
    made = frame_of(changed, library)
    if data.as_text:
        return made
    if library == "polars":
        return frame.with_columns([made[name] for name in changed])
    for name in changed:
        frame = frame.set_column(frame.column_names.index(name), name, made[name])
    return frame


def _with_library_s_own(model: Any, frame: Any) -> Any:
    """What is left to a library: CatBoost's missing categories, XGBoost's categories that are bare codes."""
    files = _files_of(model)
    if files is None or not type(frame).__module__.startswith("pandas"):
        return frame
    return files.with_categories(model, frame)


def check_numbers(model: Any, table: Table) -> None:
    """Refuse text in a column the model takes as numbers, and say where it is."""
    adapter = _adapter(model)
    if adapter is None or not _can_be_told(adapter, table.names):
        return
    files = _files_of(model)
    for name in [] if files is None else files.number_columns(model, _columns_of(model, table.names)):
        if name not in table.names:
            continue  # the Explainer says what is missing
        column = table.column(name)
        # A category type of its own is the model's affair: its library compares the levels.
        if column.kind not in ("float", "integer", "boolean") and not column.closed:
            found = _first_other(column)
            if found is not None:
                raise _no_number(name, found[0], found[1])


@contextmanager
def refusals_explained(model: Any, table: Table) -> Iterator[None]:
    """An error of the user's model while it was asked is about its rows; say which, where that is clear."""
    try:
        yield
    except Exception as error:
        # An Explainer tries a few rows first and words a refusal itself; a text further down it cannot know.
        worded = isinstance(error, IcefieldError)
        theirs: BaseException | None = error.__cause__ if worded else error
        if theirs is None or (worded and not isinstance(error, ModelError)) or not _raised_by_model(theirs):
            raise
        reason = _text_among_numbers(model, table)
        if worded and not reason:
            raise
        hint = f" Hint: {reason}." if reason else ""
        raise ModelError(f"MODEL refused these rows of DATA: {first_line(theirs)}.{hint}") from error


def _raised_by_model(error: BaseException) -> bool:
    """Whether the user's model, its library or the form of rows it takes failed, and nothing else of icefield."""
    if isinstance(error, (IcefieldError, MemoryError)):
        return False
    modules = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    # Adapters turn rows into what a library takes: text that is no number fails there.
    last = modules[-1]
    in_adapter = last.startswith("icefield.models.") or last.endswith((".predictions", ".margins"))
    asked = "icefield.models.model" in modules or "icefield.models.trial" in modules
    ours = last.startswith("icefield.")
    return asked and (not ours or (in_adapter and isinstance(error, (ValueError, TypeError))))


def _text_among_numbers(model: Any, table: Table) -> str:
    """Where a column that is mostly numbers holds text: the likely reason why a model refused rows."""
    for name in _columns_of(model, table.names):
        if name not in table.names:
            continue
        column = table.column(name)
        if column.kind != "categorical" or column.closed:
            continue
        levels = [_is_number(level) for level in column.levels.tolist()]
        read = np.array([*levels, False])[column.codes]
        known = ~column.missing
        if 2 * read.sum() >= known.sum() and not read[known].all():
            at = int(np.flatnonzero(known & ~read)[0])
            held = cut(repr(column.values[at]), 80)
            return f"column {name!r} is mostly numbers, but {row_text(at)} holds {held}"
    return ""


def _columns_of(model: Any, names: Sequence[Any]) -> list[Any]:
    """These columns in the model's order; those that are missing by the model's name."""
    adapter = _adapter(model)
    if adapter is None or adapter.columns is None or not _by_name(adapter, names):
        return list(names)
    found = columns_by_spelling(adapter.columns, names)
    return [name if own is None else own for name, own in zip(adapter.columns, found)]


def _by_name(adapter: Adapter, names: Sequence[Any]) -> bool:
    wanted = adapter.columns
    return wanted is not None and (not adapter.names_are_made_up or set(wanted) <= set(names))


def _adapter(model: Any) -> Adapter | None:
    """What a model says of its columns; None for those that say nothing, or cannot be read."""
    library = library_of(model)
    try:
        return None if library is None else library.predictions.adapt(model, "response")
    except Exception:
        return None  # the Explainer reads it again, and says what is wrong


def _files_of(model: Any) -> Files | None:
    library = library_of(model)
    return None if library is None else library.files


def _first_other(column: Column) -> tuple[str, Any] | None:
    """The first value that is no number: its row in words, and the value.

    Among texts, one that does not even read as a number: in a CSV file it is what made the rest text.
    """
    known, kinds = np.flatnonzero(~column.missing).tolist(), (numbers.Number, np.bool_)
    others = [at for at in known if not isinstance(column.values[at], kinds)]
    if not others:
        return None
    at = next((at for at in others if not _is_number(column.values[at])), others[0])
    value = column.values[at]
    return f"{row_text(at)} holds {'text' if isinstance(value, str) else type(value).__name__}", value


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
