"""ONNX: models in files, loaded, or open in a session of onnxruntime."""

from __future__ import annotations

import os
from typing import Any

from icefield.libraries.adapter import comes_from


def recognises(model: Any) -> bool:
    """Whether this is a path to an ONNX file, an onnxruntime session or a loaded ONNX model."""
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model).endswith(".onnx")
    return is_session(model) or (comes_from(model, "onnx") and hasattr(model, "SerializeToString"))


def is_session(model: Any) -> bool:
    return comes_from(model, "onnxruntime") and hasattr(model, "get_inputs")
