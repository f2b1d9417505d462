"""Small fitted models of every kind that icefield knows, with awkward rows to explain: the one list of them.

A recipe, called with a seed, draws rows, fits, and returns the model with the rows to explain. `CASES` are read as
trees, and `test_exactness` holds both engines against each other on them. `RECIPES` are these and all others: every
loss, class, export and wrapper; `test_recipes` holds what the Explainer says of each against a plain loop over the
model's own predict. A kind of model that icefield learns to read belongs here first.
"""

from __future__ import annotations

from model_recipes import boosters, catboosts, estimators
from model_recipes.rows import LEVELS, Case, Fitted
from model_recipes.sums_of_trees import CASES, DISTINCT, REPEATS

__all__ = ["CASES", "DISTINCT", "LEVELS", "QUICK", "RECIPES", "REPEATS", "Case", "Fitted"]

RECIPES: dict[str, Case] = {**CASES, **catboosts.RECIPES, **boosters.RECIPES, **estimators.RECIPES}

# Others differ from one of these by a loss or a setting only: for the longer run.
QUICK = [name for name in RECIPES if name not in REPEATS]
