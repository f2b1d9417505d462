"""
One row highlighted
===================

Somebody asks about one case. Draw its curve among those of the others: where it lies, and how its prediction would
change.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = GradientBoostingRegressor(random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
curves = ex.ice("bmi")

# %%
curves.plot(
    max_curves=150,
    highlight={"patient 7": 7, "patient 40": 40},
    title="Two patients among the others",
)
