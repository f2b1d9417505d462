"""
The difference of two models
============================

Where would the new model answer differently, on average? The difference of the curves, on the grid of the first model,
so that nobody subtracts by eye.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
old = GradientBoostingRegressor(max_depth=1, random_state=0).fit(X, y)
new = GradientBoostingRegressor(max_depth=4, random_state=0).fit(X, y)
models = {"stumps": icefield.Explainer(old, X), "deeper trees": icefield.Explainer(new, X)}
both = icefield.compare(models)
curves = both.partial_dependence("bmi")
change = curves.difference("stumps")

# %%
change.plot(title="Deeper trees minus stumps")
