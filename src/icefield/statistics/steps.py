"""A feature's range as steps between neighbouring nodes, and where each row stands on them.

The nodes of a number or time are bin edges (quantiles of the data, so that no bin is empty, or edges
the user gave); those of a category are its levels in an order. Local effects move rows across
steps; means per bin count rows at nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.counts import counted
from icefield.data.column_statistics import ColumnValues
from icefield.data.columns import object_array
from icefield.data.frame import ORDERED_KINDS, Column
from icefield.data.given_values import given_values
from icefield.errors import IcefieldError, InputError, InputTypeError, complaint
from icefield.statistics.similarity import (
    CODES,
    MOST_LEVELS,
    described_column,
    quantiles_of,
    similarity_order,
)
from icefield.typing import Float, Positions

if TYPE_CHECKING:
    from icefield.core.study import Study
    from icefield.data.features import Feature

REMEMBERED = 0.125  # of the memory budget that columns described for comparing levels may take


@dataclass(frozen=True, eq=False)
class Steps:
    """One feature cut into steps between nodes.

    Attributes
    ----------
    nodes : grid values; step s leads from node s to node s + 1
    known : which of the table's rows have a place
    step_of : ``(rows, 1 or 2)`` steps each row is moved across, -1 for none. A number stands in one
        bin; a level has a step on either side
    node_of : ``(rows, 1 or 2)`` nodes among which a row's weight is shared equally
    end_of : the node a row is counted at: its bin's upper edge, or its level
    """

    nodes: NDArray[Any]
    known: NDArray[np.bool_]
    step_of: Positions
    node_of: Positions
    end_of: Positions
    note: str = ""

    @property
    def n_steps(self) -> int:
        return len(self.nodes) - 1


@dataclass(frozen=True, eq=False)
class Cut:
    """Where a feature is cut: its nodes, and how rows of any table find their place among them.

    Attributes
    ----------
    nodes : grid values, sorted edges or levels in order
    ordered : whether nodes are edges between which numbers or times lie
    note : what is to be known about them
    """

    nodes: NDArray[Any]
    ordered: bool
    note: str = ""

    def steps(self, column: Column, weights: Float) -> Steps:
        """Where rows stand; rows without weight have no place."""
        known = ~column.missing & (weights > 0)
        return self._between(column, known) if self.ordered else self._at_levels(column, known)

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

    def _between(self, column: Column, known: NDArray[np.bool_]) -> Steps:
        values, nodes = column.values, self.nodes
        if column.kind == "float":
            known = known & np.isfinite(values)
        known[known] = (values[known] >= nodes[0]) & (values[known] <= nodes[-1])
        if len(nodes) == 1:
            return _constant(nodes, known)
        bin_of = np.zeros(len(values), dtype=np.intp)
        bin_of[known] = np.clip(np.searchsorted(nodes, values[known], side="left") - 1, 0, len(nodes) - 2)
        return Steps(
            nodes, known, bin_of[:, None], np.stack([bin_of, bin_of + 1], axis=1), bin_of + 1, self.note
        )

    def _at_levels(self, column: Column, known: NDArray[np.bool_]) -> Steps:
        at = np.where(known, self._level_places(column).astype(np.intp)[column.codes], -1)
        known = known & (at >= 0)
        if len(self.nodes) == 1:
            return _constant(self.nodes, known)
        at = np.where(known, at, 0)
        step_of = np.stack([at - 1, np.where(at < len(self.nodes) - 1, at, -1)], axis=1)
        return Steps(self.nodes, known, step_of, at[:, None], at, self.note)


def feature_steps(study: Study, feature: Feature, bins: Any, order: Any, weights: Float) -> Steps:
    """Cut a feature into steps, and place the study's own rows; `weights` has one for each of them."""
    cut = feature_cut(study, feature, bins, order, ColumnValues(study.column(feature), weights))
    return cut.steps(study.column(feature), weights)


def feature_cut(study: Study, feature: Feature, bins: Any, order: Any, described: ColumnValues) -> Cut:
    """Cut a feature into steps.

    Parameters
    ----------
    study : the model and its data
    feature : what is cut
    bins : for numbers and times, the number of quantile bins or the edges
    order : for categories, ``"similarity"``, ``"given"`` or the levels in order
    described : the feature's values and their weights
    """
    if feature.kind in ORDERED_KINDS:
        return _binned(feature, bins, described)
    return _levelled(study, feature, order, described)


def _binned(feature: Feature, bins: Any, described: ColumnValues) -> Cut:
    column, weights = described.column, described.weights
    known = ~column.missing & (weights > 0)
    if column.kind == "float":
        known &= np.isfinite(column.values)
    if not known.any():
        raise InputError(f"Column {feature.label!r} has no finite value, so there is no effect to follow.")
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool):
        validate.count("bins", bins)
        probabilities = np.linspace(0.0, 1.0, int(bins) + 1)
        # Quantiles that coincide (ties) merge their bins: no bin is empty, none is split.
        nodes = np.unique(quantiles_of(column.values[known], probabilities, weights[known]))
        note = ""
        if described.rank_error:
            note = f"{feature.label}: bins from a sketch of all rows, ranks off by at most {described.rank_error:.2%}"
        return Cut(nodes, True, note)
    nodes = np.unique(given_values(bins, column))
    if len(nodes) < 2:
        raise InputError(complaint("bins", "must hold at least two edges", bins, "write bins=40"))
    return Cut(nodes, True)


def _constant(nodes: NDArray[Any], known: NDArray[np.bool_]) -> Steps:
    at = np.zeros((len(known), 1), dtype=np.intp)
    return Steps(nodes, known, at - 1, at, at[:, 0])


def _levelled(study: Study, feature: Feature, order: Any, described: ColumnValues) -> Cut:
    column = described.column
    known = ~column.missing & (described.weights > 0)
    counts = np.bincount(column.codes[known], described.weights[known], minlength=len(column.levels))
    occurring = np.flatnonzero(counts > 0)
    if not len(occurring):
        raise InputError(f"Column {feature.label!r} has no known level, so there is no effect to follow.")
    if isinstance(order, str) and order in ("similarity", "given"):
        if order == "given" or len(occurring) < 3:
            return Cut(column.levels[occurring], False)
        return _by_similarity(study, feature, described, column.levels[occurring])
    return Cut(column.levels[_listed_levels(feature, column, order)], False)


def _by_similarity(study: Study, feature: Feature, described: ColumnValues, levels: NDArray[Any]) -> Cut:
    """Levels in an order in which neighbours are alike, as far as the study's own rows show them."""
    column = study.column(feature)
    is_whole = described.column is column
    weights = described.weights if is_whole else study.sample.row_weights()
    known = ~column.missing & (weights > 0)
    shown = np.unique(column.codes[known])
    others = [c for c in study.model.columns if c not in feature.columns]
    ranked, compared = similarity_order(
        column.codes[known], shown, [study.sample.table.column(c) for c in others], known, weights[known],
        _remembered(study, is_whole and bool(known.all())),
    )  # fmt: skip
    note = f"levels of {feature.label!r} are ordered by the similarity of the other features"
    if not is_whole:
        note += f" in {counted(study.sample.n_rows)} rows"
    if compared < len(shown):
        note += f", each of the {counted(len(shown))} compared with the {compared} most frequent"
    nodes = column.levels[ranked]
    if not is_whole:  # levels that no row of the sample shows come last
        seen = set(nodes.tolist())
        nodes = object_array([*nodes.tolist(), *(level for level in levels.tolist() if level not in seen)])
    return Cut(nodes, False, note)


def undescribed(study: Study, asked: Sequence[Any]) -> list[Any]:
    """Columns by which levels of these features will be compared over all rows, and that are not described yet."""
    found = []
    for name in asked:
        with suppress(IcefieldError):  # which is told where it is cut
            found.append(study.feature(name))
    compared = [
        f
        for f in found
        if not f.is_group and f.kind not in ORDERED_KINDS and 3 <= len(study.column(f).levels) <= MOST_LEVELS
    ]
    if (
        not any(not study.column(f).missing.any() for f in compared)
        or study.sample.n_rows != study.rows.n_rows
    ):
        return []
    known = _remembered(study, bool((study.sample.row_weights() > 0).all()))
    if known is None:
        return []
    alone = compared[0].columns if len(compared) == 1 else ()
    return [name for name in study.model.columns if name not in alone and (name, CODES) not in known]


def describe(study: Study, name: Any) -> None:
    """Describe a column for all levels that will be compared by it."""
    known = _remembered(study, True)
    if known is not None:
        column, weights = study.sample.table.column(name), study.sample.row_weights()
        known[column.name, CODES] = described_column(column, weights > 0, weights, CODES)


def _remembered(study: Study, all_rows: bool) -> dict[Any, Any] | None:
    """What columns are described as when levels are compared by all rows, where that may be kept."""
    size = 2 * study.sample.n_rows * len(study.model.columns)
    if not all_rows or size > REMEMBERED * study.resources.memory:
        return None
    return study.cache.once("columns described", dict)


def _listed_levels(feature: Feature, column: Column, order: Any) -> Positions:
    if isinstance(order, str) or not hasattr(order, "__iter__"):
        raise InputTypeError(complaint("level_order", "must be 'similarity', 'given' or the levels", order))
    lookup = {level: code for code, level in enumerate(column.levels.tolist())}
    wanted = list(order)
    unknown = [level for level in wanted if level not in lookup]
    if unknown or len(set(wanted)) != len(wanted):
        raise InputError(
            complaint("level_order", f"must list levels of {feature.label!r}, each once", wanted,
                      f"levels are {column.levels.tolist()[:10]}")
        )  # fmt: skip
    return np.array([lookup[level] for level in wanted], dtype=np.intp)
