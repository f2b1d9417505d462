"""
Two features as contours
========================

The joint effect of two numbers. The corners without data are left blank: there the surface would be
extrapolated. The edges show where the data lies.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X.rename(columns={"s5": "log triglycerides"})
model = GradientBoostingRegressor(random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
surface = ex.partial_dependence("bmi", "log triglycerides")

# %%
surface.plot(title="Two features together")
