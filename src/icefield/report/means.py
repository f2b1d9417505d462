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

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class GroupMeans:
    """Means at values of a feature: ``observed`` and ``predicted`` are ``(outputs, groups)``."""

    values: NDArray[Any]
    points: list[str]
    rows: NDArray[np.intp]
    observed: Float
    predicted: Float

    def of_many(self, least: int) -> GroupMeans | None:
        """The means of groups with at least this many rows; None where there are none."""
        enough = np.flatnonzero(self.rows >= least)
        points = [self.points[i] for i in enough]
        means = self.observed[:, enough], self.predicted[:, enough]
        return GroupMeans(self.values[enough], points, self.rows[enough], *means) if len(enough) else None


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
    def of(cls, study: Study, name: Any, effect: Effect, coarse: bool = False) -> Means | None:
        """Means along a feature, given as a user names it; None where no targets were observed."""
        seen, _ = observed(study)
        if seen is None:
            return None
        whole = study.feature(name)
        if whole.is_group:
            return cls(effect, feature_column(whole, study.sample.table.take(seen.rows)), seen, coarse)
        return cls(effect, study.column(whole).part(seen.rows), seen, coarse)

    def known(self, levels: list[Any]) -> GroupMeans | None:
        """Means in groups of an ordered feature's values, or at the levels shown; None without any group."""
        if not self._effect.ordered[0]:
            return self._at_levels(levels)
        stretch = self._stretch()
        bins = self._per_output(lambda o: along_feature(self._seen, self._column, o, stretch))
        if not bins:
            return None
        values = at = rounded_means(bins[0].at, self._column) if self._coarse else bins[0].at
        if self._column.kind in TIME_KINDS:
            values = np.round(at).astype(np.int64).astype(self._column.values.dtype)
        single = self._column.kind != "float" and bool((at == np.round(at)).all())
        return _stack(bins, values, [self._near(value, at, single) for value in values])

    def _per_output(self, of: Callable[[int], Result | None]) -> list[Result]:
        """What `of` gives for each output, where that is not None."""
        return [bins for o in range(self._seen.truth.shape[1]) if (bins := of(o)) is not None]

    def _stretch(self) -> tuple[float, float] | None:
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

    def _at_levels(self, levels: list[Any]) -> GroupMeans | None:
        means = self._per_output(lambda o: at_levels(self._seen, self._column, levels, o))
        if not means:
            return None
        values = object_array([levels[i] for i in means[0][0]])
        naming, feature = self._effect.naming, self._effect.features[0]
        texts = [named_value(v, naming, feature, lambda value: shown_value(value, 60)) for v in values]
        return _stack([bins for _, bins in means], values, texts)

    def for_missing(self) -> GroupMeans | None:
        """Means of the rows in which the feature is missing; None where they are few."""
        bins = self._per_output(lambda o: where_missing(self._seen, self._column, o))
        return _stack(bins, np.zeros(1), ["missing"], with_rows=False) if bins else None

    def far_from_curve(self, output: int) -> FarFromCurve | None:
        """The group whose observed mean is farthest from partial dependence; None where none is far.

        Far is more than three standard errors of the observed mean (from the spread of all targets, so rather too large)
        and more than half of the predictions' standard deviation, in at least 30 rows.
        """
        effect, shown = self._effect, shown_points(self._effect)
        groups = self.known(list(effect.grid[0]))
        if groups is None:
            return None
        place, y = Coordinates([effect]).place, effect.average[output][shown]
        at, x = place(groups.values), place(effect.grid[0][shown])
        if effect.ordered[0]:
            order = np.argsort(x)
            curve = np.interp(at, x[order], y[order])
        else:
            known = dict(zip(x.tolist(), y.tolist()))
            curve = np.array([known.get(position, np.nan) for position in at.tolist()])
        distance = np.abs(groups.observed[output] - curve)
        errors = distance / (self._seen.truth[:, output].std() / np.sqrt(groups.rows) + np.finfo(float).tiny)
        far = (distance > FAR_SIZE * output_unit(effect, output)) & (errors > FAR_ERRORS)
        far &= groups.rows >= FAR_ROWS
        if not far.any():
            return None
        worst = int(np.where(far, errors, 0.0).argmax())
        means = groups.observed[output], groups.predicted[output], curve
        return FarFromCurve(groups.points[worst], *(float(mean[worst]) for mean in means))

    def overall(self) -> tuple[Float, Float]:
        """Mean over all rows: observed, and predicted."""
        share = self._seen.weights / self._seen.weights.sum()
        return share @ self._seen.truth, share @ self._seen.predicted


def _stack(bins: list[Bins], values: NDArray[Any], points: list[str], with_rows: bool = True) -> GroupMeans:
    """Every output's means; `with_rows` is whether a point says of how many rows."""
    rows = bins[0].rows
    texts = [f"{point}, {counted(int(n))} rows" if with_rows else point for point, n in zip(points, rows)]
    means = (np.stack([getattr(each, name) for each in bins]) for name in ("observed", "predicted"))
    return GroupMeans(values, texts, rows, *means)
