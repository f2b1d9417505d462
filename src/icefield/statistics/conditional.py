"""The conditional view: what was observed and predicted *where the data is*, beside PD and ALE.

Means over the rows of a bin mix a feature's effect with everything that goes with it (the M-plot).
That is no effect, but it is what a reader compares effects with; so one table per feature holds the
observed and predicted means, the partial dependence, the ALE and the weight of each bin or level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.effects import Request, compute_effects
from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.column_statistics import ColumnValues
from icefield.data.distribution import weighted_quantiles
from icefield.data.frame import ORDERED_KINDS, Column, object_array
from icefield.data.grid import with_missing_last
from icefield.effect import Drawable, Effect, Spread
from icefield.sampling import CURVE_ROWS
from icefield.statistics.ale import ale
from icefield.statistics.observations import observed_outputs
from icefield.statistics.steps import Steps, feature_cut
from icefield.statistics.support import ale_at
from icefield.statistics.tables import ResultTable, labels_column
from icefield.typing import Float
from icefield.wording.values import printed_value

BINS = 20


@dataclass(frozen=True, eq=False, repr=False)
class Conditional(Drawable, ResultTable):
    """One row per bin or level and output.

    Columns: ``output``, ``bin`` (in words), ``value`` (a typical value: the bin's median, or the level), ``weight``,
    ``observed`` (when ``y`` is known), ``predicted``, ``pd`` and ``ale``. The ALE is shifted to the mean
    prediction, so that all columns share one scale.
    """

    feature: Any
    effects: Mapping[str, Effect]

    @property
    def shown(self) -> Mapping[str, NDArray[Any]]:
        hidden = {"value"} | ({"output"} if len(self.effects["predicted"].outputs) == 1 else set())
        return {name: values for name, values in self.columns.items() if name not in hidden}

    def _drawn(self, **options: Any) -> Any:
        """Observed, predicted, PD and ALE in one panel."""
        from icefield.plots import plot_comparison

        return plot_comparison(self.effects, **options)


def conditional(study: Study, feature: Any, *, bins: Any = BINS, rows: Any = None) -> Conditional:
    """Observed and predicted means per bin of a feature, with PD and ALE.

    Parameters are those of `Explainer.conditional`.
    """
    (resolved,) = study.resolve([feature])
    weights = study.sample.row_weights()
    column = study.column(resolved)
    steps = feature_cut(study, resolved, bins, "given", ColumnValues(column, weights)).steps(column, weights)
    bin_of, labels, values = _bins(column, steps, weights)
    is_number = isinstance(rows, (int, np.integer)) and not isinstance(rows, bool)
    places = None if is_number else study.chosen(rows).positions
    predicted = study.predictions(places)
    observed, reason = observed_outputs(study)
    if places is not None:
        bin_of, weights = bin_of[places], weights[places]
        observed = None if observed is None else observed[places]
    mass = _sums(bin_of, weights, len(labels))
    chosen = study.chosen(rows, when_costly=CURVE_ROWS)
    (pd,) = compute_effects(
        study, Request(sets=[(feature,)], grid=values, spread=False, rows=chosen.positions)
    )
    ordered = column.kind in ORDERED_KINDS and steps.n_steps > 0
    edges = steps.nodes if places is not None and ordered else bins
    local = ale(study, feature, bins=edges, order="given", rows=places)
    mean = np.average(predicted, axis=0, weights=weights)
    accumulated = np.stack([ale_at(local, o, values) + mean[o] for o in range(len(mean))])
    arrays = {
        "observed": None if observed is None else _means(bin_of, observed, weights, mass),
        "predicted": _means(bin_of, predicted, weights, mass),
        "pd": pd.average,
        "ale": accumulated,
    }
    outputs = study.model.outputs
    columns: dict[str, NDArray[Any]] = {
        "output": labels_column([o for o in outputs for _ in labels]),
        "bin": object_array(labels * len(outputs)),
        "value": np.concatenate([values] * len(outputs)),
        "weight": np.tile(mass, len(outputs)),
    }
    columns |= {name: array.ravel() for name, array in arrays.items() if array is not None}
    plain = replace(pd, spread=Spread(), backing=replace(pd.backing, weight=mass), groups={}, by=None)
    effects = {name: replace(plain, average=array) for name, array in arrays.items() if array is not None}
    over = study.rows.sample_said.removeprefix("all ") if places is None else f"{counted(len(places))} rows"
    notes = [f"means over {over}; PD over {counted(pd.n_rows)}"]
    if observed is None and study.sample.y is not None:
        notes.append(f"no observed means: {reason}")
    return Conditional(
        columns=columns,
        title=f"{study.naming.name(resolved.label)}: what the data shows and what the model does, on {study.model.scale_label}",
        notes=tuple(notes),
        library=study.sample.table.library,
        naming=study.naming,
        feature=resolved.label,
        effects=effects,
    )


def _bins(column: Column, steps: Steps, weights: Float) -> tuple[NDArray[np.intp], list[str], NDArray[Any]]:
    """Each row's bin (-1: none), the bins in words, and a typical value of each; missing last."""
    if column.kind in ORDERED_KINDS and steps.n_steps > 0:
        bin_of = np.where(steps.known, steps.step_of[:, 0], -1)
        edges = [printed_value(v) for v in steps.nodes]
        labels = [f"{'[' if i == 0 else '('}{edges[i]}, {edges[i + 1]}]" for i in range(steps.n_steps)]
        inside = [bin_of == b for b in range(steps.n_steps)]
        medians = [weighted_quantiles(column.values[rows], np.array([0.5]), weights[rows]) for rows in inside]
        values = np.concatenate(medians)
    else:
        bin_of = np.where(steps.known, steps.end_of, -1)
        labels = [printed_value(v) for v in steps.nodes]
        values = steps.nodes
    gone = column.missing & (weights > 0)
    if gone.any():
        bin_of = np.where(gone, len(labels), bin_of)
        labels.append("missing")
        values = with_missing_last(values)
    return bin_of, labels, values


def _sums(bin_of: NDArray[np.intp], values: Float, n_bins: int) -> Float:
    inside = bin_of >= 0
    return np.bincount(bin_of[inside], values[inside], minlength=n_bins).astype(np.float64)


def _means(bin_of: NDArray[np.intp], values: Float, weights: Float, mass: Float) -> Float:
    out = np.stack([_sums(bin_of, weights * column, len(mass)) for column in values.T])
    with np.errstate(invalid="ignore"):  # chosen rows leave bins empty, whose mean is unknown
        return out / mass
