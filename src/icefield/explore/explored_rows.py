"""The rows of an explorer: their places on the columns' axes, the rows of a rule, histograms, and which single rows may be shown."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.study import Study
from icefield.explore.explored_columns import ExploredColumn, Histograms
from icefield.explore.messages import BadMessage
from icefield.explore.rules import mask_of
from icefield.statistics.observations import observed_outputs
from icefield.typing import Float, Positions


class ExploredRows:
    """The rows of the sample.

    Parameters
    ----------
    study : whose rows they are
    columns : the features
    shows_rows : whether single rows may leave the process
    points : how many points scatters show, at most
    """

    def __init__(
        self, study: Study, columns: Sequence[ExploredColumn], shows_rows: bool, points: int
    ) -> None:
        self._study, self._columns, self.shows_rows, self._points = study, columns, shows_rows, points
        self._lock = threading.RLock()

    @cached_property
    def histograms(self) -> Histograms:
        """How many rows of any filter are in each bar of each column."""
        with self._lock:
            sample = self._study.sample
            return Histograms(self._columns, sample.n_rows, sample.weights)

    @cached_property
    def all_bars(self) -> Float:
        """The bars of all rows."""
        return self.histograms.counts(None)

    @cached_property
    def predictions(self) -> Float:
        """The model's own predictions of every row of the sample, ``(rows, outputs)``."""
        return self._study.predictions()

    @cached_property
    def observed(self) -> Float | None:
        """What was observed of every row on the scale of the predictions; None where that is not known."""
        return observed_outputs(self._study)[0]

    @property
    def beside(self) -> tuple[str, ...]:
        """What rows have besides their columns, for scatters and rules."""
        return ("predicted",) if self._study.sample.y is None else ("observed", "predicted")

    def places(self, column: int | str) -> Float:
        """Each row's place on a column's axis."""
        if isinstance(column, int):
            return self._columns[column].places
        if column == "predicted":
            return self.predictions[:, 0]
        if self.observed is None:
            raise BadMessage("What was observed cannot be compared with these predictions.", "column")
        return self.observed[:, 0]

    def mask(self, rule: Sequence[dict[str, Any]]) -> NDArray[np.bool_]:
        """The rows of the sample that a rule keeps."""
        inside = np.ones(self._study.sample.n_rows, bool)
        for condition in rule:
            inside &= mask_of(self.places(condition["column"]), condition)
        return inside

    @cached_property
    def sampled(self) -> Positions:
        """Rows that scatters show, drawn with the seed."""
        count = self._study.sample.n_rows
        if count <= self._points:
            return np.arange(count)
        return np.sort(np.random.default_rng(self._study.seed).choice(count, self._points, replace=False))

    def check_shown(self) -> None:
        """An error where single rows stay in the process."""
        if not self.shows_rows:
            raise BadMessage(
                "Single rows are not shown here: the explorer was opened with rows=False.", "kind"
            )
