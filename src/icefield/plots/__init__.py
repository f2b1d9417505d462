"""Pictures of effects: `plot_effect` and its relatives turn results into matplotlib or plotly figures.

What to draw is worked out once, without a drawing library (`compose` and the modules it uses make
a `panels.Picture`); a backend then draws it. Nothing is recomputed, and no drawing library is
imported before something is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from icefield.effect import Effect
from icefield.plots.compose import comparison_picture, effect_picture, many_picture
from icefield.plots.options import Options
from icefield.plots.panels import Picture

__all__ = ["plot_comparison", "plot_effect", "plot_many"]


def plot_effect(effect: Effect, **options: Any) -> Any:
    """Draw one effect; `Effect.plot` calls this.

    Parameters
    ----------
    effect : what to draw
    **options : see `icefield.plots.options.Options`

    Returns
    -------
    matplotlib : the Axes of a picture of one panel, the Figure of several
    plotly : the Figure
    """
    chosen = Options.of(options)
    return draw(effect_picture(effect, chosen), chosen)


def plot_many(effects: Mapping[Any, Effect] | Sequence[Effect], **options: Any) -> Any:
    """Draw small multiples: one panel for each effect, in the order given, on a shared y axis."""
    chosen = Options.of(options)
    listed = list(effects.values()) if isinstance(effects, Mapping) else list(effects)
    return draw(many_picture(listed, chosen), chosen)


def plot_comparison(effects: Mapping[Any, Effect], **options: Any) -> Any:
    """Draw the same effect of several models, by name, on the same axes."""
    chosen = Options.of(options)
    return draw(comparison_picture(effects, chosen), chosen)


def draw(picture: Picture, options: Options) -> Any:
    """Hand a picture to the backend."""
    if options.backend == "plotly":
        from icefield.plots import plotly

        return plotly.draw(picture, options)
    from icefield.plots import matplotlib

    return matplotlib.draw(picture, options)
