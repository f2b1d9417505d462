"""Leaves of a forest as boxes of inputs, in the caller's own columns.

A *variable* is a column of the caller's frame (or, where preprocessing makes several inputs of it that cannot be told
apart here, one input of the forest). A number is cut into the cells between the model's thresholds, one value each, with a missing
value beside them where the data has some; a category is its levels. A leaf is reached from a box: an interval of
cells, or a set of levels, for every variable.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.question import Axis
from icefield.data.columns import NUMERIC_KINDS
from icefield.data.grid import Grid, with_missing_last
from icefield.errors import EngineError
from icefield.forest.form import ZERO_THRESHOLD, Forest
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.core.study import Study
    from icefield.forest.tree_model import TreeModel

FAR = 2**30
LOOKS = 64  # leaves between looks at the clock
WORD = 64


@dataclass(frozen=True, eq=False)
class Variable:
    """One input that can be chosen by itself.

    Attributes
    ----------
    name : the frame's column; None for an input that preprocessing makes of columns
    columns : the forest's columns that it decides
    values : in the frame, one for each cell (numbers, rising) or level; without a name, none
    encoded : the same as the forest sees them, ``(cells, columns)``
    is_interval : whether cells are in order and leaves hold runs of them; else leaves hold sets
    can_miss : whether a missing value is possible, for intervals (of levels, it is one of them)
    """

    name: Any
    columns: tuple[int, ...]
    values: NDArray[Any]
    encoded: Float
    is_interval: bool
    can_miss: bool

    @property
    def size(self) -> int:
        return len(self.encoded)


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes side by side: for every variable an interval of cells with a flag for missing, or a set of levels as bits."""

    low: NDArray[np.int32]  # (boxes, variables)
    high: NDArray[np.int32]
    missing: NDArray[np.bool_]
    levels: NDArray[np.uint64]  # (boxes, words)

    def __len__(self) -> int:
        return len(self.low)

    def take(self, rows: Any) -> Boxes:
        return Boxes(self.low[rows], self.high[rows], self.missing[rows], self.levels[rows])

    def cut(self, other: Boxes) -> Boxes:
        """What these boxes have in common with others, box by box (or with one)."""
        return Boxes(
            np.maximum(self.low, other.low),
            np.minimum(self.high, other.high),
            self.missing & other.missing,
            self.levels & other.levels,
        )

    @staticmethod
    def joined(parts: Sequence[Boxes]) -> Boxes:
        """Boxes one after another."""
        columns = zip(*((boxes.low, boxes.high, boxes.missing, boxes.levels) for boxes in parts))
        return Boxes(*map(np.concatenate, columns))


class InputSpace:
    """The variables of a forest, and every tree's leaves as boxes of them.

    Parameters
    ----------
    trees : the model as trees
    variables : all of them
    """

    def __init__(self, trees: TreeModel, variables: list[Variable]) -> None:
        self.trees, self.variables = trees, variables
        self.by_column = {c: v for v, variable in enumerate(variables) for c in variable.columns}
        self.is_interval = np.array([v.is_interval for v in variables], bool)
        words = [0 if v.is_interval else -(-v.size // WORD) for v in variables]
        self.word_start = np.concatenate([[0], np.cumsum(words)]).astype(int)
        forest = trees.forest
        used = np.unique(forest.node_condition[forest.node_condition >= 0])
        self._cut: dict[int, int] = {}
        self._left: dict[int, NDArray[np.uint64]] = {}
        for condition in used.tolist():
            v = self.by_column[int(forest.condition_column[condition])]
            variable = variables[v]
            if variable.is_interval:
                threshold = forest.condition_threshold[condition]
                self._cut[condition] = int(np.searchsorted(variable.encoded[:, 0], threshold, side="right"))
            else:
                place = variable.columns.index(int(forest.condition_column[condition]))
                self._left[condition] = packed_levels(
                    goes_left(forest, condition, variable.encoded[:, place])
                )

    @property
    def whole(self) -> Boxes:
        """The box of every possible input."""
        n = len(self.variables)
        levels = [packed_levels(np.ones(v.size, bool)) for v in self.variables if not v.is_interval]
        return Boxes(
            np.zeros((1, n), np.int32),
            np.array([[v.size if v.is_interval else FAR for v in self.variables]], np.int32),
            np.array([[v.can_miss and v.is_interval for v in self.variables]], bool),
            np.concatenate([np.zeros(0, np.uint64), *levels])[None, :],
        )

    def possible(self, boxes: Boxes) -> NDArray[np.bool_]:
        """Which boxes hold an input at all."""
        possible = (boxes.low < boxes.high) | boxes.missing
        for v in np.flatnonzero(~self.is_interval).tolist():
            words = boxes.levels[:, self.word_start[v] : self.word_start[v + 1]]
            possible[:, v] = (words != 0).any(axis=1)
        return np.asarray(possible.all(axis=1), bool)

    def splits_of(self, conditions: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The variable of every condition, and its cut; -1 for sets of levels."""
        forest = self.trees.forest
        used, at = np.unique(conditions, return_inverse=True)
        variables = [self.by_column[int(forest.condition_column[c])] for c in used.tolist()]
        cuts = [self._cut.get(c, -1) for c in used.tolist()]
        return np.array(variables, np.int64)[at], np.array(cuts, np.int64)[at]

    def leaves(
        self, tree: int, until: float = float("inf")
    ) -> tuple[NDArray[np.int32], Boxes, NDArray[np.int64]] | None:
        """The rows of `leaf_value` that a tree's leaves have, their boxes, and the splits on intervals; None where time is up first.

        Leaves are in order from left to right, those that no input reaches left out. Of a split: variable, cut, and the leaves at
        which its left part begins, its right part begins, and that ends.
        """
        forest = self.trees.forest
        whole = self.whole
        stack: list[tuple[Any, ...]] = [
            (int(forest.tree_root[tree]), whole.low[0], whole.high[0], whole.missing[0], whole.levels[0])
        ]
        leaves: list[tuple[Any, ...]] = []
        splits: list[list[int]] = []
        while stack:
            top = stack.pop()
            if len(top) == 2:  # one part of a split is done
                splits[top[0]][top[1]] = len(leaves)
                continue
            if len(leaves) % LOOKS == 0 and time.monotonic() > until:
                return None
            node, low, high, missing, levels = top
            condition = int(forest.node_condition[node])
            if condition < 0:
                leaves.append((int(forest.node_leaf[node]), low, high, missing, levels))
                continue
            v = self.by_column[int(forest.condition_column[condition])]
            inside = bool(self.is_interval[v]) and low[v] < self._cut[condition] < high[v]
            if inside:
                splits.append([v, self._cut[condition], len(leaves), 0, 0])
                stack.append((len(splits) - 1, 4))
            for child, is_left in ((forest.node_right[node], False), (forest.node_left[node], True)):
                if self.is_interval[v]:
                    a, b, gone = low, high, missing
                    cut = self._cut[condition]
                    if is_left and cut < high[v]:
                        b = high.copy()
                        b[v] = cut
                    elif not is_left and cut > low[v]:
                        a = low.copy()
                        a[v] = cut
                    if missing[v] and bool(forest.condition_missing_left[condition]) != is_left:
                        gone = missing.copy()
                        gone[v] = False
                    if a[v] < b[v] or gone[v]:
                        stack.append((int(child), a, b, gone, levels))
                    if inside and not is_left:
                        stack.append((len(splits) - 1, 3))
                    continue
                span = slice(self.word_start[v], self.word_start[v + 1])
                child_levels = levels.copy()
                child_levels[span] &= self._left[condition] if is_left else ~self._left[condition]
                if child_levels[span].any():
                    stack.append((int(child), low, high, missing, child_levels))
        low, high, missing = (np.array([f[i] for f in leaves]) for i in (1, 2, 3))
        levels = np.array([f[4] for f in leaves], np.uint64).reshape(len(leaves), -1)
        return (
            np.array([f[0] for f in leaves], np.int32),
            Boxes(low, high, missing, levels),
            np.array(splits, np.int64).reshape(-1, 5),
        )


def goes_left(forest: Forest, condition: int, values: Float) -> NDArray[np.bool_]:
    """The forest's one routing rule, for encoded values."""
    missing = np.isnan(values)
    if forest.condition_zero_missing[condition]:
        missing = missing | (np.abs(values) <= ZERO_THRESHOLD)
    members = int(forest.condition_set[condition])
    if members < 0:
        with np.errstate(invalid="ignore"):
            left = values <= forest.condition_threshold[condition]
    else:
        codes = forest.set_members[forest.set_start[members] : forest.set_start[members + 1]]
        left = np.isin(values, codes.astype(np.float64))
    return np.where(missing, bool(forest.condition_missing_left[condition]), left).astype(bool)


def packed_levels(chosen: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """A set of levels as words of bits."""
    room = np.zeros(-(-len(chosen) // WORD) * WORD, np.uint8)
    room[: len(chosen)] = chosen
    return np.packbits(room, bitorder="little").view(np.uint64)


def unpacked_levels(words: NDArray[np.uint64], size: int) -> NDArray[np.bool_]:
    """Which levels a set holds that `packed_levels` made words of bits."""
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")[:size].astype(bool)


def space_of(study: Study, trees: TreeModel) -> InputSpace:
    """The variables of a model read as trees, and its leaves.

    Inputs that count as possible: every number, also beyond the data's range; a missing value where the data has one in that
    column; and the levels of a category that the data (or its dtype) has.
    """
    table = study.rows.head.select(study.model.columns)
    forest, encode = trees.forest, study.plan.engine.parts.get("tree model", trees)
    conditions = np.unique(forest.node_condition[forest.node_condition >= 0])
    used = set(forest.condition_column[conditions].tolist())
    shared = Counter(column for columns in trees.drives.values() for column in columns)
    variables: list[Variable] = []
    for name in study.model.columns:
        columns = tuple(c for c in trees.drives.get(name, ()) if c in used)
        if not columns or any(shared[c] > 1 for c in columns):
            continue
        made = _variable(study, encode, forest, table, name, columns)
        if made is not None:
            variables.append(made)
    taken = {c for v in variables for c in v.columns}
    variables += [_free_variable(forest, column) for column in sorted(used - taken)]
    return InputSpace(trees, variables)


def _variable(
    study: Study, encode: Any, forest: Forest, table: Any, name: Any, columns: tuple[int, ...]
) -> Variable | None:
    """A column of the frame as a variable; None where its values cannot be listed."""
    feature = study.feature(name)
    column = study.column(feature)

    def encoded(values: NDArray[Any]) -> Float:
        axis: Axis = feature.axis(values, table)
        cells = encode.encode(table.take(np.zeros(1, np.intp)).crossed(axis.points))
        return np.asarray(cells, np.float64)[:, list(columns)]

    def listed(grid: Grid) -> NDArray[Any]:
        rows = study.rows
        (values,), _ = rows.statistics.grids((feature,), grid, lambda f: study.plan.thresholds(f, rows.head))
        return values

    if column.kind in NUMERIC_KINDS:
        try:
            values = listed(Grid("thresholds", missing="hide"))
        except (EngineError, TypeError):
            return None
    elif column.kind == "boolean":
        values = np.array([False, True])
    else:
        values = listed(Grid("distinct", missing="hide"))
    if column.kind in (*NUMERIC_KINDS, "boolean") and len(columns) == 1:
        seen, uses = encoded(values), forest.condition_column == columns[0]
        by_sets = (forest.condition_set[uses] >= 0).any() or forest.condition_zero_missing[uses].any()
        if not by_sets and not np.isnan(seen).any() and (np.diff(seen[:, 0]) > 0).all():
            return Variable(name, columns, values, seen, True, column.any_missing)
    if column.any_missing:
        values = with_missing_last(values)
    return Variable(name, columns, values, encoded(values), False, False)


def _free_variable(forest: Forest, column: int) -> Variable:
    """An input of the forest that is not known to come from one column of the frame alone: any number, or missing."""
    uses = forest.condition_column == column
    sets = np.unique(forest.condition_set[uses & (forest.condition_set >= 0)])
    codes = [
        forest.set_members[forest.set_start[s] : forest.set_start[s + 1]].astype(np.float64)
        for s in sets.tolist()
    ]
    thresholds = np.unique(forest.condition_threshold[uses & (forest.condition_set < 0)])
    thresholds = thresholds[np.isfinite(thresholds)]
    beyond = [np.nextafter(thresholds[-1], np.inf)] if len(thresholds) else [0.0]
    values = np.unique(np.concatenate([thresholds, beyond, *codes, [-1.0]]))
    if not len(sets) and not forest.condition_zero_missing[uses].any():
        cells = np.concatenate([thresholds, beyond])
        return Variable(None, (column,), np.empty(0), cells[:, None], True, True)
    below, above = np.nextafter(-ZERO_THRESHOLD, -np.inf), np.nextafter(ZERO_THRESHOLD, np.inf)
    cells = np.unique(np.concatenate([values, [below, -ZERO_THRESHOLD, 0.0, above, np.nan]]))
    return Variable(None, (column,), np.empty(0), cells[:, None], False, False)


def input_in(space: InputSpace, box: Boxes, rows: Float) -> tuple[int, dict[Any, Any], bool]:
    """The row that is nearest to a box, and what has to be changed of it to be inside.

    Parameters
    ----------
    space, box : the box
    rows : encoded rows, ``(rows, forest columns)``

    Returns
    -------
    the row's number, the new values by column, and whether every variable that has to change is a column of the frame
    """
    outside = np.zeros((len(rows), len(space.variables)), bool)
    for v, variable in enumerate(space.variables):
        values = rows[:, list(variable.columns)]
        if variable.is_interval:
            cell = np.searchsorted(variable.encoded[:, 0], values[:, 0], side="left")
            # Beyond the last cell's value is still its cell.
            cell = np.minimum(cell, variable.size - 1)
            inside = (cell >= box.low[0, v]) & (cell < box.high[0, v])
            outside[:, v] = ~np.where(np.isnan(values[:, 0]), box.missing[0, v], inside)
            continue
        allowed = unpacked_levels(box.levels[0, space.word_start[v] : space.word_start[v + 1]], variable.size)
        same = np.zeros(len(rows), bool)
        for place in np.flatnonzero(allowed).tolist():
            code = variable.encoded[place]
            same |= ((values == code) | (np.isnan(values) & np.isnan(code))).all(axis=1)
        outside[:, v] = ~same
    count = outside.sum(axis=1)
    row = int(count.argmin())
    moved = np.flatnonzero(outside[row]).tolist()
    names = [space.variables[v].name for v in moved]
    changes = {name: _value_in(space, box, v, rows[row]) for v, name in zip(moved, names) if name is not None}
    return row, changes, None not in names


def _value_in(space: InputSpace, box: Boxes, v: int, row: Float) -> Any:
    """The value of a box's cell that is nearest to a row's own value; None where it holds only missing ones."""
    variable = space.variables[v]
    if not variable.is_interval:
        words = box.levels[0, space.word_start[v] : space.word_start[v + 1]]
        return variable.values[np.flatnonzero(unpacked_levels(words, variable.size))[0]]
    if box.low[0, v] >= box.high[0, v]:
        return None
    value = row[variable.columns[0]]
    cell = 0 if np.isnan(value) else int(np.searchsorted(variable.encoded[:, 0], value, side="left"))
    return variable.values[np.clip(cell, box.low[0, v], box.high[0, v] - 1)]
