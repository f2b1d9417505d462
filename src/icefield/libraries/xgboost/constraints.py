"""The constraints an XGBoost model was fitted with: in its configuration, or in its wrapper; files do not keep them."""

from __future__ import annotations

import json
from typing import Any

from icefield.libraries.declared import Declared, sets, signs
from icefield.libraries.xgboost.format import booster_of


def declared(model: Any) -> Declared:
    """Monotone and interaction constraints, by position or name."""
    booster = booster_of(model)
    settings = json.loads(booster.save_config())["learner"]["gradient_booster"].get("tree_train_param", {})
    monotone = settings.get("monotone_constraints", "").strip("() ")
    together = settings.get("interaction_constraints", "").strip()
    if monotone or together:
        numbers = [int(part) for part in monotone.split(",") if part.strip()]
        return Declared(signs(numbers), sets(json.loads(together)) if together else ())
    wrapped = getattr(model, "monotone_constraints", None)
    allowed = getattr(model, "interaction_constraints", None)
    if isinstance(wrapped, str):
        wrapped = [int(part) for part in wrapped.strip("() ").split(",") if part.strip()]
    return Declared(signs(wrapped) if wrapped else {}, sets(allowed) if allowed else ())
