"""
Regions in which one curve is enough
====================================

Where rows disagree, a small tree on the *other* columns finds readable rules that split them into regions that respond
alike. One misleading average becomes two that describe their rows.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
X = pd.DataFrame({
    "fertiliser": rng.uniform(0, 10, 4000),
    "rain": rng.uniform(0, 100, 4000),
    "slope": rng.uniform(0, 30, 4000),
})  # fmt: skip
y = (
    np.where(X["rain"] > 40, 1.0, -0.8) * X["fertiliser"]
    - 0.05 * X["slope"]
    + rng.normal(0, 0.5, 4000)
)
model = HistGradientBoostingRegressor(random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
regions = ex.regions("fertiliser")
print(regions)

# %%
regions.plot(title="Fertiliser helps where it rains")
