"""Averages over all rows, from counts: the grid and the rows never meet.

On an additive scale an average needs, for every leaf, only how many rows reach it with the
moving groups left open. Many questions share one walk (a *family*); a single question of any
number of axes has a walk of its own, with one mask a node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield import kernels
from icefield.engines.trees.axes import EncodedAxis, GridRegions, Updates, find_updates, group_columns
from icefield.engines.trees.packed_rows import WORD, PackedRows, Workspace, aligned
from icefield.engines.trees.program import JOINT, PAIRS, SINGLES, Program, TreeSums, batches
from icefield.progress import Progress
from icefield.threads import PerThread, ThreadCrew, unless_stopped
from icefield.typing import Bytes, Float, Int64

WORDS = 64  # of a mask when rows are packed and counted in one call, which the kernel knows beforehand
SHORT = 2**33  # rows times nodes that are counted in a tenth of a second or so
PAIRS_SHARE_A_WALK = 4  # fewer two-way questions are cheaper one by one


@dataclass(frozen=True, eq=False)
class Counted:
    """What an average is taken over: the trees, the rows, the threads, the memory."""

    sums: TreeSums
    rows: PackedRows
    crew: ThreadCrew
    memory: int
    progress: Progress

    def programs(
        self, groups: Sequence[tuple[int, ...]], mode: int, asked: Bytes | None = None
    ) -> Iterator[Program]:
        """The programs of all batches of trees, for groups of forest columns."""
        n_groups, group_of_column = len(groups), group_columns(groups, self.sums.forest.n_columns)
        for trees in batches(self.sums, n_groups, mode, **self._room):
            yield Program.of(self.sums.batch(trees), group_of_column, n_groups, mode, asked=asked)

    def standing_programs(self) -> Iterator[Program]:
        """Those with which rows are counted at leaves when nothing is left open."""
        return self.sums.standing_programs(False, self._room)

    @property
    def _room(self) -> dict[str, int]:
        """What batches of trees leave room for."""
        rows, threads = self.rows, self.crew.threads
        return {"words": rows.words, "threads": threads, "segments": rows.n_segments, "memory": self.memory}

    def counts(self, program: Program, meanwhile: Callable[[], object] | None = None) -> Int64:
        """Whole weights of the rows in every slot, by segment; `meanwhile` is done while threads count."""
        (found,) = self.counts_of_moves(program, meanwhile)
        return found

    def counts_of_moves(
        self, program: Program, meanwhile: Callable[[], object] | None = None
    ) -> Iterator[Int64]:
        """The same for every way in which the rows move."""
        batch, rows = program.batch, self.rows
        plain = rows.are_alike(program.layout, program.has_lists)
        together = rows.moved is not None and rows.weigh_alike and not program.has_lists
        way = RowCounting if plain else CountingMoves if together else Counting
        lent = PerThread(lambda: way(program, rows, self.crew))

        def work(block: tuple[int, int]) -> int:
            with lent.borrowed() as mine:
                mine.add(*block)
            return block[1] - block[0]

        blocks = rows.shared_out(self.crew.threads) if plain else rows.blocks
        is_short = plain and rows.n_lying * batch.node_left.size < SHORT
        share = batch.roots.size * (rows.sample.n_rows / max(1, rows.n_lying) if plain else 1)
        for done in (self.crew.share if is_short else self.crew.map)(work, blocks, meanwhile):
            self.progress.advance(done * share)
        for mine in lent.made:
            if isinstance(mine, CountingMoves):
                program.spare.give_back(mine.room)
        shape = (rows.n_moves, program.n_counters, rows.n_segments)
        for counters in sum((m.counters for m in lent.made), np.zeros(shape, np.int64)):
            yield program.slots.counts(counters, rows.totals())

    def shares(self, counts: Int64) -> list[Float]:
        """Counts as shares of the weight: over all rows, then for each group."""
        totals, units = self.rows.totals(), self.rows.weights.units
        if self.rows.weights.values is None:
            whole = [counts.sum(axis=1) / max(int(totals.sum()), 1)]
        else:
            whole = [(counts * units).sum(axis=1) / (float((totals * units).sum()) or 1.0)]
        groups = range(self.rows.n_segments - 1)
        return whole + [np.ascontiguousarray(counts[:, g]) / max(int(totals[g]), 1) for g in groups]

    @property
    def n_averages(self) -> int:
        return self.rows.n_segments


class Counting:
    """One thread's memory for counting with a program, and its counts so far."""

    def __init__(self, program: Program, rows: PackedRows, crew: ThreadCrew) -> None:
        self._space = Workspace(rows, program.layout, program.has_lists)
        self._buffers = aligned((program.n_buffers + 1, rows.words))
        self._walk = program.walk(self._space.bits, self._space.codes_by_row, self._buffers, crew.stop)
        self.counters = np.zeros((rows.n_moves, program.n_counters, rows.n_segments), np.int64)

    def add(self, start: int, stop: int) -> None:
        """Add a block's counts."""
        space = self._space
        space.load(start, stop, here=self._buffers[0])
        for move, counters in enumerate(self.counters):
            space.move(move, start)
            unless_stopped(kernels.count(
                walk=self._walk, planes=space.planes, segments=space.segments, segment_of=space.segment_of,
                weight_of=space.weight_of, counters=counters,
            ))  # fmt: skip


class CountingMoves:
    """The same for rows that move and weigh 1 each, in one segment: a block is counted in one walk for all moves."""

    def __init__(self, program: Program, rows: PackedRows, crew: ThreadCrew) -> None:
        shape = (rows.n_moves, program.layout.n_rows, rows.words)
        kept = program.spare.take(shape)
        self.room = aligned(shape) if kept is None else kept
        self._space = Workspace(rows, program.layout, has_lists=False, layers=self.room[: rows.n_moves])
        self._buffers = aligned((program.n_buffers + 1, rows.words))
        self._walk = program.walk(self._space.bits, self._space.codes_by_row, self._buffers, crew.stop)
        self._moved = np.zeros(program.layout.n_rows, np.uint8)
        if rows.moved is not None:
            self._moved = program.layout.moving(rows.moved.columns).rows
        self._counters = np.zeros((program.n_counters, rows.n_moves), np.int64)

    @property
    def counters(self) -> Int64:
        return self._counters.T[:, :, None]

    def add(self, start: int, stop: int) -> None:
        """Add a block's counts."""
        space = self._space
        space.load(start, stop, here=self._buffers[0])
        for move, layer in enumerate(space.layers):
            space.move(move, start, layer)
        unless_stopped(kernels.count_moves(
            walk=self._walk, bits=space.layers, moved=self._moved, counters=self._counters,
        ))  # fmt: skip


class RowCounting:
    """The same for rows as they lie in a matrix, each of which weighs 1: many blocks in one call."""

    def __init__(self, program: Program, rows: PackedRows, crew: ThreadCrew) -> None:
        layout = program.layout
        words = min(WORDS, -(-rows.n_lying // WORD))
        self._rows, self._layout = rows, layout
        self._bits = aligned((rows.n_moves, layout.n_rows, words))
        buffers = aligned((program.n_buffers + 1, words))
        self._walk = program.walk(
            self._bits[0], np.empty((0, layout.n_columns), np.int32), buffers, crew.stop
        )
        self._counters = np.zeros((program.n_counters, rows.n_moves), np.int64)

    @property
    def counters(self) -> Int64:
        return self._counters.T[:, :, None]

    def add(self, start: int, stop: int) -> None:
        """Add some rows' counts."""
        given = self._rows.at_once(self._layout, start, stop)
        here = self._rows.here(start, stop)
        bits, counters = self._bits, self._counters
        unless_stopped(kernels.count_rows(**given, here=here, walk=self._walk, bits=bits, counters=counters))


def summed(differences: Float, sizes: tuple[int, ...]) -> Float:
    """Differences ``(outputs, grid)`` summed along the last two axes of the grid, shaped."""
    shaped = differences.reshape(len(differences), *sizes)
    for axis in range(max(1, len(sizes) - 1), len(sizes) + 1):
        shaped = np.cumsum(shaped, axis=axis)
    return shaped


def unsorted(values: Float, axes: Sequence[EncodedAxis]) -> Float:
    """Grid points put back from sorted order to the caller's."""
    if all((a.order[1:] > a.order[:-1]).all() for a in axes):
        return values
    out = np.empty_like(values)
    places: tuple[Any, ...] = (slice(None), *np.ix_(*[a.order for a in axes]))
    out[places] = values
    return out


def add_joint(program: Program, updates: Updates, share: Float, differences: Float) -> None:
    """Add a program's leaves, by their share of the rows, to differences ``(outputs, grid)``."""
    start, at, sign = updates
    kernels.add_joint(
        leaves=program.leaves, update_start=start, update_at=at, update_sign=sign, share=share,
        differences=differences,
    )  # fmt: skip


def joint_averages(counted: Counted, axes: Sequence[EncodedAxis]) -> list[Float]:
    """Averages ``(outputs, *grid)`` of one question, over all rows and then for each group."""
    sums = counted.sums
    sizes = tuple(a.size for a in axes)
    differences = np.zeros((counted.n_averages, len(sums.outputs), int(np.prod(sizes))))
    for program in counted.programs([a.columns for a in axes], JOINT):
        updates = find_updates(program, axes)
        shares = counted.shares(counted.counts(program))
        for share, out in zip(shares, differences):
            add_joint(program, updates, share[program.leaf_slot], out)
    base = sums.base.reshape(-1, *[1] * len(axes))
    return [unsorted(summed(d, sizes), axes) + base for d in differences]


def moved_averages(counted: Counted) -> list[list[Float]]:
    """Average predictions ``(outputs,)`` for every way in which the rows move: over all rows, then for each group."""
    base = counted.sums.base
    found = np.tile(base, (counted.rows.n_moves, counted.n_averages, 1))
    for program in counted.standing_programs():
        value, output, slot = (
            program.leaf_value,
            program.batch.node_output[program.leaf_node],
            program.leaf_slot,
        )
        for counts, averages in zip(counted.counts_of_moves(program), found):
            for share, average in zip(counted.shares(counts), averages):
                added = share[slot][:, None] * value
                together = output < 0  # leaves that have a value for each output
                average += added[together].sum(axis=0)
                average += np.bincount(output[~together], added[~together, 0], minlength=base.size)
    return [list(averages) for averages in found]


@dataclass(eq=False)
class Family:
    """Questions of one or of two axes each, over groups that do not overlap."""

    groups: list[tuple[int, ...]] = field(default_factory=list)
    axes: list[EncodedAxis] = field(default_factory=list)
    questions: list[tuple[int, ...]] = field(default_factory=list)  # numbers of axes
    _numbers: dict[Any, int] = field(default_factory=dict)
    _places: dict[tuple[int, ...], int] = field(default_factory=dict)  # of groups
    _taken: set[int] = field(default_factory=set)  # columns

    def fits(self, columns: tuple[int, ...]) -> bool:
        """Whether a group is one of this family's, or apart from all of them."""
        return columns in self._places or self._taken.isdisjoint(columns)

    def add(self, axes: Sequence[EncodedAxis]) -> None:
        """Take in a question whose groups fit and do not overlap."""
        for axis in axes:
            if axis.columns not in self._places:
                self._places[axis.columns] = len(self.groups)
                self._taken.update(axis.columns)
                self.groups.append(axis.columns)
            if axis.key not in self._numbers:
                self._numbers[axis.key] = len(self.axes)
                self.axes.append(axis)
        self.questions.append(tuple(self._numbers[axis.key] for axis in axes))

    def group_of(self, axis: int) -> int:
        return self._places[self.axes[axis].columns]


def family_averages(counted: Counted, family: Family) -> list[list[Float]]:
    """For each question of a family its averages, over all rows and then for each group."""
    work = _FamilySums(counted, family)
    mode = PAIRS if work.surfaces_at else SINGLES
    for program in counted.programs(family.groups, mode, work.asked):
        counts = counted.counts(program, meanwhile=partial(work.prepare, program))
        work.add(program, counted.shares(counts))
    return [[work.average(q, n) for n in range(counted.n_averages)] for q in range(len(family.questions))]


class _FamilySums:
    """Running sums of a family, and how its questions read them."""

    def __init__(self, counted: Counted, family: Family) -> None:
        self.family = family
        self.regions: GridRegions
        self.base = counted.sums.base
        self._summed: dict[tuple[int, int], Float] = {}
        n, outputs, n_groups = counted.n_averages, self.base.size, len(family.groups)
        self.group = [family.group_of(a) for a in range(len(family.axes))]
        sizes = np.array([a.size for a in family.axes], np.int64)
        self.single_at = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.surfaces_at: dict[tuple[int, int], int] = {}
        surface_sizes: list[int] = []
        has_pairs = any(len(question) == 2 for question in family.questions)
        self.asked = np.zeros((n_groups, n_groups) if has_pairs else (1, 1), np.uint8)
        for question in family.questions:
            if len(question) == 2:
                pair = self._in_group_order(question)
                if pair not in self.surfaces_at:
                    self.surfaces_at[pair] = sum(surface_sizes)
                    surface_sizes.append(int(sizes[pair[0]] * sizes[pair[1]]))
                a, b = self.group[pair[0]], self.group[pair[1]]
                self.asked[a, b] = self.asked[b, a] = 1
        self.total = np.zeros((n, outputs))
        self.constant = np.zeros((n, outputs, len(family.axes)))
        self.singles = np.zeros((n, outputs, int(self.single_at[-1])))
        self.surfaces = np.zeros((n, outputs, sum(surface_sizes)))

    def _in_group_order(self, question: tuple[int, ...]) -> tuple[int, int]:
        first, second = question
        return (first, second) if self.group[first] < self.group[second] else (second, first)

    def prepare(self, program: Program) -> None:
        """Find the leaves' regions of the grids, which needs no counts."""
        self.regions = GridRegions.of(program, self.family.axes, self.group)

    def add(self, program: Program, shares: list[Float]) -> None:
        """Add the leaves of the program that was prepared."""
        regions, leaves = self.regions.of_axes, program.leaves
        is_first = True
        for axis_of_group, pair_of_groups, pair_axes, pair_start in self._layers():
            for n, share in enumerate(shares):
                # The total must be added once only, however many layers there are.
                total = self.total[n] if is_first else np.zeros_like(self.total[n])
                kernels.add_family(
                    pairs=bool(self.surfaces_at), leaves=leaves, regions=regions, leaf_slot=program.leaf_slot,
                    path_start=program.path_start, path_group=program.path_group,
                    path_region=program.path_region, share=share, axis_of_group=axis_of_group,
                    single_start=self.single_at, pair_of_groups=pair_of_groups, pair_axes=pair_axes,
                    pair_start=pair_start, total=total, constant=self.constant[n], singles=self.singles[n],
                    surfaces=self.surfaces[n],
                )  # fmt: skip
            is_first = False

    def _layers(self) -> Iterator[tuple[NDArray, NDArray, NDArray, NDArray]]:
        """Axes and pairs in layers with at most one axis a group and one grid a pair."""
        n_groups = len(self.family.groups)
        axes, pairs = list(range(len(self.family.axes))), list(self.surfaces_at)
        while axes or pairs:
            axis_of_group = np.full(n_groups, -1, np.int32)
            for a in axes:
                if axis_of_group[self.group[a]] < 0:
                    axis_of_group[self.group[a]] = a
            axes = [a for a in axes if axis_of_group[self.group[a]] != a]
            paired = n_groups if self.surfaces_at else 0  # without pairs nobody asks
            pair_of_groups = np.full((paired, paired), -1, np.int32)
            chosen: list[tuple[int, int]] = []
            for pair in pairs:
                a, b = self.group[pair[0]], self.group[pair[1]]
                if pair_of_groups[a, b] < 0:
                    pair_of_groups[a, b] = pair_of_groups[b, a] = len(chosen)
                    chosen.append(pair)
            pairs = [p for p in pairs if p not in chosen]
            start = np.array([self.surfaces_at[p] for p in chosen], np.int64)
            yield axis_of_group, pair_of_groups, np.array(chosen, np.int32).reshape(-1, 2), start

    def _single(self, axis: int, n: int) -> Float:
        """What moving one axis changes of the average prediction, on the sorted grid; of pairs it is asked for often."""
        if (axis, n) not in self._summed:
            own = self.singles[n][:, self.single_at[axis] : self.single_at[axis + 1]]
            self._summed[axis, n] = np.cumsum(own, axis=1) - self.constant[n][:, axis, None]
        return self._summed[axis, n]

    def average(self, question: int, n: int) -> Float:
        axes = self.family.questions[question]
        level = self.total[n] + self.base
        if len(axes) == 1:
            values = level[:, None] + self._single(axes[0], n)
        else:
            pair = self._in_group_order(axes)
            sizes = tuple(self.family.axes[a].size for a in pair)
            start = self.surfaces_at[pair]
            first, second = (self._single(a, n) for a in pair)
            values = np.empty((len(level), *sizes))
            kernels.sum_surface(
                level=level, first=first, second=second, surface=values,
                differences=self.surfaces[n][:, start : start + sizes[0] * sizes[1]],
            )  # fmt: skip
            if pair != axes:
                values = values.transpose(0, 2, 1)
        return unsorted(values, [self.family.axes[a] for a in axes])


def averages_of(counted: Counted, questions: list[list[EncodedAxis]]) -> list[list[Float]]:
    """For each question the averages over all rows, then for each group of rows; alike questions share a walk."""
    found: list[list[Float]] = [[] for _ in questions]
    for numbers, family in _families(questions):
        if family is None:
            found[numbers[0]] = joint_averages(counted, questions[numbers[0]])
        else:
            for number, values in zip(numbers, family_averages(counted, family)):
                found[number] = values
    return found


def _families(questions: list[list[EncodedAxis]]) -> Iterator[tuple[list[int], Family | None]]:
    """Questions that share a walk with their family; None where a question walks alone."""
    for order, least in ((1, 2), (2, PAIRS_SHARE_A_WALK)):
        alike = [i for i, axes in enumerate(questions) if len(axes) == order]
        shared: list[tuple[list[int], Family]] = []
        for i in alike:
            axes = questions[i]
            apart = order == 1 or not set(axes[0].columns) & set(axes[1].columns)
            home = next((f for f in shared if apart and all(f[1].fits(a.columns) for a in axes)), None)
            if home is None:
                home = ([], Family())
                shared.append(home)
            home[0].append(i)
            home[1].add(axes)
        for numbers, family in shared:
            if len(numbers) >= least:
                yield numbers, family
            else:
                yield from (([i], None) for i in numbers)
    yield from (([i], None) for i, axes in enumerate(questions) if len(axes) > 2)
