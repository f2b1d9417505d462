"""
Accumulated local effects
=========================

ALE moves each row only within its own bin and adds the changes up, so the model is never evaluated far from the data. The
band is the error of the sum; it grows with the distance from the middle.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor

import icefield

rng = np.random.default_rng(0)
size = rng.normal(0, 1, 3000)
X = pd.DataFrame(
    {"rooms": size + rng.normal(0, 0.35, 3000), "area": size + rng.normal(0, 0.35, 3000)}
)
y = X["area"] + 0.5 * X["rooms"] + rng.normal(0, 0.3, 3000)
model = RandomForestRegressor(60, min_samples_leaf=5, random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
local = ex.ale("rooms", bins=30)

# %%
local.plot(band="se", title="Rooms, without leaving the data")
