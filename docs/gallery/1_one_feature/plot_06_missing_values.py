"""
Missing values have a point of their own
========================================

Where a column has missing values, "missing" is one more value that the model predicts for. It is drawn apart, beyond
the end of the axis, with its own bar for the number of rows.
"""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
rng = np.random.default_rng(0)
# Blood pressure is measured less often in patients who do better: being missing is informative.
X.loc[(y < 110) & (rng.random(len(X)) < 0.5), "bp"] = np.nan
model = HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
effect = ex.partial_dependence("bp")
print(f"{X['bp'].isna().sum()} of {len(X)} values are missing")

# %%
effect.plot(title="Blood pressure, and no blood pressure")
