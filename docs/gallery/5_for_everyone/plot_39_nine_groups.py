"""
Nine groups
===========

More curves than a palette has room for: beside their colours they differ in their dashes, so that they are told apart in
grey and by readers with any colour vision.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
X = pd.DataFrame({"age": rng.uniform(18, 90, 4000), "region": rng.integers(0, 9, 4000)})
y = (X["region"] - 4) * (X["age"] - 54) / 40 + 0.3 * X["region"] + rng.normal(0, 0.5, 4000)
model = HistGradientBoostingRegressor(max_iter=80, random_state=0).fit(X, y)
ex = icefield.Explainer(model, X, units={"age": "years"}, target_name="need")
effect = ex.partial_dependence("age", grid=40, by="region")

# %%
effect.plot(title="Need by age, in nine regions")
