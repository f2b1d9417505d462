"""
Dates stay dates
================

A column of dates stays a column of dates: the model gets the type it was fitted with, and the axis shows days and
months. Here the model is a plain function of a frame, which derives features from the date by itself.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import icefield

rng = np.random.default_rng(0)
X = pd.DataFrame({
    "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 730, 2500), unit="D"),
    "price": rng.uniform(5, 15, 2500),
})  # fmt: skip


def features(rows):
    date = rows["date"].dt
    days = (rows["date"] - pd.Timestamp("2024-01-01")).dt.days
    return np.column_stack([days, date.day_of_year, date.day_of_week >= 5, rows["price"]])


sales = 200 + 60 * np.sin((X["date"].dt.day_of_year - 100) / 365 * 2 * np.pi) - 9 * X["price"]
model = HistGradientBoostingRegressor(random_state=0).fit(
    features(X), sales + rng.normal(0, 10, 2500)
)
ex = icefield.Explainer(lambda rows: model.predict(features(rows)), X)
effect = ex.partial_dependence("date")

# %%
effect.plot(title="Sales over two years")
