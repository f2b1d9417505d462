"""What an Effect consists of beside its average, grouped by what each group answers.

How far the rows differ (`Spread`), which rows' own curves were kept (`KeptCurves`), how much data stands behind
the curve (`Backing`), what the model predicts (`Predictions`), and how the numbers came about (`Provenance`).
Readers need not know the grouping: `PartFields` gives an Effect every field of its parts under the field's own
name, and `with_fields` puts values that were given by such names into the parts they belong to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.distribution import Distribution, weighted_quantiles
from icefield.data.naming import PLAIN, Naming
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.statistics.support import Support


@dataclass(frozen=True, eq=False)
class Spread:
    """How far the curves that were averaged lie apart; a field is None where it was not computed.

    Attributes
    ----------
    std, se : standard deviation of the curves and Monte Carlo standard error of the average
    quantiles : mapping of probability -> array of shape ``(outputs, *grid)``
    """

    std: Float | None = None
    se: Float | None = None
    quantiles: Mapping[float, Float] | None = None

    @classmethod
    def of(
        cls, curves: Float, weights: Float | None, over: str, quantiles: tuple[float, ...] | None = None
    ) -> Spread:
        """The spread of curves ``(outputs, rows, *grid)``, with their quantiles where some are asked for."""
        std, se = _std_and_se(curves, weights, over)
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
    """

    individual: Float | None = None
    rows: NDArray[np.intp] | None = None
    row_values: Mapping[Any, NDArray[Any]] | None = None
    row_weights: Float | None = None

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
    support : how much data stands behind each grid point, given the other features
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
    """

    scale: str = "response"
    scale_label: str = "prediction"
    baseline: Float | None = None
    output_std: Float | None = None


@dataclass(frozen=True, eq=False)
class Provenance:
    """How the numbers came about.

    Attributes
    ----------
    engine, why : which engine computed them, and how that was chosen
    background : ``"data"`` or ``"training"``
    n_rows : rows averaged over
    over : what the average and its spread are taken over: ``"rows"``, or ``"refits"`` of one model
    others : the model's columns that stay as they are; None where it is not known
    library : the frame library of the data, which tables are given in
    naming : what features, their values and the target are called
    """

    engine: str = "brute"
    why: str = ""
    background: str = "data"
    n_rows: int = 0
    over: str = "rows"
    others: tuple[Any, ...] | None = None
    library: str = "numpy"
    naming: Naming = PLAIN


PARTS: dict[str, type[Any]] = {
    "spread": Spread,
    "kept": KeptCurves,
    "backing": Backing,
    "predictions": Predictions,
    "provenance": Provenance,
}
PART_FIELDS = {name: tuple(field.name for field in fields(kind)) for name, kind in PARTS.items()}


def with_fields(parts: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The parts (name -> part or None), with every given field put into the part it belongs to.

    Examples
    --------
    >>> changed = with_fields(dict.fromkeys(PARTS), {"n_rows": 3, "why": "asked for"})
    >>> changed["provenance"].n_rows, changed["spread"].std, changed["kept"]
    (3, None, None)
    """
    unknown = set(given).difference(*PART_FIELDS.values())
    if unknown:
        raise TypeError(f"Effect has no field {sorted(unknown)[0]!r}")
    changed = {}
    for name, kind in PARTS.items():
        part = kind() if parts[name] is None else parts[name]
        own = {field: given[field] for field in PART_FIELDS[name] if field in given}
        changed[name] = replace(part, **own) if own else part
    if changed["kept"].is_empty:
        changed["kept"] = None
    return changed


class PartFields:
    """The fields of an Effect's parts under their own names: ``effect.std`` is ``effect.spread.std``."""

    spread: Spread
    kept: KeptCurves | None
    backing: Backing
    predictions: Predictions
    provenance: Provenance

    @property
    def std(self) -> Float | None:
        return self.spread.std

    @property
    def se(self) -> Float | None:
        return self.spread.se

    @property
    def quantiles(self) -> Mapping[float, Float] | None:
        return self.spread.quantiles

    @property
    def individual(self) -> Float | None:
        return None if self.kept is None else self.kept.individual

    @property
    def rows(self) -> NDArray[np.intp] | None:
        return None if self.kept is None else self.kept.rows

    @property
    def row_values(self) -> Mapping[Any, NDArray[Any]] | None:
        return None if self.kept is None else self.kept.row_values

    @property
    def row_weights(self) -> Float | None:
        return None if self.kept is None else self.kept.row_weights

    @property
    def weight(self) -> Float | None:
        return self.backing.weight

    @property
    def distribution(self) -> Distribution | None:
        return self.backing.distribution

    @property
    def support(self) -> Support | None:
        return self.backing.support

    @property
    def scale(self) -> str:
        return self.predictions.scale

    @property
    def scale_label(self) -> str:
        return self.predictions.scale_label

    @property
    def baseline(self) -> Float | None:
        return self.predictions.baseline

    @property
    def output_std(self) -> Float | None:
        return self.predictions.output_std

    @property
    def engine(self) -> str:
        return self.provenance.engine

    @property
    def why(self) -> str:
        return self.provenance.why

    @property
    def background(self) -> str:
        return self.provenance.background

    @property
    def n_rows(self) -> int:
        return self.provenance.n_rows

    @property
    def over(self) -> str:
        return self.provenance.over

    @property
    def others(self) -> tuple[Any, ...] | None:
        return self.provenance.others

    @property
    def library(self) -> str:
        return self.provenance.library

    @property
    def naming(self) -> Naming:
        return self.provenance.naming


def _std_and_se(curves: Float, weights: Float | None, over: str) -> tuple[Float, Float]:
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


def _quantiles(curves: Float, asked: tuple[float, ...], weights: Float | None) -> dict[float, Float]:
    found = np.apply_along_axis(weighted_quantiles, 1, curves, np.array(asked), weights)
    return {q: np.take(found, i, axis=1) for i, q in enumerate(asked)}
