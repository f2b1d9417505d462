"""
Individual curves
=================

One thin line for every row: how its own prediction would change. The average runs through them. Where lines cross, the
average does not speak for everyone.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = GradientBoostingRegressor(random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
curves = ex.ice("bmi", rows=150)

# %%
curves.plot(title="150 patients, and the average of all")
