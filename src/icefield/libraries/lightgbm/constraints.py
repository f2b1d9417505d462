"""The constraints a LightGBM model was fitted with: its text holds its parameters, also in a file."""

from __future__ import annotations

import json
from typing import Any

from icefield.libraries.declared import Declared, signs
from icefield.libraries.lightgbm.format import booster_of, parameter


def declared(model: Any) -> Declared:
    """Monotone and interaction constraints, by position."""
    text = booster_of(model).model_to_string(num_iteration=1)
    monotone = parameter(text, "monotone_constraints")
    method = parameter(text, "monotone_constraints_method") or "basic"
    together = json.loads(f"[{parameter(text, 'interaction_constraints')}]")
    source = f"monotone_constraints_method {method}" if monotone else ""
    return Declared(signs(monotone), tuple(map(tuple, together)), source)
