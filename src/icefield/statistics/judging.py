"""From one output's curves to statements, and which of those another sample of rows could overturn.

`judged` compares numbers with thresholds. `overturned` does so again for the same curves with their rows resampled,
as far as rows were sampled at all: a statement that does not survive lies within its sampling error of a
threshold, and is called borderline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from icefield.statistics.bundles import deviation, heterogeneity, opposing, row_shares
from icefield.statistics.shapes import Shape, shape_of
from icefield.statistics.thresholds import THRESHOLDS
from icefield.typing import Float

LEAST_POINTS = 3  # of a range that is read by itself
RESAMPLED = 16
GRID_ERROR = 0.10  # share of a threshold by which the same curves differ from one grid to another


@dataclass(frozen=True, eq=False)
class Curves:
    """One output's average and the rows' own curves along the known points of a feature.

    Attributes
    ----------
    x : places along an ordered feature, ascending; None for levels
    average : ``(points,)``
    weights : share of the data at each point
    unit : standard deviation of the predictions
    rows : how many rows stand behind the average
    own : the rows' own curves ``(kept, points)``, or None
    row_weights : their weights, or None
    least_differ : lower bound of their differences where they were not kept, in units; None: nothing is known
    explained : share of the differences that one column explains
    """

    x: Float | None
    average: Float
    weights: Float
    unit: float
    rows: float
    own: Float | None = None
    row_weights: Float | None = None
    least_differ: float | None = None
    explained: float = 0.0


@dataclass(frozen=True, eq=False)
class Judged:
    """The statements about one output's curves, with the numbers they rest on."""

    shape: str
    direction: str
    strength: float
    flat_limit: float
    first: int
    last: int
    found: Shape | None
    differ: float | None
    opposing: float | None
    hidden: bool
    heterogeneous: bool


def judged(curves: Curves) -> Judged:
    """Compare the numbers with the thresholds."""
    strength = _strength(curves.average, curves.weights, curves.unit)
    differ, against = curves.least_differ, None
    if curves.own is not None:
        differ = float(heterogeneity(curves.own[None], curves.weights, curves.row_weights)[0]) / curves.unit
        against = opposing(curves.own, curves.weights, curves.row_weights)
    size = differ or 0.0
    # An average of curves that differ is itself uncertain: a shape within its error is no shape.
    limit = max(THRESHOLDS["flat"], THRESHOLDS["sampling"] * size / np.sqrt(max(curves.rows, 1.0)))
    shape, direction, found = "flat", "none", None
    first, last = (0, len(curves.average)) if curves.x is None else read_range(curves.weights)
    if strength >= limit and (curves.x is None or len(np.unique(curves.x)) < LEAST_POINTS):
        shape = "levels"
    elif strength >= limit and curves.x is not None:
        inside = slice(first, last)
        if _strength(curves.average[inside], _shares(curves.weights[inside]), curves.unit) < limit:
            first, last = 0, len(curves.average)  # all it does, it does beyond the usual range
            inside = slice(first, last)
        found = shape_of(curves.x[inside], curves.average[inside], _shares(curves.weights[inside]))
        shape, direction = found.name, found.direction
        if shape == "non-monotone" and strength < THRESHOLDS["formless"] * limit:
            limit *= THRESHOLDS["formless"]
            shape, direction, found = "flat", "none", None
    flat = shape == "flat" or strength < THRESHOLDS["dwarfed"] * size
    notable = size >= THRESHOLDS["heterogeneous"] and has_a_reason(size, curves.explained)
    most = size**2 >= THRESHOLDS["dominant"] * (size**2 + strength**2)
    aside = most or (against or 0.0) >= THRESHOLDS["opposing"]
    return Judged(
        shape=shape,
        direction=direction,
        strength=strength,
        flat_limit=limit,
        first=first,
        last=last,
        found=found,
        differ=differ,
        opposing=against,
        hidden=flat and notable,
        heterogeneous=size >= THRESHOLDS["evident"] or (notable and aside),
    )


def read_range(weights: Float) -> tuple[int, int]:
    """The points between which a shape is read: without those that hold only the data's outermost shares.

    The same whether a column has few values or many: rounding must not change what is read.
    """
    size, tail = len(weights), THRESHOLDS["tail"] + 1e-9
    first = int((np.cumsum(weights) <= tail).sum())
    last = size - int((np.cumsum(weights[::-1]) <= tail).sum())
    return (first, last) if last - first >= LEAST_POINTS else (0, size)


def has_a_reason(differ: float, explained: float) -> bool:
    """Whether curves that differ (in SD of the predictions) do so for more than fitted noise.

    A flexible model's curves differ a little everywhere. Large differences speak for themselves, small ones
    only where another column explains a fair share of them.
    """
    return differ >= THRESHOLDS["evident"] or explained >= THRESHOLDS["explained"]


def overturned(curves: Curves, said: Judged, n_rows: int, population: int) -> dict[str, tuple[str, ...]]:
    """Statements that other rows could overturn, each with what would be said instead.

    Parameters
    ----------
    curves, said : what was judged, and how
    n_rows : rows averaged over
    population : rows they were sampled from; where all were used, nothing can be overturned
    """
    own = curves.own
    if own is None or len(own) < 2 or population <= len(own):
        return {}
    kept = len(own)
    # Rows drawn without putting back err less, the more of all rows they are.
    reach = np.sqrt(1.0 - kept / population)
    ratio = np.sqrt(max(1.0 / n_rows - 1.0 / population, 0.0) / (1.0 / kept - 1.0 / population))
    shares = row_shares(curves.row_weights, kept)
    mean = shares @ own
    rng = np.random.default_rng(0)
    others: dict[str, dict[str, None]] = {}
    for counts in rng.multinomial(kept, np.full(kept, 1.0 / kept), size=RESAMPLED):
        weights = shares * (1.0 + reach * (counts - 1.0))
        moved = curves.average + ratio * (weights @ own / weights.sum() - mean)
        again = judged(replace(curves, average=moved, row_weights=weights))
        for name, (now, then) in _compared(said, again).items():
            if now != then:
                others.setdefault(name, {})[then] = None
    return {name: tuple(seen) for name, seen in others.items()}


def near_threshold(said: Judged) -> dict[str, tuple[str, ...]]:
    """Statements that another grid could overturn: numbers so near a threshold that where points lie decides."""
    unsure: dict[str, tuple[str, ...]] = {}
    if abs(said.strength / said.flat_limit - 1.0) < GRID_ERROR:
        unsure["shape"] = ("not flat" if said.shape == "flat" else "flat",)
    if any(
        abs((said.differ or 0.0) / THRESHOLDS[name] - 1.0) < GRID_ERROR
        for name in ("heterogeneous", "evident")
    ):
        unsure["differ"] = ("rows agree" if said.heterogeneous else "rows differ",)
    return unsure


def _compared(said: Judged, again: Judged) -> Mapping[str, tuple[str, str]]:
    def words(one: Judged) -> dict[str, str]:
        return {
            "shape": one.shape,
            "direction": one.direction,
            "hidden": "curves differ" if one.hidden else "nothing hidden",
            "differ": "rows differ" if one.heterogeneous else "rows agree",
        }

    first, second = words(said), words(again)
    return {name: (first[name], second[name]) for name in first}


def _strength(average: Float, weights: Float, unit: float) -> float:
    strength = float(deviation(average, weights)) / unit
    # Equal numbers averaged in another order.
    return 0.0 if strength < 1e-12 * (1.0 + float(np.abs(average).max()) / unit) else strength


def _shares(weights: Float) -> Float:
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))
