"""Tests people ask for: is it flat, is it the same in both groups, is there no interaction.

Each is a set of numbers that are zero if so (a centred curve, the difference of two, a surface less its margins), with refits'
values of the same numbers. The statistic is the largest absolute t; its p-value takes the correlation of points into account as
simultaneous bands do; Holm's correction holds for the rows of a table together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.effect import Effect
from icefield.effect.learner_interval import RefitSpread
from icefield.errors import InputError
from icefield.statistics.tables import ResultTable, labels_column
from icefield.typing import Float
from icefield.wording.values import printed_value

if TYPE_CHECKING:
    from icefield.refits.refits import Refits

ROUNDING = 1e-12  # of the curves: what is left below it is none


@dataclass(frozen=True, eq=False, repr=False)
class Tests(ResultTable):
    """One row per hypothesis and output, the smallest p-value first.

    Columns: what is tested (``feature``, ``features`` or ``groups``), ``output``, ``effect_size`` (root mean square over the grid of what would
    be zero, in standard deviations of the predictions), ``largest`` (its largest value, in the predictions' unit), ``statistic`` (the largest
    absolute t), ``p_value`` and ``p_adjusted`` (for all rows of the table together, by Holm's method).
    """

    __test__ = False  # which test runners would take it for

    @property
    def shown(self) -> Mapping[str, NDArray[Any]]:
        hidden = {"output"} if len(set(map(str, self.columns["output"]))) == 1 else set()
        return {name: values for name, values in self.columns.items() if name not in hidden}


def flatness(refits: Refits, effects: Mapping[Any, Effect]) -> Tests:
    """Whether curves are flat."""
    tested = [((name,), effect, effect.average, _curves(effect)) for name, effect in effects.items()]
    title = "Is it flat? The hypothesis: the expected curve is the same everywhere"
    return _table(refits, "feature", tested, title)


def group_differences(refits: Refits, effect: Effect) -> Tests:
    """Whether a feature's centred curves are the same in every pair of groups."""
    labels = [label for label, group in effect.groups.items() if np.isfinite(_curves(group)).all()]
    if len(labels) < 2:
        raise InputError.about("by", "must have two groups with rows in every half", labels)
    tested = []
    for first, other in combinations(labels, 2):
        a, b = effect.groups[first], effect.groups[other]
        pair = (printed_value(first), printed_value(other))
        tested.append((pair, effect, a.average - b.average, _curves(a) - _curves(b)))
    name = refits.study.naming.name(effect.features[0])
    title = f"Is the effect of {name} the same in both groups? The hypothesis: expected curves differ in level only"
    return _table(refits, "groups", tested, title)


def interaction(refits: Refits, effects: Mapping[Any, Effect]) -> Tests:
    """Whether surfaces are the sum of their margins."""
    tested = [(tuple(name), effect, effect.average, _curves(effect)) for name, effect in effects.items()]
    title = "Is there no interaction? The hypothesis: the expected surface is a sum of two curves"
    return _table(refits, "features", tested, title)


def _curves(effect: Effect) -> Float:
    if effect.interval is None:
        raise InputError("This effect has no refits. Hint: compute it with Explainer.refits(...).")
    return effect.interval.curves


def _table(
    refits: Refits,
    column: str,
    tested: Sequence[tuple[tuple[Any, ...], Effect, Float, Float]],
    title: str,
) -> Tests:
    names, outputs, rows = [], [], []
    for name, effect, average, curves in tested:
        axes = tuple(range(-effect.n_features, 0))
        centre, parts = _without_margins(average, axes), _without_margins(curves, axes)
        for k, output in enumerate(effect.outputs):
            full = centre[k].ravel()
            spread = RefitSpread.of(full, parts[k].reshape(parts.shape[1], -1), refits.about)
            largest = float(np.max(np.abs(full)))
            noise = ROUNDING * float(max(np.max(np.abs(curves[k])), np.max(np.abs(average[k]))))
            statistic, p_value = (0.0, 1.0) if largest <= noise else spread.p_value(full)
            unit = np.nan if effect.output_std is None else float(effect.output_std[k])
            size = float(np.sqrt(np.mean(np.square(full)))) / unit if unit > 0 else np.nan
            rows.append((size, largest, statistic, p_value))
            names.append(name if column != "feature" else name[0])
            outputs.append(output)
    numbers = np.array(rows, dtype=float)
    order = np.lexsort((-numbers[:, 2], numbers[:, 3]))
    measures = ("effect_size", "largest", "statistic", "p_value", "p_adjusted")
    values = np.column_stack([numbers, holm(numbers[:, 3])])[order]
    return Tests(
        columns={
            column: labels_column([names[i] for i in order]),
            "output": labels_column([outputs[i] for i in order]),
            **{label: values[:, place].copy() for place, label in enumerate(measures)},
        },
        title=title,
        notes=(
            "effect_size: RMS of what the hypothesis says is zero, in SD of the predictions; largest: its largest value",
            f"p_adjusted: Holm's correction for {len(rows)} hypothes{'is' if len(rows) == 1 else 'es'}; a large p-value is no proof of the hypothesis",
            refits.how,
        ),
        library=refits.study.sample.table.library,
        naming=refits.study.naming,
    )


def _without_margins(values: Float, axes: tuple[int, ...]) -> Float:
    """Curves less their means, surfaces less their margins: what is left of the last axes."""
    for axis in axes:
        values = values - values.mean(axis=axis, keepdims=True)
    return values


def holm(p_values: Float) -> Float:
    """p-values for all of several hypotheses together (Holm 1979).

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(p_values[order] * (len(p_values) - np.arange(len(p_values))))
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
