"""icefield: how a fitted model responds to its features.

Partial dependence, ICE, ALE and what is built on them, for any fitted model and any data frame.

>>> import icefield
>>> import numpy as np
>>> X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]])
>>> ex = icefield.Explainer(lambda rows: 10 + 3 * rows[:, 0] + 2 * rows[:, 1], X)
>>> ex.partial_dependence(0, grid=[2.0, 3.0]).average
array([[28., 31.]])
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from icefield.compare import Comparison, compare
from icefield.data.grid import Grid
from icefield.effect import Effect
from icefield.effect.drawable import register_makers
from icefield.errors import (
    BudgetError,
    ClusterError,
    EngineError,
    IcefieldError,
    InputError,
    InputTypeError,
    MissingDependencyError,
    MissingFileError,
    ModelError,
    ReadingWarning,
    UnknownNameError,
    VersionWarning,
)
from icefield.explainer import Explainer

if TYPE_CHECKING:
    from icefield import datasets
    from icefield.audit.checking import Check, check
    from icefield.audit.result import Audit
    from icefield.refits import Refits, Tests
    from icefield.statistics.change import Change
    from icefield.statistics.conditional import Conditional
    from icefield.statistics.importance import Importance
    from icefield.statistics.interactions import Interactions
    from icefield.statistics.reading import Reading
    from icefield.statistics.regions import Regions
    from icefield.statistics.summary import Summary
    from icefield.statistics.support import Support


def _drawn(effect: Effect | list[Effect], options: dict[str, Any]) -> Any:
    from icefield.plots import plot_effect, plot_many  # a second's worth of imports, for whoever draws

    return plot_many(effect, **options) if isinstance(effect, list) else plot_effect(effect, **options)


def _image(effect: Effect) -> bytes:
    from icefield.plots import effect_png

    return effect_png(effect)


def _read(effect: Effect) -> Any:
    from icefield.statistics.reading import read_effect

    return read_effect(effect)


register_makers(picture=_drawn, image=_image, reading=_read)

__version__ = "0.2.0"

__all__ = [
    "Audit",
    "BudgetError",
    "Change",
    "Check",
    "ClusterError",
    "Comparison",
    "Conditional",
    "Effect",
    "EngineError",
    "Explainer",
    "Grid",
    "IcefieldError",
    "Importance",
    "InputError",
    "InputTypeError",
    "Interactions",
    "MissingDependencyError",
    "MissingFileError",
    "ModelError",
    "Reading",
    "ReadingWarning",
    "Refits",
    "Regions",
    "Summary",
    "Support",
    "Tests",
    "UnknownNameError",
    "VersionWarning",
    "check",
    "compare",
    "datasets",
]

# What questions answer with, beside Effects: imported when it is first named, or when a question needs it.
_MODULES = {
    **{name: f"statistics.{name.lower()}" for name in ("Change", "Conditional", "Importance", "Interactions", "Reading", "Regions", "Summary", "Support")},
    "Audit": "audit.result", "Check": "audit.checking", "check": "audit.checking", "Refits": "refits", "Tests": "refits",
}  # fmt: skip


_ROOMS = ("datasets", "mlflow", "sklearn")  # with public names of their own


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return _import_module(f"icefield.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'icefield' has no attribute {name!r}")
    result = getattr(_import_module(f"icefield.{_MODULES[name]}"), name)
    globals()[name] = result
    return result


def __dir__() -> list[str]:
    """What completion offers: what users call, and not the rooms of the source."""
    return sorted({*__all__, *_ROOMS, "__version__"})
