"""Averages at every row's own values, for Friedman's H at full size: linear in the rows.

A row's own value matters only by its *cell*: where it lies among the model's thresholds. So
one- and two-way averages are tables over cells, filled by one walk and read by look-up. For any
other set of columns a leaf is added to the rows that satisfy its conditions on the set, by the
share of rows that satisfy its conditions on the other columns. Where these are one group whose
cells are known, as in "all but one feature", the share is a sum of cell frequencies and all such
sets take one walk; otherwise a walk of its own counts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from icefield import kernels
from icefield.core.question import ColumnSets
from icefield.core.rows import Block
from icefield.engines.trees.averages import Counted, Family, family_averages
from icefield.engines.trees.axes import (
    EncodedAxis,
    GridRegions,
    every_condition_packed,
    forest_columns,
    group_columns,
)
from icefield.engines.trees.curves import ForestCurves
from icefield.engines.trees.packed_rows import WORD, PackedRows
from icefield.engines.trees.predictions import raw_predictions
from icefield.engines.trees.program import JOINT, SINGLES, Batch, Program, batches
from icefield.engines.trees.visits import Walk, each_block
from icefield.forest.tree_model import TreeModel
from icefield.threads import unless_stopped
from icefield.typing import Float, Int32, Int64, Positions

CELL_BYTES = 4
BLOCK_BYTES = 2**19  # of a block's averages over all groups
MOST_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Cells:
    """The distinct places a group's values have among the thresholds, and each row's."""

    axis: EncodedAxis  # one point a cell, in order
    of_row: Int32

    def weight_from(self, weights: Float | None) -> Float:
        """The share of the rows' weight in each cell or a later one."""
        own = np.bincount(self.of_row, weights, minlength=self.axis.size).astype(np.float64)
        return np.cumsum(own[::-1])[::-1] / max(own.sum(), np.finfo(np.float64).tiny)


class Others:
    """Every row's prediction averaged over one group's values, for several groups in one walk."""

    def __init__(self, own: AveragesAtRows, cells: Sequence[Cells]) -> None:
        self.counted, self.model, self.sample = own.counted, own.model, own.rows.sample
        self.axes = [c.axis for c in cells]
        self.groups = [axis.columns for axis in self.axes]
        weight_from = [c.weight_from(self.sample.weights) for c in cells]
        self._weight_from = np.concatenate(weight_from)
        self._weight_start = np.cumsum([0, *(len(w) for w in weight_from)]).astype(np.int64)

    def averages(self) -> Iterator[Float]:
        """``(outputs, rows)`` for each group."""
        counted, columns = self.counted, 1 + len(self.groups)
        outputs = len(counted.sums.outputs)
        fitting = BLOCK_BYTES // (8 * outputs * columns) // WORD * WORD
        rows = PackedRows(self.model, Block(self.sample.table), min(max(fitting, WORD), MOST_ROWS))
        found = np.zeros((columns, outputs, self.sample.n_rows))
        group_of_column = group_columns(self.groups, counted.sums.forest.n_columns)
        for trees in batches(
            counted.sums, len(self.groups), SINGLES, words=rows.words, threads=counted.crew.threads,
            segments=1, memory=counted.memory,
        ):  # fmt: skip
            batch = Batch.of(counted.sums, trees)
            program = Program.of(batch, group_of_column, len(self.groups), SINGLES, scatter=True)
            for (start, stop), added in self._walk(program, rows):
                found[:, :, start:stop] += added.transpose(1, 0, 2)
        found[0] += counted.sums.base[:, None]
        return (np.add(found[0], change, out=change) for change in found[1:])

    def _walk(self, program: Program, rows: PackedRows) -> Iterator[tuple[tuple[int, int], Float]]:
        shares, counted = self._path_shares(program), self.counted
        leaves = program.leaves

        def work(block: tuple[int, int], walk: Walk) -> tuple[tuple[int, int], Float]:
            added = np.zeros((len(counted.sums.outputs), 1 + len(self.groups), block[1] - block[0]))
            unless_stopped(kernels.add_others(
                walk=walk, leaves=leaves, path_start=program.path_start, path_group=program.path_group,
                path_share=shares, out=added,
            ))  # fmt: skip
            return block, added

        yield from each_block(program, rows, counted.crew, work)

    def _path_shares(self, program: Program) -> Float:
        """For each entry of the program's paths, the share of the data in its region of its group."""
        found = GridRegions.of(program, self.axes, range(len(self.axes)))
        share = np.zeros(int(found.first[-1]))
        kernels.region_shares(
            masks=found.masks, start=found.start, words=found.words, first=found.first,
            weight_from=self._weight_from, weight_start=self._weight_start, share=share,
        )  # fmt: skip
        return share[found.on_paths(program)]


def _apart(groups: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The first of these groups and all later ones that share no column with one before."""
    chosen: list[tuple[int, ...]] = []
    for group in groups:
        if not any(set(group) & set(other) for other in chosen):
            chosen.append(group)
    return chosen


class AveragesAtRows:
    """Averages of any sets of frame columns at the rows' own values."""

    def __init__(self, model: TreeModel, counted: Counted) -> None:
        self.model, self.counted = model, counted
        self.rows: PackedRows = counted.rows
        self._cells: dict[tuple[int, ...], Cells] = {}

    @staticmethod
    def fits(sets: ColumnSets, n_rows: int, memory: int) -> bool:
        """Whether the cells of all rows fit half the budget."""
        names = {name for one in sets if len(one) <= 2 for name in one}
        return CELL_BYTES * len(names) * n_rows <= memory // 2

    def averages(self, sets: ColumnSets) -> Iterator[Float]:
        """``(outputs, rows)`` for each set, in order."""
        for is_small, chosen in groupby(sets, key=lambda one: len(one) <= 2):
            if is_small:
                yield from self._by_tables(list(chosen))
            else:
                yield from self._of_many([forest_columns(self.model, names) for names in chosen])

    # --- one- and two-way: tables over cells -----------------------------------------------------

    def _by_tables(self, sets: list[Sequence[Any]]) -> Iterator[Float]:
        groups = [[forest_columns(self.model, [name]) for name in names] for names in sets]
        self._find_cells([group for own in groups for group in own])
        cells = [[self._cells[group] for group in own] for own in groups]
        for order, alike in groupby(cells, key=len):
            for part in self._in_budget(list(alike)):
                family = Family()
                for one in part:
                    family.add([c.axis for c in one])
                for one, (table,) in zip(part, family_averages(self.counted, family)):
                    if order == 1:
                        yield table[:, one[0].of_row]
                        continue
                    values = np.empty((self.rows.sample.n_rows, len(table)))
                    kernels.look_up_surface(
                        surface=np.ascontiguousarray(table), first_of=one[0].of_row,
                        second_of=one[1].of_row, values=values,
                    )  # fmt: skip
                    yield values.T

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
            layout.encode_stored(rows.stored(start, stop), position, chosen, codes)
            for number, own in zip(numbers, deciding):
                for v in own:
                    places = int(layout.search.count[v]) + 2
                    number[start:stop] *= places
                    number[start:stop] += np.minimum(codes[v], places - 1)

        self.counted.crew.each(work, rows.blocks)
        table = rows.sample.table
        for group, number in zip(wanted, numbers):
            first, of_row = _distinct(number)
            matrix = np.asarray(self.model.encode(table.take(first)), np.float64)
            axis = EncodedAxis.of_matrix(group, matrix)
            rank = np.empty(axis.size, np.int32)
            rank[axis.order] = np.arange(axis.size, dtype=np.int32)
            in_order = replace(axis, order=np.arange(axis.size, dtype=np.int32))
            self._cells[group] = Cells(in_order, rank[of_row])

    # --- many columns: leaf by leaf --------------------------------------------------------------

    def _of_many(self, sets: list[tuple[int, ...]]) -> Iterator[Float]:
        """Sets that leave out one group with known cells share a walk; any other walks alone."""
        n_columns = self.counted.sums.forest.n_columns
        left_out = [tuple(j for j in range(n_columns) if j not in columns) for columns in sets]
        waiting = [g for g in dict.fromkeys(left_out) if g and g in self._cells]
        row_bytes = 8 * len(self.counted.sums.outputs) * self.rows.sample.n_rows
        at_once = max(1, self.counted.memory // 2 // max(row_bytes, 1) - 1)
        found: dict[tuple[int, ...], Float] = {}
        for columns, group in zip(sets, left_out):
            if group in waiting:
                part = _apart(waiting[waiting.index(group) :])[:at_once]
                found = dict(zip(part, Others(self, [self._cells[g] for g in part]).averages()))
                waiting = [g for g in waiting if g not in part]
            yield found[group] if group in found else self._by_leaves(columns, group)

    def _by_leaves(self, columns: tuple[int, ...], others: tuple[int, ...]) -> Float:
        counted = self.counted
        if not others:  # the predictions themselves
            (raw,) = raw_predictions(self.model, counted.sums, self.rows.sample, counted.crew, counted.memory)
            return raw.T
        curves = self._with_counted_shares(columns, others)
        found = np.empty((len(counted.sums.outputs), self.rows.sample.n_rows))
        for start, stop, values in curves.reduced(self.rows.sample, lambda *block: block[2][:, 0].T):
            found[:, start:stop] = values
        return found

    def _with_counted_shares(self, columns: tuple[int, ...], others: tuple[int, ...]) -> ForestCurves:
        counted, sums = self.counted, self.counted.sums
        value = np.zeros((sums.forest.node_left.size, sums.leaf_width))
        for program in counted.programs([columns], JOINT):
            share = counted.shares(counted.counts(program))[0][program.leaf_slot]
            value[program.batch.node_number[program.leaf_node]] = program.leaf_value * share[:, None]
        sums = sums.with_values(value)
        return ForestCurves(self.model, sums, (), counted.crew, counted.memory, opened=others)


def _distinct(numbers: Int64) -> tuple[Positions, Positions]:
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
