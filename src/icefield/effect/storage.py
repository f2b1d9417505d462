"""Effects as files: a zip of ``.npy`` arrays and one JSON document, and nothing executable.

Any nesting of the small dataclasses an Effect is made of is written by their fields; an Effect itself by the
names its readers use, so that a file does not depend on how its fields are grouped. Arrays of objects (levels,
mixed labels) become JSON lists with their types named. Loading is an allow-list: an unknown type or field name
is an error, and arrays are read with pickles refused.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import errno
import io
import json
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from operator import methodcaller
from pathlib import Path
from typing import Any

import numpy as np

from icefield.data.columns import is_missing_value, object_array
from icefield.data.distribution import Distribution, Joint, Marginal
from icefield.data.naming import Naming
from icefield.effect.data_support import Support
from icefield.effect.effect import Effect
from icefield.effect.file_validation import InvalidEffect, check_effect
from icefield.effect.learner_interval import LearnerInterval
from icefield.effect.parts import PART_FIELDS
from icefield.effect.whole_files import atomic_write
from icefield.errors import InputError, InputTypeError, MissingFileError

FORMAT = "icefield-effect"
VERSION = 1
EXAMPLE = 'write "age.icefield"'
# Fields that came later are only written where they say something: other files stay readable by what knew none.
LATER = ("centered_std", "interval", "row_clusters", "sampled_from", "unit", "own_grid", "zones", "positive")
NO_NAME = (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ)  # which no disk takes for the name of a file
TYPES = {t.__name__: t for t in (Effect, Distribution, Joint, LearnerInterval, Marginal, Naming, Support)}
# Python's own values: how each is marked, written and read; a datetime is a date too.
TAGGED: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    dt.datetime: ("datetime", methodcaller("isoformat"), dt.datetime.fromisoformat),
    dt.date: ("date", methodcaller("isoformat"), dt.date.fromisoformat),
    dt.timedelta: ("microseconds", lambda t: t // dt.timedelta(microseconds=1), lambda n: dt.timedelta(microseconds=n)),
    decimal.Decimal: ("decimal", str, decimal.Decimal),
}  # fmt: skip
READ: dict[str, Callable[[Any], Any]] = {tag: parse for tag, _, parse in TAGGED.values()}
READ |= {"float": float, "text": str, "missing": lambda _: None}


def _field_names(kind: Any) -> list[str]:
    """The fields of a type as they stand in a file: those of an Effect's parts are the Effect's own."""
    names = [field.name for field in dataclasses.fields(kind)]
    if kind is not Effect:
        return names
    return [name for field in names for name in PART_FIELDS.get(field, (field,))]


def save_effect(effect: Effect, path: str | os.PathLike[str]) -> None:
    """Write an effect, replacing the file only once everything has been written."""
    file = writable(path)
    arrays: list[np.ndarray[Any, Any]] = []
    document = {"format": FORMAT, "version": VERSION, "effect": _encode(effect, arrays)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("effect.json", json.dumps(document))
        for number, array in enumerate(arrays):
            content = io.BytesIO()
            np.save(content, array, allow_pickle=False)
            archive.writestr(f"arrays/{number}.npy", content.getvalue())
    try:
        with atomic_write(file) as beside:
            beside.write_bytes(buffer.getvalue())
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno not in NO_NAME:
            raise
        raise _no_file_name(path, error) from error


def writable(path: Any, example: str = EXAMPLE) -> Path:
    """The path as a `Path` that a file can be written to; an error where none can."""
    try:
        file = Path(path)
        is_folder, has_folder = file.is_dir(), file.parent.is_dir()
    except TypeError as error:
        raise InputTypeError.about("path", "must be the name of a file", path, example) from error
    except (OSError, ValueError) as error:
        raise _no_file_name(path, error) from error
    if is_folder:
        raise InputError.about("path", "is a folder", str(path), "name a file in it")
    if not has_folder:
        raise InputError.about(
            "path", "lies in a folder that does not exist", str(path), f"make {file.parent} first"
        )
    return file


def _no_file_name(path: Any, error: Exception) -> InputError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError.about("path", f"cannot be the name of a file ({reason})", path, EXAMPLE)


def load_effect(path: str | Path) -> Effect:
    """Read an effect written by `save_effect`."""
    try:
        exists, is_folder = os.path.exists(path), os.path.isdir(path)
    except (TypeError, ValueError):
        exists, is_folder = False, False
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError.about("path", "must be the name of a file", path, EXAMPLE)
    if is_folder or str(path) == "":
        raise InputError.about("path", "is a folder" if is_folder else "is empty", str(path), "name a file that Effect.save wrote")  # fmt: skip
    if not exists:
        raise MissingFileError.about(
            "path", "names a file that does not exist", str(path), "save one with Effect.save(path)"
        )
    try:
        with zipfile.ZipFile(path) as archive:
            document = json.loads(archive.read("effect.json"))
            if document.get("format") != FORMAT:
                raise KeyError("format")
            if document.get("version") != VERSION:
                raise InputError.about("path", "was written by a newer icefield", f"version {document.get('version')}",
                                       "upgrade icefield")  # fmt: skip

            def array(number: int) -> Any:
                return np.load(io.BytesIO(archive.read(f"arrays/{int(number)}.npy")), allow_pickle=False)

            effect: Effect = _decode(document["effect"], array)
            check_effect(effect)
    except (FileNotFoundError, PermissionError, InputError):
        raise
    except Exception as error:
        # Any byte of a file may be wrong, and zip, JSON, numpy and the Effect each have their own ways
        # to say so (also running out of memory on a size that is a lie).
        reason = f": {error}" if isinstance(error, InvalidEffect) else ""
        raise InputError.about(
            "path", f"is not a saved effect{reason}", str(path), "save one with Effect.save(path)"
        ) from error
    return effect


def _encode(value: Any, arrays: list[Any]) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if is_missing_value(value) and not isinstance(value, (float, np.generic)):
        return {"missing": type(value).__name__}
    if isinstance(value, int):
        return value
    if isinstance(value, float) and not isinstance(value, np.generic):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return {"objects": [_encode(v, arrays) for v in value.tolist()]}
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.generic):
        arrays.append(np.asarray(value))
        return {"scalar": len(arrays) - 1}
    for kind, (tag, write, _) in TAGGED.items():
        if isinstance(value, kind):
            return {tag: write(value)}
    if isinstance(value, (tuple, list)):
        return {"tuple" if isinstance(value, tuple) else "list": [_encode(v, arrays) for v in value]}
    if isinstance(value, Mapping):
        return {"pairs": [[_encode(k, arrays), _encode(v, arrays)] for k, v in value.items()]}
    if dataclasses.is_dataclass(value) and type(value).__name__ in TYPES:
        by_name = {name: getattr(value, name) for name in _field_names(type(value))}
        fields = {
            name: _encode(v, arrays)
            for name, v in by_name.items()
            if name not in LATER
            or not (v is None or (isinstance(v, dict) and not v) or (isinstance(v, int) and v == 0))
        }
        if isinstance(value, Effect) and not value.naming:
            del fields["naming"]  # earlier versions read what says no more than they know
        return {"type": type(value).__name__, "fields": fields}
    return {"text": str(value)}


def _decode(value: Any, array: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "type" in value:
        kind, fields = TYPES[value["type"]], value["fields"]
        if not set(fields) <= set(_field_names(kind)):
            raise KeyError("a field of another type")
        return kind(**{name: _decode(v, array) for name, v in fields.items()})
    ((tag, content),) = value.items()
    if tag == "array":
        return array(content)
    if tag == "scalar":
        return array(content)[()]
    if tag == "objects":
        return object_array([_decode(v, array) for v in content])
    if tag in ("tuple", "list"):
        items = [_decode(v, array) for v in content]
        return tuple(items) if tag == "tuple" else items
    if tag == "pairs":
        return {_decode(k, array): _decode(v, array) for k, v in content}
    return READ[tag](content)
