"""The result of a question: `Effect`, which plots, tables, statistics and the report are made from.

`effect` holds the class, `mapping` several of them by feature, `parts` the fields it is grouped into, `views` what centring and slopes make of its
curves, `tidy` its table, `drawable` the options of every picture, and `storage` its file.
"""

from icefield.effect.drawable import Drawable, drawing
from icefield.effect.effect import Effect
from icefield.effect.mapping import Effects
from icefield.effect.parts import Backing, KeptCurves, Predictions, Provenance, Spread
from icefield.effect.views import is_time

__all__ = [
    "Backing",
    "Drawable",
    "Effect",
    "Effects",
    "KeptCurves",
    "Predictions",
    "Provenance",
    "Spread",
    "drawing",
    "is_time",
]
