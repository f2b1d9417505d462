"""icefield: how a fitted model responds to its features.

Partial dependence, ICE, ALE and what is built on them, for any fitted model and any data frame.

>>> import icefield
>>> import numpy as np
>>> X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]])
>>> ex = icefield.Explainer(lambda rows: 10 + 3 * rows[:, 0] + 2 * rows[:, 1], X)
>>> ex.partial_dependence(0, grid=[2.0, 3.0]).average
array([[28., 31.]])
"""

from typing import Any

from icefield.compare import Comparison, compare
from icefield.data.grid import Grid
from icefield.effect import Effect
from icefield.effect.drawable import draw_effects_by
from icefield.errors import (
    BudgetError,
    ClusterError,
    EngineError,
    IcefieldError,
    InputError,
    InputTypeError,
    MissingDependencyError,
    ModelError,
)
from icefield.explainer import Explainer


def _drawn(effect: Effect, options: dict[str, Any]) -> Any:
    from icefield.plots import plot_effect  # a second's worth of imports, for whoever draws

    return plot_effect(effect, **options)


draw_effects_by(_drawn)

__version__ = "0.2.0.dev0"

__all__ = [
    "BudgetError",
    "ClusterError",
    "Comparison",
    "Effect",
    "EngineError",
    "Explainer",
    "Grid",
    "IcefieldError",
    "InputError",
    "InputTypeError",
    "MissingDependencyError",
    "ModelError",
    "compare",
]
