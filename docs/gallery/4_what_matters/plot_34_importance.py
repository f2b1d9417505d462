"""
A ranking, and what an average misses
=====================================

Features by how far rows' predictions move with them. Features 1 and 2 act only through each other: their averages
are flat and have no direction, as the small curves (all on one scale) show, and yet predictions move with both.
"""

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (3000, 4))
y = 2 * X[:, 0] + 3 * X[:, 1] * X[:, 2] + rng.normal(0, 0.2, 3000)
model = HistGradientBoostingRegressor(max_iter=80, random_state=0).fit(X, y)
ex = icefield.Explainer(model, X, y=y)
ranking = ex.importance()
print(ranking)

# %%
ranking.plot()

# %%
# Measures side by side, in the order of the first: how far predictions move, how differently rows respond, and how
# much worse the model predicts without the feature.

# %%
ranking.plot(["importance", "disagreement", "permutation"])
