"""
A ranking of features
=====================

How much each feature moves the predictions: by the average curve, and by the rows' own curves. A feature whose bar for the
rows is much longer than that for the average works through an interaction.
"""

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (3000, 4))
y = 2 * X[:, 0] + 3 * X[:, 1] * X[:, 2] + rng.normal(0, 0.2, 3000)
model = HistGradientBoostingRegressor(max_iter=80, random_state=0).fit(X, y)
ranking = icefield.Explainer(model, X, y=y).importance()
print(ranking)

# %%
ranking.plot()
