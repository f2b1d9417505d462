"""ONNX files, as a session of onnxruntime, which checks them itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from icefield.libraries.category_types import KnownLevels
from icefield.libraries.native_files import NativeFormat, needed
from icefield.libraries.onnx import is_session
from icefield.libraries.soundness import tried_rows, try_rows

# The format begins with no mark.
FORMATS = {".onnx": NativeFormat("an ONNX", "onnx.save_model", is_own=lambda head: True)}


def load(file: Path) -> Any:
    """A session that answers with the model in a file."""
    return needed("onnxruntime").InferenceSession(str(file), providers=["CPUExecutionProvider"])


def check(model: Any, file: Path) -> None:
    """A session checks its graph when it opens; what its operators do with damaged numbers shows when they run."""
    inputs = model.get_inputs()
    rows = tried_rows(max(map(_width, inputs), default=1))
    for some in (rows, rows[:1]):  # a graph may be made for one row
        try_rows(lambda given: model.run(None, {one.name: _values(one, given) for one in inputs}), some)


def _width(given: Any) -> int:
    return next((size for size in given.shape[1:] if isinstance(size, int)), 1)


def _values(given: Any, rows: Any) -> Any:
    """Some rows as one of the inputs takes them."""
    values = rows[:, : _width(given)]
    if given.type == "tensor(string)":
        return values.astype(str).astype(object)
    if given.type.startswith("tensor(float)"):
        return values.astype(np.float32)
    whole = given.type != "tensor(double)"
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
    kinds = [one.type for one in inputs] * (len(names) if len(inputs) == 1 else 1)
    return [name for name, kind in zip(names, kinds) if kind != "tensor(string)"]
