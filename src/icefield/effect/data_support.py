"""How much data supports an Effect's grid points; `icefield.statistics.support` finds it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.typing import Float

THRESHOLDS = {
    "outside": 0.99,  # a row farther out than this share of the data's own rows lies outside
    "low": 0.8,  # a point is poorly supported when fewer rows than this share fit there, as an effect is (next line)
    "warning": 0.20,  # an effect is doubtful when more than this share of its moved rows lies outside
    "disagreement": 0.25,  # PD and ALE disagree when their distance passes this share of the larger spread
}


@dataclass(frozen=True, eq=False)
class Support:
    """How much data supports each grid point.

    Attributes
    ----------
    share : per grid point, the share of rows that still look like the data when moved there
    low : per grid point, whether that share is too small to trust the curve; pictures shade these
    details : thresholds used and further numbers
    outside : share of all moved rows outside the data, along the axis (levels count alike, except rare ones; the
        outermost 5 % of the data count for their share only)
    correlation : multiple correlation of the (first) feature with the other columns, 0 to 1
    related : the other columns most associated with it, with the association (0 to 1)
    disagreement : per output, distance of PD and ALE relative to the larger one's spread, or None
    rows : how many rows were moved, and how many they were compared with
    thresholds : what `outside` and `disagreement` are compared with, by name
    """

    share: Float
    low: NDArray[np.bool_]
    details: dict[str, Any]
    outside: float = 0.0
    correlation: float = 0.0
    related: tuple[tuple[Any, float], ...] = ()
    disagreement: Float | None = None
    rows: tuple[int, int] = (0, 0)
    thresholds: dict[str, float] = field(default_factory=lambda: dict(THRESHOLDS))

    @property
    def stretch(self) -> float:
        """Share of the axis (of two, of their area) that is `low`."""
        return float(self.details.get("stretch", 0.0))

    @property
    def one_hot(self) -> dict[str, list[Any]] | None:
        """The one-hot group to which this single column belongs, as a feature to pass to the Explainer; None where there is none."""
        return self.details.get("one_hot")

    @property
    def doubtful(self) -> bool:
        """Whether too much of the effect rests on combinations that do not occur in the data."""
        return self.outside > self.thresholds["warning"]

    @property
    def disagrees(self) -> bool:
        """Whether ALE, which stays near the data, disagrees with the effect; False where not compared."""
        if self.disagreement is None:
            return False
        return bool(np.nanmax(self.disagreement) > self.thresholds["disagreement"])

    @property
    def warning(self) -> str:
        """What to keep in mind, empty when the data supports the effect."""
        from icefield.wording.sentences import support_warning

        return support_warning(self)
