"""
A ranking, and what it misses
=============================

Features by how much their average curves move. Features 1 and 2 act only through each other, so their averages are flat
and the ranking puts them last; the column ``individual``, taken over the rows' own curves, sees them.
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
