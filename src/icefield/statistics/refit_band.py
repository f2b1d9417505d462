"""Refits of one model: the spread between their effects as a band.

A bootstrap or a cross-validation fits the same model to other draws of the data. How far the
effects of these refits lie apart is how much of one effect is due to the draw; the spread over rows says
nothing of that. The band is an Effect like any other, with refits in the place of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from icefield import validate
from icefield.data.columns import object_array
from icefield.effect import Effect, KeptCurves, Spread
from icefield.errors import InputError


def refit_band(
    effects: Mapping[Any, Effect], quantiles: Sequence[float] | None = None, groups: bool = True
) -> Effect:
    """The mean over refits of one model on one grid, with the spread between them; `groups`: of those that all have, too."""
    members = list(effects.values())
    if len(members) < 2:
        problem = "must be at least two refits for a spread between them"
        hint = "fit the model to several draws of the data"
        raise InputError.about("members", problem, len(members), hint)
    first = members[0]
    wanted = validate.probabilities(quantiles)
    curves = np.stack([effect.average for effect in members], axis=1)
    shared = [label for label in first.groups if all(label in e.groups for e in members)] if groups else []
    left_out = {label for e in members for label in e.groups} - set(shared) if groups else set()
    why = (
        f"mean and spread of {len(members)} refits, each averaged over rows by its own model; not a confidence interval "
        f"(Explainer.refits gives one): {first.why}"
    )
    if left_out:
        why += f"; {len(left_out)} groups that not every refit has are left out"
    names = object_array([str(name) for name in effects])
    baseline, output_std = _mean([e.baseline for e in members]), _mean([e.output_std for e in members])
    return replace(
        first.averages_only(),
        average=curves.mean(axis=1),
        spread=Spread.of(curves, None, "refits", wanted),
        kept=KeptCurves(individual=curves, rows=np.arange(len(members)), row_values={"refit": names}),
        predictions=replace(first.predictions, baseline=baseline, output_std=output_std),
        provenance=replace(first.provenance, n_rows=len(members), over="refits", why=why),
        groups={
            label: refit_band({name: e.groups[label] for name, e in effects.items()}, quantiles, groups=False)
            for label in shared
        },
    )


def _mean(values: list[Any]) -> Any:
    return None if any(v is None for v in values) else np.mean(values, axis=0)
