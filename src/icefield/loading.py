"""Models and data from files, for the command line.

A model file is somebody else's program or somebody's broken download until shown otherwise.
Formats that hold only numbers are loaded by their own library, first in a child process. Formats
that can run code (pickle, joblib) are refused unless asked for; skops files load only types on its
allow-list. Data is parsed by pandas, pyarrow or polars, whichever is there, within the machine's memory.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from icefield.errors import IcefieldError, MissingDependencyError, complaint, did_you_mean
from icefield.native_files import LoadError, cut, first_line, load_native, needed, optional, with_categories

__all__ = ["LoadError", "load_model", "read_data", "with_categories"]

DATA_FORMATS = (".csv", ".tsv", ".parquet", ".feather", ".arrow", ".ipc")
MODEL_FORMATS = (".txt", ".json", ".ubj", ".cbm", ".onnx", ".skops", ".pkl", ".pickle", ".joblib")
PICKLES = (".pkl", ".pickle", ".joblib")


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
    _fits(max(groups, 8 * about.num_rows * about.num_columns), "its tables")
    return file.read()


def _fits(size: int, what: str) -> None:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 2**36
    if size > memory:
        raise ValueError(f"{what} would take {size / 2**30:,.0f} GiB, this machine has {memory / 2**30:,.0f}")


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
                "MODEL", "is a file that does not exist", path, "or write package.module:object to import one"
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
        return _skops(file, trust)
    return load_native(file)


def _skops(file: Path, trust: Sequence[str]) -> Any:
    skops = needed("skops.io", "skops")
    try:
        with zipfile.ZipFile(file) as archive:
            _fits(sum(entry.file_size for entry in archive.infolist()), "its contents")
        unknown = [t for t in skops.get_untrusted_types(file=str(file)) if t not in trust]
    except Exception as error:
        raise LoadError(
            complaint("MODEL", "is not a readable skops file", str(file), first_line(error))
        ) from error
    if unknown:
        wanted = " ".join(f"--trust {cut(name, 80)}" for name in unknown[:5])
        raise LoadError(
            f"{file} holds types that are not on the allow-list: {cut(', '.join(unknown[:5]))}. Hint: if you trust "
            f"them, add {wanted}."
        )
    try:
        return skops.load(str(file), trusted=list(trust))
    except Exception as error:
        raise LoadError(complaint("MODEL", "could not be loaded", str(file), first_line(error))) from error


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
        raise LoadError(complaint("MODEL", "must look like package.module:object", path))
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
