"""Trees behind a preparation of the columns, as trees of the columns themselves.

Where each matrix column comes from one column of the data (scaled, imputed, one-hot or ordinally encoded), a split on it is a split
on that column: a threshold on a number that only rises is a threshold on the number before, found to the last bit by halving;
any test of a level is a set of levels; a missing value goes where what it becomes goes. Nothing of the preparation is written down
again, and the result is compared leaf by leaf on the data's own rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Table
from icefield.forest.check import go_left, leaf_values
from icefield.forest.encode import Encoder, LevelCodes, Numbers, Rule
from icefield.forest.form import Forest, validate
from icefield.forest.tree_model import CannotRead, TreeModel

FARTHEST = 1e25  # beyond it, preparations overflow
CHECKED_ROWS = 2_000
UNKNOWN = "is prepared in a way the page does not know"


def on_raw_columns(model: TreeModel, table: Table) -> TreeModel:
    """The same model with splits on the data's own columns.

    Parameters
    ----------
    model : trees whose matrix columns each come from one column of the data, as `TreeModel.drives` says
    table : rows of the data: levels, and what the result is compared on

    Raises
    ------
    CannotRead
        With the reason, where a split is none on the column itself.
    """
    forest = model.forest
    owner = {i: name for name, driven in model.drives.items() for i in driven}
    owners = [owner.get(i) for i in forest.condition_column.tolist()]
    used = [name for name in table.names if name in owners]
    rewritten = _RawSplits(forest, [used.index(name) for name in owners])
    numbers: dict[Any, int] = {}
    rules: list[Rule] = []
    for position, name in enumerate(used):
        column = table.column(name)
        conditions = np.flatnonzero(rewritten.column == position)
        rewritten.missing_left[conditions] = _missing_left(model, table, name, conditions)
        if column.kind == "categorical":
            levels = column.levels
            goes = _goes_left(model, table, {name: levels}, conditions)
            for k, condition in enumerate(conditions.tolist()):
                rewritten.put_set(condition, np.flatnonzero(goes[:, k]))
            rules.append(LevelCodes(tuple((level, float(i)) for i, level in enumerate(levels.tolist()))))
        elif column.kind in ("float", "integer", "boolean"):
            numbers[name] = position
            rules.append(Numbers())
        else:
            raise CannotRead(f"column {name!r} is of kind {column.kind}, which the page does not know")
    _put_thresholds(model, table, rewritten, numbers)
    result = replace(
        model, forest=rewritten.forest(len(used)), encode=Encoder(tuple(used), tuple(rules)),
        drives={name: (i,) for i, name in enumerate(used)},
    )  # fmt: skip
    rows = table.slice(0, min(table.n_rows, CHECKED_ROWS))
    before, after = (leaf_values(trees.forest, trees.encode(rows)) for trees in (model, result))
    if not np.array_equal(before, after):
        raise CannotRead("its columns are prepared in a way the page does not know")
    return result


class _RawSplits:
    """The conditions of a forest while they are rewritten."""

    def __init__(self, forest: Forest, column: list[int]) -> None:
        self._forest = forest
        self.column = np.array(column, np.int32)
        self.threshold = np.zeros(len(column))
        self.set = np.full(len(column), -1, np.int32)
        self.missing_left = np.zeros(len(column), bool)
        self._sets: list[NDArray[np.int64]] = []

    def put_set(self, condition: int, members: NDArray[np.intp]) -> None:
        self.set[condition], self.threshold[condition] = len(self._sets), np.nan
        self._sets.append(members.astype(np.int64))

    def forest(self, n_columns: int) -> Forest:
        start = np.concatenate([[0], np.cumsum([len(s) for s in self._sets])]).astype(np.int64)
        return validate(
            replace(
                self._forest, n_columns=n_columns, condition_column=self.column, condition_threshold=self.threshold,
                condition_set=self.set, condition_missing_left=self.missing_left,
                condition_zero_missing=np.zeros(len(self.column), bool), set_start=start,
                set_members=np.concatenate([*self._sets, np.zeros(0, np.int64)]),
            )
        )  # fmt: skip


def _goes_left(
    model: TreeModel, table: Table, points: Mapping[Any, NDArray[Any]], conditions: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """For each point, whether it goes left at each condition."""
    forest, matrix = model.forest, model.encode(table.slice(0, 1).crossed(points))
    tested = ((np.full(len(matrix), c), matrix[:, forest.condition_column[c]]) for c in conditions)
    return np.stack([go_left(forest, *test) for test in tested], axis=1)


def _missing_left(
    model: TreeModel, table: Table, name: Any, conditions: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Whether a missing value goes left at each condition; no, where the model takes none."""
    try:
        missing = np.array([None], object) if table.column(name).kind == "categorical" else np.array([np.nan])
        return np.asarray(_goes_left(model, table, {name: missing}, conditions)[0])
    except Exception:  # whatever the preparation raises on what it does not take
        return np.zeros(len(conditions), bool)


def _put_thresholds(model: TreeModel, table: Table, rewritten: _RawSplits, index: Mapping[Any, int]) -> None:
    """Thresholds of all columns of numbers at once: the largest value that still goes left."""
    if not index:
        return
    forest = model.forest
    splits = {name: np.flatnonzero(rewritten.column == i).astype(np.int32) for name, i in index.items()}
    for name, conditions in splits.items():
        if (forest.condition_set[conditions] >= 0).any() or forest.condition_zero_missing[conditions].any():
            raise CannotRead(f"column {name!r} {UNKNOWN}")
        _check_rising(model, table, name, forest.condition_column[conditions])
    whole = {name: table.column(name).kind != "float" for name in splits}
    size = max(len(c) for c in splits.values())

    def left(at: Mapping[Any, NDArray[np.int64]]) -> dict[Any, NDArray[np.bool_]]:
        """Whether each condition's own value goes left; columns are moved together, since none looks at another."""
        points = {name: np.resize(_value(at[name], whole[name]), size) for name in splits}
        matrix = model.encode(table.slice(0, 1).crossed(points))
        return {
            name: go_left(forest, c, matrix[np.arange(len(c)), forest.condition_column[c]]) for name, c in splits.items()
        }  # fmt: skip

    ends = {name: 2**53 if whole[name] else int(np.float64(FARTHEST).view(np.int64)) for name in splits}
    low = {name: np.full(len(c), -ends[name], np.int64) for name, c in splits.items()}
    high = {name: np.full(len(c), ends[name], np.int64) for name, c in splits.items()}
    never, always = {n: ~v for n, v in left(low).items()}, left(high)
    while True:
        # Halves first: the whole way from end to end is more than an int64 holds.
        middle = {name: (low[name] >> 1) + (high[name] >> 1) + (low[name] & high[name] & 1) for name in low}
        if all(np.array_equal(middle[name], low[name]) for name in splits):
            break
        for name, goes in left(middle).items():
            low[name] = np.where(goes, middle[name], low[name])
            high[name] = np.where(goes, high[name], middle[name])
    for name, conditions in splits.items():
        thresholds = np.where(always[name], np.inf, _value(low[name], whole[name]))
        rewritten.threshold[conditions] = np.where(never[name], -np.inf, thresholds)


def _value(position: NDArray[np.int64], whole: bool) -> NDArray[Any]:
    """Values by position: whole numbers as they are, floats by their rank among all floats."""
    return position if whole else np.where(position >= 0, 1.0, -1.0) * np.abs(position).view(np.float64)


def _check_rising(model: TreeModel, table: Table, name: Any, columns: NDArray[np.int32]) -> None:
    """An error where a prepared number falls while the column's rises, at the data's values and far beyond them."""
    column = table.column(name)
    values = np.unique(column.values[~column.missing])
    values = values[:: max(1, len(values) // CHECKED_ROWS)]
    if column.kind == "float":
        values = np.concatenate([[-FARTHEST], values, [FARTHEST]])
    elif column.kind == "integer":
        values = np.concatenate([[-(2**53)], values, [2**53]])
    matrix = model.encode(table.slice(0, 1).crossed({name: values}))[:, np.unique(columns)]
    if np.isnan(matrix).any() or (np.diff(matrix, axis=0) < 0).any():
        raise CannotRead(f"column {name!r} {UNKNOWN}")
