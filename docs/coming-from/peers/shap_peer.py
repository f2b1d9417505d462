import shap
from common import X, grid, keep, model

# shap's partial dependence, and its own dependence values: one SHAP value of bmi for every row.
average = shap.plots.partial_dependence
values = shap.TreeExplainer(model).shap_values(X)[:, list(X.columns).index("bmi")]

import matplotlib  # noqa: E402

matplotlib.use("agg")
figure, ax = average("bmi", model.predict, X, ice=False, model_expected_value=True, feature_expected_value=True, show=False,
                     xmin=20, xmax=36, npoints=5)  # fmt: skip
line = max((line.get_xydata() for line in ax.get_lines()), key=len)
near = [abs(X["bmi"] - value) < 1 for value in grid]
keep(
    "shap",
    grid=grid,
    pd=line[:, 1],
    pd_at=line[:, 0],
    shap_mean=[values[rows.to_numpy()].mean() for rows in near],
)

# The other calls on the page.
explanation = shap.TreeExplainer(model)(X)
shap.plots.scatter(explanation[:, "bmi"], color=explanation[:, "s5"], show=False)
shap.plots.bar(explanation, show=False)
shap.TreeExplainer(model).shap_interaction_values(X.iloc[:20])
average("bmi", model.predict, X, ice=True, show=False)
