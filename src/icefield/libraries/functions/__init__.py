"""Plain callables: the road for every model that no other folder recognises."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType
from typing import Any


def recognises(model: Any) -> bool:
    return isinstance(model, (FunctionType, BuiltinFunctionType))


def takes(model: Any) -> bool:
    return callable(model)
