import effector
from common import X, grid, keep, model

data, at = X.to_numpy(), list(X.columns).index("bmi")
partial = effector.PDP(data, model.predict, nof_instances="all")
partial.fit(features=[at], centering=False)
keep("effector", grid=grid, pd=partial.eval(at, grid, centering=False))

# The other calls on the page.
import matplotlib  # noqa: E402

matplotlib.use("agg")
partial.plot(at, heterogeneity="ice", centering=True, show_plot=False)
effector.ALE(data, model.predict).eval(at, grid)
regions = partial.find_regions(at)
print(regions)
