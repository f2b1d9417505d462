"""Tree ensembles of any library as one form, and `self_check` against the model's own predictions.

The form (`form`, `build`, `encode`, `links`, `combine`) knows no library: libraries read their models into it
(`icefield.libraries.reading`).
"""

from __future__ import annotations

from icefield.forest.check import self_check
from icefield.forest.tree_model import CannotRead, Link, TreeModel

__all__ = ["CannotRead", "Link", "TreeModel", "self_check"]
