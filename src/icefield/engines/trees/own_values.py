"""Averages at every row's own values, for Friedman's H at full size: linear in the rows.

A row's own value matters only by its *cell*: where it lies among the model's thresholds. So
one- and two-way averages are tables over cells, filled by one walk and read by look-up. For any
other set of columns a leaf is added to the rows that satisfy its conditions on the set, by the
share of rows that satisfy its conditions on the other columns. Where these are one group whose
cells are known, as in "all but one feature", the share is a sum of cell frequencies; otherwise
a walk of its own counts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.engines.trees.averages import Counted, Family, family_averages
from icefield.engines.trees.axes import EncodedAxis, every_condition_packed, find_updates
from icefield.engines.trees.curves import Curves, Part
from icefield.engines.trees.program import JOINT, Batch
from icefield.engines.trees.rows import Rows
from icefield.forest.tree_model import TreeModel

Float = NDArray[np.float64]
CELL_BYTES = 4


@dataclass(frozen=True)
class Cells:
    """The distinct places a group's values have among the thresholds, and each row's."""

    axis: EncodedAxis  # one point a cell, in order
    of_row: NDArray[np.int32]

    def weight_from(self, weights: Float | None) -> Float:
        """The share of the rows' weight in each cell or a later one."""
        own = np.bincount(self.of_row, weights, minlength=self.axis.size).astype(np.float64)
        return np.cumsum(own[::-1])[::-1] / max(own.sum(), np.finfo(np.float64).tiny)


class _Shared(Curves):
    """Every row's sum over the leaves it reaches with one group open, each by the group's share of it."""

    def __init__(self, own: OwnValues, cells: Cells) -> None:
        counted = own.counted
        super().__init__(own.model, counted.sums, (), counted.crew, counted.memory, opened=cells.axis.columns)
        self.cells, self.weight_from = cells, cells.weight_from(own.rows.sample.weights)

    def _part(self, trees: NDArray[np.intp]) -> Part:
        part = super()._part(trees)
        start, at, sign = find_updates(part.program, [self.cells.axis])
        # A run of cells from a to b has the weight from a on, less that from b on.
        leaf = np.repeat(np.arange(len(start) - 1), np.diff(start))
        share = np.bincount(leaf, sign * self.weight_from[at], minlength=len(start) - 1)
        return replace(part, leaf_value=part.leaf_value * share[:, None])


class OwnValues:
    """Averages of any sets of frame columns at the rows' own values."""

    def __init__(self, model: TreeModel, counted: Counted) -> None:
        self.model, self.counted = model, counted
        self.rows: Rows = counted.rows
        self._cells: dict[tuple[int, ...], Cells] = {}

    def columns(self, names: Sequence[Any]) -> tuple[int, ...]:
        """The forest columns that frame columns decide."""
        return tuple(sorted({j for name in names for j in self.model.drives.get(name, ())}))

    @staticmethod
    def fits(model: TreeModel, sets: Sequence[Sequence[Any]], n_rows: int, memory: int) -> bool:
        """Whether the cells of all rows fit half the budget."""
        names = {name for one in sets if len(one) <= 2 for name in one}
        return CELL_BYTES * len(names) * n_rows <= memory // 2

    def averages(self, sets: Sequence[Sequence[Any]]) -> Iterator[Float]:
        """``(outputs, rows)`` for each set, in order."""
        for is_small, chosen in groupby(sets, key=lambda one: len(one) <= 2):
            if is_small:
                yield from self._by_tables(list(chosen))
            else:
                yield from (self._by_leaves(self.columns(names)) for names in chosen)

    # --- one- and two-way: tables over cells -----------------------------------------------------

    def _by_tables(self, sets: list[Sequence[Any]]) -> Iterator[Float]:
        self._find_cells([self.columns([name]) for names in sets for name in names])
        cells = [[self._cells[self.columns([name])] for name in names] for names in sets]
        for order, alike in groupby(cells, key=len):
            for part in self._in_budget(list(alike)):
                family = Family()
                for one in part:
                    family.add([c.axis for c in one])
                for one, (table,) in zip(part, family_averages(self.counted, family)):
                    place = one[0].of_row.astype(np.int64)
                    if order == 2:
                        place = place * one[1].axis.size + one[1].of_row
                    yield table.reshape(len(table), -1)[:, place]

    def _in_budget(self, cells: list[list[Cells]]) -> Iterator[list[list[Cells]]]:
        """Runs of sets whose tables fit half the budget together."""
        limit = self.counted.memory // 2
        run: list[list[Cells]] = []
        spent = 0
        for one in cells:
            size = 16 * len(self.counted.sums.outputs) * int(np.prod([c.axis.size for c in one]))
            if run and spent + size > limit:
                yield run
                run, spent = [], 0
            run.append(one)
            spent += size
        if run:
            yield run

    def _find_cells(self, groups: Sequence[tuple[int, ...]]) -> None:
        wanted = [g for g in dict.fromkeys(groups) if g not in self._cells]
        if not wanted:
            return
        sums, rows, n_rows = self.counted.sums, self.rows, self.rows.sample.n_rows
        layout = every_condition_packed(Batch.of(sums, sums.trees))
        deciding = [np.flatnonzero(np.isin(layout.column, g)).astype(np.int32) for g in wanted]
        chosen = np.unique(np.concatenate([np.zeros(0, np.int32), *deciding]))
        numbers = np.zeros((len(wanted), n_rows), np.int64)

        def work(block: tuple[int, int]) -> None:
            start, stop = block
            codes = np.zeros((layout.n_columns, stop - start), np.int32)
            position = np.arange(stop - start, dtype=np.int32)
            layout.encode(rows.matrix(start, stop), position, chosen, codes)
            for number, own in zip(numbers, deciding):
                for v in own:
                    places = int(layout.cut_count[v]) + 2
                    number[start:stop] *= places
                    number[start:stop] += np.minimum(codes[v], places - 1)

        for _ in self.counted.crew.map(work, rows.blocks):
            pass
        table = rows.sample.table
        for group, number in zip(wanted, numbers):
            first, of_row = _distinct(number)
            matrix = np.asarray(self.model.encode(table.take(first)), np.float64)
            axis = EncodedAxis.of_matrix(group, matrix)
            rank = np.empty(axis.size, np.int32)
            rank[axis.order] = np.arange(axis.size, dtype=np.int32)
            in_order = replace(axis, order=np.arange(axis.size, dtype=np.int32))
            self._cells[group] = Cells(in_order, rank[of_row])

    # --- any set: leaf by leaf -------------------------------------------------------------------

    def _by_leaves(self, columns: tuple[int, ...]) -> Float:
        others = tuple(j for j in range(self.counted.sums.forest.n_columns) if j not in columns)
        if others and others in self._cells:
            curves: Curves = _Shared(self, self._cells[others])
        else:
            curves = self._with_counted_shares(columns, others)
        found = np.empty((len(self.counted.sums.outputs), self.rows.sample.n_rows))
        for start, stop, values in curves.reduced(self.rows.sample, lambda *block: block[2][:, 0].T):
            found[:, start:stop] = values
        return found

    def _with_counted_shares(self, columns: tuple[int, ...], others: tuple[int, ...]) -> Curves:
        counted, sums = self.counted, self.counted.sums
        if others:
            value = np.zeros((sums.forest.node_left.size, sums.leaf_width))
            for program in counted.programs([columns], JOINT):
                share = counted.shares(counted.counts(program))[0][program.leaf_slot]
                value[program.batch.node_number[program.leaf_node]] = program.leaf_value * share[:, None]
            sums = sums.with_values(value)
        return Curves(self.model, sums, (), counted.crew, counted.memory, opened=others)


def _distinct(numbers: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The row that first shows each distinct number, in their order, and the place of each row's."""
    largest = int(numbers.max(initial=0))
    if largest > 4 * numbers.size:
        _, first, of_row = np.unique(numbers, return_index=True, return_inverse=True)
        return first, of_row.reshape(-1)
    # Few possible numbers need no sorting.
    shown_by = np.full(largest + 1, -1, np.intp)
    shown_by[numbers[::-1]] = np.arange(numbers.size)[::-1]
    is_shown = shown_by >= 0
    return shown_by[is_shown], (np.cumsum(is_shown) - 1)[numbers]
