"""
Curves coloured by another feature
==================================

Colour the curves by a column and see what separates steep curves from flat ones. A gradient across the picture is an
interaction: here the dose works on light patients more than on heavy ones.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
X = pd.DataFrame({"dose": rng.uniform(0, 10, 3000), "weight": rng.uniform(45, 110, 3000)})
y = 60 * X["dose"] / X["weight"] + rng.normal(0, 0.4, 3000)
model = HistGradientBoostingRegressor(max_iter=80, random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
curves = ex.ice("dose", rows=200)

# %%
curves.plot(center=True, color_by="weight", title="Who responds more?")
