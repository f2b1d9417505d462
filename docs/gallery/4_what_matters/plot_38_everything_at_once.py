"""
Every pair in one pass
======================

``effects(order=2)`` computes the surfaces of all pairs together, for a tree model at little more than the cost of one.
Here are the two pairs whose surfaces span the most.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

data, y = make_friedman1(2000, n_features=6, noise=0.5, random_state=0)
X = pd.DataFrame(data, columns=list("abcdef"))
model = HistGradientBoostingRegressor(random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
surfaces = ex.effects(order=2)
span = {pair: np.ptp(surface.average) for pair, surface in surfaces.items()}
widest = sorted(span, key=span.get, reverse=True)[:2]
print(len(surfaces), "surfaces; widest:", widest)

# %%
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
for ax, pair in zip(axes, widest):
    surfaces[pair].plot(ax=ax, data=None)
