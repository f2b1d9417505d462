"""Rows moved to both ends of the steps they stand in, for all features in one walk.

Rows are bits here (see `leaf_masks`): which are in a leaf, and which would be if one feature moved, is found once for all
features. Neighbouring points differ in few conditions, so for most leaves these are the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from icefield import kernels
from icefield.core.placement import Placement, PlaceSums
from icefield.engines.trees.axes import EncodedAxis, coded_columns, grid_layout, group_columns
from icefield.engines.trees.encoded import stored_rows
from icefield.engines.trees.layout import Layout
from icefield.engines.trees.leaf_masks import LeafMasks, bytes_of, can_be_masked
from icefield.engines.trees.linked import CODE_BYTES, LEAST_ROWS, LINKS, MOST_ROWS
from icefield.engines.trees.packed_rows import WORD
from icefield.engines.trees.program import SINGLES, Batch, Program, TreeSums
from icefield.forest.tree_model import LinkForm, TreeModel
from icefield.progress import Progress
from icefield.threads import ThreadCrew, unless_stopped
from icefield.typing import Array, Float, Int32


class Unlike(Exception):
    """A row's value is not that of the level it stands at, for the trees; never reaches the caller."""


@dataclass(frozen=True, eq=False)
class LocalSums:
    """What moving rows adds up to along several axes, each by itself; no two may share a forest column.

    Without a link (`form`) these are the trees' sums themselves; with one the trees have every raw output, and `selected`
    are the outputs wanted, among those of the link.
    """

    model: TreeModel
    sums: TreeSums
    selected: Sequence[int]
    form: LinkForm | None
    axes: Sequence[EncodedAxis]
    standing: Placement
    crew: ThreadCrew

    @property
    def sizes(self) -> list[int]:
        return [axis.size for axis in self.axes]

    @cached_property
    def _chosen(self) -> Int32:
        if self.form is None:
            return np.arange(len(self.sums.outputs), dtype=np.int32)
        return np.array([0 if self.form.complement else output for output in self.selected], np.int32)

    @cached_property
    def _sign(self) -> Float:
        turned = self.form is not None and self.form.complement
        return np.array([-1.0 if turned and output == 0 else 1.0 for output in self.selected])

    @property
    def possible(self) -> bool:
        """Whether no forest column moves twice, and trees are few and small enough for masks."""
        moving = [column for axis in self.axes for column in axis.columns]
        return len(set(moving)) == len(moving) and can_be_masked(self._program, self.sums.base, self._form)

    @property
    def _form(self) -> LinkForm:
        return LinkForm("identity") if self.form is None else self.form

    def fits(self, memory: int) -> bool:
        """Whether trees and sums stay within the budget."""
        tables = PlaceSums.size(sum(self.sizes), self.standing.n_segments, self._chosen.size)
        masks = 2 * bytes_of(self._program, self.crew.threads)
        return (2 * self.crew.threads + 2) * tables + masks <= memory // 2

    @cached_property
    def _batch(self) -> Batch:
        return Batch.of(self.sums, self.sums.trees)

    @cached_property
    def _program(self) -> Program:
        groups = group_columns([axis.columns for axis in self.axes], self.sums.forest.n_columns)
        return Program.of(self._batch, groups, len(self.axes), SINGLES, scatter=True)

    @cached_property
    def _layout(self) -> Layout:
        return grid_layout(self._program)

    @cached_property
    def _trees(self) -> kernels.MaskedTrees:
        return LeafMasks.of(self._program, self._layout, self.sums.base, len(self.axes), self._form).given

    @cached_property
    def _moving(self) -> dict[str, Array]:
        """The coded columns that move, their groups, and the codes of these groups' points."""
        layout, columns, groups, codes = self._layout, [], [], [np.zeros(0, np.int32)]
        for group, axis in enumerate(self.axes):
            own, column = coded_columns(layout, axis.columns)
            found = np.empty((layout.n_columns, axis.size), np.int32)
            in_order = np.ascontiguousarray(axis.matrix[np.argsort(axis.order)])
            layout.encode(in_order, np.arange(axis.size, dtype=np.int32), own, found, column)
            columns += own.tolist()
            groups += [group] * own.size
            codes += [found[column] for column in own]
        ends = np.cumsum([c.size for c in codes])
        return {
            "moving": np.array(columns, np.int32),
            "moving_group": np.array(groups, np.int32),
            "code_start": ends[:-1].astype(np.int64),
            "node_code": np.concatenate(codes),
        }

    def found(self, rows: Any) -> PlaceSums:
        """The sums over all rows, which are given encoded or as a table."""
        total = self._nothing()
        with Progress("moving rows", total=rows.n_rows) as progress:
            for part in self.crew.map(lambda block: self._added(rows, block), self._blocks(rows.n_rows)):
                total.merge(part[1])
                progress.advance(part[0])
        return total

    def _nothing(self) -> PlaceSums:
        return PlaceSums.none(self.sizes, self.standing.n_segments, self._chosen.size)

    def _blocks(self, n_rows: int) -> list[tuple[int, int]]:
        # Of the layout alone, so that sums are the same for any number of threads.
        self._trees, self._moving  # noqa: B018  (made here, before threads ask for them)
        fitting = CODE_BYTES // (4 * max(1, self._layout.n_columns)) // WORD * WORD
        block = int(min(max(fitting, LEAST_ROWS), MOST_ROWS))
        return [(start, min(start + block, n_rows)) for start in range(0, n_rows, block)]

    def _added(self, rows: Any, block: tuple[int, int]) -> tuple[int, PlaceSums]:
        start, stop = block
        standing, layout, moving, n = self.standing, self._layout, self._moving, stop - start
        place = standing.places(start, stop)
        levels = np.array(standing.on_levels, np.uint8)
        stored = stored_rows(self.model, rows.slice(start, stop))
        own, before, after = (np.empty((layout.n_columns, n), np.int32) for _ in range(3))
        position, every = np.arange(n, dtype=np.int32), np.arange(layout.n_columns, dtype=np.int32)
        layout.encode_stored(stored, position, every, own)
        unlike = np.zeros(1, np.int64)
        kernels.move_codes(
            place=place, on_levels=levels, nodes=np.array(self.sizes, np.int32), **moving, codes=own,
            before=before, after=after, unlike=unlike,
        )  # fmt: skip
        if unlike[0]:
            raise Unlike
        bits = [np.empty((layout.n_rows, -(-n // WORD)), np.uint64) for _ in range(3)]
        layout.pack(own, position, every, bits[0])
        for codes, packed in ((before, bits[1]), (after, bits[2])):
            layout.pack(codes, position, moving["moving"], packed)
        found = self._nothing()
        unless_stopped(kernels.add_local_moves(
            trees=self._trees, link=LINKS[self._form.kind], factor=self._form.factor, chosen=self._chosen, sign=self._sign,
            on_levels=levels, place_start=found.start[:-1], place=place, weight=_part(standing.weights, block),
            square=_part(standing.squares, block), segment=standing.segments[start:stop],
            own=bits[0], before=bits[1], after=bits[2], counts=found.counts,
            changes=found.changes.reshape(*found.counts.shape[:2], -1), stop=self.crew.stop,
        ))  # fmt: skip
        return n, found


def _part(values: Float, block: tuple[int, int]) -> Float:
    return np.ascontiguousarray(values[slice(*block)])
