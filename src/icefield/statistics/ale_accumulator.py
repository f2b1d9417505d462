"""Accumulated local effects as sums over rows: what moving rows across steps of their own changes, added up block by block.

An engine that can moves every row along several features at once and gives sums by where rows stand; with any other, and for
pairs of features, the rows of a block are moved feature by feature, and a stream is still read once for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from icefield.core.engine import Plan, with_fallback
from icefield.core.placement import Placement
from icefield.core.question import Resources
from icefield.core.rows import Accumulator, Block, State
from icefield.core.study import Study
from icefield.data.features import Feature, feature_column
from icefield.errors import EngineError
from icefield.statistics.ale_curve import LocalCurve, MovedRows, StepSums, numbered_state, numbered_states
from icefield.statistics.ale_surface import CellSums
from icefield.statistics.steps import Cut, Steps
from icefield.threads import ThreadCrew
from icefield.typing import Float, Positions


@dataclass(frozen=True)
class MovedBy:
    """The engine that moved rows, whether that cost predictions, and why it is not the planned one (empty: it is)."""

    engine: str
    costs_predictions: bool
    reason: str

    @classmethod
    def of(cls, plan: Plan) -> MovedBy:
        return cls(plan.engine.name, plan.engine.costs_predictions, plan.reason)


class LocalEffect:
    """Local effect of one feature or of a pair: changes across its steps or cells, summed over all rows, then by group.

    `cuts` say where each is cut into steps; rows `sampled` from known ones err against these, each by itself.
    """

    def __init__(
        self, study: Study, features: Sequence[Feature], cuts: Sequence[Cut], *, sampled: bool
    ) -> None:
        self.features, self.cuts, self.moved = features, cuts, MovedBy.of(study.plan)
        self.axes = tuple(f.axis(cut.nodes, study.rows.head) for f, cut in zip(features, cuts))
        # Weights count how often rows occur; otherwise each row is one observation.
        self.copies = study.sample.copies and not sampled
        # Rows of a cluster are one observation, which needs the moves themselves.
        self.clustered = not sampled and len(features) == 1 and study.sample.clusters is not None
        self.n_groups, sizes = study.rows.n_groups, [len(cut.nodes) for cut in cuts]
        self._moves: list[MovedRows] = []
        self.reach = 1.0  # share of the standard error that is left where rows were drawn
        kind = StepSums if len(sizes) == 1 else CellSums
        self.sums = [kind.empty(sizes, len(study.model.outputs)) for _ in range(1 + self.n_groups)]
        self.n_rows = self.n_used = 0

    @property
    def about(self) -> list[Any]:
        """Labels of the features and the nodes of their cuts, as plain values: the checkpoint key."""
        return [[str(f.label) for f in self.features], [c.nodes.tolist() for c in self.cuts]]

    def add(self, block: Block, plan: Plan, resources: Resources) -> None:
        """Move the rows of a block."""
        weights = block.row_weights()
        columns = [feature_column(feature, block.table) for feature in self.features]
        steps = [cut.steps(column, weights) for cut, column in zip(self.cuts, columns)]
        used = np.flatnonzero(np.logical_and.reduce([s.known for s in steps]) & (weights > 0))
        row, *crossed = _crossings(steps, used)
        made = with_fallback(plan, lambda plan: self._changes(plan, block, used[row], crossed, resources))
        changes = made[0]
        self._note(made[1])
        self.n_rows, self.n_used = self.n_rows + block.n_rows, self.n_used + len(used)
        for number, sums in enumerate(self.sums):
            inside = np.ones(len(used), bool) if number == 0 else np.asarray(block.codes)[used] == number - 1
            at = inside[row]
            places = (used[row][at], *(step[at] for step in crossed))
            moves = MovedRows(steps, places, changes[at], used[inside], weights, self.copies, block.clusters)
            sums.add(moves)
            if self.clustered and block.clusters is not None:  # rows in memory: all of them are this block
                self._moves.append(moves)

    def _changes(
        self, plan: Plan, block: Block, rows: Positions, steps: Sequence[Positions], resources: Resources
    ) -> tuple[Float, MovedBy]:
        changes = plan.engine.differences(self.axes, block.table, rows, steps, resources)
        if changes is None:
            raise EngineError(f"The {plan.engine.name} engine moves no rows.")
        return changes, MovedBy.of(plan)

    def take(self, counts: Float, changes: Float, n_rows: int, moved: MovedBy) -> None:
        """Add `n_rows` rows, given as sums by segment and place; the last segment is in no group."""
        about = 1 if self.cuts[0].on_levels else 2
        for number, (own_counts, own_changes) in enumerate(zip(counts, changes)):
            state = StepSums.at_places(own_counts, own_changes, about).state()
            for sums in (self.sums[0], *self.sums[number + 1 : number + 2]):
                sums.merge(state)
        self.n_rows, self.n_used = self.n_rows + n_rows, self.n_used + round(counts[..., 0].sum())
        self._note(moved)

    def _note(self, moved: MovedBy) -> None:
        if not self.moved.reason:
            self.moved = moved

    def curves(self) -> list[LocalCurve]:
        """The centred effects: of all rows, then of each group."""
        nodes = [cut.nodes for cut in self.cuts]
        curves = [sums.curve(nodes, self.copies) for sums in self.sums]
        errors = [curve.se for curve in curves]
        for number, moves in enumerate(self._moves):
            sums = self.sums[number]
            errors[number] = moves.error(curves[number], sums) if isinstance(sums, StepSums) else None
        errors = [None if se is None else self.reach * se for se in errors]
        return [replace(curve, se=se) for curve, se in zip(curves, errors)]

    def state(self) -> State:
        moved = self.moved
        moved_by = np.array([moved.engine, moved.reason, str(int(moved.costs_predictions))])
        rows = np.array([self.n_rows, self.n_used])
        return {"rows": rows, "moved": moved_by} | numbered_states(self.sums)

    def restore(self, state: State) -> None:
        self.n_rows, self.n_used = state["rows"].tolist()
        self._note_state(state)
        for number, sums in enumerate(self.sums):
            sums.restore(numbered_state(state, number))

    def merge(self, state: State) -> None:
        rows, used = state["rows"].tolist()
        self.n_rows, self.n_used = self.n_rows + rows, self.n_used + used
        self._note_state(state)
        for number, sums in enumerate(self.sums):
            sums.merge(numbered_state(state, number))

    def _note_state(self, state: State) -> None:
        engine, reason, costly = state["moved"].tolist()
        self._note(MovedBy(engine, costly == "1", reason))


class LocalEffects(Accumulator):
    """Local effects of one or several features, or of a pair, each by itself; the plan falls back block by block."""

    title = "moving rows"

    def __init__(self, plan: Plan, effects: Sequence[LocalEffect], resources: Resources) -> None:
        self._plan, self._effects, self._resources = plan, effects, resources

    @property
    def about(self) -> dict[str, Any]:
        return {"ale": [effect.about for effect in self._effects]}

    def add(self, block: Block, threads: ThreadCrew | None = None) -> None:
        effects, sums = self._effects, None
        shared = len(effects) > 1 and all(len(e.features) == 1 and not e.clustered for e in effects)
        if shared and block.n_rows:
            rows = self._placement(block)
            sums, moved = with_fallback(
                self._plan, lambda plan: (plan.engine.local_sums(rows, self._resources), MovedBy.of(plan))
            )
        if sums is None:
            for effect in effects:
                effect.add(block, self._plan, self._resources)
            return
        for number, effect in enumerate(effects):
            effect.take(*sums.of(number), block.n_rows, moved)

    def _placement(self, block: Block) -> Placement:
        """The rows of a block, and their positions among the steps."""
        effects, weights, n_groups = self._effects, block.row_weights(), self._effects[0].n_groups
        columns = [feature_column(effect.features[0], block.table) for effect in effects]
        placing = [effect.cuts[0].placing(column, weights) for effect, column in zip(effects, columns)]
        segments = np.zeros(len(weights), np.int32)
        if block.codes is not None:
            segments = np.where(block.codes < 0, n_groups, block.codes).astype(np.int32)
        return Placement(
            axes=[effect.axes[0] for effect in effects],
            on_levels=[effect.cuts[0].on_levels for effect in effects],
            table=block.table,
            places=lambda start, stop: np.stack([places(slice(start, stop)) for places in placing]),
            weights=weights,
            squares=weights if effects[0].copies else np.square(weights),
            segments=segments,
            n_segments=n_groups + 1,
        )

    def state(self) -> State:
        return numbered_states(self._effects)

    def restore(self, state: State) -> None:
        for number, effect in enumerate(self._effects):
            effect.restore(numbered_state(state, number))

    def merge(self, state: State) -> None:
        for number, effect in enumerate(self._effects):
            effect.merge(numbered_state(state, number))


def _crossings(steps: Sequence[Steps], used: Positions) -> tuple[Positions, ...]:
    """Places among the used rows, and for each axis the step that is crossed there.

    A row appears as often as it is moved: a level stands at two steps, and at four cells of two levels.
    """
    if len(steps) == 1:
        step_of = steps[0].step_of[used]
        row, which = np.nonzero(step_of >= 0)
        return row, step_of[row, which]
    first, second = steps
    parts = []
    for a in first.step_of[used].T:
        for b in second.step_of[used].T:
            row = np.flatnonzero((a >= 0) & (b >= 0))
            parts.append((row, a[row], b[row]))
    return tuple(np.concatenate([p[i] for p in parts]) for i in range(3))
