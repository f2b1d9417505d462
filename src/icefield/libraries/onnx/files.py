"""ONNX files, as a session of onnxruntime, which checks them itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from icefield.libraries.category_types import KnownLevels
from icefield.libraries.native_files import NativeFormat, require
from icefield.libraries.onnx import is_session
from icefield.libraries.validation import trial_rows, try_rows

# The format begins with no mark.
FORMATS = {".onnx": NativeFormat("an ONNX", "onnx.save_model", is_own=lambda head: True)}


def load(file: Path) -> Any:
    """A session that answers with the model in a file."""
    return require("onnxruntime").InferenceSession(str(file), providers=["CPUExecutionProvider"])


def check(model: Any, file: Path) -> None:
    """Run a loaded session on trial rows: damaged numbers show only there, the graph was checked when it opened."""
    inputs = model.get_inputs()
    rows = trial_rows(max(map(_width, inputs), default=1))
    for batch in (rows, rows[:1]):  # a graph may be made for one row
        try_rows(lambda data: model.run(None, {arg.name: _values(arg, data) for arg in inputs}), batch)


def _width(arg: Any) -> int:
    return next((size for size in arg.shape[1:] if isinstance(size, int)), 1)


def _values(arg: Any, rows: Any) -> Any:
    """Rows as one of a session's inputs takes them: its width and number type."""
    values = rows[:, : _width(arg)]
    if arg.type == "tensor(string)":
        return values.astype(str).astype(object)
    if arg.type.startswith("tensor(float)"):
        return values.astype(np.float32)
    whole = arg.type != "tensor(double)"
    return np.nan_to_num(values).clip(-1e6, 1e6).astype(np.int64) if whole else values


def with_categories(model: Any, frame: Any) -> Any:
    """Texts go over as they are."""
    return frame


def known_levels(model: Any, frame: Any) -> dict[Any, KnownLevels]:
    """A session says which inputs are texts, not which texts."""
    return {}


def text_columns(model: Any, names: Sequence[Any]) -> list[Any]:
    """Texts, where the session says what it takes."""
    numbers = number_columns(model, names)
    return [name for name in names if name not in numbers] if is_session(model) else []


def number_columns(model: Any, names: Sequence[Any]) -> list[Any]:
    """All but texts, where the session says what it takes."""
    if not is_session(model):
        return []
    inputs = model.get_inputs()
    kinds = [arg.type for arg in inputs] * (len(names) if len(inputs) == 1 else 1)
    return [name for name, kind in zip(names, kinds) if kind != "tensor(string)"]
