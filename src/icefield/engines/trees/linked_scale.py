"""What a trees engine answers on a scale that a link leads to, where the kernels know that link.

One-way curves of many features share a walk (`linked`), and averages at a few rows' own values are found for
all sets of features together (`crossed`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.core.question import Answer, ColumnSets, Moments, Question, Resources
from icefield.core.rows import Block
from icefield.engines.trees.axes import EncodedAxis
from icefield.engines.trees.h_linked import LinkedAverages, WantedAverages
from icefield.engines.trees.linked import LinkedCurves, WalkPlan, pays
from icefield.engines.trees.program import TreeSums
from icefield.forest.tree_model import LinkForm, TreeModel
from icefield.progress import Progress
from icefield.typing import Float, Positions

if TYPE_CHECKING:
    from icefield.engines.trees.engine import Walking

KEPT_NODES = 2**17  # of trees whose plan is remembered, which takes a few hundred bytes a node


class LinkedScale:
    """The trees of a model, with every raw output, on its response scale; `selected` are outputs of the link."""

    def __init__(self, model: TreeModel, sums: TreeSums, selected: Sequence[int], form: LinkForm) -> None:
        self.model, self.sums, self.selected, self.form = model, sums, tuple(selected), form
        self._last: tuple[Any, WalkPlan | None] = (), None

    @classmethod
    def of(cls, model: TreeModel, sums: TreeSums, selected: Sequence[int]) -> LinkedScale | None:
        """None where the kernels do not know the link."""
        form = model.link.form
        if form is None or (form.complement and len(sums.outputs) > 1):
            return None
        return cls(model, sums, selected, form)

    def answers(
        self, questions: Sequence[Question], encoded: list[list[EncodedAxis]], walking: Walking
    ) -> Iterator[tuple[int, Answer]]:
        """Answers to one-way questions that share a walk, by their places, where that pays."""
        sample, crew, progress = walking.sample, walking.crew, walking.progress
        # Without a link, averages alone are counts.
        by_rows = [q.spread or not q.averaged or self.form.kind != "identity" for q in questions]
        asked = [i for i, q in enumerate(questions) if len(q.axes) == 1 and not q.quantiles and by_rows[i]]
        for sharing in _apart(asked, encoded):
            axes = [EncodedAxis.joined([encoded[i][0] for i in numbers]) for numbers in sharing]
            walk = LinkedCurves(self.model, self.sums, axes, self.form, crew, progress, self._planned(axes))
            if not pays(self.sums, axes) or not walk.fits(sample.n_groups + 1, walking.memory):
                continue
            spread = any(questions[i].spread for numbers in sharing for i in numbers)
            kept = self._kept(walk, [questions[i].rows for numbers in sharing for i in numbers], sample)
            moments: Iterable[list[Moments] | None] = walk.moments(sample, spread)
            if not any(questions[i].averaged for numbers in sharing for i in numbers):
                none = (Moments.empty((walk.outputs, axis.size), False) for axis in axes)
                moments = ([empty] * (sample.n_groups + 1) for empty in none)
            for place, (numbers, found) in enumerate(zip(sharing, moments)):
                ends = np.cumsum([encoded[i][0].size for i in numbers])
                for i, end in zip(numbers, ends.tolist()) if found is not None else ():
                    here = slice(end - encoded[i][0].size, end)
                    total, *groups = (self._chosen_moments(m, here) for m in found or ())
                    rows = questions[i].rows
                    curves = None if rows is None else kept[id(rows)][place][..., here]
                    yield i, Answer(total, tuple(groups), curves=curves)

    def _planned(self, axes: Sequence[EncodedAxis]) -> WalkPlan:
        """The plan of a walk; of trees that are not many the last is remembered, since a drag asks about the same grids again and again."""
        if self.sums.forest.node_left.size > KEPT_NODES:
            return WalkPlan(self.sums, axes, self.form)
        key, (known, plan) = tuple(axis.key for axis in axes), self._last
        if plan is None or known != key:
            plan = WalkPlan(self.sums, axes, self.form)
            self._last = key, plan
        return plan

    def _kept(
        self, walk: LinkedCurves, wanted: Sequence[Positions | None], sample: Block
    ) -> dict[int, list[Float]]:
        """The kept curves on each of a walk's axes, by which array of rows it is that is kept."""
        return {
            number: [self._chosen(curves) for curves in walk.curves(sample, rows)]
            for number, rows in {id(rows): rows for rows in wanted if rows is not None}.items()
        }

    def own_averages(self, sets: ColumnSets, sample: Block, resources: Resources) -> Generator[Float] | None:
        """Averages of sets of columns at few rows' own values, each crossed with each; None where they are many."""
        wanted = WantedAverages.of(self.model, sets)
        if wanted is None or not LinkedAverages.fits(self.sums, wanted, sample.n_rows, resources.memory):
            return None
        return self._crossed(wanted, sample, resources)

    def _crossed(self, wanted: WantedAverages, sample: Block, resources: Resources) -> Generator[Float]:
        work = sample.n_rows * max(1, len(wanted.pairs))
        with Progress("crossing rows", total=work) as progress, resources.crew() as crew, crew:
            rows = LinkedAverages(self.model, self.sums, wanted, sample, self.form, crew)
            window = LinkedAverages.window(self.sums, wanted, sample.n_rows, resources.memory)
            found = rows.averages(window, progress)
            response = self.model.link.selected(rows.margins, self.selected).T
            for kind, _ in wanted.parts:
                if kind == "all":
                    yield response.copy()
                elif kind == "none":
                    yield np.repeat((response @ rows.weight)[:, None], sample.n_rows, axis=1)
                else:
                    yield np.array(self._chosen(next(found)))

    def _chosen(self, values: Float) -> Float:
        """The outputs wanted of values by raw output, along the first axis."""
        if self.form.complement:
            if self.selected == (1,):
                return values
            return np.concatenate([values if s else 1.0 - values for s in self.selected])
        return values if self.selected == tuple(range(len(values))) else values[list(self.selected)]

    def _chosen_moments(self, moments: Moments, points: slice) -> Moments:
        """The outputs wanted of the moments at some grid points."""

        def spread(m2: Float) -> Float:
            here = m2[..., points]
            if self.form.complement:
                return np.concatenate([here] * len(self.selected))
            return here[list(self.selected)]

        return moments.changed(lambda mean: self._chosen(mean[..., points]), spread)


def _apart(asked: Sequence[int], encoded: list[list[EncodedAxis]]) -> list[list[list[int]]]:
    """One-way questions in sets that move no forest column twice; those about the very same columns together."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for i in asked:
        alike.setdefault(encoded[i][0].columns, []).append(i)
    sets: list[tuple[list[list[int]], set[int]]] = []
    for columns, numbers in alike.items():
        home = next((one for one in sets if not one[1] & set(columns)), None)
        if home is None:
            home = ([], set())
            sets.append(home)
        home[0].append(numbers)
        home[1].update(columns)
    return [numbers for numbers, _ in sets]
