"""
Several classes
===============

A curve for each class. At every value the probabilities sum to one, so what one class gains the others lose.
"""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import icefield

X, y = load_iris(return_X_y=True, as_frame=True)
names = np.array(["setosa", "versicolor", "virginica"], dtype=object)[y]
model = RandomForestClassifier(50, min_samples_leaf=3, random_state=0).fit(X, names)
ex = icefield.Explainer(model, X)
effect = ex.partial_dependence("petal length (cm)")

# %%
effect.plot(band=None, title="Three kinds of iris by petal length")
