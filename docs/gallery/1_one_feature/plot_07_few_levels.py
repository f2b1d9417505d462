"""
A category with few levels
==========================

Levels have no distance, so there is no line between them: a dot for each, with the spread of the rows and the number of
rows behind it. Ordered categories keep their order.
"""

import lightgbm

import icefield
from icefield.cli.demo import flights  # the flights out of New York in 2013

X, delay = flights(20_000)
X = X[["weekday", "departure", "distance", "month"]]
settings = {"verbose": -1, "num_leaves": 15, "num_threads": 1, "seed": 0}
model = lightgbm.train(
    settings, lightgbm.Dataset(X[delay.notna()], delay.dropna()), num_boost_round=60
)
ex = icefield.Explainer(model, X)
effect = ex.partial_dependence("weekday")

# %%
effect.plot(title="Arrival delay in minutes by day of the week")
