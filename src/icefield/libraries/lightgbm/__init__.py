"""LightGBM: Boosters, their scikit-learn wrappers, and the text they are saved as."""

from __future__ import annotations

from typing import Any

from icefield.libraries.adapter import comes_from


def recognises(model: Any) -> bool:
    return comes_from(model, "lightgbm")
