"""Changes of predictions as sums over rows: every row at the start and at the end of a move, added up block by block.

An end of a move is a value that all rows take, or a row's own value, shifted or stretched. The engine is asked for its
predictions of rows whose columns were rewritten: of trees, two walks cost less than every row's curve of two points. Where only
the means are wanted and all ends are values, an engine that has them from counts is asked for the average of those curves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from icefield.core.clustered_errors import cluster_errors
from icefield.core.engine import Plan, with_fallback
from icefield.core.question import (
    Answer,
    Moments,
    Question,
    Resources,
    block_moments,
    moments_of,
    moments_state,
)
from icefield.core.rows import Accumulator, Block, State
from icefield.data.columns import TIME_KINDS, Column
from icefield.data.features import Axis, Feature, feature_column
from icefield.data.frame import Table
from icefield.errors import InputError
from icefield.statistics.ale_accumulator import MovedBy
from icefield.typing import Float, Positions

if TYPE_CHECKING:
    from icefield.threads import ThreadCrew

START, END, CHANGE, RISES, FALLS = range(5)  # what is added up of every row; of means alone, the first three
SAME = 1e-9  # of predictions, up to which two of them are equal: an engine may sum in another order
Result = TypeVar("Result")
ROUNDING = 1e-12  # of a way, by which it may differ from another of the same length
COPIES = 4  # arrays as large as a part's predictions


@dataclass(frozen=True, eq=False)
class Fixed:
    """A value that every row takes, as an array of one in the column's form."""

    value: NDArray[Any]

    @property
    def about(self) -> str:
        return repr(self.value.tolist())

    def values(self, column: Column) -> NDArray[Any]:
        return np.repeat(self.value, len(column.values))


@dataclass(frozen=True, eq=False)
class Shift:
    """A row's own value, times and plus something; `limits` are not overstepped by rows that lie within them.

    Numbers of times are in the column's unit. Within limits, plus 0 is the start of a step of 1 to the next whole number: what has
    none starts from the one before.
    """

    plus: float | int = 0
    times: float | int = 1
    limits: tuple[float, float] | None = None

    @property
    def stays(self) -> bool:
        return self.plus == 0 and self.times == 1 and self.limits is None

    @property
    def about(self) -> str:
        return repr((self.plus, self.times, self.limits))

    def values(self, column: Column) -> NDArray[Any]:
        """The values of rows where the column is known, in the column's dtype where it can hold them."""
        values, dtype = column.values, column.dtype
        is_start = self.limits is not None and self.plus == 0
        if column.kind in TIME_KINDS:
            before = values.astype(np.int64)
            later = before + np.int64(self.plus)
            beyond = (later > before) != (self.plus > 0)
            if self.limits is not None:
                first, last = (np.int64(limit) for limit in self.limits)
                later[beyond] = last if self.plus > 0 else first
                later -= is_start & (before >= last)
                later = np.clip(later, np.minimum(first, before), np.maximum(last, before))
            elif beyond.any() and self.plus:
                raise InputError.about(
                    "plus", f"leads beyond the times that the column {column.name!r} can hold", self.plus
                )
            return later.astype(dtype)
        numbers = values.astype(np.float64)
        if self.times != 1:
            numbers *= self.times
        numbers += self.plus
        if self.limits is not None:
            low, high = (np.float64(limit) for limit in self.limits)
            numbers -= is_start & (column.kind == "integer") & (values >= high)
            if values.size and values.min() >= low and values.max() <= high:
                np.clip(numbers, low, high, out=numbers)
                if column.kind == "float" and np.isfinite(high - low):
                    return numbers.astype(dtype, copy=False)
            else:
                np.clip(numbers, np.minimum(low, values), np.maximum(high, values), out=numbers)
        if column.kind == "float":
            with np.errstate(over="ignore"):
                shifted = numbers.astype(dtype, copy=False)
            lost = np.isinf(shifted)
            if lost.any():
                lost &= np.isfinite(values)
        elif (numbers != np.floor(numbers)).any():
            return numbers
        else:
            limits = np.iinfo(dtype)
            lost = (numbers < limits.min) | (numbers >= limits.max + 1.0)
            shifted = np.where(lost, 0.0, numbers).astype(dtype)
            if self.times == 1 and self.limits is None and abs(self.plus) < 2**63:
                # Also beyond what a float holds; there, whoever leaves at one end comes in at the other.
                moved = values.astype(np.int64) + np.int64(self.plus)
                shifted = moved.astype(dtype)
                lost = (moved < limits.min) | (moved > limits.max)
                if dtype.itemsize == moved.itemsize:
                    lost = (shifted > values) != (self.plus > 0) if self.plus else np.zeros(len(values), bool)
        if lost.any():
            raise InputError.about("times" if self.times != 1 else "plus",
                          f"leads beyond what the {dtype} column {column.name!r} can hold", float(numbers[lost][0]))  # fmt: skip
        return shifted


End = Fixed | Shift
MovedValues = Mapping[End, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Move:
    """The end that one feature starts from and the end it goes to."""

    feature: Feature
    start: End
    end: End

    @property
    def ends(self) -> tuple[End, End]:
        return self.start, self.end

    @property
    def needs_value(self) -> bool:
        """Whether rows whose value is missing cannot be moved."""
        return any(isinstance(end, Shift) and not end.stays for end in self.ends)


@dataclass(frozen=True, eq=False)
class Contrast:
    """Moves of features that are made together, and perhaps others at whose ends the change they make is compared.

    Attributes
    ----------
    moves : the features that move together
    across : features whose move the change may differ with
    per : a change is divided by the way a row went, in this unit; None for the change itself
    """

    moves: tuple[Move, ...]
    across: tuple[Move, ...] = ()
    per: float | None = None

    @property
    def about(self) -> list[Any]:
        return [
            [[[str(m.feature.label), *(end.about for end in m.ends)] for m in part] for part in self._parts],
            self.per,
        ]

    @property
    def _parts(self) -> tuple[tuple[Move, ...], ...]:
        return (self.across, self.moves) if self.across else (self.moves,)

    @property
    def corners(self) -> list[list[tuple[Feature, End]]]:
        """The points at which rows are predicted: start and end, and for differences of changes these twice."""
        return [
            [(move.feature, move.ends[at]) for part, at in zip(self._parts, corner) for move in part]
            for corner in product((0, 1), repeat=len(self._parts))
        ]

    def used(self, block: Block) -> NDArray[np.bool_]:
        """Rows that have weight and can be moved, of a slope also such that move."""
        used = block.row_weights() > 0
        for move in (*self.moves, *self.across):
            if move.needs_value:
                column = feature_column(move.feature, block.table)
                used &= ~column.missing
                if column.kind == "float":
                    used &= np.isfinite(column.values)
        if self.per is not None:
            (move,), rows = self.moves, slice(None) if used.all() else np.flatnonzero(used)
            column = feature_column(move.feature, block.table).part(rows)
            if may_stay(move, column, column.values):
                used[rows] = self._step_sizes(column, {end: end.values(column) for end in move.ends}) != 0
        return used

    def predictions(self, plan: Plan, table: Table, resources: Resources) -> Float:
        """Predictions of the rows moved to every corner, ``(rows, outputs, corners)``."""
        moved = self.moved(table)
        moves = [_moving_axes(table, ends, moved) for ends in self.corners]
        predicted = plan.engine.moved_predictions(moves, table, resources)
        if predicted is not None:
            return np.ascontiguousarray(predicted.transpose(1, 2, 0))
        question = Question((), spread=False, rows=np.arange(table.n_rows), averaged=False)
        corners = [
            np.asarray(plan.engine.answer([question], Block(rows_at(table, ends)), resources)[0].curves)
            for ends in self.corners
        ]
        return np.ascontiguousarray(np.stack(corners).transpose(2, 1, 0))

    @property
    def between_values(self) -> bool:
        """Whether all ends are values that every row takes."""
        return all(isinstance(end, Fixed) for move in (*self.moves, *self.across) for end in move.ends)

    def moved(self, table: Table) -> MovedValues:
        """For every end that shifts rows: the values they have there."""
        return {
            end: end.values(feature_column(move.feature, table))
            for move in (*self.moves, *self.across)
            for end in move.ends
            if isinstance(end, Shift) and not end.stays
        }

    def means(
        self, plan: Plan, block: Block, moved: MovedValues, resources: Resources
    ) -> list[Moments] | None:
        """Mean start, end and change, ``(outputs, 3)``: over all rows, then by group. None where every row is to be asked.

        With `per`, as if all rows went as far as `full_step` says.
        """
        if plan.engine.additive and self.between_values:
            question = Question(tuple(_joint_axis(part, block.table) for part in self._parts), spread=False)
            (answer,) = plan.engine.answer([question], block, resources)
            parts = [answer.total, *answer.groups]
        else:
            moves = [_moving_axes(block.table, ends, moved) for ends in self.corners]
            means = plan.engine.moved_means(moves, block, resources)
            if means is None:
                return None
            parts = [replace(each[0], mean=np.stack([m.mean for m in each], axis=-1)) for each in zip(*means)]
        way = 1.0 if self.per is None else self.full_step

        def three(mean: Float) -> Float:
            start, end = self._ends(mean.reshape(len(mean), -1))
            return np.stack([start, end, (end - start) / way], axis=-1)

        return [moments.changed(three) for moments in parts]

    @property
    def full_step(self) -> float:
        """How far a slope moves rows that no limit stops, in the unit asked for."""
        (move,) = self.moves
        low, high = (float(end.plus) for end in move.ends if isinstance(end, Shift))
        return (high - low) / float(self.per or 1.0)

    def takes_full_step(self, table: Table, moved: MovedValues) -> NDArray[np.bool_]:
        """Whether rows go as far as `full_step` says, to within rounding."""
        way = self._step_sizes(feature_column(self.moves[0].feature, table), moved)
        return np.abs(way - self.full_step) <= ROUNDING * self.full_step

    def _ends(self, corners: Float) -> tuple[Float, Float]:
        """Predictions at start and end, from those at the corners (the last axis); of a difference of changes, both changes."""
        if self.across:
            return corners[..., 1] - corners[..., 0], corners[..., 3] - corners[..., 2]
        return corners[..., 0], corners[..., 1]

    def values(self, predicted: Float, table: Table) -> Float:
        """Start, end, change, and whether it rises or falls, ``(rows, outputs, 5)``, from predictions at the corners."""
        with np.errstate(invalid="ignore", over="ignore"):  # of infinite predictions
            start, end = self._ends(predicted)
            change = end - start
            size = SAME * np.abs(predicted).max(axis=-1)
            if self.per is not None:
                column = feature_column(self.moves[0].feature, table)
                way = self._step_sizes(column, self.moved(table))[:, None]
                change = change / way
                size = size / np.abs(way)
            return np.stack([start, end, change, change > size, change < -size], axis=-1)

    def _step_sizes(self, column: Column, moved: MovedValues) -> Float:
        """How far each row of the column that moves went, in the unit asked for."""
        (move,) = self.moves
        low, high = (moved[end] if end in moved else end.values(column) for end in move.ends)
        if column.kind in TIME_KINDS:
            low, high = low.astype(np.int64), high.astype(np.int64)
        way: Float = high.astype(np.float64)
        way -= low
        return way if self.per in (None, 1.0) else way / float(self.per or 1.0)


def may_stay(move: Move, column: Column, values: NDArray[Any]) -> bool:
    """Whether some values of a column are so large that the step of a slope may be lost in rounding."""
    if not len(values):
        return False
    numbers = values.astype(np.int64) if values.dtype.kind in "mM" else values
    largest = max(abs(float(numbers.max())), abs(float(numbers.min())))
    rounded = np.spacing(column.dtype.type(largest) if column.kind == "float" else largest)
    return not rounded < min(abs(end.plus) for end in move.ends if isinstance(end, Shift) and end.plus)


def rows_at(table: Table, ends: Sequence[tuple[Feature, End]]) -> Table:
    """The rows with their columns rewritten; the table itself where all rows stay as they are."""
    if not table.n_rows:
        return table
    first = table.slice(0, 1)
    for feature, end in ends:
        if isinstance(end, Shift) and end.stays:
            continue
        if isinstance(end, Fixed):
            axis, places = feature.axis(end.value, table), np.zeros(table.n_rows, np.intp)
        else:
            axis = feature.axis(end.values(feature_column(feature, table)), table)
            places = np.arange(table.n_rows)
        donor = first.select(axis.columns).crossed(axis.points)
        table = table.with_columns_of(axis.columns, donor.take(places))
    return table


def _moving_axes(table: Table, ends: Sequence[tuple[Feature, End]], moved: MovedValues) -> list[Axis]:
    """The axes along which rows move: a value for every row, or one for all; none where they stay."""
    return [
        feature.axis(end.value if isinstance(end, Fixed) else moved[end], table)
        for feature, end in ends
        if not (isinstance(end, Shift) and end.stays)
    ]


def _joint_axis(moves: Sequence[Move], table: Table) -> Axis:
    """One axis of two points on which several features move together."""
    points: dict[Any, NDArray[Any]] = {}
    for move in moves:
        values = np.concatenate([end.value for end in move.ends if isinstance(end, Fixed)])
        points |= move.feature.axis(values, table).points
    return Axis(moves[0].feature.label, points)


class Changes(Accumulator):
    """Accumulator of what moving rows changes: means, spreads and shares over all rows, then by group.

    Parameters
    ----------
    plan : the engine that is asked; it falls back block by block
    contrast : what is compared
    outputs, n_groups : of the model, and of the rows
    resources : what may be used
    together : rows cannot be asked about apart from each other
    keep : keep every row's values; of rows in memory only
    spread : how rows differ too; without it, the means alone
    """

    title = "moving rows"

    def __init__(
        self,
        plan: Plan,
        contrast: Contrast,
        *,
        outputs: int,
        n_groups: int,
        resources: Resources,
        together: bool = False,
        keep: bool = False,
        spread: bool = True,
    ) -> None:
        self._plan, self._comparison, self._resources = plan, contrast, resources
        self._together, self._keep, self._spread = together, keep and spread, spread
        self._outputs, self._added = outputs, 5 if spread else 3
        self.moments = [self._empty() for _ in range(1 + n_groups)]
        self.moved = MovedBy.of(plan)
        self.n_rows = 0
        self.row_values: Float | None = None  # (rows, outputs, 5) of the rows at `positions`
        self.positions: Positions = np.empty(0, np.intp)
        self.cluster_errors: tuple[Float, ...] = ()

    def _empty(self) -> Moments:
        return Moments.empty((self._outputs, self._added), self._spread)

    @property
    def about(self) -> dict[str, Any]:
        return {"change": self._comparison.about, "spread": self._spread}

    def add(self, block: Block, threads: ThreadCrew | None = None) -> None:
        self.n_rows += block.n_rows
        if not block.n_rows:
            return
        positions = np.flatnonzero(self._comparison.used(block))
        if not len(positions):
            return
        used = block if len(positions) == block.n_rows else block.take(positions)
        clustered = self._spread and used.clusters is not None
        size = n_rows = used.n_rows
        counted = not self._spread and self._plan.engine.additive and self._comparison.between_values
        if not self._together and not counted:
            per_row = 8 * COPIES * self._outputs * max(5, len(self._comparison.corners))
            size = max(1, min(size, self._resources.memory // per_row))
        chunks = []
        for start in range(0, n_rows, size):
            part = used if size >= n_rows else used.take(np.arange(start, min(start + size, n_rows)))
            if not self._spread and self._add_means(part):
                continue
            values = self._values(part.table)
            self._join(block_moments(values[..., : self._added], part, 0, part.n_rows, self._spread))
            if self._keep or clustered:
                chunks.append(values)
        if chunks:
            self.row_values, self.positions = np.concatenate(chunks), positions
        if clustered and used.clusters is not None and self.row_values is not None:
            by_output = self.row_values.transpose(1, 0, 2)
            self.cluster_errors = cluster_errors(
                lambda rows: by_output[:, rows],
                Answer(self.moments[0], tuple(self.moments[1:])),
                used,
                used.clusters,
                self._resources.memory,
            )

    def _add_means(self, block: Block) -> bool:
        """Take in the means of a block without its rows' own values, where the engine has them."""
        compared, unusual = self._comparison, np.empty(0, np.intp)
        moved = compared.moved(block.table)
        if compared.per is not None:
            unusual = np.flatnonzero(~compared.takes_full_step(block.table, moved))
            if 2 * len(unusual) > block.n_rows:
                return False
        means = self._answer(lambda plan: compared.means(plan, block, moved, self._resources))
        if means is None:
            return False
        if len(unusual):  # their change counts by the way they went themselves
            part = block.take(unusual)
            values = self._values(part.table)
            more = values[..., CHANGE] - (values[..., END] - values[..., START]) / compared.full_step
            for moments, correction in zip(means, block_moments(more, part, 0, part.n_rows, False)):
                if correction.weight > 0:
                    moments.mean[..., CHANGE] += correction.mean * (correction.weight / moments.weight)
        self._join(means)
        return True

    def _values(self, table: Table) -> Float:
        predicted = self._answer(lambda plan: self._comparison.predictions(plan, table, self._resources))
        return self._comparison.values(predicted, table)

    def _answer(self, ask: Callable[[Plan], Result]) -> Result:
        """What the plan gives, or brute force where its engine cannot."""
        answer, moved = with_fallback(self._plan, lambda plan: (ask(plan), MovedBy.of(plan)))
        self._note(moved)
        return answer

    def _join(self, more: Sequence[Moments]) -> None:
        self.moments = [a.merge(b) for a, b in zip(self.moments, more)]

    def _note(self, moved: MovedBy) -> None:
        if not self.moved.reason:
            self.moved = moved

    @property
    def errors(self) -> list[Float]:
        """Standard errors of the means, ``(outputs, 5)``: over all rows, then by group."""
        return list(self.cluster_errors) or [np.asarray(moments.se) for moments in self.moments]

    def state(self) -> State:
        moved = self.moved
        state: State = {
            "rows": np.array([self.n_rows]),
            "moved": np.array([moved.engine, moved.reason, str(int(moved.costs_predictions))]),
        }
        for number, moments in enumerate(self.moments):
            state |= moments_state(moments, str(number))
        return state

    def restore(self, state: State) -> None:
        self.n_rows = 0
        self.moments = [self._empty() for _ in self.moments]
        self.merge(state)

    def merge(self, state: State) -> None:
        self.n_rows += int(state["rows"][0])
        engine, reason, costly = state["moved"].tolist()
        self._note(MovedBy(engine, costly == "1", reason))
        self._join([moments_of(state, str(number)) for number in range(len(self.moments))])
