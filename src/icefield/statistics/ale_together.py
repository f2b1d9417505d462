"""Accumulated local effects of several features, each by itself, from walks over the rows that they share.

An engine that can moves every row along all features at once and gives sums by where rows stand; with any other, each
feature moves the rows of a part by itself, and a stream is still read once for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.placement import Standing
from icefield.core.request import Differences, Part
from icefield.statistics.ale_curve import own_state

if TYPE_CHECKING:
    from icefield.core.study import Study
    from icefield.statistics.ale import LocalChanges


class ChangesTogether:
    """Local changes of several features, each by itself, that share their walks over the rows where the engine can.

    Parameters
    ----------
    study : the model and its data
    changes : of one feature each
    """

    title = "moving rows"

    def __init__(self, study: Study, changes: Sequence[LocalChanges]) -> None:
        self._study, self._changes = study, changes

    @property
    def about(self) -> dict[str, Any]:
        """What this is of."""
        return {"together": [one.about for one in self._changes]}

    def add(self, part: Part) -> None:
        """Move the rows of a part."""
        study, changes, found = self._study, self._changes, None
        if part.table.n_rows and all(one.shares_a_walk for one in changes):
            found, plan, reason = study.local_sums(self._standing(part))
        if found is None:
            for one in changes:
                one.add(part)
            return
        moved = Differences(np.zeros((0, 0)), plan.engine.costs_predictions, plan.engine.name, reason)
        for number, one in enumerate(changes):
            one.take(*found.of(number), part.table.n_rows, moved)

    def _standing(self, part: Part) -> Standing:
        """The rows of a part, and where they stand."""
        study, changes, weights = self._study, self._changes, part.weights
        columns = [study.feature_in(one.features[0], part.table).column for one in changes]
        placing = [one.cuts[0].placing(column, weights) for one, column in zip(changes, columns)]
        n_groups = 0 if study.groups is None else len(study.groups.labels)
        segments = np.zeros(len(weights), np.int32)
        if part.codes is not None:
            segments = np.where(part.codes < 0, n_groups, part.codes).astype(np.int32)
        return Standing(
            axes=[one.axis for one in changes],
            on_levels=[one.cuts[0].on_levels for one in changes],
            table=part.table,
            places=lambda start, stop: np.stack([places(slice(start, stop)) for places in placing]),
            weights=weights,
            squares=weights if changes[0].copies else np.square(weights),
            segments=segments,
            n_segments=n_groups + 1,
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """The sums so far, as arrays."""
        return {
            f"{number} {name}": values
            for number, one in enumerate(self._changes)
            for name, values in one.state().items()
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from sums that were written down."""
        for number, one in enumerate(self._changes):
            one.restore(own_state(state, number))

    def merge(self, state: dict[str, NDArray[Any]]) -> None:
        """Take in the sums of other rows."""
        for number, one in enumerate(self._changes):
            one.merge(own_state(state, number))
