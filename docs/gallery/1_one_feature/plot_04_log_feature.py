"""
A feature on a log axis
=======================

Incomes, prices and populations span several powers of ten. ``Grid("log")`` spaces points by equal factors, so that the curve has
as many for small values as for large ones, and its picture has a logarithmic axis.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
X = pd.DataFrame({"income": rng.lognormal(10, 1.1, 3000), "age": rng.integers(18, 90, 3000)})
y = 3 * np.log10(X["income"]) + 0.02 * X["age"] + rng.normal(0, 0.3, 3000)
model = HistGradientBoostingRegressor(random_state=0).fit(X, y)
ex = icefield.Explainer(model, X, units={"income": "$"}, target_name="spending")
effect = ex.partial_dependence("income", grid=icefield.Grid("log"))

# %%
effect.plot(title="Spending by income")
