"""Plain callables: any ``f(rows) -> numbers``, on its one scale.

This is also the road for models of other frameworks (Keras, JAX, a remote service): the user
wraps the call, icefield treats the answer like any other.
"""

from __future__ import annotations

from typing import Any

from icefield.errors import ModelError, Setting, complaint, worded
from icefield.models.adapter import Adapter, Positions


def read_function(model: Any, scale: str) -> Adapter:
    """The adapter of a callable; it has one scale, that of what it returns."""
    if scale == "raw":
        raise refuse_raw_scale("a function")
    return Adapter(kind="function", scale_label="prediction", answer=model, naming=Positions())


def refuse_raw_scale(what: str) -> ModelError:
    """The error for models that are just functions of their rows, whatever they are made of."""
    return ModelError(
        complaint(
            "scale", f"cannot be 'raw': {what} has only the scale of what it returns",
            hint=worded("pass a model that returns the margin, with ",
                        Setting("scale", "response", python='scale="response"')),
        )
    )  # fmt: skip
