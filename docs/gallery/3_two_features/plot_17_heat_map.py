"""
Two features as cells
=====================

Cells are the grid points themselves, without interpolation between them. Two features with few values are best shown so.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
X = pd.DataFrame({
    "hour": rng.integers(6, 23, 5000),
    "day": pd.Categorical(rng.choice(days, 5000), days, ordered=True),
})  # fmt: skip
weekend = X["day"].isin(["Sat", "Sun"])
y = np.where(
    weekend,
    30 * np.exp(-(((X["hour"] - 14) / 4) ** 2)),
    40 * np.exp(-(((X["hour"] - 17) / 2) ** 2)),
)
model = HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0).fit(
    X, y
)
ex = icefield.Explainer(model, X)
surface = ex.partial_dependence("hour", "day", grid={"hour": icefield.Grid("distinct")})

# %%
surface.plot(kind="heatmap", title="Visitors by hour and day")
