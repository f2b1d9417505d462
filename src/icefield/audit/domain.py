"""What holds for every possible input: proven, refuted by an input, or not decided, with the bound that was reached.

A sum of trees rises in a feature if each tree does: its leaves' boxes are compared in pairs. Where some tree does not, the sum
may still: at every threshold of the feature the smallest step over all other inputs must not be negative, and only the
trees that split there take part. That smallest step is found by a depth-first search over the trees' boxes with
bounds, for as long as the time limit allows. The first descent is always made: it decides where the trees of a threshold share no
other input (features that are additive, or read once).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from icefield.audit.input_boxes import Boxes, InputSpace
from icefield.typing import Float

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
    """One tree: its leaves' values for one output, and their boxes."""

    values: Float
    boxes: Boxes


class _TimeIsUp(Exception):
    """The search has used up its time."""


class _Found(Exception):
    """The search has found what it was looking for."""


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
        self.trees: list[TreeBoxes] = []
        for number, own in enumerate(forest.tree_output.tolist()):
            if own not in (-1, output):
                continue
            leaves, boxes = space.leaves(number)
            self.trees.append(TreeBoxes(forest.leaf_value[leaves, output if own == -1 else 0], boxes))
        self.base = float(forest.base[output])
        n = len(space.variables)
        self.lowest, self.highest = np.zeros((len(self.trees), n)), np.zeros((len(self.trees), n))
        self._tolerance = 0.0
        for t, tree in enumerate(self.trees):
            self._compare_leaves(t, tree)
        largest = [float(np.abs(tree.values).max(initial=0.0)) for tree in self.trees]
        self._largest = np.array(largest)

    def _compare_leaves(self, t: int, tree: TreeBoxes) -> None:
        """The smallest and largest step of a tree along every variable: pairs of leaves apart in exactly one."""
        n = len(tree.values)
        if n < 2:
            return
        a, b = np.triu_indices(n, 1)
        apart = ~self.space.overlaps(tree.boxes.take(a).cut(tree.boxes.take(b)))
        one = (apart.sum(axis=1) == 1).nonzero()[0]
        variable = apart[one].argmax(axis=1)
        keep = self.space.is_interval[variable]
        one, variable = one[keep], variable[keep]
        a, b = a[one], b[one]
        low, high = tree.boxes.low, tree.boxes.high
        there = (low[a, variable] < high[a, variable]) & (low[b, variable] < high[b, variable])
        a, b, variable = a[there], b[there], variable[there]
        up = low[b, variable] >= high[a, variable]
        step = np.where(up, tree.values[b] - tree.values[a], tree.values[a] - tree.values[b])
        np.minimum.at(self.lowest[t], variable, step)
        np.maximum.at(self.highest[t], variable, step)

    def monotone(self, variable: int, sign: int, until: float) -> Verdict:
        """Whether the output never falls (sign 1) or never rises (-1) along a variable.

        Parameters
        ----------
        variable : which; a number
        sign : the direction
        until : of `time.monotonic`, when to stop searching
        """
        slack = 4.0 * ROUNDING * self._largest
        steps = self.lowest[:, variable] if sign > 0 else -self.highest[:, variable]
        if (steps >= -slack).all():
            return Verdict(PROVEN, "every tree by itself")
        by_cut: dict[int, list[int]] = {}
        for t in np.flatnonzero((self.lowest[:, variable] != 0) | (self.highest[:, variable] != 0)).tolist():
            boxes = self.trees[t].boxes
            cuts = np.unique(np.concatenate([boxes.low[:, variable], boxes.high[:, variable]]))
            for cut in cuts.tolist():
                if 0 < cut < self.space.variables[variable].size:
                    by_cut.setdefault(cut, []).append(t)
        todo = []
        for cut, trees in by_cut.items():
            if all(steps[t] >= -slack[t] for t in trees):
                continue
            regions = [self._regions(t, variable, cut, sign) for t in trees]
            bound = sum(float(values.min(initial=0.0)) for values, _ in regions)
            tolerance = 4.0 * ROUNDING * len(trees) * float(self._largest[trees].sum())
            if bound < -tolerance:
                todo.append((len(regions), bound, cut, regions, tolerance))
        todo.sort(key=lambda one: (one[0], one[1]))
        worst, undecided = 0.0, 0
        for number, (_, bound, cut, regions, tolerance) in enumerate(todo):
            left = max(0.0, until - time.monotonic())
            share = max(left / max(1, len(todo) - number), min(left, 0.2))
            search = Search(self.space, regions, -tolerance, time.monotonic() + share)
            found = search.run()
            if found is not None:
                return Verdict(
                    REFUTED, "a search over boxes", -bound, found[1], (cut - 1, cut), sign * found[0]
                )
            if not search.finished:
                undecided += 1
                worst = min(worst, bound)
        if undecided:
            return Verdict(UNDECIDED, f"time was up at {undecided} of {len(by_cut)} thresholds", -worst)
        return Verdict(PROVEN, "every threshold")

    def _regions(self, t: int, variable: int, cut: int, sign: int) -> tuple[Float, Boxes]:
        """Boxes of the other inputs with a tree's step from the cell before a cut to the one after."""
        values, boxes = self.trees[t].values, self.trees[t].boxes
        low, high = boxes.low[:, variable], boxes.high[:, variable]
        before = np.flatnonzero((low < cut) & (high >= cut))
        after = np.flatnonzero((low <= cut) & (high > cut))
        a, b = np.repeat(before, len(after)), np.tile(after, len(before))
        common = boxes.take(a).cut(boxes.take(b))
        common.low[:, variable], common.high[:, variable] = 0, self.space.variables[variable].size
        there = self.space.possible(common)
        return sign * (values[b] - values[a])[there], common.take(there)

    def bounds(self, box: Boxes, until: float, seen: tuple[float, float]) -> tuple[float, float, bool, bool]:
        """Bounds of the output over a box: lowest, highest, and whether each is attained.

        `seen` are the lowest and highest output that rows are known to have; a bound that a search does not finish is that
        of all trees by themselves, which no input exceeds.
        """
        found: list[tuple[float, bool]] = []
        for sign in (1.0, -1.0):
            regions = []
            for tree in self.trees:
                inside = tree.boxes.cut(box)
                there = self.space.possible(inside)
                regions.append((sign * tree.values[there], inside.take(there)))
            loose = sum(float(values.min(initial=0.0)) if len(values) else 0.0 for values, _ in regions)
            known = sign * (seen[0] if sign > 0 else seen[1]) - sign * self.base
            search = Search(self.space, regions, known, until, first_only=False)
            best = search.run()
            value = min(known, best[0]) if best is not None else known
            found.append((self.base + sign * (value if search.finished else loose), search.finished))
            until = max(until, time.monotonic() + 0.5 * max(0.0, until - time.monotonic()))
        return found[0][0], found[1][0], found[0][1], found[1][1]


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
        self.best, self.finished = below, True
        self.box: Boxes | None = None
        self._regions = regions
        self._visits = 0
        self._descended = False

    def run(self) -> tuple[float, Boxes] | None:
        """The sum and its box, or None where there is none (or time was up: not `finished`)."""
        try:
            self._go(self.space.whole, 0.0, self._regions)
        except _Found:
            pass
        except _TimeIsUp:
            self.finished = False
        return None if self.box is None else (self.best, self.box)

    def _go(self, box: Boxes, total: float, rest: list[tuple[Float, Boxes]]) -> None:
        self._visits += 1
        if self._descended and time.monotonic() > self.until:
            raise _TimeIsUp
        bound, left = total, []
        for values, boxes in rest:
            common = boxes.cut(box)
            there = self.space.possible(common)
            own = values[there]
            if not len(own):
                return
            low = float(own.min())
            bound += low
            if low == own.max():
                total += low
                # Boxes of one value still matter where they do not cover the whole box: with trees they do.
                continue
            left.append((own, common.take(there)))
        if bound >= self.best:
            self._descended = True
            return
        if not left:
            self.best, self.box, self._descended = total, box, True
            if self.first_only:
                raise _Found
            return
        chosen = max(range(len(left)), key=lambda i: float(left[i][0].max() - left[i][0].min()))
        values, boxes = left.pop(chosen)
        for place in np.argsort(values, kind="stable").tolist():
            self._go(boxes.take([place]), total + float(values[place]), left)


def moved_to(space: InputSpace, box: Boxes, variable: int, cell: int) -> Any:
    """The value of a variable's cell in the caller's frame."""
    return space.variables[variable].values[cell]
