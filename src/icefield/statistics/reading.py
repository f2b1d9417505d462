"""What an effect says, as fields first and a sentence second.

`read_effect` looks at an Effect alone: the shape of its average, how strong that is against the
spread of the model's predictions, where it changes, and (when individual curves were kept) how much they
differ and which column tells them apart. Each statement rests on a number in the `Reading` and a
threshold named in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import TIME_KINDS
from icefield.effect import Effect, Spread
from icefield.statistics.bundles import (
    deviation,
    explaining_columns,
    heterogeneity,
    opposing,
    point_weights,
    shown_points,
)
from icefield.statistics.shapes import THRESHOLDS as SHAPE_THRESHOLDS
from icefield.statistics.shapes import shape_of
from icefield.typing import Float

THRESHOLDS = {
    **SHAPE_THRESHOLDS,
    "flat": 0.07,  # an average moves less than this, in SD of the predictions: 0.5 % of their variance
    "sampling": 2.5,  # ... or less than so many standard errors, from how much the curves differ
    "formless": 2.0,  # an irregular average must be so many times as strong to count
    "heterogeneous": 0.15,  # curves differ by this much, in SD of the predictions: 2 % of their variance
    "dominant": 0.50,  # ... and their differences make up this share of all the movement,
    "opposing": 0.15,  # ... or this share of them runs against the others
    "dwarfed": 0.15,  # an average that moves less than this share of the curves' differences hides them
    "evident": 0.30,  # differences below this may be noise the model has fitted: they count as hidden
    "explained": 0.35,  # ... only if one column explains this share of them
    "partner": 0.10,  # share of the curves' differences a column must explain to be named
    "additive": 0.05,  # share of a surface's variance that is interaction
}

ONE_DIRECTIONAL = ("linear", "threshold", "monotone")
TURNING = ("U-shaped", "inverted U")


@dataclass(frozen=True, eq=False)
class Reading:
    """What one output's effect says.

    Attributes
    ----------
    features, output : what was read
    shape : ``"flat"``, ``"linear"``, ``"threshold"``, ``"monotone"``, ``"U-shaped"``, ``"inverted U"``,
        ``"non-monotone"``, ``"levels"`` (categories), or for two features ``"additive"`` or ``"interacting"``
    direction : ``"increasing"``, ``"decreasing"``, ``"mixed"`` or ``"none"``
    strength : standard deviation of the average over the data, per standard deviation of the predictions
    low, high : smallest and largest average; `low_at`, `high_at` where
    changes_at : where it changes: a threshold, the turn of a U, or the stretch with half the movement
    heterogeneity : how much centred individual curves differ, in units of `strength`; None when
        neither curves nor their spread were computed
    heterogeneity_exact : False when it is only a lower bound, from the spread of the curves
    opposing : share of individual curves that run against the others, or None
    hidden : whether the average is flat, or nearly so beside them, although individual curves move
    partners : columns that tell the individual curves apart, with the share they explain
    missing_jump : average at the missing point less the mean of the rest, in units of `strength`
    interaction : for two features, share of the surface's variance that is interaction
    measures : further numbers behind the shape
    thresholds : what the numbers were compared with
    each : the readings of all outputs (this is the first)
    """

    features: tuple[Any, ...]
    output: Any
    shape: str
    direction: str
    strength: float
    low: float
    high: float
    low_at: Any
    high_at: Any
    changes_at: tuple[Any, ...] = ()
    heterogeneity: float | None = None
    heterogeneity_exact: bool = True
    opposing: float | None = None
    hidden: bool = False
    partners: tuple[tuple[Any, float], ...] = ()
    missing_jump: float | None = None
    interaction: float | None = None
    measures: dict[str, float] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=lambda: dict(THRESHOLDS))
    each: tuple[Reading, ...] = ()

    @property
    def flat(self) -> bool:
        """Whether the average does not move, or no more than its own uncertainty."""
        return self.shape == "flat"

    @property
    def flat_limit(self) -> float:
        """The strength below which this average counted as flat."""
        return self.measures.get("flat_limit", self.thresholds["flat"])

    @property
    def noticeable(self) -> bool:
        """Whether the average moves at all noticeably, whatever its shape makes of it."""
        return self.strength >= self.thresholds["flat"]

    @property
    def one_directional(self) -> bool:
        """Whether the average runs one way along an ordered feature."""
        return self.shape in ONE_DIRECTIONAL

    @property
    def turns(self) -> bool:
        """Whether the average goes one way and then back."""
        return self.shape in TURNING

    @property
    def responds(self) -> bool:
        """Whether the model responds to the feature: on average, or at least in individual rows.

        Where it does not, it does not matter where it was asked.
        """
        return not self.flat or self.hidden

    @property
    def movement(self) -> float:
        """All movement: of the average, and of the curves around it."""
        return float(np.hypot(self.strength, self.heterogeneity or 0.0))

    @property
    def missing_apart(self) -> bool:
        """Whether the average at missing values stands apart from the rest."""
        return self.missing_jump is not None and abs(self.missing_jump) >= self.thresholds["flat"]

    @property
    def opposed(self) -> bool:
        """Whether a fair share of the individual curves runs against the others."""
        return (self.opposing or 0.0) >= self.thresholds["opposing"]

    @property
    def heterogeneous(self) -> bool:
        """Whether individual curves differ enough that the average should not be read alone."""
        if self.heterogeneity is None:
            return False
        moved = self.heterogeneity**2 + self.strength**2
        dominant = self.heterogeneity**2 >= self.thresholds["dominant"] * moved
        return (
            self.heterogeneity >= self.thresholds["heterogeneous"]
            and has_a_reason(self.heterogeneity, best_share(self.partners))
            and (dominant or self.opposed)
        )

    @property
    def curves_differ(self) -> bool:
        """Whether individual rows respond in ways of their own, beside the average or hidden by it."""
        return self.hidden or self.heterogeneous

    @property
    def sentence(self) -> str:
        """The reading in words, with its numbers."""
        from icefield.wording.sentences import reading_sentence

        return reading_sentence(self)

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return "\n".join(r.sentence for r in self.each) if len(self.each) > 1 else self.sentence


def read_effect(effect: Effect) -> Reading:
    """Read an effect; `Reading.each` has one reading per output.

    Examples
    --------
    >>> import icefield
    >>> X = np.column_stack([np.linspace(0, 1, 50), np.linspace(1, 0, 50) ** 2])
    >>> effect = icefield.Explainer(lambda rows: 2 * rows[:, 0], X).partial_dependence(0)
    >>> effect.reading.shape, effect.reading.direction
    ('linear', 'increasing')
    """
    if effect.over != "rows":
        # Refits that differ say how sure the average is, not that rows respond differently.
        effect = replace(effect.averages_only(), spread=Spread())
    reader = _read_curve if effect.n_features == 1 else _read_surface
    readings = [reader(effect, o) for o in range(len(effect.outputs))]
    first = readings[0]
    object.__setattr__(first, "each", tuple(readings))
    return first


def output_unit(effect: Effect, output: int) -> float:
    """What strengths are relative to: the standard deviation of the model's predictions."""
    spread = 0.0 if effect.output_std is None else float(effect.output_std[output])
    if spread > 0 and np.isfinite(spread):
        return spread
    # Without predictions to compare with, an effect is measured against itself.
    own = float(np.nanstd(effect.average[output]))
    return own if own > 0 else 1.0


def _read_curve(effect: Effect, output: int) -> Reading:
    shown = shown_points(effect)
    grid, y, weights = effect.grid[0][shown], effect.average[output][shown], point_weights(effect)
    known = np.isfinite(y)
    if not known.any():
        return Reading(
            effect.features, effect.outputs[output], "flat", "none", 0.0, np.nan, np.nan, None, None
        )
    grid, y, weights = grid[known], y[known], _normalised(weights[known])
    unit = output_unit(effect, output)
    strength = float(deviation(y, weights)) / unit
    if strength < 1e-12 * (1.0 + float(np.abs(y).max()) / unit):
        strength = 0.0  # equal numbers averaged in another order
    fields: dict[str, Any] = {}
    bundle = _bundle(effect, output, shown, known, weights, unit)
    best = best_share(bundle.get("partners", ()))
    # An average of curves that differ is itself uncertain: a shape within its error is no shape.
    error = bundle.get("heterogeneity", 0.0) / np.sqrt(max(effect.n_rows, 1))
    limit = max(THRESHOLDS["flat"], THRESHOLDS["sampling"] * error)
    if strength < limit:
        shape, direction = "flat", "none"
    elif not effect.ordered[0] or len(np.unique(grid)) < 3:
        shape, direction = "levels", _direction_of_two(effect, grid, y)
    else:
        shape, direction, fields = _ordered_shape(effect, grid, y, weights)
        if shape == "non-monotone" and strength < THRESHOLDS["formless"] * limit:
            shape, direction = "flat", "none"
            limit *= THRESHOLDS["formless"]
    differ = bundle.get("heterogeneity", 0.0)
    fields["measures"] = {"flat_limit": limit, **fields.get("measures", {})}
    missing = None
    if effect.missing_last[0] and len(effect.grid[0]) > 1:
        missing = float(effect.average[output][-1] - weights @ y) / unit
    return Reading(
        features=effect.features,
        output=effect.outputs[output],
        shape=shape,
        direction=direction,
        strength=strength,
        low=float(y.min()),
        high=float(y.max()),
        low_at=_plain(grid[int(y.argmin())]),
        high_at=_plain(grid[int(y.argmax())]),
        missing_jump=missing,
        hidden=(shape == "flat" or strength < THRESHOLDS["dwarfed"] * differ)
        and differ >= THRESHOLDS["heterogeneous"]
        and has_a_reason(differ, best),
        **fields,
        **bundle,
    )


def best_share(partners: Sequence[tuple[Any, float]]) -> float:
    """The largest share of the curves' differences that one column explains."""
    return max((share for _, share in partners), default=0.0)


def has_a_reason(differ: float, explained: float) -> bool:
    """Whether curves that differ (in SD of the predictions) do so for more than fitted noise.

    A flexible model's curves differ a little everywhere. Large differences speak for themselves, small ones
    only where another column explains a fair share of them.
    """
    return differ >= THRESHOLDS["evident"] or explained >= THRESHOLDS["explained"]


def _ordered_shape(
    effect: Effect, grid: NDArray[Any], y: Float, weights: Float
) -> tuple[str, str, dict[str, Any]]:
    x = grid.astype(np.int64).astype(np.float64) if effect.kinds[0] in TIME_KINDS else grid.astype(np.float64)
    order = np.argsort(x, kind="stable")
    found = shape_of(x[order], y[order], weights[order])

    def place(value: float) -> Any:
        return (
            _plain(np.asarray(round(value)).astype(grid.dtype)[()])
            if effect.kinds[0] in TIME_KINDS
            else value
        )

    if found.name == "threshold" and found.steps_at is not None:
        where: tuple[Any, ...] = (place(found.steps_at),)
    elif found.turns_at is not None:
        where = (place(found.turns_at),)
    elif found.name == "linear":
        where = ()
    else:
        where = (place(found.busiest[0]), place(found.busiest[1]))
    measures = {
        "linear": found.linear,
        "cubic": found.cubic,
        "step": found.step,
        "reversal": found.reversal,
    }
    return found.name, found.direction, {"changes_at": where, "measures": measures}


def _direction_of_two(effect: Effect, grid: NDArray[Any], y: Float) -> str:
    """Two values that have an order (numbers, False before True) give a direction."""
    if len(grid) != 2 or not (effect.ordered[0] or effect.kinds[0] == "boolean"):
        return "none"
    ascending = bool(grid[0] < grid[1])
    return "increasing" if (y[1] > y[0]) == ascending else "decreasing"


def _bundle(
    effect: Effect,
    output: int,
    shown: slice,
    known: NDArray[np.bool_],
    weights: Float,
    unit: float,
) -> dict[str, Any]:
    """What the individual curves, or at least their spread, add to the average."""
    if effect.kind == "ale" or effect.view == "derivative":
        return {}
    if effect.individual is None or effect.individual.shape[1] < 2:
        if effect.std is None:
            return {}
        # Curves whose spread changes along the grid cannot be parallel: sd(f - f') >= |sd(f) - sd(f')|.
        least = float(deviation(effect.std[output][shown][known], weights)) / unit
        return {"heterogeneity": least, "heterogeneity_exact": False}
    curves = effect.individual[output : output + 1][:, :, shown][:, :, known]
    differ = float(heterogeneity(curves, weights, effect.row_weights)[0]) / unit
    against = opposing(curves[0], weights, effect.row_weights)
    partners: tuple[tuple[Any, float], ...] = ()
    if differ >= THRESHOLDS["heterogeneous"] and effect.row_values is not None:
        able = effect.row_values if effect.others is None else effect.others
        told_by = {name: effect.row_values[name] for name in able if name not in effect.features}
        ranked = explaining_columns(curves, weights, told_by)
        partners = tuple((name, share) for name, share in ranked[:3] if share >= THRESHOLDS["partner"])
    return {
        "heterogeneity": differ,
        "opposing": against,
        "partners": partners,
    }


def _read_surface(effect: Effect, output: int) -> Reading:
    surface = effect.average[output]
    shown = tuple(shown_points(effect, axis) for axis in range(effect.n_features))
    surface = surface[shown]
    weight = np.ones_like(surface) if effect.weight is None else effect.weight[shown]
    if weight.sum() <= 0:
        weight = np.ones_like(surface)
    # Cells without data still belong to the surface: half the weight is even.
    weight = 0.5 * weight / weight.sum() + 0.5 / weight.size
    weight = np.where(np.isfinite(surface), weight, 0.0)
    surface = np.where(np.isfinite(surface), surface, 0.0)
    unit = output_unit(effect, output)
    centred = surface - (surface * weight).sum() / weight.sum()
    variance = float((weight * np.square(centred)).sum() / weight.sum())
    strength = float(np.sqrt(variance)) / unit
    rest = _without_margins(centred, weight) if effect.kind != "ale" else centred
    beyond = float((weight * np.square(rest)).sum() / weight.sum())
    share = beyond / variance if variance > 0 else 0.0
    if strength < THRESHOLDS["flat"]:
        shape = "flat"
    elif np.sqrt(beyond) / unit < THRESHOLDS["flat"] or share < THRESHOLDS["additive"]:
        shape = "additive"
    else:
        shape = "interacting"
    low, high = (np.unravel_index(int(f(surface)), surface.shape) for f in (np.argmin, np.argmax))

    def place(at: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(_plain(g[s][i]) for g, s, i in zip(effect.grid, shown, at))

    return Reading(
        features=effect.features,
        output=effect.outputs[output],
        shape=shape,
        direction="none",
        strength=strength,
        low=float(surface.min()),
        high=float(surface.max()),
        low_at=place(low),
        high_at=place(high),
        interaction=share,
        measures={"interaction": float(np.sqrt(beyond)) / unit},
    )


def _without_margins(surface: Float, weight: Float) -> Float:
    """What no sum of one-way functions explains: backfitting of weighted means."""
    rest = surface.copy()
    for _ in range(20):
        for axis in range(rest.ndim):
            others = tuple(a for a in range(rest.ndim) if a != axis)
            total = weight.sum(axis=others, keepdims=True)
            mean = (rest * weight).sum(axis=others, keepdims=True) / np.where(total > 0, total, 1.0)
            rest = rest - mean
    return rest


def _normalised(weights: Float) -> Float:
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))


def _plain(value: Any) -> Any:
    """A grid value as a plain Python object where there is one, times as they are."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value
