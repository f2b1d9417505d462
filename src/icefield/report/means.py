"""Observed and predicted means along a feature, in the feature's own values: what a card holds beside its curve.

Every mean is of at least five rows, whatever is asked for: a card never tells what single rows' targets were.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.columns import TIME_KINDS, Column, object_array
from icefield.data.features import feature_column
from icefield.effect import Effect
from icefield.plots.coordinates import Coordinates
from icefield.report.release import rounded_means
from icefield.statistics.fit_score import Bins, Observed, along_feature, at_levels, observed, where_missing
from icefield.statistics.ice_statistics import output_unit, shown_points
from icefield.typing import Float
from icefield.wording.values import named_value, place_text, shown_value

FAR_ERRORS = 3.0  # standard errors of an observed mean,
FAR_SIZE = 0.5  # and standard deviations of the predictions, beyond which a curve is far from it
FAR_ROWS = 30  # that the mean is of, at least

Found = TypeVar("Found")


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
        points = [self.points[i] for i in kept]
        means = self.observed[:, kept], self.predicted[:, kept]
        return Known(self.values[kept], points, self.rows[kept], *means) if len(kept) else None


class FarFromCurve(NamedTuple):
    """The group of rows whose observed mean lies farthest from the average curve, in multiples of its error."""

    point: str  # the group, in words
    observed: float
    predicted: float
    average: float  # partial dependence there


class Means:
    """Means along one feature, on the axis of its effect; `column` is the feature at the rows seen.

    `coarse` means that places are rounded.
    """

    def __init__(self, effect: Effect, column: Column, seen: Observed, coarse: bool = False) -> None:
        self._effect, self._column, self._seen, self._coarse = effect, column, seen, coarse

    @classmethod
    def of(cls, study: Study, asked: Any, effect: Effect, coarse: bool = False) -> Means | None:
        """Of a feature as asked, None where nothing was observed."""
        seen, _ = observed(study)
        if seen is None:
            return None
        whole = study.feature(asked)
        if whole.is_group:
            return cls(effect, feature_column(whole, study.sample.table.take(seen.rows)), seen, coarse)
        return cls(effect, study.column(whole).part(seen.rows), seen, coarse)

    def known(self, levels: list[Any]) -> Known | None:
        """At groups of an ordered feature's values, or at the levels shown."""
        if not self._effect.ordered[0]:
            return self._at_levels(levels)
        drawn = self._drawn()
        found = self._each(lambda o: along_feature(self._seen, self._column, o, drawn))
        if not found:
            return None
        values = at = rounded_means(found[0].at, self._column) if self._coarse else found[0].at
        if self._column.kind in TIME_KINDS:
            values = np.round(at).astype(np.int64).astype(self._column.values.dtype)
        single = self._column.kind != "float" and bool((at == np.round(at)).all())
        return _stacked(found, values, [self._near(value, at, single) for value in values])

    def _each(self, of: Callable[[int], Found | None]) -> list[Found]:
        """One for every output that has any."""
        return [one for o in range(self._seen.truth.shape[1]) if (one := of(o)) is not None]

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
        found = self._each(lambda o: at_levels(self._seen, self._column, levels, o))
        if not found:
            return None
        values = object_array([levels[i] for i in found[0][0]])
        naming, feature = self._effect.naming, self._effect.features[0]
        texts = [named_value(v, naming, feature, lambda one: shown_value(one, 60)) for v in values]
        return _stacked([one for _, one in found], values, texts)

    def gone(self) -> Known | None:
        """Where the feature is missing."""
        found = self._each(lambda o: where_missing(self._seen, self._column, o))
        return _stacked(found, np.zeros(1), ["missing"], told=False) if found else None

    def far_from_curve(self, output: int) -> FarFromCurve | None:
        """Where the observed mean is far from partial dependence; None where it is nowhere.

        Far is more than three standard errors of the observed mean (from the spread of all targets, so rather too large)
        and more than half of the predictions' standard deviation, in at least 30 rows.
        """
        effect, shown = self._effect, shown_points(self._effect)
        found = self.known(list(effect.grid[0]))
        if found is None:
            return None
        place, y = Coordinates([effect]).place, effect.average[output][shown]
        at, x = place(found.values), place(effect.grid[0][shown])
        if effect.ordered[0]:
            order = np.argsort(x)
            curve = np.interp(at, x[order], y[order])
        else:
            known = dict(zip(x.tolist(), y.tolist()))
            curve = np.array([known.get(one, np.nan) for one in at.tolist()])
        distance = np.abs(found.observed[output] - curve)
        errors = distance / (self._seen.truth[:, output].std() / np.sqrt(found.rows) + np.finfo(float).tiny)
        far = (distance > FAR_SIZE * output_unit(effect, output)) & (errors > FAR_ERRORS)
        far &= found.rows >= FAR_ROWS
        if not far.any():
            return None
        worst = int(np.where(far, errors, 0.0).argmax())
        means = found.observed[output], found.predicted[output], curve
        return FarFromCurve(found.points[worst], *(float(one[worst]) for one in means))

    def overall(self) -> tuple[Float, Float]:
        """Mean over all rows: observed, and predicted."""
        share = self._seen.weights / self._seen.weights.sum()
        return share @ self._seen.truth, share @ self._seen.predicted


def _stacked(found: list[Bins], values: NDArray[Any], points: list[str], told: bool = True) -> Known:
    """Every output's means; `told` is whether a point says of how many rows."""
    rows = found[0].rows
    texts = [f"{point}, {counted(int(n))} rows" if told else point for point, n in zip(points, rows)]
    means = (np.stack([getattr(one, name) for one in found]) for name in ("observed", "predicted"))
    return Known(values, texts, rows, *means)
