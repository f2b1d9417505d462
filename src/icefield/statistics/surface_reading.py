"""What a surface says: how strong it is, and how much of it no sum of one-way effects explains."""

from __future__ import annotations

from typing import Any

import numpy as np

from icefield.effect import Effect
from icefield.statistics.ice_statistics import output_unit, shown_points
from icefield.statistics.reading import Reading, plain_value, reading_context
from icefield.statistics.thresholds import THRESHOLDS
from icefield.typing import Float


def read_surface(effect: Effect, output: int) -> Reading:
    surface = effect.average[output]
    shown = tuple(shown_points(effect, axis) for axis in range(effect.n_features))
    surface = surface[shown]
    known = effect.weight is not None and effect.weight[shown].sum() > 0
    weight = np.asarray(effect.weight)[shown] if known else np.ones_like(surface)
    # Cells without data still belong to the surface: half the weight is even.
    weight = 0.5 * weight / weight.sum() + 0.5 / weight.size
    weight = np.where(np.isfinite(surface), weight, 0.0)
    surface = np.where(np.isfinite(surface), surface, 0.0)
    unit = output_unit(effect, output)
    centred = surface - (surface * weight).sum() / weight.sum()
    variance = float((weight * np.square(centred)).sum() / weight.sum())
    strength = float(np.sqrt(variance)) / unit
    rest = _without_margins(centred, weight) if effect.kind != "ale" else centred
    beyond = float((weight * np.square(rest)).sum() / weight.sum())
    share = beyond / variance if variance > 0 else 0.0
    if strength < THRESHOLDS["flat"]:
        shape = "flat"
    elif np.sqrt(beyond) / unit < THRESHOLDS["flat"] or share < THRESHOLDS["additive"]:
        shape = "additive"
    else:
        shape = "interacting"
    low, high = (np.unravel_index(int(f(surface)), surface.shape) for f in (np.argmin, np.argmax))

    def place(at: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(plain_value(g[s][i]) for g, s, i in zip(effect.grid, shown, at))

    return Reading(
        features=effect.features,
        output=effect.outputs[output],
        shape=shape,
        direction="none",
        strength=strength,
        low=float(surface.min()),
        high=float(surface.max()),
        low_at=place(low),
        high_at=place(high),
        interaction=share,
        measures={"interaction": float(np.sqrt(beyond)) / unit},
        **reading_context(effect, output),
    )


def _without_margins(surface: Float, weight: Float) -> Float:
    """What no sum of one-way functions explains: backfitting of weighted means."""
    rest = surface.copy()
    for _ in range(20):
        for axis in range(rest.ndim):
            other_axes = tuple(a for a in range(rest.ndim) if a != axis)
            total = weight.sum(axis=other_axes, keepdims=True)
            mean = (rest * weight).sum(axis=other_axes, keepdims=True) / np.where(total > 0, total, 1.0)
            rest = rest - mean
    return rest
