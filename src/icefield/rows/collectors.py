"""What passes over a stream collect to answer questions: counts, merged answers, weights at grid points.

Every collector sees blocks with the same weights and groups, which a `Reader` takes from the columns named for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.question import Answer, Engine, Moments, Question, Resources, Sample
from icefield.core.request import Fold, Part
from icefield.data.features import nearest_points, resolve
from icefield.engines.trees.streamed import StreamedAverages, Weighing
from icefield.errors import InputError, complaint
from icefield.rows.grouping import GroupRule
from icefield.rows.stream import Block
from icefield.rows.survey import row_weights
from icefield.threads import Crew
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.data.features import Feature


@dataclass(frozen=True, eq=False)
class Reader:
    """How blocks become samples: the column of weights, the rule of groups, and whether weights count copies."""

    weights: str | None = None
    groups: GroupRule | None = None
    copies: bool = True

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        named = (self.weights, None if self.groups is None else self.groups.column)
        return [name for name in named if name is not None]

    def sample(self, block: Block) -> Sample:
        weights = None if self.weights is None else row_weights(block, self.weights)
        if self.groups is None:
            return Sample(block.table, weights, copies=self.copies)
        codes, n_groups = self.groups.codes(block.table), len(self.groups.labels)
        return Sample(block.table, weights, codes, n_groups, self.copies)


class Weighed:
    """The sums of weights by group, which whole-number weights need before anything is counted."""

    title = "adding up weights"

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.weighing = Weighing(1 if reader.groups is None else len(reader.groups.labels) + 1)
        self.state, self.restore = self.weighing.state, self.weighing.restore
        self.merge = self.weighing.merge

    def add(self, block: Block, crew: Crew) -> None:
        sample = self._reader.sample(block)
        self.weighing.add(sample.weights, sample.codes, sample.n_rows)


class CountedAnswers:
    """Answers that derive from counts: exact whatever the blocks."""

    title = "walking the trees"

    def __init__(self, reader: Reader, averages: StreamedAverages) -> None:
        self._reader, self._averages = reader, averages
        self.state, self.restore, self.merge = averages.state, averages.restore, averages.merge
        self.encoded, self.answers = averages.encoded, averages.answers

    def add(self, block: Block, crew: Crew) -> None:
        self._averages.add(self._reader.sample(block), crew)


class MergedAnswers:
    """Answers whose moments merge: each block is asked for itself."""

    title = "asking block by block"

    def __init__(
        self, reader: Reader, engine: Engine, questions: Sequence[Question], resources: Resources
    ) -> None:
        self._reader, self._engine, self._resources = reader, engine, resources
        # Quantiles and kept curves do not merge: who needs them asks the sample.
        self._questions = [replace(q, quantiles=(), rows=None) for q in questions]
        self._found: list[list[Moments]] = []

    def add(self, block: Block, crew: Crew) -> None:
        answers = self._engine.answer(self._questions, self._reader.sample(block), self._resources)
        self._join([[answer.total, *answer.groups] for answer in answers])

    def _join(self, parts: list[list[Moments]]) -> None:
        if not self._found:
            self._found = parts
        elif parts:
            self._found = [[a.merge(b) for a, b in zip(*pair)] for pair in zip(self._found, parts)]

    def answers(self) -> list[Answer]:
        return [Answer(total, tuple(groups)) for total, *groups in self._found]

    def state(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {"sizes": np.array([len(parts) for parts in self._found])}
        for q, parts in enumerate(self._found):
            for g, moments in enumerate(parts):
                found |= _written(moments, f"{q} {g}")
        return found

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        self._found = []
        self.merge(state)

    def merge(self, state: dict[str, NDArray[Any]]) -> None:
        sizes = state["sizes"].tolist()
        self._join([[_read(state, f"{q} {g}") for g in range(size)] for q, size in enumerate(sizes)])


def _written(moments: Moments, at: str) -> dict[str, NDArray[Any]]:
    """Moments as arrays with names that end in a place."""
    found: dict[str, NDArray[Any]] = {
        f"sums {at}": np.array([moments.weight, moments.weight_squared]),
        f"count {at}": np.array([moments.count]),
        f"mean {at}": moments.mean,
    }
    if moments.m2 is not None:
        found[f"m2 {at}"] = moments.m2
    return found if moments.squared is None else found | _written(moments.squared, f"{at} squared")


def _read(state: dict[str, NDArray[Any]], at: str) -> Moments:
    weight, squared = (float(v) for v in state[f"sums {at}"])
    own = _read(state, f"{at} squared") if f"sums {at} squared" in state else None
    return Moments(
        int(state[f"count {at}"][0]), weight, squared, state[f"mean {at}"], state.get(f"m2 {at}"), own
    )


class PointWeights:
    """The weight of the rows nearest to each point of several grids: over all rows, then by group."""

    title = "placing rows"

    def __init__(
        self,
        reader: Reader,
        columns: Sequence[Any],
        sets: Sequence[tuple[tuple[Feature, ...], tuple[NDArray[Any], ...]]],
    ) -> None:
        self._reader, self._columns, self._sets = reader, columns, list(sets)
        n = 1 if reader.groups is None else len(reader.groups.labels) + 1
        self.sums = [np.zeros((n, int(np.prod([len(v) for v in grid])))) for _, grid in self._sets]

    @property
    def columns(self) -> list[str]:
        """The columns of a source that are needed."""
        moving = [name for features, _ in self._sets for feature in features for name in feature.columns]
        return list(dict.fromkeys([*moving, *self._reader.columns]))

    def add(self, block: Block, crew: Crew) -> None:
        sample = self._reader.sample(block)
        for (features, grid), sums in zip(self._sets, self.sums):
            placed = [self._place(feature, values, block) for feature, values in zip(features, grid)]
            flat, has = np.zeros(block.n_rows, np.int64), np.ones(block.n_rows, bool)
            for (at, own), values in zip(placed, grid):
                flat, has = flat * len(values) + np.where(own, at, 0), has & own
            kept = None if sample.weights is None else sample.weights[has]
            size = sums.shape[1]
            sums[0] += np.bincount(flat[has], kept, minlength=size)
            if sample.codes is not None:
                codes = sample.codes[has]
                known = codes >= 0
                counted = np.bincount(
                    codes[known] * size + flat[has][known],
                    None if kept is None else kept[known],
                    minlength=(len(sums) - 1) * size,
                )
                sums[1:] += counted.reshape(len(sums) - 1, size)

    def _place(
        self, feature: Feature, values: NDArray[Any], block: Block
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        asked = {feature.label: list(feature.columns)} if feature.is_group else feature.label
        return nearest_points(values, resolve(asked, block.table, self._columns).column)

    def found(self, number: int) -> list[Float]:
        shape = tuple(len(values) for values in self._sets[number][1])
        return [own.reshape(shape) for own in self.sums[number]]

    def state(self) -> dict[str, NDArray[Any]]:
        return {f"sums {number}": sums for number, sums in enumerate(self.sums)}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        self.sums = [state[f"sums {number}"].copy() for number in range(len(self.sums))]

    def merge(self, state: dict[str, NDArray[Any]]) -> None:
        self.sums = [sums + state[f"sums {number}"] for number, sums in enumerate(self.sums)]


class Folded:
    """Sums that are asked for by someone else, who sees parts of the rows."""

    def __init__(self, reader: Reader, sums: Fold) -> None:
        self._reader, self._sums, self.title = reader, sums, sums.title
        self.state, self.restore, self.merge = sums.state, sums.restore, sums.merge

    def add(self, block: Block, crew: Crew) -> None:
        sample = self._reader.sample(block)
        weights = np.ones(block.n_rows) if sample.weights is None else sample.weights
        self._sums.add(Part(block.table, weights, sample.codes))


def check_some_weight(largest: float) -> None:
    """Refuse weights that are all zero: nothing would stand behind an average."""
    if largest == 0.0:
        raise InputError(complaint("weights", "must not all be zero", "only zeros"))
