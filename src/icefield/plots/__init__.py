"""Pictures of effects: `plot_effect` and its relatives turn results into matplotlib or plotly figures.

What to draw is worked out once, without a drawing library (`compose` and the modules it uses make
a `panels.Picture`); a backend then draws it. Nothing is recomputed, and no drawing library is
imported before something is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from icefield.effect import Effect
from icefield.errors import MissingDependencyError
from icefield.plots.compose import comparison_picture, effect_picture, many_picture
from icefield.plots.options import Options
from icefield.plots.panels import Picture
from icefield.plots.summaries import (
    change_picture,
    importance_picture,
    interactions_picture,
    pd_ale_picture,
    regions_picture,
)

__all__ = [
    "effect_png",
    "plot_change",
    "plot_comparison",
    "plot_effect",
    "plot_importance",
    "plot_interactions",
    "plot_many",
    "plot_pd_ale",
    "plot_regions",
]


def plot_effect(effect: Effect, **options: Any) -> Any:
    """Draw one effect; `Effect.plot` calls this.

    Parameters
    ----------
    effect : what to draw
    **options : see `icefield.effect.Drawable.plot`

    Returns
    -------
    matplotlib : the Axes of a picture of one panel, the Figure of several
    plotly : the Figure
    """
    return _plotted(effect_picture, effect, options=options)


def effect_png(effect: Effect, size: tuple[float, float] = (5.0, 3.2)) -> bytes:
    """A PNG of an effect's picture, at most `size` inches a panel, drawn without pyplot: no figure stays open."""
    from icefield.plots import matplotlib

    chosen = Options.of({})
    picture = effect_picture(effect, chosen)
    return matplotlib.png(picture, Options.of({"figsize": size} if len(picture.panels) == 1 else {}))


def plot_many(effects: Mapping[Any, Effect] | Sequence[Effect], **options: Any) -> Any:
    """Draw small multiples: one panel for each effect, in the order given, on a shared y axis."""
    listed = list(effects.values()) if isinstance(effects, Mapping) else list(effects)
    return _plotted(many_picture, listed, options=options)


def plot_comparison(effects: Mapping[Any, Effect], **options: Any) -> Any:
    """Draw the same effect of several models, by name, on the same axes."""
    return _plotted(comparison_picture, effects, options=options)


def plot_importance(table: Any, value: str | Sequence[str] = "importance", **options: Any) -> Any:
    """Draw importance bars, longest first, coloured by direction, with the shape of each effect.

    Parameters
    ----------
    table : an importance table, or a mapping of feature -> number
    value : which column of the table, or several, which stand side by side
    **options : `top` is how many features; the rest as in `icefield.effect.Drawable.plot`
    """
    return _plotted(importance_picture, table, value, options=options)


def plot_change(table: Any, **options: Any) -> Any:
    """Draw changes or slopes with their intervals, a row for all rows and for each group.

    Parameters
    ----------
    table : what `Explainer.change` or `Explainer.slope` gave
    **options : `top` is how many groups; the rest as in `icefield.effect.Drawable.plot`
    """
    return _plotted(change_picture, table, options=options)


def plot_interactions(table: Any, value: str = "strength", output: Any = None, **options: Any) -> Any:
    """Draw the matrix of pairwise interactions, the features with the strongest first.

    Parameters
    ----------
    table : an interactions table, or a mapping of ``(feature, feature)`` -> number
    value : which column of the table
    output : which output of the table, the first by default
    **options : `top` is how many features; the rest as in `icefield.effect.Drawable.plot`
    """
    return _plotted(interactions_picture, table, value, output, options=options)


def plot_pd_ale(pd: Effect, ale: Effect, **options: Any) -> Any:
    """Draw partial dependence against accumulated local effects, both around their mean over the data."""
    return _plotted(pd_ale_picture, pd, ale, options=options)


def plot_regions(whole: Effect, regions: Mapping[Any, Effect], **options: Any) -> Any:
    """Draw one panel per region (a mapping of rule -> Effect) with the curve over all rows behind it."""
    return _plotted(regions_picture, whole, regions, options=options)


def _plotted(picture_of: Callable[..., Picture], *about: Any, options: Mapping[str, Any]) -> Any:
    chosen = Options.of(dict(options))
    return draw(picture_of(*about, chosen), chosen)


def draw(picture: Picture, options: Options) -> Any:
    """Hand a picture to the backend."""
    if options.backend == "plotly":
        if find_spec("plotly") is None:
            raise MissingDependencyError(
                'backend="plotly" needs plotly, which is not installed. Hint: pip install "icefield[plotly]", or leave '
                "`backend` out for matplotlib."
            )
        from icefield.plots import plotly

        return plotly.draw(picture, options)
    from icefield.plots import matplotlib

    return matplotlib.draw(picture, options)
