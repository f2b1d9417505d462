"""The models of an explorer, which share their rows: by number, and on each scale that they can be looked at on."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from icefield.core.engine import Plan
from icefield.core.study import Study
from icefield.errors import IcefieldError, InputError
from icefield.models.model import read_model

if TYPE_CHECKING:
    from icefield.explainer import Explainer

CHECKED = 1.0  # seconds after which a model is looked at again in a drag


@dataclass(frozen=True, eq=False)
class View:
    """Which numbers are looked at: of which model, on which scale, of which output."""

    study: Study
    model: int
    scale: str
    output: int


class ExploredModels:
    """One Explainer's model, or several by name, of the same rows.

    Attributes
    ----------
    names : of the models; a single one has an empty name
    first : the study of the first, on its own scale
    """

    def __init__(self, explainers: Explainer | Mapping[str, Explainer]) -> None:
        named = dict(explainers) if isinstance(explainers, Mapping) else {"": explainers}
        if not named:
            raise InputError.about("models", "must hold at least one Explainer", {})
        self.names = [str(name) for name in named]
        self._studies = {(i, ex.study.model.scale): ex.study for i, ex in enumerate(named.values())}
        self.first = next(iter(self._studies.values()))
        for ex in named.values():
            ex.study.needs_rows("the explorer")
            if ex.study.sample.n_rows != self.first.sample.n_rows or list(ex.study.model.columns) != list(
                self.first.model.columns
            ):
                raise InputError.about("models", "must be Explainers of the same rows and features", list(named),
                                    "build them with the same X")  # fmt: skip
        self._lock = threading.RLock()
        self._checked: dict[int, float] = {}  # when each study's model was last looked at

    def own_scale(self, model: int) -> str:
        """The scale that a model's Explainer was built with."""
        return next(scale for number, scale in self._studies if number == model)

    def scales(self, model: int) -> list[str]:
        """The scales a model can be looked at on, its own first."""
        scale = self.own_scale(model)
        other = "raw" if scale == "response" else "response"
        try:
            study = self.study_of(model, other)
            few = self.first.rows.head.slice(0, min(5, self.first.rows.head.n_rows))
            alike = np.array_equal(study.model.predict(few), self.study_of(model, scale).model.predict(few))
        except IcefieldError:
            return [scale]
        return [scale] if alike else [scale, other]

    def study_of(self, model: int, scale: str) -> Study:
        """The study of one model on a scale; an error where the model has none."""
        key = (model, scale)
        with self._lock:
            if key not in self._studies:
                self._studies[key] = self._on_scale(model, scale)
            return self._studies[key]

    def _on_scale(self, model: int, scale: str) -> Study:
        given = next(study for (number, _), study in self._studies.items() if number == model)
        chosen = given.model
        target = "all" if len(chosen.outputs) == len(chosen.all_outputs) else chosen.outputs[0]
        read = read_model(chosen.native, given.rows.head, target=target, scale=scale)
        if [str(o) for o in read.outputs] != [str(o) for o in chosen.outputs]:
            raise InputError(f"The {scale} scale of this model has other outputs.")
        return Study.of(read, given.rows, given.choices)

    def plan(self, study: Study) -> Plan:
        """A study's plan; whether the model is still the one it was made for is looked at once a second, not at every step of a drag."""
        now = time.monotonic()
        if now - self._checked.get(id(study), -CHECKED) < CHECKED:
            return study.plan
        plan = study.plans.checked()
        self._checked[id(study)] = now
        return plan
