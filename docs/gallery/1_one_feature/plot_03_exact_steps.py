"""
The exact steps of a tree model
===============================

Between two thresholds a tree model does not change at all. ``Grid("thresholds")`` puts one point into every such
interval, so the picture is the whole curve and not a sample of it.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = GradientBoostingRegressor(n_estimators=15, max_depth=2, random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
effect = ex.partial_dependence("bmi", grid=icefield.Grid("thresholds"))
print(len(effect.grid[0]), "steps; exact:", effect.steps)

# %%
effect.plot(title="Every step the model can make")
