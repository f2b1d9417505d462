"""The result of a question: `Effect`, which plots, tables, statistics and the report are made from.

`effect` holds the class, `parts` the fields it is grouped into, `views` what centring and slopes make of its
curves, `tidy` its table, and `storage` its file.
"""

from icefield.effect.effect import Effect
from icefield.effect.parts import Backing, KeptCurves, Predictions, Provenance, Spread
from icefield.effect.views import is_time

__all__ = [
    "Backing",
    "Effect",
    "KeptCurves",
    "Predictions",
    "Provenance",
    "Spread",
    "is_time",
]
