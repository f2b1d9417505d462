"""
A number by a category
======================

One line for each level. Lines that are not parallel are an interaction: the effect of the number depends on the level.
"""

import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X["age"] = pd.cut(X["age"], [0, 40, 60, 100], labels=["to 40", "41 to 60", "over 60"])
model = HistGradientBoostingRegressor(max_iter=60, categorical_features="from_dtype", random_state=0).fit(X, y)
surface = icefield.Explainer(model, X).partial_dependence("bmi", "age")

# %%
surface.plot(title="Body mass index by age group")
