"""Batch sizes: how many predictions go into one call of a model, so that Ctrl-C works between calls."""

from __future__ import annotations

import time

import numpy as np

from icefield.data.frame import Table
from icefield.models.model import Model
from icefield.threads import check_cancelled
from icefield.typing import Float

ROWS_PER_CALL = 16_384  # enough to drown a call's fixed cost, small enough to stay near the cache
FIRST_ROWS = 64  # predictions of the first call, which shows how slow the model is
SECONDS_PER_CALL = 0.5  # so that Ctrl-C is answered within a second


class Pace:
    """How many predictions go into one call: about `seconds` of work, never more than `most` nor, where they suffice, less than `least`.

    It starts small and grows as calls prove to be quick, so that a slow model can still be
    interrupted within a second and a quick one is not slowed by many small calls.
    """

    def __init__(self, first: int, most: int, seconds: float, least: int = 1) -> None:
        self.most, self.seconds, self.least = most, seconds, min(least, most)
        self.predictions = max(self.least, min(first, most))
        self.searching = self.predictions < most

    def learn(self, predictions: int, seconds: float) -> None:
        """Update the estimate with the duration of a call."""
        affordable = int(predictions * self.seconds / max(seconds, 1e-6))
        # A call of some milliseconds has told enough; shorter ones are mostly fixed cost.
        self.searching = self.searching and seconds < self.seconds / 100 and self.predictions < self.most
        self.predictions = max(self.least, min(affordable, 8 * self.predictions, self.most))


def interruptible(model: Model, table: Table) -> Float:
    """The model's predictions for some rows, in calls short enough that Ctrl-C works between them.

    A model that looks across rows is asked about all of them in one call.
    """
    if model.across_rows:
        return model.predict(table)
    pace = Pace(FIRST_ROWS, ROWS_PER_CALL, SECONDS_PER_CALL, model.least_per_call)
    parts: list[Float] = []
    row = 0
    while row < table.n_rows:
        check_cancelled()
        end = min(row + pace.predictions, table.n_rows)
        began = time.perf_counter()
        parts.append(model.predict(table.slice(row, end)))
        pace.learn(end - row, time.perf_counter() - began)
        row = end
    return np.concatenate(parts)
