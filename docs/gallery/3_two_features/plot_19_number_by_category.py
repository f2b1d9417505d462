"""
A number by a category
======================

One line for each level. Lines that are not parallel are an interaction: the effect of the number depends on the level.
Here riders peak at other hours on working days than at the weekend.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
day = rng.choice(["holiday", "weekend", "working day"], 6000, p=[0.05, 0.25, 0.7])
X = pd.DataFrame({"hour": rng.integers(0, 24, 6000), "day": pd.Categorical(day)})
commute = np.exp(-(((X["hour"] - 8) / 1.6) ** 2)) + np.exp(-(((X["hour"] - 17.5) / 2.2) ** 2))
leisure = np.exp(-(((X["hour"] - 14) / 4.5) ** 2))
y = 200 * np.where(day == "working day", commute, leisure) + rng.normal(0, 20, 6000)
model = HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0).fit(
    X, y
)
ex = icefield.Explainer(model, X)
surface = ex.partial_dependence("hour", "day")

# %%
surface.plot(title="Riders by hour and kind of day")
