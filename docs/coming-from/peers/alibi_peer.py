from alibi.explainers import ALE, PartialDependence
from common import X, grid, keep, model

names = list(X.columns)
fitted = model.predict
partial = PartialDependence(predictor=fitted, feature_names=names, target_names=["progression"])
found = partial.explain(X.to_numpy(), features=[names.index("bmi")], grid_points={names.index("bmi"): grid})
local = ALE(fitted, feature_names=names, target_names=["progression"])
steps = local.explain(X.to_numpy(), features=[names.index("bmi")])
keep(
    "alibi",
    grid=grid,
    pd=found.pd_values[0][0],
    ale_at=steps.feature_values[0],
    ale=steps.ale_values[0][:, 0],
)

# The other calls on the page.
from alibi.explainers import PartialDependenceVariance, plot_ale, plot_pd  # noqa: E402

both = partial.explain(X.to_numpy(), features=[2], kind="both")
partial.explain(X.to_numpy(), features=[(2, 3)])
variance = PartialDependenceVariance(fitted, feature_names=names, target_names=["progression"])
variance.explain(X.to_numpy(), features=[2, 3], method="importance")
variance.explain(X.to_numpy(), features=[(2, 3)], method="interaction")
plot_pd(both)
plot_ale(steps)

from alibi.explainers import TreePartialDependence  # noqa: E402

TreePartialDependence(predictor=model, feature_names=names).explain(X.to_numpy(), features=[2])
