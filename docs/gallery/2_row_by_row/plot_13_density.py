"""
All curves as a density
=======================

A hundred thousand lines merge into one area. Counted on a raster they can be read: the darker, the more rows' curves pass
there. Every row is in it.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(-1, 1, (20000, 4)), columns=["x", "z", "u", "v"])
y = np.where(X["z"] > 0, 2, -1) * X["x"] + X["u"] ** 2 + rng.normal(0, 0.2, 20000)
model = HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
curves = ex.ice("x", grid=40)
print(curves.individual.shape[1], "curves")

# %%
curves.plot(curves="density", title="20,000 curves, two kinds of rows")
