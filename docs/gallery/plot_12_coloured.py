"""
Curves coloured by another feature
==================================

Colour the curves by a column and see what tells the fast risers from the slow ones. A gradient across the picture is an
interaction.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X.rename(columns={"s5": "log triglycerides"})
model = GradientBoostingRegressor(random_state=0).fit(X, y)
curves = icefield.Explainer(model, X).ice("bmi", rows=200)

# %%
curves.plot(center=True, color_by="log triglycerides", title="Who rises faster?")
