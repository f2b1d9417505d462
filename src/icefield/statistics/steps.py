"""A feature's range as steps between neighbouring nodes, and where each row stands on them.

The nodes of a number or time are bin edges (quantiles of the data, so that no bin is empty, or edges
the user gave); those of a category are its levels in an order. Local effects move rows across
steps; means per bin count rows at nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.counts import counted
from icefield.data.distribution import weighted_quantiles
from icefield.data.frame import ORDERED_KINDS
from icefield.data.given_values import given_values
from icefield.errors import InputError, InputTypeError, complaint, write
from icefield.statistics.similarity import similarity_order
from icefield.typing import Float, Positions

if TYPE_CHECKING:
    from icefield.data.features import Feature
    from icefield.study import Study


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


def feature_steps(study: Study, feature: Feature, bins: Any, order: Any, weights: Float) -> Steps:
    """Cut a feature into steps.

    Parameters
    ----------
    study : the model and its data
    feature : what is cut
    bins : for numbers and times, the number of quantile bins or the edges
    order : for categories, ``"similarity"``, ``"given"`` or the levels in order
    weights : one weight per row; rows without weight have no place
    """
    if feature.kind in ORDERED_KINDS:
        return _binned(feature, bins, weights)
    return _levelled(study, feature, order, weights)


def _binned(feature: Feature, bins: Any, weights: Float) -> Steps:
    column = feature.column
    known = ~column.missing & (weights > 0)
    if column.kind == "float":
        known &= np.isfinite(column.values)
    if not known.any():
        raise InputError(f"Column {feature.label!r} has no finite value, so there is no effect to follow.")
    values = column.values
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool):
        validate.count("bins", bins)
        probabilities = np.linspace(0.0, 1.0, int(bins) + 1)
        # Quantiles that coincide (ties) merge their bins: no bin is empty, none is split.
        nodes = np.unique(weighted_quantiles(values[known], probabilities, weights[known]))
    else:
        nodes = np.unique(given_values(bins, column))
        if len(nodes) < 2:
            raise InputError(complaint("bins", "must hold at least two edges", bins, write(bins=40)))
        known = known & (values >= nodes[0]) & (values <= nodes[-1])
    if len(nodes) == 1:
        return _constant(nodes, known)
    bin_of = np.zeros(len(values), dtype=np.intp)
    bin_of[known] = np.clip(np.searchsorted(nodes, values[known], side="left") - 1, 0, len(nodes) - 2)
    return Steps(nodes, known, bin_of[:, None], np.stack([bin_of, bin_of + 1], axis=1), bin_of + 1)


def _constant(nodes: NDArray[Any], known: NDArray[np.bool_]) -> Steps:
    at = np.zeros((len(known), 1), dtype=np.intp)
    return Steps(nodes, known, at - 1, at, at[:, 0])


def _levelled(study: Study, feature: Feature, order: Any, weights: Float) -> Steps:
    column = feature.column
    known = ~column.missing & (weights > 0)
    counts = np.bincount(column.codes[known], weights[known], minlength=len(column.levels))
    occurring = np.flatnonzero(counts > 0)
    if not len(occurring):
        raise InputError(f"Column {feature.label!r} has no known level, so there is no effect to follow.")
    codes, note = _ordered_levels(study, feature, order, weights, known, occurring)
    place = np.full(len(column.levels), -1, dtype=np.intp)
    place[codes] = np.arange(len(codes))
    at = np.where(known, place[column.codes], -1)
    known = known & (at >= 0)
    if len(codes) == 1:
        return _constant(column.levels[codes], known)
    at = np.where(known, at, 0)
    step_of = np.stack([at - 1, np.where(at < len(codes) - 1, at, -1)], axis=1)
    return Steps(column.levels[codes], known, step_of, at[:, None], at, note)


def _ordered_levels(
    study: Study,
    feature: Feature,
    order: Any,
    weights: Float,
    known: NDArray[np.bool_],
    occurring: Positions,
) -> tuple[Positions, str]:
    column = feature.column
    if isinstance(order, str) and order in ("similarity", "given"):
        if order == "given" or len(occurring) < 3:
            return occurring, ""
        others = [c for c in study.model.columns if c not in feature.columns]
        ranked, compared = similarity_order(
            column.codes[known], occurring, [study.table.column(c) for c in others], known, weights[known]
        )
        note = f"levels of {feature.label!r} are ordered by the similarity of the other features"
        if compared < len(occurring):
            note += f", each of the {counted(len(occurring))} compared with the {compared} most frequent"
        return ranked, note
    if isinstance(order, str) or not hasattr(order, "__iter__"):
        raise InputTypeError(complaint("order", "must be 'similarity', 'given' or the levels", order))
    lookup = {level: code for code, level in enumerate(column.levels.tolist())}
    wanted = list(order)
    unknown = [level for level in wanted if level not in lookup]
    if unknown or len(set(wanted)) != len(wanted):
        raise InputError(
            complaint("order", f"must list levels of {feature.label!r}, each once", wanted,
                      f"levels are {column.levels.tolist()[:10]}")
        )  # fmt: skip
    return np.array([lookup[level] for level in wanted], dtype=np.intp), ""
