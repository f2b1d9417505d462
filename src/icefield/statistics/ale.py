"""Accumulated local effects (Apley & Zhu 2020), on any model, feature kind and weighting.

A feature's range is cut into steps between neighbouring nodes: bin edges of a number or time,
levels of a category in an order. Each row is moved only across the step it stands in, so the model is
never asked far from the data; the mean changes are accumulated and centred. One description of
where rows stand (`Steps`) serves numbers and categories, one feature (`ale_curve`) and two (`ale_surface`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.request import Described, Differences, Part
from icefield.counts import counted
from icefield.effect import Effect
from icefield.errors import Argument, BudgetError, IcefieldError, InputError, complaint, statement, worded
from icefield.sampling import Chosen, sampling_reach
from icefield.statistics.ale_clusters import Moves
from icefield.statistics.ale_curve import LocalCurve, StepSums, own_state
from icefield.statistics.ale_surface import CellSums
from icefield.statistics.ale_together import ChangesTogether
from icefield.statistics.steps import Cut, Steps, describe, feature_cut, undescribed
from icefield.threads import Workers, available_processors
from icefield.typing import Float, Positions

if TYPE_CHECKING:
    from icefield.core.study import Study
    from icefield.data.features import Axis, Feature

DEFAULT_BINS = {1: 40, 2: 20}
WORTH_THREADS = 500_000  # values to be cut into steps
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
    edge), or at a level; `Effect.se` is the standard error of the centred curve from the spread of the
    local changes within bins. Rows where the feature is missing or infinite take no part.

    References
    ----------
    D. W. Apley and J. Zhu, "Visualizing the effects of predictor variables in black box supervised
    learning models", Journal of the Royal Statistical Society B 82 (2020), 1059-1086.
    """
    if len(features) > 2:
        raise InputError(
            complaint("features", "must be one or two features for ALE", list(features), "ask for pairs")
        )
    key = _key(study, features, bins, rows) if order == "similarity" else None
    found = _beforehand(study).get(key)
    if found is None:
        (found,) = _asked(study, [features], bins, order, rows)
    if isinstance(found, IcefieldError):
        raise found
    return found


def ales(
    study: Study, features: Sequence[Any], *, bins: Any = None, order: Any = "similarity", rows: Any = None
) -> list[Effect | IcefieldError]:
    """Accumulated local effects of several features, each by itself, over the same rows, in one pass.

    Parameters are those of `ale`. A feature that has no effect to follow has an error in its place.
    """
    return _asked(study, [(feature,) for feature in features], bins, order, rows)


def ales_beforehand(study: Study, features: Sequence[Any], *, bins: int, rows: int) -> None:
    """Work out together what `ale` will be asked for of each of these features, where that costs no predictions."""
    known = _beforehand(study)
    asked = {_key(study, (feature,), bins, rows): feature for feature in features}
    asked = {key: feature for key, feature in asked.items() if key is not None and key not in known}
    if asked and not study.plan.engine.costs_predictions:
        known.update(zip(asked, ales(study, list(asked.values()), bins=bins, rows=rows), strict=True))


def _beforehand(study: Study) -> dict[Any, Effect | IcefieldError]:
    return study.memory.once("ALE beforehand", dict)


def _key(study: Study, features: Sequence[Any], bins: Any, rows: Any) -> Any:
    """What tells one of the effects worked out beforehand from others; None for what is never among them."""
    if not (type(bins) is int and type(rows) is int and all(isinstance(f, (str, int)) for f in features)):
        return None
    return (*features, bins, rows, study.groups)


def _asked(
    study: Study, sets: Sequence[Sequence[Any]], bins: Any, order: Any, rows: Any
) -> list[Effect | IcefieldError]:
    """Effects of sets of features, or why there is none."""
    if study.background == "training":
        raise InputError(
            "ALE moves the rows of X, so it has no form averaged over the training counts. "
            'Hint: use Explainer(..., background="data").'
        )
    chosen = study.chosen(rows)
    weights = None if rows is None else _row_weights(study, chosen)
    drawn = chosen.sampled_from > 0

    def prepared(names: Sequence[Any]) -> LocalChanges | IcefieldError:
        try:
            found = study.resolve(names)
            cuts = _cuts(study, found, bins, order, weights)
            _check_surface_fits(study, found, cuts)
            return LocalChanges(study, found, cuts, drawn=drawn)
        except IcefieldError as error:
            return error

    if weights is None and isinstance(order, str) and order == "similarity":
        # Each column once: threads that compare levels at the same time would describe the same ones.
        columns = undescribed(study, [name for names in sets for name in names])
        _of_each(study, lambda name: describe(study, name), columns)
    asked = _of_each(study, prepared, sets)
    changes = [one for one in asked if isinstance(one, LocalChanges)]
    try:
        if changes:
            _move(study, changes, chosen, weights)
    except IcefieldError as error:
        if len(sets) == 1:
            return [error]
        return [_asked(study, [names], bins, order, rows)[0] for names in sets]  # says whose it is
    return [one if isinstance(one, IcefieldError) else _drawn(study, one, chosen) for one in asked]


def _of_each(study: Study, work: Callable[[Any], Any], sets: Sequence[Any]) -> list[Any]:
    """What work gives for each; on threads where there is much of it."""
    if len(sets) < 2 or len(sets) * study.n_rows < WORTH_THREADS:
        return [work(names) for names in sets]
    with Workers(study.resources.threads or available_processors()) as workers, workers:
        return [task.result() for task in [workers.submit(work, names) for names in sets]]


def _move(study: Study, changes: list[LocalChanges], chosen: Chosen, weights: Float | None) -> None:
    """Let every row be moved, or with `weights` those chosen."""
    together: LocalChanges | ChangesTogether = changes[0]
    if len(changes) > 1:
        together = ChangesTogether(study, changes)
    if weights is None:
        study.fold(together, together.about)
        return
    together.add(_chosen_part(study, chosen, weights))
    reach = sampling_reach(0 if chosen.positions is None else len(chosen.positions), chosen.sampled_from)
    for one in changes:
        one.reach, one.n_rows = reach, study.n_rows


def _chosen_part(study: Study, chosen: Chosen, weights: Float) -> Part:
    """The rows that were chosen; all of them where others matter, to the model or to clusters."""
    codes = None if study.groups is None else study.groups.codes
    alone = not study.plan.engine.costs_predictions and (study.clusters is None or chosen.sampled_from > 0)
    if chosen.positions is None or not alone:
        return Part(study.table, weights, codes)
    rows = np.flatnonzero(weights > 0)
    return Part(study.table.take(rows), weights[rows], None if codes is None else codes[rows])


def _drawn(study: Study, changes: LocalChanges, chosen: Chosen) -> Effect:
    effect = _blank(study, changes.features, changes)
    effect = replace(effect, provenance=replace(effect.provenance, sampled_from=chosen.sampled_from))
    whole, *own = changes.curves()
    labels = () if study.groups is None else study.groups.labels
    groups = {label: curve.drawn_on(effect, curve.n_rows) for label, curve in zip(labels, own)}
    return replace(whole.drawn_on(effect, effect.n_rows), groups=groups)


def _cuts(
    study: Study, features: Sequence[Feature], bins: Any, order: Any, weights: Float | None
) -> list[Cut]:
    """Where each feature is cut, by all rows or by those that have weight."""
    return [
        feature_cut(
            study,
            feature,
            DEFAULT_BINS[len(features)] if wanted is None else wanted,
            order,
            study.described(feature) if weights is None else Described(feature.column, weights),
        )
        for feature, wanted in zip(features, _bins_per_feature(bins, len(features)))
    ]


class LocalChanges:
    """What moving rows across steps of their own changes, added up over parts of the rows.

    Parameters
    ----------
    study : the model and its data
    features : one or two
    cuts : where each is cut into steps
    drawn : whether the rows were drawn from known ones, against which each errs by itself
    """

    title = "moving rows"

    def __init__(
        self, study: Study, features: Sequence[Feature], cuts: Sequence[Cut], *, drawn: bool
    ) -> None:
        self._study, self.features, self.cuts = study, features, cuts
        self.copies = study.copies and not drawn
        self._clusters = None if drawn or len(features) > 1 else study.clusters
        self._moves: list[tuple[Moves, Steps]] = []
        self.reach = 1.0  # share of the standard error that is left where rows were drawn
        self._axes = tuple(f.axis(cut.nodes, study.table) for f, cut in zip(features, cuts))
        outputs, n_groups = len(study.model.outputs), 0 if study.groups is None else len(study.groups.labels)
        sizes = [len(cut.nodes) for cut in cuts]
        self.sums: list[StepSums | CellSums] = [
            (StepSums if len(sizes) == 1 else CellSums).none(sizes, outputs) for _ in range(1 + n_groups)
        ]
        self.n_rows = self.n_used = 0
        self.moved: Differences | None = None

    @property
    def about(self) -> dict[str, Any]:
        """What this is of."""
        return {"ale": [f.label for f in self.features], "nodes": [c.nodes.tolist() for c in self.cuts]}

    @property
    def axis(self) -> Axis:
        """The nodes of the first feature."""
        return self._axes[0]

    @property
    def shares_a_walk(self) -> bool:
        """Whether sums by place are all that is needed: clusters need the moves themselves."""
        return len(self.features) == 1 and self._clusters is None

    def take(self, counts: Float, changes: Float, n_rows: int, moved: Differences) -> None:
        """Take in so many rows, of which sums by segment and place are known; the last segment is in no group."""
        about = 1 if self.cuts[0].on_levels else 2
        for number, (own_counts, own_changes) in enumerate(zip(counts, changes)):
            state = StepSums.at_places(own_counts, own_changes, about).state()
            for sums in (self.sums[0], *self.sums[number + 1 : number + 2]):
                sums.merge(state)
        self.n_rows, self.n_used = self.n_rows + n_rows, self.n_used + round(counts[..., 0].sum())
        self._note(moved)

    def _note(self, moved: Differences) -> None:
        if self.moved is None or not self.moved.reason:
            self.moved = replace(moved, values=moved.values[:0])

    def add(self, part: Part) -> None:
        """Move the rows of a part."""
        study, weights = self._study, part.weights
        features = [study.feature_in(f, part.table) for f in self.features]
        steps = [cut.steps(f.column, weights) for cut, f in zip(self.cuts, features)]
        used = np.flatnonzero(np.logical_and.reduce([s.known for s in steps]) & (weights > 0))
        row, *crossed = _crossed(steps, used)
        moved = study.differences(self._axes, used[row], crossed, part.table)
        self._note(moved)
        self.n_rows, self.n_used = self.n_rows + part.table.n_rows, self.n_used + len(used)
        for number, sums in enumerate(self.sums):
            inside = np.ones(len(used), bool) if number == 0 else np.asarray(part.codes)[used] == number - 1
            own = inside[row]
            moves = (used[row][own], *(step[own] for step in crossed))
            sums.add(steps, moves, moved.values[own], weights, used[inside], self.copies)
            if self._clusters is not None:  # which only rows in memory have: all of them are this part
                kept = Moves(moves[0], moves[1], moved.values[own], used[inside], weights, self._clusters)
                self._moves.append((kept, steps[0]))

    def curves(self) -> list[LocalCurve]:
        """The centred effects: of all rows, then of each group."""
        nodes = [cut.nodes for cut in self.cuts]
        curves = [sums.curve(nodes, self.copies) for sums in self.sums]
        errors = [curve.se for curve in curves]
        for number, (moves, cut) in enumerate(self._moves):
            sums = self.sums[number]
            errors[number] = moves.error(curves[number], sums, cut) if isinstance(sums, StepSums) else None
        return [
            replace(curve, se=None if se is None else self.reach * se) for curve, se in zip(curves, errors)
        ]

    def state(self) -> dict[str, NDArray[Any]]:
        """The sums so far, as arrays."""
        found: dict[str, NDArray[Any]] = {"rows": np.array([self.n_rows, self.n_used])}
        if self.moved is not None:
            found["moved"] = np.array(
                [self.moved.engine, self.moved.reason, str(int(self.moved.costs_predictions))]
            )
        for number, sums in enumerate(self.sums):
            found |= {f"{number} {name}": values for name, values in sums.state().items()}
        return found

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from sums that were written down."""
        self.n_rows, self.n_used = state["rows"].tolist()
        self._hear(state)
        for number, sums in enumerate(self.sums):
            sums.restore(own_state(state, number))

    def merge(self, state: dict[str, NDArray[Any]]) -> None:
        """Take in the sums of other rows."""
        rows, used = state["rows"].tolist()
        self.n_rows, self.n_used = self.n_rows + rows, self.n_used + used
        self._hear(state)
        for number, sums in enumerate(self.sums):
            sums.merge(own_state(state, number))

    def _hear(self, state: dict[str, NDArray[Any]]) -> None:
        """Which engine moved rows elsewhere, and why not the planned one."""
        if "moved" in state and (self.moved is None or not self.moved.reason):
            engine, reason, costly = state["moved"].tolist()
            self.moved = Differences(np.zeros((0, 0)), costly == "1", engine, reason)


def _row_weights(study: Study, chosen: Chosen) -> Float:
    """Weights of all rows, zero for rows that were not chosen."""
    own = study.row_weights()
    return own if chosen.positions is None else own * np.bincount(chosen.positions, minlength=len(own))


def _blank(study: Study, features: Sequence[Feature], changes: LocalChanges) -> Effect:
    calls, plan = 2 ** len(features), study.plan
    moved = changes.moved  # None where a checkpoint of an earlier version held all sums
    costly = plan.engine.costs_predictions if moved is None else moved.costs_predictions
    asked = "the model is" if costly else f"{plan.why}; the trees are"
    if moved is not None and moved.reason:
        asked = f"brute force here, because {moved.reason}; {asked}"
    notes = [f"{asked} asked {calls} times a row, at the ends of the step the row stands in"]
    left_out = changes.n_rows - changes.n_used
    if left_out:
        notes.append(f"{counted(left_out)} rows without weight or a finite known value take no part")
    notes += [cut.note for cut in changes.cuts if cut.note]
    blank = study.blank("ale", features, tuple(cut.nodes for cut in changes.cuts))
    engine = plan.engine.name if moved is None else moved.engine
    found = replace(blank.provenance, engine=engine, why="; ".join(notes), n_rows=changes.n_used)
    return replace(blank, provenance=found)


def _check_surface_fits(study: Study, features: Sequence[Feature], cuts: Sequence[Cut]) -> None:
    """Refuse a surface over the budget: of two features with thousands of levels, every pair is a cell."""
    if len(cuts) < 2:
        return
    cells = len(cuts[0].nodes) * len(cuts[1].nodes)
    size, memory = 8 * SURFACES * len(study.model.outputs) * cells, study.resources.memory
    if size > memory:
        longest = max(zip(features, cuts), key=lambda pair: len(pair[1].nodes))
        raise BudgetError(
            statement(
                f"ALE of {features[0].label!r} and {features[1].label!r} has {counted(len(cuts[0].nodes))} x "
                f"{counted(len(cuts[1].nodes))} cells and would take {size / 2**20:,.0f} MB, over the budget of "
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
