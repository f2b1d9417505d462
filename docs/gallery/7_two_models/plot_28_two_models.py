"""
Two models side by side
=======================

The same question to two models, on one grid. Where they agree, the finding is probably in the data; where they
differ, it is the model's.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
boosting = GradientBoostingRegressor(random_state=0).fit(X, y)
linear = LinearRegression().fit(X, y)
both = icefield.compare({"boosting": boosting, "linear": linear}, X).partial_dependence("bmi")
print(both)

# %%
both.plot(band=None, title="Body mass index, as two models see it")
