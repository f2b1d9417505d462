"""
PD, ALE and what was observed
=============================

Where features are correlated the three differ. Observed means mix the effect with those of all correlated features;
partial dependence averages over rows that cannot exist; ALE moves each row only within its own bin.
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
ex = icefield.Explainer(model, X, y=y)
views = ex.conditional("rooms")

# %%
views.plot(title="Rooms: by themselves, locally, and as observed")
