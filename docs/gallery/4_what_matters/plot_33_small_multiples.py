"""
The features that matter most
=============================

``explainer.plot()`` draws the features that move the predictions most, on one shared axis, so that their strengths can
be compared by eye.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = GradientBoostingRegressor(random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)

# %%
ex.plot(top=6, figsize=(9.5, 5.4))
