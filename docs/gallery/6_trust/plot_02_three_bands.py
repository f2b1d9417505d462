"""
Three bands, three meanings
===========================

A band can say three things. *Spread*: how differently single rows respond. *Error*: how well the average is known from
so many rows. *Refits*: how far the curve moves when the model is fitted to other draws of the data. They answer different
questions and are rarely of the same width.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = RandomForestRegressor(50, min_samples_leaf=5, random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
effect = ex.partial_dependence("bmi")

rng = np.random.default_rng(0)
draws = [rng.integers(0, len(X), len(X)) for _ in range(12)]
refits = [icefield.Explainer(clone(model).fit(X.iloc[rows], y.iloc[rows]), X) for rows in draws]
answers = icefield.compare(refits).partial_dependence("bmi", grid=effect.grid[0])
band = answers.band()

# %%
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.9), sharey=True, layout="constrained")
effect.plot(ax=axes[0], band="std", title="Spread of the rows")
effect.plot(ax=axes[1], band="se", title="Error of the average")
band.plot(ax=axes[2], band="std", title="Twelve refits")
