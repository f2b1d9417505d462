"""Plain callables: the road for every model that no other folder recognises."""

from __future__ import annotations

from typing import Any


def recognises(model: Any) -> bool:
    return callable(model)
