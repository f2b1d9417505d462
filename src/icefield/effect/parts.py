"""What an Effect consists of beside its average, grouped by what each group answers.

How far the rows differ (`Spread`), which rows' own curves were kept (`KeptCurves`), how much data stands behind
the curve (`Backing`), what the model predicts (`Predictions`), and how the numbers came about (`Provenance`).
Readers need not know the grouping: `PartFields` gives an Effect every field of its parts under the field's own
name, and `with_fields` puts values that were given by such names into the parts they belong to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from icefield.data.distribution import Distribution, weighted_quantiles
from icefield.data.naming import PLAIN, Naming
from icefield.sampling import CENTERED_CURVES, count_copies, population_factor
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.effect.data_support import Support
    from icefield.effect.learner_interval import LearnerInterval

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Spread:
    """How far the curves that were averaged lie apart; a field is None where it was not computed.

    Attributes
    ----------
    std : standard deviation of the curves, with the sum of the weights as divisor: it describes these rows
    se : standard error of the average, from the variance with n - 1, over n
    quantiles : mapping of probability -> array of shape ``(outputs, *grid)``
    centered_std : standard deviation of the curves once each is shifted by its own mean over the data: how differently
        rows respond to the feature, without how far their predictions lie apart anyway. Of one feature; over all
        rows up to 1,000, else over so many seeded ones
    interval : where the curve of this learner, fitted to other data, would lie; from `Explainer.refits`
    """

    std: Float | None = None
    se: Float | None = None
    quantiles: Mapping[float, Float] | None = None
    centered_std: Float | None = None
    interval: LearnerInterval | None = None

    @classmethod
    def of(
        cls,
        curves: Float,
        weights: Float | None,
        over: str,
        quantiles: tuple[float, ...] | None = None,
        *,
        clusters: NDArray[np.intp] | None = None,
        sampled_from: int = 0,
    ) -> Spread:
        """The spread of curves ``(outputs, rows, *grid)``, with their quantiles where some are asked for."""
        std, se = _std_and_se(curves, weights, over, None if sampled_from else clusters, sampled_from > 0)
        se = population_factor(curves.shape[1], sampled_from) * se
        return cls(std, se, _quantiles(curves, quantiles, weights) if quantiles else None)


@dataclass(frozen=True, eq=False)
class KeptCurves:
    """The curves of single rows (or refits) that were kept beside the average.

    Attributes
    ----------
    individual : the curves, shape ``(outputs, rows, *grid)``
    rows : their positions in X
    row_values : mapping of column -> the rows' values (to colour curves by)
    row_weights : the rows' weights; None when rows are not weighted
    row_clusters : codes of the clusters the rows belong to; None when each is one observation
    """

    individual: Float | None = None
    rows: NDArray[np.intp] | None = None
    row_values: Mapping[Any, NDArray[Any]] | None = None
    row_weights: Float | None = None
    row_clusters: NDArray[np.intp] | None = None

    @property
    def is_empty(self) -> bool:
        return all(getattr(self, field.name) is None for field in fields(self))


@dataclass(frozen=True, eq=False)
class Backing:
    """The data behind the curve.

    Attributes
    ----------
    weight : sum of weights nearest to each grid point, shape ``grid``
    distribution : where the data is
    support : how much data supports each grid point, given the other features
    """

    weight: Float | None = None
    distribution: Distribution | None = None
    support: Support | None = None


@dataclass(frozen=True, eq=False)
class Predictions:
    """What the model predicts.

    Attributes
    ----------
    scale, scale_label : ``"response"`` or ``"raw"``, and its name for axes
    baseline, output_std : mean and standard deviation of the predictions on a seeded sample
    unit : what strengths are measured in, where `output_std` does not suit (few predictions far from all others make
        it); else None
    positive : whether no prediction is below zero: by the model's link (Poisson, gamma, Tweedie), or in the sample
    """

    scale: str = "response"
    scale_label: str = "prediction"
    baseline: Float | None = None
    output_std: Float | None = None
    unit: Float | None = None
    positive: bool = False


@dataclass(frozen=True)
class AllBut:
    """All of a model's columns but a few, as a sequence: thousands of effects share one tuple of the names."""

    columns: tuple[Any, ...]
    without: frozenset[Any]

    def __iter__(self) -> Iterator[Any]:
        return (column for column in self.columns if column not in self.without)


@dataclass(frozen=True, eq=False)
class Provenance:
    """How the numbers came about.

    Attributes
    ----------
    engine, why : which engine computed them, and how that was chosen
    background : ``"data"`` or ``"training"``
    n_rows : rows averaged over
    sampled_from : how many rows these were drawn from at random, against which `se` is; 0 where they were not drawn
    own_grid : whether the user chose the grid points, so that what is read is read of those
    over : what the average and its spread are taken over: ``"rows"``, or ``"refits"`` of one model
    others : the model's columns that stay as they are; None where it is not known
    library : the frame library of the data, which tables are given in
    naming : what features, their values and the target are called
    """

    engine: str = "brute"
    why: str = ""
    background: str = "data"
    n_rows: int = 0
    sampled_from: int = 0
    over: str = "rows"
    others: tuple[Any, ...] | AllBut | None = None
    library: str = "numpy"
    naming: Naming = PLAIN
    own_grid: bool = False


PARTS: dict[str, type[Any]] = {
    "spread": Spread, "kept": KeptCurves, "backing": Backing, "predictions": Predictions, "provenance": Provenance
}  # fmt: skip
PART_FIELDS = {name: tuple(field.name for field in fields(kind)) for name, kind in PARTS.items()}


def with_fields(parts: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The parts (name -> part or None), with every given field put into the part it belongs to.

    Examples
    --------
    >>> changed = with_fields(dict.fromkeys(PARTS), {"n_rows": 3, "why": "asked for"})
    >>> changed["provenance"].n_rows, changed["spread"].std, changed["kept"]
    (3, None, None)
    """
    unknown = set(values).difference(*PART_FIELDS.values())
    if unknown:
        raise TypeError(f"Effect has no field {sorted(unknown)[0]!r}")
    changed = {}
    for name, kind in PARTS.items():
        part = kind() if parts[name] is None else parts[name]
        changes = {field: values[field] for field in PART_FIELDS[name] if field in values}
        changed[name] = replace(part, **changes) if changes else part
    if changed["kept"].is_empty:
        changed["kept"] = None
    return changed


class PartField(Generic[Value]):
    """A field of one of an Effect's parts under its own name; None where there is no such part."""

    def __init__(self, part: str) -> None:
        self.part = part

    def __set_name__(self, _: type, name: str) -> None:
        self.name = name

    def __get__(self, effect: Any, _: Any = None) -> Value:
        return cast(Value, self if effect is None else getattr(getattr(effect, self.part), self.name, None))


class PartFields:
    """The fields of an Effect's parts under their own names: ``effect.std`` is ``effect.spread.std``."""

    spread: Spread
    kept: KeptCurves | None
    backing: Backing
    predictions: Predictions
    provenance: Provenance

    std = PartField[Float | None]("spread")
    se = PartField[Float | None]("spread")
    quantiles = PartField[Mapping[float, Float] | None]("spread")
    centered_std = PartField[Float | None]("spread")
    interval = PartField["LearnerInterval | None"]("spread")

    individual = PartField[Float | None]("kept")
    rows = PartField[NDArray[np.intp] | None]("kept")
    row_values = PartField[Mapping[Any, NDArray[Any]] | None]("kept")
    row_weights = PartField[Float | None]("kept")
    row_clusters = PartField[NDArray[np.intp] | None]("kept")

    weight = PartField[Float | None]("backing")
    distribution = PartField[Distribution | None]("backing")
    support = PartField["Support | None"]("backing")

    scale = PartField[str]("predictions")
    scale_label = PartField[str]("predictions")
    baseline = PartField[Float | None]("predictions")
    output_std = PartField[Float | None]("predictions")
    unit = PartField[Float | None]("predictions")
    positive = PartField[bool]("predictions")

    engine = PartField[str]("provenance")
    why = PartField[str]("provenance")
    background = PartField[str]("provenance")
    n_rows = PartField[int]("provenance")
    sampled_from = PartField[int]("provenance")
    over = PartField[str]("provenance")
    own_grid = PartField[bool]("provenance")
    library = PartField[str]("provenance")
    naming = PartField[Naming]("provenance")

    @property
    def centered_rows(self) -> int:
        """How many rows' curves `centered_std` is taken over."""
        return min(self.provenance.n_rows, CENTERED_CURVES)

    @property
    def others(self) -> tuple[Any, ...] | None:
        others = self.provenance.others
        return tuple(others) if isinstance(others, AllBut) else others


def centered_deviation(curves: Float, row_weights: Float | None, point_weights: Float) -> Float:
    """Standard deviation over rows of curves ``(outputs, rows, points)``, each minus its own mean over the data.

    `point_weights` is how much of the data lies at each point; where none does, points count alike.

    Examples
    --------
    >>> parallel_and_flat = np.array([[[0.0, 2.0], [5.0, 7.0], [1.0, 1.0]]])
    >>> centered_deviation(parallel_and_flat[:, :2], None, np.ones(2)).tolist()
    [[0.0, 0.0]]
    >>> centered_deviation(parallel_and_flat[:, 1:], None, np.ones(2)).tolist()
    [[0.5, 0.5]]
    """
    total = point_weights.sum()
    shares = point_weights / total if total > 0 else np.full(len(point_weights), 1.0 / len(point_weights))
    rows = np.ones(curves.shape[1]) if row_weights is None else row_weights
    if not rows.sum() > 0:
        return np.full((curves.shape[0], curves.shape[2]), np.nan)
    with np.errstate(invalid="ignore", over="ignore"):  # infinite predictions give NaN spreads
        centered = curves - (curves @ shares)[..., None]
        mean = np.average(centered, axis=1, weights=rows)[:, None]
        return np.asarray(np.sqrt(np.average(np.square(centered - mean), axis=1, weights=rows)))


def _std_and_se(
    curves: Float, weights: Float | None, over: str, clusters: NDArray[np.intp] | None, sampled: bool
) -> tuple[Float, Float]:
    """Standard deviation of curves ``(outputs, rows, *grid)`` and standard error of their mean.

    Rows are all there is to describe; a few refits stand for all that could have been. The standard error is that
    of clusters where there are some, else of rows, which weights may count as several (not where they were `sampled`).
    """
    w = np.ones(curves.shape[1]) if weights is None else weights
    mean = np.average(curves, axis=1, weights=w, keepdims=True)
    deviations, total = curves - mean, w.sum()
    std = np.sqrt(np.average(np.square(deviations), axis=1, weights=w))
    if clusters is None and (weights is None or (count_copies(weights) and not sampled)):
        rows, square = total, np.square(std) * total
    else:
        codes = np.arange(len(w)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
        mass = np.bincount(codes, w)
        sums = np.zeros((len(mass), *deviations.shape[:1], *deviations.shape[2:]))
        np.add.at(sums, codes, np.moveaxis(deviations, 1, 0) * w.reshape(-1, *[1] * (deviations.ndim - 1)))
        rows = total**2 / np.square(mass).sum()
        square = np.square(sums).sum(axis=0) / total**2 * rows**2
    if rows <= 1.0 + 1e-12:
        return std, np.full_like(std, np.nan)
    se = np.sqrt(square / (rows * (rows - 1.0)))
    return (np.sqrt(rows) * se if over == "refits" else std), se


def _quantiles(curves: Float, probabilities: tuple[float, ...], weights: Float | None) -> dict[float, Float]:
    values = np.apply_along_axis(weighted_quantiles, 1, curves, np.array(probabilities), weights)
    return {q: np.take(values, i, axis=1) for i, q in enumerate(probabilities)}
