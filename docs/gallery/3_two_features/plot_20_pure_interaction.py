"""
The pure interaction
====================

The joint effect minus both effects on their own. Two features that only add up give zero everywhere; what is left here
is what neither curve can show.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(-1, 1, (4000, 3)), columns=["x", "z", "u"])
y = 3 * X["x"] + 2 * X["z"] + 2 * X["x"] * X["z"] + rng.normal(0, 0.2, 4000)
model = HistGradientBoostingRegressor(max_iter=80, random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
surface = ex.partial_dependence("x", "z")

# %%
surface.plot(interaction=True, title="What x and z do beyond their sum")
