"""What regions gain and what else was possible: each cut that was made, and the best on columns that none of them uses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from icefield.core.study import Study
from icefield.statistics.partition import Limits, each_cut
from icefield.statistics.regions import LEAST_REMOVED, RegionCurves, Regions, other_columns

REJECTED = 3  # cuts that were not made, of those that would have removed most
LEAST_TOLD = 0.02  # of the differences: a cut that removes less is not worth a line


@dataclass(frozen=True)
class LedgerCut:
    """A cut, the share of the rows' differences that it removes, and why it was not made (empty where it was)."""

    words: str
    removed: float
    why_not: str = ""


def ledger(study: Study, regions: Regions) -> list[LedgerCut]:
    """The cuts that were made, in order, and the best of the others, each tried alone on all rows.

    Parameters
    ----------
    study : the model and its data
    regions : regions by rules
    """
    made = [LedgerCut(split.sides[0].words(study.naming), split.removed) for split in regions.splits]
    if not made:
        return []
    curves = RegionCurves.of(regions.effect)
    used = {split.column for split in regions.splits}
    (feature,) = study.resolve([regions.feature])
    others = other_columns(study, feature.columns, curves.rows)
    others = {name: column for name, column in others.items() if name not in used}
    limits = Limits(least_rows=max(0.02, min(0.5, 10 / len(curves.rows))), least_removed=LEAST_TOLD)
    first, cuts = made[0], each_cut(others, curves.shapes, curves.weights, limits)
    tried = sorted(((removed, left.words(study.naming)) for left, removed in cuts), key=lambda cut: -cut[0])
    together = regions.splits[0].together > 0
    return [
        *made,
        *(LedgerCut(words, removed, _why(removed, first, together)) for removed, words in tried[:REJECTED]),
    ]


def _why(removed: float, first: LedgerCut, together: bool) -> str:
    if removed < LEAST_REMOVED:
        return f"under the {100 * LEAST_REMOVED:.0f}\u00a0% that a split must remove"
    if together:
        return "the splits that were made remove more together"
    if removed < first.removed:
        return "the first split removes more, and after it this one adds too little, or others add more"
    return "rules begin with a feature that it is known to interact with"


def explained(strength: float, differences: float, removed: float = 0.0) -> float:
    """How much of the rows' movement curves explain: one for all, or those of regions that remove part of the differences.

    Examples
    --------
    >>> explained(0.3, 0.4), explained(0.3, 0.4, removed=0.5)
    (0.36, 0.68)
    """
    whole = strength**2 + differences**2
    return float(np.round((strength**2 + removed * differences**2) / whole, 12)) if whole > 0 else 1.0
