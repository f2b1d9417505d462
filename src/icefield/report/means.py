"""Observed and predicted means along a feature, in the feature's own values: what a card holds beside its curve.

Every mean is of at least five rows, whatever is asked for: a card never tells what single rows' targets were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.columns import TIME_KINDS, Column
from icefield.data.features import feature_column
from icefield.effect import Effect
from icefield.plots.coordinates import Coordinates
from icefield.report.rounding import rounded_means
from icefield.statistics.fit_score import Bins, Observed, along_feature, at_levels, observed, where_missing
from icefield.statistics.ice_statistics import output_unit, shown_points
from icefield.typing import Float
from icefield.wording.values import named_value, place_text, shown_value

FAR_ERRORS = 3.0  # standard errors of an observed mean,
FAR_SIZE = 0.5  # and standard deviations of the predictions, beyond which a curve is far from it
FAR_ROWS = 30  # that the mean is of, at least


@dataclass(frozen=True, eq=False)
class Known:
    """Means at values of a feature: ``observed`` and ``predicted`` are ``(outputs, groups)``."""

    values: NDArray[Any]
    points: list[str]
    rows: NDArray[np.intp]
    observed: Float
    predicted: Float

    def of_many(self, least: int) -> Known | None:
        """Those of at least this many rows."""
        kept = np.flatnonzero(self.rows >= least)
        if not len(kept):
            return None
        return Known(
            self.values[kept],
            [self.points[i] for i in kept],
            self.rows[kept],
            self.observed[:, kept],
            self.predicted[:, kept],
        )


@dataclass(frozen=True)
class FarFromCurve:
    """The group of rows whose observed mean lies farthest from the average curve, in multiples of its error.

    Attributes
    ----------
    point : the group, in words
    observed, predicted : means of its rows
    average : the partial dependence there
    """

    point: str
    observed: float
    predicted: float
    average: float


class Means:
    """Means along one feature.

    Parameters
    ----------
    effect : whose axis they stand on
    column : the feature at the rows seen
    seen : what was observed and predicted there
    coarse : whether places are rounded
    """

    def __init__(self, effect: Effect, column: Column, seen: Observed, coarse: bool = False) -> None:
        self._effect, self._column, self._seen, self._coarse = effect, column, seen, coarse
        self._outputs = range(seen.truth.shape[1])

    @classmethod
    def of(cls, study: Study, asked: Any, effect: Effect, coarse: bool = False) -> Means | None:
        """Of a feature as asked, None where nothing was observed."""
        seen, _ = observed(study)
        if seen is None:
            return None
        whole = study.feature(asked)
        if not whole.is_group:
            return cls(effect, study.column(whole).part(seen.rows), seen, coarse)
        return cls(effect, feature_column(whole, study.sample.table.take(seen.rows)), seen, coarse)

    def known(self, levels: list[Any]) -> Known | None:
        """At groups of an ordered feature's values, or at the levels shown."""
        if not self._effect.ordered[0]:
            return self._at_levels(levels)
        each = [along_feature(self._seen, self._column, o, self._drawn()) for o in self._outputs]
        found = [one for one in each if one is not None]
        if not found:
            return None
        at = rounded_means(found[0].at, self._column) if self._coarse else found[0].at
        values = at
        if self._column.kind in TIME_KINDS:
            values = np.round(at).astype(np.int64).astype(self._column.values.dtype)
        single = self._column.kind != "float" and bool((at == np.round(at)).all())
        return _stacked(
            found, values, [f"{self._near(v, at, single)}, {_rows(n)}" for v, n in zip(values, found[0].rows)]
        )

    def _drawn(self) -> tuple[float, float] | None:
        """The stretch that the card's curve covers, in the column's own numbers."""
        grid = self._effect.grid[0][shown_points(self._effect)]
        if not len(grid):
            return None
        if self._column.kind in TIME_KINDS:
            grid = grid.astype(self._column.values.dtype).astype(np.int64)
        return float(grid.min()), float(grid.max())

    def _near(self, value: Any, at: Float, single: bool) -> str:
        """A group by its mean, or by its value where it has only one."""
        naming, feature = self._effect.naming, self._effect.features[0]
        if self._column.kind in TIME_KINDS:
            return f"around {shown_value(value)}"
        low, high = float(at.min()), float(at.max())
        text = named_value(float(value), naming, feature, lambda v: place_text(v, low, high))
        return text if single else f"around {text}"

    def _at_levels(self, levels: list[Any]) -> Known | None:
        each = [at_levels(self._seen, self._column, levels, o) for o in self._outputs]
        found = [one for one in each if one is not None]
        if not found:
            return None
        values = np.empty(len(found[0][0]), dtype=object)
        values[:] = [levels[i] for i in found[0][0]]
        naming, feature = self._effect.naming, self._effect.features[0]
        texts = [
            f"{named_value(v, naming, feature, lambda one: shown_value(one, 60))}, {_rows(n)}"
            for v, n in zip(values, found[0][1].rows)
        ]
        return _stacked([one for _, one in found], values, texts)

    def gone(self) -> Known | None:
        """Where the feature is missing."""
        each = [where_missing(self._seen, self._column, o) for o in self._outputs]
        found = [one for one in each if one is not None]
        return _stacked(found, np.zeros(1), ["missing"]) if found else None

    def far_from_curve(self, output: int) -> FarFromCurve | None:
        """Where the observed mean is far from partial dependence; None where it is nowhere.

        Far is more than three standard errors of the observed mean (from the spread of all targets, so rather too large)
        and more than half of the predictions' standard deviation, in at least 30 rows.
        """
        effect = self._effect
        shown = shown_points(effect)
        found = self.known(list(effect.grid[0]))
        if found is None:
            return None
        places = Coordinates([effect])
        at, x, y = (
            places.place(found.values),
            places.place(effect.grid[0][shown]),
            effect.average[output][shown],
        )
        if effect.ordered[0]:
            order = np.argsort(x)
            curve = np.interp(at, x[order], y[order])
        else:
            where = {place: number for number, place in enumerate(x.tolist())}
            curve = np.array([y[where[place]] if place in where else np.nan for place in at.tolist()])
        distance = np.abs(found.observed[output] - curve)
        errors = distance / (self._seen.truth[:, output].std() / np.sqrt(found.rows) + np.finfo(float).tiny)
        far = (
            (distance > FAR_SIZE * output_unit(effect, output))
            & (errors > FAR_ERRORS)
            & (found.rows >= FAR_ROWS)
        )
        if not far.any():
            return None
        worst = int(np.where(far, errors, 0.0).argmax())
        return FarFromCurve(
            found.points[worst],
            float(found.observed[output][worst]),
            float(found.predicted[output][worst]),
            float(curve[worst]),
        )

    def overall(self) -> tuple[Float, Float]:
        """Mean over all rows: observed, and predicted."""
        share = self._seen.weights / self._seen.weights.sum()
        return share @ self._seen.truth, share @ self._seen.predicted


def _rows(count: int) -> str:
    return f"{counted(int(count))} rows"


def _stacked(found: list[Bins], values: NDArray[Any], points: list[str]) -> Known:
    return Known(
        values,
        points,
        found[0].rows,
        np.stack([one.observed for one in found]),
        np.stack([one.predicted for one in found]),
    )
