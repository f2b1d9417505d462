"""The constraints a CatBoost model was fitted with: among the parameters that its files keep."""

from __future__ import annotations

from typing import Any

from icefield.libraries.declared import Declared, signs


def declared(model: Any) -> Declared:
    """Monotone constraints, by position; interactions cannot be constrained there."""
    return Declared(signs(model.get_all_params().get("monotone_constraints") or ()))
