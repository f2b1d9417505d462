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
from icefield.data.naming import PLAIN, Naming
from icefield.effect import Effect, Spread
from icefield.sampling import observations, population_factor
from icefield.statistics.ice_statistics import (
    RowGroups,
    deviation,
    explaining_columns,
    missing_share,
    output_unit,
    point_weights,
    shown_points,
)
from icefield.statistics.pair_check import UNSUPPORTED
from icefield.statistics.statements import (
    OutputCurves,
    Statements,
    near_threshold,
    on_other_grids,
    on_other_rows,
    statements_of,
)
from icefield.statistics.thresholds import THRESHOLDS
from icefield.typing import Float

EXPLAINING = 5  # columns kept of those that tell curves apart
EXPLAINED_FROM = (
    0.8  # differences of this share of the threshold on are looked into: rows decide on which side they are
)
GOES_ON = 0.5  # of the range that was read: a curve that goes on beyond it by less does nothing new
LEVEL = 0.05  # of the range that was read: an average that moves no more stays where it is
LEVEL_SHARE = 0.10  # ... where this share of the data is
ONE_DIRECTIONAL = ("linear", "threshold", "monotone", "mostly monotone")
LITTLE = 0.25  # of the curves' differences: features that account for less leave most of them open
FEW_ROWS = 60  # rows of a normal sample that would carry a standard error as well as needed
TIED = 0.02  # of the range of an average: levels nearer to the highest, or lowest, are as high, or low
TURNING = ("U-shaped", "inverted U")


@dataclass(frozen=True)
class Tail:
    """What an average does beyond the range that was read.

    Attributes
    ----------
    side : ``"below"`` or ``"above"`` the range
    at : the range's end
    share : of the data that lies there
    change : of the average from that end, in standard deviations of the predictions
    """

    side: str
    at: Any
    share: float
    change: float


@dataclass(frozen=True, eq=False)
class Reading:
    """What one output's effect says.

    Attributes
    ----------
    features, output : what was read
    shape : ``"flat"``, ``"linear"``, ``"threshold"``, ``"monotone"``, ``"mostly monotone"`` (it gives back a little,
        more than its noise), ``"U-shaped"``, ``"inverted U"``, ``"non-monotone"``, ``"levels"`` (categories), or for two features ``"additive"`` or ``"interacting"``
    direction : ``"increasing"``, ``"decreasing"``, ``"mixed"`` or ``"none"``
    strength : standard deviation of the average over the data, per standard deviation of the predictions
    low, high : smallest and largest average in the range that was read; `low_at`, `high_at` where
    changes_at : where it changes: a threshold, the turn of a U, or the shortest stretch over which it changes by half
        of its range
    read_from, read_to : the range the shape is read in, without the outermost 5 % of the data on either side
        where the curve continues beyond; None for levels
    tails : how far the average moves beyond that range, where it is far
    heterogeneity : how much centred individual curves differ, in units of `strength`; None when
        neither curves nor their spread were computed
    heterogeneity_exact : False when it is only a lower bound, from the spread of the curves
    opposing : share of individual curves that run against the others, or None
    hidden : whether the average is flat, or nearly flat in comparison, although individual curves move
    heterogeneous : whether individual curves differ enough that the average should not be read alone
    partners : columns that tell the individual curves apart, with the share they explain
    interacts : features it interacts with and how strongly, in units of `strength`, strongest first, those that the data
        does not support last; None where that was not computed
    borderline : statements (``"shape"``, ``"direction"``, ``"hidden"``, ``"differ"``, ``"interacts"``) that lie within
        their sampling error of a threshold, with what another sample might show instead
    missing_jump : average at the missing point less the mean of the rest, in units of `strength`
    missing_share : share of the data that is missing; that point counts in `strength` and `heterogeneity`, and has no shape
    interaction : for two features, share of the surface's variance that is interaction
    measures : further numbers behind the shape
    thresholds : what the numbers were compared with
    each : the readings of all outputs (this is the first)
    level_until, level_from : for an average that runs one way, up to where it stays at its start, and from where at
        its end, None where it does not
    naming : what the feature, its values and the target are called
    unit : one unit of `strength` in the predictions' own; `unit_name` is ``"SD"`` (of the predictions), or ``"robust SD"``
        where a few predictions lie far from all others
    scale_label : what the predictions are: ``"prediction"``, ``"probability"``, ...
    several : whether the effect has other outputs too
    low_ties, high_ties : levels whose average is as low as `low`, as high as `high`, with these
    own_grid : whether it was read on a grid that the user chose
    interaction_errors : standard errors of the sizes in `interacts`, 0 where all rows were used
    interactions_supported : with ``y``, for each of `interacts` whether held-out rows support it: ``"yes"``,
        ``"no"``, ``"unclear"`` (too few rows to tell), or None where that could not be tried
    error_rows : about how many rows carry the average's standard error, where so few do that it is too small; else None
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
    read_from: Any = None
    read_to: Any = None
    tails: tuple[Tail, ...] = ()
    heterogeneity: float | None = None
    heterogeneity_exact: bool = True
    opposing: float | None = None
    hidden: bool = False
    heterogeneous: bool = False
    partners: tuple[tuple[Any, float], ...] = ()
    interacts: tuple[tuple[Any, float], ...] | None = None
    borderline: dict[str, tuple[str, ...]] = field(default_factory=dict)
    missing_jump: float | None = None
    missing_share: float = 0.0
    interaction: float | None = None
    measures: dict[str, float] = field(default_factory=dict)
    thresholds: dict[str, float] = field(default_factory=lambda: dict(THRESHOLDS))
    each: tuple[Reading, ...] = ()
    level_until: Any = None
    level_from: Any = None
    naming: Naming = PLAIN
    unit: float = float("nan")
    unit_name: str = "SD"
    scale_label: str = "prediction"
    several: bool = False
    low_ties: tuple[Any, ...] = ()
    high_ties: tuple[Any, ...] = ()
    own_grid: bool = False
    interaction_errors: tuple[float, ...] = ()
    interactions_supported: tuple[str | None, ...] = ()
    error_rows: float | None = None

    @property
    def flat(self) -> bool:
        """Whether the average does not move, or no more than its own uncertainty."""
        return self.shape == "flat"

    @property
    def flat_limit(self) -> float:
        """The strength below which this average counted as flat."""
        return self.measures.get("flat_limit", self.thresholds["flat"])

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
        """Whether the model responds to the feature: on average, where it is missing, or at least in individual rows.

        Where it does not, cautions about where the data lies are left out.
        """
        return not self.flat or self.hidden or self.missing_moves

    @property
    def movement(self) -> float:
        """All movement: of the average, and of the curves around it."""
        return float(np.hypot(self.strength, self.heterogeneity or 0.0))

    @property
    def missing_apart(self) -> bool:
        """Whether the average at missing values stands apart from the rest."""
        return self.missing_jump is not None and abs(self.missing_jump) >= self.thresholds["flat"]

    @property
    def missing_moves(self) -> bool:
        """Whether it matters to the predictions that values are missing: enough rows, far enough from the rest."""
        share = self.missing_share
        moved = abs(self.missing_jump or 0.0) * float(np.sqrt(share * (1.0 - share)))
        return moved >= self.thresholds["flat"]

    @property
    def opposed(self) -> bool:
        """Whether a fair share of the individual curves runs against the others."""
        return (self.opposing or 0.0) >= self.thresholds["opposing"]

    @property
    def unsupported(self) -> tuple[Any, ...]:
        """Features it interacts with in the model, although the data does not support it."""
        pairs = zip(self.interacts or (), self.interactions_supported)
        return tuple(name for (name, _), supported in pairs if supported == UNSUPPORTED)

    @property
    def mostly_open(self) -> bool:
        """Whether the features it interacts with account for little of how individual curves differ.

        Measured by the sizes of these interactions, and by the shares of the differences that these columns explain, whichever is more.
        """
        if not self.interacts or not self.curves_differ or not self.heterogeneity:
            return False
        by_size = sum(size**2 for _, size in self.interacts) / self.heterogeneity**2
        shares = dict(self.partners)
        by_share = sum(shares.get(name, 0.0) for name, _ in self.interacts)
        return max(by_size, by_share) < LITTLE

    @property
    def told_apart_by(self) -> tuple[Any, float] | None:
        """The one column that tells individual curves apart, with the share it explains; None where it is not alone.

        Correlated columns explain the same differences; then only `interacts` says which it is.
        """
        if not self.partners or self.partners[0][1] < self.thresholds["alone"]:
            return None
        alone = len(self.partners) == 1 or self.partners[1][1] <= 0.5 * self.partners[0][1]
        return self.partners[0] if alone else None

    @property
    def rows_could_differ(self) -> bool:
        """Whether ICE curves exist for this effect (not for ALE, slopes or surfaces)."""
        return self.measures.get("rows_could_differ", 1.0) > 0 and self.interaction is None

    @property
    def differences_known(self) -> bool:
        """Whether it is known how much individual curves differ, and not only a lower bound."""
        return self.heterogeneity is not None and self.heterogeneity_exact

    @property
    def curves_differ(self) -> bool:
        """Whether rows respond differently, whether or not the average shows an effect."""
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


def read_effect(effect: Effect, population: int = 0, groups: RowGroups | None = None) -> Reading:
    """Read an effect; `Reading.each` has one reading per output.

    `population` is how many rows there are in all, where the effect is of a sample of them; `groups` are those of its
    kept rows, where many effects keep the same.

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
    outputs = range(len(effect.outputs))
    if effect.n_features == 1:
        if groups is None and effect.row_values is not None:
            groups = RowGroups(effect.row_values, effect.row_weights)
        return with_all_outputs([_read_curve(effect, o, population, groups) for o in outputs])
    from icefield.statistics.surface_reading import read_surface

    return with_all_outputs([read_surface(effect, o) for o in outputs])


def with_all_outputs(readings: Sequence[Reading]) -> Reading:
    """The first output's reading, given the readings of all outputs in `each`."""
    object.__setattr__(readings[0], "each", tuple(readings))
    return readings[0]


def _read_curve(effect: Effect, output: int, population: int, groups: RowGroups | None) -> Reading:
    shown = shown_points(effect)
    grid, y = effect.grid[0][shown], effect.average[output][shown]
    known = np.isfinite(y)
    if not known.any():
        return Reading(
            effect.features, effect.outputs[output], "flat", "none", 0.0, np.nan, np.nan, None, None,
            **reading_context(effect, output),
        )  # fmt: skip
    unit = output_unit(effect, output)
    x = _places(effect, grid) if effect.ordered[0] else None
    at = np.flatnonzero(known)
    if x is not None:
        at = at[np.argsort(x[at], kind="stable")]
    grid, y, weights = grid[at], y[at], _normalised(point_weights(effect)[at])
    gone = missing_share(effect) if np.isfinite(effect.average[output][-1]) else 0.0
    curves = OutputCurves(None if x is None else x[at], y, weights, unit, _rows_behind(effect))
    every = at
    if gone > 0:  # one point more, which has no place on the axis
        every = np.append(at, len(effect.grid[0]) - 1)
        curves = replace(
            curves,
            average=effect.average[output][every],
            weights=np.append((1.0 - gone) * weights, gone),
            missing=True,
        )
    partners: tuple[tuple[Any, float], ...] = ()
    if _has_rows(effect):
        curves, partners = _with_rows(effect, output, curves, every, groups)
    statements = statements_of(curves)
    count = effect.n_rows or (0 if curves.ice is None else len(curves.ice))
    unsure = on_other_grids(curves, statements) | near_threshold(curves, statements)
    unsure |= on_other_rows(curves, statements, count, max(population, count))
    direction = _direction_of_two(effect, grid, y) if statements.shape == "levels" else statements.direction
    missing = None
    if effect.missing_last[0] and len(effect.grid[0]) > 1:
        missing = float(effect.average[output][-1] - weights @ y) / unit
    span = slice(statements.first, statements.last)
    read, within = y[span], grid[span]
    until, since = _levels_off(read, _normalised(weights[span]))
    return Reading(
        features=effect.features,
        output=effect.outputs[output],
        shape=statements.shape,
        direction=direction,
        strength=statements.strength,
        low=float(read.min()),
        high=float(read.max()),
        low_at=plain_value(within[int(read.argmin())]),
        high_at=plain_value(within[int(read.argmax())]),
        changes_at=_changes(effect, grid, statements),
        read_from=plain_value(grid[statements.first]) if x is not None else None,
        read_to=plain_value(grid[statements.last - 1]) if x is not None else None,
        tails=_tails(grid, y, weights, unit, span) if x is not None else (),
        heterogeneity=statements.differ,
        heterogeneity_exact=curves.ice is not None,
        opposing=statements.opposing,
        hidden=statements.hidden,
        heterogeneous=statements.heterogeneous,
        partners=partners,
        missing_jump=missing,
        missing_share=gone,
        borderline=unsure,
        measures={**_measures(statements), "rows_could_differ": float(_has_rows(effect))},
        level_until=plain_value(within[until]) if x is not None and until is not None else None,
        level_from=plain_value(within[since]) if x is not None and since is not None else None,
        error_rows=_error_rows(effect, output),
        low_ties=() if x is not None else _tied(within, read, read.min()),
        high_ties=() if x is not None else _tied(within, read, read.max()),
        **reading_context(effect, output),
    )


def _error_rows(effect: Effect, output: int) -> float | None:
    """About how many rows carry the standard error where the kept curves lie farthest apart; None where they are enough.

    A normal sample of n rows has n / 3 of these: (sum of squares)² / sum of fourth powers. With few, the error
    of the error is large, and intervals cover less than they say.
    """
    if effect.se is None or effect.individual is None or effect.individual.shape[1] < FEW_ROWS:
        return None
    apart = effect.individual[output] - effect.individual[output].mean(axis=0)
    squares = np.square(apart).sum(axis=0)
    widest = apart[:, int(np.argmax(np.nan_to_num(squares)))]
    fourth = float((widest**4).sum())
    carried = float(np.square(widest).sum()) ** 2 / fourth if fourth > 0 and np.isfinite(fourth) else np.inf
    return carried if carried < FEW_ROWS / 3 else None


def reading_context(effect: Effect, output: int) -> dict[str, Any]:
    """What a reading takes over from its effect: names, units, whether it is one of several outputs, whose grid it is."""
    robust = effect.unit is not None and effect.output_std is not None
    robust = robust and float(effect.unit[output]) != float(effect.output_std[output])  # type: ignore[index]
    return {
        "naming": effect.naming,
        "unit": output_unit(effect, output),
        "unit_name": "robust SD" if robust else "SD",
        "scale_label": effect.scale_label,
        "several": len(effect.outputs) > 1,
        "own_grid": effect.own_grid,
    }


def _tied(levels: NDArray[Any], y: Float, extreme: float) -> tuple[Any, ...]:
    """The levels at an extreme of an average, as near as makes no difference."""
    return tuple(plain_value(v) for v in levels[np.abs(y - extreme) <= TIED * np.ptp(y)])


def _has_rows(effect: Effect) -> bool:
    """Whether rows have curves of their own, kept or not: an accumulated effect, a slope or refits have none."""
    return effect.kind != "ale" and effect.view != "derivative" and effect.over == "rows"


def _places(effect: Effect, grid: NDArray[Any]) -> Float:
    return (
        grid.astype(np.int64).astype(np.float64) if effect.kinds[0] in TIME_KINDS else grid.astype(np.float64)
    )


def _rows_behind(effect: Effect) -> float:
    """Observations an average stands on, as its standard error counts them: with weights and clusters."""
    if effect.std is not None and effect.se is not None:
        reach = population_factor(effect.n_rows, effect.sampled_from)
        moving = np.isfinite(effect.se) & (effect.se > 1e-12 * effect.std) & (effect.std > 0)
        if moving.any():
            ratio = effect.std[moving] / effect.se[moving]
            return 1.0 + float(np.median(np.square(ratio))) * reach**2
    weights = None if effect.kept is None else effect.kept.row_weights
    if weights is None or not len(weights):
        return float(effect.n_rows)
    return effect.n_rows * observations(weights, len(weights)) / len(weights)


def _with_rows(
    effect: Effect, output: int, curves: OutputCurves, at: NDArray[np.intp], groups: RowGroups | None
) -> tuple[OutputCurves, tuple[tuple[Any, float], ...]]:
    """The curves with ICE curves, or a bound from their spread, and the columns that explain how these differ."""
    if effect.individual is None or effect.individual.shape[1] < 2:
        if effect.std is None:
            return curves, ()
        # Curves whose spread changes along the grid cannot be parallel: sd(f - f') >= |sd(f) - sd(f')|.
        least = float(deviation(effect.std[output][at], curves.weights)) / curves.unit
        around = effect.spread.centered_std
        if around is not None:  # then it is known how much they differ, though not how
            least = max(least, float(np.sqrt(curves.weights @ np.square(around[output][at]))) / curves.unit)
        return replace(curves, least_differ=least), ()
    in_order = bool((at == np.arange(len(at))).all())  # then they need no copy
    ice = effect.individual[output][:, slice(len(at)) if in_order else at]
    curves = replace(curves, ice=ice, row_weights=effect.row_weights)
    if (
        groups is None
        or curves.ice_curves is None
        or (curves.differ or 0.0) < EXPLAINED_FROM * THRESHOLDS["heterogeneous"]
    ):
        return curves, ()
    able = groups.row_values if effect.others is None else effect.others
    ranked = explaining_columns(curves.ice_curves, groups, [n for n in able if n not in effect.features])
    partners = tuple((name, share) for name, share in ranked[:EXPLAINING] if share >= THRESHOLDS["partner"])
    return curves.explained_to(best_share(partners)), partners


def best_share(partners: Sequence[tuple[Any, float]]) -> float:
    """The largest share of the curves' differences that one column explains."""
    return max((share for _, share in partners), default=0.0)


def _changes(effect: Effect, grid: NDArray[Any], statements: Statements) -> tuple[Any, ...]:
    """Where an ordered curve changes: its step, its turn, or the stretch with half the movement."""

    def place(value: float) -> Any:
        return (
            plain_value(np.asarray(round(value)).astype(grid.dtype)[()])
            if effect.kinds[0] in TIME_KINDS
            else value
        )

    shape = statements.curve_shape
    if shape is None or shape.name == "linear":
        return ()
    whole = effect.kinds[0] not in TIME_KINDS and bool((grid == np.round(grid.astype(np.float64))).all())
    if shape.name == "threshold" and shape.steps_at is not None:
        # Of whole numbers, the first on the far side: nobody counts 185.5 days.
        return (place(float(np.ceil(shape.steps_at)) if whole else shape.steps_at),)
    if shape.turns_at is not None:
        return (place(float(np.round(shape.turns_at)) if whole else shape.turns_at),)
    return (place(shape.busiest[0]), place(shape.busiest[1]))


def _measures(statements: Statements) -> dict[str, float]:
    measures = {"flat_limit": statements.flat_limit, "known_strength": statements.known_strength}
    if statements.curve_shape is not None:
        shape = statements.curve_shape
        measures |= {
            "linear": shape.linear,
            "cubic": shape.cubic,
            "step": shape.step,
            "reversal": shape.reversal,
        }
    return measures


def _tails(grid: NDArray[Any], y: Float, weights: Float, unit: float, span: slice) -> tuple[Tail, ...]:
    """What the average does beyond the `span` of points that was read, where it does not just go on.

    Going on as before is expected, as long as it is not half of the whole range again.
    """
    inside = y[span]
    near = max(1, len(inside) // 10)
    sides = (
        ("below", slice(0, span.start), span.start, inside[0] - inside[min(near, len(inside) - 1)]),
        ("above", slice(span.stop, None), span.stop - 1, inside[-1] - inside[max(-1 - near, -len(inside))]),
    )
    tails = []
    for side, beyond, edge, before in sides:
        share = float(weights[beyond].sum())
        if share <= 0:
            continue
        change = float(weights[beyond] @ y[beyond] / share - y[edge])
        goes_on = change * before > 0 and abs(change) < GOES_ON * np.ptp(inside)
        if abs(change) / unit >= THRESHOLDS["tail_change"] and not goes_on:
            tails.append(Tail(side, plain_value(grid[edge]), share, change / unit))
    return tuple(tails)


def _levels_off(y: Float, weights: Float) -> tuple[int | None, int | None]:
    """Up to which point an average stays at its start, and from which one at its end, where much of the data is."""
    near = LEVEL * float(np.ptp(y))
    away = np.flatnonzero(np.abs(y - y[0]) > near)
    back = np.flatnonzero(np.abs(y - y[-1]) > near)
    if not len(away) or not len(back):
        return None, None
    until, since = int(away[0]) - 1, int(back[-1]) + 1
    return (
        until if until > 0 and weights[: until + 1].sum() >= LEVEL_SHARE else None,
        since if since < len(y) - 1 and weights[since:].sum() >= LEVEL_SHARE else None,
    )


def _direction_of_two(effect: Effect, grid: NDArray[Any], y: Float) -> str:
    """Two values that have an order (numbers, False before True) give a direction."""
    if len(grid) != 2 or not (effect.ordered[0] or effect.kinds[0] == "boolean"):
        return "none"
    ascending = bool(grid[0] < grid[1])
    return "increasing" if (y[1] > y[0]) == ascending else "decreasing"


def _normalised(weights: Float) -> Float:
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))


def plain_value(value: Any) -> Any:
    """A grid value as a plain Python object where there is one, times as they are."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value
