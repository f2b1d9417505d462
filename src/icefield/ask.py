"""What a study is asked, and what it hands back beside Effects: plain records without any work of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from icefield.typing import Float, Positions


@dataclass(frozen=True, kw_only=True, eq=False)
class Ask:
    """Sets of features whose curves are wanted, and what is wanted of them.

    Attributes
    ----------
    sets : the features of each effect, as a user names them
    kind : ``"pd"`` or ``"ice"``
    grid : a `Grid`, a number of points or values, as in `Explainer.partial_dependence`
    spread : standard deviation and standard error too; None: as usual for the number of features
    quantiles : probabilities of the curves' quantiles
    rows : positions of the rows averaged over; None: every row
    sampled_from : how many rows chance chose these among, so that the standard error is that against those; 0 where
        they were not drawn
    kept : places among those rows whose own curves are kept
    kept_weights : what the kept curves count for; None: their rows' weights
    """

    sets: Sequence[tuple[Any, ...]]
    kind: str = "pd"
    grid: Any = None
    spread: bool | None = None
    quantiles: Sequence[float] | None = None
    rows: Positions | None = None
    sampled_from: int = 0
    kept: Positions | None = None
    kept_weights: Float | None = None


@dataclass(frozen=True, eq=False)
class OwnValues:
    """At which rows averages were taken: why these, and their weights."""

    why: str
    weights: Float


@dataclass(frozen=True, eq=False)
class Differences:
    """What crossing steps changes, ``(rows, outputs)``, by which engine, and why not by the planned one."""

    values: Float
    costs_predictions: bool
    engine: str
    reason: str
