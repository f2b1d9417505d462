"""Effect: the one result everything downstream consumes.

Plots, tables, statistics and the report are drawn from Effects alone, never from the model or
the data again; so an Effect carries its curves, how they were computed, and what pictures need
to know of the data. It is frozen, picklable and self-contained.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import ORDERED_KINDS, TIME_KINDS, frame_of, is_missing_value, object_array
from icefield.data.distribution import Distribution, weighted_quantiles
from icefield.data.given_values import time_value
from icefield.errors import InputError, InputTypeError, complaint
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.statistics.reading import Reading
    from icefield.statistics.support import Support


@dataclass(frozen=True, eq=False)
class Effect:
    """How a model responds to one or several features.

    Attributes
    ----------
    kind : ``"pd"``, ``"ice"`` or ``"ale"``
    features : the features' labels
    grid : one array per feature, in the column's own dtype; a missing point, if any, is last
        (NaN or NaT, None where the dtype has no missing value)
    average : mean over the rows, shape ``(outputs, *grid)``
    std, se : standard deviation of the curves and Monte Carlo standard error of `average`, or None
    quantiles : mapping of probability -> array of shape ``(outputs, *grid)``, or None
    individual : the kept curves, shape ``(outputs, rows, *grid)``, or None
    rows : positions in X of the kept curves, or None
    row_values : for kept rows, mapping of column -> their values (to colour curves by)
    others : the model's columns that stay as they are; None where it is not known
    row_weights : for kept rows, their weights; None when rows are not weighted
    groups : mapping of group label -> Effect on the same grid, empty without ``by``
    outputs : names of the outputs
    scale, scale_label : ``"response"`` or ``"raw"``, and its name for axes
    background : ``"data"`` or ``"training"``
    engine, why : which engine computed it, and how that was chosen
    n_rows : rows averaged over
    over : what `average` and its spread are taken over: ``"rows"``, or ``"refits"`` of one model
        (see `icefield.compare`), which `n_rows`, `individual` and `rows` then count and number
    weight : sum of weights nearest to each grid point, shape ``grid``
    distribution : where the data is
    kinds : the features' column kinds
    baseline, output_std : mean and standard deviation of the model's predictions on a seeded sample
    steps : whether the curve is an exact step function that changes only at grid values
    view : ``"level"``, ``"centered"`` or ``"derivative"``
    reference : what a centred effect is relative to (a grid value, or ``"mean"``)
    support : how much data stands behind each grid point, or None
    """

    kind: str
    features: tuple[Any, ...]
    grid: tuple[NDArray[Any], ...]
    average: Float
    outputs: tuple[Any, ...]
    kinds: tuple[str, ...]
    scale: str = "response"
    scale_label: str = "prediction"
    background: str = "data"
    engine: str = "brute"
    why: str = ""
    n_rows: int = 0
    over: str = "rows"
    weight: Float | None = None
    std: Float | None = None
    se: Float | None = None
    quantiles: Mapping[float, Float] | None = None
    individual: Float | None = None
    rows: NDArray[np.intp] | None = None
    row_values: Mapping[Any, NDArray[Any]] | None = None
    others: tuple[Any, ...] | None = None
    row_weights: Float | None = None
    groups: Mapping[Any, Effect] = field(default_factory=dict)
    by: str | None = None
    distribution: Distribution | None = None
    baseline: Float | None = None
    output_std: Float | None = None
    steps: bool = False
    view: str = "level"
    reference: Any = None
    support: Support | None = None
    library: str = "numpy"

    # --- looking -------------------------------------------------------------------------------

    @property
    def n_features(self) -> int:
        return len(self.features)

    @property
    def missing_last(self) -> tuple[bool, ...]:
        """Per feature, whether the grid's last point is the missing value."""
        return tuple(len(g) > 0 and is_missing_value(g[-1]) for g in self.grid)

    @property
    def ordered(self) -> tuple[bool, ...]:
        """Per feature, whether its values have an order and distances (numbers and times)."""
        return tuple(kind in ORDERED_KINDS for kind in self.kinds)

    @property
    def reading(self) -> Reading:
        """What the curve says, with the numbers it says it by."""
        from icefield.statistics.reading import read_effect

        return read_effect(self)

    def plot(self, **options: Any) -> Any:
        """Draw the effect; see `icefield.plots.plot_effect` for the options."""
        from icefield.plots import plot_effect

        return plot_effect(self, **options)

    def __repr__(self) -> str:
        from icefield.printing import effect_text

        return effect_text(self)

    def _repr_html_(self) -> str:
        from icefield.printing import effect_html

        return effect_html(self)

    # --- other views of the same numbers -------------------------------------------------------

    def center(self, at: Any = "first") -> Effect:
        """The change from a base value: every curve minus its own value there.

        Parameters
        ----------
        at : ``"first"`` (the first grid value), ``"mean"`` (each curve's own mean over the grid)
            or a value of the grid; for numbers and times between grid points, curves are
            interpolated. For several features, a tuple with one value each.

        Notes
        -----
        The spread of centred curves cannot be derived from the spread of the curves: `std`, `se` and
        `quantiles` are recomputed when every row's curve was kept, and None otherwise (so always None
        in `groups`, which keep no curves).
        """
        if self.view == "derivative":
            raise InputError("A derivative cannot be centred. Hint: center() before derivative().")
        axes = tuple(range(-self.n_features, 0))
        if isinstance(at, str) and at == "mean" and not self._is_level(at):
            shown = tuple(
                slice(0, -1) if gone and len(g) > 1 else slice(None)
                for gone, g in zip(self.missing_last, self.grid)
            )

            def base(values: Float) -> Float:
                return values[(..., *shown)].mean(axis=axes, keepdims=True)

            reference: Any = "mean"
        else:
            values = self._reference_values(at)
            weights = [_interpolation(g, v, o) for g, v, o in zip(self.grid, values, self.ordered)]

            def base(values: Float) -> Float:
                for axis, weight in zip(axes, weights):
                    # Only the points that count, so that a NaN elsewhere on the curve stays there.
                    used = np.flatnonzero(weight)
                    near = np.moveaxis(np.take(values, used, axis=axis), axis, -1)
                    values = np.expand_dims(near @ weight[used], axis)
                return values

            reference = values[0] if self.n_features == 1 else tuple(values)
        return self._changed(lambda v: v - base(v), view="centered", reference=reference)

    def derivative(self, along: Any = None) -> Effect:
        """The slope of the curves (d-ICE, and the slope of the PD), by central differences.

        Times are differentiated per day. `along` chooses the feature when there are several. The
        missing point is left out.
        """
        if along is None:
            if self.n_features > 1:
                raise InputError(
                    complaint("along", "is needed for an effect of several features", None,
                              f"write derivative(along={self.features[0]!r})")
                )  # fmt: skip
            along = self.features[0]
        if along not in self.features:
            raise InputError(complaint("along", f"must be one of {list(self.features)}", along))
        at = self.features.index(along)
        if not self.ordered[at]:
            raise InputTypeError(
                f"Feature {along!r} is {self.kinds[at]}: it has no slope. Hint: use center() to compare levels."
            )
        places = _as_float(_known(self.grid[at]))
        order = np.argsort(places, kind="stable")
        x = places[order]
        distinct = np.concatenate([[True], np.diff(x) > 0]) if len(x) else np.zeros(0, dtype=bool)
        if distinct.sum() < 2:
            raise InputError(
                f"The grid of {along!r} has fewer than two distinct values: no slope can be taken."
            )
        kept = order[distinct]
        axis = at - self.n_features

        def slope(v: Float) -> Float:
            return np.gradient(np.take(v, kept, axis=axis), x[distinct], axis=axis)

        grid = tuple(_known(g)[kept] if i == at else g for i, g in enumerate(self.grid))
        return self._changed(
            slope,
            narrowed=(at, kept),
            view="derivative",
            reference=along,
            grid=grid,
            steps=False,
            support=None,
        )

    def _changed(
        self,
        change: Callable[[Float], Float],
        narrowed: tuple[int, NDArray[np.intp]] | None = None,
        **fields: Any,
    ) -> Effect:
        """Apply a linear change to every curve; spread is recomputed from kept curves or dropped.

        `narrowed` are the axis and the points of it that the change keeps.
        """
        individual = None if self.individual is None else change(self.individual)
        std = se = quantiles = None
        if individual is not None and self._all_curves_kept:
            std, se = spread_of(individual, self.row_weights, self.over)
            if self.quantiles is not None:
                quantiles = quantiles_of(individual, tuple(self.quantiles), self.row_weights)
        weight = self.weight
        if weight is not None and narrowed is not None:
            weight = np.take(weight, narrowed[1], axis=narrowed[0])
        return replace(
            self,
            average=change(self.average),
            individual=individual,
            std=std,
            se=se,
            quantiles=quantiles,
            weight=weight,
            groups={
                label: effect._changed(change, narrowed, **fields) for label, effect in self.groups.items()
            },
            **fields,
        )

    @property
    def _all_curves_kept(self) -> bool:
        """Whether the kept curves are those the average was taken over: they then reproduce it."""
        if self.individual is None or self.individual.shape[1] != self.n_rows:
            return False
        mean = np.average(self.individual, axis=1, weights=self.row_weights)
        known = np.isfinite(mean)
        size = np.abs(self.individual).max(axis=1)[known]
        same = np.abs(mean[known] - self.average[known]) <= 1e-9 * size
        return bool(same.all()) and np.array_equal(known, np.isfinite(self.average))

    def _is_level(self, value: Any) -> bool:
        return self.n_features == 1 and not self.ordered[0] and value in self.grid[0].tolist()

    def _reference_values(self, at: Any) -> tuple[Any, ...]:
        if isinstance(at, str) and at == "first" and not self._is_level(at):
            return tuple(g[0] for g in self.grid)
        values = at if self.n_features > 1 else (at,)
        if not isinstance(values, (tuple, list)) or len(values) != self.n_features:
            raise InputError(
                complaint("at", f"must give one value for each of {list(self.features)}", at,
                          'write center("first") or center("mean")')
            )  # fmt: skip
        return tuple(values)

    # --- taking it elsewhere -------------------------------------------------------------------

    def to_frame(self, individual: bool = False) -> Any:
        """A tidy table in the caller's frame library: one row per output, grid point (and group).

        With ``individual=True`` one row per output, kept curve and grid point.
        """
        if individual and self.individual is None:
            raise InputError(
                complaint("individual", "asks for curves this effect did not keep", True,
                          "compute it with Explainer.ice(...)")
            )  # fmt: skip
        blocks = [self._tidy(individual)]
        if self.groups and not individual:
            from icefield.wording.values import printed_value

            blocks[0]["group"] = object_array([None] * len(blocks[0]["average"]))
            for label, effect in self.groups.items():
                block = effect._tidy(False)
                block["group"] = object_array([printed_value(label)] * len(block["average"]))
                blocks.append(block)
        columns = {}
        for name in blocks[0]:
            # Groups keep no curves, so a centred group lacks the spread the whole may have.
            blank = np.full(len(blocks[0]["average" if "average" in blocks[0] else name]), np.nan)
            columns[name] = _joined([b.get(name, blank) for b in blocks])
        return frame_of(columns, self.library)

    def _tidy(self, individual: bool) -> dict[str, NDArray[Any]]:
        shape = self.average.shape[1:]
        mesh = np.meshgrid(*[np.arange(n) for n in shape], indexing="ij")
        size = int(np.prod(shape))
        repeat = self.individual.shape[1] if individual and self.individual is not None else 1
        n_out = len(self.outputs)
        out: dict[str, NDArray[Any]] = {
            "output": np.repeat(_labels(self.outputs), size * repeat),
        }
        if individual and self.rows is not None:
            out["row"] = np.tile(np.repeat(self.rows, size), n_out)
        taken = {*_RESERVED, *(f"q{q:g}" for q in self.quantiles or ())}
        for name, values, at in zip(self.features, self.grid, mesh):
            label = str(name)
            while label in out or label in taken:
                label += "_"
            out[label] = np.tile(values[at.ravel()], n_out * repeat)
        if individual and self.individual is not None:
            out["prediction"] = self.individual.reshape(-1)
            return out
        out["average"] = self.average.reshape(-1)
        for name, array in (("std", self.std), ("se", self.se)):
            if array is not None:
                out[name] = array.reshape(-1)
        for q, array in (self.quantiles or {}).items():
            out[f"q{q:g}"] = array.reshape(-1)
        if self.weight is not None and self.weight.shape == shape:
            out["weight"] = np.tile(self.weight.reshape(-1), n_out)
        return out

    def save(self, path: str | Path) -> None:
        """Write the effect to one file in an open format (a zip of .npy arrays and JSON)."""
        from icefield.storage import save_effect

        save_effect(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Effect:
        """Read an effect written by `save`. Nothing in the file is executed."""
        from icefield.storage import load_effect

        return load_effect(Path(path))


_RESERVED = ("output", "row", "average", "std", "se", "weight", "group", "prediction")


def _labels(labels: tuple[Any, ...]) -> NDArray[Any]:
    """Output names as a column: of their own type when they share one, else as text."""
    types = {type(label) for label in labels}
    if len(types) == 1 and types <= {str, int, float, bool, np.int64, np.float64, np.str_}:
        return np.array(labels, dtype=object if types <= {str, np.str_} else None)
    return object_array([str(label) for label in labels])


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _known(grid: NDArray[Any]) -> NDArray[Any]:
    """The grid without its missing point, and without the object dtype that point may have forced."""
    if len(grid) == 0 or not is_missing_value(grid[-1]):
        return grid
    return np.array(grid[:-1].tolist()) if grid.dtype == object and len(grid) > 1 else grid[:-1]


def _as_float(values: NDArray[Any]) -> Float:
    """Places along an axis; times in days since the first."""
    if values.dtype.kind in "mM":
        return np.asarray((values - values[:1]) / np.timedelta64(1, "D"), dtype=np.float64)
    return values.astype(np.float64)


def _interpolation(grid: NDArray[Any], value: Any, ordered: bool) -> Float:
    """Weights w with ``curve @ w`` = the curve at `value` (linear between neighbouring points)."""
    weights = np.zeros(len(grid))
    if is_missing_value(value):
        if is_missing_value(grid[-1]):
            weights[-1] = 1.0
            return weights
        raise InputError(complaint("at", "is missing, and the grid has no missing point", value))
    shown = _known(grid)
    if not ordered or len(shown) == 0:
        levels = grid.tolist()
        same = [i for i, level in enumerate(levels) if type(value) is not np.ndarray and level == value]
        if not same:
            raise InputError(complaint("at", f"must be one of the grid's values {levels[:10]}", value))
        weights[same[0]] = 1.0
        return weights
    x, v = _places(shown, value)
    same_place = np.flatnonzero(x == v)
    if len(same_place):
        weights[same_place[0]] = 1.0
        return weights
    order = np.argsort(x, kind="stable")
    right = int(np.searchsorted(x[order], v))
    if not 0 < right < len(x):
        raise InputError(
            complaint("at", f"lies outside the grid, which runs from {shown.min()} to {shown.max()}", value,
                      "choose a value inside, or compute the effect with a grid that holds it")
        )  # fmt: skip
    a, b = order[right - 1], order[right]
    share = (v - x[a]) / (x[b] - x[a])
    weights[a], weights[b] = 1.0 - share, share
    return weights


def _places(shown: NDArray[Any], value: Any) -> tuple[NDArray[Any], Any]:
    """The grid and a value on one scale, in which equal values stay equal."""
    try:
        if shown.dtype.kind not in "mM":
            if isinstance(value, (str, bytes)):
                raise TypeError("text for a number")
            exact = shown.dtype.kind in "iu" and isinstance(value, (int, np.integer))
            return (shown.astype(object), int(value)) if exact else (shown.astype(np.float64), float(value))
        read = time_value(value, duration=shown.dtype.kind == "m")
        return _as_float(shown), float((read - shown[0]) / np.timedelta64(1, "D"))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputTypeError(
            complaint("at", "must be a value of the feature's kind", value, f"for example {shown[0]!r}")
        ) from error


def spread_of(curves: Float, weights: Float | None, over: str) -> tuple[Float, Float]:
    """Standard deviation of curves ``(outputs, rows, *grid)`` and standard error of their mean.

    Rows are all there is to describe; a few refits stand for all that could have been.
    """
    mean = np.average(curves, axis=1, weights=weights, keepdims=True)
    std = np.sqrt(np.average(np.square(curves - mean), axis=1, weights=weights))
    rows = curves.shape[1] if weights is None else weights.sum() ** 2 / np.square(weights).sum()
    if rows <= 1.0:
        return std, np.full_like(std, np.nan)
    se = std / np.sqrt(rows - 1.0)
    return (np.sqrt(rows) * se if over == "refits" else std), se


def quantiles_of(curves: Float, asked: tuple[float, ...], weights: Float | None) -> dict[float, Float]:
    found = np.apply_along_axis(weighted_quantiles, 1, curves, np.array(asked), weights)
    return {q: np.take(found, i, axis=1) for i, q in enumerate(asked)}


def is_time(kind: str) -> bool:
    """Whether a column kind is a date, a time or a duration."""
    return kind in TIME_KINDS
