"""
Levels that begin and end alike
===============================

Long names are written by what tells them apart, and what they share is said once above. Sentences name the highest
and the lowest level, so these are drawn however rare they are.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
places = [
    a + b
    for a in ("Al", "Ber", "Dal", "Es", "Fal", "Got")
    for b in ("by", "ga", "lund", "näs", "ryd", "torp")
]
levels = [f"Municipality of {place} in the county of somewhere" for place in places]
codes = rng.choice(36, 5000, p=rng.dirichlet(np.full(36, 2.0)))
X = pd.DataFrame(
    {"municipality": pd.Categorical.from_codes(codes, levels), "size": rng.normal(0, 1, 5000)}
)
y = rng.normal(0, 1, 36)[codes] + 0.5 * X["size"] + rng.normal(0, 0.3, 5000)
settings = {"categorical_features": "from_dtype", "max_iter": 80, "random_state": 0}
model = HistGradientBoostingRegressor(**settings).fit(X, y)
ex = icefield.Explainer(model, X, target_name="rent", units={"rent": "€"})
effect = ex.partial_dependence("municipality")

# %%
effect.plot(sort="value", figsize=(6.6, 5.6))
