"""How every row's curve steps along every feature, at every threshold of the model, in one walk over the rows.

The trees are laid out as for curves that share a walk (`linked`), on the raw scale: what leaves change at a threshold is
added up by itself, and the link is taken in the kernel (`audits`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from icefield import kernels
from icefield.core.rows import Block
from icefield.core.step_extremes import StepExtremes
from icefield.engines.trees.axes import EncodedAxis
from icefield.engines.trees.linked import LINKS, LinkedCurves
from icefield.engines.trees.packed_rows import WORD
from icefield.engines.trees.program import TreeSums
from icefield.forest.tree_model import LinkForm, TreeModel
from icefield.progress import Progress
from icefield.threads import ThreadCrew, unless_stopped
from icefield.typing import Float

STATISTICS = 6
ROUNDING = float(np.finfo(np.float64).eps)


class StepAudit(LinkedCurves):
    """Steps of rows' curves on several one-way grids at once, whose points rise; a missing one is last.

    `numbers` are how many points of each axis are numbers, `selected` the outputs wanted, among those on the scale that
    `form` leads to; `progress` is told of rows times trees.
    """

    def __init__(
        self,
        model: TreeModel,
        sums: TreeSums,
        axes: Sequence[EncodedAxis],
        numbers: Sequence[int],
        form: LinkForm,
        selected: Sequence[int],
        crew: ThreadCrew,
        progress: Progress,
    ) -> None:
        super().__init__(model, sums, axes, LinkForm("identity"), crew, progress)
        self._link, self._selected = form, tuple(selected)
        self._points = tuple(numbers)

    @property
    def possible(self) -> bool:
        """Whether masks are few enough, points are in order, and no feature comes and goes too often to be swept."""
        in_order = all((axis.order == np.arange(axis.size)).all() for axis in self.axes)
        if not in_order or not self.plan.is_swept:
            return False
        return bool((self.plan.trees.values["group_inside"] < 0).all())

    def found(self, sample: Block) -> Iterator[StepExtremes]:
        """The steps of each block of rows, in order."""
        tolerance = self._tolerance()
        blocks = self._blocks(sample.n_rows)
        parts = self.crew.map(lambda block: self._audited(sample, block, tolerance), blocks)
        for (start, stop), part in zip(blocks, parts):
            self.progress.advance((stop - start) * self.sums.trees.size)
            yield part

    def _tolerance(self) -> Float:
        """By step of all axes, what sums of its leaves may be off by; of softmax, what probabilities may be."""
        trees, steps = self.plan.trees.values, self.plan.steps
        masked = trees["masked"].values
        out = np.zeros(steps.flat)
        if self._link.kind == "softmax":
            most = float(np.abs(masked["leaf_value"]).max(initial=0.0)) * self.sums.trees.size
            out[:] = 4.0 * ROUNDING * self.sums.trees.size * (1.0 + most)
            return out
        lists = 1 if masked["leaf_value"].shape[1] > 1 else self.outputs
        size = np.abs(masked["value"]).max(axis=1)[trees["events"][:, 1]]
        count = np.diff(trees["list_event"])
        sums = np.bincount(np.repeat(np.arange(count.size), count), size, minlength=count.size)
        for number, begin in enumerate(steps.start[:-1].tolist()):
            n = int(steps.count[number])
            first = int(trees["group_list"][number])
            own = slice(first, first + n * lists)
            # At most one leaf of a tree on either side is a row's own.
            found = np.minimum(count[own], 2 * self.sums.trees.size) * sums[own]
            out[begin : begin + n] = ROUNDING * found.reshape(n, lists).max(axis=1)
        return out

    def _audited(self, sample: Block, block: tuple[int, int], tolerance: Float) -> StepExtremes:
        (start, stop), layout, steps = block, self.plan.layout, self.plan.steps
        n, groups = stop - start, len(self.axes)
        trees = self.plan.trees
        assert isinstance(trees, kernels.SweepTrees)
        numbers = [int(np.searchsorted(at, points)) for at, points in zip(steps.at, self._points)]
        bits = np.empty((layout.n_rows, -(-n // WORD)), np.uint64)
        codes = np.empty((layout.n_columns, n), np.int32)
        layout.load(self._reader(sample.table, start), np.arange(n, dtype=np.int32), codes, bits)
        found = np.zeros((groups, STATISTICS * self.outputs, n))
        places = np.zeros((groups, 2 * self.outputs, n), np.int32)
        unless_stopped(kernels.audit_steps(
            trees=trees, points=steps.count, point_start=steps.start[:-1], numbers=np.array(numbers, np.int32),
            tolerance=tolerance, link=LINKS[self._link.kind], factor=self._link.factor, rows=n, bits=bits, found=found,
            places=places, stop=self.crew.stop,
        ))  # fmt: skip
        values = found.reshape(groups, self.outputs, STATISTICS, n)
        at = places.reshape(groups, self.outputs, 2, n)
        points = np.empty_like(at)
        for group, own in enumerate(steps.at):
            # A step's number is where its axis first has another leaf: the point before it is the one it leads from.
            points[group] = np.append(own, 0)[at[group]] if len(own) else 0
        return self._chosen(StepExtremes(start, stop, values[:, :, :4], points, values[:, :, 4:]))

    def _chosen(self, found: StepExtremes) -> StepExtremes:
        """The outputs wanted; a complement's curve is the other's turned over."""
        if not self._link.complement:
            own = list(self._selected)
            chosen = (found.sizes[:, own], found.places[:, own], found.missing[:, own])
            return StepExtremes(found.start, found.stop, *chosen)
        parts = []
        for output in self._selected:
            one, at, gone = found.sizes[:, 0], found.places[:, 0], found.missing[:, 0]
            if output == 0:  # one minus the probability
                one = one[:, [1, 0, 3, 2]] * np.array([-1.0, -1.0, 1.0, 1.0])[None, :, None]
                at, gone = at[:, [1, 0]], np.stack([gone[:, 1] - gone[:, 0], gone[:, 1]], axis=1)
            parts.append((one, at, gone))
        return StepExtremes(found.start, found.stop, *(np.stack(part, 1) for part in zip(*parts)))
