"""What the numbers behind every statement are compared with, in one place.

A reading carries a copy, so that each of its statements can be checked and argued with. They were chosen on the
processes that `benchmarks/honesty.py` calls its choosing side, and are frozen there.
"""

from __future__ import annotations

from icefield.statistics.shapes import THRESHOLDS as SHAPE_THRESHOLDS

THRESHOLDS = {
    **SHAPE_THRESHOLDS,
    "flat": 0.07,  # an average moves less than this, in SD of the predictions: 0.5 % of their variance
    "sampling": 2.5,  # ... or less than so many standard errors, from how much the curves differ
    "formless": 2.0,  # an irregular average must be so many times as strong to count
    "heterogeneous": 0.15,  # curves differ by this much, in SD of the predictions: 2 % of their variance
    "dominant": 0.50,  # ... and their differences make up this share of all the movement,
    "opposing": 0.15,  # ... or this share of them runs against the others
    "dwarfed": 0.15,  # an average that moves less than this share of the curves' differences hides them
    "evident": 0.30,  # differences of this much are always said; smaller ones may be fitted noise and count
    "explained": 0.35,  # ... only if one column explains this share of them
    "partner": 0.10,  # share of the curves' differences a column must explain to be named
    "interaction": 0.15,  # an interaction of two features worth naming, in SD of the predictions
    "additive": 0.05,  # share of a surface's variance that is interaction
    "tail": 0.05,  # share of the data beyond either end of the range that a shape is read in
    "tail_change": 0.20,  # change beyond that range, in SD of the predictions, that is said apart
    "alone": 0.50,  # a column tells curves apart by itself when it explains this share and twice the next one's
}
