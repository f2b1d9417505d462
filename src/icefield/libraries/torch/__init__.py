"""PyTorch: modules that map a matrix of numbers to numbers."""

from __future__ import annotations

from typing import Any

from icefield.libraries.adapter import comes_from


def recognises(model: Any) -> bool:
    return comes_from(model, "torch") and hasattr(model, "forward") and not comes_from(model, "sklearn")
