"""The trees engine: exact averages and curves of tree ensembles, without predicting.

For every question it gives the same number brute force would, to rounding: the mean over the
rows of the prediction with the asked columns replaced. `averages` counts rows at leaves and
never looks at the grid while doing so; it serves means on an additive scale. `curves` builds
every row's curve block by block and serves everything else: spread, quantiles, kept curves,
and scales where a link stands between the trees' sum and the response.

The other modules: `axes` (grids as the forest sees them), `program` (trees as mask operations),
`layout` and `packed_rows` (rows as bits), `count_accumulator` (counts over blocks of rows), `h_statistic` (averages at every
row's own values), `ale_differences` (rows at points of their own), `encoded` (rows encoded once), `coding` (rows as codes of one byte), `visits` (a leaf-visiting program over blocks of rows).
"""

from __future__ import annotations

from icefield.engines.trees.axes import last_values_left
from icefield.engines.trees.engine import TreesEngine

__all__ = ["TreesEngine", "last_values_left"]
