"""Models of platforms that are known, and not read: one refusal each, which says what to pass instead."""

from __future__ import annotations

from typing import Any

from icefield.libraries.adapter import comes_from

PLATFORMS = ("h2o", "pysparkling", "synapse")


def recognises(model: Any) -> bool:
    return any(comes_from(model, name) for name in PLATFORMS)
