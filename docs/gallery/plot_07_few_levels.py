"""
A category with few levels
==========================

Levels have no distance, so there is no line between them: a dot for each, with the spread of the rows and the number of
rows behind it. Ordered categories keep their order.
"""

import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X["age"] = pd.cut(X["age"], [0, 35, 50, 65, 100], labels=["to 35", "36 to 50", "51 to 65", "over 65"])
model = HistGradientBoostingRegressor(max_iter=60, categorical_features="from_dtype", random_state=0).fit(X, y)
effect = icefield.Explainer(model, X).partial_dependence("age")

# %%
effect.plot(title="Progression by age group")
