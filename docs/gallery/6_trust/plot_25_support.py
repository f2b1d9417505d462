"""
Where the data does not reach
=============================

``support=True`` finds how many rows could have each value, given their other features. Poorly supported stretches
are drawn faint: there the curve rests on combinations that do not occur in the data.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
size = rng.normal(0, 1, 3000)
X = pd.DataFrame(
    {"rooms": size + rng.normal(0, 0.2, 3000), "area": size + rng.normal(0, 0.2, 3000)}
)
y = X["area"] ** 2 + X["rooms"] + rng.normal(0, 0.3, 3000)
model = HistGradientBoostingRegressor(max_iter=80, random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
effect = ex.partial_dependence("rooms", support=True)

# %%
effect.plot(title="Solid where rows could have the value, faint where not")
