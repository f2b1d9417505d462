"""
Five thousand curves
====================

As many curves as can be told apart, a seeded sample of 300, over a shaded area that holds all of them.
A note on the picture says so.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(-1, 1, (5000, 4)), columns=["x", "z", "u", "v"])
y = np.where(X["z"] > 0, 2, -1) * X["x"] + X["u"] ** 2 + rng.normal(0, 0.2, 5000)
model = HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
curves = ex.ice("x", grid=40)

# %%
curves.plot(title="Two kinds of rows")
