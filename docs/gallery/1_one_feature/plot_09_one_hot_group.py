"""
A one-hot group is one feature
==============================

Dummy columns of one category cannot all be 1. Named as a group they are set together, and the curve is that of the
category: every row is predicted as if it were from each port.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor

import icefield

rng = np.random.default_rng(0)
port = rng.choice(["Cherbourg", "Queenstown", "Southampton"], 900, p=[0.2, 0.1, 0.7])
fare = rng.lognormal(3, 0.6, 900)
X = pd.get_dummies(pd.DataFrame({"port": port, "fare": fare}), columns=["port"], dtype=float)
y = fare / 10 + 4 * (port == "Cherbourg") - 2 * (port == "Queenstown") + rng.normal(0, 1, 900)
model = RandomForestRegressor(40, min_samples_leaf=5, random_state=0).fit(X, y)
dummies = [name for name in X if name.startswith("port_")]
ex = icefield.Explainer(model, X)
effect = ex.partial_dependence({"port": dummies})

# %%
effect.plot(kind="bars", title="Three dummy columns, one feature")
