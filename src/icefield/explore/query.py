"""A request: what it names, checked against the models and the data, and what one client's requests remember."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.explore.explored_models import View
from icefield.explore.messages import BadMessage, whole
from icefield.explore.rules import checked
from icefield.typing import Float, Positions

if TYPE_CHECKING:
    from icefield.explore.controller import Controller

MOST_RULES = 4  # whose rows are remembered


@dataclass(eq=False)
class Memory:
    """What is remembered of one client's latest queries.

    Attributes
    ----------
    rules : the rows that the last few rules keep
    picks : random rows so far
    unchanged : the last row asked what if, and its prediction as it is
    around : the last row and features that were changed, and what tells whether it is still like the data
    """

    rules: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    picks: int = 0
    unchanged: tuple[Any, Float] | None = None
    around: tuple[Any, Callable[[Sequence[Any]], bool]] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class Query:
    """One request of a client, with its fields checked against the models and the data."""

    def __init__(self, message: Mapping[str, Any], controller: Controller, memory: Memory) -> None:
        self.message, self.controller, self.memory = message, controller, memory

    def about(self, message: Mapping[str, Any]) -> Query:
        """A query of the same client with another message."""
        return Query(message, self.controller, self.memory)

    @cached_property
    def view(self) -> View:
        """The model, scale and output that the message names."""
        models = self.controller.models
        model = whole(self.message, "model", 0, len(models.names), 0)
        scale = self.message.get("scale") or models.own_scale(model)
        if scale not in ("response", "raw"):
            raise BadMessage("scale must be response or raw.", "scale")
        study = models.study_of(model, scale)
        return View(study, model, scale, whole(self.message, "output", 0, len(study.model.outputs), 0))

    def feature(self, name: str = "feature") -> int:
        """A feature's number."""
        return whole(self.message, name, 0, len(self.controller.columns))

    def rule(self, name: str = "rule") -> list[dict[str, Any]]:
        """A rule in its plain form."""
        return self.checked_rule(self.message.get(name, []))

    def checked_rule(self, given: Any) -> list[dict[str, Any]]:
        return checked(given, self.controller.columns, self.controller.data.beside)

    def mask(self, rule: list[dict[str, Any]]) -> NDArray[np.bool_] | None:
        """The rows that a rule keeps, None for all of them; the last few rules are remembered."""
        if not rule:
            return None
        key, rules = json.dumps(rule), self.memory.rules
        with self.memory.lock:  # slots have a thread each
            if key not in rules:
                while len(rules) >= MOST_RULES:
                    del rules[next(iter(rules))]
                rules[key] = self.controller.data.mask(rule)
            return rules[key]

    @cached_property
    def positions(self) -> Positions | None:
        """The rows that the request's rule keeps, None for all of them."""
        return self.positions_of(self.rule())

    def positions_of(self, rule: list[dict[str, Any]]) -> Positions | None:
        mask = self.mask(rule)
        return None if mask is None else np.flatnonzero(mask)

    @property
    def row(self) -> int:
        """A row of the sample."""
        self.controller.data.check_shown()
        return whole(self.message, "row", 0, self.controller.study.sample.n_rows)

    @property
    def values(self) -> dict[int, Any]:
        """Column number -> the value it is changed to."""
        given = self.message.get("values", {})
        columns = self.controller.columns
        if not isinstance(given, dict) or len(given) > len(columns):
            raise BadMessage("values must map columns' numbers to places.", "values")
        values = {}
        for key, place in given.items():
            if not str(key).isdigit() or int(key) >= len(columns):
                raise BadMessage(f"values names a column that is not there: {key!r:.40}.", "values")
            values[int(key)] = columns[int(key)].value(place, f"values.{key}")
        return values
