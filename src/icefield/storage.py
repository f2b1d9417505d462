"""Effects as files: a zip of ``.npy`` arrays and one JSON document, and nothing executable.

Any nesting of the small dataclasses an Effect is made of is written by their fields; arrays
of objects (levels, mixed labels) become JSON lists with their types named. Loading is an
allow-list: an unknown type name is an error, and arrays are read with pickles refused.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from icefield.distribution import Distribution, Joint, Marginal
from icefield.effect import Effect
from icefield.errors import InputError, complaint
from icefield.frame import is_missing_value, object_array

FORMAT = "icefield-effect"
VERSION = 1


def _known_types() -> dict[str, type]:
    known: list[type] = [Effect, Distribution, Joint, Marginal]
    from icefield.support import Support

    known.append(Support)
    return {kind.__name__: kind for kind in known}


def save_effect(effect: Effect, path: Path) -> None:
    """Write an effect, replacing the file only once everything has been written."""
    arrays: list[np.ndarray[Any, Any]] = []
    document = {"format": FORMAT, "version": VERSION, "effect": _encode(effect, arrays)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("effect.json", json.dumps(document))
        for number, array in enumerate(arrays):
            content = io.BytesIO()
            np.save(content, array, allow_pickle=False)
            archive.writestr(f"arrays/{number}.npy", content.getvalue())
    path.write_bytes(buffer.getvalue())


def load_effect(path: Path) -> Effect:
    """Read an effect written by `save_effect`."""
    try:
        with zipfile.ZipFile(path) as archive:
            document = json.loads(archive.read("effect.json"))
            if document.get("format") != FORMAT:
                raise KeyError("format")
            if document.get("version") != VERSION:
                raise InputError(
                    complaint("path", "was written by a newer icefield", f"version {document.get('version')}",
                              "upgrade icefield")
                )  # fmt: skip

            def array(number: int) -> Any:
                return np.load(io.BytesIO(archive.read(f"arrays/{int(number)}.npy")), allow_pickle=False)

            effect = _decode(document["effect"], array)
    except FileNotFoundError:
        raise
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, OSError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            complaint("path", "is not a saved effect", str(path), "save one with Effect.save(path)")
        ) from error
    if not isinstance(effect, Effect):
        raise InputError(complaint("path", "is not a saved effect", str(path)))
    return effect


def _encode(value: Any, arrays: list[Any]) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if is_missing_value(value) and not isinstance(value, (float, np.floating)):
        return {"missing": type(value).__name__}
    if isinstance(value, (int, float)) and not isinstance(value, np.generic):
        return value if np.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return {"objects": [_encode(v, arrays) for v in value.tolist()]}
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.generic):
        arrays.append(np.asarray(value))
        return {"scalar": len(arrays) - 1}
    if isinstance(value, dt.datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, dt.date):
        return {"date": value.isoformat()}
    if isinstance(value, dt.timedelta):
        return {"seconds": value.total_seconds()}
    if isinstance(value, tuple):
        return {"tuple": [_encode(v, arrays) for v in value]}
    if isinstance(value, list):
        return {"list": [_encode(v, arrays) for v in value]}
    if isinstance(value, dict):
        return {"pairs": [[_encode(k, arrays), _encode(v, arrays)] for k, v in value.items()]}
    if dataclasses.is_dataclass(value) and type(value).__name__ in _known_types():
        fields = {f.name: _encode(getattr(value, f.name), arrays) for f in dataclasses.fields(value)}
        return {"type": type(value).__name__, "fields": fields}
    return {"text": str(value)}


def _decode(value: Any, array: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "type" in value:
        kind = _known_types()[value["type"]]
        return kind(**{name: _decode(v, array) for name, v in value["fields"].items()})
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
    simple = {
        "float": float,
        "text": str,
        "missing": lambda _: None,
        "datetime": dt.datetime.fromisoformat,
        "date": dt.date.fromisoformat,
        "seconds": lambda s: dt.timedelta(seconds=s),
    }
    return simple[tag](content)
