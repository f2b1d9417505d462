import numpy as np
import statsmodels.formula.api as smf
from common import X, grid, keep, y
from marginaleffects import avg_predictions, avg_slopes

# marginaleffects knows regressions, not scikit-learn's trees: an ordinary least squares with an interaction.
data = X.assign(y=y)
fit = smf.ols("y ~ bmi * s5 + bp + sex", data).fit()
counterfactual = avg_predictions(fit, variables={"bmi": [float(v) for v in grid]}, by="bmi")
slope = avg_slopes(fit, variables="bmi")
keep("marginaleffects", ("statsmodels", "numpy"), grid=grid, pd=np.asarray(counterfactual["estimate"]),
     slope=np.asarray(slope["estimate"]), parameters=fit.params.to_numpy())  # fmt: skip

# The other calls on the page.
from marginaleffects import avg_comparisons  # noqa: E402

avg_slopes(fit, variables="bmi", by="sex")
avg_comparisons(fit, variables={"bmi": [24.0, 32.0]})
