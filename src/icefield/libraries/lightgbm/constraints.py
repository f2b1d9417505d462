"""The constraints a LightGBM model was fitted with: its text holds its parameters, also in a file."""

from __future__ import annotations

import json
import re
from typing import Any

from icefield.libraries.declared import Declared, signs
from icefield.libraries.lightgbm.format import booster_of


def declared(model: Any) -> Declared:
    """Monotone and interaction constraints, by position."""
    text = booster_of(model).model_to_string(num_iteration=1)
    found = {}
    for name in ("monotone_constraints", "interaction_constraints", "monotone_constraints_method"):
        match = re.search(rf"^\[{name}: (.*)\]$", text, re.MULTILINE)
        found[name] = "" if match is None else match.group(1).strip()
    monotone = found["monotone_constraints"]
    together = found["interaction_constraints"]
    method = found["monotone_constraints_method"] or "basic"
    return Declared(
        signs(monotone),
        tuple(tuple(one) for one in json.loads(f"[{together}]")) if together else (),
        f"monotone_constraints_method {method}" if monotone else "",
    )
