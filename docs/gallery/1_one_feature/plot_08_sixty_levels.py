"""
A category with sixty levels
============================

Sixty destinations do not fit side by side. They are listed down the side, the most frequent ones by name and the rest as
one point at their weighted mean; ``sort="value"`` makes the list a ranking.
"""

import lightgbm

import icefield
from icefield.cli.demo import flights  # the flights out of New York in 2013

X, delay = flights(30_000)
X = X[["dest", "distance", "departure", "month"]].assign(dest=X["dest"].astype(str))
used = X["dest"].isin(X["dest"].value_counts().index[:60]) & delay.notna()
X, delay = X[used].astype({"dest": "category"}), delay[used]
settings = {"verbose": -1, "num_leaves": 15, "num_threads": 1, "seed": 0}
model = lightgbm.train(settings, lightgbm.Dataset(X, delay), num_boost_round=60)
ex = icefield.Explainer(model, X)
effect = ex.partial_dependence("dest")
print(len(effect.grid[0]), "levels")

# %%
effect.plot(
    sort="value", top=20, figsize=(6.6, 5.6), title="Arrival delay in minutes by destination"
)
