"""
Groups beside each other
========================

``layout="side"`` puts groups next to each other on one axis. Clearer than colour when the curves of
groups cover each other.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = GradientBoostingRegressor(random_state=0).fit(X, y)
group = (X["bp"] > X["bp"].median()).map({True: "high", False: "low"}).rename("pressure")
ex = icefield.Explainer(model, X)
effect = ex.partial_dependence("s5", by=group)

# %%
effect.plot(layout="side", figsize=(9, 4), title="Log triglycerides, by blood pressure")
