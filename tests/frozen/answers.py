"""Answers as plain values: taken apart into arrays and text, written to one file, and compared bit for bit."""

from __future__ import annotations

import json
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

import icefield

Values = dict[str, Any]  # name -> array or text

EFFECT = (
    "kind", "features", "kinds", "grid", "average", "outputs", "steps", "by", "view", "reference",
    "std", "se", "quantiles", "centered_std", "individual", "rows", "row_values", "row_weights", "row_clusters",
    "weight", "distribution", "support", "scale", "scale_label", "baseline", "output_std", "unit",
    "engine", "why", "background", "n_rows", "sampled_from", "over", "library", "groups",
)  # fmt: skip
TABLE = ("columns", "title", "notes", "library")
TABLE_EXTRAS = (
    "effects", "effect", "measure", "heterogeneity", "removed", "splits", "warnings", "readings", "fit",
)  # fmt: skip
SKIPPED = ("naming", "each")  # what was given, and what is found elsewhere
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
FOLDER = re.compile(re.escape(tempfile.gettempdir()) + r"/tmp\w{8}")  # named anew in every run


class Answers:
    """What was asked, by name. Questions that are refused are answers too: the error's type and text."""

    def __init__(self, only: str = "") -> None:
        self.values: Values = {}
        self.refused: list[str] = []
        self.questions = 0
        self._only = only

    def wants(self, prefix: str) -> bool:
        """Whether any question below this prefix is wanted."""
        return self._only.startswith(prefix) or prefix.startswith(self._only)

    def ask(self, name: str, question: Callable[[], Any]) -> None:
        """Put a question, and note its answer with the warnings it gave."""
        if not name.startswith(self._only):
            return
        self.questions += 1
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                answer = question()
            except Exception as error:  # whatever it is, it must stay that
                answer = f"{type(error).__name__}: {error}"
                self.refused.append(name)
        own = [
            f"{w.category.__name__}: {w.message}" for w in said if "icefield" in str(w.filename) or _is_own(w)
        ]
        for at, value in {**taken_apart(name, answer), **taken_apart(f"{name}/warnings", own)}.items():
            if at in self.values:
                raise ValueError(f"two answers are called {at!r}")
            self.values[at] = value


def _is_own(warning: Any) -> bool:
    return warning.category.__module__.startswith("icefield")


def taken_apart(name: str, value: Any) -> Values:
    """One answer as arrays and text, each by a name below `name`."""
    found: Values = {}
    _take(found, name, value)
    return found


def _take(found: Values, name: str, value: Any) -> None:
    if isinstance(value, icefield.Effect):
        _attributes(found, name, value, EFFECT)
        others = value.others
        found[f"{name}.others"] = "None" if others is None else repr(list(others))
        if value.view == "level":
            _take(found, f"{name}.reading", _or_error(lambda: value.reading))
        found[f"{name}.text"] = _plain_text(_or_error(lambda: repr(value)))
    elif isinstance(value, icefield.Comparison):
        found[f"{name}.text"] = _plain_text(repr(value))
        _take(found, name, dict(value))
    elif hasattr(value, "columns") and hasattr(value, "notes") and hasattr(value, "title"):
        _attributes(found, name, value, TABLE)
        _attributes(found, name, value, [extra for extra in TABLE_EXTRAS if hasattr(value, extra)])
        found[f"{name}.text"] = _plain_text(repr(value))
    elif isinstance(value, Mapping):
        found[f"{name}.keys"] = repr(list(value))
        for key, one in value.items():
            _take(found, f"{name}[{key!r}]", one)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        found[name] = np.ascontiguousarray(value)
    elif isinstance(value, np.ndarray):
        found[name] = f"{value.shape} " + _plain_text(_typed(value.ravel().tolist()))
    elif isinstance(value, (bool, int, float, np.generic)):
        found[name] = np.asarray(value)
    elif is_dataclass(value) and not isinstance(value, type):
        # By fields, not by the name of the class, which may change.
        _attributes(
            found, name, value, [f.name for f in fields(value) if f.name[0] != "_" and f.name not in SKIPPED]
        )
        found[f"{name}.text"] = _plain_text(str(value)) if type(value).__str__ is not object.__str__ else ""
    elif isinstance(value, (list, tuple)) and any(_has_parts(one) for one in value):
        found[f"{name}.length"] = np.asarray(len(value))
        for place, one in enumerate(value):
            _take(found, f"{name}[{place}]", one)
    elif isinstance(value, (list, tuple, set, frozenset)):
        found[name] = _plain_text(
            _typed(sorted(value, key=str) if isinstance(value, (set, frozenset)) else value)
        )
    else:
        found[name] = _plain_text(value if isinstance(value, str) else repr(value))


def _attributes(found: Values, name: str, value: Any, wanted: Iterable[str]) -> None:
    for one in wanted:
        _take(found, f"{name}.{one}", getattr(value, one))


def _or_error(question: Callable[[], Any]) -> Any:
    try:
        return question()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _has_parts(value: Any) -> bool:
    return isinstance(value, (np.ndarray, Mapping, icefield.Effect, list, tuple)) or is_dataclass(value)


def _typed(values: Iterable[Any]) -> str:
    """Values as text that tells 1 from 1.0 and a float's last digit."""
    return repr([f"{type(v).__name__} {v!r}" if not isinstance(v, str) else v for v in values])


def _plain_text(text: str) -> str:
    return FOLDER.sub("/FOLDER", ADDRESS.sub("0x", text))


# --- the file ----------------------------------------------------------------------------------------


def write(path: Path, values: Values) -> None:
    """All values in one npz: an index in JSON, and the arrays' bytes one after another."""
    index, pieces, at = {}, [], 0
    for name, value in values.items():
        if isinstance(value, str):
            index[name] = value
            continue
        piece = value.tobytes()
        index[name] = [value.dtype.str, list(value.shape), at, len(piece)]
        pieces.append(piece)
        at += len(piece)
    text = json.dumps(index, ensure_ascii=False).encode("utf-8", "surrogatepass")
    with path.open("wb") as file:
        np.savez_compressed(
            file, index=np.frombuffer(text, np.uint8), data=np.frombuffer(b"".join(pieces), np.uint8)
        )


def read(path: Path, only: str = "") -> Values:
    """What `write` wrote."""
    with np.load(path, allow_pickle=False) as file:
        index, data = (
            json.loads(file["index"].tobytes().decode("utf-8", "surrogatepass")),
            file["data"].tobytes(),
        )
    found: Values = {}
    for name, value in index.items():
        if name.startswith(only):
            if isinstance(value, str):
                found[name] = value
            else:
                kind, shape, start, size = value
                found[name] = np.frombuffer(data[start : start + size], np.dtype(kind)).reshape(shape)
    return found


def differences(before: Values, now: Values) -> list[str]:
    """A line for every value that is not the same, bit for bit."""
    lines = [f"{name}: is gone" for name in before if name not in now]
    lines += [f"{name}: is new" for name in now if name not in before]
    for name, old in before.items():
        if name in now and (said := _difference(old, now[name])):
            lines.append(f"{name}: {said}")
    return lines


def _difference(old: Any, new: Any) -> str:
    if isinstance(old, str) or isinstance(new, str):
        return (
            "" if isinstance(old, str) and isinstance(new, str) and old == new else _text_difference(old, new)
        )
    if old.dtype != new.dtype or old.shape != new.shape:
        return f"{old.dtype} {old.shape} -> {new.dtype} {new.shape}"
    if old.tobytes() == new.tobytes():
        return ""
    if old.dtype.kind in "US" or old.dtype.kind in "mM":
        places = np.flatnonzero((old != new).ravel())
        place = int(places[0]) if len(places) else 0
        return f"{len(places)} of {old.size} differ, first {old.ravel()[place]!r} -> {new.ravel()[place]!r}"
    bits = np.frombuffer(old.tobytes(), f"V{old.itemsize}") != np.frombuffer(
        new.tobytes(), f"V{new.itemsize}"
    )
    place = int(np.flatnonzero(bits)[0])
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(old.astype(np.float64) - new.astype(np.float64))
    known = apart[np.isfinite(apart)]
    return (
        f"{int(bits.sum())} of {old.size} differ, max abs {float(known.max()) if known.size else float('nan'):.3g} "
        f"(max {float(np.nanmax(np.abs(old.astype(np.float64)))) if old.size else 0:.3g}), "
        f"first {old.ravel()[place]!r} -> {new.ravel()[place]!r}"
    )


def _text_difference(old: Any, new: Any) -> str:
    old, new = (one if isinstance(one, str) else repr(one) for one in (old, new))
    place = next((i for i, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    start = max(0, place - 40)
    return f"text differs at {place}: {old[start : place + 80]!r} -> {new[start : place + 80]!r}"
