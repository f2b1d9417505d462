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
        return Declared(signs(monotone), sets(json.loads(together or "[]")))
    monotone, together = (getattr(model, f"{kind}_constraints", None) for kind in ("monotone", "interaction"))
    return Declared(signs(monotone or ()), sets(together or ()))
