"""
A feature on a log axis
=======================

Incomes, prices and populations span several powers of ten. Place the grid evenly in the logarithm and give your own
Axes a log scale: the curve then has as many points for small values as for large ones.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
X = pd.DataFrame({"income": rng.lognormal(10, 1.1, 3000), "age": rng.integers(18, 90, 3000)})
y = 3 * np.log10(X["income"]) + 0.02 * X["age"] + rng.normal(0, 0.3, 3000)
model = HistGradientBoostingRegressor(random_state=0).fit(X, y)
grid = np.geomspace(*X["income"].quantile([0.01, 0.99]), 60)
ex = icefield.Explainer(model, X)
effect = ex.partial_dependence("income", grid=grid)

# %%
figure, ax = plt.subplots(layout="constrained")
effect.plot(ax=ax, data="rug", title="Spending by income")
ax.set_xlim(grid[0], grid[-1])
ax.set_xscale("log")
