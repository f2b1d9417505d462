"""
Two features in three dimensions
================================

Good for talks, where the shape matters more than the numbers. For reading values, take contours or cells; with
``backend="plotly"`` it can be rotated.
"""

import numpy as np
import pandas as pd
from sklearn.gaussian_process import GaussianProcessRegressor

import icefield

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(-2, 2, (200, 2)), columns=["x", "y"])
z = np.sin(X["x"]) * np.cos(X["y"]) + 0.3 * X["x"]
model = GaussianProcessRegressor(alpha=1e-4).fit(X, z)
ex = icefield.Explainer(model, X)
surface = ex.partial_dependence("x", "y")

# %%
surface.plot(kind="surface", figsize=(6.6, 5), title="A saddle between two hills")
