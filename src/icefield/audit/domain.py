"""What holds for every possible input: proven, refuted by an input, or not decided, with the bound that was reached.

A sum of trees rises in a feature if each tree does: at every split on it, the leaves that touch the threshold from both sides
are compared in pairs. Where some tree does not, the sum may still: at every threshold the smallest step over all other inputs
must not be negative, and only the trees that split there take part. That smallest step is found by a depth-first search over the
trees' boxes with bounds. All of it keeps to the time limit, and to blocks of pairs in memory; only where the trees that use
a feature share no other input (a single tree, an additive feature, one that is read once) is the answer worked out whatever the limit is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from icefield.audit.input_boxes import Boxes, InputSpace
from icefield.typing import Float

NUMBERS_AT_ONCE = 1_000_000  # of boxes that are compared in one go
# Boxes of a threshold that are searched at all, and that are whatever the limit is.
MOST_REGIONS, FEW_REGIONS = 400_000, 20_000
ROUNDING = float(np.finfo(np.float64).eps)
PROVEN, REFUTED, UNDECIDED = "proven", "refuted", "not decided"


@dataclass(frozen=True)
class Verdict:
    """What was decided for every possible input.

    Attributes
    ----------
    answer : ``"proven"``, ``"refuted"`` or ``"not decided"``
    how : the way it was decided, for people
    bound : no step against the direction is larger than this (0 where proven)
    box : inputs at which it does not hold, where refuted by a search
    cells : the cells of the feature before and after the step
    step : its size, on the raw scale
    """

    answer: str
    how: str
    bound: float = 0.0
    box: Boxes | None = None
    cells: tuple[int, int] = (0, 0)
    step: float = 0.0


@dataclass(frozen=True)
class TreeBoxes:
    """One tree's leaves as boxes of inputs, with its splits and the steps at them.

    Attributes
    ----------
    values, boxes : of its leaves: values for one output, and the inputs that reach them
    splits : variable, cut, and where the leaves of the left part begin, those of the right, and end
    steps : the smallest and the largest step at each split, None until they were found
    """

    values: Float
    boxes: Boxes
    splits: NDArray[np.int64]
    steps: Float | None = None


class _TimeIsUp(Exception):
    """The search has used up its time, or would need too much memory."""


class _Finished(Exception):
    """The search has found what it was looking for."""


def _check_time(until: float) -> None:
    if time.monotonic() > until:
        raise _TimeIsUp


class Domain:
    """Questions about every possible input of one raw output.

    Parameters
    ----------
    space : the variables and leaves
    output : which raw output
    """

    def __init__(self, space: InputSpace, output: int) -> None:
        self.space = space
        forest = space.trees.forest
        tree_output = forest.tree_output
        self.numbers = np.flatnonzero((tree_output == -1) | (tree_output == output))
        self._column = output if forest.leaf_value.shape[1] > 1 else 0
        self.base = float(forest.base[output])
        self._trees: dict[int, TreeBoxes] = {}
        tree_of = np.searchsorted(forest.tree_root, np.arange(forest.node_condition.size), side="right") - 1
        # Of every tree, its lowest and highest leaf, and which variables it splits on where: known without its boxes.
        leaves = np.flatnonzero(forest.node_leaf >= 0)
        values = forest.leaf_value[forest.node_leaf[leaves], self._column]
        low, high = np.full(tree_output.size, np.inf), np.full(tree_output.size, -np.inf)
        np.minimum.at(low, tree_of[leaves], values)
        np.maximum.at(high, tree_of[leaves], values)
        self._low, self._high = low[self.numbers], high[self.numbers]
        self._largest = np.maximum(np.abs(self._low), np.abs(self._high))
        inner = np.flatnonzero(forest.node_condition >= 0)
        splits = np.stack([tree_of[inner], *space.splits_of(forest.node_condition[inner])], axis=1)
        self._splits = np.unique(splits, axis=0)
        self.uses = np.zeros((tree_output.size, len(space.variables)), bool)
        self.uses[self._splits[:, 0], self._splits[:, 1]] = True
        self.uses = self.uses[self.numbers]

    def prepare(self, until: float) -> None:
        """Find what every question needs of the trees, for as long as there is time."""
        with suppress(_TimeIsUp):
            for t in range(len(self.numbers)):
                self._tree(t, until, steps=True)

    def _tree(self, t: int, until: float, steps: bool = False) -> TreeBoxes:
        """A tree's boxes, and the steps at its splits; raises where time is up first."""
        tree = self._trees.get(t)
        if tree is None:
            made = self.space.leaves(int(self.numbers[t]), until)
            if made is None:
                raise _TimeIsUp
            leaves, boxes, splits = made
            values = self.space.trees.forest.leaf_value[leaves, self._column]
            tree = self._trees[t] = TreeBoxes(values, boxes, splits)
        if steps and tree.steps is None:
            ends = np.zeros((len(tree.splits), 2))
            for place, split in enumerate(tree.splits.tolist()):
                for a, b, _ in self._adjacent_leaves(tree, split, until):
                    step = tree.values[b] - tree.values[a]
                    ends[place, 0] = min(ends[place, 0], float(step.min(initial=0.0)))
                    ends[place, 1] = max(ends[place, 1], float(step.max(initial=0.0)))
            tree = self._trees[t] = replace(tree, steps=ends)
        return tree

    def _adjacent_leaves(
        self, tree: TreeBoxes, split: Sequence[int], until: float
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], Boxes]]:
        """Pairs of leaves on both sides of a split, with what else they have in common: some at a time."""
        variable, cut, start, middle, stop = split
        low, high = tree.boxes.low[:, variable], tree.boxes.high[:, variable]
        before = start + np.flatnonzero((high[start:middle] == cut) & (low[start:middle] < cut))
        after = middle + np.flatnonzero((low[middle:stop] == cut) & (high[middle:stop] > cut))
        width = tree.boxes.low.shape[1] + tree.boxes.levels.shape[1]
        block = max(1, NUMBERS_AT_ONCE // max(1, width * len(after)))
        for begin in range(0, len(before), block):
            _check_time(until)
            part = before[begin : begin + block]
            a, b = np.repeat(part, len(after)), np.tile(after, len(part))
            common = tree.boxes.take(a).cut(tree.boxes.take(b))
            common.low[:, variable], common.high[:, variable] = 0, self.space.variables[variable].size
            possible = self.space.possible(common)
            yield a[possible], b[possible], common.take(possible)

    def _steps(self, variable: int, until: float) -> dict[int, list[tuple[int, float, float, bool]]]:
        """By threshold of a variable, the trees that split there: number, smallest and largest step, and whether these are known.

        A tree that time was up for may step by as much as its leaves differ.
        """
        steps: dict[int, list[tuple[int, float, float, bool]]] = {}
        place = {int(number): t for t, number in enumerate(self.numbers)}
        mine = self._splits[self._splits[:, 1] == variable]
        by_tree: dict[int, list[int]] = {}
        for number, cut in mine[:, [0, 2]].tolist():
            if number in place and 0 < cut < self.space.variables[variable].size:
                by_tree.setdefault(place[number], []).append(cut)
        for t, cuts in by_tree.items():
            try:
                tree = self._tree(t, until, steps=True)
            except _TimeIsUp:
                most = float(self._high[t] - self._low[t])
                for cut in cuts:
                    steps.setdefault(cut, []).append((t, -most, most, False))
                continue
            assert tree.steps is not None
            at_variable = np.flatnonzero(tree.splits[:, 0] == variable)
            for cut in np.unique(tree.splits[at_variable, 1]).tolist():
                at_cut = at_variable[tree.splits[at_variable, 1] == cut]
                ends = float(tree.steps[at_cut, 0].min()), float(tree.steps[at_cut, 1].max())
                steps.setdefault(cut, []).append((t, *ends, True))
        return steps

    def monotone(self, variable: int, sign: int, until: float) -> Verdict:
        """Whether the output never falls (sign 1) or never rises (-1) along a variable.

        Parameters
        ----------
        variable : which; a number
        sign : the direction
        until : of `time.monotonic`, when to stop searching
        """
        mine = self.uses[:, variable]
        if self._share_no_input(mine, variable):
            until = float("inf")
        slack = 4.0 * ROUNDING * self._largest
        by_cut = self._steps(variable, until)
        todo = []
        for cut, parts in by_cut.items():
            against = [(t, low if sign > 0 else -high) for t, low, high, _ in parts]
            if all(step >= -slack[t] for t, step in against):
                continue
            bound = sum(min(0.0, step) for _, step in against)
            tolerance = 4.0 * ROUNDING * len(parts) * float(self._largest[[t for t, _ in against]].sum())
            if bound < -tolerance:
                todo.append((len(parts), bound, cut, tolerance, all(known for *_, known in parts)))
        if not todo:
            steps = (tree for trees in by_cut.values() for tree in trees)
            alone = all((low if sign > 0 else -high) >= -slack[t] for t, low, high, _ in steps)
            return Verdict(PROVEN, "every tree by itself" if alone else "every threshold")
        todo.sort(key=lambda item: (item[0], item[1]))
        worst, undecided = 0.0, 0
        for number, (_, bound, cut, tolerance, known) in enumerate(todo):
            left = max(0.0, until - time.monotonic())
            share = max(left / max(1, len(todo) - number), min(left, 0.2))
            try:
                _check_time(until if known else 0.0)
                regions = [self._regions(t, variable, cut, sign, until) for t, *_ in by_cut[cut]]
                best = Search(self.space, regions, -tolerance, time.monotonic() + share).run()
            except _TimeIsUp:
                undecided += 1
                worst = min(worst, bound)
                continue
            if best is not None:
                return Verdict(
                    REFUTED, "a search over boxes", -bound, best[1], (cut - 1, cut), sign * best[0]
                )
        if undecided:
            return Verdict(UNDECIDED, f"time was up at {undecided} of {len(by_cut)} thresholds", -worst)
        return Verdict(PROVEN, "every threshold")

    def _share_no_input(self, trees: NDArray[np.bool_], variable: int = -1) -> bool:
        """Whether no two of some trees use the same input beside a variable."""
        users = self.uses[trees].sum(axis=0)
        if variable >= 0:
            users[variable] = 0
        return bool((users <= 1).all())

    def _regions(self, t: int, variable: int, cut: int, sign: int, until: float) -> tuple[Float, Boxes]:
        """Boxes of the other inputs with a tree's step from the cell before a cut to the one after; raises where they are too many."""
        tree = self._tree(t, until)
        low, high = tree.boxes.low[:, variable], tree.boxes.high[:, variable]
        spans = tree.boxes.take((low < cut) & (high > cut))
        spans.low[:, variable], spans.high[:, variable] = 0, self.space.variables[variable].size
        values, boxes, count = [np.zeros(len(spans))], [spans], len(spans)
        for split in tree.splits[(tree.splits[:, 0] == variable) & (tree.splits[:, 1] == cut)].tolist():
            for a, b, common in self._adjacent_leaves(tree, split, until):
                values.append(sign * (tree.values[b] - tree.values[a]))
                boxes.append(common)
                count += len(a)
                if count > MOST_REGIONS:
                    raise _TimeIsUp
        return np.concatenate(values), Boxes.joined(boxes)

    def bounds(self, box: Boxes, until: float, seen: tuple[float, float]) -> tuple[float, float, bool, bool]:
        """Bounds of the output over a box: lowest, highest, and whether each is attained.

        `seen` are the lowest and highest output that rows are known to have; a bound that a search does not finish is that
        of all trees by themselves, which no input exceeds.
        """
        ends: list[tuple[float, bool]] = []
        if self._share_no_input(np.ones(len(self.numbers), bool)):
            until = float("inf")
        for sign in (1.0, -1.0):
            regions, loose, whole = [], 0.0, True
            for t in range(len(self.numbers)):
                try:
                    tree = self._tree(t, until)
                except _TimeIsUp:
                    whole = False
                    loose += float(self._low[t] if sign > 0 else -self._high[t])
                    continue
                inside = tree.boxes.cut(box)
                possible = self.space.possible(inside)
                values = sign * tree.values[possible]
                regions.append((values, inside.take(possible)))
                loose += float(values.min()) if len(values) else 0.0
            known = sign * (seen[0] if sign > 0 else seen[1]) - sign * self.base
            value, finished = loose, False
            if whole:
                search = Search(self.space, regions, known, until, first_only=False)
                with suppress(_TimeIsUp):
                    best = search.run()
                    value, finished = (min(known, best[0]) if best is not None else known), True
            ends.append((self.base + sign * value, finished))
            until = max(until, time.monotonic() + 0.5 * max(0.0, until - time.monotonic()))
        return ends[0][0], ends[1][0], ends[0][1], ends[1][1]


class Search:
    """The smallest sum of regions' values over boxes that hold an input: depth first, with bounds.

    Parameters
    ----------
    space : the variables
    regions : of every tree, values and the boxes they hold in
    below : only sums below this are wanted
    until : of `time.monotonic`, when to stop; the first descent is made in any case
    first_only : whether any such sum will do
    """

    def __init__(
        self,
        space: InputSpace,
        regions: list[tuple[Float, Boxes]],
        below: float,
        until: float,
        first_only: bool = True,
    ) -> None:
        self.space, self.until, self.first_only = space, until, first_only
        self.best = below
        self.box: Boxes | None = None
        self._regions = regions
        # A first descent of boxes that are not many is made whatever the limit is: it decides where trees share no other input.
        self._descended = sum(len(values) for values, _ in regions) > FEW_REGIONS

    def run(self) -> tuple[float, Boxes] | None:
        """The sum and its box, or None where there is none; raises where time was up first."""
        with suppress(_Finished):
            self._descend(self.space.whole, 0.0, self._regions)
        return None if self.box is None else (self.best, self.box)

    def _descend(self, box: Boxes, total: float, rest: list[tuple[Float, Boxes]]) -> None:
        bound, left = total, []
        for values, boxes in rest:
            if self._descended:
                _check_time(self.until)
            common = boxes.cut(box)
            possible = self.space.possible(common)
            reached = values[possible]
            if not len(reached):
                return
            low = float(reached.min())
            bound += low
            if low == reached.max():
                total += low
                # Boxes of one value still matter where they do not cover the whole box: with trees they do.
                continue
            left.append((reached, common.take(possible)))
        if bound >= self.best:
            self._descended = True
            return
        if not left:
            self.best, self.box, self._descended = total, box, True
            if self.first_only:
                raise _Finished
            return
        chosen = max(range(len(left)), key=lambda i: float(left[i][0].max() - left[i][0].min()))
        values, boxes = left.pop(chosen)
        for place in np.argsort(values, kind="stable").tolist():
            self._descend(boxes.take([place]), total + float(values[place]), left)
