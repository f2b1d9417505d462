"""Accumulated local effects (Apley & Zhu 2020), on any model, feature kind and weighting.

A feature's range is cut into steps between neighbouring nodes: bin edges of a number or time,
levels of a category in an order. Each row is moved only across the step it stands in, so the model is
never asked far from the data; the mean changes are accumulated and centred. One description of
where rows stand (`Steps`) serves numbers and categories, one feature (`ale_curve`) and two (`ale_surface`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.counts import counted
from icefield.effect import Effect
from icefield.errors import Argument, BudgetError, InputError, complaint, statement, worded
from icefield.sampling import sampling_reach
from icefield.statistics.ale_curve import Local, first_order
from icefield.statistics.ale_surface import second_order
from icefield.statistics.steps import Steps, feature_steps
from icefield.typing import Float, Mask, Positions

if TYPE_CHECKING:
    from icefield.data.features import Feature
    from icefield.study import Differences, Study

DEFAULT_BINS = {1: 40, 2: 20}
SURFACES = 8  # arrays as large as the result that two-way effects are worked out in


def ale(
    study: Study,
    *features: Any,
    bins: Any = None,
    order: Any = "similarity",
    rows: Any = None,
) -> Effect:
    """Accumulated local effects of one feature, or the pure interaction effect of two.

    Parameters
    ----------
    study : the model and its data
    *features : one or two features
    bins : number of quantile bins (40 one-way, 20 two-way) or the bin edges; for two features
        also a pair of those
    order : how levels are ordered: ``"similarity"`` (of the other features' distributions, Apley
        & Zhu's appendix), ``"given"`` (level order) or the levels themselves
    rows : use these rows only: a number (sampled with the seed), a mask or positions

    Notes
    -----
    `Effect.weight` holds the weight of the rows in the bin that *ends* at an edge (0 at the first
    edge), or at a level; `Effect.se` is the standard error of the centred curve, given the bins: from the spread of
    the local changes within bins, and from where the data lies, which decides what is subtracted. Rows where the
    feature is missing or infinite take no part.

    References
    ----------
    D. W. Apley and J. Zhu, "Visualizing the effects of predictor variables in black box supervised
    learning models", Journal of the Royal Statistical Society B 82 (2020), 1059-1086.
    """
    if study.background == "training":
        raise InputError(
            "ALE moves the rows of X, so it has no form averaged over the training counts. "
            'Hint: use Explainer(..., background="data").'
        )
    found = study.resolve(features)
    if len(features) > 2:
        raise InputError(
            complaint("features", "must be one or two features for ALE", list(features), "ask for pairs")
        )
    chosen = study.chosen(rows)
    weights = _row_weights(study, chosen.positions)
    steps = [
        feature_steps(study, feature, DEFAULT_BINS[len(found)] if wanted is None else wanted, order, weights)
        for feature, wanted in zip(found, _bins_per_feature(bins, len(found)))
    ]
    used = np.flatnonzero(np.logical_and.reduce([s.known for s in steps]) & (weights > 0))
    _check_surface_fits(study, found, steps)
    axes = tuple(f.axis(s.nodes, study.table) for f, s in zip(found, steps))
    crossed = _crossed(steps, used)
    moved = study.differences(axes, used[crossed[0]], crossed[1:])
    drawn = chosen.sampled_from > 0
    local = Local(
        moved.values,
        crossed,
        used,
        weights,
        copies=study.copies and not drawn,
        clusters=None if drawn else study.clusters,
        reach=sampling_reach(0 if chosen.positions is None else len(chosen.positions), chosen.sampled_from),
    )
    members = _memberships(used, study)
    curves = (first_order if len(found) == 1 else second_order)(local, steps, members)
    effect = _blank(study, found, steps, used, moved)
    effect = replace(effect, provenance=replace(effect.provenance, sampled_from=chosen.sampled_from))
    groups = {}
    if study.groups is not None:
        labelled = zip(study.groups.labels, curves[1:])
        groups = {label: own.drawn_on(effect, own.n_rows) for label, own in labelled}
    return replace(curves[0].drawn_on(effect, effect.n_rows), groups=groups)


def _row_weights(study: Study, chosen: Positions | None) -> Float:
    """Weights of all rows, zero for rows that were not chosen."""
    own = study.row_weights()
    if chosen is None:
        return own
    return own * np.bincount(chosen, minlength=len(own))


def _blank(
    study: Study, features: Sequence[Feature], steps: Sequence[Steps], used: Positions, moved: Differences
) -> Effect:
    calls = 2 ** len(features)
    asked = "the model is" if moved.costs_predictions else f"{study.plan.why}; the trees are"
    if moved.reason:
        asked = f"brute force here, because {moved.reason}; {asked}"
    notes = [f"{asked} asked {calls} times a row, at the ends of the step the row stands in"]
    left_out = study.n_rows - len(used)
    if left_out:
        notes.append(f"{counted(left_out)} rows without weight or a finite known value take no part")
    notes += [s.note for s in steps if s.note]
    blank = study.blank("ale", features, tuple(s.nodes for s in steps))
    found = replace(blank.provenance, engine=moved.engine, why="; ".join(notes), n_rows=len(used))
    return replace(blank, provenance=found)


def _check_surface_fits(study: Study, features: Sequence[Feature], steps: Sequence[Steps]) -> None:
    """Refuse a surface over the budget: of two features with thousands of levels, every pair is a cell."""
    if len(steps) < 2:
        return
    cells = len(steps[0].nodes) * len(steps[1].nodes)
    size, memory = 8 * SURFACES * len(study.model.outputs) * cells, study.resources.memory
    if size > memory:
        longest = max(zip(features, steps), key=lambda pair: len(pair[1].nodes))
        raise BudgetError(
            statement(
                f"ALE of {features[0].label!r} and {features[1].label!r} has {counted(len(steps[0].nodes))} x "
                f"{counted(len(steps[1].nodes))} cells and would take {size / 2**20:,.0f} MB, over the budget of "
                f"{memory / 2**20:,.0f} MB.",
                worded(f"join rare levels of {longest[0].label!r} in ", Argument("X"), " before fitting, or raise "
                       "Explainer(memory=...)"),
            )
        )  # fmt: skip


def _bins_per_feature(bins: Any, n_features: int) -> list[Any]:
    if n_features == 1:
        return [bins]
    if isinstance(bins, (tuple, list)) and len(bins) == n_features:
        return list(bins)
    if bins is None or isinstance(bins, (int, np.integer)):
        return [bins] * n_features
    raise InputError(
        complaint("bins", f"must be a number or {n_features} entries", bins, "write bins=(20, 20)")
    )


def _crossed(steps: Sequence[Steps], used: Positions) -> tuple[Positions, ...]:
    """Places among the used rows, and for each axis the step that is crossed there.

    A row appears as often as it is moved: a level stands at two steps, and at four cells of two levels.
    """
    if len(steps) == 1:
        own = steps[0].step_of[used]
        row, which = np.nonzero(own >= 0)
        return row, own[row, which]
    first, second = steps
    parts = []
    for a in first.step_of[used].T:
        for b in second.step_of[used].T:
            row = np.flatnonzero((a >= 0) & (b >= 0))
            parts.append((row, a[row], b[row]))
    return tuple(np.concatenate([p[i] for p in parts]) for i in range(3))


def _memberships(used: Positions, study: Study) -> list[Mask]:
    """Which of the used rows count: all of them, then those of each group."""
    masks = [np.ones(len(used), dtype=bool)]
    if study.groups is not None:
        masks += [study.groups.codes[used] == g for g in range(len(study.groups.labels))]
    return masks
