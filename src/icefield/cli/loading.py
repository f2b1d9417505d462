"""Models from files, for the command line.

A model file is somebody else's program or somebody's broken download until shown otherwise.
Formats that hold only numbers are loaded by their own library, first in a child process. Formats
that can run code (pickle, joblib) are refused unless asked for; skops files load only types on its
allow-list.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from icefield.cli.data_files import DATA_FORMATS, known_file
from icefield.errors import did_you_mean
from icefield.libraries.native_files import LoadError, first_line, load_native, native_suffixes, optional
from icefield.libraries.sklearn.skops_files import load_skops

PICKLES = (".pkl", ".pickle", ".joblib")
MODEL_FORMATS = (*native_suffixes(), ".skops", *PICKLES)


def is_imported(path: str) -> bool:
    """Whether MODEL names an object of a module instead of a file."""
    return ":" in path and not Path(path).exists() and Path(path).suffix.lower() not in MODEL_FORMATS


def check_model_file(path: str, option: str = "MODEL") -> None:
    """Refuse a file that does not exist or is of no known format; `option` is where the line names it."""
    hint = "or write package.module:object to import one, which runs that module's code"
    swapped = Path(path).suffix.lower() in DATA_FORMATS
    known_file(option, path, MODEL_FORMATS, hint, "name the model first, then the data" if swapped else None)


def load_model(
    path: str, *, allow_pickle: bool = False, trust: Sequence[str] = (), option: str = "MODEL"
) -> Any:
    """A fitted model from a file, or from ``package.module:object`` (which runs that module's code)."""
    if is_imported(path):
        return _import_object(path, option)
    check_model_file(path, option)
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in PICKLES:
        if not allow_pickle:
            raise LoadError(
                f"{path} is a pickle: loading it runs whatever code it holds. Hint: if you made it yourself or trust who "
                "did, add --allow-pickle; otherwise save the model in its library's own format, ONNX or skops."
            )
        return _unpickle(file, option)
    if suffix == ".skops":
        return load_skops(file, trust)
    return load_native(file)


def _unpickle(file: Path, option: str) -> Any:
    try:
        joblib = optional("joblib")
        if joblib is not None:
            return joblib.load(file)
        import pickle

        with file.open("rb") as stream:
            return pickle.load(stream)
    except Exception as error:
        raise LoadError.about(option, "could not be unpickled", str(file), first_line(error)) from error


def _import_object(path: str, option: str) -> Any:
    module, _, name = path.partition(":")
    if not module or not name:
        raise LoadError.about(option, "must look like package.module:object, whose code is then run", path)
    sys.path.insert(0, "")
    try:
        target = importlib.import_module(module)
    except Exception as error:
        problem = f"names a module that cannot be imported ({module})"
        raise LoadError.about(option, problem, path, first_line(error)) from error
    finally:
        # From here on the working folder comes last: what is imported later is not what the user named.
        sys.path.remove("")
        if "" not in sys.path:
            sys.path.append("")
    for part in name.split("."):
        if not hasattr(target, part):
            raise LoadError.about(
                option, f"names {name!r}, which {module} does not have", path, did_you_mean(part, dir(target))
            )
        target = getattr(target, part)
    return target
