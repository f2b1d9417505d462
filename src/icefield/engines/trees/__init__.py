"""The trees engine: exact averages and curves of tree ensembles, without predicting.

For every question it gives the same number brute force would, to rounding: the mean over the
rows of the prediction with the asked columns replaced. `averages` counts rows at leaves and
never looks at the grid while doing so; it serves means on an additive scale. `curves` builds
every row's curve block by block and serves everything else: spread, quantiles, kept curves,
and scales where a link stands between the trees' sum and the response.

The other modules: `axes` (grids as the forest sees them), `program` (trees as mask operations),
`layout` and `rows` (rows as bits), `crew` (threads), `training` (the training-weighted
background), `own_values` (averages at every row's own values), `moves` (rows at points of their own),
`encoded` (rows encoded once), `visits` (a leaf-visiting program over blocks of rows).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from icefield.engines.trees.axes import last_values_left
from icefield.engines.trees.engine import TreesEngine

if TYPE_CHECKING:
    from icefield.engines.training.training_averages import training_average

__all__ = ["TreesEngine", "last_values_left", "training_average"]

# Imported when first asked for: a first curve loads only what it needs.
_LATER = {
    "training_average": "icefield.engines.training.training_averages",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
