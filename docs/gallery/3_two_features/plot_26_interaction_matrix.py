"""
Which pairs interact
====================

Friedman's H for every pair of features at all rows, in one walk through the trees. The matrix says where to look; the
next picture to draw is the surface of the strongest pair.
"""

from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingRegressor

import icefield

X, y = make_friedman1(2000, n_features=7, noise=0.5, random_state=0)
model = GradientBoostingRegressor(n_estimators=150, max_depth=4, random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
pairs = ex.interactions()
print(pairs.to_frame().head(3))

# %%
pairs.plot()
