"""Axes as the forest sees them: encoded grid vectors, and each leaf's region of them.

An `Axis` speaks of the caller's columns and values; encoded, it is a set of forest columns that
move together and a matrix of the values they take. Grid points are sorted by their first
column, so that conditions on a number are runs of points; results are put back in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from icefield import kernels
from icefield.core.question import Axes, Axis
from icefield.data.frame import NUMERIC_KINDS, Table
from icefield.engines.trees.encoded import EncodeOnce
from icefield.engines.trees.layout import Layout, lay_out
from icefield.engines.trees.packed_rows import WORD, bit_mask
from icefield.engines.trees.program import Batch, Program
from icefield.errors import EngineError, IcefieldError
from icefield.forest.form import ZERO_THRESHOLD
from icefield.forest.tree_model import CannotRead, TreeModel
from icefield.typing import Array, Bits, Float, Int32, Int64

FEW_POINTS = 128  # of axes that are encoded side by side although they have not equally many
FEW_GROUPS = 2**15

Updates = tuple[Int64, Int32, Float]


@dataclass(frozen=True, eq=False)
class EncodedAxis:
    """Forest columns that move together and their values, one row of `matrix` a grid point and one column each.

    The rows are sorted; ``order[k]`` is the place of sorted point k in the caller's grid.
    """

    columns: tuple[int, ...]
    matrix: Float
    order: Int32

    @property
    def size(self) -> int:
        return len(self.matrix)

    @classmethod
    def of_values(cls, columns: tuple[int, ...], values: Float) -> EncodedAxis:
        """Of the columns' values in the caller's order."""
        order = np.argsort(values[:, 0], kind="stable") if columns else np.arange(len(values))
        return cls(columns, np.ascontiguousarray(values[order]), order.astype(np.int32))

    @classmethod
    def of_matrix(cls, columns: tuple[int, ...], matrix: Float) -> EncodedAxis:
        """The same from a matrix of all forest columns."""
        return cls.of_values(columns, np.asarray(matrix, np.float64)[:, list(columns)])

    @classmethod
    def of(cls, model: TreeModel, table: Table, axis: Axis) -> EncodedAxis:
        """Encode an axis's grid vectors, on any one row of the table."""
        (found,) = cls.of_each(model, table, [axis])
        return found

    @classmethod
    def of_each(cls, model: TreeModel, table: Table, axes: Axes) -> list[EncodedAxis]:
        """Encode the grid vectors of several axes; those that decide different columns lie side by side in one matrix."""
        columns = [forest_columns(model, axis.columns) for axis in axes]
        encode = model.encode if isinstance(model.encode, EncodeOnce) else EncodeOnce(model)
        found = []
        # A column of the table may decide several of the forest.
        moved = [{*axis.points, *(("forest", j) for j in own)} for axis, own in zip(axes, columns)]
        # Few points are made equally many.
        alike = [axis.size if axis.size > FEW_POINTS or not axis.size else FEW_POINTS for axis in axes]
        for together in _side_by_side(alike, moved):
            size = max(axes[a].size for a in together)
            points = {
                name: _repeated_to(size, np.asarray(values))
                for a in together
                for name, values in axes[a].points.items()
            }
            matrix = encode.points(table, points)
            found += [(a, cls.of_matrix(columns[a], matrix[: axes[a].size])) for a in together]
        return [axis for _, axis in sorted(found, key=lambda one: one[0])]

    @classmethod
    def joined(cls, axes: Sequence[EncodedAxis]) -> EncodedAxis:
        """The grid points of several axes that move the same columns, in their callers' order, one after another."""
        if len(axes) == 1:
            return axes[0]
        return cls.of_values(axes[0].columns, np.concatenate([a.matrix[np.argsort(a.order)] for a in axes]))

    def part(self, start: int, stop: int) -> EncodedAxis:
        """The axis restricted to some of the caller's grid points."""
        back = np.argsort(self.order)[start:stop]
        return EncodedAxis.of_values(self.columns, self.matrix[back])

    @cached_property
    def key(self) -> tuple[tuple[int, ...], bytes]:
        """Equal for axes that move the same columns over the same values."""
        return self.columns, self.matrix.tobytes() + self.order.tobytes()


def forest_columns(model: TreeModel, names: Sequence[Any]) -> tuple[int, ...]:
    """The forest columns that columns of the table decide."""
    return tuple(sorted({j for name in names for j in model.drives.get(name, ())}))


def _repeated_to(size: int, values: Array) -> Array:
    """Grid values, the last of them as often as it takes to have this many."""
    return values if len(values) == size else values[np.minimum(np.arange(size), len(values) - 1)]


def _side_by_side(kinds: Sequence[int], moved: Sequence[Collection[Any]]) -> Iterator[list[int]]:
    """Numbers of axes, together where they are of one kind and no two share anything that moves."""
    waiting = list(range(len(kinds)))
    while waiting:
        together, others, taken = list[int](), list[int](), set[Any]()
        for a in waiting:
            if kinds[a] == kinds[waiting[0]] and taken.isdisjoint(moved[a]):
                together.append(a)
                taken.update(moved[a])
            else:
                others.append(a)
        yield together
        waiting = others


def last_values_left(model: TreeModel, column: Any, table: Table) -> Float:
    """The model's own steps along a frame column: for every threshold, the last number left of it.

    That is the threshold itself, unless the library rounds what it compares to float32 first. A
    column that preprocessing changes in any other way has thresholds only after the change.
    Empty for a column the model does not use.
    """
    driven = model.drives.get(column, ())
    found = [(input_, _steps(model, column, input_)) for input_ in driven]
    found = [(input_, steps) for input_, steps in found if steps.size]
    if not found:
        return np.empty(0)
    probe = np.array([np.pi / 4, -np.e])  # no float32 numbers, nor ones that stand for missing
    seen = model.encode(table.slice(0, 1).crossed({column: probe}))
    last = []
    for input_, steps in found:
        if (seen[:, input_] == probe).all():
            last.append(steps)
        elif (seen[:, input_] == probe.astype(np.float32)).all():
            last.append(_last_rounded_left(steps))
        else:
            raise EngineError(
                f"Column {column!r} is transformed before the trees see it, so the trees' thresholds are not values of the column. "
                "Hint: use Grid('distinct') or Grid('quantile')."
            )
    return np.unique(np.concatenate(last))


def steps_of(model: TreeModel, table: Table) -> dict[Any, tuple[Float, Float]]:
    """For frame columns that the forest sees as they are: the last numbers left of their thresholds, and how far it moves at each.

    That is by how much the means of the leaves on both sides differ, added up over the splits at a threshold: the most that
    an average can move there, roughly.
    """
    forest = model.forest
    moved = np.zeros(forest.condition_column.size)
    kernels.add_differences(
        node_condition=forest.node_condition, node_left=forest.node_left, node_right=forest.node_right,
        node_leaf=forest.node_leaf, leaf_value=forest.leaf_value, differences=moved,
    )  # fmt: skip
    used = np.flatnonzero(
        (moved > 0.0) & (forest.condition_set < 0) & np.isfinite(forest.condition_threshold)
    )
    if not used.size:
        return {}
    # Conditions are sorted by column and threshold; those that differ in where missing values go are one step.
    column, threshold = forest.condition_column[used], forest.condition_threshold[used]
    begins = np.append(True, (np.diff(column) != 0) | (np.diff(threshold) != 0))
    first = np.flatnonzero(begins)
    column, threshold, moved = column[first], threshold[first], np.add.reduceat(moved[used], first)
    inputs, start = np.unique(column, return_index=True)
    ends = np.append(start[1:], column.size)
    driven = Counter(input_ for own in model.drives.values() for input_ in own)
    sole = {n: int(own[0]) for n, own in model.drives.items() if len(own) == 1 and driven[own[0]] == 1}
    known = {int(i): slice(int(a), int(b)) for i, a, b in zip(inputs, start, ends)}
    first_row = table.slice(0, 1)
    asked = {
        name: input_
        for name, input_ in sole.items()
        if input_ in known and first_row.column(name).kind in NUMERIC_KINDS
    }
    if not asked:
        return {}
    probe = np.array([np.pi / 4, -np.e])  # no float32 numbers, nor ones that stand for missing
    try:
        seen = model.encode(first_row.crossed(dict.fromkeys(asked, probe)))
    except (CannotRead, IcefieldError):
        return {}
    found = {}
    for name, input_ in asked.items():
        steps, sizes = threshold[known[input_]], moved[known[input_]]
        if (seen[:, input_] == probe).all():
            found[name] = steps, sizes
        elif (seen[:, input_] == probe.astype(np.float32)).all():
            rounded = _last_rounded_left(steps)
            if len(rounded) == len(steps):
                found[name] = rounded, sizes
    return found


def _steps(model: TreeModel, column: Any, input_: int) -> Float:
    """Sorted distinct numbers after which something changes along one input of the forest."""
    forest = model.forest
    used = np.unique(forest.node_condition[forest.node_condition >= 0])
    own = used[forest.condition_column[used] == input_]
    if (forest.condition_set[own] >= 0).any():
        raise EngineError(
            f"The model splits column {column!r} by sets of categories, which have no thresholds. "
            "Hint: use Grid('distinct')."
        )
    found = forest.condition_threshold[own]
    if forest.condition_zero_missing[own].any():
        # Numbers about zero go the way of missing ones: an interval of their own.
        found = np.append(found, [np.nextafter(-ZERO_THRESHOLD, -np.inf), ZERO_THRESHOLD])
    if model.missing_number is not None and own.size:
        stand_in = np.float32(model.missing_number)
        found = np.append(found, [np.nextafter(stand_in, np.float32(-np.inf)), stand_in])
    return np.unique(found[np.isfinite(found)])


def _last_rounded_left(steps: Float) -> Float:
    """The largest float64 numbers that are at most each step once rounded to float32."""
    with np.errstate(over="ignore"):
        below = steps.astype(np.float32)
        below = np.where(below > steps, np.nextafter(below, np.float32(-np.inf)), below)
        above = np.nextafter(below, np.float32(np.inf))
        # Half-way between two float32 neighbours, rounding goes to the even one of them.
        middle = (below.astype(np.float64) + above.astype(np.float64)) / 2
        last = np.where(middle.astype(np.float32) <= steps, middle, np.nextafter(middle, -np.inf))
    return last[np.isfinite(last)]


def group_columns(groups: Sequence[tuple[int, ...]], n_columns: int) -> Int32:
    """The group each forest column moves with, -1 for none."""
    group_of_column = np.full(n_columns, -1, np.int32)
    for number, columns in enumerate(groups):
        for column in columns:
            if group_of_column[column] >= 0:
                raise EngineError.saying(
                    "The trees engine cannot vary two features separately that feed the same input of the model.",
                    "use engine='brute' here",
                )
            group_of_column[column] = number
    return group_of_column


def flat_order(axes: Sequence[EncodedAxis]) -> Int32:
    """For each point of the sorted product grid, its place in the caller's."""
    place = np.zeros(1, np.int64)
    for axis in axes:
        place = (place[:, None] * axis.size + axis.order[None, :]).ravel()
    return place.astype(np.int32)


@dataclass(frozen=True, eq=False)
class GridRegions:
    """The regions of all children of splits on moving groups, for a list of axes."""

    rank: Int32  # by node
    size: Int64  # by axis, as are words and start
    words: Int64
    start: Int64
    masks: Bits

    @property
    def first(self) -> Int64:
        """The number of each axis's first region when all are counted, and last how many there are."""
        ends = np.append(self.start[1:], self.masks.size)
        return np.concatenate([[0], np.cumsum((ends - self.start) // self.words)]).astype(np.int64)

    def on_paths(self, program: Program) -> Int64:
        """The region of each entry of the program's paths, counted over all axes; group a moves axis a."""
        entries = int(program.path_start[-1])
        group = program.path_group[:entries]
        return self.first[group] + self.rank[program.path_region[:entries]]

    @property
    def of_axes(self) -> kernels.RegionsOfAxes:
        """These regions as the kernels take them."""
        return kernels.RegionsOfAxes(
            rank=self.rank, size=self.size, words=self.words, start=self.start, masks=self.masks
        )

    @classmethod
    def of(cls, program: Program, axes: Sequence[EncodedAxis], groups: Sequence[int]) -> GridRegions:
        """GridRegions on `axes`, where axis a moves the program's group ``groups[a]``."""
        batch = program.batch
        splits = _splits_by_group(program)
        rank = np.full(batch.node_left.size, -1, np.int32)
        for own in splits:
            rank[batch.node_left[own]] = 2 * np.arange(own.size)
            rank[batch.node_right[own]] = 2 * np.arange(own.size) + 1
        layout = grid_layout(program)
        size = np.array([a.size for a in axes], np.int64)
        words = -(-size // WORD)
        counts = np.array([2 * splits[g].size for g in groups], np.int64) * words
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        masks = np.empty(int(start[-1]), np.uint64)
        bits = _bits_of_axes(layout, axes)
        for a, (axis, group) in enumerate(zip(axes, groups)):
            own = splits[group]
            if not own.size:
                continue
            kernels.find_regions(
                splits=own, node_condition=batch.node_condition, node_left=batch.node_left,
                node_right=batch.node_right, condition_row=layout.condition_row,
                region_before=program.region_before, rank=rank, bits=bits[a],
                everything=bit_mask(np.arange(axis.size, dtype=np.int32), int(words[a])),
                regions=masks[start[a] : start[a + 1]].reshape(-1, int(words[a])),
            )  # fmt: skip
        return cls(rank, size, words, start[:-1].copy(), masks)


def find_updates(program: Program, axes: Sequence[EncodedAxis]) -> Updates:
    """Each leaf's updates on the product grid: where they start, their places and signs."""
    found = GridRegions.of(program, axes, range(len(axes)))
    paths: dict[str, Any] = {
        "regions": found.of_axes,
        "path_start": program.path_start,
        "path_group": program.path_group,
        "path_region": program.path_region,
    }
    start = np.empty(program.leaf_node.size + 1, np.int64)
    kernels.count_updates(**paths, update_start=start)
    at, sign = np.empty(int(start[-1]), np.int32), np.empty(int(start[-1]))
    kernels.find_updates(**paths, update_start=start, update_at=at, update_sign=sign)
    return start, at, sign


def _splits_by_group(program: Program) -> list[Int32]:
    """The splits on each moving group, in order."""
    batch = program.batch
    splits = np.flatnonzero(batch.node_left >= 0)
    group = program.group_of_condition[batch.node_condition[splits]]
    if program.n_groups < FEW_GROUPS:
        group = group.astype(np.int16)  # of two bytes, numbers are put in order without comparing them
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(program.n_groups + 1))
    return [splits[order[a:b]].astype(np.int32) for a, b in pairwise(bounds.tolist())]


def grid_layout(program: Program) -> Layout:
    """A layout in which every condition has bits: the program's own unless subtrees walk apart."""
    if not program.has_lists:
        return program.layout
    return every_condition_packed(program.batch)


def every_condition_packed(batch: Batch) -> Layout:
    return lay_out(batch.forest, batch.conditions(), np.ones(batch.forest.condition_column.size, bool))


def _bits_of_axes(layout: Layout, axes: Sequence[EncodedAxis]) -> list[Bits]:
    """By axis, which grid points each condition on its columns sends left.

    Axes of as many words that move different columns share an array: a condition looks at one column only. What stands
    there beyond an axis's points means nothing.
    """
    found: list[Bits] = [np.empty((0, 0), np.uint64)] * len(axes)
    for together in _side_by_side([-(-axis.size // WORD) for axis in axes], [axis.columns for axis in axes]):
        bits = _grid_bits(layout, [axes[a] for a in together])
        for a in together:
            found[a] = bits
    return found


def coded_columns(layout: Layout, columns: Sequence[int]) -> tuple[Int32, Int32]:
    """The coded columns of some columns of the forest; and, for a matrix of these alone, where in it each coded column is."""
    place = np.full(int(layout.column.max(initial=-1)) + 1, -1, np.int32)
    moving = np.array(columns, np.int64)
    used = np.flatnonzero(moving < place.size)
    place[moving[used]] = used
    column = place[layout.column]
    return np.flatnonzero(column >= 0).astype(np.int32), column


def _grid_bits(layout: Layout, axes: Sequence[EncodedAxis]) -> Bits:
    """Which grid points each condition on the axes' columns sends left; they have as many words and no common column."""
    size = max(axis.size for axis in axes)
    words = -(-size // WORD)
    matrix = np.concatenate([_repeated_to(size, axis.matrix) for axis in axes], axis=1)
    chosen, column = coded_columns(layout, [column for axis in axes for column in axis.columns])
    position = np.arange(size, dtype=np.int32)
    # Only the chosen columns' rows are ever touched.
    codes = np.empty((layout.n_columns, size), np.int32)
    bits = np.empty((layout.n_rows, words), np.uint64)
    layout.encode(matrix, position, chosen, codes, column)
    layout.pack(codes, position, chosen, bits)
    return bits
