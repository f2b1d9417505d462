"""What an estimator written in Python keeps in its attributes: another fit leaves other objects there."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from icefield.libraries.adapter import comes_from
from icefield.libraries.registry import keeps_fit_outside

MOST_PARTS = 100_000
SAMPLED = 64  # numbers of an array that learns in place
PLAIN = (str, bytes, int, float, complex, type(None))


def attributes_of(model: Any) -> list[Any]:
    """A model's attributes, down to plain values and to objects that are told apart by identity."""
    parts: list[Any] = []
    _add_parts(model, parts, set(), learns_in_place=False)
    return parts[:MOST_PARTS]


def _add_parts(value: Any, parts: list[Any], seen: set[int], learns_in_place: bool) -> None:
    """Add a model's attributes, down to plain values and to objects that are told apart by identity."""
    if isinstance(value, PLAIN):
        parts.append(value)
        return
    if id(value) in seen or len(parts) >= MOST_PARTS:
        return
    seen.add(id(value))
    if isinstance(value, (list, tuple)):
        parts.append(len(value))
        for item in value[:MOST_PARTS]:
            _add_parts(item, parts, seen, learns_in_place)
    elif isinstance(value, dict):
        for key, item in islice(value.items(), MOST_PARTS):
            parts.append(key)
            _add_parts(item, parts, seen, learns_in_place)
    elif isinstance(value, np.ndarray):
        parts.append(value)
        if value.dtype == object:
            for item in value.ravel()[:MOST_PARTS].tolist():
                _add_parts(item, parts, seen, learns_in_place)
        elif learns_in_place:
            parts.append(value.flat[:: max(1, value.size // SAMPLED)].tobytes())
    else:
        parts.append(value)
        if _is_looked_into(value):
            attributes = vars(value)
            if "tree_" in attributes:  # a forest has hundreds, each with the same settings
                parts.append(attributes["tree_"])
                return
            in_place = hasattr(value, "partial_fit")
            for name, item in attributes.items():
                parts.append(name)
                _add_parts(item, parts, seen, in_place)


def _is_looked_into(value: Any) -> bool:
    """Estimators and what scikit-learn makes them of; not data, nor a booster's own bookkeeping."""
    if isinstance(value, type) or not hasattr(value, "__dict__"):
        return False
    return comes_from(value, "sklearn") or (hasattr(value, "predict") and not is_kept_outside(type(value)))


def is_kept_outside(kind: type) -> bool:
    """Whether objects of a class keep what they were fitted to where Python does not see it."""
    return keeps_fit_outside(kind.__module__.partition(".")[0])
