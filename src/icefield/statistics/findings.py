"""The findings that come first: the facts behind the opening of a summary, a report and the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from icefield.core.prediction_level import prediction_level
from icefield.core.study import Study
from icefield.effect.data_support import Support
from icefield.statistics.decision import Decision
from icefield.statistics.fit_check import FitCheck
from icefield.statistics.ice_statistics import ROUNDING
from icefield.wording.sentences import summary_warning

DRIVERS = 3  # features named
TIED = 0.05  # of the largest movement: features nearer to it are as strong
SHARING = 0.1  # of the largest movement: a feature that moves less takes no part
MOSTLY = 0.5  # of all squared movement
# Of so many features none stands out that moves less than so many times their usual.
MANY, STANDS_OUT = 30, 1.5


@dataclass(frozen=True, eq=False)
class Findings:
    """The facts of an opening.

    `sharing` is how many features share the movement where none stands out, or where those that do carry less than half of
    it; else 0. `even` says whether many share it about evenly, so that none stands out; `sharing` is then all of them.
    """

    n_rows: int
    n_features: int
    constant: bool  # the model predicts the same for every row, and no feature moves it
    baseline: float | None  # mean prediction, where there is one output
    responding: tuple[Decision, ...]  # the features that the model responds to, strongest first
    tied: int  # how many of the first are about as strong as the strongest
    sharing: int
    even: bool
    caution: str  # the one that matters, empty where there is none

    @property
    def drivers(self) -> tuple[Decision, ...]:
        """The features that move the predictions most."""
        return self.responding[:DRIVERS]


def findings(
    study: Study, made: Mapping[Any, Decision], fit: FitCheck | None, supports: Mapping[Any, Support | None]
) -> Findings:
    """The facts of an opening, from what was decided of each feature, the fit and the data's support."""
    every = list(made.values())
    responding = [decision for decision in every if decision.reading.responds]
    movement = np.array([decision.movement for decision in every])
    level = prediction_level(study)
    same = bool((level.std <= ROUNDING * np.maximum(np.abs(level.baseline), 1e-300)).all())
    largest = float(movement.max(initial=0.0))
    sharing, even = 0, False
    if largest > 0:
        squares = sum(decision.movement**2 for decision in responding)
        taking_part = movement[movement >= SHARING * largest]
        usual = float(np.sqrt(np.square(taking_part).mean()))
        even = len(taking_part) >= MANY and largest <= STANDS_OUT * usual
        if even or squares < MOSTLY * float(np.square(movement).sum()):
            sharing = len(taking_part) - (0 if even else len(responding))
    tied = sum(decision.movement >= (1.0 - TIED) * responding[0].movement for decision in responding)
    constant = same and largest == 0.0
    baseline = float(level.baseline[0]) if len(level.baseline) == 1 else None
    caution, n_rows = _caution(responding, fit, supports), study.rows.n_rows
    return Findings(n_rows, len(every), constant, baseline, tuple(responding), tied, sharing, even, caution)


def _caution(
    responding: Sequence[Decision], fit: FitCheck | None, supports: Mapping[Any, Support | None]
) -> str:
    """The fit before the strongest feature's lack of support, and that before what its average hides."""
    if fit is not None and fit.caution:
        return fit.caution
    for decision in responding[:DRIVERS]:
        text = summary_warning(decision.reading, supports.get(decision.feature))
        if text:
            return f"{decision.reading.naming.name(decision.feature)}: {text}"
    return ""
