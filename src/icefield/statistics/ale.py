"""Accumulated local effects (Apley & Zhu 2020), on any model, feature kind and weighting.

A feature's range is cut into steps between neighbouring nodes: bin edges of a number or time,
levels of a category in an order. Each row is moved only across the step it stands in, so the model is
never asked far from the data; the mean changes are accumulated and centred. One description of
where rows stand (`Steps`) serves numbers and categories, one feature (`ale_curve`) and two (`ale_surface`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from icefield.core.effects import EffectContext
from icefield.core.prediction_level import prediction_level
from icefield.core.study import Study, fold
from icefield.counts import counted
from icefield.data.column_statistics import ColumnValues
from icefield.data.features import Feature
from icefield.effect import Effect
from icefield.errors import BudgetError, IcefieldError, InputError
from icefield.sampling import RowChoice, population_factor
from icefield.statistics.ale_accumulator import LocalEffect, LocalEffects
from icefield.statistics.steps import Cut, feature_cut, similar_levels
from icefield.threads import Workers, available_processors
from icefield.typing import Float

DEFAULT_BINS = {1: 40, 2: 20}
WORTH_THREADS = 500_000  # values to be cut into steps
SURFACES = 8  # arrays as large as the result that two-way effects are worked out in


def ale(
    study: Study, *features: Any, bins: Any = None, order: Any = "similarity", rows: Any = None
) -> Effect:
    """Accumulated local effects of one feature, or the pure interaction effect of two.

    Parameters are those of `Explainer.ale`.

    Notes
    -----
    `Effect.weight` holds the weight of the rows in the bin that *ends* at an edge (0 at the first
    edge), or at a level; `Effect.se` is the standard error of the centred curve from the spread of the
    local changes within bins. Rows where the feature is missing or infinite take no part.

    References
    ----------
    D. W. Apley and J. Zhu, "Visualizing the effects of predictor variables in black box supervised
    learning models", Journal of the Royal Statistical Society B 82 (2020), 1059-1086.
    """
    if len(features) > 2:
        problem = "must be one or two features for ALE"
        raise InputError.about("features", problem, list(features), "use two features at most")
    key = _key(study, features, bins, rows) if order == "similarity" else None
    effect = _beforehand(study).get(key)
    if effect is None:
        (effect,) = _effects(study, [features], bins, order, rows)
    if isinstance(effect, IcefieldError):
        raise effect
    return effect


def ales(
    study: Study, features: Sequence[Any], *, bins: Any = None, order: Any = "similarity", rows: Any = None
) -> list[Effect | IcefieldError]:
    """Accumulated local effects of several features, each by itself, over the same rows, in one pass.

    Parameters are those of `ale`. A feature that has no effect to follow has an error in its place.
    """
    return _effects(study, [(feature,) for feature in features], bins, order, rows)


def ales_beforehand(study: Study, features: Sequence[Any], *, bins: int, rows: int) -> None:
    """Work out together what `ale` will be asked for of each of these features, where that costs no predictions."""
    known = _beforehand(study)
    wanted = {_key(study, (feature,), bins, rows): feature for feature in features}
    wanted = {key: feature for key, feature in wanted.items() if key is not None and key not in known}
    if wanted and not study.plan.engine.costs_predictions:
        known.update(zip(wanted, ales(study, list(wanted.values()), bins=bins, rows=rows), strict=True))


def _beforehand(study: Study) -> dict[Any, Effect | IcefieldError]:
    return study.cache.once("ALE beforehand", dict)


def _key(study: Study, features: Sequence[Any], bins: Any, rows: Any) -> Any:
    """Cache key of an effect that is worked out beforehand; None for arguments that never are."""
    if not (type(bins) is int and type(rows) is int and all(isinstance(f, (str, int)) for f in features)):
        return None
    return (*features, bins, rows, study.rows.groups)


def _effects(
    study: Study, sets: Sequence[Sequence[Any]], bins: Any, order: Any, rows: Any
) -> list[Effect | IcefieldError]:
    """Effects of sets of features, or why there is none."""
    if study.background == "training":
        problem = "ALE moves the rows of X, so it has no form averaged over the training counts."
        raise InputError.saying(problem, 'use Explainer(..., background="data")')
    chosen = study.chosen(rows)
    weights = None
    if rows is not None:  # zero for rows that were not chosen
        raw = study.sample.row_weights()
        weights = raw if chosen.positions is None else raw * np.bincount(chosen.positions, minlength=len(raw))
    sampled = chosen.sampled_from > 0

    def prepared(names: Sequence[Any]) -> LocalEffect | IcefieldError:
        try:
            features = study.resolve(names)
            cuts = _cuts(study, features, bins, order, weights)
            _check_surface_fits(study, features, cuts)
            return LocalEffect(study, features, cuts, sampled=sampled)
        except IcefieldError as error:
            return error

    if isinstance(order, str) and order == "similarity":
        # Of all features together: every other column is put in order once.
        order = similar_levels(study, list(_resolvable_features(study, sets)), weights)
    results = _of_each(study, prepared, sets)
    started = [local for local in results if isinstance(local, LocalEffect)]
    try:
        if started:
            _move(study, started, chosen, weights)
    except IcefieldError as error:
        if len(sets) == 1:
            return [error]
        return [_effects(study, [names], bins, order, rows)[0] for names in sets]  # says whose it is
    return [local if isinstance(local, IcefieldError) else _effect(study, local, chosen) for local in results]


def _resolvable_features(study: Study, sets: Sequence[Sequence[Any]]) -> Iterator[Feature]:
    for names in sets:
        with suppress(IcefieldError):  # which is told where it is cut
            yield from study.resolve(names)


def _of_each(study: Study, work: Callable[[Any], Any], sets: Sequence[Any]) -> list[Any]:
    """The results of `work` for each of the sets, in order; on threads where there are many rows to cut."""
    if len(sets) < 2 or len(sets) * study.sample.n_rows < WORTH_THREADS:
        return [work(names) for names in sets]
    with Workers(study.resources.threads or available_processors()) as workers, workers:
        return [task.result() for task in [workers.submit(work, names) for names in sets]]


def _move(study: Study, started: list[LocalEffect], chosen: RowChoice, weights: Float | None) -> None:
    """Move all rows, or with `weights` those chosen, and add up what changes in the `started` effects."""
    accumulator = LocalEffects(study.plans.checked(), started, study.resources)
    if weights is None:
        fold(study, accumulator)
        return
    # Of the rows that were chosen only these; all of them where others matter, to the model or to clusters.
    sample = replace(study.sample, weights=weights)
    alone = not study.plan.engine.costs_predictions and (sample.clusters is None or chosen.sampled_from > 0)
    some = chosen.positions is not None and alone
    accumulator.add(sample.take(np.flatnonzero(weights > 0)) if some else sample)
    reach = population_factor(0 if chosen.positions is None else len(chosen.positions), chosen.sampled_from)
    for effect in started:
        effect.reach, effect.n_rows = reach, study.sample.n_rows


def _effect(study: Study, local: LocalEffect, chosen: RowChoice) -> Effect:
    """The Effect, with its groups, of one local effect's sums."""
    blank = _blank(study, local)
    blank = replace(blank, provenance=replace(blank.provenance, sampled_from=chosen.sampled_from))
    whole, *by_group = local.curves()
    labels = () if study.rows.groups is None else study.rows.groups.labels
    groups = {label: curve.as_effect(blank, curve.n_rows) for label, curve in zip(labels, by_group)}
    return replace(whole.as_effect(blank, blank.n_rows), groups=groups)


def _cuts(
    study: Study, features: Sequence[Feature], bins: Any, order: Any, weights: Float | None
) -> list[Cut]:
    """Where each feature is cut, by all rows or by those that have weight."""
    cuts = []
    for feature, wanted in zip(features, _bins_per_feature(bins, len(features))):
        feature_bins = DEFAULT_BINS[len(features)] if wanted is None else wanted
        if weights is None:
            values = study.rows.statistics.values(feature)
        else:
            values = ColumnValues(study.column(feature), weights)
        cuts.append(feature_cut(study, feature, feature_bins, order, values))
    return cuts


def _blank(study: Study, local: LocalEffect) -> Effect:
    """An Effect that says how rows were moved, without its curves."""
    calls, plan, moved, why = 2 ** len(local.features), study.plan, local.moved, study.why(study.plan)
    subject = "the model is" if moved.costs_predictions else f"{why}; the trees are"
    if moved.reason:
        subject = f"brute force here, because {moved.reason}; {subject}"
    notes = [f"{subject} evaluated {calls} times per row, at the ends of the row's own bin or step"]
    left_out = local.n_rows - local.n_used
    if left_out:
        notes.append(
            f"{counted(left_out)} rows without a known, finite value (or without weight) are left out"
        )
    notes += [cut.note for cut in local.cuts if cut.note]
    about = EffectContext.of(study, plan, prediction_level(study), None)
    distribution = study.rows.statistics.distribution(local.features)
    blank = about.blank("ale", local.features, tuple(cut.nodes for cut in local.cuts), distribution)
    provenance = replace(blank.provenance, engine=moved.engine, why="; ".join(notes), n_rows=local.n_used)
    return replace(blank, provenance=provenance)


def _check_surface_fits(study: Study, features: Sequence[Feature], cuts: Sequence[Cut]) -> None:
    """Refuse a surface over the budget: of two features with thousands of levels, every pair is a cell."""
    if len(cuts) < 2:
        return
    cells = len(cuts[0].nodes) * len(cuts[1].nodes)
    size, memory = 8 * SURFACES * len(study.model.outputs) * cells, study.resources.memory
    if size > memory:
        longest = max(zip(features, cuts), key=lambda pair: len(pair[1].nodes))[0].label
        pair, shape = (f.label for f in features), (counted(len(cut.nodes)) for cut in cuts)
        problem = f"ALE of {' and '.join(map(repr, pair))} has {' x '.join(shape)} cells and would take {size / 2**20:,.0f} MB"
        hint = f"merge rare levels of {longest!r} in X before fitting, or raise Explainer(memory=...)"
        raise BudgetError.saying(f"{problem}, over the budget of {memory / 2**20:,.0f} MB.", hint)


def _bins_per_feature(bins: Any, n_features: int) -> list[Any]:
    if n_features == 1 or bins is None or isinstance(bins, (int, np.integer)):
        return [bins] * n_features
    if isinstance(bins, (tuple, list)) and len(bins) == n_features:
        return list(bins)
    raise InputError.about("bins", f"must be a number or {n_features} entries", bins, "write bins=(20, 20)")
