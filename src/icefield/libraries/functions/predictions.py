"""Plain callables: any ``f(rows) -> numbers``, on its one scale.

This is also the road for models of other frameworks (Keras, JAX, a remote service): the user
wraps the call, icefield treats the answer like any other.
"""

from __future__ import annotations

from typing import Any

from icefield.libraries.adapter import Adapter, Positions, refuse_raw_scale


def adapt(model: Any, scale: str) -> Adapter:
    """The adapter of a callable; it has one scale, that of what it returns."""
    if scale == "raw":
        raise refuse_raw_scale("a function")
    return Adapter(kind="function", scale_label="prediction", answer=model, naming=Positions())
