"""Effect: the one result everything downstream consumes.

Plots, tables, statistics and the report are drawn from Effects alone, never from the model or
the data again; so an Effect carries its curves, how they were computed, and what pictures need
to know of the data. It is frozen, picklable and self-contained.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.distribution import Distribution
from icefield.errors import InputError, InputTypeError, complaint
from icefield.frame import ORDERED_KINDS, TIME_KINDS, frame_of, is_missing_value, object_array

if TYPE_CHECKING:
    from icefield.reading import Reading
    from icefield.support import Support

Float = NDArray[np.float64]


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
    groups : mapping of group label -> Effect on the same grid, empty without ``by``
    outputs : names of the outputs
    scale, scale_label : ``"response"`` or ``"raw"``, and its name for axes
    background : ``"data"`` or ``"training"``
    engine, why : which engine computed it, and how that was chosen
    n_rows : rows averaged over
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
    weight: Float | None = None
    std: Float | None = None
    se: Float | None = None
    quantiles: Mapping[float, Float] | None = None
    individual: Float | None = None
    rows: NDArray[np.intp] | None = None
    row_values: Mapping[Any, NDArray[Any]] | None = None
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
        from icefield.reading import read_effect

        return read_effect(self)

    def plot(self, **options: Any) -> Any:
        """Draw the effect; see `icefield.plots.plot_effect` for the options."""
        from icefield.plots import plot_effect

        return plot_effect(self, **options)

    def __repr__(self) -> str:
        from icefield.display import effect_text

        return effect_text(self)

    def _repr_html_(self) -> str:
        from icefield.display import effect_html

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
        `quantiles` are recomputed when every row's curve was kept, and None otherwise.
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
            weights = [
                _interpolation(g, v, ordered, gone)
                for g, v, ordered, gone in zip(self.grid, values, self.ordered, self.missing_last)
            ]

            def base(values: Float) -> Float:
                for axis, weight in zip(reversed(axes), reversed(weights)):
                    moved = np.moveaxis(values, axis, -1) @ weight
                    values = np.expand_dims(moved, axis if axis == -1 else axis)
                return values

            reference = values[0] if self.n_features == 1 else tuple(values)
        return self._changed(lambda v: v - base(v), view="centered", reference=reference, kept_se=False)

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
        values = self.grid[at][:-1] if self.missing_last[at] else self.grid[at]
        order = np.argsort(values, kind="stable")
        x = _as_float(values[order], per_day=True)
        distinct = np.concatenate([[True], np.diff(x) > 0]) if len(x) else np.zeros(0, dtype=bool)
        if distinct.sum() < 2:
            raise InputError(
                f"The grid of {along!r} has fewer than two distinct values: no slope can be taken."
            )
        kept = order[distinct]
        axis = at - self.n_features

        def slope(v: Float) -> Float:
            return np.gradient(np.take(v, kept, axis=axis), x[distinct], axis=axis)

        grid = tuple(g[kept] if i == at else g for i, g in enumerate(self.grid))
        weight = None if self.weight is None else np.take(self.weight, kept, axis=at)
        return self._changed(
            slope, view="derivative", reference=along, grid=grid, weight=weight, steps=False, kept_se=False
        )

    def _changed(self, change: Any, *, kept_se: bool, **fields: Any) -> Effect:
        """Apply a linear change to every curve; spread is recomputed from kept curves or dropped."""
        individual = None if self.individual is None else change(self.individual)
        std = se = quantiles = None
        if (
            individual is not None
            and individual.shape[1] == self.n_rows
            and self.n_rows > 1
            and self.kind == "ice"
        ):
            if self._unweighted:
                std = individual.std(axis=1)
                se = std / np.sqrt(self.n_rows - 1)
                if self.quantiles is not None:
                    quantiles = {
                        q: np.quantile(individual, q, axis=1, method="inverted_cdf") for q in self.quantiles
                    }
        groups = {
            label: effect._changed(change, kept_se=kept_se, **fields) for label, effect in self.groups.items()
        }
        return replace(
            self,
            average=change(self.average),
            individual=individual,
            std=std,
            se=se,
            quantiles=quantiles,
            groups=groups,
            support=None if "grid" in fields else self.support,
            **fields,
        )

    @property
    def _unweighted(self) -> bool:
        return self.weight is None or float(self.weight.sum()) == self.n_rows

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
            blocks[0]["group"] = object_array([None] * len(blocks[0]["average"]))
            for label, effect in self.groups.items():
                block = effect._tidy(False)
                block["group"] = object_array([str(label)] * len(block["average"]))
                blocks.append(block)
        columns = {name: _joined([b[name] for b in blocks]) for name in blocks[0]}
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
        for name, values, at in zip(self.features, self.grid, mesh):
            label = str(name)
            while label in out or label in _RESERVED:
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


def _as_float(values: NDArray[Any], per_day: bool = False) -> Float:
    """Distances along an axis; times in days."""
    if values.dtype.kind in "mM":
        nanoseconds = (
            (values - values[0]).astype("timedelta64[ns]").astype(np.float64) if len(values) else np.zeros(0)
        )
        return nanoseconds / 86_400e9 if per_day else nanoseconds
    return values.astype(np.float64)


def _interpolation(grid: NDArray[Any], value: Any, ordered: bool, missing_last: bool) -> Float:
    """Weights w with ``curve @ w`` = the curve at `value` (linear between neighbouring points)."""
    weights = np.zeros(len(grid))
    for i, point in enumerate(grid.tolist() if grid.dtype.kind not in "mM" else grid):
        both_missing = is_missing_value(point) and is_missing_value(value)
        if both_missing or (not is_missing_value(point) and not is_missing_value(value) and point == value):
            weights[i] = 1.0
            return weights
    shown = grid[:-1] if missing_last else grid
    if ordered and len(shown):
        try:
            if shown.dtype.kind in "mM":
                target = np.datetime64(value) if shown.dtype.kind == "M" else np.timedelta64(value)
                x = shown.astype(np.int64).astype(np.float64)
                v = float(target.astype(shown.dtype).astype(np.int64))
            else:
                x, v = shown.astype(np.float64), float(value)
        except (TypeError, ValueError) as error:
            raise InputTypeError(
                complaint("at", "must be a value of the feature's kind", value, f"for example {shown[0]!r}")
            ) from error
        order = np.argsort(x, kind="stable")
        if x[order[0]] <= v <= x[order[-1]]:
            right = int(np.searchsorted(x[order], v))
            left = max(right - 1, 0)
            a, b = order[left], order[right]
            share = 0.0 if x[b] == x[a] else (v - x[a]) / (x[b] - x[a])
            weights[a] += 1.0 - share
            weights[b] += share
            return weights
        raise InputError(
            complaint("at", f"lies outside the grid, which runs from {shown.min()} to {shown.max()}", value,
                      "choose a value inside, or compute the effect with a grid that holds it")
        )  # fmt: skip
    raise InputError(complaint("at", f"must be one of the grid's values {grid.tolist()[:10]}", value))


def is_time(kind: str) -> bool:
    """Whether a column kind is a date, a time or a duration."""
    return kind in TIME_KINDS
