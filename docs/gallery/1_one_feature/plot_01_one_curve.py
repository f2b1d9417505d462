"""
One curve
=========

The average prediction as one feature moves and everything else stays as it is. The band shows how differently
rows respond; the bars at the foot show where the data lies. Start here.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = GradientBoostingRegressor(random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
effect = ex.partial_dependence("bmi")

# %%
effect.plot(title="Progression of diabetes by body mass index")
