"""A feature's range as steps between neighbouring nodes, and where each row stands on them.

The nodes of a number or time are bin edges (quantiles of the data, so that no bin is empty, or edges
the user gave); those of a category are its levels in an order. Local effects move rows across
steps; means per bin count rows at nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.column_statistics import ColumnValues
from icefield.data.columns import object_array
from icefield.data.features import Feature
from icefield.data.frame import ORDERED_KINDS, Column
from icefield.data.given_values import given_values
from icefield.errors import IcefieldError, InputError, InputTypeError
from icefield.statistics.similarity import ComparedLevels, quantiles_of, similarity_orders
from icefield.typing import Float, Positions

WORTH_THREADS = 500_000  # values of other columns by which levels are compared


class LevelOrders(dict["Feature", tuple[Positions, int]]):
    """Level numbers of categories in orders in which neighbours are alike, and with how many levels each was compared."""


@dataclass(frozen=True, eq=False)
class Steps:
    """One feature cut into steps between nodes: a number stands in one bin; a level has a step on either side."""

    nodes: NDArray[Any]  # grid values; step s leads from node s to node s + 1
    known: NDArray[np.bool_]  # which of the table's rows have a place
    step_of: Positions  # ``(rows, 1 or 2)`` steps each row is moved across, -1 for none
    node_of: Positions  # ``(rows, 1 or 2)`` nodes among which a row's weight is shared equally
    end_of: Positions  # the node a row is counted at: its bin's upper edge, or its level
    note: str = ""

    @property
    def n_steps(self) -> int:
        return len(self.nodes) - 1


@dataclass(frozen=True, eq=False)
class Cut:
    """Where a feature is cut: its nodes, and how rows of any table find their place among them."""

    nodes: NDArray[Any]  # grid values, sorted edges or levels in order
    ordered: bool  # whether nodes are edges between which numbers or times lie
    note: str = ""  # what is to be known about them

    def steps(self, column: Column, weights: Float) -> Steps:
        """Where rows stand; rows without weight have no place."""
        nodes, place = self.nodes, self.placing(column, weights)(slice(None)).astype(np.intp)
        known, at = place >= 0, np.maximum(place, 0)
        if len(nodes) == 1:
            return Steps(nodes, known, np.full((len(at), 1), -1), at[:, None], at)
        if self.ordered:
            return Steps(nodes, known, at[:, None], np.stack([at, at + 1], axis=1), at + 1, self.note)
        step_of = np.stack([at - 1, np.where(at < len(nodes) - 1, at, -1)], axis=1)
        return Steps(nodes, known, step_of, at[:, None], at, self.note)

    @property
    def on_levels(self) -> bool:
        """Whether rows stand at nodes rather than between them; a single node has nothing beside it."""
        return not self.ordered or len(self.nodes) == 1

    def placing(self, column: Column, weights: Float) -> Callable[[slice], NDArray[np.int32]]:
        """Says where some of the rows stand: the number of their step, or of their level; -1 for none."""
        nodes, missing = self.nodes, column.missing if column.any_missing else None
        of_level = None if self.ordered else self._level_places(column)
        unbounded = column.kind == "float" and not np.isfinite(nodes[[0, -1]]).all()

        def places(rows: slice) -> NDArray[np.int32]:
            known = weights[rows] > 0
            if missing is not None:
                known &= ~missing[rows]
            if of_level is not None:
                return np.where(known, of_level[column.codes[rows]], np.int32(-1))
            values = column.values[rows]
            if unbounded:
                known &= np.isfinite(values)
            known &= (values >= nodes[0]) & (values <= nodes[-1])
            step = np.searchsorted(nodes, values, side="left") - 1
            return np.where(known, step.clip(0, max(0, len(nodes) - 2)), -1).astype(np.int32)

        return places

    def _level_places(self, column: Column) -> NDArray[np.int32]:
        """The place of each of a column's levels among the nodes; last that of missing values."""
        place = {level: number for number, level in enumerate(self.nodes.tolist())}
        return np.array([*(place.get(level, -1) for level in column.levels.tolist()), -1], np.int32)


def feature_cut(study: Study, feature: Feature, bins: Any, order: Any, described: ColumnValues) -> Cut:
    """Cut a feature into steps.

    `bins` are, for numbers and times, the number of quantile bins or the edges; `order`, for categories, is ``"similarity"``, orders
    that `similar_levels` found, ``"given"`` or the levels in order.
    """
    if feature.kind in ORDERED_KINDS:
        return _bin_cut(feature, bins, described)
    return _level_cut(study, feature, order, described)


def _bin_cut(feature: Feature, bins: Any, described: ColumnValues) -> Cut:
    column, weights = described.column, described.weights
    known = ~column.missing & (weights > 0)
    if column.kind == "float":
        known &= np.isfinite(column.values)
    if not known.any():
        raise InputError(f"Column {feature.label!r} has no finite value, so its effect cannot be computed.")
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool):
        validate.count("bins", bins)
        probabilities = np.linspace(0.0, 1.0, int(bins) + 1)
        # Quantiles that coincide (ties) merge their bins: no bin is empty, none is split.
        nodes = np.unique(quantiles_of(column.values[known], probabilities, weights[known]))
        note = ""
        if described.rank_error:
            note = f"{feature.label}: bins from a sketch of all rows, ranks off by at most {described.rank_error:.2%}"
        return Cut(nodes, True, note)
    if isinstance(bins, (str, bytes)) or not hasattr(bins, "__iter__"):
        raise InputTypeError.about("bins", "must be a number of bins or their edges", bins, "write bins=40")
    try:
        nodes = np.unique(given_values(bins, column))
    except IcefieldError as error:
        raise error.about("bins", error.problem, error.received, error.hint) from None
    if len(nodes) < 2:
        raise InputError.about("bins", "must hold at least two edges", bins, "write bins=40")
    return Cut(nodes, True)


def _level_cut(study: Study, feature: Feature, order: Any, described: ColumnValues) -> Cut:
    column = described.column
    known = ~column.missing & (described.weights > 0)
    counts = np.bincount(column.codes[known], described.weights[known], minlength=len(column.levels))
    occurring = np.flatnonzero(counts > 0)
    if not len(occurring):
        raise InputError(f"Column {feature.label!r} has no known level, so its effect cannot be computed.")
    if isinstance(order, LevelOrders) or (isinstance(order, str) and order in ("similarity", "given")):
        if order == "given" or len(occurring) < 3:
            return Cut(column.levels[occurring], False)
        orders = order if isinstance(order, LevelOrders) else LevelOrders()
        return _by_similarity(study, feature, described, column.levels[occurring], orders)
    return Cut(column.levels[_listed_levels(feature, column, order)], False)


def similar_levels(study: Study, features: Sequence[Feature], weights: Float | None = None) -> LevelOrders:
    """Levels of categories in orders in which neighbours are alike, as far as the study's own rows show them.

    `weights` has one for each of these rows; None for their own. Features that have no levels to compare are left out.
    """
    levelled = [f for f in features if f.kind not in ORDERED_KINDS and len(study.column(f).levels) > 2]
    if not levelled:
        return LevelOrders()
    row_weights = study.sample.row_weights() if weights is None else weights
    compared: dict[Feature, ComparedLevels] = {}
    for feature in levelled:
        column = study.column(feature)
        known = ~column.missing & (row_weights > 0)
        if known.any():
            compared[feature] = ComparedLevels(column.stored_codes, known, row_weights, feature.columns)
    columns = (study.sample.table.column(name) for name in study.model.columns)
    if not compared:
        return LevelOrders()
    if len(study.model.columns) * len(row_weights) < WORTH_THREADS:
        return LevelOrders(zip(compared, similarity_orders(list(compared.values()), columns)))
    with study.resources.crew() as crew, crew:
        return LevelOrders(zip(compared, similarity_orders(list(compared.values()), columns, crew.map)))


def _by_similarity(
    study: Study, feature: Feature, described: ColumnValues, levels: NDArray[Any], orders: LevelOrders
) -> Cut:
    """Levels in an order in which neighbours are alike; it is looked for where it was not found before."""
    column = study.column(feature)
    is_whole = described.column is column
    orders = orders or similar_levels(study, [feature], described.weights if is_whole else None)
    ranked, compared = orders.get(feature, (np.zeros(0, np.intp), 0))
    note = f"levels of {feature.label!r} are ordered by the similarity of the other features"
    if not is_whole:
        note += f" in {counted(study.sample.n_rows)} rows"
    if compared < len(ranked):
        note += f", each of the {counted(len(ranked))} compared with the {compared} most frequent"
    nodes = column.levels[ranked]
    if not is_whole:  # levels that no row of the sample shows come last
        seen = set(nodes.tolist())
        nodes = object_array([*nodes.tolist(), *(level for level in levels.tolist() if level not in seen)])
    return Cut(nodes, False, note)


def _listed_levels(feature: Feature, column: Column, order: Any) -> Positions:
    if isinstance(order, str) or not hasattr(order, "__iter__"):
        raise InputTypeError.about("level_order", "must be 'similarity', 'given' or the levels", order)
    lookup = {level: code for code, level in enumerate(column.levels.tolist())}
    wanted = list(order)
    unknown = [level for level in wanted if level not in lookup]
    if unknown or len(set(wanted)) != len(wanted):
        problem = f"must list levels of {feature.label!r}, each once"
        hint = f"levels are {column.levels.tolist()[:10]}"
        raise InputError.about("level_order", problem, wanted, hint)
    return np.array([lookup[level] for level in wanted], dtype=np.intp)
