"""
Interactive pictures with plotly
================================

``backend="plotly"`` draws the same picture as a figure that can be hovered over, zoomed and switched. It needs no
network: the page below uses a copy of the script stored beside it.
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import icefield

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = GradientBoostingRegressor(random_state=0).fit(X, y)
ex = icefield.Explainer(model, X)
curves = ex.ice("bmi", rows=60)

# %%
# With matplotlib:
curves.plot(title="Sixty patients")

# %%
# With plotly:
figure = curves.plot(backend="plotly", title="Sixty patients, to hover over")
