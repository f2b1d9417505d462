"""
Two models side by side
=======================

The same question to two models, on one grid. Where they agree the finding is the data's; where they part it is the
model's.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
boosting = icefield.Explainer(GradientBoostingRegressor(random_state=0).fit(X, y), X)
linear = icefield.Explainer(LinearRegression().fit(X, y), X)
both = icefield.compare({"boosting": boosting, "linear": linear}).partial_dependence("bmi")

# %%
both.plot(spread=None, title="Body mass index, as two models see it")
