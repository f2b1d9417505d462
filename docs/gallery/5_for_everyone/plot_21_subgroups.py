"""
A curve for each subgroup
=========================

``by=`` gives an effect a curve per group, averaged over that group's own rows; given to the Explainer, it does so for every
effect. The groups differ in level, in shape, or in both.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X["sex"] = X["sex"].map({1: 0.0, 2: 1.0})
model = GradientBoostingRegressor(random_state=0).fit(X, y)
group = X["sex"].map({0.0: "first sex", 1.0: "second sex"})
ex = icefield.Explainer(model, X)
effect = ex.partial_dependence("bp", by=group)

# %%
effect.plot(band=None, title="Blood pressure, by sex")
