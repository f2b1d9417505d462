"""The numbers behind a picture of two features: the surface, its interaction alone, and one colour scale.

Nothing is drawn here; `twoway` makes panels of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from icefield.effect import Effect
from icefield.errors import InputError
from icefield.plots.coordinates import Coordinates, in_order
from icefield.plots.options import Options
from icefield.plots.panels import ColourScale, Float
from icefield.plots.series import Series
from icefield.wording.labels import average_note, quantity, value_label, with_unit


def surface_scale(series: Sequence[Series], options: Options, named: bool) -> ColourScale:
    """One colour scale for several surfaces."""
    surfaces = [surface_of(part, options) for part in series]
    finite = np.concatenate([s[np.isfinite(s)] for s in surfaces])
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    effect = series[0].effect
    relative = bool(options.interaction) or effect.view != "level" or effect.kind == "ale"
    label = scale_label(series[0], options, named)
    if relative:
        reach = max(abs(low), abs(high)) or 1.0
        return ColourScale(-reach, reach, label, diverging=True, cmap=options.cmap)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return ColourScale(low, high, label, cmap=options.cmap)


def scale_label(series: Series, options: Options, named: bool) -> str:
    """The label of a surface's colours, or of its value axis."""
    output = series.output if named else None
    if options.interaction:
        what = quantity(series.effect, output)
        return f"interaction in {with_unit(series.effect.naming, series.effect.scale_label, what)}"
    return value_label(series.effect, output)


def surface_of(series: Series, options: Options) -> Float:
    """The numbers to draw: the average, or what of it is interaction."""
    if options.interaction is False or options.interaction is None:
        return series.average
    return pure_interaction(series, options.interaction)


def pure_interaction(series: Series, curves: Any = True) -> Float:
    """The surface minus both one-way curves, each curve and the surface around its own mean.

    With ``curves=True`` the one-way curves are the surface's own margins, weighted by how much data
    each grid value has; otherwise `curves` are the two one-way Effects, read at the surface's grid.
    """
    surface = series.average
    weight = series.effect.weight
    usable = weight is not None and weight.shape == surface.shape and float(weight.sum()) > 0
    full = np.asarray(weight, dtype=np.float64) if usable else np.ones_like(surface)
    shares = [full.sum(axis=1) / full.sum(), full.sum(axis=0) / full.sum()]
    mean = float(shares[0] @ surface @ shares[1])
    if curves is True:
        rows, columns = surface @ shares[1], shares[0] @ surface
    else:
        rows, columns = _curves_at(series, curves)
        rows, columns = rows - shares[0] @ rows + mean, columns - shares[1] @ columns + mean
    return np.asarray(surface - rows[:, None] - columns[None, :] + mean)


def _curves_at(series: Series, curves: Any) -> tuple[Float, Float]:
    """Both one-way effects at the surface's grid values."""
    effect = series.effect
    try:
        given = {c.features[0]: c for c in curves if c.n_features == 1}
    except (TypeError, AttributeError):
        given = {}
    if set(given) != set(effect.features):
        raise InputError.about("interaction", f"must be True or the two one-way Effects of {list(effect.features)}",
                            curves, "write interaction=True")  # fmt: skip
    sides = []
    for which, feature in enumerate(effect.features):
        curve = given[feature]
        places = Coordinates([curve])
        at, wanted = places.place(curve.grid[0]), places.place(effect.grid[which])
        values = curve.average[min(series.output, len(curve.average) - 1)]
        if places.ordered:
            order = in_order(at)
            read = np.interp(wanted, at[order], values[order])
            if effect.missing_last[which]:
                read[-1] = values[-1] if curve.missing_last[0] else np.nan
        else:
            read = np.array([values[int(p)] if np.isfinite(p) else np.nan for p in wanted])
        sides.append(read)
    return sides[0], sides[1]


def surface_note(whole: Effect, options: Options) -> str:
    """The small line under a surface: how it was averaged, or what was subtracted."""
    if options.interaction is True:
        return "surface minus its two margins"
    if options.interaction:
        return "surface minus both one-way curves"
    return average_note(whole)
