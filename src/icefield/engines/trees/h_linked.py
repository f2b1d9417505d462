"""Averages at a few rows' own values on a linked scale: single groups, pairs and all but one, together.

See the kernels' `crossing`: what moving one group does to every row is kept for some rows at a time, and a pair adds
to it only what leaves with both groups on their path do. So thousands of pairs cost little more than the link
of every combination of two rows.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from icefield import kernels
from icefield.core.question import ColumnSets
from icefield.core.rows import Block
from icefield.engines.trees.axes import EncodedAxis, GridRegions, group_columns
from icefield.engines.trees.linked import LINKS
from icefield.engines.trees.program import SINGLES, Batch, Program, TreeSums
from icefield.forest.check import raw_by_levels
from icefield.forest.tree_model import LinkForm, TreeModel
from icefield.progress import Progress
from icefield.threads import ThreadCrew, unless_stopped
from icefield.typing import Float, Int32, Int64

MOST_ROWS = 2_048  # each is crossed with each
MOST_ENTRIES = 2**23  # pairs of groups on the paths of all leaves
MOVES = 2**24  # bytes of what single groups do to the rows at work; those of the rows before are held as well
GROUPS, PAIRS_AT_ONCE = 8, 64  # that one task takes
WINDOW_GROUPS = 2  # pairs for each group, at least, whose averages are found together

Columns = frozenset[int]


@dataclass(frozen=True, eq=False)
class WantedAverages:
    """Sets of forest columns, taken apart into groups that move.

    Attributes
    ----------
    groups : disjoint sets of forest columns
    pairs : places of two groups each
    parts : for every set asked for what it is, and of what: ``("group", g)``, ``("pair", p)``, ``("without", g)``,
        ``("all", 0)`` or ``("none", 0)``
    """

    groups: tuple[Columns, ...]
    pairs: tuple[tuple[int, int], ...]
    parts: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, model: TreeModel, sets: ColumnSets) -> WantedAverages | None:
        """None where a set is of another kind."""
        every = frozenset(j for driven in model.drives.values() for j in driven)
        moved = [frozenset(j for name in columns for j in model.drives.get(name, ())) for columns in sets]
        groups: dict[Columns, int] = {}
        owner: dict[int, int] = {}
        for own in sorted({m for m in moved if m and m != every}, key=lambda m: (len(m), sorted(m))):
            if not any(j in owner for j in own):
                owner |= dict.fromkeys(own, len(groups))
                groups[own] = len(groups)
        atoms = tuple(groups)
        pairs: dict[tuple[int, int], int] = {}
        parts: list[tuple[str, int]] = []
        for own in moved:
            met = sorted({owner[j] for j in own if j in owner})
            if own == every:
                parts.append(("all", 0))
            elif not own:
                parts.append(("none", 0))
            elif own in groups:
                parts.append(("group", groups[own]))
            elif every - own in groups:
                parts.append(("without", groups[every - own]))
            elif len(met) == 2 and own == atoms[met[0]] | atoms[met[1]]:
                parts.append(("pair", pairs.setdefault((met[0], met[1]), len(pairs))))
            else:
                return None
        return cls(atoms, tuple(pairs), tuple(parts))


class LinkedAverages:
    """The averages of a small sample crossed with itself, by trees with every raw output.

    Attributes
    ----------
    margins : the rows' own sums of the trees, ``(rows, outputs)``
    weight : the rows' shares of all weight
    """

    def __init__(
        self,
        model: TreeModel,
        sums: TreeSums,
        wanted: WantedAverages,
        sample: Block,
        form: LinkForm,
        crew: ThreadCrew,
    ) -> None:
        self.sums, self.wanted, self.form, self.crew = sums, wanted, form, crew
        self.outputs, self.rows = len(sums.outputs), sample.n_rows
        self.matrix = np.ascontiguousarray(model.encode(sample.table), dtype=np.float64)
        self.weight = np.ones(self.rows) if sample.weights is None else sample.weights
        self.weight = np.ascontiguousarray(self.weight / self.weight.sum())
        self.margins = raw_by_levels(sums.forest, self.matrix)

    @classmethod
    def fits(cls, sums: TreeSums, wanted: WantedAverages, n_rows: int, memory: int) -> bool:
        """Whether crossing stays small: in rows, in groups that meet on paths, and in memory."""
        if n_rows > MOST_ROWS:
            return False
        forest = sums.forest
        depth = np.log2(1.0 + forest.node_left.size / max(1, forest.tree_root.size))
        crossed = min(depth, len(wanted.groups)) ** 2 / 2
        # What single groups do is found again for every window of pairs.
        worthwhile = min(len(wanted.pairs), WINDOW_GROUPS * len(wanted.groups))
        window = cls.window(sums, wanted, n_rows, memory)
        return bool(crossed * forest.node_left.size / 2 < MOST_ENTRIES and window >= worthwhile)

    @classmethod
    def window(cls, sums: TreeSums, wanted: WantedAverages, n_rows: int, memory: int) -> int:
        """How many pairs' averages are held at a time, beside those of single groups; below zero, where not even these fit."""
        a_set = 8 * max(1, n_rows * len(sums.outputs))
        return (memory // 4 - 2 * MOVES) // a_set - 3 * len(wanted.groups)

    @cached_property
    def _program(self) -> Program:
        # Columns that stay are a group too: a leaf is reached by rows that meet their conditions.
        groups = [tuple(sorted(g)) for g in (*self.wanted.groups, self._staying)]
        columns = group_columns(groups, self.sums.forest.n_columns)
        return Program.of(Batch.of(self.sums, self.sums.trees), columns, len(groups), SINGLES, scatter=True)

    @property
    def _staying(self) -> Columns:
        return frozenset(range(self.sums.forest.n_columns)).difference(*self.wanted.groups)

    @cached_property
    def _paths(self) -> tuple[Int64, Int64]:
        """By entry of the paths, its leaf and its group."""
        start, group = self._program.path_start, self._program.path_group
        return np.repeat(np.arange(start.size - 1), np.diff(start)), group[: start[-1]].astype(np.int64)

    @cached_property
    def _trees(self) -> kernels.CrossTrees:
        program, own = self._program, np.ascontiguousarray(self.margins.T)
        groups = (*self.wanted.groups, self._staying)
        order = np.arange(self.rows, dtype=np.int32)
        axes = [EncodedAxis(tuple(sorted(g)), self.matrix[:, sorted(g)], order) for g in groups]
        regions = GridRegions.of(program, axes, range(len(axes)))
        return kernels.CrossTrees(
            leaf_value=np.ascontiguousarray(program.leaf_value), leaf_output=program.batch.node_output[program.leaf_node],
            path_start=program.path_start, path_mask=regions.on_paths(program).astype(np.int32),
            masks=regions.masks.reshape(-1, -(-self.rows // 64)), own=own, weight=self.weight,
            link=LINKS[self.form.kind], factor=self.form.factor,
        )  # fmt: skip

    def averages(self, window: int, progress: Progress) -> Generator[Float]:
        """The averages ``(outputs, rows)`` of all sets wanted but those of everything and nothing, `window` pairs at a time."""
        window = max(1, min(window, len(self.wanted.pairs)))
        begin, found = 0, self._crossed(slice(0, window), progress)
        for kind, number in self.wanted.parts:
            if kind == "pair" and not begin <= number < begin + window:
                begin = number // window * window
                del found["pair"]  # before there are others
                found |= self._crossed(slice(begin, begin + window), progress, again=True)
            if kind in found:
                yield found[kind][number - begin if kind == "pair" else number]

    def _crossed(self, window: slice, progress: Progress, again: bool = False) -> dict[str, Float]:
        """By kind of set the averages ``(sets, outputs, rows)``, of some pairs; `again` without those of single groups."""
        pair_groups = np.array(self.wanted.pairs[window], np.int32).reshape(-1, 2)
        n_groups, n_pairs = len(self.wanted.groups), len(pair_groups)
        trees, singles, pairs = self._trees, self._single_entries, self._entries_of(window)
        shape = (0 if again else n_groups, self.outputs, self.rows)
        alone, without = np.zeros(shape), np.zeros(shape)
        joint = np.zeros((n_pairs, self.outputs, self.rows))
        at_once = max(1, MOVES // (8 * self.rows * self.outputs * max(1, n_groups)))
        for first in range(0, self.rows, at_once):
            here = min(at_once, self.rows - first)
            moves = np.empty((n_groups, self.outputs * here, self.rows))

            def move(part: Int32, first: int = first, moves: Float = moves) -> None:
                unless_stopped(kernels.cross_singles(
                    trees=trees, first=first, groups=part, **singles, moves=moves,
                    averages=alone, others=without, stop=self.crew.stop,
                ))  # fmt: skip

            def cross(part: Int32, first: int = first, moves: Float = moves) -> None:
                unless_stopped(kernels.cross_pairs(
                    trees=trees, first=first, asked=part, pairs=pair_groups, **pairs, moves=moves,
                    averages=joint, stop=self.crew.stop,
                ))  # fmt: skip

            self.crew.each(move, _parts(n_groups, GROUPS))
            self.crew.each(cross, _parts(n_pairs, PAIRS_AT_ONCE))
            progress.advance(here * max(1, n_pairs))
        return {"pair": joint} if again else {"pair": joint, "group": alone, "without": without}

    def _entries_of(self, window: slice) -> dict[str, Int32]:
        """The entries of some of the pairs."""
        every = self._pair_entries
        start = every["entry_start"][window.start : window.stop + 1]
        some = slice(start[0], start[-1])
        return {
            "entry_start": start - start[0],
            "entry_leaf": every["entry_leaf"][some],
            "entry_path": every["entry_path"][some],
        }

    @cached_property
    def _single_entries(self) -> dict[str, Int32]:
        """The places of each group on paths."""
        leaf, group = self._paths
        order = np.argsort(group, kind="stable")
        return {
            "entry_start": _starts(group[order], len(self.wanted.groups)),
            "entry_leaf": leaf[order].astype(np.int32),
            "entry_path": order.astype(np.int32),
        }

    @cached_property
    def _pair_entries(self) -> dict[str, Int32]:
        """The places of each pair's groups on the paths that have both."""
        leaf, group = self._paths
        n_groups = len(self.wanted.groups)
        number = np.full((n_groups + 1, n_groups + 1), -1, np.int64)
        for place_of, (one, other) in enumerate(self.wanted.pairs):
            number[one, other] = number[other, one] = place_of
        ends = self._program.path_start[1:][leaf].astype(np.int64)
        first, second = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        place = np.arange(leaf.size)
        for apart in range(1, int(np.diff(self._program.path_start).max(initial=1))):
            here = place[place + apart < ends]
            here = here[number[group[here], group[here + apart]] >= 0]
            first.append(here)
            second.append(here + apart)
        places = np.stack([np.concatenate(first), np.concatenate(second)], axis=1)
        pair = number[group[places[:, 0]], group[places[:, 1]]]
        order = np.argsort(pair, kind="stable")
        return {
            "entry_start": _starts(pair[order], len(self.wanted.pairs)),
            "entry_leaf": leaf[places[order, 0]].astype(np.int32),
            "entry_path": np.ascontiguousarray(places[order], dtype=np.int32),
        }


def _starts(owner: Int64, n_owners: int) -> Int32:
    """Where each owner's entries begin among entries sorted by owner."""
    return np.searchsorted(owner, np.arange(n_owners + 1)).astype(np.int32)


def _parts(size: int, at_once: int) -> list[Int32]:
    every = np.arange(size, dtype=np.int32)
    return [every[start : start + at_once] for start in range(0, size, at_once)]
