"""
Slopes of the curves (d-ICE)
============================

The derivative shows *where* the model reacts and whether rows agree about it. Parallel curves have the same slope, so any
band around the average slope is an interaction.
"""

import numpy as np
import pandas as pd
from sklearn.neural_network import MLPRegressor

import icefield

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(-2, 2, (1500, 2)), columns=["dose", "age"])
y = 1 / (1 + np.exp(-(2 + X["age"]) * X["dose"]))
model = MLPRegressor(hidden_layer_sizes=(30, 30), max_iter=600, random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
curves = ex.ice("dose", rows=120, grid=40)

# %%
curves.plot(derivative=True, color_by="age", title="Slope of the response to the dose")
