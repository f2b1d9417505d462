"""How much data is near each grid point, counted in a pass over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.core.rows import Accumulator, Block, State
from icefield.data.features import Feature, feature_column, nearest_points
from icefield.typing import Array, Float

if TYPE_CHECKING:
    from icefield.threads import ThreadCrew

Grids = tuple[Array, ...]


class PointWeights(Accumulator):
    """The weight of the rows nearest to each point of several grids: over all rows, then by group.

    `sets` are features that move together, with their grids; `beside` are columns that weights and groups are read from.
    """

    title = "placing rows"

    def __init__(
        self, sets: Sequence[tuple[tuple[Feature, ...], Grids]], n_groups: int, beside: Sequence[str]
    ) -> None:
        self._sets = list(sets)
        moving = [name for features, _ in self._sets for feature in features for name in feature.columns]
        self.columns = list(dict.fromkeys([*moving, *beside]))
        self.sums = [np.zeros((1 + n_groups, int(np.prod([len(v) for v in grid])))) for _, grid in self._sets]

    @property
    def about(self) -> dict[str, Any]:
        sets = [zip(features, grid) for features, grid in self._sets]
        return {"point weights": [[[str(f.label), repr(v.tolist())] for f, v in own] for own in sets]}

    def add(self, block: Block, threads: ThreadCrew) -> None:
        for (features, grid), sums in zip(self._sets, self.sums):
            flat, has = np.zeros(block.n_rows, np.int64), np.ones(block.n_rows, bool)
            for feature, values in zip(features, grid):
                at, own = nearest_points(values, feature_column(feature, block.table))
                flat, has = flat * len(values) + np.where(own, at, 0), has & own
            kept = None if block.weights is None else block.weights[has]
            size = sums.shape[1]
            sums[0] += np.bincount(flat[has], kept, minlength=size)
            if block.codes is not None:
                codes = block.codes[has]
                known = codes >= 0
                kept = None if kept is None else kept[known]
                places = codes[known] * size + flat[has][known]
                sums[1:] += np.bincount(places, kept, minlength=sums[1:].size).reshape(-1, size)

    def of(self, number: int) -> list[Float]:
        """The weights at the points of one of the grids: over all rows, then by group."""
        shape = tuple(len(values) for values in self._sets[number][1])
        return [own.reshape(shape) for own in self.sums[number]]

    def state(self) -> State:
        return {f"sums {number}": sums for number, sums in enumerate(self.sums)}

    def restore(self, state: State) -> None:
        self.sums = [state[f"sums {number}"].copy() for number in range(len(self.sums))]

    def merge(self, state: State) -> None:
        self.sums = [sums + state[f"sums {number}"] for number, sums in enumerate(self.sums)]
