"""
Centred curves
==============

Rows start at different levels, which hides whether they respond alike. Centred at the first value, all curves start at zero
and what remains is change.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = GradientBoostingRegressor(random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
curves = ex.ice("bmi", rows=150)

# %%
curves.plot(center=True, title="Change from the lowest body mass index")
