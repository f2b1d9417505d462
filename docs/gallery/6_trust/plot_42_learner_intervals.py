"""
How sure is the curve, and how sure the number?
===============================================

Two errors, and the pictures name both. *This model's curve*: if the average had been taken over other rows. *This
learner's expected curve*: if other data had been drawn and the learner fitted to them; here by 15 refits on random
halves.
A change from one value to another is one number, with the same two errors.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
learner = HistGradientBoostingRegressor(max_iter=40, max_depth=3, random_state=0)
ex = icefield.Explainer(learner.fit(X, y), X)
refits = ex.refits(learner, y)

# %%
figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), sharey=True, layout="constrained")
ex.partial_dependence("bmi").plot(ax=axes[0], band="se", title="This model")
refits.partial_dependence("bmi").plot(ax=axes[1], title="This learner")

# %%
# By how much do predictions rise from a BMI of 22 to one of 32, in both sexes?
refits.change("bmi", 22, 32, by="sex").plot(figsize=(7, 2.8))
