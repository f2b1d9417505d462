"""
Log-odds and probability
========================

The same model on two scales. On the margin (log-odds) effects add up; as probabilities they are squeezed near 0 and 1. An
average of probabilities is not the probability of an average, so choose the scale before averaging, not after.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier

import icefield

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["worst radius", "worst texture", "worst smoothness", "worst concavity"]]
model = GradientBoostingClassifier(random_state=0).fit(X, y)
scales = {"raw": "Log-odds", "response": "Probability"}
effects = {
    scale: icefield.Explainer(model, X, scale=scale).partial_dependence("worst radius")
    for scale in scales
}

# %%
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
for ax, (scale, title) in zip(axes, scales.items()):
    effects[scale].plot(ax=ax, title=title)
