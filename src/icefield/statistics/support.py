"""Support: how much data supports each grid point, given the other features.

Partial dependence moves every row to every grid point, also where no such row could exist. A point
is supported to the share of rows that still look like data when moved there. "Look like data" is
decided by nearest neighbours: a moved row lies outside when it is farther from the data than (nearly)
all of the data's own rows are from each other.

In many dimensions every row is far from every other, so distances are taken only among the
coordinates that can tell: the moved features, what a linear fit of the other features predicts for them, and
the few other features most associated with them, alone or two together. All are ranks, so scales and outliers do not
matter. What ranks and distances do not see, levels that never occur together and gaps in a range, is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from icefield.core.study import Study
from icefield.data.features import Feature
from icefield.data.frame import ORDERED_KINDS, Column
from icefield.effect import Effect
from icefield.effect.data_support import THRESHOLDS, Support
from icefield.errors import InputError
from icefield.statistics.ale import ale, ales_beforehand
from icefield.statistics.combinations import TOGETHER, Impossible, in_gaps, joint_partners
from icefield.statistics.ice_statistics import (
    deviation,
    output_unit,
    point_weights,
    product_by_rows,
    shown_points,
)
from icefield.statistics.one_hot import one_hot_group_of
from icefield.statistics.row_space import (
    LEAST,
    Association,
    SampledColumn,
    Surroundings,
    association,
    grid_numbers,
    ranks_among,
)
from icefield.typing import Float

REFERENCE_ROWS = 1_000  # rows that stand for the data
MOVED_ROWS = 200  # rows that are moved
GRID_POINTS = 15  # points of each axis that are looked at; between them shares are interpolated
FEW_OTHERS = 6  # other columns that are all tried at once
LEAST_LEVEL = 0.01  # share of the data from which on a level counts like any other
TAIL = 0.05  # share of the data on either side
CLEARLY = 0.05  # more of the moved rows that another choice of coordinates must tell from real ones
Result = TypeVar("Result")
REMEMBERED = 1_000  # columns up to which what surrounds the data's rows is kept
SPACES = 100  # columns up to which the space around each is kept, a megabyte at most
SAME = 1e-13  # squared distance of two rows at the same point, at most: rounding
NEIGHBOURS = 3  # distance to the third neighbour: one odd row does not vouch for a whole area


def with_support(
    study: Study, effect: Effect, *, features: Sequence[Any] | None = None, disagreement: bool = True
) -> Effect:
    """The effect with its support, computed from a bounded, seeded sample of rows.

    One-hot groups need the `features` as they were asked for; `disagreement` compares a one-way effect with its ALE,
    too, which asks the model twice a row.
    """
    names = effect.features if features is None else features
    resolved = study.resolve(names)
    support = support_of(study, resolved, effect.grid, effect.weight)
    if disagreement and effect.n_features == 1 and effect.kind != "ale" and effect.view == "level":
        # A column without a finite value has no ALE to compare with.
        with suppress(InputError):
            support = replace(support, disagreement=pd_ale_disagreement(study, effect, names[0]))
    return replace(effect, backing=replace(effect.backing, support=support))


def support_of(
    study: Study,
    features: Sequence[Feature],
    grid: Sequence[NDArray[Any]],
    weight: Float | None = None,
    around: Surroundings | None = None,
) -> Support:
    """Support of a product grid; `around` are `surroundings`, where many features are looked at.

    It rests on the data, not on the rows that are averaged over: what is known of one feature's grid is known for every filter.
    """
    around = surroundings(study) if around is None else around
    if len(features) > 1 or len(study.model.columns) > REMEMBERED:
        return _support_of(study, features, grid, weight, around)
    (feature,), (values,) = features, grid
    points = tuple(map(repr, values.tolist())) if values.dtype.kind == "O" else values.tobytes()
    key = "support", feature.label, tuple(feature.columns), str(values.dtype), points
    known = (*key, None if weight is None else weight.tobytes())
    return study.cache.once(known, lambda: _support_of(study, features, grid, weight, around))


def _support_of(
    study: Study,
    features: Sequence[Feature],
    grid: Sequence[NDArray[Any]],
    weight: Float | None,
    around: Surroundings,
) -> Support:
    n_moved = min(MOVED_ROWS, len(around.rows))
    space = _best_space(around, features)
    at = [_tried_points(values) for values in grid]
    points = [g[i] for g, i in zip(grid, at)]
    never = [around.combinations.impossible(f, values) for f, values in zip(features, points)]
    share = _spread_out(_shares(space, points, n_moved, never), at, grid, features)
    data = space.data
    for axis, (column, values) in enumerate(zip(data.moved, grid)):
        np.moveaxis(share, axis, 0)[_in_gaps(column, values)] = 0.0
    low = share < THRESHOLDS["low"]
    columns = [study.column(feature) for feature in features]
    usual, area = (_area(grid, columns, weight, tails) for tails in (False, True))
    stretch = float(area[low].sum())
    details: dict[str, Any] = {"neighbours": NEIGHBOURS, "coordinates": data.names, "stretch": stretch}
    whole = one_hot_group_of(study, [c for f in features for c in f.columns]) if len(features) == 1 else None
    if whole is not None:
        details["one_hot"] = {whole[0]: list(whole[1])}
    return Support(
        share=share,
        low=low,
        details=details,
        outside=float((usual * (1.0 - share)).sum()),
        correlation=data.correlation,
        related=_related(space, never),
        rows=(n_moved, len(around.rows)),
    )


def surroundings(study: Study) -> Surroundings:
    """The rows that stand for the data, in random order; with weights, each as often as it counts."""
    return _cached(study, "surroundings", lambda: Surroundings(study, _reference_rows(study)))


def _cached(study: Study, what: Any, make: Callable[[], Result], most: int = REMEMBERED) -> Result:
    """Surroundings, or a space among them, made once, where they take little room: of at most so many columns."""
    return study.cache.once(what, make) if len(study.model.columns) <= most else make()


def _reference_rows(study: Study) -> NDArray[np.intp]:
    rng, n_rows = np.random.default_rng(study.seed), study.sample.n_rows
    if study.sample.weights is None:
        return rng.permutation(n_rows)[:REFERENCE_ROWS]
    # No more draws than there are observations: more would look like more data than there is.
    reached = np.cumsum(study.sample.weights)
    count = min(REFERENCE_ROWS, int(reached[-1] ** 2 / np.square(study.sample.weights).sum() + 1e-9))
    places = (np.arange(count) + rng.random(count)) * (reached[-1] / count)
    last = np.flatnonzero(study.sample.weights > 0)[-1]
    return rng.permutation(np.minimum(np.searchsorted(reached, places, side="right"), last))


def rows_inside(
    study: Study,
    feature: Feature,
    grid: NDArray[Any],
    rows: NDArray[np.intp],
    some: NDArray[np.intp],
    *,
    usual: bool = False,
) -> NDArray[np.bool_]:
    """Whether `some` of these rows, by place, still look like the rows when moved to each point, ``(some, points)``.

    `usual` rows are those that everything is said from: what surrounds them is worked out once for all features.
    """
    most = REMEMBERED if usual else 0
    around = _cached(study, ("surroundings", rows.tobytes()), lambda: Surroundings(study, rows), most)
    space, at = _best_space(around, [feature]), _tried_points(grid)
    never = around.combinations.impossible(feature, grid[at])
    inside = np.stack([near for _, near in space.moved(some, [grid[at]])], axis=1)
    if never is not None:
        inside &= ~never.rows.T[some]
    nearest = np.abs(np.arange(len(grid))[:, None] - at[None]).argmin(axis=1)
    return np.asarray(inside[:, nearest] & ~_in_gaps(space.data.moved[0], grid))


def moved_inside(
    study: Study, features: Sequence[Feature], places: NDArray[np.intp]
) -> Callable[[Sequence[NDArray[Any]]], NDArray[np.bool_]]:
    """Tells whether rows, by their places among those of `surroundings`, still look like data, each moved to a point of its own.

    The answer is a function of the features' values: for each one per row, or one for all.
    """
    around = surroundings(study)
    # One column at a time: of all sets of several there are too many to keep.
    most = SPACES if len(features) == 1 else 0
    space = _cached(study, ("telling space", *features), lambda: _best_space(around, features), most)
    return _inside(around, space, features, places)


def _inside(
    around: Surroundings, space: _Space, features: Sequence[Feature], places: NDArray[np.intp]
) -> Callable[[Sequence[NDArray[Any]]], NDArray[np.bool_]]:
    def inside_at(values: Sequence[NDArray[Any]]) -> NDArray[np.bool_]:
        rows = space.data.matrix[places]
        for points, column, (low, high) in zip(values, space.data.moved, space.data.own_columns):
            rows[:, low:high] = ranks_among(points, column)
        inside = space.inside(rows)
        for feature, points, column in zip(features, values, space.data.moved):
            never = around.combinations.impossible(feature, points)
            if never is not None:
                inside &= ~never.rows[np.arange(len(places)) if len(points) > 1 else 0, places]
            inside &= ~_in_gaps(column, points)
        return inside

    return inside_at


def row_inside(study: Study, row: int, features: Sequence[Feature]) -> Callable[[Sequence[Any]], bool]:
    """Tells whether one row of the sample still looks like data once some of its features have other values; without any, it is data.

    The answer is a function of what each of these takes, as one-element arrays: a drag asks about many values of the same.
    """
    if not features:
        return lambda values: True
    around = Surroundings(study, np.append(_reference_rows(study), row))
    inside = _inside(around, _best_space(around, features), features, np.array([len(around.rows) - 1]))
    return lambda values: bool(inside(values)[0])


def _tried_points(values: NDArray[Any]) -> NDArray[np.intp]:
    return np.unique(np.linspace(0, len(values) - 1, min(GRID_POINTS, len(values))).round().astype(np.intp))


@dataclass(frozen=True, eq=False)
class _Space:
    """Rows as points, and how far apart they may be."""

    data: Association
    related: tuple[tuple[Any, float], ...]

    @cached_property
    def limit(self) -> float:
        """A distance that nearly none of the data's own rows has from the others."""
        apart = _neighbour_distance(self.data.matrix, self.data.no_neighbours)
        # A row with too few others to compare with says nothing; if none has, only the same point is near.
        apart = np.append(apart[np.isfinite(apart)], 0.0) if np.isinf(apart).any() else apart
        return float(np.quantile(apart, THRESHOLDS["outside"], method="inverted_cdf"))

    def inside(self, rows: Float) -> NDArray[np.bool_]:
        """Which points are near the data."""
        return self._near(_squared_distances(rows, self.data.matrix))

    def moved(
        self, rows: NDArray[np.intp] | slice, points: Sequence[NDArray[Any]]
    ) -> Iterator[tuple[tuple[int, ...], NDArray[np.bool_]]]:
        """Whether rows, by place, are near the data when moved to each of a product of points; with the point's index.

        What does not move is as far from the data wherever rows are moved to, and what moves then is the same for all.
        """
        data = self.data
        stays = data.own_columns[-1][1]
        apart = _squared_distances(data.matrix[rows, stays:], data.matrix[:, stays:])
        squared = [
            _squared_distances(ranks_among(values, column), data.matrix[:, low:high])
            for values, column, (low, high) in zip(points, data.moved, data.own_columns)
        ]
        for index in np.ndindex(*(len(values) for values in points)):
            yield index, self._near(apart, np.sum([far[i] for far, i in zip(squared, index)], axis=0))

    def _near(self, squared: Float, more: Float | float = 0.0) -> NDArray[np.bool_]:
        """Whether enough of the data is within the limit of each row, by squared distances and what each row adds."""
        limit = max((self.limit * (1 + 1e-9)) ** 2, SAME)
        enough = min(NEIGHBOURS, squared.shape[1])
        near = squared <= limit - more
        return np.asarray(near.sum(axis=1, dtype=np.int32) >= enough)  # of four bytes, as vectors

    def detection_rate(self) -> float:
        """Share of rows recognised as no data when they are given another row's value of the moved features."""
        every, high = self.data.matrix, self.data.own_columns[-1][1]
        rows = every[:MOVED_ROWS].copy()
        rows[:, :high] = np.roll(every[:, :high], len(every) // 2, axis=0)[: len(rows)]
        return float(1.0 - self.inside(rows).mean())


def _best_space(around: Surroundings, features: Sequence[Feature]) -> _Space:
    """The coordinates that separate moved rows from real ones best.

    Those most associated with a feature one by one; where two others say more together, beside these; and where there
    are few columns, beside all. Another choice than the first must tell clearly more.
    """
    data = association(around, features)
    first = _Space(data, data.related)
    if len(features) > 1:
        return first
    (feature,) = features
    ranked = dict.fromkeys([*(name for name, _ in data.related), *around.columns])
    other_names = [name for name in ranked if name not in feature.columns]
    tried = []
    few = {name: around.columns[name].codes for name in other_names[:TOGETHER]}
    pair = joint_partners(around.sampled(feature).codes, few, LEAST)
    if pair is not None:
        named = ((pair[0], pair[2]), (pair[1], pair[2]))
        rest = tuple(partner for partner in data.related if partner[0] not in pair[:2])
        tried.append(_Space(association(around, features, pair[:2]), named + rest))
    if 3 <= len(other_names) <= FEW_OTHERS:
        tried.append(_Space(association(around, features, other_names), data.related))
    if not tried:
        return first
    best = max(tried, key=_Space.detection_rate)
    return best if best.detection_rate() > first.detection_rate() + CLEARLY else first


def _shares(
    space: _Space, points: Sequence[NDArray[Any]], n_moved: int, never: Sequence[Impossible | None]
) -> Float:
    """Share of moved rows inside the data at each of the points looked at; `never` are those known to be outside."""
    data = space.data
    if data.own_columns[-1][1] == data.matrix.shape[1] and all(impossible is None for impossible in never):
        n_moved = 1  # nothing else matters: moved to the same point, all rows are the same
    share = np.empty(tuple(len(p) for p in points))
    for index, inside in space.moved(slice(0, n_moved), points):
        for i, impossible in zip(index, never):
            if impossible is not None:
                inside &= ~impossible.rows[i, :n_moved]
        share[index] = inside.mean()
    return share


def _related(space: _Space, never: Sequence[Impossible | None]) -> tuple[tuple[Any, float], ...]:
    """The columns a feature is associated with, and those that exclude some of its values."""
    known = [name for name, _ in space.related]
    excluding = [name for each in never if each is not None for name in each.because_of if name not in known]
    return (*space.related, *((name, LEAST) for name in dict.fromkeys(excluding)))


def _in_gaps(column: SampledColumn, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which grid values lie in an empty stretch of the feature's range."""
    if column.ranked is None:
        return np.zeros(len(values), dtype=bool)
    return in_gaps(column.ranked, grid_numbers(values, column.column))


def _area(
    grid: Sequence[NDArray[Any]], columns: Sequence[Column], weight: Float | None, tails: bool
) -> Float:
    """What each point stands for of the axes, as a picture shows them: lengths, and levels alike but for rare ones.

    Without `tails`, the outermost 5 % of the data on either side count by how much data they are.
    """
    area = np.ones(())
    for axis, (values, column) in enumerate(zip(grid, columns)):
        across = tuple(a for a in range(len(grid)) if a != axis)
        mass = np.ones(len(values)) if weight is None else weight.sum(axis=across)
        width = (mass >= LEAST_LEVEL * mass.sum()).astype(np.float64)
        if not width.any() or mass.sum() <= 0:
            width = mass if mass.sum() > 0 else np.ones(len(values))
        if column.kind in ORDERED_KINDS and len(values) > 2:
            places = grid_numbers(values, column)
            order = np.flatnonzero(np.isfinite(places))
            order = order[np.argsort(places[order], kind="stable")]
            at = places[order] / 2  # in halves: numbers may span more than a float does
            if len(order) > 1 and at[-1] > at[0]:
                width = np.zeros(len(values))
                width[order] = np.diff(np.concatenate([at[:1], 0.5 * (at[1:] + at[:-1]), at[-1:]]))
                reached = np.cumsum(mass[order])
                before, (low, high) = reached - mass[order], reached[-1] * np.array([TAIL, 1 - TAIL])
                inner = order[(reached > low) & (before < high)]
                if not tails and width[inner].sum() > 0:
                    central = width[inner].sum() / max(mass[inner].sum(), 1e-300)
                    outer = np.setdiff1d(order, inner, assume_unique=True)
                    width[outer] = np.minimum(width[outer], central * mass[outer])
        area = np.multiply.outer(area, width / width.sum())
    return np.asarray(area)


def _squared_distances(rows: Float, data: Float) -> Float:
    """Squared distances of rows from the data, ``(rows, data)``."""
    squared = product_by_rows(-2.0 * rows, data.T)
    squared += np.square(rows).sum(axis=1)[:, None]
    squared += np.square(data).sum(axis=1)
    return squared


def _neighbour_distance(data: Float, skip: NDArray[np.bool_]) -> Float:
    """Distance of each row of the data to its n-th nearest other, without those to `skip`."""
    squared, every = _squared_distances(data, data), np.arange(len(data))
    squared[skip] = np.inf
    for _ in range(min(NEIGHBOURS - 1, len(data) - 1)):
        squared[every, squared.argmin(axis=1)] = np.inf
    return np.sqrt(np.maximum(squared.min(axis=1), 0.0))


def _spread_out(
    share: Float, at: Sequence[NDArray[np.intp]], grid: Sequence[NDArray[Any]], features: Sequence[Feature]
) -> Float:
    """From the points looked at to all points of the grid: between neighbours linearly, levels from the nearest."""
    for axis, (seen, values, feature) in enumerate(zip(at, grid, features)):
        if len(seen) == len(values):
            continue
        everywhere = np.arange(len(values), dtype=np.float64)
        if feature.kind in ORDERED_KINDS:
            share = np.apply_along_axis(lambda s: np.interp(everywhere, seen, s), axis, share)  # noqa: B023
        else:
            nearest = np.abs(everywhere[:, None] - seen[None]).argmin(axis=1)
            share = np.take(share, nearest, axis=axis)
    return share


def pd_ale_disagreement(study: Study, effect: Effect, feature: Any) -> Float:
    """Per output, the distance of PD and ALE over the data, relative to the larger one's spread.

    Both are centred over the data first: where features are independent the two agree up to a constant.
    """
    rows = min(2 * REFERENCE_ROWS, study.sample.n_rows)
    local = ale(study, feature, bins=GRID_POINTS, rows=rows)  # few bins: little noise in each
    shown = shown_points(effect)
    weights = point_weights(effect)
    out = np.zeros(len(effect.outputs))
    for o in range(len(effect.outputs)):
        curve = effect.average[o][shown]
        other = ale_at(local, o, effect.grid[0][shown])
        known = np.isfinite(other) & np.isfinite(curve)
        if known.sum() < 2:
            continue
        w = weights[known] / max(weights[known].sum(), 1e-300)
        larger = max(float(deviation(curve[known], w)), float(deviation(other[known], w)))
        # Differences that are small against the predictions are no disagreement, however flat both are.
        larger = max(larger, 0.1 * output_unit(effect, o))
        out[o] = float(deviation(curve[known] - other[known], w)) / larger
    return out


def expect_disagreements(study: Study, features: Sequence[Any]) -> None:
    """Work out together the ALEs that `pd_ale_disagreement` will ask for of these features."""
    ales_beforehand(study, features, bins=GRID_POINTS, rows=min(2 * REFERENCE_ROWS, study.sample.n_rows))


def ale_at(local: Effect, output: int, grid: NDArray[Any]) -> Float:
    """An ALE curve at a partial dependence's grid points; NaN where it has none."""
    nodes, values = local.grid[0], local.average[output]
    if local.ordered[0]:
        as_number = (lambda v: v.astype(np.int64)) if nodes.dtype.kind in "mM" else (lambda v: v)
        x = as_number(grid.astype(nodes.dtype) if nodes.dtype.kind in "mM" else grid).astype(np.float64)
        return np.interp(x, as_number(nodes).astype(np.float64), values)
    place = {level: i for i, level in enumerate(nodes.tolist())}
    at = [place.get(level) for level in grid.tolist()]
    return np.array([np.nan if i is None else values[i] for i in at])
