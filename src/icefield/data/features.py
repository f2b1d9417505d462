"""Features: from what the user names to the columns that move and the values they take.

A feature is a column, by name or position, or a one-hot group ``{"embarked": ["embarked_C",
"embarked_Q"]}`` whose columns move together and whose grid is its levels. Both have one `Column`
view of the data, so that grids, weights and distributions need not
know the difference. A `Feature` holds no data: `feature_column` binds it to a table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.data.columns import ORDERED_KINDS, Column, is_missing_value, object_array
from icefield.data.frame import Table
from icefield.errors import InputError, InputTypeError, did_you_mean
from icefield.typing import Array, Float, Mask, Positions

if TYPE_CHECKING:
    from icefield.data.column_summary import ColumnSummary

NO_LEVEL = "(none)"


@dataclass(frozen=True)
class Axis:
    """One moving feature: the columns that move together and the values they take.

    `points` maps each moving column to its K values, in the form `Table.crossed` writes into
    that column (so a one-hot group moves several columns, an ordinary feature one).
    """

    feature: Any
    points: Mapping[Any, Array]

    @property
    def columns(self) -> tuple[Any, ...]:
        return tuple(self.points)

    @property
    def size(self) -> int:
        return len(next(iter(self.points.values())))


@dataclass(frozen=True)
class Feature:
    """One thing that moves: its label, its columns and the kind of its values. It holds no data.

    `levels` are those of a one-hot group's columns, in their order; empty for a single column.
    """

    label: Any
    columns: tuple[Any, ...]
    kind: str
    levels: tuple[Any, ...] = ()

    @property
    def is_group(self) -> bool:
        return self.columns != (self.label,)

    def axis(self, values: Array, table: Table) -> Axis:
        """The values each of the feature's columns takes along the grid, in the dtypes of the table's columns."""
        if not self.is_group:
            return Axis(self.label, {self.columns[0]: values})
        given, levels = values.tolist(), zip(self.columns, self.levels)
        shown = {name: np.array([value == level for value in given]) for name, level in levels}
        return Axis(self.label, {name: own.astype(table.column(name).dtype) for name, own in shown.items()})


def resolve(asked: Any, table: Table, columns: Collection[Any]) -> Feature:
    """The feature a user means; `columns` are those the model uses."""
    if isinstance(asked, Mapping):
        return _group(asked, table, columns)
    name = column_name(asked, table, "features")
    if name not in columns:
        raise InputError.about(
            "features", "names a column the model does not use", name, did_you_mean(name, columns)
        )
    column = table.column(name)
    column.check_can_move()
    return Feature(name, (name,), column.kind)


def feature_column(feature: Feature, table: Table) -> Column:
    """A feature's values in a table: its column, or the levels that a one-hot group's columns show.

    Columns of a group that hold anything but indicators, at most one of them set in a row, are an error.
    """
    if not feature.is_group:
        return table.column(feature.columns[0])
    label, names = feature.label, feature.columns
    hot = np.zeros((table.n_rows, len(names)), dtype=bool)
    for i, name in enumerate(names):
        column = table.column(name)
        known = column.values[~column.missing]
        if column.kind not in ("boolean", "integer", "float") or not np.isin(known, (0, 1)).all():
            raise InputError.about(
                "features", f"must list indicator columns of 0 and 1 for the group {label!r}", name
            )
        hot[:, i] = (column.values == 1) & ~column.missing
    count = hot.sum(axis=1)
    if (count > 1).any():
        row = int(np.flatnonzero(count > 1)[0])
        raise InputError.about("features", f"lists columns of the group {label!r} that are set together in row {row}", list(names),
                               "a one-hot group has at most one 1 per row")  # fmt: skip
    codes = np.where(count == 1, hot.argmax(axis=1), len(names)).astype(np.int64)
    levels = object_array([*feature.levels, NO_LEVEL] if (count == 0).any() else list(feature.levels))
    return Column(label, "categorical", levels[codes], np.zeros(len(codes), dtype=bool), codes, levels)


def listed_features(features: Iterable[Any] | None, columns: Sequence[Any], least: int = 1) -> list[Any]:
    """The features a table is about, one or several as given; all of the model's by default."""
    if isinstance(features, (str, int, np.integer, Mapping)):
        features = [features]
    asked = columns if features is None else features
    if isinstance(asked, bool) or not hasattr(asked, "__iter__"):
        raise InputTypeError.about("features", "must be a sequence", asked, "write [...]")
    listed = list(asked)
    if len(listed) < least:
        number, hint = ("one feature", None) if least == 1 else ("two features", "interactions need a pair")
        raise InputError.about("features", f"must name at least {number}", listed, hint)
    return listed


def column_name(asked: Any, table: Table, parameter: str) -> Any:
    """A column's label from its label or its position."""
    if table.has(asked):
        # The table's own label, of the same kind: False is not column 0, though Python calls them equal.
        label = table.names[table.position(asked)]
        if isinstance(label, bool) == isinstance(asked, bool):
            return label
    if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool):
        if 0 <= asked < len(table.names):
            return table.names[int(asked)]
        raise InputError.about(parameter, f"is a position outside the {len(table.names)} columns of X", int(asked),
                               f"positions run from 0 to {len(table.names) - 1}")  # fmt: skip
    if not isinstance(asked, (str, tuple)):
        raise InputTypeError.about(parameter, "must be a column name, a position, or {name: [columns]}", asked,
                                   'write several features one after another: partial_dependence("a", "b")' if isinstance(asked, list) else None)  # fmt: skip
    raise InputError.about(
        parameter, "names a column that X does not have", asked, did_you_mean(asked, table.names)
    )


def _group(asked: Mapping[Any, Any], table: Table, columns: Collection[Any]) -> Feature:
    if len(asked) != 1:
        raise InputError.about("features", "must name one group per mapping", dict(asked),
                               'write {"embarked": ["embarked_C", "embarked_S"]}')  # fmt: skip
    ((label, members),) = asked.items()
    if isinstance(members, str) or not isinstance(members, Sequence) or len(members) < 2:
        raise InputError.about("features", f"must list at least two columns for the group {label!r}", members)
    names = tuple(resolve(member, table, columns).label for member in members)
    if len(set(names)) != len(names):
        raise InputError.about("features", f"lists a column twice in the group {label!r}", list(members))
    levels = _level_names(label, names)
    if NO_LEVEL in levels:  # which stands for rows in which no column of the group is set
        levels = [str(name) for name in names]
    return Feature(label, names, "categorical", tuple(levels))


def _level_names(label: Any, names: tuple[Any, ...]) -> list[Any]:
    """Levels from column names: what is left after the prefix they share (``sex_male`` -> ``male``)."""
    texts = [str(name) for name in names]
    first, last = min(texts), max(texts)
    shared = first[: next((i for i, (a, b) in enumerate(zip(first, last)) if a != b), len(first))]
    # Words are only cut at a separator: "male" and "maybe" do not share the prefix "ma".
    ends = [shared.rfind(mark) + 1 for mark in "_=.-:/ "]
    prefix = str(label) if label and shared == str(label) else shared[: max(ends)]
    cut = [text[len(prefix) :] for text in texts]
    return cut if all(cut) and len(set(cut)) == len(cut) else texts


def check_levels(feature: Feature, column: Column, values: Array) -> None:
    """Given values of a one-hot group must be levels that its column shows; there is no column for any other."""
    if not feature.is_group:
        return
    known = column.levels.tolist()
    for value in values.tolist():
        if value not in known:
            raise InputError.about("grid", f"must hold levels of the group {feature.label!r}", value, did_you_mean(value, known))  # fmt: skip


def nearest_points(values: Array, column: Column) -> tuple[Positions, Mask]:
    """Each row's nearest grid point and whether it has one (categories match or do not).

    Of a value given twice, one of the two points gets the rows.
    """
    at, missing_at = _known_and_missing(values)
    nearest = np.zeros(len(column), dtype=np.intp)
    has = ~column.missing
    if column.kind in ORDERED_KINDS and len(at):
        shown = np.array(values[at].tolist()) if values.dtype == object else values[at]
        nearest = at[_nearest_ordered(column.values, shown)]
        if column.kind == "float":
            has &= np.isfinite(column.values)
    elif len(at):
        nearest[has] = _point_of_level(values, at, column)[column.codes[has]]
        has &= nearest >= 0
    else:
        has &= False
    if len(missing_at):
        nearest[column.missing] = missing_at[0]
        has |= column.missing
    return nearest, has


def level_counts_near(values: Array, column: Column) -> Float:
    """How many rows of a category are at each grid point, without placing every row."""
    at, missing_at = _known_and_missing(values)
    place, counts = _point_of_level(values, at, column)[: len(column.levels)], column.level_counts()
    found = np.bincount(place[place >= 0], counts[place >= 0], minlength=len(values)).astype(np.float64)
    if len(missing_at):
        found[missing_at[0]] = len(column) - counts.sum()
    return found


def _known_and_missing(values: Array) -> tuple[Positions, Positions]:
    """Places of grid values that are known, and of those that are missing."""
    gone = np.fromiter((is_missing_value(v) for v in values), bool, len(values))
    return np.flatnonzero(~gone), np.flatnonzero(gone)


def _point_of_level(values: Array, at: Positions, column: Column) -> Positions:
    """The grid point of each level, -1 for none; at least one entry."""
    place = dict(zip(values[at].tolist(), at.tolist()))
    return np.array([place.get(level, -1) for level in column.levels.tolist()] or [-1], dtype=np.intp)


def nearest_counts(values: Array, column: Column, summary: ColumnSummary) -> Float | None:
    """How many rows are nearest to each of rising grid points, from a summary of the column; None for other points."""
    has_missing = bool(is_missing_value(values[-1]))
    points = values[:-1] if has_missing else values
    if values.dtype.kind not in "fiu" or not (points[1:] > points[:-1]).all():
        return None
    ranked = points.astype(np.float64)
    # Halves first: the sum of two large numbers may be none.
    at_most = summary.at_most(ranked[:-1] / 2 + ranked[1:] / 2)
    counts = np.diff(at_most, prepend=0, append=summary.finite).astype(np.float64)
    return np.append(counts, float(np.count_nonzero(column.missing))) if has_missing else counts


def _nearest_ordered(data: Array, shown: Array) -> Positions:
    if shown.dtype.kind in "mM":
        data, shown = data.astype(shown.dtype).astype(np.int64), shown.astype(np.int64)
    points, numbers = shown.astype(np.float64, copy=False), data.astype(np.float64, copy=False)
    order = np.argsort(points, kind="stable")
    ranked = points[order]
    if len(ranked) == 1:
        return np.zeros(len(data), dtype=np.intp)
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.diff(ranked)
        if steps[0] > 0 and np.isfinite(steps).all() and np.allclose(steps, steps[0], rtol=1e-6, atol=0):
            # Evenly spaced points need no search. A row midway goes to the lower point, as below.
            at = np.clip(np.ceil((numbers - ranked[0]) / steps[0] - 0.5), 0, len(ranked) - 1)
            return order[np.nan_to_num(at).astype(np.intp)]
        middles = ranked[:-1] / 2 + ranked[1:] / 2
    return order[np.searchsorted(middles, numbers, side="left")]
