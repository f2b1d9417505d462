"""
Your own Axes, in the style of a paper
======================================

``ax=`` draws into an Axes of yours, and your style sheet decides about fonts and lines. Every artist can be found by its
group id for restyling.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = GradientBoostingRegressor(random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
effects = [ex.partial_dependence(name) for name in ("bmi", "bp")]

# %%
with plt.rc_context({"font.family": "serif", "font.size": 9, "lines.linewidth": 1.2}):
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.6), sharey=True, layout="constrained")
    for ax, effect, label in zip(axes, effects, ["Body mass index", "Mean blood pressure"]):
        effect.plot(ax=ax, band="se", data="rug", title="")
        ax.set_xlabel(label)
        ax.grid(False)
    axes[0].set_ylabel("Predicted progression")
    axes[1].set_ylabel("")
    for line in axes[1].findobj(lambda artist: artist.get_gid() == "icefield:line"):
        line.set_linestyle("--")
