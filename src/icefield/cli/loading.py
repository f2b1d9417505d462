"""Models and data from files, for the command line.

A model file is somebody else's program or somebody's broken download until shown otherwise.
Formats that hold only numbers are loaded by their own library, first in a child process. Formats
that can run code (pickle, joblib) are refused unless asked for; skops files load only types on its
allow-list. Data is parsed by pandas, pyarrow or polars, whichever is there, within the machine's memory, and
then fitted to the model: which of its columns the model gets, and whether they hold numbers where it takes numbers.
"""

from __future__ import annotations

import importlib
import io
import numbers
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb
from typing import Any

import numpy as np

from icefield.data.columns import Column
from icefield.data.frame import Table
from icefield.errors import IcefieldError, MissingDependencyError, ModelError, complaint, did_you_mean
from icefield.libraries.native_files import (
    LoadError,
    check_fits,
    cut,
    first_line,
    load_native,
    native_suffixes,
    optional,
)
from icefield.libraries.registry import Files, library_of
from icefield.libraries.sklearn.skops_files import load_skops
from icefield.models.adapter import Adapter, columns_by_spelling

__all__ = [
    "LoadError",
    "check_numbers",
    "load_model",
    "read_data",
    "refusals_explained",
    "rows_for",
    "with_categories",
]

DATA_FORMATS = (".csv", ".tsv", ".parquet", ".feather", ".arrow", ".ipc")
PICKLES = (".pkl", ".pickle", ".joblib")
MODEL_FORMATS = (*native_suffixes(), ".skops", *PICKLES)


# --- data ----------------------------------------------------------------------------------------


def read_data(path: str) -> Any:
    """A data frame from a CSV, Parquet or Feather/Arrow file, or from standard input (``-``)."""
    if path == "-":
        return _data_from_bytes(sys.stdin.buffer.read())
    file = Path(path)
    if not file.exists():
        raise LoadError(complaint("DATA", "is a file that does not exist", path))
    if file.is_dir():
        raise LoadError(complaint("DATA", "is a folder", path, "name one file"))
    if file.suffix.lower() not in DATA_FORMATS:
        raise LoadError(
            complaint(
                "DATA",
                f"must be one of {', '.join(DATA_FORMATS)}",
                path,
                "convert the file, or pipe CSV to -",
            )
        )
    content = file.read_bytes()
    if not content:
        raise LoadError(complaint("DATA", "is empty", path))
    return _parsed(content, file.suffix.lower(), path)


def _data_from_bytes(content: bytes) -> Any:
    """Standard input has no suffix: Parquet and Arrow files say what they are, the rest is CSV."""
    if not content:
        raise LoadError(complaint("DATA", "is empty", "standard input"))
    if content[:4] == b"PAR1":
        return _parsed(content, ".parquet", "standard input")
    if content[:6] == b"ARROW1" or content[:4] == b"\xff\xff\xff\xff":
        return _parsed(content, ".arrow", "standard input")
    first = content[:65536].split(b"\n", 1)[0]
    tabs = first.count(b"\t") > first.count(b",")
    return _parsed(content, ".tsv" if tabs else ".csv", "standard input")


def _parsed(content: bytes, suffix: str, name: str) -> Any:
    buffer = io.BytesIO(content)
    try:
        if suffix in (".csv", ".tsv"):
            frame = _read_csv(buffer, "\t" if suffix == ".tsv" else ",")
        else:
            frame = _read_arrow(buffer, suffix)
    except IcefieldError:
        raise
    except Exception as error:
        raise LoadError(
            complaint("DATA", f"could not be read as {suffix[1:]}", name, first_line(error))
        ) from error
    if len(frame) == 0:
        raise LoadError(complaint("DATA", "has no rows", name))
    return frame


def _read_csv(buffer: io.BytesIO, separator: str) -> Any:
    if b"\0" in buffer.getvalue()[:65536]:
        raise ValueError("it holds binary data")
    pandas = optional("pandas")
    if pandas is not None:
        return pandas.read_csv(buffer, sep=separator, low_memory=False)
    polars = optional("polars")
    if polars is not None:
        return polars.read_csv(buffer, separator=separator, infer_schema_length=None)
    raise MissingDependencyError("Reading CSV needs pandas or polars. Hint: pip install pandas.")


def _read_arrow(buffer: io.BytesIO, suffix: str) -> Any:
    pandas, arrow = optional("pandas"), optional("pyarrow")
    if arrow is not None:
        if suffix == ".parquet":
            table = _read_parquet(buffer)
        elif buffer.getvalue()[:4] == b"\xff\xff\xff\xff":
            table = importlib.import_module("pyarrow.ipc").open_stream(buffer).read_all()
        else:
            table = importlib.import_module("pyarrow.feather").read_table(buffer)
        return table.to_pandas() if pandas is not None else table
    polars = optional("polars")
    if polars is not None:
        return polars.read_parquet(buffer) if suffix == ".parquet" else polars.read_ipc(buffer)
    raise MissingDependencyError(f"Reading {suffix} needs pyarrow or polars. Hint: pip install pyarrow.")


def _read_parquet(buffer: io.BytesIO) -> Any:
    file = importlib.import_module("pyarrow.parquet").ParquetFile(buffer)
    about = file.metadata
    groups = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    # A run of one value takes a few bytes in the file, and eight for each row in memory.
    check_fits(max(groups, 8 * about.num_rows * about.num_columns), "its tables")
    return file.read()


# --- models --------------------------------------------------------------------------------------


def load_model(path: str, *, allow_pickle: bool = False, trust: Sequence[str] = ()) -> Any:
    """A fitted model from a file, or from ``package.module:object`` (which runs that module's code)."""
    file = Path(path)
    suffix = file.suffix.lower()
    if ":" in path and not file.exists() and suffix not in MODEL_FORMATS:
        return _imported(path)
    if not file.exists():
        raise LoadError(
            complaint(
                "MODEL",
                "is a file that does not exist",
                path,
                "or write package.module:object to import one, which runs that module's code",
            )
        )
    if file.is_dir():
        raise LoadError(complaint("MODEL", "is a folder", path, "name one file"))
    if suffix not in MODEL_FORMATS:
        raise LoadError(
            complaint(
                "MODEL",
                f"must be one of {', '.join(MODEL_FORMATS)}",
                path,
                did_you_mean(suffix, MODEL_FORMATS),
            )
        )
    if suffix in PICKLES:
        if not allow_pickle:
            raise LoadError(
                f"{path} is a pickle: loading it runs whatever code it holds. Hint: if you made it yourself or trust who "
                "did, add --allow-pickle; otherwise save the model in its library's own format, ONNX or skops."
            )
        return _unpickled(file)
    if suffix == ".skops":
        return load_skops(file, trust)
    return load_native(file)


def _unpickled(file: Path) -> Any:
    try:
        joblib = optional("joblib")
        if joblib is not None:
            return joblib.load(file)
        import pickle

        with file.open("rb") as stream:
            return pickle.load(stream)
    except Exception as error:
        raise LoadError(complaint("MODEL", "could not be unpickled", str(file), first_line(error))) from error


def _imported(path: str) -> Any:
    module, _, name = path.partition(":")
    if not module or not name:
        raise LoadError(
            complaint("MODEL", "must look like package.module:object, whose code is then run", path)
        )
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = importlib.import_module(module)
    except Exception as error:
        raise LoadError(
            complaint("MODEL", f"names a module that cannot be imported ({module})", path, first_line(error))
        ) from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise LoadError(
                complaint(
                    "MODEL",
                    f"names {name!r}, which {module} does not have",
                    path,
                    did_you_mean(part, dir(found)),
                )
            )
        found = getattr(found, part)
    return found


# --- data for a model ----------------------------------------------------------------------------


def with_categories(model: Any, frame: Any) -> Any:
    """The frame with categorical columns typed as the model was trained on them; other frames as they are.

    Files of a text format have lost their categories' type.
    """
    files = _files_of(model)
    if files is None or not type(frame).__module__.startswith("pandas"):
        return frame
    return files.with_categories(model, frame)


def rows_for(
    model: Any, table: Table, *, y: str | None = None, weights: str | None = None, by: str | None = None
) -> Table:
    """The table without columns that stand beside the features, if the model knows columns by position only.

    A model that knows its columns by name finds them among others. One that does not gets all there are: the
    observed targets are never among its features, and columns of weights and groups only where the
    number of columns leaves room for them.
    """
    adapter, names = _adapter(model), table.names
    if adapter is not None and _by_name(adapter, names):
        return table
    aside = {name for name in names if name == y}
    width = None if adapter is None else adapter.n_columns
    if width is not None:
        others = {name for name in names if name in (weights, by)} - aside
        too_many = len(names) - len(aside) - width
        if 0 < too_many < len(others):
            raise LoadError(
                complaint(
                    "DATA",
                    f"has {len(names)} columns, and the model, which does not know their names, takes {width}: "
                    f"which of {' and '.join(sorted(map(repr, others)))} it was fitted on cannot be told",
                    hint="drop the other columns from the data",
                )
            )
        if too_many >= len(others):
            aside |= others
    return table.select([name for name in names if name not in aside]) if aside else table


def check_numbers(model: Any, table: Table) -> None:
    """Refuse text in a column the model takes as numbers, and say where it is."""
    adapter = _adapter(model)
    if adapter is None or (
        not _by_name(adapter, table.names) and adapter.n_columns not in (None, len(table.names))
    ):
        return  # with other columns than the model's, there is no telling which are numbers
    files = _files_of(model)
    for name in [] if files is None else files.number_columns(model, _columns_of(model, table)):
        if name not in table.names:
            continue  # the Explainer says what is missing
        column = table.column(name)
        # A category type of its own is the model's affair: its library compares the levels.
        if column.kind not in ("float", "integer", "boolean") and not column.closed:
            found = _first_other(column)
            if found is not None:
                problem = (
                    f"must hold numbers in the column {name!r}, which the model takes as numbers; {found[0]}"
                )
                raise LoadError(
                    complaint("DATA", problem, found[1], "write a number there, or nothing if it is missing")
                )


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
    in_adapter = modules[-1].startswith("icefield.models.") or modules[-1].endswith(
        (".predictions", ".margins")
    )
    asked = "icefield.models.model" in modules or "icefield.models.trial" in modules
    ours = modules[-1].startswith("icefield.")
    return asked and (not ours or (in_adapter and isinstance(error, (ValueError, TypeError))))


def _text_among_numbers(model: Any, table: Table) -> str:
    """Where a column that is mostly numbers holds text: the likely reason why a model refused rows."""
    for name in _columns_of(model, table):
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
            return (
                f"column {name!r} is mostly numbers, but {_row(at)} holds {cut(repr(column.values[at]), 80)}"
            )
    return ""


def _columns_of(model: Any, table: Table) -> list[Any]:
    """The table's columns in the model's order; those that are missing by the model's name."""
    adapter, names = _adapter(model), list(table.names)
    if adapter is None or adapter.columns is None or not _by_name(adapter, names):
        return names
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
    others = [
        at
        for at in np.flatnonzero(~column.missing).tolist()
        if not isinstance(column.values[at], (numbers.Number, np.bool_))
    ]
    if not others:
        return None
    at = next((at for at in others if not _is_number(column.values[at])), others[0])
    value = column.values[at]
    return f"{_row(at)} holds {'text' if isinstance(value, str) else type(value).__name__}", value


def _row(at: int) -> str:
    return f"row {at + 1:,} (counted from 1, without a header)"


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
